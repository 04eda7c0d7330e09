//! Queueing delay at the link: its mean, and quantiles and shares of its histogram. Quantiles are of each queue too, where the
//! discipline has several with names (DualPI2: `L` and `C`).

use crate::quantity::Better::Lower;
use crate::quantity::Compared::{Main, Shown};
use crate::quantity::View::{
    Agreement, Compare, Finding, Laboratory, Notebook, Rfc7928, Scenarios, Spread, SweepReport,
};
use crate::quantity::{Groups, Quantity};
use crate::run::{Run, at, each_of_several};
use crate::sum::ratio;

pub(crate) const QUANTITIES: &[Quantity] = &[
    Quantity::new("mean_delay_ms", "Mean queueing delay", "ms", 2, 80, |run| {
        Some(run.of_link("mean_delay_s")? * 1e3)
    })
    .doc("time waiting, without the packet's own transmission")
    .head("mean", "delay")
    .better(Lower)
    .compared(Main)
    .at(SweepReport, 1)
    .at(Notebook, 3)
    .at(Agreement, 1)
    .at(Finding, 1)
    .hidden(&[Rfc7928]),
    Quantity::new("delay_median_ms", "Median queueing delay", "ms", 2, 85, |run| quantile_ms(run, 0.5))
        .doc("from the delay histogram")
        .head("median", "delay")
        .better(Lower)
        .by_group(by_queue("median delay", |run| of_queues(run, 0.5)))
        .hidden(&[Compare, SweepReport, Scenarios, Spread, Notebook, Laboratory, Agreement, Rfc7928]),
    Quantity::new("delay_p95_ms", "95 % queueing delay", "ms", 2, 90, |run| quantile_ms(run, 0.95))
        .doc("from the delay histogram")
        .head("95 %", "delay")
        .better(Lower)
        .by_group(by_queue("95 % delay", |run| of_queues(run, 0.95)))
        .at(Notebook, 4)
        .hidden(&[Compare, SweepReport, Scenarios, Spread, Rfc7928]),
    Quantity::new("delay_p99_ms", "99 % queueing delay", "ms", 2, 100, |run| quantile_ms(run, 0.99))
        .doc("from the delay histogram")
        .head("99 %", "delay")
        .better(Lower)
        .compared(Main)
        .by_group(by_queue("99 % delay", |run| of_queues(run, 0.99)))
        .at(SweepReport, 2)
        .hidden(&[Scenarios, Spread, Notebook, Laboratory, Agreement, Rfc7928]),
    Quantity::new("delayed_20ms", "Delayed by more than 20 ms", "1", 4, 101, |run| {
        share_of_packets(run, 0.02)
    })
    .doc("packets that waited longer than 20 ms / packets, from the delay histogram")
    .bounds(0.0, 1.0)
    .head("delayed", "> 20 ms")
    .percent()
    .better(Lower)
    // They repeat the distribution that reports draw.
    .hidden(&[SweepReport, Scenarios, Spread, Notebook, Laboratory, Agreement, Rfc7928]),
    Quantity::new("delayed_100ms", "Delayed by more than 100 ms", "1", 4, 102, |run| {
        share_of_packets(run, 0.1)
    })
    .doc("packets that waited longer than 100 ms / packets, from the delay histogram")
    .bounds(0.0, 1.0)
    .head("delayed", "> 100 ms")
    .percent()
    .better(Lower)
    .hidden(&[SweepReport, Scenarios, Spread, Notebook, Laboratory, Agreement, Rfc7928]),
];

/// The quantity for each queue of the discipline. Only DualPI2 (`L`, `C`) and CAKE (its tins) have queues with names, so differences
/// between disciplines are not tested.
const fn by_queue(head: &'static str, values: fn(&Run<'_>) -> Vec<(String, f64)>) -> Groups {
    Groups { title: "", head, doc: "", compared: Shown, values }
}

const QUEUES: &str = "queue_delay_histogram";

/// A histogram of delays.
struct Bins {
    low: Vec<f64>,
    high: Vec<f64>,
    counts: Vec<f64>,
}

impl Bins {
    /// Return the bins in some rows of a table; `None` without rows.
    fn of(run: &Run<'_>, table: &'static str, rows: &[usize]) -> Option<Self> {
        let own = |column| Some(at(&run.numbers(table, column)?, rows));
        let bins = Self { low: own("low_s")?, high: own("high_s")?, counts: own("count")? };
        (!rows.is_empty()).then_some(bins)
    }

    /// Return those of the link.
    fn of_link(run: &Run<'_>) -> Option<Self> {
        Self::of(run, "delay_histogram", &rows_of_link(run, "delay_histogram")?)
    }

    fn quantile_ms(&self, share: f64) -> f64 {
        quantile(&self.low, &self.high, &self.counts, share) * 1e3
    }
}

/// Return the rows of the link in a table.
fn rows_of_link(run: &Run<'_>, table: &'static str) -> Option<Vec<usize>> {
    let links = run.words(table, "link")?;
    Some((0..links.len()).filter(|&row| links.get(row) == run.link()).collect())
}

