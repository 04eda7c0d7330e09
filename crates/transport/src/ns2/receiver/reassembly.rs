//! Which packets have arrived, and which can be delivered.
//!
//! A ring of bits, one a packet, indexed by the sequence number. It starts with 64 places and doubles when a packet
//! arrives too far ahead. The ring is ns-2's, with its limits: a packet delivered long ago may look missing,
//! or its place may belong to a later one. That shows in one case only, a SACK block's end after a very old packet (see
//! [`Reassembly::end_of_run`]).
//!
//! While packets arrive in order the ring is left alone; what it has missed is entered when it is needed.

const PLACES_IN_WORD: u32 = u64::BITS;

/// Reassembly of one receiver.
#[derive(Clone, Debug)]
pub struct Reassembly {
    next: i32,
    highest: i32,
    /// The ring knows packets below this one; those from here to `next` have arrived in order.
    entered: i32,
    last_was_duplicate: bool,
    /// Whether a packet has arrived, at `seq & (places - 1)`; a power of two of words.
    ring: Vec<u64>,
}

impl Default for Reassembly {
    fn default() -> Self {
        Self { next: 0, highest: 0, entered: 0, last_was_duplicate: false, ring: vec![0] }
    }
}

impl Reassembly {
    /// Takes packet `seq` if it is the next one and none beyond it has arrived; whether it is.
    #[inline]
    pub fn receive_next(&mut self, seq: i32) -> bool {
        let in_order = seq == self.next && self.highest < seq;
        if in_order {
            self.next = seq + 1;
            self.highest = seq;
        }
        in_order
    }

    /// Takes packet `seq`.
    pub fn receive(&mut self, seq: i32) {
        self.last_was_duplicate = false;
        if self.receive_next(seq) {
            return;
        }
        self.enter();
        while seq + 1 - self.next >= self.places() - 1 {
            self.grow();
        }
        self.last_was_duplicate = seq < self.next || (seq <= self.highest && self.has(seq));
        if seq > self.highest {
            for missing in self.highest + 1..seq {
                self.set(missing, false);
            }
            self.highest = seq;
            self.set(seq + 1, false);
        }
        if seq == self.next {
            self.set(seq, true);
            self.next = self.first_missing(seq + 1, self.highest + 1);
            self.entered = self.next;
        } else if seq > self.next {
            self.set(seq, true); // the next one is missing still
        }
    }

    /// How many packets have been delivered in order, each once.
    pub fn delivered(&self) -> u64 {
        self.next as u64
    }

    /// Last packet received in order; -1: none.
    #[inline]
    pub fn last_in_order(&self) -> i32 {
        self.next - 1
    }

    /// Highest packet received; 0 before the first.
    #[inline]
    pub fn highest(&self) -> i32 {
        self.highest
    }

    /// Whether the last packet had arrived before.
    pub fn last_was_duplicate(&self) -> bool {
        self.last_was_duplicate
    }

    /// The first missing packet at or after `seq`, at most one past the highest. For packets beyond those in order, and
    /// while there are such.
    pub fn end_of_run(&self, seq: i32) -> i32 {
        self.first_missing(seq, self.highest + 1)
    }

    /// Return the first packet of the run that ends before `right`, above the packets in order.
    pub fn start_of_run(&self, right: i32) -> i32 {
        let mut left = right;
        while left > self.next {
            // The bits of a word up to that of packet `left - 1`, moved to the top.
            let below = left - 1;
            let skipped = PLACES_IN_WORD - 1 - below as u32 % PLACES_IN_WORD;
            let known = (self.ring[self.word(below)] << skipped).leading_ones();
            left -= known as i32;
            if known < PLACES_IN_WORD - skipped {
                break;
            }
        }
        left.max(self.next)
    }

