//! Small networks whose course is computed by hand: changes of links, timers, markers, distances, periods, samples.

#[allow(dead_code, reason = "this test uses its part")]
mod common;

use std::sync::Arc;

use aqmlab_aqm::Value;
use aqmlab_netsim::plan::{
    ChannelChange, Ends, Flow, InService, Length, Link, Marker, Meter, Pattern, Plan, Probe, Server, Start,
    TTL, Transport,
};
use aqmlab_netsim::{Options, Table};
use aqmlab_units::{Rate, Span, Time};
use common::{Tcp, integers, link, reals, run, words};

type Tables = Vec<(&'static str, Table)>;

const MS: u64 = 1_000_000_000;
const PLAIN: common::Queue = ("drop-tail", &[]);

fn ms(ms: f64) -> Time {
    Time::from_secs(ms / 1e3)
}

/// UDP from node to node: 1000 B every millisecond, k-th packet at k ms, none at or after `stop`.
fn udp(name: &str, (from, to): (u32, u32), stop: f64) -> Flow {
    Flow {
        name: name.into(),
        group: "udp".into(),
        ends: Ends::At(from, to),
        start: Start::At(Time::ZERO),
        stop: Some(ms(stop)),
        again: Vec::new(),
        dscp: 0,
        class: 0,
        ttl: TTL,
        acks_share_label: false,
        hosts: [0; 2],
        transport: Arc::new(Transport::Udp {
            rate: Rate(8_000_000),
            packet: Length::fixed(1000),
            pattern: Pattern::Constant,
        }),
    }
}

/// Nodes 0, 1, 2, ... in a row; `forward` are the links from each to the next, back it goes fast.
fn row(forward: Vec<Link>, flows: Vec<Flow>, duration_ms: u64) -> Plan {
    let n = forward.len() as u32;
    let back = (0..n).map(|i| link(&format!("back {i}"), (i + 1, i), 1000.0, 0.0, PLAIN));
    let observed = (0..n).collect();
    Plan {
        nodes: (0..=n).map(|i| format!("n{i}").into()).collect(),
        links: forward.into_iter().chain(back).collect(),
        flows: flows.into(),
        hosts: Vec::new(),
        pages: Vec::new(),
        markers: Vec::new(),
        pings: Vec::new(),
        translations: Vec::new(),
        routing: Default::default(),
        duration: Span::from_millis(duration_ms),
        warmup: Span::ZERO,
        probe: Probe { links: observed, events: true, ..Probe::default() },
    }
}

/// Results with and without shortcuts, which are the same.
fn results(plan: &Plan) -> Tables {
    let tables = run(plan, 1, Options::default());
    assert_eq!(
        common::text(&tables),
        common::text(&run(plan, 1, Options { shortcuts: false, ..Options::default() }))
    );
    tables
}

/// Times of events of a kind at a link, in picoseconds.
fn times(tables: &Tables, at: &str, kind: &str) -> Vec<u64> {
    let (links, kinds) = (words(tables, "events", "link"), words(tables, "events", "kind"));
    let times = integers(tables, "events", "t_ps");
    (0..times.len()).filter(|i| links[*i] == at && kinds[*i] == kind).map(|i| times[i] as u64).collect()
}

/// Change the first link.
fn change(plan: &mut Plan, at: f64, rate: Option<u64>, delay_ms: Option<u64>) {
    let mut links = plan.links.to_vec();
    let server = rate.map(|rate| Server::constant(Rate(rate)));
    let change = ChannelChange { delay: delay_ms.map(Span::from_millis), ..Default::default() };
    Arc::make_mut(&mut links[0].line).change(ms(at), server, &change);
    plan.links = links.into();
}

/// Select the reading of the packet in service at the first link.
fn read_as(plan: &mut Plan, in_service: InService) {
    let mut links = plan.links.to_vec();
    let line = Arc::make_mut(&mut links[0].line);
    line.server = line.server.clone().with_in_service(in_service);
    plan.links = links.into();
}

#[test]
fn the_remaining_bits_leave_at_the_new_rate() {
    // 1 ms a packet until 2.5 ms, then 2 ms; nothing from 4.5 ms to 20 ms, and then 0.5 ms.
    let links = vec![link("a", (0, 1), 8.0, 0.0, PLAIN), link("b", (1, 2), 800.0, 0.0, PLAIN)];
    let mut plan = row(links, vec![udp("f", (0, 2), 6.0)], 100);
    change(&mut plan, 2.5, Some(4_000_000), None);
    change(&mut plan, 4.5, Some(0), None);
    change(&mut plan, 20.0, Some(16_000_000), None);
    let tables = results(&plan);
    // The third packet has a half left at 2.5 ms, the fourth another at 4.5 ms.
    let quarters = [4, 8, 14, 81, 83, 85].map(|t| t * MS / 4);
    assert_eq!(times(&tables, "b", "+"), quarters);
}

#[test]
fn a_rate_of_0_to_the_end_of_the_run_lets_nothing_leave() {
    let links = vec![link("a", (0, 1), 8.0, 0.0, PLAIN), link("b", (1, 2), 800.0, 0.0, PLAIN)];
    for in_service in [InService::RemainingBits, InService::AsStarted] {
        let mut plan = row(links.clone(), vec![udp("f", (0, 2), 6.0)], 100);
        change(&mut plan, 2.5, Some(0), None);
        read_as(&mut plan, in_service);
        let arrivals = times(&results(&plan), "b", "+");
        let started = if in_service == InService::AsStarted { 3 } else { 2 };
        assert_eq!(arrivals, (1..=started).map(|t| t * MS).collect::<Vec<_>>());
    }
}

#[test]
fn as_started_a_change_of_rate_spares_the_packet_in_service_and_nothing_overtakes() {
    // 1 ms a packet and 10 ms on the way until 2.5 ms, then 2 ms a packet and 1 ms on the way.
    let links = vec![link("a", (0, 1), 8.0, 10.0, PLAIN), link("b", (1, 2), 800.0, 0.0, PLAIN)];
    let mut plan = row(links, vec![udp("f", (0, 2), 10.0)], 100);
    change(&mut plan, 2.5, Some(4_000_000), Some(1));
    read_as(&mut plan, InService::AsStarted);
    let tables = results(&plan);
    let starts = [0, 1, 2, 3, 5, 7, 9, 11, 13, 15].map(|t| t * MS);
    assert_eq!(times(&tables, "a", "-"), starts);
    // The third packet is in service at the change: it arrives at 13 ms, and those behind it do not before.
    let arrivals = [11, 12, 13, 13, 13, 13, 13, 14, 16, 18].map(|t| t * MS);
    assert_eq!(times(&tables, "b", "+"), arrivals);
}

#[test]
fn a_change_takes_place_before_all_else_at_its_time() {
    let links = vec![link("a", (0, 1), 8.0, 1.0, PLAIN), link("b", (1, 2), 800.0, 0.0, PLAIN)];
    let mut plan = row(links, vec![udp("f", (0, 2), 4.0)], 100);
    // The service that starts at 2 ms is twice as fast; that of 3 ms has 5 ms before it.
    change(&mut plan, 2.0, Some(16_000_000), None);
    change(&mut plan, 3.0, None, Some(5));
    let tables = results(&plan);
    assert_eq!(times(&tables, "a", "-"), [0, 1, 2, 3].map(|t| t * MS));
    assert_eq!(times(&tables, "b", "+"), [2 * MS, 3 * MS, 3 * MS + MS / 2, 8 * MS + MS / 2]);
}

#[test]
fn changes_that_change_nothing_change_nothing() {
    let links = vec![link("a", (0, 1), 6.0, 10.0, ("red", &[])), link("b", (1, 2), 800.0, 0.0, PLAIN)];
    let mut plan = row(links, vec![udp("f", (0, 2), 900.0)], 1000);
    plan.probe.queue_interval = Some(Span::from_millis(7));
    let without = results(&plan);
    change(&mut plan, 100.0, Some(6_000_000), None);
    change(&mut plan, 200.0, None, Some(10));
    assert_eq!(common::text(&without), common::text(&results(&plan)));
}

#[test]
fn udp_needs_no_link_back() {
    let mut plan = row(vec![link("a", (0, 1), 4.0, 1.0, PLAIN)], vec![udp("f", (0, 1), 3.0)], 100);
    plan.links = plan.links[..1].into();
    let tables = results(&plan);
    assert_eq!(times(&tables, "a", "-"), [0, 2, 4].map(|t| t * MS));
    assert_eq!(integers(&tables, "flows", "arrived_bytes"), [3000]);
}

#[test]
fn flows_start_on_time_however_far_ahead() {
    // Windows are kept for 2.2 s, blocks of windows for 141 s.
    let starts = [0, 2_190, 2_210, 4_390, 4_400, 97_000, 139_000, 140_500, 141_000, 190_000];
    let flows = starts
        .map(|start| Flow { start: Start::At(ms(start as f64)), ..udp("f", (0, 1), start as f64 + 1.0) });
    let plan = row(vec![link("a", (0, 1), 80.0, 10.0, PLAIN)], flows.into(), 200_000);
    assert_eq!(times(&results(&plan), "a", "+"), starts.map(|start| start * MS));
}

#[test]
fn a_timer_fires_on_an_idle_link_after_the_samples_of_its_time() {
    // Adaptive RED: every 0.5 s below its target max_p is multiplied by 0.9.
    let set = [("adapt_clock", Value::Word("timer".into()))];
    let mut plan = row(vec![link("a", (0, 1), 8.0, 1.0, ("adaptive-red", &set))], Vec::new(), 1600);
    plan.probe.discipline_interval = Some(Span::from_millis(250));
    let tables = results(&plan);
    assert_eq!(words(&tables, "discipline_samples", "name"), ["max_p"; 7]);
    let max_p = reals(&tables, "discipline_samples", "value");
    let expected = [0.1, 0.1, 0.1, 0.09, 0.09, 0.081, 0.081];
    assert!(max_p.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-12), "{max_p:?}");
}

