//! Several first-in first-out queues in one memory, the ring in which they are served, and the hash from flows to queues.

use crate::{Backlog, Packet};

/// No slot or no queue.
pub(super) const NONE: u32 = u32::MAX;

/// First-in first-out queues that share their memory. The memory grows to the largest number of packets that wait in all queues
/// together; from then on no packet causes an allocation.
#[derive(Clone, Debug)]
pub(super) struct FlowQueues<P> {
    slots: Vec<Slot<P>>,
    /// First of the list of empty slots.
    free: u32,
    queues: Vec<FlowQueue>,
    total: Backlog,
}

#[derive(Clone, Debug)]
struct Slot<P> {
    packet: Packet<P>,
    /// The next packet of the queue, nearer to the tail.
    next: u32,
    /// The previous packet of the queue.
    before: u32,
}

#[derive(Clone, Copy, Debug)]
struct FlowQueue {
    head: u32,
    tail: u32,
    backlog: Backlog,
}

impl<P: Copy + Default> FlowQueues<P> {
    /// Create this number of empty queues.
    pub fn new(queues: usize) -> Self {
        let empty = FlowQueue { head: NONE, tail: NONE, backlog: Backlog::default() };
        Self { slots: Vec::new(), free: NONE, queues: vec![empty; queues], total: Backlog::default() }
    }

    /// Return the backlog of all queues together.
    pub fn total(&self) -> Backlog {
        self.total
    }

    /// Return the backlog of one queue.
    pub fn backlog(&self, queue: usize) -> Backlog {
        self.queues[queue].backlog
    }

    /// Return the backlog of a queue; an empty one if there is no such queue.
    #[inline]
    pub fn find_backlog(&self, queue: usize) -> Backlog {
        self.queues.get(queue).map_or(Backlog::default(), |queue| queue.backlog)
    }

    /// Return the packet at the head of a queue.
    pub fn head(&self, queue: usize) -> Option<&Packet<P>> {
        self.slots.get(self.queues[queue].head as usize).map(|slot| &slot.packet)
    }

    /// Append a packet at the tail.
    #[inline(always)]
    pub fn push(&mut self, queue: usize, packet: &Packet<P>) {
        let queue = &mut self.queues[queue];
        let new = Slot { packet: *packet, next: NONE, before: queue.tail };
        let mut at = self.free;
        // NONE is not a slot.
        if let Some(slot) = self.slots.get_mut(at as usize) {
            self.free = slot.next;
            *slot = new;
        } else {
            at = self.slots.len() as u32;
            self.slots.push(new);
        }
        match self.slots.get_mut(queue.tail as usize) {
            Some(tail) => tail.next = at,
            None => queue.head = at,
        }
        queue.tail = at;
        queue.backlog.add(packet.meta.bytes);
        self.total.add(packet.meta.bytes);
    }

    /// Remove and return the packet at the head.
    pub fn pop(&mut self, queue: usize) -> Option<Packet<P>> {
        let mut packet = Packet::default();
        self.pop_into(queue, &mut packet).then_some(packet)
    }

    /// [`FlowQueues::pop`] to `packet`. Return whether there is one.
    #[inline(always)]
    pub fn pop_into(&mut self, queue: usize, packet: &mut Packet<P>) -> bool {
        let queue = &mut self.queues[queue];
        let Some(slot) = self.slots.get_mut(queue.head as usize) else { return false };
        *packet = slot.packet;
        let next = core::mem::replace(&mut slot.next, self.free);
        self.free = core::mem::replace(&mut queue.head, next);
        match self.slots.get_mut(next as usize) {
            Some(head) => head.before = NONE,
            None => queue.tail = NONE,
        }
        queue.backlog.take(packet.meta.bytes);
        self.total.take(packet.meta.bytes);
        true
    }

    /// Remove and return the packet at the tail.
    pub fn pop_tail(&mut self, queue: usize) -> Option<Packet<P>> {
        let at = self.queues[queue].tail;
        let Slot { packet, before, .. } = self.slots.get(at as usize)?.clone();
        self.queues[queue].tail = before;
        match before {
            NONE => self.queues[queue].head = NONE,
            before => self.slots[before as usize].next = NONE,
        }
        self.release(queue, at, packet.meta.bytes);
        Some(packet)
    }

    /// Return the slots of a queue with their packets, from the head on.
    pub fn slots(&self, queue: usize) -> impl Iterator<Item = (u32, &Packet<P>)> {
        let mut at = self.queues[queue].head;
        core::iter::from_fn(move || {
            let slot = self.slots.get(at as usize)?;
            let this = core::mem::replace(&mut at, slot.next);
            Some((this, &slot.packet))
        })
    }

    /// Remove and return the packet in a slot of a queue.
    pub fn remove(&mut self, queue: usize, at: u32) -> Packet<P> {
        let Slot { packet, next, before } = self.slots[at as usize].clone();
        match before {
            NONE => self.queues[queue].head = next,
            before => self.slots[before as usize].next = next,
        }
        match next {
            NONE => self.queues[queue].tail = before,
            next => self.slots[next as usize].before = before,
        }
        self.release(queue, at, packet.meta.bytes);
        packet
    }

