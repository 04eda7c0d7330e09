//! AVQ, adaptive virtual queue (S. Kunniyur and R. Srikant, "Analysis and Design of an Adaptive Virtual Queue (AVQ) Algorithm
//! for Active Queue Management", SIGCOMM 2001).
//!
//! A virtual queue with the same arrivals, of which only lengths are kept, runs in parallel before a slower link. A packet
//! that would overflow it is dropped or marked in the real queue, before the real buffer fills. The virtual link's rate C~ is slowed while
//! more arrives than a share gamma of the real link, and so brings utilization, not the queue, to its target:
//!
//! ```text
//! at an arrival of b at t, after one at s:
//!     VQ <- max(VQ - C~ (t - s), 0)
//!     if VQ + b > B:  drop or mark          else:  VQ <- VQ + b
//!     C~ <- max(min(C~ + alpha gamma C (t - s), C) - alpha b, 0)
//! ```
//!
//! | symbol | parameter | unit | default | allowed | source |
//! |---|---|---|---|---|---|
//! | gamma | `gamma` | 1 | 0.98 | in (0, 1] | the paper |
//! | alpha | `alpha` | 1/s | 0.15 | above 0 | the paper |
//! | B | `virtual_limit` | 1 | 1 | above 0 | ns-2.35 `queue/vq.cc`: share of the buffer |
//! | C~ at first | `c_init` | 1 | 0.8 | in \[0, 1\] | ns-2.35 `queue/vq.cc`: share of C |
//! | - | `mode` | | packets | packets, bytes | the paper |
//! | - | `update` | | paper | paper, ns2 | |
//! | s | `mean_packet` | bytes | 1000 | at least 1 | ns-2.35 `queue/vq.cc` |
//! | buffer | `limit` | packets or bytes | 100 packets | at least 1 | as the RED presets |
//!
//! Readings: a packet that ECN cannot mark is dropped and, as the paper specifies for drops, not accepted by the virtual queue;
//! C~ still moves for it (`update` = "paper"). ns-2.35 ("ns2") leaves C~ and its clock alone when a packet is dropped, and
//! bounds C~ by C after alpha b has been taken off, not before. In packets a packet counts as one, and C is in mean packets.
//!
//! Drop reasons: `virtual-overflow`, `overflow`. Gauges: `virtual_queue`, `virtual_rate` (share of the link's rate).

use aqmlab_units::Time;

use super::{Named, ParameterReader};
use crate::registry::{ECN, LIMIT, MODE_WORDS};
use crate::spec::Limit;
use crate::{
    Backlog, Decide, DropClass, DropReason, Gauge, Host, Meta, OverFifo, Parameter, ParameterError, Room,
    ValueKind, Verdict, names,
};

/// The virtual queue is full.
const VIRTUAL_OVERFLOW: DropReason = DropReason::new(&("virtual-overflow", DropClass::Early));

/// Presets.
pub(super) const PRESETS: &[Named] = &[Named {
    name: "avq",
    title: "Adaptive virtual queue (AVQ)",
    paper: "S. Kunniyur, R. Srikant, Analysis and Design of an Adaptive Virtual Queue Algorithm for AQM, SIGCOMM 2001",
    doc: "Drops packets that would overflow a virtual queue before a slower link, whose rate follows the utilization.",
}];

const UPDATE_WORDS: [(&str, bool); 2] = [("paper", false), ("ns2", true)];

