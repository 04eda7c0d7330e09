//! No allocation on the packet path once rings have reached their size.

#[path = "../../aqm/tests/common/allocations.rs"]
mod allocations;
#[allow(dead_code, reason = "this test uses its part")]
mod common;

use std::sync::Arc;

use aqmlab_aqm::Value;
use aqmlab_netsim::plan::{Outage, Probe};
use aqmlab_netsim::{Options, Simulation};
use aqmlab_transport::ns2::Variant;
use aqmlab_transport::rfc::CongestionControl;
use aqmlab_units::Time;
use common::ring::{Kind, fail, ring, routings};
use common::{Tcp, dumbbell};

#[test]
fn packets_cost_no_allocation() {
    let variants: Vec<_> = [None].into_iter().chain(Tcp::all().into_iter().map(Some)).collect();
    for aqm in ["drop-tail", "red", "mred"] {
        for shortcuts in [true, false] {
            let set = [("limit", Value::Packets(60.0))];
            let mut plan = dumbbell(&variants.repeat(4), 10.0, (aqm, &set), 1300.0);
            // Samples and event logs grow with the run by their nature.
            (plan.probe.events, plan.probe.queue_interval, plan.probe.cwnd_interval) = (false, None, None);
            let mut simulation = Simulation::new(&plan, 1, Options { shortcuts, ..Options::default() });
            simulation.run_until(Time::from_secs(1200.0));
            let before = allocations::count();
            simulation.run_until(Time::from_secs(1290.0));
            // A link may have something waiting for the first time; packets are a million.
            let count = allocations::count() - before;
            assert!(count <= 2, "{aqm}, shortcuts {shortcuts}: {count}");
        }
    }
}

#[test]
fn markers_traffic_victims_and_timers_cost_no_allocation() {
    let kinds: Vec<_> =
        Tcp::all().into_iter().map(Kind::Greedy).chain([Kind::OnOff, Kind::Poisson, Kind::Lengths]).collect();
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
            let mut simulation = Simulation::new(&plan, 1, Options { shortcuts, ..Options::default() });
            simulation.run_until(Time::from_secs(1200.0));
            let before = allocations::count();
            simulation.run_until(Time::from_secs(1245.0));
            // Bursts may still find a ring too short, once in a while (BBRv1's longest are rare); packets are
            // tens of thousands.
            let count = allocations::count() - before;
            assert!(count <= 3, "{aqm}, shortcuts {shortcuts}: {count}");
        }
    }
}

#[test]
fn detours_cost_no_allocation() {
    let kinds: Vec<_> =
        Tcp::all().into_iter().map(Kind::Greedy).chain([Kind::OnOff, Kind::Poisson, Kind::Lengths]).collect();
    for shortcuts in [true, false] {
        let mut plan = ring(&kinds, 2.0, ("red", &[("limit", Value::Packets(90.0))]), 300.0);
        plan.probe = Probe { links: plan.probe.links, ..Probe::default() };
        fail(&mut plan, routings()[1].clone());
        // Links go down and up again and again, with and without a flush.
        let outages = |first: u64| {
            let outage = |i: u64| Outage {
                down: Time::from_secs((first + 10 * i) as f64),
                up: Time::from_secs((first + 10 * i + 3) as f64),
                flushes: i % 2 == 0,
            };
            (0..29).map(outage).collect()
        };
        let mut links = plan.links.to_vec();
        for (link, first) in [(0, 1), (1, 6), (6, 2)] {
            Arc::make_mut(&mut links[link].line).outages = outages(first);
        }
        plan.links = links.into();
        let mut simulation = Simulation::new(&plan, 1, Options { shortcuts, ..Options::default() });
        simulation.run_until(Time::from_secs(240.0));
        let before = allocations::count();
        simulation.run_until(Time::from_secs(285.0));
        let count = allocations::count() - before;
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
        let mut simulation = Simulation::new(&plan, 1, Options { shortcuts, ..Options::default() });
        simulation.run_until(Time::from_secs(100.0));
        let before = allocations::count();
        simulation.run_until(Time::from_secs(145.0));
        let count = allocations::count() - before;
        assert!(count <= 3, "shortcuts {shortcuts}: {count}");
    }
}
