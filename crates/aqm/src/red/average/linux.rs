use aqmlab_units::Span;

/// The EWMA in the arithmetic of the Linux kernel (`include/net/red.h`): W = 2^-wlog, the average held times
/// 2^wlog as an integer, and decay over an idle period by a table of 256 shift counts that `tc` computes
/// (`iproute2 tc/tc_red.c`).
///
/// ```text
/// A <- A + q - A/2^wlog                                  arrival at a busy system, A = avg 2^wlog
/// A <- A >> shift(idle)                                  after an idle period, where the table has a shift
/// A <- A - min(A idle/cell, A/2)                         and linearly before the first one
/// ```
///
/// | field | unit | allowed |
/// |---|---|---|
/// | `wlog` | 1 | 0 to 31 |
/// | `cell_log` | log2 of microseconds | 0 to 31 |
///
/// Without an idle rule the arrival that ends an idle period is a step as any, with q = 0.
#[derive(Clone, Debug)]
pub struct LinuxEwma {
    wlog: u32,
    decay: Option<Decay>,
    scaled: u64,
}

/// The idle rule's table: so many shifts for each cell of 2^cell_log microseconds.
#[derive(Clone, Debug)]
struct Decay {
    cell_log: u32,
    shifts: Box<[u8; 256]>,
}

impl LinuxEwma {
    /// An average of bytes with W = 2^-wlog; `s` is the transmission time of a mean packet in seconds, none without an
    /// idle rule.
    pub fn new(wlog: u32, s: Option<f64>) -> Self {
        Self { wlog, decay: s.map(|s| Decay::new(wlog, s)), scaled: 0 }
    }

    /// The exponent that comes closest to `w_q`, within 0 to 31.
    pub fn nearest_wlog(w_q: f64) -> u32 {
        (-libm::log2(w_q)).round().clamp(0.0, 31.0) as u32
    }

    #[inline(never)]
    pub(super) fn on_arrival(&mut self, q: f64) {
        self.scaled = self.scaled + q as u64 - (self.scaled >> self.wlog);
    }

    pub(super) fn on_arrival_after_idle(&mut self, idle: Span) {
        match &self.decay {
            Some(decay) => self.scaled = decay.after(self.scaled, idle),
            None => self.on_arrival(0.0),
        }
    }

    #[inline(never)]
    pub(super) fn value(&self) -> f64 {
        self.scaled as f64 / libm::exp2(f64::from(self.wlog))
    }
}

impl Decay {
    fn new(wlog: u32, s: f64) -> Self {
        let per_us =
            -libm::log(1.0 - 1.0 / libm::exp2(f64::from(wlog))) / core::f64::consts::LN_2 / (s * 1e6);
        let max_us = 31.0 / per_us;
        let cell_log = (0..31).find(|&c| max_us / libm::exp2(f64::from(c)) < 512.0).unwrap_or(31);
        let mut shifts = Box::new([0u8; 256]);
        for (i, shift) in shifts.iter_mut().enumerate() {
            *shift = (i as f64 * libm::exp2(f64::from(cell_log)) * per_us).min(31.0) as u8;
        }
        shifts[255] = 31;
        Self { cell_log, shifts }
    }

    /// What a scaled average has become after an idle period.
    fn after(&self, scaled: u64, idle: Span) -> u64 {
        let us = (idle.0 / 1_000_000).min(255 << self.cell_log);
        let shift = self.shifts[(us >> self.cell_log) as usize];
        if shift > 0 {
            return scaled >> shift;
        }
        let linear = ((u128::from(scaled) * u128::from(us)) >> self.cell_log) as u64;
        scaled - linear.min(scaled >> 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_steps_by_hand() {
        let mut a = LinuxEwma::new(2, Some(0.001));
        a.on_arrival(1000.0);
        assert_eq!(a.value(), 250.0);
        a.on_arrival(1000.0);
        assert_eq!(a.value(), 437.5);
    }

    #[test]
    fn weight_is_rounded_to_a_power_of_two() {
        assert_eq!(LinuxEwma::nearest_wlog(0.002), 9);
        assert_eq!(LinuxEwma::nearest_wlog(1.0), 0);
        assert_eq!(LinuxEwma::nearest_wlog(1e-30), 31);
    }

    #[test]
    fn idle_decay_is_within_a_factor_of_two_of_the_exponential() {
        for periods in [50.0, 300.0, 1000.0, 2000.0] {
            let mut a = LinuxEwma::new(9, Some(0.0008));
            for _ in 0..20_000 {
                a.on_arrival(30_000.0);
            }
            let before = a.value();
            a.on_arrival_after_idle(Span::from_secs(periods * 0.0008));
            let exact = before * libm::pow(1.0 - 1.0 / 512.0, periods);
            // The linear start falls too fast and a shift is rounded down: within a factor of two either way.
            assert!(a.value() > 0.49 * exact && a.value() < 2.1 * exact, "{periods}: {} {exact}", a.value());
        }
    }

    #[test]
    fn a_long_idle_period_empties_the_average() {
        let mut a = LinuxEwma::new(9, Some(0.0008));
        for _ in 0..20_000 {
            a.on_arrival(30_000.0);
        }
        a.on_arrival_after_idle(Span::from_secs(1000.0));
        assert_eq!(a.value().floor(), 0.0);
    }

    #[test]
    fn without_an_idle_rule_an_idle_period_is_one_step() {
        let mut a = LinuxEwma::new(2, None);
        a.on_arrival(1000.0);
        a.on_arrival(1000.0);
        a.on_arrival_after_idle(Span::from_secs(1000.0));
        // A = 1750; a quarter is 437 in whole numbers.
        assert_eq!(a.value(), 1313.0 / 4.0);
    }
}
