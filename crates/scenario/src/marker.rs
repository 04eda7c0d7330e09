//! `[marker.NAME]`: meters and markers before the queues of links.

use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet};

use aqmlab_netsim::plan::{self, LinkId, Marker, Meter, Transport};
use aqmlab_units::{Rate, Span};

use crate::dscp;
use crate::nearest::{listed, nearest};
use crate::network::LinkNames;
use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};
use crate::tree::Place;

/// The meters, each with the keys that only some have: first those that it needs, then those that it may have.
const KINDS: [(&str, &[&str], &[&str]); 5] = [
    (TOKEN_BUCKET, &[], &["cbs"]),
    (TSW2, &[], &["window"]),
    (TSW3, &["pir"], &["window", "yellow"]),
    (SRTCM, &["cbs", "ebs"], &["color_aware", "yellow"]),
    (TRTCM, &["pir", "cbs", "pbs"], &["color_aware", "yellow"]),
];
pub(crate) const TOKEN_BUCKET: &str = "token-bucket";
pub(crate) const TSW2: &str = "tsw2cm";
pub(crate) const TSW3: &str = "tsw3cm";
pub(crate) const SRTCM: &str = "srtcm";
pub(crate) const TRTCM: &str = "trtcm";

/// In place of a code point: packets of the colour are dropped.
const DROP: &str = "drop";

/// The keys that only some meters have.
const SPECIAL: [&str; 7] = ["pir", "cbs", "ebs", "pbs", "window", "color_aware", "yellow"];
/// The colours, in order of precedence.
pub(crate) const COLORS: [&str; 3] = ["green", "yellow", "red"];

/// Largest burst in bytes.
const MAX_BURST: u64 = 1_000_000_000_000;
/// The default burst of a token bucket lasts so long at its rate.
const DEFAULT_BURST: Span = Span::from_millis(50);
/// The default window of the time-sliding-window meters.
const DEFAULT_WINDOW: Span = Span::from_millis(1000);

pub(crate) fn shape() -> Shape {
    let or_drop = || Kind::Any(vec![Kind::Choice(vec![DROP]), Kind::Dscp]);
    let burst = |min| Kind::Bytes { min, max: MAX_BURST };
    Shape::new(
        "A marker: measures flows before the queue of a link and writes code points into all but their acknowledgements.",
        vec![
            Key::new("kind", Kind::Choice(KINDS.iter().map(|k| k.0).collect()), "How it measures.")
                .required(),
            Key::new("link", Kind::Label, "The link before whose queue it is.").required(),
            Key::new("flows", Kind::list(Kind::Name), "Names of the groups of flows that it marks.")
                .required(),
            Key::new("per", Kind::Choice(vec!["flow", "group"]), "One meter for each flow, or one for all.")
                .default("\"flow\""),
            Key::new("cir", Kind::Rate, "Committed information rate.").required(),
            Key::new("pir", Kind::Rate, "tsw3cm, trtcm: peak information rate, at least cir."),
            Key::new("cbs", burst(1), "Committed burst size; of a token-bucket 50 ms of cir if absent."),
            Key::new("ebs", burst(0), "srtcm: excess burst size."),
            Key::new("pbs", burst(1), "trtcm: peak burst size."),
            Key::new("window", Kind::SOME_TIME, "tsw2cm, tsw3cm: length of the window.").default("\"1s\""),
            Key::new(
                "color_aware",
                Kind::Flag,
                "srtcm, trtcm: whether the colour that packets come with counts.",
            )
            .default("false"),
            Key::new("green", Kind::Dscp, "Code point of green packets.").default("\"AF11\""),
            Key::new(
                "yellow",
                or_drop(),
                "Code point of yellow packets, for meters of three colours, or that they are dropped.",
            )
            .default("\"AF12\""),
            Key::new(
                "red",
                or_drop(),
                "Code point of red packets, or that they are dropped, as by a policer; AF13, of a meter of two colours BE, if absent.",
            ),
        ],
    )
}

/// The links and flows that markers may name.
pub(crate) struct Context<'a> {
    pub links: &'a LinkNames<'a>,
    /// Names of all groups of the file.
    pub groups: Vec<&'a str>,
    /// The flows of the valid ones.
    pub flows: &'a [plan::Flow],
}

