use aqmlab_units::Time;

use crate::key::Key;

/// A pending event: when, and the slot of what it is for. Four of them share a cache line.
#[derive(Clone, Copy, Debug)]
struct Entry {
    time: Time,
    slot: u32,
    /// Where its cause is kept.
    cause: u32,
}

/// A 4-ary min-heap of events, in the order of their keys.
///
/// Every target has a slot. A slot may have several events, of which at most one is *live*: a wake-up that an
/// earlier one has overtaken stays behind, with a cause of its own, or the order of others would break. Cause and source
/// matter only among simultaneous events and are kept aside, so that an entry is small.
#[derive(Clone, Debug)]
pub(crate) struct Heap {
    entries: Vec<Entry>,
    /// Source by slot.
    sources: Vec<u32>,
    causes: Vec<Time>,
    /// Places in `causes` that are to be used again.
    free: Vec<u32>,
}

impl Heap {
    /// An empty heap; `sources` gives the source station of every slot.
    pub fn new(sources: impl Iterator<Item = u32>) -> Self {
        Self { entries: Vec::new(), sources: sources.collect(), causes: Vec::new(), free: Vec::new() }
    }

    /// The first event: its time and slot.
    #[inline]
    pub fn first(&self) -> Option<(Time, u32)> {
        self.entries.first().map(|e| (e.time, e.slot))
    }

    /// The key of the first event; there is one.
    #[inline]
    pub fn key(&self) -> Key {
        let Entry { time, slot, cause } = self.entries[0];
        Key { time, cause: self.causes[cause as usize], source: self.sources[slot as usize] }
    }

    /// Adds an event.
    #[inline]
    pub fn push(&mut self, time: Time, cause: Time, slot: u32) {
        let cause = self.keep(cause);
        let entry = Entry { time, slot, cause };
        let mut hole = self.entries.len();
        self.entries.push(entry);
        while hole > 0 {
            let parent = (hole - 1) / 4;
            if !self.less(entry, self.entries[parent]) {
                break;
            }
            self.entries[hole] = self.entries[parent];
            hole = parent;
        }
        self.entries[hole] = entry;
    }

    /// Where a cause is kept from now on.
    #[inline]
    fn keep(&mut self, cause: Time) -> u32 {
        if let Some(place) = self.free.pop() {
            self.causes[place as usize] = cause;
            return place;
        }
        self.causes.push(cause);
        self.causes.len() as u32 - 1
    }

    /// Removes the first event; there is one.
    #[inline]
    pub fn pop(&mut self) {
        self.free.push(self.entries[0].cause);
        if let Some(last) = self.entries.pop()
            && !self.entries.is_empty()
        {
            self.sink(last);
        }
    }

    /// Replaces the first event by a later one of the same slot.
    #[inline]
    pub fn postpone_first(&mut self, time: Time, cause: Time) {
        let first = self.entries[0];
        self.causes[first.cause as usize] = cause;
        self.sink(Entry { time, ..first });
    }

    #[inline]
    fn less(&self, a: Entry, b: Entry) -> bool {
        if a.time == b.time { self.less_among_simultaneous(a, b) } else { a.time < b.time }
    }

    #[cold]
    fn less_among_simultaneous(&self, a: Entry, b: Entry) -> bool {
        let key = |e: Entry| (self.causes[e.cause as usize], self.sources[e.slot as usize]);
        key(a) < key(b)
    }

    /// Puts `entry` where it belongs, from the root down; the root is free.
    #[inline]
    fn sink(&mut self, entry: Entry) {
        let mut hole = 0;
        while let Some(least) = self.least_child(hole) {
            if !self.less(self.entries[least], entry) {
                break;
            }
            self.entries[hole] = self.entries[least];
            hole = least;
        }
        self.entries[hole] = entry;
    }

    /// The first of the children of `parent`.
    #[inline]
    fn least_child(&self, parent: usize) -> Option<usize> {
        let first = 4 * parent + 1;
        let children = &self.entries[first.min(self.entries.len())..];
        let Some(four) = children.first_chunk::<4>() else {
            return (0..children.len())
                .map(|i| first + i)
                .reduce(|a, b| if self.precedes(b, a) { b } else { a });
        };
        // A tournament by time alone, without a branch to mispredict; simultaneous events are rare.
        let [t0, t1, t2, t3] = four.map(|e| e.time);
        let (a, b) = (usize::from(t1 < t0), 2 + usize::from(t3 < t2));
        let (ta, tb) = (t0.min(t1), t2.min(t3));
        if t0 == t1 || t2 == t3 || ta == tb {
            return Some(self.least_of_four(first));
        }
        Some(first + if tb < ta { b } else { a })
    }

    #[cold]
    fn least_of_four(&self, first: usize) -> usize {
        (first + 1..first + 4).fold(first, |a, b| if self.precedes(b, a) { b } else { a })
    }

    fn precedes(&self, a: usize, b: usize) -> bool {
        self.less(self.entries[a], self.entries[b])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts(times in prop::collection::vec((0u64..50, 0u64..5), 1..300), postpone_every in 2usize..7) {
            let mut heap = Heap::new(0..times.len() as u32);
            let mut naive = Vec::new();
            for (i, &(t, c)) in times.iter().enumerate() {
                // Some slots have several events.
                let slot = i as u32 / 2;
                heap.push(Time(t), Time(c), slot);
                naive.push(Key { time: Time(t), cause: Time(c), source: slot });
            }
            for i in times.len().. {
                naive.sort_unstable();
                let Some(&first) = naive.first() else { break };
                let (time, slot) = heap.first().expect("as many as in the naive list");
                prop_assert_eq!(heap.key(), first);
                naive.remove(0);
                if i % postpone_every == 0 && i < 2 * times.len() {
                    let later = Key { time: Time(time.0 + i as u64 % 5), cause: time, source: slot };
                    heap.postpone_first(later.time, later.cause);
                    naive.push(later);
                } else {
                    heap.pop();
                }
            }
            prop_assert!(heap.first().is_none());
        }
    }
}
