//! Schedulers of classes. Each class has a child queue with its own discipline.
//!
//! A packet's code point selects its class. The discipline of the class queues, drops or marks the packet, and the scheduler
//! selects the class that sends next. A class of a scenario names another queue of the file as its child queue; any discipline
//! is allowed, also a scheduler. A class that names none has drop-tail with the scheduler's `limit`.
//!
//! | `aqm` | which class sends next | source |
//! |---|---|---|
//! | `priority` | the first in the file's order that has a packet | strict priority; RFC 3246 for its first class |
//! | `wfq` | the one with the least start tag | P. Goyal, H. M. Vin and H. Cheng, "Start-time Fair Queuing", SIGCOMM 1996 |
//! | `drr` with classes | in turn, up to its weight in bytes | Shreedhar and Varghese 1996, as below |
//!
//! ```text
//! S(k) = max(v(A(k)), F(k-1)),  F(k) = S(k) + l(k)/weight,  v = S of the packet in service            (Goyal et al.)
//! at a turn:  DC <- DC + quantum weight/(least weight);  the class sends while DC > 0;  DC <- DC - l(k)
//! ```
//!
//! Fair queueing uses start tags, since only the discipline of a class knows which packet it sends next and its length, and
//! it may still drop packets; finish tags (WFQ proper, SCFQ) would need the length before the choice. Shares are the same,
//! and the delay bound that of the paper. For the same reason a class in deficit round robin sends while it has
//! any credit and goes into debt with its last packet, as RFC 8290's flows do; over a round it is the same. A class without
//! packets keeps its debt, not its credit.
//!
//! For the discipline of a class the link is free when nothing of the class waits and the transmission of its last packet is
//! over, and the link's rate is that of the whole link: so RED's average decays in packet times of the link.

mod order;

use aqmlab_units::Time;

use super::{Named, ParameterReader};
use crate::qdisc::find_gauge;
use crate::red::{AVERAGE, P_B};
use crate::registry::LIMIT;
use crate::spec::{ClassSpec, CodePoints, Resolved, Spec, Value, code_points};
use crate::{Backlog, Dequeue, Discipline, Gauge, Host, Packet, Parameter, ParameterError, Qdisc, ValueKind};

use order::ServiceOrder;
pub(super) use order::ServiceRule;

/// Presets.
pub(super) const PRESETS: &[Named] = &[
    Named {
        name: PRIORITY,
        title: "Strict priority",
        paper: "RFC 3246 (the first class as expedited forwarding)",
        doc: "Classes by code point, each with another queue of the file as its child queue (queue); the first one with a packet sends.",
    },
    Named {
        name: WFQ,
        title: "Weighted fair queueing (start-time)",
        paper: "P. Goyal, H. M. Vin, H. Cheng, Start-time Fair Queuing, SIGCOMM 1996",
        doc: "Classes by code point, each with another queue of the file as its child queue (queue), share the link by their weight.",
    },
];

const PRIORITY: &str = "priority";
const WFQ: &str = "wfq";
const DRR: &str = "drr";

/// Packets wait in several queues.
pub(super) const ONE_QUEUE: bool = false;
/// Parameters of a scheduler; those of its classes are [`class_parameters`].
pub(super) const PARAMETERS: &[Parameter] = &[LIMIT];

const WEIGHT: &[Parameter] = &[Parameter::new(
    "weight",
    "w",
    ValueKind::Number,
    "share of the link, relative to the weights of the other classes",
)
.above(0.0)
.to(1e6)];

/// Return whether classes of this discipline have child queues.
pub(crate) fn has_class_queues(name: &str) -> bool {
    [PRIORITY, WFQ, DRR].contains(&name)
}

/// Return the parameters of a class, for a discipline whose classes have child queues.
pub(crate) fn class_parameters(name: &str) -> &'static [Parameter] {
    if name == PRIORITY { &[] } else { WEIGHT }
}

/// The default classes of a scheduler: expedited forwarding (RFC 3246), and all other packets.
const OWN: [(&str, &[u8], bool, f64); 2] = [("ef", &[46], false, 3.0), ("rest", &[], true, 1.0)];

/// Validated parameters.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    rule: ServiceRule,
    of: CodePoints,
    classes: Vec<Class>,
}

