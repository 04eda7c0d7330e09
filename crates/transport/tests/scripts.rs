//! Senders of all profiles against scripts, in the manner of packetdrill: losses, reordering, duplicates and delay spikes.
//!
//! A line has a time in milliseconds, what happens, and behind `>` the packets that are sent then, by the numbers of
//! their segments (the SYN is 0). `ack N` acknowledges all up to segment N, behind `sack` stand runs beyond it, `ece` is
//! the echo of a mark. An acknowledgement echoes the time 100 ms ago, the one behind `ts`, or the time stamp of the segment
//! behind `of` as it was sent last; `first` means as it was sent first. `held` has the milliseconds for which it was held back. `timer`
//! lets the timer expire, which must be due at that time. `cwnd` and `ssthresh` at the end of a line are checked.

use std::sync::Arc;

use aqmlab_transport::ns2::{self, Variant};
use aqmlab_transport::rfc::{self, Config, CongestionControl, EcnFeedback};
use aqmlab_transport::{Ack, Data, SackBlock, SackBlocks, Sender, Supply, TcpConfig};
use aqmlab_units::{Span, Time};

const MSS: u32 = 1000;

fn config(cc: CongestionControl) -> Config {
    Config { mss: MSS, ..Config::linux(cc) }
}

/// `3` or `3-5`, comma between.
fn runs(text: &str) -> Vec<(i32, i32)> {
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("number {text}"));
    text.split(',')
        .map(|run| {
            let (first, last) = run.split_once('-').unwrap_or((run, run));
            (number(first), number(last))
        })
        .collect()
}

fn reno() -> Config {
    config(CongestionControl::Reno)
}

fn quic() -> Config {
    Config { mss: MSS, ..Config::quic(CongestionControl::Reno) }
}

/// How segments are numbered on the wire: in bytes, or in packets.
#[derive(Clone, Copy)]
struct Wire {
    in_bytes: bool,
}

impl Wire {
    /// The number of a segment from that of its packet.
    fn segment(self, seq: u32) -> u32 {
        if self.in_bytes && seq > 0 { 1 + (seq - 1) / MSS } else { seq }
    }

    /// The number that acknowledges all up to a segment.
    fn acknowledges(self, last: i32) -> i32 {
        if self.in_bytes { edge(last) } else { last }
    }

    /// The edge of a run after a segment.
    fn after(self, last: i32) -> i32 {
        if self.in_bytes { edge(last) } else { last + 1 }
    }
}

fn edge(last: i32) -> i32 {
    1 + last * MSS as i32
}

fn acknowledgement(wire: Wire, now: Time, words: &[&str], sent: &[(u32, Time)]) -> Ack {
    let after = |key: &str| words.iter().position(|&word| word == key).map(|at| words[at + 1]);
    let stamps = |key| {
        let k: u32 = after(key)?.parse().expect("a segment");
        Some(sent.iter().filter(move |one| one.0 == k).map(|one| one.1))
    };
    let stamp = stamps("of").and_then(Iterator::last).or(stamps("first").and_then(|mut all| all.next()));
    let mut sack = SackBlocks::EMPTY;
    for (first, last) in after("sack").map_or(Vec::new(), runs) {
        sack.push(SackBlock { left: wire.after(first - 1), right: wire.after(last) });
    }
    let echo = after("ts").map_or(Span::from_millis(100), |ms| {
        now.since(Time::ZERO + Span::from_millis(ms.parse().expect("ts")))
    });
    let last = after("ack").and_then(|n| n.parse().ok()).expect("ack");
    Ack {
        ts_echo: stamp.unwrap_or(Time(now.0.saturating_sub(echo.0))),
        ack: wire.acknowledges(last),
        bytes: 52,
        sack,
        ece: words.contains(&"ece"),
        stamp: Time::from_secs(after("held").map_or(0.0, |ms| ms.parse::<f64>().expect("ms") * 1e-3)),
        ..Ack::default()
    }
}

fn run(config: Config, supply: Supply, script: &str) {
    run_any(&TcpConfig::Rfc(Arc::new(config)), supply, script);
}

