//! Each kind of link with a shortcut against the one whose ends of service are events.

use std::sync::Arc;

use aqmlab_aqm::{Ecn, LinkContext, Spec, Value};
use aqmlab_transport::ns2::{Config, Variant};
use aqmlab_transport::{Data, DataFlags, TcpConfig};
use aqmlab_units::{Framing, LinkLayer, ParameterValue, Rate, Span, Time};
use proptest::prelude::*;

use super::*;
use crate::key::Key;
use crate::message::Message;
use crate::paths::Paths;
use crate::plan::{self, Ends, Flow, Line, Plan, Probe, Size, Start, TTL, Transport};

/// A packet of 125 bytes takes 125 us.
const RATE: Rate = Rate(8_000_000);
const TICK: u64 = 125_000_000;

/// Flow 0 from node 0 to node 1 over link 0 and back over link 1. The links have the number 2 among the sources of the arrivals.
fn plan(aqm: &str, set: &[(&str, Value)], observed: bool, (warmup, duration): (u64, u64)) -> Plan {
    let context = LinkContext { rate: RATE, delay: Span(3 * TICK) };
    let mut spec = Spec::new(aqm).expect("a preset");
    set.iter().for_each(|(key, value)| spec.set(key, value.clone()).expect("a parameter"));
    let queue = Arc::new(spec.resolve(context).expect("a queue"));
    let links = [(0, 1), (1, 0), (0, 1)].map(|(from, to)| plan::Link {
        name: format!("{from}->{to}").into(),
        from,
        to,
        line: Line::constant(context.rate, context.delay).into(),
        queue: queue.clone(),
    });
    let flow = Flow {
        name: "".into(),
        group: "".into(),
        ends: Ends::At(0, 1),
        start: Start::At(Time::ZERO),
        stop: None,
        again: Vec::new(),
        dscp: 0,
        class: 0,
        ttl: TTL,
        acks_share_label: false,
        hosts: [0; 2],
        transport: Arc::new(Transport::Tcp {
            config: TcpConfig::Ns2(Arc::new(Config::ns2(Variant::Reno))),
            size: Size::Greedy,
            clock_offset: None,
        }),
    };
    let probe = Probe {
        links: if observed { vec![2] } else { Vec::new() },
        queue_interval: Some(Span(7 * TICK)),
        discipline_interval: Some(Span(5 * TICK)),
        delay_histogram: true,
        losses: true,
        ..Probe::default()
    };
    Plan {
        nodes: ["0".into(), "1".into()].into(),
        links: links.into(),
        flows: [flow].into(),
        hosts: Vec::new(),
        pages: Vec::new(),
        markers: Vec::new(),
        pings: Vec::new(),
        translations: Vec::new(),
        routing: Default::default(),
        duration: Span(duration * TICK),
        warmup: Span(warmup * TICK),
        probe,
    }
}

/// Ticks since the arrival before, ticks by which the cause is earlier, source, length in units of 125 bytes, ECN-capable.
type Arrival = (u64, u64, u32, u32, bool);

/// Mostly back to back and with ties; of one length, of two, of two in turn, or of three in turn.
fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![4 => Just(0u64), 6 => Just(1), 2 => 0u64..4, 1 => 5u64..40];
    let one = (gap, 0u64..4, prop::sample::select(vec![0u32, 1, 3, 4]), 1u32..3, any::<bool>());
    (prop::collection::vec(one, 1..250), 0u8..4).prop_map(|(mut all, lengths)| {
        for (i, arrival) in all.iter_mut().enumerate() {
            arrival.3 = match lengths {
                0 => 1,
                1 => arrival.3,
                2 => 1 + (i as u32 / 20) % 2,
                _ => 1 + i as u32 % 3,
            };
        }
        all
    })
}

fn messages(plan: &Plan, paths: &Paths, arrivals: &[Arrival]) -> Vec<Message> {
    let mut time = Time::ZERO;
    let mut messages = Vec::new();
    for (&(gap, before, source, length, ect), seq) in arrivals.iter().zip(0..) {
        time += Span(gap * TICK);
        if time >= Time::ZERO + plan.duration {
            break;
        }
        let key = Key { time, cause: Time(time.0.saturating_sub(before * TICK)), source };
        let flags = DataFlags::NONE.with(DataFlags::ECT, ect);
        let data = Data { sent: time, seq, bytes: 125 * length, flags };
        messages.push(Message::of_data(key, paths.first(0, aqmlab_aqm::Kind::Data), 0, true, &data));
    }
    messages.sort_by_key(Message::key);
    messages
}

