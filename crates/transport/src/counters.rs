//! Counters of the two endpoints. A packet is a segment in all profiles.

use aqmlab_units::Span;

/// The counters of a sender since its start.
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
    /// Losses found by acknowledgements that were answered by a retransmission: one for each recovery.
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

/// The counters of a receiver since its start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceiverCounters {
    /// Data packets that arrived, duplicates included.
    pub received_packets: u64,
    /// Packets delivered in order, each once.
    pub delivered_packets: u64,
    /// Bytes delivered in order, headers included.
    pub delivered_bytes: u64,
    /// Of them bytes of payload.
    pub delivered_payload: u64,
    /// Packets that arrived although they had arrived before.
    pub duplicates: u64,
    /// Acknowledgements sent.
    pub acks_sent: u64,
}
