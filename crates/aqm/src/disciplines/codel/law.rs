//! The control law, which sets the time of the next drop, in two arithmetics: real numbers (RFC 8289, section 5.6), and the
//! integers of Linux (`include/net/codel.h` and `codel_impl.h`).
//!
//! In Linux a tick of time is 2^10 ns, and `r = 1/sqrt(count)` is a fraction of 16 bits that a Newton step improves whenever
//! count changes; 32 bits within a step:
//!
//! ```text
//! r' = r (3 - count r^2)/2
//! ```
//!
//! A change of count by more than one is thus seen with a delay of some drops. Difference from Linux: ticks have 64 bits and do not
//! wrap after 4398 s. Linux 6.12 (6.12.95; not 6.12.117) keeps the end of an interval above the target when it finds a queue empty.
//! Linux 7.3 drops at most 256 packets when it is asked for one, and its drops are at least one tick apart.

use aqmlab_units::{Span, Time};

use crate::disciplines::kernel::Kernel;
use crate::{Ecn, Meta};

/// How time and roots are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    /// To the picosecond.
    Real,
    /// As in this version of Linux.
    Linux(Kernel),
}

impl Arithmetic {
    /// The versions of Linux by name.
    pub const LINUX_WORDS: [(&'static str, Self); 4] = [
        ("linux", Self::Linux(Kernel::V6_1)),
        ("linux-6.1", Self::Linux(Kernel::V6_1)),
        ("linux-6.12", Self::Linux(Kernel::V6_12)),
        ("linux-7.3", Self::Linux(Kernel::V7_3)),
    ];

    /// Return whether it is that of a version of Linux.
    pub fn is_linux(self) -> bool {
        matches!(self, Self::Linux(_))
    }

    /// Picoseconds in ticks, the last one incomplete and left out.
    fn ticks(self, ps: u64) -> u64 {
        match self {
            Self::Real => ps,
            Self::Linux(_) => ps / 1_024_000,
        }
    }
}

/// The drop count, and the approximation of its inverse square root in Linux.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub n: u32,
    pub rec_inv_sqrt: u16,
}

impl Count {
    /// Start at the first drop.
    pub fn begin(&mut self) {
        *self = Self { n: 1, rec_inv_sqrt: u16::MAX };
    }

    /// Set the count.
    pub fn set(&mut self, n: u32) {
        self.n = n;
        self.newton_step();
    }

    /// `r (3 - count r^2)/2`, r in units of 2^-32 of which the upper 16 bits are kept.
    fn newton_step(&mut self) {
        let r = u64::from(self.rec_inv_sqrt) << 16;
        let r_squared = (r * r) >> 32;
        // Two bits less, so that the product below has room; where count r^2 is above 3, bits wrap as they do in Linux.
        let rest = (3_u64 << 32).wrapping_sub(u64::from(self.n).wrapping_mul(r_squared)) >> 2;
        let next = rest.wrapping_mul(r) >> 31;
        self.rec_inv_sqrt = (next >> 16) as u16;
    }
}

/// The constants of the control law, in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ControlLaw {
    arithmetic: Arithmetic,
    target: u64,
    interval: u64,
    pub(super) max_packet: u64,
    ce_threshold: Option<CeThreshold>,
}

/// The delay above which every departing packet of a code point is marked (Linux `ce_threshold`).
#[derive(Clone, Copy, Debug)]
struct CeThreshold {
    ticks: u64,
    only_ect1: bool,
}

impl ControlLaw {
    /// Create the constants. Nothing is dropped while at most `max_packet` bytes are in the queue.
    pub fn new(arithmetic: Arithmetic, target: Span, interval: Span, max_packet: u64) -> Self {
        let (target, interval) = (arithmetic.ticks(target.0), arithmetic.ticks(interval.0));
        Self { arithmetic, target, interval, max_packet, ce_threshold: None }
    }

    /// Mark packets that waited longer than a threshold: those with ECT(1) only, or all that are ECN-capable.
    pub fn marking_above(mut self, threshold: Option<Span>, only_ect1: bool) -> Self {
        self.ce_threshold =
            threshold.map(|span| CeThreshold { ticks: self.arithmetic.ticks(span.0), only_ect1 });
        self
    }

    /// Return the threshold of marks in ticks.
    pub(super) fn ce_threshold(&self) -> Option<u64> {
        self.ce_threshold.map(|threshold| threshold.ticks)
    }

    /// Return whether a departing packet waited longer than the threshold of marks, and has its code point.
    #[inline(always)]
    pub(super) fn is_above_ce_threshold(&self, packet: &Meta, now: Time) -> bool {
        self.ce_threshold.is_some_and(|CeThreshold { ticks, only_ect1 }| {
            let has_code_point = match packet.header.ecn() {
                Ecn::Ect1 => true,
                Ecn::Ect => !only_ect1,
                Ecn::NotEct | Ecn::Ce => false,
            };
            has_code_point && self.tick(now).saturating_sub(self.tick(packet.arrival)) > ticks
        })
    }

    /// Return target, interval and largest packet, times in ticks, in the integers of Linux; `None` in real numbers.
    pub(super) fn linux(&self) -> Option<[u64; 3]> {
        self.arithmetic.is_linux().then_some([self.target, self.interval, self.max_packet])
    }

