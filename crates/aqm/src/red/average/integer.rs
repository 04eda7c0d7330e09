use aqmlab_units::Span;

use crate::red::AtIdle;

/// The EWMA in integers, as a kernel computes it: W = 2^-wlog, the average held times 2^(wlog + fraction).
///
/// ```text
/// A <- A + (q << fraction) - (A >> wlog)                 arrival at a busy system, A = avg 2^(wlog + fraction)
/// ```
///
/// After an idle period one of three rules applies ([`IdleRule`]); `extra_step` adds a step with q = 0.
///
/// | field | unit | allowed |
/// |---|---|---|
/// | `wlog` | 1 | 0 to 31; to [`IntegerEwma::LARGEST_WLOG`] in integer arithmetic |
/// | `fraction` | bits of a packet or byte | 0 in the dialect `linux` (`include/net/red.h`), up to 16 in integer arithmetic |
#[derive(Clone, Debug)]
pub struct IntegerEwma {
    /// -log2 W.
    pub wlog: u32,
    /// Bits behind the binary point of the queue length.
    pub fraction: u32,
    /// The decay over an idle period.
    pub idle: IdleRule,
    /// One more step, with q = 0, for the arrival that ends an idle period.
    pub extra_step: bool,
    scaled: u64,
}

/// The decay over an idle period.
#[derive(Clone, Debug)]
pub enum IdleRule {
    /// The arrival that ends the period is a step as any, with q = 0.
    Step,
    /// Linux's table.
    Shifts(Shifts),
    /// (1 - W)^m by binary powers.
    Powers(Powers),
}

impl IntegerEwma {
    /// The largest wlog of integer arithmetic: the idle rule and the average then fit into 64 bits.
    pub const LARGEST_WLOG: u32 = 16;
    /// The most bits behind the binary point.
    const LARGEST_FRACTION: u32 = 16;

    /// An average that starts at 0.
    pub fn new(wlog: u32, fraction: u32, idle: IdleRule, extra_step: bool) -> Self {
        Self { wlog, fraction, idle, extra_step, scaled: 0 }
    }

    /// The exponent that comes closest to `w_q`, within 0 to 31.
    pub fn nearest_wlog(w_q: f64) -> u32 {
        (-libm::log2(w_q)).round().clamp(0.0, 31.0) as u32
    }

    /// Return the bits behind the binary point with which an average of up to `longest` fits into 62 bits.
    pub fn fraction_for(wlog: u32, longest: u64) -> u32 {
        62u32.saturating_sub(wlog + (64 - longest.leading_zeros())).min(Self::LARGEST_FRACTION)
    }

    #[inline(never)]
    pub(super) fn on_arrival(&mut self, q: f64) {
        self.scaled = self.scaled + ((q as u64) << self.fraction) - (self.scaled >> self.wlog);
    }

    pub(super) fn on_arrival_after_idle(&mut self, idle: Span) {
        self.decay(idle);
        if self.extra_step || matches!(self.idle, IdleRule::Step) {
            self.on_arrival(0.0);
        }
    }

    pub(super) fn decay(&mut self, idle: Span) {
        match &self.idle {
            IdleRule::Step => {}
            IdleRule::Shifts(shifts) => self.scaled = shifts.after(self.scaled, idle.0 / 1_000_000),
            IdleRule::Powers(powers) => self.scaled = powers.after(self.scaled, idle.0 / 1000),
        }
    }

    #[inline(never)]
    pub(super) fn value(&self) -> f64 {
        self.scaled as f64 / libm::exp2(f64::from(self.wlog + self.fraction))
    }

    /// Return the average times 2^fraction, rounded down: the argument of a
    /// [`CurveTable`](crate::red::curve::CurveTable).
    #[inline]
    pub fn fixed(&self) -> u64 {
        self.scaled >> self.wlog
    }

    /// The average times 2^(wlog + fraction).
    pub fn scaled(&self) -> u64 {
        self.scaled
    }
}