/// All packets wait in one queue, whose limit is never exceeded.
pub(super) const ONE_QUEUE: bool = true;
/// Parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    LIMIT,
    Parameter::new("gamma", "gamma", ValueKind::Number, "target utilization")
        .above(0.0)
        .to(1.0)
        .source(PAPER),
    Parameter::new("alpha", "alpha", ValueKind::Number, "adaptation speed of the virtual rate")
        .above(0.0)
        .source(PAPER),
    Parameter::new(
        "virtual_limit",
        "B",
        ValueKind::Number,
        "size of the virtual buffer as a share of the real one",
    )
    .above(0.0)
    .source(NS2),
    Parameter::new(
        "c_init",
        "C~/C",
        ValueKind::Number,
        "initial virtual rate, as a share of the link's rate",
    )
    .from(0.0)
    .to(1.0)
    .source(NS2),
    Parameter::new(
        "mean_packet",
        "s",
        ValueKind::Bytes,
        "mean packet size: unit of the link's rate in packets",
    )
    .from(1.0)
    .source(NS2),
    Parameter::new("mode", "", ValueKind::Choice, "unit of the virtual queue")
        .or(&names(&MODE_WORDS))
        .source(PAPER),
    Parameter::new(
        "update",
        "",
        ValueKind::Choice,
        "when the virtual rate adapts: at every arrival, or as in ns-2",
    )
    .or(&names(&UPDATE_WORDS))
    .source(NS2),
    ECN,
];

const PAPER: &str = "Kunniyur and Srikant 2001";
const NS2: &str = "ns-2.35 queue/vq.cc";

/// Validated parameters; lengths in packets or bytes, according to `mode`.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    room: Room,
    gamma: f64,
    alpha: f64,
    /// B.
    virtual_limit: f64,
    /// C, a second.
    capacity: f64,
    c_init: f64,
    in_bytes: bool,
    as_ns2: bool,
    ecn: bool,
}

/// Read and validate the parameters.
pub(super) fn read(reader: &mut ParameterReader<'_>) -> Result<Params, Vec<ParameterError>> {
    let limit = reader.limit(100);
    let mean_packet = reader.bytes("mean_packet", 1000) as f64;
    let in_bytes = reader.word("mode", &MODE_WORDS);
    let unit = if in_bytes { 1.0 } else { mean_packet };
    let buffer = match limit {
        Limit::Packets(n) => f64::from(n) * mean_packet / unit,
        Limit::Bytes(bytes) => bytes as f64 / unit,
    };
    Ok(Params {
        room: Room::new(limit, false),
        gamma: reader.number("gamma", 0.98),
        alpha: reader.number("alpha", 0.15),
        virtual_limit: reader.number("virtual_limit", 1.0) * buffer,
        capacity: reader.rate().bps() / (8.0 * unit),
        c_init: reader.number("c_init", 0.8),
        in_bytes,
        as_ns2: reader.word("update", &UPDATE_WORDS),
        ecn: reader.flag("ecn", false),
    })
}

/// The virtual queue and its link.
#[derive(Clone, Copy, Debug)]
struct Virtual {
    /// VQ.
    queue: f64,
    /// C~, a second.
    rate: f64,
    /// When the queue was last served, and the rate last moved; none before the first arrival.
    seen: Option<(Time, Time)>,
}

impl Virtual {
    fn new(params: &Params) -> Self {
        Self { queue: 0.0, rate: params.c_init * params.capacity, seen: None }
    }

    /// Serves the queue up to now. Whether `b` more would overflow it; if not, they are in it.
    fn overflows(&mut self, params: &Params, now: Time, b: f64) -> bool {
        let (served, _) = *self.seen.get_or_insert((now, now));
        self.queue = (self.queue - self.rate * now.since(served).secs()).max(0.0);
        self.seen = self.seen.map(|(_, moved)| (now, moved));
        let is_over = self.queue + b > params.virtual_limit;
        if !is_over {
            self.queue += b;
        }
        is_over
    }

    /// Moves the rate after an arrival of `b`.
    fn adapt(&mut self, params: &Params, now: Time, b: f64) {
        let moved = self.seen.map_or(now, |(_, moved)| moved);
        let grown = self.rate + params.alpha * params.gamma * params.capacity * now.since(moved).secs();
        let taken = params.alpha * b;
        self.rate = if params.as_ns2 {
            (grown - taken).min(params.capacity).max(0.0)
        } else {
            (grown.min(params.capacity) - taken).max(0.0)
        };
        self.seen = self.seen.map(|(served, _)| (served, now));
    }
}

/// The discipline; see the module text.
pub type Avq<P> = OverFifo<P, VirtualQueue>;

/// The virtual queue with its parameters.
#[derive(Clone, Debug)]
pub struct VirtualQueue {
    params: Params,
    virtual_queue: Virtual,
}

