//! Drop curves against the values of an independent oracle.

mod common;

use aqmlab_aqm::{LinkContext, Spec, Value};
use aqmlab_units::{Rate, Span};
use common::table;

#[test]
fn curves_are_those_of_the_oracle() {
    let rows = table("oracle/dropfn.csv");
    assert_eq!(rows.len(), 800);
    for row in rows {
        let preset = row["series"].replace('_', "-");
        let mut spec = Spec::new(&preset).expect("a preset");
        for (key, value) in [("min_th", 10.0), ("max_th", 30.0), ("limit", 100.0)] {
            spec.set(key, Value::Packets(value)).expect("valid");
        }
        spec.set("max_p", Value::Number(0.1)).expect("valid");
        let link = LinkContext { rate: Rate(8_000_000), delay: Span::ZERO };
        let resolved = spec.resolve(link).expect("valid together");
        let x: f64 = row["x"].parse().expect("an average");
        let golden: f64 = row["value"].parse().expect("a probability");
        let p = resolved.curve().expect("a curve").p_b(x);
        assert!((p - golden).abs() <= 1e-12, "{preset}({x}) = {p}, not {golden}");
    }
}
