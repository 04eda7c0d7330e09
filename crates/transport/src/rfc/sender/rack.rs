//! RACK: a segment is lost if one that was sent sufficiently later has arrived.
//!
//! Y. Cheng et al., RFC 8985, section 6.2, in the readings of Linux 6:
//!
//! ```text
//! lost:     RACK.segment was sent after it (of one time: has the higher number), and
//!           RACK.rtt + reo_wnd - (now - when it was sent) <= 0               (step 5)
//! reo_wnd:  0 in recovery, or with 3 segments sacked, as long as no reordering was seen
//!           min(multiplier * least RTT / 4, SRTT) otherwise                  (step 4)
//! ```
//!
//! RACK.segment is that of the latest transmission known to have arrived, RACK.rtt how long ago it was sent. An answer
//! to a retransmission that comes sooner than the least round-trip time, or echoes an older time stamp, is one to the
//! original and does not count (step 2). A segment that arrived behind a higher one without having been resent shows
//! reordering (step 3). Each round trip with a duplicate report widens the window, for 16 recoveries.

use aqmlab_units::{Span, Time};

use super::scoreboard::{Loss, Scoreboard, Segment};

/// Sacked segments that stand for RFC 5681's three duplicates.
pub const DUPACK_THRESHOLD: u64 = 3;
/// Recoveries without a duplicate report until the multiplier is 1 again.
const PERSISTENCE: u32 = 16;
const GREATEST_MULTIPLIER: u64 = 255;
/// The greatest extent of reordering that counts (Linux's `tcp_max_reordering`).
const GREATEST_EXTENT: u64 = 300;

/// Counts of segments found lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Segments and retransmissions.
    pub all: u64,
    /// Retransmissions among them.
    pub again: u64,
}

impl Losses {
    /// Add a result of [`Scoreboard::lose`].
    pub fn add(&mut self, loss: Loss) {
        self.all += u64::from(loss != Loss::Nothing);
        self.again += u64::from(loss == Loss::Again);
    }
}

/// RACK's state.
#[derive(Clone, Debug)]
pub struct Rack {
    /// When the latest transmission known to have arrived was sent, and which segment it was.
    sent: Time,
    segment: u64,
    rtt: Span,
    /// Something has arrived since the last detection.
    advanced: bool,
    reordering_seen: bool,
    /// The greatest extent of reordering seen, in segments.
    extent: u64,
    multiplier: u64,
    persistence: u32,
    /// The round trip of the last duplicate report is over when this segment is acknowledged.
    round_end: u64,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            sent: Time::ZERO,
            segment: 0,
            rtt: Span::ZERO,
            advanced: false,
            reordering_seen: false,
            extent: DUPACK_THRESHOLD,
            multiplier: 1,
            persistence: 0,
            round_end: 0,
        }
    }
}

impl Rack {
    /// Segment `k` has arrived; `least`: the least round-trip time.
    pub fn advance(&mut self, now: Time, k: u64, segment: &Segment, least: Span) {
        if segment.was_resent() && now.since(segment.sent) < least {
            return;
        }
        self.advance_once(now, k, segment.sent);
    }

    /// Segment `k` has arrived, which was sent once.
    #[inline]
    pub fn advance_once(&mut self, now: Time, k: u64, sent: Time) {
        self.advanced = true;
        self.rtt = now.since(sent);
        if (sent, k) > (self.sent, self.segment) {
            (self.sent, self.segment) = (sent, k);
        }
    }

    /// A segment that was sent once arrived behind one that is up to `extent` segments higher.
    pub fn note_reordering(&mut self, extent: u64) {
        self.reordering_seen = true;
        self.extent = self.extent.max(extent.min(GREATEST_EXTENT));
    }

    /// Whether reordering is so frequent that what arrives out of order opens the window too: an extent above three
    /// segments (Linux's `tcp_may_raise_cwnd`; RFC 5681 counts in-order data only).
    pub fn opens_window_out_of_order(&self) -> bool {
        self.extent > DUPACK_THRESHOLD
    }

    /// A time-out with `sacked` segments selectively acknowledged: the extent was too large an estimate.
    pub fn note_timeout(&mut self, sacked: u64) {
        if sacked >= DUPACK_THRESHOLD {
            self.extent = DUPACK_THRESHOLD;
        }
    }

    /// A duplicate was reported, with `una` the first segment outstanding and `next` to be sent.
    pub fn note_duplicate(&mut self, una: u64, next: u64) {
        if una >= self.round_end {
            self.multiplier = (self.multiplier + 1).min(GREATEST_MULTIPLIER);
            self.persistence = PERSISTENCE;
            self.round_end = next;
        }
    }

    /// Record the end of a recovery that was not spurious.
    pub fn note_recovery(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
        if self.persistence == 0 {
            self.multiplier = 1;
        }
    }

    /// Whether nothing can be lost, of segments of which `oldest`, number `k`, was sent first: none that has arrived was sent after it.
    #[inline]
    pub fn finds_none(&self, k: u64, oldest: &Segment) -> bool {
        (oldest.sent, k) >= (self.sent, self.segment)
    }

    /// Record that nothing was found lost.
    #[inline]
    pub fn note_detection(&mut self) {
        self.advanced = false;
    }

    /// Make the next detection run even if nothing arrives before it.
    pub fn request_detection(&mut self) {
        self.advanced = true;
    }

