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

use std::collections::VecDeque;

use aqmlab_aqm::{Discipline, Meta, Packet, Qdisc, Verdict};
use aqmlab_units::{Span, Time};

use super::station::Station;
use crate::attached::Attached;
use crate::key::Key;
use crate::message::Message;
use crate::paths::Paths;
use crate::plan::LinkId;

/// A link with a discipline that decides at arrivals. The departure of a packet is known at its arrival.
#[derive(Clone, Debug)]
pub(crate) struct InOrder {
    /// Its discipline knows number and bytes of what waits, and nothing else of the packets.
    pub(super) station: Station<i32>,
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
    /// Departures are counted at the arrival; else, where a log is kept or a marker measures, each in its turn.
    counts_ahead: bool,
    /// The warm-up is not over.
    is_warming_up: bool,
}

/// A packet that waits, with the number that an event log shows.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    starts: Time,
    packet: Packet<i32>,
}

/// The calls of a discipline that decides at arrivals; chosen once for a link.
pub(crate) trait Decider {
    /// Logs or markers may see packets.
    const MAY_LOG: bool;

    /// Return the header, as far as the discipline looks at it.
    fn meta(paths: &Paths, message: &Message) -> Meta;

    /// See [`Qdisc::decide`].
    fn decide(station: &mut Station<i32>, now: Time, meta: &Meta, is_free: bool) -> Verdict;

    /// See [`Qdisc::leaves`].
    fn leaves(discipline: &mut Discipline<i32>, now: Time, meta: &Meta);

    /// See [`Qdisc::on_idle`].
    fn on_idle(station: &mut Station<i32>, now: Time);

    /// Return the average that judged the last arrival, if the discipline has one.
    fn average(discipline: &Discipline<i32>) -> Option<f64>;
}

/// Any discipline.
pub(crate) struct Any;

impl Decider for Any {
    const MAY_LOG: bool = true;

    #[inline(always)]
    fn meta(paths: &Paths, message: &Message) -> Meta {
        paths.meta(message)
    }

    #[inline(always)]
    fn decide(station: &mut Station<i32>, now: Time, meta: &Meta, is_free: bool) -> Verdict {
        let (discipline, mut host) = station.discipline_and_host(now);
        discipline.decide(now, meta, is_free, &mut host)
    }

    #[inline(always)]
    fn leaves(discipline: &mut Discipline<i32>, now: Time, meta: &Meta) {
        Qdisc::<i32>::leaves(discipline, now, meta);
    }

    #[inline(always)]
    fn on_idle(station: &mut Station<i32>, now: Time) {
        station.become_idle(now);
    }

    #[inline(always)]
    fn average(discipline: &Discipline<i32>) -> Option<f64> {
        match discipline {
            Discipline::Red(red) => Some(red.average()),
            Discipline::DropTail(_) => Some(0.0),
            Discipline::NonRed(_) => None,
        }
    }
}

/// RED of one class without adaptation, most common and so worth its own code: it looks at length and ECN field only.
pub(crate) struct SimpleRed;

impl Decider for SimpleRed {
    const MAY_LOG: bool = false;

    #[inline(always)]
    fn meta(_paths: &Paths, message: &Message) -> Meta {
        Meta { arrival: message.time, bytes: message.bytes, flow: 0, header: message.seen() }
    }

    #[inline(always)]
    fn decide(station: &mut Station<i32>, now: Time, meta: &Meta, is_free: bool) -> Verdict {
        let (Discipline::Red(red), mut host) = station.discipline_and_host(now) else {
            unreachable!("the queue is simple RED");
        };
        red.decide_simple(now, meta, is_free, &mut host)
    }

    #[inline(always)]
    fn leaves(discipline: &mut Discipline<i32>, _now: Time, meta: &Meta) {
        if let Discipline::Red(red) = discipline {
            red.leaves_simple(meta.bytes);
        }
    }

    #[inline(always)]
    fn on_idle(station: &mut Station<i32>, now: Time) {
        if let Discipline::Red(red) = &mut station.discipline {
            red.on_idle_simple(now);
        }
    }

    #[inline(always)]
    fn average(discipline: &Discipline<i32>) -> Option<f64> {
        let Discipline::Red(red) = discipline else { unreachable!("the queue is simple RED") };
        Some(red.average_simple())
    }
}

impl InOrder {
    /// Return whether [`SimpleRed`] fits: the discipline is simple RED, and the link has neither a log of events or packets nor markers.
    pub fn is_simple_red(&self) -> bool {
        self.counts_ahead && matches!(&self.station.discipline, Discipline::Red(red) if red.decides_simply())
    }

