//! Every scenario file of the repository is valid, and comes to what it says.

use std::path::{Path, PathBuf};

use aqmlab_netsim::Routes;
use aqmlab_netsim::plan::{Ends, Flow, Length, NodeId, Pattern, Size, Start, Transport};
use aqmlab_scenario::{Scenario, check_json, parse};
use aqmlab_transport::TcpConfig;
use aqmlab_units::{Rate, Span, Time};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> (String, String) {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    (text, path.display().to_string())
}

fn scenario(name: &str) -> Scenario {
    let (text, file) = read(&root().join("examples").join(name));
    let scenario = parse(&text, &file, &[]).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(scenario.warnings, [], "{name}");
    scenario
}

fn toml_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    let mut files: Vec<_> = entries.filter(|p| p.extension().is_some_and(|e| e == "toml")).collect();
    files.sort();
    files
}

/// The nodes of a flow that has its place.
fn ends(flow: &Flow) -> (NodeId, NodeId) {
    let Ends::At(from, to) = flow.ends else { panic!("{:?}", flow.ends) };
    (from, to)
}

#[test]
fn the_examples_are_these() {
    let names: Vec<_> = toml_files(&root().join("examples"))
        .iter()
        .filter_map(|p| Some(p.file_name()?.to_string_lossy().into_owned()))
        .collect();
    let expected = [
        "applications.toml",
        "asymmetric.toml",
        "autorate.toml",
        "bus.toml",
        "chain.toml",
        "datacentre.toml",
        "diffserv.toml",
        "dumbbell-cubic.toml",
        "dumbbell-red.toml",
        "explicit-two-hop.toml",
        "failure.toml",
        "flower.toml",
        "l4s.toml",
        "lte.toml",
        "mred-paper.toml",
        "parking-lot.toml",
        "rrul.toml",
        "schedulers.toml",
        "starlink.toml",
        "torus.toml",
        "udp-mix.toml",
        "wifi.toml",
    ];
    assert_eq!(names, expected);
}

#[test]
fn every_scenario_is_valid_and_its_normal_form_says_the_same() {
    let folders = ["examples", "tests/data/ns2/exact", "tests/data/ns2/ordinary"];
    for path in folders.iter().flat_map(|f| toml_files(&root().join(f))) {
        let (text, file) = read(&path);
        let first = parse(&text, &file, &[]).unwrap_or_else(|e| panic!("{file}: {e:?}"));
        let again = parse(&first.normalized, &file, &[]).unwrap_or_else(|e| panic!("{file}: {e:?}"));
        assert_eq!(first.normalized, again.normalized, "{file}");
        assert_eq!(first.hash, again.hash, "{file}");
        assert_eq!(format!("{:?}", first.plan), format!("{:?}", again.plan), "{file}");
    }
}

#[test]
fn dumbbell_red() {
    let s = scenario("dumbbell-red.toml");
    assert_eq!(s.seeds, [1, 2, 3, 4, 5]);
    let plan = &s.plan;
    assert_eq!((plan.duration, plan.warmup), (Span::from_millis(30_000), Span::from_millis(5_000)));
    assert_eq!(plan.nodes[..4], ["r1", "r2", "left.tcp.0", "right.tcp.0"]);
    assert_eq!((plan.nodes.len(), plan.links.len(), plan.flows.len()), (22, 42, 10));
    let names: Vec<_> = plan.links[..6].iter().map(|l| l.name.as_str()).collect();
    let expected = [
        "bottleneck",
        "bottleneck.reverse",
        "left.tcp.0",
        "left.tcp.0.reverse",
        "right.tcp.0",
        "right.tcp.0.reverse",
    ];
    assert_eq!(names, expected);
    assert_eq!(plan.links[0].aqm(), "red");
    assert_eq!(plan.links[1].aqm(), "drop-tail");
    assert_eq!([0, 1, 2].map(|link| s.queue(link)), ["bottleneck", "default", "default"]);
    assert_eq!(&*plan.flows[9].name, "tcp.9");
    assert_eq!(plan.flows[9].start, Start::Uniform(Time(0), Time(100_000_000_000)));
    assert_eq!(plan.probe.links, [0]);
    assert_eq!(plan.probe.queue_interval, Some(Span::from_millis(50)));
    assert!(plan.probe.delay_histogram && !plan.probe.events);
    let Transport::Tcp { config: TcpConfig::Ns2(config), size: Size::Greedy, clock_offset: None } =
        &*plan.flows[0].transport
    else {
        panic!("{:?}", plan.flows[0].transport)
    };
    assert_eq!((config.window, config.packet_size), (200.0, 1000));
}

