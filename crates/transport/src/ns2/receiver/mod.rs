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

use aqmlab_units::{Time, prefetch};

use super::SACK_BLOCK_BYTES;
use crate::ns2::{Config, Variant};
use crate::{Ack, Data, DataFlags, PlainAck, PlainAnswer, ReceiverCounters, SackBlocks, Timer};
use reassembly::Reassembly;
use sack::SackGenerator;

/// A data packet whose acknowledgement is being made.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    seq: i32,
    flags: DataFlags,
    ce: bool,
}

impl Arrival {
    /// Return whether it leaves the ECN state unchanged and its answer has no echo; `unanswered`: an earlier mark is not answered yet.
    #[inline]
    fn has_nothing_of_ecn(&self, unanswered: bool) -> bool {
        !(self.ce || unanswered || self.flags.has(DataFlags::CWR) || self.flags.has(DataFlags::ECN_SETUP))
    }
}

/// A TCP receiver of the ns-2 profile. What a plain packet needs comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Receiver {
    reassembly: Reassembly,
    ts_echo: Time,
    received_packets: u64,
    acks_sent: u64,
    last_acked: i32,
    /// Length of an acknowledgement without SACK blocks, in bytes.
    ack_size: u32,
    sack: Option<Box<SackGenerator>>,
    delay: Option<Box<Delay>>,
    /// A mark has been seen that awaits the sender's CWR.
    mark_unanswered: bool,
    config: Arc<Config>,
    duplicates: u64,
}

/// A delaying receiver's state of the acknowledgement that is held back.
#[derive(Clone, Debug, Default)]
struct Delay {
    /// The packet to answer.
    held: Option<Arrival>,
    timer: Option<Timer>,
}

impl Receiver {
    /// A receiver that expects packet 0. `config` must pass [`check`](crate::Configuration::check); the sender's must be the same.
    pub fn new(config: Arc<Config>) -> Self {
        Self {
            reassembly: Reassembly::default(),
            ts_echo: Time::ZERO,
            received_packets: 0,
            acks_sent: 0,
            last_acked: 0,
            ack_size: config.ack_size,
            mark_unanswered: false,
            duplicates: 0,
            sack: (config.variant == Variant::Sack).then(Box::default),
            delay: config.delayed_ack.map(|_| Box::default()),
            config,
        }
    }

