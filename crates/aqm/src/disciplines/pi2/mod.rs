//! PI2, PI improved with a square (K. De Schepper, O. Bondarenko, I.-J. Tsang, B. Briscoe, "PI2: A linearized AQM for both
//! classic and scalable TCP", CoNEXT 2016).
//!
//! A classic sender's rate is inversely proportional to the root of its loss rate, so a controller of the loss rate needs
//! gains that depend on it, as PIE's does. PI2 controls the root p' with constant gains instead. A classic packet is dropped
//! with probability p'^2; a scalable sender, whose rate is inversely proportional to its marks, is marked with k p':
//!
//! ```text
//! p' = p' + alpha (delay - target) + beta (delay - old delay)      p_C = p'^2      p_L = k p'
//! ```
//!
//! | symbol | parameter | unit | default | allowed | source |
//! |---|---|---|---|---|---|
//! | target | `target` | s | 20 ms | above 0 | `sch_pi2.c` |
//! | T | `t_update` | s | 32 ms | 1 us and more | `sch_pi2.c`: 30 ms in ticks of 4 ms |
//! | alpha | `alpha` | 1/s | 0.3125 | above 0 | `sch_pi2.c`: 10/16 of k p' |
//! | beta | `beta` | 1/s | 3.125 | above 0 | `sch_pi2.c`: 100/16 of k p' |
//! | k | `coupling` | | 2 | above 0 | `sch_pi2.c` |
//! | maximum of p_C | `max_p` | | min(1/k^2, 1) | above 0, at most 1 | `sch_pi2.c`: k p' is at most 1 |
//! | MTU | `max_packet` | bytes | 1514 | 0 and more | `sch_pi2.c` |
//! | limit | `limit` | packets or bytes | 1000 packets | at least 1 | `sch_pi2.c` |
//!
//! `sch_pi2.c` is the authors' module for Linux, of 2015 (github.com/olgabo/dualpi2). It controls k p', so its gains are k
//! times these.
//!
//! Readings. A random number decides about a packet as it leaves, as the authors do since DualPI2 (RFC 9332,
//! appendix A), or as it arrives, as in `sch_pi2.c` (`decide`). No packet is dropped or marked while less than two of `max_packet`
//! wait in addition to it. Scalable are packets with ECT(1) or CE, where `ecn` is on (RFC 9331); in `sch_pi2.c`, which is older, all ECT are.
//! Differences from `sch_pi2.c`: the delay is that of the packet at the head, when the controller steps, not the length over an
//! estimate of the rate; p' does not shrink by 2 % more when two delays are 0.
//!
//! Drop reasons: `early`, `overflow`. Gauges: `p_c`, `delay` in s, `p_base` (p').

mod control;

pub(crate) use control::{Base, Gains, head_delay};

use aqmlab_units::{Span, Time};

use super::pie::{ALPHA, BETA, T_UPDATE, TARGET};
use super::{Named, ParameterReader};
use crate::registry::{ECN, LIMIT};
use crate::{
    Backlog, Dequeue, DropReason, Ecn, Fifo, Gauge, Host, Meta, Packet, Parameter, ParameterError, Qdisc,
    Room, ValueKind, Verdict, names,
};

/// Presets.
pub(super) const PRESETS: &[Named] = &[Named {
    name: "pi2",
    title: "PI improved with a square",
    paper: "K. De Schepper, O. Bondarenko, I.-J. Tsang, B. Briscoe, PI2, CoNEXT 2016",
    doc: "Drops with the square of a probability that a controller with constant gains computes.",
}];

const DECIDE_WORDS: [(&str, bool); 2] = [("leaving", false), ("arriving", true)];

