//! Distributions: `{ uniform = [a, b] }`, `{ exponential = mean }`, `{ pareto = { mean = m, shape = s } }`.

use aqmlab_netsim::plan::Spread;

use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};
use crate::tree::Value;

/// Largest shape of a Pareto distribution; from here on it is as good as constant.
const MAX_SHAPE: f64 = 1000.0;

/// The table of a distribution. `bound` is what the bounds of `uniform` may be, `mean` what a mean may be.
pub(crate) fn shape(doc: &'static str, bound: Kind, mean: &Kind) -> Shape {
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
            Key::new("pareto", Kind::Table(pareto), "Pareto with this mean and shape."),
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
    let present: Vec<_> = ["uniform", "exponential", "pareto"].into_iter().filter(|k| table.has(k)).collect();
    match present.as_slice() {
        ["uniform"] => uniform(&table, example, number),
        ["exponential"] => number(table.value("exponential")?).map(Spread::Exponential),
        ["pareto"] => pareto(&table.section("pareto")?, number),
        // What there is has been reported as unknown.
        [] if table.len() > 0 => None,
        _ => {
            let complaint = Complaint::new("is not exactly one of uniform, exponential and pareto");
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
