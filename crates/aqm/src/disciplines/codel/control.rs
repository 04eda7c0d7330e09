//! The state of the control law of a queue, and its decisions about departing packets (RFC 8289, sections 5.4 to 5.6).

use std::fmt;

use aqmlab_units::{Span, Time};

use super::super::marks;
use super::law::{ControlLaw, Count};
use crate::{Backlog, DropClass, DropReason, Gauge, Host, Packet};

/// Delays were at or above the target for an interval: the drop or mark that begins a dropping state.
pub(crate) const SOJOURN: DropReason = DropReason::new(&("sojourn", DropClass::Early));
/// The control law: a later drop or mark in a dropping state.
pub(crate) const CONTROL_LAW: DropReason = DropReason::new(&("control-law", DropClass::Early));
/// A mark of a packet that waited longer than `ce_threshold`.
const CE_THRESHOLD: DropReason = DropReason::new(&("ce-threshold", DropClass::Early));

/// The state of Linux's CoDel, in its integers (`codel_vars`, `include/net/codel.h`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LinuxState {
    /// End of the interval above the target, in ticks; 0 while the delay is below it.
    pub first_above: u32,
    /// Time of the next drop, in ticks.
    pub drop_next: u32,
    /// Drops in the dropping state.
    pub count: u32,
    /// Their count when the state began.
    pub last_count: u32,
    /// Approximation of 2^16/sqrt(count).
    pub rec_inv_sqrt: u16,
    /// Whether it is in the dropping state.
    pub dropping: bool,
}

impl fmt::Display for LinuxState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first_above, drop_next, count, last_count, rec_inv_sqrt, dropping } = self;
        write!(
            f,
            "first_above {first_above}, drop_next {drop_next}, count {count}, last_count {last_count}, \
             rec_inv_sqrt {rec_inv_sqrt}, dropping {}",
            u8::from(*dropping)
        )
    }
}

/// State of the control law.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Control {
    /// When the delay will have been above the target for an interval, in ticks.
    first_above: Option<u64>,
    is_dropping: bool,
    drop_next: u64,
    count: Count,
    last_count: u32,
    /// Delay of the last packet.
    delay: Span,
}

impl Control {
    /// Return whether a departing packet may be dropped (`ok_to_drop` in RFC 8289): the delay has been at or above the target
    /// for an interval.
    fn ok_to_drop<P>(&mut self, law: &ControlLaw, now: Time, packet: &Packet<P>, left: Backlog) -> bool {
        self.delay = now.since(packet.meta.arrival);
        let now = law.tick(now);
        if law.is_short(packet.meta.arrival, now) || left.bytes <= law.max_packet {
            self.first_above = None;
            return false;
        }
        law.is_over(*self.first_above.get_or_insert(law.interval_from(now)), now)
    }

    /// Decide about the packet that was taken from the head of the queue, where it leaves `left`; `None` if there was none. Then `pop` takes the
    /// next and returns the backlog left. Return whether there is a packet to transmit.
    #[inline(always)]
    #[expect(
        clippy::too_many_arguments,
        reason = "apart, so that the common packet takes neither a call nor a closure"
    )]
    pub fn dequeue<P: Copy, H: Host<P>>(
        &mut self,
        law: &ControlLaw,
        ecn: bool,
        now: Time,
        left: Option<Backlog>,
        packet: &mut Packet<P>,
        host: &mut H,
        pop: impl FnMut(&mut Packet<P>, &mut H) -> Option<Backlog>,
    ) -> bool {
        let Some(left) = left else {
            self.note_empty(law.keeps_interval());
            return false;
        };
        let ok_to_drop = self.ok_to_drop(law, now, packet, left);
        let is_next = if ok_to_drop && !(self.is_dropping && law.tick(now) < self.drop_next) {
            self.signal(law, ecn, now, packet, host, pop)
        } else {
            self.is_dropping = ok_to_drop;
            true
        };
        if is_next && law.is_above_ce_threshold(&packet.meta, now) {
            marks(true, packet, CE_THRESHOLD, host);
        }
        is_next
    }

    /// The queue is empty: the dropping state ends, and the interval above the target unless it is kept.
    fn note_empty(&mut self, keeps_interval: bool) {
        if !keeps_interval {
            self.first_above = None;
        }
        self.is_dropping = false;
    }

    /// Mark the packet, or drop it and those after it, as the control law demands. Return whether there is one to transmit.
    #[cold]
    #[inline(never)]
    fn signal<P: Copy, H: Host<P>>(
        &mut self,
        law: &ControlLaw,
        ecn: bool,
        now: Time,
        packet: &mut Packet<P>,
        host: &mut H,
        mut pop: impl FnMut(&mut Packet<P>, &mut H) -> Option<Backlog>,
    ) -> bool {
        let mut take = |control: &mut Self, packet: &mut Packet<P>, host: &mut H| match pop(packet, host) {
            Some(left) => Some(control.ok_to_drop(law, now, packet, left)),
            None => {
                control.note_empty(false);
                None
            }
        };
        if !self.is_dropping {
            let mut is_next = marks(ecn, packet, SOJOURN, host);
            if !is_next {
                host.dropped(*packet, SOJOURN);
                is_next = take(self, packet, host).is_some();
            }
            self.enter(law, law.tick(now));
            return is_next;
        }
        let mut drops = 0;
        while self.is_dropping && law.tick(now) >= self.drop_next {
            if drops == law.max_drops() {
                self.drop_next = law.control_law(law.tick(now), self.count);
                break;
            }
            drops += 1;
            self.count.set(self.count.n.wrapping_add(1));
            if marks(ecn, packet, CONTROL_LAW, host) {
                self.drop_next = law.control_law(self.drop_next, self.count);
                break;
            }
            host.dropped(*packet, CONTROL_LAW);
            let Some(ok_to_drop) = take(self, packet, host) else { return false };
            self.is_dropping = ok_to_drop;
            if ok_to_drop {
                self.drop_next = law.control_law(self.drop_next, self.count);
            }
        }
        true
    }

    /// Enter the dropping state, with its first drop.
    fn enter(&mut self, law: &ControlLaw, now: u64) {
        self.is_dropping = true;
        let gained = self.count.n.wrapping_sub(self.last_count);
        if gained > 1 && law.dropped_recently(self.drop_next, now) {
            self.count.set(gained);
        } else {
            self.count.begin();
        }
        self.drop_next = law.control_law(now, self.count);
        self.last_count = self.count.n;
    }

    /// Add drops made for another reason to the count (Linux `fq_codel`).
    pub fn count_also(&mut self, drops: u32) {
        self.count.n = self.count.n.wrapping_add(drops);
    }

    /// Return the state as Linux's `codel_vars` has it, with times in the lower 32 bits of ticks.
    pub fn linux(&self) -> LinuxState {
        LinuxState {
            first_above: self.first_above.unwrap_or(0) as u32,
            drop_next: self.drop_next as u32,
            count: self.count.n,
            last_count: self.last_count,
            rec_inv_sqrt: self.count.rec_inv_sqrt,
            dropping: self.is_dropping,
        }
    }

    /// Report the gauges.
    pub fn gauges(&self, out: &mut dyn FnMut(Gauge, f64)) {
        out(Gauge::State("delay"), self.delay.secs());
        out(Gauge::State("count"), f64::from(self.count.n));
        out(Gauge::State("dropping"), f64::from(u8::from(self.is_dropping)));
    }
}
