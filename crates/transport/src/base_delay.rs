//! The base delay of a path: the least delay one way of some minutes.
//!
//! S. Shalunov et al., RFC 6817, section 2.4.2: `base_delays` has the least delay of each of the last minutes, so that a longer path
//! is noticed after so many.

use aqmlab_units::{Span, Time};

/// A bucket of base delays.
const MINUTE: Span = Span::from_millis(60_000);
/// Most minutes that are kept.
const MOST_MINUTES: usize = 60;
/// No delay.
pub(crate) const NONE: Span = Span(u64::MAX);

/// The least delays of one path.
#[derive(Clone, Debug)]
pub(crate) struct BaseDelays {
    /// Of this minute first.
    least: [Span; MOST_MINUTES],
    minutes: usize,
    minute: u64,
}

impl BaseDelays {
    /// Keep the least delays of so many minutes, 1 to [`MOST_MINUTES`].
    pub fn new(minutes: usize) -> Self {
        Self { least: [NONE; MOST_MINUTES], minutes: minutes.clamp(1, MOST_MINUTES), minute: 0 }
    }

    /// Take a delay.
    pub fn take(&mut self, now: Time, delay: Span) {
        let minute = now.0 / MINUTE.0;
        if minute != self.minute {
            let passed = usize::try_from(minute - self.minute).map_or(self.minutes, |n| n.min(self.minutes));
            self.least.copy_within(..self.minutes - passed, passed);
            self.least[..passed].fill(NONE);
            self.minute = minute;
        }
        self.least[0] = self.least[0].min(delay);
    }

    /// Return the least delay; [`NONE`] before the first one.
    pub fn least(&self) -> Span {
        self.least[..self.minutes].iter().copied().min().unwrap_or(NONE)
    }
}