fn run_any(config: &TcpConfig, supply: Supply, script: &str) {
    let wire = Wire { in_bytes: matches!(config, TcpConfig::Rfc(_)) };
    // Time stamps of QUIC are picoseconds apart, and so are times that follow from them.
    let tolerance = match config {
        TcpConfig::Rfc(config) if config.is_quic() => Span(1000),
        _ => Span::ZERO,
    };
    let mut all = Vec::new();
    let mut sender = match config {
        TcpConfig::Ns2(config) => Sender::Ns2(ns2::Sender::new(config.clone(), supply, 0.0).into()),
        TcpConfig::Rfc(config) => Sender::Rfc(rfc::Sender::new(config.clone(), supply).into()),
    };
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (event, rest) = line.split_once('>').unwrap_or((line, ""));
        let words: Vec<&str> = event.split_whitespace().collect();
        let now = Time::from_secs(words[0].parse::<f64>().expect("time") * 1e-3);
        let mut sent: Vec<Data> = Vec::new();
        match words[1] {
            "start" => sender.start(now, &mut |data| sent.push(data)),
            "timer" => {
                let due = sender.timer().map(|timer| timer.deadline).expect(line);
                assert!(due.since(now).max(now.since(due)) <= tolerance, "{line}: {due:?}");
                sender.on_timer(due, &mut |data| sent.push(data));
            }
            _ => {
                let ack = acknowledgement(wire, now, &words, &all);
                sender.on_ack(now, &ack, &mut |data| sent.push(data));
            }
        }
        all.extend(sent.iter().map(|data| (wire.segment(data.seq), data.sent)));
        let (packets, checks) = rest.split_once('|').unwrap_or((rest, ""));
        let expected: Vec<u32> = packets
            .split_whitespace()
            .flat_map(runs)
            .flat_map(|(first, last)| first as u32..=last as u32)
            .collect();
        let numbers: Vec<u32> = sent.iter().map(|data| wire.segment(data.seq)).collect();
        assert_eq!(numbers, expected, "{line}");
        let checks: Vec<&str> = checks.split_whitespace().collect();
        for check in checks.chunks(2) {
            let found = if check[0] == "cwnd" { sender.cwnd() } else { sender.ssthresh() };
            assert_eq!(found.to_string(), check[1], "{line}");
        }
    }
}

#[test]
fn one_loss_in_the_initial_window() {
    // The acknowledgement that ends recovery opens the window already: 1 and 2 and 2 segments make 5.
    let script = "
          0 start                 > 0
        100 ack 0                 > 1-10    | cwnd 10 ssthresh inf
        200 ack 0 sack 2          > 11
        201 ack 0 sack 2-3        > 12
        202 ack 0 sack 2-4        > 1       | ssthresh 5
        203 ack 0 sack 2-5        >
        204 ack 0 sack 2-6        > 13
        205 ack 0 sack 2-7        >
        206 ack 0 sack 2-8        > 14
        207 ack 0 sack 2-9        >
        208 ack 0 sack 2-10       >         | cwnd 5
        300 ack 0 sack 2-11       > 15
        301 ack 0 sack 2-12       > 16
        302 ack 12                > 17      | cwnd 5 ssthresh 5
        400 ack 14                > 18-19   | cwnd 5
        401 ack 16                > 20-22   | cwnd 6
        402 ack 17                > 23      | cwnd 6
    ";
    run(config(CongestionControl::Reno), Supply::Greedy, script);
}

#[test]
fn a_whole_window_is_lost() {
    let script = "
          0 start                 > 0
        100 ack 0                 > 1-10
        302 timer                 > 11      | cwnd 10
        602 timer                 > 1       | cwnd 1 ssthresh 5
       1202 timer                 > 1       | cwnd 1 ssthresh 5
       1302 ack 1 ts 1202         > 12-13   | cwnd 2 ssthresh 5
       1402 ack 1 sack 12 ts 1302 > 2
       1403 ack 1 sack 12-13 ts 1302 > 3
       1502 ack 2 ts 1402         > 4-5     | cwnd 3
       1503 ack 3 ts 1403         > 6-7     | cwnd 4
    ";
    run(config(CongestionControl::Reno), Supply::Greedy, script);
}

#[test]
fn the_last_segment_is_lost() {
    // Round-trip times are 100 ms: the probe is due 2 * 100 + 200 ms behind the last acknowledgement, for one segment, and
    // the time-out, 100 + 200, comes before.
    let script = "
          0 start                 > 0
        100 ack 0                 > 1-5
        200 ack 4                 >
        500 timer                 > 5
        600 ack 5 ts 500          >         | cwnd 10
    ";
    run(config(CongestionControl::Reno), Supply::Packets(5), script);
}

