//! The plain acknowledgement: new data is acknowledged and new data is sent, and nothing else is going on.
//!
//! V. Jacobson, "4BSD header prediction", CCR 20(2), 1990: nearly all acknowledgements are of one kind, which a few
//! comparisons distinguish from all others. All variants treat it alike. The remaining steps of `flow.rs` are
//!
//! ```text
//! edge of the window <- ack;  round-trip sample, if ack covers the timed packet;  timer <- now + rto
//! cwnd opens;  new packets up to ack + usable window
//! ```
//!
//! This fast path changes no behaviour: everything sent, counted and kept is the same as without it.

use aqmlab_units::Time;

use super::flow::{Flow, NOTHING_TIMED};
use crate::NewData;

/// State of the fast path in addition to that of the connection.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Plain {
    /// Acknowledgements below this one may be plain: one less than the application's data, or none at all while
    /// something is going on.
    below: i32,
    /// The usable window in packets, and the congestion window from which on it is another.
    usable: i32,
    usable_until: f64,
    /// Whether the window had room for a packet at the last plain acknowledgement, if that was the last event.
    had_room: Option<bool>,
}

impl Plain {
    /// No acknowledgement is plain.
    pub const NONE: Self = Self { below: i32::MIN, usable: 0, usable_until: 0.0, had_room: None };
}

impl Flow {
    /// Enable or disable the fast path, after any event but a plain acknowledgement; `repair`: the variant's own state
    /// allows it.
    pub fn note_plain(&mut self, repair: bool) {
        let open = repair
            && self.last_ack >= 0
            && self.last_ack == self.highest_ack
            && self.next == self.highest_sent + 1
            && self.dupacks == 0
            && self.window.inflation == 0
            && !self.ecn.at_one_packet
            && !self.ecn.cut_unsaid
            && !self.config.timestamps
            && self.config.max_burst == 0;
        self.plain.below = if open { self.end - 1 } else { i32::MIN };
        if open {
            self.note_usable();
        }
    }

    /// Ends a series of plain acknowledgements, if there was one: whether there was room at the last.
    pub fn end_plain(&mut self) -> Option<bool> {
        self.plain.had_room.take()
    }

    fn note_usable(&mut self) {
        self.plain.usable = self.window.usable();
        self.plain.usable_until = f64::from(self.window.cwnd as i32) + 1.0;
    }

    /// Whether an acknowledgement is plain, unless it has an ECN echo: of new data, but not the last that there will be.
    #[inline]
    pub fn is_plain(&self, ack: i32) -> bool {
        self.last_ack < ack && ack < self.next && ack < self.plain.below
    }

    /// Take a plain acknowledgement. Return the new data to send.
    #[inline]
    pub fn on_plain_ack(&mut self, now: Time, ack: i32) -> NewData {
        self.last_ack = ack;
        self.highest_ack = ack;
        if ack >= self.timed_seq {
            self.end_timing_with_sample(now);
        }
        self.set_timer(now);
        self.window.open();
        if self.window.cwnd >= self.plain.usable_until {
            self.note_usable();
        }
        let edge = ack + self.plain.usable;
        let room = self.next <= edge;
        self.plain.had_room = Some(room);
        self.send_new(now, edge.min(self.plain.below))
    }

