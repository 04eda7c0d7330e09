//! The links as tables show them, either in a network or standalone.

use crate::link_stats::{Drops, LinkCounters};
use crate::marker::Markers;
use crate::observe::Observation;
use crate::plan::Plan;

/// Links to show, in the order of the plan.
pub(crate) struct Seen<'a> {
    pub plan: &'a Plan,
    pub links: Vec<SeenLink<'a>>,
}

/// One link.
pub(crate) struct SeenLink<'a> {
    pub name: &'a str,
    pub aqm: &'a str,
    pub counters: LinkCounters,
    pub drops: Option<&'a Drops>,
    pub observation: Option<&'a Observation>,
    pub markers: Option<&'a Markers>,
    /// Packets that wait.
    pub waiting: u32,
}

impl<'a> Seen<'a> {
    /// Links that lost packets, by name.
    pub fn drops(&self) -> impl Iterator<Item = (&'a str, &'a Drops)> {
        self.links.iter().filter_map(|l| l.drops.map(|d| (l.name, d)))
    }
}
