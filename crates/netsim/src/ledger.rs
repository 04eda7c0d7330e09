//! What a link writes down of its packets, and the host that it is to its discipline.

use aqmlab_aqm::{Backlog, DropReason, Host, Kind, MarkReason, Meta, Packet};
use aqmlab_units::{Span, Stream, Time};

use crate::observe::Observation;
use crate::packet::{Segment, SimPacket, flow_of};

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

/// The books of a link.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    pub counters: LinkCounters,
    /// Drops by flow, as far as there were any.
    flow_drops: Vec<u64>,
    /// Drops by the distance that the packet had come, as far as there were any.
    distance_drops: Vec<u64>,
    /// Those that were no acknowledgements.
    distance_data_drops: Vec<u64>,
    pub observation: Option<Box<Observation>>,
    last_change: Time,
}

impl Ledger {
    pub fn new(observation: Option<Observation>) -> Self {
        Self {
            counters: LinkCounters::default(),
            flow_drops: Vec::new(),
            distance_drops: Vec::new(),
            distance_data_drops: Vec::new(),
            observation: observation.map(Box::new),
            last_change: Time::ZERO,
        }
    }

    /// Integrates the queue, which was this long, up to `now`.
    #[inline]
    pub fn account(&mut self, now: Time, Backlog { packets, bytes }: Backlog) {
        let dt = u128::from(now.since(self.last_change).0);
        if packets > 0 {
            self.counters.queue_area += dt * u128::from(packets);
            self.counters.byte_area += dt * u128::from(bytes);
        }
        self.last_change = now;
    }

    /// A packet is offered to the queue.
    #[inline]
    pub fn arrived(&mut self, now: Time, packet: &SimPacket) {
        self.counters.arrivals += 1;
        self.counters.arrived_bytes += u64::from(packet.meta.bytes);
        if let Some(observation) = &mut self.observation {
            observation.arrived(now, packet);
        }
    }

    /// The transmission of a packet starts, which takes so long.
    #[inline]
    pub fn departed(&mut self, now: Time, packet: &SimPacket, transmission: Span) {
        let delay = now.since(packet.meta.arrival);
        self.counters.departures += 1;
        self.counters.departed_bytes += u64::from(packet.meta.bytes);
        self.counters.delay += u128::from(delay.0);
        self.counters.busy += transmission.0;
        if let Some(observation) = &mut self.observation {
            observation.departed(now, packet, delay);
        }
    }

    fn dropped(&mut self, now: Time, packet: &SimPacket, reason: DropReason) {
        match reason {
            DropReason::Early => self.counters.drops_early += 1,
            DropReason::Forced => self.counters.drops_forced += 1,
            DropReason::Overflow => self.counters.drops_overflow += 1,
        }
        count_at(&mut self.flow_drops, flow_of(&packet.meta));
        count_at(&mut self.distance_drops, distance(&packet.meta));
        if packet.meta.kind != Kind::Ack {
            count_at(&mut self.distance_data_drops, distance(&packet.meta));
        }
        if let Some(observation) = &mut self.observation {
            observation.dropped(now, packet, reason);
        }
    }

    /// A packet is marked, of which the sequence number may be known.
    fn marked(&mut self, now: Time, packet: &SimPacket, reason: MarkReason) {
        match reason {
            MarkReason::Early => self.counters.marks_early += 1,
            MarkReason::Forced => self.counters.marks_forced += 1,
        }
        if let Some(observation) = &mut self.observation {
            observation.marked(now, packet, reason);
        }
    }

    /// The warm-up is over, with so much waiting and so long to go for the service in progress: counts anew.
    pub fn forget(&mut self, waiting: Backlog, service: Span) {
        self.counters =
            LinkCounters { busy: service.0, max_queue: waiting.packets, ..LinkCounters::default() };
        self.flow_drops.clear();
        self.distance_drops.clear();
        self.distance_data_drops.clear();
        if let Some(observation) = &mut self.observation {
            observation.forget();
        }
    }

    /// Flows that lost packets here, and how many.
    pub fn drops_by_flow(&self) -> impl Iterator<Item = (usize, u64)> {
        self.flow_drops.iter().copied().enumerate()
    }

    /// Hops that lost packets had come, how many packets, and how many of them were no acknowledgements.
    pub fn drops_by_distance(&self) -> impl Iterator<Item = (usize, u64, u64)> {
        let data = |distance| self.distance_data_drops.get(distance).copied().unwrap_or(0);
        let drops = self.distance_drops.iter().copied().enumerate().filter(|(_, n)| *n > 0);
        drops.map(move |(distance, n)| (distance, n, data(distance)))
    }
}

/// One more at `index`.
fn count_at(counts: &mut Vec<u64>, index: usize) {
    if index >= counts.len() {
        counts.resize(index + 1, 0);
    }
    counts[index] += 1;
}

/// Routers that a packet has passed: 0 in the queue of its own host, 1 in the output queue of the first router.
fn distance(meta: &Meta) -> usize {
    usize::from(meta.ttl_initial.saturating_sub(meta.ttl))
}

/// The host that a link is to its discipline.
pub(crate) struct LinkHost<'a> {
    rng: &'a mut Stream,
    ledger: &'a mut Ledger,
    now: Time,
    /// The packet that is being offered, where there is one.
    pub arriving: Option<&'a SimPacket>,
    /// Whether that was marked.
    pub marked_arriving: bool,
    /// Takes what leaves by a drop.
    dropped: &'a mut Vec<SimPacket>,
}

impl<'a> LinkHost<'a> {
    /// For a call at `now` without a packet being offered.
    #[inline]
    pub fn new(
        rng: &'a mut Stream,
        ledger: &'a mut Ledger,
        now: Time,
        dropped: &'a mut Vec<SimPacket>,
    ) -> Self {
        Self { rng, ledger, now, arriving: None, marked_arriving: false, dropped }
    }
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
        self.ledger.dropped(self.now, &packet, reason);
        self.dropped.push(packet);
    }

    /// It is the packet being offered if they agree in all but what a queue writes.
    fn marked(&mut self, packet: &SimPacket, reason: MarkReason) {
        self.marked_arriving |= self.arriving.is_some_and(|arriving| {
            let Meta { ecn, qosa, .. } = arriving.meta;
            Meta { ecn, qosa, ..packet.meta } == arriving.meta && packet.payload == arriving.payload
        });
        self.ledger.marked(self.now, packet, reason);
    }
}
