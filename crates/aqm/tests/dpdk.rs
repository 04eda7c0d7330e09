//! RED as others test it: DPDK's `test_red` (F1 to F3) and Linux's selftest `sch_red.sh`.
//!
//! DPDK (`lib/sched/rte_red.h`) is RED in whole numbers: W = 2^-wq_log2, an average with ten binary digits behind the point, a
//! straight curve from min_th to max_th, no gentle part. In our switches it is
//!
//! | DPDK | ours |
//! |---|---|
//! | p_a = p_b/(2 - count p_b), with p_b = (avg - min)/((max - min) maxp_inv) | `spacing = "floyd93"`, `max_p` = 1/(2 maxp_inv) |
//! | an idle period is whole packets of 2^22 bytes, the arrival behind it no step | `at_idle = "integer"`, `idle_extra_step = false` |
//! | an early drop whatever waits | `guard_one = false` |
//! | count goes on below min_th | no switch: ours starts again there |
//!
//! Half of max_p makes the rate of drops that of the curve: gaps are uniform on 1 to 2/p_b, so the rate is
//! p_b/(1 + p_b/2). DPDK's tests allow half of p_b; here the rate is held to four standard errors.

mod common;

use aqmlab_aqm::red::AVERAGE;
use aqmlab_aqm::red::average::Average;
use aqmlab_aqm::{Discipline, Ecn, Qdisc, Value};
use aqmlab_units::{Span, Time};
use common::{Counting, build, gauge, packet, word};

const MIN: f64 = 32.0;
const MAX: f64 = 128.0;
/// Arrivals after which an average with W = 2^-9 rests.
const SETTLED: u32 = 20_000;
const MEASURED: u32 = 10_000;
/// Bytes of DPDK's packet of idle periods.
const PACKET: u64 = 1 << 22;

fn dpdk(max_th: f64, maxp_inv: f64) -> Discipline<u32> {
    let set = [
        ("dialect", word("floyd93")),
        ("at_idle", word("integer")),
        ("mode", word("packets")),
        ("min_th", Value::Packets(MIN)),
        ("max_th", Value::Packets(max_th)),
        ("max_p", Value::Number(0.5 / maxp_inv)),
        ("w_q", Value::Number(1.0 / 512.0)),
        ("mean_packet", Value::Bytes(PACKET)),
        ("limit", Value::Packets(1e6)),
    ];
    build("red", 10_000_000_000, &set)
}

/// One arrival at a queue of constant length: a departure follows each accepted packet.
fn arrive(queue: &mut Discipline<u32>, host: &mut Counting) {
    let before = host.drops();
    queue.enqueue(Time::ZERO, packet(0, 1000, Ecn::NotEct), host);
    if host.drops() == before {
        let _ = queue.dequeue(Time::ZERO, host);
    }
}

/// Drops among `MEASURED` arrivals at a queue that has had `level` packets for long.
fn drops_at(level: u32, maxp_inv: f64, seed: u64) -> u32 {
    let mut queue = dpdk(MAX, maxp_inv);
    let mut host = Counting::new(seed);
    while queue.backlog().packets < level {
        queue.enqueue(Time::ZERO, packet(0, 1000, Ecn::NotEct), &mut host);
    }
    (0..SETTLED).for_each(|_| arrive(&mut queue, &mut host));
    assert!((gauge(&queue, AVERAGE) - f64::from(level)).abs() < 0.01);
    let before = host.drops();
    (0..MEASURED).for_each(|_| arrive(&mut queue, &mut host));
    host.drops() - before
}

/// Checks a rate of drops against p, the probability that DPDK means.
fn rate_is(drops: u32, p: f64, label: &str) {
    let n = f64::from(MEASURED);
    let rate = f64::from(drops) / n;
    if p == 0.0 || p == 1.0 {
        assert_eq!(rate, p, "{label}");
        return;
    }
    assert!((rate - p).abs() <= 0.5 * p, "{label}: {rate}, DPDK allows half of {p}");
    // Gaps are uniform: their standard deviation is 1/sqrt(3) of their mean.
    let expected = p / (1.0 + p / 2.0);
    let error = (expected / n / 3.0).sqrt();
    assert!((rate - expected).abs() <= 4.0 * error + 1.0 / n, "{label}: {rate}, not {expected}");
}

