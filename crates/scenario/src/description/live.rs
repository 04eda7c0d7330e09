use std::collections::BTreeMap;

use aqmlab_netsim::plan::{self, LinkId, Plan, Size, Transport};
use aqmlab_transport::TcpConfig;
use aqmlab_transport::ns2::Variant;
use aqmlab_units::{Span, Time};
use serde::Serialize;
use serde_json::Value as Json;

use super::flow::{periods, transport_json};
use super::scenario::link_name;
use super::tuple;
use crate::Scenario;
use crate::live::{Distance, Live, LiveGroup, LivePath, reverse};
use crate::problem::Problem;

/// The settings of `[live]`, as a file has them.
#[derive(Serialize)]
pub(super) struct Settings<'a> {
    count_bytes: &'static str,
    distance: DistanceRule<'a>,
    family: &'static str,
    flow_label: &'static str,
    link: Option<&'a str>,
    loss: f64,
    qosa_bit: bool,
    reverse_loss: f64,
}

#[derive(Serialize)]
struct DistanceRule<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    initial: Option<BTreeMap<&'a str, u8>>,
    rule: &'static str,
}

impl<'a> Settings<'a> {
    pub fn new(plan: &'a Plan, live: &'a Live) -> Self {
        let (rule, initial) = match &live.distance {
            Distance::Inferred => ("inferred", None),
            Distance::Option => ("option", None),
            Distance::ByPrefix(initial) => {
                ("prefix", Some(initial.iter().map(|(prefix, ttl)| (prefix.as_str(), *ttl)).collect()))
            }
        };
        Self {
            count_bytes: live.count_bytes.name(),
            distance: DistanceRule { initial, rule },
            family: live.family.name(),
            flow_label: live.flow_label.name(),
            link: live.link.map(|link| link_name(plan, link)),
            loss: live.loss,
            qosa_bit: live.qosa_bit,
            reverse_loss: live.reverse_loss,
        }
    }
}

/// The live run of a scenario with one seed, with everything drawn that this run draws.
#[derive(Serialize)]
struct LivePlan {
    seed: u64,
    link: String,
    reverse_link: Option<String>,
    rate_bps: f64,
    aqm: &'static str,
    reverse_aqm: Option<&'static str>,
    groups: Vec<FlowGroup>,
}

/// Flows of one group of the file whose links have the same rates and delays. Times in seconds or nanoseconds.
#[derive(Serialize)]
struct FlowGroup {
    number: usize,
    /// The name of the group of the file; of the first flow where that is split.
    name: String,
    group: String,
    #[serde(serialize_with = "tuple")]
    flows: Vec<String>,
    /// Whether the data cross the live link, and not the link in its other direction.
    forward: bool,
    there: Way,
    back: Way,
    #[serde(serialize_with = "tuple")]
    starts_s: Vec<f64>,
    stop_s: Option<f64>,
    #[serde(serialize_with = "tuple")]
    again_s: Vec<(f64, f64)>,
    /// Payload of each flow in bytes; without end if absent.
    #[serde(serialize_with = "tuple")]
    size_bytes: Vec<Option<u64>>,
    transport: &'static str,
    parameters: Json,
    congestion_control: Option<&'static str>,
    ecn: bool,
    dscp: u8,
    traffic_class: u8,
    ttl: u8,
    acks_share_label: bool,
    exec: Option<String>,
    exec_server: Option<String>,
}

/// The links from one end to the other, parted by the one crossed; all are before where none is.
#[derive(Serialize)]
struct Way {
    #[serde(serialize_with = "tuple")]
    links: Vec<String>,
    crosses: Option<String>,
    hops_before: usize,
    hops_after: usize,
    delay_before_ns: u64,
    delay_after_ns: u64,
    delay_ns: u64,
}

