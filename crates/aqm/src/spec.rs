//! From the words of a scenario file to a discipline: parse, then build.

mod linux;
mod parameter_reader;
mod resolve;

use std::collections::BTreeMap;

use aqmlab_units::{Rate, Span};

pub(crate) use parameter_reader::ParameterReader;
#[cfg(feature = "red")]
pub use resolve::RedParts;
#[cfg(feature = "schedulers")]
pub(crate) use resolve::{CodePoints, code_points};
pub use resolve::{Limit, Resolved};

use crate::{LEVELS, Parameter, Preset, ValueKind};

/// The link that a queue feeds; automatic parameters depend on it.
#[derive(Clone, Copy, Debug)]
pub struct LinkContext {
    /// Bit rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
}

/// A parameter's value with its unit.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number without a unit; where packets are expected, packets.
    Number(f64),
    /// Packets.
    Packets(f64),
    /// Bytes.
    Bytes(u64),
    /// A time in seconds.
    Seconds(f64),
    /// A bit rate.
    Rate(Rate),
    /// A word.
    Word(String),
    /// true or false.
    Flag(bool),
    /// [average, p_b] pairs.
    Points(Vec<(f64, f64)>),
    /// Bytes for each priority level, from level 1.
    BytesByLevel(Vec<u64>),
}

impl core::fmt::Display for Value {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Number(x) => write!(f, "{x}"),
            Self::Packets(x) => write!(f, "{x}p"),
            Self::Bytes(b) => write!(f, "{b}B"),
            Self::Seconds(s) => write!(f, "{s}s"),
            Self::Rate(rate) => write!(f, "{}bps", rate.0),
            Self::Word(w) => write!(f, "{w}"),
            Self::Flag(b) => write!(f, "{b}"),
            Self::Points(p) => write!(f, "{p:?}"),
            Self::BytesByLevel(levels) => {
                let sizes: Vec<_> = levels.iter().map(|b| format!("{b}B")).collect();
                write!(f, "{sizes:?}")
            }
        }
    }
}

/// An error in a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterError {
    /// Its key.
    pub key: String,
    /// The error.
    pub message: String,
    /// The allowed values.
    pub allowed: String,
}

impl From<ParameterError> for Vec<ParameterError> {
    fn from(error: ParameterError) -> Self {
        vec![error]
    }
}

impl ParameterError {
    /// An error about the parameter with this key.
    pub fn new(key: &str, message: String, allowed: &str) -> Self {
        Self { key: key.into(), message, allowed: allowed.into() }
    }
}

/// A preset and the parameters that the user set. Relations between parameters are not validated yet.
#[derive(Clone, Debug)]
pub struct Spec {
    preset: &'static Preset,
    set: BTreeMap<&'static str, Value>,
    classes: Vec<ClassSpec>,
}

/// A class of packets and the parameters that it has of its own; the first class is the most precious.
#[derive(Clone, Debug)]
pub struct ClassSpec {
    preset: &'static Preset,
    /// Its name.
    pub name: String,
    /// The code points of its packets, 0 to 63.
    pub dscp: Vec<u8>,
    /// Whether packets with a code point of no class belong to it.
    pub default: bool,
    /// The child queue, for a class of a scheduler.
    pub queue: Option<Spec>,
    set: BTreeMap<&'static str, Value>,
}

impl ClassSpec {
    /// A class of this name, of a queue with this discipline, without code points.
    pub fn new(preset: &'static Preset, name: &str) -> Self {
        let (dscp, set) = (Vec::new(), BTreeMap::new());
        Self { preset, name: name.into(), dscp, default: false, queue: None, set }
    }

    /// Return the value that is set for a parameter, if it is a number.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        match self.set.get(key) {
            Some(Value::Number(x)) => Some(*x),
            _ => None,
        }
    }

    /// Its code points in words, with `default` where it is.
    pub(crate) fn code_points(&self) -> String {
        let mut words: Vec<_> = self.dscp.iter().map(u8::to_string).collect();
        words.extend(self.default.then(|| "default".to_owned()));
        words.join(" ")
    }

    /// Sets a parameter, as [`Spec::set`] does.
    ///
    /// # Errors
    /// If a class has no such parameter, or the value has the wrong unit or is out of range.
    pub fn set(&mut self, key: &str, value: Value) -> Result<(), ParameterError> {
        let Some(parameter) = self.preset.class_parameters().find(|p| p.key == key) else {
            let keys: Vec<_> = self.preset.class_parameters().map(|p| p.key).collect();
            let message = format!("a class has no parameter \"{key}\"");
            return Err(ParameterError { key: key.into(), message, allowed: keys.join(", ") });
        };
        if let Value::Word(word) = &value {
            let message = format!("\"{word}\" is not allowed in a class");
            return Err(ParameterError {
                key: key.into(),
                message,
                allowed: "a number with its unit".into(),
            });
        }
        if let Err(message) = check(parameter, &value) {
            return Err(ParameterError { key: key.into(), message, allowed: parameter.allowed() });
        }
        self.set.insert(parameter.key, value);
        Ok(())
    }
}

