//! The longest queue, of which a full buffer drops: a heap of all queues by their bytes, with ties in the order of Linux.
//!
//! Linux moves a queue that has become shorter down by one level at a time (`cake_heapify` compares the levels below with the queue that went
//! up). The queue on top is the longest when the heap is built, and may be another one after several drops.
//!
//! The heap exists while the buffer overflows, and for 65,535 packets after the last overflow, so that it costs nothing elsewhere.

use super::diffserv::MAX_TINS;
use super::hash::QUEUES;

const PLACES: usize = MAX_TINS * QUEUES;
/// Packets that may leave without an overflow until the heap is given up.
const TIMEOUT: u32 = 65_535;

/// The heap. Queue q of tin t is entry t + 8 q; its number among all queues is 1024 t + q.
#[derive(Clone, Debug)]
pub(super) struct Overflow {
    entries: Vec<u16>,
    place_of: Vec<u16>,
    timeout: u32,
}

impl Overflow {
    /// Create the heap of empty queues.
    pub fn new() -> Self {
        let entries: Vec<_> = (0..PLACES as u16).collect();
        Self { place_of: entries.clone(), entries, timeout: 0 }
    }

    /// Return the number of the longest queue; `bytes` are those of a queue.
    pub fn longest(&mut self, bytes: impl Fn(usize) -> u64) -> usize {
        if self.timeout == 0 {
            (0..=PLACES / 2).rev().for_each(|place| self.sift_down(place, &bytes));
        }
        self.timeout = TIMEOUT;
        queue_of(self.entries[0])
    }

    /// Note that a queue has become longer.
    #[inline]
    pub fn grew(&mut self, queue: usize, bytes: impl Fn(usize) -> u64) {
        if self.timeout == 0 {
            return;
        }
        let mut place = usize::from(self.place_of[entry_of(queue)]);
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.bytes_at(place, &bytes) <= self.bytes_at(parent, &bytes) {
                return;
            }
            self.swap(place, parent);
            place = parent;
        }
    }

    /// Note that a queue has become shorter.
    #[inline]
    pub fn shrank(&mut self, queue: usize, bytes: impl Fn(usize) -> u64) {
        if self.timeout > 0 {
            self.sift_down(self.place_of[entry_of(queue)].into(), &bytes);
        }
    }

    /// Build the heap again at the next overflow: the queue on top is empty.
    pub fn rebuild(&mut self) {
        self.timeout = 0;
    }

    /// Note that a packet has left by the link.
    #[inline]
    pub fn departed(&mut self) {
        self.timeout = self.timeout.saturating_sub(1);
    }

    fn sift_down(&mut self, mut place: usize, bytes: &impl Fn(usize) -> u64) {
        let mut most = self.bytes_at(place, bytes);
        loop {
            let mut largest = place;
            for child in [2 * place + 1, 2 * place + 2] {
                if child < PLACES && self.bytes_at(child, bytes) > most {
                    (largest, most) = (child, self.bytes_at(child, bytes));
                }
            }
            if largest == place {
                return;
            }
            self.swap(place, largest);
            place = largest;
        }
    }

    fn bytes_at(&self, place: usize, bytes: &impl Fn(usize) -> u64) -> u64 {
        bytes(queue_of(self.entries[place]))
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.entries.swap(a, b);
        for place in [a, b] {
            self.place_of[usize::from(self.entries[place])] = place as u16;
        }
    }
}

/// The number of the queue of an entry among all queues.
fn queue_of(entry: u16) -> usize {
    let entry = usize::from(entry);
    entry % MAX_TINS * QUEUES + entry / MAX_TINS
}

fn entry_of(queue: usize) -> usize {
    queue / QUEUES + queue % QUEUES * MAX_TINS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn entries_and_queues() {
        assert_eq!([0, 1, 7, 8, 9].map(queue_of), [0, 1024, 7168, 1, 1025]);
        assert!((0..PLACES).all(|queue| queue_of(entry_of(queue) as u16) == queue));
    }

    proptest! {
        #[test]
        fn a_heap_that_was_just_built_has_the_longest_on_top(
            ops in prop::collection::vec((any::<bool>(), 0usize..12, 1u64..1500), 1..300),
        ) {
            let mut heap = Overflow::new();
            let mut bytes = vec![0_u64; PLACES];
            for (grows, queue, n) in ops {
                let queue = queue * 601;
                if grows {
                    bytes[queue] += n;
                    heap.grew(queue, |queue| bytes[queue]);
                } else {
                    bytes[queue] = bytes[queue].saturating_sub(n);
                    heap.shrank(queue, |queue| bytes[queue]);
                }
                prop_assert!((0..PLACES).all(|place| usize::from(heap.place_of[usize::from(heap.entries[place])]) == place));
                if n % 4 == 0 {
                    heap.rebuild();
                    let longest = heap.longest(|queue| bytes[queue]);
                    prop_assert_eq!(bytes[longest], *bytes.iter().max().unwrap_or(&0));
                }
            }
        }
    }

    #[test]
    fn a_queue_moves_down_by_one_level() {
        let mut heap = Overflow::new();
        // Entries 0, 1, 2, 3, 4 of the heap: queues 0 of tins 0 to 4.
        let mut bytes = vec![0_u64; PLACES];
        [9, 8, 7, 6, 5].into_iter().enumerate().for_each(|(tin, n)| bytes[tin * QUEUES] = n);
        assert_eq!(heap.longest(|queue| bytes[queue]), 0);
        // The first becomes the shortest: 8 goes up, and 0 stays above 6 and 5.
        bytes[0] = 0;
        heap.shrank(0, |queue| bytes[queue]);
        assert_eq!(heap.entries[..5], [1, 0, 2, 3, 4]);
        bytes[QUEUES] = 1;
        heap.shrank(QUEUES, |queue| bytes[queue]);
        assert_eq!(heap.longest(|queue| bytes[queue]), 2 * QUEUES);
        // Now 7 is gone too, and 1 is on top although 6 waits below.
        bytes[2 * QUEUES] = 0;
        heap.shrank(2 * QUEUES, |queue| bytes[queue]);
        assert_eq!(heap.longest(|queue| bytes[queue]), QUEUES);
        heap.rebuild();
        assert_eq!(heap.longest(|queue| bytes[queue]), 3 * QUEUES);
    }

    #[test]
    fn it_is_built_again_after_a_long_time_without_an_overflow() {
        let mut heap = Overflow::new();
        let long = |queue: usize| move |q: usize| u64::from(q == queue);
        assert_eq!(heap.longest(long(5)), 5);
        (0..TIMEOUT - 1).for_each(|_| heap.departed());
        // It still exists, and the new lengths were not reported.
        assert_eq!(heap.longest(long(3000)), 5);
        (0..TIMEOUT).for_each(|_| heap.departed());
        assert_eq!(heap.longest(long(3000)), 3000);
    }
}
