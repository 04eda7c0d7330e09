//! CAKE in a network: its shaper between arrivals and a faster link, on all engines, and hosts that share it.

#[allow(dead_code, reason = "this test uses its part")]
mod common;

use std::sync::Arc;

use aqmlab_aqm::Value;
use aqmlab_netsim::plan::{Ends, Length, Pattern, Ping, Plan, Translation, Transport};
use aqmlab_netsim::{EngineChoice, Options, Table};
use aqmlab_transport::rfc::CongestionControl;
use aqmlab_units::{Rate, Span};
use common::{Tcp, dumbbell, integers, run, text};

const CUBIC: Option<Tcp> = Some(Tcp::Rfc(CongestionControl::Cubic));

/// Flows over a link of 40 Mbit/s, whose queue has a shaper of 8 Mbit/s; UDP sends 4 Mbit/s. The last 15 s of 20 s count.
fn shaped(flows: &[Option<Tcp>], set: &[(&str, Value)]) -> Plan {
    let rate = ("rate", Value::Rate(Rate(8_000_000)));
    let mut plan = dumbbell(flows, 40.0, ("cake", &[&[rate], set].concat()), 20.0);
    plan.warmup = aqmlab_units::Span::from_millis(5000);
    plan
}

#[test]
fn a_shaper_below_the_link_sets_the_rate() {
    let plan = shaped(&[None, None, None, CUBIC], &[]);
    let tables = run(&plan, 1, Options::default());
    // 15 s at 1 MB/s, and one packet at each end.
    let departed = integers(&tables, "links", "departed_bytes")[0];
    assert!((14_900_000..=15_003_000).contains(&departed), "{departed}");
    // The link is busy for 8/40 of the time: while packets wait for the shaper, nothing is in transmission.
    let utilization = common::reals(&tables, "links", "utilization")[0];
    assert!((utilization - 0.2).abs() < 0.001, "{utilization}");
}

#[test]
fn all_engines_agree() {
    let on_wire = [("overhead", Value::Number(44.0)), ("linklayer", Value::Word("atm".into()))];
    let ingress = [("ingress", Value::Flag(true)), ("memlimit", Value::Bytes(60_000))];
    let autorate = [("autorate_ingress", Value::Flag(true)), ("diffserv", Value::Word("besteffort".into()))];
    for set in [&[][..], &on_wire, &ingress, &autorate] {
        let mut plan =
            shaped(&[CUBIC, Some(Tcp::Ns2(aqmlab_transport::ns2::Variant::NewReno)), None, None], set);
        let mut flows = plan.flows.to_vec();
        (flows[1].dscp, flows[2].dscp, flows[3].dscp) = (8, 46, 46);
        plan.flows = flows.into();
        let of =
            |shortcuts, engine| text(&run(&plan, 7, Options { shortcuts, engine, ..Options::default() }));
        let expected = of(false, EngineChoice::Events);
        for engine in [EngineChoice::Events, EngineChoice::Windows, EngineChoice::Parallel] {
            assert_eq!(of(true, engine), expected, "{set:?} {engine:?}");
        }
    }
}

/// The plan of the shaper with its controller, whose link one flow measures, and how the delays come to it.
fn controlled(way: usize) -> Plan {
    let set = [
        ("autorate", Value::Flag(true)),
        ("min_shaper_rate", Value::Rate(Rate(2_000_000))),
        ("max_shaper_rate", Value::Rate(Rate(60_000_000))),
    ];
    let mut plan = shaped(&[CUBIC, CUBIC, None], &set);
    let mut flows = plan.flows.to_vec();
    flows[2].transport = Arc::new(Transport::Udp {
        rate: Rate(13_440),
        packet: Length::fixed(84),
        pattern: Pattern::Constant,
    });
    // A flow in the other direction measures the way of its answers.
    if way == 1
        && let Ends::At(from, to) = flows[2].ends
    {
        flows[2].ends = Ends::At(to, from);
    }
    plan.flows = flows.into();
    plan.pings = vec![Ping { flow: 2, link: 0 }];
    plan.probe.links = vec![0];
    plan.probe.discipline_interval = Some(Span::from_millis(100));
    plan
}

