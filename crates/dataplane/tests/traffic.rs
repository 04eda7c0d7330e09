//! UDP of live runs: the packets scheduled are those that the simulator sends, and datagrams that leave a socket
//! arrive.

use std::io::{BufReader, Cursor, Write};
use std::sync::Arc;

use aqmlab_aqm::{LinkContext, Spec};
use aqmlab_dataplane::clock;
use aqmlab_dataplane::traffic::{self, Role, Schedule, TrafficRequest};
use aqmlab_netsim::plan::{
    Ends, Flow, Length, Line, Link, Pattern, Plan, Probe, Spread, Start, TTL, Transport,
};
use aqmlab_netsim::{Column, Options, Simulation};
use aqmlab_units::{Rate, Span, Time};
use serde_json::{Value, json};

/// Times and lengths of the packets of a flow that the simulator sends: on for 1 s from 0.25 s on, and again from 2 s.
fn simulated(packet: Length, pattern: Pattern, seed: u64) -> Vec<(u64, i64)> {
    let (rate, delay) = (Rate(100_000_000), Span::from_millis(1));
    let spec = Spec::new("drop-tail").expect("a preset");
    let queue = Arc::new(spec.resolve(LinkContext { rate, delay }).expect("a queue"));
    let link = Link { name: "link".into(), from: 0, to: 1, line: Line::constant(rate, delay).into(), queue };
    let flow = Flow {
        name: "noise 3".into(),
        group: "noise".into(),
        ends: Ends::At(0, 1),
        start: Start::At(Time::from_secs(0.25)),
        stop: Some(Time::from_secs(1.25)),
        again: vec![(Time::from_secs(2.0), Time::NEVER)],
        dscp: 0,
        class: 0,
        ttl: TTL,
        acks_share_label: false,
        hosts: [0; 2],
        transport: Arc::new(Transport::Udp { rate: Rate(1_000_000), packet, pattern }),
    };
    let plan = Plan {
        nodes: ["a".into(), "b".into()].into(),
        links: [link].into(),
        flows: [flow].into(),
        hosts: Vec::new(),
        pages: Vec::new(),
        markers: Vec::new(),
        pings: Vec::new(),
        translations: Vec::new(),
        routing: Default::default(),
        duration: Span::from_secs(3.0),
        warmup: Span::ZERO,
        probe: Probe { links: vec![0], events: true, ..Probe::default() },
    };
    let mut simulation = Simulation::new(&plan, seed, Options::default());
    simulation.finish();
    let tables = simulation.into_tables();
    let (_, events) = tables.iter().find(|(name, _)| *name == "events").expect("a log");
    let column = |name| &events.iter().find(|(column, _)| *column == name).expect("a column").1;
    let (Column::Integer(t), Column::Integer(bytes), Column::Text(kinds)) =
        (column("t_ps"), column("bytes"), column("kind"))
    else {
        panic!("columns of other kinds");
    };
    let offered = kinds.iter().zip(t.iter().zip(bytes)).filter(|(kind, _)| *kind == "+");
    offered.map(|(_, (&t, &bytes))| (t as u64, bytes)).collect()
}

fn scheduled(packet: &Value, pattern: &Value, seed: u64) -> Vec<(u64, i64)> {
    let request = json!({
        "seed": seed, "duration_s": 3, "flows": [{
            "name": "noise 3", "local": "127.0.0.1", "peer": "127.0.0.1", "port": 9, "rate_bps": 1_000_000,
            "periods_s": [[0.25, 1.25], [2, null]], "packet": packet, "pattern": pattern,
        }],
    });
    let request = TrafficRequest::from_json(&request.to_string()).expect("a request");
    let schedule = Schedule::new(&request.flows[0], request.seed, Time::from_secs(request.duration_s));
    schedule.map(|due| (due.time.0, i64::from(due.bytes))).collect()
}

#[test]
fn what_is_to_leave_is_what_the_simulator_sends() {
    let lengths = [
        (Length::fixed(700), json!(700)),
        (Length::drawn(Spread::Exponential(900.0)), json!({"exponential": 900, "unit": "B"})),
        (Length::drawn(Spread::Uniform(40.0, 1500.0)), json!({"uniform": [40, 1500], "unit": "B"})),
    ];
    let on_off =
        Pattern::OnOff { on: Spread::Exponential(0.05), off: Spread::Pareto { mean: 0.1, shape: 1.5 } };
    let patterns = [
        (Pattern::Constant, json!("constant")),
        (Pattern::Poisson, json!("poisson")),
        (on_off, json!({"on": {"exponential": 0.05}, "off": {"pareto": {"mean": 0.1, "shape": 1.5}}})),
    ];
    for (length, packet) in &lengths {
        for (pattern, when) in &patterns {
            let expected = simulated(length.clone(), pattern.clone(), 5);
            assert!(expected.len() > 50, "{packet}, {when}");
            assert_eq!(scheduled(packet, when, 5), expected, "{packet}, {when}");
            let drawn = length.same().is_none() || *pattern != Pattern::Constant;
            assert_eq!(scheduled(packet, when, 6) != expected, drawn, "{packet}, {when}");
        }
    }
}

