//! Tables of flows: counters, times and samples.

use aqmlab_aqm::Kind;
use aqmlab_transport::{TcpConfig, scream};
use aqmlab_units::Time;

use super::Number::{Integer, Real};
use super::seen::Counting;
use super::{Column, Table, integers, numbers, ratio, reals, texts};
use crate::link_stats::Drops;
use crate::network::Network;
use crate::plan::{Flow, NodeId, Size, Transport};
use crate::sink::{Sink, SinkCounters};
use crate::source::{Source, SourceCounters};

impl Network {
    pub(super) fn flows_table(&self) -> Table {
        let mut drops = vec![0; self.plan.flows.len()];
        for (flow, n) in self.fabric.links.iter().filter_map(Counting::drops).flat_map(Drops::by_flow) {
            drops[flow] += n;
        }
        let rows = || drops.iter().enumerate().map(|(i, &n)| self.flow_row(i, n));
        let text = |of: fn(FlowRow<'_>) -> &str| Column::Text(rows().map(of).collect());
        let t = (self.plan.duration - self.plan.warmup).secs();
        let plain = [
            ("flow", text(|row| &row.plan.name)),
            ("group", text(|row| &row.plan.group)),
            ("transport", text(|row| row.transport())),
            ("from", text(|row| row.from)),
            ("to", text(|row| row.to)),
            ("size_packets", Column::Integer(rows().map(|row| size_packets(row.plan)).collect())),
            ("size_bytes", Column::Integer(rows().map(|row| size_bytes(row.plan)).collect())),
        ];
        let of_counters = numbers(
            rows(),
            FlowRow::counted,
            [
                ("sent", Integer(&|(source, ..)| source.sent)),
                ("sent_bytes", Integer(&|(source, ..)| source.sent_bytes)),
                ("retransmissions", Integer(&|(source, ..)| source.retransmissions)),
                ("received", Integer(&|(_, sink, _)| sink.received)),
                ("goodput_bytes", Integer(&|(_, sink, _)| sink.bytes)),
                ("goodput_bps", Real(&|(_, sink, _)| sink.bytes as f64 * 8.0 / t)),
                ("payload_bps", Real(&|(_, sink, row)| row.payload_bps(sink, t))),
                ("acked", Integer(&|(source, ..)| source.acked)),
                ("timeouts", Integer(&|(source, ..)| source.timeouts)),
                ("fast_retransmits", Integer(&|(source, ..)| source.fast_retransmits)),
                ("drops", Integer(&|(.., row)| row.drops)),
                ("mean_rtt_s", Real(&|(source, ..)| ratio(source.rtt_sum.secs(), source.rtt_samples as f64))),
                ("arrived", Integer(&|(_, sink, _)| sink.arrived)),
                ("arrived_bytes", Integer(&|(_, sink, _)| sink.arrived_bytes)),
                ("start_s", Real(&|(.., row)| row.start_s())),
                ("finish_s", Real(&|(.., row)| secs(row.source.finish()))),
                ("first_sent_s", Real(&|(.., row)| secs(row.source.first_sent()))),
                ("last_received_s", Real(&|(.., row)| secs(row.sink.last_received()))),
            ],
        );
        let ideals = (0..self.plan.flows.len()).map(|flow| self.ideal_s(flow)).collect();
        plain.into_iter().chain(of_counters).chain([("ideal_s", Column::Real(ideals))]).collect()
    }

    /// Return the least time from the first packet of a transfer to the acknowledgement of its last one, without a handshake, on its path
    /// without other traffic; NaN without a size. Every link stores a packet and forwards it, and the slowest one never idles:
    ///
    /// ```text
    /// sum (d + s(P)) + max s(W - P) + sum (d + s(A))        d shortest delay, s(x) least time of x bytes, of the links there and back
    /// ```
    ///
    /// P is the length of the first packet, W that of all packets, A that of an acknowledgement. s(x) is x/C at the highest rate C of the
    /// run, so that no transfer is faster; the burst of a token bucket takes no time.
    fn ideal_s(&self, flow: usize) -> f64 {
        let plan = &self.plan.flows[flow];
        let (Transport::Tcp { config, .. }, size) = (&*plan.transport, size_bytes(plan)) else {
            return f64::NAN;
        };
        if size < 0 {
            return f64::NAN;
        }
        let full = f64::from(config.full_length());
        let header = full - f64::from(config.payload());
        let all = size as f64 + header * size_packets(plan) as f64;
        let first = full.min(all);
        let links = |kind| self.fabric.paths.links(flow, kind).map(|link| &self.plan.links[link as usize]);
        let through = |kind, bytes: f64| {
            links(kind).fold(0.0, |sum, link| {
                sum + link.line.channel.shortest().secs() + link.line.server.least_s(bytes)
            })
        };
        let slowest = links(Kind::Data).map(|link| link.line.server.least_s(all - first)).fold(0.0, f64::max);
        let back = through(Kind::Ack, f64::from(ack_size(config)));
        through(Kind::Data, first) + slowest + back
    }

    fn flow_row(&self, flow: usize, drops: u64) -> FlowRow<'_> {
        let (source, sink) = (&self.sources[flow], &self.sinks[flow]);
        let plan = &self.plan.flows[flow];
        let (from, to) = plan.ends();
        let node = |id: NodeId| self.plan.nodes[id as usize].as_str();
        FlowRow { plan, from: node(from), to: node(to), source, sink, drops }
    }

