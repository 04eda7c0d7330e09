//! The state of each unacknowledged segment.
//!
//! Segments are numbered, the SYN being 0. They lie in a ring that doubles when the window outgrows it. A list through
//! them has those neither acknowledged nor lost in the order in which they were last sent, as RACK needs them (RFC 8985,
//! section 6.2). While all outstanding segments are sent once and none is known to have arrived, this is the order of their
//! numbers, and no links are kept. The counts give the pipe of RFC 6675, section 4:
//!
//! ```text
//! pipe = outstanding - (sacked + lost) + resent
//! ```

use aqmlab_units::{Time, prefetch};

const SACKED: u8 = 1;
const LOST: u8 = 2;
const RESENT: u8 = 4;
const EVER_RESENT: u8 = 8;

/// No segment.
const NONE: u32 = u32::MAX;

/// A segment that is not acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// When it was last sent.
    pub sent: Time,
    /// Its neighbours in the list, by the low half of their numbers.
    older: u32,
    newer: u32,
    state: u8,
    /// Packet number of the last transmission; 0 unless [set](Scoreboard::number).
    pub number: u32,
}

impl Segment {
    /// Whether the receiver has it, beyond a hole.
    pub fn is_sacked(&self) -> bool {
        self.state & SACKED != 0
    }

    /// Whether it is taken for lost.
    pub fn is_lost(&self) -> bool {
        self.state & LOST != 0
    }

    /// Whether a retransmission of it is on its way.
    pub fn is_resent(&self) -> bool {
        self.state & RESENT != 0
    }

    /// Whether it has been sent more than once.
    pub fn was_resent(&self) -> bool {
        self.state & EVER_RESENT != 0
    }
}

const EMPTY: Segment = Segment { sent: Time::ZERO, older: NONE, newer: NONE, state: 0, number: 0 };

/// The transmission that was newly taken for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Nothing: it was lost, or had arrived, already.
    Nothing,
    /// The segment.
    First,
    /// Its retransmission.
    Again,
}

/// The segments of one sender that are not acknowledged.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    ring: Vec<Segment>,
    una: u64,
    next: u64,
    sacked: u64,
    lost: u64,
    resent: u64,
    /// One past the highest segment ever selectively acknowledged.
    highest_sacked: u64,
    /// One past the highest segment ever selectively acknowledged, taken for lost or sent again.
    touched: u64,
    /// Below it, no segment is lost without a retransmission.
    search: u64,
    /// Segments found lost since the last [`Scoreboard::show_log`], in order; `None`: not kept.
    log: Option<Vec<u64>>,
    /// Ends of the list, while links are kept.
    oldest: u32,
    newest: u32,
}

impl Default for Scoreboard {
    fn default() -> Self {
        Self {
            ring: vec![EMPTY; 16],
            una: 0,
            next: 0,
            sacked: 0,
            lost: 0,
            resent: 0,
            highest_sacked: 0,
            touched: 0,
            search: 0,
            log: None,
            oldest: NONE,
            newest: NONE,
        }
    }
}

impl Scoreboard {
    /// First segment that is not acknowledged.
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Next segment to send for the first time.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Segments sent and not acknowledged.
    pub fn outstanding(&self) -> u64 {
        self.next - self.una
    }

    /// Segments selectively acknowledged.
    pub fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Segments taken for lost, resent or not.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Retransmissions on their way.
    pub fn resent(&self) -> u64 {
        self.resent
    }

    /// One past the highest segment ever selectively acknowledged.
    pub fn highest_sacked(&self) -> u64 {
        self.highest_sacked
    }

    /// Whether each outstanding segment was sent once, and nothing is known of any since.
    #[inline]
    pub fn is_in_order(&self) -> bool {
        self.una >= self.touched
    }

    /// Segments in the network, as far as known.
    pub fn pipe(&self) -> u64 {
        self.outstanding() - (self.sacked + self.lost) + self.resent
    }

    /// Segment `k`, one that is outstanding.
    pub fn segment(&self, k: u64) -> &Segment {
        &self.ring[self.slot(k)]
    }

    /// Segment `next` is sent.
    pub fn push(&mut self, now: Time) {
        if self.outstanding() == self.ring.len() as u64 {
            self.grow();
        }
        let (k, slot) = (self.next, self.slot(self.next));
        self.ring[slot] = Segment { sent: now, ..EMPTY };
        self.next += 1;
        if !self.is_in_order() {
            self.link(k);
        }
    }

