//! The queue of a plugin: it holds the packets, and a [`Policy`] decides about them.
//!
//! | parameter | unit | default | allowed |
//! |---|---|---|---|
//! | `limit` | packets or bytes | 100 packets | at least 1 |
//! | as the plugin defines | | | |

use std::collections::VecDeque;
use std::sync::Arc;

use aqmlab_units::{Span, Time};

use super::{Named, ParameterReader, Parts};
use crate::plugin::{Action, ArrivalDecision, Definition, Idea, MakePolicy, Policy};
use crate::qdisc::find_gauge;
use crate::red::{AVERAGE, P_B};
use crate::{
    Backlog, Dequeue, DropReason, Ecn, Gauge, Host, Packet, Parameter, ParameterError, Qdisc, Room, ValueKind,
};

/// Empty: plugins are registered at run time.
pub(super) const PRESETS: &[Named] = &[];
/// All packets wait in one queue, whose limit is never exceeded.
pub(crate) const ONE_QUEUE: bool = true;
/// Empty: the definition of each plugin lists its parameters.
pub(super) const PARAMETERS: &[Parameter] = &[];

/// Validated parameters.
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

/// Read and validate the parameters of a plugin.
pub(crate) fn parts(
    definition: &'static Definition,
    reader: &mut ParameterReader<'_>,
) -> Result<Parts, Vec<ParameterError>> {
    let (make, parameters, every, gauges) = match &definition.idea {
        Idea::Discipline { make, parameters, every, gauges } => (make, parameters, every, gauges),
        #[cfg(feature = "red")]
        Idea::Curve(_) | Idea::Victim(_) => unreachable!("curves and victims are RED's"),
    };
    let room = Room::new(reader.limit(100), false);
    let values: Vec<_> =
        parameters.iter().map(|(p, default)| (p.key, read_value(p, *default, reader))).collect();
    let bps = reader.rate().bps();
    // Create it once now, so that an error can name the place in the scenario file.
    if let Err(message) = make(&values, bps) {
        reader.error("aqm", format!("{}: {message}", definition.name), "the values that the plugin accepts");
    }
    let (name, make) = (definition.name.as_str(), Arc::clone(make));
    Ok(Parts::Plugin(Box::new(Params { name, room, make, values, bps, every: *every, gauges })))
}

/// A value in the parameter's unit.
fn read_value(parameter: &Parameter, default: f64, reader: &mut ParameterReader<'_>) -> f64 {
    match parameter.kind {
        ValueKind::Time => reader.time(parameter.key, Span::from_secs(default)).secs(),
        ValueKind::Bytes => reader.bytes(parameter.key, default as u64) as f64,
        ValueKind::Packets | ValueKind::PacketsOrBytes => reader.packets(parameter.key, default, MEAN_PACKET),
        ValueKind::Flag => f64::from(u8::from(reader.flag(parameter.key, default != 0.0))),
        _ => reader.number(parameter.key, default),
    }
}

/// Bytes of a packet where a length given in bytes is wanted in packets.
const MEAN_PACKET: f64 = 1000.0;

/// Never called: plugins are resolved by [`parts`].
pub(super) fn read(_reading: &mut ParameterReader<'_>) -> Result<Params, Vec<ParameterError>> {
    Err(Vec::new())
}

/// The queue; see the module text.
#[derive(Debug)]
pub struct Plugin<P> {
    packets: VecDeque<Packet<P>>,
    bytes: u64,
    room: Room,
    policy: Box<dyn Policy>,
    actions: Vec<Action>,
    every: Option<Span>,
    due: Option<Time>,
    gauges: &'static [&'static str],
}

impl<P: Clone> Clone for Plugin<P> {
    fn clone(&self) -> Self {
        Self { packets: self.packets.clone(), policy: self.policy.copied(), actions: Vec::new(), ..*self }
    }
}

