//! The receiving end.

use std::sync::Arc;

use aqmlab_units::Time;

use super::Config;
use super::seq::expand;
use crate::{Ack, Data, ReceiverCounters, SackBlocks, Timer};

/// A TCP receiver of the RFC profile.
#[derive(Clone, Debug)]
pub struct Receiver {
    config: Arc<Config>,
    /// Next byte expected.
    next: u64,
    received_packets: u64,
    duplicates: u64,
    acks_sent: u64,
}

impl Receiver {
    /// A receiver that expects the SYN. `config` must pass [`Config::check`]; the sender's must be the same.
    pub fn new(config: Arc<Config>) -> Self {
        Self { config, next: 0, received_packets: 0, duplicates: 0, acks_sent: 0 }
    }

    /// Takes a data packet; `ce`: it was marked on its way.
    pub fn on_data(&mut self, _now: Time, data: &Data, _ce: bool, out: &mut impl FnMut(Ack)) {
        self.received_packets += 1;
        let left = expand(data.seq, self.next);
        let length = if data.syn() { 1 } else { data.bytes - self.config.header };
        if left == self.next {
            self.next += u64::from(length);
        } else {
            self.duplicates += u64::from(left < self.next);
        }
        self.acks_sent += 1;
        let bytes = self.config.ack_size;
        out(Ack {
            ts_echo: data.sent,
            ack: self.next as u32 as i32,
            bytes,
            sack: SackBlocks::EMPTY,
            ece: false,
        });
    }

    /// The timer of a held acknowledgement has expired: to be called at its deadline.
    pub fn on_timer(&mut self, _now: Time, _out: &mut impl FnMut(Ack)) {}

    /// The timer of a held acknowledgement, if one is held.
    pub fn timer(&self) -> Option<Timer> {
        None
    }

    /// What was counted since the start; the SYN counts as a packet.
    pub fn counters(&self) -> ReceiverCounters {
        let payload = self.next.saturating_sub(1);
        let segments = payload.div_ceil(self.config.mss.into());
        let syn = u64::from(self.next > 0);
        ReceiverCounters {
            received_packets: self.received_packets,
            delivered_packets: segments + syn,
            delivered_bytes: payload
                + segments * u64::from(self.config.header)
                + syn * u64::from(self.config.syn_length()),
            duplicates: self.duplicates,
            acks_sent: self.acks_sent,
        }
    }
}
