//! A delay that changes at handovers between satellites: `handover_step = "10ms"`, and `handover = "15s"` between them, as for the server
//! `leo` (`server/leo.rs`).
//!
//! Pan, Zhao and Cai ("Measuring the Satellite Links of a LEO Network", ICC 2024) find that the smallest round-trip time of Starlink jumps
//! every 15 s, often by 10, 20 or even 50 ms, by another ground station more than by another satellite.
//!
//! Readings that were chosen: between two handovers the delay is longer than `delay` by a constant time, uniform between 0 and
//! `handover_step` and independent of the others; it is that of the time at which the packet has left; no packet overtakes
//! another one at a handover.

use aqmlab_aqm::ParameterError;
use aqmlab_units::{Parameter, ParameterValue, Span, Stream, Time, ValueKind};

use super::super::server::FAR;
use super::{Carry, Carrying, Channel, ChannelChange, ChannelPart};
use crate::link::part::{HANDOVER, Keys, handover_period};

const STEP: Parameter = Parameter::new(
    "handover_step",
    "",
    ValueKind::Time,
    "largest addition to the delay between two handovers of satellites; 10 to 50 ms of round-trip time: Pan et al. (ICC 2024)",
)
.from(0.0)
.to(10.0);

/// A channel whose delay changes at handovers, after another one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Handover {
    before: Box<Channel>,
    step: Span,
    period: Span,
}

impl ChannelPart for Handover {
    const PARAMETERS: &'static [Parameter] = &[STEP, HANDOVER];
    type State = State;

    fn read(keys: &dyn Keys, before: Option<Channel>) -> Result<Option<Channel>, ParameterError> {
        let Some(ParameterValue::Time(step)) = keys.value(&STEP) else {
            return match keys.value(&HANDOVER) {
                Some(_) => Err(ParameterError {
                    key: HANDOVER.key.into(),
                    message: "needs handover_step".into(),
                    allowed: "handover_step beside it".into(),
                }),
                None => Ok(before),
            };
        };
        if step == Span::ZERO {
            return Ok(before);
        }
        let period = handover_period(keys);
        Ok(before.map(|before| Self { before: Box::new(before), step, period }.into()))
    }

    fn delay(&self) -> Span {
        self.before.delay() + Span(self.step.0 / 2)
    }

    fn varies_by(&self) -> Option<&'static str> {
        Some(STEP.key)
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
        let mut rng = Stream::new(seed, &format!("handover {link}"));
        State {
            before: Box::new(self.before.start(seed, link)),
            step: self.step,
            period: self.period,
            keeps_order: self.before.keeps_order(),
            next: Time::ZERO + self.period,
            addition: draw(&mut rng, self.step),
            rng,
            last_arrival: Time::ZERO,
        }
    }
}

fn draw(rng: &mut Stream, step: Span) -> Span {
    Span(rng.below(step.0 + 1))
}

/// The channel before, and the addition to its delay until the next handover.
#[derive(Clone, Debug)]
pub(crate) struct State {
    before: Box<Carrying>,
    step: Span,
    period: Span,
    keeps_order: bool,
    rng: Stream,
    next: Time,
    addition: Span,
    last_arrival: Time,
}

impl Carry for State {
    fn carry(&mut self, start: Time, end: Time) -> Time {
        // A packet that never leaves has no handovers to wait for.
        while self.next <= end && end < FAR {
            self.next += self.period;
            self.addition = draw(&mut self.rng, self.step);
        }
        let arrival = self.before.carry(start, end);
        if arrival == Time::NEVER {
            return arrival;
        }
        let arrival = arrival + self.addition;
        if self.keeps_order {
            self.last_arrival = self.last_arrival.max(arrival);
            return self.last_arrival;
        }
        arrival
    }

    fn copy(&mut self) -> Option<Time> {
        let copy = self.before.copy()?;
        Some(copy + self.addition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn channel(before: Channel) -> Handover {
        Handover { before: Box::new(before), step: Span::from_millis(10), period: Span::from_millis(15_000) }
    }

    #[test]
    fn the_delay_changes_at_handovers_alone() {
        let channel = channel(Channel::constant(Span::from_millis(20)));
        let mut state = channel.start(1, "a->b");
        let mut delay = |ms| state.carry(at(ms), at(ms)).since(at(ms));
        let mut additions = Vec::new();
        for n in 0..2000 {
            let delays = [n * 15_000 + 100, n * 15_000 + 9000, n * 15_000 + 14_999].map(&mut delay);
            assert!(delays.iter().all(|one| *one == delays[0]));
            additions.push((delays[0] - Span::from_millis(20)).secs());
        }
        let mean = additions.iter().sum::<f64>() / 2000.0;
        // Uniform on 0 to 10 ms: standard deviation 2.89 ms.
        assert!((mean - 0.005).abs() < 3.0 * 0.002_89 / 2000f64.sqrt(), "{mean}");
        assert!(additions.iter().all(|x| (0.0..=0.01).contains(x)));
        let low = additions.iter().filter(|x| **x < 0.0025).count();
        assert!((low as f64 / 2000.0 - 0.25).abs() < 0.03, "{low}");
        assert_eq!((channel.delay(), channel.shortest()), (Span::from_millis(25), Span::from_millis(20)));
    }

    #[test]
    fn no_packet_overtakes_another_one() {
        let mut state = channel(Channel::constant(Span::ZERO)).start(2, "a->b");
        let arrivals: Vec<_> = (0..200_000).map(|n| state.carry(at(n), at(n))).collect();
        assert!(arrivals.is_sorted() && (0..).zip(&arrivals).all(|(n, arrival)| *arrival >= at(n)));
    }

    #[test]
    fn losses_of_the_channel_before_are_kept() {
        let mut state = channel(Channel::constant(Span::ZERO).lossy(3)).start(1, "a->b");
        let lost: Vec<_> = (0..6).map(|n| state.carry(at(n), at(n)) == Time::NEVER).collect();
        assert_eq!(lost, [false, false, true, false, false, true]);
    }
}
