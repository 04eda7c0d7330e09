//! Meters at points computed by hand, and the bounds that they keep.
//!
//! By hand all rates are multiples of 1000 bytes a second, so that a second earns 1000 tokens.

use aqmlab_units::{Rate, Span, Time};
use proptest::prelude::*;

use super::Color::{Green, Red, Yellow};
use super::*;
use crate::plan;

const KBYTE_PER_S: u64 = 8000;

fn at(s: f64) -> Time {
    Time::from_secs(s)
}

/// Both arithmetics, which agree wherever doubles are exact.
fn both(meter: plan::Meter) -> (Meter<Exact>, Meter<Ns2>) {
    (Meter::new(&meter), Meter::new(&meter))
}

/// Feeds packets (seconds, bytes, incoming colour) and expects colours.
fn expect(meter: plan::Meter, packets: &[(f64, u32, Color, Color)]) {
    let (mut exact, mut ns2) = both(meter);
    for &(s, bytes, incoming, expected) in packets {
        let drawn = || panic!("no random number");
        assert_eq!(exact.color(at(s), bytes, incoming, drawn), expected, "{bytes} B at {s} s");
        assert_eq!(ns2.color(at(s), bytes, incoming, drawn), expected, "{bytes} B at {s} s, ns-2");
    }
}

#[test]
fn token_bucket_by_hand() {
    let meter = plan::Meter::TokenBucket { cir: Rate(KBYTE_PER_S), cbs: 1500 };
    expect(
        meter,
        &[
            (0.0, 1000, Green, Green), // full at the start; 500 are left
            (0.0, 501, Green, Red),    // all or nothing, and red costs nothing
            (0.0, 500, Green, Green),
            (0.0, 1, Green, Red),
            (0.5, 501, Green, Red),
            (0.5, 500, Red, Green),    // blind to what comes
            (100.0, 1501, Green, Red), // never more than the bucket holds
            (100.0, 1500, Green, Green),
            (100.0, 1, Green, Red),
        ],
    );
}

#[test]
fn an_empty_contract_makes_everything_red() {
    expect(plan::Meter::TokenBucket { cir: Rate(0), cbs: 0 }, &[(0.0, 1, Green, Red), (1e6, 1, Green, Red)]);
}

#[test]
fn single_rate_by_hand() {
    let meter = |color_aware| plan::Meter::SrTcm { cir: Rate(KBYTE_PER_S), cbs: 1000, ebs: 500, color_aware };
    let blind = [
        (0.0, 600, Green, Green), // 400 committed, 500 excess are left
        (0.0, 501, Green, Red),
        (0.0, 500, Green, Yellow), // 400, 0
        (0.0, 400, Green, Green),  // 0, 0
        (1.0, 1, Green, Green),    // 999, 0: the excess bucket waits until the committed one is full
        (1.0, 1000, Green, Red),
        (1.001, 999, Green, Green), // 1, 0
        (2.2, 1000, Green, Green),  // 999 of 1199 fit in, 200 run over: 0, 200
        (2.2, 201, Green, Red),
        (2.2, 200, Green, Yellow),
        (2.2, 1, Green, Red),
    ];
    expect(meter(false), &blind);
    expect(meter(true), &blind);
    expect(meter(false), &[(0.0, 600, Red, Green), (0.0, 500, Red, Yellow)]);
    expect(
        meter(true),
        &[
            (0.0, 100, Red, Red),       // costs nothing
            (0.0, 300, Yellow, Yellow), // from the excess bucket alone: 1000, 200
            (0.0, 201, Yellow, Red),
            (0.0, 1000, Green, Green),
            (0.0, 200, Green, Yellow),
            (0.0, 1, Yellow, Red),
        ],
    );
}

#[test]
fn two_rate_by_hand() {
    let meter = |color_aware| plan::Meter::TrTcm {
        cir: Rate(KBYTE_PER_S),
        cbs: 1000,
        pir: Rate(2 * KBYTE_PER_S),
        pbs: 1500,
        color_aware,
    };
    let blind = [
        (0.0, 1501, Green, Red),
        (0.0, 1000, Green, Green), // 0 committed, 500 peak are left
        (0.0, 500, Green, Yellow), // 0, 0
        (0.0, 1, Green, Red),
        (0.25, 250, Green, Green), // 250, 500 before; 0, 250 after
        (0.25, 251, Green, Red),
        (0.25, 250, Green, Yellow),
        (9.0, 1001, Green, Yellow), // 1000, 1500 before; 1000, 499 after
        (9.0, 499, Green, Green),
        (9.0, 1, Green, Red),
    ];
    expect(meter(false), &blind);
    expect(meter(true), &blind);
    expect(meter(false), &[(0.0, 1000, Red, Green), (0.0, 500, Red, Yellow)]);
    expect(
        meter(true),
        &[
            (0.0, 1000, Red, Red),      // costs nothing
            (0.0, 500, Yellow, Yellow), // from the peak bucket alone: 1000, 1000
            (0.0, 1000, Green, Green),  // 0, 0
            (0.0, 1, Yellow, Red),
        ],
    );
}

