//! A player's buffer: seconds of video that have come and are not yet played.
//!
//! Playing begins when `startup` is in the buffer. It stands still when the buffer is empty and goes on with the next
//! segment.

use aqmlab_units::{Span, Time};

/// The buffer.
#[derive(Clone, Debug)]
pub(crate) struct Playback {
    level: Span,
    /// When that was the level.
    at: Time,
    startup: Span,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Playing,
    /// The buffer has been empty since then.
    Stalled(Time),
}

impl Playback {
    pub fn new(startup: Span) -> Self {
        Self { level: Span::ZERO, at: Time::ZERO, startup, state: State::Waiting }
    }

    /// How much is in the buffer.
    pub fn level(&mut self, now: Time) -> Span {
        let gone = now.since(self.at);
        if self.state == State::Playing {
            if gone > self.level {
                self.state = State::Stalled(self.at + self.level);
            }
            self.level = self.level - gone;
        }
        self.at = now;
        self.level
    }

    /// A segment has come: for how long playing stood still before it.
    pub fn add(&mut self, now: Time, segment: Span) -> Span {
        self.level = self.level(now) + segment;
        match self.state {
            State::Playing => Span::ZERO,
            State::Waiting => {
                if self.level >= self.startup {
                    self.state = State::Playing;
                }
                Span::ZERO
            }
            State::Stalled(since) => {
                self.state = State::Playing;
                now.since(since)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let (s, t) = (Span::from_secs, Time::from_secs);
        let mut playback = Playback::new(s(8.0));
        // Two segments of 4 s at 1 s and 3 s: playing begins at 3 s with 8 s; at 12 s the buffer has been empty for 1 s.
        assert_eq!([playback.add(t(1.0), s(4.0)), playback.level(t(2.0))], [s(0.0), s(4.0)]);
        assert_eq!([playback.add(t(3.0), s(4.0)), playback.level(t(5.5))], [s(0.0), s(5.5)]);
        assert_eq!(playback.level(t(12.0)), s(0.0));
        assert_eq!([playback.add(t(12.5), s(4.0)), playback.level(t(12.5))], [s(1.5), s(4.0)]);
        // Just in time.
        assert_eq!([playback.add(t(16.5), s(4.0)), playback.level(t(17.0))], [s(0.0), s(3.5)]);
    }
}
