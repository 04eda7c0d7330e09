//! A link and the queue before it, as one station.

use std::collections::VecDeque;

use aqmlab_aqm::{Backlog, Dequeue, Discipline, DropReason, Ecn, Host, MarkReason, Meta, Packet, Qdisc};
use aqmlab_units::{Serializer, Span, Stream, Time};

use crate::key::Key;
use crate::observe::{EventKind, Observation};
use crate::packet::{Segment, SimPacket, flow_of};
use crate::plan;

/// When a packet's transmission starts, and when it arrives at the far end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub starts: Time,
    pub arrives: Time,
}

impl Departure {
    /// The key of the arrival at the far end of link `link`.
    #[inline]
    pub fn arrival(self, link: u32) -> Key {
        Key { time: self.arrives, cause: self.starts, source: link }
    }
}

/// A packet on the wire: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct InFlight {
    departure: Departure,
    packet: SimPacket,
}

/// What a link counts over the measured part of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkCounters {
    /// Packets offered to the queue.
    pub arrivals: u64,
    /// Bytes offered to the queue.
    pub arrived_bytes: u64,
    /// Packets whose transmission started.
    pub departures: u64,
    /// Their bytes.
    pub departed_bytes: u64,
    /// Drops by chance.
    pub drops_early: u64,
    /// Drops because the average was too high.
    pub drops_forced: u64,
    /// Drops because the buffer was full.
    pub drops_overflow: u64,
    /// Marks in place of early drops.
    pub marks_early: u64,
    /// Marks in place of forced drops.
    pub marks_forced: u64,
    /// Largest number of packets waiting.
    pub max_queue: u32,
    /// Sum of the queueing delays of the departures, in picoseconds.
    pub delay: u128,
    /// Integral of the packets waiting over time, in picoseconds.
    pub queue_area: u128,
    /// Integral of the bytes waiting over time, in picoseconds.
    pub byte_area: u128,
    /// Time during which the link transmitted, in picoseconds.
    pub busy: u64,
}

impl LinkCounters {
    /// All drops.
    pub fn drops(&self) -> u64 {
        self.drops_early + self.drops_forced + self.drops_overflow
    }

    /// All marks.
    pub fn marks(&self) -> u64 {
        self.marks_early + self.marks_forced
    }
}

/// The host that a link is to its discipline.
struct LinkHost<'a> {
    rng: &'a mut Stream,
    counters: &'a mut LinkCounters,
    observation: Option<&'a mut Observation>,
    now: Time,
    /// What left by a drop; with an arriving victim, at most the arrival itself.
    dropped: &'a mut Vec<SimPacket>,
    marked: Option<MarkReason>,
}

impl Host<Segment> for LinkHost<'_> {
    #[inline]
    fn uniform(&mut self) -> f64 {
        self.rng.uniform()
    }

    fn below(&mut self, n: u64) -> u64 {
        self.rng.below(n)
    }

    fn dropped(&mut self, packet: Packet<Segment>, reason: DropReason) {
        match reason {
            DropReason::Early => self.counters.drops_early += 1,
            DropReason::Forced => self.counters.drops_forced += 1,
            DropReason::Overflow => self.counters.drops_overflow += 1,
        }
        if let Some(observation) = &mut self.observation {
            observation.event(self.now, EventKind::Drop(reason), &packet);
        }
        self.dropped.push(packet);
    }

    fn marked(&mut self, _meta: &Meta, reason: MarkReason) {
        match reason {
            MarkReason::Early => self.counters.marks_early += 1,
            MarkReason::Forced => self.counters.marks_forced += 1,
        }
        self.marked = Some(reason);
    }
}

/// The station.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    id: u32,
    delay: Span,
    serializer: Serializer,
    discipline: Discipline<Segment>,
    rng: Stream,
    /// Departures follow from arrivals alone, and are computed there.
    in_order: bool,
    /// An arrival at an empty queue and an idle link need not go through the discipline.
    can_bypass: bool,
    /// Ends of service of the packets waiting, where `in_order`.
    ends: VecDeque<Time>,
    /// Start and end of the service in progress.
    service: Option<(Time, Time)>,
    /// When the last packet accepted will have been served, where `in_order`.
    free_at: Time,
    line: VecDeque<InFlight>,
    /// Handed over by the discipline at the last call.
    dropped: Vec<SimPacket>,
    /// Drops by flow, as far as there were any.
    flow_drops: Vec<u64>,
    counters: LinkCounters,
    last_change: Time,
    observation: Option<Box<Observation>>,
    /// The next time at which something is to be looked at: the end of the warm-up, a sample.
    next_look: Time,
    warmup: Time,
}