/// Colours of the packets (seconds, bytes, random number) and how many random numbers they took.
fn windowed<A: Arithmetic>(meter: plan::Meter, packets: &[(f64, u32, f64)]) -> (Vec<Color>, usize) {
    let mut meter = Meter::<A>::new(&meter);
    let mut draws = 0;
    let colors = packets.iter().map(|&(s, bytes, u)| {
        meter.color(at(s), bytes, Green, || {
            draws += 1;
            u
        })
    });
    (colors.collect(), draws)
}

#[test]
fn two_color_window_by_hand() {
    let meter = plan::Meter::Tsw2 { cir: Rate(KBYTE_PER_S), window: Span::from_millis(1000) };
    // The average starts at 1000 B/s: (1000 + 1000) / (1 + 1) = 1000 is not above; then (1000 + 1000) / 1 = 2000, of
    // which half is too much; then (2000 + 1000) / 2 = 1500, of which a third is too much.
    let packets = |u2: f64, u3: f64| [(1.0, 1000, f64::NAN), (1.0, 1000, u2), (2.0, 1000, u3)];
    let exact = |u2, u3| windowed::<Exact>(meter, &packets(u2, u3));
    assert_eq!(exact(0.499, 0.333), (vec![Green, Red, Red], 2));
    assert_eq!(exact(0.5, 0.334), (vec![Green, Green, Green], 2));
    let ns2 = |u2, u3| windowed::<Ns2>(meter, &packets(u2, u3));
    assert_eq!(ns2(0.5, 0.333), (vec![Green, Red, Red], 2), "ns-2 takes the boundary for red");
    assert_eq!(ns2(0.501, 0.334), (vec![Green, Green, Green], 2));
}

#[test]
fn three_color_window_by_hand() {
    let (cir, pir) = (Rate(KBYTE_PER_S), Rate(1600 * 8));
    let meter = plan::Meter::Tsw3 { cir, pir, window: Span::from_millis(1000) };
    // At 2000 B/s a fifth is beyond the peak rate and half is beyond the committed rate; at 1500 B/s (next) nothing is
    // beyond the peak rate and a third beyond the committed rate.
    let packets = |u2: f64, u3: f64| [(1.0, 1000, 0.5), (1.0, 1000, u2), (2.0, 1000, u3)];
    for (u2, u3, expected) in [
        (0.199, 0.0, [Green, Red, Yellow]),
        (0.201, 0.333, [Green, Yellow, Yellow]),
        (0.499, 0.334, [Green, Yellow, Green]),
        (0.501, 0.999, [Green, Green, Green]),
    ] {
        assert_eq!(windowed::<Exact>(meter, &packets(u2, u3)), (expected.to_vec(), 2), "{u2} {u3}");
        assert_eq!(windowed::<Ns2>(meter, &packets(u2, u3)), (expected.to_vec(), 3), "{u2} {u3}, ns-2");
    }
}

#[test]
fn a_window_forgets() {
    let meter = plan::Meter::Tsw2 { cir: Rate(KBYTE_PER_S), window: Span::from_millis(1000) };
    // 4000 B at once make 5000 B/s; after 9 s of silence it is (5000 + 0) / 10 = 500.
    let packets = [(0.0, 4000, 0.9), (9.0, 1, f64::NAN)];
    assert_eq!(windowed::<Exact>(meter, &packets), (vec![Green, Green], 1));
}

#[test]
fn green_traffic_of_a_window_keeps_to_the_rate() {
    // 1000 B every 0.1 s is ten times the rate: a tenth is green.
    let meter = plan::Meter::Tsw2 { cir: Rate(KBYTE_PER_S), window: Span::from_millis(1000) };
    let mut stream = aqmlab_units::Stream::new(1, "window");
    let packets: Vec<_> = (1..20_000).map(|i| (f64::from(i) * 0.1, 1000, stream.uniform())).collect();
    let (colors, _) = windowed::<Exact>(meter, &packets);
    let green = colors.iter().filter(|c| **c == Green).count() as f64 / colors.len() as f64;
    assert!((green - 0.1).abs() < 0.007, "{green}");
}

