//! Senders against acknowledgements written by hand.

use core::mem::offset_of;
use std::sync::Arc;

use aqmlab_units::{Span, Time, are_in_successive_lines};

use super::{Flow, Sender};
use crate::ns2::{Config, Variant};
use crate::{Ack, Configuration, Data, SackBlock, SackBlocks, Supply};

/// A sender, a clock, and what was sent since the last look.
struct Bench {
    sender: Sender,
    now: Time,
    sent: Vec<Data>,
}

impl Bench {
    fn new(config: Config, supply: Supply) -> Self {
        config.check().unwrap();
        Self { sender: Sender::new(Arc::new(config), supply, 0.0), now: Time::ZERO, sent: Vec::new() }
    }

    fn variant(variant: Variant) -> Self {
        Self::new(Config::ns2(variant), Supply::Greedy)
    }

    fn start(&mut self) -> Vec<u32> {
        self.sender.start(self.now, &mut |data| self.sent.push(data));
        self.seqs()
    }

    fn after(&mut self, ms: u64) -> &mut Self {
        self.now += Span::from_millis(ms);
        self
    }

    fn take(&mut self, ack: Ack) -> Vec<u32> {
        self.sender.on_ack(self.now, &ack, &mut |data| self.sent.push(data));
        self.seqs()
    }

    fn ack(&mut self, ack: i32) -> Vec<u32> {
        self.take(plain(ack))
    }

    fn sack(&mut self, ack: i32, blocks: &[(i32, i32)]) -> Vec<u32> {
        let mut sack = SackBlocks::EMPTY;
        for &(left, right) in blocks {
            sack.push(SackBlock { left, right });
        }
        self.take(Ack { sack, ..plain(ack) })
    }

    fn echo(&mut self, ack: i32) -> Vec<u32> {
        self.take(Ack { ece: true, ..plain(ack) })
    }

    /// Lets the timer expire at its deadline.
    fn expire(&mut self) -> Vec<u32> {
        self.now = self.sender.timer().unwrap().deadline;
        self.sender.on_timer(self.now, &mut |data| self.sent.push(data));
        self.seqs()
    }

    fn seqs(&mut self) -> Vec<u32> {
        core::mem::take(&mut self.sent).iter().map(|data| data.seq).collect()
    }

    fn deadline(&self) -> f64 {
        self.sender.timer().unwrap().deadline.secs()
    }

    /// Starts and acknowledges packets 0 to 7: cwnd is 9 then, and packets up to 16 are in flight.
    fn open_to_nine(&mut self) {
        self.start();
        for ack in 0..=7 {
            self.after(100).ack(ack);
        }
        assert_eq!((self.sender.cwnd(), self.sender.max_seq()), (9.0, 16));
    }
}

fn plain(ack: i32) -> Ack {
    Ack { ts_echo: Time::ZERO, ack, bytes: 40, sack: SackBlocks::EMPTY, ece: false, ..Ack::default() }
}

#[test]
fn slow_start_from_the_syn() {
    for variant in Variant::ALL {
        let mut b = Bench::variant(variant);
        assert_eq!(b.start(), [0]);
        assert_eq!(b.ack(0), [1, 2], "initial window of 2");
        assert_eq!(b.ack(1), [3, 4]);
        assert_eq!(b.ack(2), [5, 6]);
        assert_eq!(b.ack(4), [7, 8, 9], "one acknowledgement of two packets opens by one");
        assert_eq!(b.sender.cwnd(), 5.0);
    }
}

#[test]
fn congestion_avoidance_opens_by_one_packet_per_window() {
    let config = Config { initial_ssthresh: Some(2), ..Config::ns2(Variant::Reno) };
    let mut b = Bench::new(config, Supply::Greedy);
    b.start();
    b.ack(0);
    assert_eq!(b.ack(1), [3], "cwnd 2.5");
    assert_eq!(b.ack(2), [4], "cwnd 2.9");
    assert_eq!(b.ack(3), [5, 6], "cwnd 3.24");
    assert_eq!(b.sender.cwnd(), 2.9 + 1.0 / 2.9);
}

