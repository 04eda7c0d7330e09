//! RED's line in the integers of Linux (`include/net/red.h`, `red_set_parms` and `red_mark_probability`).

/// Settings of a line in Linux: the words of `tc` in its units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinuxNumbers {
    /// Lower threshold in whole bytes, or packets for CHOKe.
    pub min_th: u32,
    /// Upper threshold in the same unit.
    pub max_th: u32,
    /// p_b just below max_th, 0 to 1.
    pub max_p: f64,
    /// Bytes of a unit: 1, or the mean packet for CHOKe.
    pub unit: u32,
}

/// The linear curve between thresholds, in integers. A is the average times 2^wlog.
///
/// ```text
/// x    <- (A >> wlog) - min_th                               bytes, or packets for CHOKe
/// p_b  <- x step 2^-32                                       min_th <= A 2^-wlog < max_th
/// step <- max(max_P / (max_th - min_th), 1)                  max_P = floor(max_p 2^32)
/// ```
///
/// A max_p of 1 does not fit into the 32 bits of max_P, and `tc` sends 0 in its place. Then
/// max_P = floor((2^32 - 1) 2^-Plog) (max_th - min_th), where 2^Plog is the least power of two above max_th - min_th in bytes. So a
/// CHOKe with a mean packet of 1000 B has a max_p of about 1/1000 then.
///
/// In `sch_choke` a packet passes up to min_th itself, and is dropped for sure only above max_th.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinuxCurve {
    wlog: u32,
    min_th: u32,
    max_th: u32,
    /// The thresholds themselves belong to the region below them (CHOKe).
    is_closed_above: bool,
    /// max_p times 2^32.
    max_p: u32,
    /// p_b times 2^32 for each unit above min_th.
    step: u32,
}

/// 1 % as a multiple of 2^-32 (`RED_ONE_PERCENT`).
const ONE_PERCENT: f64 = 42_949_673.0;

impl LinuxCurve {
    /// Create the line; `None` if the kernel rejects the thresholds (`red_check_params`).
    pub fn new(numbers: LinuxNumbers, wlog: u32, is_closed_above: bool) -> Option<Self> {
        let LinuxNumbers { min_th, max_th, max_p, unit } = numbers;
        let fits = |threshold: u32| 32 - threshold.leading_zeros() + wlog < 32;
        if !fits(min_th) || !fits(max_th) || max_th < min_th {
            return None;
        }
        let delta = (max_th - min_th).max(1);
        let max_p = if max_p < 1.0 {
            (max_p * libm::exp2(32.0)) as u32
        } else {
            let plog = 32 - delta.saturating_mul(unit).leading_zeros();
            (u32::MAX.checked_shr(plog).unwrap_or(0)).wrapping_mul(delta)
        };
        let step = (max_p / delta).max(1);
        Some(Self { wlog, min_th, max_th, is_closed_above, max_p, step })
    }

    fn delta(&self) -> u32 {
        (self.max_th - self.min_th).max(1)
    }

    /// Return whether an average times 2^wlog lies above a threshold, or at it unless that belongs to the region below.
    fn passes(&self, scaled: u64, threshold: u32) -> bool {
        let threshold = u64::from(threshold) << self.wlog;
        if self.is_closed_above { scaled > threshold } else { scaled >= threshold }
    }

    /// Return the units of an average above min_th, rounded down; `None` below min_th, and where a drop is forced.
    #[inline]
    pub fn excess(&self, scaled: u64) -> Option<u64> {
        let is_between = self.passes(scaled, self.min_th) && !self.passes(scaled, self.max_th);
        is_between.then(|| (scaled >> self.wlog) - u64::from(self.min_th))
    }

    /// Return p_b at an average times 2^wlog; `None` below min_th.
    pub fn p_b(&self, scaled: u64) -> Option<f64> {
        if !self.passes(scaled, self.min_th) {
            return None;
        }
        let p_b = |excess: u64| (excess as f64 * f64::from(self.step) * libm::exp2(-32.0)).min(ALMOST_ONE);
        Some(self.excess(scaled).map_or(1.0, p_b))
    }

    /// An average below this, in bytes or packets, is below min_th.
    pub fn min_th(&self) -> f64 {
        f64::from(self.min_th)
    }

    /// p_b times 2^32 for each unit above min_th.
    pub fn step(&self) -> u32 {
        self.step
    }

    /// max_p times 2^32.
    pub fn max_p(&self) -> u32 {
        self.max_p
    }

    /// Adapt max_p to an average in whole units (`red_adaptative_algo`). `alpha`, `beta` and `bounds` are those of Adaptive RED, of
    /// which the kernel has 0.01, 0.9, and 0.01 to 0.5.
    pub fn adapt(&mut self, average: u64, alpha: f64, beta: f64, (low, high): (f64, f64)) {
        let fixed = |p: f64| libm::round(100.0 * p * ONE_PERCENT) as u32;
        let fifth = self.delta() / 5;
        let target = |fifths: u32| u64::from(self.min_th + fifths * fifth);
        if average > target(3) && self.max_p <= fixed(high) {
            self.max_p = self.max_p.saturating_add(fixed(alpha).min(self.max_p / 4));
        } else if average < target(2) && self.max_p >= fixed(low) {
            self.max_p = (f64::from(self.max_p / 10) * (10.0 * beta)) as u32;
        }
        let delta = self.delta();
        self.step = (self.max_p.wrapping_add(delta / 2) / delta).max(1);
    }
}

