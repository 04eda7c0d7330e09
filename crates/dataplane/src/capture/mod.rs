//! Captures: packets with the time at which they arrived, as files that other tools read.
//!
//! The format is that of libpcap 2.4 with time stamps in nanoseconds (`draft-ietf-opsawg-pcap`): a header of 24 bytes with
//! the magic number 0xA1B23C4D and the link type 101 (raw IP, the packet begins with its IP header), then each packet
//! after 16 bytes: seconds, nanoseconds, bytes kept, bytes that it had. Times are logical: they count from the start of
//! the run.

mod file;
mod recorder;

pub use self::file::{Packet, Reader, Writer};
pub use self::recorder::{KEPT, Recorder, Tap};