#[test]
fn the_receivers_window_limits() {
    let config = Config { window: 3.9, ..Config::ns2(Variant::Tahoe) };
    let mut b = Bench::new(config, Supply::Greedy);
    b.start();
    b.ack(0);
    b.ack(1);
    assert_eq!(b.ack(2), [5], "window of 3");
    assert_eq!(b.ack(3), [6]);
}

#[test]
fn lengths() {
    let length = |config: &Config| {
        let mut b = Bench::new(config.clone(), Supply::Greedy);
        b.sender.start(Time::ZERO, &mut |data| b.sent.push(data));
        b.sender.on_ack(Time::ZERO, &plain(0), &mut |data| b.sent.push(data));
        (b.sent[0].bytes, b.sent.last().unwrap().bytes)
    };
    let config = Config::ns2(Variant::Reno);
    assert_eq!(length(&config), (40, 1040));
    assert_eq!(length(&Config { timestamps: true, ..config.clone() }), (40, 1050));
    assert_eq!(length(&Config { syn: false, ..config }), (1000, 1040), "no header on packet 0");
}

#[test]
fn tahoe_starts_over() {
    let mut b = Bench::variant(Variant::Tahoe);
    b.open_to_nine();
    assert_eq!(b.ack(7), [17], "limited transmit");
    assert_eq!(b.ack(7), [18]);
    assert_eq!(b.ack(7), [8]);
    assert_eq!((b.sender.cwnd(), b.sender.ssthresh()), (1.0, 4.0));
    assert_eq!(b.ack(7), []);
    assert_eq!(b.ack(18), [19, 20]);
    assert_eq!(b.sender.counters().fast_retransmits, 1);
    assert_eq!(b.sender.counters().retransmissions, 1);
}

#[test]
fn tahoe_resends_what_was_not_lost() {
    let mut b = Bench::variant(Variant::Tahoe);
    b.open_to_nine();
    for _ in 0..3 {
        b.ack(7);
    }
    assert_eq!(b.ack(8), [9, 10], "cwnd 2, back at packet 9");
    assert_eq!(b.sender.counters().retransmissions, 3);
}

#[test]
fn reno_recovers_one_loss() {
    let mut b = Bench::variant(Variant::Reno);
    b.open_to_nine();
    b.ack(7);
    b.ack(7);
    assert_eq!(b.ack(7), [8]);
    assert_eq!((b.sender.cwnd(), b.sender.ssthresh()), (4.5, 4.0));
    // 7 + 4 + k reaches the next packet, 19, at the eighth duplicate.
    let sent: Vec<_> = (4..=10).map(|_| b.ack(7)).collect();
    assert_eq!(sent, [vec![], vec![], vec![], vec![], vec![19], vec![20], vec![21]]);
    assert_eq!(b.ack(18), [22], "window of 4 beyond 18");
    assert_eq!(b.sender.cwnd(), 4.5 + 1.0 / 4.5);
}

#[test]
fn reno_waits_for_the_timer_after_a_second_loss() {
    let mut b = Bench::variant(Variant::Reno);
    b.open_to_nine();
    for _ in 0..9 {
        b.ack(7);
    }
    // Packet 10 was lost too. The partial acknowledgement ends recovery, and the duplicates after it are
    // within the window of data that was cut already.
    assert_eq!(b.ack(9), []);
    assert_eq!(b.ack(9), [], "the window is full");
    assert_eq!(b.ack(9), []);
    assert_eq!(b.ack(9), [], "no second fast retransmit");
    assert_eq!(b.expire(), [10]);
    assert_eq!(b.sender.counters().timeouts, 1);
    assert_eq!((b.sender.cwnd(), b.sender.ssthresh()), (1.0, 2.0));
}

