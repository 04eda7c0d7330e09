//! Senders against acknowledgements written by hand, as a packetdrill script has them.

use std::sync::Arc;

use aqmlab_units::{Span, Time};

use super::recovery::State;
use super::{Sender, Supply};
use crate::rfc::{Config, CongestionControl, EcnFeedback, HyStart};
use crate::{Ack, Configuration, Data, SackBlock, SackBlocks};

/// Segments of 1000 bytes, so that segment k begins with byte 1 + 1000 (k - 1).
const MSS: i32 = 1000;

fn reno() -> Config {
    Config { mss: MSS as u32, ..Config::linux(CongestionControl::Reno) }
}

fn cubic() -> Config {
    Config { mss: MSS as u32, ..Config::linux(CongestionControl::Cubic) }
}

/// A sender, a clock, and what was sent since the last look. Packets are named by the number of their segment.
struct Bench {
    sender: Sender,
    now: Time,
    sent: Vec<Data>,
    /// The time stamp that the next acknowledgement echoes; `None`: of the packet sent a round trip ago.
    echo: Option<Time>,
}

impl Bench {
    fn new(config: Config, supply: Supply) -> Self {
        config.check().unwrap();
        Self { sender: Sender::new(Arc::new(config), supply), now: Time::ZERO, sent: Vec::new(), echo: None }
    }

    /// A greedy sender whose SYN has been answered after 100 ms; the initial window is out.
    fn open(config: Config) -> Self {
        let mut bench = Self::new(config, Supply::Greedy);
        bench.start();
        bench.at(100).ack(0);
        bench
    }

    fn start(&mut self) -> Vec<u64> {
        self.sender.start(self.now, &mut |data| self.sent.push(data));
        self.numbers()
    }

    /// At so many milliseconds.
    fn at(&mut self, ms: u64) -> &mut Self {
        let now = Time::ZERO + Span::from_millis(ms);
        assert!(now >= self.now, "time runs forward");
        self.now = now;
        self
    }

    fn take(&mut self, last: i32, blocks: &[(i32, i32)], ece: bool) -> Vec<u64> {
        let mut sack = SackBlocks::EMPTY;
        for &(first, last) in blocks {
            sack.push(SackBlock { left: edge(first - 1), right: edge(last) });
        }
        let ts_echo = self.echo.unwrap_or(Time(self.now.0.saturating_sub(Span::from_millis(100).0)));
        let ack = Ack { ts_echo, ack: edge(last), bytes: 52, sack, ece, ..Ack::default() };
        self.sender.on_ack(self.now, &ack, &mut |data| self.sent.push(data));
        self.numbers()
    }

    /// All up to segment `last` is acknowledged.
    fn ack(&mut self, last: i32) -> Vec<u64> {
        self.take(last, &[], false)
    }

    /// And the runs of segments from `.0` to `.1`.
    fn sack(&mut self, last: i32, blocks: &[(i32, i32)]) -> Vec<u64> {
        self.take(last, blocks, false)
    }

    /// Lets the timer expire at its deadline.
    fn expire(&mut self) -> Vec<u64> {
        self.now = self.sender.timer().unwrap().deadline;
        self.sender.on_timer(self.now, &mut |data| self.sent.push(data));
        self.numbers()
    }

    fn numbers(&mut self) -> Vec<u64> {
        let number = |seq: u32| if seq == 0 { 0 } else { 1 + u64::from(seq - 1) / MSS as u64 };
        core::mem::take(&mut self.sent).iter().map(|data| number(data.seq)).collect()
    }

    /// Milliseconds until the timer, to a microsecond.
    fn timer(&self) -> f64 {
        let deadline = self.sender.timer().unwrap().deadline;
        (deadline.since(self.now).secs() * 1e6).round() / 1e3
    }

    fn state(&self) -> State {
        self.sender.recovery.state
    }