#[test]
fn a_flow_at_its_rate_is_green_for_ever() {
    // 1000 B at 1 Mb/s into a bucket of one packet: every 8 ms, for which doubles are too coarse.
    let mut meter = TokenBucket::<Exact>::new(Rate(1_000_000), 1000);
    for i in 0..100_000 {
        assert_eq!(meter.color(Time(i * 8_000_000_000), 1000), Green, "packet {i}");
    }
}

/// Arrivals: picoseconds since the one before, bytes, colour.
fn arrivals() -> impl Strategy<Value = Vec<(Time, u32, Color)>> {
    let color = prop_oneof![Just(Green), Just(Yellow), Just(Red)];
    prop::collection::vec((0u64..3_000_000_000_000, 1u32..1600, color), 1..60).prop_map(|packets| {
        let mut now = Time::ZERO;
        packets
            .into_iter()
            .map(|(gap, bytes, color)| {
                now += Span(gap);
                (now, bytes, color)
            })
            .collect()
    })
}

/// Return the tokens of a bucket that was full at the start when packet `j` arrives, if it pays for the packets in
/// `pays`: in no interval it has paid more than its size and the tokens earned. In bit-picoseconds.
fn held(packets: &[(Time, u32, Color)], pays: &[bool], (rate, bytes): (Rate, u64), j: usize) -> u128 {
    let size = Exact::tokens(bytes);
    (0..=j)
        .map(|i| {
            let paid: u64 = (i..j).filter(|k| pays[*k]).map(|k| u64::from(packets[k].1)).sum();
            (size + Exact::earned(rate, packets[i].0, packets[j].0)).checked_sub(Exact::tokens(paid))
        })
        .map(|held| held.expect("no interval holds more than the bucket and what it earned"))
        .min()
        .expect("an interval")
}

proptest! {
    #[test]
    fn a_token_bucket_is_green_exactly_while_every_interval_conforms(
        packets in arrivals(), rate in 1u64..20_000, cbs in 0u64..4000,
    ) {
        let mut meter = TokenBucket::<Exact>::new(Rate(rate), cbs);
        let mut green = Vec::new();
        for (j, &(now, bytes, _)) in packets.iter().enumerate() {
            let covered = held(&packets, &green, (Rate(rate), cbs), j) >= Exact::tokens(bytes.into());
            green.push(meter.color(now, bytes) == Green);
            prop_assert_eq!(green[j], covered, "packet {}", j);
        }
    }

    #[test]
    fn two_rates_are_two_buckets(
        packets in arrivals(), cir in 1u64..10_000, more in 0u64..10_000, cbs in 0u64..4000, pbs in 0u64..4000,
        color_aware: bool,
    ) {
        let (committed, peak) = ((Rate(cir), cbs), (Rate(cir + more), pbs));
        let mut meter = TwoRate::<Exact>::new(committed, peak, color_aware);
        let (mut green, mut not_red) = (Vec::new(), Vec::new());
        for (j, &(now, bytes, incoming)) in packets.iter().enumerate() {
            let cost = Exact::tokens(bytes.into());
            let best = if color_aware { incoming } else { Green };
            let expected = if held(&packets, &not_red, peak, j) < cost {
                Red
            } else if held(&packets, &green, committed, j) < cost {
                Yellow
            } else {
                Green
            };
            let color = meter.color(now, bytes, incoming);
            prop_assert_eq!(color, expected.max(best), "packet {}", j);
            green.push(color == Green);
            not_red.push(color != Red);
        }
    }

    #[test]
    fn a_single_rate_bounds_green_and_not_red_in_every_interval(
        packets in arrivals(), rate in 1u64..20_000, cbs in 0u64..4000, ebs in 0u64..4000, color_aware: bool,
    ) {
        let mut meter = SingleRate::<Exact>::new(Rate(rate), cbs, ebs, color_aware);
        let (mut green, mut not_red) = (Vec::new(), Vec::new());
        for (j, &(now, bytes, incoming)) in packets.iter().enumerate() {
            let color = meter.color(now, bytes, incoming);
            green.push(color == Green);
            not_red.push(color != Red);
            // Panics where an interval does not conform.
            held(&packets, &green, (Rate(rate), cbs), j);
            held(&packets, &not_red, (Rate(rate), cbs + ebs), j);
            prop_assert!(!color_aware || color >= incoming);
            if incoming == Green || !color_aware {
                let covered = held(&packets, &green[..j], (Rate(rate), cbs), j) >= Exact::tokens(bytes.into());
                prop_assert_eq!(green[j], covered, "packet {}", j);
            }
        }
    }
}
