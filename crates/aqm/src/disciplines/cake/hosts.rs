//! Host isolation (section III.C of the paper): bulk flows of a host share its part of the rate.
//!
//! A flow that begins a round gets a quantum divided by the load of its hosts, the number of their bulk flows:
//!
//! ```text
//! quantum of the flow = (quantum ⌊65535 / load⌋ + u) / 65536          u uniform on 0 to 65535 (Linux 6.12)
//! load = max(1, bulk flows of the source, bulk flows of the destination)
//! ```
//!
//! `dual-srchost` counts sources only, `dual-dsthost` destinations only, `triple-isolate` both. The hosts of a flow are found when it gets
//! its queue, by a set-associative hash as that of flows.

use super::hash::{QUEUES, set_of};
use crate::Host;

/// Parties with equal shares of the rate (`tc-cake(8)`, "Flow isolation parameters").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Isolation {
    /// Nothing: one queue.
    FlowBlind,
    /// A queue for each source.
    SrcHost,
    /// A queue for each destination.
    DstHost,
    /// A queue for each pair of source and destination.
    Hosts,
    /// A queue for each flow.
    Flows,
    /// Sources, and flows of each.
    DualSrcHost,
    /// Destinations, and flows of each.
    DualDstHost,
    /// Sources and destinations, and flows of each.
    #[default]
    TripleIsolate,
}

impl Isolation {
    /// The words of a scenario file, the default first.
    pub const WORDS: [(&'static str, Self); 8] = [
        ("triple-isolate", Self::TripleIsolate),
        ("dual-srchost", Self::DualSrcHost),
        ("dual-dsthost", Self::DualDstHost),
        ("flows", Self::Flows),
        ("hosts", Self::Hosts),
        ("srchost", Self::SrcHost),
        ("dsthost", Self::DstHost),
        ("flowblind", Self::FlowBlind),
    ];

    /// Return whether queues belong to sources and to destinations, or `None` where they belong to flows.
    pub fn queue_hosts(self) -> Option<[bool; 2]> {
        match self {
            Self::SrcHost => Some([true, false]),
            Self::DstHost => Some([false, true]),
            Self::Hosts => Some([true, true]),
            _ => None,
        }
    }

    /// Return whether the bulk flows of sources and of destinations are counted.
    pub fn counted_hosts(self) -> [bool; 2] {
        match self {
            Self::DualSrcHost => [true, false],
            Self::DualDstHost => [false, true],
            Self::TripleIsolate => [true, true],
            _ => [false, false],
        }
    }
}

/// The numbers of the source and of the destination of a flow.
pub(super) type Pair = [u16; 2];

/// The hosts of a tin: sources and destinations that are counted.
#[derive(Clone, Debug)]
pub(super) struct Hosts {
    /// Of sources and of destinations; empty if they are not counted.
    tables: [Vec<Entry>; 2],
}

/// The hash of a host, and its bulk flows.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    tag: u32,
    bulk: u16,
}

impl Hosts {
    /// Create the hosts of a tin without flows.
    pub fn new(isolation: Isolation) -> Self {
        let entries = |is_counted| vec![Entry::default(); if is_counted { QUEUES } else { 0 }];
        Self { tables: isolation.counted_hosts().map(entries) }
    }

    /// Return whether any hosts are counted.
    pub fn are_counted(&self) -> bool {
        self.tables.iter().any(|table| !table.is_empty())
    }

    /// Return the host numbers for these hashes: the known ones, else unused ones, else shared ones.
    pub fn find(&mut self, hashes: [u32; 2]) -> Pair {
        let mut pair = [0; 2];
        for ((table, hash), number) in self.tables.iter_mut().zip(hashes).zip(&mut pair) {
            if table.is_empty() {
                continue;
            }
            let direct = hash as usize % QUEUES;
            let own = set_of(direct).find(|place| table[*place].tag == hash);
            let place =
                own.or_else(|| set_of(direct).find(|place| table[*place].bulk == 0)).unwrap_or(direct);
            table[place].tag = hash;
            *number = place as u16;
        }
        pair
    }

