//! CoDel, controlled delay (RFC 8289; K. Nichols and V. Jacobson, "Controlling Queue Delay", ACM Queue 10(5), 2012).
//!
//! A queue is acceptable while its delay falls below `target` at least once in every `interval`, which permits bursts of any
//! length. After an interval with the delay always above `target`, packets are dropped at the head at decreasing
//! intervals, since TCP's rate is inversely proportional to the square root of its loss rate:
//!
//! ```text
//! drop_next = t + interval/sqrt(count)                                                     (RFC 8289, section 5.6)
//! ```
//!
//! | symbol | parameter | unit | default | allowed | source |
//! |---|---|---|---|---|---|
//! | TARGET | `target` | s | 5 ms | above 0 | RFC 8289, section 4.3 |
//! | INTERVAL | `interval` | s | 100 ms | above 0 | RFC 8289, section 4.2 |
//! | MAXPACKET | `max_packet` | bytes | 1514 | at least 1 | RFC 8289, sections 4.1 and 5.3: the MTU |
//! | limit | `limit` | packets or bytes | 1000 packets | at least 1 | Linux `sch_codel.c` |
//! | CE threshold | `ce_threshold` | s | off | above 0, or off | Linux `codel_impl.h` |
//!
//! Readings: with ECN a packet is marked in place of its drop and leaves, as in Linux. Entering the dropping state soon (16
//! intervals) after having left it, count goes on from what was gained in the last one (RFC 8289, section 5.5). What is left
//! in the queue must be more than MAXPACKET for a drop; ns-3 drops when it is as much.
//!
//! With `ce_threshold` every departing packet that is ECN-capable and waited longer is marked, whatever `ecn` and the control law
//! are: the step marking of DCTCP, in units of time. The control law goes on beside it. A packet that is marked already does not count
//! again; Linux counts it in `ce_mark`.
//!
//! `dialect = "linux"` computes as Linux 6.1 does, to the tick: see [`law`]. `linux-6.1`, `linux-6.12` and `linux-7.3` are its versions.
//!
//! Drop reasons: `sojourn` begins a dropping state, `control-law` follows in it, `overflow`; marks above the threshold have the
//! reason `ce-threshold`. Gauges: `delay` of the last packet
//! in s, `count`, `dropping` (0 or 1).

mod control;
mod law;

#[cfg(feature = "cake")]
pub(crate) use control::CONTROL_LAW;
pub(crate) use control::{Control, LinuxState};
pub(crate) use law::{Arithmetic, ControlLaw};

use aqmlab_units::{Span, Time};

use super::{Named, ParameterReader, Parts};
use crate::registry::{ECN, LIMIT};
use crate::{
    Backlog, Dequeue, DropReason, Fifo, Gauge, Host, Packet, Parameter, ParameterError, Qdisc, Resolved,
    Room, ValueKind, names,
};

/// Presets.
pub(super) const PRESETS: &[Named] = &[Named {
    name: "codel",
    title: "Controlled delay",
    paper: "K. Nichols, V. Jacobson, A. McGregor, J. Iyengar, RFC 8289, 2018",
    doc: "Drops at the head at decreasing intervals while no packet of an interval has waited less than the target.",
}];

const DIALECT_WORDS: [(&str, Arithmetic); 5] = {
    let [linux, v6_1, v6_12, v7_3] = Arithmetic::LINUX_WORDS;
    [("rfc8289", Arithmetic::Real), linux, v6_1, v6_12, v7_3]
};

/// All packets wait in one queue, whose limit is never exceeded.
pub(super) const ONE_QUEUE: bool = true;
/// Parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    LIMIT,
    TARGET,
    INTERVAL,
    MAX_PACKET,
    ECN,
    CE_THRESHOLD,
    Parameter::new("dialect", "", ValueKind::Choice, "arithmetic of the control law")
        .or(&names(&DIALECT_WORDS)),
];

/// Parameters that a queue at work can change.
pub(super) const CHANGING: &[&str] = &["limit", "target", "interval", "max_packet", "ecn", "ce_threshold"];

pub(crate) const TARGET: Parameter =
    Parameter::new("target", "TARGET", ValueKind::Time, "acceptable standing delay of the queue")
        .above(0.0)
        .source(RFC);
pub(crate) const INTERVAL: Parameter = Parameter::new(
    "interval",
    "INTERVAL",
    ValueKind::Time,
    "time within which the delay must fall below the target once",
)
.above(0.0)
.source(RFC);
pub(crate) const MAX_PACKET: Parameter = Parameter::new(
    "max_packet",
    "MAXPACKET",
    ValueKind::Bytes,
    "no drop while at most this much is left in the queue",
)
.from(1.0)
.source(RFC);

