use aqmlab_netsim::Routes;
use aqmlab_netsim::plan::{
    self, AdaptationRule, Ends, NodeId, Pattern, Plan, Size, Spread, Start, Transport, Video,
};
use aqmlab_transport::{TcpConfig, scream};
use aqmlab_units::Time;
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::scenario::{link_name, node_name};
use super::{number_json, tcp, tuple};
use crate::flow::UDP;
use crate::tcp::TCP;

/// The name of a node that is drawn in every run.
const RANDOM: &str = "random";

/// A flow with its path; both are known before the run only where no end is drawn.
#[derive(Serialize)]
pub(super) struct Flow<'a> {
    name: &'a str,
    group: &'a str,
    transport: &'static str,
    from: &'a str,
    to: &'a str,
    #[serde(serialize_with = "tuple")]
    path: Vec<&'a str>,
    parameters: Json,
    start_s: (f64, f64),
    #[serde(skip_serializing_if = "Option::is_none")]
    arrivals_per_s: Option<f64>,
    stop_s: Option<f64>,
    #[serde(serialize_with = "tuple")]
    again: Vec<(f64, f64)>,
    dscp: u8,
    priority: u8,
    ttl: u8,
    acks_share_label: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_host: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    destination_host: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_nat: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    destination_nat: Option<&'a str>,
}

impl<'a> Flow<'a> {
    pub fn new(plan: &'a Plan, flow_number: u32, routes: &mut Routes<'_>) -> Self {
        let flow = &plan.flows[flow_number as usize];
        let translated = plan.translated(flow_number);
        let host = |number: u16| plan.hosts.get(usize::from(number).wrapping_sub(1)).map(plan::Name::as_str);
        let (from, to) = match flow.ends {
            Ends::At(from, to) => (Some(from), Some(to)),
            Ends::Drawn { from, to, .. } => (from, to),
        };
        let path = from.zip(to).and_then(|(from, to)| routes.path(from, to)).unwrap_or_default();
        let name_of = |end: Option<NodeId>| end.map_or(RANDOM, |node| node_name(plan, node));
        let (transport, parameters) = transport_json(&flow.transport);
        let (first, last) = match &flow.start {
            Start::At(time) => (*time, *time),
            Start::Uniform(first, last) => (*first, *last),
            Start::Poisson { process, .. } => (process.from, process.until),
        };
        Self {
            name: &flow.name,
            group: &flow.group,
            transport,
            from: name_of(from),
            to: name_of(to),
            path: path.into_iter().map(|link| link_name(plan, link)).collect(),
            parameters,
            start_s: (first.secs(), last.secs()),
            arrivals_per_s: match &flow.start {
                Start::Poisson { process, .. } => Some(process.rate),
                Start::At(_) | Start::Uniform(..) => None,
            },
            stop_s: flow.stop.map(Time::secs),
            again: periods(&flow.again),
            dscp: flow.dscp,
            priority: flow.class,
            ttl: flow.ttl,
            acks_share_label: flow.acks_share_label,
            source_host: host(flow.hosts[0]),
            destination_host: host(flow.hosts[1]),
            source_nat: host(translated[0]),
            destination_nat: host(translated[1]),
        }
    }
}

/// Begin and end of each period, in seconds.
pub(super) fn periods(periods: &[(Time, Time)]) -> Vec<(f64, f64)> {
    periods.iter().map(|(begin, end)| (begin.secs(), end.secs())).collect()
}

/// Name and effective values; times in seconds, sizes in packets or bytes as the registry has them.
pub(super) fn transport_json(transport: &Transport) -> (&'static str, Json) {
    match transport {
        Transport::Udp { rate, packet, pattern } => {
            let pattern = pattern_json(pattern);
            (
                UDP,
                json!({ "rate_bps": rate.0, "packet_size": spread_json(packet.spread(), "B"), "pattern": pattern }),
            )
        }
        Transport::Scream(config) => (scream::NAME, tcp::scream_json(config)),
        Transport::Tcp { config, size, clock_offset } => {
            let (name, mut parameters) = match config {
                TcpConfig::Ns2(config) => (config.variant.name(), tcp::ns2_json(config, *clock_offset)),
                TcpConfig::Rfc(config) => (TCP, tcp::effective_json(&**config)),
            };
            parameters["profile"] = json!(config.profile().name());
            parameters["size"] = size_json(size, config.payload());
            (name, parameters)
        }
    }
}

