//! The victim of every rule and at every boundary, against a queue that is searched packet by packet.

mod common;

use aqmlab_aqm::{Dequeue, DropReason, Ecn, Gauge, Header, Host, Meta, Packet, Qdisc, Value};
use aqmlab_units::{Stream, Time};
use common::{build, word};
use proptest::prelude::*;

/// Records dropped and marked packets; `below` returns the test's choice, or a random number.
struct Recorder {
    rng: Stream,
    pick: Option<u64>,
    picked: Option<u64>,
    dropped: Vec<(u32, DropReason)>,
    marks: u32,
}

impl Recorder {
    fn new(seed: u64) -> Self {
        Self { rng: Stream::new(seed, "victims"), pick: None, picked: None, dropped: Vec::new(), marks: 0 }
    }
}

impl Host<u32> for Recorder {
    fn uniform(&mut self) -> f64 {
        self.rng.uniform()
    }
    fn below(&mut self, n: u64) -> u64 {
        let pick = self.pick.unwrap_or_else(|| self.rng.below(n));
        assert!(pick < n);
        self.picked = Some(pick);
        pick
    }
    fn dropped(&mut self, packet: Packet<u32>, reason: DropReason) {
        self.dropped.push((packet.payload, reason));
    }
    fn marked(&mut self, packet: &Packet<u32>, _reason: DropReason) {
        assert_eq!(packet.meta.header.ecn(), Ecn::Ce);
        self.marks += 1;
    }
}

fn hops(payload: u32, hops: u8) -> Packet<u32> {
    let header = Header::default().with_ttl_initial(64).with_ttl(64 - hops);
    let meta = Meta { bytes: 1000, flow: payload, header, ..Meta::default() };
    Packet { meta, payload }
}

/// A queue of the preset that never drops early, with this limit.
fn calm(aqm: &str, limit: f64, more: &[(&str, Value)]) -> aqmlab_aqm::Discipline<u32> {
    let mut set = vec![("limit", Value::Packets(limit))];
    if aqm != "ddred-tail" {
        set.extend([("min_th", Value::Packets(1e6)), ("max_th", Value::Packets(2e6))]);
    }
    set.extend(more.iter().cloned());
    build(aqm, 1_000_000, &set)
}

/// Fills a queue of limit n with packets 0 to n - 1 of these distances and lets one more arrive.
fn overflow(aqm: &str, more: &[(&str, Value)], distances: &[u8]) -> Vec<(u32, DropReason)> {
    let mut queue = calm(aqm, (distances.len() - 1) as f64, more);
    let mut host = Recorder::new(1);
    for (i, &d) in distances.iter().enumerate() {
        queue.enqueue(Time::ZERO, hops(i as u32, d), &mut host);
    }
    assert_eq!(queue.backlog().packets as usize, distances.len() - 1);
    host.dropped
}

#[test]
fn ddred_at_a_full_buffer() {
    let over = |packet| vec![(packet, DropReason::OVERFLOW)];
    assert_eq!(overflow("ddred", &[], &[3, 1, 2, 4]), over(1), "the nearest");
    assert_eq!(overflow("ddred", &[], &[3, 1, 1, 4]), over(2), "the newest of two");
    assert_eq!(overflow("ddred", &[], &[3, 1, 2, 1]), over(3), "the arriving one is the newest");
    assert_eq!(overflow("ddred", &[], &[2, 2]), over(1), "one packet");
    assert_eq!(overflow("ddred", &[("ties", word("oldest"))], &[3, 1, 1, 1]), over(1), "the oldest");
    assert_eq!(overflow("ddred", &[("search", word("early"))], &[3, 1, 2, 4]), over(3), "no search");
}

#[test]
fn ddred_tail_looks_at_the_last_n() {
    let tail =
        |n: f64, distances: &[u8]| overflow("ddred-tail", &[("last_n", Value::Number(n))], distances)[0].0;
    assert_eq!(tail(1.0, &[1, 3, 2, 3]), 2, "the last one is nearer");
    assert_eq!(tail(1.0, &[1, 3, 3, 3]), 3, "a tie is the arriving one's");
    assert_eq!(tail(2.0, &[1, 2, 3, 4]), 1, "two are looked at");
    assert_eq!(tail(2.0, &[1, 3, 3, 4]), 2, "the newest of two");
    assert_eq!(tail(99.0, &[1, 2, 3, 4]), 0, "all are looked at");
    assert_eq!(tail(1.0, &[2, 1]), 1, "one packet in the buffer");
}

