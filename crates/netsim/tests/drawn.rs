//! What a plan leaves to chance is a function of the seed and of the flow's name alone.

#[allow(dead_code, reason = "this test uses its part")]
mod common;

use aqmlab_netsim::Options;
use aqmlab_netsim::plan::{Ends, Plan, Size, Transport};
use aqmlab_transport::Variant;
use common::ring::{Kind, ring};
use common::{integers, run, words};

fn plan(flows: usize) -> Plan {
    ring(&vec![Kind::Drawn(Variant::Reno); flows], 2.0, ("red", &[]), 3.0)
}

/// Ends and size of every flow.
fn drawn(plan: &Plan, seed: u64) -> Vec<(u32, u32, u64)> {
    let draw = |flow: &aqmlab_netsim::plan::Flow| match (&flow.ends, &flow.transport) {
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
        ((plan.nodes[from as usize].clone(), plan.nodes[to as usize].clone()), size as i64)
    });
    assert_eq!(rows, expected.collect::<Vec<_>>());
}
