use super::*;
use crate::Ecn;
use crate::Header;
use crate::disciplines::testing::TestHost;

const LAW: Law = Law {
    target: 234_375,
    max_burst: 2_343_750,
    alpha: 2,
    beta: 20,
    mtu: 1514,
    delay: Delay::Timestamp,
    in_bytes: false,
    mark_up_to: None,
    t_update: Span::from_millis(16),
};
const MS: u64 = TICKS_PER_SECOND / 1000;

fn backlog(bytes: u64) -> Backlog {
    Backlog { packets: bytes.div_ceil(1000) as u32, bytes }
}

fn meta(bytes: u32, ecn: Ecn) -> Meta {
    Meta { bytes, header: Header::default().with_ecn(ecn), ..Meta::default() }
}

/// A controller without a burst allowance, at a delay of 20 ms.
fn control(p: u64) -> Control {
    let measured = Measured { burst: 0, ..Measured::new(&LAW) };
    Control { p, delay: 20 * MS, old: 20 * MS, measured }
}

fn hits(control: &mut Control, law: &Law, bytes: u32, waiting: u64, draw: f64) -> bool {
    control.hits::<u32>(law, bytes, backlog(waiting), &mut TestHost::with_draws(&[draw]))
}

#[test]
fn ticks_are_64_ns() {
    assert_eq!((LAW.target, LAW.max_burst, LONG_DELAY), (15 * MS, 150 * MS, 250 * MS));
    assert_eq!(ticks(Time(64_000 * 7 - 1)), 6);
    assert_eq!((ONE, TICKS_PER_SECOND), (72_057_594_037_927_935, 15_625_000));
}

#[test]
fn changes_by_hand() {
    // ONE/15 625 000 = 4 611 686 018; times 2 and 20, in sixteenths: 576 460 752 and 5 764 607 522.
    // 5 ms above the target are 78 125 ticks, and so is a rise by 5 ms: 78 125 * 6 341 068 274.
    let whole = 78_125 * (576_460_752 + 5_764_607_522);
    assert_eq!(LAW.change(ONE / 5, 20 * MS, 15 * MS), whole);
    // Each gain is halved below a tenth, and quartered for each further power of ten.
    for (p, shift) in [
        (ONE / 10 - 1, 1),
        (ONE / 100, 1),
        (ONE / 100 - 1, 3),
        (ONE / 1000 - 1, 5),
        (ONE / 10_000 - 1, 7),
        (ONE / 100_000 - 1, 9),
        (ONE / 1_000_000, 9),
        (ONE / 1_000_000 - 1, 11),
        (0, 11),
    ] {
        let gains = (576_460_752_i64 >> shift) + (5_764_607_522_i64 >> shift);
        assert_eq!(LAW.change(p, 20 * MS, 15 * MS), 78_125 * gains, "{p}");
    }
    assert_eq!(LAW.change(ONE / 5, 10 * MS, 15 * MS), -whole);
}

#[test]
fn large_changes_are_two_percent() {
    assert_eq!(LAW.change(ONE / 10, 200 * MS, 0), (ONE / 100 * 2) as i64);
    // Probabilities below a tenth have no bound of the change: (0.125 * 0.185 + 1.25 * 0.2)/2 = 0.136 56.
    let change = LAW.change(ONE / 10 - 1, 200 * MS, 0);
    assert!((change as f64 / ONE as f64 - 0.136_562_5).abs() < 1e-8, "{change}");
    // Above 250 ms a fiftieth is added.
    let long = LAW.change(ONE / 10, 250 * MS + 1, 0);
    assert_eq!(long, (ONE / 100 * 2 + ONE / 50) as i64);
    let step = |delay| LAW.change(ONE / 10, delay, delay);
    assert_eq!(step(250 * MS + 1) - step(250 * MS), (ONE / 50) as i64);
}

#[test]
fn a_probability_goes_beyond_one_and_stops_at_64_bits() {
    let mut control = control(ONE);
    control.step(&LAW, backlog(100_000));
    assert!(control.p > ONE);
    control.p = u64::MAX - 1;
    control.step(&LAW, backlog(100_000));
    assert_eq!(control.p, ONE);
    control.p = 1;
    control.delay = 0;
    control.step(&LAW, backlog(0));
    assert_eq!(control.p, 0);
}

