#![doc = include_str!("../README.md")]
//!
//! # Structure
//!
//! The packet-level network simulator: a graph of stations, and the engine that evaluates them.
//!
//! A station (a flow's source, a link with its queue, a flow's receiver) is a deterministic function of its
//! time-ordered inputs, its own timers and its own random stream. It never looks at another station, at a global
//! clock or at a shared generator; what an engine decides is only the order in which stations are evaluated. A result
//! depends only on the plan and the seed.

mod application;
mod attached;
mod code_points;
mod controlled;
mod draw;
mod engine;
mod events;
mod feeders;
mod heap;
mod histogram;
mod key;
mod link;
mod link_stats;
mod marker;
mod message;
pub mod meter;
mod moments;
mod network;
mod observe;
pub mod open_loop;
mod packet_log;
mod paths;
pub mod plan;
mod recorded;
mod routing;
mod sampling;
mod sink;
mod source;
pub mod standalone_link;
mod tables;
mod target;
mod watch;
mod windows;

pub use code_points::CodePoint;
pub use controlled::{Controlled, Interval};
pub use engine::{EngineChoice, Options, Simulation};
pub use link_stats::{LinkCounters, Numbered};
pub use marker::MarkerCounters;
pub use moments::Moments;
pub use observe::{DisciplineSample, EventKind, LinkEvent, Loss, Observation, QueueSample};
pub use packet_log::LoggedPacket;
pub use recorded::Recorded;
pub use routing::{Detours, Routed, Routes};
pub use sink::{FlowSample, SinkCounters};
pub use source::{SourceCounters, WindowSample};
pub use tables::{Column, Table, Words};
