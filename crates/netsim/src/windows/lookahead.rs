//! How long a window may be, and in which order the stations have their turns in it.

use aqmlab_aqm::Kind;
use aqmlab_units::Span;

use crate::network::Network;
use crate::paths::Next;
use crate::plan::{Dispatch, Transport};

/// A window is at most 2^35 ps, 34 ms: longer ones do not pay.
const LONGEST: u32 = 35;
/// A window is at least 2^24 ps, 17 us: with shorter ones the event queue is faster.
const SHORTEST: u32 = 24;

/// The length of a window, and the stations in the order of their turns.
#[derive(Clone, Debug)]
pub(crate) struct Lookahead {
    /// A window is 2^shift ps.
    pub shift: u32,
    /// Links that are evaluated by themselves, sources and sinks, by their numbers: first the links, then a source and
    /// a sink for each flow.
    pub turns: Vec<u32>,
}

/// From station to station, and the least time that a message takes.
type Edge = (u32, u32, Span);

impl Lookahead {
    /// # Errors
    /// Why the network has no windows.
    pub fn new(network: &Network) -> Result<Self, String> {
        if let Some(page) = network.plan.pages.iter().find(|page| page.dispatch == Dispatch::FirstFree) {
            return Err(format!("the connections of page {} share its objects", page.name));
        }
        let stations = (network.numbering.links + 2 * network.numbering.flows) as usize;
        let edges = edges(network);
        let mut delays: Vec<Span> = edges.iter().map(|e| e.2).collect();
        delays.sort_unstable();
        delays.dedup();
        // The longest window such that the edges that are shorter form no circle: all edges shorter than delays[i],
        // for the largest i that allows it.
        let fits = |i: usize| {
            let limit = delays.get(i).copied();
            turns(stations, edges.iter().filter(|e| limit.is_none_or(|l| e.2 < l))).is_some()
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
            return Err("messages go round a circle of stations in less than 17 us".to_owned());
        }
        let shift = longest.ilog2().min(LONGEST);
        let mut turns = turns(stations, edges.iter().filter(|e| e.2.0 < 1 << shift))
            .ok_or_else(|| "messages go round a circle of stations without delay".to_owned())?;
        let mut is_station = vec![false; stations];
        (0..network.numbering.flows)
            .for_each(|f| is_station[(network.numbering.links + 2 * f) as usize] = true);
        edges.iter().for_each(|e| (is_station[e.0 as usize], is_station[e.1 as usize]) = (true, true));
        turns.retain(|&station| is_station[station as usize]);
        Ok(Self { shift, turns })
    }
}

/// The edges between stations, those that are evaluated with another left out.
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
            for step in network.inside.paths.steps(flow as usize, kind) {
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
            // Of UDP nothing travels back.
            if matches!(network.plan.flows[flow as usize].transport, Transport::Udp { .. }) {
                break;
            }
        }
    }
    edges.sort_unstable();
    edges.dedup_by_key(|e| (e.0, e.1));
    edges
}

/// All stations in an order in which every edge leads from an earlier to a later one, or none if there is a circle.
fn turns<'a>(stations: usize, edges: impl Iterator<Item = &'a Edge>) -> Option<Vec<u32>> {
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
    let mut turns: Vec<u32> = (0..stations as u32).filter(|&s| into[s as usize] == 0).collect();
    let mut done = 0;
    while let Some(&station) = turns.get(done) {
        done += 1;
        let station = station as usize;
        for &&(_, to, _) in &edges[first[station] as usize..first[station + 1] as usize] {
            into[to as usize] -= 1;
            if into[to as usize] == 0 {
                turns.push(to);
            }
        }
    }
    (done == stations).then_some(turns)
}
