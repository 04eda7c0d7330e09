//! A link and the queue before it, as one station.

mod in_order;
mod queue;
mod station;
mod unobserved_drop_tail;

use aqmlab_aqm::{Backlog, Discipline, Qdisc};
use aqmlab_units::Time;

pub(crate) use self::in_order::InOrder;
pub(crate) use self::queue::Queue;
pub(crate) use self::station::Station;
pub(crate) use self::unobserved_drop_tail::UnobservedDropTail;
use crate::attached::Attached;
use crate::link_stats::{Drops, LinkCounters};
use crate::marker::Markers;
use crate::observe::Observation;
use crate::plan::LinkId;

/// The station, by how much there is to know about a packet when it arrives.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) enum Link {
    /// Drop-tail that nobody looks at: when it leaves follows from a clock.
    UnobservedDropTail(UnobservedDropTail),
    /// When it leaves is known.
    InOrder(Box<InOrder>),
    /// Whether and when it leaves is known at the end of the service before.
    Queue(Box<Queue>),
}

impl Link {
    /// With `shortcuts` departures are computed at arrival where that is exact.
    pub fn new(id: LinkId, plan: &Attached<'_>, seed: u64, shortcuts: bool) -> Self {
        let link = &plan.links[id as usize];
        // What has left is not called back when the rate changes: then ends of service are events.
        if !shortcuts || !plan.changes(id).is_empty() {
            return Self::Queue(Box::new(Queue::new(id, plan, seed)));
        }
        let is_seen = plan.is_observed(id) || !plan.markers(id).is_empty();
        if let Some(limit) = link.queue.room().and_then(|room| room.packets()).filter(|_| !is_seen) {
            return Self::UnobservedDropTail(UnobservedDropTail::new(id, plan, limit));
        }
        let discipline: Discipline<()> = link.queue.build();
        if discipline.departs_in_order() {
            Self::InOrder(Box::new(InOrder::new(id, plan, seed)))
        } else {
            Self::Queue(Box::new(Queue::new(id, plan, seed)))
        }
    }

    /// Whether every departure is known at arrival; else ends of service must be events of their own.
    pub fn departs_in_order(&self) -> bool {
        !matches!(self, Self::Queue(_))
    }

    /// Brings the station to the end of the run.
    pub fn finish(&mut self, end: Time) {
        match self {
            Self::UnobservedDropTail(link) => link.finish(end),
            Self::InOrder(link) => link.finish(end),
            Self::Queue(link) => link.finish(end),
        }
    }

    pub fn counters(&self) -> LinkCounters {
        match self {
            Self::UnobservedDropTail(link) => link.counters(),
            Self::InOrder(link) => link.station.stats.counters,
            Self::Queue(link) => link.station.stats.counters,
        }
    }

    /// Who lost packets here.
    pub fn drops(&self) -> Option<&Drops> {
        match self {
            Self::UnobservedDropTail(link) => link.drops(),
            Self::InOrder(link) => Some(&link.station.stats.drops),
            Self::Queue(link) => Some(&link.station.stats.drops),
        }
    }

    pub fn observation(&self) -> Option<&Observation> {
        match self {
            Self::UnobservedDropTail(_) => None,
            Self::InOrder(link) => link.station.stats.observation.as_deref(),
            Self::Queue(link) => link.station.stats.observation.as_deref(),
        }
    }

    pub fn markers(&self) -> Option<&Markers> {
        match self {
            Self::UnobservedDropTail(_) => None,
            Self::InOrder(link) => link.station.markers(),
            Self::Queue(link) => link.station.markers(),
        }
    }

    pub fn warnings(&self) -> Vec<String> {
        match self {
            Self::UnobservedDropTail(_) => Vec::new(),
            Self::InOrder(link) => link.station.discipline.warnings(),
            Self::Queue(link) => link.station.discipline.warnings(),
        }
    }

    /// What waits.
    pub fn backlog(&self) -> Backlog {
        match self {
            Self::UnobservedDropTail(link) => link.backlog(),
            Self::InOrder(link) => link.station.discipline.backlog(),
            Self::Queue(link) => link.station.discipline.backlog(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_small() {
        assert_eq!(size_of::<Link>(), 128);
    }
}