impl<P: Copy> Avq<P> {
    /// Create an empty queue.
    pub(super) fn new(params: &Params) -> Self {
        Self::of(VirtualQueue { params: params.clone(), virtual_queue: Virtual::new(params) })
    }
}

impl Decide for VirtualQueue {
    const READS_FLOW: bool = false;

    #[inline]
    fn decide<P>(&mut self, now: Time, meta: &Meta, waiting: Backlog, _host: &mut impl Host<P>) -> Verdict {
        let Self { params, virtual_queue } = self;
        let b = if params.in_bytes { f64::from(meta.bytes) } else { 1.0 };
        let is_over = virtual_queue.overflows(params, now, b);
        let verdict = if params.room.is_full_for(waiting, meta.bytes) {
            Verdict::Drop(DropReason::OVERFLOW)
        } else if is_over {
            Verdict::signal(VIRTUAL_OVERFLOW, params.ecn, meta)
        } else {
            Verdict::Accept
        };
        let is_dropped = is_over && matches!(verdict, Verdict::Drop(_));
        if !(is_dropped && params.as_ns2) {
            virtual_queue.adapt(params, now, b);
        }
        verdict
    }

    fn gauges(&self, out: &mut dyn FnMut(Gauge, f64)) {
        out(Gauge::State("virtual_queue"), self.virtual_queue.queue);
        out(Gauge::State("virtual_rate"), self.virtual_queue.rate / self.params.capacity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqmlab_units::Span;

    fn params(as_ns2: bool) -> Params {
        Params {
            room: Room::new(Limit::Packets(5), false),
            gamma: 0.98,
            alpha: 0.15,
            virtual_limit: 2.0,
            capacity: 1000.0,
            c_init: 0.8,
            in_bytes: false,
            as_ns2,
            ecn: false,
        }
    }

    #[test]
    fn the_virtual_queue_by_hand() {
        let params = params(false);
        let mut v = Virtual::new(&params);
        assert_eq!(v.rate, 800.0);
        let t = Time::from_secs(1.0);
        assert_eq!([0; 3].map(|_| v.overflows(&params, t, 1.0)), [false, false, true]);
        // 800/s for 1 ms take 0.8 off: 1.2 and one more are above 2; after another 0.3 ms they are not.
        assert!(v.overflows(&params, t + Span::from_millis(1), 1.0));
        assert!((v.queue - 1.2).abs() < 1e-12);
        assert!(!v.overflows(&params, t + Span(1_300_000_000), 1.0));
        assert!((v.queue - 1.96).abs() < 1e-12);
    }

    #[test]
    fn the_virtual_rate_by_hand() {
        let (paper, ns2) = (params(false), params(true));
        let t = Time::from_secs(1.0);
        let mut v = Virtual::new(&paper);
        v.overflows(&paper, t, 1.0);
        v.adapt(&paper, t, 1.0);
        assert!((v.rate - 799.85).abs() < 1e-9, "alpha b");
        v.adapt(&paper, t + Span::from_millis(100), 1.0);
        assert!((v.rate - (799.85 + 0.15 * 0.98 * 100.0 - 0.15)).abs() < 1e-9);
        // Near the top: the paper bounds before it takes off, ns-2 after.
        let full = Virtual { rate: 1000.0, ..v };
        let (mut a, mut b) = (full, full);
        a.adapt(&paper, t + Span::from_millis(200), 1.0);
        b.adapt(&ns2, t + Span::from_millis(200), 1.0);
        assert!((a.rate - 999.85).abs() < 1e-9 && b.rate == 1000.0);
    }

    #[test]
    fn the_rate_is_stationary_at_the_target_utilization() {
        // One packet each 1/(gamma C): the virtual queue gains and loses the same number of bytes.
        let params = params(false);
        let mut v = Virtual::new(&params);
        let mut now = Time::from_secs(1.0);
        for _ in 0..1000 {
            v.overflows(&params, now, 1.0);
            v.adapt(&params, now, 1.0);
            now += Span::from_secs(1.0 / 980.0);
        }
        assert!((v.rate - 799.85).abs() < 1e-6, "{}", v.rate);
    }
}
