//! Receivers against packets written by hand.

use std::sync::Arc;

use aqmlab_units::{Span, Time};

use super::Receiver;
use crate::rfc::{Config, CongestionControl, EcnFeedback};
use crate::{Ack, Data, DataFlags};

const MSS: u32 = 1000;

struct Bench {
    receiver: Receiver,
    config: Config,
    now: Time,
}

impl Bench {
    /// After the SYN.
    fn new(config: Config) -> Self {
        let mut bench =
            Self { receiver: Receiver::new(Arc::new(config.clone())), config, now: Time::from_secs(1.0) };
        assert_eq!(bench.put(0, DataFlags::SYN, false).unwrap().ack, 1);
        bench
    }

    fn put(&mut self, k: u32, flags: DataFlags, ce: bool) -> Option<Ack> {
        let seq = if k == 0 { 0 } else { 1 + (k - 1) * MSS };
        let bytes = if k == 0 { self.config.syn_length() } else { MSS + self.config.header };
        let data = Data { sent: self.now, seq, bytes, flags };
        let mut answer = None;
        self.receiver.on_data(self.now, &data, ce, &mut |ack| {
            assert!(answer.replace(ack).is_none(), "one answer");
        });
        answer
    }

    /// Segment `k` arrives, so many milliseconds later; the last segment in order that is acknowledged, if any.
    fn segment(&mut self, ms: u64, k: u32) -> Option<i32> {
        self.now += Span::from_millis(ms);
        self.put(k, DataFlags::NONE, false).map(|ack| (ack.ack - 1) / MSS as i32)
    }
}

fn config() -> Config {
    Config { mss: MSS, quick_acks: 0, ..Config::linux(CongestionControl::Reno) }
}

#[test]
fn every_second_segment_is_answered() {
    let mut b = Bench::new(config());
    let answers: Vec<Option<i32>> = (1..=6).map(|k| b.segment(1, k)).collect();
    assert_eq!(answers, [None, Some(2), None, Some(4), None, Some(6)]);
    assert_eq!(b.receiver.counters().acks_sent, 4);
}

#[test]
fn every_r_th_segment_is_answered() {
    for ratio in [1_u32, 2, 3, 5] {
        let mut b = Bench::new(Config { ack_ratio: ratio, ..config() });
        for k in 1..=20_u32 {
            let expected = k.is_multiple_of(ratio).then_some(k as i32);
            assert_eq!(b.segment(1, k), expected, "{ratio}: {k}");
        }
    }
    // The delay bounds how long the others wait, and data out of order is answered at once.
    let mut b = Bench::new(Config { ack_ratio: 10, delayed_ack: Some(Span::from_millis(5)), ..config() });
    assert_eq!([1, 2].map(|k| b.segment(1, k)), [None, None]);
    let timer = b.receiver.timer().expect("a held answer");
    assert_eq!(timer.deadline, Time::from_secs(1.006));
    assert_eq!(b.segment(1, 4), Some(2));
}

#[test]
fn a_single_segment_is_answered_after_40_ms_with_its_own_time_stamp() {
    let mut b = Bench::new(config());
    b.segment(1, 1);
    let sent = b.now;
    let timer = b.receiver.timer().unwrap();
    assert_eq!(timer.deadline, sent + Span::from_millis(40));
    let mut answer = None;
    b.receiver.on_timer(timer.deadline, &mut |ack| answer = Some(ack));
    assert_eq!(answer.map(|ack| (ack.ack, ack.ts_echo)), Some((1001, sent)));
    assert!(b.receiver.timer().is_none());
}

#[test]
fn the_echo_is_of_the_first_segment_that_is_answered() {
    let mut b = Bench::new(config());
    b.segment(1, 1);
    let first = b.now;
    b.now += Span::from_millis(5);
    let ack = b.put(2, DataFlags::NONE, false).unwrap();
    assert_eq!(ack.ts_echo, first);
}

#[test]
fn the_first_acknowledgements_are_quick() {
    let mut b = Bench::new(Config { quick_acks: 3, ..config() });
    let answers: Vec<bool> = (1..=7).map(|k| b.segment(1, k).is_some()).collect();
    assert_eq!(answers, [true, true, true, false, true, false, true]);
}

