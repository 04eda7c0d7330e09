use aqmlab_units::{Framing, LinkLayer, Span};

use super::ack_filter::AckFilter;
use super::controller;
use super::diffserv::DiffServ;
use super::hosts::Isolation;
use crate::disciplines::fair::HASH_KEY;
use crate::disciplines::kernel::Kernel;
use crate::disciplines::memory::MemoryUnit;
use crate::disciplines::{Named, ParameterReader, joined};
use crate::registry::ECN;
use crate::{Limit, Parameter, ParameterError, Value, ValueKind, names};

/// Presets.
pub(in crate::disciplines) const PRESETS: &[Named] = &[Named {
    name: "cake",
    title: "Common applications kept enhanced",
    paper: "T. Hoeiland-Joergensen, D. Taht, J. Morton, Piece of CAKE, LANMAN 2018",
    doc: "Tins by code point, in each a queue for each flow under COBALT, and equal shares for hosts.",
}];

const MAN: &str = "tc-cake(8)";

/// Round-trip times by name, in seconds.
const RTT_WORDS: [(&str, f64); 8] = [
    ("internet", 0.1),
    ("datacentre", 100e-6),
    ("lan", 1e-3),
    ("metro", 10e-3),
    ("regional", 30e-3),
    ("oceanic", 0.3),
    ("satellite", 1.0),
    ("interplanetary", 1000.0),
];

/// Kernels by name, the default first.
const DIALECT_WORDS: [(&str, Kernel); 3] =
    [("linux-7.3", Kernel::V7_3), ("linux-6.12", Kernel::V6_12), ("linux-6.1", Kernel::V6_1)];

/// Packets wait in several queues.
pub(in crate::disciplines) const ONE_QUEUE: bool = false;
/// Parameters.
pub(in crate::disciplines) const PARAMETERS: &[Parameter] =
    &joined::<{ SHAPED.len() + controller::PARAMETERS.len() }>(SHAPED, controller::PARAMETERS);

const SHAPED: &[Parameter] = &joined::<{ OWN.len() + Framing::PARAMETERS.len() }>(OWN, &Framing::PARAMETERS);

const OWN: &[Parameter] = &[
    Parameter::new(
        "rate",
        "",
        ValueKind::Rate,
        "rate of the shaper; the link sets the pace if it is unlimited",
    )
    .or(&[UNLIMITED])
    .source(MAN),
    Parameter::new("diffserv", "", ValueKind::Choice, "tins, and how code points are mapped to them")
        .or(&names(&DiffServ::WORDS))
        .source(MAN),
    Parameter::new(
        "isolation",
        "",
        ValueKind::Choice,
        "what gets equal shares: flows, hosts, or flows of hosts",
    )
    .or(&names(&Isolation::WORDS))
    .source(MAN),
    Parameter::new(
        "rtt",
        "",
        ValueKind::Time,
        "typical round-trip time: COBALT's interval, of which its target is a twentieth",
    )
    .from(1e-6)
    .to(1000.0)
    .or(&names(&RTT_WORDS))
    .source(MAN),
    Parameter::new(
        "max_packet",
        "MTU",
        ValueKind::Bytes,
        "largest packet: below a rate, COBALT waits for the time of some of these",
    )
    .from(1.0)
    .to(65_535.0)
    .source("Linux sch_cake.c"),
    Parameter::new(
        "memlimit",
        "",
        ValueKind::Bytes,
        "memory of waiting packets; a packet more drops from the longest queue",
    )
    .from(1.0)
    .or(&["auto"])
    .source(MAN),
    Parameter::new(
        "limit",
        "limit",
        ValueKind::PacketsOrBytes,
        "largest automatic memlimit: so many packets of max_packet, or bytes",
    )
    .whole()
    .from(1.0)
    .source("Linux sch_cake.c"),
    Parameter::new(
        "memory",
        "",
        ValueKind::Choice,
        "memory of a packet: that of Linux's buffer, or its length",
    )
    .or(&names(&MemoryUnit::WORDS))
    .source("Linux skbuff.h"),
    Parameter::new(
        "ingress",
        "",
        ValueKind::Flag,
        "drops count in the shaper, since they have crossed the bottleneck already",
    )
    .source(MAN),
    Parameter::new(
        "autorate_ingress",
        "",
        ValueKind::Flag,
        "the rate follows the measured rate of arrivals, from `rate` on",
    )
    .source(MAN),
    Parameter::new("wash", "", ValueKind::Flag, "code points are cleared once the tin is chosen").source(MAN),
    Parameter::new(
        "ack_filter",
        "",
        ValueKind::Choice,
        "acknowledgements that a later one makes superfluous are dropped: all but the last two, or but the last",
    )
    .or(&names(&AckFilter::WORDS))
    .source(MAN),
    Parameter::new("dialect", "", ValueKind::Choice, "version of Linux, whose decisions differ in details")
        .or(&names(&DIALECT_WORDS))
        .source("Linux sch_cake.c"),
    Parameter::new(
        "nat",
        "",
        ValueKind::Flag,
        "hosts behind address translation (source_nat of flows) are told apart, else they are one",
    )
    .source(MAN),
    Parameter::new("split_gso", "", ValueKind::Flag, "no effect: packets are never joined").source(MAN),
    ECN,
    HASH_KEY,
];

