//! Tail loss probe: when no acknowledgement arrives, the last segment or a new one is sent to elicit one.
//!
//! Y. Cheng et al., RFC 8985, section 7, in the readings of Linux 6:
//!
//! ```text
//! PTO = 2 SRTT + 2 ms            with more than one segment in flight          (section 7.2)
//! PTO = 2 SRTT + min_rto         with one, whose answer may be delayed
//! ```
//!
//! at most the retransmission time-out. A probe that was a retransmission shows a loss if the acknowledgement goes beyond
//! what was sent before it without a report of a duplicate (section 7.4); that is one window reduction.

use aqmlab_units::Span;

/// Least time of a timer (Linux TCP_TIMEOUT_MIN_US); 2 ms.
pub const LEAST_TIMEOUT: Span = Span::from_millis(2);

/// The probe that is out.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    /// One past the last segment when it was sent; `None`: no probe.
    end: Option<u64>,
    retransmission: bool,
}

/// The outcome of a probe after an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeOutcome {
    /// Nothing yet, or there is no probe.
    Open,
    /// Nothing was lost.
    NoLoss,
    /// The probe repaired a loss.
    Repaired,
}

impl Probe {
    /// Time until the probe.
    pub fn timeout(srtt: Span, outstanding: u64, min_rto: Span) -> Span {
        srtt * 2 + if outstanding == 1 { min_rto } else { LEAST_TIMEOUT }
    }

    pub fn is_out(&self) -> bool {
        self.end.is_some()
    }

    /// Whether a retransmission is out as a probe.
    pub fn is_retransmission(&self) -> bool {
        self.is_out() && self.retransmission
    }

    /// Record that the probe was sent; `next`: the next new segment after it.
    pub fn note_sent(&mut self, next: u64, retransmission: bool) {
        *self = Self { end: Some(next), retransmission };
    }

    /// Recovery takes over.
    pub fn end(&mut self) {
        self.end = None;
    }

    /// Takes an acknowledgement up to `una`. `duplicate`: it reports one that ends at this segment; `pure`: it brings
    /// nothing else.
    pub fn on_ack(&mut self, una: u64, duplicate: Option<u64>, pure: bool) -> ProbeOutcome {
        let Some(end) = self.end else { return ProbeOutcome::Open };
        if una < end {
            return ProbeOutcome::Open;
        }
        let verdict = if !self.retransmission || duplicate == Some(end) {
            ProbeOutcome::NoLoss
        } else if una > end {
            ProbeOutcome::Repaired
        } else if pure {
            ProbeOutcome::NoLoss
        } else {
            return ProbeOutcome::Open;
        };
        self.end = None;
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probe_timeouts() {
        let (srtt, min_rto) = (Span::from_millis(30), Span::from_millis(200));
        assert_eq!(Probe::timeout(srtt, 2, min_rto), Span::from_millis(62));
        assert_eq!(Probe::timeout(srtt, 1, min_rto), Span::from_millis(260));
    }

    #[test]
    fn verdicts() {
        let out = |retransmission| Probe { end: Some(10), retransmission };
        assert_eq!(Probe::default().on_ack(10, None, true), ProbeOutcome::Open);
        assert_eq!(out(true).on_ack(9, None, false), ProbeOutcome::Open);
        assert_eq!(out(false).on_ack(10, None, false), ProbeOutcome::NoLoss);
        assert_eq!(out(true).on_ack(10, None, false), ProbeOutcome::Open, "one more answer may come");
        assert_eq!(out(true).on_ack(10, None, true), ProbeOutcome::NoLoss, "it came: both arrived");
        assert_eq!(out(true).on_ack(10, Some(10), false), ProbeOutcome::NoLoss);
        assert_eq!(out(true).on_ack(11, None, false), ProbeOutcome::Repaired);
    }
}
