//! Invariants of all disciplines under random traffic, and the distribution of the gaps between drops.

mod common;

use aqmlab_aqm::red::PartKind;
use aqmlab_aqm::{Checked, Dequeue, Ecn, PRESETS, Qdisc, Value};
use aqmlab_units::Time;
use common::{Counting, VirtualLink, build, packet, try_build, word};
use proptest::prelude::*;

/// A registered part of each kind, with the parameters that it needs. Half of the curves are the preset's.
fn any_parts() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let part = |key: &'static str| {
        let kind = PartKind::find(key).expect("a kind of parts");
        prop::sample::select(kind.parts).prop_map(move |part| {
            let mut set = (part.needs)();
            set.push((key, word(part.name)));
            set
        })
    };
    let curve = prop_oneof![Just(Vec::new()), part("curve")];
    (curve, part("spacing"), part("victim"), part("adaptation"))
        .prop_map(|(curve, spacing, victim, adaptation)| [curve, spacing, victim, adaptation].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_discipline_conserves_its_packets(
        preset in prop::sample::select(PRESETS.as_slice()),
        dialect in prop_oneof![Just("floyd93"), Just("ns2-2.35"), Just("linux"), Just("dsred"), Just("as-printed")],
        parts in any_parts(),
        in_bytes: bool, limit_in_bytes: bool, ecn: bool, in_service: bool, in_integers: bool,
        w_q in 0.001f64..1.0,
        arrivals in prop::collection::vec((0u64..3_000_000_000, 40u32..1500, any::<bool>(), 0u8..16), 1..400),
    ) {
        let name = preset.name;
        let limit = if limit_in_bytes { Value::Bytes(60_000) } else { Value::Packets(50.0) };
        let mut set = vec![
            ("limit", limit),
            ("mode", word(if in_bytes { "bytes" } else { "packets" })),
            ("ecn", Value::Flag(ecn)),
            ("in_service_counts", Value::Flag(in_service)),
            ("w_q", Value::Number(w_q)),
            ("mean_packet", Value::Bytes(700)),
        ];
        // Other disciplines may have parameters of these names with other words.
        let is_red = preset.parameters().iter().any(|p| p.key == "spacing");
        if is_red {
            set.extend(parts);
            set.push(("arithmetic", word(if in_integers { "integer" } else { "exact" })));
        }
        // Each dialect of cake is that of a version of Linux.
        if is_red || name == "drop-tail" || (dialect == "linux" && name != "cake") {
            set.push(("dialect", word(dialect)));
        }
        set.retain(|(key, _)| preset.parameters().iter().any(|p| p.key == *key));
        // Some curves and adaptations do not go together, and some parts have no form in integers.
        let Some(queue) = try_build(name, 5_000_000, &set) else { return Ok(()) };
        let mut link = VirtualLink::new(Checked::new(queue), 5_000_000);
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
        // Linux's DualPI2 ignores `ecn`.
        if !ecn && (name, dialect) != ("dualpi2", "linux") {
            prop_assert_eq!(host.marks, 0);
        }
    }
}

