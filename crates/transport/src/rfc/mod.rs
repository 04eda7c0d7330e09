//! Profile `rfc`: byte-based TCP by the RFCs, in the readings of Linux 6.
//!
//! One-way connections, as in [`ns2`](crate::ns2): packet 0 is the SYN, its answer an acknowledgement, and data goes
//! one way. On the wire sequence numbers are bytes modulo 2^32, the SYN has number 0, the first byte of data 1, and an
//! acknowledgement names the next byte expected. Windows and counters are reported in segments.

mod config;
mod parameters;
mod receiver;
mod sender;
mod seq;

pub use config::{Config, CongestionControl, HyStart};
pub use parameters::PARAMETERS;
pub use receiver::Receiver;
pub use sender::Sender;