#[test]
fn a_controller_follows_the_link_on_all_engines() {
    for way in [0, 1] {
        let mut plan = controlled(way);
        let of = |plan: &Plan, shortcuts, engine| {
            run(plan, 7, Options { shortcuts, engine, ..Options::default() })
        };
        let expected = of(&plan, false, EngineChoice::Events);
        for engine in [EngineChoice::Events, EngineChoice::Windows, EngineChoice::Parallel] {
            assert_eq!(text(&of(&plan, true, engine)), text(&expected), "{way} {engine:?}");
        }
        let rate = |tables: &[(&'static str, Table)]| {
            let names = common::words(tables, "discipline_samples", "name");
            let values = common::reals(tables, "discipline_samples", "value");
            let rates: Vec<_> =
                names.iter().zip(values).filter(|(name, _)| *name == "shaper_rate").map(|(_, v)| v).collect();
            (rates[0], rates.last().copied().unwrap_or_default())
        };
        // The rate of 8 Mbit/s grows under high load as long as the delay behind the shaper allows: the link has 40 Mbit/s.
        let (first, last) = rate(&expected);
        assert_eq!(first, 8e6);
        assert!(last > 20e6, "{last}");
        // Without pings, nothing changes it.
        plan.pings = Vec::new();
        assert_eq!(rate(&of(&plan, true, EngineChoice::Windows)), (8e6, 8e6));
    }
}

#[test]
fn hosts_share_the_rate_equally() {
    let received = |hosts: &[Option<&str>], isolation: &str| -> Vec<i64> {
        let mut plan = shaped(&[None; 8], &[("isolation", Value::Word(isolation.into()))]);
        let mut flows = plan.flows.to_vec();
        for (flow, host) in flows.iter_mut().zip(hosts) {
            if let Some(name) = host {
                plan.hosts.push((*name).into());
                let number = plan.hosts.iter().position(|host| host == name).map_or(0, |place| place + 1);
                flow.hosts = [number as u16, 0];
            }
        }
        plan.flows = flows.into();
        integers(&run(&plan, 1, Options::default()), "flows", "goodput_bytes")
    };
    // Six flows of one host and two of the other, all more than their shares.
    let of_last_two = |bytes: &[i64]| (bytes[6] + bytes[7]) as f64 / bytes.iter().sum::<i64>() as f64;
    let share = |hosts: &[Option<&str>], isolation: &str| of_last_two(&received(hosts, isolation));
    let shared = [["a"; 6].as_slice(), &["b"; 2]].concat().into_iter().map(Some).collect::<Vec<_>>();
    for (hosts, isolation, expected) in [
        (&shared[..], "triple-isolate", 0.5),
        (&shared, "dual-srchost", 0.5),
        (&shared, "flows", 0.25),
        (&shared, "dual-dsthost", 0.25),
        (&[None; 8], "triple-isolate", 0.25),
    ] {
        let share = share(hosts, isolation);
        assert!((share - expected).abs() < 0.02, "{isolation}: {share} of {expected}");
    }
    // A name may be that of a node: n2 is the source of the first flow.
    let of_node = [None, Some("n2"), Some("n2"), Some("n2"), Some("n2"), Some("n2"), Some("b"), Some("b")];
    assert!((share(&of_node, "dual-srchost") - 0.5).abs() < 0.02);
}

#[test]
fn hosts_behind_a_translator_are_one_without_nat() {
    // Six flows of one host behind the translator, one of another, and one of a host that is not behind it.
    let shares = |nat: bool| -> [f64; 3] {
        let mut plan = shaped(&[None; 8], &[("nat", Value::Flag(nat))]);
        plan.hosts.extend(["laptop", "phone", "server", "router"].map(Into::into));
        let mut flows = plan.flows.to_vec();
        for (place, flow) in flows.iter_mut().enumerate() {
            flow.hosts = [[1, 1, 1, 1, 1, 1, 2, 3][place], 0];
        }
        plan.flows = flows.into();
        plan.translations = (0..7).map(|flow| Translation { flow, hosts: [4, 0] }).collect();
        let bytes = integers(&run(&plan, 1, Options::default()), "flows", "goodput_bytes");
        let total = bytes.iter().sum::<i64>() as f64;
        [&bytes[..6], &bytes[6..7], &bytes[7..]].map(|own| own.iter().sum::<i64>() as f64 / total)
    };
    // Destinations differ, so that every host has a third with nat; without it, seven flows share a half.
    for (nat, expected) in [(true, [1.0 / 3.0; 3]), (false, [3.0 / 7.0, 0.5 / 7.0, 0.5])] {
        for (share, expected) in shares(nat).into_iter().zip(expected) {
            assert!((share - expected).abs() < 0.02, "{nat}: {share} of {expected}");
        }
    }
}

#[test]
fn totals_of_tins_are_those_of_the_link() {
    let tins = ["bulk", "best-effort", "voice"];
    let mut plan = shaped(&[CUBIC, CUBIC, None, None], &[]);
    let mut flows = plan.flows.to_vec();
    (flows[0].dscp, flows[2].dscp) = (8, 46);
    plan.flows = flows.into();
    for (shortcuts, engine) in [(false, EngineChoice::Events), (true, EngineChoice::Windows)] {
        let tables = run(&plan, 1, Options { shortcuts, engine, ..Options::default() });
        // The link back has tins too.
        assert_eq!(common::words(&tables, "tins", "tin")[..3], tins);
        let of = |column| integers(&tables, "tins", column)[..3].to_vec();
        let sum = |column| of(column).iter().sum::<i64>();
        for (tin, link) in
            [("packets", "departures"), ("bytes", "departed_bytes"), ("drops", "drops"), ("marks", "marks")]
        {
            assert_eq!(sum(tin), integers(&tables, "links", link)[0], "{tin}");
        }
        assert!(of("packets").iter().all(|packets| *packets > 0) && sum("drops") > 0);
        assert_eq!(of("threshold_bps"), [500_000, 8_000_000, 2_000_000]);
        assert_eq!(of("quantum"), [300; 3]);
    }
}

#[test]
fn an_ack_filter_relieves_a_narrow_way_back() {
    let plan = |filter: &str| {
        let mut plan = dumbbell(&[CUBIC, CUBIC], 10.0, ("fq-codel", &[]), 10.0);
        let mut links = plan.links.to_vec();
        let set = [("ack_filter", Value::Word(filter.into()))];
        links[1] = common::link("back", (1, 0), 0.1, 10.0, ("cake", &set));
        plan.links = links.into();
        plan
    };
    let filtered = |filter: &str| {
        let plan = plan(filter);
        let of = |shortcuts, engine| run(&plan, 3, Options { shortcuts, engine, ..Options::default() });
        let tables = of(true, EngineChoice::Windows);
        assert_eq!(text(&tables), text(&of(false, EngineChoice::Events)), "{filter}");
        let reasons = common::words(&tables, "drop_reasons", "reason");
        let drops = integers(&tables, "drop_reasons", "drops");
        let of_filter = |(reason, drops): (&String, &i64)| if reason == "ack-filter" { *drops } else { 0 };
        let dropped: i64 = reasons.iter().zip(&drops).map(of_filter).sum();
        (dropped, integers(&tables, "flows", "goodput_bytes").iter().sum::<i64>())
    };
    let [(none, without), (some, with), (more, aggressive)] = ["off", "on", "aggressive"].map(filtered);
    assert!(none == 0 && some > 500 && more > 500, "{some} {more}");
    assert!(with > without && aggressive > without, "{without} {with} {aggressive}");
}
