//! Profile `ns2-2.35`: the one-way TCP agents of ns-2 2.35, with their default settings.
//!
//! Conforms to: ns-2 2.35 (2011), agents `Agent/TCP`, `Agent/TCP/Reno`, `Agent/TCP/Newreno`,
//! `Agent/TCP/Sack1` with the sinks `TCPSink`, `TCPSink/DelAck`, `TCPSink/Sack1`, `TCPSink/Sack1/DelAck`;
//! event for event, since their traces are compared.
//!
//! # Characteristics of this profile
//! - Sequence numbers count packets from 0. An acknowledgement names the last packet received in order, -1
//!   when packet 0 is missing. Data goes one way; the receiver sends nothing but acknowledgements.
//! - Packet 0 is a SYN of header length; the answer to it opens the initial window. Without `syn` packet 0 is
//!   data, but ns-2 leaves the header out of its length, and so do we.
//! - The retransmission timer counts in whole ticks with the fixed-point filter of 4.3BSD (`sender/rtt.rs`).
//! - Idle restart, as by default: each expiry of the timer with nothing in flight sets the window to one.
//!
//! # Map
//! | idea | file |
//! |---|---|
//! | one connection's sequence numbers, output, timer | `sender/flow.rs` |
//! | the acknowledgement that brings nothing but new data | `sender/plain.rs` |
//! | cwnd and ssthresh arithmetic | `sender/window.rs` |
//! | round-trip time and time-out | `sender/rtt.rs` |
//! | answers to ECN echoes | `sender/ecn.rs` |
//! | loss repair | `sender/tahoe.rs`, `reno.rs`, `newreno.rs`, `sack.rs` with `scoreboard.rs` |
//! | reassembly, delayed ACK, SACK blocks | `receiver/` |
//!
//! # Parameters
//! See [`PARAMETERS`]. ns-2's other switches are fixed at their defaults: `bugFix_`,
//! `bugfix_ss_`, `timerfix_`, `rfc2988_`, `exitFastRetrans_`, `aggressive_maxburst_`, `slow_start_restart_`,
//! `restart_bugfix_`, `delay_growth_`, `SetCWRonRetransmit_`, `newreno_changes1_`,
//! `partial_window_deflation_`, `ts_echo_bugfix_`, `RFC2581_immediate_ack_`, `SYN_immediate_ack_` on;
//! `numdupacks_` 3, `maxSackBlocks_` 3; Quick-Start, F-RTO, `QOption_`, HighSpeed TCP, ELN, D-SACK off.
//!
//! # Differences from ns-2
//! 1. Times are integer picoseconds; the round-trip arithmetic converts them to seconds first, so it rounds
//!    as ns-2 does wherever the times themselves are exact in both.
//! 2. When everything is acknowledged and nothing is left to send, the timer stops after its first idle
//!    expiry. ns-2's goes on for ever without effect.
//! 3. ns-2 draws the phase of each sender's clock at random; here it is an argument of [`Sender::new`].
//!
//! # Oddities kept
//! - Three duplicate acknowledgements that arrive when all is acknowledged may send the packet after the
//!   last, even beyond the end of a finite transfer.
//! - After [`Sender::stop`] the last packet sent is not repeated by a time-out until [`Sender::resume`].

mod config;
mod parameters;
mod receiver;
mod sender;

pub use config::{Config, Variant};
pub use parameters::PARAMETERS;
pub use receiver::Receiver;
pub use sender::{MOST_PACKETS, Sender};

/// Duplicate acknowledgements that signal a loss.
const DUPACK_THRESHOLD: i32 = 3;
/// Bytes that a time stamp option adds to a data packet.
const TIMESTAMP_BYTES: u32 = 10;
/// Bytes that a SACK block adds to an acknowledgement.
const SACK_BLOCK_BYTES: u32 = 8;
