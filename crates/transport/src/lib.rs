#![doc = include_str!("../README.md")]
//!
//! # Structure
//!
//! Sans-IO transport endpoints: TCP senders and receivers, sources of UDP, and media over UDP with congestion control.
//!
//! This crate has no clock, network or seed of random numbers. The caller passes the time and receives packets through a
//! closure. A timer is a deadline: the host asks for it and calls back when it expires. One endpoint is one value; a
//! network simulator, a test or a live host drives it the same way:
//!
//! 1. [`Sender::start`] puts the first packets into the closure;
//! 2. every arriving [`Data`] goes to [`Receiver::on_data`], every [`Ack`] to [`Sender::on_ack`];
//! 3. [`Sender::timer`] and [`Receiver::timer`] return when to call `on_timer`; the deadline may change after any
//!    call.
//!
//! # Profiles
//! A profile is a complete, pinned set of semantics, one folder each:
//!
//! - [`ns2`]: the one-way TCP agents of ns-2 2.35 (Tahoe, Reno, NewReno, SACK), which count packets. Name in
//!   scenario files: `ns2-2.35`.
//! - [`rfc`]: byte-based TCP by the RFCs, as Linux 6 implements it. Name in scenario files: `rfc`.
//!
//! Beside the profiles of TCP, [`scream`] has media whose bit rate SCReAM (RFC 8298) controls: endpoints of the same kind.
//!
//! The types that all profiles share are in this folder: the packets ([`Data`], [`Ack`]), the [`Profile`]s with their
//! registries of parameters, endpoints of any of them ([`Sender`], [`Receiver`], [`TcpConfig`]), and [`UdpSource`]
//! with the [`Length`] of its packets.

mod base_delay;
mod counters;
mod length;
pub mod ns2;
mod parameters;
mod profile;
mod receiver;
pub mod rfc;
pub mod scream;
mod segment;
mod sender;
mod settings;
mod supply;
mod timer;
mod udp;

pub use aqmlab_units::{Parameter, ValueKind};
pub use counters::{ReceiverCounters, SenderCounters};
pub use length::Length;
pub use parameters::InvalidParameter;
pub use profile::{Profile, TcpConfig};
pub use receiver::Receiver;
pub use segment::{
    Ack, Data, DataFlags, MAX_SACK_BLOCKS, NewData, PlainAck, PlainAnswer, SackBlock, SackBlocks,
};
pub use sender::Sender;
pub use settings::{Configuration, Value};
pub use supply::Supply;
pub use timer::Timer;
pub use udp::{Arrival, Datagram, Pattern, UdpSource};

/// The network of `tests/bottleneck`, for tests of private items.
#[cfg(test)]
#[allow(dead_code, reason = "its other users read more")]
#[path = "../tests/bottleneck/mod.rs"]
mod bottleneck;
#[cfg(test)]
extern crate self as aqmlab_transport;
