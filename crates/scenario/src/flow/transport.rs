use std::sync::Arc;

use aqmlab_netsim::plan::{Length, Pattern, Size, Spread, Transport};
use aqmlab_transport::ns2::{self, Variant};
use aqmlab_transport::rfc::{self, CongestionControl};
use aqmlab_transport::{Configuration, InvalidParameter, Profile, TcpConfig, scream::NAME as SCREAM};
use aqmlab_units::Rate;

use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::Kind;
use crate::sizes;
use crate::spread;
use crate::tcp::{self, ClockOffset};
use crate::tree::Value;
use crate::units::{self, Amount};

use super::application::Application;
use super::{arrivals, pattern, scream};

/// The name of UDP in a scenario file.
pub(crate) const UDP: &str = "udp";
/// Default length of a UDP packet, in bytes.
const UDP_PACKET: u32 = 1000;
/// Relative change of the mean packet length by its bounds from which a warning is given.
const MEAN_MOVED: f64 = 0.01;

/// How the flows of a group send.
#[derive(Clone, Debug)]
pub(crate) enum GroupTransport {
    Tcp { config: TcpConfig, size: Size, clock_offset: ClockOffset },
    Udp { rate: Rate, packet: Length, pattern: Pattern },
    Scream(Arc<aqmlab_transport::scream::Config>),
}

pub(super) fn kind() -> Kind {
    Kind::Choice(Variant::ALL.iter().map(|v| v.name()).chain([tcp::TCP, UDP, SCREAM]).collect())
}

/// A fixed size, or a distribution of sizes.
pub(super) fn size_kind() -> Kind {
    let spread = spread::shape("A size drawn in every run.", Kind::Size, &Kind::Size, sizes::FLOWS);
    Kind::Any(vec![Kind::Size, Kind::Table(spread.into())])
}

/// A fixed length of packets, or a distribution of lengths.
pub(super) fn packet_kind() -> Kind {
    let bytes = Profile::Ns2.parameter(tcp::PACKET_SIZE).map_or(Kind::Size, |p| tcp::key(p).kind);
    let spread = spread::shape("UDP: a length drawn for each packet.", bytes.clone(), &bytes, sizes::PACKETS);
    Kind::Any(vec![bytes, Kind::Table(spread.into())])
}

pub(super) fn read(
    flow: &Section<'_>,
    count: Option<usize>,
    application: Option<&Application>,
) -> Option<GroupTransport> {
    let name = if flow.has("transport") { Some(flow.text("transport")?) } else { None };
    if let Some(Application::Call { rate, packet }) = application {
        return read_call(flow, name, *rate, packet);
    }
    if name != Some(SCREAM) {
        let complaint = Complaint::new("is of transport scream, and this flow has another");
        flow.refuse(SCREAM, complaint.allowed("transport = \"scream\", or no scream"));
    }
    if let Some(UDP | SCREAM) = name {
        if application.is_some() {
            let complaint = Complaint::new("an application that asks for objects needs TCP");
            flow.error("transport", complaint.allowed("a transport of TCP"));
            return None;
        }
        return if name == Some(UDP) { read_udp(flow) } else { scream::read(flow) };
    }
    refuse_keys_of_udp(flow);
    let transport = match flow.profile() {
        Profile::Ns2 => read_ns2(flow, name, count),
        Profile::Rfc => read_rfc(flow, name),
    };
    match (transport, application.and_then(Application::size)) {
        (Some(GroupTransport::Tcp { config, clock_offset, .. }), Some(size)) => {
            Some(GroupTransport::Tcp { config, size, clock_offset })
        }
        (transport, _) => transport,
    }
}

/// A call, which is UDP at a constant bit rate.
fn read_call(flow: &Section<'_>, name: Option<&str>, rate: Rate, packet: &Length) -> Option<GroupTransport> {
    if name.is_some_and(|name| name != UDP) {
        let complaint = Complaint::new("a call is of UDP");
        flow.error("transport", complaint.allowed("\"udp\", or no transport"));
        return None;
    }
    Some(GroupTransport::Udp { rate, packet: packet.clone(), pattern: Pattern::Constant })
}

