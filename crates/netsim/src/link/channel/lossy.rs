//! For tests: every so many packets, one is lost.

use aqmlab_units::{Span, Time};

use super::{Carry, Carrying, Channel, ChannelChange, ChannelPart};

/// A channel that loses packets, after another one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lossy {
    pub before: Box<Channel>,
    pub every: u32,
}

impl ChannelPart for Lossy {
    type State = State;

    fn delay(&self) -> Span {
        self.before.delay()
    }

    fn shortest(&self) -> Span {
        self.before.shortest()
    }

    fn keeps_order(&self) -> bool {
        self.before.keeps_order()
    }

    fn then(self, at: Time, change: &ChannelChange) -> Channel {
        Self { before: Box::new(self.before.then(at, change)), ..self }.into()
    }

    fn since(&self, now: Time) -> Self {
        Self { before: Box::new(self.before.since(now)), ..*self }
    }

    fn start(&self, seed: u64, link: &str) -> State {
        State { before: Box::new(self.before.start(seed, link)), every: self.every, count: 0 }
    }
}

/// The channel before, and the packets since the last one that was lost.
#[derive(Clone, Debug)]
pub(crate) struct State {
    before: Box<Carrying>,
    every: u32,
    count: u32,
}

impl Carry for State {
    fn carry(&mut self, start: Time, end: Time) -> Time {
        let arrival = self.before.carry(start, end);
        self.count = (self.count + 1) % self.every;
        if self.count == 0 { Time::NEVER } else { arrival }
    }

    fn copy(&mut self) -> Option<Time> {
        self.before.copy()
    }
}
