//! BLUE (W. Feng, K. G. Shin, D. D. Kandlur and D. Saha, "The BLUE Active Queue Management Algorithms", IEEE/ACM
//! Transactions on Networking 10(4), 2002; first as technical report CSE-TR-387-99, University of Michigan, 1999).
//!
//! BLUE adapts the drop probability p_m to events, not to the queue length: it increases p_m when the buffer overflows and
//! decreases it when the link falls idle. At least `freeze_time` lies between two steps, so that each can take effect:
//!
//! ```text
//! at a packet lost, or a queue above L:   if now - last > freeze_time:  p_m <- p_m + d1,  last <- now
//! when the link falls idle:               if now - last > freeze_time:  p_m <- p_m - d2,  last <- now
//! ```
//!
//! | symbol | parameter | unit | default | allowed | source |
//! |---|---|---|---|---|---|
//! | freeze_time | `freeze_time` | s | 100 ms | at least 0 | Feng et al. 2002 (from memory, see below) |
//! | d1 | `d1` | 1 | 0.02 | in (0, 1] | the same |
//! | d2 | `d2` | 1 | 0.002 | in (0, 1] | the same: a tenth of d1 |
//! | L | `length` | packets | 50 | at least 0 | the second condition of the algorithm, with `increase` = "length" |
//! | buffer | `limit` | packets or bytes | 100 packets | at least 1 | as the RED presets |
//!
//! Readings: packets lost for lack of room count as lost (`increase` = "loss"), not those that p_m itself drops, or p_m could
//! never converge; `increase` = "length" adds the second condition of the printed algorithm. An idle link gives one event, when it
//! falls idle, and one more for an arrival that it drops (`idle` = "event"); with "periodic" p_m also decreases by d2 for every
//! `freeze_time` that it stays so, which is accounted for at the next arrival, as in the port to ns-3 by M. P. Tahiliani et al.
//! of the authors' code for ns. p_m stays in \[0, 1\].
//!
//! The algorithm is as that port and its documentation print it. The text of the paper was not available: of the steps and times
//! that it tries (d1 of 0.0025 or 0.02 with a d2 of a tenth, freeze times of 10 or 100 ms) the defaults are those of the
//! quickest response; the port has 0.0025, 0.00025 and 100 ms.
//!
//! Drop reasons: `early`, `overflow`. Gauge: `p_m`.

use aqmlab_units::{Probability, Span, Time};

use super::{Named, ParameterReader};
use crate::registry::{ECN, LIMIT};
use crate::{
    Backlog, Decide, DropReason, Gauge, Host, Meta, OverFifo, Parameter, ParameterError, Room, ValueKind,
    Verdict, names,
};

/// Presets.
pub(super) const PRESETS: &[Named] = &[Named {
    name: "blue",
    title: "BLUE",
    paper: "W. Feng, K. Shin, D. Kandlur, D. Saha, The BLUE Active Queue Management Algorithms, IEEE/ACM ToN 10(4), 2002",
    doc: "Drops with a probability that grows when the buffer overflows and shrinks when the link falls idle.",
}];

const INCREASE_WORDS: [(&str, bool); 2] = [("loss", false), ("length", true)];
const IDLE_WORDS: [(&str, bool); 2] = [("event", false), ("periodic", true)];

/// All packets wait in one queue, whose limit is never exceeded.
pub(super) const ONE_QUEUE: bool = true;
/// Parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    LIMIT,
    Parameter::new("freeze_time", "freeze_time", ValueKind::Time, "minimum time between two steps of p_m")
        .from(0.0)
        .source(PAPER),
    Parameter::new("d1", "d1", ValueKind::Number, "step of p_m upwards").above(0.0).to(1.0).source(PAPER),
    Parameter::new("d2", "d2", ValueKind::Number, "step of p_m downwards").above(0.0).to(1.0).source(PAPER),
    Parameter::new(
        "increase",
        "",
        ValueKind::Choice,
        "what increases p_m: a loss, or also a queue above length",
    )
    .or(&names(&INCREASE_WORDS))
    .source(PAPER),
    Parameter::new(
        "length",
        "L",
        ValueKind::PacketsOrBytes,
        "with increase = \"length\": the queue that is too long",
    )
    .from(0.0)
    .source(PAPER),
    Parameter::new(
        "idle",
        "",
        ValueKind::Choice,
        "p_m decreases once when the link falls idle, or periodically while it is idle",
    )
    .or(&names(&IDLE_WORDS)),
    ECN,
];

