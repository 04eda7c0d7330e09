//! Completion of transfers: TCP flows of a given size, of the whole run, its warm-up included.
//!
//! ```text
//! FCT = finish - start                  of a transfer, to the acknowledgement of its last byte (RFC 7928, section 2.1)
//! slowdown = FCT / ideal                ideal: the transfer alone on its path, without a handshake (column `ideal_s`)
//! ```
//!
//! The slowdown is the normalized completion time of M. Alizadeh et al., "pFabric: Minimal Near-Optimal Datacenter Transport",
//! SIGCOMM 2013, section 5: the FCT over the best possible one, of a flow that is alone in the network. The classes of sizes are those
//! of its figures: up to 100 kB, above 10 MB, and between. Means and quantiles are of the transfers that were completed, so a run that
//! completes few has too small ones: `transfers_unfinished` shows it.

use crate::quantity::Better::Lower;
use crate::quantity::Compared::{Described, Tested};
use crate::quantity::View::{
    Agreement, Answer, Compare, Laboratory, Notebook, Rfc7928, Scenarios, Spread, SweepReport,
};
use crate::quantity::{Compared, Groups, Quantity};
use crate::run::{Run, at};
use crate::sum::{mean, quantile, ratio};

/// Greatest size of a short transfer in bytes.
const SHORT: f64 = 100e3;
/// Greatest size of a medium transfer in bytes.
const MEDIUM: f64 = 10e6;
/// The classes of sizes: name, above, up to.
const CLASSES: [(&str, f64, f64); 3] =
    [("short", f64::NEG_INFINITY, SHORT), ("medium", SHORT, MEDIUM), ("long", MEDIUM, f64::INFINITY)];

