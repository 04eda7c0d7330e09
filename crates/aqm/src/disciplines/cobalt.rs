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
//! Readings. BLUE drops the packets that it selects, ECN-capable or not; such a packet is not marked before. (Linux counts such
//! a mark, ns-3 does not.) Differences from Linux: a full buffer drops the arriving packet, as in ns-3, not the head of CAKE's longest queue; roots are
//! exact, where Linux has four Newton steps in a table and one beyond count 16; a standalone queue has no other bulk flows,
//! each of which raises the acceptable delay in CAKE. From ns-3: a delay of less than four largest packets is always
//! acceptable (`max_packet = 0` is ns-3); BLUE does not react to delays of 400 ms.
//!
//! Drop reasons: `control-law`, `blue`, `overflow`. Gauges: `p_drop`, and those of CoDel.

use aqmlab_units::{Span, Time};

use super::codel::{CONTROL_LAW, INTERVAL, TARGET, read_law};
use super::{Named, ParameterReader, marks};
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

/// The constants of CoDel and BLUE.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    pub target: Span,
    pub interval: Span,
    /// Delays up to this are always acceptable: the time of four largest packets.
    pub acceptable: Span,
    pub increment: f64,
    pub decrement: f64,
    pub ecn: bool,
}

/// BLUE's default step up.
pub(super) const P_INC: f64 = 1.0 / 256.0;
/// BLUE's default step down.
pub(super) const P_DEC: f64 = 1.0 / 4096.0;

/// Read and validate the parameters.
pub(super) fn read(reader: &mut ParameterReader<'_>) -> Result<Params, Vec<ParameterError>> {
    let room = Room::new(reader.limit(1000), false);
    let (target, interval, max_packet) = read_law(reader);
    let acceptable = reader.rate().time_of(max_packet.saturating_mul(4));
    let increment = reader.number("increment", P_INC);
    let decrement = reader.number("decrement", P_DEC);
    let ecn = reader.flag("ecn", false);
    Ok(Params { room, law: Law { target, interval, acceptable, increment, decrement, ecn } })
}

/// State of CoDel and BLUE.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Control {
    count: u32,
    is_dropping: bool,
    drop_next: Time,
    pub p_drop: f64,
    /// Time of the last step of the probability.
    moved: Time,
    delay: Span,
}

impl Control {
    /// `t + interval/sqrt(count)`; a count of 0 is like 1.
    fn next(&self, law: &Law, t: Time) -> Time {
        t + Span::from_secs(law.interval.secs() / libm::sqrt(f64::from(self.count.max(1))))
    }

    /// Return whether BLUE may change its probability again.
    fn may_move(&self, law: &Law, now: Time) -> bool {
        now.since(self.moved) > law.target
    }

    /// Return whether an empty queue has nothing to remember: no count, no probability, and an interval without packets is over.
    pub fn is_at_rest(&self, now: Time) -> bool {
        self.p_drop == 0.0 && self.count == 0 && now >= self.drop_next
    }

    /// Increase BLUE's probability after an overflow of the buffer.
    pub fn overflowed(&mut self, law: &Law, now: Time) {
        if self.may_move(law, now) {
            self.p_drop = (self.p_drop + law.increment).min(1.0);
            self.moved = now;
        }
        self.is_dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// Decrease BLUE's probability after the queue has run empty.
    pub fn ran_empty(&mut self, law: &Law, now: Time) {
        if self.p_drop > 0.0 && self.may_move(law, now) {
            self.p_drop = (self.p_drop - law.decrement).max(0.0);
            self.moved = now;
        }
        self.is_dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.drop_next = self.next(law, self.drop_next);
        }
    }

    /// Decide about the packet at the head, and mark it in place of a drop where that is allowed. Return the reason if it is to be dropped.
    #[inline]
    pub fn should_drop<P: Copy>(
        &mut self,
        law: &Law,
        now: Time,
        packet: &mut Packet<P>,
        host: &mut impl Host<P>,
    ) -> Option<DropReason> {
        self.delay = now.since(packet.meta.arrival);
        let ok_to_drop = self.delay > law.target && self.delay > law.acceptable;
        let is_due = self.count > 0 && now >= self.drop_next;
        let mut is_late = now > self.drop_next;
        if ok_to_drop {
            if !self.is_dropping {
                self.drop_next = self.next(law, now);
            }
            self.count = self.count.max(1);
        }
        self.is_dropping = ok_to_drop;
        let signals = is_due && ok_to_drop;
        if signals {
            self.count = self.count.saturating_add(1);
            self.drop_next = self.next(law, self.drop_next);
            is_late = now > self.drop_next;
        } else if is_due {
            self.lower_count(law, now);
            is_late = now > self.drop_next;
        }
        let by_blue = self.p_drop > 0.0 && host.uniform() < self.p_drop;
        let drops = by_blue || (signals && !marks(law.ecn, packet, CONTROL_LAW, host));
        // While count is 0, drop_next records the time of the last packet: after an interval without packets, the first one
        // with too long a delay is acted on without waiting for another interval.
        if self.count == 0 {
            self.drop_next = now + law.interval;
        } else if is_late && !drops {
            self.drop_next = now;
        }
        drops.then_some(if by_blue { BLUE } else { CONTROL_LAW })
    }