    fn window(&self) -> (f64, f64) {
        (self.sender.cwnd(), self.sender.ssthresh())
    }
}

/// First byte after segment `last`.
fn edge(last: i32) -> i32 {
    1 + last * MSS
}

#[test]
fn handshake_and_initial_window() {
    let mut b = Bench::new(reno(), Supply::Greedy);
    assert_eq!(b.start(), [0]);
    assert_eq!((b.sender.highest_ack(), b.sender.max_seq(), b.timer()), (-1, 0, 1000.0));
    assert_eq!(b.at(100).ack(0), (1..=10).collect::<Vec<_>>());
    assert_eq!(b.sender.srtt(), Some(Span::from_millis(100)));
    // RTO = 100 + max(4 * 50, 200); the probe is due after 2 * 100 + 2.
    assert_eq!((b.sender.rto(), b.timer()), (Span::from_millis(300), 202.0));
    let counters = b.sender.counters();
    assert_eq!((counters.sent_packets, counters.sent_bytes), (11, 60 + 10 * 1052));
}

#[test]
fn a_lost_syn_is_sent_again_each_second_and_then_backed_off() {
    let mut b = Bench::new(reno(), Supply::Greedy);
    b.start();
    let mut times = Vec::new();
    for _ in 0..7 {
        assert_eq!(b.expire(), [0]);
        times.push(b.now.secs());
    }
    assert_eq!(times, [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 11.0]);
    assert_eq!(b.at(11_100).ack(0), [1], "lost more than once: a window of one");
    assert_eq!(b.sender.rto(), Span::from_millis(300), "by the time stamp");
}

#[test]
fn slow_start_counts_what_is_acknowledged() {
    let mut b = Bench::open(reno());
    assert_eq!(b.at(200).ack(1), [11, 12]);
    assert_eq!(b.ack(3), [13, 14, 15, 16]);
    assert_eq!(b.window(), (13.0, f64::INFINITY));
}

#[test]
fn three_sacked_segments_begin_recovery_and_prr_halves_the_window() {
    let mut b = Bench::open(reno());
    // Segment 1 is lost; RACK waits for a quarter of the round trip while fewer than three are sacked.
    assert_eq!(b.at(200).sack(0, &[(2, 2)]), [11]);
    assert_eq!((b.state(), b.timer()), (State::Disorder, 27.0));
    assert_eq!(b.sack(0, &[(2, 3)]), [12]);
    assert_eq!(b.sack(0, &[(2, 4)]), [1]);
    assert_eq!((b.state(), b.sender.ssthresh()), (State::Recovery, 5.0));
    // 12 outstanding, 3 sacked, 1 lost and resent: pipe 9, then one for each two.
    assert_eq!(b.sender.pipe(), 9);
    let sent: Vec<usize> = (5..=10).map(|last| b.sack(0, &[(2, last)]).len()).collect();
    // ceil(5/10 * delivered) in all: delivered 1 at the start of recovery, 2 to 7 now; until the pipe is 5.
    assert_eq!(sent, [0, 1, 0, 1, 0, 0]);
    // The retransmission and what was sent meanwhile come back: to the threshold and up from there.
    b.at(300).ack(12);
    assert_eq!((b.state(), b.window()), (State::Open, (5.0, 5.0)));
    assert_eq!(b.sender.counters().fast_retransmits, 1);
    assert_eq!(b.sender.counters().retransmissions, 1);
}

#[test]
fn cubic_reduces_to_717_of_1024() {
    let mut b = Bench::open(cubic());
    b.at(200).sack(0, &[(2, 4)]);
    assert_eq!(b.sender.ssthresh(), 7.0);
}

#[test]
fn the_reordering_timer_finds_a_loss_with_one_segment_sacked() {
    let mut b = Bench::open(reno());
    b.at(200).sack(0, &[(2, 2)]);
    assert_eq!(b.expire(), [1]);
    assert_eq!((b.state(), b.now), (State::Recovery, Time::ZERO + Span::from_millis(227)));
}

