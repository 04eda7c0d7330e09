//! Scenario files: this crate reads TOML text and returns a checked [`Plan`](aqmlab_netsim::plan::Plan), or all errors
//! with their places.
//!
//! 1. `tree` reads TOML into values with places; `overrides` replaces values by those of `--set`.
//!    Before that `files` puts the points of distributions in place of the files that have them; the caller reads these.
//! 2. `shape` defines the structure of a file: tables of keys, each with its kind, default and description. Every
//!    section of the file has its own (`run`, `queue`, `network`, `flow`, `tcp`, `marker`, `change`, `routing`, `probe`, `live`);
//!    parameters of disciplines and of TCP come from the registries of their crates, and `parameter` makes keys of them. `section` checks a file against its shape; the JSON schema
//!    is made from the same tables.
//! 3. The modules of the sections read values that passed, check them against each other, and expand groups of
//!    flows and the networks that have a name into nodes, links and flows.
//!
//! An error never stops the search for others; only text that is not TOML, or of another format, does.

mod change;
mod controlled;
mod description;
mod dscp;
mod extent;
mod files;
mod flow;
mod live;
mod marker;
mod nearest;
mod network;
mod normal;
mod overrides;
mod parameter;
mod probe;
mod problem;
mod queue;
mod routing;
mod run;
mod scenario;
mod section;
mod shape;
mod sizes;
mod spread;
mod tcp;
mod traces;
mod tree;
mod units;

pub use change::{Change, LinkState};
pub use controlled::{ControlledRun, Settable};
pub use description::{check_json, disciplines_json, document, integers, registry, schema};
pub use files::{TextAndOverrides, with_files};
pub use flow::APPLICATIONS;
pub use live::{CountBytes, Distance, Family, FlowLabel, Live, Program};
pub use normal::hash as text_hash;
pub use problem::{Problem, Severity};
pub use scenario::{FORMAT, Scenario, curve, parse, queue_for_link, queue_for_rate};
pub use traces::trace_json;
