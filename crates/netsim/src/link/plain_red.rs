//! RED as a function of what waits and of the time since which the link is idle, without a queue of packets.
//!
//! Three facts make this exact, where the victim is always the arriving packet:
//!
//! 1. What is accepted leaves in order as soon as the link is free. So when packet n arrives, at a_n, the start of its service is
//!    known, with the transmission time t_n: s_n = max(a_n, s_(n-1) + t_(n-1)). It arrives at the far end at s_n + t_n + delay.
//! 2. What the link counts of a departure is a sum over packets of what depends on a_n, s_n and t_n only, and a sum has no order.
//!    So departures are counted at the arrival. Two instants need the sum of those that have departed until then: at the end of the
//!    run departures after it are taken back, and at the end of the warm-up those of the packets that wait are counted
//!    again, after the counters were reset. (A log of events has an order: a link that keeps one is an
//!    [`InOrder`](super::InOrder).)
//! 3. A decision depends on the queue by number and bytes of what waits, and by the time since which the link is idle: see
//!    [`Red::is_plain`](aqmlab_aqm::red::Red::is_plain). Who waits follows from the starts s_n: those that come before the arrival, by their
//!    keys, have left. The link is idle since the end of the last service.
//!
//! Samples and the end of the warm-up are evaluated before the first arrival that comes after them, with the queue of their time.

use std::collections::VecDeque;

use aqmlab_aqm::red::DropDecision;
use aqmlab_aqm::{Discipline, Header, Meta, Packet};
use aqmlab_units::Time;

use super::station::Station;
use crate::attached::Attached;
use crate::key::Key;
use crate::message::Message;
use crate::paths::Paths;
use crate::plan::LinkId;

/// A link with a plain RED queue.
#[derive(Clone, Debug)]
pub(crate) struct PlainRed {
    /// Its discipline knows number and bytes of what waits.
    pub(super) station: Station<i32>,
    /// When the last packet accepted will have been served.
    free_at: Time,
    /// Start of the service in progress, or of the last one.
    serving_since: Time,
    /// What waits for its service, in order.
    waiting: VecDeque<Waiter>,
    /// When the service of the first of them starts; `NEVER` if nothing waits.
    next_start: Time,
    /// The warm-up is not over.
    is_warming_up: bool,
}

/// What is kept of a packet that waits.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    arrival: Time,
    starts: Time,
    bytes: u32,
    /// The bits of the header that the packet carries; see [`Header::own`].
    header: u32,
}

impl Waiter {
    fn meta(&self) -> Meta {
        let header = Header::default().with_own(self.header);
        Meta { arrival: self.arrival, bytes: self.bytes, header, ..Meta::default() }
    }
}

impl PlainRed {
    /// Create the station of a link for which [`PlainRed::fits`].
    pub fn new(id: LinkId, plan: &Attached<'_>, seed: u64) -> Self {
        Self {
            station: Station::new(id, plan, seed, false),
            free_at: Time::ZERO,
            serving_since: Time::ZERO,
            waiting: VecDeque::new(),
            next_start: Time::NEVER,
            is_warming_up: true,
        }
    }

    /// Return whether a discipline is plain RED, and the link has neither a log of events or packets nor markers.
    pub fn fits(id: LinkId, plan: &Attached<'_>, discipline: &Discipline<()>) -> bool {
        let logs = plan.is_observed(id) && (plan.probe.events || plan.probe.packets);
        !logs && plan.markers(id).is_empty() && matches!(discipline, Discipline::Red(red) if red.is_plain())
    }

    /// Handle an arriving packet. Return whether it is accepted; its key is then that of its arrival at the far end.
    pub fn arrive(&mut self, paths: &Paths, message: &mut Message) -> bool {
        let (now, key) = (message.time, message.key());
        if self.station.next_own_event() <= now {
            self.handle_events(now);
        }
        self.release(key);
        let is_idle = self.next_start == Time::NEVER && self.is_free(key);
        let bytes = message.bytes;
        let Discipline::Red(red) = &mut self.station.discipline else {
            unreachable!("the queue is plain RED");
        };
        let average = red.see_arrival(now, is_idle.then_some(self.free_at));
        if !red.accepts_below_min_th(bytes) {
            let decision = self.station.judge(now, bytes);
            if decision != DropDecision::Accept && !self.carry_out(decision, average, paths, message) {
                return false;
            }
        }
        let starts = if is_idle { now } else { self.free_at };
        let transmission = self.station.serializer.transmit(bytes);
        let seen = (message.dscp(), bytes);
        self.station.stats.judged(now, seen, average, Some((starts.since(now), transmission)));
        if is_idle {
            self.serving_since = now;
        } else {
            self.wait(Waiter { arrival: now, starts, bytes, header: message.header });
        }
        self.free_at = starts + transmission;
        (message.time, message.cause, message.source) =
            (self.free_at + self.station.delay, starts, self.station.id);
        true
    }

