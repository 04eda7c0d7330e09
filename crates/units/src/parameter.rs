//! The description of a parameter: of a queue discipline, of a connection or of a link.

use crate::{Rate, Span};

/// The highest priority level of a flow; level 0 is no priority.
pub const LEVELS: usize = 8;

/// The kind of a parameter's value, and its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Packets (`30p`).
    Packets,
    /// Packets (`30p`) or bytes (`30KB`).
    PacketsOrBytes,
    /// A whole number of bytes (`1000B`).
    Bytes,
    /// Bytes, or a list of them: one for each priority level, from level 1.
    BytesByLevel,
    /// A length of time (`360ms`); bounds are in seconds.
    Time,
    /// A bit rate above 0 (`10Mbps`).
    Rate,
    /// A number without a unit.
    Number,
    /// `true` or `false`.
    Flag,
    /// One of [`Parameter::choices`].
    Choice,
    /// A list of [average in packets, p_b] pairs.
    Points,
    /// Any text.
    Text,
    /// A list of whole numbers, or the name of a file with them.
    Numbers,
}

/// The value of a parameter in its unit.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValue<'a> {
    /// true or false.
    Flag(bool),
    /// One of [`Parameter::choices`].
    Word(&'a str),
    /// Any text.
    Text(&'a str),
    /// A number without a unit.
    Number(f64),
    /// Packets.
    Packets(f64),
    /// Bytes.
    Bytes(u64),
    /// Bytes for each priority level, from level 1.
    BytesByLevel(Vec<u64>),
    /// A length of time.
    Time(Span),
    /// A bit rate.
    Rate(Rate),
    /// Pairs of numbers.
    Points(Vec<(f64, f64)>),
    /// Whole numbers.
    Numbers(Vec<u64>),
}

/// A parameter of a queue discipline, of a connection or of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// The key in a scenario file.
    pub key: &'static str,
    /// The symbol in the literature; empty: none.
    pub symbol: &'static str,
    /// The kind of its value.
    pub kind: ValueKind,
    /// Whether a number of packets, or one without a unit, must be whole.
    pub is_whole: bool,
    /// Whether `false` is allowed in place of a value.
    pub can_be_off: bool,
    /// The default, as written in a scenario file or in words; empty: it depends on the discipline.
    pub default: &'static str,
    /// The smallest value, and whether it is itself allowed.
    pub min: Option<(f64, bool)>,
    /// The largest value, and whether it is itself allowed.
    pub max: Option<(f64, bool)>,
    /// The allowed words, in place of or besides another value.
    pub choices: &'static [&'static str],
    /// A description of its effect.
    pub doc: &'static str,
    /// Where it, or its default, comes from; empty: not known.
    pub source: &'static str,
}

impl Parameter {
    /// Return a parameter without bounds, default and source.
    pub const fn new(key: &'static str, symbol: &'static str, kind: ValueKind, doc: &'static str) -> Self {
        Self {
            key,
            symbol,
            kind,
            is_whole: false,
            can_be_off: false,
            default: "",
            min: None,
            max: None,
            choices: &[],
            doc,
            source: "",
        }
    }

    /// Require a whole number.
    #[must_use]
    pub const fn whole(mut self) -> Self {
        self.is_whole = true;
        self
    }

    /// Allow `false` in place of a value.
    #[must_use]
    pub const fn or_off(mut self) -> Self {
        self.can_be_off = true;
        self
    }

    /// Set the default, as written in a scenario file or in words.
    #[must_use]
    pub const fn default(mut self, default: &'static str) -> Self {
        self.default = default;
        self
    }

    /// Allow only values above `min`.
    #[must_use]
    pub const fn above(mut self, min: f64) -> Self {
        self.min = Some((min, false));
        self
    }

    /// Allow only `min` and values above it.
    #[must_use]
    pub const fn from(mut self, min: f64) -> Self {
        self.min = Some((min, true));
        self
    }

    /// Allow only `max` and values below it.
    #[must_use]
    pub const fn to(mut self, max: f64) -> Self {
        self.max = Some((max, true));
        self
    }

    /// Allow only values below `max`.
    #[must_use]
    pub const fn below(mut self, max: f64) -> Self {
        self.max = Some((max, false));
        self
    }

