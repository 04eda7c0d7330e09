//! `[probe]`: what to record.

use core::cell::Cell;
use std::collections::BTreeSet;

use aqmlab_netsim::plan::{Link, LinkId, Probe};
use aqmlab_units::Span;

use crate::network::{LinkNames, Network};
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
                "Links to observe; if absent, all whose queue is not drop-tail, the bottleneck of a dumbbell and the \
                 core of a diffserv network.",
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
            Key::new("losses", Kind::Flag, "Every packet that is dropped at those links.").default("false"),
            Key::new("flow_delay", Kind::Flag, "The distribution of every flow's one-way delay.")
                .default("false"),
        ],
    )
}

/// Reads what to record. `links` are those of the plan.
pub(crate) fn read(
    file: &Section<'_>,
    network: Option<&Network>,
    links: &[Link],
    names: &LinkNames<'_>,
    flows: usize,
    duration: Option<Span>,
) -> Probe {
    let section = file.section("probe");
    let named = section.as_ref().filter(|s| s.has("links"));
    let observed = match named {
        Some(section) => named_links(section, names),
        None => default_links(network, links),
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
    Probe {
        queue_interval: interval("queue_interval", observed.len()),
        cwnd_interval: interval("cwnd_interval", flows),
        delay_histogram: section.flag("delay_histogram").unwrap_or(true),
        events: section.flag("events").unwrap_or(false),
        losses: section.flag("losses").unwrap_or(false),
        flow_delay: section.flag("flow_delay").unwrap_or(false),
        packet_delays: Vec::new(),
        flow_interval: interval("flow_interval", flows),
        discipline_interval: interval("discipline_interval", observed.len() * MOST_GAUGES),
        links: observed,
    }
}

fn default_links(network: Option<&Network>, links: &[Link]) -> Vec<LinkId> {
    let main = network.and_then(Network::main_link);
    let observed = |l: &Link| l.aqm != "drop-tail" || main == Some(l.name.as_str());
    (0..).zip(links).filter(|(_, l)| observed(l)).map(|(id, _)| id).collect()
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