const PAPER: &str = "Feng, Shin, Kandlur and Saha 2002";

/// Mean packet by which a length in bytes is divided.
const MEAN_PACKET: f64 = 1000.0;

/// Validated parameters.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    room: Room,
    steps: Steps,
    /// The queue above which p_m grows without a loss, in packets.
    length: Option<f64>,
    idle_periodic: bool,
    ecn: bool,
}

/// Read and validate the parameters.
pub(super) fn read(reader: &mut ParameterReader<'_>) -> Result<Params, Vec<ParameterError>> {
    let room = Room::new(reader.limit(100), false);
    let steps = Steps {
        freeze_time: reader.time("freeze_time", Span::from_millis(100)),
        d1: reader.number("d1", 0.02),
        d2: reader.number("d2", 0.002),
    };
    let by_length = reader.word("increase", &INCREASE_WORDS);
    let length = reader.packets("length", 50.0, MEAN_PACKET);
    let idle_periodic = reader.word("idle", &IDLE_WORDS);
    if steps.d2 > steps.d1 {
        reader.warn(format!(
            "d2 ({}) is above d1 ({}): p_m decreases faster than it increases",
            steps.d2, steps.d1
        ));
    }
    if !by_length {
        reader.warn_without_effect(&["length"], "with increase = \"loss\"");
    }
    let length = by_length.then_some(length);
    Ok(Params { room, steps, length, idle_periodic, ecn: reader.flag("ecn", false) })
}

/// The steps of p_m.
#[derive(Clone, Copy, Debug)]
struct Steps {
    freeze_time: Span,
    d1: f64,
    d2: f64,
}

/// p_m and the time of its last step.
#[derive(Clone, Copy, Debug, Default)]
struct Marking {
    p_m: f64,
    last_update: Time,
}

impl Marking {
    /// One step, if the last one was long enough ago.
    fn step(&mut self, steps: &Steps, now: Time, by: f64) {
        if now.since(self.last_update) > steps.freeze_time {
            self.p_m = Probability::clamped(self.p_m + by).get();
            self.last_update = now;
        }
    }

    /// The steps of an idle time that ends now.
    fn sink(&mut self, steps: &Steps, now: Time) {
        let Span(freeze) = steps.freeze_time;
        if let Some(count) = now.since(self.last_update).0.checked_div(freeze) {
            self.p_m = Probability::clamped(self.p_m - count as f64 * steps.d2).get();
            self.last_update = Time(self.last_update.0 + count * freeze);
        }
    }
}

/// The discipline; see the module text.
pub type Blue<P> = OverFifo<P, Blues>;

/// The probability and what moves it.
#[derive(Clone, Debug)]
pub struct Blues {
    params: Params,
    marking: Marking,
    /// The queue is empty and nothing is in transmission.
    is_idle: bool,
}

impl<P: Copy> Blue<P> {
    /// Create an empty queue.
    pub(super) fn new(params: &Params) -> Self {
        Self::of(Blues { params: params.clone(), marking: Marking::default(), is_idle: true })
    }
}

impl Decide for Blues {
    const READS_FLOW: bool = false;

