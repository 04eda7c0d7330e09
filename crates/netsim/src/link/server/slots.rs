//! For tests: opportunities to send so many bytes each, at multiples of a time, as in a trace of mahimahi. A packet may take several, and
//! several packets may share one.

use aqmlab_units::{Rate, Span, Time};

use super::piecewise::Work;
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
    fn serve_until(&mut self, start: Time, mut work: Work, until: Time) -> Result<Time, Work> {
        let Slots { period: Span(period), bytes: size } = self.slots;
        if self.last * period < start.0 {
            (self.last, self.left) = (start.0 / period, 0);
        }
        loop {
            let taken = u64::from(self.left).min(work.bytes());
            self.left -= taken as u32;
            work = work.after(taken);
            if work.bytes() == 0 {
                return Ok(Time(self.last * period).max(start));
            }
            if Time((self.last + 1) * period) > until {
                return Err(work);
            }
            (self.last, self.left) = (self.last + 1, size);
        }
    }

    fn rate_at(&self, _time: Time) -> Rate {
        self.slots.rate()
    }
}
