//! Receivers against packets written by hand.

use core::mem::offset_of;
use std::collections::BTreeSet;
use std::sync::Arc;

use aqmlab_units::{Span, Time, are_in_successive_lines};
use proptest::prelude::*;

use super::Receiver;
use crate::ns2::{Config, Variant};
use crate::{Ack, Data, DataFlags, SackBlock};

struct Bench {
    receiver: Receiver,
    now: Time,
}

impl Bench {
    fn new(config: Config) -> Self {
        Self { receiver: Receiver::new(Arc::new(config)), now: Time::ZERO }
    }

    fn delayed() -> Self {
        let delayed_ack = Some(Span::from_millis(100));
        Self::new(Config { delayed_ack, ..Config::ns2(Variant::Reno) })
    }

    fn take(&mut self, seq: u32, flags: DataFlags, ce: bool) -> Option<Ack> {
        self.now += Span::from_millis(1);
        let bytes = if seq == 0 { 40 } else { 1040 };
        let mut acks = Vec::new();
        let data = Data { sent: self.now, seq, bytes, flags };
        self.receiver.on_data(self.now, &data, ce, &mut |ack| acks.push(ack));
        assert!(acks.len() <= 1);
        acks.pop()
    }

    /// The acknowledgement number that answers packet `seq`, if one does.
    fn data(&mut self, seq: u32) -> Option<i32> {
        self.take(seq, DataFlags::NONE, false).map(|ack| ack.ack)
    }

    fn blocks(&mut self, seq: u32) -> Vec<(i32, i32)> {
        let ack = self.take(seq, DataFlags::NONE, false).unwrap();
        assert_eq!(ack.bytes, 40 + 8 * ack.sack.len() as u32);
        ack.sack.as_slice().iter().map(|block| (block.left, block.right)).collect()
    }

    fn expire(&mut self) -> Option<i32> {
        self.now = self.receiver.timer()?.deadline;
        let mut acks = Vec::new();
        self.receiver.on_timer(self.now, &mut |ack| acks.push(ack.ack));
        acks.pop()
    }
}

#[test]
fn every_packet_is_answered() {
    let mut b = Bench::new(Config::ns2(Variant::Reno));
    let answers: Vec<_> = [1, 0, 2, 5, 4, 3, 3].map(|seq| b.data(seq).unwrap()).to_vec();
    assert_eq!(answers, [-1, 1, 2, 2, 2, 5, 5]);
    let counters = b.receiver.counters();
    assert_eq!((counters.received_packets, counters.delivered_packets, counters.duplicates), (7, 6, 1));
    assert_eq!((counters.delivered_bytes, counters.acks_sent), (40 + 5 * 1040, 7));
    assert_eq!(counters.delivered_payload, 5 * 1000);
}

#[test]
fn delayed_acknowledgements() {
    let mut b = Bench::delayed();
    assert_eq!(b.data(0), Some(0), "the SYN at once");
    assert_eq!(b.data(1), None);
    assert_eq!(b.data(2), Some(2), "every second packet");
    assert_eq!(b.receiver.timer(), None);
    assert_eq!(b.data(3), None);
    let set_at = b.now;
    let timer = b.receiver.timer().unwrap();
    assert_eq!((timer.set_at, timer.deadline), (set_at, set_at + Span::from_millis(100)));
    assert_eq!(b.expire(), Some(3));
    assert_eq!(b.receiver.timer(), None);
    assert_eq!(b.expire(), None);
}

#[test]
fn out_of_order_packets_are_answered_at_once() {
    let mut b = Bench::delayed();
    b.data(0);
    assert_eq!(b.data(2), Some(0));
    assert_eq!(b.data(4), Some(0));
    assert_eq!(b.data(1), Some(2), "fills a gap");
    assert_eq!(b.data(3), Some(4));
    assert_eq!(b.data(5), None, "in order again");
    assert_eq!(b.data(8), Some(5), "and takes the held acknowledgement along");
    assert_eq!(b.receiver.timer(), None);
}

