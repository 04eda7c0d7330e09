//! Packets and times of flows, markers and changes, as the plan and the answer to `check` have them.

use aqmlab_netsim::plan::{Arrival, Flow, Length, Meter, Pattern, Plan, Size, Spread, Start, Transport};
use aqmlab_scenario::{Scenario, check_json, parse};
use aqmlab_units::{Rate, Span, Time};
use serde_json::{Value as Json, json};

const DIFFSERV: &str = r#"format = 1
[run]
duration = "500s"
[diffserv]
source = { rate = "100Mbps", delay = "5ms" }
edge = { rate = "100Mbps", delay = "5ms" }
core = { rate = "10Mbps", delay = "10ms" }
sink = { rate = "100Mbps", delay = "5ms" }
"#;

fn text(rest: &str) -> String {
    format!("{DIFFSERV}{rest}")
}

fn scenario(rest: &str) -> Scenario {
    let scenario = parse(&text(rest), "net.toml", &[]).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(scenario.warnings, []);
    let again = parse(&scenario.normalized, "net.toml", &[]).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(
        (again.hash, format!("{:?}", again.plan)),
        (scenario.hash.clone(), format!("{:?}", scenario.plan))
    );
    scenario
}

fn checked(rest: &str) -> Json {
    let json: Json = serde_json::from_str(&check_json(&text(rest), "net.toml", &[], true)).expect("JSON");
    assert_eq!(json["ok"], true, "{json}");
    json["scenario"].clone()
}

/// The first flow of a group with these keys.
fn flow(keys: &str) -> Flow {
    scenario(&format!("[[flow]]\nname = \"f\"\n{keys}\n")).plan.flows[0].clone()
}

fn size(value: &str) -> Size {
    let Transport::Tcp { size, .. } =
        Transport::clone(&flow(&format!("packet_size = \"500B\"\nsize = {value}")).transport)
    else {
        panic!("not TCP")
    };
    size
}

fn pattern(value: &str) -> Pattern {
    let keys = format!("transport = \"udp\"\nrate = \"1Mbps\"\npattern = {value}");
    let Transport::Udp { pattern, .. } = Transport::clone(&flow(&keys).transport) else { panic!("not UDP") };
    pattern
}

#[test]
fn sizes() {
    assert_eq!(size("\"1MB\""), Size::Packets(2000));
    assert_eq!(size("{ uniform = [\"100KB\", \"6MB\"] }"), Size::Drawn(Spread::Uniform(1e5, 6e6)));
    assert_eq!(
        size("{ uniform = [\"10p\", \"6MB\"] }"),
        Size::Drawn(Spread::Uniform(5e3, 6e6)),
        "packets times payload"
    );
    assert_eq!(size("{ uniform = [\"1001B\", \"1001B\"] }"), Size::Packets(3));
    assert_eq!(size("{ exponential = \"1MB\" }"), Size::Drawn(Spread::Exponential(1e6)));
    let pareto = Spread::Pareto { mean: 12e3, shape: 1.2 };
    assert_eq!(size("{ pareto = { mean = \"12KB\", shape = 1.2 } }"), Size::Drawn(pareto));
    let checked_json =
        checked("[[flow]]\nname = \"f\"\nsize = { pareto = { mean = \"12KB\", shape = 1.2 } }\n");
    let expected = json!({ "pareto": { "mean": 12000, "shape": 1.2 }, "unit": "B" });
    assert_eq!(checked_json["flows"][0]["parameters"]["size"], expected);
}

#[test]
fn patterns() {
    assert_eq!(pattern("\"constant\""), Pattern::Constant);
    assert_eq!(pattern("\"poisson\""), Pattern::Poisson);
    let on_off = |on, off| Pattern::OnOff { on, off };
    let expected = on_off(Spread::Exponential(10.0), Spread::Fixed(0.0));
    assert_eq!(pattern("{ on = { exponential = \"10s\" }, off = \"0s\" }"), expected);
    let expected = on_off(Spread::Fixed(0.5), Spread::Uniform(0.0, 2.0));
    assert_eq!(pattern("{ on = \"500ms\", off = { uniform = [\"0s\", \"2s\"] } }"), expected);
    let checked_json = checked(
        "[[flow]]\nname = \"f\"\ntransport = \"udp\"\nrate = \"1Mbps\"\npattern = { on = \"1s\", off = { exponential = \"2s\" } }\n",
    );
    let expected = json!({ "on": 1, "off": { "exponential": 2, "unit": "s" } });
    assert_eq!(checked_json["flows"][0]["parameters"]["pattern"], expected);
}

