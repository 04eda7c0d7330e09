use super::*;

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// A window of 10 000 bytes outside of fast increase, with a round trip of 100 ms.
fn congestion() -> Congestion {
    let mut c = Congestion::new(1000, true, Time::ZERO);
    c.sample_rtt(0.1);
    c.note_in_flight(Time::ZERO, 1_000_000);
    Congestion { in_fast_increase: false, cwnd: 10_000.0, ..c }
}

fn acknowledged(bytes_newly_acked: u64, bytes_in_flight: u64) -> Acknowledged {
    Acknowledged { qdelay: 0.0, bytes_newly_acked, bytes_in_flight, is_loss: false, is_marked: false }
}

fn near(found: f64, due: f64) {
    assert!((found - due).abs() < 1e-9 * due.abs().max(1.0), "{found}, not {due}");
}

#[test]
fn smoothed_round_trips() {
    let mut c = congestion();
    near(c.s_rtt, 0.1);
    c.sample_rtt(0.18);
    near(c.s_rtt, 0.11);
}

#[test]
fn the_trend_by_hand() {
    let mut c = congestion();
    // One fraction of 1.5 in a history of 20: R(1) is negative, so the trend is 0.
    c.qdelay = 0.15;
    c.update_variables();
    near(c.qdelay_fraction_avg, 0.15);
    near(c.qdelay_trend, 0.0);
    // Two of them: with m = 0.15, R(0) = 18 m^2 + 2 (1.5 - m)^2 = 4.05 and
    // R(1) = 17 m^2 - m (1.5 - m) + (1.5 - m)^2 = 2.0025.
    c.update_variables();
    near(c.qdelay_fraction_avg, 0.285);
    near(c.qdelay_trend, 2.0025 / 4.05 * 0.285);
    near(c.qdelay_trend_mem, c.qdelay_trend);
    // The trend that is held decays by 1 % a sample.
    let held = c.qdelay_trend;
    (c.qdelay, c.qdelay_fraction_avg) = (0.0, 0.0);
    c.update_variables();
    near(c.qdelay_trend, 0.0);
    near(c.qdelay_trend_mem, 0.99 * held);
}

#[test]
fn the_trend_is_at_most_1_and_0_for_a_constant_delay() {
    let mut c = congestion();
    c.qdelay = 0.1;
    (0..20).for_each(|_| c.update_variables());
    near(c.qdelay_trend, 0.0);
    for k in 0..20 {
        c.qdelay = 0.4 + 0.1 * f64::from(k);
        c.update_variables();
    }
    near(c.qdelay_trend, 1.0);
}

#[test]
fn fractions_are_sampled_every_50_ms() {
    let mut c = congestion();
    c.qdelay = 0.1;
    c.advance(at(49));
    near(c.qdelay_fraction_avg, 0.0);
    c.advance(at(50));
    near(c.qdelay_fraction_avg, 0.1);
    c.advance(at(150));
    near(c.qdelay_fraction_avg, 0.271);
}

#[test]
fn the_window_grows_below_the_target_and_shrinks_above() {
    let after = |qdelay: f64| {
        let mut c = congestion();
        c.on_report(at(10), &Acknowledged { qdelay, ..acknowledged(2000, 9000) });
        c.cwnd - 10_000.0
    };
    // off_target 1: 2000 * 1000 / 10000.
    near(after(0.0), 200.0);
    near(after(0.05), 100.0);
    near(after(0.1), 0.0);
    near(after(0.3), -400.0);
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let after = |qdelay: f64, in_flight: u64| {
        let mut c = congestion();
        c.on_report(at(10), &Acknowledged { qdelay, ..acknowledged(2000, in_flight) });
        c.cwnd - 10_000.0
    };
    // 6400 * 1.25 + 2000 = cwnd.
    near(after(0.0, 6400), 0.0);
    near(after(0.0, 6401), 200.0);
    near(after(0.3, 0), -400.0);
}

#[test]
fn fast_increase_adds_what_is_acknowledged_while_the_window_is_used() {
    let after = |in_flight: u64, qdelay_trend: f64| {
        let mut c = Congestion { in_fast_increase: true, qdelay_trend, ..congestion() };
        let event = c.on_report(at(10), &acknowledged(1000, in_flight));
        (c.cwnd - 10_000.0, c.in_fast_increase, event)
    };
    // 6000 * 1.5 + 1000 = cwnd.
    assert_eq!(after(6000, 0.0), (0.0, true, None));
    assert_eq!(after(6001, 0.0), (1000.0, true, None));
    assert_eq!(after(6001, 0.199), (1000.0, true, None));
    // At the threshold it ends, with the increase of LEDBAT: 1000 * 1000 / 10000, if the window is used.
    assert_eq!(after(9000, 0.2), (100.0, false, Some(Event::Delay)));
    assert_eq!(after(6001, 0.2), (0.0, false, Some(Event::Delay)));
}

#[test]
fn the_window_is_at_most_a_tenth_above_the_most_in_flight() {
    let mut c = Congestion { most_in_flight: [8000, 0, 0, 0, 0], ..congestion() };
    c.on_report(at(10), &acknowledged(2000, 8000));
    near(c.cwnd, 8800.0);
    let mut c = Congestion { most_in_flight: [100, 0, 0, 0, 0], ..congestion() };
    c.on_report(at(10), &acknowledged(2000, 8000));
    near(c.cwnd, MIN_CWND);
}

#[test]
fn the_most_in_flight_is_that_of_five_seconds() {
    let mut c = Congestion::new(1000, true, Time::ZERO);
    c.note_in_flight(at(500), 9000);
    c.note_in_flight(at(900), 8000);
    c.note_in_flight(at(4999), 100);
    near(c.max_bytes_in_flight(), 9000.0);
    c.note_in_flight(at(5000), 200);
    near(c.max_bytes_in_flight(), 200.0);
    c.note_in_flight(at(100_000), 50);
    near(c.max_bytes_in_flight(), 50.0);
}

