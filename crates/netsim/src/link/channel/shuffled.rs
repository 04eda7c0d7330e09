//! For tests: every so many packets, one takes a longer way, and one is duplicated; the copy takes the longer way.

use aqmlab_units::{Span, Time};

use super::{Carry, Carrying, Channel, ChannelChange, ChannelPart};

/// A channel that reorders and duplicates packets, after another one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shuffled {
    pub before: Box<Channel>,
    pub every: u32,
    pub detour: Span,
}

impl ChannelPart for Shuffled {
    type State = State;

    fn delay(&self) -> Span {
        self.before.delay()
    }

    fn shortest(&self) -> Span {
        self.before.shortest()
    }

    fn keeps_order(&self) -> bool {
        false
    }

    fn then(self, at: Time, change: &ChannelChange) -> Channel {
        Self { before: Box::new(self.before.then(at, change)), ..self }.into()
    }

    fn since(&self, now: Time) -> Self {
        Self { before: Box::new(self.before.since(now)), ..*self }
    }

    fn start(&self, seed: u64, link: &str) -> State {
        let before = Box::new(self.before.start(seed, link));
        State { before, every: self.every, detour: self.detour, count: 0, last: Time::NEVER }
    }
}

/// The channel before, the packets so far, and when the last one has passed that channel.
#[derive(Clone, Debug)]
pub(crate) struct State {
    before: Box<Carrying>,
    every: u32,
    detour: Span,
    count: u32,
    last: Time,
}

impl Carry for State {
    fn carry(&mut self, start: Time, end: Time) -> Time {
        self.last = self.before.carry(start, end);
        self.count += 1;
        let is_late = self.last != Time::NEVER && self.count.is_multiple_of(self.every);
        if is_late { self.last + self.detour } else { self.last }
    }

    fn copy(&mut self) -> Option<Time> {
        let is_copied = self.last != Time::NEVER && self.count % self.every == 1;
        is_copied.then(|| self.last + self.detour)
    }
}
