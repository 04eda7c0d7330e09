//! Which bytes have arrived, and which of them SACK blocks report.
//!
//! M. Mathis et al., RFC 2018, section 4: the first block is the run that the latest segment belongs to, the blocks
//! reported before follow, most recent first. S. Floyd et al., RFC 2883, section 4: a segment that had arrived before is
//! reported in front of them, once.

use crate::{MAX_SACK_BLOCKS, SackBlock, SackBlocks};

/// Bytes from `left` to before `right`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    pub left: u64,
    pub right: u64,
}

impl Range {
    fn on_the_wire(self) -> SackBlock {
        SackBlock { left: self.left as u32 as i32, right: self.right as u32 as i32 }
    }
}

/// How a segment fits into the data received so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It moved the edge of the data in order.
    InOrder {
        /// Nothing is out of order any more, and something was.
        filled: bool,
    },
    /// It lies beyond a hole.
    OutOfOrder,
    /// All of it had arrived.
    Duplicate,
}

/// Runs remembered for SACK blocks: one more than are sent, as in Linux.
const REMEMBERED: usize = 4;

/// Reassembly of one receiver.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    next: u64,
    /// Runs beyond `next`, in order of their numbers, apart from each other.
    runs: Vec<Range>,
    /// Runs by the time of their last segment, the latest first.
    recent: [Range; REMEMBERED],
    recent_len: usize,
    duplicate: Option<Range>,
}

impl Reassembly {
    /// Next byte expected.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// One past the highest byte that has arrived.
    pub fn end(&self) -> u64 {
        self.runs.last().map_or(self.next, |run| run.right)
    }

    /// Return how far the first missing byte at or after `from` is before the end; 0 if none is missing.
    pub fn missing_before_end(&self, from: u64) -> u64 {
        let mut missing = self.next.max(from);
        for run in &self.runs {
            if run.left > missing {
                break;
            }
            missing = missing.max(run.right);
        }
        self.end().saturating_sub(missing)
    }

