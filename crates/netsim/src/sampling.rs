//! Samples at multiples of an interval, taken before anything else that happens at that time.

use aqmlab_units::{Span, Time};

/// Samples that are taken of a station.
#[derive(Clone, Debug)]
pub(crate) struct Sampler<T> {
    interval: Span,
    samples: Vec<T>,
}

impl<T> Sampler<T> {
    /// Nothing where nothing is to be sampled.
    pub fn every(interval: Option<Span>) -> Option<Box<Self>> {
        interval.map(|interval| Box::new(Self { interval, samples: Vec::new() }))
    }

    /// Keeps what `sample` finds, if a sample is due at `time`.
    pub fn take(&mut self, time: Time, sample: impl FnOnce() -> T) {
        if is_due(Some(self.interval), time) {
            self.samples.push(sample());
        }
    }

    /// The first sample after `at`, or at the very start.
    pub fn next(&self, at: Option<Time>) -> Time {
        next(Some(self.interval), at)
    }

    /// All samples so far.
    pub fn samples(&self) -> &[T] {
        &self.samples
    }
}

/// Whether a sample is due at `time`.
pub(crate) fn is_due(interval: Option<Span>, time: Time) -> bool {
    interval.is_some_and(|i| time.0.is_multiple_of(i.0))
}

/// The first sample after `at`, or at the very start; never without an interval.
pub(crate) fn next(interval: Option<Span>, at: Option<Time>) -> Time {
    match (interval, at) {
        (None, _) => Time::NEVER,
        (Some(_), None) => Time::ZERO,
        (Some(interval), Some(at)) => Time((at.0 / interval.0 + 1).saturating_mul(interval.0)),
    }
}
