//! The records of an observed link, made inside its station.

use core::ops::Range;

use aqmlab_aqm::red::{AVERAGE, P_B};
use aqmlab_aqm::{Backlog, DropReason, Ecn, Gauge, Kind, Meta, Packet, Qdisc};
use aqmlab_units::{Span, Time};

use crate::code_points::{CodePoint, CodePoints};
use crate::histogram::Histogram;
use crate::link_stats::Numbered;
use crate::moments::Moments;
use crate::packet_log::{LoggedPacket, PacketLog};
use crate::paths::flow_of;
use crate::plan::Probe;
use crate::sampling;

/// The kind of an event of a packet at a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Offered to the queue.
    Enqueue,
    /// Its transmission started.
    Dequeue,
    /// Dropped.
    Drop(DropReason),
    /// Marked.
    Mark(DropReason),
}

/// An entry of the event log. Header fields have the values of that moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkEvent {
    /// When.
    pub time: Time,
    /// Kind of the event.
    pub kind: EventKind,
    /// Number of the flow.
    pub flow: u32,
    /// Sequence number, or number acknowledged.
    pub number: i32,
    /// Length in bytes.
    pub bytes: u32,
    /// Data, acknowledgement or connection set-up.
    pub packet: Kind,
    /// Code point.
    pub dscp: u8,
    /// ECN field.
    pub ecn: Ecn,
    /// Time to live on this link.
    pub ttl: u8,
    /// At an enqueue the average by which it was judged, itself counted; else NaN, and NaN for disciplines without one.
    pub average: f64,
}

/// A sample of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueSample {
    /// When; before anything that happens at that time.
    pub time: Time,
    /// Packets and bytes waiting.
    pub backlog: Backlog,
    /// The gauge `average`; NaN for disciplines without one.
    pub average: f64,
    /// The gauge `p_b`; NaN for disciplines without one.
    pub p_b: f64,
}

/// A sample of a gauge that is no column of the samples of the queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DisciplineSample {
    /// When; before anything that happens at that time.
    pub time: Time,
    /// Name of the gauge.
    pub name: &'static str,
    /// How much.
    pub value: f64,
}

/// A packet that was dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// When.
    pub time: Time,
    /// Number of the flow.
    pub flow: u32,
    /// Data, acknowledgement or connection set-up.
    pub packet: Kind,
    /// Why; `None` if the channel lost it.
    pub reason: Option<DropReason>,
}

/// The delay histogram has eight bins an octave: each is 9 % wide.
const BINS_LOG2: u32 = 3;
/// Room for as many bins as delays of up to an hour need.
const BINS: usize = 256;
/// Room for as many gauges a sample.
const GAUGES: usize = 8;

/// The record of one link.
#[derive(Clone, Debug)]
pub struct Observation {
    interval: Option<Span>,
    samples: Vec<QueueSample>,
    discipline_interval: Option<Span>,
    discipline_samples: Vec<DisciplineSample>,
    events: Option<Vec<LinkEvent>>,
    /// When events are recorded.
    events_within: Range<Time>,
    /// Entries of events, losses and packets that may follow; nothing is recorded once there are none left.
    room: usize,
    /// An entry found no room.
    is_full: bool,
    losses: Option<Vec<Loss>>,
    /// Losses of the channel, which a link may know ahead of others.
    channel_losses: Vec<Loss>,
    most_channel_losses: usize,
    packets: Option<PacketLog>,
    delays: Option<Histogram<BINS_LOG2>>,
    /// The delays in each queue with a name, in the order of their first packets.
    queue_delays: Vec<(&'static str, Histogram<BINS_LOG2>)>,
    /// Whether the discipline has a gauge `average`.
    has_average: bool,
    averages: Moments,
    code_points: CodePoints,
}

impl Observation {
    pub(crate) fn new(probe: &Probe) -> Self {
        Self {
            interval: probe.queue_interval,
            samples: Vec::new(),
            discipline_interval: probe.discipline_interval,
            discipline_samples: Vec::new(),
            events: probe.events.then(Vec::new),
            events_within: probe.events_from..probe.events_until.unwrap_or(Time::NEVER),
            room: probe.most_records(),
            is_full: false,
            losses: probe.losses.then(Vec::new),
            channel_losses: Vec::new(),
            most_channel_losses: probe.most_records(),
            packets: probe.packets.then(PacketLog::default),
            delays: probe.delay_histogram.then(Histogram::default),
            queue_delays: Vec::new(),
            has_average: false,
            averages: Moments::default(),
            code_points: CodePoints::default(),
        }
    }

    /// Prepare for a discipline.
    pub(crate) fn attach<P>(&mut self, discipline: &impl Qdisc<P>) {
        self.has_average = discipline.gauge(Time::ZERO, AVERAGE).is_some();
    }

