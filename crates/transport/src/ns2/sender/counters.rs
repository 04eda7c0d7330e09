use aqmlab_units::Span;

use crate::SenderCounters;
use crate::ns2::Config;

/// The counters kept at each event; the rest of [`SenderCounters`] follows from them.
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
    pub fn counters(&self, config: &Config) -> SenderCounters {
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