/// Validated parameters.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    pub(super) diffserv: DiffServ,
    pub(super) isolation: Isolation,
    /// Bytes per second; 0 is unlimited.
    pub(super) rate: u64,
    pub(super) framing: Framing,
    pub(super) ingress: bool,
    pub(super) autorate: bool,
    /// Of the rate, where pings control it.
    pub(super) controller: Option<Box<controller::Settings>>,
    pub(super) wash: bool,
    pub(super) ack_filter: AckFilter,
    pub(super) target: Span,
    pub(super) rtt: Span,
    pub(super) max_packet: u32,
    /// `None`: it follows from the rate.
    pub(super) memlimit: Option<u64>,
    /// The most that follows from the rate, in bytes.
    pub(super) most_memory: u64,
    pub(super) memory: MemoryUnit,
    pub(super) ecn: bool,
    pub(super) kernel: Kernel,
    /// If `None`, drawn at the first packet.
    pub(super) key: Option<u64>,
}

/// The smallest memory of a shaped link.
const MIN_MEMORY: u64 = 4 << 20;
/// Bytes of Ethernet's header, which `max_packet` contains.
const ETHERNET: u32 = 14;
/// Packets that wait at most, whatever the rate.
const MAX_PACKETS: u32 = 10_240;

impl Params {
    /// Return the memory of waiting packets at a rate in bytes per second: four times rate and round-trip time.
    pub(super) fn memory_at(&self, rate: u64) -> u64 {
        let most = self.most_memory;
        let product = u128::from(rate) * u128::from(self.rtt.0) * 4 / 1_000_000_000_000;
        let four_products = u64::try_from(product).unwrap_or(u64::MAX);
        self.memlimit.unwrap_or(if rate == 0 { most } else { four_products.max(MIN_MEMORY).min(most) })
    }
}

const UNLIMITED: &str = "unlimited";
const LINK_LAYERS: [(&str, LinkLayer); 3] =
    [("ethernet", LinkLayer::Ethernet), ("atm", LinkLayer::Atm), ("ptm", LinkLayer::Ptm)];

/// Read and validate the parameters.
pub(in crate::disciplines) fn read(reader: &mut ParameterReader<'_>) -> Result<Params, Vec<ParameterError>> {
    let diffserv = reader.word("diffserv", &DiffServ::WORDS);
    let isolation = reader.word("isolation", &Isolation::WORDS);
    let rate = reader.rate_or("rate", UNLIMITED).map_or(0, |rate| (rate.0 / 8).max(1));
    let framing = read_framing(reader);
    let [ingress, autorate, wash] =
        ["ingress", "autorate_ingress", "wash"].map(|key| reader.flag(key, false));
    let ack_filter = reader.word("ack_filter", &AckFilter::WORDS);
    // `nat` is the environment's (`Resolved::looks_through_nat`); packets are never joined, so that `split_gso` has no effect.
    for (key, default) in [("nat", false), ("split_gso", true)] {
        reader.flag(key, default);
    }
    let rtt = read_rtt(reader);
    let max_packet = reader.bytes("max_packet", 1514) as u32;
    let packet = framing.on_wire(max_packet.saturating_sub(ETHERNET));
    let controller = controller::read(reader, rate * 8, packet).map(Box::new);
    if autorate && controller.is_some() {
        let message = "autorate and autorate_ingress both change the rate".to_owned();
        reader.error("autorate_ingress", message, "one of them");
    }
    let memlimit = reader.set_number("memlimit").map(|bytes| bytes as u64);
    let most_memory = match reader.limit(MAX_PACKETS) {
        Limit::Packets(packets) => u64::from(packets) * u64::from(max_packet),
        Limit::Bytes(bytes) => bytes,
    };
    let memory = reader.word("memory", &MemoryUnit::WORDS);
    let ecn = reader.flag("ecn", true);
    let kernel = reader.word("dialect", &DIALECT_WORDS);
    let key = if reader.is_set("hash_key") && reader.special("hash_key").is_none() {
        Some(reader.integer("hash_key", 0))
    } else {
        reader.word("hash_key", &[("random", None)])
    };
    warn_without_effect(reader, isolation);
    reader.differs_from_linux("ecn", Value::Flag(true));
    reader.differs_from_linux("memory", Value::Word("truesize".to_owned()));
    if !reader.is_set("memlimit") {
        reader.differs_from_linux("limit", Value::Packets(f64::from(MAX_PACKETS)));
    }
    reader.has_largest_packet_of_device("max_packet");
    let target = Span(rtt.0 / 20 / 1_000_000 * 1_000_000).max(Span(1_000_000));
    let params = Params {
        diffserv,
        isolation,
        rate,
        framing,
        ingress,
        autorate,
        controller,
        wash,
        ack_filter,
        target,
        rtt,
        max_packet,
        memlimit,
        most_memory,
        memory,
        ecn,
        kernel,
        key,
    };
    reader.known("memlimit", Value::Bytes(params.memory_at(rate)));
    Ok(params)
}

fn warn_without_effect(reader: &mut ParameterReader<'_>, isolation: Isolation) {
    if reader.is_set("memlimit") {
        reader.warn_without_effect(&["limit"], "with memlimit");
    }
    if isolation == Isolation::FlowBlind {
        reader.warn_without_effect(&["hash_key", "nat"], "with isolation = \"flowblind\"");
    }
}

fn read_framing(reader: &mut ParameterReader<'_>) -> Framing {
    let overhead = reader.number("overhead", 0.0) as i32;
    let mpu = reader.integer("mpu", 0) as u32;
    Framing { overhead, mpu, layer: reader.word("linklayer", &LINK_LAYERS) }
}

fn read_rtt(reader: &mut ParameterReader<'_>) -> Span {
    if let Some(seconds) = reader.value("rtt", &RTT_WORDS) {
        reader.known("rtt", Value::Seconds(seconds));
        return Span::from_secs(seconds);
    }
    reader.linux_time("rtt", Span::from_millis(100))
}