impl Link {
    pub fn new(
        id: u32,
        link: &plan::Link,
        seed: u64,
        warmup: Span,
        observation: Option<Observation>,
        lazy: bool,
    ) -> Self {
        let discipline: Discipline<Segment> = link.queue.build();
        let mut station = Self {
            id,
            delay: link.delay,
            serializer: Serializer::new(link.rate),
            in_order: lazy && discipline.departs_in_order(),
            can_bypass: lazy && discipline.can_bypass() && observation.is_none(),
            discipline,
            rng: Stream::new(seed, &format!("link {}", link.name)),
            ends: VecDeque::new(),
            service: None,
            free_at: Time::ZERO,
            line: VecDeque::new(),
            dropped: Vec::new(),
            flow_drops: Vec::new(),
            counters: LinkCounters::default(),
            last_change: Time::ZERO,
            observation: observation.map(Box::new),
            next_look: Time::ZERO,
            warmup: Time::ZERO + warmup,
        };
        station.next_look = station.look_after(None);
        station
    }

    /// The key of the next arrival at the far end.
    #[inline]
    pub fn next_arrival(&self) -> Option<Key> {
        self.line.front().map(|f| f.departure.arrival(self.id))
    }

    /// Takes the packet that arrives at the far end.
    #[inline]
    pub fn take_arrival(&mut self) -> Option<SimPacket> {
        self.line.pop_front().map(|f| f.packet)
    }

    /// The key of the end of the service in progress.
    #[inline]
    pub fn service_end(&self) -> Option<Key> {
        self.service.map(|(cause, time)| Key { time, cause, source: self.id })
    }

    /// Whether every departure is known at arrival; else ends of service must be events of their own.
    pub fn departs_in_order(&self) -> bool {
        self.in_order
    }

    /// A packet arrives at the queue. Where its departure is known, that is returned.
    #[inline]
    pub fn arrive(&mut self, key: Key, packet: &mut SimPacket) -> Option<Departure> {
        if self.passes_by(key) {
            return Some(self.pass(key.time, packet));
        }
        self.serve_until(key);
        self.admit(key.time, packet)
    }

    /// Offers a packet to the discipline.
    fn admit(&mut self, now: Time, packet: &mut SimPacket) -> Option<Departure> {
        self.account(now);
        packet.meta.arrival = now;
        self.counters.arrivals += 1;
        self.counters.arrived_bytes += u64::from(packet.meta.bytes);
        if let Some(observation) = &mut self.observation {
            observation.event(now, EventKind::Enqueue, packet);
        }
        let mut host = LinkHost {
            rng: &mut self.rng,
            counters: &mut self.counters,
            observation: self.observation.as_deref_mut(),
            now,
            dropped: &mut self.dropped,
            marked: None,
        };
        self.discipline.enqueue(now, *packet, &mut host);
        let marked = host.marked;
        if let Some(observation) = &mut self.observation {
            observation.saw_average(self.discipline.average());
            if let Some(reason) = marked {
                observation.event(now, EventKind::Mark(reason), packet);
            }
        }
        if marked.is_some() {
            packet.meta.ecn = Ecn::Ce;
        }
        let accepted = self.dropped.is_empty();
        let departure = (self.in_order && accepted).then(|| self.commit(now, packet.meta.bytes));
        if self.in_order && self.service.is_none() {
            self.serve_next(now);
        }
        if self.service.is_some() {
            self.counters.max_queue = self.counters.max_queue.max(self.discipline.backlog().packets);
        }
        departure
    }

    /// Whether the link stands still though something may be waiting: after an arrival where departures are not known
    /// at arrival.
    pub fn wants_to_serve(&self) -> bool {
        !self.in_order && self.service.is_none()
    }

    /// What the discipline dropped at the last call, at arrival or at departure.
    #[inline]
    pub fn take_dropped(&mut self) -> impl Iterator<Item = SimPacket> {
        for packet in &self.dropped {
            let flow = flow_of(&packet.meta);
            if flow >= self.flow_drops.len() {
                self.flow_drops.resize(flow + 1, 0);
            }
            self.flow_drops[flow] += 1;
        }
        self.dropped.drain(..)
    }

    /// Whether an arrival finds queue and link empty, and the discipline would hand it straight back.
    #[inline]
    fn passes_by(&self, key: Key) -> bool {
        self.can_bypass
            && self.ends.is_empty()
            && key.time < self.next_look
            && self.service_end().is_none_or(|end| end < key)
    }

    /// An arrival that needs no queue: its service starts at once.
    #[inline]
    fn pass(&mut self, now: Time, packet: &mut SimPacket) -> Departure {
        let bytes = u64::from(packet.meta.bytes);
        packet.meta.arrival = now;
        let end = now + self.serializer.transmit(packet.meta.bytes);
        self.free_at = end;
        self.service = Some((now, end));
        self.counters.arrivals += 1;
        self.counters.arrived_bytes += bytes;
        self.counters.departures += 1;
        self.counters.departed_bytes += bytes;
        self.counters.busy += end.since(now).0;
        Departure { starts: now, arrives: end + self.delay }
    }