#[test]
fn rrul() {
    let s = scenario("rrul.toml");
    let classes = |way: &str| {
        let flows = s.plan.flows.iter().filter(|flow| flow.name.starts_with(way));
        flows.map(|flow| flow.dscp).collect::<Vec<_>>()
    };
    assert_eq!(classes("down-"), [0, 8, 40, 46]);
    assert_eq!(classes("up-"), [0, 8, 40, 46]);
    assert_eq!(classes("ping-"), [46, 46, 8, 8, 0, 0, 0, 0]);
    assert!(s.plan.probe.flow_delay);
}

#[test]
fn schedulers() {
    let s = scenario("schedulers.toml");
    let link = &s.plan.links[0];
    let effective = |key: &str| {
        let found = link.queue.effective.iter().find(|(k, _)| k == key);
        found.map(|(_, value)| value.to_string())
    };
    let expected = [
        ("class.voice.dscp", "46"),
        ("class.voice.aqm", "drop-tail"),
        ("class.voice.limit", "50p"),
        ("class.data.dscp", "default"),
        ("class.data.aqm", "wfq"),
        ("class.data.class.gold.weight", "3"),
        ("class.data.class.gold.aqm", "red"),
        ("class.data.class.gold.max_th", "30p"),
    ];
    for (key, value) in expected {
        assert_eq!(effective(key).as_deref(), Some(value), "{key}");
    }
    // A class's parameter that is set from outside.
    let (text, file) = read(&root().join("examples/schedulers.toml"));
    let set = [("queue.by-weight.class.gold.weight", "5"), ("queue.gold.max_th", "40p")];
    let set = set.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let other = parse(&text, &file, &set).expect("valid");
    let json: serde_json::Value = serde_json::from_str(&check_json(&text, &file, &set, true)).expect("JSON");
    assert_eq!(json["scenario"]["links"][0]["parameters"]["class.data.class.gold.weight"], 5);
    assert_eq!(json["scenario"]["links"][0]["classes"][1]["class.gold.max_th"], 40);
    assert_ne!(other.hash, s.hash);
}

#[test]
fn routes_lead_through_the_bottleneck() {
    let s = scenario("udp-mix.toml");
    let mut routes = Routes::new(&s.plan);
    let mut path = |flow: &str| -> Vec<String> {
        let f = s.plan.flows.iter().find(|f| *f.name == *flow).expect("a flow of the example");
        let (from, to) = ends(f);
        let links = routes.path(from, to).unwrap_or_default();
        links.into_iter().map(|l| s.plan.links[l as usize].name.to_string()).collect()
    };
    assert_eq!(path("tcp.7"), ["left.tcp.7", "bottleneck", "right.tcp.7"]);
    assert_eq!(path("trickle"), ["right.trickle.reverse", "bottleneck.reverse", "left.trickle.reverse"]);
    let own = s.plan.links.iter().find(|l| l.name == "right.trickle").expect("a link of the example");
    assert_eq!((own.rate(), own.delay()), (Rate(2_000_000), Span::from_millis(30)));
    assert_eq!(s.plan.flows[20].stop, Some(Time(10_000_000_000_000)));
    let Transport::Udp { rate, packet, pattern: Pattern::Constant } = &*s.plan.flows[21].transport else {
        panic!("not UDP")
    };
    assert_eq!((*rate, packet), (Rate(1_000_000), &Length::fixed(500)));
}

