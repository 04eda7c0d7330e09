//! Four routers in a ring with two hosts each, and plans over it that use everything a plan can name.

use std::sync::Arc;

use aqmlab_netsim::plan::{
    AdaptationRule, Backup, BackupRule, ChannelChange, Dispatch, Ends, Flow, Keys, Length, Marker, Meter,
    Multipath, NodeId, Objects, Outage, Page, Pattern, Plan, PoissonProcess, Probe, Routing, Server, Size,
    Spread, Start, TTL, Transport, Video,
};
use aqmlab_transport::scream;
use aqmlab_units::{Framing, LinkLayer, Parameter, ParameterValue, Rate, Span, Time, ValueKind};

use super::{Queue, Tcp, link};

const ROUTERS: u32 = 4;
const HOSTS: u32 = 8;

/// How a flow sends.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// TCP without end.
    Greedy(Tcp),
    /// TCP with a size drawn.
    Drawn(Tcp),
    /// TCP with a size drawn, which starts with an arrival of a Poisson process or never.
    Arriving(Tcp),
    /// TCP that stops and goes on, twice.
    Again(Tcp),
    /// A connection of a web page; neighbours are of the same page.
    Page(Tcp),
    /// Adaptive video.
    Video(Tcp),
    /// UDP, twice with a pause between.
    Constant,
    /// Poisson.
    Poisson,
    /// Bursts.
    OnOff,
    /// Poisson, with lengths of packets drawn.
    Lengths,
    /// Media with feedback, with pauses.
    Media,
}

fn s(seconds: f64) -> Time {
    Time::from_secs(seconds)
}

fn host(k: u32) -> (NodeId, NodeId) {
    (ROUTERS + k, k % ROUTERS)
}

/// Flow `i`: its properties go through all combinations as `i` grows.
fn flow(i: usize, kind: Kind, mbps: f64, hosts: &Arc<[(NodeId, NodeId)]>) -> Flow {
    let tcp = |tcp: Tcp, size| Transport::Tcp {
        config: tcp.config(500, i % 2 == 1, (i % 3 == 1).then(|| Span::from_millis(100))),
        size,
        clock_offset: None,
    };
    let udp = |pattern, packet| Transport::Udp { rate: Rate((mbps * 2e5) as u64), packet, pattern };
    let alike = Length::fixed(600);
    let transport = match kind {
        Kind::Greedy(variant) | Kind::Again(variant) => tcp(variant, Size::Greedy),
        Kind::Drawn(variant) => tcp(variant, Size::Drawn(Spread::Pareto { mean: 200_000.0, shape: 1.3 })),
        Kind::Arriving(variant) => tcp(variant, Size::Drawn(Spread::Exponential(20_000.0))),
        Kind::Page(variant) => {
            let think = if i.is_multiple_of(2) { Spread::Fixed(0.0) } else { Spread::Exponential(0.05) };
            tcp(variant, Size::Objects(Objects { sizes: [].into(), think }))
        }
        Kind::Video(variant) => tcp(variant, Size::Video(Arc::new(video(i)))),
        Kind::Constant => udp(Pattern::Constant, alike),
        Kind::Poisson => udp(Pattern::Poisson, alike),
        Kind::OnOff => udp(
            Pattern::OnOff { on: Spread::Exponential(0.2), off: Spread::Pareto { mean: 0.3, shape: 1.5 } },
            alike,
        ),
        Kind::Lengths => udp(Pattern::Poisson, Length::drawn(Spread::Exponential(600.0))),
        Kind::Media => Transport::Scream(Arc::new(media(i, mbps))),
    };
    let (stop, again) = match kind {
        // The first pause is shorter than a window for every other flow.
        Kind::Again(_) | Kind::Media => {
            let second = if i.is_multiple_of(2) { 3.0 } else { 2.000_01 };
            (Some(s(2.0)), vec![(s(second), s(3.5)), (s(5.0), s(6.0))])
        }
        Kind::Constant => (Some(s(2.5)), vec![(s(3.0), s(7.0))]),
        Kind::Video(_) if i % 4 == 3 => (Some(s(5.0)), Vec::new()),
        _ => (None, Vec::new()),
    };
    let fixed = (i % 4 == 2).then_some(hosts[i % hosts.len()].0);
    Flow {
        name: format!("f{i}").into(),
        group: "f".into(),
        ends: Ends::Drawn { from: fixed, to: None, hosts: hosts.clone() },
        start: match kind {
            Kind::Arriving(_) => {
                let process = PoissonProcess { rate: 2.0, from: s(0.5), until: s(6.0) };
                Start::Poisson { process: process.into(), index: i as u32 }
            }
            _ if again.is_empty() => Start::Uniform(s(0.0), s(1.0)),
            _ => Start::At(s(0.1)),
        },
        stop,
        again,
        dscp: [0, 10, 12, 14][i % 4],
        class: (i % 2) as u8,
        ttl: TTL,
        acks_share_label: i.is_multiple_of(3),
        hosts: [0; 2],
        transport: transport.into(),
    }
}