fn read_udp(flow: &Section<'_>) -> Option<GroupTransport> {
    flow.refuse("tcp", Complaint::new("a flow of udp has no options of TCP"));
    flow.refuse("size", Complaint::new("a flow of udp has no size").allowed("rate, with start and stop"));
    flow.refuse("acks_share_label", Complaint::new("a flow of udp has no acknowledgements"));
    if flow.has(arrivals::KEY) {
        return arrivals::read(flow);
    }
    if !flow.has("rate") {
        flow.missing("rate", format!("{}, which udp needs", Kind::Rate.expected()));
    }
    let (rate, packet, pattern) = (flow.rate("rate"), read_packet(flow), pattern::read(flow));
    Some(GroupTransport::Udp { rate: rate?, packet: packet?, pattern: pattern? })
}

/// The lengths of UDP's packets.
fn read_packet(flow: &Section<'_>) -> Option<Length> {
    if !flow.has(tcp::PACKET_SIZE) {
        return Some(Length::fixed(UDP_PACKET));
    }
    if flow.section(tcp::PACKET_SIZE).is_none() {
        return u32::try_from(flow.bytes(tcp::PACKET_SIZE)?).ok().map(Length::fixed);
    }
    let example = "{ exponential = \"1000B\" } or { uniform = [\"40B\", \"1500B\"] }";
    let bytes = |value: &Value| units::bytes(value, true).ok().map(|bytes| bytes as f64);
    let spread = spread::read(flow, tcp::PACKET_SIZE, example, bytes)?;
    let (mean, length) = (spread.mean(), Length::drawn(spread));
    if (length.mean() / mean - 1.0).abs() > MEAN_MOVED {
        let message = format!(
            "no packet is shorter than 1 byte or longer than {} bytes, so that the mean is {:.1} bytes, not {}",
            Length::MAX,
            length.mean(),
            mean
        );
        flow.warning(tcp::PACKET_SIZE, Complaint::new(message));
    }
    Some(length)
}

fn refuse_keys_of_udp(flow: &Section<'_>) {
    flow.refuse(
        arrivals::KEY,
        Complaint::new("a flow of TCP sends when its windows allow").allowed("transport = \"udp\""),
    );
    flow.refuse(
        "rate",
        Complaint::new("a flow of TCP has no rate").allowed("transport = \"udp\", or no rate"),
    );
    flow.refuse(
        "pattern",
        Complaint::new("a flow of TCP has no pattern").allowed("transport = \"udp\", or no pattern"),
    );
    if flow.section(tcp::PACKET_SIZE).is_some() {
        let complaint = Complaint::new("a flow of TCP has segments of one size");
        flow.error(tcp::PACKET_SIZE, complaint.allowed("bytes such as \"1000B\", or transport = \"udp\""));
    }
}

/// A flow of ns-2's profile; NewReno if no transport is named.
fn read_ns2(flow: &Section<'_>, name: Option<&str>, count: Option<usize>) -> Option<GroupTransport> {
    let Some(variant) = Variant::from_name(name.unwrap_or(Variant::NewReno.name())) else {
        let variants = Variant::ALL.map(Variant::name).join(", ");
        other_profile(flow, Profile::Ns2, &format!("transport of {variants}, or profile = \"rfc\""));
        return None;
    };
    let mut config = ns2::Config::ns2(variant);
    tcp::set(tcp::PACKET_SIZE, flow, &mut config);
    let mut clock_offset = ClockOffset::Random;
    if let Some(options) = flow.section("tcp") {
        tcp::apply(&options, &mut config);
        if let Some(count) = count {
            clock_offset = tcp::clock_offset(&options, count);
        }
    }
    check_ranges(flow, config.check());
    let size = read_size(flow, config.packet_size)?;
    let size = match size {
        Size::Bytes(bytes) => Size::Packets(bytes.div_ceil(u64::from(config.packet_size.max(1)))),
        size => size,
    };
    if let Size::Packets(packets) = size
        && packets > ns2::MOST_PACKETS
    {
        let message = format!("{packets} packets are more than 2^30, the most of profile ns2-2.35");
        let complaint = Complaint::new(message);
        flow.error(
            "size",
            complaint.allowed(format!("at most {}p, or tcp = {{ profile = \"rfc\" }}", ns2::MOST_PACKETS)),
        );
    }
    Some(GroupTransport::Tcp { config: TcpConfig::Ns2(Arc::new(config)), size, clock_offset })
}

