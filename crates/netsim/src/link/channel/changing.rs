//! A propagation delay that changes at known times, by `[[change]]` with `delay`. It is that of the time at which the service of a
//! packet starts. No packet overtakes another.

use std::collections::VecDeque;

use aqmlab_units::{Span, Time};

use super::impaired::Impaired;
use super::{Carry, Channel, ChannelChange, ChannelPart};

/// A propagation delay, and those that replace it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Changing {
    first: Span,
    /// In the order of their times.
    later: Vec<(Time, Span)>,
}

impl Changing {
    /// Create it with the delay before all changes.
    pub fn new(first: Span) -> Self {
        Self { first, later: Vec::new() }
    }
}

impl ChannelPart for Changing {
    type State = State;

    fn delay(&self) -> Span {
        self.first
    }

    fn shortest(&self) -> Span {
        self.later.iter().map(|(_, delay)| *delay).fold(self.first, Span::min)
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn then(mut self, at: Time, change: &ChannelChange) -> Channel {
        if let Some(delay) = change.delay {
            self.later.push((at, delay));
        }
        if change.impairments.is_empty() {
            return self.into();
        }
        let before = if self.later.is_empty() { Channel::constant(self.first) } else { self.into() };
        Impaired::new(before, Default::default()).then(at, &ChannelChange { delay: None, ..change.clone() })
    }

    fn since(&self, now: Time) -> Self {
        let later = self.later.iter().filter(|(at, _)| *at > now).copied().collect();
        Self { later, ..*self }
    }

    fn start(&self, _seed: u64, _link: &str) -> State {
        State { now: self.first, later: self.later.iter().copied().collect(), last_arrival: Time::ZERO }
    }
}

/// The delay at present, those that replace it, and when the last packet arrives.
#[derive(Clone, Debug)]
pub(crate) struct State {
    now: Span,
    later: VecDeque<(Time, Span)>,
    last_arrival: Time,
}

impl Carry for State {
    fn carry(&mut self, start: Time, end: Time) -> Time {
        while self.later.front().is_some_and(|(at, _)| *at <= start)
            && let Some((_, delay)) = self.later.pop_front()
        {
            self.now = delay;
        }
        self.last_arrival = self.last_arrival.max(end + self.now);
        self.last_arrival
    }

    fn copy(&mut self) -> Option<Time> {
        None
    }
}
