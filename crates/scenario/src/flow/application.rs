//! Applications over the flows of a group: `web`, `video` and `voip`.

use std::sync::Arc;

use aqmlab_netsim::plan::{AdaptationRule, Dispatch, Length, Objects, Size, Spread, Video};
use aqmlab_units::{Rate, Span};

use super::pattern;
use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};
use crate::sizes;
use crate::spread;
use crate::tree::Value;
use crate::units;

const WEB: &str = "web";
const VIDEO: &str = "video";
const VOIP: &str = "voip";
/// All applications.
pub const APPLICATIONS: [&str; 3] = [WEB, VIDEO, VOIP];

const BBA_0: &str = "bba-0";
const THROUGHPUT: &str = "throughput";
const G711: &str = "g711";

/// Bit rates of the ladder that one size fitted all with: A. Aaron, Z. Li, M. Manohara, J. De Cock, D. Ronca, "Per-Title Encode
/// Optimization", Netflix Technology Blog, 14 December 2015, in kbit/s.
const LADDER: [u64; 10] = [235, 375, 560, 750, 1050, 1750, 2350, 3000, 4300, 5800];
/// Most rungs of a ladder.
const MOST_RUNGS: usize = 32;
/// Buffer, reservoir and cushion of BBA-0 (Huang et al., SIGCOMM 2014, section 4) in seconds.
const BBA_0_BUFFER: u64 = 240;
const BBA_0_RESERVOIR: u64 = 90;
const BBA_0_CUSHION: u64 = 126;
/// Share and number of segments of FESTIVE's estimate (Jiang et al., CoNEXT 2012).
const SAFETY: f64 = 0.85;
const WINDOW: i64 = 20;
const SEGMENT: Span = Span(4_000_000_000_000);
/// G.711 (ITU-T Recommendation G.711): 64 kbit/s.
const G711_RATE: u64 = 64_000;
/// IP, UDP and RTP (RFC 3550, section 5.1) without options.
const VOIP_HEADERS: u64 = 20 + 8 + 12;
const VOIP_FRAME: Span = Span(20_000_000_000);

/// An application.
#[derive(Clone, Debug)]
pub(super) enum Application {
    Page(Page),
    Video(Arc<Video>),
    Call { rate: Rate, packet: Length },
}

/// A web page.
#[derive(Clone, Debug)]
pub(super) struct Page {
    pub objects: u32,
    pub connections: u32,
    pub dispatch: Dispatch,
    pub size: Spread,
    pub think: Spread,
}

pub(super) fn keys() -> [Key; 3] {
    [
        Key::new(WEB, Kind::Table(web_shape().into()), "A web page: objects over parallel connections."),
        Key::new(
            VIDEO,
            Kind::Table(video_shape().into()),
            "An adaptive video: segments of a ladder of bit rates.",
        ),
        Key::new(VOIP, Kind::Table(voip_shape().into()), "A call: a flow of UDP each way."),
    ]
}

fn web_shape() -> Shape {
    let bytes = || Kind::Bytes { min: 1, max: 1_000_000_000_000 };
    let size = spread::shape("A size drawn for each object.", bytes(), &bytes(), sizes::FLOWS);
    Shape::new(
        "A web page.",
        vec![
            Key::new("objects", Kind::Integer { min: 1, max: 100_000 }, "Objects of the page.").default("50"),
            Key::new("size", Kind::Any(vec![bytes(), Kind::Table(size.into())]), "Size of an object.")
                .required(),
            Key::new("connections", Kind::Integer { min: 1, max: 64 }, "Parallel connections.").default("6"),
            Key::new(
                "dispatch",
                Kind::Choice(Dispatch::ALL.map(Dispatch::name).to_vec()),
                "Object k goes over connection k mod connections, or over whichever is free first.",
            )
            .default("\"in-turn\""),
            Key::new(
                "think",
                pattern::time_kind(Kind::ANY_TIME),
                "From the end of an object to the next request.",
            )
            .default("\"0s\""),
        ],
    )
}

fn video_shape() -> Shape {
    Shape::new(
        "An adaptive video.",
        vec![
            Key::new(
                "ladder",
                Kind::list(Kind::Rate),
                "Bit rates, rising; those of Netflix (2015) if absent.",
            ),
            Key::new("segment", Kind::SOME_TIME, "How long a segment plays.").default("\"4s\""),
            Key::new("buffer", Kind::SOME_TIME, "Most video in the client's buffer.").default("\"240s\""),
            Key::new("rule", Kind::Choice(vec![BBA_0, THROUGHPUT]), "How bit rates are chosen.")
                .default("\"bba-0\""),
            Key::new(
                "reservoir",
                Kind::ANY_TIME,
                "BBA-0: the lowest bit rate up to here; 90/240 of the buffer if absent.",
            ),
            Key::new(
                "cushion",
                Kind::SOME_TIME,
                "BBA-0: from the lowest to the highest bit rate; 126/240 of the buffer if absent.",
            ),
            Key::new(
                "safety",
                Kind::Above { min: 0.0, max: 1.0 },
                "Throughput: share of the estimate that is used.",
            )
            .default("0.85"),
            Key::new(
                "window",
                Kind::Integer { min: 1, max: 1000 },
                "Throughput: segments of which the estimate is made.",
            )
            .default("20"),
            Key::new(
                "startup",
                Kind::SOME_TIME,
                "Playing begins with so much in the buffer; a segment if absent.",
            ),
            Key::new("length", Kind::SOME_TIME, "Length of the video; to the end of the run if absent."),
        ],
    )
}

