//! Results of a run: the tables of a simulation, and a certificate of the link's timing.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use aqmlab_netsim::standalone_link::{self, StandaloneLink};
use aqmlab_netsim::{Column, Table, Words};
use serde_json::{Map, Value, json};

use crate::classify::Label;
use crate::config::Planned;
use crate::flows::OTHER_FLOWS;
use crate::json;
use crate::plane::Plane;
use crate::snapshot::Snapshot;
use crate::tun::About;
use crate::wire::protocol;

/// Time of all processors, and the part that the hypervisor took away, in ticks (proc(5), `/proc/stat`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Processors {
    all: u64,
    stolen: u64,
}

impl Processors {
    /// Until now.
    pub fn now() -> Self {
        std::fs::read_to_string("/proc/stat").map_or_else(|_| Self::default(), |text| Self::of(&text))
    }

    fn of(text: &str) -> Self {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
        let ticks: Vec<u64> = line.split_ascii_whitespace().filter_map(|n| n.parse().ok()).collect();
        // user, nice, system, idle, iowait, irq, softirq, steal; guests are counted as users already.
        Self { all: ticks.iter().take(8).sum(), stolen: ticks.get(7).copied().unwrap_or(0) }
    }

    /// Share of the time since `earlier` that was stolen.
    pub fn stolen_since(self, earlier: Self) -> f64 {
        let all = self.all.saturating_sub(earlier.all);
        if all == 0 { 0.0 } else { self.stolen.saturating_sub(earlier.stolen) as f64 / all as f64 }
    }
}

/// State at the end of a run.
#[derive(Debug)]
pub struct Ended<'a> {
    /// The configuration.
    pub planned: &'a Planned,
    /// The plane.
    pub plane: &'a Plane,
    /// Its devices.
    pub about: &'a mut [About; 2],
    /// The scheduling class of the link thread.
    pub scheduler: &'static str,
    /// Whether memory was locked.
    pub memory_locked: bool,
    /// Whether privileges were given up.
    pub capabilities_dropped: bool,
    /// Whether the kernel accepted a zero wake-up latency, and how many processors were kept from sleeping.
    pub kept_awake: (bool, usize),
    /// Share of processor time that was stolen.
    pub stolen: f64,
    /// Drops of the devices before the start.
    pub dropped_before: [u64; 2],
    /// Where the event log goes.
    pub events: Option<File>,
}

