//! The sender by hand, and both ends over a link with a queue.

use std::collections::VecDeque;
use std::sync::Arc;

use aqmlab_units::{Rate, Span, Stream, Time};
use proptest::prelude::*;

use super::sender::t_pace;
use super::{Config, FeedbackInterval, Receiver, Sender};
use crate::{Ack, Data};

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn sender(config: Config) -> Sender {
    Sender::new(Arc::new(config), Stream::new(1, "frames"))
}

#[test]
fn pacing_by_hand() {
    // 30 000 bytes in 100 ms are 2.4 Mb/s.
    assert_eq!(t_pace(1200, 30_000.0, 0.1), Span::from_millis(4));
    // The least rate is 50 kb/s.
    assert_eq!(t_pace(1000, 3000.0, 10.0), Span::from_millis(160));
    assert_eq!(t_pace(1000, 3000.0, 0.0), Span::ZERO, "before the first sample");
}

#[test]
fn a_frame_is_split_into_equal_packets_and_the_window_holds_them_back() {
    let start_rate = Some(Rate(1_000_000));
    let mut s = sender(Config { start_rate, frame_noise: 0.0, ..Config::default() });
    let mut sent = Vec::new();
    // A frame has 4167 bytes: five packets, of which cwnd + MSS = 4000 bytes let four pass.
    s.start(Time::ZERO, &mut |data| sent.push((data.seq, data.bytes)));
    assert_eq!(sent, [(0, 834), (1, 834), (2, 833), (3, 833)]);
    assert_eq!(s.timer().map(|timer| timer.deadline), Some(Time::from_secs(1.0 / 30.0)));
}

#[test]
fn without_feedback_packets_leave_at_the_least_rate_and_old_ones_are_discarded() {
    let start_rate = Some(Rate(1_000_000));
    let max_rate = Rate(1_000_000);
    let mut s =
        sender(Config { start_rate, max_rate, frame_noise: 0.0, frame_rate: 50.0, ..Config::default() });
    let mut sent = Vec::new();
    s.start(Time::ZERO, &mut |data| sent.push(data));
    while let Some(timer) = s.timer().filter(|timer| timer.deadline <= at(5000)) {
        s.on_timer(timer.deadline, &mut |data| sent.push(data));
    }
    // Frames have 2500 bytes; four packets of 833 pass, the next one after 800 ms, and then 50 kb/s.
    let times: Vec<_> = sent.iter().map(|data| data.sent.secs()).collect();
    assert_eq!(sent[4].sent, at(800));
    let bytes: u32 = sent[4..].iter().map(|data| data.bytes).sum();
    let rate = f64::from(bytes) * 8.0 / 4.2;
    assert!((rate - 50_000.0).abs() < 3000.0, "{rate}: {times:?}");
    // No more is queued than was encoded in the last 400 ms.
    assert!(s.queue_bytes() <= 21 * 2500, "{}", s.queue_bytes());
    let numbers: Vec<_> = sent.iter().map(|data| data.seq).collect();
    assert_eq!(numbers, (0..sent.len() as u32).collect::<Vec<_>>(), "discarded packets have no numbers");
}

/// Take the first element if it is due.
fn first_due<T>(queue: &mut VecDeque<T>, is_due: impl Fn(&T) -> bool) -> Option<T> {
    if is_due(queue.front()?) { queue.pop_front() } else { None }
}

/// Both ends with a link of one queue in between, and a delay back.
struct Path {
    sender: Sender,
    receiver: Receiver,
    /// Bit rate, delay there and back, most bytes that wait, bytes from which packets are marked.
    rate: f64,
    delay: Span,
    limit: u64,
    mark: Option<u64>,
    free: Time,
    there: VecDeque<(Time, Data, bool)>,
    back: VecDeque<(Time, Ack)>,
    lost: u32,
    marked: u32,
    longest: Span,
}

impl Path {
    fn new(config: Config, rate: f64) -> Self {
        let config = Arc::new(config);
        Self {
            sender: Sender::new(config.clone(), Stream::new(1, "frames")),
            receiver: Receiver::new(config),
            rate,
            delay: Span::from_millis(50),
            limit: (rate * 0.3 / 8.0) as u64,
            mark: None,
            free: Time::ZERO,
            there: VecDeque::new(),
            back: VecDeque::new(),
            lost: 0,
            marked: 0,
            longest: Span::ZERO,
        }
    }

    fn transmit(&mut self, packets: &[Data]) {
        for data in packets {
            let waiting = self.free.since(data.sent);
            let waiting_bytes = (waiting.secs() * self.rate / 8.0) as u64;
            if waiting_bytes > self.limit {
                self.lost += 1;
                continue;
            }
            let marked = data.ect() && self.mark.is_some_and(|mark| waiting_bytes > mark);
            self.marked += u32::from(marked);
            self.longest = self.longest.max(waiting);
            self.free = self.free.max(data.sent) + Span::from_secs(f64::from(data.bytes) * 8.0 / self.rate);
            self.there.push_back((self.free + self.delay, *data, marked));
        }
    }

