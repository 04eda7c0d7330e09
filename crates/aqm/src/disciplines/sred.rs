//! SRED, stabilized RED (T. J. Ott, T. V. Lakshman and L. H. Wong, "SRED: Stabilized RED", INFOCOM 1999).
//!
//! SRED estimates the number of flows without counting them. A list holds the flow labels of M past packets, its zombies;
//! each arrival is compared with one of them at random. With N flows of equal rate a hit happens once in N arrivals, so P, the
//! frequency of hits, is about 1/N. The drop probability goes with the square of N, as TCP's loss must for a queue that does not
//! depend on N, and steps with the queue:
//!
//! ```text
//! P(t) = (1 - alpha) P(t-1) + alpha Hit(t)                                    (3.2)
//! p_sred(q) = p_max                B/3 <= q < B                                (4.3)
//!           = p_max/4              B/6 <= q < B/3
//!           = 0                        q < B/6
//! p_zap = p_sred(q) min(1, 1/(256 P)^2)                                       (4.4), simple SRED
//! p_zap = p_sred(q) min(1, 1/(256 P)^2) (1 + Hit/P)                           (5.1), full SRED
//! ```
//!
//! | symbol | parameter | unit | default | allowed | source |
//! |---|---|---|---|---|---|
//! | M | `zombies` | 1 | 1000 | 1 .. 1048576 | section II |
//! | p | `overwrite` | 1 | 0.25 | in (0, 1] | section II |
//! | alpha | `alpha` | 1 | 1/M | in (0, 1] | section III: "in this paper", where (3.3) has p/M |
//! | p_max | `max_p` | 1 | 0.15 | in \[0, 1\] | section IV |
//! | 256 | `flows` | 1 | 256 | above 0 | (4.4): from so many flows on p_sred is not reduced |
//! | - | `variant` | | full | full, simple | sections V and IV |
//! | B | `limit` | packets or bytes | 100 packets | at least 1 | as the RED presets |
//!
//! Readings: a zombie that is hit only counts it; where there is no hit, the arrival takes its place with probability p. While
//! the list is not full, every arrival is added and nothing is compared. The counts and times of zombies serve the paper's
//! search for misbehaving flows and affect no drop, so they are left out. p_zap is bounded by 1. The queue is measured as the
//! limit is, in packets or, as the paper has it, in bytes.
//!
//! Drop reasons: `early`, `overflow`. Gauges: `p_zap` of the last arrival, `hit_frequency`, `flows_estimated`.

use aqmlab_units::{Probability, Time};

use super::{Named, ParameterReader};
use crate::registry::{ECN, LIMIT};
use crate::spec::Limit;
use crate::{
    Backlog, Decide, DropReason, Gauge, Host, Meta, OverFifo, Parameter, ParameterError, Room, ValueKind,
    Verdict, names,
};

/// Presets.
pub(super) const PRESETS: &[Named] = &[Named {
    name: "sred",
    title: "Stabilized RED (SRED)",
    paper: "T. J. Ott, T. V. Lakshman, L. H. Wong, SRED: Stabilized RED, INFOCOM 1999",
    doc: "Drops with a probability from the queue and the number of flows, estimated from a list of past packets.",
}];

const VARIANT_WORDS: [(&str, bool); 2] = [("full", true), ("simple", false)];

/// All packets wait in one queue, whose limit is never exceeded.
pub(super) const ONE_QUEUE: bool = true;
/// Parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    LIMIT,
    Parameter::new("zombies", "M", ValueKind::Number, "number of past packets in the list")
        .whole()
        .from(1.0)
        .to(1_048_576.0)
        .source(PAPER),
    Parameter::new(
        "overwrite",
        "p",
        ValueKind::Number,
        "probability that an arrival without a hit replaces the zombie",
    )
    .above(0.0)
    .to(1.0)
    .source(PAPER),
    Parameter::new("alpha", "alpha", ValueKind::Number, "weight of an arrival in the frequency of hits")
        .above(0.0)
        .to(1.0)
        .source(PAPER),
    Parameter::new("max_p", "p_max", ValueKind::Number, "probability at a long queue")
        .from(0.0)
        .to(1.0)
        .source(PAPER),
    Parameter::new(
        "flows",
        "256",
        ValueKind::Number,
        "number of flows from which on the probability is not reduced",
    )
    .above(0.0)
    .source(PAPER),
    Parameter::new("variant", "", ValueKind::Choice, "whether a hit raises the probability")
        .or(&names(&VARIANT_WORDS))
        .source(PAPER),
    ECN,
];

const PAPER: &str = "Ott, Lakshman and Wong 1999";

