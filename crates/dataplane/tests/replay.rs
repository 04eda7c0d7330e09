//! A recording through the data plane and through the simulator: every discipline decides the same about every packet.

mod common;

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use aqmlab_aqm::{Kind, LinkContext, PRESETS, Spec, Value};
use aqmlab_dataplane::capture::{Reader, Writer};
use aqmlab_dataplane::classify::{Classifier, Distance, Group};
use aqmlab_dataplane::replay::{
    Recording, Tables, differences, standalone_plan, through_data_plane, through_simulator,
};
use aqmlab_netsim::plan::{ChannelChange, Line, Link, Plan, Probe, Server};
use aqmlab_netsim::{Column, Recorded};
use aqmlab_units::{Rate, Span, Stream, Time};
use common::{ACK, Ip, PSH, SYN};

const SECONDS: f64 = 3.0;

/// Three groups: the first over IPv4 and in profile, the second over IPv6 with flow labels and priority, the third out of
/// profile.
fn groups() -> Vec<Group> {
    let group = |number: u8, more: &str| {
        let json = format!(
            r#"{{"name": "g{number}", "prefix_a": ["10.77.{number}.0/24", "fd77:0:0:{number}::/64"],
                "prefix_b": ["10.88.{number}.0/24", "fd88:0:0:{number}::/64"], {more}}}"#
        );
        serde_json::from_str(&json).expect("a group")
    };
    vec![
        group(1, r#""hops_before": 1, "dscp": 10"#),
        group(2, r#""hops_before": 4, "flow_label": "ipv6-label", "class": 1"#),
        group(3, r#""hops_before": 2, "dscp": 14, "delay_before_ns": 1500000"#),
    ]
}

/// A capture: Poisson arrivals a fifth above the rate of the link, in bursts and with pauses; of several connections over
/// IPv4 and IPv6, from near and far, with ECN and without, data, acknowledgements, connection set-ups and datagrams, and
/// some bytes that are no packets. Several packets have the same time stamp.
fn capture(seed: u64) -> Vec<u8> {
    let mut stream = Stream::new(seed, "capture");
    let mut writer = Writer::new(Vec::new(), 65_535).expect("a vector takes all");
    let mut ns = 0;
    while (ns as f64) < SECONDS * 1e9 {
        // A second in four has a third of the load, so that queues run empty.
        let mean_ns = if ns / 1_000_000_000 % 4 == 1 { 1_400_000.0 } else { 460_000.0 };
        ns += stream.exponential(mean_ns) as u64;
        for _ in 0..=u64::from(stream.uniform() < 0.1) {
            let packet = packet(&mut stream);
            let kept = if packet.len() > 96 { &packet[..96] } else { &packet };
            writer.write(Time(ns * 1000), kept, packet.len() as u32).expect("a vector takes all");
        }
    }
    writer.finish().expect("a vector takes all")
}

fn packet(stream: &mut Stream) -> Vec<u8> {
    let (group, host) = (1 + stream.below(3), 1 + stream.below(3));
    let mut ends = match stream.below(2) {
        0 => Ip::new(&format!("10.77.{group}.{host}"), &format!("10.88.{group}.1")),
        _ => Ip::new(&format!("fd77:0:0:{group}::{host}"), &format!("fd88:0:0:{group}::1")),
    };
    ends.flow_label = host as u32 * 0x111;
    ends.ttl = 64 - host as u8;
    ends.traffic_class = if host == 2 { 0b10 } else { 0 };
    let ports = (4000 + host as u16, 5201);
    match stream.below(40) {
        0 => ends.tcp(ports, SYN, 1, 0, 0),
        1 | 2 => ends.tcp(ports, ACK, 1, 7, 0),
        3 => ends.udp(ports, 10)[..15].to_vec(),
        // The other direction, from which the way to the far end is known.
        4 => {
            (ends.from, ends.to) = (ends.to, ends.from);
            ends.tcp((5201, ports.0), ACK, 1, 7, 0)
        }
        5..12 => ends.udp(ports, stream.below(1400) as usize),
        _ => ends.tcp(ports, ACK | PSH, stream.bits32(), 7, 500 + stream.below(900) as usize),
    }
}

fn recording(seed: u64) -> Recording {
    let capture = capture(seed);
    let packets = Reader::new(io::Cursor::new(capture)).expect("a capture");
    let mut classifier = Classifier::new(&groups(), Distance::Inferred, 64);
    Recording::of(packets, &mut classifier, 0).expect("packets")
}

/// A link of 10 Mb/s behind a discipline, for these flows.
fn plan(preset: &str, set: &[(&str, Value)], flows: &[String], change: impl Fn(&mut Line)) -> Plan {
    let (rate, delay) = (Rate(10_000_000), Span::from_millis(10));
    let mut spec = Spec::new(preset).expect("a preset");
    for (key, value) in set {
        spec.set(key, value.clone()).expect("a valid value");
    }
    let queue = Arc::new(spec.resolve(LinkContext { rate, delay }).expect("a valid queue"));
    let name = "bottleneck".to_owned();
    let probe = Probe {
        queue_interval: Some(Span::from_millis(10)),
        discipline_interval: Some(Span::from_millis(100)),
        ..Probe::default()
    };
    let (duration, warmup) = (Span::from_secs(SECONDS), Span::from_secs(SECONDS / 7.0));
    let mut line = Line::constant(rate, delay);
    change(&mut line);
    let links = vec![Link { name: name.into(), from: 0, to: 1, line: line.into(), queue }];
    let nodes = ["a".into(), "b".into()];
    let plan = Plan {
        nodes: nodes.into(),
        links: links.into(),
        flows: [].into(),
        hosts: Vec::new(),
        pages: Vec::new(),
        markers: Vec::new(),
        pings: Vec::new(),
        translations: Vec::new(),
        routing: Default::default(),
        duration,
        warmup,
        probe,
    };
    standalone_plan(&plan, 0, flows)
}

fn integers<'t>(tables: &'t Tables, table: &str, name: &str) -> &'t [i64] {
    let (_, columns) = tables.iter().find(|(other, _)| *other == table).expect("the table");
    match columns.iter().find(|(other, _)| *other == name) {
        Some((_, Column::Integer(values))) => values,
        _ => panic!("{table}.{name} is no column of whole numbers"),
    }
}