#[test]
fn f1_drops_follow_the_average() {
    for level in (6..=144).step_by(6) {
        let average = f64::from(level);
        let p = if average >= MAX { 1.0 } else { 0.1 * ((average - MIN) / (MAX - MIN)).max(0.0) };
        rate_is(drops_at(level, 10.0, 1), p, &format!("average {level}"));
    }
}

#[test]
fn f2_drops_fall_with_the_inverse_of_max_p() {
    let drops: Vec<_> =
        (1..=10).map(|tens| (10.0 * f64::from(tens), drops_at(127, 10.0 * f64::from(tens), 2))).collect();
    for (maxp_inv, drops) in &drops {
        rate_is(*drops, (127.0 - MIN) / (MAX - MIN) / maxp_inv, &format!("maxp_inv {maxp_inv}"));
    }
    assert!(drops.windows(2).all(|pair| pair[1].1 < pair[0].1), "{drops:?}");
}

#[test]
fn f3_the_average_decays_while_the_queue_is_empty() {
    let mut queue = dpdk(1023.0, 10.0);
    let mut host = Counting::new(3);
    arrive(&mut queue, &mut host);
    let _ = queue.dequeue(Time::ZERO, &mut host);
    let Discipline::Red(red) = &mut queue else { panic!("a RED queue") };
    let Average::Ewma(average) = red.average_mut() else { panic!("a floating-point average") };
    average.set(1022.0);
    queue.enqueue(Time::ZERO + Span::from_millis(250), packet(0, 1000, Ecn::NotEct), &mut host);
    let packets = 0.25 * 10e9 / 8.0 / PACKET as f64;
    let real = 1022.0 * libm::pow(511.0 / 512.0, packets);
    let found = gauge(&queue, AVERAGE);
    assert!((found / real - 1.0).abs() < 0.05, "{found}, not {real}");
    assert!((found - 1022.0 * libm::pow(511.0 / 512.0, packets.floor())).abs() < 1e-9, "{found}");
}

/// Share of arrivals marked at a queue of Linux's RED that has `packets` of 1400 B for long: `min 30000 max 30001
/// probability 1 burst 38 avpkt 1400`, of which tc makes W = 2^-5.
fn marked_by_linux(packets: u32) -> f64 {
    let set = [
        ("dialect", word("linux")),
        ("mode", word("bytes")),
        ("min_th", Value::Bytes(30_000)),
        ("max_th", Value::Bytes(30_001)),
        ("max_p", Value::Number(1.0)),
        ("w_q", Value::Number(1.0 / 32.0)),
        ("mean_packet", Value::Bytes(1400)),
        ("limit", Value::Bytes(1_000_000)),
        ("ecn", Value::Flag(true)),
    ];
    let mut queue = build("red", 10_000_000, &set);
    let mut host = Counting::new(4);
    for _ in 0..packets {
        queue.enqueue(Time::ZERO, packet(0, 1400, Ecn::Ect), &mut host);
    }
    let mut step = |host: &mut Counting| {
        queue.enqueue(Time::ZERO, packet(0, 1400, Ecn::Ect), host);
        let _ = queue.dequeue(Time::ZERO, host);
    };
    (0..1000).for_each(|_| step(&mut host));
    let before = host.marks;
    (0..1000).for_each(|_| step(&mut host));
    assert_eq!(host.drops(), 0);
    f64::from(host.marks - before) / 1000.0
}

#[test]
fn linux_marks_above_the_limit_and_not_below() {
    // The selftest holds the backlog at two thirds and at three halves of min.
    assert_eq!(marked_by_linux(20_000 / 1400), 0.0);
    assert!(marked_by_linux(45_000 / 1400) >= 0.95);
}
