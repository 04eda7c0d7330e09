//! The statistics of a link, and the [`Host`] that connects its discipline to them.

use aqmlab_aqm::red::victim::REDIRECTED;
use aqmlab_aqm::{AckFields, Backlog, DropClass, DropReason, Host, Kind, Meta, Packet};
use aqmlab_units::{Span, Stream, Time};

use crate::attached::HostPairs;
use crate::link::outage::FLUSHED;
use crate::observe::Observation;
use crate::paths::flow_of;

/// Counters of a link over the measured part of a run.
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
    /// Drops for reasons of class [`DropClass::Early`].
    pub drops_early: u64,
    /// Drops for reasons of class [`DropClass::Forced`].
    pub drops_forced: u64,
    /// Drops for reasons of class [`DropClass::Overflow`].
    pub drops_overflow: u64,
    /// Marks in place of drops of class [`DropClass::Early`].
    pub marks_early: u64,
    /// Marks in place of other drops.
    pub marks_forced: u64,
    /// Largest number of packets waiting.
    pub max_queue: u32,
    /// Sum of the queueing delays of the departures, in picoseconds.
    pub delay: u128,
    /// Integral of the packets waiting over time, in picoseconds.
    pub queue_area: u128,
    /// Integral of the bytes waiting over time, in picoseconds.
    pub byte_area: u128,
    /// Time during which a packet was in service, in picoseconds.
    pub busy: u64,
}

impl LinkCounters {
    /// Return the number of drops.
    pub fn drops(&self) -> u64 {
        self.drops_early + self.drops_forced + self.drops_overflow
    }

    /// Return the counts since those of `before`, modulo 2^64 or 2^128; `max_queue` is that of all.
    pub(crate) fn since(&self, before: &Self) -> Self {
        Self {
            max_queue: self.max_queue,
            arrivals: self.arrivals.wrapping_sub(before.arrivals),
            arrived_bytes: self.arrived_bytes.wrapping_sub(before.arrived_bytes),
            departures: self.departures.wrapping_sub(before.departures),
            departed_bytes: self.departed_bytes.wrapping_sub(before.departed_bytes),
            drops_early: self.drops_early.wrapping_sub(before.drops_early),
            drops_forced: self.drops_forced.wrapping_sub(before.drops_forced),
            drops_overflow: self.drops_overflow.wrapping_sub(before.drops_overflow),
            marks_early: self.marks_early.wrapping_sub(before.marks_early),
            marks_forced: self.marks_forced.wrapping_sub(before.marks_forced),
            delay: self.delay.wrapping_sub(before.delay),
            queue_area: self.queue_area.wrapping_sub(before.queue_area),
            byte_area: self.byte_area.wrapping_sub(before.byte_area),
            busy: self.busy.wrapping_sub(before.busy),
        }
    }

    /// Count the departure of a packet after this delay, whose transmission takes so long, with the areas of its stay in the queue.
    #[inline(always)]
    fn departs(&mut self, bytes: u32, delay: Span, transmission: Span) {
        self.departures += 1;
        self.departed_bytes += u64::from(bytes);
        self.busy += transmission.0;
        if delay > Span::ZERO {
            let delay = delay.0;
            self.delay += u128::from(delay);
            self.queue_area = self.queue_area.wrapping_add(delay.into());
            self.byte_area = self.byte_area.wrapping_add(product(delay, bytes.into()));
        }
    }

    /// Return the number of marks.
    pub fn marks(&self) -> u64 {
        self.marks_early + self.marks_forced
    }

    #[inline]
    fn leaves(&mut self, now: Time, packets: u32, bytes: u64) {
        self.queue_area = self.queue_area.wrapping_add(product(now.0, packets.into()));
        self.byte_area = self.byte_area.wrapping_add(product(now.0, bytes));
    }

    /// Return the counters of a run that ends at `end` with these packets waiting.
    pub(crate) fn closed(mut self, end: Time, waiting: Backlog) -> Self {
        self.leaves(end, waiting.packets, waiting.bytes);
        self
    }
}

/// Return the product of a time and a number.
#[inline(always)]
fn product(time: u64, number: u64) -> u128 {
    match u32::try_from(number) {
        Ok(number) if cfg!(target_arch = "wasm32") => product_by_halves(time, number),
        _ => u128::from(time) * u128::from(number),
    }
}

/// [`product`] in two multiplications, by the lower and the upper half of the time: WebAssembly has none wider than 64 bits.
#[inline(always)]
fn product_by_halves(time: u64, number: u32) -> u128 {
    let (lower, upper) = (time & u64::from(u32::MAX), time >> 32);
    u128::from(lower * u64::from(number)) + (u128::from(upper * u64::from(number)) << 32)
}