    /// Report the gauges.
    pub fn gauges(&self, out: &mut dyn FnMut(Gauge, f64)) {
        out(Gauge::State("p_drop"), self.p_drop);
        out(Gauge::State("delay"), self.delay.secs());
        out(Gauge::State("count"), f64::from(self.count));
        out(Gauge::State("dropping"), f64::from(u8::from(self.is_dropping)));
    }

    /// Decrease the count for each signal that was due but not needed.
    fn lower_count(&mut self, law: &Law, now: Time) {
        while self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.drop_next = self.next(law, self.drop_next);
        }
    }
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
            match self.control.should_drop(&self.params.law, now, &mut packet, host) {
                Some(reason) => host.dropped(packet, reason),
                None => return Dequeue::Packet(packet),
            }
        }
        self.control.ran_empty(&self.params.law, now);
        Dequeue::Empty
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn gauges(&self, _now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        self.control.gauges(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DropReason, Ecn, Header, Meta};

    const MS: Span = Span::from_millis(1);

    const LAW: Law = Law {
        target: Span::from_millis(5),
        interval: Span::from_millis(100),
        acceptable: Span::ZERO,
        increment: P_INC,
        decrement: P_DEC,
        ecn: true,
    };

    fn at(ms: u64) -> Time {
        Time::ZERO + MS * ms
    }

    struct Draws(f64, u32);

    impl Host<()> for Draws {
        fn uniform(&mut self) -> f64 {
            self.0
        }
        fn below(&mut self, _n: u64) -> u64 {
            0
        }
        fn dropped(&mut self, _packet: Packet<()>, _reason: DropReason) {}
        fn marked(&mut self, _packet: &Packet<()>, _reason: DropReason) {
            self.1 += 1;
        }
    }

    /// After a packet that did not wait, at 990 ms.
    fn busy(uniform: f64) -> (Control, Draws) {
        let (mut control, mut host) = (Control::default(), Draws(uniform, 0));
        assert!(leaves(&mut control, 990, 0, Ecn::NotEct, &mut host));
        (control, host)
    }

    /// Whether a packet that came `delay` before `now` leaves.
    fn leaves(control: &mut Control, now: u64, delay: u64, ecn: Ecn, host: &mut Draws) -> bool {
        let meta = Meta {
            arrival: at(now - delay),
            bytes: 1000,
            header: Header::default().with_ecn(ecn),
            ..Meta::default()
        };
        control.should_drop(&LAW, at(now), &mut Packet { meta, payload: () }, host).is_none()
    }

    #[test]
    fn drops_come_at_the_times_of_the_law() {
        let (mut control, mut host) = busy(0.0);
        let drops: Vec<u64> =
            (1000..1400).filter(|ms| !leaves(&mut control, *ms, 50, Ecn::NotEct, &mut host)).collect();
        // Above the target from 1000 on: 1100, then 100/sqrt(2), 100/sqrt(3), ... ms later, at the next whole one.
        assert_eq!(drops, [1100, 1171, 1229, 1279, 1324, 1364]);
    }

    #[test]
    fn after_a_long_silence_a_bad_packet_is_followed_by_a_drop() {
        let (mut control, mut host) = busy(0.0);
        let drops: Vec<u64> =
            (1100..1180).filter(|ms| !leaves(&mut control, *ms, 50, Ecn::NotEct, &mut host)).collect();
        assert_eq!(drops, [1101, 1171]);
    }

    #[test]
    fn the_count_decreases_as_it_increased() {
        let (mut control, mut host) = busy(0.0);
        (1000..1400).for_each(|ms| _ = leaves(&mut control, ms, 50, Ecn::NotEct, &mut host));
        assert_eq!(control.count, 7);
        let calm: Vec<u32> = (1400..1900)
            .map(|ms| {
                leaves(&mut control, ms, 1, Ecn::NotEct, &mut host);
                control.count
            })
            .collect();
        assert!(calm.windows(2).all(|w| w[1] <= w[0]) && calm[450] == 0, "{calm:?}");
    }

    #[test]
    fn marks_take_the_place_of_drops_but_not_of_blue() {
        let (mut control, mut host) = busy(0.5);
        assert!((1000..1400).all(|ms| leaves(&mut control, ms, 50, Ecn::Ect, &mut host)));
        assert_eq!(host.1, 6);
        control.p_drop = 0.6;
        assert!(!leaves(&mut control, 1401, 50, Ecn::Ect, &mut host));
        control.p_drop = 0.4;
        assert!(leaves(&mut control, 1402, 1, Ecn::Ect, &mut host));
    }

    #[test]
    fn blue_moves_once_in_a_target() {
        let mut control = Control::default();
        for ms in [10, 11, 15, 16] {
            control.overflowed(&LAW, at(ms));
        }
        assert_eq!(control.p_drop, 2.0 / 256.0);
        for ms in [20, 22, 27, 28] {
            control.ran_empty(&LAW, at(ms));
        }
        assert_eq!(control.p_drop, 2.0 / 256.0 - 2.0 / 4096.0);
    }

    #[test]
    fn a_delay_of_four_packets_is_not_bad() {
        let slow = Law { acceptable: MS * 60, ..LAW };
        let (mut control, mut host) = (Control::default(), Draws(0.0, 0));
        for ms in 1000..1400 {
            let meta = Meta { arrival: at(ms - 50), bytes: 1000, ..Meta::default() };
            let mut packet = Packet { meta, payload: () };
            assert_eq!(control.should_drop(&slow, at(ms), &mut packet, &mut host), None);
        }
    }
}
