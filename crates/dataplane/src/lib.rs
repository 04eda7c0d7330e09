//! The data plane of live runs: a user-space bottleneck that real packets pass, with the disciplines, counters and probes
//! of the simulator.
//!
//! The link runs in logical time. Before a packet is enqueued, the link is served up to the packet's time of arrival.
//! Delays of the operating system therefore delay packets on the wire, but never change a decision of the queue.
//!
//! Pure parts (no clock, no input or output) are tested without privileges; the shell around them owns two TUN devices,
//! one thread for packets and one for control.

pub mod bottleneck;
pub mod buffer;
pub mod capabilities;
pub mod capture;
pub mod classify;
pub mod clock;
pub mod config;
pub mod control;
pub mod delay_line;
pub mod flows;
pub mod json;
pub mod lateness;
pub mod link_thread;
pub mod outcome;
pub mod plane;
pub mod process;
pub mod rate_meter;
pub mod realtime;
pub mod replay;
pub mod snapshot;
mod sys;
pub mod traffic;
pub mod tun;
pub mod wire;
