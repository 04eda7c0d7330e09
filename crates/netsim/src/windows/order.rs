//! Sorting the inputs of a station in one window by their keys.

use aqmlab_units::Time;

use crate::message::Message;

/// Up to this number, messages are sorted by insertion only.
const FEW: usize = 12;
/// Maximum number of buckets.
const MOST_BUCKETS: usize = 2048;

/// Sorts messages by bucket, then by insertion. Reuses its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// Time and place of each message, in order.
    sorted: Vec<(Time, u32)>,
    ends: Vec<u32>,
}

impl Order {
    /// Return times and positions of the messages in the order of their keys, or `None` if they are in this order; messages with
    /// equal keys stay in the order in which they were sent. All must arrive in the window of 2^`shift` ps that begins at `base`.
    pub fn of(&mut self, messages: &[Message], base: Time, shift: u32) -> Option<&[(Time, u32)]> {
        if messages.windows(2).all(|pair| pair[0].time < pair[1].time) {
            return None;
        }
        self.sorted.clear();
        let entries = messages.iter().zip(0..).map(|(m, i)| (m.time, i));
        if messages.len() <= FEW {
            self.sorted.extend(entries);
        } else {
            self.put_in_buckets(messages, base, shift);
        }
        self.insert(messages);
        Some(&self.sorted)
    }

    /// Distribute the messages over buckets of equal time.
    fn put_in_buckets(&mut self, messages: &[Message], base: Time, shift: u32) {
        let Self { sorted, ends } = self;
        let buckets = messages.len().next_power_of_two().min(MOST_BUCKETS);
        let shift = shift.saturating_sub(buckets.ilog2());
        let bucket = |time: Time| ((time.0 - base.0) >> shift) as usize;
        ends.clear();
        ends.resize(buckets + 1, 0);
        messages.iter().for_each(|m| ends[bucket(m.time) + 1] += 1);
        let mut before = 0;
        for end in &mut ends[1..] {
            before += *end;
            *end = before;
        }
        sorted.resize(messages.len(), (Time::ZERO, 0));
        for (message, place) in messages.iter().zip(0..) {
            let end = &mut ends[bucket(message.time)];
            sorted[*end as usize] = (message.time, place);
            *end += 1;
        }
    }

    /// Insertion sort of nearly sorted entries.
    fn insert(&mut self, messages: &[Message]) {
        let precedes = |a: (Time, u32), b: (Time, u32)| {
            a.0 < b.0
                || (a.0 == b.0 && (messages[a.1 as usize].key(), a.1) < (messages[b.1 as usize].key(), b.1))
        };
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