/// The largest p_b at which a drop is not forced.
const ALMOST_ONE: f64 = 1.0 - f64::EPSILON;

#[cfg(test)]
mod tests {
    use super::*;

    const WLOG: u32 = 4;

    fn line(min_th: u32, max_th: u32, max_p: f64) -> LinuxCurve {
        LinuxCurve::new(LinuxNumbers { min_th, max_th, max_p, unit: 1 }, WLOG, false)
            .expect("thresholds that fit")
    }

    #[test]
    fn by_hand() {
        let line = line(15_000, 45_000, 0.1);
        // floor(0.1 2^32) = 429496729, over 30000.
        assert_eq!((line.max_p(), line.step()), (429_496_729, 14_316));
        let at = |sixteenths: u64| line.excess(sixteenths);
        assert_eq!(
            [15_000 * 16 - 1, 15_000 * 16, 15_000 * 16 + 15, 15_001 * 16].map(at),
            [None, Some(0), Some(0), Some(1)]
        );
        assert_eq!([45_000 * 16 - 1, 45_000 * 16].map(at), [Some(29_999), None]);
        assert_eq!(
            [15_000 * 16 - 1, 15_000 * 16, 45_000 * 16].map(|at| line.p_b(at)),
            [None, Some(0.0), Some(1.0)]
        );
        let middle = line.p_b(30_000 * 16).expect("between the thresholds");
        assert_eq!(middle, 15_000.0 * 14_316.0 / 4_294_967_296.0);
    }

    #[test]
    fn the_thresholds_of_choke_belong_to_the_region_below() {
        let line = LinuxCurve::new(LinuxNumbers { min_th: 5, max_th: 15, max_p: 0.1, unit: 1 }, WLOG, true)
            .expect("a line");
        let at = |sixteenths: u64| line.excess(sixteenths);
        assert_eq!([80, 81, 96, 240, 241].map(at), [None, Some(0), Some(1), Some(10), None]);
        assert_eq!([80, 241].map(|at| line.p_b(at)), [None, Some(1.0)]);
    }

    #[test]
    fn a_max_p_of_1_is_the_power_of_two_of_tc() {
        // Plog is 15: tc's line has 131071 for each of 30000 bytes.
        let line = line(15_000, 45_000, 1.0);
        assert_eq!((line.max_p(), line.step()), (131_071 * 30_000, 131_071));
        assert_eq!(
            LinuxCurve::new(LinuxNumbers { min_th: 3, max_th: 4, max_p: 1.0, unit: 1 }, WLOG, false)
                .map(|l| l.step()),
            Some(u32::MAX >> 1)
        );
    }

    #[test]
    fn a_max_p_of_1_of_choke_is_that_of_bytes() {
        // 10 packets of 1500 bytes: Plog is 14, as in tc's message.
        let numbers = LinuxNumbers { min_th: 5, max_th: 15, max_p: 1.0, unit: 1500 };
        let line = LinuxCurve::new(numbers, WLOG, true).expect("thresholds that fit");
        assert_eq!((line.max_p(), line.step()), (262_143 * 10, 262_143));
    }

    #[test]
    fn a_small_max_p_is_a_step_at_least() {
        assert_eq!(line(15_000, 45_000, 1e-9).step(), 1);
        assert_eq!(line(15_000, 15_000, 0.5).step(), 1 << 31);
    }

    #[test]
    fn thresholds_must_leave_room_for_wlog() {
        let fits = |max_th, wlog| {
            LinuxCurve::new(LinuxNumbers { min_th: 1, max_th, max_p: 0.1, unit: 1 }, wlog, false).is_some()
        };
        assert_eq!(
            [(1 << 21, 9), (1 << 22, 9), ((1 << 22) - 1, 9)].map(|(max_th, wlog)| fits(max_th, wlog)),
            [true, false, true]
        );
        assert!(
            LinuxCurve::new(LinuxNumbers { min_th: 2, max_th: 1, max_p: 0.1, unit: 1 }, 9, false).is_none()
        );
    }

    #[test]
    fn adaptation_by_hand() {
        // The target is 27000 to 33000 bytes.
        let after = |max_p: f64, average: u64| {
            let mut line = line(15_000, 45_000, max_p);
            line.adapt(average, 0.01, 0.9, (0.01, 0.5));
            (line.max_p(), line.step())
        };
        let of = |max_p: u32| (max_p, (max_p + 15_000) / 30_000);
        for average in [27_000, 30_000, 33_000] {
            assert_eq!(after(0.1, average), of(429_496_729));
        }
        assert_eq!(after(0.1, 33_001), of(429_496_729 + 42_949_673));
        assert_eq!(after(0.02, 33_001), of(85_899_345 + 85_899_345 / 4));
        assert_eq!(after(0.1, 26_999), of(42_949_672 * 9));
        // 50 times the rounded 1 % is 2 above 2^31.
        assert_eq!(after(0.5, 40_000), of((1 << 31) + 42_949_673));
        assert_eq!(after(0.51, 40_000), of((0.51 * 4_294_967_296.0) as u32));
        // floor(0.01 2^32) is below the rounded 1 %.
        assert_eq!(after(0.01, 0), of(42_949_672));
        assert_eq!(after(0.011, 0), of(47_244_640 / 10 * 9));
    }
}
