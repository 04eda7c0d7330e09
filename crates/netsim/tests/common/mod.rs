//! Small networks for tests.

pub mod ring;

use std::sync::Arc;

use aqmlab_aqm::{LinkContext, Spec, Value};
use aqmlab_netsim::plan::{
    Ends, Flow, Length, Line, Link, Pattern, Plan, Probe, Size, Start, TTL, Transport,
};
use aqmlab_netsim::{Column, Options, Simulation, Table};
use aqmlab_transport::TcpConfig;
use aqmlab_transport::ns2::{self, Variant};
use aqmlab_transport::rfc::{self, CongestionControl, EcnFeedback};
use aqmlab_units::{Rate, Span, Time};

/// A discipline with parameters.
pub type Queue<'a> = (&'a str, &'a [(&'a str, Value)]);

/// TCP of any profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tcp {
    Ns2(Variant),
    Rfc(CongestionControl),
}

impl Tcp {
    /// All variants of ns-2's profile, then all controllers of the RFC profile.
    pub fn all() -> Vec<Self> {
        let of_rfc = CongestionControl::ALL.into_iter().map(Self::Rfc);
        Variant::ALL.into_iter().map(Self::Ns2).chain(of_rfc).collect()
    }

    /// A connection with a window of so many packets, and with options.
    pub fn config(self, window: u32, ecn: bool, delayed_ack: Option<Span>) -> TcpConfig {
        match self {
            Self::Ns2(variant) => {
                let defaults = ns2::Config::ns2(variant);
                TcpConfig::Ns2(Arc::new(ns2::Config { window: window.into(), ecn, delayed_ack, ..defaults }))
            }
            Self::Rfc(congestion_control) => {
                let defaults = rfc::Config::linux(congestion_control);
                let window = window * defaults.mss;
                let classic = EcnFeedback::Classic;
                let ecn = if ecn && congestion_control.works_with(classic) { classic } else { defaults.ecn };
                TcpConfig::Rfc(Arc::new(rfc::Config { window, ecn, delayed_ack, ..defaults }))
            }
        }
    }
}

/// The link between two nodes, in one direction.
pub fn link(name: &str, (from, to): (u32, u32), mbps: f64, ms: f64, (aqm, set): Queue) -> Link {
    let (rate, delay) = (Rate((mbps * 1e6) as u64), Span::from_secs(ms / 1e3));
    let mut spec = Spec::new(aqm).expect("a preset");
    for (key, value) in set {
        spec.set(key, value.clone()).expect("a valid value");
    }
    let queue = Arc::new(spec.resolve(LinkContext { rate, delay }).expect("a valid queue"));
    Link { name: name.into(), from, to, line: Line::constant(rate, delay).into(), queue }
}

/// A dumbbell: routers 0 and 1, hosts 2 + 2i and 3 + 2i of flow i.
pub fn dumbbell(variants: &[Option<Tcp>], mbps: f64, queue: Queue, seconds: f64) -> Plan {
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
                config: variant.config(10_000, false, None),
                size: Size::Greedy,
                clock_offset: None,
            },
            None => Transport::Udp {
                rate: Rate((mbps * 1e5) as u64),
                packet: Length::fixed(777),
                pattern: Pattern::Constant,
            },
        };
        flows.push(Flow {
            name: format!("f{i}").into(),
            group: "f".into(),
            ends: Ends::At(left, right),
            start: Start::Uniform(Time::ZERO, Time::from_secs(1.0)),
            stop: None,
            again: Vec::new(),
            dscp: 0,
            class: 0,
            ttl: TTL,
            acks_share_label: false,
            hosts: [0; 2],
            transport: transport.into(),
        });
    }
    let nodes = (0..2 + 2 * variants.len()).map(|i| format!("n{i}").into()).collect();
    let (duration, warmup) = (Span::from_secs(seconds), Span::from_secs(seconds / 7.0));
    let probe = Probe {
        links: vec![0],
        queue_interval: Some(Span::from_millis(10)),
        cwnd_interval: Some(Span::from_millis(100)),
        delay_histogram: true,
        events: true,
        ..Probe::default()
    };
    Plan {
        nodes,
        links: links.into(),
        flows: flows.into(),
        hosts: Vec::new(),
        pages: Vec::new(),
        markers: Vec::new(),
        pings: Vec::new(),
        translations: Vec::new(),
        routing: Default::default(),
        duration,
        warmup,
        probe,
    }
}

/// All tables of a run.
pub fn run(plan: &Plan, seed: u64, options: Options) -> Vec<(&'static str, Table)> {
    let mut simulation = Simulation::new(plan, seed, options);
    simulation.finish();
    simulation.into_tables()
}

/// A column of whole numbers.
pub fn integers(tables: &[(&'static str, Table)], table: &str, name: &str) -> Vec<i64> {
    match column(tables, table, name) {
        Column::Integer(values) => values.clone(),
        _ => panic!("{table}.{name} is not an integer"),
    }
}

/// A column of real numbers.
pub fn reals(tables: &[(&'static str, Table)], table: &str, name: &str) -> Vec<f64> {
    match column(tables, table, name) {
        Column::Real(values) => values.clone(),
        _ => panic!("{table}.{name} is not a real number"),
    }
}

/// A column of words.
pub fn words(tables: &[(&'static str, Table)], table: &str, name: &str) -> Vec<String> {
    match column(tables, table, name) {
        Column::Text(values) => values.iter().map(str::to_owned).collect(),
        _ => panic!("{table}.{name} is not a word"),
    }
}

fn column<'t>(tables: &'t [(&'static str, Table)], table: &str, name: &str) -> &'t Column {
    let (_, columns) = tables.iter().find(|(n, _)| *n == table).expect("the table");
    let (_, column) = columns.iter().find(|(n, _)| *n == name).expect("the column");
    column
}

/// Text of all tables, NaN included: equal exactly when the bytes are.
pub fn text(tables: &[(&'static str, Table)]) -> String {
    format!("{tables:?}")
}
