use aqmlab_aqm::{Backlog, TinStats};
use aqmlab_units::Span;

use super::StandaloneLink;
use crate::link_stats::{Drops, LinkCounters, Numbered};
use crate::marker::Markers;
use crate::observe::Observation;
use crate::plan::Plan;
use crate::tables::{Counting, Seen, SeenLink, Table};

/// Return the tables of finished standalone links, as a simulation returns them, without the tables of flows. `measured` is the
/// length of the measured part of the run.
pub fn tables<P: PartialEq + Numbered>(
    plan: &Plan,
    links: &[&StandaloneLink<P>],
    measured: Span,
) -> Vec<(&'static str, Table)> {
    let line = |name: &str| plan.links.iter().find(|link| link.name == name).map(|link| &*link.line);
    let link = |i: usize| {
        let own = links[i];
        SeenLink { name: &own.name, aqm: own.aqm, line: line(&own.name), seed: own.seed, station: own }
    };
    Seen { plan, count: links.len(), link: &link }.tables(measured.secs()).into()
}

impl<P: PartialEq + Numbered> Counting for StandaloneLink<P> {
    fn counters(&self) -> LinkCounters {
        self.station.stats.counters
    }

    fn drops(&self) -> Option<&Drops> {
        Some(&self.station.stats.drops)
    }

    fn observation(&self) -> Option<&Observation> {
        self.station.stats.observation.as_deref()
    }

    fn markers(&self) -> Option<&Markers> {
        self.station.markers()
    }

    fn backlog(&self) -> Backlog {
        StandaloneLink::backlog(self)
    }

    fn tins(&self) -> Vec<TinStats> {
        self.station.tins()
    }
}