/// A class: its weight and its child queue.
#[derive(Clone, Debug)]
struct Class {
    weight: f64,
    queue: Resolved,
}

/// Read and validate the parameters.
pub(super) fn read(reader: &mut ParameterReader<'_>) -> Result<Params, Vec<ParameterError>> {
    let rule = if reader.name() == PRIORITY { ServiceRule::Priority } else { ServiceRule::Fair };
    read_classes(reader, rule)
}

/// Read the classes of the file, or the default classes, for a service rule.
pub(super) fn read_classes(
    reader: &mut ParameterReader<'_>,
    rule: ServiceRule,
) -> Result<Params, Vec<ParameterError>> {
    let limit = reader.limit(100);
    let mut drop_tail = Spec::new("drop-tail").into_iter().collect::<Vec<_>>();
    drop_tail.iter_mut().try_for_each(|spec| spec.set("limit", limit.into())).map_err(|e| vec![e])?;
    let specs = classes(reader);
    let claims: Vec<_> = specs.iter().map(|c| (c.name.as_str(), c.dscp.as_slice(), c.default)).collect();
    let of = code_points(&claims)?;
    let (mut built, mut errors) = (Vec::new(), Vec::new());
    for class in &specs {
        let name = class.name.as_str();
        let weight = class.number("weight").unwrap_or(1.0);
        let Some(queue) = class.queue.as_ref().or(drop_tail.first()) else { continue };
        let queue_name = queue.preset().name;
        reader.known_of_class(name, "dscp", Value::Word(class.code_points()));
        if rule != ServiceRule::Priority {
            reader.known_of_class(name, "weight", Value::Number(weight));
        }
        reader.known_of_class(name, "aqm", Value::Word(queue_name.into()));
        match queue.resolve(reader.link) {
            Ok(queue) if queue.is_shaped() => errors.push(ParameterError {
                key: format!("class.{name}.queue"),
                message: format!("{queue_name} has a shaper of its own"),
                allowed: "rate = \"unlimited\", and the rate of the link".into(),
            }),
            Ok(queue) => {
                for (key, value) in &queue.effective {
                    reader.known_of_class(name, key, value.clone());
                }
                queue.warnings.iter().for_each(|warning| reader.warn(format!("class {name}: {warning}")));
                built.push(Class { weight, queue });
            }
            Err(wrong) => errors.extend(wrong.into_iter().map(|e| ParameterError {
                key: format!("class.{name}.queue"),
                message: format!("{}: {}", e.key, e.message),
                allowed: e.allowed,
            })),
        }
    }
    if errors.is_empty() { Ok(Params { rule, of, classes: built }) } else { Err(errors) }
}

/// Return the classes of the file; if all have names of default classes, the default classes with the file's changes.
fn classes(reader: &ParameterReader<'_>) -> Vec<ClassSpec> {
    let of_file = reader.classes();
    if !of_file.iter().all(|class| OWN.iter().any(|(name, ..)| *name == class.name)) {
        return of_file.to_vec();
    }
    let own = |&(name, dscp, default, weight): &(&str, &[u8], bool, f64)| {
        let mut class = of_file
            .iter()
            .find(|class| class.name == name)
            .cloned()
            .unwrap_or_else(|| ClassSpec::new(reader.preset(), name));
        if class.dscp.is_empty() && !class.default {
            (class.dscp, class.default) = (dscp.to_vec(), default);
        }
        if class.number("weight").is_none() && reader.name() != PRIORITY {
            // A weight of the list is in range.
            let _ = class.set("weight", Value::Number(weight));
        }
        class
    };
    OWN.iter().map(own).collect()
}

/// The discipline; see the module text.
#[derive(Clone, Debug)]
pub struct Scheduler<P> {
    of: CodePoints,
    queues: Vec<Discipline<P>>,
    order: ServiceOrder,
    /// The class of the packet in transmission.
    served: Option<usize>,
}

impl<P: Copy + Default> Scheduler<P> {
    /// Create empty queues.
    pub(super) fn new(params: &Params) -> Self {
        let weights: Vec<_> = params.classes.iter().map(|class| class.weight).collect();
        Self {
            of: params.of.clone(),
            queues: params.classes.iter().map(|class| class.queue.build()).collect(),
            order: ServiceOrder::new(params.rule, &weights),
            served: None,
        }
    }

