use std::sync::Arc;

use aqmlab_netsim::plan::{PoissonProcess, Start};
use aqmlab_units::{Span, Time};

use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};
use crate::tcp::wrong_length;
use crate::units;

use super::load::Load;

/// The keys of which one says how starts are spread.
const SPREADS: [&str; 4] = ["uniform", "every", "poisson", "load"];
const ALLOWED: &str =
    "{ uniform = [\"0s\", \"10ms\"] }, { every = \"100ms\" }, { poisson = \"50/s\" } or { load = 0.8 }";
/// Keys of Poisson processes alone.
const OF_PROCESSES: [&str; 4] = ["link", "headers", "from", "until"];
/// Most of the offered load.
const MOST_LOAD: f64 = 10.0;
/// A process with fewer arrivals in a run gets a warning.
const FEW_ARRIVALS: f64 = 1.0;

/// When the flows of a group start.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Starts {
    /// All at one time, or all uniform between two.
    Same(Start),
    /// At a time of its own each.
    Each(Vec<Time>),
    /// The i-th, counted from 0, at i times this.
    Every(Span),
    /// The i-th with arrival i of a Poisson process.
    Poisson(Arc<PoissonProcess>),
}

pub(super) fn kind() -> Kind {
    let shape = Shape::new(
        "Starts spread over time: exactly one of uniform, every, poisson and load.",
        vec![
            Key::new(
                "uniform",
                Kind::list(Kind::ANY_TIME),
                "Drawn uniformly between two times in every run.",
            ),
            Key::new("every", Kind::SOME_TIME, "The i-th flow, counted from 0, starts at i times this."),
            Key::new(
                "poisson",
                Kind::Frequency,
                "Arrivals of a Poisson process, drawn in every run: so many per second, minute or millisecond.",
            ),
            Key::new(
                "load",
                Kind::Above { min: 0.0, max: MOST_LOAD },
                "The same, where the mean size offers this share of a link's rate: load * rate / (8 * mean size).",
            ),
            Key::new(
                "link",
                Kind::Label,
                "With load: the link; if absent the bottleneck, or the only link with AQM.",
            ),
            Key::new(
                "headers",
                Kind::Flag,
                "With load: whether the mean size has the headers of the data packets.",
            )
            .default("false"),
            Key::new("from", Kind::ANY_TIME, "With poisson or load: the process begins here.")
                .default("\"0s\""),
            Key::new(
                "until",
                Kind::SOME_TIME,
                "With poisson or load: the process ends here; at the end of the run if absent.",
            ),
        ],
    );
    Kind::Any(vec![Kind::ANY_TIME, Kind::list(Kind::ANY_TIME), Kind::Table(shape.into())])
}

/// Whether the starts are those of a Poisson process, which determines the number of flows.
pub(super) fn is_process(flow: &Section<'_>) -> bool {
    flow.section("start").is_some_and(|start| start.has("poisson") || start.has("load"))
}

/// Read when the flows of a group start. `load` is for starts that follow from a link's load.
pub(super) fn read(
    flow: &Section<'_>,
    count: Option<usize>,
    duration: Option<Span>,
    load: Load<'_>,
) -> Option<Starts> {
    if !flow.has("start") {
        return Some(Starts::Same(Start::At(Time::ZERO)));
    }
    if let Some(spread) = flow.section("start") {
        return read_spread(flow, &spread, duration, load);
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

fn read_spread(
    flow: &Section<'_>,
    spread: &Section<'_>,
    duration: Option<Span>,
    load: Load<'_>,
) -> Option<Starts> {
    let given: Vec<_> = SPREADS.into_iter().filter(|key| spread.has(key)).collect();
    let [how] = given.as_slice() else {
        // Where there are keys but none of these, they have been reported as unknown.
        if !given.is_empty() || spread.len() == 0 || OF_PROCESSES.iter().any(|key| spread.has(key)) {
            let complaint = Complaint::new("is not exactly one of uniform, every, poisson and load");
            flow.error("start", complaint.allowed(ALLOWED));
        }
        return None;
    };
    if matches!(*how, "poisson" | "load") {
        return read_process(spread, how, duration, load);
    }
    for key in OF_PROCESSES {
        spread
            .refuse(key, Complaint::new(format!("starts by {how} have no {key}")).allowed("poisson or load"));
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

fn read_process(spread: &Section<'_>, how: &str, duration: Option<Span>, load: Load<'_>) -> Option<Starts> {
    let rate = if how == "load" {
        load.arrivals(spread)
    } else {
        for key in ["link", "headers"] {
            spread.refuse(
                key,
                Complaint::new(format!("{key} belongs to load")).allowed("load in place of poisson"),
            );
        }
        units::frequency(spread.value("poisson")?).ok()
    };
    let from = if spread.has("from") { spread.time("from")? } else { Time::ZERO };
    let until = if spread.has("until") { Some(spread.time("until")?) } else { None };
    let end = Time::ZERO + duration?;
    if from >= until.unwrap_or(end) {
        let key = if spread.has("from") { "from" } else { "until" };
        let complaint = Complaint::new("the process ends before it begins");
        let ends = until.unwrap_or(end).secs();
        spread.error(key, complaint.allowed(format!("from before the end of the process, {ends} s")));
        return None;
    }
    let until = until.unwrap_or(end).min(end);
    Some(Starts::Poisson(Arc::new(PoissonProcess { rate: rate?, from, until })))
}

/// The mean number of arrivals.
fn mean_arrivals(process: &PoissonProcess) -> f64 {
    process.rate * process.until.since(process.from).secs()
}

impl Starts {
    /// How many flows a process needs: more arrivals in a run are less likely than 1e-8.
    pub fn count(&self) -> Option<usize> {
        let Self::Poisson(process) = self else { return None };
        let mean = mean_arrivals(process);
        Some((mean + 6.0 * mean.sqrt() + 10.0) as usize)
    }

    /// When the flow of this number in the group starts.
    pub fn of(&self, index: usize) -> Start {
        match self {
            Self::Same(start) => start.clone(),
            Self::Each(times) => Start::At(times.get(index).copied().unwrap_or(Time::ZERO)),
            Self::Every(interval) => Start::At(Time::ZERO + *interval * index as u64),
            Self::Poisson(process) => Start::Poisson { process: Arc::clone(process), index: index as u32 },
        }
    }

    /// The time by which all have started.
    fn last(&self, count: usize) -> Time {
        match self {
            Self::Same(Start::At(t) | Start::Uniform(_, t)) => *t,
            Self::Same(Start::Poisson { process, .. }) | Self::Poisson(process) => process.until,
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
        if let Self::Poisson(process) = self
            && (count as f64) < mean_arrivals(process)
        {
            let message = format!(
                "the process has {:.0} arrivals on average, but only the first {count} are flows",
                mean_arrivals(process)
            );
            flow.warning("count", Complaint::new(message).allowed("no count, or a larger one"));
        }
        if let Self::Poisson(process) = self
            && mean_arrivals(process) < FEW_ARRIVALS
        {
            let message = format!("the process has {:.1} arrivals on average", mean_arrivals(process));
            flow.warning("start", Complaint::new(message).allowed("a longer run, or more or smaller flows"));
        }
        let last = self.last(count);
        let is_reached = |end: Time| match self {
            // The second time itself, or the end of a process, is never drawn.
            Self::Same(Start::Uniform(..)) | Self::Poisson(_) => end < last,
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