    /// Prefetch the fields that a plain packet needs: one in each cache line.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.reassembly);
        prefetch(&self.ts_echo);
        prefetch(&self.mark_unanswered);
    }

    /// Takes a data packet; `ce`: it was marked on its way.
    #[inline]
    pub fn on_data(&mut self, now: Time, data: &Data, ce: bool, out: &mut impl FnMut(Ack)) {
        match self.on_plain_data(now, data, ce) {
            Some(PlainAnswer::Sent(ack)) => out(ack.into()),
            Some(PlainAnswer::Held) => {}
            None => self.on_any_data(now, data, ce, out),
        }
    }

    /// Take a data packet whose answer is plain: it has neither ECN nor SACK. Return the answer. If it is not plain, return `None` and
    /// change nothing.
    #[inline]
    pub fn on_plain_data(&mut self, now: Time, data: &Data, ce: bool) -> Option<PlainAnswer> {
        let seq = data.seq as i32;
        let arrival = Arrival { seq, flags: data.flags, ce };
        if !arrival.has_nothing_of_ecn(self.mark_unanswered) {
            return None;
        }
        if self.delay.is_some() {
            return self.on_plain_data_delayed(now, data, arrival);
        }
        let mut ack = seq;
        if self.reassembly.receive_next(seq) {
            self.ts_echo = self.ts_echo.max(data.sent);
        } else if self.sack.is_some() {
            return None;
        } else {
            self.reassemble(data);
            ack = self.reassembly.last_in_order();
        }
        self.received_packets += 1;
        Some(PlainAnswer::Sent(self.plain_ack(ack)))
    }

    /// [`Receiver::on_plain_data`] where acknowledgements are delayed.
    #[inline(never)]
    fn on_plain_data_delayed(&mut self, now: Time, data: &Data, arrival: Arrival) -> Option<PlainAnswer> {
        let (Some(delay), Some(longest)) = (&mut self.delay, self.config.delayed_ack) else { return None };
        let seq = arrival.seq;
        let holds = match delay.held {
            None => seq != 0,
            Some(held) if held.has_nothing_of_ecn(false) => false,
            Some(_) => return None,
        };
        if !self.reassembly.receive_next(seq) {
            return None;
        }
        if seq <= self.last_acked + 1 {
            self.ts_echo = self.ts_echo.max(data.sent);
        }
        self.received_packets += 1;
        if holds {
            delay.held = Some(arrival);
            delay.timer = Some(Timer { deadline: now + longest, set_at: now });
            return Some(PlainAnswer::Held);
        }
        (delay.held, delay.timer) = (None, None);
        Some(PlainAnswer::Sent(self.plain_ack(seq)))
    }

    /// Acknowledge everything up to `ack`.
    #[inline]
    fn plain_ack(&mut self, ack: i32) -> PlainAck {
        self.last_acked = ack;
        self.acks_sent += 1;
        PlainAck { ack, ts_echo: self.ts_echo, bytes: self.ack_size, ece: false }
    }

    /// Enter a data packet, which may be out of order.
    #[inline(never)]
    fn reassemble(&mut self, data: &Data) {
        let seq = data.seq as i32;
        if data.sent >= self.ts_echo && seq <= self.last_acked + 1 {
            self.ts_echo = data.sent;
        }
        self.reassembly.receive(seq);
        self.duplicates += u64::from(self.reassembly.last_was_duplicate());
    }

    #[inline(never)]
    fn on_any_data(&mut self, now: Time, data: &Data, ce: bool, out: &mut impl FnMut(Ack)) {
        self.received_packets += 1;
        self.reassemble(data);
        let seq = data.seq as i32;

        let arrival = Arrival { seq, flags: data.flags, ce };
        if let (Some(delay), Some(longest)) = (&mut self.delay, self.config.delayed_ack) {
            let in_order = seq == self.reassembly.last_in_order() && seq >= self.reassembly.highest();
            if delay.timer.is_none() && in_order && seq != 0 {
                delay.held = Some(arrival);
                delay.timer = Some(Timer { deadline: now + longest, set_at: now });
                return;
            }
            delay.timer = None;
        }
        self.acknowledge(arrival, out);
    }

    /// The timer of a held acknowledgement has expired: to be called at its deadline.
    pub fn on_timer(&mut self, _now: Time, out: &mut impl FnMut(Ack)) {
        let Some(delay) = &mut self.delay else { return };
        if delay.timer.take().is_some()
            && let Some(held) = delay.held
        {
            self.acknowledge(held, out);
        }
    }

    fn acknowledge(&mut self, arrival: Arrival, out: &mut impl FnMut(Ack)) {
        let nothing_held = self.delay.is_none();
        let ece = !(nothing_held && arrival.has_nothing_of_ecn(self.mark_unanswered)) && self.echo(arrival);
        if let Some(delay) = &mut self.delay {
            delay.held = None;
        }
        let sack = match &mut self.sack {
            Some(sack) => sack.blocks(&self.reassembly, arrival.seq),
            None => SackBlocks::EMPTY,
        };
        let bytes = self.ack_size + SACK_BLOCK_BYTES * sack.len() as u32;
        self.last_acked = self.reassembly.last_in_order();
        self.acks_sent += 1;
        out(Ack { ts_echo: self.ts_echo, ack: self.last_acked, bytes, sack, ece, ..Ack::default() });
    }

    /// The ECN echo on the answer to `arrival` and to the packet that is held, if any.
    fn echo(&mut self, arrival: Arrival) -> bool {
        let held = self.delay.as_ref().and_then(|delay| delay.held);
        let any = |test: fn(&Arrival) -> bool| test(&arrival) || held.is_some_and(|held| test(&held));
        let cwr = any(|a| a.flags.has(DataFlags::CWR));
        let marked = any(|a| a.flags.has(DataFlags::ECT) && a.ce);
        let capable = any(|a| a.flags.has(DataFlags::ECT));
        let setup = any(|a| a.flags.has(DataFlags::ECN_SETUP) && !a.flags.has(DataFlags::ECT));
        self.mark_unanswered = marked || (self.mark_unanswered && !cwr);
        setup || (capable && self.mark_unanswered)
    }

    /// The timer of a held acknowledgement, if one is held.
    #[inline]
    pub fn timer(&self) -> Option<Timer> {
        self.delay.as_ref().and_then(|delay| delay.timer)
    }

    /// The number that is expected next: all packets before it have arrived.
    pub fn expected(&self) -> u32 {
        (self.reassembly.last_in_order() + 1) as u32
    }

    /// Return the counters since the start. Bytes are those of the sender's packets as the configuration has them.
    pub fn counters(&self) -> ReceiverCounters {
        let delivered_packets = self.reassembly.delivered();
        let after_the_first = delivered_packets.saturating_sub(1);
        ReceiverCounters {
            received_packets: self.received_packets,
            delivered_packets,
            delivered_bytes: u64::from(self.config.data_length(0)) * (delivered_packets - after_the_first)
                + u64::from(self.config.data_length(1)) * after_the_first,
            delivered_payload: u64::from(self.config.data_length(0).saturating_sub(self.config.header))
                * (delivered_packets - after_the_first)
                + u64::from(self.config.packet_size) * after_the_first,
            duplicates: self.duplicates,
            acks_sent: self.acks_sent,
        }
    }
}
