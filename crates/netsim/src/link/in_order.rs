//! A link whose discipline decides at the arrival of each packet over a first-in first-out queue, without a queue of packets in it.
//!
//! Three facts make this exact, provided that accepted packets leave in order as soon as the link is free
//! ([`Qdisc::decides_at_arrival`]):
//!
//! 1. When packet n arrives, at a_n, the start of its service is known, with the transmission time t_n:
//!    s_n = max(a_n, s_(n-1) + t_(n-1)). It arrives at the far end at s_n + t_n + delay.
//! 2. The counter of departures is a sum over packets of terms that depend on a_n, s_n and t_n only, and a sum has no
//!    order. So departures are counted at the arrival. Two instants need the sum of those that have departed until
//!    then: at the end of the run departures after it are taken back, and at the end of the warm-up those of the
//!    packets that wait are counted again, after the counters were reset. A log has an order: a link that keeps one
//!    counts each departure in its turn.
//! 3. A decision depends on the number and bytes of the waiting packets, and on the time since which the link is
//!    idle. The waiting packets follow from the starts s_n: packets that start before the arrival, by their keys, have
//!    left. The link is idle since the end of the last service.
//!
//! Samples, timers and the end of the warm-up are evaluated before the first arrival that comes after them, with the queue of
//! their time.

use core::fmt::{Debug, Formatter, Result};
use std::collections::VecDeque;

use aqmlab_aqm::{Backlog, Discipline, Header, Meta, Packet, Qdisc, Resolved, Verdict, Visitor};
use aqmlab_units::{Span, Time};

use super::station::Station;
use crate::attached::Attached;
use crate::key::Key;
use crate::link_stats::{Drops, LinkCounters, LinkStats};
use crate::marker::Markers;
use crate::message::Message;
use crate::observe::Observation;
use crate::paths::Paths;
use crate::plan::LinkId;
use crate::tables::Counting;

/// A link with a discipline that decides at arrivals. The departure of a packet is known at its arrival.
///
/// `Q` is the type of the discipline. A link that `LOGS` keeps a log or has markers, and counts each departure in its turn; others
/// count it at the arrival.
#[derive(Clone)]
struct InOrder<Q, const LOGS: bool> {
    /// Its discipline knows number and bytes of what waits, and nothing else of the packets.
    station: Station<i32, Q>,
    /// When the last packet accepted will have been served.
    free_at: Time,
    /// Start of the service in progress, or of the last one.
    serving_since: Time,
    /// Packets that wait for their service, in order.
    waiting: VecDeque<Waiter>,
    /// When the service of the first of them starts; `NEVER` if nothing waits.
    next_start: Time,
    /// The last service is over, and the discipline knows.
    is_idle: bool,
    /// The warm-up is not over.
    is_warming_up: bool,
}

/// A packet that waits, with the number that an event log shows.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    starts: Time,
    packet: Packet<i32>,
}

/// A link whose discipline decides at arrivals, whichever that is.
pub(crate) trait Deciding: Counting + Send + Sync {
    /// Handle an arriving packet. Return whether it is accepted; its key is then that of its arrival at the far end.
    fn arrive(&mut self, paths: &Paths, message: &mut Message) -> bool;

    /// See [`Station::count_arrivals`].
    fn count_arrivals(&mut self, starts: Time, meta: &Meta);

    /// See [`Link::turned_at`](super::Link::turned_at).
    fn turned_at(&self) -> Time;

    /// See [`Wire::arrivals`](super::Wire::arrivals).
    fn arrivals(&self) -> [Time; 2];

    /// Advance the station to the end of the run.
    fn finish(&mut self, end: Time);

    /// See [`Link::take_settings`](super::Link::take_settings).
    fn take_settings(&mut self, settings: &Resolved) -> bool;

    /// See [`Link::counters_at`](super::Link::counters_at).
    fn counters_at(&mut self, at: Time) -> (LinkCounters, Backlog);

    /// Return the warnings of the discipline.
    fn warnings(&self) -> Vec<String>;

    /// Return a copy.
    fn copied(&self) -> Box<dyn Deciding>;

    /// Return the name of its type, which has that of the discipline.
    fn type_name(&self) -> &'static str {
        core::any::type_name::<Self>()
    }
}

impl Debug for dyn Deciding {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(self.type_name())
    }
}

impl Clone for Box<dyn Deciding> {
    fn clone(&self) -> Self {
        self.as_ref().copied()
    }
}

