use std::sync::Arc;

use aqmlab_netsim::plan::Transport;
use aqmlab_transport::{Parameter, TcpConfig, Variant};
use aqmlab_units::Rate;

use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::Kind;
use crate::tcp::{self, ClockOffset};
use crate::units::Amount;

/// The name of UDP in a scenario file.
pub(crate) const UDP: &str = "udp";
/// Length of a packet of UDP unless the file says otherwise, in bytes.
const UDP_PACKET: u32 = 1000;

/// How the flows of a group send.
#[derive(Clone, Debug)]
pub(crate) enum GroupTransport {
    Tcp { config: Arc<TcpConfig>, size: Option<u64>, clock_offset: ClockOffset },
    Udp { rate: Rate, packet: u32 },
}

pub(super) fn kind() -> Kind {
    Kind::Choice(Variant::ALL.iter().map(|v| v.name()).chain([UDP]).collect())
}

pub(super) fn read(flow: &Section<'_>, count: Option<usize>) -> Option<GroupTransport> {
    let name = if flow.has("transport") { flow.text("transport")? } else { Variant::NewReno.name() };
    match Variant::from_name(name) {
        Some(variant) => Some(read_tcp(flow, variant, count)),
        None => read_udp(flow),
    }
}

fn read_udp(flow: &Section<'_>) -> Option<GroupTransport> {
    flow.refuse("tcp", Complaint::new("a flow of udp has no options of TCP"));
    flow.refuse("size", Complaint::new("a flow of udp has no size").allowed("rate, with start and stop"));
    if !flow.has("rate") {
        flow.missing("rate", format!("{}, which udp needs", Kind::Rate.expected()));
    }
    let packet =
        if flow.has(tcp::PACKET_SIZE) { flow.bytes(tcp::PACKET_SIZE)? } else { u64::from(UDP_PACKET) };
    Some(GroupTransport::Udp { rate: flow.rate("rate")?, packet: u32::try_from(packet).ok()? })
}

fn read_tcp(flow: &Section<'_>, variant: Variant, count: Option<usize>) -> GroupTransport {
    flow.refuse(
        "rate",
        Complaint::new("a flow of TCP has no rate").allowed("transport = \"udp\", or no rate"),
    );
    let mut config = TcpConfig::ns2(variant);
    tcp::set(tcp::PACKET_SIZE, flow, &mut config);
    let mut clock_offset = ClockOffset::Random;
    if let Some(options) = flow.section("tcp") {
        tcp::apply(&options, &mut config);
        if let Some(count) = count {
            clock_offset = tcp::clock_offset(&options, count);
        }
    }
    // What a key can say is in range already; this holds for what keys cannot say too.
    if let Err(invalid) = config.check() {
        let Parameter { key, .. } = invalid.parameter;
        let complaint = Complaint::new(format!("{} is out of range", invalid.value));
        flow.error(key, complaint.allowed(invalid.parameter.range_text()));
    }
    let size = flow.amount("size").map(|size| packets(size, config.packet_size));
    GroupTransport::Tcp { config: Arc::new(config), size, clock_offset }
}

/// A size in packets of this payload, the last one perhaps not full.
fn packets(size: Amount, payload: u32) -> u64 {
    match size {
        Amount::Packets(n) | Amount::Bare(n) => n as u64,
        Amount::Bytes(bytes) => bytes.div_ceil(u64::from(payload.max(1))),
    }
}

impl GroupTransport {
    /// Whether something travels back.
    pub fn needs_way_back(&self) -> bool {
        matches!(self, Self::Tcp { .. })
    }

    /// How the flow of this number in the group sends.
    pub fn of(&self, index: usize) -> Transport {
        match self {
            Self::Tcp { config, size, clock_offset } => Transport::Tcp {
                config: Arc::clone(config),
                size: *size,
                clock_offset: clock_offset.of(index),
            },
            Self::Udp { rate, packet } => Transport::Udp { rate: *rate, packet: *packet },
        }
    }
}
