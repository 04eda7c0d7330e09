//! The plan of a live run.

use aqmlab_scenario::{Scenario, parse};
use serde_json::{Value as Json, json};

const DUMBBELL: &str = r#"format = 1

[run]
duration = "10s"
warmup = "1s"

[dumbbell]
bottleneck = { rate = "10Mbps", delay = "10ms", queue = "red" }
left = { rate = "100Mbps", delay = "5ms" }
right = { rate = "50Mbps", delay = "2500us" }

[queue.red]
aqm = "red"

[[flow]]
name = "cubic"
count = 3
transport = "tcp"
start = { uniform = ["0s", "1s"] }
left = { delay = ["5ms", "7ms", "5ms"] }
size = { exponential = "1MB" }
dscp = "AF11"
priority = true
tcp = { ecn = true }
exec = "curl http://{server}:{port}"

[[flow]]
name = "back"
transport = "sack"
from = "right"
active = [["0s", "2s"], ["3s", "4s"]]

[[flow]]
name = "noise"
transport = "udp"
rate = "1Mbps"
pattern = "poisson"
packet_size = { exponential = "600B" }

[live]
loss = 0.01
"#;

fn scenario() -> Scenario {
    parse(DUMBBELL, "live.toml", &[]).expect("valid")
}

/// The plan with a seed.
fn plan(seed: u64) -> Json {
    let scenario = scenario();
    let (plan, _) = scenario.live_plan(seed).expect("can run live");
    serde_json::to_value(plan).expect("JSON")
}

fn group<'p>(plan: &'p Json, name: &str) -> &'p Json {
    let groups = plan["groups"].as_array().expect("groups");
    groups.iter().find(|g| g["name"] == name).unwrap_or_else(|| panic!("{name} in {groups:?}"))
}

#[test]
fn the_whole() {
    let plan = plan(3);
    let described = serde_json::to_value(scenario().description()).expect("JSON");
    assert_eq!(
        (&described["name"], &plan["seed"], &described["duration_s"]),
        (&json!("live"), &json!(3), &json!(10.0))
    );
    assert_eq!(plan["link"], "bottleneck");
    assert_eq!(plan["reverse_link"], "bottleneck.reverse");
    let live = &described["live"];
    assert_eq!((&live["family"], &live["loss"]), (&json!("ipv4"), &json!(0.01)));
    let links: Vec<Json> = scenario().links().map(|link| serde_json::to_value(link).expect("JSON")).collect();
    let link = links.iter().find(|link| link["name"] == "bottleneck").expect("a link");
    let own = ["from", "to", "rate_bps", "delay_s", "queue", "aqm"].map(|key| link[key].clone());
    assert_eq!(json!(own), json!(["r1", "r2", 1e7, 0.01, "red", "red"]));
    assert_eq!((&plan["rate_bps"], &plan["aqm"]), (&json!(1e7), &json!("red")));
    assert_eq!(plan["reverse_aqm"], "drop-tail");
    let names: Vec<_> = plan["groups"].as_array().into_iter().flatten().map(|g| g["name"].clone()).collect();
    assert_eq!(names, ["cubic.0", "cubic.1", "back", "noise"], "a group is split where its ways differ");
}

#[test]
fn ways_and_flows_of_a_group() {
    let plan = plan(3);
    let first = group(&plan, "cubic.0");
    assert_eq!((&first["number"], &first["group"]), (&json!(1), &json!("cubic")));
    assert_eq!(first["flows"], json!(["cubic.0", "cubic.2"]));
    assert_eq!(first["forward"], true);
    let there = json!({
        "links": ["left.cubic.0", "bottleneck", "right.cubic.0"],
        "crosses": "bottleneck",
        "hops_before": 1,
        "hops_after": 1,
        "delay_before_ns": 5_000_000,
        "delay_after_ns": 2_500_000,
        "delay_ns": 17_500_000,
    });
    assert_eq!(first["there"], there);
    assert_eq!(
        (&first["back"]["crosses"], &first["back"]["delay_ns"]),
        (&json!("bottleneck.reverse"), &json!(17_500_000))
    );
    assert_eq!(group(&plan, "cubic.1")["there"]["delay_before_ns"], 7_000_000);
    let back = group(&plan, "back");
    assert_eq!((&back["forward"], &back["back"]["crosses"]), (&json!(false), &json!("bottleneck")));
    assert_eq!((&back["stop_s"], &back["again_s"]), (&json!(2.0), &json!([[3.0, 4.0]])));
}

#[test]
fn how_flows_send() {
    let plan = plan(3);
    let of = |name: &str, keys: &[&str]| {
        let group = group(&plan, name);
        keys.iter().map(|key| group[*key].clone()).collect::<Json>()
    };
    let keys = ["transport", "congestion_control", "ecn", "dscp", "traffic_class", "exec", "exec_server"];
    assert_eq!(
        of("cubic.0", &keys),
        json!(["tcp", "cubic", true, 10, 1, "curl http://{server}:{port}", null])
    );
    assert_eq!(of("back", &keys), json!(["sack", "reno", false, 0, 0, null, null]));
    assert_eq!(of("noise", &keys), json!(["udp", null, false, 0, 0, null, null]));
    let noise = &group(&plan, "noise")["parameters"];
    assert_eq!((&noise["rate_bps"], &noise["pattern"]), (&json!(1_000_000), &json!("poisson")));
    assert_eq!(noise["packet_size"], json!({ "exponential": 600, "unit": "B" }));
    assert_eq!(of("back", &["size_bytes"]), json!([[null]]));
}

#[test]
fn a_seed_draws_what_it_draws_in_the_simulator() {
    let drawn = |seed| {
        let plan = plan(seed);
        let group = group(&plan, "cubic.0");
        (group["starts_s"].clone(), group["size_bytes"].clone())
    };
    assert_eq!(drawn(3), drawn(3));
    assert_ne!(drawn(3), drawn(4));
    let mut simulation =
        aqmlab_netsim::Simulation::new(&scenario().plan, 3, aqmlab_netsim::Options::default());
    simulation.finish();
    let tables = simulation.into_tables();
    let (_, flows) = tables.iter().find(|(name, _)| *name == "flows").expect("a table of flows");
    let (_, starts) = flows.iter().find(|(name, _)| *name == "start_s").expect("a column of starts");
    let aqmlab_netsim::Column::Real(starts) = starts else { panic!("real numbers") };
    assert_eq!(drawn(3).0, json!([starts[0], starts[2]]));
}
