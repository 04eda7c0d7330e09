//! The state of CoDel and BLUE of a queue, and their decisions about departing packets. In the arithmetic of Linux all times `now` are in
//! whole nanoseconds.

use aqmlab_units::{Span, Time};

use super::law::Law;
use super::{BLUE, CONTROL_LAW};
use crate::disciplines::marks;
use crate::{DropReason, Ecn, Gauge, Host, Packet};

/// State of CoDel and BLUE.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::disciplines) struct Control {
    count: u32,
    /// 2^32/sqrt(count) as Linux approximates it; unused in real arithmetic.
    root: u32,
    is_dropping: bool,
    drop_next: Time,
    pub p_drop: f64,
    /// Time of the last step of the probability.
    moved: Time,
    delay: Span,
    /// The last packet carries CE because of a signal; it may have arrived with CE.
    pub has_marked: bool,
}

impl Control {
    /// Set the count after a signal, or after one that was due but not needed. The next is due later than `t`.
    fn set_count(&mut self, law: &Law, count: u32, t: Time) {
        self.count = count;
        self.root = law.arithmetic.root(self.root, count);
        self.drop_next = law.next(t, count, self.root);
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
            self.p_drop = (self.p_drop + law.increment).min(law.arithmetic.most());
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
            self.set_count(law, self.count - 1, self.drop_next);
        }
    }

    /// Decide about the packet at the head, and mark it in place of a drop where that is allowed. Return the reason if it is to be dropped.
    /// `stays`: the caller keeps the packet in any case, so it is marked even if BLUE selects it.
    #[inline]
    pub fn should_drop<P: Copy>(
        &mut self,
        law: &Law,
        now: Time,
        stays: bool,
        packet: &mut Packet<P>,
        host: &mut impl Host<P>,
    ) -> Option<DropReason> {
        self.delay = law.arithmetic.delay(packet.meta.arrival, now);
        let ok_to_drop = self.delay > law.target && self.delay > law.acceptable;
        let is_due = self.count > 0 && now >= self.drop_next;
        let mut is_late = now > self.drop_next;
        if ok_to_drop {
            if !self.is_dropping {
                self.drop_next = law.next(now, self.count, self.root);
            }
            self.count = self.count.max(1);
        }
        self.is_dropping = ok_to_drop;
        let signals = is_due && ok_to_drop;
        if signals {
            self.set_count(law, self.count.saturating_add(1), self.drop_next);
            is_late = now > self.drop_next;
        } else if is_due {
            self.lower_count(law, now);
            is_late = now > self.drop_next;
        }
        let may_mark = law.ecn && packet.meta.header.ecn() != Ecn::NotEct;
        let by_law = signals && !may_mark;
        let draws = self.p_drop > 0.0 && (!by_law || law.arithmetic.draws_for_drop());
        let by_blue = draws && host.uniform() < self.p_drop;
        self.has_marked = signals && may_mark && (stays || !by_blue);
        if self.has_marked {
            marks(law.ecn, packet, CONTROL_LAW, host);
        }
        // While count is 0, drop_next records the time of the last packet: after an interval without packets, the first one
        // with too long a delay is acted on without waiting for another interval.
        if self.count == 0 {
            self.drop_next = now + law.interval;
        } else if is_late && !by_law && !by_blue {
            self.drop_next = now;
        }
        if by_blue { Some(BLUE) } else { by_law.then_some(CONTROL_LAW) }
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
            self.set_count(law, self.count - 1, self.drop_next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::law::{Arithmetic, P_DEC, P_INC};
    use super::*;
    use crate::disciplines::kernel::Kernel;
    use crate::{Header, Meta};

    const MS: Span = Span::from_millis(1);

    const LAW: Law = Law {
        arithmetic: Arithmetic::Real,
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
        control.should_drop(&LAW, at(now), false, &mut Packet { meta, payload: () }, host).is_none()
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
            assert_eq!(control.should_drop(&slow, at(ms), false, &mut packet, &mut host), None);
        }
    }

    /// The time of the first signal, where a packet that did not wait left at 990 ms, and packets that waited 50 ms leave each millisecond
    /// from 1000 on.
    fn first_signal(arithmetic: Arithmetic) -> Option<u64> {
        let (mut control, mut host) = busy(0.0);
        let law = Law { arithmetic, ..LAW };
        (1000..1400).find(|ms| {
            let meta = Meta { arrival: at(ms - 50), bytes: 1000, ..Meta::default() };
            let mut packet = Packet { meta, payload: () };
            control.should_drop(&law, at(*ms), false, &mut packet, &mut host).is_some()
        })
    }

    #[test]
    fn a_fresh_queue_of_linux_signals_at_once() {
        // The root is still 0, so the first interval is empty.
        assert_eq!(first_signal(Arithmetic::Linux(Kernel::V6_1)), Some(1001));
        assert_eq!(first_signal(Arithmetic::Real), Some(1100));
    }

    #[test]
    fn a_packet_that_stays_is_marked_although_blue_selects_it() {
        for (stays, marks) in [(true, 1), (false, 0)] {
            let (mut control, mut host) = busy(0.5);
            assert!(leaves(&mut control, 1000, 50, Ecn::Ect, &mut host));
            control.p_drop = 0.6;
            let header = Header::default().with_ecn(Ecn::Ect);
            let meta = Meta { arrival: at(1100 - 50), bytes: 1000, header, ..Meta::default() };
            let mut packet = Packet { meta, payload: () };
            assert_eq!(control.should_drop(&LAW, at(1100), stays, &mut packet, &mut host), Some(BLUE));
            assert_eq!((host.1, packet.meta.header.ecn() == Ecn::Ce), (marks, stays));
        }
    }

    #[test]
    fn linux_7_3_does_not_draw_for_a_packet_that_the_law_drops() {
        struct Counts(u32);
        impl Host<()> for Counts {
            fn uniform(&mut self) -> f64 {
                self.0 += 1;
                0.9
            }
            fn below(&mut self, _n: u64) -> u64 {
                0
            }
            fn dropped(&mut self, _packet: Packet<()>, _reason: DropReason) {}
            fn marked(&mut self, _packet: &Packet<()>, _reason: DropReason) {}
        }
        for (kernel, draws) in [(Kernel::V6_1, 2), (Kernel::V6_12, 2), (Kernel::V7_3, 1)] {
            let law = Law { arithmetic: Arithmetic::Linux(kernel), ..LAW };
            let (mut control, mut host) = (Control { p_drop: 0.5, ..Control::default() }, Counts(0));
            let dropped = [1000, 1001].map(|ms| {
                let meta = Meta { arrival: at(ms - 50), bytes: 1000, ..Meta::default() };
                control.should_drop(&law, at(ms), false, &mut Packet { meta, payload: () }, &mut host)
            });
            assert_eq!((dropped, host.0), ([None, Some(CONTROL_LAW)], draws), "{kernel:?}");
        }
    }
}
