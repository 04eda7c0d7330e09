//! Drop-tail: a first-in first-out queue that drops what arrives when it is full.
//!
//! | symbol | field | unit | default | allowed |
//! |---|---|---|---|---|
//! | limit | `limit` | packets or bytes | 1000 packets | at least 1 |
//!
//! Readings: a queue of limit N holds N waiting packets, the packet in transmission not counted. ns-2.35
//! (`queue/drop-tail.cc`) drops when the queue *would reach* its limit and so holds N - 1: that is the switch
//! `strict_limit`, part of the dialect `ns2-2.35`.

use aqmlab_units::Time;

use crate::spec::Limit;
use crate::{Backlog, Dequeue, DropReason, Fifo, Host, Packet, Qdisc};

/// The discipline; see the module text.
#[derive(Clone, Debug)]
pub struct DropTail<P> {
    queue: Fifo<P>,
    limit: Limit,
    strict_limit: bool,
}

impl<P: Copy> DropTail<P> {
    /// An empty queue. With `strict_limit` the limit itself is never reached (ns-2.35).
    pub fn new(limit: Limit, strict_limit: bool) -> Self {
        Self { queue: Fifo::default(), limit, strict_limit }
    }

    fn is_full_for(&self, bytes: u32) -> bool {
        let Backlog { packets, bytes: waiting } = self.queue.backlog();
        let strict = u64::from(self.strict_limit);
        match self.limit {
            Limit::Packets(n) => u64::from(packets) + 1 + strict > u64::from(n),
            Limit::Bytes(n) => waiting + u64::from(bytes) + strict > n,
        }
    }
}

impl<P: Copy> Qdisc<P> for DropTail<P> {
    #[inline]
    fn enqueue(&mut self, _now: Time, packet: Packet<P>, host: &mut impl Host<P>) {
        if self.is_full_for(packet.meta.bytes) {
            host.dropped(packet, DropReason::Overflow);
        } else {
            self.queue.push(packet);
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Time, _host: &mut impl Host<P>) -> Dequeue<P> {
        self.queue.pop().map_or(Dequeue::Empty, Dequeue::Packet)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn departs_in_order(&self) -> bool {
        true
    }

    fn can_bypass(&self) -> bool {
        match self.limit {
            Limit::Packets(n) => u64::from(n) > u64::from(self.strict_limit),
            // A packet may be longer than a small limit.
            Limit::Bytes(_) => false,
        }
    }
}
