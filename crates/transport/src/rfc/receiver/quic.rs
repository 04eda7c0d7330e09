//! Time and content of an acknowledgement of QUIC.
//!
//! J. Iyengar et al., draft-ietf-quic-ack-frequency-09; RFC 9000, section 13.2. A packet is acknowledged at once
//!
//! - if it is the R-th since the last acknowledgement: `ack_ratio`, the draft's Ack-Eliciting Threshold plus one;
//! - if it is `reordering_threshold` or more packets after a missing one that was not reported before (section 6.2): one below
//!   Largest Acked - threshold + 1 was;
//! - if it is marked and the one before was not, see `marks.rs`;
//!
//! and otherwise within `delayed_ack`, the draft's Request Max Ack Delay. An acknowledgement echoes the time stamp of the packet sent
//! last of those that have arrived, which is QUIC's Largest Acknowledged, and says for how long it was held back (ACK Delay).
//!
//! # Differences
//! Which packets are missing follows from the segments: a lost retransmission is reported with the next acknowledgement, not at once.

use aqmlab_units::{Span, Time};

use crate::rfc::Config;

/// Knowledge about packets.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    /// When the largest packet has arrived.
    largest_arrived: Time,
    /// One past the highest byte when the last acknowledgement was sent.
    reported: u64,
}

impl Packets {
    /// The largest packet so far has arrived.
    pub fn note_largest(&mut self, now: Time) {
        self.largest_arrived = now;
    }

    /// Return the byte from which on missing segments have not been reported.
    pub fn unreported(&self, config: &Config) -> u64 {
        self.reported.saturating_sub(u64::from(config.reordering_threshold) * u64::from(config.mss))
    }

    /// Whether a missing byte, so many before the end of the highest segment, is to be reported at once.
    pub fn is_overtaken(config: &Config, distance: u64) -> bool {
        let threshold = u64::from(config.reordering_threshold);
        threshold > 0 && distance > threshold * u64::from(config.mss)
    }

    /// An acknowledgement goes out, with bytes up to `highest` received; return for how long it was held back.
    pub fn report(&mut self, now: Time, highest: u64) -> Span {
        self.reported = highest;
        now.since(self.largest_arrived)
    }
}
