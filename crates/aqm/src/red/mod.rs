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
//! | victim | which packet pays | [`victim`] |
//! | classes | which parameter set applies | [`classes`] |
//! | adaptation | how parameters move | [`adaptation`] |
//! | response | what happens to the victim | [`response`] |
//!
//! A [`Dialect`] is a named set of switches over all parts: what the original paper, ns-2.35 and Linux do
//! differently while all of them say "RED".

pub mod adaptation;
pub mod average;
mod by_class;
pub mod classes;
pub mod curve;
mod dialect;
mod discipline;
pub(crate) mod part;
pub mod response;
pub mod spacing;
mod store;
pub mod victim;

pub use dialect::{AtIdle, ByteScaling, Crossing, Dialect, DialectName, IdleWhen};
pub use discipline::{ClassState, Params, Red};
pub use part::{PART_KINDS, PartInfo, PartKind};