    /// The link is free, where that is an event. What is returned is on its way to the far end.
    pub fn on_free(&mut self, now: Time) -> Option<(Departure, SimPacket)> {
        self.look(now);
        self.serve_next(now)
    }

    /// Puts a packet on the wire; whether it is the only one there.
    #[inline]
    pub fn put_on_wire(&mut self, departure: Departure, packet: &SimPacket) -> bool {
        self.line.push_back(InFlight { departure, packet: *packet });
        self.line.len() == 1
    }

    /// Brings the station to the end of the run.
    pub fn finish(&mut self, end: Time) {
        self.serve_until(Key::start_of(end));
        self.look(end);
        self.account(end);
        if let Some((start, stop)) = self.service {
            // The rest of the service in progress lies beyond the end.
            self.counters.busy -= stop.since(end.max(start)).0;
        }
    }

    pub fn counters(&self) -> &LinkCounters {
        &self.counters
    }

    /// Flows that lost packets here, and how many.
    pub fn drops_by_flow(&self) -> impl Iterator<Item = (usize, u64)> {
        self.flow_drops.iter().copied().enumerate()
    }

    pub fn backlog(&self) -> Backlog {
        self.discipline.backlog()
    }

    pub fn observation(&self) -> Option<&Observation> {
        self.observation.as_deref()
    }

    /// An accepted packet's departure is known at once.
    #[inline]
    fn commit(&mut self, now: Time, bytes: u32) -> Departure {
        let starts = self.free_at.max(now);
        let end = starts + self.serializer.transmit(bytes);
        self.free_at = end;
        self.ends.push_back(end);
        Departure { starts, arrives: end + self.delay }
    }

    /// Ends of service that come before `key`.
    #[inline]
    fn serve_until(&mut self, key: Key) {
        if self.in_order {
            while let Some(end) = self.service_end()
                && end < key
            {
                self.look(end.time);
                self.serve_next(end.time);
            }
        }
        self.look(key.time);
    }

    /// The link is free: the next packet's service starts now. It is returned unless its departure was known before.
    #[inline]
    fn serve_next(&mut self, now: Time) -> Option<(Departure, SimPacket)> {
        self.account(now);
        let mut host = LinkHost {
            rng: &mut self.rng,
            counters: &mut self.counters,
            observation: self.observation.as_deref_mut(),
            now,
            dropped: &mut self.dropped,
            marked: None,
        };
        let Dequeue::Packet(packet) = self.discipline.dequeue(now, &mut host) else {
            self.service = None;
            return None;
        };
        let known = self.ends.pop_front();
        let end = known.unwrap_or_else(|| now + self.serializer.transmit(packet.meta.bytes));
        self.service = Some((now, end));
        let delay = now.since(packet.meta.arrival);
        self.counters.departures += 1;
        self.counters.departed_bytes += u64::from(packet.meta.bytes);
        self.counters.delay += u128::from(delay.0);
        self.counters.busy += end.since(now).0;
        if let Some(observation) = &mut self.observation {
            observation.event(now, EventKind::Dequeue, &packet);
            observation.delay(delay);
        }
        known.is_none().then_some((Departure { starts: now, arrives: end + self.delay }, packet))
    }

    /// Integrates the queue up to `now`.
    #[inline]
    fn account(&mut self, now: Time) {
        let dt = u128::from(now.since(self.last_change).0);
        let Backlog { packets, bytes } = self.discipline.backlog();
        if packets > 0 {
            self.counters.queue_area += dt * u128::from(packets);
            self.counters.byte_area += dt * u128::from(bytes);
        }
        self.last_change = now;
    }

    /// Looks at what is due before anything happens at `now`.
    #[inline]
    fn look(&mut self, now: Time) {
        while self.next_look <= now {
            let at = self.next_look;
            self.account(at);
            if at == self.warmup {
                self.forget(at);
            }
            if let Some(observation) = &mut self.observation {
                observation.sample(at, self.discipline.backlog(), self.discipline.state());
            }
            self.next_look = self.look_after(Some(at));
        }
    }

    /// When to look next: at the end of the warm-up and at samples.
    fn look_after(&self, at: Option<Time>) -> Time {
        let warmup = if at.is_none_or(|t| t < self.warmup) { self.warmup } else { Time::NEVER };
        self.observation.as_ref().map_or(warmup, |o| warmup.min(o.sample_after(at)))
    }

    /// The warm-up is over: counts anew.
    fn forget(&mut self, now: Time) {
        let rest = self.service.map_or(0, |(_, end)| end.since(now).0);
        self.counters = LinkCounters {
            busy: rest,
            max_queue: self.discipline.backlog().packets,
            ..LinkCounters::default()
        };
        if let Some(observation) = &mut self.observation {
            observation.forget();
        }
        self.flow_drops.clear();
    }
}