    /// Makes room for the samples of a run of this length.
    pub(crate) fn make_room(&mut self, duration: Span) {
        let samples = |interval: Option<Span>| interval.map_or(0, |i| duration.0 / i.0.max(1)) as usize;
        self.samples.reserve(samples(self.interval));
        self.discipline_samples.reserve(GAUGES * samples(self.discipline_interval));
        if let Some(delays) = &mut self.delays {
            delays.reserve(BINS);
        }
    }

    /// The samples, in order of time; from the start of the run, warm-up included.
    pub fn samples(&self) -> &[QueueSample] {
        &self.samples
    }

    /// The gauges of the discipline, in order of time; from the start of the run, warm-up included.
    pub fn discipline_samples(&self) -> &[DisciplineSample] {
        &self.discipline_samples
    }

    /// Return the counters of each code point with arrivals.
    pub fn code_points(&self) -> impl Iterator<Item = (u8, CodePoint)> {
        self.code_points.with_arrivals()
    }

    /// The event log, where it was asked for; from the start of the run, warm-up included.
    pub fn events(&self) -> &[LinkEvent] {
        self.events.as_deref().unwrap_or_default()
    }

    /// The packets that came, where it was asked for; from the start of the run, warm-up included.
    pub fn packets(&self) -> &[LoggedPacket] {
        self.packets.as_ref().map_or(&[], PacketLog::packets)
    }

    /// The number of entries of the logs; one more than there may be if one found no room.
    pub fn records(&self) -> usize {
        let losses = self.losses.as_ref().map_or(0, Vec::len) + self.channel_losses.len();
        self.events().len() + losses + self.packets().len() + usize::from(self.is_full)
    }

    /// Take room for an entry of a log. Return whether there is some.
    fn take_room(&mut self) -> bool {
        let has_room = self.room > 0;
        self.room -= usize::from(has_room);
        self.is_full |= !has_room;
        has_room
    }

    /// Moments of the average as the arrivals saw it; empty for disciplines without one.
    pub fn averages(&self) -> Moments {
        self.averages
    }

    /// The packets that were dropped or lost in the channel, where it was asked for; from the start of the run, warm-up included.
    pub fn losses(&self) -> Vec<Loss> {
        let mut all = self.losses.clone().unwrap_or_default();
        all.extend_from_slice(&self.channel_losses);
        all.sort_by_key(|loss| loss.time);
        all
    }

    /// A packet is lost behind the queue, whose service starts at a time: without a reason, by the channel.
    pub(crate) fn lost(&mut self, starts: Time, meta: &Meta, reason: Option<DropReason>) {
        if self.losses.is_some() && self.channel_losses.len() < self.most_channel_losses {
            let (flow, packet) = (flow_of(meta) as u32, meta.header.kind());
            self.channel_losses.push(Loss { time: starts, flow, packet, reason });
        }
    }

    /// The distribution of the queueing delay: from, to (both in seconds), packets. Empty bins are left out.
    pub fn delays(&self) -> impl Iterator<Item = (f64, f64, u64)> {
        self.delays.iter().flat_map(Histogram::bins)
    }

    /// The distribution of the delay in each queue with a name: name, from, to (both in seconds), packets. Empty bins are left out.
    pub fn queue_delays(&self) -> impl Iterator<Item = (&'static str, (f64, f64, u64))> {
        self.queue_delays.iter().flat_map(|(queue, delays)| delays.bins().map(move |bin| (*queue, bin)))
    }

    #[inline(always)]
    pub(crate) fn arrived<P: Numbered>(&mut self, time: Time, packet: &Packet<P>) {
        self.event(time, EventKind::Enqueue, packet);
        if self.packets.is_some() && self.take_room() {
            self.packets.iter_mut().for_each(|packets| packets.offered(time, packet));
        }
        self.code_points.at(packet.meta.header.dscp()).arrived(packet.meta.bytes);
    }

    #[inline(always)]
    pub(crate) fn departed<P: Numbered>(&mut self, time: Time, packet: &Packet<P>, delay: Span) {
        self.event(time, EventKind::Dequeue, packet);
        if let Some(packets) = &mut self.packets {
            packets.left(time, packet);
        }
        self.code_points.at(packet.meta.header.dscp()).departed(packet.meta.bytes);
        self.delay(delay);
    }

    /// A packet leaves the queue of this name after this delay.
    pub(crate) fn left(&mut self, queue: &'static str, delay: Span) {
        if self.delays.is_none() {
            return;
        }
        let place = self.queue_delays.iter().position(|(name, _)| *name == queue).unwrap_or_else(|| {
            let mut delays = Histogram::default();
            delays.reserve(BINS);
            self.queue_delays.push((queue, delays));
            self.queue_delays.len() - 1
        });
        self.queue_delays[place].1.add(delay);
    }

