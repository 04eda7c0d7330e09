//! `--set path=value`.

use aqmlab_netsim::plan::{Meter, Server, Transport};
use aqmlab_scenario::{Scenario, parse};
use aqmlab_transport::TcpConfig;
use aqmlab_units::{Rate, Span, Time};

use super::{BUS, CHAIN, DIFFSERV, DUMBBELL, VALID, messages, override_refused};

fn with(base: &str, overrides: &[(&str, &str)]) -> Scenario {
    let overrides: Vec<_> = overrides.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    parse(base, "net.toml", &overrides).unwrap_or_else(|e| panic!("{e:?}"))
}

#[test]
fn values_of_every_type() {
    let s = with(
        VALID,
        &[
            ("run.duration", "5s"),
            ("run.seeds", "[3, 4]"),
            ("queue.main.max_th", "45p"),
            ("queue.main.max_p", "0.2"),
            ("queue.main.ecn", "true"),
            ("flow.tcp.count", "7"),
            ("flow.tcp.tcp.window", "33p"),
            ("flow.tcp.start", "{ every = \"1ms\" }"),
            ("link.a->b.rate", "2Mbps"),
            ("probe.links", "[\"b->a\"]"),
            ("name", "other"),
        ],
    );
    assert_eq!((s.plan.duration, s.seeds.as_slice()), (Span::from_millis(5_000), &[3, 4][..]));
    assert_eq!((s.plan.flows.len(), s.plan.links[0].rate()), (7, Rate(2_000_000)));
    assert_eq!((s.plan.probe.links.as_slice(), s.name.as_str()), (&[1][..], "other"));
    let Transport::Tcp { config: TcpConfig::Ns2(config), .. } = &*s.plan.flows[0].transport else {
        panic!("not TCP")
    };
    assert_eq!(config.window, 33.0);
    let effective: Vec<_> = s.plan.links[0].queue.effective.iter().map(|(k, v)| format!("{k}={v}")).collect();
    for expected in ["max_th=45p", "max_p=0.2", "ecn=true"] {
        assert!(effective.iter().any(|e| e == expected), "{expected}: {effective:?}");
    }
    assert!(s.normalized.contains("max_th = \"45p\"\n"), "{}", s.normalized);
}

#[test]
fn dumbbells_and_chains() {
    let s = with(DUMBBELL, &[("dumbbell.bottleneck.delay", "5ms"), ("flow.tcp.left.delay", "1ms")]);
    assert_eq!(s.plan.links[0].delay(), Span::from_millis(5));
    assert_eq!(s.plan.links[2].delay(), Span::from_millis(1));
    assert_eq!(s.plan.links[4].delay(), Span::from_millis(15));
    let s = with(CHAIN, &[("chain.routers", "5"), ("queue.default.limit", "20p")]);
    assert_eq!(s.plan.links.len(), 2 * 4 + 4 * 2);
    assert_eq!(s.plan.links[0].queue.effective[0].1.to_string(), "20p");
}

#[test]
fn the_last_one_holds_and_the_order_of_others_does_not_matter() {
    let twice = with(VALID, &[("run.duration", "5s"), ("run.duration", "6s")]);
    assert_eq!(twice.plan.duration, Span::from_millis(6_000));
    let one = with(VALID, &[("run.duration", "5s"), ("run.seeds", "2")]);
    let other = with(VALID, &[("run.seeds", "2"), ("run.duration", "5s")]);
    assert_eq!(one.hash, other.hash);
    assert_ne!(one.hash, twice.hash);
}

#[test]
fn an_override_is_as_good_as_the_file() {
    let edited = VALID.replace("\"10s\"", "\"7s\"");
    assert_eq!(with(VALID, &[("run.duration", "7s")]).hash, with(&edited, &[]).hash);
}