#[test]
fn a_pause_is_longer_than_the_time_out_that_the_handshake_made() {
    // R = 1 ms: 1 ms + max(2 ms, 200 ms); R = 150 ms: 150 ms + 300 ms.
    for (round_trip, longest) in [(1, 201), (150, 450)] {
        let mut b = Bench::new(Config { quick_acks: 3, ..config() });
        let answers: Vec<bool> =
            [round_trip, 1, 1, 1, 1].iter().zip(1..).map(|(ms, k)| b.segment(*ms, k).is_some()).collect();
        assert_eq!(answers, [true, true, true, false, true]);
        assert!(b.segment(longest, 6).is_none());
        assert!(b.segment(longest + 1, 7).is_some());
        assert!(b.segment(1, 8).is_some() && b.segment(1, 9).is_some() && b.segment(1, 10).is_none());
    }
}

#[test]
fn out_of_order_is_answered_at_once_and_from_the_fourth_on_may_wait() {
    let mut b = Bench::new(config());
    b.segment(1, 1);
    let answers: Vec<Option<i32>> = [3, 4, 5, 6, 7].map(|k| b.segment(0, k)).to_vec();
    assert_eq!(answers, [Some(1), Some(1), Some(1), None, None]);
    assert_eq!(b.receiver.timer().unwrap().deadline, b.now + Span::from_millis(1));
    let mut sent = Vec::new();
    b.receiver.on_timer(b.now, &mut |ack| sent.push(ack));
    assert_eq!(sent[0].sack.as_slice()[0].right, 7001);
    assert_eq!(sent[0].bytes, 52 + 4 + 8);
    assert_eq!(b.segment(0, 2), Some(7), "the gap is filled");
    let mut plain = Bench::new(Config { sack_compression: None, ..config() });
    assert!([3, 4, 5, 6, 7].map(|k| plain.segment(0, k)).iter().all(|answer| *answer == Some(0)));
}

#[test]
fn a_duplicate_is_answered_at_once_with_a_report() {
    let mut b = Bench::new(config());
    b.segment(1, 1);
    b.segment(1, 2);
    b.now += Span::from_millis(1);
    let ack = b.put(1, DataFlags::NONE, false).unwrap();
    let block = ack.sack.as_slice()[0];
    assert_eq!((ack.ack, block.left, block.right), (2001, 1, 1001));
    assert_eq!(b.receiver.counters().duplicates, 1);
    let mut without = Bench::new(Config { sack: false, ..config() });
    without.segment(1, 1);
    assert!(without.put(1, DataFlags::NONE, false).unwrap().sack.is_empty());
}

#[test]
fn a_mark_is_echoed_until_cwr() {
    let mut b = Bench::new(Config { ecn: EcnFeedback::Classic, ..config() });
    let ect = DataFlags::ECT;
    assert!(b.put(1, ect, false).is_none());
    assert_eq!(b.put(2, ect, false).map(|ack| ack.ece), Some(false));
    assert_eq!(b.put(3, ect, true).map(|ack| ack.ece), Some(true), "a first mark is answered at once");
    assert_eq!(b.put(4, ect, false).map(|ack| ack.ece), Some(true), "and the next segment");
    assert!(b.put(5, ect, false).is_none());
    assert_eq!(b.put(6, ect.with(DataFlags::CWR, true), false).map(|ack| ack.ece), Some(false));
    b.put(7, ect, true);
    assert_eq!(b.put(8, ect.with(DataFlags::CWR, true), true).map(|ack| ack.ece), Some(true));
    assert!(!b.put(9, DataFlags::NONE, true).is_some_and(|ack| ack.ece && !b.receiver.marks.echo()));
}

#[test]
fn the_answer_to_the_syn_grants_ecn() {
    let (on, off) = (EcnFeedback::Classic, EcnFeedback::Off);
    for (ecn, asks, granted) in [(on, true, true), (on, false, false), (off, true, false)] {
        let config = Arc::new(Config { ecn, ..config() });
        let mut receiver = Receiver::new(config);
        let flags = DataFlags::SYN.with(DataFlags::ECN_SETUP, asks);
        let mut ece = None;
        let syn = Data { sent: Time::ZERO, seq: 0, bytes: 60, flags };
        receiver.on_data(Time::ZERO, &syn, false, &mut |ack| ece = Some(ack.ece));
        assert_eq!(ece, Some(granted));
    }
}

#[test]
fn counters_are_of_packets_and_wire_bytes() {
    let mut b = Bench::new(config());
    for k in 1..=3 {
        b.segment(1, k);
    }
    let counters = b.receiver.counters();
    assert_eq!((counters.delivered_packets, counters.delivered_bytes), (4, 60 + 3 * 1052));
    assert_eq!(counters.delivered_payload, 3 * 1000);
    assert_eq!((counters.received_packets, counters.duplicates), (4, 0));
}