    /// A packet was judged by this average, and is accepted if it has a delay; no events are logged.
    #[inline(always)]
    pub(crate) fn judged(&mut self, meta: &Meta, delay: Option<Span>, average: Option<f64>) {
        let counted = self.code_points.at(meta.header.dscp());
        counted.arrived(meta.bytes);
        if let Some(delay) = delay {
            counted.departed(meta.bytes);
            self.delay(delay);
        }
        if let Some(average) = average {
            self.averages.add(average);
        }
    }

    /// A packet departs after this delay; no events are logged.
    pub(crate) fn departs(&mut self, meta: &Meta, delay: Span) {
        self.code_points.at(meta.header.dscp()).departed(meta.bytes);
        self.delay(delay);
    }

    /// Take a departure back.
    pub(crate) fn take_back(&mut self, meta: &Meta, delay: Span) {
        self.code_points.at(meta.header.dscp()).take_back(meta.bytes);
        if let Some(delays) = &mut self.delays {
            delays.take_back(delay);
        }
    }

    pub(crate) fn dropped<P: Numbered>(&mut self, time: Time, packet: &Packet<P>, reason: DropReason) {
        self.event(time, EventKind::Drop(reason), packet);
        if let Some(packets) = &mut self.packets {
            packets.dropped(time, packet);
        }
        if self.losses.is_some()
            && self.take_room()
            && let Some(losses) = &mut self.losses
        {
            let (flow, packet) = (flow_of(&packet.meta) as u32, packet.meta.header.kind());
            losses.push(Loss { time, flow, packet, reason: Some(reason) });
        }
        self.code_points.at(packet.meta.header.dscp()).drops += 1;
    }

    pub(crate) fn marked<P: Numbered>(&mut self, time: Time, packet: &Packet<P>, reason: DropReason) {
        self.event(time, EventKind::Mark(reason), packet);
        if let Some(packets) = &mut self.packets {
            packets.marked(time, packet);
        }
        self.code_points.at(packet.meta.header.dscp()).marks += 1;
    }

    #[inline(always)]
    fn event<P: Numbered>(&mut self, time: Time, kind: EventKind, packet: &Packet<P>) {
        if self.events.is_some() {
            self.log_event(time, kind, packet);
        }
    }

    #[inline(never)]
    fn log_event<P: Numbered>(&mut self, time: Time, kind: EventKind, packet: &Packet<P>) {
        if self.events_within.contains(&time)
            && self.take_room()
            && let Some(events) = &mut self.events
        {
            let header = packet.meta.header;
            events.push(LinkEvent {
                time,
                kind,
                flow: flow_of(&packet.meta) as u32,
                number: packet.payload.number(),
                bytes: packet.meta.bytes,
                packet: header.kind(),
                dscp: header.dscp(),
                ecn: header.ecn(),
                ttl: header.ttl(),
                average: f64::NAN,
            });
        }
    }

    /// Record the average that decided about the last arrival.
    #[inline(always)]
    pub(crate) fn after_decision<P>(&mut self, now: Time, discipline: &impl Qdisc<P>) {
        if self.has_average
            && let Some(average) = discipline.average(now)
        {
            self.saw_average(now, average);
        }
    }

    #[inline]
    fn saw_average(&mut self, now: Time, average: f64) {
        self.averages.add(average);
        let offered = |event: &&mut LinkEvent| event.kind == EventKind::Enqueue;
        if let Some(events) = &mut self.events
            && self.events_within.contains(&now)
            && let Some(event) = events.iter_mut().rev().find(offered)
        {
            event.average = average;
        }
    }

    #[inline(always)]
    fn delay(&mut self, delay: Span) {
        if let Some(delays) = &mut self.delays {
            delays.add(delay);
        }
    }

    /// Takes the samples that are due.
    pub(crate) fn sample<P>(&mut self, time: Time, discipline: &impl Qdisc<P>) {
        if sampling::is_due(self.interval, time) {
            let gauge = |name| discipline.gauge(time, name).unwrap_or(f64::NAN);
            let (backlog, average, p_b) = (discipline.backlog(), gauge(AVERAGE), gauge(P_B));
            self.samples.push(QueueSample { time, backlog, average, p_b });
        }
        if sampling::is_due(self.discipline_interval, time) {
            let samples = &mut self.discipline_samples;
            discipline.gauges(time, &mut |gauge, value| match gauge {
                Gauge::State(AVERAGE | P_B) | Gauge::Decision(_) => {}
                Gauge::State(name) => samples.push(DisciplineSample { time, name, value }),
            });
        }
    }

    /// The first sample after `at`, or at the very start.
    pub(crate) fn sample_after(&self, at: Option<Time>) -> Time {
        sampling::next(self.interval, at).min(sampling::next(self.discipline_interval, at))
    }

    /// The warm-up is over: samples and events are kept, sums are reset.
    pub(crate) fn reset_stats(&mut self) {
        self.averages = Moments::default();
        self.code_points = CodePoints::default();
        if let Some(delays) = &mut self.delays {
            delays.clear();
        }
        self.queue_delays.iter_mut().for_each(|(_, delays)| delays.clear());
    }
}
