//! A standalone link: the link station of the simulator, with packets supplied by the caller.
//!
//! Discipline, server, channel, markers, statistics and probes are those of the simulator, in the same order and with the same random
//! stream. Time is logical: the link is served up to *t* before a packet that arrives at *t* is enqueued. A caller that is late
//! therefore never changes a decision.

mod head_of_line;
mod renewal;
mod tables;
mod totals;
mod transit;

use std::collections::VecDeque;

use aqmlab_aqm::{Backlog, Discipline, Packet, Qdisc};
use aqmlab_units::{Rate, Span, Time};

use self::head_of_line::HeadOfLine;
pub use self::tables::tables;
pub use self::totals::{Measured, Totals};
pub use self::transit::Passage;
use self::transit::Transit;
use crate::attached::Attached;
use crate::key::Key;
use crate::link::Station;
use crate::link_stats::Numbered;
use crate::plan::{LinkId, Name, Plan};

/// Options of a standalone link that are not part of the plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct StandaloneOptions {
    /// The packet in service counts as waiting until its end of service, as in Linux's token bucket filter.
    pub in_service_counts: bool,
    /// Number of packets on the wire and in service for which memory is allocated in advance.
    pub room: usize,
    /// Length of the run for whose samples memory is allocated in advance.
    pub duration: Span,
}

/// A link with its queue; `P` is what it carries of a packet in addition to the header.
#[derive(Clone, Debug)]
pub struct StandaloneLink<P> {
    name: Name,
    aqm: &'static str,
    seed: u64,
    station: Station<P>,
    transit: Transit<P>,
    /// Packets that the channel has lost since the last call of [`StandaloneLink::take_lost`].
    lost: Vec<P>,
    /// Up to when the station has been advanced.
    now: Time,
    /// Packets without room in a new discipline; served before its packets.
    carried: VecDeque<Packet<P>>,
    /// Where the packet in service counts as waiting.
    head: Option<HeadOfLine<P>>,
    /// The counters at the end of the warm-up, once that is over.
    before: Option<Box<Totals>>,
    warmup: Time,
    /// Since when something waits, and how long something has waited before.
    waiting_since: Option<Time>,
    waited: Span,
    is_finished: bool,
}

impl<P: PartialEq + Numbered> StandaloneLink<P> {
    /// Create the link `link` of a plan. It is observed even if the plan does not observe it.
    pub fn new(plan: &Plan, link: LinkId, seed: u64, options: StandaloneOptions) -> Self {
        let mut plan = plan.clone();
        if !plan.probe.links.contains(&link) {
            // Count by code point, without samples.
            plan.probe = crate::plan::Probe { links: vec![link], ..Default::default() };
        }
        let planned = &plan.links[link as usize];
        let mut station = Station::new(link, &Attached::new(&plan), seed, planned.queue.build(), true);
        if let Some(dropped) = &mut station.dropped {
            dropped.reserve(options.room);
        }
        if let Some(observation) = &mut station.stats.observation {
            observation.make_room(options.duration);
        }
        Self {
            name: planned.name.clone(),
            aqm: planned.aqm(),
            seed,
            station,
            transit: Transit::with_room(options.room),
            lost: Vec::with_capacity(options.room),
            now: Time::ZERO,
            carried: VecDeque::new(),
            head: options.in_service_counts.then(|| HeadOfLine::with_room(options.room)),
            before: None,
            warmup: Time::ZERO + plan.warmup,
            waiting_since: None,
            waited: Span::ZERO,
            is_finished: false,
        }
    }

    /// Enqueue a packet that arrives at `now`, and set its arrival time. Times must not decrease from call to call.
    pub fn offer(&mut self, now: Time, packet: Packet<P>) {
        self.offer_caused(now, now, u32::MAX, packet);
    }

    /// [`StandaloneLink::offer`] of a packet that was put on its way at `cause` by station number `source`: what arrives at the very
    /// end of a service comes before it if it was caused before that service began, as in the simulator.
    pub fn offer_caused(&mut self, now: Time, cause: Time, source: u32, mut packet: Packet<P>) {
        self.serve_until(Key { time: now, cause, source });
        self.advance_station(now);
        packet.meta.arrival = now;
        if self.head.is_some() {
            self.offer_to_waiting(now, packet);
        } else if self.station.service.is_none() {
            if self.station.enqueue_dequeue(now, &mut packet) {
                self.send(now, &packet);
            }
        } else {
            self.station.admit(now, &mut packet);
            self.station.measure();
        }
        self.note_waiting(now);
    }

    /// Advance to `to`, including all events at `to`. Call `out` for each packet that arrives at the far end until then, in the order
    /// of their arrivals.
    pub fn advance(&mut self, to: Time, mut out: impl FnMut(Time, Packet<P>, Passage)) {
        self.serve_until(Key { time: to, cause: Time::NEVER, source: u32::MAX });
        self.advance_station(to);
        while let Some((time, packet, passage)) = self.transit.pop(to) {
            out(time, packet, passage);
        }
    }

