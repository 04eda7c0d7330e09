//! What links and their markers count.

use super::{PS_PER_S, Table, integers, ratio, reals, texts};
use crate::engine::Simulation;
use crate::ledger::Drops;
use crate::observe::Observation;

impl Simulation {
    /// Links that lost packets, by name.
    pub(super) fn drops(&self) -> impl Iterator<Item = (&str, &Drops)> {
        let links = self.network.plan.links.iter().zip(&self.network.inside.links);
        links.filter_map(|(p, l)| l.drops().map(|d| (p.name.as_str(), d)))
    }

    pub(super) fn links_table(&self) -> Table {
        let rows: Vec<_> = self
            .network
            .plan
            .links
            .iter()
            .zip(&self.network.inside.links)
            .map(|(p, l)| (p, l, l.counters()))
            .collect();
        let t = self.measured_s();
        let average = |o: Option<&Observation>| o.map(Observation::averages).unwrap_or_default();
        vec![
            ("link", texts(&rows, |(p, ..)| p.name.clone())),
            ("aqm", texts(&rows, |(p, ..)| p.aqm.into())),
            ("arrivals", integers(&rows, |(.., c)| c.arrivals)),
            ("arrived_bytes", integers(&rows, |(.., c)| c.arrived_bytes)),
            ("departures", integers(&rows, |(.., c)| c.departures)),
            ("departed_bytes", integers(&rows, |(.., c)| c.departed_bytes)),
            ("drops_early", integers(&rows, |(.., c)| c.drops_early)),
            ("drops_forced", integers(&rows, |(.., c)| c.drops_forced)),
            ("drops_overflow", integers(&rows, |(.., c)| c.drops_overflow)),
            ("drops", integers(&rows, |(.., c)| c.drops())),
            ("marks_early", integers(&rows, |(.., c)| c.marks_early)),
            ("marks", integers(&rows, |(.., c)| c.marks())),
            ("mean_queue", reals(&rows, |(.., c)| c.queue_area as f64 / PS_PER_S / t)),
            ("mean_queue_bytes", reals(&rows, |(.., c)| c.byte_area as f64 / PS_PER_S / t)),
            ("mean_average", reals(&rows, |(_, l, _)| average(l.observation()).mean())),
            ("sd_average", reals(&rows, |(_, l, _)| average(l.observation()).sd())),
            ("max_queue", integers(&rows, |(.., c)| c.max_queue.into())),
            ("mean_delay_s", reals(&rows, |(.., c)| ratio(c.delay as f64 / PS_PER_S, c.departures as f64))),
            ("utilization", reals(&rows, |(.., c)| c.busy as f64 / PS_PER_S / t)),
            ("throughput_bps", reals(&rows, |(.., c)| c.departed_bytes as f64 * 8.0 / t)),
            ("packets_at_end", integers(&rows, |(_, l, _)| l.backlog().packets.into())),
        ]
    }

    pub(super) fn drop_distances_table(&self) -> Table {
        let rows: Vec<_> =
            self.drops().flat_map(|(name, drops)| drops.by_distance().map(move |d| (name, d))).collect();
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
        let links = self.network.inside.links.iter().filter_map(|l| l.markers());
        let mut rows: Vec<_> = links.flat_map(|m| m.counters()).collect();
        rows.sort_by_key(|(marker, _, _)| *marker);
        vec![
            ("marker", texts(&rows, |(marker, _, _)| self.network.plan.markers[*marker].name.clone())),
            ("flow", texts(&rows, |(_, flow, _)| self.network.plan.flows[*flow].name.clone())),
            ("green", integers(&rows, |(_, _, c)| c.packets[0])),
            ("yellow", integers(&rows, |(_, _, c)| c.packets[1])),
            ("red", integers(&rows, |(_, _, c)| c.packets[2])),
            ("green_bytes", integers(&rows, |(_, _, c)| c.bytes[0])),
            ("yellow_bytes", integers(&rows, |(_, _, c)| c.bytes[1])),
            ("red_bytes", integers(&rows, |(_, _, c)| c.bytes[2])),
        ]
    }
}
