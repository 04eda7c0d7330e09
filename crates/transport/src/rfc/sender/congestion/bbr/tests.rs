//! BBR against samples written by hand.

use super::*;
use crate::rfc::CongestionControl;

const RTT: Span = Span::from_millis(100);

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn bbr() -> Bbr {
    let mut bbr = Bbr::new(&Config::linux(CongestionControl::Bbr));
    bbr.open(ms(100), 1, Some(RTT));
    bbr
}

fn window(cwnd: f64) -> Window {
    let mut window = Window::new(None, true);
    window.cwnd = cwnd;
    window
}

fn sample(rate: f64, in_flight: f64, lost: f64) -> Sample {
    Sample { rate: Some(rate), delivered: 10.0, prior_delivered: 0, lost, in_flight, ..Sample::default() }
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
fn the_first_pace_is_the_initial_window_s() {
    // 2.77 * 10 / 0.1 s.
    let b = bbr();
    assert!((b.pacing_rate - 277.0).abs() < 1e-9);
    assert_eq!(pacing_gap(b.pacing_rate), Some(Span::from_secs(1.0 / 277.0)));
}

#[test]
fn startup_ends_after_three_rounds_without_growth() {
    let mut b = bbr();
    b.rounds.start = true;
    for (rate, done) in [(100.0, false), (125.0, false), (150.0, false), (150.0, false), (155.0, true)] {
        b.check_full_bw(&sample(rate, 10.0, 0.0));
        assert_eq!(b.full_bw_reached, done, "{rate}");
    }
    b.check_startup_done(&sample(155.0, 10.0, 0.0), &acked(500, 30));
    assert_eq!((b.state, b.pacing_gain()), (State::Drain, 0.5));
}

#[test]
fn a_round_of_many_losses_ends_startup() {
    let mut b = bbr();
    b.losses.round_start = true;
    b.losses.events = 6;
    b.losses.inflight_latest = 40.0;
    let ack = Acked { repairs: true, ..acked(500, 30) };
    b.check_startup_done(&sample(100.0, 50.0, 1.0), &ack);
    assert_eq!(b.state, State::Startup, "2 % are tolerated, and the count restarts");
    b.losses.events = 6;
    b.check_startup_done(&sample(100.0, 50.0, 2.0), &ack);
    assert_eq!((b.state, b.inflight_longterm), (State::Drain, 40.0));
}

#[test]
fn drain_ends_with_a_bdp_in_flight() {
    let mut b = bbr();
    b.state = State::Drain;
    b.bw = 500.0;
    b.check_drain_done(&acked(500, 51));
    assert_eq!(b.state, State::Drain, "the BDP is 50");
    b.check_drain_done(&acked(500, 50));
    assert_eq!((b.state, b.pacing_gain()), (State::Down, 0.9));
}

#[test]
fn window_and_pace_by_the_model() {
    let mut b = bbr();
    b.full_bw_reached = true;
    b.state = State::Cruise;
    b.bw = 500.0;
    b.set_pacing_rate(1.0);
    assert!((b.pacing_rate - 495.0).abs() < 1e-9);
    let mut w = window(99.0);
    b.set_cwnd(&mut w, 5.0);
    assert_eq!(w.cwnd, 100.0, "2 * 50");
    b.inflight_longterm = 80.0;
    b.set_cwnd(&mut w, 1.0);
    assert_eq!(w.cwnd, 68.0, "85 %");
    b.state = State::Up;
    w.cwnd = 200.0;
    b.inflight_longterm = f64::INFINITY;
    b.set_cwnd(&mut w, 1.0);
    assert_eq!(w.cwnd, 114.5, "2.25 * 50 + 2");
    b.state = State::ProbeRtt;
    b.set_cwnd(&mut w, 1.0);
    assert_eq!(w.cwnd, 25.0);
}

#[test]
fn losses_bound_the_short_term_to_what_was_delivered() {
    let mut b = bbr();
    b.state = State::Cruise;
    b.max_bw = [0.0, 1000.0];
    b.losses.reset();
    b.deliveries.note_sent(ms(0), 7, 7, 20);
    b.note_losses(&window(100.0), ms(100), &[7]);
    b.update_latest_signals(&sample(650.0, 90.0, 1.0));
    assert!(b.losses.round_start);
    b.update_congestion_signals(&window(100.0));
    assert_eq!((b.bw_shortterm, b.inflight_shortterm), (700.0, 70.0));
    b.undo(&mut window(50.0));
    assert!(b.bw_shortterm.is_infinite() && b.inflight_shortterm.is_infinite());
}

#[test]
fn losses_while_probing_bound_the_long_term() {
    let mut b = bbr();
    b.state = State::Up;
    b.bw = 1000.0;
    b.full_bw_reached = true;
    b.cycle.is_probe_sample = true;
    // 100 in flight, 3 lost: 2 % were passed with (0.02 * 99 - 2) / 0.98 of the last, at 98.98.
    for k in 7..10 {
        b.deliveries.note_sent(ms(0), k, 7, 100);
    }
    b.note_losses(&window(150.0), ms(100), &[7, 8]);
    assert!(b.inflight_longterm.is_infinite(), "2 of 100");
    b.note_losses(&window(150.0), ms(100), &[9]);
    assert!((b.inflight_longterm - (99.0 + (0.02 * 99.0 - 2.0) / 0.98)).abs() < 1e-9);
    assert_eq!((b.state, b.cycle.too_high), (State::Down, true));
}

#[test]
fn a_probe_of_the_round_trip_time_lasts_200_ms_and_a_round() {
    let mut b = bbr();
    let mut w = window(60.0);
    b.full_bw_reached = true;
    b.state = State::Cruise;
    b.bw = 100.0;
    let slower = |at, in_flight| Acked { rtt: Some(RTT * 2), ..acked(at, in_flight) };
    b.update_min_rtt(&slower(5100, 60));
    b.check_probe_rtt(&mut w, &slower(5100, 60));
    assert_eq!(b.state, State::Cruise, "five seconds are not over");
    b.update_min_rtt(&slower(5101, 60));
    b.check_probe_rtt(&mut w, &slower(5101, 60));
    assert_eq!((b.state, b.prior_cwnd, b.min_rtt), (State::ProbeRtt, 60.0, Some(RTT)), "of ten seconds");
    w.cwnd = 5.0;
    b.check_probe_rtt(&mut w, &acked(5200, 5));
    b.rounds.start = true;
    b.check_probe_rtt(&mut w, &acked(5400, 5));
    assert_eq!(b.state, State::ProbeRtt);
    b.check_probe_rtt(&mut w, &acked(5401, 5));
    assert_eq!((b.state, w.cwnd), (State::Cruise, 60.0));
}

#[test]
fn a_window_from_before_a_repair_is_remembered_over_a_probe_of_the_round_trip_time() {
    let mut b = bbr();
    b.state = State::Cruise;
    b.prior_cwnd = 100.0;
    let late = Acked { rtt: Some(RTT * 2), ..acked(6000, 60) };
    b.update_min_rtt(&late);
    b.check_probe_rtt(&mut window(60.0), &late);
    assert_eq!((b.state, b.prior_cwnd), (State::ProbeRtt, 100.0));
}

#[test]
fn the_short_term_bound_rises_to_what_is_delivered() {
    let mut b = bbr();
    b.state = State::Cruise;
    b.inflight_shortterm = 50.0;
    b.losses.round_start = true;
    b.note_losses(&window(50.0), ms(100), &[]);
    b.deliveries.note_sent(ms(0), 7, 7, 20);
    b.note_losses(&window(50.0), ms(100), &[7]);
    b.losses.inflight_latest = 80.0;
    b.update_congestion_signals(&window(50.0));
    assert_eq!(b.inflight_shortterm, 80.0, "more than 70 % of 50");
}

#[test]
fn cruising_begins_below_the_bdp_of_the_greatest_rate() {
    let mut b = bbr();
    b.full_bw_reached = true;
    b.max_bw = [500.0, 0.0];
    b.bw = 300.0;
    b.state = State::Down;
    b.cycle.rounds_since_probe_up = 0;
    b.start_down(ms(1000));
    b.update_cycle(&window(60.0), &sample(300.0, 40.0, 0.0), &acked(1001, 51));
    assert_eq!(b.state, State::Down);
    b.update_cycle(&window(60.0), &sample(300.0, 40.0, 0.0), &acked(1001, 50));
    assert_eq!(b.state, State::Cruise, "500 a second in 100 ms, though 30 is the BDP of the short term");
}

#[test]
fn without_sack_one_loss_is_too_many() {
    let config = Config { sack: false, ..Config::linux(CongestionControl::Bbr) };
    let mut b = Bbr::new(&config);
    b.open(ms(100), 1, Some(RTT));
    b.losses.round_start = true;
    b.losses.events = 1;
    b.check_startup_done(&sample(100.0, 90.0, 1.0), &Acked { repairs: true, ..acked(500, 30) });
    assert_eq!(b.state, State::Drain);
}

/// An acknowledgement reports this many marks.
fn on_marks(b: &mut Bbr, marked: u64) {
    b.deliveries.marked += marked;
    b.update_marks(marked);
}

#[test]
fn marks_count_on_short_paths() {
    for (rtt_ms, lower) in [(5, 90.0 * (1.0 - (1.0 - 0.75 / 16.0) / 3.0)), (6, f64::INFINITY)] {
        let mut b = bbr();
        b.min_rtt = Some(Span::from_millis(rtt_ms));
        b.full_bw_reached = true;
        b.state = State::Cruise;
        b.rounds.start = true;
        b.deliveries.delivered = 40;
        // alpha = 1 + (10/40 - 1) / 16, a third of which is taken off 90.
        on_marks(&mut b, 10);
        b.losses.round_start = true;
        b.update_congestion_signals(&window(90.0));
        assert!((b.inflight_shortterm - lower).abs() < 1e-9 || b.inflight_shortterm == lower);
        let probe = Sample { marked: 6.0, delivered: 10.0, in_flight: 50.0, ..Sample::default() };
        assert_eq!(b.is_inflight_too_high(&probe), rtt_ms == 5);
    }
}

#[test]
fn two_rounds_of_marks_end_startup() {
    let mut b = bbr();
    b.min_rtt = Some(Span::from_millis(1));
    b.rounds.start = true;
    for (delivered, done) in [(10, false), (20, true)] {
        b.deliveries.delivered = delivered;
        on_marks(&mut b, 5);
        assert_eq!(b.full_bw_reached, done);
    }
}

#[test]
fn marks_on_long_paths_leave_the_average_alone() {
    let mut b = bbr();
    b.state = State::Cruise;
    b.rounds.start = true;
    b.deliveries.delivered = 100;
    on_marks(&mut b, 0);
    assert_eq!(b.marks.lower(64.0, 0.5), None);
    // The path becomes short: what was delivered since the start counts.
    b.min_rtt = Some(Span::from_millis(2));
    b.deliveries.delivered = 200;
    on_marks(&mut b, 50);
    assert_eq!(b.marks.lower(64.0, 0.5), Some(64.0 * (1.0 - (1.0 - 0.75 / 16.0) / 2.0)));
}

/// In Cruise on a path of 1 ms, with marks in this cycle.
fn marked() -> Bbr {
    let mut b = bbr();
    b.min_rtt = Some(Span::from_millis(1));
    b.full_bw_reached = true;
    b.max_bw = [50_000.0, 0.0];
    b.bw = 50_000.0;
    b.start_down(ms(1000));
    b.start_cruise();
    b.rounds.start = true;
    b.deliveries.delivered = 40;
    on_marks(&mut b, 10);
    b.marks.in_cycle = true;
    b.rounds.start = false;
    b
}

#[test]
fn a_probe_begins_when_marks_have_ceased() {
    let mut b = marked();
    b.inflight_longterm = 80.0;
    let quiet = sample(50_000.0, 40.0, 0.0);
    b.update_cycle(&window(60.0), &quiet, &Acked { calm: false, ..acked(1001, 40) });
    assert_eq!(b.state, State::Cruise, "not as long as they are answered");
    b.update_cycle(&window(60.0), &quiet, &acked(1002, 40));
    assert_eq!((b.state, b.reprobe_rounds()), (State::Refill, 5), "half of 80 are 40, above 32");
    let mut b = marked();
    b.losses.in_cycle = true;
    b.update_cycle(&window(60.0), &quiet, &acked(1002, 40));
    assert_eq!(b.state, State::Cruise, "after losses it waits");
    let mut b = marked();
    b.start_down(ms(1001));
    assert_eq!((b.marks.in_cycle, b.marks.lower(64.0, 0.5)), (false, None), "marks of a cycle are its own");
}

#[test]
fn marks_of_an_acknowledgement_are_in_its_sample() {
    let mut b = marked();
    b.state = State::Up;
    b.cycle.is_probe_sample = true;
    b.rounds.next = 50;
    b.deliveries.note_sent(ms(1000), 7, 7, 70);
    b.deliveries.note_arrived(ms(1002), 7);
    b.on_ack(&mut window(60.0), &Acked { marked: 1, rtt: Some(Span::from_millis(2)), ..acked(1002, 70) });
    assert_eq!((b.state, b.inflight_longterm), (State::Down, 70.0));
}

#[test]
fn too_many_marks_end_a_probe() {
    let mut b = marked();
    b.state = State::Up;
    b.cycle.is_probe_sample = true;
    let probe = Sample { marked: 6.0, ..sample(50_000.0, 70.0, 0.0) };
    b.update_cycle(&window(60.0), &probe, &acked(1001, 70));
    assert_eq!((b.state, b.inflight_longterm), (State::Down, 70.0));
    b.update_cycle(&window(60.0), &probe, &acked(1002, 70));
    assert_eq!(b.inflight_longterm, 70.0, "once a probe");
}
