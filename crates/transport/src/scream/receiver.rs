//! The receiver: reports received packets (RFC 8298, section 4.2).
//!
//! A report is sent with the first packet that arrives `fb_int` after the last one, or `fb_int` after the last one if a packet arrived
//! since:
//!
//! ```text
//! fb_int = 1 / min(50, max(2.5, rate_media / 10000))                    seconds; section 4.2.2
//! ```
//!
//! `rate_media` is measured over 200 ms. "At very high bitrates, even shorter feedback intervals MAY be needed": a report is
//! also sent after half as many packets as it [covers](COVERED), so that two reports cover each packet.

use std::sync::Arc;

use aqmlab_units::{Span, Time};

use super::report::{COVERED, Report};
use super::{Config, FeedbackInterval};
use crate::{Ack, Data, ReceiverCounters, Timer};

/// `rate_media` is measured over so long.
const MEASURING: Span = Span::from_millis(200);

/// A receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    config: Arc<Config>,
    /// The report of now; `None` before the first packet.
    report: Option<Report>,
    /// When the last report was sent, and packets since then.
    last_report: Option<Time>,
    unreported: u32,
    timer: Option<Timer>,
    /// In bit/s, with the start of the current measurement and its bytes.
    rate_media: f64,
    measured_from: Time,
    measured: u64,
    counters: ReceiverCounters,
}

impl Receiver {
    /// Create a receiver that has received nothing.
    pub fn new(config: Arc<Config>) -> Self {
        let rate_media = config.start_rate().bps();
        Self {
            config,
            report: None,
            last_report: None,
            unreported: 0,
            timer: None,
            rate_media,
            measured_from: Time::ZERO,
            measured: 0,
            counters: ReceiverCounters::default(),
        }
    }

    /// Take a packet; `ce`: it was marked on its way.
    pub fn on_data(&mut self, now: Time, data: &Data, ce: bool, out: &mut impl FnMut(Ack)) {
        self.measure(now, data.bytes);
        self.counters.received_packets += 1;
        if self.list(now, data.seq) {
            self.counters.delivered_packets += 1;
            self.counters.delivered_bytes += u64::from(data.bytes);
        } else {
            self.counters.duplicates += 1;
        }
        if let Some(report) = self.report.as_mut().filter(|_| ce) {
            report.n_ecn = report.n_ecn.wrapping_add(1);
        }
        self.unreported += 1;
        let due = self.last_report.map_or(now, |last| last + self.fb_int());
        if due <= now || self.unreported >= COVERED / 2 {
            self.send(now, out);
        } else if self.timer.is_none() {
            self.timer = Some(Timer { deadline: due, set_at: now });
        }
    }

    /// Enter a packet into the list. Return whether it is new; it is not known of one before the list.
    fn list(&mut self, now: Time, number: u32) -> bool {
        let Some(report) = &mut self.report else {
            self.report = Some(Report { highest: number, arrival: now, ..Report::default() });
            return true;
        };
        if number > report.highest {
            let grown = number - report.highest;
            // The bit of the former highest one moves in.
            let shifted = report.received.checked_shl(grown).unwrap_or(0);
            report.received = shifted | 1u128.checked_shl(grown - 1).unwrap_or(0);
            (report.highest, report.arrival) = (number, now);
            return true;
        }
        let is_new = report.has(number) != Some(true);
        if let Some(bit) = (report.highest - number).checked_sub(1) {
            report.received |= 1u128.checked_shl(bit).unwrap_or(0);
        }
        is_new
    }

    fn measure(&mut self, now: Time, bytes: u32) {
        if self.report.is_none() {
            self.measured_from = now;
        }
        let passed = now.since(self.measured_from);
        if passed >= MEASURING {
            self.rate_media = self.measured as f64 * 8.0 / passed.secs();
            (self.measured_from, self.measured) = (now, 0);
        }
        self.measured += u64::from(bytes);
    }

    fn fb_int(&self) -> Span {
        match self.config.feedback_interval {
            FeedbackInterval::Auto => Span::from_secs(fb_int(self.rate_media)),
            FeedbackInterval::Every(span) => span,
        }
    }

    /// The timer has expired: to be called at its deadline.
    pub fn on_timer(&mut self, now: Time, out: &mut impl FnMut(Ack)) {
        if self.timer.is_some_and(|timer| timer.deadline <= now) {
            self.send(now, out);
        }
    }

    fn send(&mut self, now: Time, out: &mut impl FnMut(Ack)) {
        let Some(report) = self.report else { return };
        (self.timer, self.last_report, self.unreported) = (None, Some(now), 0);
        self.counters.acks_sent += 1;
        out(report.to_ack(self.config.feedback_size));
    }

    /// Return when the next report is due, if something is to be reported.
    pub fn timer(&self) -> Option<Timer> {
        self.timer
    }

