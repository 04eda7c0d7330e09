//! The format of a scenario file: tables of keys, from which the checks, the messages and the JSON schema
//! are all made.

mod full_keys;
mod value;

use std::sync::Arc;

use aqmlab_units::Parameter;

use crate::dscp;
use crate::nearest::{listed, nearest};
use crate::parameter;
use crate::problem::Complaint;
use crate::sizes;
use crate::tree::{Table, Value};
use crate::units;

use value::{bad_choice, bad_distribution, bad_name, bad_packets, bad_size, bad_time, out_of_range};

/// A message names all keys of a table of up to this many.
const MANY: usize = 30;

/// A table with fixed keys.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub doc: &'static str,
    pub keys: Vec<Key>,
    /// The keys of which exactly one says the kind of the table; empty: it has one kind.
    pub selecting: Vec<&'static str>,
    /// Messages for keys that belong elsewhere.
    pub notes: Vec<(&'static str, String)>,
}

/// A key of a table.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub name: &'static str,
    pub kind: Kind,
    pub required: bool,
    /// The value when the key is absent, as JSON; empty: no value, or it depends.
    pub default: String,
    pub doc: String,
}

/// The kind of a value.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// Letters, digits, `_` and `-`: a part of other names.
    Name,
    /// As a name, and also `.`, `:`, `/` and `>`.
    Label,
    /// true or false.
    Flag,
    /// false, in place of a value.
    Off,
    /// A whole number.
    Integer { min: i64, max: i64 },
    /// A finite number.
    Number { min: f64, max: f64 },
    /// A finite number above `min`.
    Above { min: f64, max: f64 },
    /// A bit rate above 0.
    Rate,
    /// A bit rate, or 0 bit/s.
    RateOrZero,
    /// Events per second, above 0.
    Frequency,
    /// A time in picoseconds.
    Time { min: u64, max: u64 },
    /// A number of seconds, or a time in text; at most `max` picoseconds.
    Seconds { max: u64 },
    /// Bytes, with or without unit.
    Bytes { min: u64, max: u64 },
    /// Packets, with or without unit.
    Packets { min: f64, max: f64, whole: bool },
    /// The size of a transfer: packets or bytes, the unit required.
    Size,
    /// One of some words.
    Choice(Vec<&'static str>),
    /// The name of a distribution that was measured, or of a file with one.
    Distribution(&'static [sizes::Named]),
    /// A code point of DiffServ, by name or number.
    Dscp,
    /// A parameter of a queue discipline; its range is the discipline's to check.
    Aqm(&'static Parameter),
    /// A list.
    List(Box<Kind>),
    /// A list of two values.
    Pair(Box<[Kind; 2]>),
    /// A table with fixed keys.
    Table(Arc<Shape>),
    /// `[queue.NAME]`: keys depend on the discipline.
    Queue,
    /// `tcp = { ... }`: keys depend on the profile of the flow.
    Tcp,
    /// A table whose keys are names.
    Map(Box<Kind>),
    /// A table whose keys are prefixes of addresses.
    ByPrefix(Box<Kind>),
    /// `[[name]]`: a list of tables.
    Tables(&'static str, Arc<Shape>),
    /// The first that fits the type of the value.
    Any(Vec<Kind>),
}

impl Key {
    pub fn new(name: &'static str, kind: Kind, doc: impl Into<String>) -> Self {
        Self { name, kind, required: false, default: String::new(), doc: doc.into() }
    }

    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Sets what holds when the key is absent, as JSON.
    pub fn default(mut self, json: &str) -> Self {
        json.clone_into(&mut self.default);
        self
    }
}

impl Shape {
    pub fn new(doc: &'static str, keys: Vec<Key>) -> Self {
        Self { doc, keys, selecting: Vec::new(), notes: Vec::new() }
    }

    pub fn find(&self, name: &str) -> Option<&Key> {
        self.keys.iter().find(|k| k.name == name)
    }

    /// Return the complaint about an unknown key of a table: it suggests the keys of this name in tables inside it, else the nearest.
    pub fn unknown(&self, name: &str, table: &Table) -> Complaint {
        let known = || self.keys.iter().map(|k| k.name);
        let all = known().collect::<Vec<_>>().join(", ");
        let allowed = if self.keys.len() > MANY { listed(known()) } else { all };
        match self.notes.iter().find(|(key, _)| *key == name) {
            Some((_, note)) => Complaint::new(note.as_str()).allowed(allowed),
            None => {
                let near = full_keys::suggestion(self, table, name)
                    .or_else(|| nearest(name, known()).map(str::to_owned));
                Complaint::new("unknown key").allowed(allowed).suggest(near)
            }
        }
    }
}

impl Kind {
    /// Any time.
    pub const ANY_TIME: Self = Self::Time { min: 0, max: u64::MAX };
    /// Any time but none.
    pub const SOME_TIME: Self = Self::Time { min: 1, max: u64::MAX };

    pub fn list(of: Self) -> Self {
        Self::List(Box::new(of))
    }

    /// Whether a value has the type that this kind expects; its content is not checked.
    pub fn fits(&self, value: &Value) -> bool {
        match self {
            Self::Off => *value == Value::Flag(false),
            Self::Flag => matches!(value, Value::Flag(_)),
            Self::Text | Self::Name | Self::Label | Self::Choice(_) | Self::Distribution(_) => {
                matches!(value, Value::Text(_))
            }
            Self::Integer { .. } => matches!(value, Value::Integer(_)),
            Self::Dscp => matches!(value, Value::Text(_) | Value::Integer(_)),
            Self::List(_) | Self::Pair(_) | Self::Tables(..) => matches!(value, Value::List(_)),
            Self::Table(_) | Self::Queue | Self::Tcp | Self::Map(_) | Self::ByPrefix(_) => {
                matches!(value, Value::Table(_))
            }
            Self::Any(kinds) => kinds.iter().any(|k| k.fits(value)),
            Self::Aqm(_) => !matches!(value, Value::Table(_)),
            // Numbers fit too: a missing unit is a better complaint than a wrong type.
            Self::Rate
            | Self::RateOrZero
            | Self::Frequency
            | Self::Time { .. }
            | Self::Seconds { .. }
            | Self::Size
            | Self::Number { .. }
            | Self::Above { .. }
            | Self::Bytes { .. }
            | Self::Packets { .. } => matches!(value, Value::Text(_) | Value::Integer(_) | Value::Real(_)),
        }
    }

    /// Return the expected value, in words.
    pub fn expected(&self) -> String {
        match self {
            Self::Text => "text in quotes".into(),
            Self::Name => "a name of letters, digits, _ and -".into(),
            Self::Label => "a name of letters, digits and _ - . : / >".into(),
            Self::Flag => "true or false".into(),
            Self::Off => "false".into(),
            Self::Integer { min, max } if min == max => min.to_string(),
            Self::Integer { min, max: i64::MAX } => format!("a whole number, at least {min}"),
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Self::Number { min, max } => format!("a number from {min} to {max}"),
            Self::Above { min, max } => format!("a number above {min}, at most {max}"),
            Self::Rate => "a rate above 0 such as \"10Mbps\"".into(),
            Self::RateOrZero => "a rate such as \"10Mbps\", or \"0bps\"".into(),
            Self::Frequency => "a rate of events above 0 such as \"50/s\"".into(),
            Self::Time { min, max } => expected_time(*min, *max),
            Self::Seconds { max } => {
                format!("seconds, or a time such as \"2ms\", from 0 to {} s", seconds(*max))
            }
            Self::Bytes { min, max } => format!("bytes such as \"1000B\", from {min} to {max}"),
            Self::Packets { min, max, whole } => {
                let packets = if *whole { "whole packets" } else { "packets" };
                format!("{packets} such as \"20p\", from {min} to {max}")
            }
            Self::Size => "a size above 0 such as \"1MB\" or \"100p\"".into(),
            Self::Choice(words) => listed(words.iter().copied()),
            Self::Distribution([]) => "a file such as \"times.cdf\"".into(),
            Self::Distribution(names) => {
                format!("{}, or a file such as \"sizes.cdf\"", listed(names.iter().map(|(name, _)| *name)))
            }
            Self::Dscp => dscp::ALLOWED.into(),
            Self::Aqm(parameter) => parameter.allowed(),
            Self::List(kind) => format!("a list, each {}", kind.expected()),
            Self::Pair(kinds) => format!("a pair of {} and {}", kinds[0].expected(), kinds[1].expected()),
            Self::Table(shape) if shape.selecting.is_empty() => {
                format!("a table with {}", listed(shape.keys.iter().map(|k| k.name)))
            }
            Self::Table(shape) => format!("a table with one of {}", listed(shape.selecting.iter().copied())),
            Self::Queue => "a table with aqm and its parameters".into(),
            Self::Tcp => "a table with options of TCP".into(),
            Self::Map(_) => "a table of named tables".into(),
            Self::ByPrefix(kind) => {
                format!("a table by prefix such as \"10.77.1.0/24\", each {}", kind.expected())
            }
            Self::Tables(name, _) => format!("[[{name}]] entries"),
            Self::Any(kinds) => kinds.iter().map(Self::expected).collect::<Vec<_>>().join(", or "),
        }
    }

    /// Whether a value that is no table and no list is as it should be.
    pub fn accepts(&self, value: &Value) -> bool {
        match self {
            Self::Any(kinds) => kinds.iter().any(|k| k.accepts(value)),
            kind => kind.fits(value) && kind.complain(value).is_none(),
        }
    }

    /// Return which of several kinds a value is of: one that accepts it, or the first one of its type.
    pub fn of<'a>(kinds: &'a [Self], value: &Value) -> Option<&'a Self> {
        kinds.iter().find(|k| k.accepts(value)).or_else(|| kinds.iter().find(|k| k.fits(value)))
    }

    /// Return the error in a value that is neither a table nor a list; `None` for those.
    pub fn complain(&self, value: &Value) -> Option<Complaint> {
        let found = match self {
            Self::List(_)
            | Self::Pair(_)
            | Self::Table(_)
            | Self::Queue
            | Self::Tcp
            | Self::Map(_)
            | Self::ByPrefix(_)
            | Self::Tables(..)
            | Self::Any(_) => None,
            _ if !self.fits(value) => match (self, value) {
                (Self::Integer { .. } | Self::Dscp, Value::Real(x)) => Some(units::not_whole(*x)),
                _ => Some(units::wrong_type(value)),
            },
            Self::Text | Self::Flag | Self::Off => None,
            Self::Name => bad_name(value, &['_', '-']),
            Self::Label => bad_name(value, &['_', '-', '.', ':', '/', '>']),
            Self::Integer { min, max } => match value {
                Value::Integer(n) if n < min || n > max => {
                    Some(Complaint::new(format!("{n} is out of range")))
                }
                _ => None,
            },
            Self::Number { min, max } => out_of_range(units::number(value), *min, *max),
            Self::Above { min, max } => match units::number(value) {
                Ok(x) if x == *min => Some(Complaint::new(format!("{x} is out of range"))),
                number => out_of_range(number, *min, *max),
            },
            Self::Rate => units::rate(value).err(),
            Self::RateOrZero => units::rate_or_zero(value).err(),
            Self::Frequency => units::frequency(value).err(),
            Self::Distribution(names) => bad_distribution(value, names),
            Self::Time { min, max } => bad_time(value, *min, *max),
            Self::Seconds { max } => match value {
                Value::Text(_) => bad_time(value, 0, *max),
                _ => out_of_range(units::number(value), 0.0, seconds(*max)),
            },
            Self::Bytes { min, max } => match units::bytes(value, true) {
                Ok(n) if n < *min || n > *max => Some(Complaint::new(format!("{n} is out of range"))),
                other => other.err(),
            },
            Self::Packets { min, max, whole } => bad_packets(value, *min, *max, *whole),
            Self::Size => bad_size(value),
            Self::Choice(words) => bad_choice(value, words),
            Self::Dscp => dscp::value(value).err(),
            Self::Aqm(p) => parameter::read(value, p).err(),
        };
        found.map(|complaint| complaint.or_allowed(|| self.expected()))
    }
}

fn seconds(ps: u64) -> f64 {
    aqmlab_units::Span(ps).secs()
}

fn expected_time(min: u64, max: u64) -> String {
    match (min, max) {
        (0, u64::MAX) => "a time such as \"10ms\"".into(),
        (1, u64::MAX) => "a time above 0 such as \"10ms\"".into(),
        _ => format!("a time such as \"10ms\", from {} to {} s", seconds(min), seconds(max)),
    }
}
