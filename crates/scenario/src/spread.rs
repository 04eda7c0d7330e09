//! Distributions: `{ uniform = [a, b] }`, `{ exponential = mean }`, `{ pareto = { mean = m, shape = s } }`,
//! `{ cdf = [[x, p], ...] }`.

use std::sync::Arc;

use aqmlab_netsim::plan::{Cdf, Spread};

use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};
use crate::sizes::{self, Named};
use crate::tree::{Node, Value};
use crate::units;

/// Largest shape of a Pareto distribution; from here on it is as good as constant.
const MAX_SHAPE: f64 = 1000.0;
/// The keys of a distribution.
const KEYS: [&str; 4] = ["uniform", "exponential", "pareto", "cdf"];

/// Return the table of a distribution. `bound` is the kind of the bounds of `uniform`, `mean` the kind of a mean, `named` the
/// distributions that have names.
pub(crate) fn shape(doc: &'static str, bound: Kind, mean: &Kind, named: &'static [Named]) -> Shape {
    let pareto = Shape::new(
        "A Pareto distribution.",
        vec![
            Key::new("mean", mean.clone(), "Mean.").required(),
            Key::new(
                "shape",
                Kind::Above { min: 1.0, max: MAX_SHAPE },
                "Shape; from 1 down there is no mean.",
            )
            .required(),
        ],
    );
    Shape::new(
        doc,
        vec![
            Key::new("uniform", Kind::list(bound), "Uniform between two values."),
            Key::new("exponential", mean.clone(), "Exponential with this mean."),
            Key::new("pareto", Kind::Table(pareto.into()), "Pareto with this mean and shape."),
            Key::new(
                "cdf",
                Kind::Any(vec![
                    Kind::Distribution(named),
                    Kind::list(Kind::list(Kind::Number { min: 0.0, max: sizes::MAX_VALUE })),
                ]),
                if named.is_empty() {
                    "Through points [seconds, probability], or those of a file beside the scenario."
                } else {
                    "Through points [bytes, probability], those of a file beside the scenario, or one that was measured."
                },
            ),
        ],
    )
}

/// Reads the distribution in the table under `key`; `number` makes a valid value a number. `example` is what to write
/// instead of a table that says too much or nothing.
pub(crate) fn read(
    parent: &Section<'_>,
    key: &str,
    example: &str,
    number: impl Fn(&Value) -> Option<f64>,
) -> Option<Spread> {
    let table = parent.section(key)?;
    let present: Vec<_> = KEYS.into_iter().filter(|k| table.has(k)).collect();
    match present.as_slice() {
        ["uniform"] => uniform(&table, example, number),
        ["exponential"] => number(table.value("exponential")?).map(Spread::Exponential),
        ["pareto"] => pareto(&table.section("pareto")?, number),
        ["cdf"] => empirical(&table),
        // The keys of the table have been reported as unknown.
        [] if table.len() > 0 => None,
        _ => {
            let complaint = Complaint::new("is not exactly one of uniform, exponential, pareto and cdf");
            parent.error(key, complaint.allowed(example));
            None
        }
    }
}

fn uniform(table: &Section<'_>, example: &str, number: impl Fn(&Value) -> Option<f64>) -> Option<Spread> {
    let [low, high] = table.list("uniform")? else {
        table.error("uniform", Complaint::new("is not a list of two values").allowed(example));
        return None;
    };
    let (low, high) = (number(&low.value)?, number(&high.value)?);
    if low > high {
        table.error("uniform", Complaint::new("the second value is below the first"));
        return None;
    }
    if high == 0.0 {
        table.error("uniform", Complaint::new("must not be always 0").allowed(example));
        return None;
    }
    Some(if low == high { Spread::Fixed(low) } else { Spread::Uniform(low, high) })
}

fn pareto(table: &Section<'_>, number: impl Fn(&Value) -> Option<f64>) -> Option<Spread> {
    let mean = table.value("mean").and_then(number);
    Some(Spread::Pareto { mean: mean?, shape: table.number("shape")? })
}

fn empirical(table: &Section<'_>) -> Option<Spread> {
    let points = match table.list("cdf") {
        Some(list) => list.iter().map(point).collect(),
        None => {
            let name = table.text("cdf")?;
            [sizes::FLOWS, sizes::PACKETS].into_iter().find_map(|names| sizes::named(names, name))
        }
    };
    match points.ok_or("a point is not a pair of numbers").and_then(Cdf::new) {
        Ok(cdf) => Some(Spread::Empirical(Arc::new(cdf))),
        Err(why) => {
            let complaint = Complaint::new(format!("is not a distribution: {why}"));
            table.error("cdf", complaint.allowed("[[1000, 0.3], [10000, 0.9], [100000, 1]]"));
            None
        }
    }
}

fn point(node: &Node) -> Option<(f64, f64)> {
    let [value, probability] = node.value.as_list()? else { return None };
    Some((units::number(&value.value).ok()?, units::number(&probability.value).ok()?))
}
