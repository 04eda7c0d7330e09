//! `[run]`: how long and how often.

use std::collections::BTreeSet;

use aqmlab_units::Span;

use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};
use crate::tree::Value;

/// Most seeds of one scenario.
const MAX_SEEDS: i64 = 1_000_000;

/// Longest run, 100 days. Times are whole picoseconds in 64 bits, which end after 213 days: an event at the end of this
/// run, and a time after it as long as the run, are still far from there.
const MAX_DURATION: Span = Span(100 * 24 * 3600 * 1_000_000_000_000);

/// The settings of `[run]`.
#[derive(Debug)]
pub(crate) struct Run {
    /// The run ends here.
    pub duration: Span,
    /// Statistics begin here.
    pub warmup: Span,
    /// One run each.
    pub seeds: Vec<u64>,
}

pub(crate) fn shape() -> Shape {
    let seeds = Kind::Any(vec![
        Kind::Integer { min: 1, max: MAX_SEEDS },
        Kind::list(Kind::Integer { min: 1, max: i64::MAX }),
    ]);
    Shape::new(
        "How long and how often to run.",
        vec![
            Key::new("duration", Kind::SOME_TIME, "Simulated time.").required(),
            Key::new("warmup", Kind::ANY_TIME, "Statistics cover the time from here to the end.")
                .default("\"0s\""),
            Key::new("seeds", seeds, "A number n for the seeds 1 to n, or a list of seeds.").default("1"),
        ],
    )
}

pub(crate) fn read(run: &Section<'_>) -> Option<Run> {
    let (duration, warmup) = (run.span("duration"), run.span("warmup"));
    if duration.is_some_and(|duration| duration > MAX_DURATION) {
        let complaint = Complaint::new("is longer than 100 days, the longest run there is");
        run.error("duration", complaint.allowed(format!("at most {}s", MAX_DURATION.secs())));
        return None;
    }
    if let (Some(duration), Some(warmup)) = (duration, warmup)
        && warmup >= duration
    {
        let complaint = Complaint::new("is not before the end of the run");
        run.error("warmup", complaint.allowed(format!("below duration ({} s)", duration.secs())));
    }
    Some(Run { duration: duration?, warmup: warmup.unwrap_or(Span::ZERO), seeds: seeds(run)? })
}

fn seeds(run: &Section<'_>) -> Option<Vec<u64>> {
    let Some(list) = run.list("seeds") else {
        let count = if run.has("seeds") { run.integer("seeds")? } else { 1 };
        return Some((1..=count.unsigned_abs()).collect());
    };
    if list.is_empty() {
        run.error("seeds", Complaint::new("is an empty list").allowed("at least one seed"));
    }
    let mut seen = BTreeSet::new();
    let mut seeds = Vec::new();
    for node in list {
        let Value::Integer(n) = node.value else { continue };
        if !seen.insert(n) {
            run.report.error(node.place, run.key("seeds"), Complaint::new(format!("seed {n} stands twice")));
        }
        seeds.push(n.unsigned_abs());
    }
    Some(seeds)
}
