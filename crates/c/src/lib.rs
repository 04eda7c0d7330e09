//! The C library: one queue discipline of aqmlab in a caller's own event loop.
//!
//! `ffi` has all functions of `include/aqmlab.h`, which a test makes from it. They pass every call to a
//! [`StandaloneQueue`](aqmlab_aqm::StandaloneQueue), whose settings [`queue_for_link`](aqmlab_scenario::queue_for_link) reads; this
//! crate has no logic of its own. `convert` checks values that come from C, `error` keeps the text of the last error.
//!
//! From Rust, use those two without this crate: `docs/embedding.md` has an example.

mod convert;
mod error;
mod ffi;

/// The examples in Rust of the page are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/embedding.md")]
struct Embedding;