    /// Count a flow that becomes a bulk flow.
    #[inline]
    pub fn enter(&mut self, pair: Pair) {
        self.each(pair, |bulk| *bulk += 1);
    }

    /// Count a flow that leaves the bulk set.
    #[inline]
    pub fn leave(&mut self, pair: Pair) {
        self.each(pair, |bulk| *bulk -= 1);
    }

    #[inline]
    fn each(&mut self, pair: Pair, change: impl Fn(&mut u16)) {
        for (table, number) in self.tables.iter_mut().zip(pair) {
            if let Some(entry) = table.get_mut(usize::from(number)) {
                change(&mut entry.bulk);
            }
        }
    }

    /// Return the bytes that a flow of these hosts may send in a round.
    #[inline]
    pub fn quantum<P>(&self, pair: Pair, quantum: u32, host: &mut impl Host<P>) -> i32 {
        let u = (host.uniform() * 65_536.0) as u32;
        ((quantum * (65_535 / self.load(pair)) + u) >> 16) as i32
    }

    #[inline]
    fn load(&self, pair: Pair) -> u32 {
        let [sources, destinations] = &self.tables;
        let of = |table: &[Entry], number: u16| table.get(usize::from(number)).map_or(0, |entry| entry.bulk);
        of(sources, pair[0]).max(of(destinations, pair[1])).max(1).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disciplines::testing::TestHost;

    #[test]
    fn the_quantum_is_divided_by_the_larger_load() {
        let mut hosts = Hosts::new(Isolation::TripleIsolate);
        let (a, b) = (hosts.find([1, 100]), hosts.find([1, 200]));
        assert_eq!((a, b), ([1, 100], [1, 200]));
        let quantum = |hosts: &Hosts, pair| {
            [0.0, 0.999_99].map(|u| hosts.quantum(pair, 1514, &mut TestHost::with_draws(&[u])))
        };
        // 1514 * 65535 / 65536 = 1513.98; dithering makes it 1514 on average.
        assert_eq!(quantum(&hosts, a), [1513, 1514]);
        hosts.enter(a);
        assert_eq!(quantum(&hosts, a), [1513, 1514]);
        hosts.enter(b);
        // Two flows of one source, to one destination each: 1514 * 32767 / 65536 = 756.98.
        assert_eq!((hosts.load(a), quantum(&hosts, b)), (2, [756, 757]));
        hosts.leave(a);
        assert_eq!([hosts.load(a), hosts.load(b)], [1, 1]);
    }

    #[test]
    fn only_the_hosts_of_the_isolation_count() {
        for (isolation, loads) in [
            (Isolation::Flows, [1, 1]),
            (Isolation::DualSrcHost, [2, 1]),
            (Isolation::DualDstHost, [1, 3]),
            (Isolation::TripleIsolate, [2, 3]),
        ] {
            let mut hosts = Hosts::new(isolation);
            // Two flows of source 5, three to destination 9, of which one is of source 5.
            let pairs = [[5, 9], [5, 8], [6, 9], [7, 9]].map(|hashes| hosts.find(hashes));
            pairs.iter().for_each(|pair| hosts.enter(*pair));
            assert_eq!([hosts.load(pairs[1]), hosts.load(pairs[2])], loads, "{isolation:?}");
            assert_eq!(hosts.load(pairs[0]), loads.into_iter().max().unwrap_or(0));
        }
    }

    #[test]
    fn a_host_without_bulk_flows_gives_its_place_away() {
        let mut hosts = Hosts::new(Isolation::DualSrcHost);
        let hash = |n: u32| [n * 1024 + 2, 0];
        let first = hosts.find(hash(1));
        assert_eq!((first, hosts.find(hash(1))), ([2, 0], [2, 0]));
        assert_eq!(hosts.find(hash(2)), [2, 0], "nothing counts in place 2");
        hosts.enter([2, 0]);
        assert_eq!([hosts.find(hash(2)), hosts.find(hash(3))], [[2, 0], [3, 0]]);
        (3..10).for_each(|place| hosts.enter([place % 8, 0]));
        assert_eq!(hosts.find(hash(99)), [2, 0], "all eight have bulk flows: it shares the direct place");
    }
}