    /// Whether all that has arrived is in order, and no block is to be reported.
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.recent_len == 0 && self.duplicate.is_none() && !self.has_hole()
    }

    /// Take the next bytes, while nothing is out of order.
    #[inline]
    pub fn receive_next(&mut self, length: u32) {
        self.next += u64::from(length);
    }

    /// Whether something is missing that later data has overtaken.
    pub fn has_hole(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Takes the bytes of a segment.
    pub fn receive(&mut self, segment: Range) -> Arrival {
        if segment.right <= self.next {
            self.duplicate = Some(segment);
            return Arrival::Duplicate;
        }
        if segment.left > self.next {
            return self.receive_beyond(segment);
        }
        let had_hole = self.has_hole();
        self.next = segment.right;
        let reached = self.runs.iter().take_while(|run| run.left <= self.next).count();
        if reached > 0 {
            self.next = self.next.max(self.runs[reached - 1].right);
            self.runs.drain(..reached);
            let next = self.next;
            self.retain_recent(|run| run.left > next);
        }
        Arrival::InOrder { filled: had_hole && !self.has_hole() }
    }

    fn receive_beyond(&mut self, segment: Range) -> Arrival {
        // Runs that it overlaps or touches: from `first` to before `last`.
        let first = self.runs.partition_point(|run| run.right < segment.left);
        let last = self.runs.partition_point(|run| run.left <= segment.right);
        let mut run = segment;
        if first < last {
            let (low, high) = (self.runs[first], self.runs[last - 1]);
            if low.left <= segment.left && segment.right <= low.right {
                self.duplicate = Some(segment);
                self.remember(low);
                return Arrival::Duplicate;
            }
            run = Range { left: low.left.min(run.left), right: high.right.max(run.right) };
            self.runs[first] = run;
            self.runs.drain(first + 1..last);
        } else {
            self.runs.insert(first, run);
        }
        self.remember(run);
        Arrival::OutOfOrder
    }

    /// The blocks of the next acknowledgement.
    pub fn blocks(&mut self) -> SackBlocks {
        let mut blocks = SackBlocks::EMPTY;
        let duplicate = self.duplicate.take();
        let runs = &self.recent[..self.recent_len];
        for run in duplicate.iter().chain(runs).take(MAX_SACK_BLOCKS) {
            blocks.push(run.on_the_wire());
        }
        blocks
    }

    fn remember(&mut self, run: Range) {
        self.retain_recent(|other| other.right < run.left || other.left > run.right);
        self.recent.copy_within(..REMEMBERED - 1, 1);
        self.recent[0] = run;
        self.recent_len = (self.recent_len + 1).min(REMEMBERED);
    }

    fn retain_recent(&mut self, keep: impl Fn(&Range) -> bool) {
        let mut kept = 0;
        for k in 0..self.recent_len {
            if keep(&self.recent[k]) {
                self.recent[kept] = self.recent[k];
                kept += 1;
            }
        }
        self.recent_len = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn segment(left: u64, right: u64) -> Range {
        Range { left, right }
    }

    fn sack_blocks(reassembly: &mut Reassembly) -> Vec<(i32, i32)> {
        reassembly.blocks().as_slice().iter().map(|b| (b.left, b.right)).collect()
    }

    #[test]
    fn the_latest_run_is_reported_first() {
        let mut r = Reassembly::default();
        assert_eq!(r.receive(segment(0, 1)), Arrival::InOrder { filled: false });
        assert_eq!(r.receive(segment(11, 21)), Arrival::OutOfOrder);
        r.receive(segment(31, 41));
        r.receive(segment(51, 61));
        assert_eq!(sack_blocks(&mut r), [(51, 61), (31, 41), (11, 21)]);
        r.receive(segment(71, 81));
        r.receive(segment(21, 31)); // joins two runs
        assert_eq!(sack_blocks(&mut r), [(11, 41), (71, 81), (51, 61)]);
        assert_eq!(r.receive(segment(1, 11)), Arrival::InOrder { filled: false });
        assert_eq!((r.next(), sack_blocks(&mut r)), (41, vec![(71, 81), (51, 61)]));
        r.receive(segment(41, 51));
        assert_eq!(r.receive(segment(61, 71)), Arrival::InOrder { filled: true });
        assert_eq!((r.next(), sack_blocks(&mut r)), (81, vec![]));
    }

    #[test]
    fn a_duplicate_is_reported_once_and_first() {
        let mut r = Reassembly::default();
        r.receive(segment(0, 21));
        r.receive(segment(31, 41));
        assert_eq!(r.receive(segment(11, 21)), Arrival::Duplicate);
        assert_eq!(sack_blocks(&mut r), [(11, 21), (31, 41)]);
        assert_eq!(sack_blocks(&mut r), [(31, 41)]);
        assert_eq!(r.receive(segment(31, 41)), Arrival::Duplicate);
        assert_eq!(
            sack_blocks(&mut r),
            [(31, 41), (31, 41)],
            "RFC 2883, section 4.2: the run that it lies in follows"
        );
    }

    proptest! {
        /// The data in order and the runs beyond it are those of a plain set of bytes.
        #[test]
        fn bytes_are_a_set(segments in prop::collection::vec((0u64..200, 1u64..20), 1..80)) {
            let mut r = Reassembly::default();
            let mut set = std::collections::BTreeSet::new();
            for (left, length) in segments {
                let fresh = (left..left + length).any(|byte| !set.contains(&byte));
                let arrival = r.receive(segment(left, left + length));
                prop_assert_eq!(arrival != Arrival::Duplicate, fresh);
                set.extend(left..left + length);
                let next = (0..).find(|byte| !set.contains(byte)).unwrap_or(0);
                prop_assert_eq!(r.next(), next);
                let beyond: Vec<u64> = r.runs.iter().flat_map(|run| run.left..run.right).collect();
                prop_assert!(beyond.iter().eq(set.range(next..)));
                prop_assert!(r.runs.windows(2).all(|pair| pair[0].right < pair[1].left));
                r.duplicate = None;
                let runs = r.runs.clone();
                prop_assert!(r.recent[..r.recent_len].iter().all(|run| runs.contains(run)));
                prop_assert!(r.recent_len == 0 || !runs.is_empty());
            }
        }
    }
}
