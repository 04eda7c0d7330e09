//! The data plane of live runs: a user-space bottleneck that real packets pass, with the disciplines, the books and the
//! probes of the simulator.
//!
//! The link runs on logical time. A packet is worth what its time of arrival says; the link is served up to that time
//! before the packet is enqueued, so what the operating system does late is late on the wire, never wrong in the queue.
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
