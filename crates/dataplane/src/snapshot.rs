//! Snapshots of the link thread's state, and their transfer to the control thread without blocking.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64};

use aqmlab_aqm::{Backlog, Qdisc};
use aqmlab_netsim::standalone_link::{Measured, Totals};
use aqmlab_units::{Rate, Time};

use crate::bottleneck::{Bottleneck, PacketOutcomes};
use crate::classify::{Classifier, Label};
use crate::config::Planned;
use crate::flows::FlowCounts;
use crate::lateness::Percentiles;
use crate::wire::MalformedCounts;

/// One direction that has a queue.
#[derive(Clone, Debug)]
pub struct Side {
    /// `forward` or `reverse`.
    pub name: &'static str,
    /// Name of the link.
    pub link: String,
    /// Its discipline.
    pub aqm: &'static str,
    /// Its rate.
    pub rate: Rate,
    /// The waiting packets and bytes.
    pub backlog: Backlog,
    /// Gauges of the discipline.
    pub gauges: Vec<(&'static str, f64)>,
    /// Totals since the start.
    pub totals: Totals,
    /// Statistics of the measured part.
    pub measured: Measured,
    /// Number of packets by outcome.
    pub outcomes: PacketOutcomes,
    /// Of each flow, by number.
    pub flows: Vec<FlowCounts>,
    /// Counters of flows whose numbers were reused, by group.
    pub others: Vec<FlowCounts>,
}

/// Counters of the plane as a whole, since the start.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlaneCounts {
    /// Packets that were read.
    pub read: u64,
    /// Packets that were written.
    pub written: u64,
    /// Packets that the kernel rejected.
    pub unwritten: u64,
    /// Packets that were read while no buffer was free.
    pub no_buffer: u64,
    /// Packets that could not be parsed.
    pub malformed: MalformedCounts,
    /// Dropped by disciplines.
    pub dropped: u64,
    /// Lost by chance.
    pub lost: u64,
    /// Copies made by channels.
    pub copied: u64,
    /// On their direction.
    pub held: u64,
    /// Departures, and how late they were.
    pub lateness: Percentiles,
    /// Departures more than 10 ms late.
    pub stalls: u64,
    /// Time asleep in nanoseconds.
    pub idle_ns: u64,
    /// Packets that were read but not written into the file, since its writer was behind.
    pub unrecorded: u64,
}

/// All of it, at one time.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Logical time since the start.
    pub t: Time,
    /// Directions with a queue.
    pub sides: Vec<Side>,
    /// Group and label of each flow, by number.
    pub flows: Vec<(u16, Label)>,
    /// The plane.
    pub plane: PlaneCounts,
}

impl PlaneCounts {
    /// Return the packets that were read or copied but appear in no other counter; 0 if the counters are consistent.
    pub fn unaccounted(&self) -> i64 {
        let Self { written, unwritten, no_buffer, dropped, lost, copied, held, .. } = *self;
        let known = written + unwritten + no_buffer + self.malformed.total() + dropped + lost + held;
        (self.read + copied) as i64 - known as i64
    }
}

impl Side {
    fn new(bottleneck: &Bottleneck) -> Option<Self> {
        let link = bottleneck.link()?;
        Some(Self {
            name: bottleneck.name(),
            link: link.name().to_owned(),
            aqm: link.aqm(),
            rate: link.rate(),
            backlog: Backlog::default(),
            gauges: Vec::with_capacity(64),
            totals: link.totals(),
            measured: Measured::default(),
            outcomes: PacketOutcomes::default(),
            flows: Vec::new(),
            others: Vec::with_capacity(bottleneck.flows().others().len()),
        })
    }

    fn take(&mut self, t: Time, bottleneck: &Bottleneck) {
        let Some(link) = bottleneck.link() else { return };
        (self.aqm, self.rate, self.backlog) = (link.aqm(), link.rate(), link.backlog());
        self.gauges.clear();
        link.discipline().gauges(t, &mut |gauge, value| self.gauges.push((gauge.name(), value)));
        self.totals = link.totals();
        self.measured = link.measured(t);
        self.outcomes = bottleneck.outcomes();
    }
}

impl Snapshot {
    /// Of directions before the first packet, with room for all flows.
    pub fn new(directions: &[Bottleneck], flows: usize) -> Self {
        let mut sides: Vec<_> = directions.iter().filter_map(Side::new).collect();
        sides.iter_mut().for_each(|side| side.flows.reserve(flows));
        Self { sides, flows: Vec::with_capacity(flows), ..Self::default() }
    }

    /// Update the snapshot.
    pub fn take(
        &mut self,
        t: Time,
        directions: &[Bottleneck],
        classifier: &Classifier,
        with_flows: bool,
        plane: PlaneCounts,
    ) {
        self.t = t;
        self.plane = plane;
        let queues = directions.iter().filter(|direction| direction.link().is_some());
        for (side, direction) in self.sides.iter_mut().zip(queues) {
            side.take(t, direction);
            side.flows.clear();
            side.others.clear();
            if with_flows {
                side.others.extend(direction.flows().others());
                side.flows.extend((0..classifier.flows().len()).map(|flow| direction.flows().of(flow)));
            }
        }
        self.flows.clear();
        if with_flows {
            let group = |flow: usize| classifier.group_of(flow as u32) as u16;
            self.flows.extend(classifier.flows().enumerate().map(|(i, (_, label))| (group(i), *label)));
        }
    }
}

/// State shared by the threads. The link thread never blocks on it.
#[derive(Debug, Default)]
pub struct Shared {
    /// The run is to end.
    pub stop: AtomicBool,
    /// The run has ended.
    pub ended: AtomicBool,
    /// When the run begins, in nanoseconds of the clock; 0: no command came yet.
    pub start: AtomicU64,
    /// A new configuration, until the link thread takes it.
    pub renewal: Mutex<Option<Box<Planned>>>,
    /// The last snapshot, and whether it is new.
    pub board: Mutex<(Snapshot, bool)>,
}
