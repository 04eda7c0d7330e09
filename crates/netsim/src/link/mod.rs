//! A link and the queue before it, as one station.

mod look;

use std::collections::VecDeque;

use aqmlab_aqm::{Backlog, Dequeue, Discipline, Ecn, Qdisc};
use aqmlab_units::{Serializer, Span, Stream, Time};

use crate::key::Key;
use crate::ledger::{Ledger, LinkCounters, LinkHost};
use crate::marker::Markers;
use crate::observe::Observation;
use crate::packet::{Segment, SimPacket, flow_of};
use crate::plan::{Change, LinkId, Plan};
use crate::wire::{Departure, Wire};

/// The station.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    id: LinkId,
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
    wire: Wire,
    /// Handed over by the discipline at the last call.
    dropped: Vec<SimPacket>,
    markers: Option<Box<Markers>>,
    /// Changes to come.
    changes: VecDeque<Change>,
    ledger: Ledger,
    /// The next time at which something is to be looked at: the end of the warm-up, a sample, a change, a timer.
    next_look: Time,
    warmup: Time,
}

impl Link {
    pub fn new(id: LinkId, plan: &Plan, seed: u64, lazy: bool) -> Self {
        let link = &plan.links[id as usize];
        let discipline: Discipline<Segment> = link.queue.build();
        let changes: VecDeque<_> = plan.changes.iter().filter(|c| c.link == id).cloned().collect();
        let markers = Markers::of(id, plan, seed);
        let observed = plan.probe.links.contains(&id);
        // What has left is not called back when the rate changes: then ends of service are events.
        let in_order = lazy && discipline.departs_in_order() && changes.is_empty();
        let mut station = Self {
            id,
            delay: link.delay,
            serializer: Serializer::new(link.rate),
            in_order,
            can_bypass: in_order && discipline.can_bypass() && !observed && markers.is_none(),
            discipline,
            rng: Stream::new(seed, &format!("link {}", link.name)),
            ends: VecDeque::new(),
            service: None,
            free_at: Time::ZERO,
            wire: Wire::default(),
            dropped: Vec::new(),
            markers,
            changes,
            ledger: Ledger::new(observed.then(|| Observation::new(&plan.probe))),
            next_look: Time::ZERO,
            warmup: Time::ZERO + plan.warmup,
        };
        station.next_look = station.look_after(None);
        station
    }

    /// The key of the next arrival at the far end.
    #[inline]
    pub fn next_arrival(&self) -> Option<Key> {
        self.wire.next().map(|departure| departure.arrival(self.id))
    }

    /// Takes the packet that arrives at the far end.
    #[inline]
    pub fn take_arrival(&mut self) -> Option<SimPacket> {
        self.wire.take()
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
        if let Some(markers) = &mut self.markers {
            markers.mark(now, flow_of(&packet.meta), &mut packet.meta);
        }
        self.ledger.arrived(now, packet);
        let mut host = LinkHost::new(&mut self.rng, &mut self.ledger, now, &mut self.dropped);
        host.arriving = Some(packet);
        self.discipline.enqueue(now, *packet, &mut host);
        if host.marked_arriving {
            packet.meta.ecn = Ecn::Ce;
        }
        if let Some(observation) = &mut self.ledger.observation {
            observation.saw_average(self.discipline.average());
        }
        self.mind_timer();
        let accepted = self.dropped.is_empty();
        let departure = (self.in_order && accepted).then(|| self.commit(now, packet.meta.bytes));
        if self.in_order && self.service.is_none() {
            self.serve_next(now);
        }
        if self.service.is_some() {
            let counters = &mut self.ledger.counters;
            counters.max_queue = counters.max_queue.max(self.discipline.backlog().packets);
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
        packet.meta.arrival = now;
        let transmission = self.serializer.transmit(packet.meta.bytes);
        let end = now + transmission;
        self.free_at = end;
        self.service = Some((now, end));
        self.ledger.arrived(now, packet);
        self.ledger.departed(now, packet, transmission);
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
        self.wire.put(departure, packet)
    }

    /// Brings the station to the end of the run.
    pub fn finish(&mut self, end: Time) {
        self.serve_until(Key::start_of(end));
        self.look(end);
        self.account(end);
        if let Some((start, stop)) = self.service {
            // The rest of the service in progress lies beyond the end.
            self.ledger.counters.busy -= stop.since(end.max(start)).0;
        }
    }

    pub fn counters(&self) -> &LinkCounters {
        &self.ledger.counters
    }

    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub fn markers(&self) -> Option<&Markers> {
        self.markers.as_deref()
    }

    pub fn warnings(&self) -> Vec<String> {
        self.discipline.warnings()
    }

    pub fn backlog(&self) -> Backlog {
        self.discipline.backlog()
    }

    pub fn observation(&self) -> Option<&Observation> {
        self.ledger.observation.as_deref()
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
        let mut host = LinkHost::new(&mut self.rng, &mut self.ledger, now, &mut self.dropped);
        let next = self.discipline.dequeue(now, &mut host);
        self.mind_timer();
        let Dequeue::Packet(packet) = next else {
            self.service = None;
            return None;
        };
        let known = self.ends.pop_front();
        let end = known.unwrap_or_else(|| now + self.serializer.transmit(packet.meta.bytes));
        self.service = Some((now, end));
        self.ledger.departed(now, &packet, end.since(now));
        known.is_none().then(|| (Departure { starts: now, arrives: self.arrival_after(end) }, packet))
    }

    /// When a packet is at the far end that has been sent at `end`: not before those on the wire, also when the delay
    /// has become shorter.
    fn arrival_after(&self, end: Time) -> Time {
        (end + self.delay).max(self.wire.empty_at())
    }

    /// Integrates the queue up to `now`.
    #[inline]
    fn account(&mut self, now: Time) {
        self.ledger.account(now, self.discipline.backlog());
    }
}
