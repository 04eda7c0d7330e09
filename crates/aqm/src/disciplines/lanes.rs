//! Several queues in one memory, and the hash that tells a packet's.

use crate::{Backlog, Packet};

/// No slot, no lane.
pub(super) const NONE: u32 = u32::MAX;

/// First-in first-out queues that share their memory: it grows to the most packets that ever waited in all together, and
/// a packet costs no allocation from then on.
#[derive(Clone, Debug)]
pub(super) struct Lanes<P> {
    slots: Vec<Slot<P>>,
    /// First of the chain of empty slots.
    free: u32,
    lanes: Vec<Lane>,
    total: Backlog,
}

#[derive(Clone, Debug)]
struct Slot<P> {
    packet: Packet<P>,
    /// The next of the lane, nearer to the tail.
    next: u32,
    /// The one before it in the lane.
    before: u32,
}

#[derive(Clone, Copy, Debug)]
struct Lane {
    head: u32,
    tail: u32,
    backlog: Backlog,
}

impl<P: Copy> Lanes<P> {
    /// So many empty queues.
    pub fn new(lanes: usize) -> Self {
        let empty = Lane { head: NONE, tail: NONE, backlog: Backlog::default() };
        Self { slots: Vec::new(), free: NONE, lanes: vec![empty; lanes], total: Backlog::default() }
    }

    /// What waits in all of them.
    pub fn total(&self) -> Backlog {
        self.total
    }

    /// What waits in one.
    pub fn backlog(&self, lane: usize) -> Backlog {
        self.lanes[lane].backlog
    }

    /// The packet at the head of a queue.
    pub fn head(&self, lane: usize) -> Option<&Packet<P>> {
        self.slots.get(self.lanes[lane].head as usize).map(|slot| &slot.packet)
    }

    /// Appends a packet at the tail.
    pub fn push(&mut self, lane: usize, packet: Packet<P>) {
        let queue = &mut self.lanes[lane];
        let new = Slot { packet, next: NONE, before: queue.tail };
        let at = if self.free == NONE {
            self.slots.push(new);
            self.slots.len() as u32 - 1
        } else {
            let at = self.free;
            self.free = self.slots[at as usize].next;
            self.slots[at as usize] = new;
            at
        };
        match queue.tail {
            NONE => queue.head = at,
            tail => self.slots[tail as usize].next = at,
        }
        queue.tail = at;
        queue.backlog.add(packet.meta.bytes);
        self.total.add(packet.meta.bytes);
    }

    /// Takes the packet at the head.
    pub fn pop(&mut self, lane: usize) -> Option<Packet<P>> {
        let at = self.lanes[lane].head;
        let Slot { packet, next, .. } = self.slots.get(at as usize)?.clone();
        self.lanes[lane].head = next;
        match next {
            NONE => self.lanes[lane].tail = NONE,
            next => self.slots[next as usize].before = NONE,
        }
        Some(self.gone(lane, at, packet))
    }

    /// Takes the packet at the tail.
    pub fn pop_tail(&mut self, lane: usize) -> Option<Packet<P>> {
        let at = self.lanes[lane].tail;
        let Slot { packet, before, .. } = self.slots.get(at as usize)?.clone();
        self.lanes[lane].tail = before;
        match before {
            NONE => self.lanes[lane].head = NONE,
            before => self.slots[before as usize].next = NONE,
        }
        Some(self.gone(lane, at, packet))
    }

    fn gone(&mut self, lane: usize, at: u32, packet: Packet<P>) -> Packet<P> {
        self.slots[at as usize].next = self.free;
        self.free = at;
        self.lanes[lane].backlog.take(packet.meta.bytes);
        self.total.take(packet.meta.bytes);
        packet
    }
}

/// The lanes whose turn comes, in a ring: which is served now, and which after it.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    next: Vec<u32>,
    before: Vec<u32>,
    current: u32,
    active: u32,
}

impl Ring {
    /// A ring that none of so many lanes is in.
    pub fn new(lanes: usize) -> Self {
        Self { next: vec![NONE; lanes], before: vec![NONE; lanes], current: NONE, active: 0 }
    }

    /// The lane whose turn it is.
    pub fn current(&self) -> Option<usize> {
        (self.current != NONE).then_some(self.current as usize)
    }

    /// How many lanes are in it.
    pub fn len(&self) -> u32 {
        self.active
    }

    /// A lane comes in: its turn is the last.
    pub fn enter(&mut self, lane: usize) {
        let at = lane as u32;
        self.active += 1;
        if self.current == NONE {
            (self.next[lane], self.before[lane], self.current) = (at, at, at);
            return;
        }
        let last = self.before[self.current as usize];
        (self.next[lane], self.before[lane]) = (self.current, last);
        self.next[last as usize] = at;
        self.before[self.current as usize] = at;
    }

