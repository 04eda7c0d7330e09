//! The three color markers of RFC 2697 and RFC 2698.
//!
//! Colour-blind they take every packet for green; colour-aware a packet is never better than it comes.

use aqmlab_units::{Rate, Time};

use super::bucket::Bucket;
use super::{Arithmetic, Color};

/// Single rate three color marker (RFC 2697): tokens come at the rate `cir` into the committed bucket, and when that
/// is full into the excess bucket.
#[derive(Clone, Copy, Debug)]
pub struct SingleRate<A: Arithmetic> {
    cir: Rate,
    committed: Bucket<A>,
    excess: Bucket<A>,
    color_aware: bool,
    last: Time,
}

impl<A: Arithmetic> SingleRate<A> {
    /// Full buckets of `cbs` and `ebs` bytes at time 0.
    pub fn new(cir: Rate, cbs: u64, ebs: u64, color_aware: bool) -> Self {
        let (committed, excess) = (Bucket::full(cbs), Bucket::full(ebs));
        Self { cir, committed, excess, color_aware, last: Time::ZERO }
    }

    /// The colour of a packet of `bytes` that arrives at `now` and comes with a colour.
    pub fn color(&mut self, now: Time, bytes: u32, incoming: Color) -> Color {
        if let Some(surplus) = self.committed.pour(A::earned(self.cir, self.last, now)) {
            self.excess.pour(surplus);
        }
        self.last = now;
        let incoming = if self.color_aware { incoming } else { Color::Green };
        if incoming == Color::Green && self.committed.covers(bytes) {
            self.committed.pay(bytes);
            Color::Green
        } else if incoming <= Color::Yellow && self.excess.covers(bytes) {
            self.excess.pay(bytes);
            Color::Yellow
        } else {
            Color::Red
        }
    }
}

/// Two rate three color marker (RFC 2698): tokens come at the rate `cir` into the committed bucket and at the rate
/// `pir` into the peak bucket; a packet that the peak bucket does not cover is red, and a green packet is paid from
/// both.
#[derive(Clone, Copy, Debug)]
pub struct TwoRate<A: Arithmetic> {
    cir: Rate,
    pir: Rate,
    committed: Bucket<A>,
    peak: Bucket<A>,
    color_aware: bool,
    last: Time,
}

impl<A: Arithmetic> TwoRate<A> {
    /// Full buckets at time 0; committed and peak rate, each with its burst size in bytes.
    pub fn new((cir, cbs): (Rate, u64), (pir, pbs): (Rate, u64), color_aware: bool) -> Self {
        let (committed, peak) = (Bucket::full(cbs), Bucket::full(pbs));
        Self { cir, pir, committed, peak, color_aware, last: Time::ZERO }
    }

    /// The colour of a packet of `bytes` that arrives at `now` and comes with a colour.
    pub fn color(&mut self, now: Time, bytes: u32, incoming: Color) -> Color {
        self.committed.pour(A::earned(self.cir, self.last, now));
        self.peak.pour(A::earned(self.pir, self.last, now));
        self.last = now;
        let incoming = if self.color_aware { incoming } else { Color::Green };
        if incoming == Color::Red || !self.peak.covers(bytes) {
            return Color::Red;
        }
        self.peak.pay(bytes);
        if incoming == Color::Yellow || !self.committed.covers(bytes) {
            return Color::Yellow;
        }
        self.committed.pay(bytes);
        Color::Green
    }
}
