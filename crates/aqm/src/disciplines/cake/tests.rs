use crate::disciplines::memory::MemoryUnit;
use std::collections::BTreeMap;

use aqmlab_units::{Rate, Span, Time};
use proptest::prelude::*;

use super::hosts::Isolation;
use super::*;
use crate::disciplines::ParameterReader;
use crate::{Checked, Ecn, LinkContext, Meta, Spec, Value};

/// A host for which flow 100 s + 10 d + n goes from host s to host d.
#[derive(Default)]
pub(super) struct Ends {
    pub dropped: Vec<u32>,
    pub marked: Vec<u32>,
    pub left: Vec<&'static str>,
    draws: u64,
}

impl Host<u32> for Ends {
    fn uniform(&mut self) -> f64 {
        self.draws += 1;
        (mix(self.draws) >> 11) as f64 / (1_u64 << 53) as f64
    }
    fn below(&mut self, n: u64) -> u64 {
        self.draws += 1;
        mix(self.draws) % n
    }
    fn dropped(&mut self, packet: Packet<u32>, _reason: DropReason) {
        self.dropped.push(packet.payload);
    }
    fn marked(&mut self, packet: &Packet<u32>, _reason: DropReason) {
        self.marked.push(packet.payload);
    }
    fn hosts(&mut self, packet: &Packet<u32>) -> [u32; 2] {
        [packet.meta.flow / 100, packet.meta.flow / 10 % 10]
    }
    fn left(&mut self, _packet: &Packet<u32>, queue: &'static str) {
        self.left.push(queue);
    }
}

pub(super) fn word(word: &str) -> Value {
    Value::Word(word.into())
}

pub(super) fn params(set: &[(&str, Value)]) -> Params {
    let mut spec = Spec::new("cake").expect("a preset");
    let own_key = [("hash_key", Value::Number(1.0))];
    own_key.iter().chain(set).for_each(|(key, value)| spec.set(key, value.clone()).expect("valid"));
    let link = LinkContext { rate: Rate(10_000_000), delay: Span::ZERO };
    read(&mut ParameterReader::new(&spec, link)).expect("valid")
}

pub(super) fn cake(set: &[(&str, Value)]) -> Checked<Cake<u32>> {
    Checked::new(Cake::new(&params(set)))
}

/// Packets are numbered, as `Checked` wants them.
#[derive(Default)]
pub(super) struct Arrivals(u32);

impl Arrivals {
    pub fn add(&mut self, queue: &mut impl Qdisc<u32>, now: Time, meta: Meta, host: &mut Ends) {
        queue.enqueue(now, Packet { meta: Meta { arrival: now, ..meta }, payload: self.0 }, host);
        self.0 += 1;
    }
}

pub(super) fn of_flow(flow: u32, bytes: u32) -> Meta {
    Meta { flow, bytes, ..Meta::default() }
}

pub(super) fn of_dscp(dscp: u8, bytes: u32) -> Meta {
    let mut meta = of_flow(dscp.into(), bytes);
    meta.header.set_dscp(dscp);
    meta
}

