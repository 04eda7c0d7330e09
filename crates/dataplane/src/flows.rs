//! Per-flow counters of the link, and the place of each flow in the markers of the plan.
//!
//! When an idle flow's number is reused, its counts, and the outcomes of its packets still in transit, are added to the
//! other flows of its group. The counts of all flows and of the other flows together therefore equal those of the link.

use aqmlab_netsim::plan::Plan;
use aqmlab_units::Time;

use crate::buffer::Buffer;
use crate::classify::Group;

/// Data packets after which a connection counts as a transfer. Measuring programs first open a control connection, which
/// must not occupy the meter of a transfer.
const CARRIES: u64 = 16;

/// Name of the flows of a group whose numbers were reused.
pub const OTHER_FLOWS: &str = "other flows";

/// Counters of a flow since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowCounts {
    /// Packets that arrived at the queue.
    pub arrivals: u64,
    /// Their bytes.
    pub arrived_bytes: u64,
    /// Drops of the discipline.
    pub drops: u64,
    /// Packets that left with a mark that they had not come with.
    pub marks: u64,
    /// Packets that left.
    pub departures: u64,
    /// Their bytes.
    pub departed_bytes: u64,
    /// When the first arrived.
    pub first: Time,
    /// When the last left.
    pub last: Time,
}

impl FlowCounts {
    /// The counts with those of another flow.
    fn and(&self, other: &Self) -> Self {
        let first = if self.arrivals == 0 || other.arrivals > 0 && other.first < self.first {
            other.first
        } else {
            self.first
        };
        Self {
            arrivals: self.arrivals + other.arrivals,
            arrived_bytes: self.arrived_bytes + other.arrived_bytes,
            drops: self.drops + other.drops,
            marks: self.marks + other.marks,
            departures: self.departures + other.departures,
            departed_bytes: self.departed_bytes + other.departed_bytes,
            first,
            last: self.last.max(other.last),
        }
    }