/// A queue with max_th so low that every packet is forced out, unless nothing waits.
fn forced(aqm: &str, more: &[(&str, Value)]) -> aqmlab_aqm::Discipline<u32> {
    let points = Value::Points(vec![(0.0, 1.0), (1.0, 1.0)]);
    let mut set = vec![
        ("curve", word("points")),
        ("points", points),
        ("guard_one", Value::Flag(false)),
        ("w_q", Value::Number(1.0)),
    ];
    set.extend(more.iter().cloned());
    build(aqm, 1_000_000, &set)
}

#[test]
fn with_nothing_in_the_queue_the_arriving_packet_pays() {
    for aqm in ["red", "pc-red", "ddred"] {
        let mut queue = forced(aqm, &[]);
        let mut host = Recorder::new(1);
        queue.enqueue(Time::ZERO, hops(7, 2), &mut host);
        assert_eq!(host.dropped, [(7, DropReason::FORCED)], "{aqm}");
        assert_eq!(queue.backlog().packets, 0);
    }
}

/// PC-RED with packets whose flows' QOSA bits are given, one arriving; `pick` is the packet picked first.
fn pc_red(scan: &str, protected: &[bool], pick: u64) -> u32 {
    pc_red_with(&[("scan", word(scan))], protected, pick)
}

