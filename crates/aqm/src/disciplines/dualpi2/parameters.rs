use aqmlab_units::Span;

use super::linux::Settings;
use super::scheduler::Scheduler;
use crate::disciplines::pi2::{COUPLING, Gains, SPARED};
use crate::disciplines::pie::{ALPHA, BETA, T_UPDATE, TARGET};
use crate::disciplines::{Named, ParameterReader};
use crate::registry::{ECN, LIMIT};
use crate::{Parameter, ParameterError, Room, ValueKind, names};

/// Presets.
pub(in crate::disciplines) const PRESETS: &[Named] = &[Named {
    name: "dualpi2",
    title: "Dual queue coupled by PI2",
    paper: "K. De Schepper, B. Briscoe, G. White, RFC 9332, 2023",
    doc: "A low-latency queue for L4S and a classic queue under PI2, with coupled probabilities.",
}];

const RFC: &str = "RFC 9332";
const LINUX: &str = "Linux sch_dualpi2.c";

const SCHEDULER_WORDS: [(&str, bool); 2] = [("weighted", false), ("time-shifted", true)];
const DECISION_WORDS: [(&str, bool); 2] = [("recurring", false), ("random", true)];
pub(super) const OVERLOAD_WORDS: [(&str, bool); 2] = [("drop", true), ("overflow", false)];
pub(super) const DECIDE_WORDS: [(&str, bool); 2] = [("leaving", false), ("arriving", true)];
const DIALECT_WORDS: [(&str, bool); 2] = [("rfc9332", false), ("linux", true)];

/// Packets wait in several queues.
pub(in crate::disciplines) const ONE_QUEUE: bool = false;
/// Parameters.
pub(in crate::disciplines) const PARAMETERS: &[Parameter] = &[
    LIMIT,
    TARGET,
    Parameter::new(
        "rtt_max",
        "RTT_max",
        ValueKind::Time,
        "longest round-trip time for which the controller is tuned",
    )
    .from(1e-6)
    .source(RFC),
    T_UPDATE,
    ALPHA,
    BETA,
    COUPLING,
    Parameter::new(
        "l4s_min_th",
        "minTh",
        ValueKind::Time,
        "delay from which the low-latency queue's native AQM marks",
    )
    .from(0.0)
    .source(RFC),
    Parameter::new(
        "l4s_range",
        "range",
        ValueKind::Time,
        "delay over which its marking rises to 1; 0 is a step",
    )
    .from(0.0)
    .source(RFC),
    Parameter::new(
        "l4s_min_packets",
        "Th_len",
        ValueKind::Number,
        "the native AQM does not mark while at most this many packets are in the queue",
    )
    .whole()
    .from(0.0)
    .to(1_048_576.0)
    .source(RFC),
    Parameter::new(
        "scheduler",
        "",
        ValueKind::Choice,
        "how the classic queue is protected from starvation: a weight, or its age",
    )
    .or(&names(&SCHEDULER_WORDS))
    .source(RFC),
    Parameter::new(
        "classic_share",
        "",
        ValueKind::Number,
        "weighted: share of bytes of the classic queue while both wait",
    )
    .above(0.0)
    .below(1.0)
    .source(LINUX),
    Parameter::new(
        "time_shift",
        "tshift",
        ValueKind::Time,
        "time-shifted: by how much low-latency packets count as older",
    )
    .from(0.0)
    .source(RFC),
    Parameter::new(
        "decision",
        "",
        ValueKind::Choice,
        "how packets are selected for a drop or mark, given a likelihood",
    )
    .or(&names(&DECISION_WORDS))
    .source(RFC),
    SPARED,
    ECN,
    Parameter::new(
        "overload",
        "",
        ValueKind::Choice,
        "in overload, packets of both queues are dropped, or wait until the buffer is full",
    )
    .or(&names(&OVERLOAD_WORDS))
    .source(LINUX),
    Parameter::new("decide", "", ValueKind::Choice, "when a packet is dropped or marked by chance")
        .or(&names(&DECIDE_WORDS))
        .source(LINUX),
    Parameter::new("memlimit", "", ValueKind::Bytes, "memory of waiting packets, in the dialect of Linux")
        .from(1.0)
        .or(&["auto"])
        .source(LINUX),
    Parameter::new(
        "dialect",
        "",
        ValueKind::Choice,
        "arithmetic of the controller, its defaults and its rules for drops",
    )
    .or(&names(&DIALECT_WORDS))
    .source(LINUX),
];

