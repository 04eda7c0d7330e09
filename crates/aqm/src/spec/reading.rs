use aqmlab_units::{Rate, Span};

use crate::Preset;

use super::{ClassSpec, Limit, LinkContext, ParameterError, Spec, Value};

/// The parameters of a discipline while they are read: what is set or the default, each written down as effective.
pub(crate) struct Reading<'a> {
    spec: &'a Spec,
    /// The link that the queue stands before.
    pub link: LinkContext,
    pub(super) effective: Vec<(String, Value)>,
    pub(super) warnings: Vec<String>,
    pub(super) errors: Vec<ParameterError>,
}

impl<'a> Reading<'a> {
    /// Nothing read yet.
    pub fn new(spec: &'a Spec, link: LinkContext) -> Self {
        Self { spec, link, effective: Vec::new(), warnings: Vec::new(), errors: Vec::new() }
    }

    /// Under which name the discipline is asked for.
    pub fn name(&self) -> &'static str {
        self.spec.preset.name
    }

    /// The preset that is asked for.
    pub fn preset(&self) -> &'static Preset {
        self.spec.preset
    }

    /// The classes of the file.
    pub fn classes(&self) -> &'a [ClassSpec] {
        &self.spec.classes
    }

    /// Writes down what holds for a class.
    pub fn known_of_class(&mut self, class: &str, key: &str, value: Value) {
        self.effective.push((format!("class.{class}.{key}"), value));
    }

    /// Whether the file has this key.
    pub fn is_set(&self, key: &str) -> bool {
        self.spec.set.contains_key(key)
    }

    fn known(&mut self, key: &str, value: Value) {
        self.effective.push((key.to_owned(), value));
    }

    /// A time.
    pub fn time(&mut self, key: &str, default: Span) -> Span {
        let span = self.spec.seconds(key).map_or(default, Span::from_secs);
        self.known(key, Value::Seconds(span.secs()));
        span
    }

    /// A time, or none where the file has this word or nothing.
    pub fn time_or(&mut self, key: &str, word: &str) -> Option<Span> {
        let span = self.spec.seconds(key).map(Span::from_secs);
        let shown = span.map_or_else(|| Value::Word(word.to_owned()), |span| Value::Seconds(span.secs()));
        self.known(key, shown);
        span
    }

    /// A number without a unit.
    pub fn number(&mut self, key: &str, default: f64) -> f64 {
        let number = self.spec.number(key).unwrap_or(default);
        self.known(key, Value::Number(number));
        number
    }

    /// A whole number.
    pub fn integer(&mut self, key: &str, default: u64) -> u64 {
        self.number(key, default as f64) as u64
    }

    /// A number of bytes.
    pub fn bytes(&mut self, key: &str, default: u64) -> u64 {
        let bytes = self.spec.number(key).map_or(default, |b| b as u64);
        self.known(key, Value::Bytes(bytes));
        bytes
    }

    /// A queue length in packets; bytes are divided by `mean_packet` bytes.
    pub fn packets(&mut self, key: &str, default: f64, mean_packet: f64) -> f64 {
        let packets = self.spec.packets(key, mean_packet).unwrap_or(default);
        self.known(key, Value::Packets(packets));
        packets
    }

    /// A yes or no.
    pub fn flag(&mut self, key: &str, default: bool) -> bool {
        let flag = self.spec.flag(key, default);
        self.known(key, Value::Flag(flag));
        flag
    }

    /// One of the words of the parameter, as what it stands for; `words` has them all, the default first.
    pub fn word<T: Copy>(&mut self, key: &str, words: &[(&str, T)]) -> T {
        let set = self.spec.word(key);
        let (name, value) = *words.iter().find(|(name, _)| Some(*name) == set).unwrap_or(&words[0]);
        self.known(key, Value::Word(name.to_owned()));
        value
    }

    /// The word that a parameter with numbers is set to, such as `auto`; nothing is written down.
    pub fn special(&self, key: &str) -> Option<&str> {
        self.spec.word(key)
    }

    /// The size of the buffer.
    pub fn limit(&mut self, default: u32) -> Limit {
        let limit = self.spec.limit(default);
        self.known("limit", limit.into());
        limit
    }

    /// The link's bit rate.
    pub fn rate(&self) -> Rate {
        self.link.rate
    }

    /// Something is allowed but probably not meant.
    pub fn warn(&mut self, text: String) {
        self.warnings.push(text);
    }

    /// Something does not go together.
    pub fn error(&mut self, key: &str, message: String, allowed: &str) {
        self.errors.push(ParameterError { key: key.into(), message, allowed: allowed.into() });
    }
}