    /// Create the station of a link whose discipline decides at arrivals.
    pub fn new(id: LinkId, plan: &Attached<'_>, seed: u64) -> Self {
        let station = Station::new(id, plan, seed, false);
        let counts_ahead = station.only_counts;
        Self {
            station,
            free_at: Time::ZERO,
            serving_since: Time::ZERO,
            waiting: VecDeque::new(),
            next_start: Time::NEVER,
            is_idle: true,
            counts_ahead,
            is_warming_up: true,
        }
    }

    /// Handle an arriving packet. Return whether it is accepted; its key is then that of its arrival at the far end.
    pub fn arrive<D: Decider>(&mut self, paths: &Paths, message: &mut Message) -> bool {
        let (now, key) = (message.time, message.key());
        if self.station.next_own_event() <= now {
            self.handle_events::<D>(now);
        }
        self.settle::<D>(key);
        let mut packet = Packet { meta: D::meta(paths, message), payload: message.number };
        if D::MAY_LOG && !self.counts_ahead {
            self.station.offered(now, &mut packet);
            message.rewrite(packet.meta.header);
        }
        let verdict = D::decide(&mut self.station, now, &packet.meta, self.is_idle);
        if verdict != Verdict::Accept {
            if !self.carry_out::<D>(verdict, paths, message) {
                return false;
            }
            packet.meta.header = packet.meta.header.with_own(message.header);
        }
        let starts = if self.is_idle { now } else { self.free_at };
        let transmission = self.station.serializer.transmit(message.bytes);
        self.count::<D>(&packet, Some((starts.since(now), transmission)));
        self.free_at = starts + transmission;
        if self.is_idle {
            self.is_idle = false;
            self.serving_since = now;
        } else {
            self.wait(Waiter { starts, packet });
        }
        (message.time, message.cause, message.source) =
            (self.free_at + self.station.delay, starts, self.station.id);
        true
    }

    /// Mark or drop a packet. Return whether it is accepted.
    #[inline(never)]
    fn carry_out<D: Decider>(&mut self, verdict: Verdict, paths: &Paths, message: &mut Message) -> bool {
        let mut packet = Packet { meta: paths.meta(message), payload: message.number };
        let accepted = self.station.carry_out(verdict, &mut packet);
        message.rewrite(packet.meta.header);
        if !accepted {
            self.count::<D>(&packet, None);
        }
        accepted
    }

    /// Count a packet about which was decided: if it is accepted, its service starts after a delay and takes a time.
    #[inline(always)]
    fn count<D: Decider>(&mut self, packet: &Packet<i32>, accepted: Option<(Span, Span)>) {
        if !D::MAY_LOG || self.counts_ahead {
            let average = D::average(&self.station.discipline);
            self.station.stats.judged(&packet.meta, accepted, average);
            if D::MAY_LOG {
                self.station.reschedule_timer();
            }
            return;
        }
        let now = packet.meta.arrival;
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
    fn settle<D: Decider>(&mut self, key: Key) {
        while self.next_start <= key.time
            && self.ends_before(self.next_start, key)
            && let Some(Waiter { starts, packet }) = self.waiting.pop_front()
        {
            self.serving_since = starts;
            self.next_start = self.waiting.front().map_or(Time::NEVER, |next| next.starts);
            D::leaves(&mut self.station.discipline, starts, &packet.meta);
            if D::MAY_LOG && !self.counts_ahead {
                let transmission = self.station.serializer.transmit(packet.meta.bytes);
                self.station.stats.departed(starts, &packet, transmission);
            }
        }
        if !self.is_idle && self.next_start == Time::NEVER && self.ends_before(self.free_at, key) {
            self.is_idle = true;
            D::on_idle(&mut self.station, self.free_at);
        }
    }

    /// Advance the station to the end of the run.
    pub fn finish<D: Decider>(&mut self, end: Time) {
        self.handle_events::<D>(end);
        self.settle::<D>(Key::start_of(end));
        let Self { waiting, station, .. } = self;
        for Waiter { starts, packet } in waiting.iter().filter(|_| self.counts_ahead) {
            let transmission = station.serializer.transmit(packet.meta.bytes);
            station.stats.take_back(*starts, &packet.meta, transmission);
        }
        self.station.service = self.service();
        self.station.finish(end);
    }

    /// Handle the own events up to `now`, each with the queue of its time.
    #[cold]
    fn handle_events<D: Decider>(&mut self, now: Time) {
        while self.station.next_own_event() <= now {
            let at = self.station.next_own_event();
            self.settle::<D>(Key::start_of(at));
            self.station.service = self.service();
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
        for Waiter { starts, packet } in waiting.iter().filter(|_| self.counts_ahead) {
            let transmission = station.serializer.transmit(packet.meta.bytes);
            station.stats.departs_after_warmup(*starts, &packet.meta, transmission);
        }
    }

    /// Return start and end of the service in progress.
    fn service(&self) -> Option<(Time, Time)> {
        let end = self.waiting.front().map_or(self.free_at, |next| next.starts);
        (!self.is_idle).then_some((self.serving_since, end))
    }
}