/// Offer the packets to link 2. Return those whose service starts before the end of the run, as they arrive at the far end.
fn carried(link: &mut Link, paths: &Paths, messages: &[Message], end: Time) -> Vec<Message> {
    let mut out = Vec::new();
    let serve = |queue: &mut Queue, key, out: &mut Vec<_>| {
        while queue.is_due_before(key)
            && let Some(service_end) = queue.service_end()
        {
            let mut message = Message::default();
            let is_served = queue.serve(service_end.time, &mut message);
            if is_served && message.time == Time::NEVER && message.cause < end {
                queue.station.count_arrivals(message.cause, &paths.meta(&message));
            }
            out.extend(is_served.then_some(message));
            queue.take_dropped(|_| ());
        }
    };
    for message in messages {
        let mut message = *message;
        let accepted = match link {
            Link::UnobservedDropTail(link) => link.arrive(2, paths, &mut message),
            Link::InOrder(link) => link.arrive(paths, &mut message),
            Link::Queue(queue) => {
                serve(queue, message.key(), &mut out);
                let passes = queue.arrive(paths, &mut message);
                queue.take_dropped(|_| ());
                passes
            }
        };
        if accepted && message.time == Time::NEVER && message.cause < end {
            link.count_arrivals(message.cause, &paths.meta(&message));
        }
        out.extend(accepted.then_some(message));
    }
    if let Link::Queue(queue) = link {
        serve(queue, Key::start_of(end), &mut out);
    }
    link.finish(2, end);
    out.retain(|message| message.cause < end);
    out
}

/// All that tables show of a link.
fn books(link: &Link) -> String {
    let observed = link.observation().map(|o| {
        let code_points: Vec<_> = o.code_points().collect();
        let (delays, averages): (Vec<_>, _) = (o.delays().collect(), o.averages());
        let (samples, of_discipline) = (o.samples(), o.discipline_samples());
        let events: Vec<_> = o.events().iter().map(|e| (e.time, e.kind, e.number, e.ecn)).collect();
        format!(
            "{samples:?} {of_discipline:?} {:?} {averages:?} {code_points:?} {delays:?} {events:?}",
            o.losses()
        )
    });
    let drops = link.drops().map(|d| {
        let by_flow = d.by_flow().filter(|d| d.1 > 0).collect::<Vec<_>>();
        (by_flow, d.by_distance().collect::<Vec<_>>(), d.channel, d.by_reason(), (d.cut, d.cut_bytes))
    });
    let drops = drops.filter(|d| !d.0.is_empty() || d.2.is_some() || !d.3.is_empty() || d.4.0 > 0);
    format!("{:?} {drops:?} {:?} {observed:?}", link.counters(), link.backlog())
}

fn check(plan: &Plan, arrivals: &[Arrival], kind: impl Fn(&Link) -> bool) {
    let (attached, paths) = (Attached::new(plan), Paths::new(plan, 1));
    let messages = messages(plan, &paths, arrivals);
    let end = Time::ZERO + plan.duration;
    let [fast, reference] = [true, false].map(|shortcuts| {
        let mut link = Link::new(2, &attached, 1, shortcuts);
        assert!(!shortcuts || kind(&link), "another kind of link");
        (carried(&mut link, &paths, &messages, end), books(&link))
    });
    assert_eq!(fast.0, reference.0);
    assert_eq!(fast.1, reference.1);
}

