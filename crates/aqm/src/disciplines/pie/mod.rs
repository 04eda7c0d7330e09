//! PIE, proportional integral controller enhanced (RFC 8033; R. Pan et al., "PIE: A lightweight control scheme to address the
//! bufferbloat problem", HPSR 2013).
//!
//! Arriving packets are dropped with a probability. Every T_UPDATE it changes in proportion to the distance of the queueing
//! delay from a reference, and to the change of the delay:
//!
//! ```text
//! p = p + (alpha (delay - QDELAY_REF) + beta (delay - old delay)) / divisor(p)             (RFC 8033, section 4.2)
//! ```
//!
//! The divisor makes small probabilities move in small steps: 2048 below 10^-6, 512 below 10^-5, 128, 32, 8, and 2 below 0.1
//! (`auto_tune = "rfc8033"`). It is 8 below 0.01 and 2 below 0.1 in Linux 3.14 to 5.0, by authors of the paper
//! (`"three-ranges"`), and 1 with fixed gains (`"off"`).
//!
//! | symbol | parameter | unit | default | allowed | source |
//! |---|---|---|---|---|---|
//! | QDELAY_REF | `target` | s | 15 ms | above 0 | RFC 8033, section 4.2 |
//! | T_UPDATE | `t_update` | s | 15 ms | 1 us and more | section 4.2 |
//! | alpha | `alpha` | 1/s | 0.125 | above 0 | section 4.2 |
//! | beta | `beta` | 1/s | 1.25 | above 0 | section 4.2 |
//! | MAX_BURST | `max_burst` | s | 150 ms | 0 and more | section 4.4 |
//! | MEAN_PKTSIZE | `mean_packet` | bytes | 1000 | at least 1 | section 4.1 |
//! | mark_ecnth | `mark_up_to` | | 0.1 | 0 to 1 | section 5.1 |
//! | limit | `limit` | packets or bytes | 1000 packets | at least 1 | Linux `sch_pie.c` |
//!
//! Readings. The delay is that of the last packet to leave, as in Linux since 5.5 and in ns-3 (`delay = "timestamp"`), or the
//! length of the queue over the estimated rate of departures (`"departure-rate"`, section 5.2, whose first measurement is
//! taken as it is, as in appendix B; what departs beyond DQ_THRESHOLD counts, as in Linux). Steps of a probability of a tenth or
//! more are at most 0.02 upwards (`cap_adjustment`, section 5.5). Drops are spaced by `derandomize` (section 5.4; RFC 8034 has it
//! on). The probability shrinks by 2 % in a step of its own while no delay is left (section 4.2, appendix A, Linux), or at two
//! delays below half of the target (`decay = "half-target"`, appendix B). At mark_ecnth itself ECN still marks, as in Linux and
//! the words of section 5.1; the code there does not.
//!
//! Differences from the RFC: the controller is never turned off (section 5.3 is optional); an empty queue in a
//! stationary state computes no steps, which would change nothing.
//!
//! `dialect = "linux"` computes as Linux does, in integers: see [`linux`]. `alpha` and `beta` are then multiples of 1/16, `t_update` is
//! rounded up to jiffies of 4 ms, `mean_packet` is 1514, and `auto_tune`, `cap_adjustment`, `derandomize` and `decay` have no effect.
//!
//! Drop reasons: `early`, `overflow`. Gauges: `p`, `delay` in s, `burst_allowance` in s.

mod control;
pub(crate) mod linux;

pub(crate) use control::{AutoTune, Control, ControlLaw, Delay};

use aqmlab_units::{Span, Time};

use super::{Named, ParameterReader, Parts};
use crate::registry::{ECN, LIMIT};
use crate::{
    Backlog, Decide, DropReason, Gauge, Host, Meta, OverFifo, Parameter, ParameterError, Qdisc, Resolved,
    Room, Value, ValueKind, Verdict, names,
};

/// Presets.
pub(super) const PRESETS: &[Named] = &[Named {
    name: "pie",
    title: "Proportional integral controller enhanced",
    paper: "R. Pan, P. Natarajan, F. Baker, G. White, RFC 8033, 2017",
    doc: "Drops arrivals with a probability that a controller adjusts until the delay is at its reference.",
}];

const DELAY_WORDS: [(&str, Delay); 2] =
    [("timestamp", Delay::Timestamp), ("departure-rate", Delay::DepartureRate)];
const AUTO_TUNE_WORDS: [(&str, AutoTune); 3] =
    [("rfc8033", AutoTune::Rfc), ("three-ranges", AutoTune::ThreeRanges), ("off", AutoTune::Off)];
const DECAY_WORDS: [(&str, bool); 2] = [("empty", false), ("half-target", true)];
const DIALECT_WORDS: [(&str, bool); 2] = [("rfc8033", false), ("linux", true)];

/// All packets wait in one queue, whose limit is never exceeded.
pub(super) const ONE_QUEUE: bool = true;
/// Parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    LIMIT,
    TARGET,
    T_UPDATE,
    ALPHA,
    BETA,
    AUTO_TUNE,
    MAX_BURST,
    MEAN_PACKET,
    MARK_UP_TO,
    DELAY,
    IN_BYTES,
    CAP_ADJUSTMENT,
    DERANDOMIZE,
    DECAY,
    ECN,
    DIALECT,
];

