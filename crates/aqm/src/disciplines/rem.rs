//! REM, random exponential marking (S. Athuraliya, V. H. Li, S. H. Low and Q. Yin, "REM: Active Queue Management", IEEE
//! Network 15(3), 2001).
//!
//! A link has a price. It rises while the arrival rate exceeds the capacity or the queue exceeds its target, and falls
//! otherwise. It is therefore stationary only where rates match and the queue is at its target, for any number of flows. The
//! probability of a drop or mark follows from the price so that the prices of all links on a path add up for its endpoints:
//!
//! ```text
//! p(t+1) = max(0, p(t) + gamma (alpha (b(t) - b*) + x(t) - c(t)))         every update_time
//! m(t)   = 1 - phi^(-p(t))
//! ```
//!
//! b is the queue, x the arrivals in the interval and c the capacity in one, all in mean packets.
//!
//! | symbol | parameter | unit | default | allowed | source |
//! |---|---|---|---|---|---|
//! | gamma | `gamma` | 1 | 0.001 | above 0 | ns-2.35 `queue/rem.cc` |
//! | alpha | `alpha` | 1 | 0.1 | at least 0 | ns-2.35 `queue/rem.cc` |
//! | phi | `phi` | 1 | 1.001 | above 1 | ns-2.35 `queue/rem.cc` |
//! | b* | `target` | packets | 20 | at least 0 | ns-2.35 `queue/rem.cc` |
//! | - | `update_time` | s | 2 ms | above 0 | ns-2.35 `queue/rem.cc` |
//! | - | `rate_weight` | 1 | 1 | in (0, 1] | ns-2.35 `queue/rem.cc`: inw |
//! | s | `mean_packet` | bytes | 1000 | at least 1 | ns-2.35 `queue/rem.cc` |
//! | - | `mode` | | packets | packets, bytes | ns-2.35 `queue/rem.cc`: qib |
//! | buffer | `limit` | packets or bytes | 100 packets | at least 1 | as the RED presets |
//!
//! Readings: x is smoothed with `rate_weight` (1: not at all), as in ns-2. In bytes, lengths are divided by the mean packet, and
//! the probability of a packet grows with its length. With ECN an ECN-capable arrival is marked instead of dropped;
//! ns-2 marks at departure and does not drop packets without ECN then. An arrival at a full buffer counts in x too.
//!
//! Drop reasons: `early`, `overflow`. Gauges: `probability` (m), `price`, `rate`.

use aqmlab_units::{Probability, Span, Time};

use super::{Named, ParameterReader};
use crate::registry::{ECN, LIMIT, MODE_WORDS};
use crate::{
    Backlog, Decide, DropReason, Gauge, Host, Meta, OverFifo, Parameter, ParameterError, Room, ValueKind,
    Verdict, names,
};

/// Presets.
pub(super) const PRESETS: &[Named] = &[Named {
    name: "rem",
    title: "Random exponential marking (REM)",
    paper: "S. Athuraliya, V. H. Li, S. H. Low, Q. Yin, REM: Active Queue Management, IEEE Network 15(3), 2001",
    doc: "Drops with a probability that follows a price, which rises while the arrival rate or the queue is too large.",
}];

/// All packets wait in one queue, whose limit is never exceeded.
pub(super) const ONE_QUEUE: bool = true;
/// Parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    LIMIT,
    Parameter::new("gamma", "gamma", ValueKind::Number, "step of the price per excess packet")
        .above(0.0)
        .source(PAPER),
    Parameter::new("alpha", "alpha", ValueKind::Number, "weight of the queue relative to the rate")
        .from(0.0)
        .source(PAPER),
    Parameter::new("phi", "phi", ValueKind::Number, "base of the probability").above(1.0).source(PAPER),
    Parameter::new("target", "b*", ValueKind::PacketsOrBytes, "target queue").from(0.0).source(PAPER),
    Parameter::new("update_time", "", ValueKind::Time, "time between two steps of the price")
        .above(0.0)
        .source(NS2),
    Parameter::new("rate_weight", "inw", ValueKind::Number, "weight of one interval in the rate of arrivals")
        .above(0.0)
        .to(1.0)
        .source(NS2),
    Parameter::new(
        "mean_packet",
        "s",
        ValueKind::Bytes,
        "mean packet size: unit of rate and, in bytes, of the queue",
    )
    .from(1.0)
    .source(NS2),
    Parameter::new("mode", "", ValueKind::Choice, "unit of queue and arrivals")
        .or(&names(&MODE_WORDS))
        .source(NS2),
    ECN,
];

const PAPER: &str = "Athuraliya, Li, Low and Yin 2001";
const NS2: &str = "ns-2.35 queue/rem.cc";

/// Validated parameters.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    room: Room,
    law: ControlLaw,
    update_time: Span,
    ecn: bool,
}

/// Constants of the price's control law.
#[derive(Clone, Copy, Debug)]
struct ControlLaw {
    gamma: f64,
    alpha: f64,
    phi: f64,
    /// b*, in packets.
    target: f64,
    rate_weight: f64,
    mean_packet: f64,
    in_bytes: bool,
    /// c: mean packets that can be sent in an interval.
    capacity: f64,
}

/// Read and validate the parameters.
pub(super) fn read(reader: &mut ParameterReader<'_>) -> Result<Params, Vec<ParameterError>> {
    let room = Room::new(reader.limit(100), false);
    let mean_packet = reader.bytes("mean_packet", 1000) as f64;
    let update_time = reader.time("update_time", Span::from_millis(2));
    let alpha = reader.number("alpha", 0.1);
    if alpha == 0.0 {
        reader.warn_without_effect(&["target"], "with alpha = 0");
    }
    let law = ControlLaw {
        gamma: reader.number("gamma", 0.001),
        alpha,
        phi: reader.number("phi", 1.001),
        target: reader.packets("target", 20.0, mean_packet),
        rate_weight: reader.number("rate_weight", 1.0),
        mean_packet,
        in_bytes: reader.word("mode", &MODE_WORDS),
        capacity: update_time.secs() * reader.rate().bps() / (8.0 * mean_packet),
    };
    Ok(Params { room, law, update_time, ecn: reader.flag("ecn", false) })
}