    /// How much later the other must have been sent.
    pub fn reordering_window(&self, least: Span, srtt: Span, in_recovery: bool, sacked: u64) -> Span {
        if !self.reordering_seen && (in_recovery || sacked >= DUPACK_THRESHOLD) {
            return Span::ZERO;
        }
        if least == Span(u64::MAX) { Span::ZERO } else { (Span(least.0 / 4) * self.multiplier).min(srtt) }
    }

    /// How long from now segment `k` is not to be taken for lost.
    pub fn remaining(&self, now: Time, segment: &Segment, window: Span) -> Span {
        self.rtt + window - now.since(segment.sent)
    }

    /// Mark lost segments, if any segment has arrived since the last call; otherwise do nothing. Return when to look
    /// again, if a segment may be lost but is too young.
    pub fn detect(&mut self, board: &mut Scoreboard, now: Time, window: Span) -> (Losses, Option<Span>) {
        if core::mem::take(&mut self.advanced) {
            self.mark(board, now, window)
        } else {
            (Losses::default(), None)
        }
    }

    /// As [`Rack::detect`], also if nothing has arrived.
    pub fn mark(&self, board: &mut Scoreboard, now: Time, window: Span) -> (Losses, Option<Span>) {
        let mut losses = Losses::default();
        let mut look_in = None;
        let mut candidate = board.oldest();
        while let Some(k) = candidate {
            candidate = board.newer(k);
            let segment = *board.segment(k);
            if (segment.sent, k) >= (self.sent, self.segment) {
                break;
            }
            let remaining = self.remaining(now, &segment, window);
            if remaining == Span::ZERO {
                losses.add(board.lose(k));
            } else {
                look_in = look_in.max(Some(remaining));
            }
        }
        (losses, look_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Ten segments, one a millisecond.
    fn board() -> Scoreboard {
        let mut board = Scoreboard::default();
        for k in 0..10 {
            board.push(at(k));
        }
        board
    }

    fn arrive(rack: &mut Rack, board: &mut Scoreboard, now: Time, k: u64) {
        let segment = board.sack(k).unwrap();
        rack.advance(now, k, &segment, Span::from_millis(20));
    }

    #[test]
    fn without_a_window_everything_sent_before_is_lost() {
        let (mut rack, mut board) = (Rack::default(), board());
        arrive(&mut rack, &mut board, at(26), 6);
        assert_eq!(rack.detect(&mut board, at(26), Span::ZERO), (Losses { all: 6, again: 0 }, None));
        assert_eq!((board.lost(), board.sacked(), board.pipe()), (6, 1, 3));
        assert_eq!(rack.detect(&mut board, at(27), Span::ZERO), (Losses::default(), None), "no news");
    }

    #[test]
    fn the_window_postpones() {
        let (mut rack, mut board) = (Rack::default(), board());
        arrive(&mut rack, &mut board, at(26), 6);
        // RTT 20 ms, window 5 ms: lost are those sent 25 ms ago, 0 and 1; 5 will be 4 ms later.
        let (losses, look_in) = rack.detect(&mut board, at(26), Span::from_millis(5));
        assert_eq!((losses.all, look_in), (2, Some(Span::from_millis(4))));
        let (losses, look_in) = rack.mark(&mut board, at(30), Span::from_millis(5));
        assert_eq!((losses.all, look_in), (4, None));
    }

    #[test]
    fn a_lost_retransmission_is_found_by_its_time() {
        let (mut rack, mut board) = (Rack::default(), board());
        arrive(&mut rack, &mut board, at(26), 6);
        rack.detect(&mut board, at(26), Span::ZERO);
        board.resend(0, at(26));
        board.push(at(27)); // 10
        arrive(&mut rack, &mut board, at(46), 10);
        // RTT 19 ms: 0 was sent 20 ms ago, before 10. So were 7 to 9.
        assert_eq!(rack.detect(&mut board, at(46), Span::ZERO).0, Losses { all: 4, again: 1 });
        assert_eq!((board.resent(), board.next_lost()), (0, Some(0)));
    }

    #[test]
    fn too_early_an_answer_to_a_retransmission_is_one_to_the_original() {
        let (mut rack, mut board) = (Rack::default(), board());
        board.resend(3, at(20));
        arrive(&mut rack, &mut board, at(23), 3);
        assert!(!rack.advanced);
    }

    #[test]
    fn the_window_by_hand() {
        let (least, srtt) = (Span::from_millis(40), Span::from_millis(50));
        let mut rack = Rack::default();
        let window = |rack: &Rack, in_recovery, sacked| {
            rack.reordering_window(least, srtt, in_recovery, sacked).secs() * 1e3
        };
        assert_eq!(window(&rack, false, 2), 10.0);
        assert_eq!([window(&rack, true, 0), window(&rack, false, 3)], [0.0, 0.0]);
        rack.note_reordering(1);
        assert_eq!([window(&rack, true, 0), window(&rack, false, 3)], [10.0, 10.0]);
        rack.note_duplicate(5, 9);
        rack.note_duplicate(6, 9);
        assert_eq!(window(&rack, true, 0), 20.0, "once a round trip");
        for _ in 0..9 {
            rack.round_end = 0;
            rack.note_duplicate(9, 9);
        }
        assert_eq!(window(&rack, true, 0), 50.0, "at most SRTT");
        for _ in 0..16 {
            rack.note_recovery();
        }
        assert_eq!(window(&rack, true, 0), 10.0);
    }
}
