//! Congestion window and slow-start threshold, in segments, and whether the window limits the sender.
//!
//! M. Allman et al., RFC 5681, section 3.1, counting the segments that are acknowledged (RFC 3465), without a limit, as
//! Linux 6 does:
//!
//! ```text
//! slow start:             cwnd += acknowledged, up to ssthresh
//! congestion avoidance:   cwnd += acknowledged / period        (period: cwnd for Reno)
//! ```
//!
//! With `whole_segments` acknowledged segments are saved up until the window grows by a whole one (Linux
//! `snd_cwnd_cnt`), and thresholds are rounded down.
//!
//! # Validation
//! A window that is not used does not grow (RFC 7661's aim, Linux's means): an acknowledgement opens it only if the
//! window was the limit at some time in the round trip; in slow start, if twice what was outstanding then exceeds it.

/// Window of one sender.
#[derive(Clone, Debug)]
pub struct Window {
    pub cwnd: f64,
    /// Infinite before the first loss.
    pub ssthresh: f64,
    whole: bool,
    /// Acknowledged towards the next segment of a whole window.
    saved: f64,
    /// The window was the limit in this round trip; otherwise, the most segments outstanding in it.
    limited: bool,
    most_outstanding: u64,
    /// The round trip is over when this segment is acknowledged.
    round_end: u64,
}

/// A number of segments, of which there are fewer than 2^63, as a real number: one instruction, where the full range takes several.
#[inline]
pub fn real(segments: u64) -> f64 {
    segments as i64 as f64
}

/// `x.floor()` between -2^62 and 2^62, without a call of the C library.
#[inline]
fn floor(x: f64) -> f64 {
    let whole = x as i64 as f64;
    if whole > x { whole - 1.0 } else { whole }
}

/// `x.ceil()` between -2^62 and 2^62, without a call of the C library.
#[inline]
pub fn ceil(x: f64) -> f64 {
    let whole = x as i64 as f64;
    if whole < x { whole + 1.0 } else { whole }
}

/// Least slow-start threshold in segments (RFC 5681, equation 4).
const LEAST_THRESHOLD: f64 = 2.0;

impl Window {
    pub fn new(initial_ssthresh: Option<u32>, whole: bool) -> Self {
        Self {
            cwnd: 1.0,
            ssthresh: initial_ssthresh.map_or(f64::INFINITY, f64::from),
            whole,
            saved: 0.0,
            limited: false,
            most_outstanding: 0,
            round_end: 0,
        }
    }

    /// Whether windows are whole segments.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Return the whole segments of the window.
    #[inline]
    pub fn segments(&self) -> u64 {
        debug_assert!(self.cwnd >= 0.0, "a window of {} segments", self.cwnd);
        self.cwnd as i64 as u64
    }

    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Open the window in slow start. Return the remainder of `acked` at the threshold.
    pub fn slow_start(&mut self, acked: f64) -> f64 {
        let cwnd = (self.cwnd + acked).min(self.ssthresh);
        let left = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd;
        left
    }

    /// Opens the window by a segment for each `period` that are acknowledged.
    pub fn avoid(&mut self, period: f64, acked: f64) {
        if !self.whole {
            self.cwnd += acked / period;
            return;
        }
        if self.saved >= period {
            // The period has become shorter meanwhile.
            self.saved = 0.0;
            self.cwnd += 1.0;
        }
        self.saved += acked;
        let segments = floor(self.saved / period);
        self.saved -= segments * period;
        self.cwnd += segments;
    }

    /// A threshold of `factor` times the window.
    pub fn threshold(&self, factor: f64) -> f64 {
        let threshold = self.cwnd * factor;
        LEAST_THRESHOLD.max(if self.whole { threshold.floor() } else { threshold })
    }

    /// The same without rounding, also for windows of whole segments.
    pub fn real_threshold(&self, factor: f64) -> f64 {
        LEAST_THRESHOLD.max(self.cwnd * factor)
    }

    /// A threshold smaller by this share of the window; of whole segments, whole ones are taken off, rounded down.
    pub fn less(&self, share: f64) -> f64 {
        let less = self.cwnd * share;
        LEAST_THRESHOLD.max(self.cwnd - if self.whole { less.floor() } else { less })
    }

