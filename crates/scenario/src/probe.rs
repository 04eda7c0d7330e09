//! `[probe]`: what to record.

use std::collections::BTreeMap;

use aqmlab_netsim::plan::{Link, LinkId, Probe};
use aqmlab_units::Span;

use crate::nearest::{listed, nearest};
use crate::network::{BOTTLENECK, Network};
use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};

/// Most samples of one kind in a run.
const MAX_SAMPLES: u64 = 100_000_000;

pub(crate) fn shape() -> Shape {
    Shape::new(
        "What to record beside the counters of links and flows; a probe that is off costs nothing.",
        vec![
            Key::new(
                "links",
                Kind::list(Kind::Label),
                "Links to observe; if absent, all whose queue is not drop-tail, and the bottleneck of a dumbbell.",
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
            Key::new("delay_histogram", Kind::Flag, "The distribution of the queueing delay at those links.")
                .default("true"),
            Key::new("events", Kind::Flag, "Every enqueue, dequeue, drop and mark at those links; large.")
                .default("false"),
        ],
    )
}

/// Reads what to record. `links` are those of the plan; names are not checked while there are none.
pub(crate) fn read(
    file: &Section<'_>,
    network: Option<&Network>,
    links: &[Link],
    flows: usize,
    duration: Option<Span>,
) -> Probe {
    let section = file.section("probe");
    let named = section.as_ref().filter(|s| s.has("links"));
    let observed = match named {
        Some(section) => named_links(section, network, links),
        None => default_links(network, links),
    };
    let Some(section) = section else {
        return Probe { links: observed, delay_histogram: true, ..Probe::default() };
    };
    let interval = |key: &str, of: usize| {
        let interval = section.span(key)?;
        let samples = (duration?.0 / interval.0.max(1)).saturating_mul(of as u64);
        if samples > MAX_SAMPLES {
            let complaint = Complaint::new(format!("makes {samples} samples"));
            section.error(key, complaint.allowed(format!("an interval with at most {MAX_SAMPLES}")));
        }
        Some(interval)
    };
    Probe {
        queue_interval: interval("queue_interval", observed.len()),
        cwnd_interval: interval("cwnd_interval", flows),
        delay_histogram: section.flag("delay_histogram").unwrap_or(true),
        events: section.flag("events").unwrap_or(false),
        links: observed,
    }
}

fn default_links(network: Option<&Network>, links: &[Link]) -> Vec<LinkId> {
    let dumbbell = matches!(network, Some(Network::Dumbbell(_)));
    let observed = |l: &Link| l.aqm != "drop-tail" || (dumbbell && l.name == BOTTLENECK);
    (0..).zip(links).filter(|(_, l)| observed(l)).map(|(id, _)| id).collect()
}

fn named_links(section: &Section<'_>, network: Option<&Network>, links: &[Link]) -> Vec<LinkId> {
    let mut ids = BTreeMap::new();
    for (id, link) in (0..).zip(links) {
        ids.insert(link.name.as_str(), id);
    }
    let explicit = if let Some(Network::Explicit(e)) = network { Some(e) } else { None };
    let names: Vec<&str> = match explicit {
        Some(explicit) => explicit.link_names().collect(),
        None => links.iter().map(|l| l.name.as_str()).collect(),
    };
    let mut observed = Vec::new();
    for node in section.list("links").unwrap_or_default() {
        let Some(name) = node.value.as_text() else { continue };
        let id = ids.get(name).copied();
        if let Some(id) = id.filter(|id| !observed.contains(id)) {
            observed.push(id);
        }
        if id.is_none() && !names.is_empty() && !names.contains(&name) {
            let complaint = Complaint::new(format!("there is no link {name:?}"));
            let near = nearest(name, names.iter().copied());
            let complaint = complaint.allowed(listed(names.iter().copied())).suggest(near);
            section.report.error(node.place, section.key("links"), complaint);
        }
    }
    observed
}
