//! The results of a run as tables: plain columns, in the order of the plan.

use aqmlab_aqm::{DropReason, MarkReason};

use crate::engine::Simulation;
use crate::flow::{SinkCounters, SourceCounters};
use crate::link::Link;
use crate::observe::{EventKind, Observation};
use crate::plan::{Flow, Transport};

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Whole numbers.
    Integer(Vec<i64>),
    /// Real numbers; NaN where there is no value.
    Real(Vec<f64>),
    /// Words.
    Text(Vec<String>),
}

/// A table: named columns of equal length.
pub type Table = Vec<(&'static str, Column)>;

fn integers<T>(rows: &[T], f: impl Fn(&T) -> u64) -> Column {
    Column::Integer(rows.iter().map(|r| f(r) as i64).collect())
}

fn reals<T>(rows: &[T], f: impl Fn(&T) -> f64) -> Column {
    Column::Real(rows.iter().map(f).collect())
}

fn texts<T>(rows: &[T], f: impl Fn(&T) -> String) -> Column {
    Column::Text(rows.iter().map(f).collect())
}

/// `a / b`, NaN where `b` is 0.
fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { f64::NAN } else { a / b }
}

const PS_PER_S: f64 = 1e12;

impl Simulation<'_> {
    /// Seconds over which statistics were taken.
    fn measured_s(&self) -> f64 {
        (self.plan.duration - self.plan.warmup).secs()
    }

    /// All tables of a finished run.
    pub fn tables(&self) -> Vec<(&'static str, Table)> {
        vec![
            ("links", self.links_table()),
            ("flows", self.flows_table()),
            ("queue_samples", self.queue_samples_table()),
            ("cwnd_samples", self.cwnd_samples_table()),
            ("delay_histogram", self.delay_histogram_table()),
            ("events", self.events_table()),
        ]
    }

    /// Packets carried over a link, and packets offered to a queue, summed over all links.
    pub fn totals(&self) -> (u64, u64) {
        let counters = self.links.iter().map(|l| l.counters());
        counters.fold((0, 0), |(hops, offers), c| (hops + c.departures, offers + c.arrivals))
    }

    fn links_table(&self) -> Table {
        let rows: Vec<_> = self.plan.links.iter().zip(&self.links).collect();
        let t = self.measured_s();
        let average = |o: Option<&Observation>| o.map(Observation::averages).unwrap_or_default();
        vec![
            ("link", texts(&rows, |(p, _)| p.name.clone())),
            ("aqm", texts(&rows, |(p, _)| p.aqm.into())),
            ("arrivals", integers(&rows, |(_, l)| l.counters().arrivals)),
            ("arrived_bytes", integers(&rows, |(_, l)| l.counters().arrived_bytes)),
            ("departures", integers(&rows, |(_, l)| l.counters().departures)),
            ("departed_bytes", integers(&rows, |(_, l)| l.counters().departed_bytes)),
            ("drops_early", integers(&rows, |(_, l)| l.counters().drops_early)),
            ("drops_forced", integers(&rows, |(_, l)| l.counters().drops_forced)),
            ("drops_overflow", integers(&rows, |(_, l)| l.counters().drops_overflow)),
            ("drops", integers(&rows, |(_, l)| l.counters().drops())),
            ("marks_early", integers(&rows, |(_, l)| l.counters().marks_early)),
            ("marks", integers(&rows, |(_, l)| l.counters().marks())),
            ("mean_queue", reals(&rows, |(_, l)| l.counters().queue_area as f64 / PS_PER_S / t)),
            ("mean_queue_bytes", reals(&rows, |(_, l)| l.counters().byte_area as f64 / PS_PER_S / t)),
            ("mean_average", reals(&rows, |(_, l)| average(l.observation()).mean())),
            ("sd_average", reals(&rows, |(_, l)| average(l.observation()).sd())),
            ("max_queue", integers(&rows, |(_, l)| l.counters().max_queue.into())),
            (
                "mean_delay_s",
                reals(&rows, |(_, l)| {
                    ratio(l.counters().delay as f64 / PS_PER_S, l.counters().departures as f64)
                }),
            ),
            ("utilization", reals(&rows, |(_, l)| l.counters().busy as f64 / PS_PER_S / t)),
            ("throughput_bps", reals(&rows, |(_, l)| l.counters().departed_bytes as f64 * 8.0 / t)),
            ("packets_at_end", integers(&rows, |(_, l)| l.backlog().packets.into())),
        ]
    }

    fn flows_table(&self) -> Table {
        let mut drops = vec![0; self.plan.flows.len()];
        for (flow, n) in self.links.iter().flat_map(Link::drops_by_flow) {
            drops[flow] += n;
        }
        let rows: Vec<_> = drops.into_iter().enumerate().map(|(i, n)| self.flow_row(i, n)).collect();
        let t = self.measured_s();
        let transport = |t: &Transport| match t {
            Transport::Tcp { config, .. } => config.variant.name().into(),
            Transport::Udp { .. } => "udp".into(),
        };
        vec![
            ("flow", texts(&rows, |r| r.plan.name.clone())),
            ("group", texts(&rows, |r| r.plan.group.clone())),
            ("transport", texts(&rows, |r| transport(&r.plan.transport))),
            ("sent", integers(&rows, |r| r.source.sent)),
            ("sent_bytes", integers(&rows, |r| r.source.sent_bytes)),
            ("retransmissions", integers(&rows, |r| r.source.retransmissions)),
            ("received", integers(&rows, |r| r.sink.received)),
            ("goodput_bytes", integers(&rows, |r| r.sink.bytes)),
            ("goodput_bps", reals(&rows, |r| r.sink.bytes as f64 * 8.0 / t)),
            ("acked", integers(&rows, |r| r.source.acked)),
            ("timeouts", integers(&rows, |r| r.source.timeouts)),
            ("fast_retransmits", integers(&rows, |r| r.source.fast_retransmits)),
            ("drops", integers(&rows, |r| r.drops)),
            ("mean_rtt_s", reals(&rows, |r| ratio(r.source.rtt_sum.secs(), r.source.rtt_samples as f64))),
            ("start_s", reals(&rows, |r| r.start_s)),
            ("finish_s", reals(&rows, |r| r.finish_s)),
        ]
    }

    fn flow_row(&self, flow: usize, drops: u64) -> FlowRow<'_> {
        let source = &self.sources[flow];
        FlowRow {
            plan: &self.plan.flows[flow],
            source: source.counters(),
            sink: self.sinks[flow].counters(),
            drops,
            start_s: source.start.secs(),
            finish_s: source.finish.map_or(f64::NAN, |t| t.secs()),
        }
    }

    /// What was observed, with the names of the links.
    fn observed<'s, T: 's>(&'s self, rows: impl Fn(&'s Observation) -> Vec<T>) -> Vec<(&'s str, T)> {
        let links = self.plan.links.iter().zip(&self.links);
        links
            .flat_map(|(p, l)| {
                l.observation().map(&rows).unwrap_or_default().into_iter().map(|r| (p.name.as_str(), r))
            })
            .collect()
    }

    fn queue_samples_table(&self) -> Table {
        let rows = self.observed(|o| o.samples().to_vec());
        vec![
            ("t_s", reals(&rows, |(_, s)| s.time.secs())),
            ("link", texts(&rows, |(name, _)| (*name).into())),
            ("queue_packets", integers(&rows, |(_, s)| s.backlog.packets.into())),
            ("queue_bytes", integers(&rows, |(_, s)| s.backlog.bytes)),
            ("average", reals(&rows, |(_, s)| s.state.average)),
            ("p_b", reals(&rows, |(_, s)| s.state.p_b)),
        ]
    }

    fn cwnd_samples_table(&self) -> Table {
        let flows = self.plan.flows.iter().zip(&self.sources);
        let rows: Vec<_> =
            flows.flat_map(|(p, f)| f.samples().iter().map(|s| (p.name.as_str(), *s))).collect();
        vec![
            ("t_s", reals(&rows, |(_, s)| s.time.secs())),
            ("flow", texts(&rows, |(name, _)| (*name).into())),
            ("cwnd", reals(&rows, |(_, s)| s.cwnd)),
            ("ssthresh", reals(&rows, |(_, s)| s.ssthresh)),
            ("srtt_s", reals(&rows, |(_, s)| s.srtt)),
        ]
    }

    fn delay_histogram_table(&self) -> Table {
        let rows = self.observed(|o| o.delays().collect());
        vec![
            ("link", texts(&rows, |(name, _)| (*name).into())),
            ("low_s", reals(&rows, |(_, (low, _, _))| *low)),
            ("high_s", reals(&rows, |(_, (_, high, _))| *high)),
            ("count", integers(&rows, |(_, (_, _, n))| *n)),
        ]
    }

    fn events_table(&self) -> Table {
        let rows = self.observed(|o| o.events().to_vec());
        vec![
            ("t_ps", integers(&rows, |(_, e)| e.time.0)),
            ("link", texts(&rows, |(name, _)| (*name).into())),
            ("kind", texts(&rows, |(_, e)| kind(e.kind).into())),
            ("flow", integers(&rows, |(_, e)| e.flow.into())),
            ("seq", Column::Integer(rows.iter().map(|(_, e)| e.number.into()).collect())),
            ("bytes", integers(&rows, |(_, e)| e.bytes.into())),
            ("reason", texts(&rows, |(_, e)| reason(e.kind).into())),
        ]
    }
}

/// A row of the table of flows.
struct FlowRow<'a> {
    plan: &'a Flow,
    source: SourceCounters,
    sink: SinkCounters,
    drops: u64,
    start_s: f64,
    finish_s: f64,
}

/// The sign of a trace line.
fn kind(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Enqueue => "+",
        EventKind::Dequeue => "-",
        EventKind::Drop(_) => "d",
        EventKind::Mark(_) => "m",
    }
}

fn reason(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Enqueue | EventKind::Dequeue => "",
        EventKind::Drop(DropReason::Early) | EventKind::Mark(MarkReason::Early) => "early",
        EventKind::Drop(DropReason::Forced) | EventKind::Mark(MarkReason::Forced) => "forced",
        EventKind::Drop(DropReason::Overflow) => "overflow",
    }
}