/// All packets wait in one queue, whose limit is never exceeded.
pub(super) const ONE_QUEUE: bool = true;
/// Parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    LIMIT,
    TARGET,
    T_UPDATE,
    ALPHA,
    BETA,
    COUPLING,
    Parameter::new(
        "max_p",
        "",
        ValueKind::Number,
        "largest probability of a drop; beyond it the buffer fills",
    )
    .above(0.0)
    .to(1.0)
    .source("sch_pi2.c"),
    SPARED,
    Parameter::new("decide", "", ValueKind::Choice, "when a packet is dropped or marked")
        .or(&names(&DECIDE_WORDS))
        .source("RFC 9332; sch_pi2.c"),
    ECN,
];

pub(crate) const COUPLING: Parameter = Parameter::new(
    "coupling",
    "k",
    ValueKind::Number,
    "marks of scalable flows for each drop by the root of classic ones",
)
.above(0.0)
.source("RFC 9332");
pub(crate) const SPARED: Parameter =
    Parameter::new("max_packet", "", ValueKind::Bytes, "no drop while less than two of these are left")
        .from(0.0)
        .source("Linux sch_dualpi2.c");

/// Validated parameters.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    room: Room,
    gains: Gains,
    coupling: f64,
    /// The largest p'.
    most: f64,
    spared: u64,
    /// Decide about a packet as it arrives, not as it leaves.
    at_arrival: bool,
    ecn: bool,
}

/// Read and validate the parameters.
pub(super) fn read(reader: &mut ParameterReader<'_>) -> Result<Params, Vec<ParameterError>> {
    let room = Room::new(reader.limit(1000), false);
    let gains = Gains {
        target: reader.time("target", Span::from_millis(20)).secs(),
        t_update: reader.time("t_update", Span::from_millis(32)),
        alpha: reader.number("alpha", 0.3125),
        beta: reader.number("beta", 3.125),
    };
    let coupling = reader.number("coupling", 2.0);
    let most = libm::sqrt(reader.number("max_p", (1.0 / (coupling * coupling)).min(1.0)));
    let spared = reader.bytes("max_packet", 1514).saturating_mul(2);
    let at_arrival = reader.word("decide", &DECIDE_WORDS);
    Ok(Params { room, gains, coupling, most, spared, at_arrival, ecn: reader.flag("ecn", false) })
}

/// The discipline; see the module text.
#[derive(Clone, Debug)]
pub struct Pi2<P> {
    params: Params,
    queue: Fifo<P>,
    base: Base,
}

impl<P: Copy> Pi2<P> {
    /// Create an empty queue.
    pub(super) fn new(params: &Params) -> Self {
        Self { params: params.clone(), queue: Fifo::default(), base: Base::new(&params.gains) }
    }

    /// Compute the steps of the controller that are due.
    fn catch_up(&mut self, now: Time) {
        let Self { params, queue, base } = self;
        base.catch_up(&params.gains, params.most, now, |t| head_delay(queue, t));
    }

    /// Return the probability that a packet is dropped or marked.
    fn probability(&self, ecn: Ecn) -> f64 {
        let is_scalable = self.params.ecn && matches!(ecn, Ecn::Ect1 | Ecn::Ce);
        if is_scalable { (self.params.coupling * self.base.p).min(1.0) } else { self.base.p * self.base.p }
    }

    /// Decide about a packet outside the queue.
    fn verdict(&self, meta: &Meta, host: &mut impl Host<P>) -> Verdict {
        let is_spared = self.queue.backlog().bytes < self.params.spared;
        let p = self.probability(meta.header.ecn());
        let is_hit = !is_spared && p > 0.0 && host.uniform() < p;
        if is_hit { Verdict::signal(DropReason::EARLY, self.params.ecn, meta) } else { Verdict::Accept }
    }
}

impl<P: Copy> Qdisc<P> for Pi2<P> {
    fn enqueue(&mut self, now: Time, mut packet: Packet<P>, host: &mut impl Host<P>) {
        self.catch_up(now);
        if self.params.room.is_full_for(self.queue.backlog(), packet.meta.bytes) {
            return host.dropped(packet, DropReason::OVERFLOW);
        }
        if !self.params.at_arrival || self.verdict(&packet.meta, host).carry_out(&mut packet, host) {
            self.queue.push(packet);
        }
    }