    /// The first packet from `seq` on that is missing, at most `limit`.
    fn first_missing(&self, seq: i32, limit: i32) -> i32 {
        let mut right = seq;
        while right < limit {
            let skipped = right as u32 % PLACES_IN_WORD;
            let known = (self.ring[self.word(right)] >> skipped).trailing_ones();
            right += known as i32;
            if known < PLACES_IN_WORD - skipped {
                break;
            }
        }
        right.min(limit)
    }

    fn places(&self) -> i32 {
        (self.ring.len() as u32 * PLACES_IN_WORD) as i32
    }

    fn word(&self, seq: i32) -> usize {
        (seq as u32 / PLACES_IN_WORD) as usize & (self.ring.len() - 1)
    }

    fn has(&self, seq: i32) -> bool {
        self.ring[self.word(seq)] >> (seq as u32 % PLACES_IN_WORD) & 1 == 1
    }

    fn set(&mut self, seq: i32, arrived: bool) {
        let word = self.word(seq);
        let bit = seq as u32 % PLACES_IN_WORD;
        self.ring[word] = self.ring[word] & !(1 << bit) | u64::from(arrived) << bit;
    }

    /// Enters into the ring what has arrived in order since.
    fn enter(&mut self) {
        if self.entered == self.next {
            return;
        }
        if self.next - self.entered >= self.places() {
            self.ring.fill(u64::MAX);
        } else {
            let mut seq = self.entered;
            while seq < self.next {
                let bit = seq as u32 % PLACES_IN_WORD;
                let packets = (PLACES_IN_WORD - bit).min((self.next - seq) as u32);
                let word = self.word(seq);
                self.ring[word] |= u64::MAX >> (PLACES_IN_WORD - packets) << bit;
                seq += packets as i32;
            }
        }
        self.set(self.next, false);
        self.entered = self.next;
    }

    fn grow(&mut self) {
        let before = self.clone();
        self.ring = vec![0; self.ring.len() * 2];
        for seq in self.next..=self.highest + 1 {
            self.set(seq, before.has(seq));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Packets that `seq` makes deliverable.
    fn receive(r: &mut Reassembly, seq: i32) -> u64 {
        let before = r.delivered();
        r.receive(seq);
        r.delivered() - before
    }

    #[test]
    fn delivers_in_order_and_each_once() {
        let mut r = Reassembly::default();
        assert_eq!(r.last_in_order(), -1);
        assert_eq!(receive(&mut r, 0), 1);
        assert_eq!(receive(&mut r, 2), 0);
        assert_eq!((r.last_in_order(), r.highest()), (0, 2));
        assert_eq!(receive(&mut r, 2), 0);
        assert!(r.last_was_duplicate());
        assert_eq!(receive(&mut r, 1), 2);
        assert!(!r.last_was_duplicate());
        assert_eq!(receive(&mut r, 1), 0);
        assert!(r.last_was_duplicate());
    }

    #[test]
    fn grows_for_a_wide_window() {
        let mut r = Reassembly::default();
        for seq in 1..1000 {
            r.receive(seq);
        }
        assert_eq!(receive(&mut r, 0), 1000);
        assert_eq!(r.places(), 1024);
    }

    #[test]
    fn what_arrived_in_order_is_known_when_it_is_needed() {
        for in_order in [1, 5, 63, 64, 65, 1000] {
            let mut r = Reassembly::default();
            for seq in 0..in_order {
                r.receive(seq);
            }
            r.receive(in_order + 1);
            let oldest = (in_order - 61).max(0);
            assert_eq!(r.end_of_run(oldest), in_order, "{in_order} packets in order");
            assert_eq!(
                (r.end_of_run(in_order + 1), r.start_of_run(in_order + 2)),
                (in_order + 2, in_order + 1)
            );
            r.receive(oldest);
            assert!(r.last_was_duplicate());
            assert_eq!(receive(&mut r, in_order), 2);
        }
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
                let duplicate = !set.insert(seq);
                while set.contains(&next) {
                    next += 1;
                }
                highest = highest.max(seq);
                r.receive(seq);
                prop_assert_eq!(r.delivered(), next as u64);
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