    pub(super) fn cwnd_samples_table(&self) -> Table {
        let flows = self.plan.flows.iter().zip(&self.sources);
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
        let flows = self.plan.flows.iter().zip(&self.sinks);
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
    match &*flow.transport {
        Transport::Tcp { size: Size::Packets(n), .. } => *n as i64,
        Transport::Tcp { size: Size::Bytes(n), config, .. } => n.div_ceil(config.payload().into()) as i64,
        Transport::Tcp { .. } | Transport::Udp { .. } | Transport::Scream(_) => -1,
    }
}

/// Bytes of payload that a flow has to send; -1 without end, or where an application says.
fn size_bytes(flow: &Flow) -> i64 {
    match &*flow.transport {
        Transport::Tcp { size: Size::Packets(n), config, .. } => (n * u64::from(config.payload())) as i64,
        Transport::Tcp { size: Size::Bytes(n), .. } => *n as i64,
        Transport::Tcp { .. } | Transport::Udp { .. } | Transport::Scream(_) => -1,
    }
}

/// Length of an acknowledgement in bytes, without SACK blocks.
fn ack_size(config: &TcpConfig) -> u32 {
    match config {
        TcpConfig::Ns2(config) => config.ack_size,
        TcpConfig::Rfc(config) => config.ack_size,
    }
}

/// A row of the table of flows.
struct FlowRow<'a> {
    plan: &'a Flow,
    from: &'a str,
    to: &'a str,
    source: &'a Source,
    sink: &'a Sink,
    drops: u64,
}

impl<'a> FlowRow<'a> {
    fn transport(&self) -> &'a str {
        match &*self.plan.transport {
            Transport::Tcp { config, .. } => config.label(),
            Transport::Udp { .. } => "udp",
            Transport::Scream(_) => scream::NAME,
        }
    }

    /// When it starts; NaN where its arrival does not take place.
    fn start_s(&self) -> f64 {
        let start = self.source.start_time();
        if start == Time::NEVER { f64::NAN } else { start.secs() }
    }

    /// Over `t` seconds; NaN of UDP and media.
    fn payload_bps(&self, counters: &SinkCounters, t: f64) -> f64 {
        match &*self.plan.transport {
            Transport::Tcp { .. } => counters.payload_bytes as f64 * 8.0 / t,
            Transport::Udp { .. } | Transport::Scream(_) => f64::NAN,
        }
    }

    /// Return the counters of both ends, and the row.
    fn counted(self) -> (SourceCounters, SinkCounters, Self) {
        (self.source.counters(), self.sink.counters(), self)
    }
}

fn secs(time: Option<Time>) -> f64 {
    time.map_or(f64::NAN, Time::secs)
}