/// Replays a recording through both and compares; the link's row, and packets that were marked.
fn same(recording: &Recording, plan: &Plan, seed: u64, said: &str) -> (Tables, i64) {
    let (found, out) = through_data_plane(plan, seed, &recording.arrivals);
    let acks: BTreeSet<i32> = recording
        .arrivals
        .iter()
        .filter_map(|arrival| (arrival.meta.header.kind() == Kind::Ack).then_some(arrival.number))
        .collect();
    for shortcuts in [true, false] {
        let simulated = through_simulator(plan, seed, &recording.arrivals, shortcuts);
        assert_eq!(differences(&found, &simulated), [""; 0], "{said}, shortcuts {shortcuts}");
        // Packets that reached the far end also reached the receivers of the simulator, which count all but
        // acknowledgements.
        let received: i64 = integers(&simulated, "flows", "arrived").iter().sum();
        let warmup = Time::ZERO + plan.warmup;
        let after_warmup = out.iter().filter(|(time, n)| *time >= warmup && !acks.contains(n)).count();
        assert_eq!(received, after_warmup as i64, "{said}, shortcuts {shortcuts}");
    }
    let events = integers(&found, "events", "seq");
    assert!(events.len() > recording.arrivals.len(), "{said}: every packet is in the log");
    let marks = integers(&found, "links", "marks")[0];
    (found, marks)
}

