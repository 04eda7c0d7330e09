//! SFB, stochastic fair BLUE (W. Feng, D. D. Kandlur, D. Saha and K. G. Shin, "Stochastic Fair Blue: A Queue Management
//! Algorithm for Enforcing Fairness", INFOCOM 2001).
//!
//! A flow is hashed into one bin on each of L levels, and each bin has the probability of [`super::blue`]: it rises while the
//! bin has too many packets and falls when it has none. A flow is dropped with the least probability of its bins. An
//! unresponsive flow drives all of its bins to 1; other flows hardly ever share all L bins with it. Unresponsive flows are
//! thus identified and limited in rate by a penalty box:
//!
//! ```text
//! at an arrival, in its bin of each level:
//!     more than bin_size packets:  p_m <- p_m + delta          none:  p_m <- p_m - delta
//! p_min <- the least p_m of its bins
//! p_min = 1:  the penalty box          else:  drop or mark with probability p_min
//! ```
//!
//! | symbol | parameter | unit | default | allowed | source |
//! |---|---|---|---|---|---|
//! | L | `levels` | 1 | 2 | 1 .. 8 | the paper |
//! | N | `bins` | 1 | 23 | 1 .. 65536 | the paper |
//! | bin_size | `bin_size` | packets | auto: 1.5 limit/N | at least 1 | the paper: half more than its share |
//! | delta | `increment` | 1 | 0.005 | in (0, 1] | the authors' code for ns, cited in XNU's `classq_sfb.c` |
//! | delta | `decrement` | 1 | 0.001 | in (0, 1] | the same |
//! | - | `full_bin` | | all | all, any, never | Linux `sch_sfb.c`; the paper |
//! | - | `penalty_rate` | packets/s | 10 | at least 0 | Linux `sch_sfb.c` |
//! | - | `penalty_burst` | packets | 20 | at least 1 | Linux `sch_sfb.c` |
//! | - | `rehash` | s | 600 s | above 0, or never | Linux `sch_sfb.c` |
//! | - | `warmup` | s | 60 s | at least 0 | Linux `sch_sfb.c` |
//! | - | `max_bin` | packets | 25, with `dialect = "linux"` alone | at least 1 | Linux `sch_sfb.c` |
//! | buffer | `limit` | packets or bytes | 100 packets | at least 1 | as the RED presets |
//!
//! Readings: the printed algorithm also drops an arrival that finds any of its bins too full, which also drops packets of
//! responsive flows in one such bin; Linux drops if all are, from 25 packets on where a bin's probability rises from 20 on (`full_bin` = "all", above
//! `bin_size`; "any" is the printed algorithm, "never" leaves it to the probabilities). That comes before
//! the penalty box, as in both. The penalty box is one token bucket for all, as in Linux; the paper says that it
//! limits the rate, not how. What passes the box is neither dropped by chance nor marked. The moving hash has two
//! sets of bins: every `rehash` seconds the second takes the place of the first; packets count in both, but the
//! second's probabilities move only in the last `warmup` seconds before, and only for flows that are sent to the
//! penalty box, as in Linux. Drops by a bin or the box are forced, those by chance early. Differences: a step may
//! come with every arrival, where the authors' code has a freeze time of 10 to 50 ms; Linux drops in place of marking
//! with a probability that rises from 0 at p_min = 1/2 to 1.
//!
//! `dialect = "linux"` computes as Linux does ([`linux`]): 8 levels of 16 bins, drops from `max_bin` packets in all bins on, and defaults as
//! tc's: `limit` 1000 packets, `bin_size` 20, `max_bin` 25, steps of 33 and 3 parts of 65535, ECN.
//!
//! The constants of the paper (L, N, bin_size) are from memory: its text was not available.
//!
//! Drop reasons: `early`, `full-bin`, `penalty-box`, `overflow`. Gauges: `p_min` of the last arrival, `closed_bins`, `penalized`.

mod bins;
mod linux;

use std::collections::VecDeque;

use aqmlab_units::{Span, Time};

use super::{Named, ParameterReader};
use crate::registry::{ECN, LIMIT};
use crate::spec::Limit;
use crate::{
    Backlog, Decide, DropClass, DropReason, Gauge, Host, Meta, OverFifo, Parameter, ParameterError, Room,
    Value, ValueKind, Verdict, names,
};

#[cfg(feature = "replay")]
pub(crate) use linux::JIFFY_PS;