/// Validated parameters.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    room: Room,
    limit: Limit,
    memory: Memory,
    law: ZapLaw,
    ecn: bool,
}

/// Parameters of the list of zombies.
#[derive(Clone, Copy, Debug)]
struct Memory {
    zombies: usize,
    overwrite: f64,
    alpha: f64,
}

/// Constants of the drop probability.
#[derive(Clone, Copy, Debug)]
struct ZapLaw {
    max_p: f64,
    flows: f64,
    is_full: bool,
}

/// Read and validate the parameters.
pub(super) fn read(reader: &mut ParameterReader<'_>) -> Result<Params, Vec<ParameterError>> {
    let limit = reader.limit(100);
    let zombies = reader.integer("zombies", 1000) as usize;
    let overwrite = reader.number("overwrite", 0.25);
    let alpha = reader.number("alpha", 1.0 / zombies as f64);
    let max_p = reader.number("max_p", 0.15);
    if max_p == 0.0 {
        reader.warn_without_effect(&["flows", "variant", "ecn"], "with max_p = 0");
    }
    Ok(Params {
        room: Room::new(limit, false),
        limit,
        memory: Memory { zombies, overwrite, alpha },
        law: ZapLaw {
            max_p,
            flows: reader.number("flows", 256.0),
            is_full: reader.word("variant", &VARIANT_WORDS),
        },
        ecn: reader.flag("ecn", false),
    })
}

impl ZapLaw {
    /// p_sred at a share of the buffer.
    fn p_sred(&self, share: f64) -> f64 {
        if share >= 1.0 / 3.0 {
            self.max_p
        } else if share >= 1.0 / 6.0 {
            self.max_p / 4.0
        } else {
            0.0
        }
    }

    /// p_zap at a share of the buffer and a frequency of hits.
    fn p_zap(&self, share: f64, frequency: f64, is_hit: bool) -> f64 {
        let few = 1.0 / (self.flows * frequency);
        let mut p = self.p_sred(share) * (few * few).min(1.0);
        if is_hit && self.is_full {
            p *= 1.0 + 1.0 / frequency;
        }
        Probability::clamped(p).get()
    }
}

/// The list of zombies, and how often it is hit.
#[derive(Clone, Debug)]
struct Zombies {
    memory: Memory,
    flows: Vec<u32>,
    /// P.
    frequency: f64,
}

impl Zombies {
    /// An empty list.
    fn new(memory: Memory) -> Self {
        Self { memory, flows: Vec::with_capacity(memory.zombies), frequency: 0.0 }
    }

    /// Compare an arrival with a zombie and return whether it is a hit.
    fn compare<P>(&mut self, flow: u32, host: &mut impl Host<P>) -> bool {
        let Memory { zombies, overwrite, alpha } = self.memory;
        if self.flows.len() < zombies {
            self.flows.push(flow);
            return false;
        }
        let place = host.below(zombies as u64) as usize;
        let is_hit = self.flows[place] == flow;
        if !is_hit && host.uniform() < overwrite {
            self.flows[place] = flow;
        }
        self.frequency = (1.0 - alpha) * self.frequency + alpha * f64::from(u8::from(is_hit));
        is_hit
    }
}

/// The discipline; see the module text.
pub type Sred<P> = OverFifo<P, Zapping>;

/// The list of zombies, and the probability of the last arrival.
#[derive(Clone, Debug)]
pub struct Zapping {
    params: Params,
    zombies: Zombies,
    /// p_zap of the last arrival.
    p_zap: f64,
}

impl<P: Copy> Sred<P> {
    /// Create an empty queue.
    pub(super) fn new(params: &Params) -> Self {
        let zombies = Zombies::new(params.memory);
        Self::of(Zapping { params: params.clone(), zombies, p_zap: 0.0 })
    }
}

impl Zapping {
    /// The queue as a share of the buffer.
    fn share(&self, Backlog { packets, bytes }: Backlog) -> f64 {
        match self.params.limit {
            Limit::Packets(n) => f64::from(packets) / f64::from(n),
            Limit::Bytes(n) => bytes as f64 / n as f64,
        }
    }
}

impl Decide for Zapping {
    #[inline]
    fn decide<P>(&mut self, _now: Time, meta: &Meta, waiting: Backlog, host: &mut impl Host<P>) -> Verdict {
        let is_hit = self.zombies.compare(meta.flow, host);
        self.p_zap = self.params.law.p_zap(self.share(waiting), self.zombies.frequency, is_hit);
        if self.params.room.is_full_for(waiting, meta.bytes) {
            return Verdict::Drop(DropReason::OVERFLOW);
        }
        if host.uniform() < self.p_zap {
            return Verdict::signal(DropReason::EARLY, self.params.ecn, meta);
        }
        Verdict::Accept
    }

