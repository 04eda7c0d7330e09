//! `clock_offset`: phases of the clocks of ns-2's senders.

use aqmlab_units::{Parameter, Span};

use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::Kind;
use crate::tree::{Node, Value};
use crate::units;

/// The one parameter that each flow of a group may have its own of.
pub(super) const CLOCK_OFFSET: &str = "clock_offset";

/// One phase, or a list with that of each flow.
pub(super) fn kind(p: &Parameter) -> Kind {
    let max = p.max.map_or(0.0, |(max, _)| max);
    let one = Kind::Seconds { max: Span::from_secs(max).0 };
    Kind::Any(vec![one.clone(), Kind::list(one)])
}

/// Phases of the senders' clocks in seconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ClockOffset {
    /// Drawn in every run.
    Random,
    /// All the same.
    Same(f64),
    /// One for each flow of the group.
    Each(Vec<f64>),
}

impl ClockOffset {
    /// The phase of a flow of the group.
    pub fn of(&self, index: usize) -> Option<f64> {
        match self {
            Self::Random => None,
            Self::Same(offset) => Some(*offset),
            Self::Each(offsets) => offsets.get(index).copied(),
        }
    }
}

/// Reads `clock_offset` for a group of `count` flows.
pub(crate) fn clock_offset(tcp: &Section<'_>, count: usize) -> ClockOffset {
    let Some(node) = tcp.node(CLOCK_OFFSET) else { return ClockOffset::Random };
    match &node.value {
        Value::List(list) => {
            if list.len() != count {
                tcp.error(CLOCK_OFFSET, wrong_length(list.len(), count));
            }
            ClockOffset::Each(list.iter().filter_map(seconds).collect())
        }
        _ => seconds(node).map_or(ClockOffset::Random, ClockOffset::Same),
    }
}

fn seconds(node: &Node) -> Option<f64> {
    match &node.value {
        Value::Text(_) => units::time(&node.value).ok().map(|ps| Span(ps).secs()),
        value => units::number(value).ok(),
    }
}

/// The complaint about a list that does not fit the number of flows.
pub(crate) fn wrong_length(entries: usize, count: usize) -> Complaint {
    let (ies, s) = (if entries == 1 { "y" } else { "ies" }, if count == 1 { "" } else { "s" });
    let message = format!("the list has {entries} entr{ies}, the group {count} flow{s}");
    Complaint::new(message).allowed(format!("a list of {count}"))
}