#[test]
fn newreno_repairs_two_losses() {
    let mut b = Bench::variant(Variant::NewReno);
    b.open_to_nine();
    b.ack(7);
    b.ack(7);
    assert_eq!(b.ack(7), [8], "recover is 18");
    let sent: Vec<_> = (4..=9).map(|_| b.ack(7)).collect();
    assert_eq!(sent, [vec![], vec![], vec![], vec![], vec![19], vec![20]]);
    // Partial: two packets acknowledged, inflation 9 - (2 - 1) = 8, so up to 9 + 4 + 8 = 21.
    assert_eq!(b.ack(9), [10, 21]);
    assert_eq!(b.sender.cwnd(), 4.5);
    assert_eq!(b.ack(9), [22]);
    assert_eq!(b.ack(9), [23]);
    assert_eq!(b.ack(20), [24], "recovery is over: 20 + 4");
    assert_eq!(b.sender.cwnd(), 4.5 + 1.0 / 4.5);
    assert_eq!(b.sender.counters().fast_retransmits, 1);
}

#[test]
fn newreno_deflates_cwnd_when_the_inflation_is_used_up() {
    let mut b = Bench::variant(Variant::NewReno);
    b.open_to_nine();
    for _ in 0..3 {
        b.ack(7);
    }
    // 5 packets acknowledged, inflation 3: cwnd 4.5 - 2, inflation 1.
    assert_eq!(b.ack(12), [13]);
    assert_eq!(b.sender.cwnd(), 2.5);
    // 4 more: cwnd would be 2.5 - 3, so 1.
    assert_eq!(b.ack(16), [17]);
    assert_eq!(b.sender.cwnd(), 1.0);
}

#[test]
fn newreno_restarts_the_timer_at_the_first_partial_ack_only() {
    let mut b = Bench::variant(Variant::NewReno);
    b.open_to_nine();
    for _ in 0..9 {
        b.after(10).ack(7);
    }
    let rto = b.sender.rto().secs();
    b.after(10).ack(9);
    let deadline = b.deadline();
    assert_eq!(deadline, b.now.secs() + rto);
    b.after(10).ack(11);
    assert_eq!(b.deadline(), deadline);
}

#[test]
fn newreno_sends_two_at_most_in_recovery() {
    let mut b = Bench::variant(Variant::NewReno);
    b.open_to_nine();
    for _ in 0..10 {
        b.ack(7); // sends up to 21; packets 9 to 17 have arrived
    }
    // Acknowledged: 4, inflation 10 - 3 = 7, up to 11 + 4 + 7 = 22.
    assert_eq!(b.ack(11), [12, 22]);
    // Acknowledged: 6, inflation 7 - 5 = 2, up to 17 + 6 = 23: only one is new.
    assert_eq!(b.ack(17), [18, 23]);
}

#[test]
fn sack_resends_each_hole_once() {
    let mut b = Bench::variant(Variant::Sack);
    b.open_to_nine();
    // Packets 8 and 10 are lost; 9, 11, 12 ... arrive.
    assert_eq!(b.sack(7, &[(9, 10)]), [17]);
    assert_eq!(b.sack(7, &[(11, 12), (9, 10)]), [18]);
    assert_eq!(b.sack(7, &[(11, 12), (9, 10)]), [], "no news, no count");
    // Third: pipe = 18 - 7 - 3 = 8, cwnd = 4.5.
    assert_eq!(b.sack(7, &[(11, 13), (9, 10)]), [8]);
    assert_eq!(b.sender.cwnd(), 4.5);
    let sent: Vec<_> = (14..=17).map(|right| b.sack(7, &[(11, right), (9, 10)])).collect();
    assert_eq!(sent, [[]; 4], "pipe 4 at the end");
    assert_eq!(b.sack(7, &[(11, 18), (9, 10)]), [10], "pipe 3: the second hole");
    assert_eq!(b.sack(7, &[(11, 19), (9, 10)]), [19], "then new data");
    // Packet 8 has arrived: a partial acknowledgement takes two off the pipe.
    assert_eq!(b.sack(9, &[(11, 19)]), [20, 21]);
    assert_eq!(b.ack(18), [22], "recovery is over, cwnd 4.5 as before");
    assert_eq!(b.sender.cwnd(), 4.5);
}

#[test]
fn sack_ignores_duplicates_after_a_timeout() {
    let mut b = Bench::variant(Variant::Sack);
    b.open_to_nine();
    assert_eq!(b.expire(), [8]);
    for right in 10..14 {
        assert_eq!(b.sack(7, &[(9, right)]), []);
    }
    assert_eq!(b.ack(8), [9, 10]);
}