#[test]
fn arrivals() {
    let keys = "transport = \"udp\"\narrivals = \"\"\"\n0 1500\n0.0125 500\n0.02 1000\n\"\"\"";
    let Transport::Udp { rate, packet, pattern } = Transport::clone(&flow(keys).transport) else {
        panic!("not UDP")
    };
    let arrival = |s, bytes| Arrival { after: Span::from_secs(s), bytes };
    let expected = [arrival(0.0, 1500), arrival(0.0125, 500), arrival(0.02, 1000)];
    assert_eq!(pattern, Pattern::Arrivals(expected.to_vec().into()));
    // 3000 bytes in 20 ms.
    assert_eq!((rate, packet), (Rate(1_200_000), Length::fixed(1000)));
}

#[test]
fn lengths_of_packets() {
    let udp = |value: &str| {
        let keys = format!("transport = \"udp\"\nrate = \"1Mbps\"\npacket_size = {value}");
        let Transport::Udp { packet, .. } = Transport::clone(&flow(&keys).transport) else {
            panic!("not UDP")
        };
        packet
    };
    assert_eq!(udp("\"500B\""), Length::fixed(500));
    assert_eq!(udp("{ exponential = \"1kB\" }"), Length::drawn(Spread::Exponential(1000.0)));
    assert_eq!(udp("{ uniform = [40, \"1500B\"] }"), Length::drawn(Spread::Uniform(40.0, 1500.0)));
    assert_eq!(udp("{ uniform = [\"40B\", \"40B\"] }"), Length::fixed(40));
    let pareto = Spread::Pareto { mean: 500.0, shape: 2.5 };
    assert_eq!(udp("{ pareto = { mean = \"500B\", shape = 2.5 } }"), Length::drawn(pareto));
    let checked_json = |value: &str| {
        let keys = format!("transport = \"udp\"\nrate = \"1Mbps\"\npacket_size = {value}");
        checked(&format!("[[flow]]\nname = \"f\"\n{keys}\n"))["flows"][0]["parameters"]["packet_size"].clone()
    };
    assert_eq!(checked_json("\"500B\""), json!(500));
    assert_eq!(checked_json("{ exponential = \"1kB\" }"), json!({ "exponential": 1000, "unit": "B" }));
}

#[test]
fn active_periods() {
    let rest = "[[flow]]\nname = \"f\"\nactive = [[\"100s\", \"200s\"], [\"300s\", \"400s\"]]\n";
    let flow = &scenario(rest).plan.flows[0];
    let at = |s: f64| Time::from_secs(s);
    assert_eq!((flow.start.clone(), flow.stop), (Start::At(at(100.0)), Some(at(200.0))));
    assert_eq!(flow.again, [(at(300.0), at(400.0))]);
    let checked_json = &checked(rest)["flows"][0];
    assert_eq!((&checked_json["start_s"], &checked_json["stop_s"]), (&json!([100.0, 100.0]), &json!(200.0)));
    assert_eq!(checked_json["again"], json!([[300.0, 400.0]]));
}

#[test]
fn counts_by_schedule() {
    let rest = "[[flow]]\nname = \"f\"\nactive = [[\"0s\", 2], [\"20s\", 3], [\"40s\", 1], [\"50s\", 2]]\n";
    let flows = scenario(rest).plan.flows;
    let at = |s: f64| Time::from_secs(s);
    let periods: Vec<_> =
        flows.iter().map(|flow| (&*flow.name, flow.start.clone(), flow.stop, flow.again.clone())).collect();
    assert_eq!(periods[0], ("f.0", Start::At(at(0.0)), None, Vec::new()));
    assert_eq!(periods[1], ("f.1", Start::At(at(0.0)), Some(at(40.0)), vec![(at(50.0), Time::NEVER)]));
    assert_eq!(periods[2], ("f.2", Start::At(at(20.0)), Some(at(40.0)), Vec::new()));
    assert_eq!(periods.len(), 3);
}

/// The rate of a group's Poisson process, and how many flows it has.
fn process(keys: &str) -> (f64, usize) {
    let flows = scenario(&format!("[[flow]]\nname = \"f\"\n{keys}\n")).plan.flows;
    let Start::Poisson { process, .. } = &flows[0].start else { panic!("no process") };
    for (index, flow) in (0..).zip(&*flows) {
        assert_eq!(flow.start, Start::Poisson { process: process.clone(), index });
    }
    (process.rate, flows.len())
}

