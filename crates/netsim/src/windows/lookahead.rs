//! The length of a window, and the topological order in which the stations are evaluated in it.
//!
//! The length follows from the lookahead of conservative synchronization (K. M. Chandy and J. Misra, "Distributed Simulation: A
//! Case Study in Design and Verification of Distributed Programs", IEEE Trans. Software Eng. 5(5), 1979; R. E. Bryant,
//! "Simulation of Packet Communication Architecture Computer Systems", MIT-LCS-TR-188, 1977): the least delay of a message.

use aqmlab_aqm::Kind;
use aqmlab_units::Span;

use crate::network::Network;
use crate::paths::{Next, Step};
use crate::plan::Dispatch;

/// A window is at most 2^35 ps, 34 ms: longer ones do not pay.
pub(super) const LONGEST: u32 = 35;
/// A window is at least 2^24 ps, 17 us: with shorter ones the event queue is faster.
pub(super) const SHORTEST: u32 = 24;

/// The length of a window, and the stations in topological order.
#[derive(Clone, Debug)]
pub(crate) struct Lookahead {
    /// A window is 2^shift ps.
    pub shift: u32,
    /// All sources are the station of the source of flow 0, and all sinks that of its sink.
    pub ends_together: bool,
    /// The numbers of the stations: links that are evaluated by themselves, sources and sinks. Links are numbered first, then
    /// a source and a sink for each flow.
    pub topological_order: Vec<u32>,
    /// All pairs of stations of which the first sends to the second.
    pub edges: Vec<Edge>,
}

/// An edge from station to station, with the least delay of a message.
pub(super) type Edge = (u32, u32, Span);

impl Lookahead {
    /// # Errors
    /// The reason why this network cannot be evaluated in windows.
    pub fn new(network: &Network) -> Result<Self, String> {
        let together = Self::with_ends(network, true);
        if together.as_ref().is_ok_and(|found| found.shift == LONGEST) {
            return together;
        }
        // One station for many ends closes cycles that each of them does not: not if the windows are shorter then.
        let apart = Self::with_ends(network, false)?;
        Ok(together.ok().filter(|found| found.shift == apart.shift).unwrap_or(apart))
    }

