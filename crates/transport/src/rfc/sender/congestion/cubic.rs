//! CUBIC.
//!
//! L. Xu et al., RFC 9438. With t the time since the congestion-avoidance epoch began, W_max the window at the last
//! reduction, C = 0.4 and beta = 0.7:
//!
//! ```text
//! W_cubic(t) = C (t - K)^3 + W_max                                         (equation 1)
//! K = cbrt((W_max - cwnd_epoch) / C)                                       (equation 2)
//! target = W_cubic(t + RTT), at least cwnd and at most 1.5 cwnd            (section 4.2)
//! cwnd += (target - cwnd) / cwnd a segment acknowledged                    (sections 4.4, 4.5)
//! W_est += alpha / cwnd a segment acknowledged                             (equation 4)
//! alpha = 3 (1 - beta) / (1 + beta) until W_est reaches the window before the reduction, then 1
//! ssthresh = beta cwnd                                                     (section 4.6)
//! W_max = cwnd (1 + beta) / 2 if cwnd < W_max                              (section 4.7, fast convergence)
//! W_max = cwnd_epoch, K = 0 after a time-out                               (section 4.8)
//! ```
//!
//! The window is the greater of both.
//!
//! # Linux's reading (`whole_segments`)
//! 1. beta is 717/1024, and target is rounded towards W_max, so that the window grows by one segment for a whole number
//!    of segments acknowledged, cwnd / (target - cwnd), at least 2; 100 cwnd at the plateau, and at most 20 before the
//!    first loss.
//! 2. RTT is the least since the last time-out, not the smoothed one. The number is recomputed when the window has
//!    changed, or after 1/32 s.
//! 3. W_est grows by one for each 15/8 cwnd acknowledged, alpha = 8/15 always; where W_est is ahead, the window grows
//!    at that rate.
//! 4. A time-out resets the least RTT too.
//!
//! Linux's C is 410/1024, its times are ticks, its cube root is good to a thousandth: not followed.
//!
//! # Differences from the RFC
//! As in Linux: beta times the window, not the data in flight; two segments at the least after a mark too (section 4.6:
//! one); a reduction that is taken back leaves the curve as it is (section 4.9.2, MAY).

use aqmlab_units::{Span, Time};

use super::super::window::Window;
use super::hystart::Detector;
use super::{Cause, Controller};
use crate::rfc::Config;

/// Constants of the curve (RFC 9438, section 4.1): in segments a second cubed, and as a fraction.
const C: f64 = 0.4;
const BETA: f64 = 0.7;
/// Linux's beta.
const BETA_LINUX: f64 = 717.0 / 1024.0;
/// Linux: acknowledged segments of a window for one of W_est's.
const FRIENDLY_PERIOD: f64 = 15.0 / 8.0;
/// Linux: the number is computed so often while the window stays.
const RENEWAL: Span = Span(1_000_000_000_000 / 32);
/// Linux: bounds of the number of segments for one more, and before the first loss.
const LEAST_PERIOD: f64 = 2.0;
const GREATEST_FIRST_PERIOD: f64 = 20.0;
const PLATEAU_PERIODS: f64 = 100.0;
/// Delay samples are ignored for this long after an epoch has begun (Linux).
const UNTRUSTED: Span = Span::from_millis(1000);

/// State of CUBIC.
#[derive(Clone, Debug)]
pub struct Cubic {
    fast_convergence: bool,
    friendly: bool,
    w_max: f64,
    /// Window at the last reduction, as it was.
    prior: f64,
    /// When the epoch began; `None` before its first acknowledgement.
    epoch: Option<Time>,
    k: f64,
    /// Where the curve is flat.
    origin: f64,
    w_est: f64,
    /// Segments acknowledged towards the next of W_est.
    friendly_acked: f64,
    /// Segments acknowledged for one more, when it was computed, and for which window.
    period: f64,
    computed: (f64, Time),
    /// Least round-trip time, and the one that the curve looks ahead; endless without a sample.
    least: Span,
    ahead: Span,
    hystart: Detector,
    left_slow_start: bool,
}

impl Controller for Cubic {
    const NAME: &'static str = "cubic";
    const DOC: &'static str = "losses, marks";
    const SOURCE: &'static str = "RFC 9438";
    const LINUX_NAME: Option<&'static str> = Some(Self::NAME);

