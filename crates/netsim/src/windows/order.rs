//! Sorting the inputs of a station in one window by their keys.

use aqmlab_units::Time;

use super::lookahead::LONGEST;
use crate::message::Message;

/// Up to this number, messages are sorted by insertion only.
const FEW: usize = 12;
/// Maximum number of buckets.
const MOST_BUCKETS: usize = 2048;
/// Bits of an entry for the position of its message; the bits above them have room for a time of the longest window.
const POSITION_BITS: u32 = u64::BITS - LONGEST;

/// The time of a message since the start of the window, and below it the position of the message, so that one comparison of numbers
/// orders entries by both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry(u64);

impl Entry {
    #[inline(always)]
    fn new(since_start: u64, position: usize) -> Self {
        debug_assert!(
            since_start >> LONGEST == 0 && position >> POSITION_BITS == 0,
            "too large for an entry"
        );
        Self(since_start << POSITION_BITS | position as u64)
    }

    #[inline(always)]
    fn since_start(self) -> u64 {
        self.0 >> POSITION_BITS
    }

    /// The position of the message.
    #[inline(always)]
    pub fn position(self) -> usize {
        (self.0 & ((1 << POSITION_BITS) - 1)) as usize
    }
}

/// Sorts messages by bucket, then by insertion. Reuses its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// An entry for each message, in order.
    sorted: Vec<Entry>,
    ends: Vec<u32>,
}

impl Order {
    /// Return whether the messages are in the order of their keys.
    #[inline]
    pub fn is_in(messages: &[Message]) -> bool {
        let is_after = |first: &Message, second: &Message| {
            first.time < second.time || first.time == second.time && !second.key().precedes(first.key())
        };
        messages.windows(2).all(|pair| is_after(&pair[0], &pair[1]))
    }

    /// Return the messages in the order of their keys; messages with equal keys stay in the order in which they were sent. All must
    /// arrive in the window of 2^`shift` ps that begins at `base`.
    #[inline(never)]
    pub fn of(&mut self, messages: &[Message], base: Time, shift: u32) -> &[Entry] {
        let times = messages.iter().map(|message| message.time.0 - base.0);
        if messages.len() <= FEW {
            self.sorted.clear();
            self.sorted.extend(times.zip(0..).map(|(time, i)| Entry::new(time, i)));
        } else {
            self.put_in_buckets(times, shift);
        }
        self.insert(messages);
        &self.sorted
    }

    /// Distribute messages of these times over buckets of equal time. Those of a bucket keep their order.
    fn put_in_buckets(&mut self, times: impl ExactSizeIterator<Item = u64> + Clone, shift: u32) {
        let Self { sorted, ends } = self;
        let buckets = times.len().next_power_of_two().min(MOST_BUCKETS);
        let shift = shift.saturating_sub(buckets.ilog2());
        let bucket = |time: u64| (time >> shift) as usize;
        ends.clear();
        ends.resize(buckets + 1, 0);
        times.clone().for_each(|time| ends[bucket(time) + 1] += 1);
        let mut before = 0;
        for end in &mut ends[1..] {
            before += *end;
            *end = before;
        }
        // Each place is written below.
        sorted.resize(times.len(), Entry::default());
        for (time, i) in times.zip(0..) {
            let end = &mut ends[bucket(time)];
            sorted[*end as usize] = Entry::new(time, i);
            *end += 1;
        }
    }

    /// Insertion sort of nearly sorted entries. Entries of equal time come in the order of their positions.
    #[inline(always)]
    fn insert(&mut self, messages: &[Message]) {
        let key = |entry: Entry| messages[entry.position()].key();
        let precedes = |a: Entry, b: Entry| a < b || (a.since_start() == b.since_start() && key(a) < key(b));
        let sorted = &mut self.sorted[..];
        for i in 1..sorted.len() {
            let entry = sorted[i];
            let mut j = i;
            while j > 0 && precedes(entry, sorted[j - 1]) {
                sorted[j] = sorted[j - 1];
                j -= 1;
            }
            sorted[j] = entry;
        }
    }
}

#[cfg(test)]
mod tests {
    use aqmlab_aqm::Meta;
    use proptest::prelude::*;

    use super::*;
    use crate::key::Key;

    /// A window of 2^20 ps, in which few different times make ties.
    const SHIFT: u32 = 20;
    const BASE: Time = Time(5 << SHIFT);

    proptest! {
        #[test]
        fn the_order_is_that_of_the_keys(
            inputs in prop::collection::vec((0u64..40, 0u64..3, 0u32..3), 0..200), spread in 0u32..3,
        ) {
            let messages: Vec<_> = inputs
                .iter()
                .map(|&(tick, cause, source)| {
                    let time = Time(BASE.0 + (tick << (7 * spread)));
                    Message::recorded(Key { time, cause: Time(cause), source }, 0, 0, &Meta::default())
                })
                .collect();
            let positions = |entries: &[Entry]| entries.iter().map(|e| e.position()).collect::<Vec<_>>();
            let mut expected: Vec<_> = (0..messages.len()).collect();
            expected.sort_by_key(|&i| messages[i].key());
            prop_assert_eq!(positions(Order::default().of(&messages, BASE, SHIFT)), expected);
        }
    }
}
