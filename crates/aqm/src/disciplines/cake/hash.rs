//! Set-associative hash of flows to queues (section III.B of the paper): a flow may use any of the 8 queues of its set.
//!
//! A queue keeps the hash of the flow that used it last. A flow takes the queue with its own hash, else an unused queue of the set, else
//! it shares the queue that its hash names.

use crate::disciplines::flow_queues::mix;

/// Queues of a tin.
pub(super) const QUEUES: usize = 1024;
/// Queues of a set.
const WAYS: usize = 8;

/// How a flow came to its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The queue is the flow's already.
    Reserved,
    /// The queue had the flow's packets before, and is unused.
    Known,
    /// Another unused queue of the set.
    Miss,
    /// All queues of the set are used by others: it shares one.
    Collision,
}

/// Counts as `tc -s` prints them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WayCounts {
    /// Packets whose flow has a queue other than the first of its set (`way_inds`).
    pub indirect_hits: u64,
    /// Flows that took an unused queue (`way_miss`).
    pub misses: u64,
    /// Packets of flows that shared a queue (`way_cols`).
    pub collisions: u64,
}

/// The hashes of the flows in the queues of a tin.
#[derive(Clone, Debug)]
pub(super) struct FlowHash {
    tags: Vec<u32>,
    pub counts: WayCounts,
}

impl FlowHash {
    /// Create the hash of a tin without flows.
    pub fn new() -> Self {
        Self { tags: vec![0; QUEUES], counts: WayCounts::default() }
    }

    /// Return the queue for a packet of this hash, and reserve it for its flow.
    #[inline]
    pub fn queue(&mut self, hash: u32, is_used: impl Fn(usize) -> bool) -> (usize, Way) {
        let direct = hash as usize % QUEUES;
        if self.tags[direct] == hash && is_used(direct) {
            return (direct, Way::Reserved);
        }
        let found = self.search(direct, hash, is_used);
        self.tags[found.0] = hash;
        found
    }

    fn search(&mut self, direct: usize, hash: u32, is_used: impl Fn(usize) -> bool) -> (usize, Way) {
        if let Some(queue) = set_of(direct).find(|queue| self.tags[*queue] == hash) {
            self.counts.indirect_hits += u64::from(queue != direct);
            return (queue, if is_used(queue) { Way::Reserved } else { Way::Known });
        }
        if let Some(queue) = set_of(direct).find(|queue| !is_used(*queue)) {
            self.counts.misses += 1;
            return (queue, Way::Miss);
        }
        self.counts.collisions += 1;
        (direct, Way::Collision)
    }
}

/// The places of the set of a place, from it on.
pub(super) fn set_of(direct: usize) -> impl Iterator<Item = usize> {
    let first = direct - direct % WAYS;
    (direct..direct + WAYS).map(move |place| first + place % WAYS)
}

/// The hash of a number under a key.
#[inline]
pub(super) fn hash(key: u64, number: u64) -> u32 {
    mix(number.wrapping_add(key)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_goes_round_from_its_direct_place() {
        assert_eq!(set_of(0).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(set_of(13).collect::<Vec<_>>(), [13, 14, 15, 8, 9, 10, 11, 12]);
    }

    #[test]
    fn nine_flows_of_a_set_are_eight_queues_and_a_collision() {
        let mut flows = FlowHash::new();
        let mut used = Vec::new();
        // All have the direct place 3.
        for flow in 1..=9_u32 {
            let (queue, way) = flows.queue(flow * 1024 + 3, |queue| used.contains(&queue));
            let expected = [3, 4, 5, 6, 7, 0, 1, 2, 3][flow as usize - 1];
            assert_eq!((queue, way), (expected, if flow == 9 { Way::Collision } else { Way::Miss }));
            used.push(queue);
        }
        let counts = WayCounts { indirect_hits: 0, misses: 8, collisions: 1 };
        assert_eq!(flows.counts, counts);
        // Flow 2 is in the next place; flow 9 has taken the place of flow 1, which collides.
        assert_eq!(flows.queue(2 * 1024 + 3, |_| true), (4, Way::Reserved));
        assert_eq!(flows.queue(9 * 1024 + 3, |_| true), (3, Way::Reserved));
        assert_eq!(flows.counts, WayCounts { indirect_hits: 1, ..counts });
        assert_eq!(flows.queue(1024 + 3, |_| true), (3, Way::Collision));
        // An unused queue is found by the hash that it had.
        assert_eq!(flows.queue(5 * 1024 + 3, |_| false), (7, Way::Known));
    }

    #[test]
    fn hashes_spread_evenly_over_queues() {
        let mut counts = [0_u32; QUEUES];
        (0..102_400).for_each(|flow| counts[hash(7, flow) as usize % QUEUES] += 1);
        let chi2: f64 = counts.iter().map(|n| libm::pow(f64::from(*n) - 100.0, 2.0) / 100.0).sum();
        // 1023 degrees of freedom: the standard deviation is 45.2.
        assert!((chi2 - 1023.0).abs() < 5.0 * 45.2, "{chi2}");
        assert_ne!(hash(1, 1), hash(2, 1));
    }
}
