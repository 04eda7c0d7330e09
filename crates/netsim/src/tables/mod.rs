//! The results of a run as tables: plain columns, in the order of the plan.

mod flows;
mod links;
mod observed;

use crate::engine::Simulation;

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

impl Simulation {
    /// Seconds over which statistics were taken.
    fn measured_s(&self) -> f64 {
        (self.network.plan.duration - self.network.plan.warmup).secs()
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
            ("flow_samples", self.flow_samples_table()),
            ("discipline_samples", self.discipline_samples_table()),
            ("drop_distances", self.drop_distances_table()),
            ("code_points", self.code_points_table()),
            ("markers", self.markers_table()),
        ]
    }

    /// Packets carried over a link, and packets offered to a queue, summed over all links.
    pub fn totals(&self) -> (u64, u64) {
        let counters = self.network.inside.links.iter().map(|l| l.counters());
        counters.fold((0, 0), |(hops, offers), c| (hops + c.departures, offers + c.arrivals))
    }
}