/// Values by which a discipline acts within a few packets.
fn quick(preset: &str) -> Vec<(&'static str, Value)> {
    let number = |key, value| (key, Value::Number(value));
    let ticks = |key, count: f64| (key, Value::Seconds(count * 125e-6));
    match preset {
        "pie" => vec![
            ticks("target", 2.0),
            ticks("t_update", 3.0),
            ticks("max_burst", 0.0),
            ("mean_packet", Value::Bytes(125)),
        ],
        "pi" => vec![
            number("a", 0.2),
            number("b", 0.1),
            ("q_ref", Value::Packets(1.0)),
            number("sampling", 3000.0),
        ],
        "blue" => vec![ticks("freeze_time", 4.0), number("d1", 0.3), number("d2", 0.1)],
        "rem" => vec![
            ticks("update_time", 3.0),
            ("target", Value::Packets(1.0)),
            number("gamma", 0.5),
            number("phi", 1.5),
        ],
        "avq" => vec![number("virtual_limit", 0.5)],
        "sred" => vec![number("zombies", 2.0)],
        "sfb" => vec![
            number("increment", 0.3),
            number("bin_size", 2.0),
            ticks("rehash", 30.0),
            ticks("warmup", 10.0),
        ],
        _ => Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn an_unobserved_drop_tail_link_is_a_clock(
        arrivals in arrivals(), limit in 1u32..40, warmup in 0u64..100, rest in 1u64..200,
    ) {
        let plan = plan("drop-tail", &[("limit", Value::Packets(limit.into()))], false, (warmup, warmup + rest));
        check(&plan, &arrivals, |link| matches!(link, Link::UnobservedDropTail(_)));
    }

    #[test]
    fn red_of_one_class_is_a_function_of_what_waits(
        arrivals in arrivals(), warmup in 0u64..100, rest in 1u64..200, observed in any::<bool>(),
        preset in prop::sample::select(vec!["red", "gentle-red", "mred", "nlred"]),
        dialect in prop::sample::select(vec!["floyd93", "ns2-2.35", "linux", "as-printed"]),
        (in_bytes, ecn) in any::<(bool, bool)>(), limit in 16u32..30,
    ) {
        let word = |word: &str| Value::Word(word.into());
        let mut set = vec![
            ("dialect", word(dialect)), ("min_th", Value::Packets(2.0)), ("max_th", Value::Packets(7.0)),
            ("limit", Value::Packets(limit.into())), ("w_q", Value::Number(0.2)), ("ecn", Value::Flag(ecn)),
        ];
        if in_bytes {
            set.push(("mode", word("bytes")));
        }
        let plan = plan(preset, &set, observed, (warmup, warmup + rest));
        check(&plan, &arrivals, |link| matches!(link, Link::InOrder(link) if format!("{link:?}").contains("SimpleRed")));
    }

    #[test]
    fn departures_in_order_follow_from_arrivals(
        arrivals in arrivals(), warmup in 0u64..100, rest in 1u64..200,
        preset in prop::sample::select(vec![
            "drop-tail", "adaptive-red", "rio", "pie", "pi", "blue", "rem", "avq", "sred", "sfb",
        ]),
        (ecn, logs) in any::<(bool, bool)>(), limit in 2u32..30,
    ) {
        let mut set = vec![("limit", Value::Packets(limit.into()))];
        if preset != "drop-tail" {
            set.push(("ecn", Value::Flag(ecn)));
        }
        set.extend(quick(preset));
        let mut plan = plan(preset, &set, true, (warmup, warmup + rest));
        plan.probe.events = logs;
        check(&plan, &arrivals, |link| matches!(link, Link::InOrder(_)));
    }
}

/// Servers whose random processes take a few packets.
fn generators() -> Vec<Server> {
    let ticks = |key, count| (key, ParameterValue::Time(Span(count * TICK)));
    let rate = |key, times| (key, ParameterValue::Rate(Rate(RATE.0 * times)));
    let number = |key, value| (key, ParameterValue::Number(value));
    vec![
        Server::of_keys(&[
            rate("cellular", 3),
            number("volatility", 9.0),
            ticks("outage", 9),
            ticks("step", 4),
        ]),
        Server::of_keys(&[rate("leo", 3), ticks("handover", 25), ticks("gap", 2)]),
        Server::of_keys(&[rate("wifi", 9), ticks("txop", 1), ticks("contention_burst", 20)]),
        Server::of_keys(&[rate("wifi", 2), number("contention", 0.0)]),
        Server::of_keys(&[
            rate("docsis", 2),
            rate("channel", 7),
            ticks("map_interval", 3),
            ticks("request_grant", 1),
        ]),
    ]
}

/// Servers and channels: changes of rate and delay, outages, opportunities, token buckets and generators in place of a rate,
/// cells, losses, and changes to and from these.
fn lines() -> impl Strategy<Value = Line> {
    let constant = || (1u64..4).prop_map(|n| Server::constant(Rate(RATE.0 * 2 / n)));
    let slots = (1u64..4, 1u32..4).prop_map(|(ticks, size)| Server::slots(Span(ticks * TICK), 50 * size));
    let bucket =
        (1u64..4, 60u64..600, prop::option::of((60u64..300, 1u64..4))).prop_map(|(n, burst, peak)| {
            let rate = Rate(RATE.0 / n);
            Server::token_bucket(rate, burst, peak.map(|(mtu, times)| (Rate(RATE.0 * times + 1), mtu)))
        });
    let atm = Framing { overhead: 10, mpu: 140, layer: LinkLayer::Atm };
    let framing = prop::sample::select(vec![None, Some(Framing::default()), Some(atm)]);
    let server =
        prop_oneof![2 => constant(), 2 => slots, 2 => bucket, 3 => prop::sample::select(generators())];
    let later = prop_oneof![2 => server.clone(), 1 => Just(Server::constant(Rate(0)))];
    let change = (0u64..1600, prop::option::of(later), prop::option::of(0u64..10));
    let reading = prop::sample::select(vec![InService::RemainingBits, InService::AsStarted]);
    let extras = (prop::option::of(2u32..6), any::<bool>(), framing);
    let outage = (1u64..600, 1u64..300, prop::bool::weighted(0.3), prop::bool::weighted(0.1));
    let outages = prop_oneof![1 => Just(Vec::new()), 1 => prop::collection::vec(outage, 1..4)];
    let all = (server, 0u64..10, extras, (prop::collection::vec(change, 0..5), outages), reading);
    all.prop_map(|(server, delay, (every, handovers, framing), (mut changes, outages), reading)| {
        let server = server.with_in_service(reading).framed(framing);
        let channel = Channel::constant(Span(delay * TICK));
        let channel = every.map_or(channel.clone(), |every| channel.lossy(every));
        let steps = [("handover_step", 2), ("handover", 30)];
        let steps = steps.map(|(key, ticks)| (key, ParameterValue::Time(Span(ticks * TICK))));
        let channel = if handovers { channel.with_keys(&steps) } else { channel };
        let mut line = Line::new(server, channel);
        changes.sort_by_key(|change| change.0);
        for (at, server, delay) in changes {
            let delay = delay.map(|delay| Span(delay * TICK));
            let change = plan::ChannelChange { delay, ..Default::default() };
            line.change(Time(at * TICK / 8), server, &change);
        }
        let mut time = 0;
        for (after, long, flushes, forever) in outages {
            let down = time + after * TICK / 8;
            time = if forever { u64::MAX } else { down + long * TICK / 8 };
            line.outages.push(plan::Outage { down: Time(down), up: Time(time), flushes });
            if forever {
                break;
            }
        }
        line
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn departures_are_known_at_arrivals_with_any_server_and_channel(
        arrivals in arrivals(), warmup in 0u64..100, rest in 1u64..200, line in lines(),
        preset in prop::sample::select(vec!["drop-tail", "red", "adaptive-red", "pie", "blue"]),
        (ecn, logs, observed) in any::<(bool, bool, bool)>(), limit in 16u32..30,
    ) {
        let mut set = vec![("limit", Value::Packets(limit.into()))];
        if preset != "drop-tail" {
            set.push(("ecn", Value::Flag(ecn)));
        }
        set.extend(quick(preset));
        let is_constant = line.server.as_constant().is_some()
            && line.channel.as_constant().is_some()
            && line.outages.is_empty();
        let is_clock = preset == "drop-tail" && !observed && is_constant;
        let mut plan = plan(preset, &set, observed, (warmup, warmup + rest));
        plan.probe.events = logs;
        let mut links = plan.links.to_vec();
        links[2].line = line.into();
        plan.links = links.into();
        let plan = plan.with_outages();
        if !is_clock {
            // An outage to the end of the run leaves no departure to be known, and one that flushes the queue takes some back.
            let line = &plan.links[2].line;
            let ends = line.server.longest(1) < Span(u64::MAX / 2);
            let ends = ends && !line.outages.iter().any(|outage| outage.flushes);
            check(&plan, &arrivals, |link| matches!(link, Link::InOrder(_)) == ends);
        }
    }
}

#[test]
fn links_are_small() {
    assert_eq!(size_of::<Link>(), 64);
    // In a plan, with names of up to 24 bytes in place.
    assert!(size_of::<plan::Link>() <= 56 && size_of::<Flow>() <= 152);
    assert!(!plan::Name::from("right.rtt-28.1234->rout2").is_heap_allocated());
}

#[test]
fn an_ecn_field_is_rewritten() {
    // The records compared above include the header, so they must contain a mark.
    let set = [
        ("ecn", Value::Flag(true)),
        ("min_th", Value::Packets(1.0)),
        ("max_th", Value::Packets(20.0)),
        ("max_p", Value::Number(1.0)),
        ("w_q", Value::Number(1.0)),
        ("dialect", Value::Word("floyd93".into())),
    ];
    let plan = plan("red", &set, true, (0, 1000));
    let (attached, paths) = (Attached::new(&plan), Paths::new(&plan, 1));
    let messages = messages(&plan, &paths, &[(0, 0, 0, 1, true); 30]);
    let mut link = Link::new(2, &attached, 1, true);
    let out = carried(&mut link, &paths, &messages, Time::ZERO + plan.duration);
    assert!(out.iter().any(|message| message.ecn() == Ecn::Ce));
}
