use core::ops::{Add, AddAssign, Mul, Sub};

const PS_PER_S: f64 = 1e12;

/// `s` seconds in picoseconds, rounded to the nearest, ties to even. Negative values and NaN become zero.
#[inline]
fn picoseconds(s: f64) -> u64 {
    /// From here on a double has no binary places, so that a sum is rounded to a whole number; below twice that its last
    /// places count ones.
    const WHOLE: f64 = (1_u64 << 52) as f64;
    let ps = s * PS_PER_S;
    if (0.0..WHOLE).contains(&ps) {
        (ps + WHOLE).to_bits() - WHOLE.to_bits()
    } else {
        ps.round_ties_even() as u64
    }
}

/// An instant: picoseconds since the start of the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A length of time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

impl Time {
    /// The start of the simulation.
    pub const ZERO: Self = Self(0);
    /// After everything.
    pub const NEVER: Self = Self(u64::MAX);

    /// `s` seconds, rounded to the nearest picosecond. Negative values and NaN become zero.
    pub fn from_secs(s: f64) -> Self {
        Self(picoseconds(s))
    }

    /// Seconds since the start, correctly rounded to a double.
    #[inline]
    pub fn secs(self) -> f64 {
        self.0 as f64 / PS_PER_S
    }

    /// The time from `earlier` to `self`, zero when `earlier` is later.
    #[inline]
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// `s` seconds, rounded to the nearest picosecond. Negative values and NaN become zero.
    pub fn from_secs(s: f64) -> Self {
        Self(picoseconds(s))
    }

    /// Whole milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }

    /// Seconds, correctly rounded to a double.
    #[inline]
    pub fn secs(self) -> f64 {
        self.0 as f64 / PS_PER_S
    }
}

impl Add<Span> for Time {
    type Output = Time;
    /// Saturates at [`Time::NEVER`].
    #[inline]
    fn add(self, d: Span) -> Time {
        Time(self.0.saturating_add(d.0))
    }
}

impl AddAssign<Span> for Time {
    #[inline]
    fn add_assign(&mut self, d: Span) {
        *self = *self + d;
    }
}

impl Add for Span {
    type Output = Span;
    #[inline]
    fn add(self, d: Span) -> Span {
        Span(self.0.saturating_add(d.0))
    }
}

impl Sub for Span {
    type Output = Span;
    /// Saturates at zero.
    #[inline]
    fn sub(self, d: Span) -> Span {
        Span(self.0.saturating_sub(d.0))
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    #[inline]
    fn mul(self, k: u64) -> Span {
        Span(self.0.saturating_mul(k))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn seconds_round_trip() {
        assert_eq!(Time::from_secs(1.0 / 4096.0), Time(244_140_625));
        assert_eq!(Time(244_140_625).secs(), 1.0 / 4096.0);
        assert_eq!(Span::from_millis(10), Span::from_secs(0.01));
        assert_eq!(Time::from_secs(-1.0), Time::ZERO);
        assert_eq!(Time::from_secs(f64::NAN), Time::ZERO);
    }

    proptest! {
        #[test]
        fn rounded_to_the_nearest_ties_to_even(s in prop_oneof![-1.0..1.0f64, 0.0..10_000.0, 4503.0..4504.0, 0.0..1e8, 0.0..1e-9]) {
            let expected = (s * PS_PER_S).round_ties_even() as u64;
            prop_assert_eq!((Time::from_secs(s), Span::from_secs(s)), (Time(expected), Span(expected)));
        }

        #[test]
        fn halves_are_ties(whole in 0u32..1_000_000) {
            for s in [f64::from(whole) / 2.0, f64::from(whole) / 2.0 + 4_503_599_620_000_000.0] {
                prop_assert_eq!(picoseconds(s / PS_PER_S), (s / PS_PER_S * PS_PER_S).round_ties_even() as u64);
            }
        }
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Time::NEVER + Span(1), Time::NEVER);
        assert_eq!(Time(5).since(Time(7)), Span::ZERO);
        assert_eq!(Span(5) - Span(7), Span::ZERO);
    }
}