/// A flow of the RFC profile.
fn read_rfc(flow: &Section<'_>, name: Option<&str>) -> Option<GroupTransport> {
    if name.is_some_and(|name| name != tcp::TCP) {
        let congestion_control = CongestionControl::NAMES.join(", ");
        let allowed =
            format!("transport = \"{}\" with tcp.congestion_control of {congestion_control}", tcp::TCP);
        other_profile(flow, Profile::Rfc, &allowed);
        return None;
    }
    let complaint = Complaint::new("in profile rfc the payload of a segment is tcp.mss");
    flow.refuse(tcp::PACKET_SIZE, complaint.allowed("tcp = { mss = \"1448B\" }"));
    let mut config = rfc::Config::linux(CongestionControl::Cubic);
    if let Some(options) = flow.section("tcp") {
        tcp::apply_rfc(&options, &mut config);
    }
    check_ranges(flow, config.check());
    let size = read_size(flow, config.mss)?;
    let config = TcpConfig::Rfc(Arc::new(config));
    Some(GroupTransport::Tcp { config, size, clock_offset: ClockOffset::Random })
}

/// Reports a transport that is of another profile than the flow's options.
fn other_profile(flow: &Section<'_>, profile: Profile, allowed: &str) {
    let message = format!("the flow is of profile {}, which has no such transport", profile.name());
    flow.error("transport", Complaint::new(message).allowed(allowed));
}

/// Report a value out of range. Values of keys were checked before; this also checks values that follow from others.
fn check_ranges(flow: &Section<'_>, checked: Result<(), InvalidParameter>) {
    if let Err(InvalidParameter { parameter, value }) = checked {
        let complaint = Complaint::new(format!("{value} is out of range"));
        flow.error(parameter.key, complaint.allowed(parameter.range_text()));
    }
}

/// How much to send with packets of this payload.
fn read_size(flow: &Section<'_>, payload: u32) -> Option<Size> {
    if !flow.has("size") {
        return Some(Size::Greedy);
    }
    if flow.section("size").is_none() {
        return flow.amount("size").map(|size| match size {
            Amount::Packets(n) | Amount::Bare(n) => Size::Packets(n as u64),
            Amount::Bytes(bytes) => Size::Bytes(bytes),
        });
    }
    let example = "{ uniform = [\"100KB\", \"6MB\"] } or { exponential = \"1MB\" }";
    let bytes = |value: &Value| match units::amount(value).ok()? {
        Amount::Packets(n) | Amount::Bare(n) => Some(n * f64::from(payload)),
        Amount::Bytes(bytes) => Some(bytes as f64),
    };
    Some(match spread::read(flow, "size", example, bytes)? {
        Spread::Fixed(bytes) => Size::Bytes(bytes as u64),
        drawn => Size::Drawn(drawn),
    })
}

impl GroupTransport {
    /// Mean bytes of a transfer: those of the file's distribution, or with headers the bytes of its packets on a link. `None`
    /// without transfers.
    pub fn mean_bytes(&self, with_headers: bool) -> Option<f64> {
        let Self::Tcp { config, size, .. } = self else { return None };
        let payload = f64::from(config.payload());
        let (bytes, packets) = match size {
            Size::Packets(n) => (*n as f64 * payload, *n as f64),
            Size::Bytes(n) => (*n as f64, n.div_ceil(u64::from(config.payload())) as f64),
            Size::Drawn(spread) => (spread.mean(), spread.mean_pieces(payload)),
            Size::Greedy | Size::Objects(_) | Size::Video(_) => return None,
        };
        if !with_headers {
            return Some(bytes);
        }
        let data = if matches!(config, TcpConfig::Ns2(_)) { packets * payload } else { bytes };
        Some(data + packets * (f64::from(config.full_length()) - payload))
    }

    /// Return whether packets travel in the reverse direction.
    pub fn needs_way_back(&self) -> bool {
        !matches!(self, Self::Udp { .. })
    }

    /// Return whether all flows of the group send alike.
    pub fn is_shared(&self) -> bool {
        !matches!(self, Self::Tcp { clock_offset: ClockOffset::Each(_), .. })
    }

    /// How the flow of this number in the group sends.
    pub fn of(&self, index: usize) -> Transport {
        match self {
            Self::Tcp { config, size, clock_offset } => Transport::Tcp {
                config: config.clone(),
                size: size.clone(),
                clock_offset: clock_offset.of(index),
            },
            Self::Udp { rate, packet, pattern } => {
                Transport::Udp { rate: *rate, packet: packet.clone(), pattern: pattern.clone() }
            }
            Self::Scream(config) => Transport::Scream(Arc::clone(config)),
        }
    }
}