#[test]
fn limited_transmit_can_be_off() {
    for variant in Variant::ALL {
        let config = Config { limited_transmit: false, ..Config::ns2(variant) };
        let mut b = Bench::new(config, Supply::Greedy);
        b.open_to_nine();
        assert_eq!(b.sack(7, &[(9, 10)]), []);
        assert_eq!(b.sack(7, &[(9, 11)]), []);
        assert_eq!(b.sack(7, &[(9, 12)]), [8]);
    }
}

#[test]
fn limited_transmit_respects_the_receivers_window() {
    let config = Config { window: 9.0, ..Config::ns2(Variant::Reno) };
    let mut b = Bench::new(config, Supply::Greedy);
    b.open_to_nine();
    assert_eq!(b.ack(7), []);
}

#[test]
fn max_burst_limits_each_call() {
    let config = Config { max_burst: 3, ..Config::ns2(Variant::Tahoe) };
    let mut b = Bench::new(config, Supply::Greedy);
    b.open_to_nine();
    assert_eq!(b.ack(16), [17, 18, 19]);
    assert_eq!(b.ack(17), [20, 21, 22]);
}

#[test]
fn a_lost_syn_makes_the_initial_window_one() {
    let mut b = Bench::variant(Variant::Reno);
    b.start();
    assert_eq!(b.deadline(), 3.0);
    assert_eq!(b.expire(), [0]);
    assert_eq!(b.deadline(), 3.0 + 6.0, "back-off");
    assert_eq!(b.ack(0), [1]);
    assert_eq!(b.sender.cwnd(), 1.0);
    assert_eq!(b.sender.srtt(), None, "no sample from a retransmitted packet");
}

#[test]
fn timeouts_back_off_until_a_timed_packet_is_acknowledged() {
    let mut b = Bench::variant(Variant::Tahoe);
    b.start();
    b.after(50).ack(0); // 5 ticks: rto 5 + 4 * 2 = 15 ticks, so min_rto
    let mut waits = Vec::new();
    for _ in 0..10 {
        let set = b.now.secs();
        assert_eq!(b.expire(), [1]);
        waits.push((b.now.secs() - set) * 1e3);
    }
    let expected = [200.0, 400.0, 800.0, 1600.0, 3200.0, 6400.0, 12_800.0, 25_600.0, 51_200.0, 60_000.0];
    for (wait, expected) in waits.iter().zip(expected) {
        assert!((wait - expected).abs() < 1e-6, "{waits:?}");
    }
    assert_eq!(b.after(50).ack(2), [3, 4]);
    assert_eq!(b.sender.rto(), Span::from_secs(60.0), "packet 1 was sent twice: the back-off stays");
    b.after(50).ack(3);
    assert_eq!(b.sender.rto(), Span::from_secs(0.2));
    assert_eq!(b.sender.counters().timeouts, 10);
    assert_eq!(b.sender.counters().rtt_samples, 2);
    assert_eq!(b.sender.counters().rtt_mean(), Some(Span::from_millis(50)));
}

#[test]
fn a_timeout_goes_back_to_the_acknowledgement() {
    let mut b = Bench::variant(Variant::NewReno);
    b.open_to_nine();
    assert_eq!(b.expire(), [8]);
    assert_eq!((b.sender.cwnd(), b.sender.ssthresh()), (1.0, 4.0));
    assert_eq!(b.ack(8), [9, 10]);
    assert_eq!(b.ack(16), [17, 18, 19]);
}

#[test]
fn a_finite_transfer_ends_and_its_timer_stops() {
    for variant in Variant::ALL {
        let mut b = Bench::new(Config::ns2(variant), Supply::Bytes(3001));
        b.start();
        b.ack(0);
        b.ack(2);
        assert_eq!(b.sender.max_seq(), 4, "four packets and the SYN");
        assert!(!b.sender.is_finished());
        assert_eq!(b.ack(4), []);
        assert!(b.sender.is_finished());
        assert_eq!(b.expire(), [], "the idle expiry");
        assert_eq!(b.sender.timer(), None);
        assert_eq!(b.sender.counters().timeouts, 0);
    }
}

