use aqmlab_units::{Span, Time};

use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::Kind;
use crate::tree::{Node, Value};
use crate::units;

use super::MAX_FLOWS;

/// Periods in which a flow sends, in their order: begin, and end if there is one.
pub(super) type Periods = Vec<(Time, Option<Time>)>;

/// An example for messages.
const EXAMPLE: &str = "[[\"100s\", \"200s\"], [\"300s\", \"400s\"]]";
/// The same of a schedule of counts.
const COUNTS: &str = "[[\"0s\", 10], [\"20s\", 50], [\"40s\", 0]]";

pub(super) fn kind() -> Kind {
    let end_or_count = Kind::Any(vec![Kind::Integer { min: 0, max: MAX_FLOWS }, Kind::ANY_TIME]);
    Kind::list(Kind::Pair(Box::new([Kind::ANY_TIME, end_or_count])))
}

/// Whether the list is a schedule of counts, which determines the number of flows.
pub(super) fn is_schedule(flow: &Section<'_>) -> bool {
    let is_count = |node: &Node| matches!(node.value, Value::Integer(_));
    let has_count = |entry: &Node| entry.value.as_list().and_then(<[_]>::last).is_some_and(is_count);
    flow.list("active").is_some_and(|list| list.iter().any(has_count))
}

/// Read a schedule `[[time, count], ...]`: the periods of each flow, the last of which may have no end. From each time on the
/// first `count` flows of the group are active.
pub(super) fn read_schedule(flow: &Section<'_>, duration: Option<Span>) -> Option<Vec<Periods>> {
    for key in ["start", "stop", "size"] {
        let complaint = Complaint::new(format!("active says when the flow sends, so it has no {key}"));
        flow.refuse(key, complaint.allowed("active, or start, stop and size"));
    }
    flow.refuse("count", Complaint::new("active says how many flows there are").allowed("active or count"));
    let list = flow.list("active")?;
    let mut schedule: Vec<(Time, usize)> = Vec::new();
    for node in list {
        let error = |message: &str| {
            flow.report.error(node.place, flow.key("active"), Complaint::new(message).allowed(COUNTS));
        };
        let Some([at, count]) = node.value.as_list() else {
            error("is not a pair of a time and a count");
            continue;
        };
        let (Ok(at), &Value::Integer(count)) = (units::time(&at.value), &count.value) else {
            error("is not a pair of a time and a count");
            continue;
        };
        // A count out of range has been reported.
        let Ok(count) = usize::try_from(count) else { continue };
        if schedule.last().is_some_and(|(before, _)| Time(at) <= *before) {
            error("the time is not after the one before it");
        }
        schedule.push((Time(at), count));
    }
    let most = schedule.iter().map(|(_, count)| *count).max()?;
    if schedule.len() < list.len() || most > MAX_FLOWS as usize {
        return None;
    }
    if most == 0 {
        flow.error("active", Complaint::new("no flow is ever active").allowed(COUNTS));
        return None;
    }
    if let (Some(duration), Some((last, _))) = (duration, schedule.last())
        && last.0 >= duration.0
    {
        let message =
            format!("an entry is at {} s, when the run is over ({} s)", last.secs(), duration.secs());
        flow.warning("active", Complaint::new(message));
    }
    Some((0..most).map(|index| periods_of(&schedule, index)).collect())
}

/// The periods in which more than `index` flows are active.
fn periods_of(schedule: &[(Time, usize)], index: usize) -> Periods {
    let mut periods = Periods::new();
    for &(at, count) in schedule {
        let open = periods.last_mut().filter(|(_, end)| end.is_none());
        match (open, count > index) {
            (None, true) => periods.push((at, None)),
            (Some((_, end)), false) => *end = Some(at),
            _ => {}
        }
    }
    periods
}

/// Reads the periods in which a flow sends, in their order; at least one.
pub(super) fn read(flow: &Section<'_>, duration: Option<Span>) -> Option<Periods> {
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
    (periods.len() == list.len())
        .then(|| periods.into_iter().map(|(begin, end)| (begin, Some(end))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_flows_are_active() {
        let at = |s| Time::from_secs(s);
        let schedule = [(at(0.0), 1), (at(2.0), 3), (at(5.0), 2), (at(6.0), 2), (at(8.0), 0), (at(9.0), 1)];
        let periods = |index| periods_of(&schedule, index);
        assert_eq!(periods(0), [(at(0.0), Some(at(8.0))), (at(9.0), None)]);
        assert_eq!(periods(1), [(at(2.0), Some(at(8.0)))]);
        assert_eq!(periods(2), [(at(2.0), Some(at(5.0)))]);
        assert_eq!(periods(3), []);
    }
}
