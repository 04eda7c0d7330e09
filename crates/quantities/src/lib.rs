//! Quantities: the numbers that a run is judged by, one per run and link.
//!
//! A quantity is one entry in the file of its group: [`link`], [`delay`], [`flows`], [`fairness`], [`completion`],
//! [`responsiveness`], [`calls`], [`pages`] or [`video`]. The entry has its key, title, unit, digits and definition, its bounds, which direction is better, the views that
//! leave it out, and the function of a run's tables that computes it. Everything that shows or compares quantities reads
//! [`all`]: the command line, reports, notebooks, the laboratory, exports and the documentation.
//!
//! Results are functions of the tables alone. Sums are made in the order of NumPy ([`sum`]), whose numbers earlier results hold.

pub mod calls;
pub mod completion;
pub mod delay;
pub mod fairness;
pub mod flows;
pub mod link;
pub mod pages;
mod quantity;
pub mod responsiveness;
mod run;
pub mod sum;
mod tables;
pub mod video;

use std::sync::LazyLock;

pub use quantity::{Better, Compared, Description, GroupDescription, Groups, LimitedBy, Quantity, View};
pub use run::{Run, bottleneck_of};
pub use tables::Tables;

/// A group of quantities.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Its name.
    pub name: &'static str,
    /// Whether its quantities measure the experience of an application's users.
    pub is_felt: bool,
    quantities: &'static [Quantity],
}

/// A group of quantities of the network.
const fn network(name: &'static str, quantities: &'static [Quantity]) -> Group {
    Group { name, is_felt: false, quantities }
}

/// A group of quantities that users of an application perceive.
const fn application(name: &'static str, quantities: &'static [Quantity]) -> Group {
    Group { name, is_felt: true, quantities }
}

const GROUPS: [Group; 9] = [
    network("link", link::QUANTITIES),
    network("delay", delay::QUANTITIES),
    network("flows", flows::QUANTITIES),
    network("fairness", fairness::QUANTITIES),
    network("completion", completion::QUANTITIES),
    network("responsiveness", responsiveness::QUANTITIES),
    application("calls", calls::QUANTITIES),
    application("pages", pages::QUANTITIES),
    application("video", video::QUANTITIES),
];

static ALL: LazyLock<Vec<(Group, Quantity)>> = LazyLock::new(|| {
    let entries = GROUPS.iter().flat_map(|&group| group.quantities.iter().map(move |&one| (group, one)));
    let mut all: Vec<_> = entries.collect();
    all.sort_by_key(|(_, quantity)| quantity.rank);
    all
});

/// Return all quantities in the order of display, each with its group.
pub fn all() -> &'static [(Group, Quantity)] {
    &ALL
}

/// Describe all quantities, in the order of display.
pub fn descriptions() -> Vec<Description> {
    all().iter().map(|(group, quantity)| quantity.describe(*group)).collect()
}

/// Compute all quantities that a run has, by their keys: in the order of display, then those of groups of flows as `KEY.GROUP`.
///
/// A quantity is absent if the run lacks its table or column, or has no packets or flows to measure; it is NaN where a ratio has no denominator.
pub fn values(run: &Run<'_>) -> Vec<(String, f64)> {
    let whole = all().iter().filter_map(|(_, one)| Some((one.key.to_owned(), (one.value)(run)?)));
    let of_groups =
        all().iter().filter_map(|(_, one)| Some((one.key, one.groups?))).flat_map(|(key, groups)| {
            (groups.values)(run).into_iter().map(move |(name, value)| (format!("{key}.{name}"), value))
        });
    whole.chain(of_groups).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_entry_is_complete() {
        let unique =
            |of: fn(&Quantity) -> String| all().iter().map(|(_, one)| of(one)).collect::<BTreeSet<_>>().len();
        assert_eq!(unique(|one| one.key.to_owned()), all().len());
        assert_eq!(unique(|one| one.rank.to_string()), all().len(), "two quantities of one rank");
        for (_, one) in all() {
            let Quantity { key, title, unit, doc, bounds: (low, high), .. } = one;
            assert!(![title, unit, doc].iter().any(|text| text.is_empty()), "{key}");
            assert!(low < high, "{key}");
            assert!(one.notable >= 0.0 && !key.contains('.'), "{key}");
        }
    }

    #[test]
    fn heads_of_compared_quantities_are_narrow() {
        for (group, one) in all().iter().filter(|(_, one)| one.place(View::Compare).is_some()) {
            let head = one.describe(*group).head;
            assert!(head.iter().all(|line| line.chars().count() <= 9), "{}: {head:?}", one.key);
        }
    }

    #[test]
    fn ranks_of_a_view_differ() {
        for view in View::ALL {
            let ranks: Vec<_> = all().iter().filter_map(|(_, one)| one.place(view)).collect();
            assert_eq!(ranks.iter().collect::<BTreeSet<_>>().len(), ranks.len(), "{}", view.name());
        }
    }

    #[test]
    fn an_empty_run_has_no_link() {
        assert!(Run::new(&Vec::<(&str, aqmlab_netsim::Table)>::new(), None).is_none());
    }
}