    /// Allow these words.
    #[must_use]
    pub const fn or(mut self, choices: &'static [&'static str]) -> Self {
        self.choices = choices;
        self
    }

    /// Set where the parameter, or its default, comes from.
    #[must_use]
    pub const fn source(mut self, source: &'static str) -> Self {
        self.source = source;
        self
    }

    /// Return the unit of bounds and of numbers without one; empty: none.
    pub const fn unit(&self) -> &'static str {
        match self.kind {
            ValueKind::Packets | ValueKind::PacketsOrBytes => "packets",
            ValueKind::Bytes | ValueKind::BytesByLevel => "B",
            ValueKind::Time => "s",
            ValueKind::Rate => "bit/s",
            ValueKind::Number
            | ValueKind::Flag
            | ValueKind::Choice
            | ValueKind::Points
            | ValueKind::Text
            | ValueKind::Numbers => "",
        }
    }

    /// Return whether `x` is in the range; NaN never is.
    pub fn admits(&self, x: f64) -> bool {
        let above = self.min.is_none_or(|(lo, closed)| x > lo || (closed && x == lo));
        let below = self.max.is_none_or(|(hi, closed)| x < hi || (closed && x == hi));
        above && below && !x.is_nan()
    }

    /// Return the allowed values: an inequality, how the value is written, and the words.
    pub fn allowed(&self) -> String {
        let mut parts = Vec::new();
        match (self.min, self.max) {
            (Some((lo, closed)), Some((hi, top))) => {
                let (a, b) = (if closed { "<=" } else { "<" }, if top { "<=" } else { "<" });
                parts.push(format!("{lo} {a} x {b} {hi}"));
            }
            (Some((lo, true)), None) => parts.push(format!("at least {lo}")),
            (Some((lo, false)), None) => parts.push(format!("above {lo}")),
            (None, Some((hi, _))) => parts.push(format!("at most {hi}")),
            (None, None) => {}
        }
        parts.extend(self.notation());
        if !self.choices.is_empty() {
            let words = self.choices.iter().map(|c| format!("\"{c}\"")).collect::<Vec<_>>().join(", ");
            let besides = if self.kind == ValueKind::Choice { "one of" } else { "or" };
            parts.push(format!("{besides} {words}"));
        }
        parts.join(", ")
    }

    /// Return how a value is written, in words; `None` for plain numbers and words.
    fn notation(&self) -> Option<String> {
        let text = match self.kind {
            ValueKind::Packets => "in packets (\"30p\")",
            ValueKind::PacketsOrBytes if self.is_whole => "in packets (\"100p\") or bytes (\"64KB\")",
            ValueKind::PacketsOrBytes => "in packets (\"30p\") or bytes (\"30KB\")",
            ValueKind::Bytes => "in bytes (\"1000B\")",
            ValueKind::BytesByLevel => {
                return Some(format!(
                    "in bytes (\"1000B\"), or a list of 1 to {LEVELS} such, one for each level"
                ));
            }
            ValueKind::Time => "a time such as \"360ms\"",
            ValueKind::Rate => "a rate such as \"10Mbps\"",
            ValueKind::Number if self.is_whole => "a whole number",
            ValueKind::Flag => "true or false",
            ValueKind::Points => "a list of [average, p_b] pairs, both not falling, p_b in [0, 1]",
            ValueKind::Text => "text in quotes",
            ValueKind::Numbers => "a list of whole numbers, or the name of a file with them",
            ValueKind::Number | ValueKind::Choice => return None,
        };
        Some(text.to_owned())
    }

    /// Return the range with its unit, or the words, without how a value is written.
    pub fn range_text(&self) -> String {
        let unit = if self.unit().is_empty() { String::new() } else { format!(" {}", self.unit()) };
        let words = self.choices.join(", ");
        match (self.kind, self.min, self.max) {
            (ValueKind::Flag, ..) if self.choices.is_empty() => "true or false".to_owned(),
            (ValueKind::Flag, ..) => format!("true, false, {words}"),
            (ValueKind::Choice, ..) => words,
            (_, Some((min, _)), Some((max, _))) => format!("{min} to {max}{unit}"),
            (_, Some((min, _)), None) => format!("at least {min}{unit}"),
            (_, None, Some((max, _))) => format!("at most {max}{unit}"),
            (_, None, None) => "any number".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARE: Parameter = Parameter::new("share", "", ValueKind::Number, "share").above(0.0).to(1.0);
    const LIMIT: Parameter =
        Parameter::new("limit", "", ValueKind::PacketsOrBytes, "limit").from(1.0).whole();

    #[test]
    fn ranges_have_open_and_closed_ends() {
        assert!(SHARE.admits(1.0) && !SHARE.admits(0.0) && !SHARE.admits(1.1));
        assert!(!SHARE.admits(f64::NAN) && !Parameter::new("x", "", ValueKind::Number, "").admits(f64::NAN));
    }

    #[test]
    fn ranges_in_words() {
        let word = Parameter::new("mode", "", ValueKind::Choice, "").or(&["packets", "bytes"]);
        let flag = Parameter::new("ecn", "", ValueKind::Flag, "");
        assert_eq!(SHARE.allowed(), "0 < x <= 1");
        assert_eq!(LIMIT.allowed(), "at least 1, in packets (\"100p\") or bytes (\"64KB\")");
        assert_eq!(word.allowed(), "one of \"packets\", \"bytes\"");
        assert_eq!(SHARE.range_text(), "0 to 1");
        assert_eq!(LIMIT.range_text(), "at least 1 packets");
        assert_eq!(word.range_text(), "packets, bytes");
        assert_eq!(flag.or(&["off"]).range_text(), "true, false, off");
        assert_eq!([flag.allowed(), flag.range_text()], ["true or false", "true or false"]);
    }
}
