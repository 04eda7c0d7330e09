//! What the link counts of each flow, and the place of each in the markers of the plan.

use aqmlab_netsim::plan::Plan;
use aqmlab_units::Time;

use crate::classify::Group;

/// Packets of data after which a connection counts as one that carries something. Programs that measure open a connection
/// for themselves first, which must not take a meter away from the transfers.
const CARRIES: u64 = 16;

/// What was counted of a flow since the start.
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

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    counts: FlowCounts,
    data: u64,
    /// Its place among the flows of its group that carry something.
    place: Option<u32>,
}

/// All flows of a direction, by number.
#[derive(Clone, Debug)]
pub struct FlowBook {
    flows: Vec<Flow>,
    /// For each group the numbers of its flows in the plan, and how many of its real flows carry something.
    planned: Vec<(Vec<u32>, u32)>,
    /// What was counted when the warm-up was over.
    before: Vec<FlowCounts>,
}

impl FlowBook {
    /// For at most `bound` flows of these groups, which are those of the plan by their names.
    pub fn new(plan: &Plan, groups: &[Group], bound: usize) -> Self {
        let of = |group: &Group| {
            (0..).zip(&plan.flows).filter(|(_, flow)| flow.group == group.name).map(|(i, _)| i).collect()
        };
        Self {
            flows: vec![Flow::default(); bound],
            planned: groups.iter().map(|g| (of(g), 0)).collect(),
            before: vec![FlowCounts::default(); bound],
        }
    }

    /// A packet of a flow arrives; the flow of the plan by which markers know it. The flows of a group that carry something
    /// take the places of its flows in the plan in turn.
    pub fn arrived(&mut self, now: Time, flow: u32, group: u16, bytes: u32, is_data: bool) -> u32 {
        let Some(flow) = self.flows.get_mut(flow as usize) else { return u32::MAX };
        let counts = &mut flow.counts;
        if counts.arrivals == 0 {
            counts.first = now;
        }
        counts.arrivals += 1;
        counts.arrived_bytes += u64::from(bytes);
        flow.data += u64::from(is_data);
        let Some((planned, carrying)) = self.planned.get_mut(usize::from(group)) else { return u32::MAX };
        if planned.is_empty() {
            return u32::MAX;
        }
        if flow.data == CARRIES {
            flow.place = Some(*carrying);
            *carrying += 1;
        }
        planned[flow.place.unwrap_or(*carrying) as usize % planned.len()]
    }

    /// A packet of a flow left the link.
    pub fn departed(&mut self, now: Time, flow: u32, bytes: u32, is_newly_marked: bool) {
        if let Some(Flow { counts, .. }) = self.flows.get_mut(flow as usize) {
            counts.departures += 1;
            counts.departed_bytes += u64::from(bytes);
            counts.marks += u64::from(is_newly_marked);
            counts.last = now;
        }
    }

    /// The discipline dropped a packet of a flow.
    pub fn dropped(&mut self, flow: u32) {
        if let Some(flow) = self.flows.get_mut(flow as usize) {
            flow.counts.drops += 1;
        }
    }

    /// The warm-up is over.
    pub fn forget(&mut self) {
        self.before.iter_mut().zip(&self.flows).for_each(|(before, flow)| *before = flow.counts);
    }

    /// What was counted of a flow over the measured part of the run.
    pub fn measured(&self, flow: usize) -> FlowCounts {
        let (all, before) = (self.of(flow), self.before.get(flow).copied().unwrap_or_default());
        FlowCounts {
            arrivals: all.arrivals - before.arrivals,
            arrived_bytes: all.arrived_bytes - before.arrived_bytes,
            drops: all.drops - before.drops,
            marks: all.marks - before.marks,
            departures: all.departures - before.departures,
            departed_bytes: all.departed_bytes - before.departed_bytes,
            first: all.first,
            last: all.last,
        }
    }

    /// What was counted of a flow since the start.
    pub fn of(&self, flow: usize) -> FlowCounts {
        self.flows.get(flow).map_or_else(FlowCounts::default, |flow| flow.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(planned: Vec<u32>) -> FlowBook {
        let flows = vec![Flow::default(); 4];
        FlowBook {
            flows,
            planned: vec![(planned, 0), (Vec::new(), 0)],
            before: vec![FlowCounts::default(); 4],
        }
    }

    #[test]
    fn a_connection_that_carries_nothing_takes_no_place_in_the_plan() {
        let mut book = book(vec![7, 8]);
        let mut send = |flow, n| (0..n).map(|_| book.arrived(Time(5), flow, 0, 100, true)).last();
        assert_eq!(send(0, 3), Some(7), "a connection for control");
        assert_eq!(send(1, 100), Some(7));
        assert_eq!(send(2, 100), Some(8));
        assert_eq!(send(3, 100), Some(7), "more flows than planned share meters");
        assert_eq!(send(1, 1), Some(7));
        assert_eq!(book.arrived(Time(9), 0, 1, 100, true), u32::MAX, "a group without flows in the plan");
    }

    #[test]
    fn the_warm_up_is_not_measured() {
        let mut book = book(vec![0]);
        book.arrived(Time(5), 1, 0, 100, true);
        book.departed(Time(6), 1, 100, true);
        book.forget();
        book.arrived(Time(7), 1, 0, 50, true);
        book.dropped(1);
        let (all, measured) = (book.of(1), book.measured(1));
        assert_eq!((all.arrivals, all.arrived_bytes, all.marks, all.departures), (2, 150, 1, 1));
        assert_eq!(
            (measured.arrivals, measured.arrived_bytes, measured.marks, measured.drops),
            (1, 50, 0, 1)
        );
        assert_eq!((all.first, all.last, book.of(99)), (Time(5), Time(6), FlowCounts::default()));
    }
}
