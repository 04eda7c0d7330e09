//! `[probe]`: what to record.

use core::cell::Cell;
use std::collections::BTreeSet;

use aqmlab_netsim::plan::{Link, LinkId, Probe};
use aqmlab_units::{Span, Time};

use crate::network::{Builder, LinkNames, Network};
use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};

/// Memory that the samples of a run may take, in bytes.
const MAX_MEMORY: u64 = 4_000_000_000;
/// Memory that a sample takes until the tables of a run are made: in the core, in Python and in Arrow, measured as 200 to
/// 250 bytes.
const SAMPLE_BYTES: u64 = 250;
/// Most gauges of a discipline; each is a sample of `discipline_interval`.
const MOST_GAUGES: usize = 8;

pub(crate) fn shape() -> Shape {
    Shape::new(
        "What to record in addition to the counters of links and flows; a probe that is off costs nothing.",
        vec![
            Key::new(
                "links",
                Kind::list(Kind::Label),
                "Links to observe; if absent, all whose queue is not drop-tail, the bottleneck (down, up) of a dumbbell, \
                 the core of a diffserv network, and in other networks the links of [[link]] and between routers for \
                 which a [queue.NAME] other than default is named, whatever its discipline.",
            ),
            Key::new(
                "queue_interval",
                Kind::SOME_TIME,
                "Sample queue, average and p_b of those links this often.",
            ),
            Key::new(
                "cwnd_interval",
                Kind::SOME_TIME,
                "Sample cwnd, ssthresh and srtt of every TCP flow this often.",
            ),
            Key::new(
                "flow_interval",
                Kind::SOME_TIME,
                "Sample arrivals and deliveries of every flow this often.",
            ),
            Key::new(
                "discipline_interval",
                Kind::SOME_TIME,
                "Sample the internal variables (gauges) of the disciplines of those links this often.",
            ),
            Key::new("delay_histogram", Kind::Flag, "The distribution of the queueing delay at those links.")
                .default("true"),
            Key::new("events", Kind::Flag, "Every enqueue, dequeue, drop and mark at those links; large.")
                .default("false"),
            Key::new("events_from", Kind::ANY_TIME, "Record events from this time on; needs events = true.")
                .default("\"0s\""),
            Key::new(
                "events_until",
                Kind::SOME_TIME,
                "Record events before this time; needs events = true. Default: to the end.",
            ),
            Key::new(
                "packets",
                Kind::Flag,
                "Every packet that comes to those links, with the times at which it left or was dropped; large.",
            )
            .default("false"),
            Key::new("losses", Kind::Flag, "Every packet that is dropped at those links.").default("false"),
            Key::new(
                "max_records",
                Kind::Integer { min: 1, max: 1_000_000_000 },
                "Most entries that events, packets and losses of all links may have together; a run with more ends with an \
                 error. 1000000 entries take about 0.25 GB.",
            )
            .default("16000000"),
            Key::new("flow_delay", Kind::Flag, "The distribution of every flow's one-way delay.")
                .default("false"),
        ],
    )
}

/// Reads what to record. The links of the plan are those of `builder`.
pub(crate) fn read(
    file: &Section<'_>,
    network: Option<&Network>,
    builder: &Builder<'_>,
    names: &LinkNames<'_>,
    flows: usize,
    duration: Option<Span>,
) -> Probe {
    let section = file.section("probe");
    let named = section.as_ref().filter(|s| s.has("links"));
    let observed = match named {
        Some(section) => named_links(section, names),
        None => default_links(network, builder),
    };
    let Some(section) = section else {
        return Probe { links: observed, delay_histogram: true, ..Probe::default() };
    };
    let taken = Cell::new(0_u64);
    let interval = |key: &str, of: usize| {
        let interval = section.span(key)?;
        let samples = (duration?.0 / interval.0.max(1)).saturating_mul(of as u64);
        let before = taken.replace(taken.get().saturating_add(samples));
        if taken.get() > MAX_MEMORY / SAMPLE_BYTES && before <= MAX_MEMORY / SAMPLE_BYTES {
            let all = if before == 0 { "" } else { ", with those before" };
            let gigabytes = taken.get() as f64 * SAMPLE_BYTES as f64 / 1e9;
            let complaint =
                Complaint::new(format!("makes {samples} samples, about {gigabytes:.3} GB of memory{all}"));
            let most = MAX_MEMORY / SAMPLE_BYTES;
            let allowed = format!("intervals with at most {most} samples, {} GB", MAX_MEMORY / 1_000_000_000);
            section.error(key, complaint.allowed(allowed));
        }
        Some(interval)
    };
    let (events, events_from, events_until) = events(&section, duration);
    Probe {
        queue_interval: interval("queue_interval", observed.len()),
        cwnd_interval: interval("cwnd_interval", flows),
        delay_histogram: section.flag("delay_histogram").unwrap_or(true),
        events,
        events_from,
        events_until,
        packets: section.flag("packets").unwrap_or(false),
        losses: section.flag("losses").unwrap_or(false),
        max_records: section.integer("max_records").map(|n| n as usize),
        flow_delay: section.flag("flow_delay").unwrap_or(false),
        packet_delays: Vec::new(),
        flow_interval: interval("flow_interval", flows),
        discipline_interval: interval("discipline_interval", observed.len() * MOST_GAUGES),
        links: observed,
    }
}

/// Reads whether events are recorded, from when, and until when.
fn events(section: &Section<'_>, duration: Option<Span>) -> (bool, Time, Option<Time>) {
    let events = section.flag("events").unwrap_or(false);
    let (from, until) = (section.time("events_from"), section.time("events_until"));
    if let (Some(from), Some(duration)) = (from, duration)
        && from >= Time::ZERO + duration
    {
        let complaint = Complaint::new("is not before the end of the run");
        section.error("events_from", complaint.allowed(format!("below duration ({} s)", duration.secs())));
    }
    if let (Some(from), Some(until)) = (from, until)
        && from >= until
    {
        let complaint = Complaint::new("is not after events_from");
        section.error("events_until", complaint.allowed(format!("above {}s", Span(from.0).secs())));
    }
    for key in ["events_from", "events_until"] {
        if section.has(key) && !events {
            section.error(key, Complaint::new("has no effect without events").allowed("with events = true"));
        }
    }
    (events, from.unwrap_or(Time::ZERO), until)
}

/// An unobserved drop-tail link is only a clock, which makes the links of hosts cheap. Where a queue matters, the file names
/// it, and its measurements must not depend on its discipline.
fn default_links(network: Option<&Network>, builder: &Builder<'_>) -> Vec<LinkId> {
    let main = network.map_or(&[][..], Network::main_links);
    let named: BTreeSet<_> = match main {
        [] => builder.with_named_queue.iter().copied().collect(),
        _ => BTreeSet::new(),
    };
    let observed =
        |id, l: &Link| l.aqm() != "drop-tail" || main.contains(&l.name.as_str()) || named.contains(&id);
    (0..).zip(&builder.links).filter(|&(id, l)| observed(id, l)).map(|(id, _)| id).collect()
}

fn named_links(section: &Section<'_>, names: &LinkNames<'_>) -> Vec<LinkId> {
    let (mut observed, mut seen) = (Vec::new(), BTreeSet::new());
    for node in section.list("links").unwrap_or_default() {
        let Some(name) = node.value.as_text() else { continue };
        match names.find(name) {
            Ok(Some(id)) if seen.insert(id) => observed.push(id),
            Ok(_) => {}
            Err(complaint) => section.report.error(node.place, section.key("links"), complaint),
        }
    }
    observed
}
