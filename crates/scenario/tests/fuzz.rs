//! No text, however strange, makes the parser panic; every place that it names is in the file.

use std::path::Path;

use aqmlab_netsim::plan::Ends;
use aqmlab_scenario::{Change, check_json, curve, parse};
use aqmlab_units::Time;
use proptest::prelude::*;
use proptest::sample::{Index, select};

const NAMES: [&str; 14] = [
    "applications",
    "bus",
    "chain",
    "diffserv",
    "dumbbell-red",
    "explicit-two-hop",
    "flower",
    "lte",
    "mred-paper",
    "starlink",
    "failure",
    "torus",
    "udp-mix",
    "wifi",
];

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{name}.toml"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Parses and looks at what comes back.
fn survive(text: &str, overrides: &[(String, String)]) {
    match parse(text, "fuzz.toml", overrides) {
        Ok(scenario) => {
            let again = parse(&scenario.normalized, "fuzz.toml", &[]).unwrap_or_else(|e| panic!("{e:?}"));
            assert_eq!(again.hash, scenario.hash);
            let plan = &scenario.plan;
            assert_eq!(scenario.queue_of.len(), plan.links.len());
            assert!(plan.warmup < plan.duration);
            let node = |n: u32| (n as usize) < plan.nodes.len();
            assert!(
                plan.links.iter().all(|l| node(l.from) && node(l.to) && l.from != l.to && l.rate().0 > 0)
            );
            let at = |e: &Ends| match e {
                Ends::At(from, to) => node(*from) && node(*to) && from != to,
                Ends::Drawn { from, to, hosts } => {
                    let fixed = |end: &Option<u32>| end.is_none_or(node);
                    let some = hosts.iter().any(|(h, _)| Some(*h) != *to);
                    fixed(from) && fixed(to) && some && hosts.iter().all(|(h, r)| node(*h) && node(*r))
                }
            };
            assert!(plan.flows.iter().all(|f| at(&f.ends) && f.dscp < 64));
            let ordered = |t: &[(Time, Time)]| t.windows(2).all(|w| w[0].1 < w[1].0);
            assert!(plan.flows.iter().all(|f| ordered(&f.again) && f.again.iter().all(|(a, b)| a < b)));
            let (links, flows) = (plan.links.len() as u32, plan.flows.len() as u32);
            assert!(plan.markers.iter().all(|m| m.link < links && m.flows.iter().all(|f| *f < flows)));
            let change = |c: &Change| {
                c.link < links
                    && c.at.0 < plan.duration.0
                    && (c.server.is_some() || c.state.is_some() || c.channel != Default::default())
            };
            assert!(scenario.changes.iter().all(change));
            assert!(scenario.changes.windows(2).all(|w| w[0].at <= w[1].at));
        }
        Err(problems) => {
            assert!(!problems.is_empty());
            let lines = text.split('\n').count();
            for p in problems {
                assert!(p.line >= 1 && p.line <= lines && p.column >= 1, "{p}");
            }
        }
    }
}

/// Pieces of which files are made, and some of which they are not.
const PIECES: &[&str] = &[
    "format = 1\n",
    "[run]\n",
    "duration = ",
    "\"1s\"\n",
    "warmup = ",
    "seeds = ",
    "nodes = ",
    "[[link]]\n",
    "from = \"a\"\n",
    "to = \"b\"\n",
    "rate = ",
    "\"1Mbps\"\n",
    "delay = ",
    "[dumbbell]\n",
    "bottleneck = ",
    "left = ",
    "right = ",
    "[chain]\n",
    "routers = ",
    "link = ",
    "host = ",
    "[queue.main]\n",
    "[queue]\n",
    "aqm = \"mred\"\n",
    "limit = ",
    "min_th = ",
    "points = ",
    "[[flow]]\n",
    "[flow]\n",
    "name = \"x\"\n",
    "count = ",
    "start = ",
    "stop = ",
    "tcp = ",
    "[flow.tcp]\n",
    "tcp.window = ",
    "[[flow.tcp]]\n",
    "[probe]\n",
    "[bus]\n",
    "[flower]\n",
    "[torus]\n",
    "[diffserv]\n",
    "[marker.m]\n",
    "[[change]]\n",
    "[[queue.main.class]]\n",
    "size = ",
    "active = ",
    "pattern = ",
    "dscp = ",
    "\"AF11\"\n",
    "{ uniform = [\"1s\", \"2s\"] }\n",
    "{ exponential = \"1MB\" }\n",
    "{ pareto = { mean = \"1s\", shape = 1.5 } }\n",
    "kind = \"srtcm\"\n",
    "flows = [\"x\"]\n",
    "cir = ",
    "at = ",
    "hosts = ",
    "links = ",
    "queue_interval = ",
    "{ ",
    " }",
    "[",
    "]",
    ", ",
    "=",
    ".",
    "\n",
    "\r\n",
    "\"",
    "'''",
    "\"\"\"",
    "#",
    "\\",
    "\u{feff}",
    "1",
    "0",
    "-1",
    "9223372036854775807",
    "1e308",
    "nan",
    "inf",
    "true",
    "false",
    "\"10p\"",
    "\"é\"",
    "a.b.c = 1\n",
    "[a]\n",
    "[[a]]\n",
    "[a.b]\n",
    "1979-05-27",
    "_",
    "+",
    "\u{0}",
];