/// A link of 4 Mb/s under 8 Mb/s for two seconds, with all that is recorded of its discipline.
fn overloaded(aqm: &'static str) -> Tables {
    let links = vec![link("a", (0, 1), 4.0, 1.0, (aqm, &[]))];
    let mut plan = row(links, vec![udp("f", (0, 1), 2000.0)], 2000);
    plan.probe.queue_interval = Some(Span::from_millis(100));
    plan.probe.discipline_interval = Some(Span::from_millis(100));
    plan.probe.losses = true;
    results(&plan)
}

fn sum(tables: &Tables, table: &str, column: &str) -> i64 {
    integers(tables, table, column).iter().sum()
}

#[test]
fn red_has_its_gauges_as_columns_and_its_reasons_too() {
    let tables = overloaded("red");
    assert!(reals(&tables, "queue_samples", "average").iter().any(|average| *average > 0.0));
    assert!(reals(&tables, "queue_samples", "p_b").iter().all(|p_b| (0.0..=1.0).contains(p_b)));
    assert!(reals(&tables, "events", "average").iter().any(|average| *average > 0.0));
    assert!(reals(&tables, "links", "mean_average")[0] > 0.0);
    assert!(words(&tables, "discipline_samples", "name").is_empty());
    assert!(words(&tables, "drop_reasons", "reason").is_empty());
}

