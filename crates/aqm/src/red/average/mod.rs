//! The average: what congestion is measured by.
//!
//! An average is updated at every arrival, with the queue before that arrival. Its unit is that of the mode,
//! packets or bytes; [`Average::value`] gives it in that unit.

mod ewma;
mod integer;

pub use ewma::Ewma;
pub use integer::{IdleRule, IntegerEwma, Powers, Shifts};

use aqmlab_units::Span;

/// The averages to choose from.
#[derive(Clone, Debug)]
pub enum Average {
    /// Exponentially weighted moving average in floating point.
    Ewma(Ewma),
    /// The same in integers.
    Integer(IntegerEwma),
}

impl Average {
    /// An arrival at a busy system that found `q` queued. Return the average.
    #[inline]
    pub fn on_arrival(&mut self, q: f64) -> f64 {
        match self {
            Self::Ewma(a) => {
                a.on_arrival(q);
                a.value()
            }
            Self::Integer(a) => {
                a.on_arrival(q);
                a.value()
            }
        }
    }

    /// An arrival that ends an idle period of this length.
    #[inline]
    pub fn on_arrival_after_idle(&mut self, idle: Span) {
        match self {
            Self::Ewma(a) => a.on_arrival_after_idle(idle),
            Self::Integer(a) => a.on_arrival_after_idle(idle),
        }
    }

    /// Decay over an idle period of this length, without a step for the arrival that ends it.
    pub fn decay(&mut self, idle: Span) {
        match self {
            Self::Ewma(a) => a.decay(idle),
            Self::Integer(a) => a.decay(idle),
        }
    }

    /// The average, in packets or bytes after the mode.
    #[inline]
    pub fn value(&self) -> f64 {
        match self {
            Self::Ewma(a) => a.value(),
            Self::Integer(a) => a.value(),
        }
    }

    /// The average times 2^fraction, rounded down; 0 if it is not in integers.
    #[inline]
    pub fn fixed(&self) -> u64 {
        match self {
            Self::Ewma(_) => 0,
            Self::Integer(a) => a.fixed(),
        }
    }

    /// Return [`Average::fixed`] as it would be at an arrival after an idle period of this length; the average stays.
    pub fn fixed_after(&self, idle: Span) -> u64 {
        let mut after = self.clone();
        after.decay(idle);
        after.fixed()
    }

    /// The average in integers.
    pub fn integer(&self) -> Option<&IntegerEwma> {
        match self {
            Self::Ewma(_) => None,
            Self::Integer(a) => Some(a),
        }
    }
}