/// Return a quantity of completed transfers, of all and by class of size.
const fn of_transfers(
    key: &'static str,
    title: &'static str,
    unit: &'static str,
    rank: u16,
    value: fn(&Run<'_>) -> Option<f64>,
    values: fn(&Run<'_>) -> Vec<(String, f64)>,
) -> Quantity {
    Quantity::new(key, title, unit, 2, rank, value)
        .better(Lower)
        .compared(Described)
        .seldom()
        .by_group(Groups { title: "", head: "", doc: "", compared: Compared::Described, values })
}

/// The definition of a number of completion times.
macro_rules! of_times {
    ($what:literal) => {
        concat!(
            $what,
            " of the flow completion times of transfers, those that start in the warm-up included, from start to acknowledgement of the last byte, which a \
             receiver may delay; by class of size: short (up to 100 kB), medium, long (above 10 MB)"
        )
    };
}

/// The definition of a number of slowdowns.
macro_rules! of_slowdowns {
    ($what:literal) => {
        concat!(
            $what,
            " of the transfers' completion times over the least possible ones: a round trip and the transmission at the highest \
             rate, without handshake and slow start (pFabric 2013); by class of size: short (up to 100 kB), medium, long (above 10 MB)"
        )
    };
}

// The papers print mean and 99th percentile; the others would double the figures of reports.
pub(crate) const QUANTITIES: &[Quantity] = &[
    of_transfers(
        "fct_mean_ms",
        "Mean completion time",
        "ms",
        151,
        |r| of_all(r, time_mean),
        |r| by_class(r, time_mean),
    )
    .doc(of_times!("mean"))
    .head("mean", "FCT")
    .compared(Tested)
    .at(Answer, 5)
    .hidden(&[Agreement, Rfc7928]),
    of_transfers(
        "fct_median_ms",
        "Median completion time",
        "ms",
        152,
        |r| of_all(r, |t| time_quantile(t, 0.5)),
        |r| by_class(r, |t| time_quantile(t, 0.5)),
    )
    .doc(of_times!("median"))
    .head("median", "FCT")
    .hidden(&[SweepReport, Scenarios, Spread, Notebook, Agreement, Rfc7928]),
    of_transfers(
        "fct_p95_ms",
        "95 % completion time",
        "ms",
        153,
        |r| of_all(r, |t| time_quantile(t, 0.95)),
        |r| by_class(r, |t| time_quantile(t, 0.95)),
    )
    .doc(of_times!("95th percentile"))
    .head("95 %", "FCT")
    .hidden(&[SweepReport, Scenarios, Spread, Notebook, Agreement, Rfc7928]),
    of_transfers(
        "fct_p99_ms",
        "99 % completion time",
        "ms",
        154,
        |r| of_all(r, |t| time_quantile(t, 0.99)),
        |r| by_class(r, |t| time_quantile(t, 0.99)),
    )
    .doc(of_times!("99th percentile"))
    .head("99 %", "FCT")
    .compared(Tested)
    .hidden(&[Agreement, Rfc7928]),
    of_transfers(
        "slowdown_mean",
        "Mean slowdown",
        "1",
        155,
        |r| of_all(r, |t| mean(&t.slowdowns())),
        |r| by_class(r, |t| mean(&t.slowdowns())),
    )
    .doc(of_slowdowns!("mean"))
    .head("mean", "slowdown")
    .hidden(&[Agreement, Rfc7928]),
    of_transfers(
        "slowdown_p99",
        "99 % slowdown",
        "1",
        156,
        |r| of_all(r, |t| quantile(&t.slowdowns(), 0.99)),
        |r| by_class(r, |t| quantile(&t.slowdowns(), 0.99)),
    )
    .doc(of_slowdowns!("99th percentile"))
    .head("99 %", "slowdown")
    .hidden(&[SweepReport, Scenarios, Spread, Notebook, Agreement, Rfc7928]),
    Quantity::new("transfers", "Completed transfers", "transfers", 0, 150, |r| of_all(r, count))
        .doc(
            "transfers completed, on which completion times and slowdowns rest; by class of size: short (up to 100 kB), medium, \
             long (above 10 MB)",
        )
        .head("completed", "transfers")
        .seldom()
        .by_group(Groups { title: "", head: "", doc: "", compared: Compared::Described, values: |r| by_class(r, count) })
        .hidden(&[Compare, SweepReport, Scenarios, Spread, Notebook, Laboratory, Agreement, Rfc7928]),
    Quantity::new("transfers_unfinished", "Transfers not completed", "1", 4, 157, |run| {
        let started = run.numbers("flows", "start_s")?;
        let rows = rows_of_transfers(run)?;
        let begun = rows.iter().filter(|&&row| !started[row].is_nan()).count();
        Some(1.0 - ratio(Transfers::of(run, &rows)?.times_s.len() as f64, begun as f64))
    })
    .doc("transfers not completed at the end / transfers that started")
    .bounds(0.0, 1.0)
    .head("transfers", "undone")
    .percent()
    .better(Lower)
    .seldom()
    .hidden(&[SweepReport, Scenarios, Spread, Notebook, Agreement, Rfc7928]),
];

/// Completed transfers.
struct Transfers {
    /// Completion times.
    times_s: Vec<f64>,
    /// Completion times of the same transfers alone on their paths; absent in results of earlier versions.
    ideal_s: Option<Vec<f64>>,
}

impl Transfers {
    /// Return those among some rows of the table of flows that were completed.
    fn of(run: &Run<'_>, rows: &[usize]) -> Option<Self> {
        let (start, finish) = (run.numbers("flows", "start_s")?, run.numbers("flows", "finish_s")?);
        let done: Vec<_> = rows.iter().copied().filter(|&row| !(finish[row] - start[row]).is_nan()).collect();
        let ideal = run.numbers("flows", "ideal_s").map(|ideal| at(&ideal, &done));
        Some(Self { times_s: done.iter().map(|&row| finish[row] - start[row]).collect(), ideal_s: ideal })
    }

    /// Return the slowdowns; none without ideal times.
    fn slowdowns(&self) -> Vec<f64> {
        let ideal = self.ideal_s.iter().flatten();
        self.times_s.iter().zip(ideal).map(|(time, ideal)| time / ideal).collect()
    }
}

fn count(transfers: &Transfers) -> f64 {
    transfers.times_s.len() as f64
}

fn time_mean(transfers: &Transfers) -> f64 {
    mean(&transfers.times_s) * 1e3
}

fn time_quantile(transfers: &Transfers, share: f64) -> f64 {
    quantile(&transfers.times_s, share) * 1e3
}

/// Return the rows of flows with a size, or `None` without such flows.
fn rows_of_transfers(run: &Run<'_>) -> Option<Vec<usize>> {
    let sizes = run.numbers("flows", "size_packets")?;
    let rows: Vec<_> = (0..sizes.len()).filter(|&row| sizes[row] >= 0.0).collect();
    (!rows.is_empty()).then_some(rows)
}

/// Measure the completed transfers among some rows; `None` if there are none, or no numbers for them.
fn measured(run: &Run<'_>, rows: &[usize], measure: fn(&Transfers) -> f64) -> Option<f64> {
    let transfers = Transfers::of(run, rows)?;
    Some(measure(&transfers)).filter(|number| !number.is_nan())
}

fn of_all(run: &Run<'_>, measure: fn(&Transfers) -> f64) -> Option<f64> {
    measured(run, &rows_of_transfers(run)?, measure)
}

/// Measure the transfers of each class of sizes, if there are several.
fn by_class(run: &Run<'_>, measure: fn(&Transfers) -> f64) -> Vec<(String, f64)> {
    let (Some(rows), Some(sizes)) = (rows_of_transfers(run), run.numbers("flows", "size_bytes")) else {
        return Vec::new();
    };
    let of_class = |&(name, above, up_to): &(&str, f64, f64)| {
        let own: Vec<_> =
            rows.iter().copied().filter(|&row| above < sizes[row] && sizes[row] <= up_to).collect();
        Some((name.to_owned(), measured(run, &own, measure)?))
    };
    let found: Vec<_> = CLASSES.iter().filter_map(of_class).collect();
    if found.len() > 1 { found } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use aqmlab_netsim::{Column, Table};

    use super::*;

    /// A run with four transfers (1 of them unfinished), an endless flow and a transfer that never starts.
    fn tables() -> Vec<(&'static str, Table)> {
        let text = |words: &[&str]| Column::Text(words.iter().collect());
        let nan = f64::NAN;
        let flows: Table = vec![
            ("size_packets", Column::Integer(vec![70, 70, 7000, 700, -1, 70])),
            ("size_bytes", Column::Integer(vec![100_000, 99_999, 10_000_001, 1_000_000, -1, 100_000])),
            ("start_s", Column::Real(vec![0.0, 1.0, 2.0, 3.0, 0.0, nan])),
            ("finish_s", Column::Real(vec![0.1, 1.3, 12.0, nan, nan, nan])),
            ("ideal_s", Column::Real(vec![0.05, 0.1, 8.0, 0.8, nan, 0.05])),
        ];
        vec![("links", vec![("link", text(&["a"])), ("aqm", text(&["red"]))]), ("flows", flows)]
    }

    fn near(found: Option<f64>, due: f64) {
        assert!(found.is_some_and(|found| (found - due).abs() < 1e-9), "{found:?} {due}");
    }

    #[test]
    fn by_hand() {
        let tables = tables();
        let values = crate::values(&Run::new(&tables, None).unwrap());
        let of = |key: &str| values.iter().find(|(own, _)| own == key).map(|(_, value)| *value);
        // Times 100, 300 and 10,000 ms.
        near(of("fct_mean_ms"), 10_400.0 / 3.0);
        near(of("fct_median_ms"), 300.0);
        near(of("fct_p95_ms"), 300.0 + 0.9 * 9700.0);
        near(of("fct_p99_ms"), 300.0 + 0.98 * 9700.0);
        near(of("slowdown_mean"), (2.0 + 3.0 + 1.25) / 3.0);
        near(of("slowdown_p99"), 2.98);
        near(of("transfers_unfinished"), 0.25);
        near(of("fct_mean_ms.short"), 200.0);
        near(of("fct_p99_ms.long"), 10_000.0);
        near(of("slowdown_mean.long"), 1.25);
        assert_eq!(of("fct_mean_ms.medium"), None, "not completed");
    }

    #[test]
    fn runs_without_transfers_or_columns() {
        let mut tables = tables();
        tables[1].1[0].1 = Column::Integer(vec![-1; 6]);
        assert!(of_all(&Run::new(&tables, None).unwrap(), time_mean).is_none());
        tables[1].1 = tables[1].1.drain(2..4).collect();
        assert!(of_all(&Run::new(&tables, None).unwrap(), time_mean).is_none());
    }
}
