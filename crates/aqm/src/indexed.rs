use core::ops::Range;

use crate::{Backlog, Meta, Packet};

/// The properties of a packet that victim rules search for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// The packet with the least of it goes first (DDRED).
    pub key: u32,
    /// Whether a search for open packets finds it (PC-RED: without QOSA).
    pub open: bool,
}

/// A first-in first-out queue in which a packet anywhere can be found and taken out.
///
/// Packets are stored in an array in the order of their arrival; a packet removed from the middle leaves a hole. When the
/// end of the array is reached, holes are removed, which costs O(1) per packet on average. Arrivals at the tail and
/// departures from the head change only the array; an [`Index`] is updated when something is searched.
#[derive(Clone, Debug)]
pub struct Indexed<P> {
    slots: Vec<Option<Packet<P>>>,
    /// All slots before this one are empty.
    head: usize,
    /// The next packet goes here.
    tail: usize,
    packets: u32,
    bytes: u64,
    index: Index,
    /// Holes between packets stay, those before the first one aside.
    keeps_holes: bool,
}

/// A binary tree over the slots: for each range, how many packets are in it, how many of them are open, and the least key
/// with how many have it. A search is O(log n), and bringing it up to date O(1) a packet since the last time.
#[derive(Clone, Debug)]
pub struct Index {
    /// Node 1 is the root, 2 i and 2 i + 1 are below i, and leaf `capacity + s` is slot s.
    tree: Vec<Node>,
    capacity: usize,
    /// Slots of which the tree may know a packet.
    known: Range<usize>,
    /// Packets have moved to other slots since.
    is_stale: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Node {
    packets: u32,
    open: u32,
    key: u32,
    with_key: u32,
}

impl Node {
    const EMPTY: Self = Self { packets: 0, open: 0, key: u32::MAX, with_key: 0 };

    fn of(tag: Tag) -> Self {
        Self { packets: 1, open: u32::from(tag.open), key: tag.key, with_key: 1 }
    }

    fn join(a: Self, b: Self) -> Self {
        let key = a.key.min(b.key);
        let with_key = |n: Self| if n.key == key { n.with_key } else { 0 };
        Self {
            packets: a.packets + b.packets,
            open: a.open + b.open,
            key,
            with_key: with_key(a) + with_key(b),
        }
    }
}

impl<P: Copy> Default for Indexed<P> {
    fn default() -> Self {
        let slots = vec![None; 128];
        let index = Index::new(slots.len());
        Self { index, slots, head: 0, tail: 0, packets: 0, bytes: 0, keeps_holes: false }
    }
}

impl<P: Copy> Indexed<P> {
    /// Create a queue in which a slot that was emptied stays between the others until those before it are taken
    /// ([`Indexed::slots`]).
    pub fn with_empty_slots() -> Self {
        Self { keeps_holes: true, ..Self::default() }
    }

    /// Return the slots from the first packet to the last arrival, empty ones in between included.
    pub fn slots(&mut self) -> Range<usize> {
        let holes = self.slots[self.head..self.tail].iter().take_while(|slot| slot.is_none()).count();
        self.head += holes;
        self.head..self.tail
    }

    /// Appends a packet at the tail.
    #[inline(always)]
    pub fn push(&mut self, packet: Packet<P>) {
        if self.tail == self.slots.len() {
            self.squeeze();
        }
        self.packets += 1;
        self.bytes += u64::from(packet.meta.bytes);
        self.slots[self.tail] = Some(packet);
        self.tail += 1;
    }

    /// Takes the packet at the head.
    #[inline]
    pub fn pop(&mut self) -> Option<Packet<P>> {
        let packet = self.head()?.take()?;
        self.left(packet.meta.bytes);
        Some(packet)
    }

    /// [`Indexed::pop`] to `packet`. Return whether there is one.
    #[inline]
    pub fn pop_into(&mut self, packet: &mut Packet<P>) -> bool {
        let Some(head) = self.head() else { return false };
        let Some(next) = head else { return false };
        *packet = *next;
        *head = None;
        self.left(packet.meta.bytes);
        true
    }

    /// Go past the packet at the head and the holes before it. Return its slot, which the caller must empty.
    #[inline]
    fn head(&mut self) -> Option<&mut Option<Packet<P>>> {
        let holes = self.slots[self.head..self.tail].iter().take_while(|slot| slot.is_none()).count();
        let head = self.head + holes;
        self.head = self.tail.min(head + 1);
        self.slots[..self.tail].get_mut(head)
    }

    /// Takes out the packet in a slot that a search gave.
    ///
    /// # Panics
    /// If the slot is empty.
    pub fn remove(&mut self, slot: usize) -> Packet<P> {
        let packet = self.slots[slot].take().expect("a slot with a packet");
        self.index.clear_slot(slot);
        self.left(packet.meta.bytes);
        packet
    }