/// Linux's idle rule: a table of 256 shift counts that `tc` computes (`iproute2 tc/tc_red.c`), one for each cell of
/// 2^cell_log microseconds.
///
/// ```text
/// A <- A >> shift(idle)                                  where the table has a shift
/// A <- A - A idle/cell, or A >> 1 if that is more than half  and linearly before the first one
/// shift(i cell) = floor(-ln(1 - W) i cell/s)             s in ticks of tc (64 ns)
/// ```
///
/// The kernel reads the table with microseconds, while `tc` makes it in ticks, and it shifts by a natural logarithm. So an average
/// decays 15.625/ln 2 = 22.5 times as slowly as (1 - W)^(idle/s).
#[derive(Clone, Debug)]
pub struct Shifts {
    /// Log2 of the microseconds of a cell, 0 to 31.
    pub cell_log: u32,
    /// The shift of each cell.
    pub shifts: Box<[u8; 256]>,
}

impl Shifts {
    /// tc's ticks in a microsecond.
    const TICKS_PER_US: f64 = 15.625;

    /// The table of tc for W = 2^-wlog, a mean packet of so many bytes, and a link that carries so many bytes in a second.
    pub fn new(wlog: u32, mean_packet: f64, bytes_per_s: f64) -> Self {
        // Whole microseconds, then whole ticks, in which a mean packet is transmitted (tc_calc_xmittime).
        let ticks = ((1e6 * (mean_packet / bytes_per_s)).floor() * Self::TICKS_PER_US).floor();
        let per_tick = -libm::log(1.0 - libm::exp2(-f64::from(wlog))) / ticks;
        let longest = 31.0 / per_tick;
        let cell_log = (0..31).find(|&c| longest / libm::exp2(f64::from(c)) < 512.0).unwrap_or(31);
        let mut shifts = Box::new([0u8; 256]);
        for (i, shift) in shifts.iter_mut().enumerate().skip(1) {
            // tc keeps `i` cells in an int, which overflows on slow links. A product that is no int becomes 0 (x86-64).
            let cells = ((i as u64) << cell_log) as i32;
            let shifted = f64::from(cells) * per_tick;
            let is_int = shifted.abs() < libm::exp2(31.0);
            *shift = if is_int { (shifted as i32 as u8).min(31) } else { 0 };
        }
        shifts[255] = 31;
        Self { cell_log, shifts }
    }

    /// Return a scaled average after an idle period of so many microseconds.
    fn after(&self, scaled: u64, us: u64) -> u64 {
        let us = us.min(u64::from((255u64 << self.cell_log) as u32));
        let shift = self.shifts[(us >> self.cell_log) as usize & 255];
        if shift > 0 {
            return scaled >> shift;
        }
        let linear = ((u128::from(scaled) * u128::from(us)) >> self.cell_log) as u64;
        if linear < scaled >> 1 { scaled - linear } else { scaled >> 1 }
    }
}

/// (1 - W)^m in integers: m = idle/s in units of a 256th, and one factor for each of its bits.
///
/// ```text
/// m <- (idle mult) >> shift                              idle in ns
/// A <- (A factor_i) >> 32                                for each bit i of m
/// ```
#[derive(Clone, Debug)]
pub struct Powers {
    /// 256ths of a packet's transmission time in a nanosecond, times 2^shift.
    pub mult: u64,
    /// Binary point of `mult`.
    pub shift: u32,
    /// The idle time in ns from which on nothing is left of an average.
    pub longest_ns: u64,
    /// Whether m is rounded down to whole packets (ns-2).
    pub whole: bool,
    /// (1 - W)^(2^i/256) times 2^32.
    pub factors: Box<[u32]>,
}

impl Powers {
    /// The rule for W = 2^-wlog, wlog at most [`IntegerEwma::LARGEST_WLOG`], and a link that carries `packets_per_s`.
    pub fn new(wlog: u32, packets_per_s: f64, at_idle: AtIdle) -> Self {
        Self::of(1.0 - libm::exp2(-f64::from(wlog)), packets_per_s, at_idle == AtIdle::Integer)
    }

