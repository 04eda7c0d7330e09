//! What flows do and get.

use aqmlab_units::Time;

use super::seen::Seen;
use super::{Column, Table, integers, ratio, reals, texts};
use crate::engine::Simulation;
use crate::plan::{Flow, NodeId, Size, Transport};
use crate::sink::Sink;
use crate::source::Source;

impl Simulation {
    pub(super) fn flows_table(&self, seen: &Seen<'_>) -> Table {
        let mut drops = vec![0; self.network.plan.flows.len()];
        for (flow, n) in seen.drops().flat_map(|(_, d)| d.by_flow()) {
            drops[flow] += n;
        }
        let rows: Vec<_> = drops.into_iter().enumerate().map(|(i, n)| self.flow_row(i, n)).collect();
        let t = self.measured_s();
        let transport = |t: &Transport| match t {
            Transport::Tcp { config, .. } => config.label(),
            Transport::Udp { .. } => "udp",
        };
        vec![
            ("flow", texts(&rows, |r| &r.plan.name)),
            ("group", texts(&rows, |r| &r.plan.group)),
            ("transport", texts(&rows, |r| transport(&r.plan.transport))),
            ("from", texts(&rows, |r| r.from)),
            ("to", texts(&rows, |r| r.to)),
            ("size_packets", Column::Integer(rows.iter().map(|r| size_packets(r.plan)).collect())),
            ("sent", integers(&rows, |r| r.source.counters().sent)),
            ("sent_bytes", integers(&rows, |r| r.source.counters().sent_bytes)),
            ("retransmissions", integers(&rows, |r| r.source.counters().retransmissions)),
            ("received", integers(&rows, |r| r.sink.counters().received)),
            ("goodput_bytes", integers(&rows, |r| r.sink.counters().bytes)),
            ("goodput_bps", reals(&rows, |r| r.sink.counters().bytes as f64 * 8.0 / t)),
            ("acked", integers(&rows, |r| r.source.counters().acked)),
            ("timeouts", integers(&rows, |r| r.source.counters().timeouts)),
            ("fast_retransmits", integers(&rows, |r| r.source.counters().fast_retransmits)),
            ("drops", integers(&rows, |r| r.drops)),
            (
                "mean_rtt_s",
                reals(&rows, |r| {
                    ratio(r.source.counters().rtt_sum.secs(), r.source.counters().rtt_samples as f64)
                }),
            ),
            ("arrived", integers(&rows, |r| r.sink.counters().arrived)),
            ("arrived_bytes", integers(&rows, |r| r.sink.counters().arrived_bytes)),
            ("start_s", reals(&rows, |r| r.source.start_time().secs())),
            ("finish_s", reals(&rows, |r| secs(r.source.finish()))),
            ("first_sent_s", reals(&rows, |r| secs(r.source.first_sent()))),
            ("last_received_s", reals(&rows, |r| secs(r.sink.last_received()))),
        ]
    }

    fn flow_row(&self, flow: usize, drops: u64) -> FlowRow<'_> {
        let (source, sink) = (&self.network.sources[flow], &self.network.sinks[flow]);
        let plan = &self.network.plan.flows[flow];
        let (from, to) = plan.ends();
        let node = |id: NodeId| self.network.plan.nodes[id as usize].as_str();
        FlowRow { plan, from: node(from), to: node(to), source, sink, drops }
    }

    pub(super) fn cwnd_samples_table(&self) -> Table {
        let flows = self.network.plan.flows.iter().zip(&self.network.sources);
        let rows: Vec<_> = flows.flat_map(|(p, f)| f.samples().iter().map(|s| (&*p.name, *s))).collect();
        vec![
            ("t_s", reals(&rows, |(_, s)| s.time.secs())),
            ("flow", texts(&rows, |(name, _)| *name)),
            ("cwnd", reals(&rows, |(_, s)| s.cwnd)),
            ("ssthresh", reals(&rows, |(_, s)| s.ssthresh)),
            ("srtt_s", reals(&rows, |(_, s)| s.srtt)),
        ]
    }

    pub(super) fn flow_samples_table(&self) -> Table {
        let flows = self.network.plan.flows.iter().zip(&self.network.sinks);
        let rows: Vec<_> = flows.flat_map(|(p, f)| f.samples().iter().map(|s| (&*p.name, *s))).collect();
        vec![
            ("t_s", reals(&rows, |(_, s)| s.time.secs())),
            ("flow", texts(&rows, |(name, _)| *name)),
            ("arrived_bytes", integers(&rows, |(_, s)| s.arrived_bytes)),
            ("delivered_bytes", integers(&rows, |(_, s)| s.delivered_bytes)),
        ]
    }
}

/// Packets that a flow has to send; -1 without end, or where an application says.
fn size_packets(flow: &Flow) -> i64 {
    match &flow.transport {
        Transport::Tcp { size: Size::Packets(n), .. } => *n as i64,
        Transport::Tcp { size: Size::Bytes(n), config, .. } => n.div_ceil(config.payload().into()) as i64,
        Transport::Tcp { .. } | Transport::Udp { .. } => -1,
    }
}

/// A row of the table of flows; what the ends have counted is computed where it is asked for.
struct FlowRow<'a> {
    plan: &'a Flow,
    from: &'a str,
    to: &'a str,
    source: &'a Source,
    sink: &'a Sink,
    drops: u64,
}

fn secs(time: Option<Time>) -> f64 {
    time.map_or(f64::NAN, Time::secs)
}
