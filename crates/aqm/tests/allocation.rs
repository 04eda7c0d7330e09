//! No allocation on the packet path once queues have reached their size.

#[path = "common/allocations.rs"]
mod allocations;
mod common;

use aqmlab_aqm::{Ecn, PRESETS, Value};
use aqmlab_units::Time;
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
            let mut link = VirtualLink::new(build(preset.name, 1_000_000, &set), 1_000_000);
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
            assert_eq!(allocations::count(), before, "{} {dialect}", preset.name);
        }
    }
}
