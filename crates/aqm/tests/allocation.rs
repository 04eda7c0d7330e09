//! No allocation on the packet path once queues have reached their size.

#[path = "common/allocations.rs"]
mod allocations;
mod common;

use aqmlab_aqm::{Ecn, PRESETS, Value};
use aqmlab_units::{Rate, Time};
use common::{Counting, VirtualLink, build, packet, word};

#[test]
fn packets_cost_no_allocation() {
    for preset in PRESETS.iter() {
        for dialect in ["floyd93", "ns2-2.35", "linux", "as-printed"] {
            let mut set = vec![("limit", Value::Packets(60.0))];
            if preset.parameters().iter().any(|p| p.key == "dialect" && p.choices.contains(&dialect)) {
                set.push(("dialect", word(dialect)));
            } else if dialect != "floyd93" {
                continue;
            }
            assert_eq!(allocations_of(preset.name, &set), 0, "{} {dialect}", preset.name);
        }
    }
}

#[test]
fn a_shaper_costs_no_allocation() {
    let set = [("limit", Value::Packets(60.0)), ("rate", Value::Rate(Rate(800_000)))];
    assert_eq!(allocations_of("cake", &set), 0);
}

/// Count the allocations of 100,000 packets at a link of 1 Mb/s that has been overloaded before.
fn allocations_of(aqm: &str, set: &[(&str, Value)]) -> u64 {
    let mut link = VirtualLink::new(build(aqm, 1_000_000, set), 1_000_000);
    let mut host = Counting::new(5);
    let mut now = Time::ZERO;
    let mut drive = |n: u32, load: f64| {
        for i in 0..n {
            now = Time(now.0 + (host.rng.exponential(8e9) / load) as u64);
            let mut packet = packet(i, 1000, Ecn::NotEct);
            packet.meta.flow = i % 500;
            packet.meta.header.set_class(u8::from(i % 3 == 0));
            packet.meta.header = packet.meta.header.with_ttl_initial(64).with_ttl(64 - (i % 7) as u8);
            link.arrive(now, packet, &mut host);
        }
    };
    drive(40_000, 2.0);
    let before = allocations::count();
    drive(50_000, 0.7);
    drive(50_000, 2.0);
    allocations::count() - before
}
