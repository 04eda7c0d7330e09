use aqmlab_aqm::Backlog;
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
    let link = |i: usize| SeenLink { name: &links[i].name, aqm: links[i].aqm, station: links[i] };
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
}
