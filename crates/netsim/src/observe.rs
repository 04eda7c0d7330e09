//! What is recorded of an observed link, from inside its station.

use aqmlab_aqm::{Backlog, Discipline, DropReason, Ecn, Kind, MarkReason, Packet, Qdisc, State};
use aqmlab_units::{Span, Time};

use crate::code_points::{CodePoint, CodePoints};
use crate::ledger::Numbered;
use crate::moments::Moments;
use crate::paths::flow_of;
use crate::plan::Probe;
use crate::sampling;

/// What happened to a packet at a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Offered to the queue.
    Enqueue,
    /// Its transmission started.
    Dequeue,
    /// Dropped.
    Drop(DropReason),
    /// Marked.
    Mark(MarkReason),
}

/// An entry of the event log. What is said of the header is what it held at that moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkEvent {
    /// When.
    pub time: Time,
    /// What.
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
    /// At an enqueue the average by which it was judged, itself counted; else NaN.
    pub average: f64,
}

/// A sample of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueSample {
    /// When; before anything that happens at that time.
    pub time: Time,
    /// Packets and bytes waiting.
    pub backlog: Backlog,
    /// Average and p_b.
    pub state: State,
}

/// A sample of something that a discipline shows of its inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DisciplineSample {
    /// When; before anything that happens at that time.
    pub time: Time,
    /// What.
    pub name: &'static str,
    /// How much.
    pub value: f64,
}

/// Bins per octave of the delay histogram: each is 9 % wide.
const BINS_PER_OCTAVE: u32 = 8;
/// The first bin ends here: 2^20 ps, about a microsecond.
const FIRST_BIN_LOG2: u32 = 20;

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
    delays: Option<Vec<u64>>,
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
            delays: probe.delay_histogram.then(Vec::new),
            averages: Moments::default(),
            code_points: CodePoints::default(),
        }
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

    /// What the discipline showed, in order of time; from the start of the run, warm-up included.
    pub fn discipline_samples(&self) -> &[DisciplineSample] {
        &self.discipline_samples
    }

    /// What was counted of each code point with arrivals.
    pub fn code_points(&self) -> impl Iterator<Item = (u8, CodePoint)> {
        self.code_points.with_arrivals()
    }

    /// The event log, where it was asked for; from the start of the run, warm-up included.
    pub fn events(&self) -> &[LinkEvent] {
        self.events.as_deref().unwrap_or_default()
    }

    /// Moments of the average as the arrivals saw it.
    pub fn averages(&self) -> Moments {
        self.averages
    }

    /// The distribution of the queueing delay: from, to (both in seconds), packets. Empty bins are left out.
    pub fn delays(&self) -> impl Iterator<Item = (f64, f64, u64)> {
        let counts = self.delays.as_deref().unwrap_or_default();
        counts.iter().enumerate().filter(|(_, n)| **n > 0).map(|(i, &n)| (bin_start(i), bin_start(i + 1), n))
    }

    #[inline]
    pub(crate) fn arrived<P: Numbered>(&mut self, time: Time, packet: &Packet<P>) {
        self.event(time, EventKind::Enqueue, packet);
        self.code_points.at(packet.meta.header.dscp()).arrived(&packet.meta);
    }

    #[inline]
    pub(crate) fn departed<P: Numbered>(&mut self, time: Time, packet: &Packet<P>, delay: Span) {
        self.event(time, EventKind::Dequeue, packet);
        self.code_points.at(packet.meta.header.dscp()).departed(&packet.meta);
        self.delay(delay);
    }

    pub(crate) fn dropped<P: Numbered>(&mut self, time: Time, packet: &Packet<P>, reason: DropReason) {
        self.event(time, EventKind::Drop(reason), packet);
        self.code_points.at(packet.meta.header.dscp()).drops += 1;
    }

    pub(crate) fn marked<P: Numbered>(&mut self, time: Time, packet: &Packet<P>, reason: MarkReason) {
        self.event(time, EventKind::Mark(reason), packet);
        self.code_points.at(packet.meta.header.dscp()).marks += 1;
    }

    #[inline]
    fn event<P: Numbered>(&mut self, time: Time, kind: EventKind, packet: &Packet<P>) {
        if let Some(events) = &mut self.events {
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

    #[inline]
    pub(crate) fn saw_average(&mut self, average: f64) {
        self.averages.add(average);
        let offered = |event: &&mut LinkEvent| event.kind == EventKind::Enqueue;
        if let Some(events) = &mut self.events
            && let Some(event) = events.iter_mut().rev().find(offered)
        {
            event.average = average;
        }
    }

    #[inline]
    fn delay(&mut self, delay: Span) {
        if let Some(delays) = &mut self.delays {
            let bin = bin_of(delay);
            if bin >= delays.len() {
                delays.resize(bin + 1, 0);
            }
            delays[bin] += 1;
        }
    }

    /// Takes the samples that are due.
    pub(crate) fn sample<P: Copy>(&mut self, time: Time, discipline: &Discipline<P>) {
        if sampling::is_due(self.interval, time) {
            let (backlog, state) = (discipline.backlog(), discipline.state());
            self.samples.push(QueueSample { time, backlog, state });
        }
        if sampling::is_due(self.discipline_interval, time) {
            let samples = &mut self.discipline_samples;
            discipline.gauges(time, &mut |name, value| samples.push(DisciplineSample { time, name, value }));
        }
    }

    /// The first sample after `at`, or at the very start.
    pub(crate) fn sample_after(&self, at: Option<Time>) -> Time {
        sampling::next(self.interval, at).min(sampling::next(self.discipline_interval, at))
    }

    /// The warm-up is over: samples and events stay, sums start anew.
    pub(crate) fn forget(&mut self) {
        self.averages = Moments::default();
        self.code_points = CodePoints::default();
        if let Some(delays) = &mut self.delays {
            delays.clear();
        }
    }
}

/// Bin 0 is no delay at all to about a microsecond, then eight bins an octave by the leading bits of the delay.
fn bin_of(delay: Span) -> usize {
    if delay.0 >> FIRST_BIN_LOG2 == 0 {
        return 0;
    }
    let octave = delay.0.ilog2();
    let part = (delay.0 >> (octave - 3)) as u32 & (BINS_PER_OCTAVE - 1);
    ((octave - FIRST_BIN_LOG2) * BINS_PER_OCTAVE + part + 1) as usize
}

/// Start of a bin in seconds.
fn bin_start(bin: usize) -> f64 {
    let Some(i) = bin.checked_sub(1) else { return 0.0 };
    let (octave, part) = (i as u32 / BINS_PER_OCTAVE + FIRST_BIN_LOG2, i as u64 % u64::from(BINS_PER_OCTAVE));
    Span((u64::from(BINS_PER_OCTAVE) + part) << (octave - 3)).secs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_delay_lies_in_its_bin(ps in 0u64..10_000_000_000_000) {
            let bin = bin_of(Span(ps));
            prop_assert!(bin_start(bin) <= Span(ps).secs() && Span(ps).secs() < bin_start(bin + 1));
        }
    }
}
