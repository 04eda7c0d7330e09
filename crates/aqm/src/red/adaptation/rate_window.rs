use aqmlab_units::Span;

/// The time-sliding window of Adaptive-RIO in integers: the bytes that arrived in it, times 2^16.
///
/// ```text
/// at an arrival of L bytes, a gap after the last:   V <- (V + L) Win/(gap + Win) = (V + L) (1 - d)
/// u = gap/Win,  d = u - u^2                          gap < Win/256: no division
/// d = gap/(gap + Win)                                else; a gap counts as at most 256 windows
/// ```
///
/// The rate is V/Win. d is in units of 2^-48 and right to 1 in 20,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateWindow {
    /// Win in ns.
    pub window_ns: u64,
    /// 2^70 over the window in ns.
    pub reciprocal: u64,
    /// Bits that a gap loses for the division to be one of 64 by 32 bits.
    pub gap_shift: u32,
}

impl RateWindow {
    /// The shortest window.
    pub const SHORTEST: Span = Span(1_000_000);
    /// The longest window.
    pub const LONGEST: Span = Span((1 << 50) * 1000);
    /// Bits behind the binary point of V.
    pub const FRACTION: u32 = 16;
    /// The largest V.
    const LARGEST: u64 = 1 << 62;

    /// Whether a window has a form in integers, also at twice this rate in bit/s.
    pub fn holds(window: Span, bps: f64) -> bool {
        (Self::SHORTEST..=Self::LONGEST).contains(&window)
            && Self::new(window).of_rate(2.0 * bps) < Self::LARGEST
    }

    /// A window from [`RateWindow::SHORTEST`] to [`RateWindow::LONGEST`].
    pub fn new(window: Span) -> Self {
        let window_ns = window.0 / 1000;
        // 257 windows fit into 32 bits.
        let bits = 64 - (window_ns * 257).leading_zeros();
        Self {
            window_ns,
            reciprocal: ((1u128 << 70) / u128::from(window_ns)) as u64,
            gap_shift: bits.saturating_sub(32),
        }
    }

    /// V in bytes times 2^16 that is a rate in bit/s.
    pub fn of_rate(&self, bps: f64) -> u64 {
        let bytes = bps / 8.0 * self.window_ns as f64 * 1e-9;
        libm::round(bytes * libm::exp2(f64::from(Self::FRACTION))).min(Self::LARGEST as f64) as u64
    }

    /// The rate in bit/s.
    pub fn rate(&self, in_window: u64) -> f64 {
        in_window as f64 * 8e9 / libm::exp2(f64::from(Self::FRACTION)) / self.window_ns as f64
    }

    /// d after a gap, in units of 2^-48.
    fn lost(&self, gap_ns: u64) -> u64 {
        if gap_ns < self.window_ns >> 8 {
            let u = (gap_ns * self.reciprocal) >> 22;
            return u - (((u >> 8) * (u >> 8)) >> 32);
        }
        let gap = gap_ns.min(self.window_ns << 8);
        (((gap >> self.gap_shift) << 32) / ((gap + self.window_ns) >> self.gap_shift)) << 16
    }

    /// V after an arrival.
    pub fn after(&self, in_window: u64, gap_ns: u64, bytes: u32) -> u64 {
        let with = (in_window + (u64::from(bytes) << Self::FRACTION)).min(Self::LARGEST);
        with - ((u128::from(with) * u128::from(self.lost(gap_ns))) >> 48) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn by_hand() {
        let window = RateWindow::new(Span::from_secs(1.0));
        // 1000 bytes in a window of 1 s are 8 kbit/s.
        let full = window.of_rate(8000.0);
        assert_eq!((full, window.rate(full)), (1000 << 16, 8000.0));
        assert_eq!(window.after(full, 0, 500), 1500 << 16);
        let after = |gap_s: f64| window.after(full, (gap_s * 1e9) as u64, 0) as f64 / 65536.0;
        assert!((after(1.0) - 500.0).abs() < 0.01 && (after(3.0) - 250.0).abs() < 0.01);
        assert!((after(0.001) - 1000.0 / 1.001).abs() < 0.001);
        assert!((after(1e6) - 1000.0 / 257.0).abs() < 0.01);
    }

    #[test]
    fn what_integers_hold() {
        let holds = |seconds, bps| RateWindow::holds(Span::from_secs(seconds), bps);
        assert!(holds(5.0, 1e11) && holds(1e-6, 1e6) && holds(1e6, 1e6));
        assert!(!holds(1e-7, 1e6) && !holds(2e6, 1e6) && !holds(1e6, 1e11));
    }

    proptest! {
        #[test]
        fn near_the_quotient(
            window_ns in 1_000u64..1 << 50, share in 0.0f64..256.0, small in 0.0f64..1.0 / 256.0,
            before in 0u64..1 << 61, bytes in 0u32..100_000,
        ) {
            let window = RateWindow::new(Span(window_ns * 1000));
            for share in [share, small] {
                let gap = (share * window_ns as f64) as u64;
                let with = before as f64 + f64::from(bytes) * 65536.0;
                let lost = with * gap as f64 / (gap + window_ns) as f64;
                let found = with - window.after(before, gap, bytes) as f64;
                prop_assert!((found - lost).abs() <= 5e-5 * lost + with * 2e-13 + 2.0, "{} {}", found, lost);
            }
        }
    }
}
