//! The packet-level network simulator: a graph of stations, and the engine that evaluates them.
//!
//! A station (a flow's source, a link with its queue, a flow's receiver) is a deterministic function of its
//! time-ordered inputs, its own timers and its own random stream. It never looks at another station, at a global
//! clock or at a shared generator; what an engine decides is only the order in which stations are evaluated. A result
//! is a function of the plan and the seed alone.

mod engine;
mod feeders;
mod flow;
mod heap;
mod key;
mod link;
mod observe;
pub mod open_loop;
mod packet;
mod paths;
pub mod plan;
mod routing;
mod tables;

pub use engine::{Options, Simulation};
pub use flow::{SinkCounters, SourceCounters, WindowSample};
pub use link::LinkCounters;
pub use observe::{EventKind, LinkEvent, Moments, Observation, QueueSample};
pub use routing::Routes;
pub use tables::{Column, Table};
