//! When an acknowledgement is sent.
//!
//! M. Allman et al., RFC 5681, section 4.2: every second full segment is answered, any segment within a time, data out
//! of order and data that fills a gap at once. `ack_ratio` answers every R-th full segment instead. Linux 6 adds:
//!
//! - the first `quick_acks` acknowledgements are not delayed, nor are those after a pause, a duplicate or a first mark
//!   (quick-acknowledgement mode), so that the sender's window opens quickly. A pause is one longer than the receiver's
//!   own retransmission time-out; as it sends no data, the handshake's round trip determines it;
//! - of answers to data out of order, the first three at one number go out at once, as RFC 5681 needs them, and later
//!   ones may wait for `sack_compression` and be combined into one.
//!
//! # Differences from Linux
//! The time is `delayed_ack` always: Linux lets it grow from 40 ms towards the mean gap between segments, which needs
//! gaps above 40 ms. Compressed answers wait for `sack_compression`, not for a 20th of the round-trip time where that is shorter.

use aqmlab_units::{Span, Time};

use super::reassembly::Arrival;
use crate::Timer;
use crate::rfc::Config;
use crate::rfc::rtt::RttEstimator;

/// Answers to data out of order that are never compressed: RFC 5681's threshold of duplicates.
const UNCOMPRESSED: u32 = 3;
/// Largest number of answers combined into one (Linux net.ipv4.tcp_comp_sack_nr).
const MOST_COMPRESSED: u32 = 44;

/// The acknowledgement that is due or held back.
#[derive(Clone, Debug, Default)]
pub struct Delay {
    /// Acknowledgements that will not be delayed.
    quick: u32,
    /// Bytes in order that are not acknowledged; with QUIC, packets.
    unanswered: u64,
    timer: Option<Timer>,
    /// Answers to out-of-order data at the same acknowledgement number: sent at once, held back.
    immediate: u32,
    compressed: u32,
    /// When the SYN or the last data arrived.
    last: Time,
    /// Between SYN and first data.
    round_trip: Span,
    /// The longest gap between data that is no pause; known from the first data on.
    longest_gap: Option<Span>,
}

impl Delay {
    /// The SYN has arrived.
    pub fn note_syn(&mut self, now: Time) {
        self.last = now;
    }

    /// Record the arrival of data; enter quick mode on the first data and after a pause.
    pub fn note_data(&mut self, now: Time, config: &Config) {
        let gap = now.since(self.last);
        let is_first = self.longest_gap.is_none();
        let longest = *self.longest_gap.get_or_insert_with(|| {
            let mut own = RttEstimator::new(config);
            own.sample(config, gap, (0, 0));
            own.rto()
        });
        if is_first {
            self.round_trip = gap;
        }
        if is_first || gap > longest {
            self.quicken(config.quick_acks, config);
        }
        self.last = now;
    }

    /// Whether data that arrives now is not the first, and comes after no pause.
    #[inline]
    pub fn follows_without_pause(&self, now: Time) -> bool {
        self.longest_gap.is_some_and(|longest| now.since(self.last) <= longest)
    }

    /// Record the arrival of data that is not the first, after no pause.
    #[inline]
    pub fn note_time(&mut self, now: Time) {
        self.last = now;
    }

    /// At least the next `acks` acknowledgements are not delayed, if the window has room for as many pairs.
    pub fn quicken(&mut self, acks: u32, config: &Config) {
        let pairs = (config.window / (2 * config.mss)).max(2);
        self.quick = self.quick.max(acks.min(pairs));
    }

    /// Whether to answer data at once; sets the timer otherwise. `advance`: how many bytes it brought in order.
    pub fn answer_now(
        &mut self,
        now: Time,
        config: &Config,
        arrival: Arrival,
        (advance, hole): (u64, bool),
    ) -> bool {
        self.unanswered += advance;
        if advance > 0 {
            self.immediate = 0;
        }
        let Some(longest) = config.delayed_ack else { return true };
        let filled = arrival == Arrival::InOrder { filled: true };
        let held = u64::from(config.ack_ratio - 1) * u64::from(config.mss);
        if self.quick > 0 || filled || arrival == Arrival::Duplicate || self.unanswered > held {
            return true;
        }
        if hole {
            return self.answer_hole_now(now, config);
        }
        self.hold(now, longest);
        false
    }

    /// Whether to answer a packet at once where QUIC acknowledges packets; sets the timer otherwise. `is_overtaken`: it reports a
    /// missing one.
    pub fn answer_packet(&mut self, now: Time, config: &Config, is_overtaken: bool) -> bool {
        self.unanswered += 1;
        let Some(longest) = config.delayed_ack else { return true };
        if self.quick > 0 || is_overtaken || self.unanswered >= u64::from(config.ack_ratio) {
            return true;
        }
        self.hold(now, longest);
        false
    }

    fn answer_hole_now(&mut self, now: Time, config: &Config) -> bool {
        let Some(longest) = config.sack_compression else { return true };
        if self.immediate < UNCOMPRESSED {
            self.immediate += 1;
            return true;
        }
        self.compressed += 1;
        self.hold(now, longest);
        self.compressed > MOST_COMPRESSED
    }

    fn hold(&mut self, now: Time, longest: Span) {
        let deadline = now + longest;
        if self.timer.is_none_or(|timer| deadline < timer.deadline) {
            self.timer = Some(Timer { deadline, set_at: now });
        }
    }

    /// The handshake's round trip; known from the first data on.
    pub fn round_trip(&self) -> Span {
        self.round_trip
    }

    /// Whether something that has arrived in order is not acknowledged.
    pub fn owes_answer(&self) -> bool {
        self.unanswered > 0
    }

    /// An acknowledgement goes out.
    pub fn note_answer(&mut self) {
        self.quick = self.quick.saturating_sub(1);
        self.unanswered = 0;
        self.compressed = 0;
        self.timer = None;
    }

    /// The timer of the acknowledgement that is held back.
    pub fn timer(&self) -> Option<Timer> {
        self.timer
    }
}
