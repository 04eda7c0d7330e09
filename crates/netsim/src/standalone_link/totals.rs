//! Counts of a standalone link while it runs: totals since the start, and the statistics of the measured part so far.

use aqmlab_units::{Span, Time};

use super::StandaloneLink;
use crate::code_points::CodePoint;
use crate::link_stats::{LinkCounters, LinkStats, Numbered};
use crate::moments::Moments;
use crate::tables::{Column, Table, link_columns};

/// Counts of packets and bytes since the start, warm-up included, and the sums of delays and of the times of services; areas are not in it.
#[derive(Clone, Debug)]
pub struct Totals {
    /// Of the link.
    pub counters: LinkCounters,
    /// Of each code point, by its number.
    pub code_points: [CodePoint; 64],
}

impl Totals {
    pub(super) fn of(stats: &LinkStats) -> Self {
        let code_points = stats.observation.as_ref().map(|o| o.code_points());
        let mut totals = Self { counters: stats.counters, code_points: [CodePoint::default(); 64] };
        code_points.into_iter().flatten().for_each(|(dscp, c)| totals.code_points[usize::from(dscp)] = c);
        totals
    }

    fn add(&mut self, other: &Self) {
        let LinkCounters { arrivals, arrived_bytes, departures, departed_bytes, .. } = other.counters;
        let LinkCounters { drops_early, drops_forced, drops_overflow, marks_early, marks_forced, .. } =
            other.counters;
        let c = &mut self.counters;
        c.arrivals += arrivals;
        c.arrived_bytes += arrived_bytes;
        c.departures += departures;
        c.departed_bytes += departed_bytes;
        c.drops_early += drops_early;
        c.drops_forced += drops_forced;
        c.drops_overflow += drops_overflow;
        c.marks_early += marks_early;
        c.marks_forced += marks_forced;
        c.delay += other.counters.delay;
        c.busy += other.counters.busy;
        for (c, other) in self.code_points.iter_mut().zip(&other.code_points) {
            c.arrivals += other.arrivals;
            c.arrived_bytes += other.arrived_bytes;
            c.departures += other.departures;
            c.departed_bytes += other.departed_bytes;
            c.drops += other.drops;
            c.marks += other.marks;
        }
    }
}

/// Statistics of a link over the measured part of a run until now; during the warm-up: since the start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    counters: LinkCounters,
    averages: Moments,
    waiting: u32,
    cut_bytes: u64,
    time: Span,
}

impl Measured {
    /// Return them as the table `links` of a run with this link alone.
    pub fn table(&self, name: &str, aqm: &str) -> Table {
        let statistics = |()| (self.counters, self.averages, self.waiting, self.cut_bytes);
        let names = [("link", name), ("aqm", aqm)]
            .map(|(key, word)| (key, Column::Text([word].into_iter().collect())));
        names.into_iter().chain(link_columns([()].into_iter(), statistics, self.time.secs())).collect()
    }
}

impl<P: PartialEq + Numbered> StandaloneLink<P> {
    /// Return the statistics of the measured part until `now`, to which the link was advanced.
    pub fn measured(&self, now: Time) -> Measured {
        let since = if self.before.is_some() { self.warmup } else { Time::ZERO };
        Measured {
            counters: if self.is_finished { self.counters() } else { self.station.counters_until(now) },
            averages: self.station.stats.observation.as_ref().map(|o| o.averages()).unwrap_or_default(),
            waiting: self.backlog().packets,
            cut_bytes: self.station.stats.drops.cut_bytes,
            time: now.since(since),
        }
    }

    /// Return the totals since the start.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::of(&self.station.stats);
        if let Some(before) = &self.before {
            totals.add(before);
        }
        totals
    }

    /// Return the counters over the measured part of the run.
    pub fn counters(&self) -> LinkCounters {
        self.station.stats.counters
    }
}
