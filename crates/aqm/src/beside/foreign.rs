//! The queue of a discipline that is written elsewhere: it keeps the packets, a [`Policy`] decides.
//!
//! | parameter | unit | default | allowed |
//! |---|---|---|---|
//! | `limit` | packets or bytes | 100 packets | at least 1 |
//! | those of the definition | | | |

use std::collections::VecDeque;
use std::sync::Arc;

use aqmlab_units::{Span, Time};

use super::{Named, Parts, Reading};
use crate::foreign::{Definition, Idea, MakePolicy, Order, Policy, Verdict};
use crate::{
    Backlog, Dequeue, DropReason, Ecn, Host, MarkReason, Packet, Parameter, ParameterError, Qdisc, Room,
    State, Unit,
};

/// None of its own: names are registered while the program runs.
pub(super) const PRESETS: &[Named] = &[];
/// Those of the definition.
pub(super) const PARAMETERS: &[Parameter] = &[];

/// Parameters, checked.
#[derive(Clone)]
pub(crate) struct Params {
    name: &'static str,
    room: Room,
    make: Arc<MakePolicy>,
    values: Vec<(&'static str, f64)>,
    bps: f64,
    every: Option<Span>,
    gauges: &'static [&'static str],
}

impl core::fmt::Debug for Params {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct(self.name).field("room", &self.room).field("values", &self.values).finish()
    }
}

/// From words to what the definition makes of them.
pub(crate) fn parts(
    definition: &'static Definition,
    reading: &mut Reading<'_>,
) -> Result<Parts, Vec<ParameterError>> {
    let Idea::Discipline { make, parameters, every, gauges } = &definition.idea else {
        unreachable!("curves and victims are RED's")
    };
    let room = Room::new(reading.limit(100), false);
    let values: Vec<_> =
        parameters.iter().map(|(p, default)| (p.key, read_value(p, *default, reading))).collect();
    let bps = reading.rate().bps();
    // Whether it can be made of these is seen now, where the file can be told of.
    if let Err(message) = make(&values, bps) {
        reading.error("aqm", format!("{}: {message}", definition.name), "what its own text allows");
    }
    let (name, make) = (definition.name.as_str(), Arc::clone(make));
    Ok(Parts::Foreign(Box::new(Params { name, room, make, values, bps, every: *every, gauges })))
}

/// A value in the parameter's unit.
fn read_value(parameter: &Parameter, default: f64, reading: &mut Reading<'_>) -> f64 {
    match parameter.unit {
        Unit::Time => reading.time(parameter.key, Span::from_secs(default)).secs(),
        Unit::Bytes => reading.bytes(parameter.key, default as u64) as f64,
        Unit::Packets | Unit::Size => reading.packets(parameter.key, default, MEAN_PACKET),
        Unit::Flag => f64::from(u8::from(reading.flag(parameter.key, default != 0.0))),
        _ => reading.number(parameter.key, default),
    }
}

/// Bytes of a packet where a length given in bytes is wanted in packets.
const MEAN_PACKET: f64 = 1000.0;

/// Not reached: a registered name has a kind of its own.
pub(super) fn read(_reading: &mut Reading<'_>) -> Result<Params, Vec<ParameterError>> {
    Err(Vec::new())
}

/// The queue; see the module text.
#[derive(Debug)]
pub struct Foreign<P> {
    packets: VecDeque<Packet<P>>,
    bytes: u64,
    room: Room,
    policy: Box<dyn Policy>,
    orders: Vec<Order>,
    every: Option<Span>,
    due: Option<Time>,
    gauges: &'static [&'static str],
}

impl<P: Clone> Clone for Foreign<P> {
    fn clone(&self) -> Self {
        Self { packets: self.packets.clone(), policy: self.policy.copied(), orders: Vec::new(), ..*self }
    }
}

impl<P: Copy> Foreign<P> {
    /// An empty queue.
    ///
    /// # Panics
    /// If the policy cannot be made of parameters of which one was made before.
    pub(super) fn new(params: &Params) -> Self {
        let policy = (params.make)(&params.values, params.bps);
        let policy = policy.unwrap_or_else(|e| panic!("{}: {e}", params.name));
        let (room, every, gauges) = (params.room, params.every, params.gauges);
        let due = every.map(|span| Time::ZERO + span);
        Self { packets: VecDeque::new(), bytes: 0, room, policy, orders: Vec::new(), every, due, gauges }
    }

    /// Takes the packet at a place out.
    fn take(&mut self, place: usize) -> Option<Packet<P>> {
        let packet = self.packets.remove(place)?;
        self.bytes -= u64::from(packet.meta.bytes);
        Some(packet)
    }

    /// Carries out what was ordered.
    fn obey(&mut self, host: &mut impl Host<P>) {
        let mut orders = core::mem::take(&mut self.orders);
        for order in orders.drain(..) {
            match order {
                Order::Drop(place, reason) => {
                    if let Some(packet) = self.take(place) {
                        host.dropped(packet, reason);
                    }
                }
                Order::Mark(place) => {
                    if let Some(packet) = self.packets.get_mut(place) {
                        mark(packet, host);
                    }
                }
            }
        }
        self.orders = orders;
    }
}

/// Marks a packet that can be marked. Whether it can.
fn mark<P>(packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool {
    let can = packet.meta.header.ecn() != Ecn::NotEct;
    if can {
        packet.meta.header.set_ecn(Ecn::Ce);
        host.marked(packet, MarkReason::Early);
    }
    can
}

impl<P: Copy> Qdisc<P> for Foreign<P> {
    fn enqueue(&mut self, now: Time, mut packet: Packet<P>, host: &mut impl Host<P>) {
        let verdict = self.policy.enqueue(now, &packet.meta, &mut || host.uniform(), &mut self.orders);
        self.obey(host);
        match verdict {
            Verdict::Drop(reason) => return host.dropped(packet, reason),
            Verdict::Mark if !mark(&mut packet, host) => return host.dropped(packet, DropReason::Early),
            Verdict::Mark | Verdict::Accept => {}
        }
        if self.room.is_full_for(self.backlog(), packet.meta.bytes) {
            return host.dropped(packet, DropReason::Overflow);
        }
        self.bytes += u64::from(packet.meta.bytes);
        self.packets.push_back(packet);
        self.policy.accepted(&packet.meta);
    }

    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        if self.packets.is_empty() {
            return Dequeue::Empty;
        }
        let place = self.policy.dequeue(now, &mut || host.uniform(), &mut self.orders);
        self.obey(host);
        // What is left must go on: a link is never idle while something waits.
        let place = place.unwrap_or(0).min(self.packets.len().saturating_sub(1));
        self.take(place).map_or(Dequeue::Empty, Dequeue::Packet)
    }

    fn next_timer(&self) -> Option<Time> {
        self.due
    }

    fn on_timer(&mut self, now: Time, host: &mut impl Host<P>) {
        self.policy.on_timer(now, &mut || host.uniform(), &mut self.orders);
        self.obey(host);
        self.due = self.every.map(|span| now + span);
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u32, bytes: self.bytes }
    }

    fn state(&self) -> State {
        self.policy.state()
    }

    fn gauges(&self, _now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        let mut names = self.gauges.iter();
        self.policy.gauges(&mut |value| {
            if let Some(name) = names.next() {
                out(name, value);
            }
        });
    }

    fn departs_in_order(&self) -> bool {
        false
    }
}
