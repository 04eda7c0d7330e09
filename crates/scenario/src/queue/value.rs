use aqmlab_aqm::{Parameter, Unit};
use aqmlab_units::Span;

use crate::nearest::nearest;
use crate::problem::Complaint;
use crate::tree::{Node, Value};
use crate::units::{self, Amount};

/// A value of the file as a parameter; unit and word are checked here, the range is the discipline's to check.
pub(crate) fn parameter_value(value: &Value, parameter: &Parameter) -> Result<aqmlab_aqm::Value, Complaint> {
    if let Some(word) = value.as_text().filter(|w| w.starts_with(|c: char| c.is_alphabetic())) {
        let known = parameter.choices;
        return match known.contains(&word) {
            true => Ok(aqmlab_aqm::Value::Word(word.to_owned())),
            false => {
                let near = nearest(word, known.iter().copied());
                Err(Complaint::new(format!("{word:?} is not known")).suggest(near))
            }
        };
    }
    match (parameter.unit, value) {
        (Unit::Packets | Unit::Size, Value::Text(_) | Value::Integer(_) | Value::Real(_)) => {
            let whole = parameter.unit == Unit::Size;
            match units::amount(value)? {
                Amount::Packets(x) | Amount::Bare(x) if whole && x.fract() != 0.0 => {
                    Err(Complaint::new(format!("{x} is not a whole number of packets")))
                }
                Amount::Packets(x) | Amount::Bare(x) if whole && x > f64::from(u32::MAX) => {
                    Err(Complaint::new(format!("is above {}p", u32::MAX)))
                }
                Amount::Packets(x) | Amount::Bare(x) => Ok(aqmlab_aqm::Value::Packets(x)),
                Amount::Bytes(b) => Ok(aqmlab_aqm::Value::Bytes(b)),
            }
        }
        (Unit::Bytes | Unit::BytesByLevel, Value::Text(_) | Value::Integer(_) | Value::Real(_)) => {
            units::bytes(value, true).map(aqmlab_aqm::Value::Bytes)
        }
        (Unit::BytesByLevel, Value::List(list)) => {
            let levels = list.iter().map(|node| units::bytes(&node.value, true));
            levels.collect::<Result<_, _>>().map(aqmlab_aqm::Value::BytesByLevel)
        }
        (Unit::Number, Value::Text(_) | Value::Integer(_) | Value::Real(_)) => {
            units::number(value).map(aqmlab_aqm::Value::Number)
        }
        (Unit::Time, Value::Text(_) | Value::Integer(_) | Value::Real(_)) => {
            units::time(value).map(|ps| aqmlab_aqm::Value::Seconds(Span(ps).secs()))
        }
        (Unit::Integer, Value::Integer(n)) => Ok(aqmlab_aqm::Value::Number(*n as f64)),
        (Unit::Flag, Value::Flag(b)) => Ok(aqmlab_aqm::Value::Flag(*b)),
        (Unit::Points, Value::List(list)) => points(list).map(aqmlab_aqm::Value::Points),
        (Unit::Flag | Unit::Choice | Unit::Points, Value::Text(word)) => {
            Err(Complaint::new(format!("{word:?} is not known")))
        }
        (_, other) => Err(units::wrong_type(other)),
    }
}

fn points(list: &[Node]) -> Result<Vec<(f64, f64)>, Complaint> {
    let pair = |node: &Node| match node.value.as_list() {
        Some([average, p_b]) => Ok((units::number(&average.value)?, units::number(&p_b.value)?)),
        _ => Err(Complaint::new("each point is a pair of numbers")),
    };
    list.iter().map(pair).collect()
}

/// Whether a value is left to the link.
pub(super) fn is_automatic(value: &aqmlab_aqm::Value) -> bool {
    matches!(value, aqmlab_aqm::Value::Word(word) if word.starts_with("auto"))
}