/// Ways in which a queue of a flow of its own may be asked for: a discipline with its parameters.
fn fair_queues() -> [(&'static str, Vec<(&'static str, Value)>); 5] {
    let one_batch = [("drop_batch", Value::Number(1.0))];
    let little_memory = [("dialect", word("linux-7.3")), ("memory_limit", Value::Bytes(50_000))];
    [
        ("fq-codel", one_batch.to_vec()),
        ("fq-codel", vec![("dialect", word("linux"))]),
        ("fq-codel", little_memory.to_vec()),
        ("fq-pie", vec![("ecn", Value::Flag(true))]),
        ("fq-pie", vec![("dialect", word("linux"))]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn each_flow_of_a_fair_queue_is_served_in_order(
        (name, set) in prop::sample::select(fair_queues().to_vec()),
        queues in 1u32..8,
        arrivals in prop::collection::vec((0u64..2_000_000_000, 40u32..1500, 0u32..16), 1..400),
    ) {
        let set: Vec<_> = set
            .into_iter()
            .chain([("queues", Value::Number(queues.into())), ("limit", Value::Packets(40.0))])
            .collect();
        let mut queue = Checked::new(build(name, 5_000_000, &set));
        let (mut host, mut now, mut free_at) = (Counting::new(3), Time::ZERO, Time::ZERO);
        let mut last = [None; 16];
        for (i, &(gap, bytes, flow)) in arrivals.iter().enumerate() {
            now = Time(now.0 + gap);
            while free_at <= now && let Dequeue::Packet(packet) = queue.dequeue(free_at, &mut host) {
                free_at = Time(free_at.0 + 1_600_000 * u64::from(packet.meta.bytes));
                let last = &mut last[packet.meta.flow as usize];
                prop_assert!(last.is_none_or(|last| last < packet.payload), "{name}");
                *last = Some(packet.payload);
            }
            free_at = free_at.max(now);
            let mut packet = packet(i as u32, bytes, if flow % 2 == 0 { Ecn::Ect } else { Ecn::NotEct });
            (packet.meta.arrival, packet.meta.flow) = (now, flow);
            queue.enqueue(now, packet, &mut host);
            prop_assert!(queue.backlog().packets <= 40);
        }
    }
}

/// Twenty packets wait of flow 0; what of flow 1 then comes is served next.
#[test]
fn a_sparse_flow_does_not_wait_behind_a_long_queue() {
    for (name, set) in fair_queues() {
        let mut queue = Checked::new(build(name, 5_000_000, &set));
        let mut host = Counting::new(3);
        let mut number = 0;
        let mut arrive = |queue: &mut Checked<_>, flow, host: &mut Counting| {
            let mut packet = packet(number, 1500, Ecn::NotEct);
            packet.meta.flow = flow;
            queue.enqueue(Time::ZERO, packet, host);
            number += 1;
        };
        let served = |queue: &mut Checked<_>, host: &mut Counting| match queue.dequeue(Time::ZERO, host) {
            Dequeue::Packet(packet) => packet.meta.flow,
            _ => panic!("packets wait"),
        };
        (0..20).for_each(|_| arrive(&mut queue, 0, &mut host));
        // The first two use up the quantum of 1514 bytes, so that flow 0 is no longer new.
        assert_eq!([0; 2].map(|_| served(&mut queue, &mut host)), [0, 0], "{name}");
        arrive(&mut queue, 1, &mut host);
        assert_eq!(served(&mut queue, &mut host), 1, "{name}");
        // Not twice: its queue has run empty and waits among the old ones.
        assert_eq!(served(&mut queue, &mut host), 0, "{name}");
        arrive(&mut queue, 1, &mut host);
        (0..3).for_each(|_| arrive(&mut queue, 1, &mut host));
        let next: Vec<_> = (0..8).map(|_| served(&mut queue, &mut host)).collect();
        let of_first = next.iter().filter(|flow| **flow == 0).count();
        assert!((3..=5).contains(&of_first), "{name}: halves, {next:?}");
    }
}

#[test]
fn a_full_fair_queue_drops_of_the_longest() {
    let set = [("limit", Value::Packets(30.0)), ("drop_batch", Value::Number(1.0))];
    let mut queue = Checked::new(build("fq-codel", 5_000_000, &set));
    let mut host = Counting::new(3);
    // The first packets of flow 0 go: it has more than any other.
    for (number, flow) in (0..20).map(|_| 0).chain((0..20).map(|i| 1 + i % 5)).enumerate() {
        let mut packet = packet(number as u32, 1000, Ecn::NotEct);
        packet.meta.flow = flow;
        queue.enqueue(Time::ZERO, packet, &mut host);
    }
    assert_eq!((host.overflow, host.last_dropped), (10, Some(9)));
    // A batch is half of the packets, or, in Linux, at least half of the bytes: 15 or 16 of 31.
    for (dialect, batch) in [("rfc8290", 15), ("linux", 16)] {
        let set = [("limit", Value::Packets(30.0)), ("dialect", word(dialect))];
        let mut queue = Checked::new(build("fq-codel", 5_000_000, &set));
        let mut host = Counting::new(3);
        for number in 0..31 {
            queue.enqueue(Time::ZERO, packet(number, 1000, Ecn::NotEct), &mut host);
        }
        assert_eq!((host.overflow, queue.backlog().packets), (batch, 31 - batch));
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
