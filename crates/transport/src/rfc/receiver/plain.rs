//! The plain data packet: the next one, while nothing is missing and nothing new is known of marks.
//!
//! V. Jacobson, "4BSD header prediction", CCR 20(2), 1990. Of the steps in [`Receiver::on_data`] these are left:
//!
//! ```text
//! edge <- edge + length;  time stamp to echo, if it is the first that is unanswered
//! answered at once in quick mode and beyond R - 1 full segments unanswered;  else held
//! ```
//!
//! This fast path changes no behaviour: everything answered, counted and kept is the same as without it.

use aqmlab_units::Time;

use super::Receiver;
use super::reassembly::Arrival;
use crate::{Data, PlainAck, PlainAnswer};

impl Receiver {
    /// Take a data packet whose answer is plain, and return the answer. If it is not plain, return `None` and change nothing.
    pub fn on_plain_data(&mut self, now: Time, data: &Data, ce: bool) -> Option<PlainAnswer> {
        let (edge, length) = (self.reassembly.next(), data.bytes.saturating_sub(self.config.header));
        let is_next = data.seq == edge as u32 && length > 0 && !data.syn() && self.reassembly.is_whole();
        if !is_next
            || self.marks.may_change(data, ce)
            || !self.delay.follows_without_pause(now)
            || !self.takes_plain
        {
            return None;
        }
        self.received_packets += 1;
        self.missing += u64::from(self.config.mss.saturating_sub(length));
        if edge <= self.last_acked {
            self.ts_echo = self.ts_echo.max(data.sent);
        }
        self.reassembly.receive_next(length);
        self.delay.note_time(now);
        let news = (u64::from(length), false);
        if !self.delay.answer_now(now, &self.config, Arrival::InOrder { filled: false }, news) {
            return Some(PlainAnswer::Held);
        }
        self.delay.note_answer();
        self.last_acked = self.reassembly.next();
        self.acks_sent += 1;
        Some(PlainAnswer::Sent(PlainAck {
            ack: self.last_acked as u32 as i32,
            ts_echo: self.ts_echo,
            bytes: self.config.ack_size,
            ece: self.marks.echo(),
        }))
    }
}