#[test]
fn poisson_starts() {
    // 500 s; a mean of 1000 arrivals, six standard deviations and 10 more.
    assert_eq!(process("start = { poisson = \"2/s\" }"), (2.0, 1199));
    assert_eq!(process("start = { poisson = \"120/min\", from = \"100s\", until = \"200s\" }"), (2.0, 294));
    assert_eq!(process("start = { poisson = \"0.002/ms\", until = \"900s\" }"), (2.0, 1199));
    assert_eq!(process("count = 1000\nstart = { poisson = \"2/s\" }"), (2.0, 1000));
}

#[test]
fn loads_of_a_link() {
    // The core has 10 Mbit/s, sources 100 Mbit/s. 0.8 * 10e6 / (8 * 100e3) = 10 transfers of 100 kB per second.
    let rate = |keys: &str| process(keys).0;
    let linux = "transport = \"tcp\"\ntcp = { profile = \"rfc\", mss = \"1000B\", header = \"50B\" }\n";
    let with = |size: &str, start: &str| {
        rate(&format!("{linux}size = {size}\nstart = {{ load = 0.8, from = \"8s\", until = \"9s\"{start} }}"))
    };
    assert_eq!(with("\"100kB\"", ""), 10.0);
    assert_eq!(with("\"100kB\"", ", link = \"core\""), 10.0);
    assert_eq!(with("\"100p\"", ""), 10.0);
    assert_eq!(with("{ exponential = \"100kB\" }", ""), 10.0);
    // 1 MB/s over 100 packets of 1050 B; of 1500 B the second packet has 500 B and 50 B.
    assert!((with("\"100kB\"", ", headers = true") - 1e6 / 105_000.0).abs() < 1e-9);
    assert!((with("\"1500B\"", ", headers = true") - 1e6 / 1600.0).abs() < 1e-9);
    let points = "{ cdf = [[500, 0.5], [2500, 1]] }";
    // Means: 500 / 2 + 1500 / 2 B, and 1 / 2 + (500 1 + 1000 2 + 500 3) / 2000 / 2 packets.
    assert!((with(points, "") - 1e3).abs() < 1e-9);
    assert!((with(points, ", headers = true") - 1e6 / (1000.0 + 50.0 * 1.5)).abs() < 1e-9);
    // Profile ns2 sends whole packets, here of 1040 B.
    let ns2 = rate(
        "size = { cdf = [[500, 0.5], [2500, 1]] }\nstart = { load = 0.8, headers = true, until = \"1s\" }",
    );
    assert!((ns2 - 1e6 / (1.5 * 1040.0)).abs() < 1e-9, "{ns2}");
    let named = rate("size = { cdf = \"web-search\" }\nstart = { load = 0.5, until = \"9s\" }");
    assert!((named - 0.5 * 1e7 / 8.0 / 1_711_250.0).abs() < 1e-12);
}

#[test]
fn labels() {
    let f = flow("dscp = \"AF11\"\npriority = true\nacks_share_label = true");
    assert_eq!((f.dscp, f.class, f.acks_share_label), (10, 1, true));
    let level = |text: &str| flow(text).class;
    assert_eq!([level("priority = 1"), level("priority = 2"), level("priority = false")], [1, 2, 0]);
    assert_eq!([flow("").ttl, flow("ttl = 32").ttl], [64, 32]);
    let f = flow("dscp = 46");
    assert_eq!((f.dscp, f.class, f.acks_share_label), (46, 0, false));
    let checked_json = &checked("[[flow]]\nname = \"f\"\ndscp = \"EF\"\npriority = true\n")["flows"][0];
    assert_eq!(
        (&checked_json["dscp"], &checked_json["priority"], &checked_json["acks_share_label"]),
        (&json!(46), &json!(1), &json!(false))
    );
    let levels = checked("[[flow]]\nname = \"f\"\npriority = 2\n[[flow]]\nname = \"g\"\npriority = 1\n");
    let levels = [0, 1].map(|i| levels["flows"][i]["priority"].clone());
    assert_eq!(levels, [json!(2), json!(1)]);
}

