//! The links as tables show them, either in a network or standalone.

use aqmlab_aqm::{Backlog, TinStats};

use crate::link_stats::{Drops, LinkCounters};
use crate::marker::Markers;
use crate::observe::Observation;
use crate::plan::{Line, Plan};

/// Links to show, in the order of the plan. They are looked up one by one: with many links, a list of them would be as large as some
/// columns.
pub(crate) struct Seen<'a> {
    pub plan: &'a Plan,
    pub count: usize,
    pub link: &'a dyn Fn(usize) -> SeenLink<'a>,
}

/// One link.
pub(crate) struct SeenLink<'a> {
    pub name: &'a str,
    pub aqm: &'a str,
    /// Its server and channel; `None` if the plan does not have it.
    pub line: Option<&'a Line>,
    /// The seed of the run, for the random numbers of its server.
    pub seed: u64,
    /// Its counters, computed on request: with many links, copies of all counters are larger than the tables.
    pub station: &'a dyn Counting,
}

/// A link station, by what it has counted and recorded.
pub(crate) trait Counting {
    fn counters(&self) -> LinkCounters;
    /// Drops by flow and distance.
    fn drops(&self) -> Option<&Drops>;
    fn observation(&self) -> Option<&Observation>;
    fn markers(&self) -> Option<&Markers>;
    /// Return the waiting packets and bytes.
    fn backlog(&self) -> Backlog;
    /// Return the statistics of the discipline's tins; empty without tins.
    fn tins(&self) -> Vec<TinStats> {
        Vec::new()
    }
}

impl<'a> Seen<'a> {
    pub fn links(&self) -> impl ExactSizeIterator<Item = SeenLink<'a>> {
        (0..self.count).map(self.link)
    }

    /// Links that lost packets, by name.
    pub fn drops(&self) -> impl Iterator<Item = (&'a str, &'a Drops)> {
        self.links().filter_map(|l| l.station.drops().map(|d| (l.name, d)))
    }
}