#[test]
fn two_empty_steps_take_a_sixty_fourth() {
    for (waiting, decays) in [(0, true), (1, false)] {
        let mut control = Control { delay: 0, old: 0, ..control(ONE / 2) };
        control.step(&LAW, backlog(waiting));
        let p = ONE / 2 - 15 * MS * 576_460_752;
        assert_eq!(control.p, if decays { p - p / 64 } else { p });
    }
}

#[test]
fn a_quiet_queue_gets_its_burst_allowance_back() {
    for (delay, old, is_reset) in [(7 * MS, 7 * MS, true), (8 * MS, 7 * MS, false), (7 * MS, 8 * MS, false)] {
        let mut control = Control { delay, old, ..control(0) };
        control.step(&LAW, backlog(5000));
        assert_eq!(control.measured == Measured::new(&LAW), is_reset);
        assert_eq!(control.old, delay);
    }
}

#[test]
fn departures_consume_the_burst_allowance() {
    let mut control = Control::new(&LAW);
    let leave = |control: &mut Control, at_ms: u64, left: u64| {
        let now = Time::ZERO + Span::from_millis(at_ms);
        control.departed(&LAW, now, &meta(1000, Ecn::NotEct), backlog(left), || now);
    };
    leave(&mut control, 10, 1000);
    assert_eq!((control.delay, control.measured.burst), (10 * MS, 150 * MS));
    leave(&mut control, 30, 1000);
    assert_eq!((control.delay, control.measured.burst), (30 * MS, 130 * MS));
    leave(&mut control, 170, 0);
    assert_eq!((control.delay, control.measured.burst), (0, 0));
}

#[test]
fn spared_packets() {
    let mut spared = control(ONE / 5 - 1);
    spared.measured.accumulated = ONE * 9;
    assert!(hits(&mut spared, &LAW, 1000, 50_000, 0.0));
    assert!(hits(&mut spared, &LAW, 1000, 3028, 0.0));
    assert!(!hits(&mut spared, &LAW, 1000, 3027, 0.0), "two of the MTU");
    spared.delay = LAW.target / 2 - 1;
    assert!(!hits(&mut spared, &LAW, 1000, 50_000, 0.0), "half of the target");
    spared.p = ONE / 5;
    assert!(hits(&mut spared, &LAW, 1000, 50_000, 0.0));
    spared.measured.burst = 1;
    assert!(!hits(&mut spared, &LAW, 1000, 50_000, 0.0), "a burst");
}

#[test]
fn drops_are_spaced_by_the_sum_of_probabilities() {
    let mut control = control(ONE / 4);
    // 0.25, 0.5 and 0.75 are below 0.85.
    let drops: Vec<_> = [0.0, 0.0, 0.0, 0.25, 0.2].map(|u| hits(&mut control, &LAW, 1000, 50_000, u)).into();
    assert_eq!(drops, [false, false, false, false, true]);
    assert_eq!(control.measured.accumulated, 0);
    let missed = (0..33).filter(|_| !hits(&mut control, &LAW, 1000, 50_000, 0.9)).count();
    assert_eq!(missed, 33);
    // 35 quarters are above 8.5; 34 are 2 units below it, since ONE/4 is rounded down.
    assert!(!hits(&mut control, &LAW, 1000, 50_000, 0.9));
    assert!(hits(&mut control, &LAW, 1000, 50_000, 0.9));
    assert!(hits(&mut control, &LAW, 1000, 50_000, 0.9), "the sum stays");
}

#[test]
fn short_packets_have_a_smaller_probability_in_byte_mode() {
    let law = Law { in_bytes: true, ..LAW };
    for (bytes, sum) in [(757, 757 * (ONE / 8 / 1514)), (1514, 1514 * (ONE / 8 / 1514)), (1515, ONE / 8)] {
        let mut control = control(ONE / 8);
        hits(&mut control, &law, bytes, 50_000, 0.9);
        assert_eq!(control.measured.accumulated, sum);
    }
}

