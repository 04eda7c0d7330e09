//! Tables of links and their markers.

use super::Number::{Integer, Real};
use super::seen::{Seen, SeenLink};
use super::words::CHANNEL;
use super::{Column, PS_PER_S, Table, integers, numbers, ratio, reals, texts};
use crate::link::outage::CUT;
use crate::link_stats::{LinkCounters, ReasonCount};
use crate::moments::Moments;
use crate::observe::Observation;
use aqmlab_aqm::TinStats;
use aqmlab_units::{Span, Time};

/// The statistics of a link: its counters, RED's average, the packets waiting, and the bytes of packets in service when the link went down.
type LinkStatistics = (LinkCounters, Moments, u32, u64);

/// Return the columns of numbers of the table of links, over `t` seconds.
pub(crate) fn link_columns<L>(
    links: impl ExactSizeIterator<Item = L>,
    statistics: impl Fn(L) -> LinkStatistics,
    t: f64,
) -> Table {
    numbers(
        links,
        statistics,
        [
            ("arrivals", Integer(&|(c, ..)| c.arrivals)),
            ("arrived_bytes", Integer(&|(c, ..)| c.arrived_bytes)),
            ("departures", Integer(&|(c, ..)| c.departures)),
            ("departed_bytes", Integer(&|(c, ..)| c.departed_bytes)),
            ("drops_early", Integer(&|(c, ..)| c.drops_early)),
            ("drops_forced", Integer(&|(c, ..)| c.drops_forced)),
            ("drops_overflow", Integer(&|(c, ..)| c.drops_overflow)),
            ("drops", Integer(&|(c, ..)| c.drops())),
            ("marks_early", Integer(&|(c, ..)| c.marks_early)),
            ("marks", Integer(&|(c, ..)| c.marks())),
            ("mean_queue", Real(&|(c, ..)| c.queue_area as f64 / PS_PER_S / t)),
            ("mean_queue_bytes", Real(&|(c, ..)| c.byte_area as f64 / PS_PER_S / t)),
            ("mean_average", Real(&|(_, average, ..)| average.mean())),
            ("sd_average", Real(&|(_, average, ..)| average.sd())),
            ("max_queue", Integer(&|(c, ..)| c.max_queue.into())),
            ("mean_delay_s", Real(&|(c, ..)| ratio(c.delay as f64 / PS_PER_S, c.departures as f64))),
            ("utilization", Real(&|(c, ..)| c.busy as f64 / PS_PER_S / t)),
            ("throughput_bps", Real(&|(c, .., cut)| (c.departed_bytes - cut) as f64 * 8.0 / t)),
            ("packets_at_end", Integer(&|&(.., waiting, _)| waiting.into())),
        ],
    )
}

