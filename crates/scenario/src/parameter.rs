//! Parameters of disciplines, of connections and of links as keys of the file: allowed values and their meaning.

use aqmlab_transport::Value as Setting;
use aqmlab_units::{Parameter, ParameterValue, Rate, Span, ValueKind};

use crate::nearest::nearest;
use crate::problem::Complaint;
use crate::shape::{Key, Kind};
use crate::tree::{Node, Value};
use crate::units::{self, Amount};

/// A parameter as a key of the file, whose range is checked with the other keys.
pub(crate) fn key(p: &Parameter) -> Key {
    key_of(p, kind(p))
}

/// A parameter as a key of the file, whose range the discipline checks when its parameters are set.
pub(crate) fn key_of_discipline(p: &'static Parameter) -> Key {
    key_of(p, Kind::Aqm(p))
}

fn key_of(p: &Parameter, kind: Kind) -> Key {
    let default = default(p, &kind);
    Key::new(p.key, kind, sentence(p)).default(&default)
}

/// Return the kind of the allowed values of a parameter, its range included.
fn kind(p: &Parameter) -> Kind {
    let (min, max) = (p.min.map_or(0.0, |(min, _)| min), p.max.map_or(1e15, |(max, _)| max));
    let value = match p.kind {
        ValueKind::Flag => Kind::Flag,
        ValueKind::Time => Kind::Time { min: Span::from_secs(min).0, max: Span::from_secs(max).0 },
        ValueKind::Rate if p.min.is_some() => Kind::RateOrZero,
        ValueKind::Rate => Kind::Rate,
        ValueKind::Bytes | ValueKind::BytesByLevel => Kind::Bytes { min: min as u64, max: max as u64 },
        ValueKind::Packets => Kind::Packets { min, max, whole: p.is_whole },
        ValueKind::Number if p.is_whole => Kind::Integer { min: min as i64, max: max as i64 },
        ValueKind::Number => Kind::Number { min, max },
        ValueKind::Choice => return Kind::Choice(p.choices.to_vec()),
        ValueKind::Text => Kind::Text,
        ValueKind::PacketsOrBytes => Kind::Size,
        ValueKind::Numbers => Kind::list(Kind::Integer { min: 0, max: 1 << 50 }),
        ValueKind::Points => Kind::list(Kind::list(Kind::Number { min, max })),
    };
    match (p.can_be_off, p.choices) {
        (true, _) => Kind::Any(vec![Kind::Off, value]),
        (false, []) => value,
        // The error of a misspelt word names the word and the valid times.
        (false, words) if p.kind == ValueKind::Time => Kind::Any(vec![Kind::Choice(words.to_vec()), value]),
        (false, words) => Kind::Any(vec![value, Kind::Choice(words.to_vec())]),
    }
}

/// The default as JSON; empty if it depends on another parameter.
fn default(p: &Parameter, kind: &Kind) -> String {
    if p.default.parse::<f64>().is_ok() || p.default.parse::<bool>().is_ok() {
        p.default.to_owned()
    } else if !p.default.is_empty() && kind.accepts(&Value::Text(p.default.to_owned())) {
        format!("{:?}", p.default)
    } else {
        String::new()
    }
}

/// Return the description and the source of a parameter as a sentence.
fn sentence(p: &Parameter) -> String {
    let mut text = p.doc.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let end = if text.ends_with('.') { "" } else { "." };
    match (p.source, end) {
        ("", end) => format!("{text}{end}"),
        (source, "") => format!("{text} ({source})"),
        (source, end) => format!("{text} ({source}){end}"),
    }
}

/// Return a value as that of a discipline; `None` if no parameter of a discipline has such a value.
pub(crate) fn of_discipline(value: ParameterValue<'_>) -> Option<aqmlab_aqm::Value> {
    use aqmlab_aqm::Value;
    Some(match value {
        ParameterValue::Flag(on) => Value::Flag(on),
        ParameterValue::Word(word) => Value::Word(word.to_owned()),
        ParameterValue::Number(x) => Value::Number(x),
        ParameterValue::Packets(x) => Value::Packets(x),
        ParameterValue::Bytes(n) => Value::Bytes(n),
        ParameterValue::Time(span) => Value::Seconds(span.secs()),
        ParameterValue::Points(points) => Value::Points(points),
        ParameterValue::BytesByLevel(levels) => Value::BytesByLevel(levels),
        ParameterValue::Rate(rate) => Value::Rate(rate),
        ParameterValue::Text(_) | ParameterValue::Numbers(_) => return None,
    })
}

/// Return a value as that of a connection; `None` if no parameter of a connection has such a value.
pub(crate) fn setting<'a>(value: ParameterValue<'a>, p: &Parameter) -> Option<Setting<'a>> {
    match value {
        ParameterValue::Flag(on) => Some(Setting::Flag(on)),
        ParameterValue::Word(word) => Some(Setting::Word(word)),
        ParameterValue::Time(span) => Some(Setting::Time(span)),
        ParameterValue::Bytes(n) => u32::try_from(n).ok().map(Setting::Whole),
        ParameterValue::Number(x) | ParameterValue::Packets(x) if p.is_whole => {
            Some(Setting::Whole(x as u32))
        }
        ParameterValue::Number(x) | ParameterValue::Packets(x) => Some(Setting::Real(x)),
        ParameterValue::Rate(rate) => Some(Setting::Rate(rate)),
        ParameterValue::Text(_)
        | ParameterValue::Points(_)
        | ParameterValue::Numbers(_)
        | ParameterValue::BytesByLevel(_) => None,
    }
}