#[test]
fn ecn_marks_up_to_its_threshold_and_a_drop_resets_the_sum() {
    for (p, ecn, is_marked) in
        [(ONE / 10, Ecn::Ect, true), (ONE / 10 + 1, Ecn::Ect, false), (ONE / 10, Ecn::NotEct, false)]
    {
        let law = Law { mark_up_to: Some(by_tenths(10)), ..LAW };
        let mut control = control(p);
        control.measured.accumulated = ONE * 9;
        let verdict =
            control.decide::<u32>(&law, &meta(1000, ecn), backlog(50_000), &mut TestHost::default());
        assert_eq!(matches!(verdict, Verdict::Mark(_)), is_marked);
        assert_eq!(control.measured.accumulated, if is_marked { ONE * 9 + p } else { 0 });
    }
    // FQ-PIE's threshold is in whole percent: a hundredth, rounded down, times ten.
    assert_eq!((by_tenths(10), by_percent(10)), (7_205_759_403_792_793, 7_205_759_403_792_790));
}

#[test]
fn the_rate_of_departures_by_hand() {
    let law = Law { delay: Delay::DepartureRate, ..LAW };
    let mut control = Control::new(&law);
    let mut leave = |at: u64, left: u64| {
        let now = Time(at * TICK_PS);
        control.departed(&law, now, &meta(4096, Ecn::NotEct), backlog(left), || now);
        (control.measured.rate, control.measured.burst)
    };
    assert_eq!(leave(0, 16_383).0, 0, "too short to measure");
    // A cycle begins at tick 100; 4 * 4096 bytes by tick 400: 16 384 * 256/300 = 13 981.
    assert_eq!([100, 200, 300].map(|at| leave(at, 16_384).0), [0; 3]);
    assert_eq!(leave(400, 16_384), (13_981, 2_343_450));
    // The next takes 400 ticks: 16 384 * 256/400 = 10 485; 13 981 - 1747 + 1310.
    assert_eq!([500, 600, 700].map(|at| leave(at, 16_384).0), [13_981; 3]);
    assert_eq!(leave(800, 16_383), (13_544, 2_343_050));
    // The queue was short at the end: no cycle is under way.
    assert_eq!((control.measured.departed, control.measured.since), (None, Some(400)));
    // 20 000 * 256/13 544 = 378.
    control.step(&law, backlog(20_000));
    assert_eq!((control.delay, control.old), (378, 0));
}

#[test]
fn a_clock_read_again_begins_the_measurement() {
    let law = Law { delay: Delay::DepartureRate, ..LAW };
    let mut control = Control::new(&law);
    let at = |tick: u64| Time(tick * TICK_PS);
    // A packet as long as a measurement begins and ends it: no time passes, and the count goes on.
    control.departed(&law, at(5), &meta(16_384, Ecn::NotEct), backlog(20_000), || at(5));
    assert_eq!((control.measured.rate, control.measured.departed), (0, Some(16_384)));
    // The clock moved on between the readings: the time is negative and wraps around, so that the rate is 0.
    let mut control = Control::new(&law);
    control.departed(&law, at(5), &meta(16_384, Ecn::NotEct), backlog(20_000), || at(6));
    let Measured { rate, departed, since, burst, .. } = control.measured;
    assert_eq!((rate, departed, since, burst), (0, Some(0), Some(6), 0));
}

#[test]
fn rest_is_where_steps_change_nothing() {
    for law in [LAW, Law { delay: Delay::DepartureRate, ..LAW }] {
        let mut control = Control::new(&law);
        assert!(control.is_at_rest(&law, backlog(0)));
        let before = control;
        control.step(&law, backlog(0));
        assert_eq!(control, before);
        assert!(!control.is_at_rest(&law, backlog(1)));
        control.p = 1;
        assert!(!control.is_at_rest(&law, backlog(0)));
    }
}

#[test]
fn a_timer_keeps_its_grid() {
    let ms = Span::from_millis(1);
    let mut timer = Timer::new();
    assert!(!timer.is_due(Time::ZERO + ms * 499) && timer.is_due(Time::ZERO + ms * 500));
    timer.advance(ms * 16);
    timer.skip(Time::ZERO + ms * 600, ms * 16);
    assert_eq!(timer.next(), Some(Time::ZERO + ms * 612));
    timer.stop();
    assert!(!timer.is_due(Time(u64::MAX)));
}