    /// Send the next `count` segments, while all are in order.
    #[inline]
    pub fn push_in_order(&mut self, now: Time, count: u64) {
        debug_assert!(self.is_in_order(), "no links are kept");
        while self.outstanding() + count > self.ring.len() as u64 {
            self.grow();
        }
        for k in self.next..self.next + count {
            let slot = self.slot(k);
            self.ring[slot] = Segment { sent: now, ..EMPTY };
        }
        self.next += count;
    }

    /// Segment `k`, which is lost, is sent again.
    pub fn resend(&mut self, k: u64, now: Time) {
        let slot = self.slot(k);
        self.resent += u64::from(!self.ring[slot].is_resent());
        self.ring[slot].state |= RESENT;
        self.probe(k, now);
    }

    /// Segment `k` is sent again, although it is not taken for lost.
    pub fn probe(&mut self, k: u64, now: Time) {
        self.touch(k);
        self.unlink(k);
        let slot = self.slot(k);
        self.ring[slot].state |= EVER_RESENT;
        self.ring[slot].sent = now;
        self.link(k);
    }

    /// The last transmission of segment `k` has this packet number and time stamp.
    pub fn number(&mut self, k: u64, number: u32, sent: Time) {
        let slot = self.slot(k);
        self.ring[slot].number = number;
        self.ring[slot].sent = sent;
    }

    /// Takes the first segment off: it is acknowledged.
    pub fn pop(&mut self) -> Segment {
        let k = self.una;
        if !self.is_in_order() {
            self.unlink(k);
        }
        let segment = *self.segment(k);
        self.sacked -= u64::from(segment.is_sacked());
        self.lost -= u64::from(segment.is_lost());
        self.resent -= u64::from(segment.is_resent());
        self.una += 1;
        self.search = self.search.max(self.una);
        segment
    }

    /// Takes the segments before `reached` off, of which there are some, while all are in order. Return when the first and the last were sent.
    #[inline]
    pub fn pop_in_order(&mut self, reached: u64) -> (Time, Time) {
        debug_assert!(self.is_in_order() && self.una < reached, "segments in order are acknowledged");
        let sent = (self.segment(self.una).sent, self.segment(reached - 1).sent);
        self.una = reached;
        self.search = self.search.max(reached);
        sent
    }

    /// Segment `k` is selectively acknowledged; what it was before, if that is news.
    pub fn sack(&mut self, k: u64) -> Option<Segment> {
        let slot = self.slot(k);
        let before = self.ring[slot];
        if before.is_sacked() {
            return None;
        }
        self.touch(k);
        self.unlink(k);
        self.sacked += 1;
        self.lost -= u64::from(before.is_lost());
        self.resent -= u64::from(before.is_resent());
        self.ring[slot].state = before.state & EVER_RESENT | SACKED;
        self.highest_sacked = self.highest_sacked.max(k + 1);
        Some(before)
    }

    /// Segment `k`, or its retransmission, is taken for lost.
    pub fn lose(&mut self, k: u64) -> Loss {
        let slot = self.slot(k);
        let segment = self.ring[slot];
        let loss = match (segment.is_sacked(), segment.is_lost(), segment.is_resent()) {
            (true, ..) | (_, true, false) => return Loss::Nothing,
            (_, true, true) => Loss::Again,
            (_, false, _) => Loss::First,
        };
        self.touch(k);
        self.unlink(k);
        self.lost += u64::from(loss == Loss::First);
        self.resent -= u64::from(segment.is_resent());
        self.ring[slot].state = segment.state & !RESENT | LOST;
        self.search = self.search.min(k);
        if let Some(log) = &mut self.log {
            log.push(k);
        }
        loss
    }

    /// Start keeping the numbers of segments that are found lost.
    pub fn keep_log(&mut self) {
        self.log = Some(Vec::new());
    }

    /// Pass the segments found lost since the last call to `show`, if they are kept.
    pub fn show_log(&mut self, show: impl FnOnce(&[u64])) {
        if let Some(log) = self.log.as_mut().filter(|log| !log.is_empty()) {
            show(log);
            log.clear();
        }
    }

