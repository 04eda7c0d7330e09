//! No allocation on the packet path once rings have reached their size.

#[path = "../../aqm/tests/common/allocations.rs"]
mod allocations;
#[allow(dead_code, reason = "this test uses its part")]
mod common;

use std::sync::Arc;

use aqmlab_aqm::Value;
use aqmlab_netsim::plan::{Channel, Keys, Link, Outage, Plan, Probe, Server};
use aqmlab_netsim::{Options, Simulation};
use aqmlab_transport::ns2::Variant;
use aqmlab_transport::rfc::CongestionControl;
use aqmlab_units::{Framing, LinkLayer, Parameter, ParameterValue, Rate, Span, Time};
use common::ring::{Kind, fail, impairments, ring, routings};
use common::{Tcp, dumbbell};

/// Count the allocations of a run between two times in s.
fn allocations_between(plan: &Plan, shortcuts: bool, from: f64, to: f64) -> u64 {
    let mut simulation = Simulation::new(plan, 1, Options { shortcuts, ..Options::default() });
    simulation.run_until(Time::from_secs(from));
    let before = allocations::count();
    simulation.run_until(Time::from_secs(to));
    allocations::count() - before
}

#[test]
fn packets_cost_no_allocation() {
    let variants: Vec<_> = [None].into_iter().chain(Tcp::all().into_iter().map(Some)).collect();
    for aqm in ["drop-tail", "red", "mred"] {
        for shortcuts in [true, false] {
            let set = [("limit", Value::Packets(60.0))];
            let mut plan = dumbbell(&variants.repeat(4), 10.0, (aqm, &set), 1300.0);
            // Samples and event logs grow with the run by their nature.
            (plan.probe.events, plan.probe.queue_interval, plan.probe.cwnd_interval) = (false, None, None);
            // A link may have something waiting for the first time; packets are a million.
            let count = allocations_between(&plan, shortcuts, 1200.0, 1290.0);
            assert!(count <= 2, "{aqm}, shortcuts {shortcuts}: {count}");
        }
    }
}

#[test]
fn markers_traffic_victims_and_timers_cost_no_allocation() {
    let kinds: Vec<_> = Tcp::all()
        .into_iter()
        .map(Kind::Greedy)
        .chain([Kind::OnOff, Kind::Poisson, Kind::Lengths, Kind::Media])
        .collect();
    let timer = ("adapt_clock", Value::Word("timer".into()));
    for (aqm, timers) in [
        ("pc-red", false),
        ("ddred", false),
        ("ddred-tail", false),
        ("rio", false),
        ("wred", false),
        ("adaptive-rio", true),
        ("feng-red", false),
        ("adaptive-red", true),
        ("load-red", true),
    ] {
        let set: Vec<_> =
            [("limit", Value::Packets(90.0))].into_iter().chain(timers.then(|| timer.clone())).collect();
        for shortcuts in [true, false] {
            let mut plan = ring(&kinds, 2.0, (aqm, &set), 1300.0);
            plan.probe = Probe { links: plan.probe.links, ..Probe::default() };
            // Bursts may still find a ring too short, once in a while (BBRv1's longest are rare); packets are
            // tens of thousands.
            let count = allocations_between(&plan, shortcuts, 1200.0, 1245.0);
            assert!(count <= 3, "{aqm}, shortcuts {shortcuts}: {count}");
        }
    }
}

#[test]
fn detours_cost_no_allocation() {
    let kinds: Vec<_> = Tcp::all()
        .into_iter()
        .map(Kind::Greedy)
        .chain([Kind::OnOff, Kind::Poisson, Kind::Lengths, Kind::Media])
        .collect();
    for shortcuts in [true, false] {
        let mut plan = ring(&kinds, 2.0, ("red", &[("limit", Value::Packets(90.0))]), 1300.0);
        plan.probe = Probe { links: plan.probe.links, ..Probe::default() };
        fail(&mut plan, routings()[1].clone());
        // Links go down and up again and again, with and without a flush.
        let outages = |first: u64| {
            let outage = |i: u64| Outage {
                down: Time::from_secs((first + 10 * i) as f64),
                up: Time::from_secs((first + 10 * i + 3) as f64),
                flushes: i.is_multiple_of(2),
            };
            (0..129).map(outage).collect()
        };
        let mut links = plan.links.to_vec();
        for (link, first) in [(0, 1), (1, 6), (6, 2)] {
            Arc::make_mut(&mut links[link].line).outages = outages(first);
        }
        plan.links = links.into();
        let count = allocations_between(&plan, shortcuts, 1200.0, 1245.0);
        assert!(count <= 3, "shortcuts {shortcuts}: {count}");
    }
}

#[test]
fn media_with_feedback_cost_no_allocation() {
    for shortcuts in [true, false] {
        let mut plan = ring(&[Kind::Media; 6], 2.0, ("red", &[("limit", Value::Packets(60.0))]), 1300.0);
        plan.probe = Probe { links: plan.probe.links, ..Probe::default() };
        for flow in Arc::make_mut(&mut plan.flows) {
            (flow.stop, flow.again) = (None, Vec::new());
        }
        let count = allocations_between(&plan, shortcuts, 1200.0, 1245.0);
        assert!(count <= 3, "shortcuts {shortcuts}: {count}");
    }
}