    fn gauges(&self, out: &mut dyn FnMut(Gauge, f64)) {
        out(Gauge::State("p_zap"), self.p_zap);
        let frequency = self.zombies.frequency;
        out(Gauge::State("hit_frequency"), frequency);
        out(Gauge::State("flows_estimated"), if frequency > 0.0 { 1.0 / frequency } else { 0.0 });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestHost;
    use super::*;
    use aqmlab_units::Stream;

    const LAW: ZapLaw = ZapLaw { max_p: 0.15, flows: 256.0, is_full: true };

    #[test]
    fn p_sred_by_hand() {
        let p = [0.0, 0.166, 1.0 / 6.0, 0.333, 1.0 / 3.0, 0.999].map(|share| LAW.p_sred(share));
        assert_eq!(p, [0.0, 0.0, 0.0375, 0.0375, 0.15, 0.15]);
    }

    #[test]
    fn p_zap_by_hand() {
        let simple = ZapLaw { is_full: false, ..LAW };
        // Two flows: 1/(256/2)^2; 512 flows: not reduced.
        assert!((simple.p_zap(0.5, 0.5, true) - 0.15 / 16384.0).abs() < 1e-18);
        assert_eq!(simple.p_zap(0.5, 1.0 / 512.0, true), 0.15);
        assert_eq!(LAW.p_zap(0.2, 1.0 / 512.0, false), 0.0375);
        assert!((LAW.p_zap(0.5, 0.5, true) - 3.0 * 0.15 / 16384.0).abs() < 1e-18);
        assert_eq!(LAW.p_zap(0.5, 1.0 / 512.0, true), 1.0, "bounded by 1");
        assert_eq!(LAW.p_zap(0.5, 0.0, false), 0.15, "no hit yet: any number of flows");
    }

    /// The paper's simulations have 0.001 in place of the p/M of its (3.3).
    #[test]
    fn the_memory_of_hits_is_as_long_as_the_list() {
        let memory = |set: &[(&str, f64)]| {
            let mut spec = crate::Spec::new("sred").expect("a preset");
            set.iter().for_each(|&(key, n)| spec.set(key, crate::Value::Number(n)).expect("valid"));
            let link =
                crate::LinkContext { rate: aqmlab_units::Rate(1_000_000), delay: aqmlab_units::Span::ZERO };
            let Memory { zombies, overwrite, alpha } =
                read(&mut ParameterReader::new(&spec, link)).expect("valid").memory;
            (zombies, overwrite, alpha)
        };
        assert_eq!(memory(&[]), (1000, 0.25, 0.001));
        assert_eq!(memory(&[("zombies", 200.0), ("overwrite", 1.0)]), (200, 1.0, 0.005));
        assert_eq!(memory(&[("alpha", 0.000_25)]), (1000, 0.25, 0.000_25));
    }

    #[test]
    fn the_list_fills_and_is_overwritten() {
        let mut zombies = Zombies::new(Memory { zombies: 2, overwrite: 0.25, alpha: 0.125 });
        let mut host = TestHost::with_draws(&[0.0, 0.9, 0.9, 0.3, 0.0, 0.1]);
        assert!(!zombies.compare(1, &mut host) && !zombies.compare(2, &mut host));
        assert_eq!(host.draws.len(), 6, "nothing is compared while the list fills");
        assert!(!zombies.compare(2, &mut host), "the first zombie is of flow 1, and stays");
        assert!(!zombies.compare(1, &mut host), "the second of flow 2, and stays");
        assert!(!zombies.compare(3, &mut host));
        assert_eq!((zombies.flows.as_slice(), zombies.frequency), (&[3, 2][..], 0.0));
        host.draws.push_back(0.0);
        assert!(zombies.compare(3, &mut host));
        assert_eq!(zombies.frequency, 0.125);
    }

    #[test]
    fn hits_estimate_the_number_of_flows() {
        let mut zombies = Zombies::new(Memory { zombies: 1000, overwrite: 0.25, alpha: 0.000_25 });
        let (mut host, mut rng) = (TestHost::default(), Stream::new(1, "flows"));
        for _ in 0..60_000 {
            host.draws.extend([rng.uniform(), rng.uniform()]);
            zombies.compare(rng.below(20) as u32, &mut host);
            host.draws.clear();
        }
        assert!((zombies.frequency - 0.05).abs() < 0.01, "{}", zombies.frequency);
    }
}