#[test]
fn reordering_within_the_window_changes_nothing() {
    let mut b = Bench::open(reno());
    b.at(200).sack(0, &[(2, 3)]);
    assert_eq!(b.state(), State::Disorder);
    b.at(210).ack(3);
    assert_eq!((b.state(), b.sender.counters().retransmissions), (State::Open, 0));
    // From now on three sacked segments do not show a loss by themselves.
    b.sack(3, &[(5, 9)]);
    assert_eq!((b.state(), b.sender.counters().retransmissions), (State::Disorder, 0));
}

/// Linux's `tcp_may_raise_cwnd`.
#[test]
fn with_much_reordering_what_arrives_out_of_order_opens_the_window() {
    let mut b = Bench::open(reno());
    b.at(200).sack(0, &[(2, 3)]);
    b.at(210).ack(3);
    // Three segments overtook 1, which is not above the threshold of three.
    let cwnd = b.sender.cwnd();
    b.sack(3, &[(5, 9)]);
    assert_eq!(b.sender.cwnd(), cwnd, "out of order");
    // Six segments, from 4 to 9.
    b.at(220).ack(10);
    let cwnd = b.sender.cwnd();
    b.at(320).sack(10, &[(12, 13)]);
    assert_eq!((b.state(), b.sender.cwnd()), (State::Disorder, cwnd + 2.0));
}

#[test]
fn a_lost_retransmission_is_resent_by_its_time() {
    let mut b = Bench::open(reno());
    assert_eq!(b.at(200).sack(0, &[(2, 4)]), [1, 11], "ceil(3 * 5/10)");
    assert_eq!(b.sack(0, &[(2, 10)]), [12, 13, 14]);
    // 11 was sent later than the second copy of 1, and comes back: so would that.
    assert_eq!(b.at(300).sack(0, &[(2, 11)]), [1, 15], "pipe 3, threshold 5");
    assert_eq!(b.sender.counters().retransmissions, 2);
}

#[test]
fn without_rack_a_lost_retransmission_waits_for_the_timer() {
    let mut b = Bench::open(Config { rack: false, ..reno() });
    assert_eq!(b.at(200).sack(0, &[(2, 2)]), [11]);
    assert_eq!(b.timer(), 200.0, "no timer of RACK's, and the edge has not moved");
    assert_eq!(b.sack(0, &[(2, 3)]), [12]);
    assert_eq!(b.sack(0, &[(2, 4)]), [1]);
    let sent = b.sack(0, &[(2, 12)]);
    assert!(!sent.is_empty());
    let more = b.at(300).sack(0, &[(2, 13)]);
    assert!(!more.contains(&1));
    assert_eq!(b.expire()[0], 1);
    assert_eq!(b.sender.counters().timeouts, 1);
}

#[test]
fn without_prr_the_window_is_halved_at_once() {
    let mut b = Bench::open(Config { prr: false, ..reno() });
    b.at(200).sack(0, &[(2, 2)]);
    b.sack(0, &[(2, 3)]);
    assert_eq!(b.sack(0, &[(2, 4)]), [1], "whatever the pipe is");
    assert_eq!(b.window(), (5.0, 5.0));
    assert_eq!(b.sack(0, &[(2, 7)]), [] as [u64; 0]);
    assert_eq!(b.sack(0, &[(2, 8)]), [] as [u64; 0], "12 - 7 - 1 + 1 = 5");
    assert_eq!(b.sack(0, &[(2, 9)]), [13]);
}

