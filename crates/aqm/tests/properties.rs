//! Invariants of all disciplines under random traffic, and the distribution of the gaps between drops.

mod common;

use aqmlab_aqm::{Checked, Ecn, PRESETS, Qdisc, Value};
use aqmlab_units::Time;
use common::{Counting, VirtualLink, build, packet, word};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_discipline_conserves_its_packets(
        preset in prop::sample::select(PRESETS.as_slice()),
        dialect in prop_oneof![Just("floyd93"), Just("ns2-2.35"), Just("linux"), Just("dsred"), Just("as-printed")],
        victim in prop_oneof![Just("arriving"), Just("pc-red"), Just("ddred")],
        adaptation in prop_oneof![Just("none"), Just("feng"), Just("adaptive-red"), Just("load"), Just("adaptive-rio")],
        spacing in prop_oneof![Just("floyd93"), Just("ns2-wait"), Just("ns2-nowait"), Just("linux"), Just("dsred"), Just("none")],
        in_bytes: bool, limit_in_bytes: bool, ecn: bool, in_service: bool,
        w_q in 0.001f64..1.0,
        arrivals in prop::collection::vec((0u64..3_000_000_000, 40u32..1500, any::<bool>(), 0u8..16), 1..400),
    ) {
        let name = preset.name;
        let limit = if limit_in_bytes { Value::Bytes(60_000) } else { Value::Packets(50.0) };
        let mut set = vec![
            ("limit", limit),
            ("victim", word(victim)),
            ("adaptation", word(adaptation)),
            ("spacing", word(spacing)),
            ("mode", word(if in_bytes { "bytes" } else { "packets" })),
            ("ecn", Value::Flag(ecn)),
            ("in_service_counts", Value::Flag(in_service)),
            ("w_q", Value::Number(w_q)),
            ("mean_packet", Value::Bytes(700)),
        ];
        // Other disciplines may have a parameter of this name with other words.
        if matches!(name, "drop-tail") || preset.parameters().iter().any(|p| p.key == "spacing") {
            set.push(("dialect", word(dialect)));
        }
        set.retain(|(key, _)| preset.parameters().iter().any(|p| p.key == *key));
        let mut link = VirtualLink::new(Checked::new(build(name, 5_000_000, &set)), 5_000_000);
        let mut host = Counting::new(3);
        let mut now = Time::ZERO;
        for (i, &(gap, bytes, ect, flow)) in arrivals.iter().enumerate() {
            now = Time(now.0 + gap);
            let ecn = if ect { Ecn::Ect } else { Ecn::NotEct };
            let mut packet = packet(i as u32, bytes, ecn);
            packet.meta.flow = u32::from(flow);
            packet.meta.header.set_class(u8::from(flow < 3));
            packet.meta.header.set_dscp(flow);
            packet.meta.header = packet.meta.header.with_ttl_initial(64).with_ttl(64 - flow % 5);
            link.arrive(now, packet, &mut host);
        }
        link.serve_until(Time::from_secs(1e4), &mut host);
        prop_assert_eq!(link.queue.backlog().packets, 0);
        if !ecn {
            prop_assert_eq!(host.marks, 0);
        }
    }
}

/// Gaps between drops at p_b = 1/20 by a queue whose average is its length.
fn gaps(spacing: &str, drops: usize) -> Vec<u32> {
    // w_q = 1 and a curve that is flat at the queue's length: a constant p_b.
    let points = Value::Points(vec![(0.0, 0.0), (0.5, 0.05), (1e9, 0.05)]);
    let set = [
        ("spacing", word(spacing)),
        ("curve", word("points")),
        ("points", points),
        ("w_q", Value::Number(1.0)),
        ("limit", Value::Packets(1e9)),
    ];
    let mut queue = build("red", 1_000_000, &set);
    let mut host = Counting::new(11);
    let (mut gaps, mut gap, mut i) = (Vec::new(), 0, 0);
    while gaps.len() <= drops {
        let before = host.drops();
        queue.enqueue(Time::ZERO, packet(i, 1000, Ecn::NotEct), &mut host);
        (i, gap) = (i + 1, gap + 1);
        if host.drops() > before {
            assert_eq!(host.last_dropped, Some(i - 1), "the arriving packet is the victim");
            gaps.push(gap);
            gap = 0;
        }
    }
    gaps.split_off(1)
}

/// Pearson's chi-square of the gaps against a law on 1, 2, ...; classes with less than 5 expected are pooled.
fn chi_square(gaps: &[u32], law: impl Fn(u32) -> f64) -> (f64, usize) {
    let n = gaps.len() as f64;
    let (mut sum, mut classes, mut seen, mut expected) = (0.0, 0, 0.0, 0.0);
    for g in 1..=1000 {
        seen += gaps.iter().filter(|&&x| x == g).count() as f64;
        expected += n * law(g);
        if expected >= 5.0 {
            sum += (seen - expected) * (seen - expected) / expected;
            (classes, seen, expected) = (classes + 1, 0.0, 0.0);
        }
    }
    (sum, classes - 1)
}

#[test]
fn gaps_have_the_law_of_their_dialect() {
    let uniform = |from: u32, to: u32| {
        move |g: u32| if (from..=to).contains(&g) { 1.0 / f64::from(to - from + 1) } else { 0.0 }
    };
    let geometric = |g: u32| 0.05 * libm::pow(0.95, f64::from(g - 1));
    type Law = Box<dyn Fn(u32) -> f64>;
    let laws: [(&str, Law); 5] = [
        // After a drop count is 1 at the next arrival: p_a = p/(1 - p), and so on; uniform on 1 .. 19.
        ("floyd93", Box::new(uniform(1, 19))),
        ("ns2-nowait", Box::new(uniform(1, 19))),
        ("ns2-wait", Box::new(uniform(20, 39))),
        // count p_b >= R: uniform on 1 .. 20.
        ("linux", Box::new(uniform(1, 20))),
        ("none", Box::new(geometric)),
    ];
    for (spacing, law) in laws {
        let gaps = gaps(spacing, 20_000);
        let (chi2, freedom) = chi_square(&gaps, &law);
        // A chi-square variable passes its mean by five standard deviations once in some thousand tests at most.
        let freedom = freedom as f64;
        assert!(
            chi2 < freedom + 5.0 * (2.0 * freedom).sqrt(),
            "{spacing}: chi2 {chi2} with {freedom} degrees"
        );
    }
}

#[test]
fn long_run_rate_of_each_dialect() {
    for (spacing, ratio) in
        [("floyd93", 2.0), ("ns2-nowait", 2.0), ("ns2-wait", 0.678), ("linux", 1.905), ("none", 1.0)]
    {
        let gaps = gaps(spacing, 40_000);
        let rate = gaps.len() as f64 / gaps.iter().map(|&g| f64::from(g)).sum::<f64>();
        assert!((rate / 0.05 / ratio - 1.0).abs() < 0.02, "{spacing}: {}", rate / 0.05);
    }
}
