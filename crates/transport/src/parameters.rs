//! The registry of the TCP parameters: one table for each profile, for documentation, schema and range checks.

use core::fmt;

/// What sort of value a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number, in the parameter's unit.
    Integer,
    /// A real number, in the parameter's unit.
    Real,
    /// A length of time; bounds are in seconds.
    Time,
    /// A length of time or `false`; bounds are in seconds.
    TimeOrOff,
    /// `true` or `false`.
    Flag,
    /// One of [`Parameter::choices`].
    Choice,
    /// `true`, `false`, or one of [`Parameter::choices`].
    FlagOrChoice,
}

/// One parameter of a TCP connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Key in the `tcp = {...}` table of a scenario file; field of the profile's configuration, except for `profile`
    /// and for ns-2's `clock_offset`, which each sender has its own of.
    pub key: &'static str,
    /// Sort of value.
    pub kind: Kind,
    /// Unit of the bounds and of bare numbers; empty: none.
    pub unit: &'static str,
    /// Default, as written in a scenario file or in words.
    pub default: &'static str,
    /// Least allowed value.
    pub min: Option<f64>,
    /// Greatest allowed value.
    pub max: Option<f64>,
    /// Allowed values of a choice.
    pub choices: &'static [&'static str],
    /// What it does, in a sentence.
    pub doc: &'static str,
    /// Where the default comes from.
    pub source: &'static str,
}

impl Parameter {
    /// Whether a number is in the range; NaN never is.
    pub fn allows(&self, value: f64) -> bool {
        !value.is_nan() && self.min.is_none_or(|m| value >= m) && self.max.is_none_or(|m| value <= m)
    }

    /// The range or the choices, for messages.
    pub fn range_text(&self) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        match (self.kind, self.min, self.max) {
            (Kind::Flag, ..) => "true or false".to_owned(),
            (Kind::Choice, ..) => self.choices.join(", "),
            (Kind::FlagOrChoice, ..) => format!("true, false, {}", self.choices.join(", ")),
            (_, Some(min), Some(max)) => format!("{min} to {max}{unit}"),
            (_, Some(min), None) => format!("at least {min}{unit}"),
            (_, None, Some(max)) => format!("at most {max}{unit}"),
            (_, None, None) => "any number".to_owned(),
        }
    }
}

/// A parameter that is a number or a time, with its default and its range.
pub(crate) const fn number(
    key: &'static str,
    kind: Kind,
    unit: &'static str,
    (default, min, max): (&'static str, f64, f64),
    doc: &'static str,
    source: &'static str,
) -> Parameter {
    Parameter { key, kind, unit, default, min: Some(min), max: Some(max), choices: &[], doc, source }
}

/// A parameter that is on or off.
pub(crate) const fn flag(
    key: &'static str,
    default: &'static str,
    doc: &'static str,
    source: &'static str,
) -> Parameter {
    Parameter { key, kind: Kind::Flag, unit: "", default, min: None, max: None, choices: &[], doc, source }
}

/// A parameter that is one of some words.
pub(crate) const fn choice(
    key: &'static str,
    default: &'static str,
    choices: &'static [&'static str],
    doc: &'static str,
    source: &'static str,
) -> Parameter {
    Parameter { kind: Kind::Choice, choices, ..flag(key, default, doc, source) }
}

/// A value outside its range.
#[derive(Clone, Copy, Debug)]
pub struct InvalidParameter {
    /// The parameter, with the range that holds.
    pub parameter: &'static Parameter,
    /// The value, in the parameter's unit.
    pub value: f64,
}

impl fmt::Display for InvalidParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parameter { key, unit, .. } = self.parameter;
        let space = if unit.is_empty() { "" } else { " " };
        write!(f, "{key} is {}{space}{unit}, allowed: {}", self.value, self.parameter.range_text())
    }
}

impl core::error::Error for InvalidParameter {}