#[test]
fn a_gap_filled_up_to_another_gap_is_answered_at_once() {
    let mut b = Bench::delayed();
    b.data(0);
    b.data(3);
    assert_eq!(b.data(1), Some(1), "3 has been received");
}

#[test]
fn sack_blocks_most_recent_first() {
    let mut b = Bench::new(Config::ns2(Variant::Sack));
    assert_eq!(b.blocks(0), []);
    assert_eq!(b.blocks(2), [(2, 3)]);
    assert_eq!(b.blocks(4), [(4, 5), (2, 3)]);
    assert_eq!(b.blocks(6), [(6, 7), (4, 5), (2, 3)]);
    assert_eq!(b.blocks(8), [(8, 9), (6, 7), (4, 5)], "three at most");
    assert_eq!(b.blocks(5), [(4, 7), (8, 9)], "joins two and covers their blocks");
    assert_eq!(b.blocks(4), [(4, 7), (8, 9)], "a duplicate");
    assert_eq!(b.blocks(1), [(4, 7), (8, 9)], "in order up to 2: no block of its own");
    assert_eq!(b.blocks(3), [(8, 9)], "in order up to 6");
    assert_eq!(b.blocks(7), [], "nothing out of order");
    assert_eq!(b.blocks(7), []);
}

#[test]
fn overtaken_blocks_are_retired() {
    let mut b = Bench::new(Config::ns2(Variant::Sack));
    for seq in [0, 2, 6, 8, 10] {
        b.blocks(seq);
    }
    // The history holds (10, 11), (8, 9), (6, 7).
    assert_eq!(b.blocks(5), [(5, 7), (10, 11), (8, 9)]);
    assert_eq!(b.blocks(1), [(5, 7), (10, 11), (8, 9)], "in order up to 2");
    assert_eq!(b.blocks(12), [(12, 13), (5, 7), (10, 11)], "(8, 9) falls out");
    assert_eq!(b.blocks(3), [(12, 13), (5, 7), (10, 11)], "in order up to 3");
    assert_eq!(b.blocks(4), [(12, 13), (10, 11)], "in order up to 6");
    assert_eq!(b.blocks(7), [(12, 13), (10, 11)], "in order up to 8");
    assert_eq!(b.blocks(9), [(12, 13)], "in order up to 10");
}

#[test]
fn the_echo_lasts_until_cwr() {
    let mut b = Bench::new(Config { ecn: true, ..Config::ns2(Variant::Reno) });
    let ect = DataFlags::ECT;
    let setup = DataFlags::SYN.with(DataFlags::ECN_SETUP, true);
    let cwr = ect.with(DataFlags::CWR, true);
    let mut echo = |seq, flags, ce| b.take(seq, flags, ce).unwrap().ece;
    assert!(echo(0, setup, false), "grants ECN");
    assert!(!echo(1, ect, false));
    assert!(echo(2, ect, true));
    assert!(echo(3, ect, false));
    assert!(!echo(4, DataFlags::NONE, false), "no echo to a packet that is not ECN-capable");
    assert!(!echo(5, cwr, false));
    assert!(echo(6, cwr, true), "marked again");
    assert!(!echo(7, cwr, false));
    assert!(!echo(8, DataFlags::NONE, true), "a mark without ECT counts for nothing");
    assert!(!echo(9, ect, false));
}

#[test]
fn a_held_packet_counts_in_the_echo() {
    let delayed_ack = Some(Span::from_millis(100));
    let mut b = Bench::new(Config { ecn: true, delayed_ack, ..Config::ns2(Variant::Reno) });
    b.take(0, DataFlags::ECN_SETUP, false);
    assert!(b.take(1, DataFlags::ECT, true).is_none());
    assert!(b.take(2, DataFlags::ECT, false).unwrap().ece);
    assert!(b.take(3, DataFlags::ECT.with(DataFlags::CWR, true), false).is_none());
    assert!(!b.take(4, DataFlags::ECT, false).unwrap().ece);
}