/// Read the value of a parameter. Unit and word are checked here, the range is not.
pub(crate) fn read<'a>(value: &'a Value, p: &Parameter) -> Result<ParameterValue<'a>, Complaint> {
    if let (ValueKind::Text, Some(text)) = (p.kind, value.as_text()) {
        return Ok(ParameterValue::Text(text));
    }
    if let Some(word) = value.as_text().filter(|w| w.starts_with(|c: char| c.is_alphabetic())) {
        if p.choices.contains(&word) {
            return Ok(ParameterValue::Word(word));
        }
        let near = nearest(word, p.choices.iter().copied());
        return Err(Complaint::new(format!("{word:?} is not known")).suggest(near));
    }
    match (p.kind, value) {
        (_, Value::Flag(false)) if p.can_be_off => Ok(ParameterValue::Flag(false)),
        (ValueKind::Flag, Value::Flag(on)) => Ok(ParameterValue::Flag(*on)),
        (ValueKind::Number, Value::Integer(n)) if p.is_whole => Ok(ParameterValue::Number(*n as f64)),
        (ValueKind::Number, Value::Real(x)) if p.is_whole => Err(units::not_whole(*x)),
        (ValueKind::Numbers, Value::List(list)) => whole_numbers(list).map(ParameterValue::Numbers),
        (ValueKind::Points, Value::List(list)) => points(list).map(ParameterValue::Points),
        (ValueKind::BytesByLevel, Value::List(list)) => {
            let levels = list.iter().map(|node| units::bytes(&node.value, true));
            levels.collect::<Result<_, _>>().map(ParameterValue::BytesByLevel)
        }
        (ValueKind::Flag | ValueKind::Choice | ValueKind::Points | ValueKind::Numbers, Value::Text(word)) => {
            Err(Complaint::new(format!("{word:?} is not known")))
        }
        (_, Value::Text(_) | Value::Integer(_) | Value::Real(_)) => quantity(value, p),
        (_, other) => Err(units::wrong_type(other)),
    }
}

/// Read a number with its unit.
fn quantity<'a>(value: &Value, p: &Parameter) -> Result<ParameterValue<'a>, Complaint> {
    match p.kind {
        ValueKind::Packets | ValueKind::PacketsOrBytes => amount(units::amount(value)?, p),
        ValueKind::Bytes | ValueKind::BytesByLevel => units::bytes(value, true).map(ParameterValue::Bytes),
        ValueKind::Number if !p.is_whole => units::number(value).map(ParameterValue::Number),
        ValueKind::Time => units::time(value).map(|ps| ParameterValue::Time(Span(ps))),
        ValueKind::Rate => {
            let rate = if p.min.is_some() { units::rate_or_zero(value) } else { units::rate(value) };
            rate.map(|bps| ParameterValue::Rate(Rate(bps)))
        }
        ValueKind::Number
        | ValueKind::Flag
        | ValueKind::Choice
        | ValueKind::Points
        | ValueKind::Numbers
        | ValueKind::Text => Err(units::wrong_type(value)),
    }
}

fn amount<'a>(amount: Amount, p: &Parameter) -> Result<ParameterValue<'a>, Complaint> {
    match amount {
        Amount::Packets(x) | Amount::Bare(x) if p.is_whole && x.fract() != 0.0 => {
            Err(Complaint::new(format!("{x} is not a whole number of packets")))
        }
        Amount::Packets(x) | Amount::Bare(x) if p.is_whole && x > f64::from(u32::MAX) => {
            Err(Complaint::new(format!("is above {}p", u32::MAX)))
        }
        Amount::Packets(x) | Amount::Bare(x) => Ok(ParameterValue::Packets(x)),
        Amount::Bytes(_) if p.kind == ValueKind::Packets => Err(Complaint::new("is in bytes")),
        Amount::Bytes(b) => Ok(ParameterValue::Bytes(b)),
    }
}

fn whole_numbers(list: &[Node]) -> Result<Vec<u64>, Complaint> {
    let number = |node: &Node| match node.value {
        Value::Integer(n) => u64::try_from(n).map_err(|_| Complaint::new(format!("{n} is negative"))),
        Value::Real(x) => Err(units::not_whole(x)),
        ref other => Err(units::wrong_type(other)),
    };
    list.iter().map(number).collect()
}

fn points(list: &[Node]) -> Result<Vec<(f64, f64)>, Complaint> {
    let pair = |node: &Node| match node.value.as_list() {
        Some([average, p_b]) => Ok((units::number(&average.value)?, units::number(&p_b.value)?)),
        _ => Err(Complaint::new("each point is a pair of numbers")),
    };
    list.iter().map(pair).collect()
}