use bins::{Bins, MAX_LEVELS, PenaltyBox, Shape};
use linux::{BINS, LEVELS, LinuxSfb, MAX_PROB, Settings, jiffies, units};

/// Bins of the flow have too many packets.
const FULL_BIN: DropReason = DropReason::new(&("full-bin", DropClass::Forced));
/// The flow is in the penalty box, which lets no packet pass at present.
const PENALTY_BOX: DropReason = DropReason::new(&("penalty-box", DropClass::Forced));

/// Presets.
pub(super) const PRESETS: &[Named] = &[Named {
    name: "sfb",
    title: "Stochastic fair BLUE (SFB)",
    paper: "W. Feng, D. Kandlur, D. Saha, K. Shin, Stochastic Fair Blue, INFOCOM 2001",
    doc: "A probability as BLUE's for each bin of a Bloom filter; flows whose bins all reach 1 are limited in rate.",
}];

/// All packets wait in one queue, whose limit is never exceeded.
pub(super) const ONE_QUEUE: bool = true;
/// Parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    LIMIT,
    Parameter::new("levels", "L", ValueKind::Number, "levels, each with its own hash")
        .whole()
        .from(1.0)
        .to(MAX_LEVELS as f64)
        .source(PAPER),
    Parameter::new("bins", "N", ValueKind::Number, "bins of a level")
        .whole()
        .from(1.0)
        .to(65536.0)
        .source(PAPER),
    Parameter::new(
        "bin_size",
        "bin_size",
        ValueKind::Number,
        "packets of a bin above which its probability grows",
    )
    .whole()
    .from(1.0)
    .to(1e6)
    .or(&["auto"])
    .source(PAPER),
    Parameter::new("increment", "delta", ValueKind::Number, "step of a bin's probability upwards")
        .above(0.0)
        .to(1.0),
    Parameter::new("decrement", "delta", ValueKind::Number, "step of a bin's probability downwards")
        .above(0.0)
        .to(1.0),
    Parameter::new(
        "full_bin",
        "",
        ValueKind::Choice,
        "an arrival is dropped if all, any or none of its bins are too full",
    )
    .or(&names(&FULL_BIN_WORDS)),
    Parameter::new(
        "max_bin",
        "max",
        ValueKind::Number,
        "in a dialect of Linux: an arrival is dropped if all of its bins have at least this many packets",
    )
    .whole()
    .from(1.0)
    .to(1_250_000.0)
    .source(LINUX),
    Parameter::new("penalty_rate", "", ValueKind::Number, "packets a second that pass the penalty box")
        .from(0.0)
        .source(LINUX),
    Parameter::new("penalty_burst", "", ValueKind::Number, "packets that pass it at once")
        .whole()
        .from(1.0)
        .to(1e6)
        .source(LINUX),
    Parameter::new("rehash", "", ValueKind::Time, "time between two changes of the hash")
        .above(0.0)
        .or(&["never"])
        .source(LINUX),
    Parameter::new("warmup", "", ValueKind::Time, "how long before a change the next bins are updated")
        .from(0.0)
        .source(LINUX),
    ECN,
    Parameter::new("dialect", "", ValueKind::Choice, "arithmetic, bins and clock: the paper's, or Linux's")
        .or(&names(&DIALECT_WORDS)),
];

/// Whether it is Linux's.
const DIALECT_WORDS: [(&str, bool); 5] =
    [("paper", false), ("linux", true), ("linux-6.1", true), ("linux-6.12", true), ("linux-7.3", true)];

const PAPER: &str = "Feng, Kandlur, Saha and Shin 2001";
const LINUX: &str = "Linux sch_sfb.c";

/// Mean packet by which a limit in bytes is divided.
const MEAN_PACKET: u64 = 1000;

/// Validated parameters.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    room: Room,
    shape: Shape,
    full_bin: FullBin,
    penalty_rate: f64,
    penalty_burst: f64,
    rehash: Option<Span>,
    warmup: Span,
    ecn: bool,
    /// In the dialect of Linux.
    linux: Option<Settings>,
}

const FULL_BIN_WORDS: [(&str, FullBin); 3] =
    [("all", FullBin::All), ("any", FullBin::Any), ("never", FullBin::Never)];

/// When too many packets in bins drop an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FullBin {
    All,
    Any,
    Never,
}

