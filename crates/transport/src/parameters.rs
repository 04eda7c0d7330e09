//! Declarations of parameters in the tables of the profiles, and the error for a value outside its range.

use core::fmt;

use crate::settings::Setting;
use crate::{Parameter, ValueKind};

/// A parameter that is a number, with its default and its range.
pub(crate) const fn number<C>(
    key: &'static str,
    kind: ValueKind,
    (default, min, max): (&'static str, f64, f64),
    doc: &'static str,
    source: &'static str,
) -> Setting<C> {
    Setting::new(Parameter::new(key, "", kind, doc).default(default).from(min).to(max).source(source))
}

/// A parameter that is a whole number, with its default and its range.
pub(crate) const fn whole<C>(
    key: &'static str,
    kind: ValueKind,
    range: (&'static str, f64, f64),
    doc: &'static str,
    source: &'static str,
) -> Setting<C> {
    Setting::new(number::<C>(key, kind, range, doc, source).parameter.whole())
}

/// A parameter that is a length of time, with its default and its range in seconds.
pub(crate) const fn time<C>(
    key: &'static str,
    range: (&'static str, f64, f64),
    doc: &'static str,
    source: &'static str,
) -> Setting<C> {
    number(key, ValueKind::Time, range, doc, source)
}

/// A parameter that is a length of time or `false`.
pub(crate) const fn time_or_off<C>(
    key: &'static str,
    range: (&'static str, f64, f64),
    doc: &'static str,
    source: &'static str,
) -> Setting<C> {
    Setting::new(time::<C>(key, range, doc, source).parameter.or_off())
}

/// A parameter that is on or off.
pub(crate) const fn flag<C>(
    key: &'static str,
    default: &'static str,
    doc: &'static str,
    source: &'static str,
) -> Setting<C> {
    Setting::new(Parameter::new(key, "", ValueKind::Flag, doc).default(default).source(source))
}

/// A parameter that is one of some words.
pub(crate) const fn choice<C>(
    key: &'static str,
    default: &'static str,
    choices: &'static [&'static str],
    doc: &'static str,
    source: &'static str,
) -> Setting<C> {
    let parameter = Parameter::new(key, "", ValueKind::Choice, doc);
    Setting::new(parameter.default(default).or(choices).source(source))
}

/// A parameter that is on, off, or one of some words.
pub(crate) const fn flag_or_choice<C>(
    key: &'static str,
    default: &'static str,
    choices: &'static [&'static str],
    doc: &'static str,
    source: &'static str,
) -> Setting<C> {
    Setting::new(flag::<C>(key, default, doc, source).parameter.or(choices))
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
        let (key, unit) = (self.parameter.key, self.parameter.unit());
        let space = if unit.is_empty() { "" } else { " " };
        write!(f, "{key} is {}{space}{unit}, allowed: {}", self.value, self.parameter.range_text())
    }
}

impl core::error::Error for InvalidParameter {}
