use aqmlab_units::{Rate, Span};

use super::{ClassSpec, Limit, LinkContext, ParameterError, Spec, Value};
use crate::red::DialectName;
#[cfg(feature = "red")]
use crate::red::parameters::{ARITHMETIC_WORDS, ArithmeticWord};
use crate::{Preset, name_of, value_of};

/// Reads the parameters of a discipline, each set or default, and records the effective values.
pub(crate) struct ParameterReader<'a> {
    spec: &'a Spec,
    /// The link that the queue feeds.
    pub link: LinkContext,
    pub(super) effective: Vec<(String, Value)>,
    pub(super) warnings: Vec<String>,
    pub(super) without_effect: Vec<&'static str>,
    pub(super) errors: Vec<ParameterError>,
}

impl<'a> ParameterReader<'a> {
    /// Create a reader of a specification.
    pub fn new(spec: &'a Spec, link: LinkContext) -> Self {
        Self {
            spec,
            link,
            effective: Vec::new(),
            warnings: Vec::new(),
            without_effect: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Return the name of the discipline in the scenario file.
    pub fn name(&self) -> &'static str {
        self.spec.preset.name
    }

    /// Return the preset of the specification.
    pub fn preset(&self) -> &'static Preset {
        self.spec.preset
    }

    /// The classes of the file.
    pub fn classes(&self) -> &'a [ClassSpec] {
        &self.spec.classes
    }

    /// Record the effective value of a parameter of a class.
    pub fn known_of_class(&mut self, class: &str, key: &str, value: Value) {
        self.effective.push((format!("class.{class}.{key}"), value));
    }

    /// Return whether the queue computes in the integers of a generated module.
    #[cfg(feature = "red")]
    pub fn in_integers(&self) -> bool {
        self.value("arithmetic", &ARITHMETIC_WORDS) == Some(ArithmeticWord::Integer)
    }

    /// Return the dialect that the file names.
    pub fn dialect_name(&self) -> Option<DialectName> {
        self.value("dialect", &DialectName::ALL)
    }

    /// Return whether the file sets this key.
    pub fn is_set(&self, key: &str) -> bool {
        self.spec.set.contains_key(key)
    }

    /// Record the effective value of a parameter.
    pub fn known(&mut self, key: &str, value: Value) {
        self.effective.push((key.to_owned(), value));
    }

    /// Read a time.
    pub fn time(&mut self, key: &str, default: Span) -> Span {
        let span = self.set_seconds(key).map_or(default, Span::from_secs);
        self.known(key, Value::Seconds(span.secs()));
        span
    }

    /// Read a time; `None` if the file has this word or nothing.
    pub fn time_or(&mut self, key: &str, word: &str) -> Option<Span> {
        let span = self.set_seconds(key).map(Span::from_secs);
        let shown = span.map_or_else(|| Value::Word(word.to_owned()), |span| Value::Seconds(span.secs()));
        self.known(key, shown);
        span
    }

    /// Read a time in seconds, which need not be a whole number of picoseconds.
    pub fn seconds(&mut self, key: &str, default: f64) -> f64 {
        let seconds = self.set_seconds(key).unwrap_or(default);
        self.known(key, Value::Seconds(seconds));
        seconds
    }

    /// Read a time in seconds, which need not be a whole number of picoseconds; `None` if the file has this word or nothing.
    pub fn seconds_or(&mut self, key: &str, word: &str) -> Option<f64> {
        let seconds = self.set_seconds(key);
        self.known(key, seconds.map_or_else(|| Value::Word(word.to_owned()), Value::Seconds));
        seconds
    }

    /// Read a number without unit.
    pub fn number(&mut self, key: &str, default: f64) -> f64 {
        let number = self.set_number(key).unwrap_or(default);
        self.known(key, Value::Number(number));
        number
    }

    /// Read an integer.
    pub fn integer(&mut self, key: &str, default: u64) -> u64 {
        self.number(key, default as f64) as u64
    }

    /// Read an integer; `None` if the file has this word.
    pub fn integer_or(&mut self, key: &str, default: u64, word: &str) -> Option<u64> {
        if self.special(key).is_some() {
            self.known(key, Value::Word(word.to_owned()));
            return None;
        }
        Some(self.integer(key, default))
    }

    /// Read a bit rate; `None` if the file has this word or nothing.
    pub fn rate_or(&mut self, key: &str, word: &str) -> Option<Rate> {
        let rate = match self.spec.set.get(key) {
            Some(Value::Rate(rate)) => Some(*rate),
            _ => None,
        };
        self.known(key, rate.map_or_else(|| Value::Word(word.to_owned()), Value::Rate));
        rate
    }

    /// Read a number of bytes.
    pub fn bytes(&mut self, key: &str, default: u64) -> u64 {
        let bytes = self.set_number(key).map_or(default, |b| b as u64);
        self.known(key, Value::Bytes(bytes));
        bytes
    }

    /// Read a number of bytes with a default; `None` is this word.
    pub fn bytes_or(&mut self, key: &str, default: Option<u64>, word: &str) -> Option<u64> {
        let bytes = match self.set_number(key) {
            Some(bytes) => Some(bytes as u64),
            None => default.filter(|_| self.special(key).is_none()),
        };
        self.known(key, bytes.map_or_else(|| Value::Word(word.to_owned()), Value::Bytes));
        bytes
    }

    /// Read a bit rate.
    pub fn rate_with(&mut self, key: &str, default: Rate) -> Rate {
        let rate = match self.spec.set.get(key) {
            Some(Value::Rate(rate)) => *rate,
            _ => default,
        };
        self.known(key, Value::Rate(rate));
        rate
    }

    /// Read a number of bytes that need not be whole.
    pub fn size(&mut self, key: &str, default: f64) -> f64 {
        let bytes = self.set_number(key).unwrap_or(default);
        self.known(key, Value::Bytes(bytes as u64));
        bytes
    }

    /// Read a number of bytes, or one for each priority level.
    pub fn sizes_by_level(&mut self, key: &str, default: f64) -> Vec<f64> {
        let Some(Value::BytesByLevel(levels)) = self.spec.set.get(key) else {
            return vec![self.size(key, default)];
        };
        self.known(key, Value::BytesByLevel(levels.clone()));
        levels.iter().map(|&bytes| bytes as f64).collect()
    }

    /// Read a queue length in packets; bytes are divided by `mean_packet` bytes.
    pub fn packets(&mut self, key: &str, default: f64, mean_packet: f64) -> f64 {
        let packets = self.set_packets(key, mean_packet).unwrap_or(default);
        self.known(key, Value::Packets(packets));
        packets
    }

    /// Read a flag.
    pub fn flag(&mut self, key: &str, default: bool) -> bool {
        let flag = match self.spec.set.get(key) {
            Some(Value::Flag(flag)) => *flag,
            _ => default,
        };
        self.known(key, Value::Flag(flag));
        flag
    }

    /// Return whether a flag is set, without recording it.
    pub fn is_on(&self, key: &str) -> bool {
        self.spec.set.get(key) == Some(&Value::Flag(true))
    }

    /// Read a word and return its value; `words` lists all words with their values, the default first.
    pub fn word<T: Copy + PartialEq>(&mut self, key: &str, words: &[(&'static str, T)]) -> T {
        self.word_or(key, words, words[0].1)
    }

    /// Read a word and return its value, else a default; `words` lists all words with their values.
    pub fn word_or<T: Copy + PartialEq>(&mut self, key: &str, words: &[(&'static str, T)], default: T) -> T {
        let value = self.value(key, words).unwrap_or(default);
        self.known(key, Value::Word(name_of(words, &value).to_owned()));
        value
    }

    /// Return the value of the word to which a parameter is set, without recording it.
    pub fn value<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Option<T> {
        value_of(words, self.special(key)?)
    }

    /// Return the points to which a parameter is set, without recording them.
    pub fn points(&self, key: &str) -> Option<&'a [(f64, f64)]> {
        match self.spec.set.get(key) {
            Some(Value::Points(points)) => Some(points),
            _ => None,
        }
    }

    /// Return the word to which a numeric parameter is set, such as `auto`, without recording it.
    pub fn special(&self, key: &str) -> Option<&'a str> {
        match self.spec.set.get(key) {
            Some(Value::Word(word)) => Some(word),
            _ => None,
        }
    }

    fn set_seconds(&self, key: &str) -> Option<f64> {
        match self.spec.set.get(key) {
            Some(Value::Seconds(s)) => Some(*s),
            _ => None,
        }
    }

    /// Return the number to which a parameter is set, without recording it.
    pub fn set_number(&self, key: &str) -> Option<f64> {
        match self.spec.set.get(key) {
            Some(Value::Number(x)) => Some(*x),
            Some(Value::Bytes(b)) => Some(*b as f64),
            _ => None,
        }
    }

    /// Return the queue length in packets to which a parameter is set, without recording it; bytes are divided by
    /// `mean_packet` bytes.
    pub fn set_packets(&self, key: &str, mean_packet: f64) -> Option<f64> {
        packets(self.spec.set.get(key)?, mean_packet)
    }

    /// Return the buffer size, without recording it.
    pub fn set_limit(&self, default: u32) -> Limit {
        match self.spec.set.get("limit") {
            Some(Value::Number(x) | Value::Packets(x)) => Limit::Packets(x.min(f64::from(u32::MAX)) as u32),
            Some(Value::Bytes(b)) => Limit::Bytes(*b),
            _ => Limit::Packets(default),
        }
    }

    /// Read the buffer size.
    pub fn limit(&mut self, default: u32) -> Limit {
        let limit = self.set_limit(default);
        self.known("limit", limit.into());
        limit
    }

    /// Return the value that the file sets.
    pub(super) fn set_value(&self, key: &str) -> Option<&'a Value> {
        self.spec.set.get(key)
    }

    /// Return the value that the file sets, unless it is known to have no effect: one warning says that.
    pub(super) fn effective_setting(&self, key: &str) -> Option<&'a Value> {
        self.set_value(key).filter(|_| !self.without_effect.contains(&key))
    }

    /// Return whether the file sets a length in bytes.
    pub fn is_in_bytes(&self, key: &str) -> bool {
        matches!(self.set_value(key), Some(Value::Bytes(_)))
    }

    /// Return the bit rate of the link.
    pub fn rate(&self) -> Rate {
        self.link.rate
    }

    /// Add a warning: allowed, but probably not intended.
    pub fn warn(&mut self, text: String) {
        self.warnings.push(text);
    }

    /// Record parameters that have no effect for the reason given, and add a warning for each one that the file sets. A flag
    /// that is off is no mistake.
    pub fn warn_without_effect(&mut self, keys: &[&'static str], reason: &str) {
        let is_off = |key: &str| matches!(self.spec.set.get(key), Some(Value::Flag(false)));
        let set = keys.iter().filter(|key| self.effective_setting(key).is_some() && !is_off(key));
        let found = set.map(|key| format!("{key} has no effect {reason}")).collect::<Vec<_>>();
        self.without_effect.extend(keys);
        self.warnings.extend(found);
    }

    /// Add an error about parameters that contradict each other.
    pub fn error(&mut self, key: &str, message: String, allowed: &str) {
        self.errors.push(ParameterError { key: key.into(), message, allowed: allowed.into() });
    }
}

/// Return a queue length in packets; bytes are divided by `mean_packet` bytes.
pub(super) fn packets(value: &Value, mean_packet: f64) -> Option<f64> {
    match value {
        Value::Number(x) | Value::Packets(x) => Some(*x),
        Value::Bytes(b) => Some(*b as f64 / mean_packet),
        _ => None,
    }
}