#[test]
fn a_mark_in_the_initial_window() {
    // Of ten segments ceil(7/10 * delivered) are replaced until seven are in flight. The reduction ends when more than they is acknowledged.
    let script = "
          0 start                 > 0
        100 ack 0 ece             > 1-10
        200 ack 2 ece             > 11-12   | ssthresh 7
        201 ack 4 ece             > 13
        202 ack 6 ece             >
        203 ack 8                 > 14-15
        204 ack 10                > 16-17   | cwnd 7 ssthresh 7
        300 ack 11                > 18      | cwnd 7
    ";
    run(Config { ecn: EcnFeedback::Classic, ..config(CongestionControl::Cubic) }, Supply::Greedy, script);
}

/// RFC 8985, section 6.2, step 4: a quarter of the least round-trip time, 25 ms, until three segments are sacked; afterwards too, once
/// reordering was seen.
#[test]
fn reordering_within_racks_window_is_no_loss() {
    let script = "
          0 start                 > 0
        100 ack 0                 > 1-10
        200 ack 0 sack 2          > 11
        201 ack 0 sack 2-3        > 12
        220 ack 3                 > 13-14   | cwnd 11
        221 ack 3 sack 5-9        > 15-19
        240 ack 12                > 20-27   | cwnd 15 ssthresh inf
    ";
    run(reno(), Supply::Greedy, script);
}

/// RFC 8985, section 6.2, step 5, and RFC 4015: a segment that is later than the window is resent, and its time stamp takes the reduction
/// back.
#[test]
fn reordering_beyond_racks_window_is_a_loss_that_is_taken_back() {
    let script = "
          0 start                 > 0
        100 ack 0                 > 1-10
        200 ack 0 sack 2          > 11
        227 timer                 > 1       | ssthresh 5
        240 ack 2 ts 100          > 12-13   | cwnd 11 ssthresh inf
        250 ack 3 ts 100          > 14-15   | cwnd 12
    ";
    run(reno(), Supply::Greedy, script);
}

/// RFC 8985, section 6.2, step 4: a report of a duplicate (DSACK) doubles the window. Segment 3 is lost 50 + 2 ms after its answer was
/// due, not 25 + 2.
#[test]
fn a_duplicate_widens_racks_window() {
    let script = "
          0 start                 > 0
        100 ack 0                 > 1-10
        200 ack 0 sack 2          > 11
        227 timer                 > 1
        240 ack 2                 >
        327 ack 2 sack 1          > 12
        350 ack 2 sack 4          > 13
        402 timer                 > 3
    ";
    run(Config { timestamps: false, ..reno() }, Supply::Greedy, script);
}

/// RFC 5682, section 3.1: after a spurious time-out new data is sent, and the answers to the originals take it back.
#[test]
fn a_delay_spike_is_found_by_frto() {
    let script = "
          0 start                 > 0
        100 ack 0                 > 1-10
        302 timer                 > 11
        602 timer                 > 1       | cwnd 1 ssthresh 5
        650 ack 1                 > 12-13   | cwnd 2
        651 ack 2                 >         | cwnd 11 ssthresh inf
    ";
    run(Config { timestamps: false, ..reno() }, Supply::Greedy, script);
}

/// RFC 3522: the time stamp of the first answer takes it back.
#[test]
fn a_delay_spike_is_found_by_time_stamps() {
    let script = "
          0 start                 > 0
        100 ack 0                 > 1-10
        302 timer                 > 11
        602 timer                 > 1       | cwnd 1 ssthresh 5
        650 ack 1 ts 100          > 12      | cwnd 11 ssthresh inf
        651 ack 2 ts 100          > 13-14   | cwnd 12
    ";
    run(Config { frto: false, ..reno() }, Supply::Greedy, script);
}

#[test]
fn without_both_a_delay_spike_costs_a_window() {
    let script = "
          0 start                 > 0
        100 ack 0                 > 1-10
        302 timer                 > 11
        602 timer                 > 1       | cwnd 1 ssthresh 5
        650 ack 1                 > 2-3
        651 ack 2                 > 4-5     | cwnd 3 ssthresh 5
    ";
    run(Config { frto: false, timestamps: false, ..reno() }, Supply::Greedy, script);
}

/// RFC 9002, section 6.1.1: segment 1 is three packets before the largest.
#[test]
fn quic_finds_a_loss_by_packets() {
    let script = "
          0 start                 > 0
        100 ack 0                 > 1-10
        200 ack 0 sack 2 of 2     > 11-12
        201 ack 0 sack 2-3 of 3   > 13-14
        202 ack 0 sack 2-4 of 4   > 1       | ssthresh 6
        203 ack 0 sack 2-5 of 5   >
        301 ack 0 sack 2-12 of 12 > 15-17   | cwnd 6
        302 ack 14 of 1           > 18-20   | cwnd 6
        403 ack 15 of 15          > 21
    ";
    run(quic(), Supply::Greedy, script);
}