pub(crate) const CE_THRESHOLD: Parameter = Parameter::new(
    "ce_threshold",
    "",
    ValueKind::Time,
    "delay above which a departing ECN-capable packet is marked, beside the control law",
)
.above(0.0)
.or(&["off"])
.source("Linux codel_impl.h");

const RFC: &str = "RFC 8289";

/// Validated parameters.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    room: Room,
    law: ControlLaw,
    ecn: bool,
}

/// Read and validate the parameters.
pub(super) fn read(reader: &mut ParameterReader<'_>) -> Result<Params, Vec<ParameterError>> {
    let limit = reader.limit(1000);
    let is_linux = reader.value("dialect", &DIALECT_WORDS).is_some_and(Arithmetic::is_linux);
    let (target, interval, max_packet) = read_law(reader, is_linux);
    let ecn = reader.flag("ecn", false);
    let ce_threshold = read_ce_threshold(reader, is_linux);
    let arithmetic = reader.word("dialect", &DIALECT_WORDS);
    if is_linux {
        reader.counts_packets_in_linux(limit);
    }
    let room = Room::new(limit, false);
    let law = ControlLaw::new(arithmetic, target, interval, max_packet).marking_above(ce_threshold, false);
    Ok(Params { room, law, ecn })
}

/// Read the delay above which packets are marked.
pub(crate) fn read_ce_threshold(reader: &mut ParameterReader<'_>, is_linux: bool) -> Option<Span> {
    let read = if is_linux { ParameterReader::linux_time_or } else { ParameterReader::time_or };
    read(reader, "ce_threshold", "off")
}

/// Target, interval and largest packet of the control law.
pub(crate) fn read_law(reader: &mut ParameterReader<'_>, is_linux: bool) -> (Span, Span, u64) {
    let read = if is_linux { ParameterReader::linux_time } else { ParameterReader::time };
    let target = read(reader, "target", Span::from_millis(5));
    let interval = read(reader, "interval", Span::from_millis(100));
    if is_linux {
        reader.has_largest_packet_of_device("max_packet");
    }
    if target >= interval {
        let (target, interval) = (target.secs(), interval.secs());
        let (key, message) = if reader.is_set("target") || !reader.is_set("interval") {
            ("target", format!("{target}s is not less than interval, {interval}s"))
        } else {
            ("interval", format!("{interval}s is not above target, {target}s"))
        };
        reader.error(key, message, "target below interval; 5 to 10 % of it is good (RFC 8289, section 4.3)");
    }
    (target, interval, reader.bytes("max_packet", 1514))
}

/// The discipline; see the module text.
#[derive(Clone, Debug)]
pub struct CoDel<P> {
    params: Params,
    queue: Fifo<P>,
    control: Control,
}

impl<P: Copy + Default> CoDel<P> {
    /// Create an empty queue.
    pub(super) fn new(params: &Params) -> Self {
        Self { params: params.clone(), queue: Fifo::default(), control: Control::default() }
    }

    /// Return the state in the integers of Linux; `None` in another dialect.
    pub(crate) fn linux(&self) -> Option<LinuxState> {
        self.params.law.linux().map(|_| self.control.linux())
    }

    /// Return the threshold of marks in ticks of Linux; `None` without one.
    pub(crate) fn linux_ce_threshold(&self) -> Option<u64> {
        self.params.law.ce_threshold()
    }

    /// Return the settings in the units of Linux: target and interval in ticks, limit in packets, largest packet in bytes and
    /// ECN; `None` in another dialect or with a limit in bytes.
    pub(crate) fn linux_settings(&self) -> Option<[u64; 5]> {
        let [target, interval, max_packet] = self.params.law.linux()?;
        let limit = self.params.room.packets()?;
        Some([target, interval, limit.into(), max_packet, self.params.ecn.into()])
    }
}

impl<P: Copy + Default> Qdisc<P> for CoDel<P> {
    fn enqueue(&mut self, _now: Time, packet: Packet<P>, host: &mut impl Host<P>) {
        if self.params.room.is_full_for(self.queue.backlog(), packet.meta.bytes) {
            return host.dropped(packet, DropReason::OVERFLOW);
        }
        self.queue.push(packet);
    }

    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        let mut packet = Packet::default();
        if self.dequeue_into(now, &mut packet, host) { Dequeue::Packet(packet) } else { Dequeue::Empty }
    }

    fn dequeue_into(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool {
        let Self { params, queue, control } = self;
        let mut pop = |packet: &mut Packet<P>, _: &mut _| queue.pop_into(packet).then(|| queue.backlog());
        let left = pop(packet, host);
        control.dequeue(&params.law, params.ecn, now, left, packet, host, pop)
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

    fn take_settings(&mut self, settings: &Resolved) -> bool {
        let Some(Parts::CoDel(params)) = settings.non_red() else { return false };
        self.params = (**params).clone();
        true
    }
}
