//! The sender's part of ECN, with the feedback that the connection uses.
//!
//! K. Ramakrishnan et al., RFC 3168, section 6.1.2, as in Linux 6: the SYN asks, the echo on its answer grants. New data
//! is ECN-capable then, retransmissions are not (section 6.1.5). An echo begins a reduction of the window as a loss does,
//! once a round trip: it is ignored until what was outstanding has been acknowledged and more. The reduction follows PRR,
//! and the next new segment says CWR.
//!
//! How many segments were marked:
//!
//! ```text
//! classic:    not told; one that is echoed stands for all that the acknowledgement delivers
//! dctcp:      all that the acknowledgement delivers, if it has the echo         (RFC 8257, section 3.3)
//! accurate:   (ACE - s.cep) mod 8; of more than 7 delivered, the most that fits
//!             delivered - (delivered - that) mod 8                              (RFC 9768, appendix A.2.1)
//! ```
//!
//! With accurate feedback any mark begins a reduction, and nobody says CWR.
//!
//! # Differences from RFC 9768
//! 1. The handshake is RFC 3168's: both ends have the same configuration, so that nothing is to be negotiated. Both
//!    count from 0, not from 5.
//! 2. The option with counts of bytes, which may be left out, is.
//! 3. The most that fits is taken wherever more than 7 segments are delivered at a time (a reading: the appendix asks
//!    how likely a whole turn of the counter is).

use crate::rfc::{Config, EcnFeedback};
use crate::{Ack, DataFlags};

/// Values of the field ACE (RFC 9768, section 3.2.2).
pub const ACE_VALUES: u64 = 8;

/// State of a sender that concerns ECN.
#[derive(Clone, Copy, Debug)]
pub struct Ecn {
    feedback: EcnFeedback,
    /// The code point is ECT(1).
    l4s: bool,
    /// The receiver takes part.
    pub granted: bool,
    /// The window was reduced and no packet has said so yet.
    pub reduction_unsaid: bool,
    /// Marked packets that the receiver has told of (s.cep).
    told: u64,
}

impl Ecn {
    pub fn new(config: &Config) -> Self {
        Self {
            feedback: config.ecn,
            l4s: config.congestion_control.is_l4s(),
            granted: false,
            reduction_unsaid: false,
            told: 0,
        }
    }

    /// Flags of a new segment.
    pub fn flags(&mut self) -> DataFlags {
        if !self.granted {
            return DataFlags::NONE;
        }
        let says = core::mem::take(&mut self.reduction_unsaid) && self.feedback != EcnFeedback::Accurate;
        DataFlags::ECT.with(DataFlags::ECT1, self.l4s).with(DataFlags::CWR, says)
    }

    /// How many packets were marked, by an acknowledgement that delivers so many segments.
    pub fn marked(&mut self, ack: &Ack, delivered: u64) -> u64 {
        match self.feedback {
            _ if !self.granted => 0,
            EcnFeedback::Off => 0,
            EcnFeedback::Classic | EcnFeedback::Dctcp => u64::from(ack.ece) * delivered.max(1),
            EcnFeedback::Accurate => {
                let fewest = u64::from(ack.ace).wrapping_sub(self.told) % ACE_VALUES;
                let marked = if delivered < ACE_VALUES {
                    fewest
                } else {
                    delivered - (delivered - fewest) % ACE_VALUES
                };
                self.told += marked;
                marked
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rfc::CongestionControl;

    fn ecn(feedback: EcnFeedback) -> Ecn {
        let config = Config { ecn: feedback, ..Config::linux(CongestionControl::Cubic) };
        Ecn { granted: true, reduction_unsaid: true, ..Ecn::new(&config) }
    }

    fn ack(ece: bool, ace: u8) -> Ack {
        Ack { ece, ace, ..Ack::default() }
    }

    #[test]
    fn an_echo_stands_for_all_that_is_delivered() {
        for feedback in [EcnFeedback::Classic, EcnFeedback::Dctcp] {
            let mut ecn = ecn(feedback);
            let found = [(false, 3), (true, 3), (true, 0)].map(|(ece, n)| ecn.marked(&ack(ece, 0), n));
            assert_eq!(found, [0, 3, 1]);
            assert!(ecn.flags().has(DataFlags::CWR));
            assert!(!ecn.flags().has(DataFlags::CWR), "once");
        }
    }

    #[test]
    fn the_counter_turns() {
        let mut ecn = ecn(EcnFeedback::Accurate);
        let steps = [(0, 2), (2, 2), (7, 7), (1, 2), (1, 2), (1, 8), (4, 20)];
        // The last two: a whole turn is the most that fits into 8 segments; 3 + 16 into 20.
        assert_eq!(steps.map(|(ace, n)| ecn.marked(&ack(false, ace), n)), [0, 2, 5, 2, 0, 8, 19]);
        assert_eq!(ecn.told % ACE_VALUES, 4);
        assert!(!ecn.flags().has(DataFlags::CWR));
    }

    #[test]
    fn who_was_not_granted_hears_nothing() {
        let mut ecn = Ecn { granted: false, ..ecn(EcnFeedback::Accurate) };
        assert_eq!((ecn.marked(&ack(true, 3), 2), ecn.flags()), (0, DataFlags::NONE));
    }
}