    /// Free the slot of a packet of this length that has left a queue.
    #[inline]
    fn release(&mut self, queue: usize, at: u32, bytes: u32) {
        self.slots[at as usize].next = self.free;
        self.free = at;
        self.queues[queue].backlog.take(bytes);
        self.total.take(bytes);
    }
}

/// The active queues in a ring, in the order in which they are served.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    next: Vec<u32>,
    before: Vec<u32>,
    current: u32,
    active: u32,
}

impl Ring {
    /// Create an empty ring for this number of queues.
    pub fn new(queues: usize) -> Self {
        Self { next: vec![NONE; queues], before: vec![NONE; queues], current: NONE, active: 0 }
    }

    /// Return the queue that is served now.
    pub fn current(&self) -> Option<usize> {
        (self.current != NONE).then_some(self.current as usize)
    }

    /// Return the number of active queues.
    pub fn len(&self) -> u32 {
        self.active
    }

    /// Add a queue; it is served after all others.
    pub fn enter(&mut self, queue: usize) {
        let at = queue as u32;
        self.active += 1;
        if self.current == NONE {
            (self.next[queue], self.before[queue], self.current) = (at, at, at);
            return;
        }
        let last = self.before[self.current as usize];
        (self.next[queue], self.before[queue]) = (self.current, last);
        self.next[last as usize] = at;
        self.before[self.current as usize] = at;
    }

    /// Remove a queue. If it is the current one, the next becomes current.
    pub fn leave(&mut self, queue: usize) {
        let (next, before) = (self.next[queue], self.before[queue]);
        self.active -= 1;
        if self.active == 0 {
            self.current = NONE;
            return;
        }
        self.next[before as usize] = next;
        self.before[next as usize] = before;
        if self.current == queue as u32 {
            self.current = next;
        }
    }

    /// Make the next queue current.
    pub fn advance(&mut self) {
        if self.current != NONE {
            self.current = self.next[self.current as usize];
        }
    }

    /// Iterate over the active queues, the current one first.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let following = |&queue: &u32| Some(self.next[queue as usize]);
        let first = (self.current != NONE).then_some(self.current);
        std::iter::successors(first, following).take(self.active as usize).map(|queue| queue as usize)
    }
}

/// How a flow is mapped to a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hash {
    /// A mixing of all bits of the flow's label with a salt.
    Mix,
    /// The label modulo the number of buckets: flows that are numbered do not collide.
    Modulo,
}

impl Hash {
    /// All values with their names in scenario files; the default first.
    pub const ALL: [(&'static str, Self); 2] = [("mix", Self::Mix), ("modulo", Self::Modulo)];

    /// Return the bucket of a flow, in 0 to `buckets` - 1.
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

/// Return the hash of a flow's label under a key.
pub(crate) fn keyed_hash(flow: u32, key: u64) -> u32 {
    mix(u64::from(flow).wrapping_add(mix(key))) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Meta;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lanes_are_queues(ops in prop::collection::vec((0u8..5, 0usize..3, 1u32..1500), 0..300)) {
            let mut queues = FlowQueues::new(3);
            let mut naive: [Vec<(u32, u32)>; 3] = Default::default();
            for (i, (op, queue, bytes)) in ops.into_iter().enumerate() {
                let number = i as u32;
                match op {
                    0 | 1 => {
                        queues.push(queue, &Packet { meta: Meta { bytes, ..Meta::default() }, payload: number });
                        naive[queue].push((number, bytes));
                    }
                    2 => {
                        let first = (!naive[queue].is_empty()).then(|| naive[queue].remove(0).0);
                        prop_assert_eq!(queues.head(queue).map(|p| p.payload), first);
                        prop_assert_eq!(queues.pop(queue).map(|p| p.payload), first);
                    }
                    3 if !naive[queue].is_empty() => {
                        let place = bytes as usize % naive[queue].len();
                        let slot = queues.slots(queue).nth(place).map_or(NONE, |(slot, _)| slot);
                        prop_assert_eq!(queues.remove(queue, slot).payload, naive[queue].remove(place).0);
                    }
                    _ => {
                        let last = naive[queue].pop().map(|(n, _)| n);
                        prop_assert_eq!(queues.pop_tail(queue).map(|p| p.payload), last);
                    }
                }
                for (queue, naive) in naive.iter().enumerate() {
                    let bytes = naive.iter().map(|x| u64::from(x.1)).sum();
                    let inside: Vec<_> = queues.slots(queue).map(|(_, packet)| packet.payload).collect();
                    prop_assert_eq!(inside, naive.iter().map(|x| x.0).collect::<Vec<_>>());
                    prop_assert_eq!(queues.backlog(queue), Backlog { packets: naive.len() as u32, bytes });
                }
                let packets = naive.iter().map(|queue| queue.len() as u32).sum();
                prop_assert_eq!(queues.total().packets, packets);
            }
        }

        #[test]
        fn the_ring_goes_round(ops in prop::collection::vec((0u8..3, 0usize..5), 0..200)) {
            let mut ring = Ring::new(5);
            // The current one first.
            let mut naive: Vec<usize> = Vec::new();
            for (op, queue) in ops {
                let at = naive.iter().position(|&l| l == queue);
                match (op, at) {
                    (0, None) => {
                        ring.enter(queue);
                        naive.push(queue);
                    }
                    (1, Some(at)) => {
                        ring.leave(queue);
                        naive.remove(at);
                    }
                    (2, _) => {
                        ring.advance();
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
