#![doc = include_str!("../README.md")]
//!
//! # Structure
//!
//! Queue disciplines for active queue management (AQM). They read no clock, do no I/O and have no random number
//! generator: time, random numbers and packets are arguments, so that the same code runs in the simulator and in
//! the live data plane.
//!
//! A discipline implements [`Qdisc`]: it owns its packets and hands back every one exactly once. Random Early
//! Detection (RED) and its descendants are built from exchangeable components (see [`red`]); all other disciplines are in
//! `disciplines`.

// Families share helpers, of which some families alone use few. The full set of families has no unused code.
#![cfg_attr(not(feature = "default"), allow(dead_code, reason = "helpers that only other families use"))]

mod acknowledgement;
mod checked;
mod discipline;
mod disciplines;
mod drop_tail;
mod fifo;
#[cfg(feature = "red")]
mod indexed;
mod over_fifo;
mod packet;
pub mod plugin;
mod preset;
mod qdisc;
pub mod red;
mod registry;
#[cfg(feature = "replay")]
pub mod replay;
mod spec;
mod standalone;
mod tin_stats;

pub use acknowledgement::{AckFields, AckOptions, KnownOptions, MAX_SACK_BLOCKS};
pub use aqmlab_units as units;
pub use aqmlab_units::{LEVELS, Parameter, ValueKind, name_of};
pub(crate) use aqmlab_units::{names, value_of};
pub use checked::Checked;
pub use discipline::Discipline;
#[cfg(feature = "l4s")]
pub use disciplines::DualPi2Settings;
pub use disciplines::NonRed;
pub use drop_tail::{DropTail, Room};
pub use fifo::Fifo;
pub use over_fifo::{Decide, OverFifo, Verdict};
pub use packet::{Ecn, Header, Kind, Meta, Packet};
pub use preset::{PRESETS, Preset};
pub use qdisc::{Backlog, Dequeue, DropClass, DropReason, Gauge, Host, Logged, Qdisc, Visitor};
#[cfg(feature = "red")]
pub(crate) use red::SpacingState;
#[cfg(feature = "red")]
pub use red::parameters::parts_with;
pub use registry::plugin_parameter;
#[cfg(feature = "red")]
pub use spec::RedParts;
pub use spec::{ClassSpec, Limit, LinkContext, ParameterError, Resolved, Spec, Value};
pub use standalone::{Effect, Event, Listed, StandaloneQueue, Tag};
pub use tin_stats::TinStats;