/// Runs a role with this request; what it says at the end.
fn process(role: Role, request: &Value, start_s: f64) -> Value {
    let mut replies = Cursor::new(Vec::new());
    let requests = format!("{request}\nstart {start_s}\n");
    traffic::run(role, BufReader::new(requests.as_bytes()), &mut replies).expect("a run");
    replies.flush().expect("a vector");
    let replies = String::from_utf8(replies.into_inner()).expect("text");
    let (ready, found) = replies.split_once('\n').expect("two lines");
    assert_eq!(ready, "ready");
    serde_json::from_str(found).expect("JSON")
}

#[test]
fn what_leaves_a_socket_arrives() {
    let flow = |name: &str, ends: &str, port: u16, rate_bps: u32, packet: Value| {
        json!({
            "name": name, "local": ends, "peer": ends, "port": port, "periods_s": [[0, 0.2]], "rate_bps": rate_bps,
            "packet": packet, "pattern": "poisson", "dscp": 10,
        })
    };
    // A packet of 20 bytes has no room for its headers, one of 3000 none on the wire.
    let flows = json!([
        flow("f", "127.0.0.1", 47_301, 2_000_000, json!({"exponential": 800})),
        flow("g", "127.0.0.2", 47_302, 2_000_000, json!(3000)),
        flow("h", "127.0.0.3", 47_303, 100_000, json!(20)),
    ]);
    let request = json!({"seed": 3, "duration_s": 0.3, "warmup_s": 0.1, "linger_s": 2, "flows": flows});
    let start_s = clock::now() as f64 / 1e9 + 1.5;
    let (sent, received) = std::thread::scope(|scope| {
        let sink = scope.spawn(|| process(Role::Sink, &request, start_s));
        // The sink has its sockets by then.
        std::thread::sleep(std::time::Duration::from_millis(1000));
        let sent = process(Role::Source, &request, start_s);
        (sent, sink.join().expect("a sink"))
    });
    for (i, name) in ["f", "g", "h"].into_iter().enumerate() {
        let (sent, received) = (&sent["flows"][i], &received["flows"][i]);
        assert_eq!((&sent["name"], &received["name"]), (&json!(name), &json!(name)));
        assert_eq!(sent["sent"], received["received"], "{name}");
        assert!(sent["sent"]["packets"].as_u64() > Some(5) && sent["refused"] == 0, "{sent}");
        let measured = sent["measured"]["packets"].as_u64();
        assert!(measured > Some(0) && measured < sent["sent"]["packets"].as_u64(), "{sent}");
    }
    let count = |i: usize, key: &str| sent["flows"][i][key].as_u64();
    let all = |i: usize| sent["flows"][i]["sent"]["packets"].as_u64();
    assert_eq!((count(1, "shortened"), count(2, "lengthened")), (all(1), all(2)));
    assert_eq!((count(1, "lengthened"), count(2, "shortened")), (Some(0), Some(0)));
    assert_eq!(received["flows"][0]["late"], 0);
    assert_eq!(received["flows"][1]["received"]["bytes"].as_u64(), all(1).map(|n| 1500 * n));
    assert!(sent["lateness_us"]["n"].as_u64() > Some(30));
}

#[test]
fn errors_of_a_request_are_one_line() {
    let run = |request: &str| {
        let said =
            traffic::run(Role::Sink, request.as_bytes(), std::io::sink()).expect_err("an error").to_string();
        assert!(!said.contains('\n'), "{said}");
        said
    };
    assert!(run("").starts_with("traffic request"));
    let flow = |name: &str| {
        json!({
            "name": name, "local": "127.0.0.1", "peer": "127.0.0.1", "port": 47_310, "periods_s": [], "rate_bps": 1,
            "packet": 9, "pattern": "constant",
        })
    };
    let said = run(&json!({"duration_s": 1, "flows": [flow("f"), flow("g")]}).to_string());
    assert!(said.starts_with("flow g cannot receive at 127.0.0.1 port 47310: "), "{said}");
}

/// A request of one flow to a port of this machine.
fn to_port(port: u16) -> Value {
    let flow = json!({
        "name": "f", "local": "127.0.0.1", "peer": "127.0.0.1", "port": port, "periods_s": [], "rate_bps": 1,
        "packet": 9, "pattern": "constant",
    });
    json!({"duration_s": 0.3, "linger_s": 0, "flows": [flow]})
}

#[test]
fn datagrams_of_anybody_are_counted_whatever_is_in_them() {
    let request = to_port(47_311);
    let start_s = clock::now() as f64 / 1e9 + 1.0;
    let received = std::thread::scope(|scope| {
        let sink = scope.spawn(|| process(Role::Sink, &request, start_s));
        std::thread::sleep(std::time::Duration::from_millis(500));
        let stranger = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
        for payload in [&[0xff; 16][..], &[0xff; 15], &[], &[0xff; 16]] {
            stranger.send_to(payload, "127.0.0.1:47311").expect("sent");
        }
        sink.join().expect("a sink")
    });
    let flow = &received["flows"][0];
    assert_eq!((&flow["received"]["packets"], &flow["highest"]), (&json!(4), &json!(u64::MAX)));
    assert_eq!((&flow["late"], &flow["mean_delay_s"]), (&json!(0), &json!(0.0)));
}

#[test]
fn a_start_that_cannot_be_is_one_line() {
    for (port, start) in (47_312..).zip(["1e30", "inf", "NaN", "-1"]) {
        let requests = format!("{}\nstart {start}\n", to_port(port));
        let said =
            traffic::run(Role::Sink, requests.as_bytes(), std::io::sink()).expect_err("an error").to_string();
        assert!(said.starts_with("start of traffic: ") && !said.contains('\n'), "{said}");
    }
}