impl Seen<'_> {
    /// Over `t` seconds.
    pub fn links_table(&self, t: f64) -> Table {
        let names = [
            ("link", Column::Text(self.links().map(|l| l.name).collect())),
            ("aqm", Column::Text(self.links().map(|l| l.aqm).collect())),
        ];
        let average = |o: Option<&Observation>| o.map(Observation::averages).unwrap_or_default();
        let row = |l: SeenLink<'_>| {
            let cut_bytes = l.station.drops().map_or(0, |drops| drops.cut_bytes);
            (l.station.counters(), average(l.station.observation()), l.station.backlog().packets, cut_bytes)
        };
        let of_counters = link_columns(self.links(), row, t);
        let from = Time::ZERO + self.plan.warmup;
        let to = from + Span((t * PS_PER_S) as u64);
        let capacity =
            |l: SeenLink<'_>| l.line.map_or(f64::NAN, |line| line.server.mean_rate(l.seed, l.name, from, to));
        let capacity = ("capacity_bps", Column::Real(self.links().map(capacity).collect()));
        names.into_iter().chain(of_counters).chain([capacity]).collect()
    }

    pub fn drop_distances_table(&self) -> Table {
        let rows: Vec<_> =
            self.drops().flat_map(|(name, drops)| drops.by_distance().map(move |d| (name, d))).collect();
        vec![
            ("link", texts(&rows, |(name, _)| *name)),
            ("distance", integers(&rows, |(_, (distance, ..))| *distance as u64)),
            ("drops", integers(&rows, |(_, (_, drops, _))| *drops)),
            ("data_drops", integers(&rows, |(_, (_, _, data))| *data)),
        ]
    }

    /// Reasons that are named as their class are columns of [`Self::links_table`] instead. Losses in the channel have a row of their own.
    pub fn drop_reasons_table(&self) -> Table {
        let rows = self.drops().flat_map(|(link, drops)| {
            let row =
                move |r: &ReasonCount| (link, r.reason.name(), r.reason.class().name(), r.drops, r.marks);
            let losses = drops.channel.map_or(0, |channel| channel.losses);
            let lost = (losses > 0).then_some((link, CHANNEL, CHANNEL, losses, 0));
            let cut = (drops.cut > 0).then_some((link, CUT.name(), CUT.class().name(), drops.cut, 0));
            drops.by_reason().iter().map(row).chain(lost).chain(cut)
        });
        let rows: Vec<_> = rows.collect();
        vec![
            ("link", texts(&rows, |row| row.0)),
            ("reason", texts(&rows, |row| row.1)),
            ("class", texts(&rows, |row| row.2)),
            ("drops", integers(&rows, |row| row.3)),
            ("marks", integers(&rows, |row| row.4)),
        ]
    }

    /// The tins of each link, in the order of `tc -s`.
    pub fn tins_table(&self) -> Table {
        let rows = self.links().flat_map(|l| l.station.tins().into_iter().map(move |tin| (l.name, tin)));
        let rows: Vec<(&str, TinStats)> = rows.collect();
        let whole = |f: fn(&TinStats) -> u64| integers(&rows, |(_, tin)| f(tin));
        let seconds = |f: fn(&TinStats) -> Span| reals(&rows, |(_, tin)| f(tin).secs());
        vec![
            ("link", texts(&rows, |(link, _)| *link)),
            ("tin", texts(&rows, |(_, tin)| tin.name)),
            ("threshold_bps", whole(|t| t.threshold_bps)),
            ("target_s", seconds(|t| t.target)),
            ("interval_s", seconds(|t| t.interval)),
            ("peak_delay_s", seconds(|t| t.peak_delay)),
            ("average_delay_s", seconds(|t| t.average_delay)),
            ("sparse_delay_s", seconds(|t| t.sparse_delay)),
            ("backlog_bytes", whole(|t| t.backlog.bytes)),
            ("packets", whole(|t| t.packets)),
            ("bytes", whole(|t| t.bytes)),
            ("indirect_hits", whole(|t| t.indirect_hits)),
            ("way_misses", whole(|t| t.way_misses)),
            ("way_collisions", whole(|t| t.way_collisions)),
            ("drops", whole(|t| t.drops)),
            ("marks", whole(|t| t.marks)),
            ("ack_drops", whole(|t| t.ack_drops)),
            ("sparse_flows", whole(|t| t.sparse_flows.into())),
            ("bulk_flows", whole(|t| t.bulk_flows.into())),
            ("unresponsive_flows", whole(|t| t.unresponsive_flows.into())),
            ("longest_packet", whole(|t| t.longest_packet.into())),
            ("quantum", whole(|t| t.quantum.into())),
        ]
    }

    /// Links whose channel may do more to packets than delay them.
    pub fn channels_table(&self) -> Table {
        let rows: Vec<_> = self.drops().filter_map(|(link, drops)| Some((link, drops.channel?))).collect();
        vec![
            ("link", texts(&rows, |row| row.0)),
            ("losses", integers(&rows, |row| row.1.losses)),
            ("copies", integers(&rows, |row| row.1.copies)),
            ("overtaking", integers(&rows, |row| row.1.overtaking)),
        ]
    }

    pub fn code_points_table(&self) -> Table {
        let rows = self.observed(|o| o.code_points().collect());
        vec![
            ("link", texts(&rows, |(name, _)| *name)),
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
    pub fn markers_table(&self) -> Table {
        let links = self.links().filter_map(|l| l.station.markers());
        let mut rows: Vec<_> = links.flat_map(|m| m.counters()).collect();
        rows.sort_by_key(|(marker, _, _)| *marker);
        vec![
            ("marker", texts(&rows, |(marker, _, _)| &self.plan.markers[*marker].name)),
            ("flow", texts(&rows, |(_, flow, _)| &self.plan.flows[*flow].name)),
            ("green", integers(&rows, |(_, _, c)| c.packets[0])),
            ("yellow", integers(&rows, |(_, _, c)| c.packets[1])),
            ("red", integers(&rows, |(_, _, c)| c.packets[2])),
            ("green_bytes", integers(&rows, |(_, _, c)| c.bytes[0])),
            ("yellow_bytes", integers(&rows, |(_, _, c)| c.bytes[1])),
            ("red_bytes", integers(&rows, |(_, _, c)| c.bytes[2])),
        ]
    }
}
