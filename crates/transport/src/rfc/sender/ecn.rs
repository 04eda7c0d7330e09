//! The sender's part of ECN, for each kind of feedback.
//!
//! K. Ramakrishnan et al., RFC 3168, section 6.1.2, as in Linux 6: the SYN asks, the echo on its answer grants. New data
//! is ECN-capable then. SYN and retransmissions are not (section 6.1.5) but with DCTCP and Prague, all of whose packets
//! are, since they meet a queue that drops others where it marks theirs (RFC 8257, sections 3.6 and 4.1; section 2.2 of
//! draft-briscoe-iccrg-prague-congestion-control-02; Linux `tcp_ca_needs_ecn`).
//!
//! An echo begins a reduction of the window as a loss does, once a round trip: it is ignored until what was outstanding
//! has been acknowledged and more. The reduction follows PRR, and the next new segment says CWR.
//!
//! How many segments were marked:
//!
//! ```text
//! classic:    not reported; an echo stands for all that the acknowledgement delivers
//! dctcp:      all that the acknowledgement delivers, if it has the echo         (RFC 8257, section 3.3)
//! accurate:   (ACE - s.cep) mod 8; of more than 7 delivered, the most that fits
//!             delivered - (delivered - that) mod 8         (RFC 9768, section 3.2.2.5.2, appendix A.2.1)
//! ```
//!
//! With accurate feedback any mark begins a reduction, and CWR is not used.
//!
//! # Differences from RFC 9768
//! 1. The handshake is RFC 3168's: both ends have the same configuration, so that nothing is to be negotiated. Both
//!    count from 0, not from 5 (section 3.2.1), and a mark on the SYN is not reported.
//! 2. The optional byte counters (section 3.2.3) and their 5 to 11 bytes are left out. They would distinguish segments of
//!    different lengths, of which a transfer here has one, and show how often the counter wrapped where acknowledgements
//!    were lost; there reading 1 assumes the most (appendix A.2.2 is more precise).
//! 3. No packet but data is counted, and acknowledgements are not ECN-capable.
//!
//! # Readings
//! 1. The most that fits is taken wherever more than 7 segments are delivered at a time (the simplest of appendix A.2.1,
//!    which asks how likely a wrap of the counter is). With a receiver that reports every second mark at once this
//!    takes three acknowledgements lost in a row.
//! 2. More marks than segments delivered are accepted (section 3.2.2.5.2): duplicates may be marked too.

use crate::rfc::{Config, EcnFeedback};
use crate::{Ack, DataFlags};

/// Values of the field ACE (RFC 9768, section 3.2.2).
pub const ACE_VALUES: u64 = 8;

/// State of a sender that concerns ECN.
#[derive(Clone, Copy, Debug)]
pub struct Ecn {
    feedback: EcnFeedback,
    /// The code point of packets that are capable; whether SYN and retransmissions are.
    capable: DataFlags,
    all_are: bool,
    /// The receiver takes part.
    pub granted: bool,
    /// The window was reduced and no packet has reported it yet.
    pub reduction_unsaid: bool,
    /// Marked packets that the receiver has reported (s.cep).
    s_cep: u64,
}

impl Ecn {
    pub fn new(config: &Config) -> Self {
        Self {
            feedback: config.ecn,
            capable: DataFlags::ECT.with(DataFlags::ECT1, config.congestion_control.is_l4s()),
            all_are: config.ecn.is_on() && config.congestion_control.needs_ecn(),
            granted: false,
            reduction_unsaid: false,
            s_cep: 0,
        }
    }

    /// Flags of a new segment.
    pub fn flags(&mut self) -> DataFlags {
        if !self.granted {
            return DataFlags::NONE;
        }
        let says = core::mem::take(&mut self.reduction_unsaid) && self.feedback != EcnFeedback::Accurate;
        self.capable.with(DataFlags::CWR, says)
    }

