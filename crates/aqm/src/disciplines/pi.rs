//! PI, the proportional integral controller of queue length (C. Hollot, V. Misra, D. Towsley, W. Gong, "On designing improved
//! controllers for AQM routers supporting TCP flows", INFOCOM 2001).
//!
//! The controller, designed with the fluid model of TCP, brings the queue to a reference for any load; sampled at a fixed
//! frequency it is
//!
//! ```text
//! p(k) = a (q(k) - q_ref) - b (q(k-1) - q_ref) + p(k-1)                              (section V.B, eq. for implementation)
//! ```
//!
//! | symbol | parameter | unit | default | allowed | source |
//! |---|---|---|---|---|---|
//! | a | `a` | 1/packet | 1.822e-5 | above 0 | section V; ns-2.35 `ns-default.tcl` |
//! | b | `b` | 1/packet | 1.816e-5 | above 0, below a | the same |
//! | w | `sampling` | Hz | 170 | above 0, at most 10^6 | paper: 160 Hz; ns-2.35: 170 Hz |
//! | q_ref | `q_ref` | packets or bytes | 50 packets | above 0 | ns-2.35 |
//! | mean packet | `mean_packet` | bytes | 500 | at least 1 | ns-2.35 |
//! | limit | `limit` | packets or bytes | 100 packets | at least 1 | |
//!
//! Readings. The queue is measured in packets, or in bytes over the mean packet (`mode`); the packet in transmission is not
//! of it, as in ns-2. In `byte_mode` a packet's probability is in proportion to its size. Difference from ns-2.35
//! `queue/pi.cc`: a full buffer drops before a random number is drawn, as there, but the comparison is "less", not
//! "less or equal". An empty queue whose p is 0 takes no samples, which would change nothing.
//!
//! Drop reasons: `early`, `overflow`. Gauge: `p`.

use aqmlab_units::{Span, Time};

use super::pie::IN_BYTES;
use super::{Named, ParameterReader};
use crate::registry::{ECN, LIMIT, MODE_WORDS};
use crate::{
    Backlog, Decide, DropReason, Gauge, Host, Meta, OverFifo, Parameter, ParameterError, Room, ValueKind,
    Verdict, names,
};

/// Presets.
pub(super) const PRESETS: &[Named] = &[Named {
    name: "pi",
    title: "Proportional integral controller",
    paper: "C. Hollot, V. Misra, D. Towsley, W. Gong, On designing improved controllers for AQM routers, INFOCOM 2001",
    doc: "Drops arrivals with a probability that a controller samples until the queue has its reference length.",
}];

const PAPER: &str = "Hollot, Misra, Towsley and Gong 2001";
const NS2: &str = "ns-2.35 queue/pi.cc";

/// All packets wait in one queue, whose limit is never exceeded.
pub(super) const ONE_QUEUE: bool = true;
/// Parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    LIMIT,
    Parameter::new(
        "a",
        "a",
        ValueKind::Number,
        "gain of the queue's distance from its reference at this sample",
    )
    .above(0.0)
    .source(PAPER),
    Parameter::new("b", "b", ValueKind::Number, "gain of that distance at the previous sample, less than a")
        .above(0.0)
        .source(PAPER),
    Parameter::new("sampling", "w", ValueKind::Number, "samples of the queue per second")
        .above(0.0)
        .to(1e6)
        .source(PAPER),
    Parameter::new("q_ref", "q_ref", ValueKind::PacketsOrBytes, "reference queue length of the controller")
        .above(0.0)
        .source(PAPER),
    Parameter::new("mean_packet", "s", ValueKind::Bytes, "mean packet size: unit of a queue in bytes")
        .from(1.0)
        .source(NS2),
    Parameter::new("mode", "", ValueKind::Choice, "unit of the queue length")
        .or(&names(&MODE_WORDS))
        .source(NS2),
    IN_BYTES,
    ECN,
];

/// Validated parameters.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    room: Room,
    a: f64,
    b: f64,
    period: Span,
    q_ref: f64,
    mean_packet: f64,
    in_bytes: bool,
    by_size: bool,
    ecn: bool,
}

/// Read and validate the parameters.
pub(super) fn read(reader: &mut ParameterReader<'_>) -> Result<Params, Vec<ParameterError>> {
    let room = Room::new(reader.limit(100), false);
    let (a, b) = (reader.number("a", 1.822e-5), reader.number("b", 1.816e-5));
    if b >= a {
        reader.error(
            "b",
            format!("{b} is not less than a ({a}): p would rise without a queue"),
            "less than a",
        );
    }
    let period = Span::from_secs(1.0 / reader.number("sampling", 170.0));
    let mean_packet = reader.bytes("mean_packet", 500) as f64;
    let q_ref = reader.packets("q_ref", 50.0, mean_packet);
    let in_bytes = reader.word("mode", &MODE_WORDS);
    let by_size = reader.flag("byte_mode", false);
    if !in_bytes && !by_size && !reader.is_in_bytes("q_ref") {
        reader.warn_without_effect(&["mean_packet"], "with mode = \"packets\" and without byte_mode");
    }
    Ok(Params { room, a, b, period, q_ref, mean_packet, in_bytes, by_size, ecn: reader.flag("ecn", false) })
}