#[test]
fn applications_cost_no_allocation() {
    // A page of a small connection each has ended long before; videos go on to the end.
    let tcp = [Tcp::Ns2(Variant::Tahoe), Tcp::Rfc(CongestionControl::Reno)];
    let kinds: Vec<_> =
        tcp.map(Kind::Greedy).into_iter().chain(tcp.map(Kind::Page)).chain(tcp.map(Kind::Video)).collect();
    let set = [("limit", Value::Packets(60.0))];
    for shortcuts in [true, false] {
        let mut plan = ring(&kinds, 2.0, ("red", &set), 150.0);
        plan.probe = Probe { links: plan.probe.links, ..Probe::default() };
        let count = allocations_between(&plan, shortcuts, 100.0, 145.0);
        assert!(count <= 3, "shortcuts {shortcuts}: {count}");
    }
}

/// Keys of a table in place of a bit rate.
struct TableKeys<'a>(&'a [(&'a str, ParameterValue<'static>)]);

impl Keys for TableKeys<'_> {
    fn value(&self, parameter: &Parameter) -> Option<ParameterValue<'_>> {
        self.0.iter().find(|(key, _)| *key == parameter.key).map(|(_, value)| value.clone())
    }

    fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(given, _)| *given == key)
    }

    fn table(&self, _key: &str) -> Option<Box<dyn Keys + '_>> {
        None
    }
}

/// Every server but the constant one, by name.
fn servers() -> Vec<(&'static str, Server)> {
    use ParameterValue::{Rate as Bits, Text, Word};
    let of = |keys: &[(&str, ParameterValue<'static>)]| {
        Server::read_table(&TableKeys(keys)).expect("keys that fit").expect("a server")
    };
    let mbps = |mbps: u64| Rate(mbps * 1_000_000);
    let rates = "0:6000000 30000000:0 50000000:12000000 400000000:4000000 1000000000:0";
    let atm = Framing { overhead: 40, mpu: 64, layer: LinkLayer::Atm };
    let mut changing = Server::constant(mbps(8));
    for k in 1..450 {
        changing = changing.then(Time::ZERO + Span::from_millis(613 * k), Server::constant(mbps(3 + k % 7)));
    }
    vec![
        ("changing", changing),
        ("opportunities", of(&[("trace", Text("1*3 4 9*2 17 18 19 25*9 90"))])),
        ("rates", of(&[("trace", Text(rates))])),
        ("interpolated", of(&[("trace", Text(rates)), ("between", Word("interpolate"))])),
        ("cellular", of(&[("cellular", Bits(mbps(20)))])),
        ("leo", of(&[("leo", Bits(mbps(8)))])),
        ("wifi", of(&[("wifi", Bits(mbps(20)))])),
        ("docsis", of(&[("docsis", Bits(mbps(8)))])),
        ("tbf", Server::token_bucket(mbps(6), 6000, Some((mbps(30), 1500)))),
        ("framed", Server::constant(mbps(8)).framed(Some(atm))),
        ("framed rates", of(&[("trace", Text(rates))]).framed(Some(atm))),
    ]
}

#[test]
fn servers_cost_no_allocation() {
    for (name, server) in servers() {
        rarely_allocates(name, |link| Arc::make_mut(&mut link.line).server = server.clone());
    }
}

/// A key of a channel, a key of its table, and the value.
type Setting = (&'static str, &'static str, f64);

#[test]
fn channels_cost_no_allocation() {
    let settings: [(&str, &[Setting]); 5] = [
        ("loss", &[("loss", "p", 0.01), ("loss", "r", 0.3)]),
        ("jitter", &[("jitter", "deviation", 2e-3), ("jitter", "correlation", 0.3)]),
        ("duplicate", &[("duplicate", "", 0.02)]),
        ("reorder", &[("reorder", "probability", 0.01), ("reorder", "gap", 3.0)]),
        ("all", &[("loss", "", 0.01), ("jitter", "", 1e-3), ("duplicate", "", 0.02), ("reorder", "", 0.01)]),
    ];
    for (name, settings) in settings {
        let change = impairments(settings);
        rarely_allocates(name, |link| Arc::make_mut(&mut link.line).change(Time::ZERO, None, &change));
    }
    let handover = TableKeys(&[("handover_step", ParameterValue::Time(Span::from_millis(20)))]);
    rarely_allocates("handover", |link| {
        let line = Arc::make_mut(&mut link.line);
        line.channel =
            Channel::read(&handover, Some(line.channel.clone())).expect("keys that fit").expect("a channel");
    });
}

/// Assert that a run with this bottleneck hardly allocates: lists may still reach a new size, once in a while, but packets are 90,000.
fn rarely_allocates(name: &str, change: impl Fn(&mut Link)) {
    let kinds = [Some(Tcp::Ns2(Variant::NewReno)), Some(Tcp::Rfc(CongestionControl::Cubic)), None];
    for shortcuts in [true, false] {
        let set = [("limit", Value::Packets(60.0))];
        let mut plan = dumbbell(&kinds.repeat(2), 8.0, ("red", &set), 1300.0);
        (plan.probe.events, plan.probe.queue_interval, plan.probe.cwnd_interval) = (false, None, None);
        let mut links = plan.links.to_vec();
        change(&mut links[0]);
        plan.links = links.into();
        let count = allocations_between(&plan, shortcuts, 1200.0, 1290.0);
        assert!(count <= 3, "{name}, shortcuts {shortcuts}: {count}");
    }
}