    /// Return the number after the highest one received.
    pub fn expected(&self) -> u32 {
        self.report.map_or(0, |report| report.highest.wrapping_add(1))
    }

    /// Return the counters since the start; a packet is delivered when it arrives.
    pub fn counters(&self) -> ReceiverCounters {
        self.counters.clone()
    }
}

/// Return the feedback interval in seconds at this bit rate (section 4.2.2).
fn fb_int(rate_media: f64) -> f64 {
    1.0 / (rate_media / 10_000.0).clamp(2.5, 50.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DataFlags;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn receiver(feedback_interval: FeedbackInterval) -> Receiver {
        Receiver::new(Config { feedback_interval, ..Config::default() }.into())
    }

    /// Take a packet of 1000 bytes and return the report that it causes.
    fn take(r: &mut Receiver, ms: u64, seq: u32, ce: bool) -> Option<Report> {
        let mut sent = None;
        let data = Data { sent: Time::ZERO, seq, bytes: 1000, flags: DataFlags::NONE };
        r.on_data(at(ms), &data, ce, &mut |ack| sent = Report::of_ack(&ack));
        sent
    }

    #[test]
    fn intervals_by_hand() {
        let found = [0.0, 25_000.0, 100_000.0, 500_000.0, 5e6].map(fb_int);
        assert_eq!(found, [0.4, 0.4, 0.1, 0.02, 0.02]);
    }

    #[test]
    fn a_report_waits_for_its_interval() {
        let mut r = receiver(FeedbackInterval::Every(Span::from_millis(100)));
        assert!(take(&mut r, 0, 0, false).is_some());
        assert_eq!(take(&mut r, 40, 1, false), None);
        assert_eq!(take(&mut r, 60, 2, false), None);
        assert_eq!(r.timer(), Some(Timer { deadline: at(100), set_at: at(40) }));
        let mut reports = 0;
        r.on_timer(at(100), &mut |_| reports += 1);
        assert_eq!((reports, r.timer()), (1, None));
        assert_eq!(take(&mut r, 199, 3, false), None);
        assert!(take(&mut r, 200, 4, false).is_some());
        assert_eq!(r.counters().acks_sent, 3);
    }

    #[test]
    fn the_interval_follows_the_rate() {
        let mut r = receiver(FeedbackInterval::Auto);
        assert!((r.fb_int().secs() - 1.0 / 15.0).abs() < 1e-12, "150 kb/s");
        // 1000 bytes every 20 ms are 400 kb/s: 25 ms.
        for k in 0..=10 {
            take(&mut r, 20 * k, k as u32, false);
        }
        assert_eq!(r.fb_int(), Span::from_millis(25));
    }

    #[test]
    fn half_a_list_of_packets_is_reported_at_once() {
        let mut r = receiver(FeedbackInterval::Every(Span::from_millis(1000)));
        let reports = (0..=128).filter(|n| take(&mut r, 0, *n, false).is_some()).collect::<Vec<_>>();
        assert_eq!(reports, [0, 64, 128]);
    }

    #[test]
    fn the_list_has_what_arrived() {
        let mut r = receiver(FeedbackInterval::Every(Span::from_millis(1)));
        let first = take(&mut r, 0, 0, false);
        assert_eq!(first, Some(Report { highest: 0, received: 0, arrival: at(0), n_ecn: 0 }));
        // Packets 1 and 2 are missing, 3 is marked.
        let gap = take(&mut r, 5, 3, true);
        assert_eq!(gap, Some(Report { highest: 3, received: 0b100, arrival: at(5), n_ecn: 1 }));
        let late = take(&mut r, 9, 2, false);
        assert_eq!(late, Some(Report { highest: 3, received: 0b101, arrival: at(5), n_ecn: 1 }));
        assert!(take(&mut r, 10, 2, false).is_some());
        let far = take(&mut r, 20, 500, false);
        assert_eq!(far, Some(Report { highest: 500, received: 0, arrival: at(20), n_ecn: 1 }));
        let counters = r.counters();
        assert_eq!((counters.received_packets, counters.delivered_packets, counters.duplicates), (5, 4, 1));
        assert_eq!((counters.delivered_bytes, r.expected()), (4000, 501));
    }

    #[test]
    fn the_list_moves_with_the_highest_number() {
        let mut r = receiver(FeedbackInterval::Every(Span::from_millis(1)));
        take(&mut r, 0, 0, false);
        let edge = take(&mut r, 5, 128, false).expect("is due");
        assert_eq!((edge.received, edge.has(0), edge.has(1)), (1 << 127, Some(true), Some(false)));
        let beyond = take(&mut r, 9, 129, false).expect("is due");
        assert_eq!((beyond.received, beyond.has(0)), (1, None));
    }
}
