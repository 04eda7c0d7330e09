//! The SACK sender's record of packets beyond the acknowledgement.
//!
//! K. Fall and S. Floyd, "Simulation-based comparisons of Tahoe, Reno, and SACK TCP", CCR 26(3), 1996, as in
//! ns-2 2.35, whose scoreboard is a queue of reassembled runs.
//!
//! A sorted list of maximal runs of packets known to have arrived. A hole is a packet below the last run;
//! holes are resent once each, from the left, which one number remembers: the next packet to look at.
//!
//! An acknowledgement that was overtaken on its way reports stale runs, below the highest acknowledgement.
//! ns-2 takes those in as well, and each run taken in may drag `edge` to its end where it touches or lies
//! below it, also backwards. As that decides whether a later duplicate acknowledgement counts as news, it is
//! kept; see [`Scoreboard::add`].

use crate::SackBlocks;

/// A run of packets known to have arrived: `left` is in it, `right` is one past it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    left: i32,
    right: i32,
}

/// The scoreboard of one sender.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    runs: Vec<Run>,
    /// Packets in all runs.
    total: i32,
    /// Next packet to consider for retransmission.
    cursor: i32,
    /// One past the acknowledgement, as far as the runs have let it.
    edge: i32,
    changed: bool,
}

impl Default for Scoreboard {
    /// Nothing known.
    fn default() -> Self {
        Self { runs: Vec::new(), total: 0, cursor: -1, edge: -1, changed: false }
    }
}

impl Scoreboard {
    /// Clear the runs and the retransmissions.
    pub fn clear(&mut self) {
        self.runs.clear();
        self.total = 0;
        self.cursor = -1;
    }

    /// Whether no run is known.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Takes in an acknowledgement of `ack` with its blocks. Afterwards [`Scoreboard::changed`] says whether
    /// it brought news.
    pub fn update(&mut self, ack: i32, blocks: &SackBlocks) {
        let before = self.total;
        self.changed = false;
        if self.edge <= ack {
            self.edge = ack + 1;
            if !self.runs.is_empty() {
                self.drop_below_edge();
                self.changed = true;
            }
        }
        for block in blocks.as_slice() {
            self.add(Run { left: block.left, right: block.right });
        }
        self.changed |= self.total != before;
    }

    /// Whether the last update brought news.
    pub fn changed(&self) -> bool {
        self.changed
    }

    /// The next hole to resend: below some run, at or after the last one resent.
    pub fn next_hole(&mut self) -> Option<i32> {
        self.cursor = self.cursor.max(self.edge);
        let at = self.runs.partition_point(|run| run.right < self.cursor);
        let run = self.runs.get(at)?;
        let hole = if run.left > self.cursor {
            self.cursor
        } else if at + 1 < self.runs.len() {
            run.right
        } else {
            return None;
        };
        if hole <= 0 {
            return None;
        }
        self.cursor = hole;
        Some(hole)
    }

    /// Notes that packet `seq` is resent.
    pub fn mark_resent(&mut self, seq: i32) {
        self.cursor = self.cursor.max(seq + 1);
    }

    fn drop_below_edge(&mut self) {
        let edge = self.edge;
        let below = self.runs.partition_point(|run| run.right <= edge);
        self.total -= self.runs.drain(..below).map(|run| run.right - run.left).sum::<i32>();
        if let Some(run) = self.runs.first_mut().filter(|run| run.left < edge) {
            self.total -= edge - run.left;
            run.left = edge;
        }
    }

    /// Unites `new` with the runs that it overlaps or touches.
    ///
    /// Then `edge` moves to the end of a run R if R begins at or before it. R is the united run; but where
    /// `new` only lies inside or lengthens a run at the end of the list ([`Scoreboard::lengthens`]), R is the
    /// first run of all; and a run known exactly moves nothing.
    fn add(&mut self, new: Run) {
        let from = self.runs.partition_point(|run| run.right < new.left);
        let to = self.runs.partition_point(|run| run.left <= new.right);
        let near = &self.runs[from..to];
        if near.contains(&new) {
            return;
        }
        let lengthens = self.lengthens(new, from, to);
        let united = near
            .iter()
            .fold(new, |all, run| Run { left: all.left.min(run.left), right: all.right.max(run.right) });
        self.total += united.right - united.left;
        self.total -= near.iter().map(|run| run.right - run.left).sum::<i32>();
        self.runs.splice(from..to, [united]);
        let moved_by = if lengthens { self.runs[0] } else { united };
        if self.edge >= moved_by.left {
            self.edge = moved_by.right;
        }
    }