#[test]
fn without_syn_the_transfer_has_no_extra_packet() {
    let config = Config { syn: false, ..Config::ns2(Variant::Reno) };
    let mut b = Bench::new(config, Supply::Packets(3));
    assert_eq!(b.start(), [0, 1]);
    assert_eq!(b.ack(1), [2]);
    assert_eq!(b.ack(2), []);
    assert!(b.sender.is_finished());
}

#[test]
fn an_empty_transfer_is_finished_at_once() {
    let mut b = Bench::new(Config::ns2(Variant::Reno), Supply::Bytes(0));
    assert!(!b.sender.is_finished());
    assert_eq!(b.start(), []);
    assert!(b.sender.is_finished() && b.sender.timer().is_none());
}

#[test]
fn the_last_packet_before_a_stop_is_not_repeated() {
    let mut b = Bench::variant(Variant::Reno);
    b.open_to_nine();
    b.sender.stop(b.now, &mut |data| b.sent.push(data));
    b.ack(15);
    assert!(b.sender.is_finished());
    assert_eq!(b.expire(), []);
    assert!(b.sender.timer().is_some(), "packet 16 is still in flight");
}

#[test]
fn stop_ends_the_supply() {
    let mut b = Bench::variant(Variant::Reno);
    b.open_to_nine();
    b.sender.stop(b.now, &mut |data| b.sent.push(data));
    assert_eq!(b.ack(8), []);
    assert!(!b.sender.is_finished());
    b.ack(16);
    assert!(b.sender.is_finished());
}

#[test]
fn a_transfer_goes_on_where_it_stopped() {
    for variant in Variant::ALL {
        let mut b = Bench::variant(variant);
        b.open_to_nine();
        b.sender.stop(b.now, &mut |data| b.sent.push(data));
        assert_eq!(b.ack(8), []);
        b.sender.resume(b.now, &mut |data| b.sent.push(data));
        assert_eq!(b.seqs(), [17, 18], "cwnd 10 beyond 8");
        b.sender.stop(b.now, &mut |data| b.sent.push(data));
        b.ack(18);
        assert!(b.sender.is_finished());
        assert_eq!(b.expire(), [], "the idle expiry");
        assert_eq!((b.sender.cwnd(), b.sender.timer()), (1.0, None));
        b.after(5000);
        b.sender.resume(b.now, &mut |data| b.sent.push(data));
        assert!(!b.sender.is_finished());
        assert_eq!(b.seqs(), [19], "from a window of one");
        assert_eq!(b.sender.timer().unwrap().set_at, b.now);
    }
}

#[test]
fn the_last_packet_before_a_stop_is_repeated_when_the_transfer_goes_on() {
    let mut b = Bench::variant(Variant::Reno);
    b.open_to_nine();
    b.sender.stop(b.now, &mut |data| b.sent.push(data));
    b.ack(15);
    assert_eq!(b.expire(), []);
    b.sender.resume(b.now, &mut |data| b.sent.push(data));
    assert_eq!(b.seqs(), [16]);
    assert_eq!(b.sender.counters().retransmissions, 1);
}

#[test]
fn duplicates_after_the_end_may_send_one_packet_too_many() {
    let mut b = Bench::new(Config::ns2(Variant::Reno), Supply::Packets(6));
    b.start();
    b.ack(0);
    b.ack(2);
    b.ack(6);
    assert!(b.sender.is_finished());
    assert_eq!(b.ack(6), []);
    assert_eq!(b.ack(6), []);
    assert_eq!(b.ack(6), [7], "as ns-2 does");
}

#[test]
fn ecn_is_asked_for_by_packet_0() {
    let mut b = Bench::new(Config { ecn: true, ..Config::ns2(Variant::Reno) }, Supply::Greedy);
    b.sender.start(Time::ZERO, &mut |data| b.sent.push(data));
    assert!(b.sent[0].ecn_setup() && b.sent[0].syn() && !b.sent[0].ect());
    b.sent.clear();
    b.sender.on_ack(Time::ZERO, &Ack { ece: true, ..plain(0) }, &mut |data| b.sent.push(data));
    assert!(b.sent.iter().all(|data| data.ect() && !data.ecn_setup() && !data.syn() && !data.cwr()));
    assert_eq!(b.sender.cwnd(), 2.0);
    assert_eq!(b.sender.counters().ecn_responses, 0);
}

