use aqmlab_netsim::plan::{Flow, LinkId, Plan, Size, Transport};
use aqmlab_transport::TcpConfig;
use aqmlab_transport::ns2::Variant;
use aqmlab_units::{Span, Time};
use serde_json::{Map, Value as Json, json};

use super::check::{answer, link_name, node_name};
use super::flow::transport_json;
use crate::live::{Distance, Live, LiveGroup, LivePath, reverse};
use crate::{Scenario, scenario};

/// Check a scenario for a live run and return the result as JSON: `ok`, `errors`, `warnings`, and `plan` if it is valid, with
/// everything drawn that the run of this seed draws.
pub fn live_plan_json(text: &str, file: &str, overrides: &[(String, String)], seed: u64) -> String {
    match scenario::parse_live(text, file, overrides, seed) {
        Ok(live) => answer(Ok(("plan", &plan_json(&live, seed).to_string())), &live.scenario.warnings),
        Err(errors) => answer(Err(&errors), &[]),
    }
}

/// The settings of `[live]`, as a file has them.
pub(super) fn live_json(plan: &Plan, live: &Live) -> Json {
    let distance = match &live.distance {
        Distance::Inferred => json!({ "rule": "inferred" }),
        Distance::Option => json!({ "rule": "option" }),
        Distance::ByPrefix(initial) => {
            let initial: Map<_, _> =
                initial.iter().map(|(prefix, ttl)| (prefix.clone(), json!(ttl))).collect();
            json!({ "rule": "prefix", "initial": initial })
        }
    };
    json!({
        "family": live.family.name(),
        "link": live.link.map(|link| link_name(plan, link)),
        "flow_label": live.flow_label.name(),
        "distance": distance,
        "qosa_bit": live.qosa_bit,
        "count_bytes": live.count_bytes.name(),
        "loss": live.loss,
        "reverse_loss": live.reverse_loss,
    })
}

fn plan_json(live: &scenario::LiveScenario, seed: u64) -> Json {
    let scenario::LiveScenario { scenario, plan, groups } = live;
    let Scenario { name, seeds, hash, live: settings, .. } = scenario;
    let groups_json: Vec<_> =
        (1..).zip(groups).map(|(number, group)| group_json(live, number, group, seed)).collect();
    let mut used: Vec<_> = groups.iter().flat_map(|g| g.there.links.iter().chain(&g.back.links)).collect();
    used.sort_unstable();
    used.dedup();
    let links = used.into_iter().map(|&link| (link_name(plan, link).to_owned(), link_json(scenario, link)));
    json!({
        "name": name,
        "hash": hash,
        "duration_s": plan.duration.secs(),
        "warmup_s": plan.warmup.secs(),
        "seeds": seeds,
        "seed": seed,
        "live": live_json(plan, settings),
        "link": settings.link.map(|link| link_name(plan, link)),
        "reverse_link": settings.link.and_then(|link| reverse(plan, link)).map(|link| link_name(plan, link)),
        "links": links.collect::<Map<_, _>>(),
        "groups": groups_json,
    })
}

fn link_json(scenario: &Scenario, id: LinkId) -> Json {
    let (plan, link) = (&scenario.plan, &scenario.plan.links[id as usize]);
    json!({
        "from": node_name(plan, link.from),
        "to": node_name(plan, link.to),
        "rate_bps": link.rate.0,
        "delay_ns": nanoseconds(link.delay),
        "queue": scenario.queue(id),
        "aqm": link.aqm(),
    })
}

fn group_json(live: &scenario::LiveScenario, number: usize, group: &LiveGroup, seed: u64) -> Json {
    let scenario::LiveScenario { scenario, plan, groups } = live;
    let flows: Vec<&Flow> = group.flows.iter().map(|&i| &plan.flows[i]).collect();
    let first = flows[0];
    let parts = groups.iter().filter(|g| plan.flows[g.flows[0]].group == first.group).count();
    let program = scenario.live.programs.get(&*first.group);
    let (transport, parameters) = transport_json(&first.transport);
    let (congestion_control, ecn) = kernel(&first.transport);
    json!({
        "number": number,
        "name": if parts == 1 { &*first.group } else { &*first.name },
        "group": &*first.group,
        "flows": flows.iter().map(|flow| &*flow.name).collect::<Vec<_>>(),
        "direction": direction(live, &group.there),
        "there": way_json(plan, &group.there),
        "back": way_json(plan, &group.back),
        "starts_s": flows.iter().map(|flow| flow.start_in(seed).secs()).collect::<Vec<_>>(),
        "stop_s": first.stop.map(Time::secs),
        "again_s": first.again.iter().map(|(begin, end)| [begin.secs(), end.secs()]).collect::<Vec<_>>(),
        "size_bytes": flows.iter().map(|flow| size_bytes(&flow.transport)).collect::<Vec<_>>(),
        "transport": transport,
        "congestion_control": congestion_control,
        "ecn": ecn,
        "dscp": first.dscp,
        "class": first.class,
        "ttl": first.ttl,
        "acks_share_label": first.acks_share_label,
        "parameters": parameters,
        "exec": program.map(|p| &p.exec),
        "exec_server": program.and_then(|p| p.exec_server.as_ref()),
    })
}

/// Return the direction of the data: over the live link, or over the link in its other direction.
fn direction(live: &scenario::LiveScenario, there: &LivePath) -> Option<&'static str> {
    let crossed = there.links[there.crossed?];
    Some(if live.scenario.live.link == Some(crossed) { "forward" } else { "reverse" })
}

fn way_json(plan: &Plan, way: &LivePath) -> Json {
    let (before, after) = way.parts();
    let names = |links: &[LinkId]| links.iter().map(|&l| link_name(plan, l).to_owned()).collect::<Vec<_>>();
    let delay = |links: &[LinkId]| nanoseconds(LivePath::delay(plan, links));
    let crossed = way.crossed.map(|place| way.links[place]);
    json!({
        "links": names(&way.links),
        "crosses": crossed.map(|link| link_name(plan, link)),
        "before": names(before),
        "after": names(after),
        "hops_before": before.len(),
        "hops_after": after.len(),
        "delay_before_ns": delay(before),
        "delay_after_ns": delay(after),
        "delay_ns": delay(&way.links),
    })
}

/// Return the kernel's most similar congestion control, and whether the connection uses ECN. ns-2's Reno, NewReno and SACK
/// all are the kernel's Reno, which repairs losses by SACK, and without it as NewReno does; it has no Tahoe, LEDBAT, Prague, and
/// only the first BBR.
fn kernel(transport: &Transport) -> (Option<&'static str>, bool) {
    let Transport::Tcp { config, .. } = transport else { return (None, false) };
    let nearest = match config {
        TcpConfig::Ns2(config) => (config.variant != Variant::Tahoe).then_some("reno"),
        TcpConfig::Rfc(config) => {
            config.congestion_control.in_linux().then_some(config.congestion_control.name())
        }
    };
    (nearest, config.ecn())
}

/// Payload to transfer in bytes; null without end.
fn size_bytes(transport: &Transport) -> Option<u64> {
    match transport {
        Transport::Tcp { config, size: Size::Packets(n), .. } => Some(n * u64::from(config.payload())),
        Transport::Tcp { size: Size::Bytes(n), .. } => Some(*n),
        Transport::Tcp { .. } | Transport::Udp { .. } => None,
    }
}

fn nanoseconds(Span(ps): Span) -> u64 {
    (ps + 500) / 1000
}