#[test]
fn chain() {
    let s = scenario("chain.toml");
    let plan = &s.plan;
    assert_eq!(plan.nodes[..2], ["r1", "r2"]);
    assert_eq!(plan.nodes[10..12], ["long.0.from", "long.0.to"]);
    assert_eq!(plan.links[0].name, "r1->r2");
    assert_eq!(plan.links[1].name, "r2->r1");
    assert_eq!(plan.links.len(), 2 * 9 + 4 * 10);
    let long =
        |i: usize| plan.links.iter().find(|l| l.name == format!("long.{i}.from->r1")).map(|l| l.delay());
    let expected = [1, 2, 5, 10].map(|ms| Some(Span::from_millis(ms)));
    assert_eq!([long(0), long(1), long(2), long(3)], expected);
    let starts: Vec<_> = plan.flows[..4].iter().map(|f| f.start.clone()).collect();
    assert_eq!(starts, [0, 1, 2, 3].map(|i| Start::At(Time(i * 100_000_000_000))));
    assert_eq!(plan.flows[9].start, Start::At(Time(1_500_000_000_000)));
    let mut routes = Routes::new(plan);
    let (from, to) = ends(&plan.flows[8]);
    let path = routes.path(from, to).unwrap_or_default();
    let names: Vec<_> = path.into_iter().map(|l| plan.links[l as usize].name.as_str()).collect();
    let expected =
        ["back.0.from->r8", "r8->r7", "r7->r6", "r6->r5", "r5->r4", "r4->r3", "r3->r2", "r2->back.0.to"];
    assert_eq!(names, expected);
    let observed: Vec<_> = plan.probe.links.iter().map(|&l| plan.links[l as usize].name.as_str()).collect();
    assert_eq!(observed, ["r1->r2", "r3->r4"]);
}

#[test]
fn explicit_two_hop() {
    let s = scenario("explicit-two-hop.toml");
    let names: Vec<_> = s.plan.links.iter().map(|l| l.name.as_str()).collect();
    let expected = [
        "a->r1",
        "r1->a",
        "first",
        "first.reverse",
        "second",
        "second.reverse",
        "b->r2",
        "r2->b",
        "r2->c",
        "c->r2",
        "r3->d",
        "d->r3",
    ];
    assert_eq!(names, expected);
    assert_eq!(s.plan.nodes[..], ["a", "b", "c", "r1", "r2", "r3", "d"]);
    assert_eq!(s.plan.links[11].rate(), Rate(10_000_000));
    assert_eq!(s.seeds, [1, 2, 3]);
    let Transport::Tcp { size, .. } = &*s.plan.flows[7].transport else { panic!("not TCP") };
    assert_eq!(*size, Size::Packets(5000));
}

#[test]
fn the_answer_to_check_holds_what_it_must() {
    let (text, _) = read(&root().join("examples/explicit-two-hop.toml"));
    let json: serde_json::Value =
        serde_json::from_str(&check_json(&text, "a/two.toml", &[], true)).expect("JSON");
    assert_eq!(json["ok"], true);
    let s = &json["scenario"];
    assert_eq!(s["name"], "explicit-two-hop");
    assert_eq!((&s["duration_s"], &s["warmup_s"]), (&20.0.into(), &2.0.into()));
    assert_eq!(s["flows"][0]["path"], serde_json::json!(["a->r1", "first", "second", "r3->d"]));
    assert_eq!(s["flows"][7]["parameters"]["size"], 5000);
    let first = &s["links"][2];
    assert_eq!(
        (&first["from"], &first["to"], &first["queue"]),
        (&"r1".into(), &"r2".into(), &"marking".into())
    );
    // 10 KB and 30 KB in packets of 1000 B.
    assert_eq!((&first["parameters"]["min_th"], &first["parameters"]["max_th"]), (&10.into(), &30.into()));
    assert_eq!(
        (&first["parameters"]["max_p"], &first["parameters"]["limit"]),
        (&0.1.into(), &"150000B".into())
    );
    assert_eq!((&first["rate_bps"], &first["delay_s"]), (&1e7.into(), &0.01.into()));
    assert_eq!(s["probe"]["links"], serde_json::json!(["first", "second"]));
    assert_eq!(s["hash"].as_str().map(str::len), Some(32));
}

#[test]
fn hashes_of_old_files_stay() {
    for (name, hash) in [
        ("dumbbell-red", "901d97a2ea3b74ad36c54bfa39ae71a2"),
        ("chain", "905b354fb0d4ea316a23c59557991f6f"),
        ("explicit-two-hop", "301a463fcc0f87b2c77fc5c607c06c0b"),
    ] {
        assert_eq!(scenario(&format!("{name}.toml")).hash, hash, "results are kept under it");
    }
}
