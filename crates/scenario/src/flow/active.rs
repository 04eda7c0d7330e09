use aqmlab_units::{Span, Time};

use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::Kind;
use crate::units;

/// An example for messages.
const EXAMPLE: &str = "[[\"100s\", \"200s\"], [\"300s\", \"400s\"]]";

pub(super) fn kind() -> Kind {
    Kind::list(Kind::list(Kind::ANY_TIME))
}

/// Reads the periods in which a flow sends, in their order; at least one.
pub(super) fn read(flow: &Section<'_>, duration: Option<Span>) -> Option<Vec<(Time, Time)>> {
    for key in ["start", "stop", "size"] {
        let complaint = Complaint::new(format!("active says when the flow sends, so it has no {key}"));
        flow.refuse(key, complaint.allowed("active, or start, stop and size"));
    }
    let list = flow.list("active")?;
    if list.is_empty() {
        flow.error("active", Complaint::new("is an empty list").allowed(EXAMPLE));
        return None;
    }
    let mut periods: Vec<(Time, Time)> = Vec::new();
    for node in list {
        let Some(period) = node.value.as_list() else { continue };
        let error = |message: &str| {
            let complaint = Complaint::new(message).allowed(EXAMPLE);
            flow.report.error(node.place, flow.key("active"), complaint);
        };
        let [begin, end] = period else {
            error("is not a pair of times");
            continue;
        };
        let (Ok(begin), Ok(end)) = (units::time(&begin.value), units::time(&end.value)) else { continue };
        let (begin, end) = (Time(begin), Time(end));
        if end <= begin {
            error("the period ends before it begins");
        } else if periods.last().is_some_and(|last| begin <= last.1) {
            error("the period begins before the one before it is over");
        }
        periods.push((begin, end));
    }
    if let (Some(duration), Some((begin, _))) = (duration, periods.last())
        && begin.0 >= duration.0
    {
        let message =
            format!("a period begins at {} s, when the run is over ({} s)", begin.secs(), duration.secs());
        flow.warning("active", Complaint::new(message));
    }
    (periods.len() == list.len()).then_some(periods)
}
