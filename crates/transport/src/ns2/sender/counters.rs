use aqmlab_units::Span;

use crate::TcpConfig;

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
}

/// What is counted as it happens; the rest of [`SenderCounters`] follows from it.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Tally {
    pub acks_received: u64,
    pub sent_packets: u64,
    pub retransmissions: u64,
    /// How often packet 0 was sent.
    pub opening_packets: u32,
    pub timeouts: u32,
    pub fast_retransmits: u32,
    pub ecn_responses: u32,
    rtt_samples: u64,
    rtt_sum: Span,
    rtt_min: Span,
    rtt_max: Span,
}

impl Tally {
    pub fn count_rtt(&mut self, sample: Span) {
        self.rtt_min = if self.rtt_samples == 0 { sample } else { self.rtt_min.min(sample) };
        self.rtt_max = self.rtt_max.max(sample);
        self.rtt_samples += 1;
        self.rtt_sum = self.rtt_sum + sample;
    }

    /// All counters of a sender that is set to `config`.
    pub fn counters(&self, config: &TcpConfig) -> SenderCounters {
        let opening_packets = u64::from(self.opening_packets);
        let full_packets = self.sent_packets - opening_packets;
        let sent_bytes = opening_packets * u64::from(config.data_length(0))
            + full_packets * u64::from(config.data_length(1));
        SenderCounters {
            sent_packets: self.sent_packets,
            sent_bytes,
            retransmissions: self.retransmissions,
            timeouts: self.timeouts.into(),
            fast_retransmits: self.fast_retransmits.into(),
            ecn_responses: self.ecn_responses.into(),
            acks_received: self.acks_received,
            rtt_samples: self.rtt_samples,
            rtt_sum: self.rtt_sum,
            rtt_min: self.rtt_min,
            rtt_max: self.rtt_max,
        }
    }
}