#[test]
fn dctcps_acknowledgements_answer_segments_of_one_kind() {
    let config = Config { mss: MSS, quick_acks: 0, ..Config::linux(CongestionControl::Dctcp) };
    let mut b = Bench::new(config);
    let mut answers = Vec::new();
    for (k, ce) in [(1, false), (2, true), (3, true), (4, true), (5, false), (6, false)] {
        let seq = 1 + (k - 1) * MSS;
        let data = Data { sent: b.now, seq, bytes: MSS + b.config.header, flags: DataFlags::ECT };
        b.receiver.on_data(b.now, &data, ce, &mut |ack| answers.push((ack.ack as u32 / MSS, ack.ece)));
    }
    // At once where marks begin or end, with earlier unanswered segments acknowledged separately; 3 and 4 together; 6
    // is held back.
    assert_eq!(answers, [(1, false), (2, true), (4, true), (5, false)]);
}

#[test]
fn accurate_feedback_counts_marks() {
    let mut b = Bench::new(Config { ecn: EcnFeedback::Accurate, ..config() });
    let mut answers = Vec::new();
    for (k, ce) in [(1, false), (2, false), (3, true), (4, true), (5, true)] {
        answers.push(b.put(k, DataFlags::ECT, ce).map(|ack| (ack.ace, ack.ece)));
    }
    assert_eq!(answers, [None, Some((0, false)), Some((1, false)), None, Some((3, false))]);
}

#[test]
fn acknowledgements_carry_their_time_where_the_sender_needs_it() {
    for (cc, stamped) in [(CongestionControl::Reno, false), (CongestionControl::Ledbat, true)] {
        let mut b = Bench::new(Config { mss: MSS, ..Config::linux(cc) });
        b.now += Span::from_millis(7);
        let stamp = b.put(1, DataFlags::NONE, false).unwrap().stamp;
        assert_eq!(stamp, if stamped { b.now } else { Time::ZERO });
    }
}

/// Segments that are answered at once, of these that arrive a millisecond apart.
fn answered_as_quic(ack_ratio: u32, reordering_threshold: u32, arrivals: &[u32]) -> Vec<u32> {
    let quic = Config::quic(CongestionControl::Reno);
    let mut b = Bench::new(Config { mss: MSS, ack_ratio, reordering_threshold, ..quic });
    arrivals.iter().copied().filter(|&k| b.segment(1, k).is_some()).collect()
}

/// draft-ietf-quic-ack-frequency-09, section 6.2: with a threshold of 3, 5 reports 2, 9 reports 6 and 10 reports 7.
#[test]
fn quic_reports_a_packet_that_enough_others_have_overtaken() {
    assert_eq!(answered_as_quic(1000, 3, &[1, 3, 4, 5, 8, 9, 10]), [5, 9, 10]);
    assert_eq!(answered_as_quic(1000, 1, &[1, 3, 4, 2, 5, 7, 8]), [3, 7], "a gap is reported once");
    assert_eq!(answered_as_quic(1000, 0, &[1, 3, 4, 5, 6, 7, 8]), [] as [u32; 0]);
}

/// The same, section 4: an Ack-Eliciting Threshold of `ack_ratio` - 1; packets out of order count.
#[test]
fn quic_answers_every_r_th_packet() {
    assert_eq!(answered_as_quic(2, 1, &[1, 2, 3, 4, 5]), [2, 4]);
    assert_eq!(answered_as_quic(3, 0, &[2, 3, 1, 6, 7, 8]), [1, 8]);
}

#[test]
fn quic_echoes_the_largest_packet_and_how_long_it_was_held() {
    let mut b = Bench::new(Config { mss: MSS, ..Config::quic(CongestionControl::Reno) });
    assert_eq!(b.segment(1, 2).map(|_| ()), Some(()), "segment 1 is missing");
    let sent = b.now + Span::from_millis(3);
    assert_eq!(b.segment(3, 3), None);
    b.now = b.receiver.timer().unwrap().deadline;
    let mut answer = None;
    b.receiver.on_timer(b.now, &mut |ack| answer = Some(ack));
    let ack = answer.unwrap();
    assert_eq!((ack.ts_echo, ack.stamp), (sent, Time::ZERO + Span::from_millis(25)));
    assert_eq!(ack.bytes, 64 + 4, "one range");
}