#[test]
fn newreno_repairs_a_hole_a_round_trip() {
    let mut b = Bench::open(Config { sack: false, ..reno() });
    b.at(200);
    assert_eq!([b.ack(0), b.ack(0)], [[11], [12]], "limited transmit");
    assert_eq!(b.ack(0), [1]);
    assert_eq!(b.state(), State::Recovery);
    for _ in 0..5 {
        b.ack(0);
    }
    // 1 and 3 were lost: a partial acknowledgement.
    assert_eq!(b.at(300).ack(2)[0], 3);
    b.at(400).ack(12);
    assert_eq!(b.state(), State::Recovery, "until more than that is acknowledged");
    b.at(410).ack(13);
    assert_eq!((b.state(), b.sender.ssthresh()), (State::Open, 5.0));
}

#[test]
fn limited_transmit_can_be_off() {
    let mut b = Bench::open(Config { limited_transmit: false, ..reno() });
    assert_eq!(b.at(200).sack(0, &[(2, 2)]), [] as [u64; 0]);
    assert_eq!(b.sack(0, &[(2, 3)]), [] as [u64; 0]);
    assert_eq!(b.sack(0, &[(2, 4)]), [1]);
}

#[test]
fn a_time_out_begins_with_one_segment_and_doubles() {
    let mut b = Bench::open(Config { rack: false, ..reno() });
    assert_eq!(b.timer(), 300.0);
    let mut times = Vec::new();
    for _ in 0..4 {
        assert_eq!(b.expire(), [1]);
        times.push(b.now.secs());
    }
    assert_eq!(times, [0.4, 1.0, 2.2, 4.6], "300, 600, 1200, 2400 ms");
    assert_eq!((b.state(), b.window()), (State::Loss, (1.0, 5.0)));
    // F-RTO: the first answer sends new data if it may.
    b.echo = Some(b.now);
    assert_eq!(b.at(4700).ack(1), [11, 12]);
    assert_eq!(b.window(), (2.0, 5.0));
    // Nothing of the original comes: all is resent in slow start.
    assert_eq!(b.at(4800).sack(1, &[(11, 11)]), [2]);
    assert_eq!(b.at(4900).ack(2), [3, 4]);
}

#[test]
fn frto_takes_a_spurious_time_out_back() {
    let mut b = Bench::open(Config { rack: false, timestamps: false, ..reno() });
    assert_eq!(b.expire(), [1]);
    b.at(410);
    assert_eq!(b.ack(1), [11, 12]);
    b.ack(2);
    assert_eq!((b.state(), b.window()), (State::Open, (11.0, f64::INFINITY)));
    assert_eq!(b.sender.counters().retransmissions, 1);
}

#[test]
fn a_time_stamp_shows_a_time_out_to_be_spurious() {
    let mut b = Bench::open(Config { rack: false, frto: false, ..reno() });
    b.expire();
    b.echo = Some(Time::ZERO + Span::from_millis(100));
    b.at(410).ack(1);
    assert_eq!((b.state(), b.window()), (State::Open, (11.0, f64::INFINITY)));
    let mut b = Bench::open(Config { rack: false, frto: false, undo: false, ..reno() });
    b.expire();
    b.echo = Some(Time::ZERO + Span::from_millis(100));
    b.at(410).ack(1);
    assert_eq!(b.state(), State::Loss);
}

#[test]
fn duplicates_of_all_retransmissions_take_a_recovery_back() {
    let mut b = Bench::open(Config { timestamps: false, ..reno() });
    b.at(200).sack(0, &[(2, 4)]);
    assert_eq!(b.state(), State::Recovery);
    b.at(205).ack(4); // the original was late
    assert_eq!(b.state(), State::Recovery);
    b.at(300).sack(4, &[(1, 1)]);
    assert_eq!((b.state(), b.window().1), (State::Open, f64::INFINITY));
    assert!(b.sender.cwnd() >= 10.0);
}

