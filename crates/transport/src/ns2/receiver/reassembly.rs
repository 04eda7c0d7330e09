//! Which packets have arrived, and which can be delivered.
//!
//! A ring of packet lengths, 0 for a missing packet, indexed by the sequence number. It starts with 64 places
//! and doubles when a packet arrives too far ahead. The ring is ns-2's, and so is what it forgets: a packet
//! delivered long ago may look missing, or its place may belong to a later one. That shows in one case only,
//! a SACK block's end after a very old packet (see [`Reassembly::end_of_run`]).

const INITIAL_PLACES: usize = 64;

/// What a packet has made deliverable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Packets, in order.
    pub packets: u32,
    /// Their bytes, headers included.
    pub bytes: u32,
}

/// Reassembly of one receiver.
#[derive(Clone, Debug)]
pub struct Reassembly {
    /// Length of each packet that has arrived, at `seq & (places - 1)`; a power of two of places.
    lengths: Vec<u32>,
    next: i32,
    highest: i32,
    last_was_duplicate: bool,
}

impl Default for Reassembly {
    fn default() -> Self {
        Self { lengths: vec![0; INITIAL_PLACES], next: 0, highest: 0, last_was_duplicate: false }
    }
}

impl Reassembly {
    /// Takes packet `seq` of `bytes` (not 0).
    pub fn receive(&mut self, seq: i32, bytes: u32) -> Delivered {
        while seq + 1 - self.next >= self.lengths.len() as i32 - 1 {
            self.grow();
        }
        self.last_was_duplicate = seq < self.next || (seq <= self.highest && self.has(seq));
        if seq > self.highest {
            for missing in self.highest + 1..seq {
                self.set(missing, 0);
            }
            self.highest = seq;
            self.set(seq + 1, 0);
        }
        let mut delivered = Delivered::default();
        if seq >= self.next {
            self.set(seq, bytes);
            while self.has(self.next) {
                delivered.packets += 1;
                delivered.bytes += self.lengths[self.place(self.next)];
                self.next += 1;
            }
        }
        delivered
    }

    /// Last packet received in order; -1: none.
    pub fn last_in_order(&self) -> i32 {
        self.next - 1
    }

    /// Highest packet received; 0 before the first.
    pub fn highest(&self) -> i32 {
        self.highest
    }

    /// Whether the last packet had arrived before.
    pub fn last_was_duplicate(&self) -> bool {
        self.last_was_duplicate
    }

    /// The first missing packet at or after `seq`, at most one past the highest.
    pub fn end_of_run(&self, seq: i32) -> i32 {
        (seq..=self.highest).find(|&s| !self.has(s)).unwrap_or(self.highest + 1)
    }

    /// The first packet of the run that ends before `right`, above what is in order.
    pub fn start_of_run(&self, right: i32) -> i32 {
        (self.next..right).rev().find(|&s| !self.has(s)).map_or(self.next, |hole| hole + 1)
    }

    fn place(&self, seq: i32) -> usize {
        seq as usize & (self.lengths.len() - 1)
    }

    fn has(&self, seq: i32) -> bool {
        self.lengths[self.place(seq)] != 0
    }

    fn set(&mut self, seq: i32, bytes: u32) {
        let place = self.place(seq);
        self.lengths[place] = bytes;
    }

    fn grow(&mut self) {
        let mut larger = vec![0; self.lengths.len() * 2];
        for seq in self.next..=self.highest + 1 {
            larger[seq as usize & (self.lengths.len() * 2 - 1)] = self.lengths[self.place(seq)];
        }
        self.lengths = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn delivered(packets: u32, bytes: u32) -> Delivered {
        Delivered { packets, bytes }
    }

    #[test]
    fn delivers_in_order_and_each_once() {
        let mut r = Reassembly::default();
        assert_eq!(r.last_in_order(), -1);
        assert_eq!(r.receive(0, 40), delivered(1, 40));
        assert_eq!(r.receive(2, 1040), delivered(0, 0));
        assert_eq!((r.last_in_order(), r.highest()), (0, 2));
        assert_eq!(r.receive(2, 1040), delivered(0, 0));
        assert!(r.last_was_duplicate());
        assert_eq!(r.receive(1, 1040), delivered(2, 2080));
        assert!(!r.last_was_duplicate());
        assert_eq!(r.receive(1, 1040), delivered(0, 0));
        assert!(r.last_was_duplicate());
    }

    #[test]
    fn grows_for_a_wide_window() {
        let mut r = Reassembly::default();
        for seq in 1..1000 {
            r.receive(seq, 1);
        }
        assert_eq!(r.receive(0, 1), delivered(1000, 1000));
        assert_eq!(r.lengths.len(), 1024);
    }

    proptest! {
        /// Equal to a plain set of all packets that have arrived.
        #[test]
        fn equals_a_set(steps in prop::collection::vec(0i32..40, 1..300)) {
            let mut r = Reassembly::default();
            let mut set = BTreeSet::new();
            let (mut next, mut highest) = (0, 0);
            for step in steps {
                // Within 8 behind and 31 ahead of the next packet expected.
                let seq = (next + step - 8).max(0);
                let before = next;
                let duplicate = !set.insert(seq);
                while set.contains(&next) {
                    next += 1;
                }
                highest = highest.max(seq);
                let n = (next - before) as u32;
                prop_assert_eq!(r.receive(seq, 7), delivered(n, 7 * n));
                prop_assert_eq!(r.last_was_duplicate(), duplicate);
                prop_assert_eq!((r.last_in_order(), r.highest()), (next - 1, highest));
                if seq > next {
                    let right = (seq..).find(|s| !set.contains(s)).unwrap_or(0);
                    let left = (0..seq).rev().find(|s| !set.contains(s)).unwrap_or(-1) + 1;
                    prop_assert_eq!(r.end_of_run(seq), right);
                    prop_assert_eq!(r.start_of_run(right), left);
                }
            }
        }
    }
}