    /// Parameters that CUBIC alone has, such as `hystart`, are options of every connection.
    type Options = ();
    const DEFAULTS: () = ();

    fn new(config: &Config) -> Self {
        Self {
            fast_convergence: config.fast_convergence,
            friendly: config.tcp_friendly,
            w_max: 0.0,
            prior: 0.0,
            epoch: None,
            k: 0.0,
            origin: 0.0,
            w_est: 0.0,
            friendly_acked: 0.0,
            period: 0.0,
            computed: (0.0, Time::ZERO),
            least: Span(u64::MAX),
            ahead: Span(u64::MAX),
            hystart: Detector::new(config.hystart, config.pacing),
            left_slow_start: false,
        }
    }

    /// The connection opens: the first round of slow start begins.
    fn open(&mut self, now: Time, next: u64, _: Option<Span>) {
        self.hystart.begin_round(now, next);
    }

    /// Take the round-trip sample of an acknowledgement, and the smoothed round-trip time.
    fn on_sample(&mut self, window: &mut Window, now: Time, (rtt, srtt): (Span, Span), edges: (u64, u64)) {
        if !window.is_whole() {
            self.ahead = srtt;
        }
        if self.epoch.is_some_and(|epoch| now.since(epoch) < UNTRUSTED) {
            return;
        }
        self.least = self.least.min(rtt);
        if window.is_whole() {
            self.ahead = self.least;
        }
        if !self.left_slow_start
            && window.in_slow_start()
            && self.hystart.ends(now, rtt, self.least, window.cwnd, edges)
        {
            self.left_slow_start = true;
            window.ssthresh = window.cwnd;
        }
    }

    /// Opens the window for `acked` segments.
    fn open_window(&mut self, window: &mut Window, now: Time, acked: f64, _: f64) {
        let mut left = acked;
        if window.in_slow_start() {
            let divisor = self.hystart.divisor();
            left = window.slow_start(acked / divisor) * divisor;
            if left == 0.0 {
                return;
            }
        }
        if self.epoch.is_none() {
            self.begin_epoch(window.cwnd, now);
        }
        if window.is_whole() {
            let period = self.period(window.cwnd, now, left);
            window.avoid(period, left);
        } else {
            self.follow(window, now, left);
        }
    }

    /// A loss or a mark; the new threshold.
    fn reduce(&mut self, window: &Window, _: Cause) -> f64 {
        let cwnd = window.cwnd;
        let beta = if window.is_whole() { BETA_LINUX } else { BETA };
        self.epoch = None;
        self.prior = cwnd;
        self.w_max = if cwnd < self.w_max && self.fast_convergence {
            let w_max = cwnd * (1.0 + beta) / 2.0;
            if window.is_whole() { w_max.floor() } else { w_max }
        } else {
            cwnd
        };
        window.threshold(beta)
    }

    /// A time-out: the curve begins where the window is when slow start ends (RFC 9438, section 4.8).
    fn on_timeout(&mut self, window: &Window, now: Time, next: u64) {
        self.epoch = None;
        self.left_slow_start = false;
        self.w_max = 0.0;
        if window.is_whole() {
            self.least = Span(u64::MAX);
            self.ahead = self.least;
        }
        self.hystart.begin_round(now, next);
    }

    /// The sender was idle for so long: the epoch moves along (Linux; RFC 9438, section 5.8).
    fn note_idle(&mut self, _: &mut Window, now: Time, idle: Span) {
        self.epoch = self.epoch.map(|epoch| (epoch + idle).min(now));
    }
}

impl Cubic {
    fn begin_epoch(&mut self, cwnd: f64, now: Time) {
        self.epoch = Some(now);
        self.friendly_acked = 0.0;
        self.w_est = cwnd;
        self.computed = (0.0, Time::ZERO);
        self.origin = self.w_max.max(cwnd);
        self.k = libm::cbrt((self.origin - cwnd) / C);
    }

    /// The curve at the time of the acknowledgement that the next segment will have.
    fn distance(&self, now: Time) -> f64 {
        let since = self.epoch.map_or(Span::ZERO, |epoch| now.since(epoch));
        let rtt = if self.ahead == Span(u64::MAX) { Span::ZERO } else { self.ahead };
        let t = (since + rtt).secs() - self.k;
        C * t * t * t
    }