    /// Take no segment for lost any more.
    pub fn clear_losses(&mut self) {
        for k in self.una..self.next {
            let slot = self.slot(k);
            if self.ring[slot].is_lost() {
                self.ring[slot].state &= !LOST;
                if !self.is_linked(k) {
                    self.link(k);
                }
            }
        }
        self.lost = 0;
    }

    /// The first segment that is lost and not resent.
    pub fn next_lost(&mut self) -> Option<u64> {
        if self.resent >= self.lost {
            return None;
        }
        while self.search < self.next {
            let segment = self.segment(self.search);
            if segment.is_lost() && !segment.is_resent() {
                return Some(self.search);
            }
            self.search += 1;
        }
        None
    }

    /// Return the segment that was sent first, of those neither acknowledged nor lost.
    pub fn oldest(&self) -> Option<u64> {
        if self.is_in_order() {
            return (self.una < self.next).then_some(self.una);
        }
        self.expand(self.oldest)
    }

    /// The segment of the list that was sent after `k`.
    pub fn newer(&self, k: u64) -> Option<u64> {
        if self.is_in_order() {
            return (k + 1 < self.next).then_some(k + 1);
        }
        self.expand(self.segment(k).newer)
    }

    fn expand(&self, low: u32) -> Option<u64> {
        (low != NONE).then(|| self.una + u64::from(low.wrapping_sub(self.una as u32)))
    }

    /// Ask for the first outstanding segment.
    #[inline]
    pub fn prefetch_first(&self) {
        prefetch(self.segment(self.una));
    }

    fn slot(&self, k: u64) -> usize {
        k as usize & (self.ring.len() - 1)
    }

    fn slot_of(&self, low: u32) -> usize {
        low as usize & (self.ring.len() - 1)
    }

    fn is_linked(&self, k: u64) -> bool {
        self.segment(k).older != NONE || self.oldest == k as u32
    }

    /// Segment `k` will be another one than sent once and unknown: links are kept until it is acknowledged.
    fn touch(&mut self, k: u64) {
        let was_in_order = self.is_in_order();
        self.touched = self.touched.max(k + 1);
        if was_in_order {
            (self.oldest, self.newest) = (NONE, NONE);
            (self.una..self.next).for_each(|k| self.link(k));
        }
    }

    fn link(&mut self, k: u64) {
        let slot = self.slot(k);
        self.ring[slot].older = self.newest;
        self.ring[slot].newer = NONE;
        match self.newest {
            NONE => self.oldest = k as u32,
            last => {
                let last = self.slot_of(last);
                self.ring[last].newer = k as u32;
            }
        }
        self.newest = k as u32;
    }

    fn unlink(&mut self, k: u64) {
        if !self.is_linked(k) {
            return;
        }
        let slot = self.slot(k);
        let Segment { older, newer, .. } = self.ring[slot];
        match older {
            NONE => self.oldest = newer,
            older => {
                let older = self.slot_of(older);
                self.ring[older].newer = newer;
            }
        }
        match newer {
            NONE => self.newest = older,
            newer => {
                let newer = self.slot_of(newer);
                self.ring[newer].older = older;
            }
        }
        self.ring[slot].older = NONE;
        self.ring[slot].newer = NONE;
    }

