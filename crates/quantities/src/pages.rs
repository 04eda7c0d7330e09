//! Web pages, of the whole run, its warm-up included: a page that began early would lose its start.

use crate::quantity::Better::Lower;
use crate::quantity::Compared::Tested;
use crate::quantity::View::{Agreement, Laboratory, Notebook, Rfc7928, Spread, SweepReport};
use crate::quantity::{Compared, Groups, Quantity};
use crate::run::{Run, at};
use crate::sum::mean;

/// Perceptible differences in load time, from the limit of an immediate response (Nielsen 1993).
const NOTABLE_S: f64 = 0.1;

pub(crate) const QUANTITIES: &[Quantity] = &[
    Quantity::new("page_load_s", "Page load time", "s", 2, 180, |run| of_all(run, mean_load))
        .doc("mean over the web pages that were loaded to their last byte")
        .head("page", "load")
        .better(Lower)
        .notable(NOTABLE_S)
        .compared(Tested)
        .seldom()
        .by_group(Groups {
            title: "",
            head: "",
            doc: "",
            compared: Compared::Tested,
            values: |run| of_groups(run, mean_load),
        })
        .hidden(&[SweepReport, Spread, Notebook, Agreement, Rfc7928]),
    Quantity::new("pages_unfinished", "Pages not loaded", "1", 3, 190, |run| of_all(run, unfinished))
        .doc("web pages not complete at the end / pages")
        .bounds(0.0, 1.0)
        .head("pages not", "loaded")
        .percent()
        .better(Lower)
        .compared(Tested)
        .by_group(Groups {
            title: "",
            head: "",
            doc: "",
            compared: Compared::Tested,
            values: |run| of_groups(run, unfinished),
        })
        .hidden(&[SweepReport, Spread, Notebook, Laboratory, Agreement, Rfc7928]),
];

/// Measure the load times of all pages, NaN for those that were not loaded.
fn of_all(run: &Run<'_>, measure: fn(&[f64]) -> Option<f64>) -> Option<f64> {
    measure(&run.numbers("pages", "load_s")?)
}

fn of_groups(run: &Run<'_>, measure: fn(&[f64]) -> Option<f64>) -> Vec<(String, f64)> {
    let loads = run.numbers("pages", "load_s").unwrap_or_default();
    run.by_group("pages", |rows| measure(&at(&loads, rows)))
}

fn mean_load(loads: &[f64]) -> Option<f64> {
    let done: Vec<_> = loads.iter().copied().filter(|load| !load.is_nan()).collect();
    (!done.is_empty()).then(|| mean(&done))
}

fn unfinished(loads: &[f64]) -> Option<f64> {
    let done = loads.iter().filter(|load| !load.is_nan()).count();
    (!loads.is_empty()).then(|| 1.0 - done as f64 / loads.len() as f64)
}