    #[inline]
    fn left(&mut self, bytes: u32) {
        self.packets -= 1;
        self.bytes -= u64::from(bytes);
        if self.packets == 0 {
            (self.head, self.tail) = (0, 0);
            self.index.is_stale = true;
        }
    }

    /// The packet in a slot, to read or to mark.
    pub fn get_mut(&mut self, slot: usize) -> Option<&mut Packet<P>> {
        self.slots[slot].as_mut()
    }

    /// Packets in the queue.
    #[inline]
    pub fn len(&self) -> usize {
        self.packets as usize
    }

    /// Packets and bytes in the queue.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets, bytes: self.bytes }
    }

    /// The index to search, where packets have these tags; always the same of a packet while it is in the queue.
    pub fn index(&mut self, tag: impl Fn(&Meta) -> Tag) -> &Index {
        let Self { slots, index, .. } = self;
        let taken = self.head..self.tail;
        index.update(taken, |slot| slots[slot].as_ref().map_or(Node::EMPTY, |p| Node::of(tag(&p.meta))));
        index
    }

    /// Squeezes the holes out, and grows when more than half of the slots are taken.
    #[inline(never)]
    fn squeeze(&mut self) {
        let mut to = 0;
        for from in self.slots() {
            let packet = self.slots[from].take();
            if packet.is_some() || self.keeps_holes {
                self.slots[to] = packet;
                to += 1;
            }
        }
        (self.head, self.tail) = (0, to);
        self.index.is_stale = true;
        if 2 * to > self.slots.len() {
            self.slots.resize(2 * self.slots.len(), None);
            self.index = Index::new(self.slots.len());
        }
    }
}

impl Index {
    fn new(capacity: usize) -> Self {
        Self { tree: vec![Node::EMPTY; 2 * capacity], capacity, known: 0..0, is_stale: false }
    }

    /// Update the tree: the slots `taken` may hold packets, all others are empty.
    fn update(&mut self, taken: Range<usize>, leaf: impl Fn(usize) -> Node) {
        if self.is_stale {
            self.set(self.known.clone(), |_| Node::EMPTY);
            self.set(taken.clone(), leaf);
        } else {
            self.set(self.known.start..taken.start.min(self.known.end), |_| Node::EMPTY);
            self.set(self.known.end.max(taken.start)..taken.end, leaf);
        }
        (self.known, self.is_stale) = (taken, false);
    }

    /// Clear the slot of a removed packet.
    fn clear_slot(&mut self, slot: usize) {
        if !self.is_stale && self.known.contains(&slot) {
            self.set(slot..slot + 1, |_| Node::EMPTY);
        }
    }

    /// Sets the leaves of slots, and all nodes above.
    fn set(&mut self, slots: Range<usize>, leaf: impl Fn(usize) -> Node) {
        if slots.is_empty() {
            return;
        }
        slots.clone().for_each(|slot| self.tree[self.capacity + slot] = leaf(slot));
        let (mut first, mut last) = (self.capacity + slots.start, self.capacity + slots.end - 1);
        while first > 1 {
            (first, last) = (first / 2, last / 2);
            for node in first..=last {
                self.tree[node] = Node::join(self.tree[2 * node], self.tree[2 * node + 1]);
            }
        }
    }

    /// The slot of the packet at place `n`, counted from the head, from 0.
    pub fn nth(&self, n: usize) -> Option<usize> {
        self.descend(n as u32, |node| node.packets)
    }

    /// The slot of the first open packet at or after `slot`.
    pub fn open_from(&self, slot: usize) -> Option<usize> {
        let before = self.sum(slot, |node| node.open);
        self.descend(before, |node| node.open)
    }

    /// The least key and how many packets have it; `None` when the queue is empty.
    pub fn least(&self) -> Option<(u32, u32)> {
        let root = self.tree[1];
        (root.packets > 0).then_some((root.key, root.with_key))
    }

    /// The slot of the `n`-th packet, from 0 at the head, among those with the least key.
    pub fn least_nth(&self, n: u32) -> Option<usize> {
        let key = self.tree[1].key;
        self.descend(n, |node| if node.key == key { node.with_key } else { 0 })
    }

    /// The slot of the newest packet with the least key at or after `slot`, and that key.
    pub fn least_from(&self, slot: usize) -> Option<(usize, u32)> {
        let mut best: Option<(usize, u32)> = None;
        let mut take = |node: usize| {
            let key = self.tree[node].key;
            if self.tree[node].packets > 0 && best.is_none_or(|(_, least)| key < least) {
                best = Some((node, key));
            }
        };
        // From the right, so that of equal keys the newest wins.
        let (mut low, mut high) = (self.capacity + slot, 2 * self.capacity);
        let mut left = [0; 64];
        let mut lefts = 0;
        while low < high {
            if low & 1 == 1 {
                left[lefts] = low;
                lefts += 1;
                low += 1;
            }
            if high & 1 == 1 {
                high -= 1;
                take(high);
            }
            (low, high) = (low / 2, high / 2);
        }
        left[..lefts].iter().rev().for_each(|&node| take(node));
        best.map(|(node, key)| (self.newest_below(node, key), key))
    }

