//! What a plan leaves to chance, settled for one seed: the ends of flows and the sizes of transfers.
//!
//! Each has a named stream of its own, so that none shifts another: the same seed gives the same flows whatever the
//! disciplines are.

use aqmlab_units::Stream;

use crate::plan::{Ends, NodeId, Plan, Size, Transport};

impl Plan {
    /// This plan with all ends at nodes and all sizes in packets, drawn from the streams `ends of flow NAME` and
    /// `size of flow NAME`.
    ///
    /// # Panics
    /// If there is no host to draw; in a checked plan there are hosts at two routers at least.
    #[must_use]
    pub fn drawn(&self, seed: u64) -> Self {
        let mut plan = self.clone();
        for flow in &mut plan.flows {
            if let Ends::Drawn { from, to, hosts } = &flow.ends {
                let mut stream = Stream::new(seed, &format!("ends of flow {}", flow.name));
                let (from, to) = ends(*from, *to, hosts, &mut |n| stream.below(n))
                    .unwrap_or_else(|| panic!("no host to draw for flow {}", flow.name));
                flow.ends = Ends::At(from, to);
            }
            if let Transport::Tcp { config, size, .. } = &mut flow.transport
                && let Size::Drawn(bytes) = size
            {
                let mut stream = Stream::new(seed, &format!("size of flow {}", flow.name));
                *size = Size::Packets(packets(bytes.draw(stream.uniform()), config.packet_size));
            }
        }
        plan
    }
}

/// Both ends; `below` draws.
fn ends(
    from: Option<NodeId>,
    to: Option<NodeId>,
    hosts: &[(NodeId, NodeId)],
    below: &mut impl FnMut(u64) -> u64,
) -> Option<(NodeId, NodeId)> {
    let from = from.or_else(|| host_away_from(to, hosts, below))?;
    let to = to.or_else(|| host_away_from(Some(from), hosts, below))?;
    Some((from, to))
}

/// One of the hosts at other routers than this host's.
fn host_away_from(
    other: Option<NodeId>,
    hosts: &[(NodeId, NodeId)],
    below: &mut impl FnMut(u64) -> u64,
) -> Option<NodeId> {
    let router = hosts.iter().find(|(host, _)| Some(*host) == other).map(|(_, router)| *router);
    let away = || hosts.iter().filter(|(host, at)| Some(*host) != other && Some(*at) != router);
    let n = away().count() as u64;
    if n == 0 {
        return None;
    }
    away().nth(below(n) as usize).map(|(host, _)| *host)
}

/// So many whole packets hold these bytes; at least one.
fn packets(bytes: f64, payload: u32) -> u64 {
    ((bytes / f64::from(payload)).ceil() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hosts 10 to 15, two at each of the routers 0, 1 and 2.
    const HOSTS: [(NodeId, NodeId); 6] = [(10, 0), (11, 0), (12, 1), (13, 1), (14, 2), (15, 2)];

    #[test]
    fn whole_packets() {
        let cases = [(0.0, 1), (1.0, 1), (1000.0, 1), (1000.1, 2), (10_000.0, 10), (10_001.0, 11)];
        for (bytes, expected) in cases {
            assert_eq!(packets(bytes, 1000), expected, "{bytes}");
        }
    }

    #[test]
    fn ends_by_hand() {
        let drawn = |from, to, k| ends(from, to, &HOSTS, &mut |n| k % n);
        assert_eq!(drawn(None, None, 3), Some((13, 15)), "13, then 10, 11, 14, 15");
        assert_eq!(drawn(Some(12), None, 2), Some((12, 14)));
        assert_eq!(drawn(None, Some(10), 0), Some((12, 10)));
        assert_eq!(drawn(Some(3), Some(4), 0), Some((3, 4)), "nothing to draw");
        assert_eq!(ends(None, None, &HOSTS[..2], &mut |_| 0), None, "all at one router");
    }

    #[test]
    fn every_pair_of_hosts_at_different_routers_is_as_likely_as_any_other() {
        let mut stream = Stream::new(1, "pairs");
        let mut counts = [[0u32; 6]; 6];
        let n = 24_000;
        for _ in 0..n {
            let (from, to) = ends(None, None, &HOSTS, &mut |n| stream.below(n)).expect("hosts");
            counts[from as usize - 10][to as usize - 10] += 1;
        }
        let expected = f64::from(n) / 24.0;
        let chi_square: f64 = (0..36)
            .map(|i| (i / 6, i % 6))
            .map(|(from, to)| {
                let count = counts[from][to];
                if from / 2 == to / 2 {
                    assert_eq!(count, 0, "hosts at one router");
                    return 0.0;
                }
                let excess = f64::from(count) - expected;
                excess * excess / expected
            })
            .sum();
        assert!(chi_square < 41.6, "1 % point with 23 degrees of freedom: {chi_square}");
    }
}
