use aqmlab_units::Span;

use crate::Data;

/// What a sender has counted since its start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Packets sent, SYN and retransmissions included.
    pub sent_packets: u64,
    /// Bytes sent, headers, SYN and retransmissions included.
    pub sent_bytes: u64,
    /// Packets sent whose sequence number had been sent before.
    pub retransmissions: u64,
    /// Expiries of the retransmission timer with data in flight.
    pub timeouts: u64,
    /// Third duplicate acknowledgements that were answered by a retransmission.
    pub fast_retransmits: u64,
    /// Window reductions on an ECN echo.
    pub ecn_responses: u64,
    /// Acknowledgements received.
    pub acks_received: u64,
    /// Round-trip samples.
    pub rtt_samples: u64,
    /// Sum of the round-trip samples, exact (not in ticks).
    pub rtt_sum: Span,
    /// Least round-trip sample; meaningless without a sample.
    pub rtt_min: Span,
    /// Greatest round-trip sample.
    pub rtt_max: Span,
}

impl SenderCounters {
    /// Mean of the round-trip samples; `None` without one.
    pub fn rtt_mean(&self) -> Option<Span> {
        self.rtt_sum.0.checked_div(self.rtt_samples).map(Span)
    }

    pub(super) fn count_sent(&mut self, data: &Data) {
        self.sent_packets += 1;
        self.sent_bytes += u64::from(data.bytes);
        self.retransmissions += u64::from(data.retransmission());
    }

    pub(super) fn count_rtt(&mut self, sample: Span) {
        self.rtt_min = if self.rtt_samples == 0 { sample } else { self.rtt_min.min(sample) };
        self.rtt_max = self.rtt_max.max(sample);
        self.rtt_samples += 1;
        self.rtt_sum = self.rtt_sum + sample;
    }
}