pub(super) fn served(queue: &mut impl Qdisc<u32>, now: Time, host: &mut Ends) -> Packet<u32> {
    match queue.dequeue(now, host) {
        Dequeue::Packet(packet) => packet,
        other => panic!("packets wait: {other:?}"),
    }
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// The bytes of each part of the load, as long as all flows have packets: `key` is the part of a flow.
fn shares(
    set: &[(&str, Value)],
    flows: &[u32],
    packets: u32,
    key: impl Fn(u32) -> u32,
) -> BTreeMap<u32, u64> {
    let (mut queue, mut host, mut arrivals) = (cake(set), Ends::default(), Arrivals::default());
    let length = |flow: u32| 400 + 137 * (flow % 7);
    let mut bytes = BTreeMap::new();
    for flow in flows {
        (0..3).for_each(|_| arrivals.add(&mut queue, Time::ZERO, of_flow(*flow, length(*flow)), &mut host));
    }
    for _ in 0..packets {
        let packet = served(&mut queue, Time::ZERO, &mut host);
        let flow = packet.meta.flow;
        *bytes.entry(key(flow)).or_default() += u64::from(packet.meta.bytes);
        arrivals.add(&mut queue, Time::ZERO, of_flow(flow, length(flow)), &mut host);
    }
    bytes
}

fn are_equal(shares: &BTreeMap<u32, u64>, tolerance: f64) -> bool {
    let (least, most) = (shares.values().min(), shares.values().max());
    least.zip(most).is_some_and(|(least, most)| (*most as f64) < *least as f64 * (1.0 + tolerance))
}

#[test]
fn a_host_gets_the_same_whatever_its_flows() {
    // Source 1 has one flow, source 2 five, source 3 ten, to destinations of their own each.
    let flows: Vec<u32> = [111].into_iter().chain(220..225).chain(330..340).collect();
    let of_source = |isolation| shares(&[("isolation", word(isolation))], &flows, 30_000, |flow| flow / 100);
    for isolation in ["dual-srchost", "triple-isolate", "srchost", "hosts"] {
        assert!(are_equal(&of_source(isolation), 0.03), "{isolation}: {:?}", of_source(isolation));
    }
    let by_flow = shares(&[("isolation", word("flows"))], &flows, 30_000, |flow| flow);
    assert!(are_equal(&by_flow, 0.03), "{by_flow:?}");
    let of_flows = of_source("flows");
    assert!(of_flows[&3] > 9 * of_flows[&1]);
    // The flows of a host share its part.
    let by_flow = shares(&[], &flows, 60_000, |flow| flow);
    let of_third: BTreeMap<_, _> = by_flow.into_iter().filter(|(flow, _)| flow / 100 == 3).collect();
    assert!(of_third.len() == 10 && are_equal(&of_third, 0.05), "{of_third:?}");
}

#[test]
fn destinations_count_where_they_are_meant_to() {
    // One source sends to destination 1 with one flow and to destination 2 with four.
    let flows = [110, 120, 121, 122, 123];
    let of_destination =
        |isolation| shares(&[("isolation", word(isolation))], &flows, 20_000, |flow| flow / 10 % 10);
    for isolation in ["dual-dsthost", "dsthost", "hosts"] {
        assert!(are_equal(&of_destination(isolation), 0.03), "{isolation}");
    }
    // The five flows load their source equally; each destination has less load.
    let by_source = of_destination("triple-isolate");
    assert!(by_source[&2] > 38 * by_source[&1] / 10, "{by_source:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn hosts_share_equally(counts in prop::collection::vec(1u32..10, 2..6)) {
        let flows: Vec<u32> = (0..).zip(&counts).flat_map(|(s, n)| (0..*n).map(move |i| 100 * s + 10 * s + i)).collect();
        let shares = shares(&[], &flows, 8000 * counts.len() as u32, |flow| flow / 100);
        prop_assert!(are_equal(&shares, 0.06), "{shares:?}");
    }

    #[test]
    fn the_memory_is_that_of_what_waits(
        isolation in prop::sample::select(Isolation::WORDS.map(|(word, _)| word).to_vec()),
        diffserv in prop::sample::select(diffserv::DiffServ::WORDS.map(|(word, _)| word).to_vec()),
        length: bool,
        arrivals in prop::collection::vec((0u64..3_000_000_000, 40u32..1500, 0u32..400, 0u8..64, 0u8..3), 1..400),
    ) {
        let unit = if length { "length" } else { "truesize" };
        let set = [
            ("isolation", word(isolation)),
            ("diffserv", word(diffserv)),
            ("memory", word(unit)),
            ("memlimit", Value::Bytes(40_000)),
        ];
        let (mut queue, mut host) = (cake(&set), Ends::default());
        let mut inside = BTreeMap::new();
        let mut now = Time::ZERO;
        for (number, (gap, bytes, flow, dscp, departures)) in (0..).zip(arrivals) {
            now = Time(now.0 + gap);
            let mut meta = Meta { arrival: now, ..of_flow(flow, bytes) };
            meta.header = meta.header.with_dscp(dscp).with_ecn(if flow % 2 == 0 { Ecn::Ect } else { Ecn::NotEct });
            inside.insert(number, bytes);
            queue.enqueue(now, Packet { meta, payload: number }, &mut host);
            for _ in 0..departures {
                if let Dequeue::Packet(packet) = queue.dequeue(now, &mut host) {
                    inside.remove(&packet.payload);
                }
            }
            host.dropped.drain(..).for_each(|number| _ = inside.remove(&number));
            let unit = if length { MemoryUnit::Length } else { MemoryUnit::TrueSize };
            let memory: u64 = inside.values().map(|bytes| unit.of(*bytes)).sum();
            prop_assert!(memory <= 40_000);
            prop_assert_eq!(queue.gauge(now, "memory"), Some(memory as f64));
            let bytes = inside.values().map(|bytes| u64::from(*bytes)).sum();
            prop_assert_eq!(queue.backlog(), Backlog { packets: inside.len() as u32, bytes });
        }
        let cake = queue.inner_mut();
        for (number, tin) in cake.tins.iter().enumerate() {
            let of_queues = (0..QUEUES).map(|queue| cake.queues.backlog(number * QUEUES + queue).bytes).sum();
            prop_assert_eq!(tin.backlog.bytes, of_queues);
        }
    }
}

#[test]
fn a_sparse_flow_is_served_before_bulk_flows() {
    let (mut queue, mut host, mut arrivals) = (cake(&[]), Ends::default(), Arrivals::default());
    for flow in [110, 220] {
        (0..20).for_each(|_| arrivals.add(&mut queue, Time::ZERO, of_flow(flow, 1500), &mut host));
    }
    // Both use their first quantum up.
    (0..6).for_each(|_| _ = served(&mut queue, Time::ZERO, &mut host));
    for _ in 0..3 {
        arrivals.add(&mut queue, Time::ZERO, of_flow(330, 100), &mut host);
        assert_eq!(served(&mut queue, Time::ZERO, &mut host).meta.flow, 330);
        (0..4).for_each(|_| assert_ne!(served(&mut queue, Time::ZERO, &mut host).meta.flow, 330));
    }
    assert_eq!(queue.gauge(Time::ZERO, "bulk_flows"), Some(2.0));
}

#[test]
fn a_full_memory_drops_at_the_head_of_the_longest_queue() {
    // Three packets of 1500 bytes are 6912 bytes of memory.
    let (mut queue, mut arrivals) = (cake(&[("memlimit", Value::Bytes(7000))]), Arrivals::default());
    let mut host = Ends::default();
    for flow in [110, 220, 220, 330, 330] {
        arrivals.add(&mut queue, Time::ZERO, of_flow(flow, 1500), &mut host);
    }
    // At the fourth packet flow 220 has two, of which 1 goes; then 330 has two, of which 3 goes.
    assert_eq!(host.dropped, [1, 3]);
    assert_eq!(queue.backlog().packets, 3);
    // BLUE of both flows is at work from 5 ms on only: the time is 0.
    assert_eq!(queue.gauge(Time::ZERO, "unresponsive_flows"), Some(0.0));
    arrivals.add(&mut queue, ms(10), of_flow(220, 1500), &mut host);
    assert_eq!((host.dropped.len(), queue.gauge(ms(10), "unresponsive_flows")), (3, Some(1.0)));
}

#[test]
fn the_last_packet_of_a_queue_is_not_dropped() {
    let (mut queue, mut host, mut arrivals) = (cake(&[]), Ends::default(), Arrivals::default());
    // The first packet is above the target, after a long time without packets; by 400 ms, three drops are due.
    (0..4).for_each(|_| arrivals.add(&mut queue, Time::ZERO, of_flow(110, 1500), &mut host));
    assert_eq!(served(&mut queue, ms(50), &mut host).payload, 0);
    assert_eq!(served(&mut queue, ms(400), &mut host).payload, 3);
    assert_eq!(host.dropped, [1, 2]);
}

#[test]
fn congestion_marks_packets_that_may_be_marked() {
    for (ecn, dropped, marked) in [(true, vec![], vec![1]), (false, vec![1, 2], vec![])] {
        let (mut queue, mut host) = (cake(&[("ecn", Value::Flag(ecn))]), Ends::default());
        let mut arrivals = Arrivals::default();
        let mut meta = of_flow(110, 1500);
        meta.header.set_ecn(Ecn::Ect);
        (0..4).for_each(|_| arrivals.add(&mut queue, Time::ZERO, meta, &mut host));
        for at in [50, 400] {
            served(&mut queue, ms(at), &mut host);
        }
        assert_eq!((host.dropped, host.marked), (dropped, marked));
    }
}

#[test]
fn an_empty_queue_decays_before_it_is_unused() {
    let (mut queue, mut host, mut arrivals) = (cake(&[]), Ends::default(), Arrivals::default());
    arrivals.add(&mut queue, ms(0), of_flow(110, 100), &mut host);
    served(&mut queue, ms(0), &mut host);
    let counts = |queue: &mut Checked<Cake<u32>>| {
        let flows = &queue.inner_mut().tins[0].flows;
        (flows.sparse, flows.bulk, flows.decaying)
    };
    // It is in the list of new flows until others are served.
    assert_eq!(counts(&mut queue), (1, 0, 0));
    arrivals.add(&mut queue, ms(1), of_flow(220, 100), &mut host);
    served(&mut queue, ms(1), &mut host);
    // COBALT remembers for an interval that flow 110 was served.
    assert_eq!(counts(&mut queue), (1, 0, 1));
    for at in [90, 101] {
        arrivals.add(&mut queue, ms(at), of_flow(330, 100), &mut host);
        served(&mut queue, ms(at), &mut host);
    }
    // At 90 ms it is looked at and stays, and 220 joins it; at 101 ms its interval is over.
    assert_eq!(counts(&mut queue), (1, 0, 1));
}

#[test]
fn tins_share_an_unlimited_link_by_weight() {
    for (diffserv, code_points, weights) in [
        ("diffserv3", &[0, 8, 46][..], &[1024, 64, 256][..]),
        ("diffserv4", &[0, 8, 24, 46], &[1024, 64, 512, 256]),
        ("precedence", &[0, 8, 16, 24, 32, 40, 48, 56], &[256, 224, 196, 171, 149, 130, 113, 98]),
    ] {
        let (mut queue, mut host) = (cake(&[("diffserv", word(diffserv))]), Ends::default());
        let mut arrivals = Arrivals::default();
        for dscp in code_points {
            (0..3).for_each(|_| arrivals.add(&mut queue, Time::ZERO, of_dscp(*dscp, 1000), &mut host));
        }
        let mut bytes = BTreeMap::<u8, u32>::new();
        for _ in 0..20_000 {
            let packet = served(&mut queue, Time::ZERO, &mut host);
            *bytes.entry(packet.meta.header.dscp()).or_default() += 1;
            arrivals.add(&mut queue, Time::ZERO, packet.meta, &mut host);
        }
        let sum: u32 = weights.iter().sum();
        for (dscp, weight) in code_points.iter().zip(weights) {
            let expected = 20_000.0 * f64::from(*weight) / f64::from(sum);
            let share = f64::from(bytes[dscp]);
            assert!((share / expected - 1.0).abs() < 0.02, "{diffserv} {dscp}: {share} of {expected}");
        }
        assert!(host.left.contains(&queue.inner_mut().tins[1].name));
    }
}

#[test]
fn the_memory_follows_from_rate_and_round_trip_time() {
    let params = params(&[]);
    assert_eq!(params.memory_at(0), 10_240 * 1514);
    assert_eq!(params.memory_at(125_000), 4 << 20);
    // 4 * 25 MB/s * 0.1 s.
    assert_eq!(params.memory_at(25_000_000), 10_000_000);
    assert_eq!(params.memory_at(1_000_000_000), 10_240 * 1514);
}

#[test]
fn the_target_is_a_twentieth_of_the_round_trip_time() {
    for (rtt, target_us) in [(word("lan"), 50), (word("satellite"), 50_000), (Value::Seconds(0.2), 10_000)] {
        assert_eq!(params(&[("rtt", rtt)]).target, Span(target_us * 1_000_000));
    }
    assert_eq!(params(&[("rtt", Value::Seconds(1e-6))]).target, Span(1_000_000));
}

/// Departure times of a backlogged queue at a link that is always free. COBALT's target is too long for drops.
fn departures(set: &[(&str, Value)], meta: Meta, count: usize) -> Vec<u64> {
    let without_drops = [set, &[("rtt", word("interplanetary"))]].concat();
    let (mut queue, mut host, mut arrivals) = (cake(&without_drops), Ends::default(), Arrivals::default());
    (0..count).for_each(|_| arrivals.add(&mut queue, ms(1), meta, &mut host));
    let (mut now, mut times) = (ms(1), Vec::new());
    while times.len() < count {
        match queue.dequeue(now, &mut host) {
            Dequeue::Packet(_) => times.push(now.0 / 1000 - 1_000_000),
            Dequeue::NotBefore(time) => {
                assert!(time > now);
                now = time;
            }
            Dequeue::Empty => panic!("packets wait"),
        }
    }
    assert_eq!(queue.dequeue(now, &mut host), Dequeue::Empty, "nothing waits");
    times
}

#[test]
fn a_shaper_lets_packets_leave_at_its_rate() {
    let rate = ("rate", Value::Rate(Rate(1_000_000)));
    // 1000 bytes last 8 ms, in nanoseconds.
    let expected = [0, 8_000_000, 16_000_000, 24_000_000];
    assert_eq!(departures(core::slice::from_ref(&rate), of_flow(110, 1000), 4), expected);
    // 40 bytes with 40 of overhead are two cells, 106 bytes; 84 bytes are the smallest frame.
    let atm = [rate.clone(), ("overhead", Value::Number(40.0)), ("linklayer", word("atm"))];
    assert_eq!(departures(&atm, of_flow(110, 40), 3), [0, 848_000, 1_696_000]);
    let ethernet = [rate, ("overhead", Value::Number(38.0)), ("mpu", Value::Number(84.0))];
    assert_eq!(departures(&ethernet, of_flow(110, 40), 3), [0, 672_000, 1_344_000]);
    assert_eq!(departures(&[], of_flow(110, 1000), 3), [0; 3]);
}

#[test]
fn a_tin_above_its_threshold_loses_its_priority() {
    let set = [("rate", Value::Rate(Rate(8_000_000))), ("diffserv", word("diffserv4"))];
    let (mut queue, mut host, mut arrivals) = (cake(&set), Ends::default(), Arrivals::default());
    // 1 MB/s: voice has 250 kB/s before others, video 500 kB/s, bulk 62.5 kB/s; best effort gets the rest.
    let code_points = [46, 34, 8, 0];
    for dscp in code_points {
        (0..4).for_each(|_| arrivals.add(&mut queue, ms(1), of_dscp(dscp, 1000), &mut host));
    }
    let (mut now, mut bytes) = (ms(1), BTreeMap::<u8, u32>::new());
    while now < ms(10_001) {
        match queue.dequeue(now, &mut host) {
            Dequeue::Packet(packet) => {
                *bytes.entry(packet.meta.header.dscp()).or_default() += 1000;
                let meta = Meta {
                    bytes: 1000,
                    header: packet.meta.header,
                    flow: packet.meta.flow,
                    ..Meta::default()
                };
                arrivals.add(&mut queue, now, meta, &mut host);
            }
            Dequeue::NotBefore(time) => now = time,
            Dequeue::Empty => panic!("packets wait"),
        }
    }
    let share = |dscp| f64::from(bytes[&dscp]) / 1e7;
    for (dscp, expected) in [(46, 0.25), (34, 0.5), (8, 0.0625), (0, 0.1875)] {
        assert!((share(dscp) - expected).abs() < 0.01, "{dscp}: {}", share(dscp));
    }
    // Alone, each tin has the whole rate.
    for dscp in code_points {
        let alone = departures(&set, of_dscp(dscp, 1000), 101);
        assert_eq!(alone[100], 100_000_000, "{dscp}");
    }
}

#[test]
fn drops_count_where_they_have_crossed_the_bottleneck() {
    let run = |ingress| {
        let set = [("rate", Value::Rate(Rate(8_000_000))), ("ingress", Value::Flag(ingress))];
        let (mut queue, mut host, mut arrivals) = (cake(&set), Ends::default(), Arrivals::default());
        (0..12).for_each(|_| arrivals.add(&mut queue, ms(0), of_flow(110, 1000), &mut host));
        assert_eq!(served(&mut queue, ms(50), &mut host).payload, 0);
        // Drops are due at 50 + 100/sqrt(2) = 121, 178, 228, 273, 314, 352, 387 ms, and one at the start; the next is at 420 ms.
        assert_eq!(served(&mut queue, ms(400), &mut host).payload, 9);
        assert_eq!(host.dropped, (1..9).collect::<Vec<_>>());
        (0..400).for_each(|_| arrivals.add(&mut queue, ms(400), of_flow(110, 1000), &mut host));
        let mut left = 0;
        while let Dequeue::Packet(_) = queue.dequeue(ms(400), &mut host) {
            left += 1;
        }
        left
    };
    // By the clock 400 ms are over, and a packet takes 1 ms: two have left, eight were dropped.
    assert_eq!([run(false), run(true)], [399, 391]);
}

#[test]
fn washing_clears_the_code_point_behind_the_tins() {
    for wash in [false, true] {
        let (mut queue, mut host) = (cake(&[("wash", Value::Flag(wash))]), Ends::default());
        let mut arrivals = Arrivals::default();
        arrivals.add(&mut queue, ms(1), of_dscp(46, 1000), &mut host);
        let packet = served(&mut queue, ms(1), &mut host);
        assert_eq!(packet.meta.header.dscp(), if wash { 0 } else { 46 });
        assert_eq!(host.left, ["voice"]);
    }
}

#[test]
fn the_shaper_follows_the_rate_of_arrivals() {
    let mut queue = cake(&[("autorate_ingress", Value::Flag(true)), ("diffserv", word("besteffort"))]);
    let (mut host, mut arrivals) = (Ends::default(), Arrivals::default());
    for packet in 0..20_000_u64 {
        let now = Time((packet / 2 * 2000 + packet % 2 * 500) * 1_000_000);
        arrivals.add(&mut queue, now, of_flow(110, 1000), &mut host);
        queue.dequeue(now, &mut host);
    }
    // 1 MB/s comes; 15/16 of it leaves.
    let cake = queue.inner_mut();
    let thousand = cake.shaper.byte_time.of(1000);
    assert!((1_066_000..1_068_000).contains(&thousand), "{thousand} ns");
}

#[test]
fn settings_without_an_effect_are_warned_of() {
    let warnings = |set: &[(&str, Value)]| {
        let mut spec = Spec::new("cake").expect("a preset");
        set.iter().for_each(|(key, value)| spec.set(key, value.clone()).expect("valid"));
        let link = LinkContext { rate: Rate(10_000_000), delay: Span::ZERO };
        spec.resolve(link).expect("valid").warnings
    };
    let memory = [("memlimit", Value::Bytes(100_000)), ("limit", Value::Number(100.0))];
    assert_eq!(warnings(&memory), ["limit has no effect with memlimit"]);
    // Overhead and ingress change the shares of flows also without a rate.
    assert!(warnings(&[("overhead", Value::Number(18.0)), ("ingress", Value::Flag(true))]).is_empty());
    let blind = [("isolation", word("flowblind")), ("nat", Value::Flag(true))];
    assert_eq!(warnings(&blind), ["nat has no effect with isolation = \"flowblind\""]);
}