    /// The counts without those until an earlier time.
    fn since(&self, before: &Self) -> Self {
        Self {
            arrivals: self.arrivals - before.arrivals,
            arrived_bytes: self.arrived_bytes - before.arrived_bytes,
            drops: self.drops - before.drops,
            marks: self.marks - before.marks,
            departures: self.departures - before.departures,
            departed_bytes: self.departed_bytes - before.departed_bytes,
            first: self.first,
            last: self.last,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// How many flows had its number before.
    generation: u32,
    /// The group of its last packet.
    group: u16,
    counts: FlowCounts,
    /// The counters at the end of the warm-up.
    before: FlowCounts,
    data: u64,
    /// Its place among the flows of its group that carry something.
    place: Option<u32>,
}

/// All flows of a direction, by number.
#[derive(Clone, Debug)]
pub struct FlowStats {
    flows: Vec<Flow>,
    /// By group, the counters of flows that are no longer known.
    others: Vec<Flow>,
    /// For each group the numbers of its flows in the plan, and how many of its real flows carry something.
    planned: Vec<(Vec<u32>, u32)>,
}

impl FlowStats {
    /// For at most `bound` flows of these groups, which are those of the plan by their names.
    pub fn new(plan: &Plan, groups: &[Group], bound: usize) -> Self {
        let of = |group: &Group| {
            (0..).zip(&*plan.flows).filter(|(_, flow)| *flow.group == *group.name).map(|(i, _)| i).collect()
        };
        Self {
            flows: vec![Flow::default(); bound],
            // They take no place of a flow that carries something.
            others: vec![Flow { place: Some(0), ..Flow::default() }; groups.len()],
            planned: groups.iter().map(|g| (of(g), 0)).collect(),
        }
    }

    /// Assign a number to another flow, the one of this generation.
    pub fn begin(&mut self, flow: u32, generation: u32) {
        let Some(flow) = self.flows.get_mut(flow as usize) else { return };
        let old = core::mem::replace(flow, Flow { generation, ..Flow::default() });
        if let Some(others) = self.others.get_mut(usize::from(old.group)) {
            others.counts = others.counts.and(&old.counts);
            others.before = others.before.and(&old.before);
        }
    }

    /// A packet arrives; the flow of the plan by which markers know it. The flows of a group that carry something take the
    /// places of its flows in the plan in turn.
    pub fn arrived(&mut self, now: Time, packet: &Buffer, bytes: u32, is_data: bool) -> u32 {
        let Some(flow) = flow_of(&mut self.flows, &mut self.others, packet) else { return u32::MAX };
        let counts = &mut flow.counts;
        if counts.arrivals == 0 {
            counts.first = now;
        }
        counts.arrivals += 1;
        counts.arrived_bytes += u64::from(bytes);
        flow.group = packet.group;
        flow.data += u64::from(is_data);
        let Some((planned, carrying)) = self.planned.get_mut(usize::from(packet.group)) else {
            return u32::MAX;
        };
        if planned.is_empty() {
            return u32::MAX;
        }
        if flow.place.is_none() && flow.data >= CARRIES {
            flow.place = Some(*carrying);
            *carrying += 1;
        }
        planned[flow.place.unwrap_or(*carrying) as usize % planned.len()]
    }

    /// A packet left the link.
    pub fn departed(&mut self, now: Time, packet: &Buffer, bytes: u32, is_newly_marked: bool) {
        if let Some(Flow { counts, .. }) = flow_of(&mut self.flows, &mut self.others, packet) {
            counts.departures += 1;
            counts.departed_bytes += u64::from(bytes);
            counts.marks += u64::from(is_newly_marked);
            counts.last = now;
        }
    }

    /// The discipline dropped a packet.
    pub fn dropped(&mut self, packet: &Buffer) {
        if let Some(flow) = flow_of(&mut self.flows, &mut self.others, packet) {
            flow.counts.drops += 1;
        }
    }

    /// The warm-up is over.
    pub fn reset_stats(&mut self) {
        self.flows.iter_mut().chain(&mut self.others).for_each(|flow| flow.before = flow.counts);
    }

    /// Return the counters of a flow over the measured part of the run.
    pub fn measured(&self, flow: usize) -> FlowCounts {
        self.flows.get(flow).map_or_else(FlowCounts::default, Flow::measured)
    }

    /// Counters of a flow since the start.
    pub fn of(&self, flow: usize) -> FlowCounts {
        self.flows.get(flow).map_or_else(FlowCounts::default, |flow| flow.counts)
    }

    /// Return, by group, the counters since the start of flows whose numbers were reused.
    pub fn others(&self) -> impl ExactSizeIterator<Item = FlowCounts> {
        self.others.iter().map(|flow| flow.counts)
    }

    /// The same over the measured part of the run.
    pub fn others_measured(&self) -> impl ExactSizeIterator<Item = FlowCounts> {
        self.others.iter().map(Flow::measured)
    }
}

impl Flow {
    fn measured(&self) -> FlowCounts {
        self.counts.since(&self.before)
    }
}

/// The flow of a packet; the others of its group where its number is another flow's by now.
#[inline]
fn flow_of<'a>(flows: &'a mut [Flow], others: &'a mut [Flow], packet: &Buffer) -> Option<&'a mut Flow> {
    let known = flows.get_mut(packet.flow as usize).filter(|flow| flow.generation == packet.generation);
    known.or_else(|| others.get_mut(usize::from(packet.group)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(planned: Vec<u32>) -> FlowStats {
        FlowStats {
            flows: vec![Flow::default(); 4],
            others: vec![Flow::default(); 2],
            planned: vec![(planned, 0), (Vec::new(), 0)],
        }
    }

    fn of(flow: u32) -> Buffer {
        Buffer { flow, ..Buffer::default() }
    }

    #[test]
    fn a_connection_that_carries_nothing_takes_no_place_in_the_plan() {
        let mut book = book(vec![7, 8]);
        let mut send = |flow, n| (0..n).map(|_| book.arrived(Time(5), &of(flow), 100, true)).last();
        assert_eq!(send(0, 3), Some(7), "a connection for control");
        assert_eq!(send(1, 100), Some(7));
        assert_eq!(send(2, 100), Some(8));
        assert_eq!(send(3, 100), Some(7), "more flows than planned share meters");
        assert_eq!(send(1, 1), Some(7));
        let other = Buffer { group: 1, ..of(0) };
        assert_eq!(book.arrived(Time(9), &other, 100, true), u32::MAX, "a group without flows in the plan");
    }

    #[test]
    fn a_flow_takes_one_place_whatever_else_it_sends() {
        let mut book = book(vec![7, 8]);
        for _ in 0..CARRIES {
            book.arrived(Time(5), &of(0), 100, true);
        }
        let acks: Vec<_> = (0..3).map(|_| book.arrived(Time(6), &of(0), 40, false)).collect();
        assert_eq!((acks, book.planned[0].1), (vec![7; 3], 1));
    }

    #[test]
    fn the_warm_up_is_not_measured() {
        let mut book = book(vec![0]);
        book.arrived(Time(5), &of(1), 100, true);
        book.departed(Time(6), &of(1), 100, true);
        book.reset_stats();
        book.arrived(Time(7), &of(1), 50, true);
        book.dropped(&of(1));
        let (all, measured) = (book.of(1), book.measured(1));
        assert_eq!((all.arrivals, all.arrived_bytes, all.marks, all.departures), (2, 150, 1, 1));
        assert_eq!(
            (measured.arrivals, measured.arrived_bytes, measured.marks, measured.drops),
            (1, 50, 0, 1)
        );
        assert_eq!((all.first, all.last, book.of(99)), (Time(5), Time(6), FlowCounts::default()));
    }

    #[test]
    fn a_flow_that_gives_its_number_away_takes_its_counts_along() {
        let mut book = book(vec![7, 8]);
        let (old, new) = (of(2), Buffer { generation: 1, ..of(2) });
        for _ in 0..20 {
            book.arrived(Time(5), &old, 100, true);
        }
        book.departed(Time(6), &old, 100, true);
        book.reset_stats();
        book.arrived(Time(7), &old, 100, true);
        book.begin(2, 1);
        assert_eq!(book.of(2), FlowCounts::default());
        // Of both packets are under way.
        assert_eq!(book.arrived(Time(8), &new, 40, true), 8, "a place of its own, once it carries something");
        book.arrived(Time(8), &old, 100, true);
        book.departed(Time(9), &old, 100, false);
        book.dropped(&old);
        book.departed(Time(10), &new, 40, false);
        let counts = book.of(2);
        assert_eq!((counts.arrivals, counts.arrived_bytes, counts.departures, counts.drops), (1, 40, 1, 0));
        assert_eq!((counts.first, counts.last, book.measured(2).arrivals), (Time(8), Time(10), 1));
        let others: Vec<_> = book.others().collect();
        let FlowCounts { arrivals, arrived_bytes, departures, drops, marks, .. } = others[0];
        assert_eq!((arrivals, arrived_bytes, departures, drops, marks), (22, 2200, 2, 1, 1));
        assert_eq!((others[0].first, others[0].last, others[1]), (Time(5), Time(9), FlowCounts::default()));
        let measured: Vec<_> = book.others_measured().map(|c| (c.arrivals, c.departures, c.marks)).collect();
        assert_eq!(measured, [(2, 1, 0), (0, 0, 0)]);
    }
}
