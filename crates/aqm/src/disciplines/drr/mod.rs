//! Deficit round robin (M. Shreedhar and G. Varghese, "Efficient Fair Queuing Using Deficit Round-Robin", IEEE/ACM
//! Transactions on Networking 4(3), 1996).
//!
//! Every flow has a queue, and the queues are served in turn. A queue may send `quantum` bytes at its turn. If its next
//! packet is longer than the remainder, it keeps the remainder for its next turn. Flows therefore share the link in
//! bytes, for any packet lengths:
//!
//! ```text
//! at a turn:   DC_i <- DC_i + Quantum_i
//!              while the head of queue i is no longer than DC_i: send it, DC_i <- DC_i - its length
//! empty queue: DC_i <- 0
//! ```
//!
//! | symbol | parameter | unit | default | allowed | source |
//! |---|---|---|---|---|---|
//! | Quantum | `quantum` | bytes | 1500 | at least 1 | the paper: a largest packet, so that a turn always sends |
//! | - | `buckets` | 1 | 1024 | 1 .. 65536 | the paper |
//! | - | `hash` | | mix | mix, modulo | |
//! | - | `longest` | | head | head, tail | ns-2.35 `queue/drr.cc` |
//! | buffer | `limit` | packets or bytes | 100 packets | at least 1 | as the RED presets |
//!
//! Readings: flows are hashed to buckets by the flow label, and flows of one bucket share a queue, so that a
//! reverse path or a host with several flows has several queues (ns-2 hashes the source address). At overflow the queue with
//! most bytes loses a packet ("buffer stealing"), after the arrival has been queued; which of its packets the
//! paper leaves open: the head as in ns-2, or the tail (`longest`). With classes in the scenario there is a queue for each of
//! them in place of the flows; see [`super::scheduler`].

mod flows;

use aqmlab_units::Time;

use super::flow_queues::Hash;
use super::{Named, ParameterReader};
use crate::qdisc::find_gauge;
use crate::registry::LIMIT;
use crate::{Backlog, Dequeue, Gauge, Host, Packet, Parameter, ParameterError, Qdisc, ValueKind, names};

use super::scheduler::{self, Scheduler, ServiceRule};
pub(crate) use flows::Flows;

/// Parameters, checked.
#[derive(Clone, Debug)]
pub(crate) enum Params {
    /// A queue for each flow.
    Flows(flows::Params),
    /// A queue for each class.
    Classes(scheduler::Params),
}

/// Presets.
pub(super) const PRESETS: &[Named] = &[Named {
    name: "drr",
    title: "Deficit round robin",
    paper: "M. Shreedhar, G. Varghese, Efficient Fair Queuing Using Deficit Round-Robin, IEEE/ACM ToN 4(3), 1996",
    doc: "A queue for each flow, served in turn, so that all send the same number of bytes.",
}];

const LONGEST_WORDS: [(&str, bool); 2] = [("head", true), ("tail", false)];

/// Packets wait in several queues.
pub(super) const ONE_QUEUE: bool = false;
/// Parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    LIMIT,
    Parameter::new("quantum", "Quantum", ValueKind::Bytes, "bytes that a queue may send at its turn")
        .from(1.0)
        .source("Shreedhar and Varghese 1996"),
    BUCKETS,
    HASH,
    Parameter::new(
        "longest",
        "",
        ValueKind::Choice,
        "which packet of the longest queue is dropped at overflow",
    )
    .or(&names(&LONGEST_WORDS))
    .source("ns-2.35 queue/drr.cc"),
];

pub(super) const BUCKETS: Parameter =
    Parameter::new("buckets", "", ValueKind::Number, "queues that flows are hashed to")
        .whole()
        .from(1.0)
        .to(65536.0);
pub(super) const HASH: Parameter = Parameter::new(
    "hash",
    "",
    ValueKind::Choice,
    "how a flow is mapped to a queue: mixed bits, or its number modulo buckets",
)
.or(&names(&Hash::ALL));

/// Read and validate the parameters.
pub(super) fn read(reader: &mut ParameterReader<'_>) -> Result<Params, Vec<ParameterError>> {
    let quantum = reader.bytes("quantum", 1500);
    if quantum < 100 {
        reader.warn(format!("quantum is only {quantum} bytes: sending a packet takes many turns"));
    }
    if !reader.classes().is_empty() {
        reader.warn_without_effect(&["buckets", "hash", "longest"], "with classes");
        return scheduler::read_classes(reader, ServiceRule::Rounds(quantum)).map(Params::Classes);
    }
    let buckets = reader.integer("buckets", 1024) as usize;
    if buckets == 1 {
        reader.warn_without_effect(&["quantum", "hash"], "with buckets = 1");
    }
    let params = flows::Params {
        limit: reader.limit(100),
        quantum,
        buckets,
        hash: reader.word("hash", &Hash::ALL),
        from_head: reader.word("longest", &LONGEST_WORDS),
    };
    Ok(Params::Flows(params))
}

/// The discipline; see the module text.
#[derive(Clone, Debug)]
pub enum Drr<P> {
    /// A queue for each flow.
    Flows(Flows<P>),
    /// A queue for each class.
    Classes(Scheduler<P>),
}

impl<P: Copy + Default> Drr<P> {
    /// Create an empty queue.
    pub(super) fn new(params: &Params) -> Self {
        match params {
            Params::Flows(params) => Self::Flows(Flows::new(params)),
            Params::Classes(params) => Self::Classes(Scheduler::new(params)),
        }
    }
}

impl<P: Copy + Default> Qdisc<P> for Drr<P> {
    fn enqueue(&mut self, now: Time, packet: Packet<P>, host: &mut impl Host<P>) {
        match self {
            Self::Flows(flows) => flows.enqueue(packet, host),
            Self::Classes(classes) => classes.enqueue(now, packet, host),
        }
    }

    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        match self {
            Self::Flows(flows) => flows.dequeue(),
            Self::Classes(classes) => classes.dequeue(now, host),
        }
    }

    fn next_timer(&self) -> Option<Time> {
        match self {
            Self::Flows(_) => None,
            Self::Classes(classes) => classes.next_timer(),
        }
    }

    fn on_timer(&mut self, now: Time, host: &mut impl Host<P>) {
        if let Self::Classes(classes) = self {
            classes.on_timer(now, host);
        }
    }

    fn backlog(&self) -> Backlog {
        match self {
            Self::Flows(flows) => flows.queues.total(),
            Self::Classes(classes) => classes.backlog(),
        }
    }

    fn gauges(&self, now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        match self {
            Self::Flows(flows) => out(Gauge::State("active_queues"), f64::from(flows.ring.len())),
            Self::Classes(classes) => classes.gauges(now, out),
        }
    }

    fn gauge(&self, now: Time, name: &str) -> Option<f64> {
        match self {
            Self::Flows(_) => find_gauge::<P>(self, now, name),
            Self::Classes(classes) => classes.gauge(now, name),
        }
    }

    fn warnings(&self) -> Vec<String> {
        match self {
            Self::Flows(_) => Vec::new(),
            Self::Classes(classes) => classes.warnings(),
        }
    }
}