/// Read and validate the parameters.
pub(super) fn read(reader: &mut ParameterReader<'_>) -> Result<Params, Vec<ParameterError>> {
    let is_linux = reader.word("dialect", &DIALECT_WORDS);
    let limit = reader.limit(if is_linux { 1000 } else { 100 });
    let packets = match limit {
        Limit::Packets(n) => u64::from(n),
        Limit::Bytes(bytes) => bytes / MEAN_PACKET,
    };
    let [default_levels, default_bins] = if is_linux { [LEVELS, BINS] } else { [2, 23] };
    let levels = reader.integer("levels", default_levels as u64) as usize;
    let bins = reader.integer("bins", default_bins as u64) as usize;
    let share = (packets + packets / 2).div_ceil(bins as u64).clamp(1, 1_000_000);
    let default_steps =
        if is_linux { [33, 3].map(|n| f64::from(n) / f64::from(MAX_PROB)) } else { [0.005, 0.001] };
    let shape = Shape {
        levels,
        bins,
        bin_size: reader.integer("bin_size", if is_linux { 20 } else { share }) as u32,
        increment: reader.number("increment", default_steps[0]),
        decrement: reader.number("decrement", default_steps[1]),
    };
    let full_bin = reader.word("full_bin", &FULL_BIN_WORDS);
    let penalty_rate = reader.number("penalty_rate", 10.0);
    let penalty_burst = reader.integer("penalty_burst", 20) as f64;
    let rehash = match reader.special("rehash") {
        Some(_) => reader.time_or("rehash", "never"),
        None => Some(reader.time("rehash", Span::from_secs(600.0))),
    };
    let warmup = reader.time("warmup", Span::from_secs(60.0));
    if rehash.is_some_and(|rehash| warmup > rehash) {
        reader.warn("warmup is longer than rehash: the next bins learn all the time".into());
    }
    if rehash.is_none() {
        reader.warn_without_effect(&["warmup"], "with rehash = \"never\"");
    }
    if bins == 1 {
        reader.warn_without_effect(&["levels"], "with bins = 1");
    }
    let ecn = reader.flag("ecn", is_linux);
    let room = Room::new(limit, false);
    let mut params =
        Params { room, shape, full_bin, penalty_rate, penalty_burst, rehash, warmup, ecn, linux: None };
    if is_linux {
        params.linux = Some(read_linux(reader, &params, packets));
    } else if reader.is_set("max_bin") {
        reader.error("max_bin", "max_bin needs a dialect of Linux".into(), "nothing, or dialect = \"linux\"");
    }
    Ok(params)
}

/// Return the parameters in the units of Linux.
fn read_linux(reader: &mut ParameterReader<'_>, params: &Params, limit: u64) -> Settings {
    let Shape { levels, bins, bin_size, increment, decrement } = params.shape;
    for (key, found, has) in [("levels", levels, LEVELS), ("bins", bins, BINS)] {
        if found != has {
            reader.error(key, format!("{key} = {found} is not that of Linux"), &has.to_string());
        }
    }
    if params.full_bin != FullBin::All {
        reader.error("full_bin", "Linux drops an arrival if all of its bins are too full".into(), "all");
    }
    if reader.is_set("ecn") {
        reader.differs_from_linux("ecn", Value::Flag(true));
    }
    reader.rounded_in_linux("limit", Value::Packets(limit as f64));
    for (key, probability) in [("increment", increment), ("decrement", decrement)] {
        reader.rounded_in_linux(key, Value::Number(f64::from(units(probability)) / f64::from(MAX_PROB)));
    }
    reader.rounded_in_linux("penalty_rate", Value::Number(libm::trunc(params.penalty_rate)));
    let in_jiffies = |span| Value::Seconds(jiffies(span) as f64 * linux::JIFFY_PS as f64 / 1e12);
    if let Some(rehash) = params.rehash {
        reader.rounded_in_linux("rehash", in_jiffies(rehash));
    }
    if reader.is_set("warmup") {
        reader.rounded_in_linux("warmup", in_jiffies(params.warmup));
    }
    Settings {
        limit: u32::try_from(limit).unwrap_or(u32::MAX),
        bin_size,
        max_bin: reader.integer("max_bin", 25) as u32,
        increment: units(increment),
        decrement: units(decrement),
        penalty_rate: params.penalty_rate as u32,
        penalty_burst: params.penalty_burst as u32,
        rehash: params.rehash.map_or(0, jiffies),
        warmup: jiffies(params.warmup),
        ecn: params.ecn,
    }
}

/// The discipline; see the module text.
pub type Sfb<P> = OverFifo<P, FairBlue>;