/// Drops and marks for one reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ReasonCount {
    /// The reason.
    pub reason: DropReason,
    /// Packets dropped for it.
    pub drops: u64,
    /// Packets marked for it.
    pub marks: u64,
}

/// Drops by flow and by distance, and those for reasons with a name of the discipline's own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drops {
    /// By flow, as far as there were any.
    by_flow: Vec<u64>,
    /// By the distance that the packet had come, as far as there were any.
    by_distance: Vec<u64>,
    /// Data packets and connection set-up only, without acknowledgements.
    data_by_distance: Vec<u64>,
    /// By reason; not those that are named as their class, which [`LinkCounters`] counts.
    by_reason: Vec<ReasonCount>,
    /// Counts of a channel that may do more than delay packets; all others are the discipline's.
    pub channel: Option<ChannelCounters>,
    /// Packets lost in service or on the wire since the link went down, counted as those of the channel.
    pub cut: u64,
    /// The bytes of those in service, whose departures [`LinkCounters`] counts.
    pub cut_bytes: u64,
}

/// Counts of packets that a channel lost, duplicated or reordered, of those whose service started after the warm-up. A link may
/// count ahead. The packets that arrive at the far end are the departures, less the losses, plus the copies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ChannelCounters {
    /// Packets of which nothing arrives.
    pub losses: u64,
    /// Packets that arrive twice.
    pub copies: u64,
    /// Packets that arrive, or of which the copy arrives, before one that left earlier.
    pub overtaking: u64,
}

impl Drops {
    /// Return the counts of a reason whose name is not that of its class.
    fn of_reason(&mut self, reason: DropReason) -> Option<&mut ReasonCount> {
        if reason.name() == reason.class().name() {
            return None;
        }
        let place = self.by_reason.iter().position(|count| count.reason == reason);
        let place = place.unwrap_or_else(|| {
            self.by_reason.push(ReasonCount { reason, drops: 0, marks: 0 });
            self.by_reason.len() - 1
        });
        Some(&mut self.by_reason[place])
    }

    /// Return drops and marks by reason, for reasons with a name of the discipline's own, in the order in which they first
    /// occurred.
    pub fn by_reason(&self) -> &[ReasonCount] {
        &self.by_reason
    }

    /// Count a drop.
    pub fn count(&mut self, meta: &Meta) {
        count_at(&mut self.by_flow, flow_of(meta));
        count_at(&mut self.by_distance, distance(meta));
        if meta.header.kind() != Kind::Ack {
            count_at(&mut self.data_by_distance, distance(meta));
        }
    }

    /// Flows that lost packets, and how many.
    pub fn by_flow(&self) -> impl Iterator<Item = (usize, u64)> {
        self.by_flow.iter().copied().enumerate()
    }

    /// Hops that lost packets had come, how many packets, and how many of them were no acknowledgements.
    pub fn by_distance(&self) -> impl Iterator<Item = (usize, u64, u64)> {
        let data = |distance| self.data_by_distance.get(distance).copied().unwrap_or(0);
        let drops = self.by_distance.iter().copied().enumerate().filter(|(_, n)| *n > 0);
        drops.map(move |(distance, n)| (distance, n, data(distance)))
    }
}

/// The statistics of a link.
///
/// The integral of the queue is kept as a sum over packets, modulo 2^128: each subtracts the time of its arrival and
/// adds the time at which it leaves, or the end of the run.
#[derive(Clone, Debug)]
pub(crate) struct LinkStats {
    pub counters: LinkCounters,
    pub drops: Drops,
    pub observation: Option<Box<Observation>>,
    /// The discipline sent the last packet that it dropped another way.
    pub is_redirected: bool,
    /// The hosts of all flows, if the discipline asks for them.
    hosts: Option<HostPairs>,
}

impl LinkStats {
    pub fn new(observation: Option<Observation>, hosts: Option<HostPairs>) -> Self {
        Self {
            counters: LinkCounters::default(),
            drops: Drops::default(),
            observation: observation.map(Box::new),
            is_redirected: false,
            hosts,
        }
    }

    /// A packet is offered to the queue.
    #[inline(always)]
    pub fn arrived<P: Numbered>(&mut self, now: Time, packet: &Packet<P>) {
        self.counters.arrivals += 1;
        self.counters.arrived_bytes += u64::from(packet.meta.bytes);
        self.enters(now, 1, packet.meta.bytes.into());
        if let Some(observation) = &mut self.observation {
            observation.arrived(now, packet);
        }
    }