impl Params {
    /// The length of a queue in packets.
    fn length(&self, backlog: Backlog) -> f64 {
        if self.in_bytes { backlog.bytes as f64 / self.mean_packet } else { f64::from(backlog.packets) }
    }

    /// `p = a (q - q_ref) - b (old - q_ref) + p`, within [0, 1].
    fn step(&self, p: f64, q: f64, old: f64) -> f64 {
        (self.a * (q - self.q_ref) - self.b * (old - self.q_ref) + p).clamp(0.0, 1.0)
    }
}

/// The discipline; see the module text.
pub type Pi<P> = OverFifo<P, Controller>;

/// The controller.
#[derive(Clone, Debug)]
pub struct Controller {
    params: Params,
    p: f64,
    /// The queue at the last sample.
    old: f64,
    next_sample: Time,
}

impl<P: Copy> Pi<P> {
    /// Create an empty queue.
    pub(super) fn new(params: &Params) -> Self {
        let next_sample = Time::ZERO + params.period;
        Self::of(Controller { params: params.clone(), p: 0.0, old: 0.0, next_sample })
    }
}

impl Controller {
    fn is_at_rest(&self, waiting: Backlog) -> bool {
        self.p == 0.0 && self.old == 0.0 && waiting.packets == 0
    }

    /// Take the samples that are due.
    fn catch_up(&mut self, now: Time, waiting: Backlog) {
        while self.next_sample <= now {
            let period = self.params.period;
            if self.is_at_rest(waiting) {
                self.next_sample += period * (now.since(self.next_sample).0 / period.0 + 1);
                return;
            }
            let q = self.params.length(waiting);
            self.p = self.params.step(self.p, q, self.old);
            self.old = q;
            self.next_sample += period;
        }
    }
}

impl Decide for Controller {
    const READS_FLOW: bool = false;

    #[inline]
    fn decide<P>(&mut self, now: Time, meta: &Meta, waiting: Backlog, host: &mut impl Host<P>) -> Verdict {
        self.catch_up(now, waiting);
        let Self { params, p, .. } = self;
        if params.room.is_full_for(waiting, meta.bytes) {
            return Verdict::Drop(DropReason::OVERFLOW);
        }
        let size = f64::from(meta.bytes) / params.mean_packet;
        let p = if params.by_size { *p * size } else { *p };
        if p > 0.0 && host.uniform() < p {
            return Verdict::signal(DropReason::EARLY, params.ecn, meta);
        }
        Verdict::Accept
    }

    #[inline]
    fn next_timer(&self, waiting: Backlog) -> Option<Time> {
        (!self.is_at_rest(waiting)).then_some(self.next_sample)
    }

    fn on_timer(&mut self, now: Time, waiting: Backlog) {
        self.catch_up(now, waiting);
    }

    fn gauges(&self, out: &mut dyn FnMut(Gauge, f64)) {
        out(Gauge::State("p"), self.p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LinkContext, Spec, Value};
    use aqmlab_units::Rate;
    use proptest::prelude::*;

    const LINK: LinkContext = LinkContext { rate: Rate(1_000_000), delay: Span::ZERO };

    fn params() -> Params {
        let spec = Spec::new("pi").expect("a preset");
        read(&mut ParameterReader::new(&spec, LINK)).expect("valid")
    }

    #[test]
    fn samples_by_hand() {
        let params = params();
        // 1.822e-5 * 50 - 1.816e-5 * 40 + 0.1 = 0.1 + 9.11e-4 - 7.264e-4.
        assert!((params.step(0.1, 100.0, 90.0) - 0.100_184_6).abs() < 1e-15);
        // At the reference and without a trend nothing changes.
        assert_eq!(params.step(0.1, 50.0, 50.0), 0.1);
        // Empty: down by (a - b) q_ref = 3e-6 in each sample.
        assert!((params.step(0.1, 0.0, 0.0) - 0.099_997).abs() < 1e-12);
        assert_eq!(params.step(0.0, 0.0, 0.0), 0.0);
        assert_eq!(params.step(1.0, 1e6, 0.0), 1.0);
    }

    #[test]
    fn a_queue_in_bytes_is_counted_in_mean_packets() {
        let params = Params { in_bytes: true, ..params() };
        assert_eq!(params.length(Backlog { packets: 3, bytes: 4000 }), 8.0);
    }

    #[test]
    fn gains_that_would_run_away_are_refused() {
        let mut spec = Spec::new("pi").expect("a preset");
        spec.set("b", Value::Number(2e-5)).expect("above 0");
        let errors = spec.resolve(LINK).expect_err("b above a");
        assert_eq!(errors[0].key, "b");
    }

    proptest! {
        #[test]
        fn p_is_a_probability(p in 0.0..=1.0f64, q in 0.0..1e5f64, old in 0.0..1e5f64) {
            prop_assert!((0.0..=1.0).contains(&params().step(p, q, old)));
        }
    }
}
