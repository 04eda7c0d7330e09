//! The same arrivals through the data plane and through the simulator.
//!
//! A recording is a list of packets as they arrive at the queue of a link. [`through_data_plane`] drives the bottleneck
//! of live runs with it, [`through_simulator`] a run whose link is the only one; [`differences`] compares the tables of
//! both. All must agree: drops and marks, times of departure, and the average used for each packet. Markers of the link and random loss before it are left out: a packet has the code point that its group gives.

mod compared;
mod recording;
mod report;

use std::sync::Arc;

use aqmlab_aqm::Packet;
use aqmlab_netsim::plan::{Ends, Flow, Length, LinkId, Pattern, Plan, Start, TTL, Transport};
use aqmlab_netsim::standalone_link::{self, Passage, StandaloneOptions};
use aqmlab_netsim::{EngineChoice, Options, Recorded, Simulation, Table};
use aqmlab_units::{Rate, Span, Time};

pub use self::compared::differences;
pub use self::recording::Recording;
pub use self::report::replay_json;
use crate::bottleneck::{Bottleneck, PathDelays, Setting};
use crate::buffer::Buffer;

/// Tables by name.
pub type Tables = Vec<(&'static str, Table)>;

/// Return the plan of a standalone link: observed, with receivers that only count, and without markers.
pub fn standalone_plan(plan: &Plan, link: LinkId, flows: &[String]) -> Plan {
    let mut plan = plan.clone();
    plan.links = [plan.links[link as usize].clone()].into();
    plan.pages = Vec::new();
    plan.markers = Vec::new();
    plan.pings = Vec::new();
    plan.routing = Default::default();
    plan.probe.packet_delays = Vec::new();
    plan.probe.links = vec![0];
    plan.probe.events = true;
    plan.probe.delay_histogram = true;
    let ends = Ends::At(plan.links[0].from, plan.links[0].to);
    plan.flows = flows.iter().map(|name| receiver(name, &ends)).collect();
    plan
}

/// Return a flow that never sends.
fn receiver(name: &str, ends: &Ends) -> Flow {
    Flow {
        name: name.into(),
        group: name.into(),
        ends: ends.clone(),
        start: Start::At(Time::NEVER),
        stop: None,
        again: Vec::new(),
        dscp: 0,
        class: 0,
        ttl: TTL,
        acks_share_label: false,
        hosts: [0; 2],
        transport: Arc::new(Transport::Udp {
            rate: Rate(1),
            packet: Length::fixed(1),
            pattern: Pattern::Constant,
        }),
    }
}

/// Return the tables of a simulated [standalone link](mod@standalone_link) with these arrivals. With `shortcuts`, departures are
/// computed at arrival where that is exact.
pub fn through_simulator(plan: &Plan, seed: u64, arrivals: &[Recorded], shortcuts: bool) -> Tables {
    let options = Options { shortcuts, engine: EngineChoice::Events, ..Options::default() };
    let mut simulation = Simulation::new(plan, seed, options);
    simulation.replay(0, arrivals.iter().copied());
    simulation.finish();
    simulation.into_tables()
}

/// The same tables from the bottleneck of the data plane, as far as it has them, and when each packet came to the far end.
pub fn through_data_plane(plan: &Plan, seed: u64, arrivals: &[Recorded]) -> (Tables, Vec<(Time, i32)>) {
    let end = Time::ZERO + plan.duration;
    let mut bottleneck = Bottleneck::new(&Setting {
        name: "forward",
        plan,
        link: Some(0),
        seed,
        // A packet has the slot of its place among the arrivals.
        options: StandaloneOptions { in_service_counts: false, room: arrivals.len(), duration: Span::ZERO },
        groups: &[],
        delays: vec![PathDelays::default()],
        loss: 0.0,
        flows: plan.flows.len(),
    });
    let mut out = Vec::new();
    let mut arrived = |time: Time, packet: Packet<Buffer>, _: Passage| {
        if time < end {
            out.push((time, packet.payload.number));
        }
    };
    for (slot, &Recorded { meta, number }) in (0..).zip(arrivals) {
        let buffer = Buffer { slot, number, flow: meta.flow >> 1, marked_as: u32::MAX, ..Buffer::default() };
        if meta.arrival >= end {
            break;
        }
        bottleneck.offer(meta.arrival, Packet { meta, payload: buffer });
        bottleneck.advance(meta.arrival, &mut arrived);
        bottleneck.take_freed(drop);
    }
    bottleneck.advance(Time(end.0 - 1), &mut arrived);
    bottleneck.finish(end);
    let measured = plan.duration - plan.warmup;
    let tables =
        bottleneck.link().map(|link| standalone_link::tables(plan, &[link], measured)).unwrap_or_default();
    (tables, out)
}