    /// The transmission of a packet starts, which takes so long.
    #[inline(always)]
    pub fn departed<P: Numbered>(&mut self, now: Time, packet: &Packet<P>, transmission: Span) {
        let delay = now.since(packet.meta.arrival);
        self.counters.departures += 1;
        self.counters.departed_bytes += u64::from(packet.meta.bytes);
        self.counters.delay += u128::from(delay.0);
        self.counters.busy += transmission.0;
        self.counters.leaves(now, 1, packet.meta.bytes.into());
        if let Some(observation) = &mut self.observation {
            observation.departed(now, packet, delay);
        }
    }

    /// A packet was offered to a discipline that decided at once. If it is accepted, count its departure too: its service starts after a
    /// delay and takes a time. If not, [`LinkStats::dropped`] has counted the drop. `average` is that by which it was judged, if there is
    /// one. No events are logged.
    #[inline(always)]
    pub fn judged(&mut self, meta: &Meta, accepted: Option<(Span, Span)>, average: Option<f64>) {
        self.counters.arrivals += 1;
        self.counters.arrived_bytes += u64::from(meta.bytes);
        match accepted {
            Some((delay, transmission)) => self.counters.departs(meta.bytes, delay, transmission),
            None => self.enters(meta.arrival, 1, meta.bytes.into()),
        }
        if let Some(observation) = &mut self.observation {
            observation.judged(meta, accepted.map(|(delay, _)| delay), average);
        }
    }

    /// Count the departure of a packet that waits at the end of the warm-up, where its arrival is counted already.
    pub fn departs_after_warmup(&mut self, starts: Time, meta: &Meta, transmission: Span) {
        let delay = starts.since(meta.arrival);
        self.counters.departs(meta.bytes, delay, transmission);
        self.counters.leaves(meta.arrival, 1, meta.bytes.into());
        if let Some(observation) = &mut self.observation {
            observation.departs(meta, delay);
        }
    }

    /// Take back a departure that was counted in advance: the packet still waits.
    pub fn take_back(&mut self, starts: Time, meta: &Meta, transmission: Span) {
        let delay = starts.since(meta.arrival);
        self.counters.departures -= 1;
        self.counters.departed_bytes -= u64::from(meta.bytes);
        self.counters.delay -= u128::from(delay.0);
        self.counters.busy -= transmission.0;
        self.enters(starts, 1, meta.bytes.into());
        if let Some(observation) = &mut self.observation {
            observation.take_back(meta, delay);
        }
    }

    fn dropped<P: Numbered>(&mut self, now: Time, packet: &Packet<P>, reason: DropReason) {
        match reason.class() {
            DropClass::Early => self.counters.drops_early += 1,
            DropClass::Forced => self.counters.drops_forced += 1,
            DropClass::Overflow => self.counters.drops_overflow += 1,
            DropClass::Route => self.is_redirected = reason == REDIRECTED,
        }
        if reason.class() != DropClass::Route {
            self.drops.count(&packet.meta);
        }
        if let Some(count) = self.drops.of_reason(reason) {
            count.drops += 1;
        }
        self.counters.leaves(now, 1, packet.meta.bytes.into());
        if let Some(observation) = &mut self.observation {
            observation.dropped(now, packet, reason);
        }
    }

    /// A packet is marked, of which the sequence number may be known.
    fn marked<P: Numbered>(&mut self, now: Time, packet: &Packet<P>, reason: DropReason) {
        match reason.class() {
            DropClass::Early => self.counters.marks_early += 1,
            DropClass::Forced | DropClass::Overflow | DropClass::Route => self.counters.marks_forced += 1,
        }
        if let Some(count) = self.drops.of_reason(reason) {
            count.marks += 1;
        }
        if let Some(observation) = &mut self.observation {
            observation.marked(now, packet, reason);
        }
    }

    #[inline]
    fn enters(&mut self, now: Time, packets: u32, bytes: u64) {
        let LinkCounters { queue_area, byte_area, .. } = &mut self.counters;
        *queue_area = queue_area.wrapping_sub(product(now.0, packets.into()));
        *byte_area = byte_area.wrapping_sub(product(now.0, bytes));
    }