    /// RFC 9438 as it is.
    fn follow(&mut self, window: &mut Window, now: Time, acked: f64) {
        let cwnd = window.cwnd;
        let target = (self.origin + self.distance(now)).clamp(cwnd, 1.5 * cwnd);
        let alpha = if self.w_est < self.prior { 3.0 * (1.0 - BETA) / (1.0 + BETA) } else { 1.0 };
        self.w_est += alpha * acked / cwnd;
        window.cwnd += (target - cwnd) / cwnd * acked;
        if self.friendly {
            window.cwnd = window.cwnd.max(self.w_est);
        }
    }

    /// Segments acknowledged for one more, as Linux computes it.
    fn period(&mut self, cwnd: f64, now: Time, acked: f64) -> f64 {
        self.friendly_acked += acked;
        if self.computed.0 == cwnd && now.since(self.computed.1) <= RENEWAL {
            return self.period;
        }
        self.computed = (cwnd, now);
        let target = self.origin + self.distance(now).trunc();
        self.period = if target > cwnd { (cwnd / (target - cwnd)).floor() } else { PLATEAU_PERIODS * cwnd };
        if self.w_max == 0.0 {
            self.period = self.period.min(GREATEST_FIRST_PERIOD);
        }
        if self.friendly {
            let each = (cwnd * FRIENDLY_PERIOD).floor();
            // The last of `each` counts as long as it is not exceeded.
            let steps = (self.friendly_acked / each).ceil() - 1.0;
            if steps > 0.0 {
                self.friendly_acked -= steps * each;
                self.w_est += steps;
            }
            if self.w_est > cwnd {
                self.period = self.period.min((cwnd / (self.w_est - cwnd)).floor());
            }
        }
        self.period = self.period.max(LEAST_PERIOD);
        self.period
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rfc::CongestionControl;

    fn config() -> Config {
        Config::linux(CongestionControl::Cubic)
    }

    fn window(cwnd: f64, whole: bool) -> Window {
        let mut window = Window::new(Some(2), whole);
        window.cwnd = cwnd;
        window
    }

    #[test]
    fn the_curve_by_hand() {
        let mut cubic = Cubic::new(&config());
        let mut w = window(100.0, false);
        assert!((cubic.reduce(&w, Cause::Loss) - 70.0).abs() < 1e-12);
        assert_eq!(cubic.w_max, 100.0);
        w.cwnd = 70.0;
        cubic.begin_epoch(w.cwnd, Time::ZERO);
        // K = cbrt(30 / 0.4) = cbrt(75).
        assert!((cubic.k - 4.217_163_326_508_746).abs() < 1e-12);
        let at = |s: f64| cubic.origin + cubic.distance(Time::from_secs(s));
        assert!((at(0.0) - 70.0).abs() < 1e-9);
        assert!((at(cubic.k) - 100.0).abs() < 1e-9);
        assert!((at(cubic.k + 5.0) - 150.0).abs() < 1e-6, "0.4 * 125");
        assert!((at(cubic.k - 2.0) - 96.8).abs() < 1e-6, "0.4 * 8");
    }

    #[test]
    fn the_target_is_a_round_trip_ahead_and_at_most_half_as_much_again() {
        let mut cubic = Cubic { friendly: false, ..Cubic::new(&config()) };
        cubic.reduce(&window(100.0, false), Cause::Loss);
        let mut w = window(70.0, false);
        cubic.on_sample(&mut w, Time::ZERO, (Span::from_millis(80), Span::from_millis(100)), (0, 0));
        cubic.open_window(&mut w, Time::ZERO, 1.0, 0.0);
        let t = 0.1 - cubic.k;
        assert!((w.cwnd - (70.0 + (100.0 + 0.4 * t * t * t - 70.0) / 70.0)).abs() < 1e-9);
        let before = w.cwnd;
        cubic.open_window(&mut w, Time::from_secs(60.0), 1.0, 0.0);
        assert!((w.cwnd - before - 0.5).abs() < 1e-9);
    }

    #[test]
    fn the_friendly_window_grows_by_alpha_a_round_trip_until_the_old_window() {
        let mut cubic = Cubic::new(&config());
        cubic.reduce(&window(10.0, false), Cause::Loss);
        let mut w = window(7.0, false);
        let start = Time::from_secs(1.0);
        cubic.open_window(&mut w, start, 7.0, 0.0);
        // K = cbrt(7.5): the curve is at 7 still, W_est at 7 + 0.9 / 1.7.
        assert!((w.cwnd - (7.0 + 0.9 / 1.7)).abs() < 1e-9);
        cubic.w_est = 10.0;
        let before = w.cwnd;
        cubic.open_window(&mut w, start, before, 0.0);
        assert!((w.cwnd - 11.0).abs() < 1e-9, "alpha 1");
    }

    #[test]
    fn fast_convergence() {
        let mut cubic = Cubic::new(&config());
        assert_eq!(cubic.reduce(&window(100.0, true), Cause::Loss), 70.0);
        assert_eq!(cubic.reduce(&window(80.0, true), Cause::Loss), 56.0);
        assert_eq!(cubic.w_max, 68.0, "80 * (1024 + 717) / 2048 = 68.008");
        assert_eq!(cubic.reduce(&window(68.0, true), Cause::Loss), 47.0);
        assert_eq!(cubic.w_max, 68.0, "not below the last");
        let mut slow = Cubic { fast_convergence: false, ..cubic };
        slow.reduce(&window(60.0, true), Cause::Loss);
        assert_eq!(slow.w_max, 60.0);
    }

    #[test]
    fn linux_counts_in_whole_numbers() {
        let mut cubic = Cubic { friendly: false, ..Cubic::new(&config()) };
        cubic.reduce(&window(100.0, true), Cause::Loss);
        cubic.begin_epoch(70.0, Time::ZERO);
        // At 1 s: 0.4 * (1 - 4.2172)^3 = -13.32, so the target is 87: 70 / 17 = 4.1.
        assert_eq!(cubic.period(70.0, Time::from_secs(1.0), 1.0), 4.0);
        assert_eq!(cubic.period(70.0, Time::from_secs(1.031), 1.0), 4.0, "the same until 1/32 s later");
        // At 4.2 s the curve is within a segment of its plateau at 100.
        assert_eq!(cubic.period(100.0, Time::from_secs(4.2), 1.0), 10_000.0);
        assert_eq!(cubic.period(70.0, Time::from_secs(20.0), 1.0), 2.0);
        cubic.w_max = 0.0;
        assert_eq!(cubic.period(100.0, Time::from_secs(4.2), 1.0), 20.0, "before the first loss");
    }

    #[test]
    fn linux_grows_at_the_friendly_windows_rate() {
        let mut cubic = Cubic::new(&config());
        cubic.reduce(&window(8.0, true), Cause::Loss);
        cubic.begin_epoch(8.0, Time::ZERO);
        // The curve is at its plateau. A segment of W_est costs 8 * 15 / 8 = 15 acknowledged, to be exceeded.
        assert_eq!(cubic.period(8.0, Time::from_secs(0.1), 15.0), 800.0);
        assert_eq!(cubic.period(8.0, Time::from_secs(0.2), 1.0), 8.0);
        assert_eq!((cubic.w_est, cubic.friendly_acked), (9.0, 1.0));
    }

    #[test]
    fn a_pause_moves_the_epoch_and_a_time_out_forgets() {
        let mut cubic = Cubic::new(&config());
        cubic.begin_epoch(10.0, Time::from_secs(1.0));
        cubic.note_idle(&mut window(10.0, true), Time::from_secs(5.0), Span::from_millis(2000));
        assert_eq!(cubic.epoch, Some(Time::from_secs(3.0)));
        cubic.note_idle(&mut window(10.0, true), Time::from_secs(5.0), Span::from_millis(9000));
        assert_eq!(cubic.epoch, Some(Time::from_secs(5.0)));
        for whole in [true, false] {
            cubic.reduce(&window(50.0, whole), Cause::Loss);
            cubic.on_timeout(&window(50.0, whole), Time::from_secs(6.0), 0);
            cubic.begin_epoch(35.0, Time::from_secs(7.0));
            assert_eq!((cubic.origin, cubic.k), (35.0, 0.0), "a curve of its own");
        }
    }
}
