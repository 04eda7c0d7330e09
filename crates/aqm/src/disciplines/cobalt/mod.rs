//! COBALT, CoDel and BLUE alternate (J. Morton and T. Hoeiland-Joergensen et al., Linux 6.1 `sch_cake.c`, functions `cobalt_*`; J. Palmei
//! et al., "Design and evaluation of COBALT queue discipline", LANMAN 2019; ns-3.48 `cobalt-queue-disc.cc`).
//!
//! COBALT combines two controllers. CoDel's count decreases as it increased, at the times of the control law, while the delay
//! is short. BLUE drops with a probability that increases when the buffer overflows, for unresponsive senders, and decreases
//! when the queue runs empty:
//!
//! ```text
//! drop_next = t + interval/sqrt(count)          p_drop = p_drop + increment  or  p_drop - decrement, once in a target
//! ```
//!
//! | symbol | parameter | unit | default | allowed | source |
//! |---|---|---|---|---|---|
//! | target | `target` | s | 5 ms | above 0 | `sch_cake.c` |
//! | interval | `interval` | s | 100 ms | above 0 | the same |
//! | p_inc | `increment` | | 1/256 | 0 to 1 | the same |
//! | p_dec | `decrement` | | 1/4096 | 0 to 1 | the same |
//! | MTU | `max_packet` | bytes | 1514 | at least 0 | the same: no signal below the transmission time of four of them |
//! | limit | `limit` | packets or bytes | 1000 packets | at least 1 | ns-3 |
//!
//! Readings. BLUE drops the packets that it selects, ECN-capable or not; such a packet is not marked before.
//! Differences from Linux: a full buffer drops the arriving packet, as in ns-3, not the head of CAKE's longest queue; times and roots are
//! exact, where [`cake`](super::cake) computes as Linux does ([`law`]); a standalone queue has no other bulk flows, each of which raises the
//! acceptable delay in CAKE. From ns-3: a delay of less than four largest packets is always
//! acceptable (`max_packet = 0` is ns-3); BLUE does not react to delays of 400 ms.
//!
//! Drop reasons: `control-law`, `blue`, `overflow`. Gauges: `p_drop`, and those of CoDel.

mod control;
mod law;

pub(super) use control::Control;
pub(super) use law::{Arithmetic, Law, P_DEC, P_INC};

use aqmlab_units::Time;

use super::codel::{CONTROL_LAW, INTERVAL, TARGET, read_law};
use super::{Named, ParameterReader};
use crate::registry::{ECN, LIMIT};
use crate::{
    Backlog, Dequeue, DropClass, DropReason, Fifo, Gauge, Host, Packet, Parameter, ParameterError, Qdisc,
    Room, ValueKind,
};

/// By chance, with BLUE's probability.
const BLUE: DropReason = DropReason::new(&("blue", DropClass::Early));

/// Presets.
pub(super) const PRESETS: &[Named] = &[Named {
    name: "cobalt",
    title: "CoDel and BLUE alternate",
    paper: "J. Palmei et al., Design and evaluation of COBALT queue discipline, LANMAN 2019",
    doc: "CoDel for responsive senders, combined with BLUE for those that fill the buffer.",
}];

const CAKE: &str = "Linux sch_cake.c";

/// All packets wait in one queue, whose limit is never exceeded.
pub(super) const ONE_QUEUE: bool = true;
/// Parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    LIMIT,
    TARGET,
    INTERVAL,
    Parameter::new(
        "max_packet",
        "MTU",
        ValueKind::Bytes,
        "no signal while the delay is less than the time of four of these",
    )
    .from(0.0)
    .source(CAKE),
    Parameter::new(
        "increment",
        "p_inc",
        ValueKind::Number,
        "BLUE: step of the probability up, at an overflow",
    )
    .from(0.0)
    .to(1.0)
    .source(CAKE),
    Parameter::new(
        "decrement",
        "p_dec",
        ValueKind::Number,
        "BLUE: step of the probability down, at an empty queue",
    )
    .from(0.0)
    .to(1.0)
    .source(CAKE),
    ECN,
];

/// Validated parameters.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    room: Room,
    law: Law,
}

/// Read and validate the parameters.
pub(super) fn read(reader: &mut ParameterReader<'_>) -> Result<Params, Vec<ParameterError>> {
    let room = Room::new(reader.limit(1000), false);
    let (target, interval, max_packet) = read_law(reader, false);
    let acceptable = reader.rate().time_of(max_packet.saturating_mul(4));
    let increment = reader.number("increment", P_INC);
    let decrement = reader.number("decrement", P_DEC);
    if increment == 0.0 {
        reader.warn_without_effect(&["decrement"], "with increment = 0");
    }
    let ecn = reader.flag("ecn", false);
    let arithmetic = Arithmetic::Real;
    Ok(Params { room, law: Law { arithmetic, target, interval, acceptable, increment, decrement, ecn } })
}

/// The discipline; see the module text.
#[derive(Clone, Debug)]
pub struct Cobalt<P> {
    params: Params,
    queue: Fifo<P>,
    control: Control,
}

impl<P: Copy> Cobalt<P> {
    /// Create an empty queue.
    pub(super) fn new(params: &Params) -> Self {
        Self { params: params.clone(), queue: Fifo::default(), control: Control::default() }
    }
}

impl<P: Copy> Qdisc<P> for Cobalt<P> {
    fn enqueue(&mut self, now: Time, packet: Packet<P>, host: &mut impl Host<P>) {
        if self.params.room.is_full_for(self.queue.backlog(), packet.meta.bytes) {
            self.control.overflowed(&self.params.law, now);
            return host.dropped(packet, DropReason::OVERFLOW);
        }
        self.queue.push(packet);
    }

    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        while let Some(mut packet) = self.queue.pop() {
            match self.control.should_drop(&self.params.law, now, false, &mut packet, host) {
                Some(reason) => host.dropped(packet, reason),
                None => return Dequeue::Packet(packet),
            }
        }
        self.control.ran_empty(&self.params.law, now);
        Dequeue::Empty
    }

    fn is_timed(&self) -> bool {
        false
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn gauges(&self, _now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        self.control.gauges(out);
    }
}
