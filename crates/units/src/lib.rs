#![doc = include_str!("../README.md")]
//!
//! # Structure
//!
//! Quantities with their units in the type, named streams of random numbers, distributions to draw from, lengths on the wire,
//! the description of a parameter, and a request for memory ahead.
//!
//! Time is an integer number of picoseconds, so that the order of events never depends on rounding: a `u64`
//! spans 213 days, and one byte at 400 Gb/s still lasts 20 ps.

mod cdf;
mod framing;
mod memory;
mod parameter;
mod random;
mod rate;
mod spread;
mod time;
mod words;

pub use cdf::Cdf;
pub use framing::{Framing, LinkLayer};
pub use memory::{are_in_successive_lines, prefetch};
pub use parameter::{LEVELS, Parameter, ParameterValue, ValueKind};
pub use random::{Random, Stream};
pub use rate::{Rate, Serializer};
pub use spread::Spread;
pub use time::{Span, Time};
pub use words::{name_of, names, value_of};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A probability in [0, 1].
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Probability(f64);

impl Probability {
    /// Zero: never.
    pub const ZERO: Self = Self(0.0);
    /// One: always.
    pub const ONE: Self = Self(1.0);

    /// `p` as a probability; `None` outside [0, 1] and for NaN.
    pub fn new(p: f64) -> Option<Self> {
        (0.0..=1.0).contains(&p).then_some(Self(p))
    }

    /// `p` forced into [0, 1]; NaN becomes 0.
    pub fn clamped(p: f64) -> Self {
        if p >= 1.0 {
            Self::ONE
        } else if p > 0.0 {
            Self(p)
        } else {
            Self::ZERO
        }
    }

    /// The value, in [0, 1].
    pub fn get(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probability_is_a_probability() {
        assert_eq!(Probability::new(0.25).map(Probability::get), Some(0.25));
        assert_eq!(Probability::new(-1e-9), None);
        assert_eq!(Probability::new(1.0 + 1e-9), None);
        assert_eq!(Probability::new(f64::NAN), None);
        assert_eq!(Probability::clamped(f64::NAN), Probability::ZERO);
        assert_eq!(Probability::clamped(7.0), Probability::ONE);
        assert_eq!(Probability::clamped(-7.0), Probability::ZERO);
    }
}
