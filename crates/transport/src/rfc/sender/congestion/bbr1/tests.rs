//! BBR version 1 against samples written by hand.

use super::*;
use crate::rfc::CongestionControl;

const RTT: Span = Span::from_millis(100);

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn bbr1() -> Bbr1 {
    let mut b = Bbr1::new(&Config::linux(CongestionControl::Bbr1));
    b.open(ms(100), 1, Some(RTT));
    b
}

/// In ProbeBW, with 500 segments a second: a BDP of 50. The send quantum is two segments.
fn steady(phase: usize) -> Bbr1 {
    let mut b = bbr1();
    b.full_pipe = FullPipe::from_rate(500.0);
    for _ in 0..3 {
        b.full_pipe.update(500.0);
    }
    b.max_rate.update(500.0);
    b.state = State::ProbeBw(phase);
    b.phase_stamp = ms(1000);
    b.set_pacing_rate(1.0);
    b
}

fn window(cwnd: f64) -> Window {
    let mut window = Window::new(None, true);
    window.cwnd = cwnd;
    window
}

fn sample(rate: f64, prior_delivered: u64) -> Sample {
    Sample { rate: Some(rate), prior_delivered, ..Sample::default() }
}

fn acked(at: u64, in_flight: u64) -> Acked {
    Acked {
        now: ms(at),
        delivered: 1,
        marked: 0,
        rtt: Some(RTT),
        least: RTT,
        in_flight,
        cwnd_limited: true,
        repairs: false,
        calm: true,
    }
}

#[test]
fn the_first_pace_is_2_885_initial_windows_a_round_trip() {
    let b = bbr1();
    assert!((b.pacing_rate - 288.5).abs() < 1e-9);
    assert_eq!(b.cwnd_gain(), 2.885);
    assert!((2.0 / core::f64::consts::LN_2 - 2.885).abs() < 0.001, "twice the rate each round");
}

#[test]
fn the_greatest_rate_is_forgotten_after_ten_rounds() {
    let mut b = bbr1();
    for round in 0..12 {
        let rate = if round == 1 { 900.0 } else { 500.0 };
        b.deliveries.delivered += 10;
        b.update_bw(&sample(rate, 10 * round), ms(100 * round), 0);
        let expected = if (1..11).contains(&round) { 900.0 } else { 500.0 };
        assert_eq!(b.max_rate.get(), expected, "round {round}");
    }
}

#[test]
fn samples_limited_by_the_application_count_only_as_maxima() {
    let mut b = bbr1();
    let limited = |rate| Sample { app_limited: true, ..sample(rate, 1000) };
    b.update_bw(&sample(500.0, 1000), ms(1), 0);
    b.max_rate.advance(b.rounds.count + 9);
    b.update_bw(&limited(400.0), ms(2), 0);
    assert_eq!(b.max_rate.rounds.iter().filter(|rate| **rate > 0.0).count(), 1);
    b.update_bw(&limited(600.0), ms(3), 0);
    assert_eq!(b.max_rate.get(), 600.0);
}

#[test]
fn startup_ends_after_three_rounds_with_less_than_a_quarter_more() {
    let mut b = bbr1();
    b.rounds.start = true;
    for (rate, full) in [(100.0, false), (125.0, false), (150.0, false), (150.0, false), (156.0, true)] {
        b.max_rate.update(rate);
        b.check_full_pipe(&sample(rate, 0));
        assert_eq!(b.is_full(), full, "{rate}");
    }
    b.check_drain(&acked(500, 40));
    assert_eq!((b.state, b.pacing_gain(), b.cwnd_gain()), (State::Drain, 1.0 / 2.885, 2.885));
    // The BDP is 15.6, three quanta of two segments are six.
    b.check_drain(&acked(600, 22));
    assert_eq!(b.state, State::Drain);
    b.check_drain(&acked(600, 21));
    assert!(matches!(b.state, State::ProbeBw(_)));
}

#[test]
fn probe_bw_begins_in_any_phase_but_the_one_that_drains() {
    let mut b = steady(0);
    let mut seen = [0; 8];
    for t in 0..700 {
        b.enter_probe_bw(ms(t));
        let State::ProbeBw(phase) = b.state else { panic!("{:?}", b.state) };
        seen[phase] += 1;
    }
    assert_eq!(seen[1], 0);
    assert!((0..8).filter(|k| *k != 1).all(|k| (60..140).contains(&seen[k])), "{seen:?}");
}