    #[cold]
    fn grow(&mut self) {
        let mut ring = vec![EMPTY; 2 * self.ring.len()];
        for k in self.una..self.next {
            let slot = k as usize & (ring.len() - 1);
            ring[slot] = *self.segment(k);
        }
        self.ring = ring;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn board(segments: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        for k in 0..segments {
            board.push(Time(k));
        }
        board
    }

    /// The list, from the oldest on.
    fn open(board: &Scoreboard) -> Vec<u64> {
        core::iter::successors(board.oldest(), |&k| board.newer(k)).collect()
    }

    #[test]
    fn the_pipe_by_hand() {
        let mut b = board(10);
        assert_eq!(b.pipe(), 10);
        b.sack(5);
        b.sack(6);
        b.sack(8);
        assert_eq!((b.pipe(), b.sack(8).is_none()), (7, true));
        assert_eq!(
            [b.lose(0), b.lose(1), b.lose(5), b.lose(0)],
            [Loss::First, Loss::First, Loss::Nothing, Loss::Nothing]
        );
        assert_eq!((b.pipe(), b.next_lost()), (5, Some(0)));
        b.resend(0, Time(20));
        assert_eq!((b.pipe(), b.next_lost()), (6, Some(1)));
        b.resend(1, Time(21));
        assert_eq!((b.pipe(), b.next_lost()), (7, None));
        assert_eq!((b.lose(0), b.pipe(), b.next_lost()), (Loss::Again, 6, Some(0)));
        assert!(b.pop().was_resent());
        assert_eq!((b.una(), b.pipe(), b.lost()), (1, 6, 1));
        b.clear_losses();
        assert_eq!(
            (b.lost(), b.resent(), b.pipe()),
            (0, 1, 7),
            "10 - 1 acknowledged - 3 sacked + 1 on its way"
        );
    }

    #[test]
    fn the_order_is_that_of_the_numbers_until_a_segment_is_touched() {
        let mut b = board(4);
        b.push_in_order(Time(4), 2);
        assert_eq!(b.pop_in_order(2), (Time(0), Time(1)));
        assert_eq!((b.una(), b.next(), b.is_in_order(), open(&b)), (2, 6, true, vec![2, 3, 4, 5]));
        b.sack(3);
        assert_eq!((b.is_in_order(), open(&b)), (false, vec![2, 4, 5]));
        b.push(Time(6));
        assert_eq!(open(&b), [2, 4, 5, 6]);
        b.pop();
        b.pop();
        assert_eq!((b.una(), b.is_in_order(), open(&b)), (4, true, vec![4, 5, 6]));
        b.probe(6, Time(7));
        assert_eq!((b.is_in_order(), open(&b)), (false, vec![4, 5, 6]));
        // The ring of 16 grows for all of them at once.
        let mut many = board(0);
        many.push_in_order(Time(0), 40);
        assert_eq!((many.ring.len(), open(&many).len()), (64, 40));
    }

    #[test]
    fn the_list_is_in_the_order_of_sending() {
        let mut b = board(6);
        b.lose(1);
        b.lose(2);
        b.sack(4);
        assert_eq!(open(&b), [0, 3, 5]);
        b.resend(1, Time(10));
        b.push(Time(11));
        b.resend(2, Time(12));
        assert_eq!(open(&b), [0, 3, 5, 1, 6, 2]);
        b.lose(1);
        b.pop();
        assert_eq!(open(&b), [3, 5, 6, 2]);
        b.clear_losses();
        assert_eq!(open(&b), [3, 5, 6, 2, 1]);
    }

    proptest! {
        /// Counts and list agree with the segments after any sequence of operations; the ring grows.
        #[test]
        fn counts_agree(steps in prop::collection::vec((0u8..6, 0u64..64), 1..400)) {
            let mut b = board(1);
            for (t, (what, which)) in steps.into_iter().enumerate() {
                let now = Time(100 + t as u64);
                let k = b.una() + which % b.outstanding().max(1);
                match what {
                    0 => b.push(now),
                    1 if b.outstanding() > 0 => drop(b.pop()),
                    2 if b.outstanding() > 0 => drop(b.sack(k)),
                    3 if b.outstanding() > 0 => drop(b.lose(k)),
                    4 => {
                        if let Some(k) = b.next_lost() {
                            b.resend(k, now);
                        }
                    }
                    _ => b.push(now),
                }
                let all: Vec<Segment> = (b.una()..b.next()).map(|k| *b.segment(k)).collect();
                let count = |is: fn(&Segment) -> bool| all.iter().filter(|s| is(s)).count() as u64;
                prop_assert_eq!(b.sacked(), count(Segment::is_sacked));
                prop_assert_eq!(b.lost(), count(Segment::is_lost));
                prop_assert_eq!(b.resent(), count(Segment::is_resent));
                let first = (b.una()..b.next()).find(|&k| b.segment(k).is_lost() && !b.segment(k).is_resent());
                prop_assert_eq!(b.next_lost(), first);
                let listed = open(&b);
                prop_assert!(listed.windows(2).all(|pair| b.segment(pair[0]).sent <= b.segment(pair[1]).sent));
                let open = count(|s| !s.is_sacked() && (!s.is_lost() || s.is_resent()));
                prop_assert_eq!(listed.len() as u64, open);
            }
        }
    }
}