    fn dequeue(&mut self, _now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        while let Some(mut packet) = self.queue.pop() {
            if self.params.at_arrival || self.verdict(&packet.meta, host).carry_out(&mut packet, host) {
                return Dequeue::Packet(packet);
            }
        }
        Dequeue::Empty
    }

    fn next_timer(&self) -> Option<Time> {
        self.base.next_update(self.queue.head().is_none())
    }

    fn on_timer(&mut self, now: Time, _host: &mut impl Host<P>) {
        self.catch_up(now);
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn gauges(&self, _now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        out(Gauge::State("p_c"), self.probability(Ecn::NotEct));
        self.base.gauges(out);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TestHost, packet};
    use super::*;
    use crate::{LinkContext, Spec, Value};
    use aqmlab_units::Rate;

    fn pi2(ecn: bool, p: f64) -> Pi2<u32> {
        let mut spec = Spec::new("pi2").expect("a preset");
        spec.set("ecn", Value::Flag(ecn)).expect("a flag");
        let link = LinkContext { rate: Rate(1_000_000), delay: Span::ZERO };
        let mut reader = ParameterReader::new(&spec, link);
        let mut queue = Pi2::new(&read(&mut reader).expect("valid"));
        queue.base.p = p;
        queue
    }

    #[test]
    fn classic_packets_see_the_square_and_scalable_ones_twice_the_root() {
        for (p, classic, scalable) in [(0.0, 0.0, 0.0), (0.1, 0.01, 0.2), (0.3, 0.09, 0.6), (0.5, 0.25, 1.0)]
        {
            let queue = pi2(true, p);
            for (ecn, expected) in
                [(Ecn::NotEct, classic), (Ecn::Ect, classic), (Ecn::Ect1, scalable), (Ecn::Ce, scalable)]
            {
                assert!((queue.probability(ecn) - expected).abs() < 1e-15, "{p} {ecn:?}");
            }
            assert_eq!(pi2(false, p).probability(Ecn::Ect1), queue.probability(Ecn::NotEct));
        }
    }

    #[test]
    fn a_quarter_is_the_most() {
        let mut queue = pi2(true, 0.0);
        assert_eq!(queue.params.most, 0.5);
        for i in 0..100 {
            queue.base.catch_up(&queue.params.gains, 0.5, Time::from_secs(f64::from(i)), |_| 1.0);
        }
        assert_eq!(Qdisc::<u32>::gauge(&queue, Time::ZERO, "p_c"), Some(0.25));
    }

    #[test]
    fn the_most_follows_from_the_coupling() {
        for (k, most) in [(1.0, 1.0), (2.0, 0.5), (4.0, 0.25), (0.5, 1.0)] {
            let mut spec = Spec::new("pi2").expect("a preset");
            spec.set("coupling", Value::Number(k)).expect("a number");
            let link = LinkContext { rate: Rate(1_000_000), delay: Span::ZERO };
            assert_eq!(read(&mut ParameterReader::new(&spec, link)).expect("valid").most, most);
        }
    }

    #[test]
    fn a_packet_is_decided_upon_once() {
        for at_arrival in [false, true] {
            let mut queue = pi2(false, 0.5);
            queue.params.at_arrival = at_arrival;
            let mut host = TestHost::with_draws(&[0.9, 0.24, 0.26, 0.9, 0.9]);
            (0..6).for_each(|n| queue.enqueue(Time::ZERO, packet(n, 1, 1514), &mut host));
            // Two packets must wait in addition to a packet: the first two to arrive, or the last two to leave, are never dropped.
            assert_eq!(host.dropped, if at_arrival { vec![3] } else { vec![] });
            while let Dequeue::Packet(_) = queue.dequeue(Time::ZERO, &mut host) {}
            assert_eq!(host.dropped, if at_arrival { vec![3] } else { vec![1] });
        }
    }
}