#[test]
fn other_disciplines_have_gauges_and_reasons_of_their_own() {
    let tables = overloaded("codel");
    for (table, column) in [("queue_samples", "average"), ("queue_samples", "p_b"), ("events", "average")] {
        assert!(reals(&tables, table, column).iter().all(|x| x.is_nan()), "{table} {column}");
    }
    assert!(reals(&tables, "links", "mean_average")[0].is_nan());
    assert_eq!(words(&tables, "discipline_samples", "name")[..4], ["delay", "count", "dropping", "delay"]);
    assert_eq!(words(&tables, "drop_reasons", "reason"), ["sojourn", "control-law"]);
    assert_eq!(words(&tables, "drop_reasons", "class"), ["early", "early"]);
    assert_eq!(integers(&tables, "drop_reasons", "drops")[0], 1, "delays never fall below the target again");
    assert_eq!(sum(&tables, "drop_reasons", "drops"), sum(&tables, "links", "drops_early"));
    let losses = words(&tables, "losses", "reason");
    assert_eq!(
        losses.iter().filter(|reason| *reason == "control-law").count() as i64 + 1,
        losses.len() as i64
    );
    let events = words(&tables, "events", "reason");
    assert!(events.iter().all(|reason| ["", "sojourn", "control-law"].contains(&reason.as_str())));
}

