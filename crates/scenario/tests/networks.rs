//! The networks that have hosts of their own: nodes, links, and where flows begin and end.

use aqmlab_netsim::Routes;
use aqmlab_netsim::plan::{Ends, Flow, LinkId, NodeId, Plan};
use aqmlab_scenario::{Scenario, parse};

fn scenario(network: &str, flows: &str) -> Scenario {
    let text = format!(
        "format = 1\n[run]\nduration = \"10s\"\n{network}\n[queue.main]\naqm = \"red\"\n[queue.up]\nlimit = \"7p\"\n{flows}"
    );
    parse(&text, "net.toml", &[]).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

const LINKS: &str = "link = { rate = \"10Mbps\", delay = \"10ms\", queue = \"main\", reverse_queue = \"main\" }\n\
                     host = { rate = \"20Mbps\", delay = \"1ms\", queue = \"main\", uplink_queue = \"up\" }\n";
const ONE_FLOW: &str = "[[flow]]\nname = \"f\"\n";

/// A network of this kind with one flow.
fn network(kind: &str, keys: &str) -> Scenario {
    scenario(&format!("[{kind}]\n{keys}\n{LINKS}"), ONE_FLOW)
}

/// The names of the queues of the links.
fn queues(scenario: &Scenario) -> Vec<&str> {
    scenario.links_with_queues().map(|(_, queue)| queue).collect()
}

/// Names of the links between routers.
fn trunks(plan: &Plan) -> Vec<&str> {
    plan.links.iter().map(|l| l.name.as_str()).filter(|name| !name.contains('h')).collect()
}

fn names(plan: &Plan, flow: &Flow) -> (String, String) {
    let name = |end: Option<NodeId>| end.map_or("random".to_owned(), |n| plan.nodes[n as usize].to_string());
    match flow.ends {
        Ends::At(from, to) => (name(Some(from)), name(Some(to))),
        Ends::Drawn { from, to, .. } => (name(from), name(to)),
    }
}

#[test]
fn bus() {
    let s = network("bus", "routers = 3\nhosts = 2");
    assert_eq!(s.plan.nodes[..], ["r1", "r2", "r3", "h1", "h2", "h3", "h4", "h5", "h6"]);
    assert_eq!(trunks(&s.plan), ["r1->r2", "r2->r1", "r2->r3", "r3->r2"]);
    let hosts: Vec<_> = s.links_with_queues().map(|(l, q)| (l.name.as_str(), q)).collect();
    let expected = [("h1->r1", "up"), ("r1->h1", "main"), ("h2->r2", "up"), ("r2->h2", "main")];
    assert_eq!(hosts[4..8], expected);
    let last = s.plan.links.last().map(|l| l.name.as_str());
    assert_eq!(last, Some("r3->h6"), "host k is at router ((k-1) mod R) + 1");
}

#[test]
fn without_an_uplink_queue_both_directions_have_the_same() {
    let links = LINKS.replace(", uplink_queue = \"up\"", "");
    let s = scenario(&format!("[bus]\nrouters = 2\n{links}"), ONE_FLOW);
    assert_eq!(queues(&s), ["main"; 6]);
    assert!(s.plan.nodes.iter().any(|name| name == "h2"), "one host a router unless the file says otherwise");
}

#[test]
fn flower() {
    let core = "core = { rate = \"5Mbps\", delay = \"1ms\", queue = \"main\" }";
    let s = network("flower", &format!("petals = 3\nrouters = 3\n{core}"));
    assert_eq!(s.plan.nodes.len(), 9 + 9);
    let expected = [
        "r1->r4", "r4->r1", "r4->r7", "r7->r4", "r7->r1", "r1->r7", // the core
        "r1->r2", "r2->r1", "r2->r3", "r3->r2", "r3->r1", "r1->r3", // the first petal
        "r4->r5", "r5->r4", "r5->r6", "r6->r5", "r6->r4", "r4->r6", //
        "r7->r8", "r8->r7", "r8->r9", "r9->r8", "r9->r7", "r7->r9",
    ];
    assert_eq!(trunks(&s.plan), expected);
    assert_eq!((s.plan.links[0].rate().0, s.plan.links[6].rate().0), (5_000_000, 10_000_000));
    let mut routes = Routes::new(&s.plan);
    let node = |name: &str| s.plan.nodes.iter().position(|n| n == name).expect("a node") as NodeId;
    let path = routes.path(node("h2"), node("h6")).unwrap_or_default();
    let path: Vec<_> = path.into_iter().map(|l| s.plan.links[l as usize].name.as_str()).collect();
    assert_eq!(path, ["h2->r2", "r2->r1", "r1->r4", "r4->r6", "r6->h6"]);
}

#[test]
fn a_flower_without_core_has_the_links_of_its_petals() {
    let s = network("flower", "petals = 2\nrouters = 2");
    assert_eq!(trunks(&s.plan), ["r1->r3", "r3->r1", "r1->r2", "r2->r1", "r3->r4", "r4->r3"], "rings of two");
    assert!(s.plan.links.iter().take(6).all(|l| l.rate().0 == 10_000_000));
}

#[test]
fn torus() {
    let s = network("torus", "rows = 3\ncolumns = 4\nhosts = 40");
    assert_eq!(s.plan.nodes.len(), 12 + 480);
    assert_eq!(trunks(&s.plan).len(), 48);
    assert_eq!(trunks(&s.plan)[..4], ["r1->r2", "r2->r1", "r1->r5", "r5->r1"]);
    let mut routes = Routes::new(&s.plan);
    let hops = |routes: &mut Routes<'_>, a, b| routes.path(a, b).map_or(0, |p| p.len());
    let total: usize = (0..12).map(|b| hops(&mut routes, 0, b)).sum();
    assert_eq!(total, 20, "mean distance 20/11 = 1.818 hops");
}

#[test]
fn each_flow_of_the_file_has_the_next_host() {
    let flows = "[[flow]]\nname = \"a\"\ncount = 4\n[[flow]]\nname = \"b\"\nfrom = \"h2\"\nto = \"h3\"\n\
                 [[flow]]\nname = \"c\"\ncount = 2\nto = \"h3\"\n[[flow]]\nname = \"d\"\nfrom = \"random\"\nto = \"h1\"\n\
                 [[flow]]\nname = \"e\"\nfrom = \"random\"\n";
    let s = scenario(&format!("[bus]\nrouters = 3\nhosts = 2\n{LINKS}"), flows);
    let ends: Vec<_> = s.plan.flows.iter().map(|f| names(&s.plan, f)).collect();
    let expected = [
        ("h1", "random"),
        ("h2", "random"),
        ("h3", "random"),
        ("h4", "random"),
        ("h2", "h3"),
        ("h6", "h3"),
        ("h1", "h3"),
        ("random", "h1"),
        ("random", "random"),
    ];
    assert_eq!(ends, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
}

#[test]
fn hosts_to_draw_from() {
    let s = network("bus", "routers = 3\nhosts = 2");
    let Ends::Drawn { hosts, .. } = &s.plan.flows[0].ends else { panic!("{:?}", s.plan.flows[0].ends) };
    assert_eq!(**hosts, [(3, 0), (4, 1), (5, 2), (6, 0), (7, 1), (8, 2)], "each with its router");
}

#[test]
fn diffserv() {
    let network = "[diffserv]\nsource = { rate = \"100Mbps\", delay = \"5ms\", uplink_queue = \"up\" }\n\
                   edge = { rate = \"90Mbps\", delay = \"5ms\" }\n\
                   core = { rate = \"10Mbps\", delay = \"10ms\", reverse_queue = \"main\" }\n\
                   sink = { rate = \"80Mbps\", delay = \"5ms\" }\n";
    let flows = "[[flow]]\nname = \"a\"\ncount = 2\nsource = { delay = [\"1ms\", \"2ms\"] }\n[[flow]]\nname = \"b\"\n";
    let s = scenario(network, flows);
    assert_eq!(s.plan.nodes[..], ["e1", "c1", "e2", "receiver", "source.a.0", "source.a.1", "source.b"]);
    let links: Vec<_> = s.plan.links.iter().map(|l| l.name.as_str()).collect();
    let expected = [
        "edge",
        "edge.reverse",
        "core",
        "core.reverse",
        "sink",
        "sink.reverse",
        "source.a.0",
        "source.a.0.reverse",
        "source.a.1",
        "source.a.1.reverse",
        "source.b",
        "source.b.reverse",
    ];
    assert_eq!(links, expected);
    assert_eq!(queues(&s)[..4], ["default", "default", "default", "main"]);
    assert_eq!(queues(&s)[6..8], ["up", "default"]);
    let delays: Vec<_> = [6, 7, 8, 10].map(|l| s.plan.links[l].delay().secs()).into();
    assert_eq!(delays, [0.001, 0.001, 0.002, 0.005]);
    let mut routes = Routes::new(&s.plan);
    let Ends::At(from, to) = s.plan.flows[2].ends else { panic!("a flow from its source") };
    let path = |routes: &mut Routes<'_>, a, b| {
        let path = routes.path(a, b).unwrap_or_default();
        path.into_iter().map(|l| s.plan.links[l as usize].name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(path(&mut routes, from, to), ["source.b", "edge", "core", "sink"]);
    let back = ["sink.reverse", "core.reverse", "edge.reverse", "source.b.reverse"];
    assert_eq!(path(&mut routes, to, from), back);
    assert_eq!(s.plan.probe.links, [2, 3], "the core, and what is not drop-tail");
}

#[test]
fn hosts_of_dumbbells_and_chains_have_uplinks_too() {
    let dumbbell = "[dumbbell]\nbottleneck = { rate = \"10Mbps\", delay = \"1ms\", queue = \"main\" }\n\
                    left = { rate = \"20Mbps\", delay = \"1ms\", uplink_queue = \"up\" }\n\
                    right = { rate = \"20Mbps\", delay = \"1ms\", queue = \"main\", uplink_queue = \"up\" }\n";
    let flows = "[[flow]]\nname = \"f\"\n[[flow]]\nname = \"g\"\nright = { uplink_queue = \"default\" }\n";
    let s = scenario(dumbbell, flows);
    let queue = |name: &str| {
        let link = s.plan.links.iter().position(|l| l.name == name).expect("a link");
        s.queue(link as LinkId)
    };
    assert_eq!([queue("left.f"), queue("left.f.reverse")], ["up", "default"]);
    assert_eq!([queue("right.f"), queue("right.f.reverse")], ["main", "up"]);
    assert_eq!([queue("right.g"), queue("right.g.reverse")], ["main", "default"]);
    let chain = format!("[chain]\nrouters = 2\n{LINKS}");
    let s = scenario(&chain, "[[flow]]\nname = \"f\"\nfrom = \"r1\"\nto = \"r2\"\n");
    let pairs: Vec<_> = s.links_with_queues().map(|(l, q)| (l.name.as_str(), q)).collect();
    let expected = [("f.from->r1", "up"), ("r1->f.from", "main"), ("f.to->r2", "up"), ("r2->f.to", "main")];
    assert_eq!(pairs[2..], expected);
}