    fn newest_below(&self, mut node: usize, key: u32) -> usize {
        while node < self.capacity {
            node = if self.tree[2 * node + 1].key == key { 2 * node + 1 } else { 2 * node };
        }
        node - self.capacity
    }

    /// The slot where the count passes `n`.
    fn descend(&self, mut n: u32, count: impl Fn(&Node) -> u32) -> Option<usize> {
        if n >= count(&self.tree[1]) {
            return None;
        }
        let mut node = 1;
        while node < self.capacity {
            let left = count(&self.tree[2 * node]);
            (node, n) = if n < left { (2 * node, n) } else { (2 * node + 1, n - left) };
        }
        Some(node - self.capacity)
    }

    /// The count over all slots before `slot`.
    fn sum(&self, slot: usize, count: impl Fn(&Node) -> u32) -> u32 {
        let (mut node, mut sum) = (self.capacity + slot, 0);
        while node > 1 {
            if node & 1 == 1 {
                sum += count(&self.tree[node - 1]);
            }
            node /= 2;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Meta;
    use proptest::prelude::*;

    /// The same by looking at every packet.
    #[derive(Default)]
    struct Naive(Vec<(u32, Tag)>);

    impl Naive {
        fn least(&self, from: usize) -> Option<(u32, u32)> {
            let keys = || self.0[from..].iter().map(|(_, m)| m.key);
            let least = keys().min()?;
            Some((least, keys().filter(|&k| k == least).count() as u32))
        }
    }

    fn tag_of(meta: &Meta) -> Tag {
        Tag { key: meta.flow, open: !meta.header.qosa() }
    }

    fn number(queue: &mut Indexed<u32>, slot: Option<usize>) -> Option<u32> {
        queue.get_mut(slot?).map(|p| p.payload)
    }

    proptest! {
        #[test]
        fn finds_what_a_scan_finds(
            ops in prop::collection::vec((0u8..6, 0u32..4, any::<bool>(), 0usize..70, any::<bool>()), 0..400),
        ) {
            let mut queue = Indexed::default();
            let mut naive = Naive::default();
            for (i, (op, key, open, at, searches)) in ops.into_iter().enumerate() {
                let len = naive.0.len();
                match op {
                    0..=2 => {
                        let tag = Tag { key, open };
                        let meta = Meta { bytes: 40 + key, ..Meta::default() };
                        let header = meta.header.with_qosa(!open);
                        let meta = Meta { flow: key, header, ..meta };
                        queue.push(Packet { meta, payload: i as u32 });
                        naive.0.push((i as u32, tag));
                    }
                    3 => {
                        let first = if len > 0 { Some(naive.0.remove(0).0) } else { None };
                        prop_assert_eq!(queue.pop().map(|p| p.payload), first);
                    }
                    4 if at < len => {
                        let slot = queue.index(tag_of).nth(at).expect("a packet at this place");
                        prop_assert_eq!(queue.remove(slot).payload, naive.0.remove(at).0);
                    }
                    _ => {}
                }
                let bytes: u64 = naive.0.iter().map(|(_, m)| u64::from(40 + m.key)).sum();
                prop_assert_eq!(queue.backlog(), Backlog { packets: naive.0.len() as u32, bytes });
                // Between two searches any number of packets may come and go.
                if !searches {
                    continue;
                }
                let slot = queue.index(tag_of).nth(at);
                prop_assert_eq!(number(&mut queue, slot), naive.0.get(at).map(|x| x.0));
                prop_assert_eq!(queue.index(tag_of).least(), naive.least(0));
                let Some((key, ties)) = naive.least(0) else { continue };
                for n in 0..=ties {
                    let slot = queue.index(tag_of).least_nth(n);
                    let expected = naive.0.iter().filter(|x| x.1.key == key).nth(n as usize).map(|x| x.0);
                    prop_assert_eq!(number(&mut queue, slot), expected);
                }
                let Some(slot) = slot else { continue };
                let open = queue.index(tag_of).open_from(slot);
                let expected = naive.0[at..].iter().find(|x| x.1.open).map(|x| x.0);
                prop_assert_eq!(number(&mut queue, open), expected);
                let (key, _) = naive.least(at).expect("a packet from here on");
                let newest = naive.0[at..].iter().rfind(|x| x.1.key == key).map(|x| x.0);
                let (found, least) = queue.index(tag_of).least_from(slot).expect("a packet from here on");
                prop_assert_eq!((number(&mut queue, Some(found)), least), (newest, key));
            }
        }
    }
}