impl Spec {
    /// The preset of this name with nothing set.
    pub fn new(preset: &str) -> Option<Self> {
        Some(Self { preset: Preset::find(preset)?, set: BTreeMap::new(), classes: Vec::new() })
    }

    /// The preset.
    pub fn preset(&self) -> &'static Preset {
        self.preset
    }

    /// Add a class. If the preset has classes of all these names, each class overrides the settings of its namesake;
    /// otherwise they replace the preset's classes. An error in a setting of a class has the key `class.NAME.KEY`.
    pub fn class(&mut self, class: ClassSpec) {
        self.classes.push(class);
    }

    /// Set the child queue of a class of a scheduler; the class must have been added.
    pub fn class_queue(&mut self, class: &str, queue: &Self) {
        for named in self.classes.iter_mut().filter(|c| c.name == class) {
            named.queue = Some(queue.clone());
        }
    }

    /// Whether the discipline can have classes.
    pub fn has_classes(&self) -> bool {
        self.preset.has_classes()
    }

    /// Sets a parameter; its own unit and range are checked here.
    ///
    /// # Errors
    /// If there is no such parameter, or the value has the wrong unit or is out of range.
    pub fn set(&mut self, key: &str, value: Value) -> Result<(), ParameterError> {
        let Some(parameter) = self.preset.parameters().iter().find(|p| p.key == key) else {
            let keys = self.preset.parameters().iter().map(|p| p.key).collect::<Vec<_>>().join(", ");
            let message = format!("{} has no parameter \"{key}\"", self.preset.name);
            return Err(ParameterError { key: key.into(), message, allowed: keys });
        };
        if let Err(message) = check(parameter, &value) {
            return Err(ParameterError { key: key.into(), message, allowed: parameter.allowed() });
        }
        self.set.insert(parameter.key, value);
        Ok(())
    }
}

/// The longest time that a parameter may be, in seconds: added to the end of the longest run it is still a time.
const LONGEST_S: f64 = 30.0 * 86_400.0;

/// Unit and range of a single value.
fn check(parameter: &Parameter, value: &Value) -> Result<(), String> {
    let word_fits = |w: &String| parameter.choices.contains(&w.as_str());
    let is_whole_where_needed = |x: f64| !parameter.is_whole || x.fract() == 0.0;
    let fits = match (parameter.kind, value) {
        (_, Value::Word(w)) => {
            return if word_fits(w) { Ok(()) } else { Err(format!("\"{w}\" is not allowed")) };
        }
        (ValueKind::Packets | ValueKind::PacketsOrBytes, Value::Number(x) | Value::Packets(x)) => {
            parameter.admits(*x)
        }
        (ValueKind::PacketsOrBytes | ValueKind::Bytes | ValueKind::BytesByLevel, Value::Bytes(b)) => {
            parameter.admits(*b as f64)
        }
        (ValueKind::Bytes | ValueKind::BytesByLevel, Value::Number(x)) => parameter.admits(*x),
        (ValueKind::BytesByLevel, Value::BytesByLevel(levels)) => {
            (1..=LEVELS).contains(&levels.len()) && levels.iter().all(|b| parameter.admits(*b as f64))
        }
        (ValueKind::Number, Value::Number(x)) => is_whole_where_needed(*x) && parameter.admits(*x),
        (ValueKind::Time, Value::Seconds(s)) if *s > LONGEST_S => {
            return Err(format!("{value} is longer than 30 days, the longest time of a queue"));
        }
        (ValueKind::Time, Value::Seconds(s)) => parameter.admits(*s),
        (ValueKind::Rate, Value::Rate(rate)) => rate.0 > 0 && parameter.admits(rate.bps()),
        (ValueKind::Flag, Value::Flag(_)) => true,
        (ValueKind::Points, Value::Points(points)) => return check_points(points),
        _ => return Err(format!("{value} has the wrong type")),
    };
    if fits { Ok(()) } else { Err(format!("{value} is out of range")) }
}

fn check_points(points: &[(f64, f64)]) -> Result<(), String> {
    if points.len() < 2 {
        return Err("at least two points are needed".into());
    }
    let ordered = points.windows(2).all(|w| w[0].0 <= w[1].0 && w[0].1 <= w[1].1);
    let inside = points.iter().all(|&(x, p)| x >= 0.0 && x.is_finite() && (0.0..=1.0).contains(&p));
    if ordered && inside { Ok(()) } else { Err("the points are out of order or out of range".into()) }
}
