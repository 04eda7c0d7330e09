use core::ops::{Add, AddAssign, Mul, Sub};

const PS_PER_S: f64 = 1e12;

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
        Self((s * PS_PER_S).round_ties_even() as u64)
    }

    /// Seconds since the start, correctly rounded to a double.
    pub fn secs(self) -> f64 {
        self.0 as f64 / PS_PER_S
    }

    /// The time from `earlier` to `self`, zero when `earlier` is later.
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// `s` seconds, rounded to the nearest picosecond. Negative values and NaN become zero.
    pub fn from_secs(s: f64) -> Self {
        Self((s * PS_PER_S).round_ties_even() as u64)
    }

    /// Whole milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }

    /// Seconds, correctly rounded to a double.
    pub fn secs(self) -> f64 {
        self.0 as f64 / PS_PER_S
    }
}

impl Add<Span> for Time {
    type Output = Time;
    /// Saturates at [`Time::NEVER`].
    fn add(self, d: Span) -> Time {
        Time(self.0.saturating_add(d.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, d: Span) {
        *self = *self + d;
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, d: Span) -> Span {
        Span(self.0.saturating_add(d.0))
    }
}

impl Sub for Span {
    type Output = Span;
    /// Saturates at zero.
    fn sub(self, d: Span) -> Span {
        Span(self.0.saturating_sub(d.0))
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, k: u64) -> Span {
        Span(self.0.saturating_mul(k))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_trip() {
        assert_eq!(Time::from_secs(1.0 / 4096.0), Time(244_140_625));
        assert_eq!(Time(244_140_625).secs(), 1.0 / 4096.0);
        assert_eq!(Span::from_millis(10), Span::from_secs(0.01));
        assert_eq!(Time::from_secs(-1.0), Time::ZERO);
        assert_eq!(Time::from_secs(f64::NAN), Time::ZERO);
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Time::NEVER + Span(1), Time::NEVER);
        assert_eq!(Time(5).since(Time(7)), Span::ZERO);
        assert_eq!(Span(5) - Span(7), Span::ZERO);
    }
}
