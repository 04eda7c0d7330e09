//! The constants of CoDel and BLUE, and the control law in two arithmetics: real numbers, and the integers of Linux's `sch_cake.c`.
//!
//! Linux counts whole nanoseconds, and keeps `r = 1/sqrt(count)` as a fraction of 32 bits. Below count 16 it comes from a table,
//! above from one step of Newton's method:
//!
//! ```text
//! drop_next = t + ⌊interval r⌋              r' = r (3 - count r^2)/2
//! ```
//!
//! Linux 6.1 computes the table by four such steps from each entry to the next; its values for counts 2, 3 and 6 differ from the table of
//! later kernels, which is exact to one unit. `r` is 0 before a queue's first signal, so a signal follows the first packet with too long a
//! delay at once. The product has `interval` modulo 2^32 ns (4.3 s).

use aqmlab_units::{Span, Time};

use crate::disciplines::kernel::Kernel;

/// The constants of CoDel and BLUE.
#[derive(Clone, Copy, Debug)]
pub(in crate::disciplines) struct Law {
    pub arithmetic: Arithmetic,
    pub target: Span,
    pub interval: Span,
    /// Delays up to this are always acceptable: the time of four largest packets.
    pub acceptable: Span,
    pub increment: f64,
    pub decrement: f64,
    pub ecn: bool,
}

/// BLUE's default step up.
pub(in crate::disciplines) const P_INC: f64 = 1.0 / 256.0;
/// BLUE's default step down.
pub(in crate::disciplines) const P_DEC: f64 = 1.0 / 4096.0;

/// How times and roots are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::disciplines) enum Arithmetic {
    /// To the picosecond.
    Real,
    /// As in this version of Linux.
    Linux(Kernel),
}

/// Counts with a root in the table.
const ROOTS: usize = 16;

/// 2^32/sqrt(count) in Linux 6.1: four steps from the entry before.
const fn roots_by_steps() -> [u32; ROOTS] {
    let mut roots = [u32::MAX; ROOTS];
    let mut count = 1;
    while count < ROOTS {
        let (mut root, mut step) = (roots[count - 1], 0);
        while step < 4 {
            root = newton_step(root, count as u32);
            step += 1;
        }
        roots[count] = root;
        count += 1;
    }
    roots
}

/// `r (3 - count r^2)/2`, r in units of 2^-32.
const fn newton_step(root: u32, count: u32) -> u32 {
    let r = root as u64;
    // Two bits less, so that the product below has room; where count r^2 is above 3, bits wrap as they do in Linux.
    let rest = (3_u64 << 32).wrapping_sub((count as u64).wrapping_mul((r * r) >> 32)) >> 2;
    (rest.wrapping_mul(r) >> 31) as u32
}

static ROOTS_6_1: [u32; ROOTS] = roots_by_steps();
/// From Linux 6.12 on: exact to one unit.
#[rustfmt::skip]
static ROOTS_6_12: [u32; ROOTS] = [
    u32::MAX, u32::MAX, 3_037_000_500, 2_479_700_525, 2_147_483_647, 1_920_767_767, 1_753_413_056, 1_623_345_051,
    1_518_500_250, 1_431_655_765, 1_358_187_914, 1_294_981_364, 1_239_850_263, 1_191_209_601, 1_147_878_294, 1_108_955_788,
];

/// BLUE's largest probability in Linux, whose fractions have 32 bits.
const MOST_IN_LINUX: f64 = 1.0 - 1.0 / 4_294_967_296.0;

impl Arithmetic {
    /// Return the delay of a packet; in Linux `now` is in whole nanoseconds.
    #[inline]
    pub(super) fn delay(self, arrival: Time, now: Time) -> Span {
        match self {
            Self::Real => now.since(arrival),
            Self::Linux(_) => now.since(Time(arrival.0 / 1000 * 1000)),
        }
    }

