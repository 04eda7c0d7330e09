//! The length of a window, and the topological order in which the stations are evaluated in it.
//!
//! The length follows from the lookahead of conservative synchronization (K. M. Chandy and J. Misra, "Distributed Simulation: A
//! Case Study in Design and Verification of Distributed Programs", IEEE Trans. Software Eng. 5(5), 1979; R. E. Bryant,
//! "Simulation of Packet Communication Architecture Computer Systems", MIT-LCS-TR-188, 1977): the least delay of a message.

use aqmlab_aqm::Kind;
use aqmlab_units::Span;

use crate::network::Network;
use crate::paths::Next;
use crate::plan::{Dispatch, Transport};

/// A window is at most 2^35 ps, 34 ms: longer ones do not pay.
const LONGEST: u32 = 35;
/// A window is at least 2^24 ps, 17 us: with shorter ones the event queue is faster.
const SHORTEST: u32 = 24;

/// The length of a window, and the stations in topological order.
#[derive(Clone, Debug)]
pub(crate) struct Lookahead {
    /// A window is 2^shift ps.
    pub shift: u32,
    /// The numbers of the stations: links that are evaluated by themselves, sources and sinks. Links are numbered first, then
    /// a source and a sink for each flow.
    pub topological_order: Vec<u32>,
}

/// An edge from station to station, with the least delay of a message.
type Edge = (u32, u32, Span);

impl Lookahead {
    /// # Errors
    /// The reason why this network cannot be evaluated in windows.
    pub fn new(network: &Network) -> Result<Self, String> {
        if let Some(page) = network.plan.pages.iter().find(|page| page.dispatch == Dispatch::FirstFree) {
            return Err(format!("the connections of page {} share its objects", page.name));
        }
        let stations = (network.numbering.links + 2 * network.numbering.flows) as usize;
        let edges = edges(network);
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
        (0..network.numbering.flows)
            .for_each(|f| is_station[(network.numbering.links + 2 * f) as usize] = true);
        edges.iter().for_each(|e| (is_station[e.0 as usize], is_station[e.1 as usize]) = (true, true));
        order.retain(|&station| is_station[station as usize]);
        Ok(Self { shift, topological_order: order })
    }
}

/// Return the edges between stations, without the stations that are evaluated together with their feeder.
fn edges(network: &Network) -> Vec<Edge> {
    let mut least: Vec<Span> = network.plan.links.iter().map(|l| l.delay).collect();
    for change in &network.plan.changes {
        if let Some(delay) = change.delay {
            let known = &mut least[change.link as usize];
            *known = delay.min(*known);
        }
    }
    let links = network.numbering.links;
    let mut edges = Vec::new();
    for flow in 0..network.numbering.flows {
        let source = links + 2 * flow;
        let (mut from, mut delay) = (source, Span::ZERO);
        for kind in [Kind::Data, Kind::Ack] {
            for step in network.fabric.paths.steps(flow as usize, kind) {
                let station = match step.next() {
                    Next::Link(link) => link,
                    Next::Endpoint(_) if kind == Kind::Data => source + 1,
                    Next::Endpoint(_) => source,
                };
                if !step.is_ahead() {
                    edges.push((from, station, delay));
                    (from, delay) = (station, Span::ZERO);
                }
                if let Next::Link(link) = step.next() {
                    delay = delay + least[link as usize];
                }
            }
            // UDP has no return path.
            if matches!(network.plan.flows[flow as usize].transport, Transport::Udp { .. }) {
                break;
            }
        }
    }
    edges.sort_unstable();
    edges.dedup_by_key(|e| (e.0, e.1));
    edges
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
