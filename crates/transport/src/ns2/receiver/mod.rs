//! The receiving end: reassembly, and an acknowledgement for every packet or every second one.
//!
//! ns-2 2.35 `TCPSink`, with `DelAck` and `Sack1`.
//!
//! # Delayed acknowledgements
//! An acknowledgement is held back for a packet in order, for `delayed_ack`, unless one is being held
//! already, packet 0 is the one, or packets beyond it have been received. Any other packet is answered at
//! once, and an acknowledgement being held goes out in that answer (RFC 2581, section 4.2).
//!
//! # ECN
//! A marked packet sets the echo until the sender says CWR; CWR and a mark on one packet leave it set. Packet
//! 0 with the request for ECN is answered with the echo set, which grants it. Of a held packet and the one
//! that releases it, both count.

mod reassembly;
mod sack;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use aqmlab_units::Time;

use super::SACK_BLOCK_BYTES;
use crate::{Ack, Data, SackBlocks, TcpConfig, Timer, Variant};
use reassembly::Reassembly;
use sack::SackGenerator;

/// What a receiver has counted since its start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceiverCounters {
    /// Data packets that arrived, duplicates included.
    pub received_packets: u64,
    /// Packets delivered in order, each once.
    pub delivered_packets: u64,
    /// Bytes delivered in order, headers included.
    pub delivered_bytes: u64,
    /// Packets that arrived although they had arrived before.
    pub duplicates: u64,
    /// Acknowledgements sent.
    pub acks_sent: u64,
}

/// A data packet whose acknowledgement is being made.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    data: Data,
    ce: bool,
}

/// A TCP receiver of the ns-2 profile.
#[derive(Clone, Debug)]
pub struct Receiver {
    config: Arc<TcpConfig>,
    reassembly: Reassembly,
    sack: Option<SackGenerator>,
    /// The packet whose acknowledgement is held back.
    held: Option<Arrival>,
    timer: Option<Timer>,
    /// A mark has been seen that the sender has not answered with CWR.
    mark_unanswered: bool,
    ts_echo: Time,
    last_acked: i32,
    counters: ReceiverCounters,
}

impl Receiver {
    /// A receiver that expects packet 0. `config` must pass [`TcpConfig::check`].
    pub fn new(config: Arc<TcpConfig>) -> Self {
        Self {
            reassembly: Reassembly::default(),
            sack: (config.variant == Variant::Sack).then(SackGenerator::default),
            held: None,
            timer: None,
            mark_unanswered: false,
            ts_echo: Time::ZERO,
            last_acked: 0,
            counters: ReceiverCounters::default(),
            config,
        }
    }

    /// Takes a data packet; `ce`: it was marked on its way.
    pub fn on_data(&mut self, now: Time, data: &Data, ce: bool, out: &mut impl FnMut(Ack)) {
        let seq = data.seq as i32;
        if data.sent >= self.ts_echo && seq <= self.last_acked + 1 {
            self.ts_echo = data.sent;
        }
        let delivered = self.reassembly.receive(seq, data.bytes);
        self.counters.received_packets += 1;
        self.counters.delivered_packets += u64::from(delivered.packets);
        self.counters.delivered_bytes += u64::from(delivered.bytes);
        self.counters.duplicates += u64::from(self.reassembly.last_was_duplicate());

        let arrival = Arrival { data: *data, ce };
        match self.config.delayed_ack {
            Some(delay) if self.may_wait(seq) => {
                self.held = Some(arrival);
                self.timer = Some(Timer { deadline: now + delay, set_at: now });
            }
            _ => {
                self.timer = None;
                self.acknowledge(arrival, out);
            }
        }
    }

    fn may_wait(&self, seq: i32) -> bool {
        let last = self.reassembly.last_in_order();
        self.timer.is_none() && seq == last && seq >= self.reassembly.highest() && seq != 0
    }

    /// The timer of a held acknowledgement has expired: to be called at its deadline.
    pub fn on_timer(&mut self, _now: Time, out: &mut impl FnMut(Ack)) {
        if self.timer.take().is_none() {
            return;
        }
        if let Some(held) = self.held {
            self.acknowledge(held, out);
        }
    }

    fn acknowledge(&mut self, arrival: Arrival, out: &mut impl FnMut(Ack)) {
        let ece = self.echo(arrival);
        self.held = None;
        let sack = match &mut self.sack {
            Some(sack) => sack.blocks(&self.reassembly, arrival.data.seq as i32),
            None => SackBlocks::EMPTY,
        };
        let bytes = self.config.ack_size + SACK_BLOCK_BYTES * sack.len() as u32;
        self.last_acked = self.reassembly.last_in_order();
        self.counters.acks_sent += 1;
        out(Ack { ts_echo: self.ts_echo, ack: self.last_acked, bytes, sack, ece });
    }

    /// The ECN echo on the answer to `arrival` and to the packet that is held, if any.
    fn echo(&mut self, arrival: Arrival) -> bool {
        let any = |test: fn(&Arrival) -> bool| test(&arrival) || self.held.as_ref().is_some_and(test);
        let cwr = any(|a| a.data.cwr());
        let marked = any(|a| a.data.ect() && a.ce);
        let capable = any(|a| a.data.ect());
        let setup = any(|a| a.data.ecn_setup() && !a.data.ect());
        self.mark_unanswered = marked || (self.mark_unanswered && !cwr);
        setup || (capable && self.mark_unanswered)
    }

    /// The timer of a held acknowledgement, if one is held.
    pub fn timer(&self) -> Option<Timer> {
        self.timer
    }

    /// What was counted since the start.
    pub fn counters(&self) -> &ReceiverCounters {
        &self.counters
    }
}