    fn with_ends(network: &Network, ends_together: bool) -> Result<Self, String> {
        if let Some(page) = network.plan.pages.iter().find(|page| page.dispatch == Dispatch::FirstFree) {
            return Err(format!("the connections of page {} share its objects", page.name));
        }
        let stations = (network.numbering.links + 2 * network.numbering.flows) as usize;
        let edges = edges(network, ends_together);
        let mut delays: Vec<Span> = edges.iter().map(|e| e.2).collect();
        delays.sort_unstable();
        delays.dedup();
        // The longest window such that the edges shorter than it form no cycle: all edges shorter than delays[i], for the
        // largest such i.
        let fits = |i: usize| {
            let limit = delays.get(i).copied();
            topological_order(stations, edges.iter().filter(|e| limit.is_none_or(|l| e.2 < l))).is_some()
        };
        let (mut low, mut high) = (0, delays.len());
        while low < high {
            let middle = (low + high).div_ceil(2);
            if fits(middle) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        let longest = delays.get(low).map_or(u64::MAX, |d| d.0);
        if longest < 1 << SHORTEST {
            return Err("a cycle of stations has a delay of less than 17 us".to_owned());
        }
        let shift = longest.ilog2().min(LONGEST);
        let mut order = topological_order(stations, edges.iter().filter(|e| e.2.0 < 1 << shift))
            .ok_or_else(|| "a cycle of stations has no delay".to_owned())?;
        let mut is_station = vec![false; stations];
        let sources = if ends_together { network.numbering.flows.min(1) } else { network.numbering.flows };
        (0..sources).for_each(|f| is_station[(network.numbering.links + 2 * f) as usize] = true);
        edges.iter().for_each(|e| (is_station[e.0 as usize], is_station[e.1 as usize]) = (true, true));
        order.retain(|&station| is_station[station as usize]);
        Ok(Self { shift, ends_together, topological_order: order, edges })
    }
}

/// Return the edges between stations, without the stations that are evaluated together with their feeder.
fn edges(network: &Network, ends_together: bool) -> Vec<Edge> {
    let least: Vec<Span> = network.plan.links.iter().map(|l| l.line.channel.shortest()).collect();
    let mut edges = Vec::new();
    let mut add = |mut from: u32, steps: &mut dyn Iterator<Item = (Kind, Step, u32)>| {
        let mut delay = Span::ZERO;
        for (_, step, station) in steps {
            if !step.is_ahead() {
                edges.push((from, station, delay));
                (from, delay) = (station, Span::ZERO);
            }
            if let Next::Link(link) = step.next() {
                delay = delay + least[link as usize];
            }
        }
    };
    for flow in 0..network.numbering.flows {
        add(source_of(network, ends_together, flow), &mut steps(network, ends_together, flow));
        // A link sends a packet on a detour at once.
        for (turning, mut steps) in detours(network, ends_together, flow) {
            add(turning, &mut steps);
        }
    }
    edges.sort_unstable();
    edges.dedup_by_key(|e| (e.0, e.1));
    edges
}

/// Return the number of the station that evaluates the source of a flow.
pub(super) fn source_of(network: &Network, ends_together: bool, flow: u32) -> u32 {
    network.numbering.links + if ends_together { 0 } else { 2 * flow }
}

/// The steps of the packets of a flow and of its acknowledgements, each with the station that evaluates it.
pub(super) fn steps(
    network: &Network,
    ends_together: bool,
    flow: u32,
) -> impl Iterator<Item = (Kind, Step, u32)> {
    let source = source_of(network, ends_together, flow);
    let kinds = [Kind::Data, Kind::Ack].into_iter().take(if network.plan.is_one_way(flow) { 1 } else { 2 });
    let steps =
        kinds.flat_map(move |kind| network.fabric.paths.steps(flow as usize, kind).map(move |s| (kind, s)));
    with_stations(source, source, steps)
}

/// The detours of a flow: the station that sends packets on it, and its steps, as [`steps`] has them.
pub(super) fn detours(
    network: &Network,
    ends_together: bool,
    flow: u32,
) -> impl Iterator<Item = (u32, impl Iterator<Item = (Kind, Step, u32)>)> {
    let source = source_of(network, ends_together, flow);
    let detours = network.fabric.paths.detours_of(flow as usize);
    detours.map(move |(turning, kind, steps)| {
        (turning, with_stations(source, turning, steps.map(move |step| (kind, step))))
    })
}

/// Steps of a flow's packets that are sent by a station, each with the station that evaluates it.
fn with_stations(
    source: u32,
    station: u32,
    steps: impl Iterator<Item = (Kind, Step)>,
) -> impl Iterator<Item = (Kind, Step, u32)> {
    steps.scan(station, move |station, (kind, step)| {
        if !step.is_ahead() {
            *station = match step.next() {
                Next::Link(link) => link,
                Next::Endpoint(_) if kind == Kind::Data => source + 1,
                Next::Endpoint(_) => source,
            };
        }
        Some((kind, step, *station))
    })
}

/// Return the stations in topological order, or `None` if the edges form a cycle (A. B. Kahn, "Topological Sorting of Large
/// Networks", CACM 5(11), 1962).
fn topological_order<'a>(stations: usize, edges: impl Iterator<Item = &'a Edge>) -> Option<Vec<u32>> {
    let edges: Vec<_> = edges.collect();
    let mut into = vec![0_u32; stations];
    let mut first = vec![0_u32; stations + 1];
    for &&(from, to, _) in &edges {
        into[to as usize] += 1;
        first[from as usize + 1] += 1;
    }
    for i in 0..stations {
        first[i + 1] += first[i];
    }
    // Edges are sorted by their start.
    let mut order: Vec<u32> = (0..stations as u32).filter(|&s| into[s as usize] == 0).collect();
    let mut done = 0;
    while let Some(&station) = order.get(done) {
        done += 1;
        let station = station as usize;
        for &&(_, to, _) in &edges[first[station] as usize..first[station + 1] as usize] {
            into[to as usize] -= 1;
            if into[to as usize] == 0 {
                order.push(to);
            }
        }
    }
    (done == stations).then_some(order)
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::plan::{Ends, Flow, Line, Link, Plan, Probe, Size, Start, TTL, Transport};
    use aqmlab_aqm::{LinkContext, Spec};
    use aqmlab_transport::TcpConfig;
    use aqmlab_transport::ns2::{Config, Variant};
    use aqmlab_units::{Rate, Time};

    /// Nodes 0 to 4 in a line and node 5 at node 1, with the delays of the links in ms; flows between these nodes.
    pub fn network(delays: [u64; 5], flows: &[(u32, u32)]) -> Network {
        let rate = Rate(1_000_000);
        let ends = [(0, 1), (1, 2), (2, 3), (3, 4), (5, 1)].into_iter().zip(delays);
        let links = ends.flat_map(|((a, b), ms)| [(a, b, ms), (b, a, ms)]).map(|(from, to, ms)| {
            let context = LinkContext { rate, delay: Span::from_millis(ms) };
            let queue = Spec::new("drop-tail").expect("a preset").resolve(context).expect("a queue");
            let name = format!("{from}->{to}");
            let line = Line::constant(rate, context.delay).into();
            Link { name: name.into(), from, to, line, queue: Arc::new(queue) }
        });
        let config = TcpConfig::Ns2(Arc::new(Config::ns2(Variant::Reno)));
        let flow = |&(from, to): &(u32, u32)| Flow {
            name: "".into(),
            group: "".into(),
            ends: Ends::At(from, to),
            start: Start::At(Time::ZERO),
            stop: None,
            again: Vec::new(),
            dscp: 0,
            class: 0,
            ttl: TTL,
            acks_share_label: false,
            hosts: [0; 2],
            transport: Arc::new(Transport::Tcp {
                config: config.clone(),
                size: Size::Greedy,
                clock_offset: None,
            }),
        };
        let plan = Plan {
            nodes: (0..6).map(|i| i.to_string().into()).collect(),
            links: links.collect(),
            flows: flows.iter().map(flow).collect(),
            hosts: Vec::new(),
            pages: Vec::new(),
            markers: Vec::new(),
            pings: Vec::new(),
            translations: Vec::new(),
            routing: Default::default(),
            duration: Span::from_millis(5000),
            warmup: Span::ZERO,
            probe: Probe::default(),
        };
        Network::new(&plan, 1, true)
    }

    fn lookahead(delays: [u64; 5], flows: &[(u32, u32)]) -> Lookahead {
        Lookahead::new(&network(delays, flows)).expect("windows")
    }

    #[test]
    fn ends_are_together_unless_windows_are_shorter_then() {
        // A cycle goes from source 5 over 1->2 to source 3, and over 3->2 back, in edges of 1, 2, 0 and 3 ms. With one station for
        // both sources, its first two edges are a cycle.
        let ends = [(5, 4), (3, 0)];
        let apart = lookahead([100, 1, 1, 100, 1], &ends);
        assert!(!apart.ends_together && apart.shift == Span::from_millis(3).0.ilog2(), "{apart:?}");
        let together = lookahead([20, 20, 20, 20, 20], &ends);
        assert!(together.ends_together && together.shift == LONGEST, "{together:?}");
        // The first with one station for all sources, and none for sinks, which are evaluated ahead.
        assert_eq!(together.topological_order.iter().filter(|&&station| station >= 10).count(), 1);
    }
}
