//! Which stations each of two threads evaluates.
//!
//! The topological order of the stations is cut in two where both parts have about the same to do. Then the stations that come earlier
//! never wait for later ones within a window, but some inputs of a window may come from the other part in the same window. Both
//! parts work at the same time only if what one sends comes back two windows later or more; windows become shorter until it does.

use aqmlab_aqm::{Kind, Preset};
use aqmlab_units::Span;

use super::SLOTS;
use super::lookahead::{Lookahead, SHORTEST, detours, source_of, steps};
use crate::link::Link;
use crate::network::Network;
use crate::paths::Next;

/// About how many instructions it takes to take an input of a station from its page, to evaluate a link of each kind, a source and a sink
/// (benches/JOURNAL.md).
const INPUT: f64 = 50.0;
const UNOBSERVED_DROP_TAIL: f64 = 50.0;
const IN_ORDER: f64 = 250.0;
const QUEUE: f64 = 500.0;
const SOURCE: f64 = 250.0;
const SINK: f64 = 100.0;
/// Cost of an acknowledgement at a link, as a share of that of a data packet: it seldom waits.
const ACK: f64 = 0.6;
/// Two threads pay from so many instructions a window on, and in the whole run (benches/JOURNAL.md).
const LEAST_A_WINDOW: f64 = 150e3;
const LEAST_A_RUN: f64 = 500e6;

/// The two parts of a network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Division {
    /// The stations of each part, in topological order.
    pub parts: [Vec<u32>; 2],
    /// A window is 2^shift ps.
    pub shift: u32,
    /// Both parts have about so many instructions to do in a simulated second.
    pub load: f64,
    /// From each part to the other: the least number of windows from an input to an input that it causes.
    pub distances: [u64; 2],
    /// The links that the second part evaluates, and the flows whose sources and sinks it evaluates.
    pub links: Vec<u32>,
    pub sources: Vec<u32>,
    pub sinks: Vec<u32>,
}

impl Division {
    /// # Errors
    /// The reason why the stations cannot be divided.
    pub fn new(network: &Network, lookahead: &Lookahead) -> Result<Self, String> {
        if may_call_plugins(network) {
            return Err("all plugins of a run are called by one thread".to_owned());
        }
        let order = &lookahead.topological_order;
        let loads = loads(network, lookahead.ends_together);
        let (first, second) = order.split_at(middle(order, &loads));
        if first.is_empty() || second.is_empty() {
            return Err("it has a single station".to_owned());
        }
        let mut is_second = vec![false; loads.len()];
        second.iter().for_each(|&station| is_second[station as usize] = true);
        let distance = |shift: u32, from: bool| {
            let crossing = lookahead
                .edges
                .iter()
                .filter(|&&(a, b, _)| is_second[a as usize] == from && is_second[b as usize] != from);
            crossing.map(|&(_, _, delay)| delay.0 >> shift).fold(SLOTS / 2, u64::min)
        };
        let distances = |&shift: &u32| [distance(shift, false), distance(shift, true)];
        let shift = (SHORTEST..=lookahead.shift)
            .rev()
            .find(|shift| distances(shift).iter().sum::<u64>() >= 2)
            .ok_or("its stations need each other's packets within 34 us")?;
        let mut divided = Self {
            parts: [first.to_vec(), second.to_vec()],
            shift,
            load: loads.iter().sum(),
            distances: distances(&shift),
            links: Vec::new(),
            sources: Vec::new(),
            sinks: Vec::new(),
        };
        divided.list(network, lookahead.ends_together, &is_second);
        Ok(divided)
    }

    /// Whether a run of this length takes less time on two threads than on one.
    pub fn pays(&self, duration: Span) -> bool {
        let window = Span(1 << self.shift);
        self.load * window.secs() >= LEAST_A_WINDOW && self.load * duration.secs() >= LEAST_A_RUN
    }

    /// List the links, sources and sinks that the second part evaluates.
    fn list(&mut self, network: &Network, ends_together: bool, is_second: &[bool]) {
        for flow in 0..network.numbering.flows {
            if is_second[source_of(network, ends_together, flow) as usize] {
                self.sources.push(flow);
            }
            let detours = detours(network, ends_together, flow).flat_map(|(_, steps)| steps);
            for (kind, step, station) in steps(network, ends_together, flow).chain(detours) {
                match step.next() {
                    _ if !is_second[station as usize] => {}
                    Next::Link(link) => self.links.push(link),
                    Next::Endpoint(flow) if kind == Kind::Data => self.sinks.push(flow),
                    Next::Endpoint(_) => {}
                }
            }
        }
        for list in [&mut self.links, &mut self.sinks] {
            list.sort_unstable();
            list.dedup();
        }
    }
}

/// Whether a queue is that of a plugin, or has queues inside, of which one may be.
fn may_call_plugins(network: &Network) -> bool {
    let mut presets = network.plan.links.iter().filter_map(|link| Preset::find(link.aqm()));
    Preset::all().any(|preset| preset.definition().is_some())
        && presets.any(|preset| preset.definition().is_some() || preset.has_class_queues())
}