#[test]
fn hosts_are_nodes_or_names() {
    assert_eq!(flow("").hosts, [0, 0]);
    assert_eq!(flow("source_host = \"laptop\"").hosts, [1, 0]);
    let text = "[[flow]]\nname = \"f\"\nsource_host = \"a\"\ndestination_host = \"b\"\n";
    let f = &checked(text)["flows"][0];
    assert_eq!((&f["source_host"], &f["destination_host"]), (&json!("a"), &json!("b")));
    let nat =
        "[[flow]]\nname = \"f\"\nsource_host = \"a\"\nsource_nat = \"router\"\ndestination_nat = \"a\"\n";
    let nat = scenario(nat).plan;
    assert_eq!((nat.flows[0].hosts, nat.translated(0)), ([1, 0], [2, 1]));
    // The other direction of a call has them turned round.
    let call = checked(&format!("{text}source_nat = \"c\"\nvoip = {{}}\n"));
    let back = &call["flows"][1];
    assert_eq!((&back["source_host"], &back["destination_host"]), (&json!("b"), &json!("a")));
    assert_eq!((&back["destination_nat"], &call["flows"][0]["source_nat"]), (&json!("c"), &json!("c")));
}

#[test]
fn ends_that_are_drawn_are_listed() {
    let text = "format = 1\n[run]\nduration = \"1s\"\n[bus]\nrouters = 2\nlink = { rate = \"1Mbps\", delay = \"1ms\" }\n\
                host = { rate = \"1Mbps\", delay = \"1ms\" }\n[[flow]]\nname = \"f\"\n[[flow]]\nname = \"g\"\nto = \"h1\"\n";
    let json: Json = serde_json::from_str(&check_json(text, "net.toml", &[], true)).expect("JSON");
    let flows = &json["scenario"]["flows"];
    assert_eq!((&flows[0]["from"], &flows[0]["to"]), (&json!("h1"), &json!("random")));
    assert_eq!(flows[0]["path"], json!([]), "known only in a run");
    assert_eq!((&flows[1]["from"], &flows[1]["to"]), (&json!("h2"), &json!("h1")));
    assert_eq!(flows[1]["path"], json!(["h2->r2", "r2->r1", "r1->h1"]));
}

const FLOWS: &str =
    "[[flow]]\nname = \"a\"\ncount = 2\n[[flow]]\nname = \"b\"\ntransport = \"udp\"\nrate = \"1Mbps\"\n";

/// The plan with a marker of this kind with these keys in addition to link and flows.
fn marked(kind: &str, keys: &str) -> Plan {
    let marker = format!(
        "[marker.m]\nkind = \"{kind}\"\nlink = \"edge\"\nflows = [\"b\", \"a\"]\ncir = \"4Mbps\"\n{keys}\n"
    );
    scenario(&format!("{FLOWS}{marker}")).plan
}

#[test]
fn markers() {
    let plan = marked("token-bucket", "");
    let marker = &plan.markers[0];
    assert_eq!((marker.name.as_str(), marker.link, marker.per_flow), ("m", 0, true));
    assert_eq!(marker.flows, [0, 1, 2], "in the order of the plan");
    assert_eq!((marker.dscp[0], marker.dscp[2]), (10, 0), "AF11 and best effort");
    let meter = |kind, keys| marked(kind, keys).markers[0].meter;
    let (cir, pir) = (Rate(4_000_000), Rate(6_000_000));
    assert_eq!(meter("token-bucket", ""), Meter::TokenBucket { cir, cbs: 25_000 }, "cir times 50 ms");
    assert_eq!(meter("token-bucket", "cbs = \"10KB\""), Meter::TokenBucket { cir, cbs: 10_000 });
    assert_eq!(meter("tsw2cm", ""), Meter::Tsw2 { cir, window: Span::from_millis(1000) });
    let tsw3 = Meter::Tsw3 { cir, pir, window: Span::from_millis(200) };
    assert_eq!(meter("tsw3cm", "pir = \"6Mbps\"\nwindow = \"200ms\""), tsw3);
    let srtcm = Meter::SrTcm { cir, cbs: 2000, ebs: 0, color_aware: false };
    assert_eq!(meter("srtcm", "cbs = 2000\nebs = 0"), srtcm);
    let trtcm = Meter::TrTcm { cir, cbs: 2000, pir, pbs: 3000, color_aware: true };
    assert_eq!(meter("trtcm", "pir = \"6Mbps\"\ncbs = 2000\npbs = 3000\ncolor_aware = true"), trtcm);
    let three = marked("srtcm", "cbs = 2000\nebs = 0\nper = \"group\"\nyellow = \"AF22\"");
    assert_eq!((three.markers[0].dscp, three.markers[0].per_flow), ([10, 20, 14], false));
}

