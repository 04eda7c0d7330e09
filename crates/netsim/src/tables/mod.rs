//! The results of a run as tables: plain columns, in the order of the plan.

mod applications;
mod delays;
mod flows;
mod links;
mod observed;
mod seen;
mod words;

use crate::engine::Simulation;
use crate::link::Link;
use crate::network::Network;
use crate::plan::Plan;

pub(crate) use self::links::link_columns;
pub(crate) use self::seen::{Counting, Seen, SeenLink};
pub use self::words::Words;

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Whole numbers.
    Integer(Vec<i64>),
    /// Real numbers; missing values are NaN.
    Real(Vec<f64>),
    /// Words.
    Text(Words),
}

/// A table: named columns of equal length.
pub type Table = Vec<(&'static str, Column)>;

fn integers<T>(rows: &[T], f: impl Fn(&T) -> u64) -> Column {
    /// One function for all columns of a type of row, since a browser compiles each function of a run.
    #[inline(never)]
    fn column<T>(rows: &[T], f: &dyn Fn(&T) -> u64) -> Column {
        Column::Integer(rows.iter().map(|r| f(r) as i64).collect())
    }
    column(rows, &f)
}

fn reals<T>(rows: &[T], f: impl Fn(&T) -> f64) -> Column {
    /// As that of `integers`.
    #[inline(never)]
    fn column<T>(rows: &[T], f: &dyn Fn(&T) -> f64) -> Column {
        Column::Real(rows.iter().map(f).collect())
    }
    column(rows, &f)
}

fn texts<'r, T, S: AsRef<str>>(rows: &'r [T], f: impl Fn(&'r T) -> S) -> Column {
    /// As that of `integers`.
    #[inline(never)]
    fn column<'r, T, S: AsRef<str>>(rows: &'r [T], f: &dyn Fn(&'r T) -> S) -> Column {
        Column::Text(rows.iter().map(f).collect())
    }
    column(rows, &f)
}

/// Rows of which values are computed at a time.
const BLOCK: usize = 256;

/// A column of numbers, as a function of the values computed from a row.
enum Number<'f, C> {
    Integer(&'f dyn Fn(&C) -> u64),
    Real(&'f dyn Fn(&C) -> f64),
}

/// Make columns of numbers from values that are computed once for each row. They are computed for a block of rows at
/// a time: for all rows they may be larger than the columns.
fn numbers<R, C, const N: usize>(
    mut rows: impl ExactSizeIterator<Item = R>,
    compute: impl Fn(R) -> C,
    of: [(&'static str, Number<'_, C>); N],
) -> Table {
    let mut columns = of.each_ref().map(|(_, number)| match number {
        Number::Integer(_) => Column::Integer(Vec::with_capacity(rows.len())),
        Number::Real(_) => Column::Real(Vec::with_capacity(rows.len())),
    });
    let mut computed = Vec::with_capacity(BLOCK);
    while rows.len() > 0 {
        computed.clear();
        computed.extend(rows.by_ref().take(BLOCK).map(&compute));
        for (column, (_, number)) in columns.iter_mut().zip(&of) {
            match (column, number) {
                (Column::Integer(values), Number::Integer(f)) => {
                    values.extend(computed.iter().map(|c| f(c) as i64));
                }
                (Column::Real(values), Number::Real(f)) => values.extend(computed.iter().map(f)),
                _ => unreachable!("a column has the type of its numbers"),
            }
        }
    }
    of.map(|(name, _)| name).into_iter().zip(columns).collect()
}

/// `a / b`, NaN where `b` is 0.
fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { f64::NAN } else { a / b }
}

const PS_PER_S: f64 = 1e12;

impl Simulation {
    /// Packets carried over a link, and packets offered to a queue, summed over all links.
    pub fn totals(&self) -> (u64, u64) {
        let counters = self.network.fabric.links.iter().map(|l| l.counters());
        counters.fold((0, 0), |(hops, offers), c| (hops + c.departures, offers + c.arrivals))
    }

    /// All tables of a finished run, which ends with it: with many flows, its state and the tables together would take most of the
    /// memory of a run.
    pub fn into_tables(self) -> Vec<(&'static str, Table)> {
        let Self { engine, network, .. } = self;
        drop(engine);
        let of_flows = network.tables_of_flows();
        let seed = network.seed;
        let (plan, links) = network.into_links();
        let link = |i: usize| {
            let own = &plan.links[i];
            SeenLink { name: &own.name, aqm: own.aqm(), line: Some(&own.line), seed, station: &links[i] }
        };
        let seen = Seen { plan: &plan, count: links.len(), link: &link };
        seen.tables((plan.duration - plan.warmup).secs()).into_iter().chain(of_flows).collect()
    }
}

impl Network {
    /// The plan and the links, without all else.
    fn into_links(self) -> (Plan, Vec<Link>) {
        (self.plan, self.fabric.links)
    }

    fn tables_of_flows(&self) -> [(&'static str, Table); 9] {
        [
            ("flows", self.flows_table()),
            ("cwnd_samples", self.cwnd_samples_table()),
            ("flow_samples", self.flow_samples_table()),
            ("flow_delays", self.flow_delays_table()),
            ("flow_delay_histogram", self.flow_delay_histogram_table()),
            ("pages", self.pages_table()),
            ("objects", self.objects_table()),
            ("segments", self.segments_table()),
            ("call_packets", self.call_packets_table()),
        ]
    }
}

impl Seen<'_> {
    /// The tables of links, over `measured_s` seconds.
    pub fn tables(&self, measured_s: f64) -> [(&'static str, Table); 14] {
        [
            ("links", self.links_table(measured_s)),
            ("queue_samples", self.queue_samples_table()),
            ("delay_histogram", self.delay_histogram_table()),
            ("queue_delay_histogram", self.queue_delay_histogram_table()),
            ("events", self.events_table()),
            ("discipline_samples", self.discipline_samples_table()),
            ("drop_distances", self.drop_distances_table()),
            ("drop_reasons", self.drop_reasons_table()),
            ("tins", self.tins_table()),
            ("channels", self.channels_table()),
            ("code_points", self.code_points_table()),
            ("markers", self.markers_table()),
            ("losses", self.losses_table()),
            ("packets", self.packets_table()),
        ]
    }
}
