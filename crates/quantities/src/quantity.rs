//! The description of a quantity.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Group;
use crate::run::Run;

/// The direction in which a quantity is better for users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

/// A place that shows quantities. A new quantity is in all of them, unless its entry names those that leave it out; it is in those
/// for which [`View::is_chosen`] holds only if its entry gives it a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// `compare`, its exports and its report.
    Compare,
    /// Figures and table of a sweep's report.
    SweepReport,
    /// Figures of a report of several scenarios.
    Scenarios,
    /// Box plots of a comparison's report.
    Spread,
    /// Tables and figures of sweeps in notebooks.
    Notebook,
    /// Numbers of the laboratory.
    Laboratory,
    /// Agreement of live and simulated runs.
    Agreement,
    /// Queue-level table of the report of RFC 7928, of quantities that come from the table `links`.
    Rfc7928,
    /// Statistics of a live link while it runs, of quantities that come from the table `links`.
    Telemetry,
    /// The sentence above the matrix of `compare`.
    Answer,
    /// The sentence of a sweep's report: best points.
    Finding,
    /// `--until` without a quantity: the first of these that the runs have.
    Until,
}

impl View {
    /// All views.
    pub const ALL: [Self; 12] = [
        Self::Compare,
        Self::SweepReport,
        Self::Scenarios,
        Self::Spread,
        Self::Notebook,
        Self::Laboratory,
        Self::Agreement,
        Self::Rfc7928,
        Self::Telemetry,
        Self::Answer,
        Self::Finding,
        Self::Until,
    ];

    /// Whether it has only quantities whose entries give them a place in it.
    pub const fn is_chosen(self) -> bool {
        matches!(self, Self::Answer | Self::Finding | Self::Until)
    }

    /// Return its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compare => "compare",
            Self::SweepReport => "sweep-report",
            Self::Scenarios => "scenarios",
            Self::Spread => "spread",
            Self::Notebook => "notebook",
            Self::Laboratory => "laboratory",
            Self::Agreement => "agreement",
            Self::Rfc7928 => "rfc7928",
            Self::Telemetry => "telemetry",
            Self::Answer => "answer",
            Self::Finding => "finding",
            Self::Until => "until",
        }
    }
}

/// How `compare` treats a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Compared {
    /// In the first rows of the matrix, which have room for 80 columns; its difference is tested.
    Main,
    /// Below them; its difference is tested. Each test more widens Holm's correction, so verdicts on others may change.
    Tested,
    /// Below them; its difference has an interval and no test.
    Shown,
    /// The same, in details, reports and exports only.
    Described,
}

/// A setting of the link that a quantity cannot exceed, in the quantity's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LimitedBy {
    /// The rate of the link.
    Rate,
    /// The limit of its queue.
    Buffer,
}