impl<P: Copy> Plugin<P> {
    /// Create an empty queue.
    ///
    /// # Panics
    /// If the policy rejects parameters that it accepted before.
    pub(super) fn new(params: &Params) -> Self {
        let policy = (params.make)(&params.values, params.bps);
        let policy = policy.unwrap_or_else(|e| panic!("{}: {e}", params.name));
        let (room, every, gauges) = (params.room, params.every, params.gauges);
        let due = every.map(|span| Time::ZERO + span);
        Self { packets: VecDeque::new(), bytes: 0, room, policy, actions: Vec::new(), every, due, gauges }
    }

    /// Remove and return the packet at a position.
    fn take(&mut self, place: usize) -> Option<Packet<P>> {
        let packet = self.packets.remove(place)?;
        self.bytes -= u64::from(packet.meta.bytes);
        Some(packet)
    }

    /// Execute the actions of the policy.
    fn execute(&mut self, host: &mut impl Host<P>) {
        let mut actions = core::mem::take(&mut self.actions);
        for action in actions.drain(..) {
            match action {
                Action::Drop(place, reason) => {
                    if let Some(packet) = self.take(place) {
                        host.dropped(packet, reason);
                    }
                }
                Action::Mark(place) => {
                    if let Some(packet) = self.packets.get_mut(place) {
                        mark(packet, host);
                    }
                }
            }
        }
        self.actions = actions;
    }
}

/// Mark a packet if it is ECN-capable. Return whether it was marked.
fn mark<P>(packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool {
    let can = packet.meta.header.ecn() != Ecn::NotEct;
    if can {
        packet.meta.header.set_ecn(Ecn::Ce);
        host.marked(packet, DropReason::EARLY);
    }
    can
}

impl<P: Copy> Qdisc<P> for Plugin<P> {
    fn enqueue(&mut self, now: Time, mut packet: Packet<P>, host: &mut impl Host<P>) {
        let decision = self.policy.enqueue(now, &packet.meta, &mut || host.uniform(), &mut self.actions);
        self.execute(host);
        match decision {
            ArrivalDecision::Drop(reason) => return host.dropped(packet, reason),
            ArrivalDecision::Mark if !mark(&mut packet, host) => {
                return host.dropped(packet, DropReason::EARLY);
            }
            ArrivalDecision::Mark | ArrivalDecision::Accept => {}
        }
        if self.room.is_full_for(self.backlog(), packet.meta.bytes) {
            return host.dropped(packet, DropReason::OVERFLOW);
        }
        self.bytes += u64::from(packet.meta.bytes);
        self.packets.push_back(packet);
        self.policy.accepted(&packet.meta);
    }

    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        // The link asks when it is free.
        self.policy.link_is(false, now);
        if self.packets.is_empty() {
            return Dequeue::Empty;
        }
        let place = self.policy.dequeue(now, &mut || host.uniform(), &mut self.actions);
        self.execute(host);
        // The link must not idle while a packet waits, so the head is the default.
        let place = place.unwrap_or(0).min(self.packets.len().saturating_sub(1));
        let next = self.take(place);
        self.policy.link_is(next.is_some(), now);
        next.map_or(Dequeue::Empty, Dequeue::Packet)
    }

    fn next_timer(&self) -> Option<Time> {
        self.due
    }

    fn on_timer(&mut self, now: Time, host: &mut impl Host<P>) {
        self.policy.on_timer(now, &mut || host.uniform(), &mut self.actions);
        self.execute(host);
        self.due = self.every.map(|span| now + span);
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u32, bytes: self.bytes }
    }

    fn gauges(&self, _now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        out(Gauge::State(AVERAGE), self.policy.average());
        out(Gauge::State(P_B), self.policy.p_b());
        let mut names = self.gauges.iter();
        self.policy.gauges(&mut |value| {
            if let Some(name) = names.next() {
                out(Gauge::State(name), value);
            }
        });
    }

    fn gauge(&self, now: Time, name: &str) -> Option<f64> {
        match name {
            AVERAGE => Some(self.policy.average()),
            P_B => Some(self.policy.p_b()),
            _ => find_gauge::<P>(self, now, name),
        }
    }
}
