//! No allocation on the packet path once rings have reached their size.

#[path = "../../aqm/tests/common/allocations.rs"]
mod allocations;
#[allow(dead_code, reason = "this test uses its part")]
mod common;

use aqmlab_aqm::Value;
use aqmlab_netsim::{Options, Simulation};
use aqmlab_transport::Variant;
use aqmlab_units::Time;
use common::dumbbell;

#[test]
fn packets_cost_no_allocation() {
    let variants =
        [None, Some(Variant::Tahoe), Some(Variant::Reno), Some(Variant::NewReno), Some(Variant::Sack)];
    for aqm in ["drop-tail", "red", "mred"] {
        for shortcuts in [true, false] {
            let set = [("limit", Value::Packets(60.0))];
            let mut plan = dumbbell(&variants.repeat(4), 10.0, (aqm, &set), 700.0);
            // Samples and event logs grow with the run by their nature.
            (plan.probe.events, plan.probe.queue_interval, plan.probe.cwnd_interval) = (false, None, None);
            let mut simulation = Simulation::new(&plan, 1, Options { shortcuts });
            simulation.run_until(Time::from_secs(600.0));
            let before = allocations::count();
            simulation.run_until(Time::from_secs(690.0));
            assert_eq!(allocations::count() - before, 0, "{aqm}, shortcuts {shortcuts}");
        }
    }
}