    /// Flags of a segment that is sent again.
    pub fn flags_again(&self) -> DataFlags {
        if self.granted && self.all_are { self.capable } else { DataFlags::NONE }
    }

    /// Flags of the SYN.
    pub fn flags_of_syn(&self) -> DataFlags {
        let flags = DataFlags::SYN.with(DataFlags::ECN_SETUP, self.feedback.is_on());
        flags.with(self.capable, self.all_are)
    }

    /// Return whether an acknowledgement that delivers `delivered` segments reports marks, and how many.
    pub fn marked(&mut self, ack: &Ack, delivered: u64) -> (bool, u64) {
        match self.feedback {
            _ if !self.granted => (false, 0),
            EcnFeedback::Off => (false, 0),
            EcnFeedback::Classic | EcnFeedback::Dctcp => (ack.ece, u64::from(ack.ece) * delivered),
            EcnFeedback::Accurate => {
                let fewest = u64::from(ack.ace).wrapping_sub(self.s_cep) % ACE_VALUES;
                let marked = if delivered < ACE_VALUES {
                    fewest
                } else {
                    delivered - (delivered - fewest) % ACE_VALUES
                };
                self.s_cep += marked;
                (marked > 0, marked)
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
            assert_eq!(found, [(false, 0), (true, 3), (true, 0)]);
            assert!(ecn.flags().has(DataFlags::CWR));
            assert!(!ecn.flags().has(DataFlags::CWR), "once");
        }
    }

    #[test]
    fn the_counter_turns() {
        let mut ecn = ecn(EcnFeedback::Accurate);
        let steps = [(0, 2), (2, 2), (7, 7), (1, 2), (1, 2), (1, 8), (4, 20)];
        // The last two: a wrap of the counter is the most that fits into 8 segments; 3 + 16 into 20.
        assert_eq!(steps.map(|(ace, n)| ecn.marked(&ack(false, ace), n).1), [0, 2, 5, 2, 0, 8, 19]);
        assert_eq!(ecn.s_cep % ACE_VALUES, 4);
        assert!(!ecn.flags().has(DataFlags::CWR));
    }

    #[test]
    fn of_a_counter_that_may_have_turned_the_most_is_taken() {
        // The examples of RFC 9768, appendix A.2.1: 2 more marks and 9 or 10 segments; and more marks than segments.
        for (delivered, marked) in [(9, 2), (10, 10), (1, 2)] {
            let found = ecn(EcnFeedback::Accurate).marked(&ack(false, 2), delivered);
            assert_eq!(found, (true, marked), "{delivered} segments");
        }
    }

    #[test]
    fn all_packets_of_who_needs_marks_are_capable() {
        use CongestionControl::{Bbr, Cubic, Dctcp, Prague};
        let [ect, ect1] = [DataFlags::ECT, DataFlags::ECT.with(DataFlags::ECT1, true)];
        let cases = [
            (Cubic, EcnFeedback::Classic, DataFlags::NONE),
            (Bbr, EcnFeedback::Dctcp, DataFlags::NONE),
            (Dctcp, EcnFeedback::Dctcp, ect),
            (Prague, EcnFeedback::Accurate, ect1),
        ];
        for (cc, feedback, again) in cases {
            let mut ecn = Ecn::new(&Config { ecn: feedback, ..Config::linux(cc) });
            let setup = DataFlags::SYN.with(DataFlags::ECN_SETUP, true);
            assert_eq!(ecn.flags_of_syn(), setup.with(again, true), "{cc:?}");
            assert_eq!(ecn.flags_again(), DataFlags::NONE, "{cc:?}: not granted");
            ecn.granted = true;
            assert_eq!(ecn.flags_again(), again, "{cc:?}");
        }
    }

    #[test]
    fn who_was_not_granted_hears_nothing() {
        let mut ecn = Ecn { granted: false, ..ecn(EcnFeedback::Accurate) };
        assert_eq!((ecn.marked(&ack(true, 3), 2), ecn.flags()), ((false, 0), DataFlags::NONE));
    }
}
