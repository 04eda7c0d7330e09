//! CoDel, controlled delay (RFC 8289; K. Nichols and V. Jacobson, "Controlling Queue Delay", ACM Queue 10(5), 2012).
//!
//! A queue is good while its delay falls below `target` at least once in every `interval`, however long the bursts are that
//! it takes. Once it has not for an interval, packets are dropped at the head, faster and faster, since TCP's rate goes with
//! one over the root of its loss:
//!
//! ```text
//! drop_next = t + interval/sqrt(count)                                                     (RFC 8289, section 3.3)
//! ```
//!
//! | symbol | parameter | unit | default | allowed | source |
//! |---|---|---|---|---|---|
//! | TARGET | `target` | s | 5 ms | above 0 | RFC 8289, section 4.3 |
//! | INTERVAL | `interval` | s | 100 ms | above 0 | RFC 8289, section 4.2 |
//! | MAXPACKET | `max_packet` | bytes | 1514 | at least 1 | RFC 8289, section 5.2 |
//! | limit | `limit` | packets or bytes | 1000 packets | at least 1 | Linux `sch_codel.c` |
//!
//! Readings: with ECN a packet is marked in place of its drop and leaves, as in Linux. Entering the dropping state soon (16
//! intervals) after having left it, count goes on from what was gained in the last one (RFC 8289, section 5.5).

use aqmlab_units::{Span, Time};

use super::{Named, Reading, marks};
use crate::registry::{ECN, LIMIT};
use crate::{
    Backlog, Dequeue, DropReason, Fifo, Host, Packet, Parameter, ParameterError, Qdisc, Room, State, Unit,
};

/// Names.
pub(super) const PRESETS: &[Named] = &[Named {
    name: "codel",
    title: "Controlled delay",
    paper: "K. Nichols, V. Jacobson, A. McGregor, J. Iyengar, RFC 8289, 2018",
    doc: "Drops at the head, faster and faster, while no packet of an interval has waited less than the target.",
}];

/// Parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    LIMIT,
    Parameter::new("target", "TARGET", Unit::Time, "delay that the queue may have all the time")
        .above(0.0)
        .source(RFC),
    Parameter::new("interval", "INTERVAL", Unit::Time, "time within which it must be below the target once")
        .above(0.0)
        .source(RFC),
    Parameter::new("max_packet", "MAXPACKET", Unit::Bytes, "no drop while so little is left in the queue")
        .from(1.0)
        .source(RFC),
    ECN,
];

const RFC: &str = "RFC 8289";

/// Parameters, checked.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    room: Room,
    law: Law,
    ecn: bool,
}

/// From words to parameters.
pub(super) fn read(reading: &mut Reading<'_>) -> Result<Params, Vec<ParameterError>> {
    let room = Room::new(reading.limit(1000), false);
    Ok(Params { room, law: Law::read(reading), ecn: reading.flag("ecn", false) })
}

/// The constants of the control law.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    pub target: Span,
    pub interval: Span,
    pub max_packet: u64,
}

impl Law {
    /// The constants in a file.
    pub fn read(reading: &mut Reading<'_>) -> Self {
        Self {
            target: reading.time("target", Span::from_millis(5)),
            interval: reading.time("interval", Span::from_millis(100)),
            max_packet: reading.bytes("max_packet", 1514),
        }
    }

    /// When the drop after `count` drops since `t` is due.
    fn next(&self, t: Time, count: u32) -> Time {
        t + Span::from_secs(self.interval.secs() / libm::sqrt(f64::from(count)))
    }
}

/// Where the control law stands.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Control {
    /// When the delay will have been above the target for an interval.
    first_above: Option<Time>,
    is_dropping: bool,
    drop_next: Time,
    count: u32,
    last_count: u32,
}

impl Control {
    /// Whether a packet that leaves may be dropped: no delay has been below the target for an interval.
    fn is_bad<P>(&mut self, law: &Law, now: Time, packet: &Packet<P>, left: Backlog) -> bool {
        if now.since(packet.meta.arrival) < law.target || left.bytes <= law.max_packet {
            self.first_above = None;
            return false;
        }
        now >= *self.first_above.get_or_insert(now + law.interval)
    }

    /// The next packet to transmit, of a queue that gives them in order.
    pub fn dequeue<P, H: Host<P>>(
        &mut self,
        law: &Law,
        ecn: bool,
        now: Time,
        host: &mut H,
        mut pop: impl FnMut(&mut H) -> Option<(Packet<P>, Backlog)>,
    ) -> Option<Packet<P>> {
        let mut take = |control: &mut Self, host: &mut H| match pop(host) {
            Some((packet, left)) => {
                let is_bad = control.is_bad(law, now, &packet, left);
                Some((packet, is_bad))
            }
            None => {
                control.first_above = None;
                None
            }
        };
        let Some((mut packet, mut is_bad)) = take(self, host) else {
            self.is_dropping = false;
            return None;
        };
        if !self.is_dropping {
            if is_bad {
                let is_marked = marks(ecn, &mut packet, host);
                self.enter(law, now);
                if !is_marked {
                    host.dropped(packet, DropReason::Early);
                    return take(self, host).map(|(packet, _)| packet);
                }
            }
            return Some(packet);
        }
        self.is_dropping = is_bad;
        while self.is_dropping && now >= self.drop_next {
            self.count += 1;
            if marks(ecn, &mut packet, host) {
                self.drop_next = law.next(self.drop_next, self.count);
                break;
            }
            host.dropped(packet, DropReason::Early);
            let Some(next) = take(self, host) else {
                self.is_dropping = false;
                return None;
            };
            (packet, is_bad) = next;
            self.is_dropping = is_bad;
            if is_bad {
                self.drop_next = law.next(self.drop_next, self.count);
            }
        }
        Some(packet)
    }

    /// The first drop after a good time.
    fn enter(&mut self, law: &Law, now: Time) {
        self.is_dropping = true;
        let gained = self.count.saturating_sub(self.last_count);
        let is_soon = now.0.saturating_sub(self.drop_next.0) < 16 * law.interval.0;
        self.count = if gained > 1 && is_soon { gained } else { 1 };
        self.drop_next = law.next(now, self.count);
        self.last_count = self.count;
    }

    /// What there is to see.
    pub fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("count", f64::from(self.count));
        out("dropping", f64::from(u8::from(self.is_dropping)));
    }
}

/// The discipline; see the module text.
#[derive(Clone, Debug)]
pub struct CoDel<P> {
    params: Params,
    queue: Fifo<P>,
    control: Control,
}

impl<P: Copy> CoDel<P> {
    /// An empty queue.
    pub(super) fn new(params: &Params) -> Self {
        Self { params: params.clone(), queue: Fifo::default(), control: Control::default() }
    }
}

impl<P: Copy> Qdisc<P> for CoDel<P> {
    fn enqueue(&mut self, _now: Time, packet: Packet<P>, host: &mut impl Host<P>) {
        if self.params.room.is_full_for(self.queue.backlog(), packet.meta.bytes) {
            return host.dropped(packet, DropReason::Overflow);
        }
        self.queue.push(packet);
    }

    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        let Self { params, queue, control } = self;
        let pop = |_: &mut _| queue.pop().map(|packet| (packet, queue.backlog()));
        let packet = control.dequeue(&params.law, params.ecn, now, host, pop);
        packet.map_or(Dequeue::Empty, Dequeue::Packet)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn state(&self) -> State {
        State { average: f64::from(self.queue.backlog().packets), p_b: 0.0 }
    }

    fn gauges(&self, _now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        self.control.gauges(out);
    }

    fn departs_in_order(&self) -> bool {
        false
    }
}
