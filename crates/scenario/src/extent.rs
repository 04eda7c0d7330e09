//! How large a run is: warnings about runs that take minutes, and about connections that run out of sequence numbers.
//!
//! The estimate is an upper bound: each flow sends what its windows, its rate and the slowest link on its way allow, and flows that
//! share a link share its capacity.

use std::collections::BTreeSet;

use aqmlab_netsim::Routes;
use aqmlab_netsim::plan::{Ends, Flow, LinkId, Plan, Size, Start, Transport};
use aqmlab_transport::{TcpConfig, ns2};
use aqmlab_units::Time;

use crate::problem::Complaint;
use crate::section::Section;

/// Packets over links in a run from which a warning is given: about 20 s.
const MANY_HOPS: f64 = 2e8;
/// Packets over links that are simulated in a second, about.
const HOPS_PER_SECOND: f64 = 1e7;
/// At most so many flows are looked at; each then stands for several.
const MOST_FLOWS: usize = 2000;

/// An upper bound of a flow's traffic.
struct Load {
    packets: f64,
    /// Of a packet.
    bytes: f64,
    path: Vec<LinkId>,
    /// Links of the acknowledgements.
    back: usize,
}

/// Warn of a run that takes long, and of connections that may run out of sequence numbers.
pub(crate) fn warn(file: &Section<'_>, plan: &Plan) {
    let rates = rates(plan);
    let mut routes = Routes::new(plan);
    let step = plan.flows.len().div_ceil(MOST_FLOWS).max(1);
    let mut loads = Vec::new();
    let mut exhausted = BTreeSet::new();
    for flow in plan.flows.iter().step_by(step) {
        let Some(load) = load(flow, plan, &rates, &mut routes) else { continue };
        if load.packets > ns2::MOST_PACKETS as f64 && has_limit(flow) {
            exhausted.insert(&*flow.group);
        }
        loads.push(load);
    }
    warn_of_exhaustion(file, &exhausted);
    let hops = step as f64 * hops(&loads, &rates, plan, step as f64);
    if hops >= MANY_HOPS
        && let Some(run) = file.section("run")
    {
        let message = format!(
            "up to {hops:.1e} packets cross links in a run, which takes up to {}",
            in_words(hops / HOPS_PER_SECOND)
        );
        run.warning("duration", Complaint::new(message));
    }
}

/// Whether the packets of a flow have numbers up to 2^30 only, and it has no size of its own.
fn has_limit(flow: &Flow) -> bool {
    matches!(&*flow.transport, Transport::Tcp { config: TcpConfig::Ns2(_), size: Size::Greedy, .. })
}

fn warn_of_exhaustion(file: &Section<'_>, groups: &BTreeSet<&str>) {
    for section in file.sections("flow") {
        if section.text("name").is_some_and(|name| groups.contains(name)) {
            let message = "the links let a flow send more than 2^30 packets during the run, after which profile ns2-2.35 stops";
            section.warning(
                "name",
                Complaint::new(message)
                    .allowed("tcp = { profile = \"rfc\" }, larger packets or a shorter run"),
            );
        }
    }
}

/// The highest rate of each link, in bit/s.
fn rates(plan: &Plan) -> Vec<f64> {
    plan.links.iter().map(|link| link.line.server.fastest().bps()).collect()
}

/// Return an upper bound of a flow's traffic; `None` if its ends are drawn in every run.
fn load(flow: &Flow, plan: &Plan, rates: &[f64], routes: &mut Routes<'_>) -> Option<Load> {
    let Ends::At(from, to) = flow.ends else { return None };
    let path = routes.path(from, to)?;
    let start = match &flow.start {
        Start::At(time) | Start::Uniform(time, _) => *time,
        Start::Poisson { process, .. } => process.from,
    };
    let end = Time::ZERO + plan.duration;
    let end = if flow.again.is_empty() { flow.stop.unwrap_or(end).min(end) } else { end };
    let seconds = end.since(start).secs();
    let slowest = path.iter().map(|&link| rates[link as usize]).fold(f64::INFINITY, f64::min);
    let bytes = flow.transport.packet_bytes();
    match &*flow.transport {
        Transport::Udp { rate, .. } => {
            // Packets in excess of the first link's rate are simulated up to that link.
            let packets = rate.bps() * seconds / (8.0 * bytes);
            Some(Load { packets, bytes, path, back: 0 })
        }
        Transport::Scream(config) => {
            let packets = (config.max_rate.bps() / (8.0 * bytes) + config.frame_rate) * seconds;
            Some(Load { packets, bytes, path, back: routes.path(to, from)?.len() })
        }
        Transport::Tcp { config, size, .. } => {
            let back = routes.path(to, from)?;
            let delays = path.iter().chain(&back).map(|&link| plan.links[link as usize].delay().secs());
            let round_trip = delays.sum::<f64>() + 8.0 * bytes / slowest;
            let packets =
                (slowest * seconds / (8.0 * bytes)).min(window(config) * (1.0 + seconds / round_trip));
            let packets = match size {
                Size::Packets(n) => packets.min(*n as f64),
                Size::Bytes(n) => packets.min(*n as f64 / f64::from(config.payload()) + 1.0),
                _ => packets,
            };
            Some(Load { packets, bytes, path, back: back.len() })
        }
    }
}

/// The largest window in packets.
fn window(config: &TcpConfig) -> f64 {
    match config {
        TcpConfig::Ns2(config) => config.window,
        TcpConfig::Rfc(config) => f64::from(config.window) / f64::from(config.mss),
    }
}

/// Packets over links, where each of the loads occurs `weight` times and shares the capacity of its links.
fn hops(loads: &[Load], rates: &[f64], plan: &Plan, weight: f64) -> f64 {
    let mut demand = vec![0.0; rates.len()];
    for load in loads {
        load.path.iter().for_each(|&link| demand[link as usize] += weight * load.packets * load.bytes);
    }
    let share = |link: &LinkId| {
        let (bytes, rate) = (demand[*link as usize], rates[*link as usize]);
        if bytes > 0.0 { (rate * plan.duration.secs() / 8.0 / bytes).min(1.0) } else { 1.0 }
    };
    let of_load = |load: &Load| {
        let carried = load.packets * load.path.iter().map(share).fold(1.0, f64::min);
        // A source of UDP offers all of its packets to the first link.
        let offered = if load.back == 0 { load.packets } else { carried };
        offered + carried * (load.path.len().saturating_sub(1) + load.back) as f64
    };
    loads.iter().map(of_load).sum()
}

fn in_words(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_words() {
        assert_eq!([20.0, 99.0, 300.0, 36_000.0].map(in_words), ["20 s", "99 s", "5 min", "10 h"]);
    }
}
