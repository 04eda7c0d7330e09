//! Small networks for tests.

use std::sync::Arc;

use aqmlab_aqm::{LinkContext, Spec, Value};
use aqmlab_netsim::plan::{Flow, Link, Plan, Probe, Start, Transport};
use aqmlab_netsim::{Options, Simulation, Table};
use aqmlab_transport::{TcpConfig, Variant};
use aqmlab_units::{Rate, Span, Time};

/// A discipline with parameters.
pub type Queue<'a> = (&'a str, &'a [(&'a str, Value)]);

/// The link between two nodes, in one direction.
pub fn link(name: &str, (from, to): (u32, u32), mbps: f64, ms: f64, (aqm, set): Queue) -> Link {
    let (rate, delay) = (Rate((mbps * 1e6) as u64), Span::from_secs(ms / 1e3));
    let mut spec = Spec::new(aqm).expect("a preset");
    for (key, value) in set {
        spec.set(key, value.clone()).expect("a valid value");
    }
    let queue = Arc::new(spec.resolve(LinkContext { rate, delay }).expect("a valid queue"));
    Link { name: name.into(), from, to, rate, delay, aqm: spec.preset().name, queue }
}

/// A dumbbell: routers 0 and 1, hosts 2 + 2i and 3 + 2i of flow i.
pub fn dumbbell(variants: &[Option<Variant>], mbps: f64, queue: Queue, seconds: f64) -> Plan {
    let wide: Queue = ("drop-tail", &[]);
    let mut links = vec![link("there", (0, 1), mbps, 10.0, queue), link("back", (1, 0), mbps, 10.0, queue)];
    let mut flows = Vec::new();
    for (i, variant) in variants.iter().enumerate() {
        let (left, right) = (2 + 2 * i as u32, 3 + 2 * i as u32);
        let ms = 2.0 + 10.0 * i as f64 / variants.len() as f64;
        for (from, to, ms) in [(left, 0, ms), (0, left, ms), (1, right, 2.0), (right, 1, 2.0)] {
            links.push(link(&format!("{from}-{to}"), (from, to), 10.0 * mbps, ms, wide));
        }
        let transport = match variant {
            Some(variant) => Transport::Tcp {
                config: Arc::new(TcpConfig { window: 10_000.0, ..TcpConfig::ns2(*variant) }),
                size: None,
                clock_offset: None,
            },
            None => Transport::Udp { rate: Rate((mbps * 1e5) as u64), packet: 777 },
        };
        flows.push(Flow {
            name: format!("f{i}"),
            group: "f".into(),
            from: left,
            to: right,
            start: Start::Uniform(Time::ZERO, Time::from_secs(1.0)),
            stop: None,
            transport,
        });
    }
    let nodes = (0..2 + 2 * variants.len()).map(|i| format!("n{i}")).collect();
    let (duration, warmup) = (Span::from_secs(seconds), Span::from_secs(seconds / 7.0));
    let probe = Probe {
        links: vec![0],
        queue_interval: Some(Span::from_millis(10)),
        cwnd_interval: Some(Span::from_millis(100)),
        delay_histogram: true,
        events: true,
    };
    Plan { nodes, links, flows, duration, warmup, probe }
}

/// All tables of a run.
pub fn run(plan: &Plan, seed: u64, options: Options) -> Vec<(&'static str, Table)> {
    let mut simulation = Simulation::new(plan, seed, options);
    simulation.finish();
    simulation.tables()
}