fn voip_shape() -> Shape {
    Shape::new(
        "A call.",
        vec![
            Key::new("codec", Kind::Choice(vec![G711]), "Codec.").default("\"g711\""),
            Key::new("frame", Kind::Time { min: 10_000_000_000, max: 60_000_000_000 }, "Speech in a packet.")
                .default("\"20ms\""),
            Key::new("headers", Kind::Bytes { min: 1, max: 1000 }, "Headers of a packet: IP, UDP, RTP.")
                .default("40"),
        ],
    )
}

/// Memory that the segments of a group of videos may take, in bytes.
const MAX_MEMORY: u64 = 4_000_000_000;
/// Memory that a segment takes while the tables of objects and segments are made.
const SEGMENT_BYTES: u64 = 500;

/// Reports a group of videos with more segments than memory holds: those that play during the run, and a full buffer.
pub(super) fn check_memory(
    flow: &Section<'_>,
    application: &Application,
    count: Option<usize>,
    duration: Option<Span>,
) {
    let (Application::Video(video), Some(table)) = (application, flow.section(VIDEO)) else { return };
    let (Some(count), Some(duration)) = (count, duration) else { return };
    let each = (duration + video.buffer).0 / video.segment.0;
    let segments = video.segments.unwrap_or(u64::MAX).min(each).saturating_mul(count as u64);
    if segments > MAX_MEMORY / SEGMENT_BYTES {
        let gigabytes = segments as f64 * SEGMENT_BYTES as f64 / 1e9;
        let complaint = Complaint::new(format!(
            "makes up to {segments} segments in a run, about {gigabytes:.3} GB of memory"
        ));
        let (most, allowed) = (MAX_MEMORY / SEGMENT_BYTES, MAX_MEMORY / 1_000_000_000);
        let allowed =
            format!("at most {most} segments, {allowed} GB: longer ones, a smaller buffer, fewer videos");
        let key = if table.has("segment") { "segment" } else { "buffer" };
        table.report.error(table.place_of(key), table.key(key), complaint.allowed(allowed));
    }
}

/// Reads the application, where the flow has one; `None` outside where it is not valid.
#[expect(clippy::option_option, reason = "there may be none, or one that is not valid")]
pub(super) fn read(flow: &Section<'_>) -> Option<Option<Application>> {
    let named: Vec<_> = APPLICATIONS.into_iter().filter(|key| flow.has(key)).collect();
    let [name] = *named.as_slice() else {
        if let [_, others @ ..] = named.as_slice() {
            for other in others {
                flow.refuse(
                    other,
                    Complaint::new("a flow has one application").allowed(APPLICATIONS.join(", ")),
                );
            }
            return None;
        }
        return Some(None);
    };
    refuse_others(flow, name);
    let table = flow.section(name)?;
    match name {
        WEB => page(&table).map(Application::Page),
        VIDEO => video(&table).map(|video| Application::Video(Arc::new(video))),
        _ => call(&table),
    }
    .map(Some)
}

/// Report keys that a flow with this application must not have.
fn refuse_others(flow: &Section<'_>, name: &str) {
    let refuse = |keys: &[&str], allowed: &str| {
        for key in keys {
            flow.refuse(key, Complaint::new(format!("a flow with {name} has no {key}")).allowed(allowed));
        }
    };
    refuse(&["active"], "start and stop");
    if name == VOIP {
        refuse(
            &["size", "rate", "pattern", "packet_size", "tcp", "acks_share_label"],
            "codec, frame and headers in voip",
        );
    } else {
        refuse(&["size"], &format!("sizes in {name}"));
    }
}

fn page(table: &Section<'_>) -> Option<Page> {
    let whole = |key: &str, default: u32| {
        if table.has(key) { table.integer(key).and_then(|n| u32::try_from(n).ok()) } else { Some(default) }
    };
    let (objects, connections) = (whole("objects", 50), whole("connections", 6));
    if let (Some(objects), Some(connections)) = (objects, connections)
        && connections > objects
    {
        let complaint =
            Complaint::new(format!("{connections} connections are too many for {objects} objects"));
        table.report.error(
            table.place_of("connections"),
            table.key("connections"),
            complaint.allowed(format!("at most {objects}")),
        );
        return None;
    }
    let think = if table.has("think") { pattern::time(table, "think") } else { Some(Spread::Fixed(0.0)) };
    let dispatch = match table.has("dispatch") {
        true => table.text("dispatch").and_then(|name| Dispatch::ALL.into_iter().find(|d| d.name() == name)),
        false => Some(Dispatch::InTurn),
    };
    Some(Page {
        objects: objects?,
        connections: connections?,
        dispatch: dispatch?,
        size: object_size(table)?,
        think: think?,
    })
}