    /// Sets the window after a reduction; what was saved up is gone.
    pub fn set(&mut self, cwnd: f64) {
        self.cwnd = cwnd;
        self.saved = 0.0;
    }

    /// Note after sending whether the window is the limit, with the segments from `una` to `next` outstanding.
    pub fn note_use(&mut self, limited: bool, una: u64, next: u64) {
        let outstanding = next - una;
        if una >= self.round_end || limited || (!self.limited && outstanding > self.most_outstanding) {
            self.limited = limited;
            self.most_outstanding = outstanding;
            self.round_end = next;
        }
    }

    /// Whether the window was the limit in this round trip.
    pub fn was_limit(&self) -> bool {
        self.limited
    }

    /// Whether the window was the limit, so that it may grow.
    pub fn is_limiting(&self) -> bool {
        self.limited || (self.in_slow_start() && self.cwnd < 2.0 * self.most_outstanding as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(cwnd: f64, ssthresh: f64, whole: bool) -> Window {
        Window { cwnd, ssthresh, ..Window::new(None, whole) }
    }

    #[test]
    fn rounding_is_that_of_the_standard_library() {
        for x in [
            0.0,
            f64::MIN_POSITIVE,
            0.5,
            1.0,
            1.5,
            2.0 - f64::EPSILON,
            2.0,
            1e9 + 0.25,
            9_007_199_254_740_994.0,
        ] {
            for x in [x, -x] {
                assert_eq!((floor(x), ceil(x)), (x.floor(), x.ceil()), "{x}");
            }
        }
        assert_eq!([0, 1, 1 << 40].map(real), [0.0, 1.0, 1_099_511_627_776.0]);
    }

    #[test]
    fn slow_start_ends_at_the_threshold() {
        let mut w = window(10.0, 13.0, true);
        assert_eq!((w.slow_start(2.0), w.cwnd), (0.0, 12.0));
        assert_eq!((w.slow_start(2.0), w.cwnd, w.in_slow_start()), (1.0, 13.0, false));
    }

    #[test]
    fn whole_windows_grow_by_a_segment_a_window() {
        let mut w = window(4.0, 2.0, true);
        let windows: Vec<f64> = (0..6)
            .map(|_| {
                w.avoid(w.cwnd, 2.0);
                w.cwnd
            })
            .collect();
        // 2, 4 of 4: 5; 2, 4, 6 of 5: 6 and 1 saved; 3 of 6.
        assert_eq!(windows, [4.0, 5.0, 5.0, 5.0, 6.0, 6.0]);
    }

    #[test]
    fn a_shorter_period_is_answered_by_a_segment_at_once() {
        let mut w = window(10.0, 2.0, true);
        w.avoid(1000.0, 9.0);
        w.avoid(8.0, 1.0);
        assert_eq!((w.cwnd, w.saved), (11.0, 1.0));
    }

    #[test]
    fn real_windows_grow_with_each_acknowledgement() {
        let mut w = window(4.0, 2.0, false);
        w.avoid(4.0, 1.0);
        assert_eq!(w.cwnd, 4.25);
        assert_eq!(w.threshold(0.5), 2.125);
    }

    #[test]
    fn thresholds_of_whole_windows_are_whole_and_at_least_two() {
        // Linux's CUBIC: 20 * 717 / 1024 = 14.003...; 19: 13.3; 2: 1.4.
        let factor = 717.0 / 1024.0;
        let of = |cwnd| window(cwnd, 2.0, true).threshold(factor);
        assert_eq!([of(20.0), of(19.0), of(2.0)], [14.0, 13.0, 2.0]);
        assert_eq!(window(21.0, 2.0, true).threshold(0.5), 10.0);
    }

    #[test]
    fn a_window_that_is_not_used_is_not_limiting() {
        let mut w = window(20.0, 10.0, true);
        w.note_use(true, 0, 20);
        assert!(w.is_limiting());
        w.note_use(false, 10, 25);
        assert!(w.is_limiting(), "it was, in this round trip");
        w.note_use(false, 20, 25);
        assert!(!w.is_limiting());
        let mut w = window(20.0, f64::INFINITY, true);
        w.note_use(false, 0, 10);
        assert!(!w.is_limiting(), "ten were outstanding at the most");
        w.note_use(false, 0, 11);
        assert!(w.is_limiting());
    }
}