#[test]
fn markers_are_listed() {
    let marker = "[marker.m]\nkind = \"trtcm\"\nlink = \"edge\"\nflows = [\"a\"]\nper = \"group\"\ncir = \"4Mbps\"\n\
                  pir = \"6Mbps\"\ncbs = 2000\npbs = 3000\n\
                  [marker.n]\nkind = \"tsw2cm\"\nlink = \"core\"\nflows = [\"a\"]\ncir = \"4Mbps\"\n";
    let checked_json = checked(&format!("{FLOWS}{marker}"));
    let expected = json!([
        {
            "name": "m",
            "kind": "trtcm",
            "link": "edge",
            "flows": ["a.0", "a.1"],
            "per": "group",
            "parameters": { "cir": 4_000_000, "pir": 6_000_000, "cbs": 2000, "pbs": 3000, "color_aware": false },
            "dscp": { "green": 10, "yellow": 12, "red": 14 },
        },
        {
            "name": "n",
            "kind": "tsw2cm",
            "link": "core",
            "flows": ["a.0", "a.1"],
            "per": "flow",
            "parameters": { "cir": 4_000_000, "window": 1.0 },
            "dscp": { "green": 10, "yellow": null, "red": 0 },
        },
    ]);
    assert_eq!(checked_json["markers"], expected);
}

#[test]
fn changes_are_in_order_of_time() {
    let changes = "[[change]]\nat = \"20s\"\nlink = \"core\"\nrate = \"5Mbps\"\n\
                   [[change]]\nat = \"10s\"\nlink = \"core.reverse\"\ndelay = \"20ms\"\n\
                   [[change]]\nat = \"20s\"\nlink = \"core\"\ndelay = \"1ms\"\n";
    let checked_json = checked(&format!("{FLOWS}{changes}"));
    let expected = json!([
        { "at_s": 10.0, "link": "core.reverse", "rate_bps": null, "delay_s": 0.02 },
        { "at_s": 20.0, "link": "core", "rate_bps": 5_000_000, "delay_s": null },
        { "at_s": 20.0, "link": "core", "rate_bps": null, "delay_s": 0.001 },
    ]);
    assert_eq!(checked_json["changes"], expected);
    scenario(&format!("{FLOWS}{changes}"));
}

#[test]
fn classes_are_listed_in_their_order() {
    let class = "[[queue.main.class]]\nname = \"zebra\"\ndscp = [\"AF11\", 46]\nmin_th = \"40p\"\nmax_th = \"70KB\"\n\
                 [[queue.main.class]]\nname = \"ape\"\ndscp = \"AF12\"\ndefault = true\n";
    let network = text(FLOWS).replace("delay = \"10ms\"", "delay = \"10ms\", queue = \"main\"");
    let text = format!("{network}[queue.main]\naqm = \"red\"\naverages = \"shared\"\n{class}");
    let json: Json = serde_json::from_str(&check_json(&text, "net.toml", &[], true)).expect("JSON");
    assert_eq!(json["ok"], true, "{json}");
    let core = &json["scenario"]["links"][2];
    let expected = json!([
        { "name": "zebra", "dscp": [10, 46], "default": false, "min_th": 40, "max_th": 70, "max_p": 0.1 },
        { "name": "ape", "dscp": [12], "default": true, "min_th": 5, "max_th": 15, "max_p": 0.1 },
    ]);
    assert_eq!(core["classes"], expected);
    assert_eq!(core["parameters"]["class.zebra.max_th"], 70);
    assert_eq!(core["parameters"]["averages"], "shared");
}

#[test]
fn probes() {
    let rest = format!("{FLOWS}[probe]\nflow_interval = \"10s\"\ndiscipline_interval = \"1s\"\n");
    let probe = scenario(&rest).plan.probe;
    assert_eq!(probe.flow_interval, Some(Span::from_millis(10_000)));
    assert_eq!(probe.discipline_interval, Some(Span::from_millis(1_000)));
    assert_eq!(probe.links, [2], "the core, drop-tail as it is");
    let checked_json = &checked(&rest)["probe"];
    assert_eq!(
        (&checked_json["flow_interval_s"], &checked_json["discipline_interval_s"]),
        (&json!(10.0), &json!(1.0))
    );
}
