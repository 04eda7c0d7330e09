//! Schedulers: shares, order, and the packets that the discipline of a class receives.

mod common;

use aqmlab_aqm::red::{AVERAGE, P_B};
use aqmlab_aqm::{
    Checked, ClassSpec, Dequeue, Discipline, Ecn, LinkContext, Packet, ParameterError, Preset, Qdisc, Spec,
    Value,
};
use aqmlab_units::{Rate, Span, Stream, Time};
use common::{Counting, VirtualLink, build, gauge, packet, word};
use proptest::prelude::*;

const LINK: LinkContext = LinkContext { rate: Rate(8_000_000), delay: Span::from_millis(1) };

/// A class: name, code point (63: the default), weight, and the discipline behind it.
type Class<'a> = (&'a str, u8, f64, Option<Spec>);

fn scheduler(aqm: &str, classes: &[Class<'_>]) -> Result<Discipline<u32>, Vec<ParameterError>> {
    let mut spec = Spec::new(aqm).expect("a preset");
    for (name, dscp, weight, queue) in classes {
        let mut class = ClassSpec::new(Preset::find(aqm).expect("a preset"), name);
        if *dscp == 63 {
            class.default = true;
        } else {
            class.dscp = vec![*dscp];
        }
        if aqm != "priority" {
            class.set("weight", Value::Number(*weight)).expect("a weight");
        }
        class.queue.clone_from(queue);
        spec.class(class);
    }
    spec.resolve(LINK).map(|resolved| resolved.build())
}

fn of_class(number: u32, bytes: u32, dscp: u8) -> Packet<u32> {
    let mut packet = packet(number, bytes, Ecn::NotEct);
    packet.meta.header.set_dscp(dscp);
    packet.meta.flow = u32::from(dscp);
    packet
}

/// Bytes sent by each code point while all classes always have packets.
fn shares(mut queue: Discipline<u32>, lengths: &[(u8, u32)], packets: u32) -> Vec<f64> {
    let mut host = Counting::new(1);
    let mut sent = vec![0.0; lengths.len()];
    let mut number = 0;
    for &(dscp, bytes) in lengths {
        for _ in 0..20 {
            queue.enqueue(Time::ZERO, of_class(number, bytes, dscp), &mut host);
            number += 1;
        }
    }
    for _ in 0..packets {
        let Dequeue::Packet(gone) = queue.dequeue(Time::ZERO, &mut host) else {
            panic!("all are backlogged")
        };
        let of = lengths.iter().position(|(dscp, _)| *dscp == gone.meta.header.dscp()).expect("a class");
        sent[of] += f64::from(gone.meta.bytes);
        queue.enqueue(Time::ZERO, of_class(number, lengths[of].1, lengths[of].0), &mut host);
        number += 1;
    }
    let total: f64 = sent.iter().sum();
    sent.iter().map(|bytes| bytes / total).collect()
}

#[test]
fn shares_follow_weights_when_all_are_backlogged() {
    for aqm in ["wfq", "drr"] {
        let classes = [("a", 10, 1.0, None), ("b", 20, 3.0, None), ("c", 63, 4.0, None)];
        let queue = scheduler(aqm, &classes).expect("valid");
        let got = shares(queue, &[(10, 1500), (20, 100), (63, 700)], 40_000);
        for (got, expected) in got.iter().zip([0.125, 0.375, 0.5]) {
            assert!((got - expected).abs() < 0.003, "{aqm}: {got} for {expected}");
        }
    }
}

#[test]
fn flows_share_in_bytes_or_in_packets() {
    let lengths = [(1, 1500), (2, 500)];
    let set = [("hash", word("modulo"))];
    let drr = shares(build("drr", 1_000_000, &set), &lengths, 20_000);
    assert!((drr[0] - 0.5).abs() < 0.003, "{drr:?}");
    let sfq = shares(build("sfq", 1_000_000, &set), &lengths, 20_000);
    assert!((sfq[0] - 0.75).abs() < 0.003, "{sfq:?}");
}

#[test]
fn the_first_class_is_served_first() {
    let mut queue =
        scheduler("priority", &[("voice", 46, 1.0, None), ("rest", 63, 1.0, None)]).expect("valid");
    let mut host = Counting::new(1);
    for (number, dscp) in [(0, 0), (1, 0), (2, 46), (3, 0), (4, 46)] {
        queue.enqueue(Time::ZERO, of_class(number, 1000, dscp), &mut host);
    }
    let mut order = Vec::new();
    while let Dequeue::Packet(packet) = queue.dequeue(Time::ZERO, &mut host) {
        order.push(packet.payload);
    }
    assert_eq!(order, [2, 4, 0, 1, 3]);
}

#[test]
fn a_class_alone_is_as_its_discipline_alone() {
    let mut red = Spec::new("red").expect("a preset");
    red.set("limit", Value::Packets(40.0)).expect("a limit");
    for aqm in ["priority", "wfq", "drr"] {
        let all = scheduler(aqm, &[("all", 63, 1.0, Some(red.clone()))]).expect("valid");
        let alone: Discipline<u32> = red.resolve(LINK).expect("valid").build();
        let mut links = [all, alone].map(|queue| VirtualLink::new(Checked::new(queue), LINK.rate.0));
        let mut hosts = [Counting::new(3), Counting::new(3)];
        let mut traffic = Stream::new(5, "traffic");
        let mut now = Time::ZERO;
        for number in 0..20_000 {
            // Loads between 0.5 and 1.3, so that the link is idle at times.
            let load = if number / 500 % 2 == 0 { 1.3 } else { 0.5 };
            now = Time(now.0 + (traffic.exponential(1e9 / load)) as u64);
            for (link, host) in links.iter_mut().zip(&mut hosts) {
                link.arrive(now, of_class(number, 1000, 0), host);
            }
            let [all, alone] = &links;
            for name in [AVERAGE, P_B] {
                assert_eq!(gauge(&all.queue, name), gauge(&alone.queue, name), "{aqm} {number}");
            }
            assert_eq!(hosts[0].last_dropped, hosts[1].last_dropped, "{aqm} {number}");
        }
        assert!(hosts[0].early > 100);
    }
}

#[test]
fn errors_of_a_child_queue_name_its_class() {
    let mut red = Spec::new("red").expect("a preset");
    red.set("min_th", Value::Packets(50.0)).expect("a threshold");
    let errors = scheduler("wfq", &[("gold", 63, 1.0, Some(red))]).expect_err("min_th is above max_th");
    assert_eq!(errors[0].key, "class.gold.queue");
    assert!(errors[0].message.starts_with("min_th: min_th (50p) is not below"), "{}", errors[0].message);
    let errors = scheduler("drr", &[("gold", 10, 1.0, None)]).expect_err("no default");
    assert_eq!(errors[0].key, "class");
}

/// Disciplines to put behind classes, some of which drop what waits or go by timers.
const BEHIND: [&str; 10] =
    ["drop-tail", "red", "codel", "choke", "rem", "sfb", "drr", "wfq", "adaptive-red", "cake"];

#[test]
fn a_class_has_no_shaper_of_its_own() {
    let cake = |set: &[(&str, Value)]| {
        let mut spec = Spec::new("cake").expect("a preset");
        set.iter().for_each(|(key, value)| spec.set(key, value.clone()).expect("valid"));
        scheduler("priority", &[("a", 8, 1.0, Some(spec)), ("rest", 63, 1.0, None)])
    };
    assert!(cake(&[]).is_ok());
    for set in [("rate", Value::Rate(Rate(1_000_000))), ("autorate_ingress", Value::Flag(true))] {
        let errors = cake(&[set]).expect_err("a shaper");
        assert_eq!((errors.len(), &*errors[0].key), (1, "class.a.queue"));
        assert_eq!(errors[0].message, "cake has a shaper of its own");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn packets_are_conserved_and_flows_stay_in_order(
        aqm in prop::sample::select(vec!["priority", "wfq", "drr"]),
        behind in prop::collection::vec(prop::sample::select(BEHIND.as_slice()), 2..6),
        weights in prop::collection::vec(0.01f64..100.0, 6),
        arrivals in prop::collection::vec((0u64..3_000_000_000, 40u32..1500, 0u8..6), 1..400),
    ) {
        let names = ["a", "b", "c", "d", "e", "f"];
        let last = behind.len() - 1;
        let classes: Vec<_> = behind.iter().enumerate().map(|(i, aqm)| {
            let dscp = if i == last { 63 } else { i as u8 };
            (names[i], dscp, weights[i], Spec::new(aqm))
        }).collect();
        let queue = scheduler(aqm, &classes).expect("valid");
        let mut link = VirtualLink::new(Checked::new(queue), 2_000_000);
        let mut host = Counting::new(3);
        let mut now = Time::ZERO;
        for (i, &(gap, bytes, dscp)) in arrivals.iter().enumerate() {
            now = Time(now.0 + gap);
            while let Some(due) = link.queue.next_timer() && due <= now {
                link.serve_until(due, &mut host);
                link.queue.on_timer(due, &mut host);
            }
            let mut packet = of_class(i as u32, bytes, dscp);
            packet.meta.arrival = now;
            link.arrive(now, packet, &mut host);
            prop_assert!(link.queue.gauge(now, AVERAGE).is_none_or(f64::is_finite));
        }
        let mut gone = [None; 6];
        while let Dequeue::Packet(packet) = link.queue.dequeue(now, &mut host) {
            let last = &mut gone[packet.meta.flow as usize];
            prop_assert!(last.is_none_or(|last| last < packet.payload), "flow {} in order", packet.meta.flow);
            *last = Some(packet.payload);
        }
        prop_assert_eq!(link.queue.backlog().packets, 0);
    }

    #[test]
    fn fair_queues_keep_flows_in_order(
        aqm in prop::sample::select(vec!["drr", "sfq"]),
        from_head: bool,
        arrivals in prop::collection::vec((0u64..3_000_000_000, 40u32..1500, 0u8..6), 1..300),
    ) {
        let (key, choice) = match (aqm, from_head) {
            ("drr", true) => ("longest", "head"),
            ("drr", false) => ("longest", "tail"),
            (_, true) => ("full", "longest-head"),
            (_, false) => ("full", "ns2"),
        };
        let set = [(key, word(choice)), ("limit", Value::Packets(20.0)), ("buckets", Value::Number(7.0))];
        let mut link = VirtualLink::new(Checked::new(build(aqm, 2_000_000, &set)), 2_000_000);
        let mut host = Counting::new(3);
        let mut now = Time::ZERO;
        for (i, &(gap, bytes, flow)) in arrivals.iter().enumerate() {
            now = Time(now.0 + gap);
            link.arrive(now, of_class(i as u32, bytes, flow), &mut host);
            prop_assert!(link.queue.backlog().packets <= 20);
        }
        let mut gone = [None; 6];
        while let Dequeue::Packet(packet) = link.queue.dequeue(now, &mut host) {
            let last = &mut gone[packet.meta.flow as usize];
            prop_assert!(last.is_none_or(|last| last < packet.payload));
            *last = Some(packet.payload);
        }
    }
}