/// Packets, the last one perhaps not full; null without end; a distribution in bytes; the requests of an application (the
/// rest of a page is in the list of pages).
fn size_json(size: &Size, payload: u32) -> Json {
    match size {
        Size::Greedy => Json::Null,
        Size::Objects(objects) => json!({ "web": { "think": spread_json(&objects.think, "s") } }),
        Size::Video(video) => json!({ "video": video_json(video) }),
        Size::Packets(n) => json!(n),
        Size::Bytes(n) => json!(n.div_ceil(payload.into())),
        Size::Drawn(spread) => spread_json(spread, "B"),
    }
}

fn video_json(video: &Video) -> Json {
    let rule = match video.rule {
        AdaptationRule::Bba0 { reservoir, cushion } => {
            json!({ "bba-0": { "reservoir_s": reservoir.secs(), "cushion_s": cushion.secs() } })
        }
        AdaptationRule::Throughput { safety, window } => {
            json!({ "throughput": { "safety": safety, "window": window } })
        }
    };
    json!({
        "ladder_bps": video.ladder.iter().map(|rung| rung.0).collect::<Vec<_>>(),
        "segment_s": video.segment.secs(),
        "buffer_s": video.buffer.secs(),
        "startup_s": video.startup.secs(),
        "segments": video.segments,
        "rule": rule,
    })
}

fn pattern_json(pattern: &Pattern) -> Json {
    match pattern {
        Pattern::Constant => json!("constant"),
        Pattern::Poisson => json!("poisson"),
        Pattern::Arrivals(_) => json!("arrivals"),
        Pattern::OnOff { on, off } => json!({ "on": spread_json(on, "s"), "off": spread_json(off, "s") }),
    }
}

/// As a scenario file has it, with numbers in `unit`; a number by itself if it is no distribution.
fn spread_json(spread: &Spread, unit: &str) -> Json {
    match *spread {
        Spread::Empirical(ref cdf) => {
            let points = cdf.points().iter().map(|&(x, p)| [number_json(x), number_json(p)]);
            json!({ "cdf": points.collect::<Vec<_>>(), "unit": unit })
        }
        Spread::Fixed(x) => number_json(x),
        Spread::Uniform(low, high) => {
            json!({ "uniform": [number_json(low), number_json(high)], "unit": unit })
        }
        Spread::Exponential(mean) => json!({ "exponential": number_json(mean), "unit": unit }),
        Spread::Pareto { mean, shape } => {
            json!({ "pareto": { "mean": number_json(mean), "shape": number_json(shape) }, "unit": unit })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqmlab_transport::ns2::{self, Variant};
    use aqmlab_transport::rfc::{self, CongestionControl};

    #[test]
    fn every_parameter_of_tcp_is_listed() {
        let of_ns2 = TcpConfig::Ns2(ns2::Config::ns2(Variant::Sack).into());
        let of_rfc = |cc| {
            TcpConfig::Rfc(
                rfc::Config { window_growth: true, reordering_threshold: 2, ..rfc::Config::quic(cc) }.into(),
            )
        };
        let listed = |config: TcpConfig, expected: &str| {
            let size = Size::Bytes(2001);
            let (name, json) = transport_json(&Transport::Tcp { config, size, clock_offset: None });
            assert_eq!((name, &json["size"]), (expected, &json!(if name == "tcp" { 2 } else { 3 })));
            json
        };
        let json = listed(of_ns2.clone(), "sack");
        for p in of_ns2.profile().parameters() {
            assert!(json.get(p.key).is_some(), "{}", p.key);
        }
        // Parameters of a controller are listed only for connections that use it.
        for control in CongestionControl::ALL {
            let json = listed(of_rfc(control), "tcp");
            for p in of_rfc(control).profile().parameters() {
                let own = |cc: &CongestionControl| cc.keys().any(|key| key == p.key);
                let of_one = CongestionControl::ALL.into_iter().find(own);
                let expected = of_one.is_none_or(|cc| cc == control);
                assert_eq!(json.get(p.key).is_some(), expected, "{} of {}", p.key, control.name());
            }
        }
    }
}
