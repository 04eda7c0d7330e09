//! What links and their markers count.

use super::{PS_PER_S, Table, integers, ratio, reals, texts};
use crate::engine::Simulation;
use crate::observe::Observation;

impl Simulation {
    pub(super) fn links_table(&self) -> Table {
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

    pub(super) fn drop_distances_table(&self) -> Table {
        let links = self.plan.links.iter().zip(&self.links);
        let rows: Vec<_> =
            links.flat_map(|(p, l)| l.ledger().drops_by_distance().map(|d| (p.name.as_str(), d))).collect();
        vec![
            ("link", texts(&rows, |(name, _)| (*name).into())),
            ("distance", integers(&rows, |(_, (distance, ..))| *distance as u64)),
            ("drops", integers(&rows, |(_, (_, drops, _))| *drops)),
            ("data_drops", integers(&rows, |(_, (_, _, data))| *data)),
        ]
    }

    pub(super) fn code_points_table(&self) -> Table {
        let rows = self.observed(|o| o.code_points().collect());
        vec![
            ("link", texts(&rows, |(name, _)| (*name).into())),
            ("dscp", integers(&rows, |(_, (dscp, _))| (*dscp).into())),
            ("arrivals", integers(&rows, |(_, (_, c))| c.arrivals)),
            ("arrived_bytes", integers(&rows, |(_, (_, c))| c.arrived_bytes)),
            ("departures", integers(&rows, |(_, (_, c))| c.departures)),
            ("departed_bytes", integers(&rows, |(_, (_, c))| c.departed_bytes)),
            ("drops", integers(&rows, |(_, (_, c))| c.drops)),
            ("marks", integers(&rows, |(_, (_, c))| c.marks)),
        ]
    }

    /// In the order of the plan: marker by marker, flow by flow.
    pub(super) fn markers_table(&self) -> Table {
        let links = self.links.iter().filter_map(|l| l.markers());
        let mut rows: Vec<_> = links.flat_map(|m| m.counters()).collect();
        rows.sort_by_key(|(marker, _, _)| *marker);
        vec![
            ("marker", texts(&rows, |(marker, _, _)| self.plan.markers[*marker].name.clone())),
            ("flow", texts(&rows, |(_, flow, _)| self.plan.flows[*flow].name.clone())),
            ("green", integers(&rows, |(_, _, c)| c.packets[0])),
            ("yellow", integers(&rows, |(_, _, c)| c.packets[1])),
            ("red", integers(&rows, |(_, _, c)| c.packets[2])),
            ("green_bytes", integers(&rows, |(_, _, c)| c.bytes[0])),
            ("yellow_bytes", integers(&rows, |(_, _, c)| c.bytes[1])),
            ("red_bytes", integers(&rows, |(_, _, c)| c.bytes[2])),
        ]
    }
}
