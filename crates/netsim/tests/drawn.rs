//! The random values of a plan are a function of the seed and of the flow's name alone.

#[allow(dead_code, reason = "this test uses its part")]
mod common;

use std::sync::Arc;

use aqmlab_netsim::Options;
use aqmlab_netsim::plan::{Ends, Length, Plan, Size, Spread, Transport};
use aqmlab_transport::ns2::Variant;
use common::ring::{Kind, ring};
use common::{Tcp, integers, run, words};

fn plan(flows: usize) -> Plan {
    ring(&vec![Kind::Drawn(Tcp::Ns2(Variant::Reno)); flows], 2.0, ("red", &[]), 3.0)
}

/// Ends and size of every flow.
fn drawn(plan: &Plan, seed: u64) -> Vec<(u32, u32, u64)> {
    let draw = |flow: &aqmlab_netsim::plan::Flow| match (&flow.ends, &*flow.transport) {
        (Ends::At(from, to), Transport::Tcp { size: Size::Packets(n), .. }) => (*from, *to, *n),
        other => panic!("not drawn: {other:?}"),
    };
    plan.drawn(seed).flows.iter().map(draw).collect()
}

#[test]
fn the_same_seed_draws_the_same() {
    let plan = plan(40);
    assert_eq!(drawn(&plan, 7), drawn(&plan, 7));
    assert_eq!(drawn(&plan, 7), drawn(&plan.drawn(7), 8), "nothing is left to draw");
    let differ = drawn(&plan, 7).iter().zip(drawn(&plan, 8)).filter(|(a, b)| **a != *b).count();
    assert!(differ > 35, "{differ} of 40");
}

#[test]
fn no_flow_disturbs_another() {
    let (few, many) = (plan(5), plan(40));
    assert_eq!(drawn(&few, 3), drawn(&many, 3)[..5]);
}

#[test]
fn ends_are_at_different_routers_and_as_far_as_they_are_given_stay() {
    let plan = plan(40);
    for (flow, (from, to, size)) in plan.flows.iter().zip(drawn(&plan, 11)) {
        let Ends::Drawn { from: fixed, hosts, .. } = &flow.ends else { panic!("to be drawn") };
        let router = |host| hosts.iter().find(|(h, _)| *h == host).expect("a host").1;
        assert_ne!(router(from), router(to));
        assert!(fixed.is_none_or(|fixed| fixed == from));
        // The least size of the Pareto distribution is 200 kB * 0.3 / 1.3, in packets of 1000 B.
        assert!(size >= 47, "{size}");
    }
}

#[test]
fn a_run_says_what_was_drawn() {
    let plan = plan(12);
    let tables = run(&plan, 5, Options::default());
    let rows = words(&tables, "flows", "from").into_iter().zip(words(&tables, "flows", "to"));
    let rows: Vec<_> = rows.zip(integers(&tables, "flows", "size_packets")).collect();
    let expected = drawn(&plan, 5).into_iter().map(|(from, to, size)| {
        ((plan.nodes[from as usize].to_string(), plan.nodes[to as usize].to_string()), size as i64)
    });
    assert_eq!(rows, expected.collect::<Vec<_>>());
}

/// When each of two Poisson sources sends a packet and of how many bytes, with such lengths.
fn sent(lengths: [Length; 2], seed: u64) -> [Vec<(i64, i64)>; 2] {
    let mut plan = ring(&[Kind::Poisson, Kind::Poisson], 2.0, ("drop-tail", &[]), 5.0);
    for (flow, length) in Arc::make_mut(&mut plan.flows).iter_mut().zip(lengths) {
        let Transport::Udp { packet, .. } = Arc::make_mut(&mut flow.transport) else { panic!("not UDP") };
        // From a router, so that they arrive at its link when they are sent.
        (*packet, flow.ends) = (length, Ends::At(0, 1));
    }
    let tables = run(&plan, seed, Options::default());
    let [links, kinds] = ["link", "kind"].map(|name| words(&tables, "events", name));
    let [flows, times, bytes] = ["flow", "t_ps", "bytes"].map(|name| integers(&tables, "events", name));
    [0, 1].map(|flow| {
        let sent = |i: &usize| links[*i] == "r0->r1" && kinds[*i] == "+" && flows[*i] == flow;
        (0..times.len()).filter(sent).map(|i| (times[i], bytes[i])).collect()
    })
}

#[test]
fn lengths_disturb_neither_times_nor_other_flows() {
    let alike = || Length::fixed(600);
    let drawn = || Length::drawn(Spread::Exponential(600.0));
    let [first, second] = sent([alike(), alike()], 3);
    assert!(first.len() > 300 && first.iter().all(|(_, bytes)| *bytes == 600));
    let [first_drawn, same] = sent([drawn(), alike()], 3);
    assert_eq!(same, second);
    assert_eq!(sent([drawn(), drawn()], 3)[0], first_drawn);
    assert_ne!(sent([drawn(), drawn()], 4)[0], first_drawn);
    assert_ne!(sent([drawn(), drawn()], 3)[1], first_drawn);
    // The means differ by what rounding adds, 0.001 B of 600 B.
    for ((t, _), (t_drawn, _)) in first.iter().zip(&first_drawn) {
        assert!((*t_drawn as f64 / *t as f64 - 1.0).abs() < 1e-5, "{t} {t_drawn}");
    }
}