    /// The warm-up is over, with so much waiting and so long to go for the service in progress: resets the counters.
    pub fn reset_stats(&mut self, now: Time, waiting: Backlog, service: Span) {
        self.counters =
            LinkCounters { busy: service.0, max_queue: waiting.packets, ..LinkCounters::default() };
        self.enters(now, waiting.packets, waiting.bytes);
        self.drops = Drops {
            channel: self.drops.channel,
            cut: self.drops.cut,
            cut_bytes: self.drops.cut_bytes,
            ..Drops::default()
        };
        if let Some(observation) = &mut self.observation {
            observation.reset_stats();
        }
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
    usize::from(meta.header.ttl_initial().saturating_sub(meta.header.ttl()))
}

/// The part of a queued packet that is not in its header.
pub trait Numbered: Copy + Default {
    /// The number that an event log shows: sequence number, or number acknowledged.
    fn number(&self) -> i32;

    /// Sending time of the packet, or of the packet that it answers; 0 if unknown.
    #[inline]
    fn sent(&self) -> Time {
        Time::ZERO
    }

    /// The fields of a pure acknowledgement, if the packet is one and they are known.
    #[inline]
    fn ack_fields(&self) -> Option<AckFields> {
        None
    }

    /// The flow of the plan to which the packet belongs, by which markers know it.
    #[inline]
    fn marked_as(&self, meta: &Meta) -> usize {
        flow_of(meta)
    }
}

impl Numbered for i32 {
    #[inline]
    fn number(&self) -> i32 {
        *self
    }
}

/// The host that a link is to its discipline.
pub(crate) struct LinkHost<'a, P> {
    rng: &'a mut Stream,
    stats: &'a mut LinkStats,
    now: Time,
    /// Takes what leaves by a drop, where somebody wants it.
    dropped: Option<&'a mut Vec<P>>,
    /// The queue is flushed: that is the reason of every drop.
    is_flushing: bool,
}

impl<'a, P> LinkHost<'a, P> {
    /// For a call at `now`.
    #[inline]
    pub fn new(
        rng: &'a mut Stream,
        stats: &'a mut LinkStats,
        now: Time,
        dropped: Option<&'a mut Vec<P>>,
    ) -> Self {
        Self { rng, stats, now, dropped, is_flushing: false }
    }

    /// For a call at `now` that flushes the queue.
    pub fn flushing(
        rng: &'a mut Stream,
        stats: &'a mut LinkStats,
        now: Time,
        dropped: Option<&'a mut Vec<P>>,
    ) -> Self {
        Self { is_flushing: true, ..Self::new(rng, stats, now, dropped) }
    }
}

impl<P: Numbered> Host<P> for LinkHost<'_, P> {
    #[inline]
    fn uniform(&mut self) -> f64 {
        self.rng.uniform()
    }

    fn below(&mut self, n: u64) -> u64 {
        self.rng.below(n)
    }

    fn dropped(&mut self, packet: Packet<P>, reason: DropReason) {
        let reason = if self.is_flushing { FLUSHED } else { reason };
        self.stats.dropped(self.now, &packet, reason);
        if let Some(dropped) = &mut self.dropped {
            dropped.push(packet.payload);
        }
    }

    fn marked(&mut self, packet: &Packet<P>, reason: DropReason) {
        self.stats.marked(self.now, packet, reason);
    }

    fn hosts(&mut self, packet: &Packet<P>) -> [u32; 2] {
        let meta = &packet.meta;
        // A live link knows the flow of the plan, a recording only the number of the flow.
        let of = |hosts: &HostPairs| {
            hosts.get(packet.payload.marked_as(meta)).or_else(|| hosts.get(flow_of(meta))).copied()
        };
        match self.stats.hosts.as_ref().and_then(of) {
            Some([from, to]) if meta.header.kind() == Kind::Ack => [to, from],
            Some(pair) => pair,
            None => [meta.flow; 2],
        }
    }

    fn ack_fields(&mut self, packet: &Packet<P>) -> Option<AckFields> {
        packet.payload.ack_fields()
    }

    fn left(&mut self, packet: &Packet<P>, queue: &'static str) {
        if let Some(observation) = &mut self.stats.observation {
            observation.left(queue, self.now.since(packet.meta.arrival));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_by_halves_are_those_of_128_bits() {
        assert_eq!(product_by_halves(3 << 32 | 5, 7), 21 << 32 | 35);
        for time in [0, 1, u64::from(u32::MAX), 1 << 32, u64::MAX] {
            for number in [0, 1, 1500, u32::MAX] {
                assert_eq!(product_by_halves(time, number), u128::from(time) * u128::from(number));
                assert_eq!(product(time, number.into()), u128::from(time) * u128::from(number));
            }
        }
    }
}