fn object_size(table: &Section<'_>) -> Option<Spread> {
    if table.section("size").is_none() {
        return table.bytes("size").map(|bytes| Spread::Fixed(bytes as f64));
    }
    let bytes = |value: &Value| units::bytes(value, true).ok().map(|bytes| bytes as f64);
    spread::read(table, "size", "{ cdf = \"web-search\" } or { exponential = \"10KB\" }", bytes)
}

fn video(table: &Section<'_>) -> Option<Video> {
    let span = |key: &str, default: Span| if table.has(key) { table.span(key) } else { Some(default) };
    let (segment, buffer) = (span("segment", SEGMENT), span("buffer", SEGMENT * (BBA_0_BUFFER / 4)));
    let startup = span("startup", segment?);
    let (segment, buffer, startup) = (segment?, buffer?, startup?);
    if startup + segment > buffer {
        let complaint = Complaint::new(format!(
            "has no room for what is there when playing begins, {} s, and a segment of {} s",
            startup.secs(),
            segment.secs()
        ));
        table.error("buffer", complaint.allowed(format!("at least {} s", (startup + segment).secs())));
        return None;
    }
    let length = if table.has("length") { Some(table.span("length")?) } else { None };
    Some(Video {
        ladder: ladder(table)?,
        segment,
        buffer,
        startup,
        segments: length.map(|length| length.0.div_ceil(segment.0)),
        rule: rule(table, buffer)?,
    })
}

fn ladder(table: &Section<'_>) -> Option<Vec<Rate>> {
    if !table.has("ladder") {
        return Some(LADDER.iter().map(|kbps| Rate(kbps * 1000)).collect());
    }
    let rungs = table.list("ladder")?.iter().map(|node| units::rate(&node.value).ok().map(Rate));
    let rungs: Vec<Rate> = rungs.collect::<Option<_>>()?;
    let rises = rungs.windows(2).all(|pair| pair[0].0 < pair[1].0);
    if rungs.is_empty() || rungs.len() > MOST_RUNGS || !rises {
        let complaint = Complaint::new(format!("is not a list of 1 to {MOST_RUNGS} bit rates that rise"));
        table.error("ladder", complaint.allowed("[\"500kbps\", \"1Mbps\", \"2Mbps\"]"));
        return None;
    }
    Some(rungs)
}

fn rule(table: &Section<'_>, buffer: Span) -> Option<AdaptationRule> {
    let name = if table.has("rule") { table.text("rule")? } else { BBA_0 };
    let refuse = |keys: [&str; 2]| {
        for key in keys {
            table.refuse(key, Complaint::new(format!("the rule {name} has no {key}")));
        }
    };
    if name == THROUGHPUT {
        refuse(["reservoir", "cushion"]);
        let safety = if table.has("safety") { table.number("safety")? } else { SAFETY };
        let window = if table.has("window") { table.integer("window")? } else { WINDOW };
        return Some(AdaptationRule::Throughput { safety, window: u32::try_from(window).ok()? });
    }
    refuse(["safety", "window"]);
    let share = |key: &str, of: u64| {
        let part = (u128::from(buffer.0) * u128::from(of) / u128::from(BBA_0_BUFFER)) as u64;
        if table.has(key) { table.span(key) } else { Some(Span(part.max(1))) }
    };
    let (reservoir, cushion) = (share("reservoir", BBA_0_RESERVOIR)?, share("cushion", BBA_0_CUSHION)?);
    if reservoir + cushion > buffer {
        let complaint = Complaint::new(format!(
            "is shorter than reservoir and cushion together, {} s",
            (reservoir + cushion).secs()
        ));
        table.error("buffer", complaint);
        return None;
    }
    Some(AdaptationRule::Bba0 { reservoir, cushion })
}

fn call(table: &Section<'_>) -> Option<Application> {
    if table.has("codec") {
        table.text("codec")?;
    }
    let frame = if table.has("frame") { table.span("frame")? } else { VOIP_FRAME };
    let headers = if table.has("headers") { table.bytes("headers")? } else { VOIP_HEADERS };
    // Bits of speech in a frame; a frame is whole milliseconds or its payload is rounded to whole bytes.
    let payload = (u128::from(G711_RATE) * u128::from(frame.0) / 8_000_000_000_000).max(1) as u64;
    let bytes = payload + headers;
    let rate = (u128::from(bytes) * 8_000_000_000_000 / u128::from(frame.0)).max(1) as u64;
    Some(Application::Call { rate: Rate(rate), packet: Length::fixed(u32::try_from(bytes).ok()?) })
}

impl Application {
    /// How much a flow of TCP has to send.
    pub fn size(&self) -> Option<Size> {
        match self {
            Self::Page(page) => Some(Size::Objects(Objects { sizes: [].into(), think: page.think.clone() })),
            Self::Video(video) => Some(Size::Video(Arc::clone(video))),
            Self::Call { .. } => None,
        }
    }

    /// How many flows make one of them.
    pub fn flows(&self) -> usize {
        match self {
            Self::Page(page) => page.connections as usize,
            Self::Video(_) => 1,
            Self::Call { .. } => 2,
        }
    }
}