fn quantile_ms(run: &Run<'_>, share: f64) -> Option<f64> {
    Some(Bins::of_link(run)?.quantile_ms(share))
}

fn of_queues(run: &Run<'_>, share: f64) -> Vec<(String, f64)> {
    let (Some(queues), Some(rows)) = (run.words(QUEUES, "queue"), rows_of_link(run, QUEUES)) else {
        return Vec::new();
    };
    each_of_several(&queues, rows, |rows| Some(Bins::of(run, QUEUES, rows)?.quantile_ms(share)))
}

/// Return the share of the packets that waited longer than a time.
fn share_of_packets(run: &Run<'_>, threshold_s: f64) -> Option<f64> {
    let Bins { low, high, counts } = Bins::of_link(run)?;
    Some(share_above(&low, &high, &counts, threshold_s))
}

/// Return the share of a histogram above a threshold, linear within a bin, or NaN if the histogram counts nothing. In a bin without an
/// end all is at the bin's beginning.
fn share_above(low: &[f64], high: &[f64], counts: &[f64], threshold: f64) -> f64 {
    let part = |(low, high): (f64, f64)| {
        if !high.is_finite() || high <= low {
            return f64::from(u8::from(low > threshold));
        }
        ((high - threshold) / (high - low)).clamp(0.0, 1.0)
    };
    let bins = low.iter().copied().zip(high.iter().copied()).map(part);
    let above: f64 = bins.zip(counts).map(|(part, count)| part * count).sum();
    ratio(above, counts.iter().sum())
}

/// Return a quantile of a histogram, linear within a bin, or NaN if the histogram counts nothing.
///
/// The bins are in order: their ends, and how much each counts. `share` is 0.5 for the median. In a bin without an end the
/// quantile is the bin's beginning.
pub fn quantile(low: &[f64], high: &[f64], counts: &[f64], share: f64) -> f64 {
    let below: Vec<_> = counts
        .iter()
        .scan(0.0, |sum, count| {
            *sum += count;
            Some(*sum)
        })
        .collect();
    let total = below.last().copied().unwrap_or(0.0);
    if total == 0.0 {
        return f64::NAN;
    }
    let wanted = share * total;
    let bin = below.partition_point(|&sum| sum < wanted).min(counts.len() - 1);
    if !high[bin].is_finite() {
        return low[bin];
    }
    let before = if bin == 0 { 0.0 } else { below[bin - 1] };
    let within = if counts[bin] == 0.0 { 0.0 } else { (wanted - before) / counts[bin] };
    low[bin] + within * (high[bin] - low[bin])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_by_hand() {
        let of = |share| quantile(&[0.0, 0.1], &[0.1, 0.3], &[90.0, 10.0], share);
        let near = |found: f64, due: f64| (found - due).abs() < 1e-15;
        assert!(
            near(of(0.45), 0.05) && near(of(0.95), 0.2) && near(of(0.99), 0.28),
            "{} {}",
            of(0.45),
            of(0.95)
        );
        assert_eq!(quantile(&[0.0, 1.0], &[1.0, 2.0], &[3.0, 1.0], 0.5), 0.6666666666666666);
        assert_eq!(quantile(&[0.5], &[f64::INFINITY], &[3.0], 0.5), 0.5);
        assert!(quantile(&[0.0], &[1.0], &[0.0], 0.5).is_nan() && quantile(&[], &[], &[], 0.5).is_nan());
    }

    #[test]
    fn shares_above_a_delay_by_hand() {
        // 90 packets below 0.1 s, 8 from 0.1 to 0.3 s, 2 above.
        let of = |threshold| {
            share_above(&[0.0, 0.1, 0.3], &[0.1, 0.3, f64::INFINITY], &[90.0, 8.0, 2.0], threshold)
        };
        let near = |found: f64, due: f64| assert!((found - due).abs() < 1e-12, "{found} {due}");
        near(of(0.1), 0.1);
        near(of(0.02), 0.1 + 0.9 * 0.8);
        near(of(0.25), 0.02 + 0.08 * 0.25);
        near(of(0.3), 0.0);
        assert!(share_above(&[], &[], &[], 0.1).is_nan());
    }

    #[test]
    fn each_queue_of_a_link_has_its_quantiles() {
        use aqmlab_netsim::{Column, Table};
        let text = |words: &[&str]| Column::Text(words.iter().collect());
        let links: Table = vec![("link", text(&["a"])), ("aqm", text(&["dualpi2"]))];
        let queues: Table = vec![
            ("link", text(&["a", "a", "b"])),
            ("queue", text(&["L", "C", "L"])),
            ("low_s", Column::Real(vec![0.0, 0.01, 0.0])),
            ("high_s", Column::Real(vec![0.001, 0.02, 1.0])),
            ("count", Column::Integer(vec![10, 4, 9])),
        ];
        let tables = vec![("links", links), (QUEUES, queues)];
        let found = of_queues(&Run::new(&tables, None).unwrap(), 0.5);
        assert_eq!(found, [("L".to_owned(), 0.5), ("C".to_owned(), 15.0)]);
    }
}
