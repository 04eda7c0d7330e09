use aqmlab_netsim::plan::Start;
use aqmlab_units::{Span, Time};

use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};
use crate::tcp::wrong_length;
use crate::units;

/// When the flows of a group start.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Starts {
    /// All at one time, or all uniform between two.
    Same(Start),
    /// At a time of its own each.
    Each(Vec<Time>),
    /// The i-th, counted from 0, at i times this.
    Every(Span),
}

pub(super) fn kind() -> Kind {
    let shape = Shape::new(
        "Starts spread over time: exactly one of uniform and every.",
        vec![
            Key::new(
                "uniform",
                Kind::list(Kind::ANY_TIME),
                "Drawn uniformly between two times in every run.",
            ),
            Key::new("every", Kind::SOME_TIME, "The i-th flow, counted from 0, starts at i times this."),
        ],
    );
    Kind::Any(vec![Kind::ANY_TIME, Kind::list(Kind::ANY_TIME), Kind::Table(shape)])
}

pub(super) fn read(flow: &Section<'_>, count: Option<usize>) -> Option<Starts> {
    if !flow.has("start") {
        return Some(Starts::Same(Start::At(Time::ZERO)));
    }
    if let Some(spread) = flow.section("start") {
        return read_spread(flow, &spread);
    }
    let Some(list) = flow.list("start") else {
        return flow.time("start").map(|t| Starts::Same(Start::At(t)));
    };
    if let Some(count) = count.filter(|&n| n != list.len()) {
        flow.error("start", wrong_length(list.len(), count));
    }
    let times = list.iter().map(|node| units::time(&node.value).ok().map(Time));
    times.collect::<Option<_>>().map(Starts::Each)
}

fn read_spread(flow: &Section<'_>, spread: &Section<'_>) -> Option<Starts> {
    let neither = !spread.has("uniform") && !spread.has("every");
    if neither && spread.len() > 0 {
        // The keys of the table have been reported as unknown.
        return None;
    }
    if neither || (spread.has("uniform") && spread.has("every")) {
        let allowed = "{ uniform = [\"0s\", \"10ms\"] } or { every = \"100ms\" }";
        flow.error("start", Complaint::new("is not exactly one of uniform and every").allowed(allowed));
        return None;
    }
    if let Some(list) = spread.list("uniform") {
        let [low, high] = list else {
            let complaint = Complaint::new("is not a list of two times").allowed("[\"0s\", \"10ms\"]");
            spread.error("uniform", complaint);
            return None;
        };
        let (low, high) = (units::time(&low.value).ok()?, units::time(&high.value).ok()?);
        if low > high {
            spread.error("uniform", Complaint::new("the second time is before the first"));
            return None;
        }
        let start = if low == high { Start::At(Time(low)) } else { Start::Uniform(Time(low), Time(high)) };
        return Some(Starts::Same(start));
    }
    spread.span("every").map(Starts::Every)
}

impl Starts {
    /// When the flow of this number in the group starts.
    pub fn of(&self, index: usize) -> Start {
        match self {
            Self::Same(start) => *start,
            Self::Each(times) => Start::At(times.get(index).copied().unwrap_or(Time::ZERO)),
            Self::Every(interval) => Start::At(Time::ZERO + *interval * index as u64),
        }
    }

    /// The time by which all have started.
    fn last(&self, count: usize) -> Time {
        match self {
            Self::Same(Start::At(t) | Start::Uniform(_, t)) => *t,
            Self::Each(times) => times.iter().copied().max().unwrap_or(Time::ZERO),
            Self::Every(interval) => Time::ZERO + *interval * count.saturating_sub(1) as u64,
        }
    }

    /// Checks the starts against `stop` and the end of the run.
    pub fn check(&self, flow: &Section<'_>, count: usize, stop: Option<Time>, duration: Option<Span>) {
        if let Self::Every(interval) = self
            && interval.0.checked_mul(count as u64).is_none()
        {
            flow.error(
                "start",
                Complaint::new("the last flow would start after the longest time there is, 213 days"),
            );
            return;
        }
        let last = self.last(count);
        let is_reached = |end: Time| match self {
            Self::Same(Start::Uniform(..)) => end < last, // the second time itself is never drawn
            _ => end <= last,
        };
        if let Some(stop) = stop
            && is_reached(stop)
        {
            let complaint = Complaint::new("the flow would stop before it starts");
            flow.error("stop", complaint.allowed(format!("after start ({} s)", last.secs())));
        }
        if let Some(duration) = duration
            && is_reached(Time(duration.0))
        {
            let verb =
                if matches!(self, Self::Same(Start::Uniform(..))) { "may start until" } else { "starts at" };
            let message = format!("{verb} {} s, when the run is over ({} s)", last.secs(), duration.secs());
            flow.warning("start", Complaint::new(message));
        }
    }
}