/// Media with marks, key frames and a fixed feedback interval for some of the flows.
fn media(i: usize, mbps: f64) -> scream::Config {
    let every = scream::FeedbackInterval::Every(Span::from_millis(30));
    scream::Config {
        max_rate: Rate((mbps * 1e6).max(150_000.0) as u64),
        ecn: i % 2 == 1,
        key_frame_interval: (i % 3 == 1).then_some(Span::from_millis(500)),
        feedback_interval: if i % 4 < 2 { every } else { scream::FeedbackInterval::Auto },
        ..scream::Config::default()
    }
}

fn video(i: usize) -> Video {
    let rule = if i.is_multiple_of(2) {
        AdaptationRule::Bba0 { reservoir: Span::from_millis(1000), cushion: Span::from_millis(1500) }
    } else {
        AdaptationRule::Throughput { safety: 0.85, window: 3 }
    };
    Video {
        ladder: [50_000, 200_000, 400_000, 1_000_000].map(Rate).to_vec(),
        segment: Span::from_millis(500),
        buffer: Span::from_millis(3000),
        startup: Span::from_millis(1000),
        segments: i.is_multiple_of(3).then_some(9),
        rule,
    }
}

/// The pages that flows of [`Kind::Page`] make.
fn pages(kinds: &[Kind]) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    for (i, _) in (0..).zip(kinds).filter(|(_, kind)| matches!(kind, Kind::Page(_))) {
        match pages.last_mut() {
            Some(page) if page.first + page.connections == i => page.connections += 1,
            _ => pages.push(Page {
                name: format!("p{i}"),
                first: i,
                connections: 1,
                dispatch: if i % 4 == 3 { Dispatch::FirstFree } else { Dispatch::InTurn },
                start: Start::Uniform(s(0.0), s(1.0)),
                objects: 17,
                size: Spread::Pareto { mean: 8000.0, shape: 1.3 },
            }),
        }
    }
    pages
}

/// All five meters before links of the ring, each on half of the flows.
fn markers(flows: u32, mbps: f64) -> Vec<Marker> {
    let (cir, pir) = (Rate((mbps * 2e5) as u64), Rate((mbps * 5e5) as u64));
    let (cbs, ebs, pbs, window) = (5000, 8000, 9000, Span::from_millis(500));
    let meters = [
        Meter::TokenBucket { cir, cbs },
        Meter::Tsw2 { cir, window },
        Meter::Tsw3 { cir, pir, window },
        Meter::SrTcm { cir, cbs, ebs, color_aware: true },
        Meter::TrTcm { cir, cbs, pir, pbs, color_aware: true },
    ];
    let marker = |(i, meter): (usize, Meter)| Marker {
        name: format!("m{i}"),
        // Links 0 to 3 go round one way, 4 to 7 the other; the fifth marker shares the first one's link.
        link: (i % 4) as u32,
        flows: (0..flows).filter(|f| (f + i as u32 / 4).is_multiple_of(2)).collect(),
        per_flow: i % 2 == 0,
        meter,
        dscp: [10, 12, 14],
        // The third and the fifth are policers.
        drops: [false, i == 4, i == 2 || i == 4],
    };
    meters.into_iter().enumerate().map(marker).collect()
}