impl Scenario {
    /// Check the scenario for a live run with this seed. Return a description of the run, and warnings about features that it leaves out.
    ///
    /// # Errors
    /// Return the obstacles to a live run: no live link, a flow that does not cross it.
    pub fn live_plan(&self, seed: u64) -> Result<(impl Serialize + use<>, Vec<Problem>), Vec<Problem>> {
        let (plan, groups, warnings) = self.drawn_live(seed)?;
        let reverse = self.live.link.and_then(|link| reverse(&plan, link));
        let of = |link: Option<LinkId>| link.map(|link| &plan.links[link as usize]);
        let (live, reverse) = (of(self.live.link), of(reverse));
        let group = |(number, group)| FlowGroup::new(self, &plan, &groups, number, group, seed);
        let described = LivePlan {
            seed,
            link: live.map(|link| link.name.to_string()).unwrap_or_default(),
            reverse_link: reverse.map(|link| link.name.to_string()),
            rate_bps: live.map_or(0.0, |link| link.rate().bps()),
            aqm: live.map_or("", plan::Link::aqm),
            reverse_aqm: reverse.map(plan::Link::aqm),
            groups: (1..).zip(&groups).map(group).collect(),
        };
        Ok((described, warnings))
    }
}

impl FlowGroup {
    fn new(
        scenario: &Scenario,
        plan: &Plan,
        groups: &[LiveGroup],
        number: usize,
        group: &LiveGroup,
        seed: u64,
    ) -> Self {
        let flows = || group.flows.iter().map(|&flow| &plan.flows[flow]);
        let first = &plan.flows[group.flows[0]];
        let parts = groups.iter().filter(|other| plan.flows[other.flows[0]].group == first.group).count();
        let program = scenario.live.programs.get(&*first.group);
        let (transport, parameters) = transport_json(&first.transport);
        let (congestion_control, ecn) = kernel(&first.transport);
        let crossed = group.there.crossed.map(|place| group.there.links[place]);
        Self {
            number,
            name: if parts == 1 { first.group.to_string() } else { first.name.to_string() },
            group: first.group.to_string(),
            flows: flows().map(|flow| flow.name.to_string()).collect(),
            forward: crossed == scenario.live.link,
            there: Way::new(plan, &group.there),
            back: Way::new(plan, &group.back),
            starts_s: flows().map(|flow| flow.start_in(seed).secs()).collect(),
            stop_s: first.stop.map(Time::secs),
            again_s: periods(&first.again),
            size_bytes: flows().map(|flow| size_bytes(&flow.transport)).collect(),
            transport,
            parameters,
            congestion_control,
            ecn,
            dscp: first.dscp,
            traffic_class: first.class,
            ttl: first.ttl,
            acks_share_label: first.acks_share_label,
            exec: program.map(|program| program.exec.clone()),
            exec_server: program.and_then(|program| program.exec_server.clone()),
        }
    }
}

impl Way {
    fn new(plan: &Plan, path: &LivePath) -> Self {
        let (before, after) = path.parts();
        let name = |&link: &LinkId| link_name(plan, link).to_owned();
        let delay = |links: &[LinkId]| nanoseconds(LivePath::delay(plan, links));
        Self {
            links: path.links.iter().map(name).collect(),
            crosses: path.crossed.map(|place| name(&path.links[place])),
            hops_before: before.len(),
            hops_after: after.len(),
            delay_before_ns: delay(before),
            delay_after_ns: delay(after),
            delay_ns: delay(&path.links),
        }
    }
}

/// Return the kernel's most similar congestion control, and whether the connection uses ECN. ns-2's Reno, NewReno and SACK
/// all are the kernel's Reno, which repairs losses by SACK, and without it as NewReno does; it has no Tahoe, LEDBAT, Prague, and
/// of BBR version 1 only.
fn kernel(transport: &Transport) -> (Option<&'static str>, bool) {
    let Transport::Tcp { config, .. } = transport else { return (None, false) };
    let nearest = match config {
        TcpConfig::Ns2(config) => (config.variant != Variant::Tahoe).then_some("reno"),
        TcpConfig::Rfc(config) => config.congestion_control.linux_name(),
    };
    (nearest, config.ecn())
}

/// Payload to transfer in bytes; null without end.
fn size_bytes(transport: &Transport) -> Option<u64> {
    match transport {
        Transport::Tcp { config, size: Size::Packets(n), .. } => Some(n * u64::from(config.payload())),
        Transport::Tcp { size: Size::Bytes(n), .. } => Some(*n),
        Transport::Tcp { .. } | Transport::Udp { .. } | Transport::Scream(_) => None,
    }
}

fn nanoseconds(Span(ps): Span) -> u64 {
    (ps + 500) / 1000
}
