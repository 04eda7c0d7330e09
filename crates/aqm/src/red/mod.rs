//! Random Early Detection (RED) out of its parts.
//!
//! S. Floyd and V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions on
//! Networking 1(4), 1993. At each arrival the average queue is updated; between two thresholds the arriving packet
//! is dropped or marked with a probability that grows with the average:
//!
//! ```text
//! avg <- (1 - w_q) avg + w_q q                      queue not empty          (section 4)
//! avg <- (1 - w_q)^m avg,  m = idle time / s        queue empty
//! p_b <- max_p (avg - min_th)/(max_th - min_th)     min_th <= avg < max_th   (1)
//! p_a <- p_b/(1 - count p_b)                                                 (2)
//! ```
//!
//! Each later paper exchanges one part of it, and each part has a folder of its own:
//!
//! | part | decides | folder |
//! |---|---|---|
//! | average | what congestion is measured by | [`average`] |
//! | curve | p_b from the average | [`curve`] |
//! | spacing | whether *this* packet is the one | [`spacing`] |
//! | victim | which packet is dropped or marked | [`victim`] |
//! | classes | which parameter set applies | [`classes`] |
//! | adaptation | how parameters move | [`adaptation`] |
//! | response | what happens to the victim | [`response`] |
//!
//! Drop reasons: `early`, `forced`, `overflow`. Gauges: `average` in packets and `p_b`, with several classes those of the
//! last; `p_a` (not in Linux's spacing) and `count` of the last decision; `average_0` and so on with several classes; then
//! those of the victim rule and the adaptation.
//!
//! With `arithmetic = "integer"` the average ([`average::IntegerEwma`]), the curve ([`curve::CurveTable`]) and the spacing
//! compute in integers, and p_b is a multiple of 2^-31. `python/aqmlab/interop/kernel/module/decision.h` has the same lines in C.
//!
//! A [`Dialect`] is a named set of switches over all parts: the differences between the original paper, ns-2.35 and
//! Linux, which all call their algorithm "RED".

#[cfg(feature = "red")]
pub mod adaptation;
#[cfg(feature = "red")]
pub mod average;
#[cfg(feature = "red")]
mod by_class;
#[cfg(feature = "red")]
pub mod classes;
#[cfg(feature = "red")]
pub mod curve;
mod dialect;
#[cfg(feature = "red")]
mod discipline;
#[cfg(feature = "red")]
pub(crate) mod parameters;
#[cfg(feature = "red")]
pub(crate) mod part;
#[cfg(feature = "red")]
pub(crate) mod preset;
#[cfg(feature = "red")]
pub mod response;
#[cfg(feature = "red")]
pub mod spacing;
#[cfg(feature = "red")]
mod store;
#[cfg(feature = "red")]
pub mod victim;

pub use dialect::{AtIdle, ByteScaling, Crossing, Dialect, DialectName, ForcedAt, IdleWhen};
#[cfg(feature = "red")]
pub use discipline::{ClassState, InIntegers, Params, Red};
#[cfg(feature = "red")]
pub use part::{PART_KINDS, PartInfo, PartKind};

/// Name of the gauge of the average, in packets; with several classes, that of the last.
pub const AVERAGE: &str = "average";
/// Name of the gauge of p_b at that average: the drop probability that the curve gives, before spacing.
pub const P_B: &str = "p_b";

/// State of the spacing of drops and marks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpacingState {
    /// Probability that the last arrival was dropped or marked, for a packet of mean size; `None` if the rule has no
    /// probability, as in Linux.
    pub p_a: Option<f64>,
    /// Arrivals since the last drop or mark; -1 below min_th.
    pub count: i64,
}