#[test]
fn a_cycle_has_a_gain_of_1_25_then_0_75_then_six_times_1() {
    let gains: Vec<_> = (0..8).map(|phase| steady(phase).pacing_gain()).collect();
    assert_eq!(gains, [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    let mut b = steady(7);
    b.update_cycle_phase(&acked(1101, 50), 0);
    assert_eq!(b.state, State::ProbeBw(0));
}

#[test]
fn phases_last_a_round_trip_and_until_their_aim_is_reached() {
    // Probing: 1.25 * 50 + 6 = 68.5 in flight before the acknowledgement, or a loss.
    let mut b = steady(0);
    b.update_cycle_phase(&acked(1100, 80), 0);
    b.update_cycle_phase(&acked(1101, 67), 0);
    assert_eq!(b.state, State::ProbeBw(0), "the round trip, then 68 segments");
    b.update_cycle_phase(&acked(1101, 68), 0);
    assert_eq!((b.state, b.phase_stamp), (State::ProbeBw(1), ms(1101)));
    let mut b = steady(0);
    b.update_cycle_phase(&acked(1101, 40), 1);
    assert_eq!(b.state, State::ProbeBw(1), "a loss");
    // Draining: 50 + 6 in flight, or a round trip.
    let mut b = steady(1);
    b.update_cycle_phase(&acked(1050, 56), 0);
    assert_eq!(b.state, State::ProbeBw(1));
    b.update_cycle_phase(&acked(1050, 55), 0);
    assert_eq!(b.state, State::ProbeBw(2));
    let mut b = steady(1);
    b.update_cycle_phase(&acked(1101, 90), 0);
    assert_eq!(b.state, State::ProbeBw(2));
}

#[test]
fn the_window_is_two_bdps_and_three_quanta() {
    let mut b = steady(2);
    let mut w = window(104.0);
    b.set_cwnd(&mut w, &acked(1001, 50), 0);
    assert_eq!(w.cwnd, 105.0, "by what arrives");
    b.set_cwnd(&mut w, &Acked { delivered: 5, ..acked(1001, 50) }, 0);
    assert_eq!(w.cwnd, 106.0, "2 * 50 + 3 * 2");
    assert_eq!(b.gap(&w, None), Some(Span::from_millis(2)));
}

#[test]
fn send_quantum_by_rate() {
    let mut b = bbr1();
    // 1.2 Mb/s are 103.6 segments of 1448 B a second, 24 Mb/s 2071.8.
    for (rate, quantum) in [(103.0, 1.0), (104.0, 2.0), (2071.0, 2.0), (10_000.0, 10.0)] {
        b.pacing_rate = rate;
        assert_eq!(b.quantum(), quantum, "{rate}");
    }
    b.pacing_rate = 1e6;
    assert_eq!(b.quantum(), 65_536.0 / 1448.0);
}

#[test]
fn a_probe_of_the_round_trip_time_lasts_200_ms_with_four_segments_after_10_s() {
    let mut b = steady(2);
    let mut w = window(106.0);
    let slow = |at, in_flight| Acked { rtt: Some(Span::from_millis(150)), ..acked(at, in_flight) };
    let step = |b: &mut Bbr1, w: &mut Window, ack: Acked| {
        b.update_min_rtt(w, &ack);
        if b.state == State::ProbeRtt {
            b.handle_probe_rtt(w, &ack);
        }
        b.set_cwnd(w, &ack, 0);
    };
    step(&mut b, &mut w, acked(5000, 60));
    step(&mut b, &mut w, slow(15_000, 60));
    assert_eq!((b.state, b.min_rtt), (State::ProbeBw(2), Some(RTT)), "met 10 s ago");
    step(&mut b, &mut w, slow(15_001, 60));
    assert_eq!((b.state, b.min_rtt, w.cwnd), (State::ProbeRtt, Some(Span::from_millis(150)), 4.0));
    step(&mut b, &mut w, slow(15_100, 4));
    b.rounds.start = true;
    step(&mut b, &mut w, slow(15_300, 4));
    assert_eq!(b.state, State::ProbeRtt);
    step(&mut b, &mut w, acked(15_301, 4));
    assert!(matches!(b.state, State::ProbeBw(_)));
    assert_eq!((b.min_rtt, b.min_rtt_stamp, w.cwnd), (Some(RTT), ms(15_301), 106.0));
}

#[test]
fn the_first_round_of_a_recovery_conserves_packets_and_its_end_restores_the_window() {
    let mut b = steady(2);
    let mut w = window(106.0);
    b.reduce(&w, Cause::Loss);
    let repairs = Acked { repairs: true, ..acked(1001, 80) };
    b.set_cwnd(&mut w, &repairs, 3);
    assert_eq!(w.cwnd, 81.0, "in flight and arrived");
    b.set_cwnd(&mut w, &Acked { in_flight: 79, ..repairs }, 2);
    assert_eq!(w.cwnd, 80.0, "81 less 2 lost, and at least what is in flight and arrived");
    b.conserves_packets = false;
    b.set_cwnd(&mut w, &Acked { in_flight: 79, delivered: 2, ..repairs }, 0);
    assert_eq!(w.cwnd, 82.0, "slow start in the next round");
    b.set_cwnd(&mut w, &acked(1200, 70), 0);
    assert_eq!(w.cwnd, 106.0);
}

#[test]
fn losses_leave_rate_and_pace_alone() {
    let mut b = steady(2);
    b.note_lost(&window(106.0), ms(1001), &[1, 2, 3]);
    let ssthresh = b.reduce(&window(106.0), Cause::Loss);
    assert!(ssthresh.is_infinite() && b.bw() == 500.0 && b.pacing_rate == 500.0);
}

#[test]
fn behind_a_policer_the_pace_is_its_rate() {
    let mut b = steady(0);
    let mut lost = 0;
    for round in 0..9 {
        b.deliveries.delivered += 20;
        b.deliveries.lost = lost;
        b.update_bw(&sample(500.0, b.rounds.next), ms(100 * round), 5);
        lost += 5;
    }
    assert_eq!((b.bw(), b.pacing_gain()), (200.0, 1.0), "20 in 100 ms, a fifth of them lost");
}

#[test]
fn a_time_out_measures_the_path_again_only_in_startup() {
    let mut b = steady(2);
    b.on_timeout(&window(1.0), ms(2000), 7);
    assert!(b.is_full());
    let mut b = bbr1();
    b.full_pipe.update(100.0);
    b.on_timeout(&window(1.0), ms(2000), 7);
    b.full_pipe.update(10.0);
    assert!(!b.is_full() && b.repairing);
}