    /// Return the largest probability of BLUE.
    pub(super) fn most(self) -> f64 {
        if self == Self::Real { 1.0 } else { MOST_IN_LINUX }
    }

    /// Return whether BLUE draws a number for a packet that the control law drops.
    pub(super) fn draws_for_drop(self) -> bool {
        self != Self::Linux(Kernel::V7_3)
    }

    /// Return the next root, where `root` belongs to another count.
    pub(super) fn root(self, root: u32, count: u32) -> u32 {
        let Self::Linux(kernel) = self else { return root };
        let table = if kernel == Kernel::V6_1 { &ROOTS_6_1 } else { &ROOTS_6_12 };
        table.get(count as usize).copied().unwrap_or_else(|| newton_step(root, count))
    }
}

impl Law {
    /// Return `t + interval/sqrt(count)`; a count of 0 is like 1.
    pub(super) fn next(&self, t: Time, count: u32, root: u32) -> Time {
        match self.arithmetic {
            Arithmetic::Real => {
                t + Span::from_secs(self.interval.secs() / libm::sqrt(f64::from(count.max(1))))
            }
            Arithmetic::Linux(_) => {
                let interval = u64::from((self.interval.0 / 1000) as u32);
                t + Span(((interval * u64::from(root)) >> 32) * 1000)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINUX: Arithmetic = Arithmetic::Linux(Kernel::V6_12);

    #[test]
    fn roots_of_linux() {
        for (count, found) in ROOTS_6_12.iter().enumerate().skip(2) {
            let root = libm::rint(4_294_967_296.0 / libm::sqrt(count as f64));
            assert!((f64::from(*found) - root).abs() <= 1.0, "{count}");
        }
        // Four steps from 1 end at 0.706708 in place of 0.707107.
        assert_eq!([2, 3, 6].map(|n| ROOTS_6_1[n]), [3_035_289_760, 2_479_700_455, 1_753_413_055]);
        let differing: Vec<_> = (0..ROOTS).filter(|n| ROOTS_6_1[*n] != ROOTS_6_12[*n]).collect();
        assert_eq!(differing, [2, 3, 6]);
    }

    #[test]
    fn above_the_table_there_is_one_step() {
        // r = 0.258199 (count 15), count 16: r (3 - 16 r^2)/2 = 0.249592, where 1/4 is exact.
        let root = LINUX.root(ROOTS_6_12[15], 16);
        assert!((f64::from(root) / 4_294_967_296.0 - 0.249_592).abs() < 1e-6, "{root}");
        assert_eq!(LINUX.root(root, 15), ROOTS_6_12[15]);
        assert_eq!(Arithmetic::Real.root(7, 16), 7);
    }

    #[test]
    fn the_law_in_whole_nanoseconds() {
        let law = |arithmetic, ms| Law {
            arithmetic,
            target: Span::from_millis(5),
            interval: Span::from_millis(ms),
            acceptable: Span::ZERO,
            increment: P_INC,
            decrement: P_DEC,
            ecn: true,
        };
        assert_eq!(law(Arithmetic::Real, 100).next(Time(5), 4, 0), Time(50_000_000_005));
        // 10^8 (2^31 - 1)/2^32 = 49 999 999.98.
        assert_eq!(law(LINUX, 100).next(Time(5000), 4, ROOTS_6_12[4]), Time(50_000_004_000));
        // 5 s are 705 032 704 ns above 2^32 ns.
        assert_eq!(law(LINUX, 5000).next(Time::ZERO, 1, u32::MAX), Time(705_032_703_000));
        assert_eq!(law(LINUX, 100).next(Time(7000), 0, 0), Time(7000));
    }

    #[test]
    fn delays_are_differences_of_whole_nanoseconds() {
        assert_eq!(LINUX.delay(Time(1999), Time(3000)), Span(2000));
        assert_eq!(Arithmetic::Real.delay(Time(1999), Time(3001)), Span(1002));
    }
}