/// Parameters that a queue at work can change.
pub(super) const CHANGING: &[&str] = &["limit", "target", "alpha", "beta"];

const RFC: &str = "RFC 8033";

pub(crate) const TARGET: Parameter =
    Parameter::new("target", "QDELAY_REF", ValueKind::Time, "reference delay of the controller")
        .above(0.0)
        .source(RFC);
/// Shorter steps are rejected: an idle link would compute millions of them.
pub(crate) const T_UPDATE: Parameter =
    Parameter::new("t_update", "T_UPDATE", ValueKind::Time, "time between two steps of the controller")
        .from(1e-6)
        .source(RFC);
pub(crate) const ALPHA: Parameter =
    Parameter::new("alpha", "alpha", ValueKind::Number, "gain of the distance from the target, per second")
        .above(0.0)
        .source(RFC);
pub(crate) const BETA: Parameter =
    Parameter::new("beta", "beta", ValueKind::Number, "gain of the change of the delay, per second")
        .above(0.0)
        .source(RFC);
const AUTO_TUNE: Parameter = Parameter::new(
    "auto_tune",
    "",
    ValueKind::Choice,
    "smaller gains at small probabilities: in seven ranges, in three, or never",
)
.or(&names(&AUTO_TUNE_WORDS))
.source("RFC 8033, section 4.2; Linux 3.14 sch_pie.c");
const MAX_BURST: Parameter = Parameter::new(
    "max_burst",
    "MAX_BURST",
    ValueKind::Time,
    "burst allowance: no drop for this long after a quiet time",
)
.from(0.0)
.source(RFC);
const MEAN_PACKET: Parameter = Parameter::new(
    "mean_packet",
    "MEAN_PKTSIZE",
    ValueKind::Bytes,
    "mean packet size: no drop while two or less wait",
)
.from(1.0)
.source(RFC);
const MARK_UP_TO: Parameter = Parameter::new(
    "mark_up_to",
    "mark_ecnth",
    ValueKind::Number,
    "largest probability at which ECN marks instead of dropping",
)
.from(0.0)
.to(1.0)
.source(RFC);
const DELAY: Parameter = Parameter::new(
    "delay",
    "",
    ValueKind::Choice,
    "how the delay is measured: of the last packet to leave, or length over rate",
)
.or(&names(&DELAY_WORDS))
.source(RFC);
pub(crate) const IN_BYTES: Parameter = Parameter::new(
    "byte_mode",
    "",
    ValueKind::Flag,
    "the probability applies to a packet of mean size, to others in proportion to their size",
)
.source(RFC);
const CAP_ADJUSTMENT: Parameter = Parameter::new(
    "cap_adjustment",
    "",
    ValueKind::Flag,
    "from a probability of 0.1 on, steps up are 0.02 at most",
)
.source(RFC);
const DECAY: Parameter = Parameter::new(
    "decay",
    "",
    ValueKind::Choice,
    "when the probability decays: without a delay, or at delays below half of the target",
)
.or(&names(&DECAY_WORDS))
.source("RFC 8033, section 4.2 and appendix B");
const DERANDOMIZE: Parameter = Parameter::new(
    "derandomize",
    "",
    ValueKind::Flag,
    "no drop before the probabilities since the last one sum up to 0.85",
)
.source("RFC 8033, RFC 8034");

const DIALECT: Parameter =
    Parameter::new("dialect", "", ValueKind::Choice, "arithmetic of the controller, and its rules for drops")
        .or(&names(&DIALECT_WORDS))
        .source("Linux sch_pie.c");

/// Validated parameters.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    room: Room,
    law: Law,
}

/// The constants of the controller.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Law {
    /// In real numbers, of RFC 8033.
    Rfc(ControlLaw),
    /// In the integers of Linux.
    Linux(linux::Law),
}

/// Read and validate the parameters.
pub(super) fn read(reader: &mut ParameterReader<'_>) -> Result<Params, Vec<ParameterError>> {
    let limit = reader.limit(1000);
    let law = Law::read(reader, linux::by_tenths);
    if matches!(law, Law::Linux(_)) {
        reader.counts_packets_in_linux(limit);
        reader.differs_from_linux("mark_up_to", Value::Number(0.1));
    }
    Ok(Params { room: Room::new(limit, false), law })
}

impl Law {
    /// Read the constants; `mark_up_to` converts percent to a probability of Linux.
    pub fn read(reader: &mut ParameterReader<'_>, mark_up_to: fn(u64) -> u64) -> Self {
        if !reader.is_on("ecn") {
            reader.warn_without_effect(&["mark_up_to"], "without ecn");
        }
        if reader.word("dialect", &DIALECT_WORDS) {
            Self::Linux(linux::Law::read(reader, mark_up_to))
        } else {
            Self::Rfc(read_law(reader))
        }
    }
}

