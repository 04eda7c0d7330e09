//! Drop-tail: a first-in first-out queue that drops arriving packets when it is full.
//!
//! | symbol | field | unit | default | allowed |
//! |---|---|---|---|---|
//! | limit | `limit` | packets or bytes | 1000 packets | at least 1 |
//!
//! Readings: a queue of limit N holds N waiting packets, the packet in transmission not counted. ns-2.35
//! (`queue/drop-tail.cc`) drops when the queue *would reach* its limit and so holds N - 1: that is the switch
//! `strict_limit`, part of the dialect `ns2-2.35`.

use aqmlab_units::Time;

use crate::red::{AVERAGE, P_B};
use crate::spec::Limit;
use crate::{Backlog, Dequeue, DropReason, Fifo, Gauge, Host, Packet, Qdisc};

/// The size of a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    limit: Limit,
    strict_limit: bool,
}

impl Room {
    /// Room for `limit`; with `strict_limit` the limit itself is never reached (ns-2.35).
    pub fn new(limit: Limit, strict_limit: bool) -> Self {
        Self { limit, strict_limit }
    }

    /// Return whether a packet of `bytes` does not fit in addition to the backlog.
    #[inline]
    pub fn is_full_for(&self, Backlog { packets, bytes: waiting }: Backlog, bytes: u32) -> bool {
        let strict = u64::from(self.strict_limit);
        match self.limit {
            Limit::Packets(n) => u64::from(packets) + 1 + strict > u64::from(n),
            Limit::Bytes(n) => waiting + u64::from(bytes) + strict > n,
        }
    }

    /// Return the limit in packets, if the limit is in packets and above 0.
    pub fn packets(&self) -> Option<u32> {
        match self.limit {
            Limit::Packets(n) => Some(n - u32::from(self.strict_limit && n > 0)).filter(|n| *n > 0),
            Limit::Bytes(_) => None,
        }
    }
}

impl Limit {
    /// Return whether the backlog exceeds the limit.
    pub(crate) fn is_passed_by(self, Backlog { packets, bytes }: Backlog) -> bool {
        match self {
            Self::Packets(n) => packets > n,
            Self::Bytes(n) => bytes > n,
        }
    }
}

/// Publish RED's gauges as 0: a tail-drop queue is a RED queue that never drops early. Tables that hold links of both kinds
/// then have numbers throughout.
pub(crate) fn none_early(out: &mut dyn FnMut(Gauge, f64)) {
    out(Gauge::State(AVERAGE), 0.0);
    out(Gauge::State(P_B), 0.0);
}

/// The discipline; see the module text.
#[derive(Clone, Debug)]
pub struct DropTail<P> {
    queue: Fifo<P>,
    room: Room,
}

impl<P: Copy> DropTail<P> {
    /// Create an empty queue.
    pub fn new(room: Room) -> Self {
        Self { queue: Fifo::default(), room }
    }
}

impl<P: Copy> Qdisc<P> for DropTail<P> {
    #[inline]
    fn enqueue(&mut self, _now: Time, packet: Packet<P>, host: &mut impl Host<P>) {
        if self.room.is_full_for(self.queue.backlog(), packet.meta.bytes) {
            host.dropped(packet, DropReason::OVERFLOW);
        } else {
            self.queue.push(packet);
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Time, _host: &mut impl Host<P>) -> Dequeue<P> {
        self.queue.pop().map_or(Dequeue::Empty, Dequeue::Packet)
    }

    #[inline]
    fn enqueue_dequeue(&mut self, _now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool {
        let is_full = self.room.is_full_for(Backlog::default(), packet.meta.bytes);
        if is_full {
            host.dropped(*packet, DropReason::OVERFLOW);
        }
        !is_full
    }

    fn on_idle(&mut self, _now: Time, _host: &mut impl Host<P>) {}

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn gauges(&self, _now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        none_early(out);
    }

    fn gauge(&self, _now: Time, name: &str) -> Option<f64> {
        [AVERAGE, P_B].contains(&name).then_some(0.0)
    }

    fn departs_in_order(&self) -> bool {
        true
    }
}