#[test]
fn a_probability_has_the_name_of_its_discipline() {
    for (aqm, name) in [("pie", "p"), ("pi", "p"), ("pi2", "p_c"), ("blue", "p_m"), ("sred", "p_zap")] {
        let tables = overloaded(aqm);
        let (names, values) =
            (words(&tables, "discipline_samples", "name"), reals(&tables, "discipline_samples", "value"));
        let found = names.iter().zip(&values).filter(|(n, _)| *n == name);
        assert!(found.map(|(_, p)| *p).fold(0.0, f64::max) > 0.0, "{aqm}");
    }
}

fn marker(flows: &[u32], per_flow: bool) -> Marker {
    // 4 Mb/s with a bucket of one packet: every other packet of 8 Mb/s is green.
    let meter = Meter::TokenBucket { cir: Rate(4_000_000), cbs: 1000 };
    Marker {
        name: "m".into(),
        link: 0,
        flows: flows.into(),
        per_flow,
        meter,
        dscp: [10, 12, 0],
        drops: [false; 3],
    }
}

#[test]
fn a_marker_writes_code_points_before_the_queue() {
    for (per_flow, green) in [(true, [50, 50]), (false, [50, 0])] {
        let links = vec![link("a", (0, 1), 100.0, 1.0, PLAIN), link("b", (1, 2), 100.0, 0.0, PLAIN)];
        let flows = ["f", "g", "unmarked"].map(|name| Flow { dscp: 46, ..udp(name, (0, 2), 100.0) });
        let mut plan = row(links, flows.into(), 200);
        plan.markers = vec![marker(&[0, 1], per_flow)];
        let tables = results(&plan);
        assert_eq!(words(&tables, "markers", "flow"), ["f", "g"]);
        // Both send at the same times, f before g: one bucket for both is always empty for g.
        assert_eq!(integers(&tables, "markers", "green"), green, "per flow {per_flow}");
        assert_eq!(integers(&tables, "markers", "yellow"), [0, 0]);
        assert_eq!(integers(&tables, "markers", "red"), green.map(|g| 100 - g));
        assert_eq!(integers(&tables, "markers", "green_bytes"), green.map(|g| 1000 * g));
        // At its own link and at the next: 0 for red, 10 for green, 46 of the flow that is not marked.
        let all_green = green[0] + green[1];
        assert_eq!(integers(&tables, "code_points", "dscp"), [0, 10, 46, 0, 10, 46]);
        let packets = [200 - all_green, all_green, 100];
        assert_eq!(integers(&tables, "code_points", "arrivals"), packets.repeat(2));
        assert_eq!(integers(&tables, "code_points", "departures"), packets.repeat(2));
    }
}

#[test]
fn what_was_counted_by_code_point_and_marker_begins_after_the_warmup() {
    let mut plan = row(vec![link("a", (0, 1), 100.0, 1.0, PLAIN)], vec![udp("f", (0, 1), 100.0)], 200);
    plan.markers = vec![marker(&[0], true)];
    plan.warmup = Span::from_millis(90);
    let tables = results(&plan);
    // Packets 90 to 99.
    assert_eq!(integers(&tables, "markers", "green"), [5]);
    assert_eq!(integers(&tables, "code_points", "arrivals"), [5, 5]);
}

#[test]
fn distances_at_which_packets_are_dropped() {
    // Full-speed links, and a slow one after none, one or two routers; a buffer of two packets there.
    let set = [("limit", Value::Packets(2.0))];
    for slow in 0..3 {
        let forward = (0..3).map(|i| {
            let mbps = if i == slow { 0.8 } else { 800.0 };
            link(&format!("l{i}"), (i, i + 1), mbps, 0.0, ("drop-tail", &set))
        });
        let tables = results(&row(forward.collect(), vec![udp("f", (0, 3), 10.0)], 100));
        assert_eq!(words(&tables, "drop_distances", "link"), [format!("l{slow}")]);
        assert_eq!(integers(&tables, "drop_distances", "distance"), [i64::from(slow)]);
        // Ten packets within the first service: one in service, two wait.
        assert_eq!(integers(&tables, "drop_distances", "drops"), [7]);
        assert_eq!(integers(&tables, "drop_distances", "data_drops"), [7]);
    }
}