fn read_law(reader: &mut ParameterReader<'_>) -> ControlLaw {
    ControlLaw {
        target: reader.time("target", Span::from_millis(15)).secs(),
        t_update: reader.time("t_update", Span::from_millis(15)),
        alpha: reader.number("alpha", 0.125),
        beta: reader.number("beta", 1.25),
        auto_tune: reader.word("auto_tune", &AUTO_TUNE_WORDS),
        max_burst: reader.time("max_burst", Span::from_millis(150)),
        mean_packet: reader.bytes("mean_packet", 1000),
        delay: reader.word("delay", &DELAY_WORDS),
        in_bytes: reader.flag("byte_mode", false),
        caps: reader.flag("cap_adjustment", true),
        derandomizes: reader.flag("derandomize", false),
        decays_early: reader.word("decay", &DECAY_WORDS),
        mark_up_to: {
            let mark_up_to = reader.number("mark_up_to", 0.1);
            reader.flag("ecn", false).then_some(mark_up_to)
        },
    }
}

/// The discipline; see the module text.
pub type Pie<P> = OverFifo<P, Controller>;

/// The controller with its parameters.
#[derive(Clone, Debug)]
pub struct Controller {
    room: Room,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Rfc { law: ControlLaw, control: Control },
    Linux { law: linux::Law, control: linux::Control, timer: linux::Timer },
}

impl<P: Copy> Pie<P> {
    /// Create an empty queue.
    pub(super) fn new(params: &Params) -> Self {
        let state = match params.law {
            Law::Rfc(law) => State::Rfc { law, control: Control::new(&law) },
            Law::Linux(law) => {
                State::Linux { law, control: linux::Control::new(&law), timer: linux::Timer::new() }
            }
        };
        Self::of(Controller { room: params.room, state })
    }

    /// Let no step run by itself, in the dialect of Linux: a replay calls [`Pie::timer`].
    pub(crate) fn stop_timer(&mut self) {
        if let State::Linux { timer, .. } = &mut self.rule.state {
            timer.stop();
        }
    }

    /// Compute a step of the dialect of Linux: the kernel's timer has expired.
    pub(crate) fn timer(&mut self) {
        let waiting = Qdisc::<P>::backlog(self);
        if let State::Linux { law, control, .. } = &mut self.rule.state {
            control.step(law, waiting);
        }
    }
}

impl Controller {
    /// Compute the steps that are due by `now`.
    #[inline]
    fn catch_up(&mut self, now: Time, waiting: Backlog) {
        match &mut self.state {
            State::Rfc { law, control } => control.catch_up(law, now, waiting),
            State::Linux { law, control, timer } => {
                while timer.is_due(now) {
                    if control.is_at_rest(law, waiting) {
                        return timer.skip(now, law.t_update);
                    }
                    control.step(law, waiting);
                    timer.advance(law.t_update);
                }
            }
        }
    }
}

impl Decide for Controller {
    const READS_FLOW: bool = false;

    #[inline]
    fn decide<P>(&mut self, now: Time, meta: &Meta, waiting: Backlog, host: &mut impl Host<P>) -> Verdict {
        self.catch_up(now, waiting);
        let is_full = self.room.is_full_for(waiting, meta.bytes);
        match &mut self.state {
            State::Rfc { control, .. } if is_full => control.overflowed(),
            State::Linux { control, .. } if is_full => control.dropped(),
            State::Rfc { law, control } => return control.decide(law, meta, waiting, host),
            State::Linux { law, control, .. } => return control.decide(law, meta, waiting, host),
        }
        Verdict::Drop(DropReason::OVERFLOW)
    }

    #[inline]
    fn leaves(&mut self, now: Time, meta: &Meta, left: Backlog) {
        self.leaves_by_clock(now, meta, left, || now);
    }

    #[inline]
    fn leaves_by_clock(&mut self, now: Time, meta: &Meta, left: Backlog, again: impl FnMut() -> Time) {
        match &mut self.state {
            State::Rfc { law, control } => control.departed(law, now, meta, left),
            State::Linux { law, control, .. } => control.departed(law, now, meta, left, again),
        }
    }

    #[inline]
    fn next_timer(&self, waiting: Backlog) -> Option<Time> {
        match &self.state {
            State::Rfc { control, .. } => control.next_update(waiting),
            State::Linux { law, control, timer } => {
                timer.next().filter(|_| !control.is_at_rest(law, waiting))
            }
        }
    }

    fn on_timer(&mut self, now: Time, waiting: Backlog) {
        self.catch_up(now, waiting);
    }

    fn take_settings(&mut self, settings: &Resolved) -> bool {
        let Some(Parts::Pie(params)) = settings.non_red() else { return false };
        match (&mut self.state, params.law) {
            (State::Rfc { law, .. }, Law::Rfc(new)) => *law = new,
            (State::Linux { law, .. }, Law::Linux(new)) => *law = new,
            _ => return false,
        }
        self.room = params.room;
        true
    }

    fn gauges(&self, out: &mut dyn FnMut(Gauge, f64)) {
        match &self.state {
            State::Rfc { control, .. } => control.gauges(out),
            State::Linux { control, .. } => control.gauges(out),
        }
    }
}