#[test]
fn every_discipline_does_the_same_live_and_simulated() {
    let recording = recording(1);
    assert!(recording.arrivals.len() > 3000 && recording.reverse > 50 && recording.malformed.total() > 50);
    assert!(recording.arrivals.iter().any(|r| r.meta.header.ttl_final() > 0));
    for preset in PRESETS.iter() {
        for ecn in [false, true] {
            let set = [("ecn", Value::Flag(ecn))];
            let has_ecn = preset.parameters().iter().any(|parameter| parameter.key == "ecn");
            if ecn && !has_ecn {
                continue;
            }
            let plan = plan(preset.name, if has_ecn { &set } else { &[] }, &recording.flows, |_| ());
            let said = format!("{}, ecn {ecn}", preset.name);
            let (tables, marks) = same(&recording, &plan, 7, &said);
            assert!(integers(&tables, "links", "drops")[0] > 50, "{said}: drops");
            // In a flood PIE drops in place of marking (RFC 8033, section 5.1), and PI's probability has hardly begun to rise.
            let rarely = ["pie", "fq-pie", "pi"].contains(&preset.name);
            assert_eq!(marks > 0, ecn && !rarely, "{said}: {marks} marks");
        }
    }
}

#[test]
fn readings_that_use_more_of_a_header() {
    let recording = recording(2);
    let word = |text: &str| Value::Word(text.to_owned());
    let cases: [(&str, &[(&str, Value)]); 6] = [
        ("ddred", &[("distance", word("fraction"))]),
        ("ddred", &[("distance", word("fraction")), ("ecn", Value::Flag(true)), ("ties", word("random"))]),
        ("ddred-tail", &[("distance", word("fraction")), ("limit", Value::Bytes(40_000))]),
        ("pc-red", &[("loss_limit", Value::Bytes(20)), ("status_refresh", word("on-arrival"))]),
        ("red", &[("limit", Value::Bytes(30_000)), ("ecn", Value::Flag(true))]),
        ("drop-tail", &[("limit", Value::Packets(3.0))]),
    ];
    for (preset, set) in cases {
        let plan = plan(preset, set, &recording.flows, |_| ());
        same(&recording, &plan, 3, &format!("{preset} {set:?}"));
    }
}

#[test]
fn changes_of_the_link_during_the_run() {
    let recording = recording(3);
    let change = |line: &mut Line| {
        let mut at = |s: f64, mbps: Option<u64>, ms: Option<u64>| {
            let server = mbps.map(|mbps| Server::constant(Rate(mbps * 1_000_000)));
            let delay = ms.map(Span::from_millis);
            line.change(Time::from_secs(s), server, &ChannelChange { delay, ..Default::default() });
        };
        at(0.5, Some(5), None);
        at(1.0, None, Some(1));
        at(1.7, Some(20), Some(30));
    };
    for preset in ["drop-tail", "red", "adaptive-red", "ddred"] {
        let plan = plan(preset, &[], &recording.flows, change);
        same(&recording, &plan, 5, preset);
    }
}

/// Server and channel of a link with these keys, and changes, as a scenario file has them.
fn line(keys: &str, changes: &str) -> Line {
    let text = format!(
        "format = 1\n[run]\nduration = \"{SECONDS}s\"\n[[link]]\nname = \"a\"\nfrom = \"x\"\nto = \"y\"\n{keys}\n\
         [[flow]]\nname = \"f\"\ntransport = \"udp\"\nrate = \"1Mbps\"\nfrom = \"x\"\nto = \"y\"\n{changes}"
    );
    let scenario = aqmlab_scenario::parse(&text, "line.toml", &[]).expect("a scenario");
    Line::clone(&scenario.plan.links[0].line)
}