/// State of the price.
#[derive(Clone, Copy, Debug, Default)]
struct Price {
    price: f64,
    /// m.
    probability: f64,
    /// x: mean packets in an interval, smoothed.
    rate: f64,
}

impl ControlLaw {
    /// Convert a backlog or an arrival to mean packets.
    fn measured(&self, Backlog { packets, bytes }: Backlog) -> f64 {
        if self.in_bytes { bytes as f64 / self.mean_packet } else { f64::from(packets) }
    }

    /// One step of the price.
    fn step(&self, price: &mut Price, queue: Backlog, arrived: Backlog) {
        price.rate = (1.0 - self.rate_weight) * price.rate + self.rate_weight * self.measured(arrived);
        let excess = price.rate + self.alpha * (self.measured(queue) - self.target) - self.capacity;
        price.price = (price.price + self.gamma * excess).max(0.0);
        price.probability = 1.0 - libm::pow(self.phi, -price.price);
    }

    /// The probability of a packet of this length.
    fn probability(&self, price: &Price, bytes: u32) -> f64 {
        let scale = if self.in_bytes { f64::from(bytes) / self.mean_packet } else { 1.0 };
        Probability::clamped(price.probability * scale).get()
    }
}

/// The discipline; see the module text.
pub type Rem<P> = OverFifo<P, Pricing>;

/// The price, and what has arrived since it moved.
#[derive(Clone, Debug)]
pub struct Pricing {
    params: Params,
    price: Price,
    /// Arrivals since the last step.
    arrived: Backlog,
    next_update: Time,
}

impl<P: Copy> Rem<P> {
    /// Create an empty queue.
    pub(super) fn new(params: &Params) -> Self {
        Self::of(Pricing {
            params: params.clone(),
            price: Price::default(),
            arrived: Backlog::default(),
            next_update: Time::ZERO + params.update_time,
        })
    }
}

impl Decide for Pricing {
    const READS_FLOW: bool = false;

    #[inline]
    fn decide<P>(&mut self, _now: Time, meta: &Meta, waiting: Backlog, host: &mut impl Host<P>) -> Verdict {
        let Self { params, price, arrived, .. } = self;
        arrived.add(meta.bytes);
        if params.room.is_full_for(waiting, meta.bytes) {
            return Verdict::Drop(DropReason::OVERFLOW);
        }
        if host.uniform() < params.law.probability(price, meta.bytes) {
            return Verdict::signal(DropReason::EARLY, params.ecn, meta);
        }
        Verdict::Accept
    }

    #[inline]
    fn next_timer(&self, _waiting: Backlog) -> Option<Time> {
        Some(self.next_update)
    }

    fn on_timer(&mut self, _now: Time, waiting: Backlog) {
        let arrived = core::mem::take(&mut self.arrived);
        self.params.law.step(&mut self.price, waiting, arrived);
        self.next_update += self.params.update_time;
    }

    fn gauges(&self, out: &mut dyn FnMut(Gauge, f64)) {
        out(Gauge::State("probability"), self.price.probability);
        out(Gauge::State("price"), self.price.price);
        out(Gauge::State("rate"), self.price.rate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: ControlLaw = ControlLaw {
        gamma: 0.001,
        alpha: 0.1,
        phi: 1.001,
        target: 20.0,
        rate_weight: 1.0,
        mean_packet: 1000.0,
        in_bytes: false,
        capacity: 2.5,
    };

    fn packets(packets: u32) -> Backlog {
        Backlog { packets, bytes: 500 * u64::from(packets) }
    }

    #[test]
    fn the_price_by_hand() {
        let mut price = Price::default();
        LAW.step(&mut price, packets(50), packets(6));
        // 0.1 (50 - 20) + 6 - 2.5 = 6.5 packets too many.
        assert!((price.price - 0.0065).abs() < 1e-15);
        assert!((price.probability - (1.0 - libm::exp(-0.0065 * libm::log(1.001)))).abs() < 1e-15);
        LAW.step(&mut price, packets(20), packets(2));
        assert!((price.price - 0.006).abs() < 1e-15, "half a packet less than can be sent");
        LAW.step(&mut price, packets(0), packets(0));
        LAW.step(&mut price, packets(0), packets(0));
        assert_eq!((price.price, price.probability), (0.0, 0.0), "never below 0");
    }

    #[test]
    fn the_price_is_stationary_where_rates_match_at_the_target() {
        let mut price = Price { price: 100.0, ..Price::default() };
        let law = ControlLaw { capacity: 2.0, ..LAW };
        law.step(&mut price, packets(20), packets(2));
        assert_eq!(price.price, 100.0);
    }

    #[test]
    fn bytes_and_smoothing_by_hand() {
        let law = ControlLaw { in_bytes: true, rate_weight: 0.5, ..LAW };
        let mut price = Price { rate: 4.0, ..Price::default() };
        law.step(&mut price, packets(60), packets(8));
        assert_eq!(price.rate, 4.0, "half of 4 and half of 8 packets of 500 B");
        assert!((price.price - 0.001 * (4.0 + 0.1 * 10.0 - 2.5)).abs() < 1e-15);
        let price = Price { probability: 0.4, ..price };
        assert_eq!([law.probability(&price, 500), law.probability(&price, 5000)], [0.2, 1.0]);
    }
}