    /// A lane goes; if it was its turn, it is that of the next.
    pub fn leave(&mut self, lane: usize) {
        let (next, before) = (self.next[lane], self.before[lane]);
        self.active -= 1;
        if self.active == 0 {
            self.current = NONE;
            return;
        }
        self.next[before as usize] = next;
        self.before[next as usize] = before;
        if self.current == lane as u32 {
            self.current = next;
        }
    }

    /// The turn goes on.
    pub fn turn(&mut self) {
        if self.current != NONE {
            self.current = self.next[self.current as usize];
        }
    }

    /// All lanes in it, the current one first.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let following = |&lane: &u32| Some(self.next[lane as usize]);
        let first = (self.current != NONE).then_some(self.current);
        std::iter::successors(first, following).take(self.active as usize).map(|lane| lane as usize)
    }
}

/// How a flow finds its bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hash {
    /// A mixing of all bits of the flow's label with a salt.
    Mix,
    /// The label modulo the number of buckets: flows that are numbered do not collide.
    Modulo,
}

impl Hash {
    /// All, as they stand in a scenario file; the default first.
    pub const ALL: &[(&str, Self)] = &[("mix", Self::Mix), ("modulo", Self::Modulo)];

    /// The bucket of a flow, of `buckets`.
    pub fn bucket(self, flow: u32, salt: u64, buckets: usize) -> usize {
        match self {
            Self::Mix => (mix(u64::from(flow) ^ mix(salt)) % buckets as u64) as usize,
            Self::Modulo => flow as usize % buckets,
        }
    }
}

/// A permutation of 64 bits in which every bit of the input moves every bit of the output (the finalizer of SplitMix64;
/// Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
pub(super) fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Meta;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lanes_are_queues(ops in prop::collection::vec((0u8..4, 0usize..3, 1u32..1500), 0..300)) {
            let mut lanes = Lanes::new(3);
            let mut naive: [Vec<(u32, u32)>; 3] = Default::default();
            for (i, (op, lane, bytes)) in ops.into_iter().enumerate() {
                let number = i as u32;
                match op {
                    0 | 1 => {
                        lanes.push(lane, Packet { meta: Meta { bytes, ..Meta::default() }, payload: number });
                        naive[lane].push((number, bytes));
                    }
                    2 => {
                        let first = (!naive[lane].is_empty()).then(|| naive[lane].remove(0).0);
                        prop_assert_eq!(lanes.head(lane).map(|p| p.payload), first);
                        prop_assert_eq!(lanes.pop(lane).map(|p| p.payload), first);
                    }
                    _ => {
                        let last = naive[lane].pop().map(|(n, _)| n);
                        prop_assert_eq!(lanes.pop_tail(lane).map(|p| p.payload), last);
                    }
                }
                for (lane, naive) in naive.iter().enumerate() {
                    let bytes = naive.iter().map(|x| u64::from(x.1)).sum();
                    prop_assert_eq!(lanes.backlog(lane), Backlog { packets: naive.len() as u32, bytes });
                }
                let packets = naive.iter().map(|lane| lane.len() as u32).sum();
                prop_assert_eq!(lanes.total().packets, packets);
            }
        }

        #[test]
        fn the_ring_goes_round(ops in prop::collection::vec((0u8..3, 0usize..5), 0..200)) {
            let mut ring = Ring::new(5);
            // The current one first.
            let mut naive: Vec<usize> = Vec::new();
            for (op, lane) in ops {
                let at = naive.iter().position(|&l| l == lane);
                match (op, at) {
                    (0, None) => {
                        ring.enter(lane);
                        naive.push(lane);
                    }
                    (1, Some(at)) => {
                        ring.leave(lane);
                        naive.remove(at);
                    }
                    (2, _) => {
                        ring.turn();
                        let turns = usize::from(!naive.is_empty());
                        naive.rotate_left(turns);
                    }
                    _ => {}
                }
                prop_assert_eq!(ring.iter().collect::<Vec<_>>(), naive.clone());
                prop_assert_eq!((ring.current(), ring.len()), (naive.first().copied(), naive.len() as u32));
            }
        }
    }

    #[test]
    fn flows_spread_evenly_over_buckets() {
        for salt in 0..3 {
            let mut count = [0u32; 16];
            (0..16_000).for_each(|flow| count[Hash::Mix.bucket(flow, salt, 16)] += 1);
            let chi2: f64 = count.iter().map(|&n| libm::pow(f64::from(n) - 1000.0, 2.0) / 1000.0).sum();
            assert!(chi2 < 40.0, "chi-square {chi2} with 15 degrees of freedom");
        }
        assert_ne!(Hash::Mix.bucket(1, 1, 1024), Hash::Mix.bucket(1, 2, 1024));
        assert_eq!(Hash::Modulo.bucket(35, 9, 16), 3);
    }
}