#[test]
fn every_server_and_channel_does_the_same_live_and_simulated() {
    let recording = recording(6);
    let change = |at: &str, what: &str| format!("[[change]]\nat = \"{at}\"\nlink = \"a\"\n{what}\n");
    let outage = change("0.7s", "rate = \"0bps\"") + &change("1.1s", "rate = \"9Mbps\"");
    let constant = "rate = \"10Mbps\"\ndelay = \"10ms\"\n";
    let lossy =
        "loss = 0.05\njitter = { deviation = \"3ms\", distribution = \"normal\", correlation = 0.3 }\n";
    let copying = "reorder = { probability = 0.1, gap = 3 }\nduplicate = 0.08\n";
    let cases = [
        ("an outage", constant.to_owned(), outage.clone()),
        ("an outage as in ns-2", format!("{constant}in_service = \"as-started\""), outage.clone()),
        ("an outage to the end", constant.to_owned(), change("2.2s", "rate = \"0bps\"")),
        ("mahimahi", "rate = { trace = \"0 1*2 2 3 5 40*9 41 47 50*3\" }\ndelay = \"1ms\"".to_owned(), String::new()),
        (
            "interpolated rates, then another trace",
            "rate = { trace = \"0:4000000 200000000:16000000 500000000:0\", between = \"interpolate\" }\ndelay = \"5ms\""
                .to_owned(),
            change("1.5s", "rate = { trace = \"0:12000000 30000000:0 50000000:1000\" }"),
        ),
        ("loss in bursts", format!("{constant}loss = {{ p = 0.02, r = 0.3 }}"), String::new()),
        ("loss and jitter", format!("{constant}{lossy}"), outage.clone()),
        ("jitter in order", format!("{constant}jitter = {{ deviation = \"9ms\", order = \"kept\" }}"), String::new()),
        ("copies", format!("{constant}{copying}"), String::new()),
        (
            "all, and changes",
            format!("{constant}{lossy}{copying}"),
            outage + &change("1.3s", "loss = 0.3\njitter = \"0ms\"\ndelay = \"2ms\"")
                + &change("2s", "duplicate = 1\nloss = 0"),
        ),
    ];
    for (name, keys, changes) in &cases {
        for preset in ["drop-tail", "red", "codel"] {
            let plan = plan(preset, &[], &recording.flows, |other| *other = line(keys, changes));
            let (tables, _) = same(&recording, &plan, 11, &format!("{name}, {preset}"));
            let is_impaired = ["loss", "jitter", "duplicate"].iter().any(|key| keys.contains(key));
            let losses = integers(&tables, "channels", "losses");
            assert_eq!(losses.len(), usize::from(is_impaired), "{name}");
            assert_eq!(losses.iter().any(|n| *n > 20), keys.contains("loss"), "{name}: {losses:?}");
            let copies = integers(&tables, "channels", "copies");
            assert_eq!(copies.iter().any(|n| *n > 20), keys.contains("duplicate"), "{name}: {copies:?}");
        }
    }
}

#[test]
fn another_seed_is_another_run_and_would_be_noticed() {
    let recording = recording(4);
    let plan = plan("red", &[], &recording.flows, |_| ());
    let (found, _) = through_data_plane(&plan, 1, &recording.arrivals);
    let other = through_simulator(&plan, 2, &recording.arrivals, true);
    assert!(!differences(&found, &other).is_empty());
}

#[test]
fn a_capture_of_more_packets_than_a_link_has_buffers() {
    let mut recording = recording(5);
    let some = recording.arrivals.clone();
    let packet = |number: i32, mut one: Recorded| {
        one.meta.arrival = Time::ZERO + Span(number as u64 * 100_000_000);
        Recorded { number, ..one }
    };
    recording.arrivals = (0..20_000).zip(some.into_iter().cycle()).map(|(n, one)| packet(n, one)).collect();
    let plan = plan("drop-tail", &[], &recording.flows, |_| ());
    let (tables, _) = same(&recording, &plan, 1, "a long capture");
    assert!(integers(&tables, "links", "drops")[0] > 1000);
}