/// Validated parameters.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    pub(super) room: Room,
    pub(super) gains: Gains,
    pub(super) coupling: f64,
    /// The probability of C from which on there is overload.
    pub(super) p_c_max: f64,
    pub(super) l4s_min_th: f64,
    pub(super) l4s_range: f64,
    pub(super) l4s_min_packets: u32,
    pub(super) scheduler: Scheduler,
    pub(super) is_random: bool,
    pub(super) max_packet: u64,
    pub(super) ecn: bool,
}

impl Params {
    /// Read the parameters.
    pub(super) fn read(reader: &mut ParameterReader<'_>) -> Self {
        let quarter_second = reader.rate().bps() * 0.25 / (8.0 * 1500.0);
        let room = Room::new(reader.limit(quarter_second.clamp(2.0, 1e9).ceil() as u32), false);
        let gains = read_gains(reader);
        let coupling = reader.number("coupling", 2.0);
        let p_c_max = (1.0 / (coupling * coupling)).min(1.0);
        let l4s_min_th = reader.time("l4s_min_th", Span::from_secs(0.000_8)).secs();
        let l4s_range = reader.time("l4s_range", Span::from_secs(0.000_4)).secs();
        let l4s_min_packets = reader.integer("l4s_min_packets", 1) as u32;
        let is_shifted = reader.word("scheduler", &SCHEDULER_WORDS);
        let share = reader.number("classic_share", 0.1);
        let shift = reader.time("time_shift", Span::from_millis(50));
        let scheduler = if is_shifted { Scheduler::TimeShifted(shift) } else { Scheduler::Weighted(share) };
        let is_random = reader.word("decision", &DECISION_WORDS);
        let max_packet = reader.bytes("max_packet", 1514);
        let ecn = reader.flag("ecn", true);
        Self {
            room,
            gains,
            coupling,
            p_c_max,
            l4s_min_th,
            l4s_range,
            l4s_min_packets,
            scheduler,
            is_random,
            max_packet,
            ecn,
        }
    }

    /// Return the marking probability of L's native AQM (appendix A.1, `laqm`).
    pub(super) fn ramp(&self, delay: f64) -> f64 {
        if delay >= self.l4s_min_th + self.l4s_range {
            1.0
        } else if delay > self.l4s_min_th {
            (delay - self.l4s_min_th) / self.l4s_range
        } else {
            0.0
        }
    }
}

/// Read and validate the parameters.
pub(in crate::disciplines) fn read(
    reader: &mut ParameterReader<'_>,
) -> Result<super::Params, Vec<ParameterError>> {
    if reader.word("dialect", &DIALECT_WORDS) {
        return Ok(super::Params::Linux(Settings::read(reader)));
    }
    let params = Params::read(reader);
    reader.warn_without_effect(&["overload", "decide", "memlimit"], "without the dialect of Linux");
    if matches!(params.scheduler, Scheduler::TimeShifted(_)) {
        reader.warn_without_effect(&["classic_share"], "with scheduler = \"time-shifted\"");
    } else {
        reader.warn_without_effect(&["time_shift"], "with scheduler = \"weighted\"");
    }
    Ok(super::Params::Rfc(params))
}

/// Read the controller's constants; those not set follow from target and RTT_max (appendix A.1).
fn read_gains(reader: &mut ParameterReader<'_>) -> Gains {
    let target = reader.time("target", Span::from_millis(15));
    let rtt_max = reader.time("rtt_max", Span::from_millis(100));
    let t_update = reader.time("t_update", target.min(Span(rtt_max.0 / 3)).max(Span(1_000_000)));
    // 0.1 Tupdate/RTT_max^2 and 0.3/RTT_max, in an order that gives 0.15 and 3 by default.
    let rtt_max = rtt_max.secs();
    let alpha = reader.number("alpha", t_update.secs() / rtt_max / (10.0 * rtt_max));
    let beta = reader.number("beta", 3.0 / (10.0 * rtt_max));
    if ["alpha", "beta", "t_update"].iter().all(|key| reader.is_set(key)) {
        reader.warn_without_effect(&["rtt_max"], "with alpha, beta and t_update");
    }
    Gains { target: target.secs(), t_update, alpha, beta }
}
