//! A link and its queue, as one station.

mod in_order;
mod queue;
mod station;
mod unobserved_drop_tail;

use aqmlab_aqm::{Backlog, Discipline, Qdisc};
use aqmlab_units::Time;

pub(crate) use self::in_order::{Any, InOrder, SimpleRed};
pub(crate) use self::queue::Queue;
pub(crate) use self::station::Station;
pub(crate) use self::unobserved_drop_tail::UnobservedDropTail;
use crate::attached::Attached;
use crate::link_stats::{Drops, LinkCounters};
use crate::marker::Markers;
use crate::observe::Observation;
use crate::plan::LinkId;
use crate::tables::Counting;

/// The kinds of link stations, by the information about a packet at its arrival.
#[derive(Clone, Debug)]
pub(crate) enum Link {
    /// Drop-tail without observation: the departure follows from the time at which the link becomes free.
    UnobservedDropTail(UnobservedDropTail),
    /// The discipline decides at the arrival, and the departure is known then.
    InOrder(Box<InOrder>),
    /// The same with simple RED, by calls of its own.
    SimpleRed(Box<InOrder>),
    /// The departure is known only at the end of the previous service.
    Queue(Box<Queue>),
}

impl Link {
    /// Create a link station. With `shortcuts`, departures are computed at arrival where that is exact.
    pub fn new(id: LinkId, plan: &Attached<'_>, seed: u64, shortcuts: bool) -> Self {
        let link = &plan.links[id as usize];
        // Departures cannot be revoked when the rate changes, so ends of service must be events; and those after the last time
        // there is cannot be computed.
        if !shortcuts || !plan.changes(id).is_empty() || !plan.has_short_backlog(id) {
            return Self::Queue(Box::new(Queue::new(id, plan, seed, shortcuts)));
        }
        let is_seen = plan.is_observed(id) || !plan.markers(id).is_empty();
        if let Some(limit) = link.queue.room().and_then(|room| room.packets()).filter(|_| !is_seen) {
            return Self::UnobservedDropTail(UnobservedDropTail::new(id, plan, limit));
        }
        let discipline: Discipline<()> = link.queue.build();
        if discipline.decides_at_arrival() {
            let link = Box::new(InOrder::new(id, plan, seed));
            if link.is_simple_red() { Self::SimpleRed(link) } else { Self::InOrder(link) }
        } else {
            Self::Queue(Box::new(Queue::new(id, plan, seed, shortcuts)))
        }
    }

    /// Return whether every departure is known at arrival; otherwise ends of service are events.
    pub fn departs_in_order(&self) -> bool {
        !matches!(self, Self::Queue(_))
    }

    /// Advance the station to the end of the run.
    pub fn finish(&mut self, id: LinkId, end: Time) {
        match self {
            Self::UnobservedDropTail(link) => link.finish(id, end),
            Self::InOrder(link) => link.finish::<Any>(end),
            Self::SimpleRed(link) => link.finish::<SimpleRed>(end),
            Self::Queue(link) => link.finish(end),
        }
    }

    pub fn warnings(&self) -> Vec<String> {
        match self {
            Self::UnobservedDropTail(_) => Vec::new(),
            Self::InOrder(link) | Self::SimpleRed(link) => link.station.discipline.warnings(),
            Self::Queue(link) => link.station.discipline.warnings(),
        }
    }
}

impl Counting for Link {
    fn counters(&self) -> LinkCounters {
        match self {
            Self::UnobservedDropTail(link) => link.counters(),
            Self::InOrder(link) | Self::SimpleRed(link) => link.station.stats.counters,
            Self::Queue(link) => link.station.stats.counters,
        }
    }

    fn drops(&self) -> Option<&Drops> {
        match self {
            Self::UnobservedDropTail(link) => link.drops(),
            Self::InOrder(link) | Self::SimpleRed(link) => Some(&link.station.stats.drops),
            Self::Queue(link) => Some(&link.station.stats.drops),
        }
    }

    fn observation(&self) -> Option<&Observation> {
        match self {
            Self::UnobservedDropTail(_) => None,
            Self::InOrder(link) | Self::SimpleRed(link) => link.station.stats.observation.as_deref(),
            Self::Queue(link) => link.station.stats.observation.as_deref(),
        }
    }

    fn markers(&self) -> Option<&Markers> {
        match self {
            Self::UnobservedDropTail(_) => None,
            Self::InOrder(link) | Self::SimpleRed(link) => link.station.markers(),
            Self::Queue(link) => link.station.markers(),
        }
    }

    fn backlog(&self) -> Backlog {
        match self {
            Self::UnobservedDropTail(link) => link.backlog(),
            Self::InOrder(link) | Self::SimpleRed(link) => link.station.discipline.backlog(),
            Self::Queue(link) => link.station.discipline.backlog(),
        }
    }
}

#[cfg(test)]
mod tests;
