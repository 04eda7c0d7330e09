//! The results of a run as tables: plain columns, in the order of the plan.

mod applications;
mod delays;
mod flows;
mod links;
mod observed;
mod seen;
mod words;

use crate::engine::Simulation;

pub(crate) use self::seen::{Counting, Seen, SeenLink};
pub use self::words::Words;

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Whole numbers.
    Integer(Vec<i64>),
    /// Real numbers; NaN where there is no value.
    Real(Vec<f64>),
    /// Words.
    Text(Words),
}

/// A table: named columns of equal length.
pub type Table = Vec<(&'static str, Column)>;

fn integers<T>(rows: &[T], f: impl Fn(&T) -> u64) -> Column {
    Column::Integer(rows.iter().map(|r| f(r) as i64).collect())
}

fn reals<T>(rows: &[T], f: impl Fn(&T) -> f64) -> Column {
    Column::Real(rows.iter().map(f).collect())
}

fn texts<'r, T, S: AsRef<str>>(rows: &'r [T], f: impl Fn(&'r T) -> S) -> Column {
    Column::Text(rows.iter().map(f).collect())
}

/// `a / b`, NaN where `b` is 0.
fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { f64::NAN } else { a / b }
}

const PS_PER_S: f64 = 1e12;

impl Simulation {
    /// Seconds over which statistics were taken.
    fn measured_s(&self) -> f64 {
        (self.network.plan.duration - self.network.plan.warmup).secs()
    }

    /// All tables of a finished run.
    pub fn tables(&self) -> Vec<(&'static str, Table)> {
        let seen = self.seen();
        vec![
            ("links", seen.links_table(self.measured_s())),
            ("flows", self.flows_table(&seen)),
            ("queue_samples", seen.queue_samples_table()),
            ("cwnd_samples", self.cwnd_samples_table()),
            ("delay_histogram", seen.delay_histogram_table()),
            ("events", seen.events_table()),
            ("flow_samples", self.flow_samples_table()),
            ("discipline_samples", seen.discipline_samples_table()),
            ("drop_distances", seen.drop_distances_table()),
            ("drop_reasons", seen.drop_reasons_table()),
            ("code_points", seen.code_points_table()),
            ("markers", seen.markers_table()),
            ("losses", seen.losses_table()),
            ("packets", seen.packets_table()),
            ("flow_delays", self.flow_delays_table()),
            ("flow_delay_histogram", self.flow_delay_histogram_table()),
            ("pages", self.pages_table()),
            ("objects", self.objects_table()),
            ("segments", self.segments_table()),
            ("call_packets", self.call_packets_table()),
        ]
    }

    fn seen(&self) -> Seen<'_> {
        let plan = &self.network.plan;
        let links = plan.links.iter().zip(&self.network.fabric.links);
        Seen {
            plan,
            links: links
                .map(|(plan, link)| SeenLink { name: &plan.name, aqm: plan.aqm, station: link })
                .collect(),
        }
    }

    /// Packets carried over a link, and packets offered to a queue, summed over all links.
    pub fn totals(&self) -> (u64, u64) {
        let counters = self.network.fabric.links.iter().map(|l| l.counters());
        counters.fold((0, 0), |(hops, offers), c| (hops + c.departures, offers + c.arrivals))
    }
}