    /// Return whether the end of an interval above the target is kept when a queue is found empty.
    pub(super) fn keeps_interval(&self) -> bool {
        self.arithmetic == Arithmetic::Linux(Kernel::V6_12)
    }

    /// Return how many packets the law drops at most when it is asked for one, after the first of a dropping state.
    pub(super) fn max_drops(&self) -> u32 {
        if self.arithmetic == Arithmetic::Linux(Kernel::V7_3) { 256 } else { u32::MAX }
    }

    /// Convert a time to ticks.
    pub(super) fn tick(&self, time: Time) -> u64 {
        self.arithmetic.ticks(time.0)
    }

    /// Return whether a packet that arrived at `arrival` has waited less than the target.
    pub(super) fn is_short(&self, arrival: Time, now: u64) -> bool {
        now.saturating_sub(self.tick(arrival)) < self.target
    }

    /// Return the end of an interval that begins now.
    pub(super) fn interval_from(&self, now: u64) -> u64 {
        now + self.interval
    }

    /// Return whether an interval that ends at `end` is over; in Linux it is one tick later.
    pub(super) fn is_over(&self, end: u64, now: u64) -> bool {
        match self.arithmetic {
            Arithmetic::Real => now >= end,
            Arithmetic::Linux(_) => now > end,
        }
    }

    /// Return whether the last dropping state ended less than 16 intervals ago (RFC 8289, section 5.5).
    pub(super) fn dropped_recently(&self, drop_next: u64, now: u64) -> bool {
        now.saturating_sub(drop_next) < 16 * self.interval
    }

    /// Return the time of the next drop: `t + interval/sqrt(count)` (RFC 8289, section 5.6).
    pub(super) fn control_law(&self, t: u64, count: Count) -> u64 {
        let wait = match self.arithmetic {
            Arithmetic::Real => libm::rint(self.interval as f64 / libm::sqrt(f64::from(count.n))) as u64,
            Arithmetic::Linux(kernel) => {
                let wait = (self.interval * (u64::from(count.rec_inv_sqrt) << 16)) >> 32;
                wait.max(u64::from(kernel == Kernel::V7_3))
            }
        };
        t + wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Span = Span::from_millis(1);

    #[test]
    fn the_law_by_hand() {
        let law = ControlLaw::new(Arithmetic::Real, MS * 5, MS * 100, 1514);
        let mut count = Count::default();
        count.begin();
        assert_eq!(law.control_law(7, count), 7 + (MS * 100).0);
        count.set(4);
        assert_eq!(law.control_law(0, count), (MS * 50).0);
        count.set(16);
        assert_eq!(law.control_law(0, count), (MS * 25).0);
    }

    #[test]
    fn ticks_of_linux_are_two_to_the_ten_nanoseconds() {
        let law = ControlLaw::new(Arithmetic::Linux(Kernel::V6_1), MS * 5, MS * 100, 1514);
        // 5 000 000 / 1024 and 100 000 000 / 1024.
        assert_eq!((law.target, law.interval), (4882, 97_656));
        assert_eq!(law.tick(Time(1_023_999)), 0);
        assert_eq!(law.tick(Time(1_024_000)), 1);
        let mut count = Count::default();
        count.begin();
        // 97 656 * 65 535 / 65 536 = 97 654.5.
        assert_eq!(law.control_law(0, count), 97_654);
        // A step from r = 65 535/65 536 to count = 2: r (3 - 2 r^2)/2 = 0.500 023, in 16 bits 32 769, half of an interval in
        // place of 0.707: 97 656 * 32 769 / 65 536 = 48 829.5.
        count.set(2);
        assert_eq!(law.control_law(0, count), 48_829);
    }

    #[test]
    fn steps_of_newton_close_in_on_the_root() {
        let mut count = Count::default();
        count.begin();
        for n in 2..200 {
            count.set(n);
        }
        let root = f64::from(count.rec_inv_sqrt) / 65_536.0;
        assert!((root * libm::sqrt(199.0) - 1.0).abs() < 0.01, "{root}");
    }

    #[test]
    fn drops_of_linux_7_3_are_at_least_a_tick_apart() {
        // An interval of 1024 ns is a tick, of which the root of 2 drops leaves nothing.
        for (kernel, wait) in [(Kernel::V6_1, 0), (Kernel::V6_12, 0), (Kernel::V7_3, 1)] {
            let interval = Span(1_024_000);
            let law = ControlLaw::new(Arithmetic::Linux(kernel), Span(1), interval, 1514);
            let mut count = Count::default();
            count.begin();
            assert_eq!(law.control_law(7, count), 7 + wait, "65 535/65 536 of a tick, {kernel:?}");
        }
    }

    #[test]
    fn an_interval_is_over_a_tick_later_in_linux() {
        for (arithmetic, at_its_end) in [(Arithmetic::Real, true), (Arithmetic::Linux(Kernel::V6_1), false)] {
            let law = ControlLaw::new(arithmetic, MS * 5, MS * 100, 1514);
            assert!(!law.is_over(10, 9));
            assert_eq!(law.is_over(10, 10), at_its_end);
            assert!(law.is_over(10, 11));
        }
    }
}