/// Create the station of a link whose discipline decides at arrivals.
pub(super) fn deciding(
    id: LinkId,
    plan: &Attached<'_>,
    seed: u64,
    discipline: Discipline<i32>,
) -> Box<dyn Deciding> {
    if plan.only_counts(id) {
        return discipline.visited_by(Maker { id, plan, seed });
    }
    Box::new(InOrder::<_, true>::new(Station::new(id, plan, seed, discipline, false)))
}

/// Creates a link for a discipline of whichever type.
struct Maker<'a> {
    id: LinkId,
    plan: &'a Attached<'a>,
    seed: u64,
}

impl Visitor<i32> for Maker<'_> {
    type Output = Box<dyn Deciding>;

    #[inline(never)]
    fn visit<Q: Qdisc<i32> + Clone + Send + Sync + 'static>(self, discipline: Q) -> Self::Output {
        Box::new(InOrder::<Q, false>::new(Station::new(self.id, self.plan, self.seed, discipline, false)))
    }
}

impl<Q: Qdisc<i32>, const LOGS: bool> InOrder<Q, LOGS> {
    fn new(station: Station<i32, Q>) -> Self {
        Self {
            station,
            free_at: Time::ZERO,
            serving_since: Time::ZERO,
            waiting: VecDeque::new(),
            next_start: Time::NEVER,
            is_idle: true,
            is_warming_up: true,
        }
    }

    /// Return the header of a packet as far as it is needed before it is known that it is marked or dropped.
    #[inline(always)]
    fn meta(paths: &Paths, message: &Message) -> Meta {
        if LOGS || Q::READS_FLOW {
            return paths.meta(message);
        }
        Meta { arrival: message.time, bytes: message.bytes, flow: 0, header: message.seen() }
    }

    /// See [`Deciding::arrive`].
    #[inline(always)]
    fn pass(&mut self, paths: &Paths, message: &mut Message) -> bool {
        let (now, key) = (message.time, message.key());
        if self.station.next_own_event() <= now {
            self.handle_events(now);
        }
        self.settle(key);
        let payload = if LOGS { message.number } else { 0 };
        let mut packet = Packet { meta: Self::meta(paths, message), payload };
        if LOGS {
            let is_refused = self.station.offered(now, &mut packet);
            message.rewrite(packet.meta.header);
            if is_refused {
                return self.station.turn(paths, &packet, message);
            }
        }
        let (discipline, mut host) = self.station.discipline_and_host(now);
        let verdict = discipline.decide(now, &packet.meta, self.is_idle, &mut host);
        if verdict != Verdict::Accept {
            let Some(header) = self.carry_out(verdict, paths, message) else { return false };
            packet.meta.header = header;
        }
        let starts = if self.is_idle { now } else { self.free_at };
        let transmission = self.station.server.serve(Some(now), starts, packet.meta.bytes);
        let end = starts + transmission;
        self.count(&packet, Some((starts.since(now), transmission)));
        self.free_at = end;
        if self.is_idle {
            self.is_idle = false;
            self.serving_since = now;
        } else {
            self.wait(Waiter { starts, packet });
        }
        let arrival = self.station.channel.carry(starts, end);
        (message.time, message.cause, message.source) = (arrival, starts, self.station.id);
        true
    }

    /// Mark or drop a packet. Return its header if it is accepted.
    #[inline(never)]
    fn carry_out(&mut self, verdict: Verdict, paths: &Paths, message: &mut Message) -> Option<Header> {
        let mut packet = Packet { meta: paths.meta(message), payload: message.number };
        let accepted = self.station.carry_out(verdict, &mut packet);
        message.rewrite(packet.meta.header);
        if !accepted {
            self.count(&packet, None);
        }
        accepted.then_some(packet.meta.header)
    }

    /// Count a packet about which was decided: if it is accepted, its service starts after a delay and takes a time.
    #[inline(always)]
    fn count(&mut self, packet: &Packet<i32>, accepted: Option<(Span, Span)>) {
        let now = packet.meta.arrival;
        if !LOGS {
            let average = self.station.discipline.average(now);
            self.station.stats.judged(&packet.meta, accepted, average);
            self.station.reschedule_timer();
            return;
        }
        self.station.after_decision(now);
        if let Some((Span::ZERO, transmission)) = accepted.filter(|_| self.is_idle) {
            self.station.stats.departed(now, packet, transmission);
        }
    }

    /// An accepted packet waits for its service.
    #[inline(always)]
    fn wait(&mut self, accepted: Waiter) {
        self.next_start = self.next_start.min(accepted.starts);
        self.waiting.push_back(accepted);
        let counters = &mut self.station.stats.counters;
        counters.max_queue = counters.max_queue.max(self.waiting.len() as u32);
    }

