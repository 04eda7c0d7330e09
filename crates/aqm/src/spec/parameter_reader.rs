use aqmlab_units::{Rate, Span};

use crate::Preset;

use super::{ClassSpec, Limit, LinkContext, ParameterError, Spec, Value};

/// Reads the parameters of a discipline, each set or default, and records the effective values.
pub(crate) struct ParameterReader<'a> {
    spec: &'a Spec,
    /// The link that the queue feeds.
    pub link: LinkContext,
    pub(super) effective: Vec<(String, Value)>,
    pub(super) warnings: Vec<String>,
    pub(super) errors: Vec<ParameterError>,
}

impl<'a> ParameterReader<'a> {
    /// Create a reader of a specification.
    pub fn new(spec: &'a Spec, link: LinkContext) -> Self {
        Self { spec, link, effective: Vec::new(), warnings: Vec::new(), errors: Vec::new() }
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

    /// Return whether the queue computes in integers.
    pub fn in_integers(&self) -> bool {
        self.spec.in_integers()
    }

    /// Return whether the file sets this key.
    pub fn is_set(&self, key: &str) -> bool {
        self.spec.set.contains_key(key)
    }

    fn known(&mut self, key: &str, value: Value) {
        self.effective.push((key.to_owned(), value));
    }

    /// Read a time.
    pub fn time(&mut self, key: &str, default: Span) -> Span {
        let span = self.spec.seconds(key).map_or(default, Span::from_secs);
        self.known(key, Value::Seconds(span.secs()));
        span
    }

    /// Read a time; `None` if the file has this word or nothing.
    pub fn time_or(&mut self, key: &str, word: &str) -> Option<Span> {
        let span = self.spec.seconds(key).map(Span::from_secs);
        let shown = span.map_or_else(|| Value::Word(word.to_owned()), |span| Value::Seconds(span.secs()));
        self.known(key, shown);
        span
    }

    /// Read a time in seconds, which need not be a whole number of picoseconds.
    pub fn seconds(&mut self, key: &str, default: f64) -> f64 {
        let seconds = self.spec.seconds(key).unwrap_or(default);
        self.known(key, Value::Seconds(seconds));
        seconds
    }

    /// Read a time in seconds, which need not be a whole number of picoseconds; `None` if the file has this word or nothing.
    pub fn seconds_or(&mut self, key: &str, word: &str) -> Option<f64> {
        let seconds = self.spec.seconds(key);
        self.known(key, seconds.map_or_else(|| Value::Word(word.to_owned()), Value::Seconds));
        seconds
    }

    /// Read a number without unit.
    pub fn number(&mut self, key: &str, default: f64) -> f64 {
        let number = self.spec.number(key).unwrap_or(default);
        self.known(key, Value::Number(number));
        number
    }

    /// Read an integer.
    pub fn integer(&mut self, key: &str, default: u64) -> u64 {
        self.number(key, default as f64) as u64
    }

    /// Read an integer; `None` if the file has this word.
    pub fn integer_or(&mut self, key: &str, default: u64, word: &str) -> Option<u64> {
        if self.spec.word(key).is_some() {
            self.known(key, Value::Word(word.to_owned()));
            return None;
        }
        Some(self.integer(key, default))
    }

    /// Read a number of bytes.
    pub fn bytes(&mut self, key: &str, default: u64) -> u64 {
        let bytes = self.spec.number(key).map_or(default, |b| b as u64);
        self.known(key, Value::Bytes(bytes));
        bytes
    }

    /// Read a number of bytes that need not be whole.
    pub fn size(&mut self, key: &str, default: f64) -> f64 {
        let bytes = self.spec.number(key).unwrap_or(default);
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
        let packets = self.spec.packets(key, mean_packet).unwrap_or(default);
        self.known(key, Value::Packets(packets));
        packets
    }

    /// Read a flag.
    pub fn flag(&mut self, key: &str, default: bool) -> bool {
        let flag = self.spec.flag(key, default);
        self.known(key, Value::Flag(flag));
        flag
    }

    /// Read a word and return its value; `words` lists all words with their values, the default first.
    pub fn word<T: Copy>(&mut self, key: &str, words: &[(&str, T)]) -> T {
        let set = self.spec.word(key);
        let (name, value) = *words.iter().find(|(name, _)| Some(*name) == set).unwrap_or(&words[0]);
        self.known(key, Value::Word(name.to_owned()));
        value
    }

    /// Return the points to which a parameter is set, without recording them.
    pub fn points(&self, key: &str) -> Option<&'a [(f64, f64)]> {
        match self.spec.set.get(key) {
            Some(Value::Points(points)) => Some(points),
            _ => None,
        }
    }

    /// Return the word to which a numeric parameter is set, such as `auto`, without recording it.
    pub fn special(&self, key: &str) -> Option<&str> {
        self.spec.word(key)
    }

    /// Read the buffer size.
    pub fn limit(&mut self, default: u32) -> Limit {
        let limit = self.spec.limit(default);
        self.known("limit", limit.into());
        limit
    }

    /// Return the bit rate of the link.
    pub fn rate(&self) -> Rate {
        self.link.rate
    }

    /// Add a warning: allowed, but probably not intended.
    pub fn warn(&mut self, text: String) {
        self.warnings.push(text);
    }

    /// Add an error about parameters that contradict each other.
    pub fn error(&mut self, key: &str, message: String, allowed: &str) {
        self.errors.push(ParameterError { key: key.into(), message, allowed: allowed.into() });
    }
}
