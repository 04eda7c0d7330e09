//! Queueing delay at the link: its mean, and quantiles of its histogram.

use crate::quantity::Better::Lower;
use crate::quantity::Compared::Main;
use crate::quantity::Quantity;
use crate::quantity::View::{
    Agreement, Compare, Finding, Laboratory, Notebook, Rfc7928, Scenarios, Spread, Sweep, SweepReport,
};
use crate::run::{Run, at};

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
    Quantity::new("delay_p95_ms", "95 % queueing delay", "ms", 2, 90, |run| quantile_ms(run, 0.95))
        .doc("from the delay histogram")
        .head("95 %", "delay")
        .better(Lower)
        .at(Notebook, 4)
        .hidden(&[Compare, SweepReport, Scenarios, Spread, Rfc7928]),
    Quantity::new("delay_p99_ms", "99 % queueing delay", "ms", 2, 100, |run| quantile_ms(run, 0.99))
        .doc("from the delay histogram")
        .head("99 %", "delay")
        .better(Lower)
        .compared(Main)
        .at(SweepReport, 2)
        .hidden(&[Sweep, Scenarios, Spread, Notebook, Laboratory, Agreement, Rfc7928]),
];

fn quantile_ms(run: &Run<'_>, share: f64) -> Option<f64> {
    let links = run.words("delay_histogram", "link")?;
    let rows: Vec<_> = (0..links.len()).filter(|&row| links.get(row) == run.link()).collect();
    let own = |column| Some(at(&run.numbers("delay_histogram", column)?, &rows));
    let (low, high, counts) = (own("low_s")?, own("high_s")?, own("count")?);
    (!rows.is_empty()).then(|| quantile(&low, &high, &counts, share) * 1e3)
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
}
