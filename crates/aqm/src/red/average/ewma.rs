use std::sync::Arc;

use aqmlab_units::Span;

use crate::red::AtIdle;

/// Exponentially weighted moving average of the queue (Floyd and Jacobson 1993, section 4).
///
/// ```text
/// avg <- (1 - w_q) avg + w_q q        arrival at a busy system
/// avg <- (1 - w_q)^m avg              arrival after an idle period, m = idle/s
/// ```
///
/// | symbol | field | unit | allowed |
/// |---|---|---|---|
/// | w_q | `w_q` | 1 | 0 < w_q <= 1 |
/// | 1/s | `packets_per_s` | 1/s | packets of mean size that the link carries in a second, > 0 |
///
/// In ns-2 m is rounded down to an integer and the arrival itself is one more step, with q = 0
/// (`queue/red.cc`, `estimator`). Without an idle rule that one step is all.
///
/// Where arrivals are clocked by departures, m often is a whole number but for rounding. Times here are whole picoseconds:
/// if s is not, every such m would fall to the same side, where ns-2's floating-point times fall to either. So an m that is
/// within rounding of a whole number is rounded to it and below it in turn.
#[derive(Clone, Debug)]
pub struct Ewma {
    w_q: f64,
    packets_per_s: f64,
    at_idle: AtIdle,
    extra_step: bool,
    avg: f64,
    /// Packets per picosecond, 1/s, if s is not a whole number of picoseconds; else 0.
    inexact: f64,
    /// Whether the last m within rounding of a whole number was rounded to it.
    rounded_up: bool,
    /// (1 - w_q)^m for small whole m, which is what an idle period usually costs where m is rounded down.
    powers: Arc<[f64]>,
}

/// So many powers are at hand.
const POWERS: usize = 256;

impl Ewma {
    /// An average that starts at 0.
    pub fn new(w_q: f64, packets_per_s: f64, at_idle: AtIdle, extra_step: bool) -> Self {
        let powers = (0..POWERS).map(|m| libm::pow(1.0 - w_q, m as f64)).collect();
        let s_ps = 1e12 / packets_per_s;
        let is_exact = (s_ps - libm::round(s_ps)).abs() < 1e-9 * s_ps.min(1e6);
        let inexact = if is_exact { 0.0 } else { 1.0 / s_ps };
        Self { w_q, packets_per_s, at_idle, extra_step, avg: 0.0, inexact, rounded_up: false, powers }
    }

    #[inline]
    pub(super) fn on_arrival(&mut self, q: f64) {
        self.avg = (1.0 - self.w_q) * self.avg + self.w_q * q;
    }

    pub(super) fn on_arrival_after_idle(&mut self, idle: Span) {
        if self.avg == 0.0 {
            return;
        }
        if self.at_idle == AtIdle::None {
            return self.on_arrival(0.0);
        }
        self.decay_and_step(idle, f64::from(u8::from(self.extra_step)));
    }

    pub(super) fn decay(&mut self, idle: Span) {
        if self.at_idle != AtIdle::None {
            self.decay_and_step(idle, 0.0);
        }
    }

    /// Decay over an idle time, and take so many steps more with q = 0.
    #[inline]
    fn decay_and_step(&mut self, idle: Span, one_more: f64) {
        let m = idle.secs() * self.packets_per_s;
        self.avg *= if self.at_idle == AtIdle::Real {
            libm::pow(1.0 - self.w_q, m + one_more)
        } else {
            let m = self.whole(m) + one_more;
            self.powers.get(m as usize).copied().unwrap_or_else(|| libm::pow(1.0 - self.w_q, m))
        };
    }

    /// Round down the number of packets that an idle period is worth.
    fn whole(&mut self, m: f64) -> f64 {
        // An idle time is below 2^64 ps, so m is far below 2^63, and both are exact.
        let below = (m as i64) as f64;
        let nearest = if m - below >= 0.5 { below + 1.0 } else { below };
        // Each of the m transmissions, and of the few on the way of the acknowledgement, is rounded by half a picosecond.
        if (m - nearest).abs() >= (m + 4.0) * self.inexact {
            return below;
        }
        self.rounded_up = !self.rounded_up;
        if self.rounded_up { nearest } else { (nearest - 1.0).max(0.0) }
    }

    #[inline]
    pub(super) fn value(&self) -> f64 {
        self.avg
    }

    /// Sets the average, in packets or bytes after the mode: for measurements at a frozen average.
    pub fn set(&mut self, avg: f64) {
        self.avg = avg;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_steps_by_hand() {
        let mut a = Ewma::new(0.25, 1.0, AtIdle::Real, false);
        a.on_arrival(8.0);
        assert_eq!(a.value(), 2.0);
        a.on_arrival(4.0);
        assert_eq!(a.value(), 2.5);
    }

    #[test]
    fn idle_decay_by_hand() {
        let decay = |at_idle, extra, idle| {
            let mut a = Ewma::new(0.5, 1000.0, at_idle, extra);
            a.set(16.0);
            a.on_arrival_after_idle(Span::from_secs(idle));
            a.value()
        };
        assert_eq!(decay(AtIdle::Real, false, 0.002), 4.0);
        assert!((decay(AtIdle::Real, false, 0.0025) - 4.0 * 0.5f64.sqrt()).abs() < 1e-12);
        assert_eq!(decay(AtIdle::Integer, false, 0.0025), 4.0);
        assert_eq!(decay(AtIdle::Integer, true, 0.0025), 2.0);
        assert_eq!(decay(AtIdle::Integer, true, 0.0), 8.0);
        for idle in [0.0, 0.002, 3600.0] {
            assert_eq!(decay(AtIdle::None, false, idle), 8.0);
        }
    }

    #[test]
    fn whole_numbers_of_rounded_packet_times_fall_to_either_side() {
        let rounded = |bps: f64, idle: u64| {
            let mut a = Ewma::new(0.5, bps / 8000.0, AtIdle::Integer, false);
            [0; 4].map(|_| {
                a.set(16.0);
                a.on_arrival_after_idle(Span(idle));
                a.value()
            })
        };
        // 1000 bytes at 6 Mb/s take 1333333333.3 ps, at 6.1 Mb/s 1311475409.8 ps, at 6.4 Mb/s 1250000000 ps.
        assert_eq!(rounded(6e6, 3 * 1_333_333_333), [2.0, 4.0, 2.0, 4.0]);
        assert_eq!(rounded(6.1e6, 3 * 1_311_475_410), [2.0, 4.0, 2.0, 4.0]);
        assert_eq!(rounded(6.4e6, 3 * 1_250_000_000), [2.0; 4]);
        assert_eq!(rounded(6e6, 3 * 1_333_333_333 + 100), [2.0; 4]);
        assert_eq!(rounded(6e6, 3 * 1_333_333_333 - 100), [4.0; 4]);
    }

    #[test]
    fn weight_one_follows_the_queue() {
        let mut a = Ewma::new(1.0, 1.0, AtIdle::Real, false);
        a.on_arrival(7.0);
        assert_eq!(a.value(), 7.0);
        a.on_arrival_after_idle(Span::from_secs(1e-6));
        assert_eq!(a.value(), 0.0);
    }
}
