//! Senders of the RFC profile against scripts, in the manner of packetdrill.
//!
//! A line has a time in milliseconds, what happens, and behind `>` the packets that are sent then, by the numbers of
//! their segments (the SYN is 0). `ack N` acknowledges all up to segment N, behind `sack` stand runs beyond it, `ece` is
//! the echo of a mark. An acknowledgement echoes the time 100 ms ago, or the one behind `ts`. `timer` lets the timer
//! expire, which must be due at that time. `cwnd` and `ssthresh` at the end of a line are checked.

use std::sync::Arc;

use aqmlab_transport::rfc::{Config, CongestionControl, EcnFeedback, Sender};
use aqmlab_transport::{Ack, Data, SackBlock, SackBlocks, Supply};
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

fn edge(last: i32) -> i32 {
    1 + last * MSS as i32
}

fn acknowledgement(now: Time, words: &[&str]) -> Ack {
    let after = |key: &str| words.iter().position(|&word| word == key).map(|at| words[at + 1]);
    let mut sack = SackBlocks::EMPTY;
    for (first, last) in after("sack").map_or(Vec::new(), runs) {
        sack.push(SackBlock { left: edge(first - 1), right: edge(last) });
    }
    let echo = after("ts").map_or(Span::from_millis(100), |ms| {
        now.since(Time::ZERO + Span::from_millis(ms.parse().expect("ts")))
    });
    let last = after("ack").and_then(|n| n.parse().ok()).expect("ack");
    Ack {
        ts_echo: Time(now.0.saturating_sub(echo.0)),
        ack: edge(last),
        bytes: 52,
        sack,
        ece: words.contains(&"ece"),
        ..Ack::default()
    }
}

fn run(config: Config, supply: Supply, script: &str) {
    let mut sender = Sender::new(Arc::new(config), supply);
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (event, rest) = line.split_once('>').unwrap_or((line, ""));
        let words: Vec<&str> = event.split_whitespace().collect();
        let now = Time::from_secs(words[0].parse::<f64>().expect("time") * 1e-3);
        let mut sent: Vec<Data> = Vec::new();
        match words[1] {
            "start" => sender.start(now, &mut |data| sent.push(data)),
            "timer" => {
                let due = sender.timer().map(|timer| timer.deadline);
                assert_eq!(due, Some(now), "{line}");
                sender.on_timer(now, &mut |data| sent.push(data));
            }
            _ => sender.on_ack(now, &acknowledgement(now, &words), &mut |data| sent.push(data)),
        }
        let (packets, checks) = rest.split_once('|').unwrap_or((rest, ""));
        let expected: Vec<u32> = packets
            .split_whitespace()
            .flat_map(runs)
            .flat_map(|(first, last)| first as u32..=last as u32)
            .collect();
        let numbers: Vec<u32> =
            sent.iter().map(|data| if data.seq == 0 { 0 } else { 1 + (data.seq - 1) / MSS }).collect();
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