    /// Report to the service order whether a class has packets.
    fn update_activity(&mut self, class: usize) {
        let waits = self.queues[class].backlog().packets > 0;
        self.order.set_active(class, waits);
    }
}

impl<P: Copy + Default> Qdisc<P> for Scheduler<P> {
    fn enqueue(&mut self, now: Time, packet: Packet<P>, host: &mut impl Host<P>) {
        let class = self.of.class(packet.meta.header.dscp());
        self.queues[class].enqueue(now, packet, host);
        self.update_activity(class);
    }

    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        if let Some(class) = self.served.take()
            && self.queues[class].backlog().packets == 0
        {
            self.queues[class].on_idle(now, host);
        }
        self.order.begin();
        let mut not_before: Option<Time> = None;
        while let Some(class) = self.order.next() {
            match self.queues[class].dequeue(now, host) {
                Dequeue::Packet(packet) => {
                    self.order.sent(class, packet.meta.bytes);
                    self.update_activity(class);
                    self.served = Some(class);
                    return Dequeue::Packet(packet);
                }
                Dequeue::Empty => self.update_activity(class),
                Dequeue::NotBefore(time) => {
                    self.order.skip(class);
                    not_before = Some(not_before.map_or(time, |earliest| earliest.min(time)));
                }
            }
        }
        not_before.map_or(Dequeue::Empty, Dequeue::NotBefore)
    }

    fn next_timer(&self) -> Option<Time> {
        self.queues.iter().filter_map(Qdisc::<P>::next_timer).min()
    }

    fn on_timer(&mut self, now: Time, host: &mut impl Host<P>) {
        for class in 0..self.queues.len() {
            if Qdisc::<P>::next_timer(&self.queues[class]).is_some_and(|due| due <= now) {
                self.queues[class].on_timer(now, host);
                self.update_activity(class);
            }
        }
    }

    fn backlog(&self) -> Backlog {
        self.queues.iter().map(Qdisc::<P>::backlog).fold(Backlog::default(), |sum, of| Backlog {
            packets: sum.packets + of.packets,
            bytes: sum.bytes + of.bytes,
        })
    }

    fn gauges(&self, now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        // Of classes whose child queues have an average and p_b: the sum of the averages, and the largest p_b.
        let of_all = |name| self.queues.iter().filter_map(move |q| Qdisc::<P>::gauge(q, now, name));
        let has_average = of_all(AVERAGE).next().is_some();
        if has_average {
            out(Gauge::State(AVERAGE), of_all(AVERAGE).fold(0.0, |sum, average| sum + average));
            out(Gauge::State(P_B), of_all(P_B).fold(0.0, f64::max));
        }
        for (queue, [packets, average, p_b]) in self.queues.iter().zip(&GAUGES) {
            out(Gauge::State(packets), f64::from(Qdisc::<P>::backlog(queue).packets));
            for (name, gauge) in [(AVERAGE, average), (P_B, p_b)] {
                if let Some(value) = Qdisc::<P>::gauge(queue, now, name) {
                    out(Gauge::State(gauge), value);
                }
            }
        }
    }

    fn gauge(&self, now: Time, name: &str) -> Option<f64> {
        if name == AVERAGE {
            let averages = self.queues.iter().filter_map(|q| Qdisc::<P>::gauge(q, now, AVERAGE));
            averages.reduce(|sum, average| sum + average)
        } else {
            find_gauge::<P>(self, now, name)
        }
    }

    fn warnings(&self) -> Vec<String> {
        self.queues.iter().flat_map(Qdisc::<P>::warnings).collect()
    }
}

/// Names of the gauges of each class.
const GAUGES: [[&str; 3]; 8] = [
    ["packets_0", "average_0", "p_b_0"],
    ["packets_1", "average_1", "p_b_1"],
    ["packets_2", "average_2", "p_b_2"],
    ["packets_3", "average_3", "p_b_3"],
    ["packets_4", "average_4", "p_b_4"],
    ["packets_5", "average_5", "p_b_5"],
    ["packets_6", "average_6", "p_b_6"],
    ["packets_7", "average_7", "p_b_7"],
];