/// A quantity of each group of flows, class of sizes or queue, where there are several.
#[derive(Clone, Copy, Debug)]
pub struct Groups {
    /// The title before "of GROUP"; "": that of the quantity.
    pub title: &'static str,
    /// The first line of the head, above the group's name; "": made of the quantity's head.
    pub head: &'static str,
    /// The definition; "": that of the quantity.
    pub doc: &'static str,
    /// How `compare` treats the differences of groups, unless it only describes the quantity.
    pub compared: Compared,
    /// Computes the number of each group, in the order of the groups.
    pub values: fn(&Run<'_>) -> Vec<(String, f64)>,
}

/// A quantity: its description, and the function that computes it.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// The key in tables and on the command line; a unit of time or rate is its end (`_ms`, `_mbps`).
    pub key: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// The unit; `1` for a pure number.
    pub unit: &'static str,
    /// Decimal places to show.
    pub digits: u8,
    /// The definition.
    pub doc: &'static str,
    /// The least and the greatest value that it can have. Intervals are clipped to them.
    pub bounds: (f64, f64),
    /// The setting of the link that it cannot exceed either, if there is one.
    pub limited_by: Option<LimitedBy>,
    /// The direction in which it is better, if there is one.
    pub better: Option<Better>,
    /// The least difference that users notice, in its unit; 0: not known.
    pub notable: f64,
    /// The title in two lines of at most nine characters, for narrow tables; "" and "": the words of the title.
    pub head: [&'static str; 2],
    /// Whether people read the share in %.
    pub is_percent: bool,
    /// Whether the laboratory leaves it out where it is 0 or absent in all runs.
    pub is_seldom: bool,
    /// The place in the order of display.
    pub rank: u16,
    /// How `compare` treats it.
    pub compared: Compared,
    /// The quantity of each group of flows, if there is one.
    pub groups: Option<Groups>,
    /// Computes it; `None` where a run does not have it.
    pub value: fn(&Run<'_>) -> Option<f64>,
    places: [Option<u16>; View::ALL.len()],
}

impl Quantity {
    /// Return a quantity of at least 0 without a better direction, in all views but those of [`View::is_chosen`].
    pub const fn new(
        key: &'static str,
        title: &'static str,
        unit: &'static str,
        digits: u8,
        rank: u16,
        value: fn(&Run<'_>) -> Option<f64>,
    ) -> Self {
        let mut places = [Some(rank); View::ALL.len()];
        let mut i = 0;
        while i < places.len() {
            if View::ALL[i].is_chosen() {
                places[i] = None;
            }
            i += 1;
        }
        Self {
            key,
            title,
            unit,
            digits,
            doc: "",
            bounds: (0.0, f64::INFINITY),
            limited_by: None,
            better: None,
            notable: 0.0,
            head: ["", ""],
            is_percent: false,
            is_seldom: false,
            rank,
            compared: Compared::Described,
            groups: None,
            value,
            places,
        }
    }

    /// Set the definition.
    #[must_use]
    pub const fn doc(mut self, doc: &'static str) -> Self {
        self.doc = doc;
        self
    }

    /// Set the least and the greatest value.
    #[must_use]
    pub const fn bounds(mut self, least: f64, greatest: f64) -> Self {
        self.bounds = (least, greatest);
        self
    }

    /// Set the setting of the link that it cannot exceed.
    #[must_use]
    pub const fn limited_by(mut self, limit: LimitedBy) -> Self {
        self.limited_by = Some(limit);
        self
    }

    /// Set the direction in which it is better.
    #[must_use]
    pub const fn better(mut self, better: Better) -> Self {
        self.better = Some(better);
        self
    }

    /// Set the least difference that users notice.
    #[must_use]
    pub const fn notable(mut self, notable: f64) -> Self {
        self.notable = notable;
        self
    }

    /// Set the title in two lines.
    #[must_use]
    pub const fn head(mut self, first: &'static str, second: &'static str) -> Self {
        self.head = [first, second];
        self
    }

    /// Show the share in %.
    #[must_use]
    pub const fn percent(mut self) -> Self {
        self.is_percent = true;
        self
    }

    /// Leave it out of the laboratory where it is 0 or absent in all runs.
    #[must_use]
    pub const fn seldom(mut self) -> Self {
        self.is_seldom = true;
        self
    }

    /// Set how `compare` treats it.
    #[must_use]
    pub const fn compared(mut self, compared: Compared) -> Self {
        self.compared = compared;
        self
    }

    /// Compute it for each group of flows too.
    #[must_use]
    pub const fn by_group(mut self, groups: Groups) -> Self {
        self.groups = Some(groups);
        self
    }

    /// Leave it out of these views.
    #[must_use]
    pub const fn hidden(mut self, views: &[View]) -> Self {
        let mut i = 0;
        while i < views.len() {
            self.places[views[i] as usize] = None;
            i += 1;
        }
        self
    }

    /// Set its place in a view that has an order of its own: ranks below those of display come first.
    #[must_use]
    pub const fn at(mut self, view: View, rank: u16) -> Self {
        self.places[view as usize] = Some(rank);
        self
    }

    /// Return its place in the order of a view, or `None` if the view leaves it out.
    pub const fn place(&self, view: View) -> Option<u16> {
        self.places[view as usize]
    }

    /// Return the head: the given one, or the words of the title in two halves.
    fn head_lines(&self) -> [String; 2] {
        if self.head != ["", ""] {
            return self.head.map(str::to_owned);
        }
        let words: Vec<_> = self.title.split(' ').collect();
        let (first, second) = words.split_at(words.len().div_ceil(2));
        [first.join(" "), second.join(" ")]
    }

    /// Describe it as plain data.
    pub fn describe(&self, group: Group) -> Description {
        let head = self.head_lines();
        let of_groups = self.groups.map(|groups| {
            let or = |own: &'static str, whole: &'static str| if own.is_empty() { whole } else { own };
            let plain_head = format!("{} of", head.join(" ").trim());
            GroupDescription {
                title: or(groups.title, self.title),
                head: if groups.head.is_empty() { plain_head } else { groups.head.to_owned() },
                doc: or(groups.doc, self.doc),
                compared: match self.compared {
                    Compared::Described => Compared::Described,
                    Compared::Main | Compared::Tested | Compared::Shown => groups.compared,
                },
            }
        });
        let places = View::ALL.iter().filter_map(|&view| Some((view.name(), self.place(view)?))).collect();
        Description {
            key: self.key,
            title: self.title,
            unit: self.unit,
            digits: self.digits,
            doc: self.doc,
            bounds: self.bounds,
            limited_by: self.limited_by,
            better: self.better,
            notable: self.notable,
            head,
            is_percent: self.is_percent,
            is_seldom: self.is_seldom,
            compared: self.compared,
            group: group.name,
            is_felt: group.is_felt,
            of_groups,
            places,
        }
    }
}

/// A quantity as plain data. The fields are those of [`Quantity`].
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "described at Quantity")]
pub struct Description {
    pub key: &'static str,
    pub title: &'static str,
    pub unit: &'static str,
    pub digits: u8,
    pub doc: &'static str,
    pub bounds: (f64, f64),
    pub limited_by: Option<LimitedBy>,
    pub better: Option<Better>,
    pub notable: f64,
    pub head: [String; 2],
    pub is_percent: bool,
    pub is_seldom: bool,
    pub compared: Compared,
    /// The name of its group.
    pub group: &'static str,
    /// Whether users of an application perceive it.
    pub is_felt: bool,
    pub of_groups: Option<GroupDescription>,
    /// The views that show it, with its place in their order.
    pub places: BTreeMap<&'static str, u16>,
}

/// [`Groups`] as plain data.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "described at Groups")]
pub struct GroupDescription {
    pub title: &'static str,
    pub head: String,
    pub doc: &'static str,
    pub compared: Compared,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Quantity = Quantity::new("a_b_ms", "One two three", "ms", 2, 50, |_| None);
    const LINK: Group = crate::GROUPS[0];

    #[test]
    fn a_new_quantity_is_in_all_views_but_sentences() {
        assert!(View::ALL.iter().all(|&view| PLAIN.place(view) == (!view.is_chosen()).then_some(50)));
        assert_eq!(PLAIN.at(View::Answer, 1).place(View::Answer), Some(1));
        let some = PLAIN.hidden(&[View::Spread]).at(View::Notebook, 1);
        assert_eq!(
            [View::Spread, View::Notebook, View::Compare].map(|view| some.place(view)),
            [None, Some(1), Some(50)]
        );
        assert_eq!(View::ALL.map(|view| view as usize), std::array::from_fn(|place| place));
    }

    #[test]
    fn heads_are_given_or_halves_of_the_title() {
        assert_eq!(PLAIN.describe(LINK).head, ["One two", "three"]);
        let groups =
            Groups { title: "", head: "", doc: "", compared: Compared::Tested, values: |_| Vec::new() };
        let described = PLAIN.head("", "loss").by_group(groups).describe(LINK);
        assert_eq!(described.head, ["", "loss"]);
        assert_eq!(
            described.of_groups.map(|of| (of.title, of.head)),
            Some(("One two three", "loss of".to_owned()))
        );
    }
}