#[test]
fn the_tail_is_probed_and_a_repair_reduces_the_window() {
    let mut b = Bench::new(reno(), Supply::Packets(10));
    b.start();
    assert_eq!(b.at(100).ack(0).len(), 10);
    b.at(200).ack(9); // 10 is lost
    // 2 SRTT + min_rto, but not later than the time-out of 100 + 200.
    assert_eq!(b.timer(), 300.0);
    let mut b = Bench::new(reno(), Supply::Packets(10));
    b.start();
    b.at(100).ack(0);
    b.at(200).ack(8); // 9 and 10 are lost
    assert_eq!(b.timer(), 202.0);
    assert_eq!(b.expire(), [10]);
    assert_eq!((b.state(), b.sender.cwnd()), (State::Open, 18.0));
    assert_eq!(b.at(502).sack(8, &[(10, 10)]), [9], "sent long before the probe");
    assert_eq!(b.at(602).ack(10), [] as [u64; 0]);
    assert!(b.sender.is_finished());
    assert_eq!((b.sender.counters().timeouts, b.sender.ssthresh()), (0, 9.0));
}

#[test]
fn the_last_segment_has_the_bytes_that_are_left() {
    let mut b = Bench::new(reno(), Supply::Bytes(2001));
    b.start();
    b.sent.clear();
    let (now, mut sent) = (b.now, Vec::new());
    let answer =
        |number: i32, sack| Ack { ts_echo: now, ack: number, bytes: 52, sack, ece: false, ..Ack::default() };
    let mut out = |data: Data| sent.push((data.seq, data.bytes));
    b.sender.on_ack(now, &answer(1, SackBlocks::EMPTY), &mut out);
    let mut tail = SackBlocks::EMPTY;
    tail.push(SackBlock { left: 2001, right: 2002 });
    b.sender.on_ack(now, &answer(1001, tail), &mut out);
    assert_eq!(b.sender.pipe(), 1, "the last one has arrived");
    b.sender.on_ack(now, &answer(2002, SackBlocks::EMPTY), &mut out);
    assert!(b.sender.is_finished());
    // Later data of the application follows it.
    b.sender.resume(now, &mut out);
    b.sender.on_ack(now, &answer(3002, SackBlocks::EMPTY), &mut out);
    let again = (1001, 1052);
    assert_eq!(sent[..6], [(1, 1052), (1001, 1052), (2001, 53), again, (2002, 1052), (3002, 1052)]);
    assert_eq!(b.sender.highest_ack(), 4);
}

#[test]
fn a_probe_of_one_lost_segment_reduces_the_window_without_recovery() {
    let mut b = Bench::new(Config { window: 20_000, ..reno() }, Supply::Packets(12));
    b.start();
    b.at(100).ack(0);
    b.at(200).ack(8);
    b.at(210).ack(10); // 11 and 12 are out
    assert_eq!(b.timer(), 204.5, "SRTT is 100 + 10/8");
    assert_eq!(b.expire(), [12]);
    // 12 had been lost, the probe repairs it: acknowledged once, no duplicate.
    b.at(512).ack(12);
    assert!(b.sender.is_finished());
    assert_eq!(b.sender.counters().retransmissions, 1);
}

#[test]
fn an_echo_reduces_the_window_once_a_round_trip() {
    let mut b = Bench::new(Config { ecn: EcnFeedback::Classic, ..reno() }, Supply::Greedy);
    b.start();
    b.at(100).take(0, &[], true); // granted
    b.sender.on_ack(b.now, &answer(b.now, 2, true), &mut |data| b.sent.push(data));
    assert_eq!((b.state(), b.sender.ssthresh()), (State::Reducing, 5.0));
    let cwr: Vec<bool> = b.sent.iter().map(Data::cwr).collect();
    assert_eq!(cwr.iter().filter(|&&cwr| cwr).count(), 1);
    assert!(b.sent.iter().all(|data| data.ect()));
    for last in 3..=11 {
        b.at(200 + u64::from(last as u32)).take(last, &[], last < 6);
    }
    b.at(220).ack(12);
    assert_eq!((b.state(), b.sender.cwnd()), (State::Open, 5.0));
    assert_eq!(b.sender.counters().ecn_responses, 1);
}