    /// Return the time of the next event: an arrival at the far end or the start of a service.
    pub fn next_event(&self) -> Option<Time> {
        let waits =
            self.head.is_some() || !self.carried.is_empty() || self.station.discipline.backlog().packets > 0;
        let end = self.station.service.filter(|_| waits).map(|(_, end)| end);
        end.into_iter().chain(self.transit.next()).min()
    }

    /// Call `take` for each packet that the discipline dropped since the last call.
    pub fn take_dropped(&mut self, mut take: impl FnMut(P)) {
        self.station.dropped.iter_mut().for_each(|dropped| dropped.drain(..).for_each(&mut take));
    }

    /// Call `take` for each packet that the channel lost since the last call.
    pub fn take_lost(&mut self, take: impl FnMut(P)) {
        self.lost.drain(..).for_each(take);
    }

    /// Brings the counters to the end of the run.
    pub fn finish(&mut self, end: Time) {
        self.serve_until(Key::start_of(end));
        self.advance_station(end);
        self.station.finish(end);
        self.is_finished = true;
    }

    /// The discipline, for what it shows of its inside.
    pub fn discipline(&self) -> &Discipline<P> {
        &self.station.discipline
    }

    /// Name of the link.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Name of the preset of its discipline.
    pub fn aqm(&self) -> &'static str {
        self.aqm
    }

    /// The bit rate at present. Not for each packet, as a trace may have to be searched for it.
    pub fn rate(&self) -> Rate {
        self.station.server.rate_at(self.now)
    }

    /// Return whether the bit rate never changes.
    pub fn has_constant_rate(&self) -> bool {
        self.station.server.is_constant()
    }

    /// How long something has waited until `now`, all in all.
    pub fn waited(&self, now: Time) -> Span {
        self.waited + self.waiting_since.map_or(Span::ZERO, |since| now.since(since))
    }

    /// Return the waiting packets and bytes.
    pub fn backlog(&self) -> Backlog {
        let mut backlog = self.station.discipline.backlog();
        for packet in &self.carried {
            backlog.packets += 1;
            backlog.bytes += u64::from(packet.meta.bytes);
        }
        backlog
    }

    /// Packets and copies that the link holds: waiting, in service and on the wire.
    pub fn held(&self) -> usize {
        self.backlog().packets as usize + self.transit.len()
    }

    /// Return the copies that the channel has made since the start.
    pub fn copies(&self) -> u64 {
        self.transit.copies()
    }

    /// Ends of service that come before `key`.
    fn serve_until(&mut self, key: Key) {
        while let Some((cause, time)) = self.station.service
            && (Key { time, cause, source: self.station.id }) < key
        {
            self.advance_station(time);
            if self.head.is_some() {
                self.end_service(time);
            } else if let Some(packet) = self.next_packet(time) {
                self.send(time, &packet);
            }
            self.note_waiting(time);
        }
    }

    fn note_waiting(&mut self, now: Time) {
        let waits = !self.carried.is_empty() || self.station.discipline.backlog().packets > 0;
        match self.waiting_since {
            None if waits => self.waiting_since = Some(now),
            Some(since) if !waits => {
                self.waited = self.waited + now.since(since);
                self.waiting_since = None;
            }
            _ => {}
        }
    }

    /// The link is free: the next packet, if there is one.
    fn next_packet(&mut self, now: Time) -> Option<Packet<P>> {
        self.carried.pop_front().or_else(|| {
            if self.station.discipline.backlog().packets == 0 {
                self.station.become_idle(now);
                return None;
            }
            let mut packet = Packet::default();
            self.station.dequeue(now, &mut packet).then_some(packet)
        })
    }

    /// The service of a packet starts.
    fn send(&mut self, now: Time, packet: &Packet<P>) {
        let end = now + self.station.server.serve(Some(packet.meta.arrival), now, packet.meta.bytes);
        self.station.serve(now, end, packet);
        self.put_on_wire(now, end, packet);
    }

    /// A packet leaves by the link when its service ends.
    fn put_on_wire(&mut self, start: Time, end: Time, packet: &Packet<P>) {
        let is_sent = self.transit.send(&mut self.station.channel, start, end, packet);
        if !is_sent || !self.station.channel.keeps_order() {
            self.station.count_arrivals(start, &packet.meta);
        }
        if !is_sent {
            self.lost.push(packet.payload);
        }
    }

    /// Handle all events of the station up to `now`. Save the totals before the end of the warm-up resets the statistics.
    fn advance_station(&mut self, now: Time) {
        if self.before.is_none() && now >= self.warmup {
            if let Some(just_before) = self.warmup.0.checked_sub(1) {
                self.station.advance(Time(just_before));
            }
            self.before = Some(Box::new(Totals::of(&self.station.stats)));
        }
        self.station.advance(now);
        self.now = now;
    }
}