    #[inline]
    fn decide<P>(&mut self, now: Time, meta: &Meta, waiting: Backlog, host: &mut impl Host<P>) -> Verdict {
        let Self { params, marking, is_idle } = self;
        if core::mem::replace(is_idle, false) && params.idle_periodic {
            marking.sink(&params.steps, now);
        }
        let is_full = params.room.is_full_for(waiting, meta.bytes);
        let is_long = params.length.is_some_and(|length| f64::from(waiting.packets) > length);
        if is_full || is_long {
            marking.step(&params.steps, now, params.steps.d1);
        }
        if is_full {
            return Verdict::Drop(DropReason::OVERFLOW);
        }
        if host.uniform() < marking.p_m {
            return Verdict::signal(DropReason::EARLY, params.ecn, meta);
        }
        Verdict::Accept
    }

    fn on_idle(&mut self, now: Time) {
        if !core::mem::replace(&mut self.is_idle, true) {
            self.marking.step(&self.params.steps, now, -self.params.steps.d2);
        }
    }

    fn gauges(&self, out: &mut dyn FnMut(Gauge, f64)) {
        out(Gauge::State("p_m"), self.marking.p_m);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TestHost, packet};
    use super::*;
    use crate::{Dequeue, Qdisc};

    const STEPS: Steps = Steps { freeze_time: Span::from_millis(100), d1: 0.02, d2: 0.002 };

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn p_m_moves_once_in_a_freeze_time() {
        let mut m = Marking::default();
        m.step(&STEPS, at(100), STEPS.d1);
        assert_eq!(m.p_m, 0.0, "not before the freeze time has passed");
        m.step(&STEPS, at(101), STEPS.d1);
        m.step(&STEPS, at(150), STEPS.d1);
        assert_eq!((m.p_m, m.last_update), (0.02, at(101)));
        m.step(&STEPS, at(202), -STEPS.d2);
        assert!((m.p_m - 0.018).abs() < 1e-15);
    }

    #[test]
    fn p_m_stays_a_probability() {
        let mut m = Marking { p_m: 0.99, last_update: Time::ZERO };
        m.step(&STEPS, at(200), STEPS.d1);
        assert_eq!(m.p_m, 1.0);
        let mut m = Marking { p_m: 0.001, last_update: Time::ZERO };
        m.step(&STEPS, at(200), -STEPS.d2);
        assert_eq!(m.p_m, 0.0);
    }

    #[test]
    fn an_idle_time_takes_a_step_for_each_freeze_time() {
        let mut m = Marking { p_m: 0.01, last_update: at(50) };
        m.sink(&STEPS, at(399));
        assert!((m.p_m - 0.004).abs() < 1e-15, "three steps in 349 ms");
        assert_eq!(m.last_update, at(350));
        m.sink(&STEPS, at(10_000));
        assert_eq!(m.p_m, 0.0);
    }
    /// A queue of three packets; a packet arrives every 60 ms and the link takes none, until it is emptied.
    #[test]
    fn overflow_and_idleness_move_p_m() {
        let room = Room::new(crate::Limit::Packets(3), false);
        let params = Params { room, steps: STEPS, length: None, idle_periodic: false, ecn: false };
        let mut queue = Blue::new(&params);
        let mut host = TestHost::with_draws(&[0.99; 20]);
        for number in 0..8 {
            queue.enqueue(at(60 * u64::from(number)), packet(number, 1, 1000), &mut host);
        }
        // At 180, 240 (frozen), 300, 360 (frozen) and 420 ms the buffer was full.
        assert_eq!(host.dropped, [3, 4, 5, 6, 7]);
        assert!((queue.rule.marking.p_m - 0.06).abs() < 1e-15);
        while !matches!(queue.dequeue(at(600), &mut host), Dequeue::Empty) {}
        assert!((queue.rule.marking.p_m - 0.058).abs() < 1e-15, "the link fell idle");
        queue.dequeue(at(800), &mut host);
        assert!((queue.rule.marking.p_m - 0.058).abs() < 1e-15, "it was idle already");
    }
}
