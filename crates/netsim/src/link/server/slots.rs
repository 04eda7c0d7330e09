//! For tests: opportunities to send so many bytes each, at multiples of a time, as in a trace of mahimahi. A packet may take several, and
//! several packets may share one.

use aqmlab_units::{Rate, Span, Time};

use super::{Serve, ServerPart};

/// A server of opportunities.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slots {
    pub period: Span,
    pub bytes: u32,
}

impl ServerPart for Slots {
    type State = State;

    fn rate(&self) -> Rate {
        Rate((f64::from(self.bytes) * 8.0 / self.period.secs()) as u64)
    }

    fn longest(&self, bytes: u64) -> Span {
        self.period * (bytes / u64::from(self.bytes) + 2)
    }

    fn start(&self, _seed: u64, _link: &str) -> State {
        State { slots: self.clone(), last: 0, left: 0 }
    }
}

/// The opportunity at present, and the bytes that are left of it.
#[derive(Clone, Debug)]
pub(crate) struct State {
    slots: Slots,
    last: u64,
    left: u32,
}

impl Serve for State {
    fn serve(&mut self, start: Time, bytes: u32) -> Span {
        let Slots { period: Span(period), bytes: size } = self.slots;
        if self.last * period < start.0 {
            (self.last, self.left) = (start.0 / period, 0);
        }
        let missing = bytes.saturating_sub(self.left);
        let more = missing.div_ceil(size);
        self.left = more * size + self.left - bytes;
        self.last += u64::from(more);
        Time(self.last * period).since(start)
    }

    fn rate_at(&self, _time: Time) -> Rate {
        self.slots.rate()
    }
}