/// The bins and the penalty box.
#[derive(Clone, Debug)]
pub struct FairBlue {
    params: Params,
    /// Flows of the packets waiting, in order.
    flows: VecDeque<u32>,
    /// The set that judges, and the one that will be next.
    sets: [Bins; 2],
    /// How often the hash has changed.
    changes: u64,
    penalty: PenaltyBox,
    /// p_min of the last arrival.
    p_min: f64,
    penalized: u64,
    /// All of it in the dialect of Linux.
    linux: Option<Box<LinuxSfb>>,
}

impl<P: Copy> Sfb<P> {
    /// Create an empty queue.
    pub(super) fn new(params: &Params) -> Self {
        let sets = [0, 1].map(|salt| Bins::new(&params.shape, salt));
        Self::of(FairBlue {
            params: params.clone(),
            flows: VecDeque::new(),
            sets,
            changes: 0,
            penalty: PenaltyBox::new(params.penalty_burst),
            p_min: 0.0,
            penalized: 0,
            linux: params.linux.as_ref().map(|settings| Box::new(LinuxSfb::new(settings))),
        })
    }
}

impl FairBlue {
    /// Changes the hash where it is time to. Whether the next bins are being taught.
    fn change_hash(&mut self, now: Time) -> bool {
        let Params { shape, rehash, warmup, .. } = &self.params;
        let Some(Span(rehash)) = rehash else { return false };
        let due = now.0 / rehash;
        while self.changes < due {
            // Of several changes at once only the last two count.
            self.changes = (self.changes + 1).max(due - 1);
            self.sets.swap(0, 1);
            self.sets[1].restart(shape, self.changes + 1, &self.flows);
        }
        rehash - now.0 % rehash <= warmup.0
    }
}

impl Decide for FairBlue {
    fn decide<P>(&mut self, now: Time, meta: &Meta, waiting: Backlog, host: &mut impl Host<P>) -> Verdict {
        if let Some(linux) = &mut self.linux {
            return linux.decide(now, meta, waiting.packets, host);
        }
        let teaches = self.change_hash(now);
        let Self { params, sets: [bins, next], .. } = self;
        bins.learn(&params.shape, meta.flow);
        let state = bins.state_of(&params.shape, meta.flow);
        self.p_min = state.p_min;
        if params.room.is_full_for(waiting, meta.bytes) {
            return Verdict::Drop(DropReason::OVERFLOW);
        }
        let is_full = match params.full_bin {
            FullBin::All => state.full == params.shape.levels,
            FullBin::Any => state.full > 0,
            FullBin::Never => false,
        };
        if is_full {
            return Verdict::Drop(FULL_BIN);
        }
        if state.p_min >= 1.0 {
            if teaches {
                next.learn(&params.shape, meta.flow);
            }
            self.penalized += 1;
            let now = now.since(Time::ZERO).secs();
            let passes = self.penalty.passes(now, params.penalty_rate, params.penalty_burst);
            return if passes { Verdict::Accept } else { Verdict::Drop(PENALTY_BOX) };
        }
        if host.uniform() < state.p_min {
            return Verdict::signal(DropReason::EARLY, params.ecn, meta);
        }
        Verdict::Accept
    }

    fn joins(&mut self, meta: &Meta) {
        if let Some(linux) = &mut self.linux {
            return linux.joins();
        }
        self.flows.push_back(meta.flow);
        self.sets.iter_mut().for_each(|set| set.add(&self.params.shape, meta.flow));
    }

    fn leaves(&mut self, _now: Time, meta: &Meta, _left: Backlog) {
        if let Some(linux) = &mut self.linux {
            return linux.leaves();
        }
        self.flows.pop_front();
        self.sets.iter_mut().for_each(|set| set.take(&self.params.shape, meta.flow));
    }