    /// Return the packets from the next one up to `last`, which are new, and note that they are sent.
    #[inline]
    fn send_new(&mut self, now: Time, last: i32) -> NewData {
        let first = self.next;
        let (bytes, flags) = (self.full_length, self.plain_flags);
        let count = (last + 1 - first).max(0) as u32;
        if count > 0 {
            self.next = last + 1;
            self.highest_sent = last;
            self.tally.sent_packets += u64::from(count);
            if self.timed_seq == NOTHING_TIMED {
                (self.timed_seq, self.timed_sent) = (first, now);
            }
        }
        NewData { first: first as u32, count, step: 1, bytes, flags }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Arc;

    use super::super::Sender;
    use crate::ns2::{Config, Receiver, Variant};
    use crate::{Ack, Data, Supply, Timer};
    use aqmlab_units::{Span, Stream, Time};
    use proptest::prelude::*;

    /// A sender that takes the fast path, and one that never does.
    struct Pair {
        with: Sender,
        without: Sender,
    }

    impl Pair {
        fn new(config: &Arc<Config>, supply: Supply) -> Self {
            let sender = Sender::new(config.clone(), supply, 0.003);
            Self { with: sender.clone(), without: sender }
        }

        /// Does the same to both; the packets sent, which are the same.
        fn both(
            &mut self,
            with: impl FnOnce(&mut Sender, &mut Vec<Data>),
            without: impl FnOnce(&mut Sender, &mut Vec<Data>),
        ) -> Vec<Data> {
            let (mut sent, mut expected) = (Vec::new(), Vec::new());
            with(&mut self.with, &mut sent);
            without(&mut self.without, &mut expected);
            assert_eq!(sent, expected);
            assert_eq!(state(&self.with), state(&self.without));
            sent
        }

        fn ack(&mut self, now: Time, ack: &Ack) -> Vec<Data> {
            self.both(
                |sender, sent| sender.on_ack(now, ack, &mut |data| sent.push(data)),
                |sender, sent| sender.on_any_ack(now, ack, &mut |data| sent.push(data)),
            )
        }

        fn event(&mut self, event: impl Fn(&mut Sender, &mut Vec<Data>)) -> Vec<Data> {
            self.both(&event, &event)
        }

        fn timer(&self) -> Option<Timer> {
            self.with.timer()
        }
    }

    /// Everything that is known of a sender, once plain acknowledgements are over.
    fn state(sender: &Sender) -> String {
        let mut sender = sender.clone();
        sender.end_plain();
        sender.note_plain();
        format!("{sender:?} {:?}", sender.counters())
    }

    fn configs() -> impl Strategy<Value = Config> {
        let variant = prop::sample::select(Variant::ALL.to_vec());
        let switches = (any::<bool>(), any::<bool>(), any::<bool>());
        (variant, 1.0..40.0, switches).prop_map(|(variant, window, (syn, delayed, ecn))| Config {
            window,
            syn,
            delayed_ack: delayed.then_some(Span::from_millis(100)),
            ecn,
            ..Config::ns2(variant)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// A transfer over a line that loses, marks and reorders, and an application that stops and goes on.
        #[test]
        fn the_fast_path_changes_nothing(config in configs(), trouble in 0.0..0.1, seed in any::<u64>()) {
            let config = Arc::new(config);
            let mut random = Stream::new(seed, "line");
            let mut pair = Pair::new(&config, Supply::Packets(150));
            let mut receiver = Receiver::new(config);
            let (mut now, mut line) = (Time::ZERO, VecDeque::new());
            line.extend(pair.event(|sender, sent| sender.start(Time::ZERO, &mut |data| sent.push(data))));
            for step in 0..600 {
                now += Span::from_millis(3);
                let mut acks = Vec::new();
                if random.uniform() < trouble && line.len() > 1 {
                    line.swap(0, 1);
                }
                if let Some(data) = line.pop_front() {
                    if random.uniform() < trouble {
                        continue;
                    }
                    receiver.on_data(now, &data, random.uniform() < trouble, &mut |ack| acks.push(ack));
                } else if let Some(timer) = receiver.timer() {
                    now = timer.deadline;
                    receiver.on_timer(now, &mut |ack| acks.push(ack));
                } else if let Some(timer) = pair.timer() {
                    now = timer.deadline;
                    line.extend(pair.event(|sender, sent| sender.on_timer(now, &mut |data| sent.push(data))));
                }
                for ack in acks {
                    line.extend(pair.ack(now, &ack));
                }
                if step == 300 {
                    line.extend(pair.event(|sender, sent| sender.stop(now, &mut |data| sent.push(data))));
                }
                if step == 320 {
                    line.extend(pair.event(|sender, sent| sender.resume(now, &mut |data| sent.push(data))));
                }
            }
        }
    }
}