fn answer(now: Time, last: i32, ece: bool) -> Ack {
    Ack { ts_echo: now, ack: edge(last), bytes: 52, sack: SackBlocks::EMPTY, ece, ..Ack::default() }
}

#[test]
fn the_receivers_window_limits_and_congestion_control_waits() {
    let mut b = Bench::open(Config { window: 5000, ..reno() });
    assert_eq!(b.sender.max_seq(), 5);
    for last in 1..=20 {
        assert_eq!(b.at(200 + last as u64).ack(last), [last as u64 + 5]);
    }
    assert_eq!(b.sender.cwnd(), 10.0, "twice what is outstanding is not above it");
}

#[test]
fn a_pause_halves_the_window_for_each_time_out() {
    let mut b = Bench::open(reno());
    b.at(200).ack(10);
    assert_eq!(b.sender.cwnd(), 20.0);
    let now = b.now;
    b.sender.stop(now, &mut |_| ());
    b.at(300).ack(30);
    assert!(b.sender.is_finished());
    let cwnd = b.sender.cwnd();
    let rto = b.sender.rto().secs();
    assert_eq!((cwnd, rto), (40.0, 0.3));
    b.at(1000);
    let now = b.now;
    b.sender.resume(now, &mut |data| b.sent.push(data));
    // 800 ms since the last packet: 500 beyond the first time-out, so two halvings, not below ten.
    assert_eq!((b.sender.cwnd(), b.sender.ssthresh(), b.numbers().len()), (10.0, f64::INFINITY, 10));
}

#[test]
fn pacing_spreads_the_window_over_half_a_round_trip() {
    let mut b = Bench::new(Config { pacing: true, ..reno() }, Supply::Greedy);
    b.start();
    let mut times = Vec::new();
    let mut sent = b.at(100).ack(0).len();
    while sent < 14 && b.timer() < 50.0 {
        sent += b.expire().len();
        times.push((b.now.secs() * 1e6).round() / 1e3);
    }
    // Nine data packets and the SYN at once; then 100 ms / (2 * 10) between two.
    assert_eq!(times, [105.0]);
    assert_eq!(sent, 10);
}

#[test]
fn ledbat_takes_back_what_is_not_used() {
    let config = Config { mss: MSS as u32, ..Config::linux(CongestionControl::Ledbat) };
    let mut b = Bench::new(config, Supply::Packets(4));
    b.start();
    assert_eq!(b.at(100).ack(0), [1, 2, 3, 4]);
    b.at(200).ack(2);
    // RFC 6817, section 2.4.2: at most one more than the four that were in flight; the initial window was ten.
    assert_eq!(b.sender.cwnd(), 5.0);
}

#[test]
fn all_packets_of_dctcp_are_capable_once_it_is_granted() {
    let config = Config { mss: MSS as u32, ..Config::linux(CongestionControl::Dctcp) };
    let mut b = Bench::new(config, Supply::Greedy);
    let mut flags = Vec::new();
    b.sender.start(b.now, &mut |data| flags.push(data.ect()));
    b.at(100);
    b.sender.on_ack(b.now, &answer(b.now, 0, true), &mut |data| flags.push(data.ect()));
    b.now = b.sender.timer().unwrap().deadline;
    b.sender.on_timer(b.now, &mut |data| flags.push(data.ect()));
    assert_eq!(flags, [true; 12], "SYN, ten segments, and a probe");
}

#[test]
fn hystart_can_be_off() {
    for (hystart, ends) in [(HyStart::Off, false), (HyStart::Linux, true)] {
        let mut b = Bench::open(Config { hystart, ..cubic() });
        // A train of acknowledgements, 1 ms apart, that is longer than half the round trip.
        for last in 1..=60 {
            b.at(200 + last as u64).ack(last);
        }
        assert_eq!(b.sender.ssthresh() < f64::INFINITY, ends, "{hystart:?}");
    }
}