#[test]
fn losses_and_marks_reduce_the_window_once_in_a_round_trip() {
    for (is_loss, is_marked, beta, event) in
        [(true, false, 0.8, Event::Loss), (false, true, 0.9, Event::Ecn), (true, true, 0.8, Event::Loss)]
    {
        let mut c = Congestion { in_fast_increase: true, ..congestion() };
        let of = Acknowledged { is_loss, is_marked, ..acknowledged(0, 9000) };
        assert_eq!(c.on_report(at(10), &of), Some(event));
        near(c.cwnd, 10_000.0 * beta);
        assert!(!c.in_fast_increase);
        assert_eq!(c.on_report(at(109), &of), None);
        near(c.cwnd, 10_000.0 * beta);
        assert_eq!(c.on_report(at(110), &of), Some(event));
        near(c.cwnd, 10_000.0 * beta * beta);
    }
    let mut c = Congestion { cwnd: 3500.0, ..congestion() };
    c.on_report(at(10), &Acknowledged { is_loss: true, ..acknowledged(0, 0) });
    near(c.cwnd, MIN_CWND);
}

#[test]
fn the_loss_event_rate_is_an_average_over_round_trips() {
    let mut c = congestion();
    c.on_report(at(10), &Acknowledged { is_loss: true, ..acknowledged(0, 0) });
    c.advance(at(99));
    near(c.loss_event_rate, 0.0);
    c.advance(at(100));
    near(c.loss_event_rate, 0.01);
    c.advance(at(200));
    near(c.loss_event_rate, 0.0099);
}

/// Fill the history with delays; the last 50 are `recent`.
fn with_delays(earlier: f64, recent: f64) -> Congestion {
    let mut c = congestion();
    c.qdelay_norm_hist =
        core::array::from_fn(|k| (if k < 151 { earlier } else { recent }) / QDELAY_TARGET_LO);
    c.oldest_norm = 0;
    c.qdelay = recent;
    c
}

#[test]
fn a_steady_delay_becomes_the_target() {
    let mut c = with_delays(0.2, 0.2);
    c.adjust_qdelay_target();
    near(c.qdelay_target, 0.2);
    let mut c = with_delays(0.02, 0.02);
    c.adjust_qdelay_target();
    near(c.qdelay_target, QDELAY_TARGET_LO);
    let mut c = with_delays(0.7, 0.7);
    c.adjust_qdelay_target();
    near(c.qdelay_target, QDELAY_TARGET_HI);
}

#[test]
fn a_delay_that_varies_lowers_the_target_slowly_or_quickly() {
    // 150 samples of 2 and 50 of 0: the variance is 0.75, the average of the last 50 is 0. sqrt(0.75) 0.1 s are below the least target.
    let mut c = Congestion { qdelay_target: 0.3, ..with_delays(0.2, 0.0) };
    c.adjust_qdelay_target();
    near(c.qdelay_target, 0.15);
    // 150 samples of 0 and 50 of 2.
    let mut c = Congestion { qdelay_target: 0.3, ..with_delays(0.0, 0.2) };
    c.adjust_qdelay_target();
    near(c.qdelay_target, 0.27);
}

#[test]
fn losses_raise_the_target() {
    // With equal samples the target is 1.5 times the delay. A loss event rate of 0.002 is at the threshold.
    let mut c = Congestion { loss_event_rate: 0.0021, ..with_delays(0.2, 0.2) };
    c.adjust_qdelay_target();
    near(c.qdelay_target, 0.3);
    let mut c = Congestion { loss_event_rate: 0.002, ..with_delays(0.2, 0.2) };
    c.adjust_qdelay_target();
    near(c.qdelay_target, 0.2);
    let mut c = Congestion { adjusts_target: false, loss_event_rate: 0.1, ..with_delays(0.2, 0.2) };
    c.adjust_qdelay_target();
    near(c.qdelay_target, QDELAY_TARGET_LO);
}

#[test]
fn the_send_window_has_a_packet_more_below_the_target() {
    let with = |qdelay: f64, in_flight: u64| Congestion { qdelay, ..congestion() }.send_wnd(in_flight);
    near(with(0.1, 9500), 1500.0);
    near(with(0.1001, 9500), 500.0);
    near(with(0.2, 10_500), -500.0);
}

#[test]
fn fast_increase_resumes_after_five_calm_seconds() {
    let mut c = congestion();
    c.on_report(at(1000), &Acknowledged { is_loss: true, ..acknowledged(0, 0) });
    c.on_report(at(5999), &acknowledged(0, 0));
    assert!(!c.in_fast_increase);
    c.on_report(at(6000), &acknowledged(0, 0));
    assert!(c.in_fast_increase);
}

#[test]
fn a_trend_keeps_fast_increase_off() {
    let mut c = congestion();
    c.on_report(at(3010), &acknowledged(0, 0));
    // The samples from 3050 ms to 3450 ms see a step of the delay.
    c.qdelay = 0.3;
    c.advance(at(3450));
    assert!(c.qdelay_trend >= QDELAY_TREND_LO, "{}", c.qdelay_trend);
    let calm_since = c.calm_since;
    assert_eq!(calm_since, at(3450));
    c.qdelay = 0.0;
    c.qdelay_fraction_avg = 0.0;
    c.on_report(at(8449), &acknowledged(0, 0));
    assert!(!c.in_fast_increase && c.qdelay_trend < QDELAY_TREND_LO);
    c.on_report(c.calm_since + T_RESUME_FAST_INCREASE, &acknowledged(0, 0));
    assert!(c.in_fast_increase);
}