/// Paths that overrides may name.
const PATHS: &[&str] = &[
    "run",
    "run.duration",
    "run.seeds",
    "dumbbell.bottleneck",
    "dumbbell.left.delay",
    "queue",
    "queue.bottleneck",
    "queue.bottleneck.limit",
    "queue.default.limit",
    "flow",
    "flow.tcp",
    "flow.tcp.count",
    "flow.tcp.start",
    "flow.tcp.tcp",
    "flow.tcp.tcp.delayed_ack",
    "link.first.rate",
    "chain.routers",
    "bus.routers",
    "bus.hosts",
    "flower.petals",
    "flower.core",
    "torus.rows",
    "torus.columns",
    "diffserv.core",
    "queue.core.class",
    "queue.core.class.in.min_th",
    "flow.transfer.from",
    "flow.transfer.size",
    "flow.transfer.to",
    "flow.assured.active",
    "flow.assured.dscp",
    "flow.talk.pattern",
    "marker",
    "marker.edge.kind",
    "marker.edge.cir",
    "marker.edge.pir",
    "marker.edge.flows",
    "change",
    "change.0.at",
    "change.0.link",
    "probe.flow_interval",
    "probe.links",
    "nodes",
    "link",
];

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![9 => select(PIECES).prop_map(str::to_owned), 1 => "\\PC{0,8}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn arbitrary_text(text in "(?s).{0,200}") {
        survive(&text, &[]);
    }

    #[test]
    fn pieces_in_any_order(pieces in prop::collection::vec(piece(), 0..60)) {
        survive(&pieces.concat(), &[]);
    }

    #[test]
    fn valid_files_with_a_line_exchanged(which in 0usize..NAMES.len(), at in any::<Index>(), pieces in prop::collection::vec(piece(), 0..4)) {
        let text = example(NAMES[which]);
        let mut lines: Vec<&str> = text.lines().collect();
        let new = pieces.concat();
        let at = at.index(lines.len());
        lines[at] = &new;
        survive(&lines.join("\n"), &[]);
    }

    #[test]
    fn valid_files_with_bytes_changed(which in 0usize..NAMES.len(), changes in prop::collection::vec((any::<Index>(), any::<u8>(), 0u8..3), 1..6)) {
        let mut bytes = example(NAMES[which]).into_bytes();
        for (at, byte, how) in changes {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        survive(&String::from_utf8_lossy(&bytes), &[]);
    }

    #[test]
    fn valid_files_with_two_lines_swapped(which in 0usize..NAMES.len(), a in any::<Index>(), b in any::<Index>()) {
        let text = example(NAMES[which]);
        let mut lines: Vec<&str> = text.lines().collect();
        let (a, b) = (a.index(lines.len()), b.index(lines.len()));
        lines.swap(a, b);
        survive(&lines.join("\n"), &[]);
    }

    #[test]
    fn overrides(path in "[a-z_.\"]{0,30}", value in piece(), which in 0usize..NAMES.len()) {
        survive(&example(NAMES[which]), &[(path, value)]);
    }

    #[test]
    fn overrides_of_what_there_is(
        path in select(PATHS),
        pieces in prop::collection::vec(piece(), 0..4),
        which in 0usize..NAMES.len(),
    ) {
        survive(&example(NAMES[which]), &[(path.to_owned(), pieces.concat())]);
    }

    #[test]
    fn bodies_of_queues(pieces in prop::collection::vec(piece(), 0..10), x in any::<f64>()) {
        let _ = curve(&pieces.concat(), &[x, 0.0, 1e9]);
        let _ = curve(&format!("{{{}}}", pieces.concat()), &[x]);
    }

    #[test]
    fn the_answer_to_check_is_json(pieces in prop::collection::vec(piece(), 0..20)) {
        let answer: serde_json::Value = serde_json::from_str(&check_json(&pieces.concat(), "\"\\\u{1}", &[], true)).expect("JSON");
        prop_assert!(answer["ok"].is_boolean());
    }
}