    /// Whether `new`, which overlaps or touches the runs `from..to` only, lies inside one of them; or
    /// whether, of the runs that it does not cover, it overlaps just one: the last of all on its right side,
    /// or the first of all on its left side.
    fn lengthens(&self, new: Run, from: usize, to: usize) -> bool {
        let near = &self.runs[from..to];
        let covered = |run: &Run| new.left <= run.left && run.right <= new.right;
        let overlaps = |run: &Run| run.left < new.right && new.left < run.right;
        let Some(at) = near.iter().position(|run| overlaps(run) && !covered(run)) else { return false };
        let run = near[at];
        if run.left < new.left {
            new.right <= run.right || (to == self.runs.len() && near[at + 1..].iter().all(covered))
        } else {
            run.left == new.left || (from == 0 && near[..at].iter().all(covered))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SackBlock;
    use proptest::prelude::*;

    fn blocks(pairs: &[(i32, i32)]) -> SackBlocks {
        let mut blocks = SackBlocks::EMPTY;
        for &(left, right) in pairs {
            blocks.push(SackBlock { left, right });
        }
        blocks
    }

    fn runs(board: &Scoreboard) -> Vec<(i32, i32)> {
        board.runs.iter().map(|run| (run.left, run.right)).collect()
    }

    #[test]
    fn holes_are_offered_once_each_from_the_left() {
        let mut board = Scoreboard::default();
        // Packets 0..=4 acknowledged; 6, 7 and 9 have arrived: the holes are 5 and 8.
        board.update(4, &blocks(&[(9, 10), (6, 8)]));
        assert!(board.changed());
        assert_eq!(board.next_hole(), Some(5));
        assert_eq!(board.next_hole(), Some(5), "not resent yet");
        board.mark_resent(5);
        assert_eq!(board.next_hole(), Some(8));
        board.mark_resent(8);
        assert_eq!(board.next_hole(), None, "nothing is known to be missing above the last run");
        board.update(4, &blocks(&[(9, 10), (6, 8)]));
        assert!(!board.changed());
        board.update(4, &blocks(&[(9, 12), (6, 8)]));
        assert!(board.changed());
        assert_eq!(board.next_hole(), None);
    }

    #[test]
    fn an_acknowledgement_clears_what_lies_below_it() {
        let mut board = Scoreboard::default();
        board.update(4, &blocks(&[(6, 8), (9, 12)]));
        board.update(9, &SackBlocks::EMPTY);
        assert_eq!(runs(&board), [(10, 12)]);
        assert!(board.changed());
        assert_eq!(board.total, 2);
        board.clear();
        board.update(9, &SackBlocks::EMPTY);
        assert!(!board.changed() && board.next_hole().is_none());
    }

    #[test]
    fn runs_unite_where_they_touch() {
        let mut board = Scoreboard::default();
        board.update(0, &blocks(&[(4, 6), (8, 10), (12, 14)]));
        board.update(0, &blocks(&[(6, 8)]));
        assert_eq!(runs(&board), [(4, 10), (12, 14)]);
        board.update(0, &blocks(&[(9, 13)]));
        assert_eq!(runs(&board), [(4, 14)]);
        board.update(0, &blocks(&[(2, 20)]));
        assert_eq!((runs(&board), board.total), (vec![(2, 20)], 18));
    }

    #[test]
    fn a_stale_block_drags_the_edge_back_and_makes_the_next_duplicate_news() {
        let mut board = Scoreboard::default();
        board.update(9, &blocks(&[(12, 14), (5, 8)]));
        assert_eq!(board.edge, 8);
        board.update(9, &blocks(&[(12, 14)]));
        assert!(board.changed(), "the stale run is dropped again");
        assert_eq!((runs(&board), board.edge), (vec![(12, 14)], 10));
    }

    #[test]
    fn lengthening_moves_the_edge_by_the_first_run() {
        let mut board = Scoreboard::default();
        board.update(9, &blocks(&[(3, 5), (12, 14)]));
        assert_eq!(board.edge, 5);
        board.edge = 4;
        board.add(Run { left: 13, right: 16 }); // lengthens the last run
        assert_eq!((runs(&board), board.edge), (vec![(3, 5), (12, 16)], 5));
        board.edge = 4;
        board.add(Run { left: 20, right: 21 }); // a run of its own, beyond the edge
        assert_eq!(board.edge, 4);
    }

    proptest! {
        /// The runs are the maximal runs of a plain set of packets.
        #[test]
        fn the_runs_are_a_set(adds in prop::collection::vec((0i32..60, 1i32..12), 1..40)) {
            let mut board = Scoreboard::default();
            let mut set = std::collections::BTreeSet::new();
            for (left, length) in adds {
                board.add(Run { left, right: left + length });
                set.extend(left..left + length);
                prop_assert_eq!(board.total as usize, set.len());
                let listed: Vec<i32> = board.runs.iter().flat_map(|run| run.left..run.right).collect();
                prop_assert!(listed.iter().eq(set.iter()));
                prop_assert!(board.runs.windows(2).all(|pair| pair[0].right < pair[1].left));
            }
        }

        /// Every hole below the last run is offered, each once.
        #[test]
        fn every_hole_is_offered(
            ack in 0i32..20,
            adds in prop::collection::vec((2i32..60, 1i32..6), 1..3),
        ) {
            let mut board = Scoreboard::default();
            let received: Vec<(i32, i32)> = adds.iter().map(|&(l, n)| (ack + l, ack + l + n)).collect();
            board.update(ack, &blocks(&received));
            let last = received.iter().map(|r| r.1).max().unwrap_or(0);
            let missing: Vec<i32> =
                (ack + 1..last).filter(|s| !received.iter().any(|r| (r.0..r.1).contains(s))).collect();
            let mut offered = Vec::new();
            while let Some(hole) = board.next_hole() {
                offered.push(hole);
                board.mark_resent(hole);
            }
            prop_assert_eq!(offered, missing);
        }
    }
}
