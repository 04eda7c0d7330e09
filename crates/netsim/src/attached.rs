use core::ops::Deref;
use std::collections::BTreeMap;

use crate::plan::{Change, LinkId, Plan};

/// A plan with what it attaches to single links, by link: a look-up in place of a search through the plan for every link.
#[derive(Debug)]
pub(crate) struct Attached<'a> {
    plan: &'a Plan,
    observed: Vec<bool>,
    changes: BTreeMap<LinkId, Vec<Change>>,
    markers: BTreeMap<LinkId, Vec<usize>>,
}

impl Deref for Attached<'_> {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        self.plan
    }
}

impl<'a> Attached<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        let mut observed = vec![false; plan.links.len()];
        plan.probe.links.iter().for_each(|&link| observed[link as usize] = true);
        let mut changes: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for change in &plan.changes {
            changes.entry(change.link).or_default().push(change.clone());
        }
        let mut markers: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (number, marker) in plan.markers.iter().enumerate() {
            markers.entry(marker.link).or_default().push(number);
        }
        Self { plan, observed, changes, markers }
    }

    /// Whether the link is observed.
    pub fn is_observed(&self, link: LinkId) -> bool {
        self.observed[link as usize]
    }

    /// Its changes, in order of time.
    pub fn changes(&self, link: LinkId) -> &[Change] {
        self.changes.get(&link).map_or(&[], Vec::as_slice)
    }

    /// The numbers of the markers before its queue.
    pub fn markers(&self, link: LinkId) -> &[usize] {
        self.markers.get(&link).map_or(&[], Vec::as_slice)
    }
}
