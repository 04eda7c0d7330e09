//! What a link does by the clock rather than for a packet.

use aqmlab_aqm::Qdisc;
use aqmlab_units::{Serializer, Span, Time};

use super::Link;
use crate::ledger::LinkHost;

impl Link {
    /// Looks at what is due before anything happens at `now`.
    #[inline]
    pub(super) fn look(&mut self, now: Time) {
        while self.next_look <= now {
            self.look_at(self.next_look);
        }
    }

    fn look_at(&mut self, at: Time) {
        self.account(at);
        if at == self.warmup {
            self.forget(at);
        }
        if let Some(observation) = &mut self.ledger.observation {
            observation.sample(at, &self.discipline);
        }
        self.change(at);
        if self.discipline.next_timer().is_some_and(|t| t <= at) {
            self.on_timer(at);
        }
        self.next_look = self.look_after(Some(at));
    }

    /// Changes that are due. The packet in service has left already with the rate and the delay that it began with.
    fn change(&mut self, now: Time) {
        while self.changes.front().is_some_and(|c| c.at <= now)
            && let Some(change) = self.changes.pop_front()
        {
            if let Some(rate) = change.rate {
                self.serializer = Serializer::new(rate);
            }
            self.delay = change.delay.unwrap_or(self.delay);
        }
    }

    /// The discipline wanted to be called now.
    fn on_timer(&mut self, now: Time) {
        let mut host = LinkHost::new(&mut self.rng, &mut self.ledger, now, &mut self.dropped);
        self.discipline.on_timer(now, &mut host);
        debug_assert!(self.discipline.next_timer().is_none_or(|t| t > now), "a timer that never ends");
    }

    /// The discipline may want to be called earlier than before.
    #[inline]
    pub(super) fn mind_timer(&mut self) {
        if let Some(timer) = self.discipline.next_timer() {
            self.next_look = self.next_look.min(timer);
        }
    }

    /// When to look next: at the end of the warm-up, at samples, changes and timers.
    pub(super) fn look_after(&self, at: Option<Time>) -> Time {
        let warmup = if at.is_none_or(|t| t < self.warmup) { self.warmup } else { Time::NEVER };
        let sample = self.ledger.observation.as_ref().map_or(Time::NEVER, |o| o.sample_after(at));
        let change = self.changes.front().map_or(Time::NEVER, |c| c.at);
        let timer = self.discipline.next_timer().unwrap_or(Time::NEVER);
        warmup.min(sample).min(change).min(timer)
    }

    /// The warm-up is over: counts anew.
    fn forget(&mut self, now: Time) {
        let service = self.service.map_or(Span::ZERO, |(_, end)| end.since(now));
        self.ledger.forget(self.discipline.backlog(), service);
        if let Some(markers) = &mut self.markers {
            markers.forget();
        }
    }
}