/// Keys of a link with these settings: key, key in its table (empty: none), and value, of a time in s.
struct Settings<'a>(&'a [(&'a str, &'a str, f64)]);

/// The settings of one table.
struct TableOf<'a>(&'a Settings<'a>, &'a str);

impl Settings<'_> {
    fn get(&self, key: &str, inner: &str) -> Option<f64> {
        self.0.iter().find(|one| (one.0, one.1) == (key, inner)).map(|one| one.2)
    }
}

fn value_of(parameter: &Parameter, value: f64) -> ParameterValue<'static> {
    match parameter.kind {
        ValueKind::Time => ParameterValue::Time(Span::from_secs(value)),
        _ => ParameterValue::Number(value),
    }
}

impl Keys for Settings<'_> {
    fn value(&self, parameter: &Parameter) -> Option<ParameterValue<'_>> {
        self.get(parameter.key, "").map(|value| value_of(parameter, value))
    }

    fn has(&self, key: &str) -> bool {
        self.0.iter().any(|one| one.0 == key)
    }

    fn table(&self, key: &str) -> Option<Box<dyn Keys + '_>> {
        let is_table = self.0.iter().any(|one| one.0 == key && !one.1.is_empty());
        let key = self.0.iter().find(|one| one.0 == key)?.0;
        is_table.then(|| Box::new(TableOf(self, key)) as Box<dyn Keys>)
    }
}

impl Keys for TableOf<'_> {
    fn value(&self, parameter: &Parameter) -> Option<ParameterValue<'_>> {
        self.0.get(self.1, parameter.key).map(|value| value_of(parameter, value))
    }

    fn has(&self, key: &str) -> bool {
        self.0.get(self.1, key).is_some()
    }

    fn table(&self, _key: &str) -> Option<Box<dyn Keys + '_>> {
        None
    }
}

/// Return the change of a channel to these settings.
pub fn impairments(settings: &[(&str, &str, f64)]) -> ChannelChange {
    ChannelChange::read(&Settings(settings)).expect("settings of a channel")
}

/// Let links of the ring and of hosts lose, delay, duplicate and reorder packets.
pub fn impair(plan: &mut Plan) {
    let lossy = impairments(&[("loss", "p", 0.01), ("loss", "r", 0.3)]);
    let shuffled = impairments(&[
        ("jitter", "deviation", 2e-3),
        ("jitter", "correlation", 0.3),
        ("duplicate", "", 0.02),
        ("reorder", "probability", 0.01),
        ("reorder", "gap", 3.0),
    ]);
    let both = impairments(&[("loss", "", 0.05), ("jitter", "", 1e-3)]);
    let mut links = plan.links.to_vec();
    for (at, link, change) in
        [(0.0, 2, &lossy), (0.0, 6, &shuffled), (0.5, 9, &lossy), (3.0, 2, &both), (0.0, 12, &both)]
    {
        Arc::make_mut(&mut links[link].line).change(s(at), None, change);
    }
    plan.links = links.into();
}

/// Let links of the ring, and the link to a host, be down for some time, some of them with a flush, and some several times or to the end.
pub fn fail(plan: &mut Plan, routing: Routing) {
    let outage = |down, up, flushes| Outage { down: s(down), up, flushes };
    let of_links = [
        (0, vec![outage(1.0, s(2.5), false), outage(4.0, s(4.3), true)]),
        (1, vec![outage(2.0, s(2.1), true)]),
        (4, vec![outage(1.2, s(3.0), true), outage(3.0, s(3.5), false)]),
        (6, vec![outage(5.0, Time::NEVER, false)]),
        (8, vec![outage(0.7, s(0.9), false)]),
        (9, vec![outage(2.2, s(2.3), true)]),
    ];
    let mut links = plan.links.to_vec();
    for (link, outages) in of_links {
        Arc::make_mut(&mut links[link].line).outages = outages;
    }
    plan.links = links.into();
    plan.routing = routing;
}

