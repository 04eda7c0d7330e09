//! Samples at multiples of an interval, taken before anything else that happens at that time.

use aqmlab_units::{Span, Time};

/// Whether a sample is due at `time`.
pub(crate) fn is_due(interval: Option<Span>, time: Time) -> bool {
    interval.is_some_and(|i| time.0.is_multiple_of(i.0))
}

/// The first sample after `at`, or at the very start; never without an interval.
pub(crate) fn next(interval: Option<Span>, at: Option<Time>) -> Time {
    match (interval, at) {
        (None, _) => Time::NEVER,
        (Some(_), None) => Time::ZERO,
        (Some(interval), Some(at)) => Time((at.0 / interval.0 + 1) * interval.0),
    }
}
