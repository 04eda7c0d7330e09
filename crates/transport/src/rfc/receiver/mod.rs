//! The receiver: reassembly and acknowledgements.
//!
//! # Time stamps
//! The echo is the time stamp of the first segment that an acknowledgement answers: one is taken over only from a
//! segment at or below the last acknowledgement sent (RFC 7323, section 4.3).
//!
//! # ECN
//! See `marks.rs` for the reports of marks.

mod delay;
mod growth;
mod marks;
mod plain;
mod quic;
mod reassembly;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use aqmlab_units::{Time, prefetch};

use super::Config;
use super::seq::expand;
use crate::{Ack, Data, ReceiverCounters, SackBlocks, Timer};
use delay::Delay;
use growth::Growth;
use marks::Marks;
use quic::Packets;
use reassembly::{Arrival, Range, Reassembly};

/// Bytes of the SACK option without its blocks, padding included, and of a block (RFC 2018, section 3).
const SACK_OPTION_BYTES: u32 = 4;
const SACK_BLOCK_BYTES: u32 = 8;
/// Bytes of a further range of an ACK frame: gap and length, of two bytes each (RFC 9000, section 19.3.1).
const ACK_RANGE_BYTES: u32 = 4;

/// A TCP receiver of the RFC profile.
#[derive(Clone, Debug)]
pub struct Receiver {
    config: Arc<Config>,
    reassembly: Reassembly,
    delay: Delay,
    /// The time stamp to echo, and the number last acknowledged.
    ts_echo: Time,
    last_acked: u64,
    marks: Marks,
    growth: Option<Growth>,
    /// With QUIC's acknowledgements.
    packets: Option<Packets>,
    /// Plain packets can be taken in a few steps, see `plain.rs`.
    takes_plain: bool,
    received_packets: u64,
    /// Bytes by which segments were shorter than full ones.
    missing: u64,
    duplicates: u64,
    acks_sent: u64,
}

impl Receiver {
    /// A receiver that expects the SYN. `config` must pass [`check`](crate::Configuration::check); the sender's must be the same.
    pub fn new(config: Arc<Config>) -> Self {
        Self {
            reassembly: Reassembly::default(),
            delay: Delay::default(),
            marks: Marks::new(config.ecn),
            growth: config.window_growth.then(|| Growth::new(&config)),
            packets: config.is_quic().then(Packets::default),
            takes_plain: !(config.window_growth
                || config.congestion_control.needs_one_way_delay()
                || config.is_quic()),
            ts_echo: Time::ZERO,
            last_acked: 0,
            received_packets: 0,
            missing: 0,
            duplicates: 0,
            acks_sent: 0,
            config,
        }
    }

    /// Prefetch the fields that a plain packet needs.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.config);
        prefetch(&self.reassembly);
        prefetch(&self.delay);
        prefetch(&self.marks);
        prefetch(&self.received_packets);
        prefetch(&self.acks_sent);
    }

    /// Takes a data packet; `ce`: it was marked on its way.
    pub fn on_data(&mut self, now: Time, data: &Data, ce: bool, out: &mut impl FnMut(Ack)) {
        self.received_packets += 1;
        if self.marks.ends_run(data, ce) && self.delay.owes_answer() {
            self.acknowledge(now, self.marks.echo(), out);
        }
        let before = self.reassembly.next();
        let left = expand(data.seq, before);
        let length = if data.syn() { 1 } else { data.bytes.saturating_sub(self.config.header) };
        if let Some(packets) = &mut self.packets {
            if data.sent >= self.ts_echo {
                self.ts_echo = data.sent;
                packets.note_largest(now);
            }
        } else if left <= self.last_acked {
            self.ts_echo = self.ts_echo.max(data.sent);
        }
        let arrival = self.reassembly.receive(Range { left, right: left + u64::from(length) });
        self.duplicates += u64::from(arrival == Arrival::Duplicate);
        if data.syn() {
            self.delay.note_syn(now);
            self.acknowledge(now, data.ecn_setup() && self.config.ecn.is_on(), out);
            return;
        }
        if arrival != Arrival::Duplicate {
            self.missing += u64::from(self.config.mss.saturating_sub(length));
        }
        self.delay.note_data(now, &self.config);
        if arrival == Arrival::Duplicate {
            self.delay.quicken(self.config.quick_acks, &self.config);
        }
        let advance = self.reassembly.next() - before;
        if let Some(growth) = &mut self.growth
            && growth.take(now, advance, self.delay.round_trip(), &self.config)
        {
            self.delay.quicken(1, &self.config);
        }
        let urgency = self.marks.take(data, ce);
        self.delay.quicken(urgency.quick, &self.config);
        let is_due = match &self.packets {
            Some(packets) => {
                let distance = self.reassembly.missing_before_end(packets.unreported(&self.config));
                self.delay.answer_packet(now, &self.config, Packets::is_overtaken(&self.config, distance))
            }
            None => self.delay.answer_now(now, &self.config, arrival, (advance, self.reassembly.has_hole())),
        };
        if is_due || urgency.now {
            self.acknowledge(now, self.marks.echo(), out);
        }
    }

    /// The timer of a held acknowledgement has expired: to be called at its deadline.
    pub fn on_timer(&mut self, now: Time, out: &mut impl FnMut(Ack)) {
        if self.delay.timer().is_some() {
            self.acknowledge(now, self.marks.echo(), out);
        }
    }

    fn acknowledge(&mut self, now: Time, ece: bool, out: &mut impl FnMut(Ack)) {
        self.delay.note_answer();
        let ace = self.marks.report();
        let stamp = match &mut self.packets {
            Some(packets) => Time::ZERO + packets.report(now, self.reassembly.end()),
            None if self.config.congestion_control.needs_one_way_delay() => now,
            None => Time::ZERO,
        };
        self.last_acked = self.reassembly.next();
        let sack = if self.config.sack { self.reassembly.blocks() } else { SackBlocks::EMPTY };
        let option = match sack.len() as u32 {
            0 => 0,
            blocks if self.packets.is_some() => ACK_RANGE_BYTES * blocks,
            blocks => SACK_OPTION_BYTES + SACK_BLOCK_BYTES * blocks,
        };
        let bytes = self.config.ack_size + option;
        self.acks_sent += 1;
        let ack = self.last_acked as u32 as i32;
        out(Ack { ts_echo: self.ts_echo, ack, bytes, sack, ece, ace, stamp });
    }

    /// The timer of a held acknowledgement, if one is held.
    pub fn timer(&self) -> Option<Timer> {
        self.delay.timer()
    }

    /// The number that is expected next, as it is on the wire: all bytes before it have arrived.
    pub fn expected(&self) -> u32 {
        self.reassembly.next() as u32
    }

    /// Return the counters since the start; the SYN counts as a packet. Bytes are those of the sender's packets.
    pub fn counters(&self) -> ReceiverCounters {
        let payload = self.reassembly.next().saturating_sub(1);
        // The last segment of an application's data may be short; it follows all others.
        let segments = (payload + self.missing) / u64::from(self.config.mss);
        let syn = u64::from(self.reassembly.next() > 0);
        ReceiverCounters {
            received_packets: self.received_packets,
            delivered_packets: segments + syn,
            delivered_bytes: payload
                + segments * u64::from(self.config.header)
                + syn * u64::from(self.config.syn_length()),
            delivered_payload: payload,
            duplicates: self.duplicates,
            acks_sent: self.acks_sent,
        }
    }
}