    /// Carry out a decision other than to accept a packet. Return whether it is accepted all the same, marked.
    #[inline(never)]
    fn carry_out(
        &mut self,
        decision: DropDecision,
        average: f64,
        paths: &Paths,
        message: &mut Message,
    ) -> bool {
        let mut packet = Packet { meta: paths.meta(message), payload: message.number };
        let is_marked = self.station.carry_out(decision, average, &mut packet);
        message.rewrite(packet.meta.header);
        is_marked
    }

    /// Let an accepted packet wait.
    #[inline(always)]
    fn wait(&mut self, packet: Waiter) {
        if let Discipline::Red(red) = &mut self.station.discipline {
            red.waits(packet.bytes);
        }
        self.next_start = self.next_start.min(packet.starts);
        self.waiting.push_back(packet);
        let counters = &mut self.station.stats.counters;
        counters.max_queue = counters.max_queue.max(self.waiting.len() as u32);
    }

    /// Return whether the last service ends before `key`.
    #[inline(always)]
    fn is_free(&self, key: Key) -> bool {
        // No service ends at time 0.
        self.free_at == Time::ZERO || self.ends_before(self.free_at, key)
    }

    /// Return whether the service in progress, which ends at `end`, ends before `key`.
    #[inline(always)]
    fn ends_before(&self, end: Time, key: Key) -> bool {
        Key { time: end, cause: self.serving_since, source: self.station.id }.precedes(key)
    }

    /// Let those leave the queue whose services start before `key`.
    #[inline(always)]
    fn release(&mut self, key: Key) {
        while self.next_start <= key.time
            && self.ends_before(self.next_start, key)
            && let Some(Waiter { starts, bytes, .. }) = self.waiting.pop_front()
        {
            self.serving_since = starts;
            self.next_start = self.waiting.front().map_or(Time::NEVER, |next| next.starts);
            if let Discipline::Red(red) = &mut self.station.discipline {
                red.leaves(bytes);
            }
        }
    }

    /// Advance the station to the end of the run.
    pub fn finish(&mut self, end: Time) {
        self.handle_events(end);
        self.release(Key::start_of(end));
        let Self { waiting, station, .. } = self;
        for packet in &*waiting {
            let transmission = station.serializer.transmit(packet.bytes);
            station.stats.take_back(packet.starts, &packet.meta(), transmission);
        }
        self.station.service = self.service(end);
        self.station.finish(end);
    }

    /// Handle the own events up to `now`, each with the queue of its time.
    #[cold]
    fn handle_events(&mut self, now: Time) {
        while self.station.next_own_event() <= now {
            let at = self.station.next_own_event();
            self.release(Key::start_of(at));
            self.station.service = self.service(at);
            self.station.advance(at);
            if self.is_warming_up && at >= self.station.warmup() {
                self.is_warming_up = false;
                self.count_waiting();
            }
        }
    }

    /// Count the departures of what waits, after the counters were reset.
    fn count_waiting(&mut self) {
        let Self { waiting, station, .. } = self;
        for packet in &*waiting {
            let transmission = station.serializer.transmit(packet.bytes);
            station.stats.departs_after_warmup(packet.starts, &packet.meta(), transmission);
        }
    }

    /// Start and end of the service in progress at a time up to which those that wait have been released.
    fn service(&self, at: Time) -> Option<(Time, Time)> {
        let end = self.waiting.front().map_or(self.free_at, |packet| packet.starts);
        let is_serving = !self.waiting.is_empty() || !self.is_free(Key::start_of(at));
        is_serving.then_some((self.serving_since, end))
    }
}