impl Context<'_> {
    /// The flows of each group, by name: groups follow each other. A name that stands twice has no flows; it is an
    /// error.
    fn members(&self) -> BTreeMap<&str, Range<usize>> {
        let groups = self.groups.iter().map(|&group| (group, 0..0));
        let mut members: BTreeMap<_, _> = groups.collect();
        let mut start = 0;
        for flows in self.flows.chunk_by(|a, b| a.group == b.group) {
            members.insert(&*flows[0].group, start..start + flows.len());
            start += flows.len();
        }
        members
    }
}

/// The groups of a file.
type Members<'a> = BTreeMap<&'a str, Range<usize>>;

/// Reads all markers. Those that are not valid are reported and left out.
pub(crate) fn read(file: &Section<'_>, context: &Context<'_>) -> Vec<Marker> {
    let (members, mut marked) = (context.members(), BTreeMap::new());
    let sections = file.named_sections("marker");
    let read = |(name, section)| marker(name, section, context, &members, &mut marked);
    sections.iter().map(|(name, section)| (*name, section)).filter_map(read).collect()
}

/// Which groups are marked already: link and group with the name and the place of the marker.
type Marked<'a> = BTreeMap<(LinkId, &'a str), (&'a str, Place)>;

fn marker<'a>(
    name: &'a str,
    section: &Section<'a>,
    context: &Context<'_>,
    members: &Members<'_>,
    marked: &mut Marked<'a>,
) -> Option<Marker> {
    let link = context.links.named_by(section, "link");
    let groups = groups(name, section, context, members, link, marked);
    let kind = section.text("kind").and_then(|kind| KINDS.iter().find(|k| k.0 == kind));
    let meter = kind.and_then(|(kind, needed, other)| {
        check_keys(section, kind, needed, other);
        meter(section, kind)
    });
    let dscp = kind.and_then(|(_, _, other)| {
        let color_aware = other.contains(&"color_aware") && section.flag("color_aware") == Some(true);
        colors(section, other.contains(&"yellow"), color_aware)
    });
    let drops = COLORS.map(|color| section.text(color) == Some(DROP));
    let per_flow = section.text("per") != Some("group");
    let mut flows: Vec<u32> = groups
        .iter()
        .filter_map(|group| members.get(group))
        .flat_map(|m| m.start as u32..m.end as u32)
        .collect();
    flows.sort_unstable();
    let meter = meter?;
    warn_of_small_buckets(section, &meter, flows.iter().map(|&flow| &context.flows[flow as usize]));
    Some(Marker { name: name.to_owned(), link: link?, flows, per_flow, meter, dscp: dscp?, drops })
}

/// Return the groups that a marker names, and report errors in them.
fn groups<'a>(
    name: &'a str,
    section: &Section<'a>,
    context: &Context<'_>,
    members: &Members<'_>,
    link: Option<LinkId>,
    marked: &mut Marked<'a>,
) -> BTreeSet<&'a str> {
    let list = section.list("flows").unwrap_or_default();
    if section.list("flows").is_some_and(<[_]>::is_empty) {
        section.error("flows", Complaint::new("is an empty list").allowed("at least one group of flows"));
    }
    let mut groups = BTreeSet::new();
    for node in list {
        let Some(group) = node.value.as_text() else { continue };
        let error = |complaint| section.report.error(node.place, section.key("flows"), complaint);
        if !groups.insert(group) {
            error(Complaint::new(format!("{group:?} stands twice")));
        } else if !members.contains_key(group) {
            let names = || context.groups.iter().copied();
            let complaint = Complaint::new(format!("unknown flow {group:?}"));
            error(complaint.allowed(listed(names())).suggest(nearest(group, names())));
        } else if let Some(link) = link {
            let (other, place) = *marked.entry((link, group)).or_insert((name, section.place));
            if other != name {
                let line = section.report.line_of(place);
                let message = format!("{group:?} is marked at this link already, by {other} on {line}");
                error(Complaint::new(message).allowed("one marker for a flow at a link"));
            }
        }
    }
    groups
}

