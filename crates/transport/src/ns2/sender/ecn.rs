//! The sender's part of explicit congestion notification.
//!
//! S. Floyd, "TCP and explicit congestion notification", CCR 24(5), 1994; RFC 3168, section 6.1; as in ns-2
//! 2.35.
//!
//! Packet 0 asks for ECN, and the echo on its acknowledgement grants it; data packets are ECN-capable from
//! the start, though. An echo halves the window as a loss does, at most once in a window of data: only if it
//! answers a packet beyond `recover`, or if the last cut was a time-out. The next packet then carries CWR.
//! Where the window is one packet or less already, it falls below one, so that the next packet waits for the
//! timer; a second echo in a row backs the timer off as well.
//!
//! Differences from RFC 3168 (ns-2's): retransmissions and packets before the grant are ECN-capable, and CWR
//! is set after any cut.

use super::flow::{Flow, LastCut};

/// State of a sender that concerns ECN.
#[derive(Clone, Copy, Debug, Default)]
pub struct EcnState {
    /// The receiver takes part.
    granted: bool,
    /// The last echo found the window at one packet.
    pub at_one_packet: bool,
    /// The window was cut and no packet has reported it yet.
    pub cut_unsaid: bool,
}

impl EcnState {
    /// Whether this acknowledgement must not open the window.
    pub fn holds_window(&self, echo: bool) -> bool {
        self.granted && echo
    }

    /// Whether this acknowledgement must not end the timer's back-off.
    pub fn keeps_back_off(&self, echo: bool) -> bool {
        self.granted && self.at_one_packet && echo
    }

    /// Notes the echo, or its absence, on an acknowledgement of new data.
    pub fn note_echo(&mut self, echo: bool) {
        if self.granted && !echo {
            self.at_one_packet = false;
        }
        self.granted |= echo;
    }
}

impl Flow {
    /// Answers an ECN echo on an acknowledgement of `ack`.
    pub fn respond_to_echo(&mut self, ack: i32) {
        if ack <= self.recover && self.last_cut != LastCut::Timeout {
            return;
        }
        self.recover = self.highest_sent;
        self.last_cut = LastCut::Ecn;
        if self.window.cwnd > 1.0 {
            self.ecn.at_one_packet = false;
        } else if self.ecn.at_one_packet {
            self.rtt.back_off(&self.config);
        } else {
            self.ecn.at_one_packet = true;
        }
        self.halve();
        self.tally.ecn_responses += 1;
    }
}
