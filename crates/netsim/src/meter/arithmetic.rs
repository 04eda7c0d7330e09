use core::fmt::Debug;
use core::ops::{Add, Sub};

use aqmlab_units::{Rate, Time};

use super::Color;

/// How a meter counts; see the table of the [module](crate::meter).
pub trait Arithmetic: Copy + Debug {
    /// An amount of tokens.
    type Tokens: Copy + Debug + PartialOrd + Add<Output = Self::Tokens> + Sub<Output = Self::Tokens>;

    /// The tokens that so many bytes cost.
    fn tokens(bytes: u64) -> Self::Tokens;

    /// Return the tokens earned at a rate from one time to another.
    fn earned(rate: Rate, from: Time, to: Time) -> Self::Tokens;

    /// Seconds from one time to another.
    fn seconds(from: Time, to: Time) -> f64;

    /// The colour at an average rate, given the thresholds (all in bytes per second): two colours without `pir`.
    fn color_at(average: f64, cir: f64, pir: Option<f64>, uniform: &mut impl FnMut() -> f64) -> Color;
}

/// Whole numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exact;

impl Arithmetic for Exact {
    /// A byte costs 8 bits times the picoseconds of a second.
    type Tokens = u128;

    fn tokens(bytes: u64) -> u128 {
        u128::from(bytes) * 8_000_000_000_000
    }

    fn earned(rate: Rate, from: Time, to: Time) -> u128 {
        u128::from(rate.0) * u128::from(to.since(from).0)
    }

    fn seconds(from: Time, to: Time) -> f64 {
        to.since(from).secs()
    }

    fn color_at(average: f64, cir: f64, pir: Option<f64>, uniform: &mut impl FnMut() -> f64) -> Color {
        if average <= cir {
            return Color::Green;
        }
        let u = uniform();
        let exceeds = |threshold: f64| u < (average - threshold) / average;
        match pir {
            None if exceeds(cir) => Color::Red,
            Some(pir) if exceeds(pir) => Color::Red,
            Some(_) if exceeds(cir) => Color::Yellow,
            _ => Color::Green,
        }
    }
}

/// The doubles of ns-2 2.35.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ns2;

impl Arithmetic for Ns2 {
    /// Bytes.
    type Tokens = f64;

    fn tokens(bytes: u64) -> f64 {
        bytes as f64
    }

    fn earned(rate: Rate, from: Time, to: Time) -> f64 {
        rate.bps() / 8.0 * Self::seconds(from, to)
    }

    fn seconds(from: Time, to: Time) -> f64 {
        to.secs() - from.secs()
    }

    fn color_at(average: f64, cir: f64, pir: Option<f64>, uniform: &mut impl FnMut() -> f64) -> Color {
        let Some(pir) = pir else {
            let red = average > cir && uniform() <= 1.0 - cir / average;
            return if red { Color::Red } else { Color::Green };
        };
        let x = average * (1.0 - uniform());
        if x > pir {
            Color::Red
        } else if x > cir {
            Color::Yellow
        } else {
            Color::Green
        }
    }
}