    /// keep^m for 0 <= keep <= 1 - 2^-16, with m times `per_s` in a second, rounded down if it is `whole`.
    pub fn of(keep: f64, per_s: f64, whole: bool) -> Self {
        // A decaying value has at most 62 bits.
        let packets = libm::ceil(62.0 * core::f64::consts::LN_2 / -libm::log(keep)) + 1.0;
        let m_max = 256 * packets as u64;
        let bits = 64 - m_max.leading_zeros();
        let shift = (62 - bits).min(40);
        let mult = libm::round(per_s * 256e-9 * libm::exp2(f64::from(shift))).max(1.0) as u64;
        let factor = |i| libm::pow(keep, libm::exp2(f64::from(i)) / 256.0) * libm::exp2(32.0);
        Self {
            mult,
            shift,
            longest_ns: (m_max << shift) / mult,
            whole,
            factors: (0..bits).map(|i| factor(i) as u32).collect(),
        }
    }

    /// Return a scaled average after an idle period of so many nanoseconds.
    pub fn after(&self, scaled: u64, ns: u64) -> u64 {
        if ns >= self.longest_ns {
            return 0;
        }
        let m = (ns * self.mult) >> self.shift;
        let m = if self.whole { m & !255 } else { m };
        let bits = self.factors.iter().enumerate().filter(|(i, _)| (m >> i) & 1 == 1);
        bits.fold(scaled, |scaled, (_, &factor)| ((u128::from(scaled) * u128::from(factor)) >> 32) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// With a mean packet of 1000 bytes.
    fn linux(wlog: u32, bytes_per_s: f64) -> IntegerEwma {
        IntegerEwma::new(wlog, 0, IdleRule::Shifts(Shifts::new(wlog, 1000.0, bytes_per_s)), false)
    }

    #[test]
    fn busy_steps_by_hand() {
        let mut a = linux(2, 1e6);
        a.on_arrival(1000.0);
        assert_eq!(a.value(), 250.0);
        a.on_arrival(1000.0);
        assert_eq!(a.value(), 437.5);
        let mut a = IntegerEwma::new(2, 4, IdleRule::Step, false);
        a.on_arrival(3.0);
        assert_eq!((a.scaled(), a.fixed(), a.value()), (48, 12, 0.75));
        // 48 + 0 - 12.
        a.on_arrival(0.0);
        assert_eq!((a.scaled(), a.fixed()), (36, 9));
    }

    #[test]
    fn weight_is_rounded_to_a_power_of_two() {
        assert_eq!(IntegerEwma::nearest_wlog(0.002), 9);
        assert_eq!(IntegerEwma::nearest_wlog(1.0), 0);
        assert_eq!(IntegerEwma::nearest_wlog(1e-30), 31);
    }

    /// Cell_log and the first cell with each shift from 1 on, of tc's table with these numbers.
    fn table(wlog: u32, mean_packet: f64, bytes_per_s: f64) -> (u32, Vec<usize>) {
        let Shifts { cell_log, shifts } = Shifts::new(wlog, mean_packet, bytes_per_s);
        assert_eq!((shifts[0], shifts[255]), (0, 31));
        let firsts = (1..255).filter(|&i| shifts[i] > shifts[i - 1]).collect();
        (cell_log, firsts)
    }

    #[test]
    fn the_table_is_that_of_tc() {
        // From the netlink messages of iproute2 6.1: avpkt, bandwidth and W = 2^-ewma.
        let (cell_log, firsts) = table(7, 1000.0, 1_250_000.0);
        assert_eq!((cell_log, &firsts[..8]), (17, &[13, 25, 37, 49, 61, 73, 86, 98][..]));
        let (cell_log, firsts) = table(6, 1000.0, 375_000.0);
        assert_eq!((cell_log, firsts[10], firsts[21]), (18, 111, 222));
        let (cell_log, firsts) = table(7, 1514.0, 125_000_000.0);
        assert_eq!((cell_log, &firsts[1..7]), (11, &[24, 35, 47, 59, 70, 82][..]));
        let (cell_log, firsts) = table(7, 1514.0, 1_250_000_000.0);
        assert_eq!((cell_log, firsts[0]), (7, 15));
        // A packet in less than a microsecond, and cells of 2^31.
        assert_eq!(table(10, 150.0, 1_250_000_000.0), (0, vec![]));
        assert_eq!(table(16, 1500.0, 8000.0), (31, vec![]));
    }

    #[test]
    fn idle_decay_by_hand() {
        // Cells of 2^17 us; A is 2^16.
        let decay = |scaled: u64, us: u64| {
            let mut a = linux(7, 1_250_000.0);
            a.scaled = scaled;
            a.on_arrival_after_idle(Span(us * 1_000_000));
            a.scaled
        };
        let after = |us: u64| decay(1 << 16, us);
        assert_eq!([0, 1, 2, 1 << 15].map(after), [1 << 16, 1 << 16, (1 << 16) - 1, 3 << 14]);
        // An average of 1 is 0 after any idle time, since no decay is below half of it.
        assert_eq!((decay(1, 1), decay(2, 1), decay(3, 1)), (0, 2, 3));
        // Half at most, before the first shift; 12 cells end where the thirteenth begins.
        assert_eq!([1 << 16, 12 << 17, (13 << 17) - 1].map(after), [1 << 15; 3]);
        assert_eq!([13 << 17, 25 << 17, 255 << 17, u64::from(u32::MAX)].map(after), [1 << 15, 1 << 14, 0, 0]);
    }

    #[test]
    fn without_an_idle_rule_an_idle_period_is_one_step() {
        let mut a = IntegerEwma::new(2, 0, IdleRule::Step, false);
        a.on_arrival(1000.0);
        a.on_arrival(1000.0);
        a.on_arrival_after_idle(Span::from_secs(1000.0));
        // A = 1750; a quarter is 437 in whole numbers.
        assert_eq!(a.value(), 1313.0 / 4.0);
    }

    #[test]
    fn powers_by_hand() {
        let decay = |at_idle, extra_step, idle| {
            let idle_rule = IdleRule::Powers(Powers::new(1, 1000.0, at_idle));
            let mut a = IntegerEwma::new(1, 16, idle_rule, extra_step);
            a.scaled = 16 << 17;
            a.on_arrival_after_idle(Span::from_secs(idle));
            a.value()
        };
        assert_eq!(decay(AtIdle::Real, false, 0.0), 16.0);
        // The factor of a whole packet time is one half; the reciprocal of the packet time is rounded.
        assert!((decay(AtIdle::Real, false, 0.002) - 4.0).abs() < 0.02);
        assert!((decay(AtIdle::Real, false, 0.0025) - 4.0 * 0.5f64.sqrt()).abs() < 0.02);
        assert_eq!(decay(AtIdle::Integer, false, 0.0025), 4.0);
        assert_eq!(decay(AtIdle::Integer, true, 0.0025), 2.0);
        assert_eq!(decay(AtIdle::Real, false, 3600.0), 0.0);
    }

    proptest! {
        #[test]
        fn powers_are_near_the_exponential(
            wlog in 0u32..=IntegerEwma::LARGEST_WLOG,
            log_rate in 1.0f64..8.0,
            packets in 0.0f64..3000.0,
            before in 1u64..1 << 62,
        ) {
            let pps = libm::pow(10.0, log_rate);
            let powers = Powers::new(wlog, pps, AtIdle::Real);
            let ns = (packets / pps * 1e9) as u64;
            let after = powers.after(before, ns) as f64;
            let exact = |packets: f64| before as f64 * libm::pow(1.0 - libm::exp2(-f64::from(wlog)), packets.max(0.0));
            // m is rounded down to a 256th of a packet, a factor to 2^-32, and a product to a whole number.
            let rounding = before as f64 * libm::exp2(-32.0) * powers.factors.len() as f64 + 40.0;
            let packets = ns as f64 * 1e-9 * pps;
            prop_assert!(after <= exact(packets - 1.1 / 256.0 - 1e-4 * packets) * (1.0 + 1e-6) + 1.0);
            prop_assert!(after >= exact(packets * (1.0 + 1e-4)) * (1.0 - 1e-6) - rounding);
        }

        #[test]
        fn the_average_stays_within_62_bits(
            wlog in 0u32..=IntegerEwma::LARGEST_WLOG, longest in 1u64..1 << 40, steps in 1usize..200,
        ) {
            let fraction = IntegerEwma::fraction_for(wlog, longest);
            let mut a = IntegerEwma::new(wlog, fraction, IdleRule::Step, false);
            for _ in 0..steps {
                a.on_arrival(longest as f64);
            }
            prop_assert!(a.scaled() < 1 << 62);
            prop_assert!(a.fixed() <= longest << fraction);
        }
    }
}