    fn gauges(&self, out: &mut dyn FnMut(Gauge, f64)) {
        let (p_min, closed, penalized) = match &self.linux {
            Some(linux) => (linux.p_min(), linux.closed(), linux.penalized),
            None => (self.p_min, self.sets[0].closed(&self.params.shape), self.penalized),
        };
        out(Gauge::State("p_min"), p_min);
        out(Gauge::State("closed_bins"), closed);
        out(Gauge::State("penalized"), penalized as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TestHost, packet};
    use super::*;
    use crate::{Dequeue, Qdisc, Spec};

    fn build(set: &[(&str, crate::Value)]) -> Sfb<u32> {
        let mut spec = Spec::new("sfb").expect("a preset");
        set.iter().for_each(|(key, value)| spec.set(key, value.clone()).expect("valid"));
        let link = crate::LinkContext { rate: aqmlab_units::Rate(1_000_000), delay: Span(0) };
        match spec.resolve(link).expect("valid").build() {
            crate::Discipline::NonRed(queue) => match *queue {
                crate::NonRed::Sfb(queue) => queue,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_bin_has_half_more_than_its_share() {
        assert_eq!(build(&[]).rule.params.shape.bin_size, 7);
        assert_eq!(build(&[("limit", crate::Value::Packets(200.0))]).rule.params.shape.bin_size, 14);
    }

    #[test]
    fn who_never_yields_ends_in_the_penalty_box() {
        let mut queue = build(&[
            ("increment", crate::Value::Number(0.5)),
            ("bins", crate::Value::Number(50.0)),
            ("full_bin", crate::Value::Word("never".into())),
        ]);
        let mut host = TestHost::with_draws(&[0.999; 100]);
        let mut now = Time::ZERO;
        for n in 0..60 {
            queue.enqueue(now, packet(n, 1, 1000), &mut host);
            now += Span::from_millis(1);
        }
        // Three fill a bin, the fourth is above it, the fifth is lucky; at p = 1 the box lets a burst of 20 pass.
        assert_eq!(queue.rule.p_min, 1.0);
        let passed = 60 - host.dropped.len();
        assert_eq!(passed, 5 + 20, "{:?}", host.dropped);
        queue.enqueue(now, packet(60, 2, 1000), &mut host);
        assert!(!host.dropped.contains(&60), "another flow has other bins");
    }

    #[test]
    fn full_bins_come_before_the_penalty_box() {
        let mut queue =
            build(&[("increment", crate::Value::Number(0.5)), ("bins", crate::Value::Number(50.0))]);
        let mut host = TestHost::with_draws(&[0.999; 100]);
        (0..60).for_each(|n| queue.enqueue(Time::ZERO, packet(n, 1, 1000), &mut host));
        assert_eq!((queue.rule.p_min, queue.rule.penalized), (1.0, 0));
        assert_eq!(60 - host.dropped.len(), 4, "three fill a bin, and one is above");
        while !matches!(queue.dequeue(Time::ZERO, &mut host), Dequeue::Empty) {}
        queue.enqueue(Time::ZERO, packet(60, 1, 1000), &mut host);
        assert_eq!((queue.rule.p_min, queue.rule.penalized), (0.999, 0), "an empty bin forgives a little");
    }

    #[test]
    fn the_hash_moves_and_the_next_bins_have_learned() {
        let seconds = crate::Value::Seconds;
        let mut queue = build(&[
            ("rehash", seconds(10.0)),
            ("warmup", seconds(2.0)),
            ("bin_size", crate::Value::Number(1.0)),
            ("increment", crate::Value::Number(0.25)),
            ("full_bin", crate::Value::Word("never".into())),
        ]);
        let mut host = TestHost::with_draws(&[0.999; 100]);
        // The third packet finds more than one of its flow; at the sixth p_min is 1.
        for (n, at) in [0.0, 1.0, 2.0, 3.0, 7.8, 7.9, 8.0, 9.0].into_iter().enumerate() {
            queue.enqueue(Time::from_secs(at), packet(n as u32, 1, 1000), &mut host);
        }
        assert_eq!((queue.rule.p_min, queue.rule.penalized), (1.0, 3));
        for (n, at) in [9.0, 9.1, 9.2, 9.3].into_iter().enumerate() {
            queue.enqueue(Time::from_secs(at), packet(10 + n as u32, 2, 1000), &mut host);
        }
        assert_eq!(queue.rule.p_min, 0.5, "a second flow, which answers for all that is known");
        queue.enqueue(Time::from_secs(10.85), packet(20, 1, 1000), &mut host);
        assert_eq!(queue.rule.p_min, 0.75, "two in the warm-up were sent to the box, and this one");
        queue.enqueue(Time::from_secs(10.9), packet(21, 2, 1000), &mut host);
        assert_eq!(queue.rule.p_min, 0.25, "no packet has updated the second flow's");
        queue.enqueue(Time::from_secs(55.0), packet(22, 1, 1000), &mut host);
        assert_eq!(queue.rule.p_min, 0.25, "nor these bins");
        assert_eq!(queue.rule.changes, 5);
    }
}