#[test]
fn the_time_stamp_echoed_is_that_of_the_packet_that_is_waited_for() {
    let mut b = Bench::new(Config::ns2(Variant::Reno));
    let mut echo = |seq| b.take(seq, DataFlags::NONE, false).unwrap().ts_echo;
    assert_eq!(echo(0), Time(1_000_000_000));
    assert_eq!(echo(1), Time(2_000_000_000));
    assert_eq!(echo(3), Time(2_000_000_000), "out of order");
    assert_eq!(echo(2), Time(4_000_000_000));
}

#[test]
fn each_cache_line_of_a_plain_packet_is_asked_for() {
    let fields = [0, offset_of!(Receiver, ts_echo), offset_of!(Receiver, mark_unanswered)];
    assert!(are_in_successive_lines(&fields), "{fields:?}");
}

proptest! {
    /// The blocks are runs of what has arrived; the first is the run of the packet just taken. Packets stay
    /// within 60 of the next one expected.
    #[test]
    fn blocks_are_runs_that_have_arrived(steps in prop::collection::vec(0u32..60, 1..400)) {
        let mut b = Bench::new(Config::ns2(Variant::Sack));
        let mut have = BTreeSet::new();
        let mut next = 0;
        for step in steps {
            let seq = next + step.saturating_sub(20);
            have.insert(seq);
            while have.contains(&next) {
                next += 1;
            }
            let ack = b.take(seq, DataFlags::NONE, false).unwrap();
            prop_assert_eq!(ack.ack, next as i32 - 1);
            let blocks = ack.sack.as_slice();
            for block in blocks {
                prop_assert!((block.left..block.right).all(|s| have.contains(&(s as u32))));
                prop_assert!(block.left < block.right);
            }
            if seq > next {
                let right = (seq..).find(|s| !have.contains(s)).unwrap();
                let left = (0..seq).rev().find(|s| !have.contains(s)).unwrap() + 1;
                prop_assert_eq!(blocks[0], SackBlock { left: left as i32, right: right as i32 });
            }
        }
    }
}

proptest! {
    /// Packets arrive in any order, some twice, some marked, with and without SACK, ECN and delayed acknowledgements.
    #[test]
    fn a_plain_answer_is_that_of_all_steps(
        (sack, ecn, delayed) in any::<(bool, bool, bool)>(),
        steps in prop::collection::vec((0u32..8, 0u32..12, any::<bool>()), 1..300),
    ) {
        let variant = if sack { Variant::Sack } else { Variant::Reno };
        let delayed_ack = delayed.then_some(Span::from_millis(100));
        let config = Arc::new(Config { delayed_ack, ecn, ..Config::ns2(variant) });
        let [mut with, mut without] = [(); 2].map(|()| Receiver::new(config.clone()));
        let mut now = Time::ZERO;
        for (ahead, trouble, ce) in steps {
            now += Span::from_millis(if trouble == 6 { 150 } else { 1 });
            if let Some(timer) = with.timer().filter(|timer| timer.deadline < now) {
                let (mut answers, mut expected) = (Vec::new(), Vec::new());
                with.on_timer(timer.deadline, &mut |ack| answers.push(ack));
                without.on_timer(timer.deadline, &mut |ack| expected.push(ack));
                prop_assert_eq!(answers, expected);
            }
            let seq = if trouble > 8 { with.expected() + ahead } else { with.expected() };
            let ce = ecn && ce && trouble == 7;
            let flags = DataFlags::NONE.with(DataFlags::ECT, ecn).with(DataFlags::CWR, ecn && trouble == 8);
            let data = Data { sent: now, seq: seq.saturating_sub(4 * (trouble / 11)), bytes: 1040, flags };
            let (mut answers, mut expected) = (Vec::new(), Vec::new());
            with.on_data(now, &data, ce, &mut |ack| answers.push(ack));
            without.on_any_data(now, &data, ce, &mut |ack| expected.push(ack));
            prop_assert_eq!(answers, expected);
            prop_assert_eq!(with.counters(), without.counters());
            prop_assert_eq!((with.expected(), with.timer()), (without.expected(), without.timer()));
        }
    }
}