    /// Return whether the service in progress, which ends at `end`, ends before `key`.
    #[inline(always)]
    fn ends_before(&self, end: Time, key: Key) -> bool {
        Key { time: end, cause: self.serving_since, source: self.station.id }.precedes(key)
    }

    /// Let packets leave the queue whose services start before `key`, and the link become idle if the last service ends before it.
    #[inline(always)]
    fn settle(&mut self, key: Key) {
        while self.next_start <= key.time
            && self.ends_before(self.next_start, key)
            && let Some(Waiter { starts, packet }) = self.waiting.pop_front()
        {
            self.serving_since = starts;
            self.next_start = self.waiting.front().map_or(Time::NEVER, |next| next.starts);
            self.station.discipline.leaves(starts, &packet.meta);
            if LOGS {
                let end = self.end_of_service();
                self.station.stats.departed(starts, &packet, end.since(starts));
            }
        }
        if !self.is_idle && self.next_start == Time::NEVER && self.ends_before(self.free_at, key) {
            self.is_idle = true;
            self.station.become_idle(self.free_at);
        }
    }

    /// See [`Deciding::finish`].
    fn end(&mut self, end: Time) {
        self.handle_events(end);
        self.settle(Key::start_of(end));
        if !LOGS {
            self.each_waiting(LinkStats::take_back);
        }
        self.station.service = self.service();
        self.station.finish(end);
    }

    /// Handle the own events up to `now`, each with the queue of its time.
    #[cold]
    fn handle_events(&mut self, now: Time) {
        while self.station.next_own_event() <= now {
            let at = self.station.next_own_event();
            self.settle(Key::start_of(at));
            self.station.service = self.service();
            self.station.advance(at);
            if self.is_warming_up && at >= self.station.warmup() {
                self.is_warming_up = false;
                if !LOGS {
                    // The counters were reset.
                    self.each_waiting(LinkStats::departs_after_warmup);
                }
            }
        }
    }

    /// Call `see` with the statistics and each waiting packet: when its service starts, its header, and how long the service takes.
    fn each_waiting(&mut self, see: impl Fn(&mut LinkStats, Time, &Meta, Span)) {
        let ends = self.waiting.iter().skip(1).map(|next| next.starts).chain([self.free_at]);
        for (Waiter { starts, packet }, end) in self.waiting.iter().zip(ends) {
            see(&mut self.station.stats, *starts, &packet.meta, end.since(*starts));
        }
    }

    /// Return the end of the service in progress, or of the last one.
    fn end_of_service(&self) -> Time {
        self.waiting.front().map_or(self.free_at, |next| next.starts)
    }

    /// Return start and end of the service in progress.
    fn service(&self) -> Option<(Time, Time)> {
        (!self.is_idle).then_some((self.serving_since, self.end_of_service()))
    }
}

impl<Q: Qdisc<i32> + Clone + Send + Sync + 'static, const LOGS: bool> Deciding for InOrder<Q, LOGS> {
    fn arrive(&mut self, paths: &Paths, message: &mut Message) -> bool {
        self.pass(paths, message)
    }

    fn count_arrivals(&mut self, starts: Time, meta: &Meta) {
        self.station.count_arrivals(starts, meta);
    }

    fn turned_at(&self) -> Time {
        self.station.turned_at
    }

    fn arrivals(&self) -> [Time; 2] {
        self.station.channel.arrivals()
    }

    fn finish(&mut self, end: Time) {
        self.end(end);
    }

    fn take_settings(&mut self, settings: &Resolved) -> bool {
        self.station.discipline.take_settings(settings)
    }

    fn counters_at(&mut self, at: Time) -> (LinkCounters, Backlog) {
        let observation = self.station.stats.observation.take();
        let mut copy = self.clone();
        self.station.stats.observation = observation;
        copy.end(at);
        (copy.counters(), copy.backlog())
    }

    fn warnings(&self) -> Vec<String> {
        self.station.discipline.warnings()
    }

    fn copied(&self) -> Box<dyn Deciding> {
        Box::new(self.clone())
    }
}

impl<Q: Qdisc<i32>, const LOGS: bool> Counting for InOrder<Q, LOGS> {
    fn counters(&self) -> LinkCounters {
        self.station.stats.counters
    }

    fn drops(&self) -> Option<&Drops> {
        Some(&self.station.stats.drops)
    }

    fn observation(&self) -> Option<&Observation> {
        self.station.stats.observation.as_deref()
    }

    fn markers(&self) -> Option<&Markers> {
        self.station.markers()
    }

    fn backlog(&self) -> Backlog {
        self.station.discipline.backlog()
    }
}
