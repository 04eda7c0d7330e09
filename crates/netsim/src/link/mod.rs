//! A link and its queue, as one station: a discipline, which accepts, marks and drops packets; a server (`server/`), which
//! determines when they leave; and a channel (`channel/`), which determines when they arrive at the far end.

mod channel;
mod in_order;
pub(crate) mod outage;
mod part;
mod queue;
mod server;
mod station;
mod unobserved_drop_tail;

use aqmlab_aqm::{Backlog, Discipline, Meta, Qdisc, Resolved, TinStats};
use aqmlab_units::Time;

pub(crate) use self::channel::Wire;
pub use self::channel::{Channel, ChannelChange, Impairments, Settings};
pub(crate) use self::in_order::Deciding;
pub use self::outage::Outage;
pub use self::part::Keys;
pub(crate) use self::queue::Queue;
pub(crate) use self::server::{FAR, Serving};
pub use self::server::{InService, LONGEST_TRACE, Server, TraceData};
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
    InOrder(Box<dyn Deciding>),
    /// The departure is known only at the end of the previous service.
    Queue(Box<Queue>),
}

impl Link {
    /// Create a link station. With `shortcuts`, departures are computed at arrival where that is exact.
    pub fn new(id: LinkId, plan: &Attached<'_>, seed: u64, shortcuts: bool) -> Self {
        let link = &plan.links[id as usize];
        // Departures after the last time there is cannot be computed.
        if !shortcuts || !plan.has_short_backlog(id) {
            return Self::Queue(Box::new(Queue::new(id, plan, seed, shortcuts)));
        }
        let is_seen = plan.is_observed(id) || !plan.markers(id).is_empty();
        if !is_seen
            && let Some(limit) = link.queue.room().and_then(|room| room.packets())
            && let Some(rate) = link.line.server.as_constant()
            && let Some(delay) = link.line.channel.as_constant()
        {
            return Self::UnobservedDropTail(UnobservedDropTail::new(plan.warmup, rate, delay, limit));
        }
        let discipline = link.queue.build();
        // A flush takes packets whose departures would be known.
        let is_flushed = link.line.outages.iter().any(|outage| outage.flushes);
        if Discipline::decides_at_arrival(&discipline) && !is_flushed {
            return Self::InOrder(in_order::deciding(id, plan, seed, discipline));
        }
        Self::Queue(Box::new(Queue::new(id, plan, seed, shortcuts)))
    }

    /// Return whether every departure is known at arrival; otherwise ends of service are events.
    pub fn departs_in_order(&self) -> bool {
        !matches!(self, Self::Queue(_))
    }

    /// See [`Station::count_arrivals`].
    pub fn count_arrivals(&mut self, starts: Time, meta: &Meta) {
        match self {
            Self::UnobservedDropTail(_) => {}
            Self::InOrder(link) => link.count_arrivals(starts, meta),
            Self::Queue(link) => link.station.count_arrivals(starts, meta),
        }
    }

    /// Return when the last packet arrived that takes a detour.
    pub fn turned_at(&self) -> Time {
        match self {
            Self::UnobservedDropTail(_) => Time::NEVER,
            Self::InOrder(link) => link.turned_at(),
            Self::Queue(link) => link.station.turned_at,
        }
    }

    /// See [`Wire::arrivals`].
    pub fn arrivals(&self) -> [Time; 2] {
        match self {
            Self::UnobservedDropTail(_) => [Time::NEVER; 2],
            Self::InOrder(link) => link.arrivals(),
            Self::Queue(link) => link.station.channel.arrivals(),
        }
    }

    /// Give the queue other settings; see [`Qdisc::take_settings`]. Return whether it can take them.
    pub fn take_settings(&mut self, settings: &Resolved) -> bool {
        match self {
            Self::UnobservedDropTail(_) => false,
            Self::InOrder(link) => link.take_settings(settings),
            Self::Queue(link) => link.station.discipline.take_settings(settings),
        }
    }

    /// Return counters and backlog as they would be if the run ended at `at`, not before the last arrival. Nothing changes.
    pub fn counters_at(&mut self, at: Time) -> (LinkCounters, Backlog) {
        match self {
            Self::UnobservedDropTail(link) => {
                let mut copy = link.clone();
                copy.finish(0, at);
                (copy.counters(), copy.backlog())
            }
            Self::InOrder(link) => link.counters_at(at),
            Self::Queue(link) => {
                let observation = link.station.stats.observation.take();
                let mut copy = link.clone();
                link.station.stats.observation = observation;
                copy.finish(at);
                (copy.station.stats.counters, copy.station.discipline.backlog())
            }
        }
    }

    /// Advance the station to the end of the run.
    pub fn finish(&mut self, id: LinkId, end: Time) {
        match self {
            Self::UnobservedDropTail(link) => link.finish(id, end),
            Self::InOrder(link) => link.finish(end),
            Self::Queue(link) => link.finish(end),
        }
    }

    pub fn warnings(&self) -> Vec<String> {
        match self {
            Self::UnobservedDropTail(_) => Vec::new(),
            Self::InOrder(link) => link.warnings(),
            Self::Queue(link) => link.station.discipline.warnings(),
        }
    }
}

impl Counting for Link {
    fn counters(&self) -> LinkCounters {
        match self {
            Self::UnobservedDropTail(link) => link.counters(),
            Self::InOrder(link) => link.counters(),
            Self::Queue(link) => link.station.stats.counters,
        }
    }

    fn drops(&self) -> Option<&Drops> {
        match self {
            Self::UnobservedDropTail(link) => link.drops(),
            Self::InOrder(link) => link.drops(),
            Self::Queue(link) => Some(&link.station.stats.drops),
        }
    }

    fn observation(&self) -> Option<&Observation> {
        match self {
            Self::UnobservedDropTail(_) => None,
            Self::InOrder(link) => link.observation(),
            Self::Queue(link) => link.station.stats.observation.as_deref(),
        }
    }

    fn markers(&self) -> Option<&Markers> {
        match self {
            Self::UnobservedDropTail(_) => None,
            Self::InOrder(link) => link.markers(),
            Self::Queue(link) => link.station.markers(),
        }
    }

    fn backlog(&self) -> Backlog {
        match self {
            Self::UnobservedDropTail(link) => link.backlog(),
            Self::InOrder(link) => link.backlog(),
            Self::Queue(link) => link.station.discipline.backlog(),
        }
    }

    fn tins(&self) -> Vec<TinStats> {
        match self {
            Self::UnobservedDropTail(_) | Self::InOrder(_) => Vec::new(),
            Self::Queue(link) => link.station.tins(),
        }
    }
}

#[cfg(test)]
mod tests;
