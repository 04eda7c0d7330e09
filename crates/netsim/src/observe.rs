//! What is recorded of an observed link, from inside its station.

use aqmlab_aqm::{Backlog, DropReason, MarkReason, State};
use aqmlab_units::{Span, Time};

use crate::packet::{SimPacket, flow_of, number_of};
use crate::plan::Probe;

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

/// An entry of the event log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Bins per octave of the delay histogram: each is 9 % wide.
const BINS_PER_OCTAVE: u32 = 8;
/// The first bin ends here: 2^20 ps, about a microsecond.
const FIRST_BIN_LOG2: u32 = 20;

/// The record of one link.
#[derive(Clone, Debug)]
pub struct Observation {
    interval: Option<Span>,
    samples: Vec<QueueSample>,
    events: Option<Vec<LinkEvent>>,
    delays: Option<Vec<u64>>,
    averages: Moments,
}

/// Count, sum and sum of squares of values, taken relative to the first so that nothing is lost to cancellation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    n: u64,
    first: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    /// One more value.
    #[inline]
    pub fn add(&mut self, x: f64) {
        if self.n == 0 {
            self.first = x;
        }
        let d = x - self.first;
        self.n += 1;
        self.sum += d;
        self.squares += d * d;
    }

    /// Mean; NaN without a value.
    pub fn mean(&self) -> f64 {
        if self.n == 0 { f64::NAN } else { self.first + self.sum / self.n as f64 }
    }

    /// Sample standard deviation; NaN below two values.
    pub fn sd(&self) -> f64 {
        let n = self.n as f64;
        if self.n < 2 {
            f64::NAN
        } else {
            ((self.squares - self.sum * self.sum / n).max(0.0) / (n - 1.0)).sqrt()
        }
    }
}

impl Observation {
    pub(crate) fn new(probe: &Probe) -> Self {
        Self {
            interval: probe.queue_interval,
            samples: Vec::new(),
            events: probe.events.then(Vec::new),
            delays: probe.delay_histogram.then(Vec::new),
            averages: Moments::default(),
        }
    }

    /// The samples, in order of time; from the start of the run, warm-up included.
    pub fn samples(&self) -> &[QueueSample] {
        &self.samples
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
    pub(crate) fn event(&mut self, time: Time, kind: EventKind, packet: &SimPacket) {
        if let Some(events) = &mut self.events {
            let flow = flow_of(&packet.meta) as u32;
            events.push(LinkEvent { time, kind, flow, number: number_of(packet), bytes: packet.meta.bytes });
        }
    }

    #[inline]
    pub(crate) fn saw_average(&mut self, average: f64) {
        self.averages.add(average);
    }

    #[inline]
    pub(crate) fn delay(&mut self, delay: Span) {
        if let Some(delays) = &mut self.delays {
            let bin = bin_of(delay);
            if bin >= delays.len() {
                delays.resize(bin + 1, 0);
            }
            delays[bin] += 1;
        }
    }

    pub(crate) fn sample(&mut self, time: Time, backlog: Backlog, state: State) {
        if self.interval.is_some_and(|i| time.0.is_multiple_of(i.0)) {
            self.samples.push(QueueSample { time, backlog, state });
        }
    }

    /// The first sample after `at`, or at the very start.
    pub(crate) fn sample_after(&self, at: Option<Time>) -> Time {
        match (self.interval, at) {
            (None, _) => Time::NEVER,
            (Some(_), None) => Time::ZERO,
            (Some(interval), Some(at)) => Time((at.0 / interval.0 + 1) * interval.0),
        }
    }

    /// The warm-up is over: samples and events stay, sums start anew.
    pub(crate) fn forget(&mut self) {
        self.averages = Moments::default();
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

    #[test]
    fn moments_by_hand() {
        let mut m = Moments::default();
        for x in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0] {
            m.add(x);
        }
        assert_eq!(m.mean(), 5.0);
        assert!((m.sd() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn a_delay_lies_in_its_bin(ps in 0u64..10_000_000_000_000) {
            let bin = bin_of(Span(ps));
            prop_assert!(bin_start(bin) <= Span(ps).secs() && Span(ps).secs() < bin_start(bin + 1));
        }
    }
}
