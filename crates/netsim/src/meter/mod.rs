//! Meters: what colour a packet has by how its flow keeps to its profile.
//!
//! A meter is a pure function of the packets that it has seen and of the random numbers passed to it.
//!
//! | meter | source | file |
//! |---|---|---|
//! | [`TokenBucket`] | RFC 2475, section 2.3.3.1 | `bucket.rs` |
//! | [`SingleRate`] (srTCM) | RFC 2697 | `tcm.rs` |
//! | [`TwoRate`] (trTCM) | RFC 2698 | `tcm.rs` |
//! | [`SlidingWindow`] (TSW2CM, TSW3CM) | Clark and Fang 1998; RFC 2859 | `window.rs` |
//!
//! # Arithmetic
//! [`Exact`] is what simulations use: tokens are whole numbers, so that rounding never turns a packet red. [`Ns2`] rounds, compares and draws as the DiffServ module of ns-2 2.35 (`diffserv/dsPolicy.cc`) does, so
//! that both give the same colours for the same arrivals:
//!
//! | | [`Exact`] | [`Ns2`] |
//! |---|---|---|
//! | tokens | whole bit-picoseconds | bytes as doubles |
//! | time between packets | whole picoseconds | difference of two clocks in seconds, as doubles |
//! | TSW2CM above the rate is red if | u < (avg - cir) / avg | u <= 1 - cir / avg |
//! | TSW3CM takes a random number | above cir | for every packet |
//! | TSW3CM is red, yellow if | u < (avg - pir) / avg, u < (avg - cir) / avg | avg (1 - u) > pir, > cir |
//!
//! Not in ns-2: colour-aware meters; ns-2's meters begin at the start of the simulation, as these do.

mod arithmetic;
mod bucket;
mod tcm;
#[cfg(test)]
mod tests;
mod window;

use aqmlab_units::Time;

pub use arithmetic::{Arithmetic, Exact, Ns2};
pub(crate) use bucket::Bucket;
pub use bucket::TokenBucket;
pub use tcm::{SingleRate, TwoRate};
pub use window::SlidingWindow;

use crate::plan;

/// The colour of a packet; a meter of two colours knows green and red.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Color {
    /// Within the committed rate.
    #[default]
    Green,
    /// Beyond it, but within the tolerance.
    Yellow,
    /// Beyond all.
    Red,
}

/// Any meter.
#[derive(Clone, Copy, Debug)]
pub enum Meter<A: Arithmetic> {
    /// Token bucket.
    TokenBucket(TokenBucket<A>),
    /// Time-sliding window with two or three colours.
    SlidingWindow(SlidingWindow<A>),
    /// Single rate three color marker.
    SingleRate(SingleRate<A>),
    /// Two rate three color marker.
    TwoRate(TwoRate<A>),
}

impl<A: Arithmetic> Meter<A> {
    /// A meter at time 0: buckets are full, the average is the committed rate.
    pub fn new(meter: &plan::Meter) -> Self {
        use plan::Meter as Plan;
        match *meter {
            Plan::TokenBucket { cir, cbs } => Self::TokenBucket(TokenBucket::new(cir, cbs)),
            Plan::Tsw2 { cir, window } => Self::SlidingWindow(SlidingWindow::two_colors(cir, window)),
            Plan::Tsw3 { cir, pir, window } => {
                Self::SlidingWindow(SlidingWindow::three_colors(cir, pir, window))
            }
            Plan::SrTcm { cir, cbs, ebs, color_aware } => {
                Self::SingleRate(SingleRate::new(cir, cbs, ebs, color_aware))
            }
            Plan::TrTcm { cir, cbs, pir, pbs, color_aware } => {
                Self::TwoRate(TwoRate::new((cir, cbs), (pir, pbs), color_aware))
            }
        }
    }

    /// The colour of a packet of `bytes` that arrives at `now` and comes with a colour; `uniform` gives numbers on
    /// [0, 1).
    pub fn color(
        &mut self,
        now: Time,
        bytes: u32,
        incoming: Color,
        mut uniform: impl FnMut() -> f64,
    ) -> Color {
        match self {
            Self::TokenBucket(meter) => meter.color(now, bytes),
            Self::SlidingWindow(meter) => meter.color(now, bytes, &mut uniform),
            Self::SingleRate(meter) => meter.color(now, bytes, incoming),
            Self::TwoRate(meter) => meter.color(now, bytes, incoming),
        }
    }
}
