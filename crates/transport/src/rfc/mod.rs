//! Profile `rfc`: byte-based TCP by the RFCs, in the readings of Linux 6.
//!
//! Conforms to: RFC 9293 (sequence numbers), RFC 5681, 6928, 3042, 6298, 2018, 2883, 6675, 6582, 8985, 6937, 5682, 4015,
//! 3168, 7323, 9438, 9406, and to Linux 6's implementation of them, so that a simulation can be compared with a run
//! over a real kernel. Every Linux reading that changes a number is a switch of [`Config`] with Linux's value for its default; what
//! differs from Linux in spite of that is in each module's notes, and together in `docs/tcp.md`.
//!
//! # Characteristics of this profile
//! - One-way connections, as in [`ns2`](crate::ns2): packet 0 is the SYN, its answer an acknowledgement, then data goes
//!   one way in full segments and acknowledgements the other. No FIN; the window is never updated.
//! - On the wire sequence numbers are bytes modulo 2^32: the SYN has number 0, the first byte of data 1, and an
//!   acknowledgement names the next byte expected. SACK blocks are bytes too.
//! - Windows and counters are reported in segments.
//!
//! # Map
//! | idea | file |
//! |---|---|
//! | configuration of a connection, with sources | `config.rs`, `feedback.rs`, `parameters.rs` |
//! | 32-bit sequence numbers | `seq.rs` |
//! | reassembly, SACK blocks, duplicates | `receiver/reassembly.rs` |
//! | delayed, quick and compressed acknowledgements | `receiver/delay.rs` |
//! | evaluation of an acknowledgement | `sender/news.rs` |
//! | segments outstanding, the pipe | `sender/scoreboard.rs` |
//! | loss detection by time (RACK), tail loss probes | `sender/rack.rs`, `tlp.rs` |
//! | recovery states, loss detection by counting or duplicates, F-RTO | `sender/recovery.rs` |
//! | loss detection of QUIC | `sender/quic.rs`, `receiver/quic.rs` |
//! | undoing a reduction | `sender/undo.rs` |
//! | round-trip time and time-out, the timer | `sender/rtt.rs`, `alarm.rs` |
//! | the window and its validation | `sender/window.rs` |
//! | congestion controllers, one file each, with their parameters | `sender/congestion/` |
//! | proportional rate reduction | `sender/prr.rs` |
//! | ECN, pacing | `sender/ecn.rs`, `pacing.rs` |
//! | sending | `sender/output.rs` |
//! | plain packets in a few steps | `receiver/plain.rs`, `sender/plain.rs` |

mod config;
mod feedback;
mod parameters;
#[cfg(test)]
mod plain_tests;
mod receiver;
mod rtt;
mod sender;
mod seq;

pub use config::{Config, HyStart, LossDetection};
pub use feedback::EcnFeedback;
pub use parameters::PARAMETERS;
pub use receiver::Receiver;
pub use sender::{
    Bbr1Config, BbrConfig, CongestionControl, ControllerOptions, DctcpConfig, DelayFilter, LedbatConfig,
    PragueConfig, Sender,
};