#[test]
fn mistakes_name_the_override() {
    override_refused(
        "run.duratoin",
        "5s",
        "--set:1:1: run.duratoin: unknown key (allowed: duration, warmup, seeds; did you mean \"duration\"?)",
    );
    override_refused(
        "run.duration",
        "5",
        "--set:1:1: run.duration: 5 has no unit (allowed: a time above 0 such as \"10ms\")",
    );
    override_refused(
        "queue.main.max_p",
        "2",
        "--set:1:1: queue.main.max_p: 2 is out of range (allowed: 0 <= x <= 1)",
    );
    override_refused(
        "queue.main.max_th",
        "5p",
        // The one that does not fit the other: it stands in the file.
        "net.toml:16:10: queue.main.min_th: min_th (10p) is not below max_th (5p) (allowed: 0 < min_th < max_th)",
    );
    override_refused(
        "queue.mian.limit",
        "40p",
        "--set:1:1: queue.mian: is not the queue of any link (allowed: main, default; did you mean \"main\"?)",
    );
    override_refused(
        "flow.tpc.count",
        "5",
        "--set:1:1: flow.tpc.count: unknown flow \"tpc\" (allowed: tcp; did you mean \"tcp\"?)",
    );
    override_refused(
        "link.b->a.rate",
        "1Mbps",
        "--set:1:1: link.b->a.rate: unknown link \"b->a\" (allowed: a->b; did you mean \"a->b\"?)",
    );
    override_refused(
        "flow.count",
        "5",
        "--set:1:1: flow.count: flow is a list, say which and what of it (allowed: flow.tcp)",
    );
    override_refused(
        "run.duration.unit",
        "s",
        "--set:1:1: run.duration.unit: duration is text, it has no keys",
    );
    override_refused(
        "run..duration",
        "5s",
        "--set:1:1: run..duration: is not a path (allowed: keys with dots between them, such as run.duration)",
    );
    override_refused("format", "2", "--set:1:1: format: this format is not supported (allowed: 1)");
}

#[test]
fn mistakes_of_file_and_overrides_together() {
    let text = VALID.replace("\"10Mbps\"", "\"10Mbs\"");
    let expected = [
        "net.toml:9:8: link.a->b.rate: \"Mbs\" is not a unit for this (allowed: a rate above 0 such as \"10Mbps\"; \
         units bps, kbps, Mbps, Gbps, bit, kbit, Mbit, Gbit; did you mean \"10Mbps\"?)",
        "--set:1:1: flow.tcp.count: 0 is out of range (allowed: a whole number from 1 to 1000000)",
        "--set:1:1: flow.tpc.count: unknown flow \"tpc\" (allowed: tcp; did you mean \"tcp\"?)",
    ];
    assert_eq!(messages(&text, &[("flow.tcp.count", "0"), ("flow.tpc.count", "5")]), expected);
}

#[test]
fn a_misspelt_queue() {
    let expected = [
        "--set:1:1: queue.mian: is not the queue of any link (allowed: main, default; did you mean \"main\"?)",
    ];
    assert_eq!(messages(VALID, &[("queue.mian.max_th", "40p")]), expected);
    assert_eq!(messages(VALID, &[("queue.mian.aqm", "codel"), ("queue.mian.max_th", "40p")]), expected);
    let default = "--set:1:1: queue.default.max_th: drop-tail, the default aqm, has no parameter max_th (allowed: aqm, limit, \
                   dialect, strict_limit)";
    assert_eq!(messages(VALID, &[("queue.default.max_th", "40p")]), [default]);
}

#[test]
fn a_key_without_its_path() {
    let suggestion = |text, key| {
        let found = messages(text, &[(key, "5")]);
        let (_, suggestion) = found[0].split_once("did you mean ").unwrap_or_default();
        suggestion.to_owned()
    };
    for (key, expected) in [
        ("max_th", "queue.main.max_th"),
        ("main.max_th", "queue.main"),
        ("count", "flow.tcp.count"),
        ("duration", "run.duration"),
        ("dealy", ""),
    ] {
        assert_eq!(suggestion(VALID, key).trim_matches(['"', '?', ')']), expected, "{key}");
    }
    let two = VALID.to_owned() + "\n[queue.other]\naqm = \"red\"\n";
    assert_eq!(suggestion(&two, "max_th"), "\"queue.main.max_th or queue.other.max_th\"?)");
    let many: String = (0..4).map(|n| format!("\n[queue.q{n}]\naqm = \"red\"\n")).collect();
    let expected = "\"queue.main.max_th, queue.q0.max_th, queue.q1.max_th or one of 2 more\"?)";
    assert_eq!(suggestion(&(VALID.to_owned() + &many), "max_th"), expected);
}