/// Return what each station has to do, in instructions a second by a rough estimate: each flow has an equal share of the link that gives it
/// the least, in full packets.
fn loads(network: &Network, ends_together: bool) -> Vec<f64> {
    let flows = 0..network.numbering.flows;
    let mut sharing = vec![0_u32; network.numbering.links as usize];
    for flow in flows.clone() {
        network.fabric.paths.links(flow as usize, Kind::Data).for_each(|link| sharing[link as usize] += 1);
    }
    let mut loads = vec![0.0; (network.numbering.links + 2 * network.numbering.flows) as usize];
    for flow in flows {
        let shares =
            network.fabric.paths.links(flow as usize, Kind::Data).map(|link| {
                network.plan.links[link as usize].rate().bps() / f64::from(sharing[link as usize])
            });
        let bytes = network.plan.flows[flow as usize].transport.packet_bytes();
        let packets = shares.fold(f64::INFINITY, f64::min) / (8.0 * bytes);
        loads[source_of(network, ends_together, flow) as usize] += SOURCE * packets;
        for (kind, step, station) in steps(network, ends_together, flow) {
            let input = if step.is_ahead() { 0.0 } else { INPUT };
            let evaluation = match step.next() {
                Next::Endpoint(_) if kind == Kind::Data => SINK,
                Next::Endpoint(_) => 0.0,
                Next::Link(link) => {
                    let of_data = match network.fabric.links[link as usize] {
                        Link::UnobservedDropTail(_) => UNOBSERVED_DROP_TAIL,
                        Link::InOrder(_) => IN_ORDER,
                        Link::Queue(_) => QUEUE,
                    };
                    if kind == Kind::Ack { ACK * of_data } else { of_data }
                }
            };
            loads[station as usize] += (input + evaluation) * packets;
        }
    }
    loads
}

/// Return how many of the stations have about half of the load.
fn middle(order: &[u32], loads: &[f64]) -> usize {
    let all: f64 = order.iter().map(|&station| loads[station as usize]).sum();
    let sums = order.iter().scan(0.0, |sum, &station| {
        *sum += loads[station as usize];
        Some(*sum)
    });
    let larger = |sum: f64| sum.max(all - sum);
    let places = (1..).zip(sums).take(order.len().saturating_sub(1));
    places.min_by(|a, b| larger(a.1).total_cmp(&larger(b.1))).map_or(0, |(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::super::lookahead::tests::network;
    use super::*;

    fn divided(delays: [u64; 5], flows: &[(u32, u32)]) -> Result<Division, String> {
        let network = network(delays, flows);
        Division::new(&network, &Lookahead::new(&network).expect("windows"))
    }

    #[test]
    fn each_station_is_in_one_part_and_each_part_has_links() {
        let network = network([20, 20, 20, 20, 20], &[(0, 4), (5, 4), (4, 0)]);
        let lookahead = Lookahead::new(&network).expect("windows");
        let Division { parts, shift, distances, links, .. } =
            Division::new(&network, &lookahead).expect("two parts");
        assert_eq!(parts.concat(), lookahead.topological_order);
        assert!(!links.is_empty() && links.len() < 10, "{links:?}");
        assert!(shift <= lookahead.shift && distances[0] + distances[1] >= 2, "{shift} {distances:?}");
    }

    #[test]
    fn windows_become_shorter_until_both_parts_can_work_at_a_time() {
        let flows = [(0, 4), (5, 4), (4, 0)];
        let network = network([1, 1, 40, 1, 1], &flows);
        let longest = Lookahead::new(&network).expect("windows").shift;
        let Division { shift, distances, .. } = divided([1, 1, 40, 1, 1], &flows).expect("two parts");
        assert!(shift < longest, "{shift} {longest}");
        assert_eq!(distances.iter().sum::<u64>().min(2), 2);
    }

    #[test]
    fn two_threads_pay_with_much_work_in_each_window_and_in_all() {
        let flows = [(0, 4), (5, 4), (4, 0)];
        let found = divided([20, 20, 20, 20, 20], &flows).expect("two parts");
        let pays =
            |load, seconds| Division { load, shift: 33, ..found.clone() }.pays(Span::from_secs(seconds));
        // 2^33 ps are 8.59 ms: 18e6 instructions a second are 155e3 a window, 17e6 are 146e3.
        assert!(pays(18e6, 30.0) && !pays(17e6, 100.0));
        assert!(!pays(18e6, 20.0));
    }

    #[test]
    fn a_single_station_is_not_divided() {
        let reason = divided([20, 20, 20, 20, 20], &[(0, 1)]).expect_err("one station");
        assert_eq!(reason, "it has a single station");
    }

    #[test]
    fn the_middle_has_half_of_the_load_on_each_side() {
        let loads = [1.0, 5.0, 2.0, 1.0, 3.0];
        for (order, expected) in [
            (vec![0, 1, 2, 3, 4], 2),
            (vec![1, 4, 0, 2, 3], 1),
            (vec![0, 2, 3, 4, 1], 4),
            (vec![2], 0),
            (vec![], 0),
        ] {
            assert_eq!(middle(&order, &loads), expected, "{order:?}");
        }
    }
}
