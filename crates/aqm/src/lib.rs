//! Queue disciplines for active queue management (AQM). They read no clock, do no I/O and have no random number
//! generator: time, random numbers and packets are arguments, so that the same code runs in the simulator and in
//! the live data plane.
//!
//! A discipline implements [`Qdisc`]: it owns its packets and hands back every one exactly once. Random Early
//! Detection (RED) and its descendants are built from exchangeable components (see [`red`]); all other disciplines are in
//! `disciplines`.

mod acknowledgement;
mod checked;
mod discipline;
mod disciplines;
mod drop_tail;
mod fifo;
mod indexed;
mod over_fifo;
mod packet;
pub mod plugin;
mod preset;
mod qdisc;
pub mod red;
mod registry;
pub mod replay;
mod spec;
mod standalone;
mod tin_stats;

pub use acknowledgement::{AckFields, AckOptions, KnownOptions, MAX_SACK_BLOCKS};
pub use aqmlab_units::{LEVELS, Parameter, ValueKind, name_of};
pub(crate) use aqmlab_units::{names, value_of};
pub use checked::Checked;
pub use discipline::Discipline;
pub use disciplines::NonRed;
pub use drop_tail::{DropTail, Room};
pub use fifo::Fifo;
pub use over_fifo::{Decide, OverFifo, Verdict};
pub use packet::{Ecn, Header, Kind, Meta, Packet};
pub use preset::{PRESETS, Preset};
pub use qdisc::{Backlog, Dequeue, DropClass, DropReason, Gauge, Host, Logged, Qdisc, Visitor};
pub(crate) use red::SpacingState;
pub use registry::{parts_with, plugin_parameter};
pub use spec::{ClassSpec, Limit, LinkContext, ParameterError, RedParts, Resolved, Spec, Value};
pub use standalone::{Effect, Event, Listed, StandaloneQueue, Tag};
pub use tin_stats::TinStats;