impl Ended<'_> {
    /// The outcome as JSON; the event log goes into its file, if it has one.
    ///
    /// # Errors
    /// Return an error if that file could not be written.
    pub fn outcome(&mut self) -> io::Result<Value> {
        let plane = self.plane;
        let planned = self.planned;
        let mut last = Snapshot::new(&plane.directions, 0);
        let counts = plane.counts();
        last.take(plane.end, &plane.directions, &plane.classifier, true, counts);
        let dropped = About::dropped_since(self.about, self.dropped_before);
        let measured = plane.end.since(aqmlab_units::Time::ZERO + planned.plan.warmup);
        let links: Vec<_> = plane.directions.iter().filter_map(|direction| direction.link()).collect();
        let mut tables = standalone_link::tables(&planned.plan, &links, measured);
        tables.push(("flows", self.flows_table(measured.secs())));
        if let (Some(path), Some(file)) = (&planned.config.events, self.events.take())
            && let Some((_, events)) = tables.iter_mut().find(|(name, _)| *name == "events")
        {
            write_csv(file, events)
                .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))?;
            events.iter_mut().for_each(|(_, column)| clear(column));
        }
        let tables: Map<_, _> = tables.iter().map(|(name, t)| ((*name).to_owned(), json::table(t))).collect();
        let groups = plane.classifier.groups();
        Ok(json!({
            "last": json::Reporter::default().snapshot(&last, groups, dropped),
            "duration_s": plane.end.secs(),
            "warmup_s": planned.plan.warmup.secs(),
            "tables": tables,
            "certificate": self.certificate(&links, dropped),
        }))
    }

    fn certificate(&self, links: &[&StandaloneLink<crate::buffer::Buffer>], tun_dropped: [u64; 2]) -> Value {
        let plane = self.plane;
        let counts = plane.counts();
        let seconds = plane.end.secs();
        let rate = |(link, meter): (&&StandaloneLink<_>, &crate::rate_meter::RateMeter)| {
            let (achieved, busy) =
                meter.achieved().map_or((Value::Null, 0.0), |(bps, busy)| (json!(bps), busy.secs()));
            let configured = meter.configured().filter(|_| !link.has_constant_rate());
            json!({
                "link": link.name(),
                "configured_bps": configured.unwrap_or(link.rate().bps()),
                "varies": !link.has_constant_rate(),
                "achieved_bps": achieved,
                "busy_s": busy,
            })
        };
        let share = |link: &&StandaloneLink<_>| link.waited(plane.end).secs() / seconds;
        let mut rates = links.iter().zip(&plane.rates).map(rate);
        let mut shares = links.iter().map(share);
        json!({
            "lateness_us": json::lateness(&counts.lateness),
            "stalls": counts.stalls,
            "late_start_us": plane.late_start_ns as f64 / 1e3,
            "tun_dropped": { "a": tun_dropped[0], "b": tun_dropped[1] },
            "rate": rates.next(),
            "reverse_rate": rates.next(),
            "queue_not_empty_share": shares.next(),
            "cpu_steal_share": self.stolen,
            "idle_share": counts.idle_ns as f64 / 1e9 / seconds,
            "scheduler": self.scheduler,
            "memory_locked": self.memory_locked,
            "capabilities_dropped": self.capabilities_dropped,
            "flows_replaced": plane.classifier.replaced(),
            "kept_awake": { "without_delay": self.kept_awake.0, "processors": self.kept_awake.1 },
            "offload": { "a": self.about[0].offload(), "b": self.about[1].offload() },
            "in": counts.read,
            "out": counts.written,
            "dropped": counts.dropped,
            "lost": counts.lost,
            "copied": counts.copied,
            "malformed": counts.malformed.total(),
            "no_buffer": counts.no_buffer,
            "unwritten": counts.unwritten,
            "queued": counts.held,
            "unaccounted": counts.unaccounted(),
        })
    }

    /// The columns of a simulation, as far as a link in the middle can fill them: sent is what arrived at its queue, received
    /// what left it. Lengths are those that count on the link. Flows whose numbers were reused are one row per group.
    fn flows_table(&self, t: f64) -> Table {
        let plane = self.plane;
        let flow_stats = plane.directions[0].flows();
        let classifier = &plane.classifier;
        let known = classifier.flows().enumerate();
        let known = known.map(|(i, (group, label))| (&group.name, Some(*label), flow_stats.measured(i)));
        let others = classifier.groups().iter().zip(flow_stats.others_measured());
        let others = others.map(|(group, counts)| (&group.name, None, counts));
        let rows: Vec<_> = known
            .chain(others)
            .filter(|(.., counts)| counts.first > aqmlab_units::Time::ZERO || counts.arrivals > 0)
            .collect();
        let whole = |f: &dyn Fn(&crate::flows::FlowCounts) -> u64| {
            Column::Integer(rows.iter().map(|(.., counts)| f(counts) as i64).collect())
        };
        let text = |others: &str, f: &dyn Fn(&Label) -> String| {
            let of = |label: &Option<Label>| label.as_ref().map_or_else(|| others.to_owned(), f);
            Column::Text(rows.iter().map(|(_, label, _)| of(label)).collect())
        };
        let real = |f: &dyn Fn(&crate::flows::FlowCounts) -> f64| {
            Column::Real(rows.iter().map(|(.., c)| f(c)).collect())
        };
        let nothing = || real(&|_| f64::NAN);
        vec![
            ("flow", text(OTHER_FLOWS, &Label::to_string)),
            ("group", Column::Text(rows.iter().map(|(group, ..)| group).collect())),
            ("transport", text("", &|label| transport(label.protocol))),
            ("from", text("", &|label| label.a.to_string())),
            ("to", text("", &|label| label.b.to_string())),
            ("size_packets", Column::Integer(vec![-1; rows.len()])),
            ("size_bytes", Column::Integer(vec![-1; rows.len()])),
            ("sent", whole(&|c| c.arrivals)),
            ("sent_bytes", whole(&|c| c.arrived_bytes)),
            ("retransmissions", whole(&|_| 0)),
            ("received", whole(&|c| c.departures)),
            ("goodput_bytes", whole(&|c| c.departed_bytes)),
            ("goodput_bps", real(&|c| c.departed_bytes as f64 * 8.0 / t)),
            ("payload_bps", nothing()),
            ("acked", whole(&|_| 0)),
            ("timeouts", whole(&|_| 0)),
            ("fast_retransmits", whole(&|_| 0)),
            ("drops", whole(&|c| c.drops)),
            ("mean_rtt_s", nothing()),
            ("arrived", whole(&|c| c.departures)),
            ("arrived_bytes", whole(&|c| c.departed_bytes)),
            ("start_s", real(&|c| c.first.secs())),
            ("finish_s", nothing()),
            ("first_sent_s", real(&|c| c.first.secs())),
            ("last_received_s", real(&|c| c.last.secs())),
            ("ideal_s", nothing()),
        ]
    }
}

fn transport(number: u8) -> String {
    match number {
        protocol::TCP => "tcp".to_owned(),
        protocol::UDP => "udp".to_owned(),
        protocol::ICMP | protocol::ICMPV6 => "icmp".to_owned(),
        other => format!("protocol {other}"),
    }
}

fn clear(column: &mut Column) {
    match column {
        Column::Integer(values) => values.clear(),
        Column::Real(values) => values.clear(),
        Column::Text(values) => *values = Words::default(),
    }
}

/// A table as comma-separated values; no value is empty text.
fn write_csv(file: File, table: &Table) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    let names: Vec<_> = table.iter().map(|(name, _)| *name).collect();
    writeln!(file, "{}", names.join(","))?;
    let rows = table.first().map_or(0, |(_, column)| match column {
        Column::Integer(values) => values.len(),
        Column::Real(values) => values.len(),
        Column::Text(values) => values.len(),
    });
    for row in 0..rows {
        for (place, (_, column)) in table.iter().enumerate() {
            if place > 0 {
                write!(file, ",")?;
            }
            match column {
                Column::Integer(values) => write!(file, "{}", values[row])?,
                Column::Real(values) if values[row].is_nan() => {}
                Column::Real(values) => write!(file, "{}", values[row])?,
                Column::Text(values) => write!(file, "{}", values.get(row))?,
            }
        }
        writeln!(file)?;
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time() {
        let earlier = Processors::of("cpu  10 0 10 70 0 0 0 10 5 5\ncpu0 1 2 3\n");
        let later = Processors::of("cpu  20 0 20 140 0 0 0 20 9 9\n");
        assert_eq!(earlier, Processors { all: 100, stolen: 10 });
        assert!((later.stolen_since(earlier) - 0.1).abs() < 1e-12);
        assert!(earlier.stolen_since(earlier).abs() < 1e-12);
        assert_eq!(Processors::of("nothing"), Processors::default());
    }
}