#[test]
fn an_echo_halves_the_window_once_in_a_window_of_data() {
    for variant in Variant::ALL {
        let mut b = Bench::new(Config { ecn: true, ..Config::ns2(variant) }, Supply::Greedy);
        b.start();
        b.echo(0);
        for ack in 1..=7 {
            b.ack(ack);
        }
        assert_eq!(b.sender.cwnd(), 9.0);
        assert_eq!(b.echo(8), []);
        assert_eq!((b.sender.cwnd(), b.sender.ssthresh()), (4.5, 4.0));
        b.echo(9);
        assert_eq!(b.sender.cwnd(), 4.5, "neither cut nor opened");
        b.sent.clear();
        b.sender.on_ack(b.now, &plain(13), &mut |data| b.sent.push(data));
        assert!(b.sent[0].cwr() && !b.sent[0].retransmission());
        assert!(!b.sent[1..].iter().any(Data::cwr));
        b.sent.clear();
        b.echo(17);
        assert_eq!(b.sender.counters().ecn_responses, 2, "a packet sent after the first cut");
    }
}

#[test]
fn an_echo_at_one_packet_waits_for_the_timer() {
    let mut b = Bench::new(Config { ecn: true, ..Config::ns2(Variant::Reno) }, Supply::Greedy);
    b.start();
    b.after(50).echo(0);
    b.expire();
    assert_eq!(b.sender.cwnd(), 1.0);
    assert_eq!(b.after(50).echo(1), [], "half a packet");
    assert_eq!(b.sender.cwnd(), 0.5);
    assert_eq!(b.after(10).ack(2), [3], "without an echo the window opens");
}

#[test]
fn a_loss_after_an_echo_is_resent_without_a_second_cut() {
    for variant in [Variant::Reno, Variant::NewReno, Variant::Sack] {
        let mut b = Bench::new(Config { ecn: true, ..Config::ns2(variant) }, Supply::Greedy);
        b.start();
        b.echo(0);
        for ack in 1..=7 {
            b.ack(ack);
        }
        b.echo(8);
        b.sack(8, &[(10, 11)]);
        b.sack(8, &[(10, 12)]);
        assert_eq!(b.sack(8, &[(10, 13)]), [9]);
        assert_eq!(b.sender.cwnd(), 4.5);
        assert_eq!(b.sender.counters().fast_retransmits, 1);
    }
}

#[test]
fn timestamps_sample_every_new_acknowledgement() {
    let config = Config { timestamps: true, ..Config::ns2(Variant::Reno) };
    let mut b = Bench::new(config, Supply::Greedy);
    b.start();
    for ack in 0..5 {
        let ts_echo = b.now;
        b.after(30).take(Ack { ts_echo, ..plain(ack) });
    }
    assert_eq!(b.sender.counters().rtt_samples, 5);
    assert_eq!(b.sender.srtt(), Some(Span::from_millis(30)));
}

#[test]
fn each_cache_line_of_a_plain_acknowledgement_is_asked_for() {
    let fields = [
        offset_of!(Sender, flow) + offset_of!(Flow, last_ack),
        offset_of!(Flow, window),
        offset_of!(Flow, timed_seq),
        offset_of!(Flow, tally),
        offset_of!(Flow, end),
        offset_of!(Flow, finished),
    ];
    assert!(are_in_successive_lines(&fields), "{fields:?}");
}

#[test]
fn the_last_packet_with_a_number_is_the_end() {
    let mut b = Bench::variant(Variant::NewReno);
    assert!(!b.sender.is_exhausted());
    b.sender.flow.highest_sent = (super::MOST_PACKETS - 2) as i32;
    assert!(!b.sender.is_exhausted());
    b.sender.flow.highest_sent += 1;
    assert!(b.sender.is_exhausted());
}
