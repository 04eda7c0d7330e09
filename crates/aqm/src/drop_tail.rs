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
use crate::{Backlog, Decide, DropReason, Gauge, Host, Meta, OverFifo, Verdict};

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

    /// Return the limit.
    pub fn limit(&self) -> Limit {
        self.limit
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
pub type DropTail<P> = OverFifo<P, Room>;

impl<P: Copy> DropTail<P> {
    /// Create an empty queue.
    pub fn new(room: Room) -> Self {
        Self::of(room)
    }
}

impl Decide for Room {
    const READS_FLOW: bool = false;

    #[inline]
    fn decide<P>(&mut self, _now: Time, meta: &Meta, waiting: Backlog, _host: &mut impl Host<P>) -> Verdict {
        if self.is_full_for(waiting, meta.bytes) {
            Verdict::Drop(DropReason::OVERFLOW)
        } else {
            Verdict::Accept
        }
    }

    #[inline]
    fn average(&self) -> Option<f64> {
        Some(0.0)
    }

    fn gauges(&self, out: &mut dyn FnMut(Gauge, f64)) {
        none_early(out);
    }
}