/// Several ways to reroute packets: none, shortest detours, by flow, and the long way round the ring for packets of one link.
pub fn routings() -> [Routing; 4] {
    let shortest = Routing { backup: BackupRule::Shortest, ..Routing::default() };
    let backups = vec![Backup { link: 0, path: vec![4, 7, 6] }, Backup { link: 5, path: vec![1, 2, 3] }];
    let by_flow = Routing { multipath: Multipath::ByFlow, ..shortest.clone() };
    [Routing::default(), shortest, Routing { backups, ..by_flow.clone() }, by_flow]
}

/// The plan. The ring has the queue, the hosts' links are drop-tail; two links of the ring change during the run.
pub fn ring(kinds: &[Kind], mbps: f64, queue: Queue, seconds: f64) -> Plan {
    let hosts: Arc<[_]> = (0..HOSTS).map(host).collect();
    let mut links = Vec::new();
    for step in [1, ROUTERS - 1] {
        for from in 0..ROUTERS {
            let to = (from + step) % ROUTERS;
            links.push(link(&format!("r{from}->r{to}"), (from, to), mbps, 5.0, queue));
        }
    }
    for &(host, router) in hosts.iter() {
        for (from, to) in [(host, router), (router, host)] {
            links.push(link(&format!("{from}-{to}"), (from, to), 4.0 * mbps, 1.0, ("drop-tail", &[])));
        }
    }
    let mut change = |at, link: usize, mbps: Option<f64>, ms: Option<f64>| {
        let server = mbps.map(|m| Server::constant(Rate((m * 1e6) as u64)));
        let delay = ms.map(|ms| Span::from_secs(ms / 1e3));
        let change = ChannelChange { delay, ..Default::default() };
        Arc::make_mut(&mut links[link].line).change(s(at), server, &change);
    };
    change(0.0, 5, None, Some(30.0));
    change(1.5, 1, Some(mbps / 3.0), None);
    change(2.0, 5, None, Some(0.5));
    change(4.0, 1, Some(mbps * 2.0), Some(1.0));
    // A token bucket that is also changed, and cells in place of packets.
    let bucket =
        Server::token_bucket(Rate((mbps * 6e5) as u64), 6000, Some((Rate((mbps * 3e6) as u64), 1500)));
    let atm = Framing { overhead: 40, mpu: 64, layer: LinkLayer::Atm };
    for (at, link) in [(0.0, 2), (3.0, 4)] {
        Arc::make_mut(&mut links[link].line).change(s(at), Some(bucket.clone()), &ChannelChange::default());
    }
    for link in [2, 3] {
        let line = Arc::make_mut(&mut links[link].line);
        line.server = line.server.clone().framed(Some(atm));
    }
    let probe = Probe {
        links: vec![0, 1, 2, 4, 5, 9],
        queue_interval: Some(Span::from_millis(30)),
        cwnd_interval: Some(Span::from_millis(100)),
        delay_histogram: true,
        flow_interval: Some(Span::from_millis(250)),
        discipline_interval: Some(Span::from_millis(70)),
        events: true,
        events_from: Time::ZERO,
        events_until: None,
        packets: false,
        losses: true,
        max_records: None,
        flow_delay: true,
        packet_delays: (0..kinds.len() as u32).step_by(4).collect(),
    };
    Plan {
        nodes: (0..ROUTERS + HOSTS).map(|i| format!("n{i}").into()).collect(),
        links: links.into(),
        flows: kinds.iter().enumerate().map(|(i, kind)| flow(i, *kind, mbps, &hosts)).collect(),
        hosts: Vec::new(),
        pages: pages(kinds),
        markers: markers(kinds.len() as u32, mbps),
        pings: Vec::new(),
        translations: Vec::new(),
        routing: Default::default(),
        duration: Span::from_secs(seconds),
        warmup: Span::from_secs(seconds / 7.0),
        probe,
    }
}
