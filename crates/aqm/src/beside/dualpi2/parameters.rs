use aqmlab_units::Span;

use super::scheduler::Scheduler;
use crate::beside::pi2::{COUPLING, Gains, SPARED};
use crate::beside::pie::{ALPHA, BETA, T_UPDATE, TARGET};
use crate::beside::{Named, Reading};
use crate::registry::{ECN, LIMIT};
use crate::{Parameter, ParameterError, Room, Unit};

/// Names.
pub(in crate::beside) const PRESETS: &[Named] = &[Named {
    name: "dualpi2",
    title: "Dual queue coupled by PI2",
    paper: "K. De Schepper, B. Briscoe, G. White, RFC 9332, 2023",
    doc: "A queue of low latency for L4S, a classic one under PI2, and probabilities that couple them.",
}];

const RFC: &str = "RFC 9332";

/// Parameters.
pub(in crate::beside) const PARAMETERS: &[Parameter] = &[
    LIMIT,
    TARGET,
    T_UPDATE,
    ALPHA,
    BETA,
    COUPLING,
    Parameter::new(
        "l4s_min_th",
        "minTh",
        Unit::Time,
        "delay from which the low-latency queue marks by itself",
    )
    .from(0.0)
    .source(RFC),
    Parameter::new("l4s_range", "range", Unit::Time, "delay over which its marking rises to 1; 0 is a step")
        .from(0.0)
        .source(RFC),
    Parameter::new(
        "l4s_min_packets",
        "Th_len",
        Unit::Integer,
        "it does not mark by itself while so few are in it",
    )
    .from(0.0)
    .to(1_048_576.0)
    .source(RFC),
    Parameter::new(
        "scheduler",
        "",
        Unit::Choice,
        "what keeps the classic queue from starving: a share, or its age",
    )
    .or(&["weighted", "time-shifted"])
    .source(RFC),
    Parameter::new(
        "classic_share",
        "",
        Unit::Number,
        "weighted: share of bytes of the classic queue while both wait",
    )
    .above(0.0)
    .below(1.0)
    .source("Linux sch_dualpi2.c"),
    Parameter::new(
        "time_shift",
        "tshift",
        Unit::Time,
        "time-shifted: by how much low-latency packets count as older",
    )
    .from(0.0)
    .source("De Schepper et al. 2016"),
    Parameter::new("decision", "", Unit::Choice, "which packets are hit, given a likelihood")
        .or(&["recurring", "random"])
        .source(RFC),
    SPARED,
    ECN,
];

/// Parameters, checked.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    pub(super) room: Room,
    pub(super) gains: Gains,
    pub(super) coupling: f64,
    pub(super) l4s_min_th: f64,
    pub(super) l4s_range: f64,
    pub(super) l4s_min_packets: u32,
    pub(super) scheduler: Scheduler,
    pub(super) is_random: bool,
    pub(super) spared: u64,
    pub(super) ecn: bool,
}

impl Params {
    /// The marking of L by itself (appendix A.1, `laqm`).
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

/// From words to parameters.
pub(in crate::beside) fn read(reading: &mut Reading<'_>) -> Result<Params, Vec<ParameterError>> {
    let quarter_second = reading.rate().bps() * 0.25 / (8.0 * 1500.0);
    let room = Room::new(reading.limit(quarter_second.clamp(2.0, 1e9).ceil() as u32), false);
    let gains = Gains {
        target: reading.time("target", Span::from_millis(15)).secs(),
        t_update: reading.time("t_update", Span::from_millis(15)),
        alpha: reading.number("alpha", 0.15),
        beta: reading.number("beta", 3.0),
    };
    let coupling = reading.number("coupling", 2.0);
    let l4s_min_th = reading.time("l4s_min_th", Span::from_secs(0.000_8)).secs();
    let l4s_range = reading.time("l4s_range", Span::from_secs(0.000_4)).secs();
    let l4s_min_packets = reading.integer("l4s_min_packets", 1) as u32;
    let is_shifted = reading.word("scheduler", &[("weighted", false), ("time-shifted", true)]);
    let share = reading.number("classic_share", 0.1);
    let shift = reading.time("time_shift", Span::from_millis(50));
    let scheduler = if is_shifted { Scheduler::TimeShifted(shift) } else { Scheduler::Weighted(share) };
    let is_random = reading.word("decision", &[("recurring", false), ("random", true)]);
    let spared = 2 * reading.bytes("max_packet", 1514);
    let ecn = reading.flag("ecn", true);
    Ok(Params {
        room,
        gains,
        coupling,
        l4s_min_th,
        l4s_range,
        l4s_min_packets,
        scheduler,
        is_random,
        spared,
        ecn,
    })
}
