//! The sender's part of ECN (RFC 3168, section 6.1.2), as in Linux 6.
//!
//! The SYN asks, the echo on its answer grants. New data is ECN-capable then, retransmissions are not (section 6.1.5).
//! An echo begins a reduction of the window as a loss does, once a round trip: it is ignored until what was outstanding
//! has been acknowledged and more. The reduction follows PRR, and the next new segment says CWR.

use crate::DataFlags;

/// State of a sender that concerns ECN.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ecn {
    /// The receiver takes part.
    pub granted: bool,
    /// The window was reduced and no packet has said so yet.
    pub reduction_unsaid: bool,
}

impl Ecn {
    /// Flags of a new segment.
    pub fn flags(&mut self) -> DataFlags {
        if !self.granted {
            return DataFlags::NONE;
        }
        DataFlags::ECT.with(DataFlags::CWR, core::mem::take(&mut self.reduction_unsaid))
    }
}