fn pc_red_with(set: &[(&'static str, Value)], protected: &[bool], pick: u64) -> u32 {
    // A flow is protected from its first loss on: w x is above L.
    let mut more = vec![("loss_limit", Value::Bytes(1)), ("loss_weight", Value::Number(0.9))];
    more.extend(set.iter().cloned());
    let mut queue = calm("pc-red", (protected.len() - 1) as f64, &more);
    let mut host = Recorder::new(1);
    let of = |flow: u32, payload: u32| {
        let header = Header::default().with_class(u8::from(flow == 1));
        let meta = Meta { bytes: 1000, flow, header, ..Meta::default() };
        Packet { meta, payload }
    };
    // Flow 1 loses a packet at a full buffer, then the queue is emptied.
    host.pick = Some(0);
    for _ in 0..protected.len() {
        queue.enqueue(Time::ZERO, of(1, 99), &mut host);
    }
    while let Dequeue::Packet(_) = queue.dequeue(Time::ZERO, &mut host) {}
    host.dropped.clear();
    host.pick = Some(pick);
    for (i, &p) in protected.iter().enumerate() {
        queue.enqueue(Time::ZERO, of(if p { 1 } else { 2 }, i as u32), &mut host);
    }
    assert_eq!(host.dropped.len(), 1);
    host.dropped[0].0
}

#[test]
fn pc_red_scans_towards_the_tail() {
    assert_eq!(pc_red("to-tail", &[false, true, false, true], 0), 0, "the one picked");
    assert_eq!(pc_red("to-tail", &[false, true, false, true], 1), 2, "the next that is not protected");
    assert_eq!(pc_red("to-tail", &[false, true, true, true], 1), 3, "the last whatever its bit");
    assert_eq!(pc_red("to-tail", &[true, true, true], 0), 2, "all protected");
    assert_eq!(pc_red("to-tail", &[true, false], 1), 1, "the arriving one picked");
    assert_eq!(pc_red("circular", &[false, true, true, true], 1), 0, "on from the head");
    assert_eq!(pc_red("circular", &[true, true, true], 1), 2, "all protected");
}

/// Flow 1 loses its packet while others of it wait, which came without the bit.
#[test]
fn pc_red_asks_the_list_at_the_pick() {
    let picks = |refresh: &str, set: &[(&'static str, Value)], pick: u64| {
        let mut more = vec![
            ("loss_limit", Value::Bytes(1)),
            ("loss_weight", Value::Number(0.9)),
            ("status_refresh", word(refresh)),
        ];
        more.extend(set.iter().cloned());
        let mut queue = calm("pc-red", 4.0, &more);
        let mut host = Recorder::new(1);
        let of = |flow: u32, payload: u32| {
            let header = Header::default().with_class(u8::from(flow == 1));
            Packet { meta: Meta { bytes: 1000, flow, header, ..Meta::default() }, payload }
        };
        host.pick = Some(0);
        // Packet 0 of flow 1 is lost to the fifth; then 1 and 2 wait without the bit, and their flow is protected.
        for (i, flow) in [1, 1, 1, 2, 2].into_iter().enumerate() {
            queue.enqueue(Time::ZERO, of(flow, i as u32), &mut host);
        }
        host.pick = Some(pick);
        queue.enqueue(Time::ZERO, of(2, 5), &mut host);
        host.dropped.iter().map(|&(packet, _)| packet).collect::<Vec<_>>()
    };
    assert_eq!(picks("on-drop", &[], 0), [0, 1], "the bits of the arrival");
    assert_eq!(picks("at-pick", &[], 0), [0, 3], "the first whose flow is not protected");
    assert_eq!(picks("at-pick", &[], 3), [0, 4], "the one picked");
    assert_eq!(
        pc_red_with(&[("status_refresh", word("at-pick"))], &[true, true, true], 0),
        2,
        "all protected: the last"
    );
    let circular = [("status_refresh", word("at-pick")), ("scan", word("circular"))];
    assert_eq!(pc_red_with(&circular, &[false, true, true, true], 1), 0, "on from the head");
    assert_eq!(pc_red_with(&circular, &[true, true, true], 1), 2, "all protected");
}

#[test]
fn pc_red_searches_at_early_drops_alone() {
    let early = [("search", word("early"))];
    assert_eq!(pc_red_with(&early, &[false, false, false], 0), 2, "an overflow takes the arriving packet");
}

/// The bits with which packets leave a PC-RED queue, and which packet is dropped for the last one at a full buffer if the first is
/// picked; no flow has priority.
fn pc_red_bits(qosa: &str, bits: &[bool]) -> (Vec<bool>, u32) {
    let mut queue = calm("pc-red", (bits.len() - 1) as f64, &[("qosa", word(qosa))]);
    let mut host = Recorder::new(1);
    host.pick = Some(0);
    for (i, &bit) in (0..).zip(bits) {
        let mut packet = of_flow(i, i);
        packet.meta.header.set_qosa(bit);
        queue.enqueue(Time::ZERO, packet, &mut host);
    }
    let left = core::iter::from_fn(|| match queue.dequeue(Time::ZERO, &mut host) {
        Dequeue::Packet(packet) => Some(packet.meta.header.qosa()),
        _ => None,
    });
    let left = left.collect();
    (left, host.dropped[0].0)
}

#[test]
fn pc_red_honours_or_overwrites_the_bit_of_an_earlier_queue() {
    assert_eq!(pc_red_bits("overwritten", &[true, true, false, true]), (vec![false; 3], 0));
    assert_eq!(pc_red_bits("honoured", &[true, true, false, true]), (vec![true; 3], 2));
    assert_eq!(pc_red_bits("honoured", &[true, false, false, true]), (vec![true, false, true], 1));
    assert_eq!(pc_red_bits("honoured", &[true; 4]), (vec![true; 3], 3));
}

/// The gauges of a PC-RED queue with these limits in which flows of levels 0 to 3 have lost a packet of 1000 bytes each, and its
/// warning.
fn pc_red_levels(limits: &[u64]) -> (Vec<(&'static str, f64)>, Vec<String>) {
    let more = [
        ("loss_limit", Value::BytesByLevel(limits.to_vec())),
        ("loss_weight", Value::Number(0.1)),
        ("guard_one", Value::Flag(false)),
    ];
    let mut queue = forced("pc-red", &more);
    let mut host = Recorder::new(1);
    for level in 0..4 {
        let header = Header::default().with_class(level);
        let meta = Meta { bytes: 1000, flow: level.into(), header, ..Meta::default() };
        queue.enqueue(Time::ZERO, Packet { meta, payload: 0 }, &mut host);
    }
    assert_eq!(host.dropped.len(), 4);
    let mut seen = Vec::new();
    queue.gauges(Time::ZERO, &mut |gauge, value| {
        if let Gauge::State(name) = gauge {
            seen.push((name, value));
        }
    });
    (seen, queue.warnings())
}

#[test]
fn pc_red_compares_each_flow_with_the_limit_of_its_level() {
    let gauge = |limits, name| {
        let found = pc_red_levels(limits).0.into_iter().find(|gauge| gauge.0 == name);
        found.map(|gauge| gauge.1)
    };
    // a_d is L/2 + 0.1 * 1000: 200 (L = 200), 150 (100) and 105 (10) bytes. Only above L a flow is protected.
    let three = &[200, 100, 10];
    assert_eq!(
        ["a_d_level_1", "a_d_level_2", "a_d_level_3"].map(|name| gauge(three, name)),
        [200.0, 150.0, 105.0].map(Some)
    );
    assert_eq!((gauge(three, "n_p_plus"), gauge(three, "n_p_minus")), (Some(2.0), Some(1.0)));
    assert_eq!((gauge(three, "a_d_non"), gauge(three, "a_d_level_4")), (Some(100.0), None));
    assert_eq!(pc_red_levels(three).1, [""; 0]);
    // Levels 2 and 3 have the last limit.
    let two = &[200, 100];
    assert_eq!((gauge(two, "a_d_level_2"), gauge(two, "n_p_plus")), (Some(150.0), Some(2.0)));
    let warning = "flows ask for level 3, but loss_limit has 2 levels; they have the last";
    assert_eq!(pc_red_levels(two).1, [warning]);
    // One limit is that of all flows with priority, whatever their level.
    assert_eq!((gauge(&[200], "a_d_high"), gauge(&[200], "a_d_level_1")), (Some(200.0), None));
    assert_eq!(pc_red_levels(&[200]).1, [""; 0]);
}

#[test]
fn ecn_marks_the_victim_in_the_queue() {
    let more = [("ecn", Value::Flag(true)), ("mark_forced", Value::Flag(true))];
    let mut queue = forced("ddred", &more);
    let mut host = Recorder::new(1);
    let ect = |payload, distance| {
        let mut packet = hops(payload, distance);
        packet.meta.header.set_ecn(Ecn::Ect);
        packet
    };
    queue.enqueue(Time::ZERO, ect(0, 3), &mut host);
    queue.enqueue(Time::ZERO, ect(1, 1), &mut host);
    queue.enqueue(Time::ZERO, ect(2, 2), &mut host);
    assert_eq!((host.dropped.len(), host.marks), (0, 3));
    let mut left = Vec::new();
    while let Dequeue::Packet(p) = queue.dequeue(Time::ZERO, &mut host) {
        left.push((p.payload, p.meta.header.ecn()));
    }
    // Packet 0 was alone and marked itself; its mark stood for packet 1's arrival, and packet 1's for packet 2's.
    assert_eq!(left, [(0, Ecn::Ce), (1, Ecn::Ce), (2, Ecn::Ect)]);
    // A victim that cannot be marked is dropped, even if the arriving packet can be.
    let mut queue = forced("ddred", &more);
    let mut host = Recorder::new(1);
    queue.enqueue(Time::ZERO, ect(0, 3), &mut host);
    let mut not_ect = hops(1, 1);
    not_ect.meta.header.set_ecn(Ecn::NotEct);
    queue.enqueue(Time::ZERO, not_ect, &mut host);
    queue.enqueue(Time::ZERO, ect(2, 2), &mut host);
    assert_eq!((host.dropped.clone(), host.marks), (vec![(1, DropReason::FORCED)], 2));
}

proptest! {
    /// DDRED under load: the victim is the one that a scan of the whole queue finds.
    #[test]
    fn ddred_finds_what_a_scan_finds(
        ops in prop::collection::vec((any::<bool>(), 1u8..6, 0u64..9_000_000_000), 1..500),
        ties in prop_oneof![Just("newest"), Just("oldest")],
        candidate: bool, seed: u64,
    ) {
        let set = [
            ("w_q", Value::Number(0.2)), ("limit", Value::Packets(20.0)), ("ties", word(ties)),
            ("arrival_is_candidate", Value::Flag(candidate)),
        ];
        let mut queue = build("ddred", 1_000_000, &set);
        let mut host = Recorder::new(seed);
        let (mut waiting, mut now) = (Vec::<(u32, u8)>::new(), Time::ZERO);
        for (i, (arrives, distance, gap)) in ops.into_iter().enumerate() {
            now = Time(now.0 + gap);
            if !arrives {
                let next = if waiting.is_empty() { None } else { Some(waiting.remove(0).0) };
                let served = match queue.dequeue(now, &mut host) {
                    Dequeue::Packet(p) => Some(p.payload),
                    _ => None,
                };
                prop_assert_eq!(served, next);
                continue;
            }
            host.dropped.clear();
            queue.enqueue(now, hops(i as u32, distance), &mut host);
            let competes =
                |reason| candidate || waiting.is_empty() || reason == DropReason::OVERFLOW;
            let arrival = (i as u32, distance);
            let victim = host.dropped.first().map(|&(victim, reason)| {
                let mut among = waiting.clone();
                if competes(reason) {
                    among.push(arrival);
                }
                let least = among.iter().map(|x| x.1).min().expect("a candidate");
                let mut nearest = among.iter().filter(|x| x.1 == least);
                let expected = if ties == "newest" { nearest.next_back() } else { nearest.next() };
                (victim, expected.expect("a nearest").0)
            });
            waiting.push(arrival);
            if let Some((victim, expected)) = victim {
                prop_assert_eq!(victim, expected);
                waiting.retain(|x| x.0 != victim);
            }
            prop_assert_eq!(queue.backlog().packets as usize, waiting.len());
        }
    }

    /// PC-RED under load: from the packet picked on, the first of a flow that was not protected when it came.
    #[test]
    fn pc_red_takes_the_packet_that_it_should(
        ops in prop::collection::vec((any::<bool>(), 0u32..6, 0u64..9_000_000_000), 1..500), seed: u64,
    ) {
        let set = [
            ("w_q", Value::Number(0.2)), ("limit", Value::Packets(20.0)), ("loss_weight", Value::Number(0.1)),
            ("min_th", Value::Packets(3.0)), ("max_th", Value::Packets(9.0)),
            ("loss_limit", Value::BytesByLevel(vec![70, 150])),
        ];
        let (w, g, limits) = (0.1, 0.36, [f64::INFINITY, 70.0, 150.0]);
        let mut queue = build("pc-red", 1_000_000, &set);
        let mut host = Recorder::new(seed);
        let mut flows = std::collections::BTreeMap::<u32, (f64, Time)>::new();
        let (mut waiting, mut now) = (Vec::<(u32, u32, bool)>::new(), Time::ZERO);
        for (i, (arrives, flow, gap)) in ops.into_iter().enumerate() {
            now = Time(now.0 + gap);
            if !arrives {
                queue.dequeue(now, &mut host);
                if !waiting.is_empty() {
                    waiting.remove(0);
                }
                continue;
            }
            host.dropped.clear();
            // Flows 0 to 2 have levels 1, 2 and 3, which is as 2.
            let level = if flow < 3 { flow as u8 + 1 } else { 0 };
            let limit = limits[usize::from(level.min(2))];
            let header = Header::default().with_class(level);
            let meta = Meta { bytes: 1000, flow, header, ..Meta::default() };
            queue.enqueue(now, Packet { meta, payload: i as u32 }, &mut host);
            let start = if level > 0 { limit / 2.0 } else { 0.0 };
            let (a_d, _) = *flows.entry(flow).or_insert((start, now));
            waiting.push((i as u32, flow, a_d > limit));
            if let Some(&(victim, _)) = host.dropped.first() {
                let picked = host.picked.expect("a pick") as usize;
                let index = (picked..waiting.len()).find(|&j| !waiting[j].2).unwrap_or(waiting.len() - 1);
                prop_assert_eq!(victim, waiting[index].0);
                let (_, flow, _) = waiting.remove(index);
                let (a_d, last) = flows[&flow];
                let m = now.since(last).secs() / g;
                flows.insert(flow, (a_d * libm::pow(1.0 - w, m) + w * 1000.0, now));
            }
            prop_assert_eq!(queue.backlog().packets as usize, waiting.len());
        }
    }
}

/// A CHOKe queue whose average is its length, with these flows waiting.
fn choke(flows: &[u32], more: &[(&str, Value)]) -> aqmlab_aqm::Discipline<u32> {
    let mut set = vec![
        ("w_q", Value::Number(1.0)),
        ("min_th", Value::Packets(3.0)),
        ("max_th", Value::Packets(1e6)),
        ("max_p", Value::Number(0.0)),
    ];
    set.extend(more.iter().cloned());
    let mut queue = build("choke", 1_000_000, &set);
    let mut host = Recorder::new(1);
    // No packet is compared with one of another flow: at first no two are of one.
    for (i, _) in flows.iter().enumerate() {
        host.pick = Some(0);
        queue.enqueue(Time::ZERO, of_flow(i as u32, flows[i]), &mut host);
    }
    assert_eq!(queue.backlog().packets as usize, flows.len());
    queue
}

fn of_flow(payload: u32, flow: u32) -> Packet<u32> {
    Packet { meta: Meta { bytes: 1000, flow, ..Meta::default() }, payload }
}

#[test]
fn choke_drops_both_of_a_flow() {
    let early = |packets: &[u32]| packets.iter().map(|&p| (p, DropReason::EARLY)).collect::<Vec<_>>();
    for (pick, expected, left) in [(0, vec![], 5), (2, early(&[2, 4]), 3)] {
        let mut queue = choke(&[10, 11, 12, 13], &[]);
        let mut host = Recorder::new(1);
        host.pick = Some(pick);
        queue.enqueue(Time::ZERO, of_flow(4, 12), &mut host);
        assert_eq!((host.dropped, queue.backlog().packets), (expected, left));
    }
    // Up to min_th, which is 3, nothing is drawn.
    for flows in [&[10, 11][..], &[10, 11, 12]] {
        let mut queue = choke(flows, &[]);
        let mut host = Recorder::new(1);
        queue.enqueue(Time::ZERO, of_flow(3, 11), &mut host);
        assert_eq!((host.picked, host.dropped.len()), (None, 0));
    }
}

#[test]
fn choke_drops_a_match_where_ecn_is_on() {
    let mut queue = choke(&[10, 11, 12, 13], &[("ecn", Value::Flag(true))]);
    let mut host = Recorder::new(1);
    host.pick = Some(3);
    let mut packet = of_flow(4, 13);
    packet.meta.header.set_ecn(Ecn::Ect);
    queue.enqueue(Time::ZERO, packet, &mut host);
    assert_eq!((host.marks, host.dropped.len()), (0, 2));
}

#[test]
fn choke_draws_several() {
    // The first drawn is dropped, so the same place has another packet then: of flow 12, and of flow 13.
    let mut queue = choke(&[10, 11, 12, 12, 13], &[("candidates", Value::Number(3.0))]);
    let mut host = Recorder::new(1);
    host.pick = Some(2);
    queue.enqueue(Time::ZERO, of_flow(5, 12), &mut host);
    assert_eq!(host.dropped.iter().map(|d| d.0).collect::<Vec<_>>(), [2, 3, 5]);
}

/// Of a flow that has a share s of a long queue, 1 - s of the arrivals find no match.
#[test]
fn choke_spares_who_has_little() {
    let mut dropped = [0u32; 2];
    let flows: Vec<u32> = (0..1000).map(|i| u32::from(i % 10 != 0)).collect();
    for flow in [0, 1] {
        let mut host = Recorder::new(7);
        for _ in 0..400 {
            // Flow 0 has a tenth of what waits.
            let mut fresh =
                build("choke", 1_000_000, &[("w_q", Value::Number(1e-9)), ("limit", Value::Packets(1e6))]);
            let mut calm = Recorder::new(1);
            for (i, &flow) in flows.iter().take(100).enumerate() {
                fresh.enqueue(Time::ZERO, of_flow(i as u32, flow), &mut calm);
            }
            if let aqmlab_aqm::Discipline::Red(red) = &mut fresh {
                *red.average_mut() = aqmlab_aqm::red::average::Average::Ewma(
                    aqmlab_aqm::red::average::Ewma::new(1.0, 1.0, aqmlab_aqm::red::AtIdle::Real, false),
                );
            }
            let before = host.dropped.len();
            fresh.enqueue(Time::ZERO, of_flow(1000, flow), &mut host);
            dropped[flow as usize] += u32::from(host.dropped.len() == before + 2);
        }
    }
    let [few, many] = dropped.map(|n| f64::from(n) / 400.0);
    assert!((few - 0.1).abs() < 0.05 && (many - 0.9).abs() < 0.05, "{few} {many}");
}