#[test]
fn udp_pauses_and_goes_on() {
    let mut plan = row(vec![link("a", (0, 1), 8.0, 1.0, PLAIN)], vec![udp("f", (0, 1), 2.5)], 100);
    Arc::make_mut(&mut plan.flows)[0].start = Start::At(ms(0.5));
    Arc::make_mut(&mut plan.flows)[0].again = vec![(ms(2.5), ms(4.0)), (ms(10.25), ms(12.25))];
    let tables = results(&plan);
    let expected = [0.5, 1.5, 2.5, 3.5, 10.25, 11.25].map(|t| ms(t).0);
    assert_eq!(times(&tables, "a", "+"), expected);
    assert_eq!(integers(&tables, "events", "seq")[..2], [0, 0], "enqueue and dequeue");
    assert_eq!(integers(&tables, "flows", "sent"), [6]);
    assert_eq!(reals(&tables, "flows", "first_sent_s"), [0.0005]);
    assert_eq!(reals(&tables, "flows", "last_received_s"), [0.01325]);
}

#[test]
fn samples_of_a_flow_are_taken_before_what_happens_at_their_time() {
    // Arrivals at 2, 3, 4, 5 ms.
    let mut plan = row(vec![link("a", (0, 1), 8.0, 1.0, PLAIN)], vec![udp("f", (0, 1), 4.0)], 8);
    plan.probe.flow_interval = Some(Span::from_millis(2));
    plan.warmup = Span::from_millis(3);
    let tables = results(&plan);
    assert_eq!(reals(&tables, "flow_samples", "t_s"), [0.0, 0.002, 0.004, 0.006, 0.008]);
    assert_eq!(integers(&tables, "flow_samples", "arrived_bytes"), [0, 0, 2000, 4000, 4000]);
    assert_eq!(integers(&tables, "flow_samples", "delivered_bytes"), [0, 0, 2000, 4000, 4000]);
    // Of the whole run, while the table of flows begins after the warm-up.
    assert_eq!(integers(&tables, "flows", "arrived"), [3]);
    assert_eq!(integers(&tables, "flows", "arrived_bytes"), [3000]);
    assert_eq!(words(&tables, "flows", "from"), ["n0"]);
    assert_eq!(words(&tables, "flows", "to"), ["n1"]);
    assert_eq!(integers(&tables, "flows", "size_packets"), [-1]);
}

#[test]
fn a_mark_says_which_packet_whether_it_arrives_or_waits() {
    use aqmlab_transport::ns2::Variant;
    use common::ring::{Kind, ring};
    let set = [
        ("ecn", Value::Flag(true)),
        ("min_th", Value::Packets(2.0)),
        ("max_th", Value::Packets(40.0)),
        ("w_q", Value::Number(0.05)),
    ];
    for (aqm, waits) in [("red", false), ("ddred", true)] {
        let tables = run(
            &ring(&[Kind::Greedy(Tcp::Ns2(Variant::Sack)); 8], 2.0, (aqm, &set), 10.0),
            1,
            Options::default(),
        );
        let [links, kinds] = ["link", "kind"].map(|name| words(&tables, "events", name));
        let [times, flows, numbers] = ["t_ps", "flow", "seq"].map(|name| integers(&tables, "events", name));
        let mut waiting = Vec::new();
        let (mut marks, mut of_waiting) = (0, 0);
        for i in 0..times.len() {
            let packet = (&links[i], flows[i], numbers[i]);
            match kinds[i].as_str() {
                "+" => waiting.push((packet, times[i])),
                "m" => {
                    let found = waiting.iter().rfind(|(p, _)| *p == packet).expect("a packet that is there");
                    marks += 1;
                    of_waiting += usize::from(found.1 < times[i]);
                }
                _ => {
                    let at = waiting.iter().position(|(p, _)| *p == packet).expect("a packet that is there");
                    waiting.remove(at);
                }
            }
        }
        assert!(marks > 5, "{aqm}: {marks}");
        assert_eq!(of_waiting > 0, waits, "{aqm}: {of_waiting} of {marks}");
    }
}
