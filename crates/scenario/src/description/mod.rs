//! Descriptions for other programs, as data that serde writes: JSON for pages, objects for Python. They are the checked scenario, the
//! plan of a live run, the registry of disciplines, the schema of the file, and TOML as such.
//!
//! A record for which Python has a class has exactly the fields of that class.

mod document;
mod flow;
mod integers;
mod live;
mod marker;
mod registry;
mod scenario;
mod schema;
mod tcp;

pub use document::document;
pub use integers::integers;
pub use registry::{disciplines_json, registry};
pub use scenario::check_json;
pub use schema::schema;

use aqmlab_aqm::{Preset, Resolved, Value};
use aqmlab_units::ValueKind;
use serde::{Serialize, Serializer};
use serde_json::{Value as Json, json};

use crate::queue;

/// Write a list as a tuple, which in Python does not change. JSON has one form for both.
fn tuple<T: Serialize, S: Serializer>(list: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeTuple;
    let mut tuple = serializer.serialize_tuple(list.len())?;
    list.iter().try_for_each(|entry| tuple.serialize_element(entry))?;
    tuple.end()
}

/// A parameter's value: a number in its unit where it has one, text with the unit otherwise.
fn parameter_json(value: &Value, kind: ValueKind) -> Json {
    match (value, kind) {
        (Value::Bytes(b), ValueKind::Bytes | ValueKind::BytesByLevel) => json!(b),
        // A buffer in bytes must not be taken for one in packets.
        (Value::Bytes(_), _) => json!(value.to_string()),
        (Value::Number(x) | Value::Packets(x) | Value::Seconds(x), _) => number_json(*x),
        (Value::Rate(rate), _) => json!(rate.0),
        (Value::Word(w), _) => json!(w),
        (Value::Flag(b), _) => json!(b),
        (Value::Points(points), _) => json!(points),
        (Value::BytesByLevel(levels), _) => json!(levels),
    }
}

/// The classes of a queue in their order: code points, whether one is the default, parameters.
fn classes_json(queue: &Resolved) -> Vec<Json> {
    let class = |class: queue::EffectiveClass<'_>| {
        let mut json = json!({ "name": class.name, "dscp": class.dscp, "default": class.default });
        for (key, value) in class.parameters {
            json[key] = parameter_json(value, kind_of(key));
        }
        json
    };
    queue::effective_classes(queue).into_iter().map(class).collect()
}

/// The kind of value of a parameter of whatever discipline; that of a class has the key class.NAME.KEY.
fn kind_of(key: &str) -> ValueKind {
    let last = key.rsplit('.').next().unwrap_or(key);
    let found = Preset::all().flat_map(Preset::parameters).find(|p| p.key == last);
    found.map_or(ValueKind::Choice, |p| p.kind)
}

/// A whole number without a decimal point.
fn number_json(x: f64) -> Json {
    if x.fract() == 0.0 && x.abs() < 1e15 { json!(x as i64) } else { json!(x) }
}