/// RFC 9002, section 6.1.2: 9/8 of the round-trip time of 100 ms after it was sent.
#[test]
fn quic_finds_a_loss_by_time() {
    let script = "
          0 start                 > 0
        100 ack 0                 > 1-2
        200 ack 0 sack 2 of 2     >
        212.5 timer               > 1       | ssthresh 5
        312.5 ack 2 of 1          >         | cwnd 5
    ";
    run(quic(), Supply::Packets(2), script);
}

/// RFC 9002, section 6.1.1: packets that overtake by one or two are no loss.
#[test]
fn quic_takes_reordering_by_two_packets_for_no_loss() {
    let script = "
          0 start                 > 0
        100 ack 0                 > 1-10
        200 ack 0 sack 2-3 of 3   > 11-14
        201 ack 3 of 3            > 15-16
    ";
    run(quic(), Supply::Greedy, script);
}

/// RFC 9002 has no way to take a reduction back: the late original of segment 1 leaves the window halved.
#[test]
fn quic_keeps_the_reduction_of_a_spurious_loss() {
    let script = "
          0 start                 > 0
        100 ack 0                 > 1-10
        200 ack 0 sack 2-4 of 4   > 1 11    | ssthresh 5
        201 ack 4 of 4            >
        300 ack 11 of 11          > 12-16   | cwnd 5 ssthresh 5
    ";
    run(quic(), Supply::Greedy, script);
}

/// RFC 9002, sections 6.2.1 and 6.2.4: SRTT + 4 RTTVAR + max_ack_delay = 100 + 200 + 25 ms after the last packet, doubled; nothing is
/// lost, so that a delay spike needs no repair.
#[test]
fn quic_probes_in_a_delay_spike_and_takes_nothing_for_lost() {
    let script = "
          0 start                 > 0
        100 ack 0                 > 1-10
        425 timer                 > 11
       1075 timer                 > 12
       1100 ack 1 of 1            >         | cwnd 11
       1101 ack 10 of 10          > 13-30   | cwnd 20 ssthresh inf
    ";
    run(quic(), Supply::Greedy, script);
}

/// RFC 9002, section 5.3: of 140 ms the receiver held 20 ms, so that SRTT = 7/8 100 + 1/8 120, RTTVAR = 3/4 50 + 1/4 20, and the probe is
/// due after 102.5 + 170 + 25 ms. Without new data it repeats the first outstanding segment.
#[test]
fn quic_leaves_out_the_delay_of_an_acknowledgement() {
    let script = "
          0 start                 > 0
        100 ack 0                 > 1-3
        240 ack 1 of 1 held 20    >
      397.5 timer                 > 2
    ";
    run(quic(), Supply::Packets(3), script);
}

/// RFC 9002, section 7.6: packets are lost that were sent over 975 ms; 3 PTO are 3 (100 + 150 + 25) ms. The window of 2 grows by the
/// packet acknowledged.
#[test]
fn quic_collapses_its_window_in_persistent_congestion() {
    let script = "
          0 start                 > 0
        100 ack 0                 > 1-10
        425 timer                 > 11
       1075 timer                 > 12
       2375 timer                 > 13
       2475 ack 0 sack 13 of 13   > 1-3     | cwnd 3 ssthresh 5
    ";
    run(quic(), Supply::Greedy, script);
}

/// ns-2's NUMDUPACKS, and RFC 5681, section 3.2: the third duplicate acknowledgement; those before send new data (RFC 3042).
#[test]
fn the_third_duplicate_shows_a_loss_to_ns2() {
    for variant in [Variant::Tahoe, Variant::Reno, Variant::NewReno, Variant::Sack] {
        let config = ns2::Config { window: 20.0, ..ns2::Config::ns2(variant) };
        let script = "
          0 start                 > 0
        100 ack 0                 > 1-2
        200 ack 1                 > 3-4
        201 ack 2                 > 5-6
        300 ack 2 sack 4          > 7
        301 ack 2 sack 4-5        > 8
        302 ack 2 sack 4-6        > 3       | ssthresh 2
        ";
        run_any(&TcpConfig::Ns2(Arc::new(config)), Supply::Greedy, script);
    }
}
