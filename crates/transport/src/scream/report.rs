//! A report of the receiver (RFC 8298, section 4.2.1): the list of received packets, when the highest of them arrived, and n_ECN.
//!
//! On the way it is an [`Ack`], in which the bits of the list and n_ECN take the place of SACK blocks.

use aqmlab_units::Time;

use crate::{Ack, SackBlock};

/// Packets before the highest one that a report covers.
pub(super) const COVERED: u32 = u128::BITS;

/// A report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// The highest sequence number received.
    pub highest: u32,
    /// Bit k: whether packet `highest - 1 - k` was received.
    pub received: u128,
    /// When the packet with the highest sequence number arrived.
    pub arrival: Time,
    /// Packets received with a mark so far.
    pub n_ecn: u32,
}

impl Report {
    /// Return it as it travels, with this length in bytes.
    pub fn to_ack(self, bytes: u32) -> Ack {
        let Self { highest, received, arrival, n_ecn } = self;
        let mut ack = Ack { ts_echo: arrival, ack: highest as i32, bytes, ..Ack::default() };
        let word = |k: u32| (received >> (32 * k)) as i32;
        ack.sack.push(SackBlock { left: word(0), right: word(1) });
        ack.sack.push(SackBlock { left: word(2), right: word(3) });
        ack.sack.push(SackBlock { left: n_ecn as i32, right: 0 });
        ack
    }

    /// Return the report in an acknowledgement of [`Report::to_ack`]; `None` for another.
    pub fn of_ack(ack: &Ack) -> Option<Self> {
        let [low, high, marks] = ack.sack.as_slice() else { return None };
        let words = [low.left, low.right, high.left, high.right];
        let received = words.iter().rev().fold(0, |bits, word| bits << 32 | u128::from(*word as u32));
        Some(Self { highest: ack.ack as u32, received, arrival: ack.ts_echo, n_ecn: marks.left as u32 })
    }

    /// Whether packet `number` was received; `None` if the report does not cover it.
    pub fn has(&self, number: u32) -> Option<bool> {
        let behind = self.highest.checked_sub(number)?;
        match behind.checked_sub(1) {
            None => Some(true),
            Some(bit) if bit < COVERED => Some(self.received >> bit & 1 == 1),
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_survives_the_journey() {
        let report =
            Report { highest: 300, received: 1 << 127 | 5 << 60 | 9, arrival: Time(77), n_ecn: u32::MAX };
        let ack = report.to_ack(72);
        assert_eq!((ack.bytes, Report::of_ack(&ack)), (72, Some(report)));
        assert_eq!(Report::of_ack(&Ack::default()), None);
    }

    #[test]
    fn packets_of_a_report() {
        // Received: 300, 299 and 296.
        let report = Report { highest: 300, received: 0b1001, ..Report::default() };
        assert_eq!([301, 300, 299, 298, 297, 296].map(|n| report.has(n)), {
            [None, Some(true), Some(true), Some(false), Some(false), Some(true)]
        });
        assert_eq!([172, 171].map(|n| report.has(n)), [Some(false), None]);
    }
}