#[test]
fn classes_markers_and_changes() {
    let s = with(
        DIFFSERV,
        &[
            ("queue.main.class.in.max_th", "80p"),
            ("queue.main.class.out.max_p", "0.2"),
            ("marker.edge.cir", "2Mbps"),
            ("change.0.rate", "3Mbps"),
            ("change.0.delay", "1ms"),
            ("flow.rest.active", "[['1s', '2s'], ['3s', '4s']]"),
            ("diffserv.core.rate", "8Mbps"),
        ],
    );
    let core = s.plan.links.iter().find(|l| l.name == "core").expect("the core");
    let effective: Vec<_> = core.queue.effective.iter().map(|(k, v)| format!("{k}={v}")).collect();
    for expected in ["class.in.max_th=80p", "class.in.min_th=40p", "class.out.max_p=0.2"] {
        assert!(effective.iter().any(|e| e == expected), "{expected}: {effective:?}");
    }
    let Meter::TokenBucket { cir, cbs } = s.plan.markers[0].meter else { panic!("{:?}", s.plan.markers) };
    assert_eq!((cir, cbs), (Rate(2_000_000), 12_500));
    let change = &s.changes[0];
    let rate = change.server.as_ref().map(Server::rate);
    assert_eq!((rate, change.channel.delay), (Some(Rate(3_000_000)), Some(Span::from_millis(1))));
    assert_eq!(s.plan.flows[2].again, [(Time::from_secs(3.0), Time::from_secs(4.0))]);
    assert_eq!(core.rate(), Rate(8_000_000));
}

#[test]
fn a_class_of_the_discipline_need_not_stand_in_the_file() {
    let rio = BUS.replace("\"red\"", "\"rio\"");
    let s = with(&rio, &[("queue.main.class.out.max_th", "20p"), ("queue.main.class.out.min_th", "8p")]);
    let effective: Vec<_> = s.plan.links[0].queue.effective.iter().map(|(k, v)| format!("{k}={v}")).collect();
    for expected in
        ["class.in.dscp=10", "class.out.dscp=default", "class.out.max_th=20p", "class.out.min_th=8p"]
    {
        assert!(effective.iter().any(|e| e == expected), "{expected}: {effective:?}");
    }
    let cases = [
        (
            "queue.main.class.uot.max_th",
            "--set:1:1: queue.main.class.uot: unknown class \"uot\" (allowed: in, out; did you mean \"out\"?)",
        ),
        (
            "queue.main.class.out.maxth",
            "--set:1:1: queue.main.class.out.maxth: unknown key (allowed: name, dscp, default, limit, min_th, max_th, max_p; did you mean \"max_th\"?)",
        ),
        (
            "queue.default.class.out.max_th",
            "--set:1:1: queue.default.class: drop-tail, the default aqm, has no classes (allowed: aqm, limit, dialect, strict_limit)",
        ),
        (
            "queue.main.class.out",
            "--set:1:1: queue.main.class.out: class is a list, say which and what of it (allowed: class.NAME)",
        ),
    ];
    for (path, expected) in cases {
        assert_eq!(messages(&rio, &[(path, "20p")]), [expected], "{path}");
    }
}

#[test]
fn mistakes_in_names_of_markers_and_changes() {
    let cases = [
        (
            "marker.egde.cir",
            "--set:1:1: marker.egde.cir: unknown marker \"egde\" (allowed: edge; did you mean \"edge\"?)",
        ),
        ("change.1.rate", "--set:1:1: change.1.rate: unknown change \"1\" (allowed: 0)"),
        (
            "change.rate",
            "--set:1:1: change.rate: change is a list, say which and what of it (allowed: change.0)",
        ),
    ];
    for (path, expected) in cases {
        assert_eq!(messages(DIFFSERV, &[(path, "1Mbps")]), [expected], "{path}");
    }
}
