//! Networks and groups of flows as large as they may be: planned, and set up for a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aqmlab_netsim::{EngineChoice, Options, Routes, Simulation};
use aqmlab_scenario::{Scenario, parse};

const RUN: &str = "format = 1\n[run]\nduration = \"1ms\"\n";

fn plan(text: &str) -> Scenario {
    parse(text, "scale.toml", &[]).unwrap_or_else(|problems| panic!("{}", problems[0]))
}

#[test]
fn a_hundred_thousand_flows_share_what_they_have_in_common() {
    let flows = 100_000;
    let s = plan(&format!(
        r#"format = 1
        run.duration = "1ms"
        dumbbell.bottleneck = {{ rate = "10Gbps", delay = "10ms", queue = "red" }}
        dumbbell.left = {{ rate = "1Gbps", delay = "2ms" }}
        dumbbell.right = {{ rate = "1Gbps", delay = "2ms" }}
        queue.red.aqm = "red"
        [[flow]]
        name = "f"
        count = {flows}
        start = {{ uniform = ["0s", "900us"] }}
        "#
    ));
    assert_eq!((s.plan.nodes.len(), s.plan.links.len(), s.plan.flows.len()), (200_002, 400_002, flows));
    let queues = s.plan.links.iter().map(|link| Arc::as_ptr(&link.queue));
    assert_eq!(queues.collect::<BTreeSet<_>>().len(), 3, "bottleneck, its reverse, hosts");
    let pairs: Vec<_> =
        (0..flows as u32).flat_map(|i| [(2 + 2 * i, 3 + 2 * i), (3 + 2 * i, 2 + 2 * i)]).collect();
    let mut routes = Routes::new(&s.plan);
    let routed = routes.paths(&pairs);
    assert!((0..pairs.len()).all(|pair| routed.get(pair).is_some_and(|path| path.len() == 3)));
    assert_eq!(routes.searches(), 2, "one back from each router");
    let simulation = Simulation::new(&s.plan, 1, Options::default());
    assert_eq!(simulation.path(flows - 1).count(), 3);
}

#[test]
fn ten_thousand_routers_need_one_search_a_destination() {
    use std::fmt::Write as _;

    // A grid of 100 by 100; from every router a flow goes to the middle of the row that mirrors its own.
    let (side, mut text) = (100, RUN.to_owned());
    let node = |row: usize, column: usize| format!("n{row}.{column}");
    for (row, column) in (0..side * side).map(|k| (k / side, k % side)) {
        for (down, right) in
            [(row + 1, column), (row, column + 1)].into_iter().filter(|&(a, b)| a.max(b) < side)
        {
            let (from, to) = (node(row, column), node(down, right));
            let _ = write!(
                text,
                "[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"100Mbps\"\ndelay = \"1ms\"\n"
            );
        }
    }
    let to = |k: usize| (side - 1 - k / side, side / 2);
    for k in (0..side * side).filter(|&k| to(k) != (k / side, k % side)) {
        let (from, to) = (node(k / side, k % side), node(to(k).0, to(k).1));
        let _ = write!(
            text,
            "[[flow]]\nname = \"f{k}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = \"udp\"\nrate = \"1kbps\"\n"
        );
    }
    let s = plan(&text);
    let known: BTreeMap<_, u32> = s.plan.nodes.iter().map(|name| name.as_str()).zip(0..).collect();
    let numbers: Vec<u32> = (0..side * side).map(|k| known[&*node(k / side, k % side)]).collect();
    let end = |k: usize| numbers[to(k).0 * side + to(k).1];
    let pairs: Vec<_> = (0..side * side).map(|k| (numbers[k], end(k))).collect();
    let mut routes = Routes::new(&s.plan);
    let routed = routes.paths(&pairs);
    assert_eq!(routes.searches(), side, "one for each row");
    for k in 0..side * side {
        let ((row, column), (to_row, to_column)) = ((k / side, k % side), to(k));
        let hops = row.abs_diff(to_row) + column.abs_diff(to_column);
        assert_eq!(routed.get(k).map(<[u32]>::len), Some(hops));
    }
    let simulation = Simulation::new(&s.plan, 1, Options::default());
    assert_eq!(simulation.path(0).count(), 99 + 50);
}

#[test]
fn some_thousand_flows_are_the_same_with_both_engines() {
    let s = plan(
        r#"format = 1
        run.duration = "300ms"
        dumbbell.bottleneck = { rate = "1Gbps", delay = "5ms", queue = "red" }
        dumbbell.left = { rate = "1Gbps", delay = "2ms" }
        dumbbell.right = { rate = "1Gbps", delay = "2ms" }
        queue.red.aqm = "red"
        [[flow]]
        name = "ns2"
        count = 2000
        transport = "newreno"
        start = { uniform = ["0s", "50ms"] }
        [[flow]]
        name = "kernel"
        count = 300
        transport = "tcp"
        [[flow]]
        name = "udp"
        count = 200
        transport = "udp"
        rate = "1Mbps"
        "#,
    );
    let [windows, events] = [EngineChoice::Windows, EngineChoice::Events].map(|engine| {
        let mut simulation = Simulation::new(&s.plan, 1, Options { engine, ..Options::default() });
        simulation.finish();
        simulation.into_tables()
    });
    assert!(windows.iter().any(|(name, table)| *name == "links" && !table.is_empty()));
    assert_eq!(format!("{windows:?}"), format!("{events:?}"));
}