    /// Run until `end`, and return the bit rate received from `from` on.
    fn run(&mut self, from: Time, end: Time) -> f64 {
        let mut received = 0u64;
        let mut packets = Vec::new();
        loop {
            let next = [
                self.sender.timer().map(|timer| timer.deadline),
                self.there.front().map(|packet| packet.0),
                self.back.front().map(|report| report.0),
                self.receiver.timer().map(|timer| timer.deadline),
            ];
            let Some(now) = next.into_iter().flatten().min().filter(|now| *now < end) else { break };
            let mut reports = Vec::new();
            if let Some((_, data, marked)) = first_due(&mut self.there, |packet| packet.0 <= now) {
                received += if now >= from { u64::from(data.bytes) } else { 0 };
                self.receiver.on_data(now, &data, marked, &mut |ack| reports.push(ack));
            } else if let Some((_, ack)) = first_due(&mut self.back, |report| report.0 <= now) {
                self.sender.on_ack(now, &ack, &mut |data| packets.push(data));
            } else if self.receiver.timer().is_some_and(|timer| timer.deadline <= now) {
                self.receiver.on_timer(now, &mut |ack| reports.push(ack));
            } else {
                self.sender.on_timer(now, &mut |data| packets.push(data));
            }
            self.back.extend(reports.into_iter().map(|ack| (now + self.delay, ack)));
            self.transmit(&packets);
            packets.clear();
        }
        received as f64 * 8.0 / end.since(from).secs()
    }
}

fn s(seconds: u64) -> Time {
    at(1000 * seconds)
}

#[test]
fn the_rate_follows_the_capacity() {
    let mut path = Path::new(Config::default(), 1e6);
    path.sender.start(Time::ZERO, &mut |data| path.there.push_back((at(51), data, false)));
    let rate = path.run(s(20), s(40));
    assert!((0.7e6..1e6).contains(&rate), "{rate}");
    path.rate = 2.5e6;
    let rate = path.run(s(50), s(60));
    assert!((1.2e6..1.6e6).contains(&rate), "the greatest rate is 1.5 Mb/s: {rate}");
    path.rate = 0.6e6;
    let rate = path.run(s(70), s(80));
    assert!((0.4e6..0.6e6).contains(&rate), "{rate}");
    assert_eq!(path.marked, 0);
}

#[test]
fn marks_keep_the_queue_short_without_losses() {
    let run = |ecn: bool| {
        let mut path = Path::new(Config { ecn, ..Config::default() }, 1e6);
        path.mark = Some(2500);
        path.sender.start(Time::ZERO, &mut |data| path.there.push_back((at(51), data, false)));
        let rate = path.run(s(20), s(60));
        (path.marked, path.sender.counters().ecn_responses, path.lost, rate)
    };
    let (marked, responses, lost, rate) = run(true);
    assert!(marked > 10 && responses > 10 && lost == 0 && rate > 0.5e6, "{marked} {responses} {lost} {rate}");
    let (marked, responses, ..) = run(false);
    assert_eq!((marked, responses), (0, 0));
}

#[test]
fn a_pause_ends_at_the_least_rate() {
    let mut path = Path::new(Config::default(), 2e6);
    path.sender.start(Time::ZERO, &mut |data| path.there.push_back((at(51), data, false)));
    path.run(s(0), s(20));
    assert!(path.sender.target_bitrate() > 1e6);
    path.sender.stop(s(20), &mut |_| {});
    let rate = path.run(s(21), s(40));
    assert_eq!((rate, path.sender.timer()), (0.0, None));
    path.sender.resume(s(40), &mut |data| path.there.push_back((s(41), data, false)));
    assert!(path.sender.target_bitrate() < 200e3, "{}", path.sender.target_bitrate());
    let rate = path.run(s(60), s(70));
    assert!(rate > 1e6, "{rate}");
}

#[test]
fn effective_values_and_ranges() {
    let config = Config::default();
    assert!(config.check().is_ok());
    assert_eq!(config.effective().len(), super::PARAMETERS.len());
    for parameter in super::PARAMETERS.iter() {
        let texts = [parameter.default, parameter.doc, parameter.source];
        assert!(texts.iter().all(|text| !text.is_empty()), "{}", parameter.key);
    }
    let wrong = Config { frame_rate: 0.0, ..config };
    assert_eq!(
        wrong.check().map_err(|e| e.to_string()),
        Err("frame_rate is 0, allowed: 1 to 1000".to_owned())
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    /// Windows, targets and queues stay within their bounds, and numbers rise one by one.
    #[test]
    fn bounds_hold_on_any_path(
        kbps in 50u64..5000,
        limit in 3000u64..100_000,
        delay in 1u64..200,
        ecn: bool,
        every in prop_oneof![Just(None), (5u64..500).prop_map(Some)],
        fps in 5.0..100.0,
    ) {
        let feedback_interval =
            every.map_or(FeedbackInterval::Auto, |ms| FeedbackInterval::Every(Span::from_millis(ms)));
        let config = Config { ecn, feedback_interval, frame_rate: fps, ..Config::default() };
        let mut path = Path::new(config, kbps as f64 * 1e3);
        (path.limit, path.delay, path.mark) = (limit, Span::from_millis(delay), Some(limit / 3));
        path.sender.start(Time::ZERO, &mut |data| path.there.push_back((at(delay), data, false)));
        for second in 1..=20 {
            path.run(s(0), s(second));
            prop_assert!(path.sender.cwnd() >= 3.0);
            prop_assert!((150e3..=1.5e6).contains(&path.sender.target_bitrate()));
        }
        let counters = path.sender.counters();
        prop_assert!(u64::from(path.lost) <= counters.sent_packets);
        prop_assert_eq!(u64::from(path.sender.end()), counters.sent_packets);
        let received = path.receiver.counters();
        prop_assert_eq!(received.duplicates, 0);
        let on_the_way = path.there.len() as u64;
        prop_assert_eq!(received.delivered_packets + on_the_way + u64::from(path.lost), counters.sent_packets);
    }
}