/// Rejects the keys of other meters, and reports those that are missing.
fn check_keys(section: &Section<'_>, kind: &str, needed: &[&str], other: &[&str]) {
    for key in SPECIAL.iter().filter(|key| !needed.contains(key) && !other.contains(key)) {
        let own = ["cir"].iter().chain(needed).chain(other).copied();
        section.refuse(key, Complaint::new(format!("{kind} has no {key}")).allowed(listed(own)));
    }
    for key in needed.iter().filter(|key| !section.has(key) && !section.is_misspelt(key)) {
        let kind_of = shape().find(key).map(|k| k.kind.expected()).unwrap_or_default();
        section.missing(key, format!("{kind_of}, which {kind} needs"));
    }
}

fn meter(section: &Section<'_>, kind: &str) -> Option<Meter> {
    let (cir, pir) = (section.rate("cir"), section.rate("pir"));
    if let (Some(cir), Some(pir)) = (cir, pir)
        && pir < cir
    {
        let complaint = Complaint::new(format!("pir ({} bit/s) is below cir ({} bit/s)", pir.0, cir.0));
        section.error("pir", complaint.allowed("cir <= pir"));
    }
    let bytes = |key| section.bytes(key);
    let window = if section.has("window") { section.span("window") } else { Some(DEFAULT_WINDOW) };
    let color_aware = section.flag("color_aware").unwrap_or(false);
    let cir = cir?;
    Some(match kind {
        TSW2 => Meter::Tsw2 { cir, window: window? },
        TSW3 => Meter::Tsw3 { cir, pir: pir?, window: window? },
        SRTCM => Meter::SrTcm { cir, cbs: bytes("cbs")?, ebs: bytes("ebs")?, color_aware },
        TRTCM => Meter::TrTcm { cir, cbs: bytes("cbs")?, pir: pir?, pbs: bytes("pbs")?, color_aware },
        _ => {
            let cbs = if section.has("cbs") { bytes("cbs")? } else { default_burst(cir) };
            Meter::TokenBucket { cir, cbs }
        }
    })
}

/// A packet that a bucket can never hold never has its colour.
fn warn_of_small_buckets<'a>(
    section: &Section<'_>,
    meter: &Meter,
    flows: impl Iterator<Item = &'a plan::Flow>,
) {
    let size = |flow: &plan::Flow| match &*flow.transport {
        Transport::Tcp { config, .. } => config.full_length(),
        // Of lengths that are drawn the mean: some are longer than any bucket.
        Transport::Udp { packet, .. } => packet.mean() as u32,
        Transport::Scream(config) => config.mss,
    };
    let largest = u64::from(flows.map(size).max().unwrap_or(0));
    let buckets = match *meter {
        Meter::TokenBucket { cbs, .. } | Meter::SrTcm { cbs, .. } => vec![("cbs", cbs)],
        Meter::TrTcm { cbs, pbs, .. } => vec![("cbs", cbs), ("pbs", pbs)],
        Meter::Tsw2 { .. } | Meter::Tsw3 { .. } => Vec::new(),
    };
    for (key, bytes) in buckets.into_iter().filter(|(_, bytes)| *bytes < largest) {
        let message = format!("a bucket of {bytes} bytes never holds a packet of {largest} bytes");
        section.warning(key, Complaint::new(message));
    }
}

/// Bytes of 50 ms at this rate, rounded, at least one.
fn default_burst(cir: Rate) -> u64 {
    let bits = u128::from(cir.0) * u128::from(DEFAULT_BURST.0) / 1_000_000_000_000;
    (bits as u64 / 8).max(1)
}

fn colors(section: &Section<'_>, three: bool, color_aware: bool) -> Option<[u8; 3]> {
    let has_code = |key: &str| section.has(key) && section.text(key) != Some(DROP);
    let color = |key: &str, default: u8| if has_code(key) { section.dscp(key) } else { Some(default) };
    let [af11, af12, af13] = dscp::AF1;
    let (green, red) = (color("green", af11), color("red", if three { af13 } else { dscp::BE }));
    let yellow = if three { color("yellow", af12) } else { red };
    let dscp = [green?, yellow?, red?];
    if color_aware {
        for (i, name) in COLORS.iter().enumerate() {
            if let Some(same) = COLORS[..i].iter().zip(dscp).find(|(_, d)| *d == dscp[i]).map(|(c, _)| c) {
                let message = format!("{name} and {same} are both {}", dscp::name(dscp[i]));
                let allowed = "code points that differ, since color_aware reads them";
                section.error(name, Complaint::new(message).allowed(allowed));
            }
        }
    }
    Some(dscp)
}
