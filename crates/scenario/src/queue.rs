//! `[queue.NAME]`: a discipline and its parameters.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use aqmlab_aqm::{LinkContext, PRESETS, Parameter, Preset, Resolved, Spec, Unit};
use aqmlab_units::{Rate, Span};

use crate::nearest::{listed, nearest};
use crate::problem::{Complaint, Report};
use crate::section::{Section, join};
use crate::shape::{Key, Kind, Shape};
use crate::tree::{Node, Place, Table, Value, text_of};
use crate::units::{self, Amount};

/// Name of the queue that exists without being written down, and that links have unless they say otherwise.
pub(crate) const DEFAULT: &str = "default";
/// The discipline of a queue that names none.
pub(crate) const DEFAULT_AQM: &str = "drop-tail";

/// The link that a queue is checked for when it stands before none: 10 Mbit/s and 10 ms.
pub(crate) const NOMINAL: LinkContext = LinkContext { rate: Rate(10_000_000), delay: Span::from_millis(10) };

/// Number of a queue in [`Queues`].
pub(crate) type QueueId = usize;

fn aqm_key() -> Key {
    let words = PRESETS.iter().map(|p| p.name).collect();
    Key::new("aqm", Kind::Choice(words), "The discipline.").default("\"drop-tail\"")
}

fn shape_of(parameters: impl Iterator<Item = &'static Parameter>) -> Shape {
    let mut keys = vec![aqm_key()];
    for p in parameters {
        if !keys.iter().any(|k| k.name == p.key) {
            keys.push(Key::new(p.key, Kind::Aqm(p), sentence(p)));
        }
    }
    Shape::new("A queue: a discipline and its parameters.", keys)
}

fn sentence(p: &Parameter) -> String {
    let mut text = p.doc.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    match p.source {
        "" => format!("{text}."),
        source => format!("{text} ({source})."),
    }
}

/// Every key that a queue may have under some discipline.
pub(crate) fn shape() -> Shape {
    shape_of(PRESETS.iter().flat_map(Preset::parameters))
}

/// The keys of a queue with the discipline that this table names; all there are when it names none that exists.
pub(crate) fn shape_for(table: &Table) -> Shape {
    let (name, by_default) = match table.contains_key("aqm") {
        true => (text_of(table, "aqm"), ""),
        false => (Some(DEFAULT_AQM), ", the default aqm,"),
    };
    let Some(preset) = name.and_then(Preset::find) else { return shape() };
    let mut own = shape_of(preset.parameters().iter());
    let others = shape().keys.into_iter().map(|k| k.name).filter(|name| own.find(name).is_none());
    let note = |key| (key, format!("{}{by_default} has no parameter {key}", preset.name));
    own.notes = others.map(note).collect();
    own
}

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
        (Unit::Bytes, Value::Text(_) | Value::Integer(_) | Value::Real(_)) => {
            units::bytes(value, true).map(aqmlab_aqm::Value::Bytes)
        }
        (Unit::Number, Value::Text(_) | Value::Integer(_) | Value::Real(_)) => {
            units::number(value).map(aqmlab_aqm::Value::Number)
        }
        (Unit::Flag, Value::Flag(b)) => Ok(aqmlab_aqm::Value::Flag(*b)),
        (Unit::Points, Value::List(list)) => points(list).map(aqmlab_aqm::Value::Points),
        (_, Value::Text(word)) => Err(Complaint::new(format!("{word:?} is not known"))),
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

struct Queue {
    name: String,
    path: String,
    place: Place,
    /// Place of every key that is set.
    keys: BTreeMap<String, Place>,
    /// `None`: something in it is wrong already.
    spec: Option<Spec>,
    /// Whether a parameter is left to the link.
    automatic: bool,
    used: Cell<bool>,
    resolved: Cell<bool>,
}

/// A queue as all links of one rate and delay have it.
type Shared = Arc<Resolved>;

/// The queues of a file, and what they come to before each link.
pub(crate) struct Queues<'a> {
    queues: Vec<Queue>,
    /// Per queue and link; `None`: not valid, which is reported.
    known: RefCell<BTreeMap<(QueueId, Rate, Span), Option<Shared>>>,
    report: &'a Report<'a>,
}

impl<'a> Queues<'a> {
    /// The queues of the file.
    pub fn read(file: &Section<'a>) -> Self {
        let mut queues = Vec::new();
        let table = file.node("queue").and_then(|n| n.value.as_table());
        for (name, entry) in table.into_iter().flatten() {
            let Some(body) = entry.node.value.as_table() else { continue };
            let path = join(&file.key("queue"), name);
            queues.push(Queue::read(name, body, entry.node.place, &path, file.report));
        }
        if !queues.iter().any(|q| q.name == DEFAULT) {
            let mut queue = Queue::read(DEFAULT, &Table::new(), Place::File(0), "queue.default", file.report);
            // It is not the user's, so nobody minds whether it is used.
            queue.used = Cell::new(true);
            queues.push(queue);
        }
        Self { queues, known: RefCell::default(), report: file.report }
    }

    /// The queue that `key` names, or the default one. What is no queue is reported.
    pub fn named_by(&self, section: &Section<'_>, key: &str) -> Option<QueueId> {
        let name = if section.has(key) { section.text(key)? } else { DEFAULT };
        let found = self.queues.iter().position(|q| q.name == name);
        match found {
            Some(id) => self.queues[id].used.set(true),
            None => {
                let names = || self.queues.iter().map(|q| q.name.as_str());
                let complaint = Complaint::new(format!("there is no queue {name:?}"));
                section.error(key, complaint.allowed(listed(names())).suggest(nearest(name, names())));
            }
        }
        found
    }

    /// The queue's name.
    pub fn name(&self, id: QueueId) -> &str {
        &self.queues[id].name
    }

    /// The name of its discipline.
    pub fn aqm(&self, id: QueueId) -> &'static str {
        self.queues[id].spec.as_ref().map_or(DEFAULT_AQM, |spec| spec.preset().name)
    }

    /// The queue before a link of this rate and delay. What is wrong is reported, once.
    pub fn before_link(&self, id: QueueId, rate: Rate, delay: Span) -> Option<Shared> {
        let mut known = self.known.borrow_mut();
        let make = || {
            let queue = &self.queues[id];
            queue.resolved.set(true);
            queue.resolve(LinkContext { rate, delay }, self.report).map(Arc::new)
        };
        known.entry((id, rate, delay)).or_insert_with(make).clone()
    }

    /// Reports unused queues, and what is wrong with queues that no valid link has.
    pub fn finish(&self) {
        for queue in &self.queues {
            if !queue.resolved.get() && !queue.automatic {
                queue.resolve(NOMINAL, self.report);
            }
            if queue.used.get() {
                continue;
            }
            let complaint = Complaint::new("is not the queue of any link");
            match queue.place {
                Place::File(_) => self.report.warning(queue.place, queue.path.as_str(), complaint),
                // An override makes a queue only by mistake.
                Place::Set(_) => {
                    let others = || self.queues.iter().filter(|q| q.used.get()).map(|q| q.name.as_str());
                    let complaint =
                        complaint.allowed(listed(others())).suggest(nearest(&queue.name, others()));
                    self.report.error(queue.place, queue.path.as_str(), complaint);
                }
            }
        }
    }
}

impl Queue {
    fn read(name: &str, body: &Table, place: Place, path: &str, report: &Report<'_>) -> Self {
        let aqm = if body.contains_key("aqm") { text_of(body, "aqm") } else { Some(DEFAULT_AQM) };
        let mut spec = aqm.and_then(Spec::new);
        let mut valid = spec.is_some();
        let mut automatic = false;
        for (key, entry) in body.iter().filter(|(key, _)| *key != "aqm") {
            let Some(spec) = spec.as_mut() else { break };
            let Some(parameter) = spec.preset().parameters().iter().find(|p| p.key == key) else {
                valid = false;
                continue;
            };
            let Ok(value) = parameter_value(&entry.node.value, parameter) else {
                valid = false;
                continue;
            };
            automatic |= matches!(&value, aqmlab_aqm::Value::Word(w) if w.starts_with("auto"));
            if let Err(e) = spec.set(key, value) {
                valid = false;
                report.error(entry.node.place, join(path, key), Complaint::new(e.message).allowed(e.allowed));
            }
        }
        let keys = body.iter().map(|(key, entry)| (key.clone(), entry.node.place)).collect();
        let spec = spec.filter(|_| valid);
        let (used, resolved) = (Cell::new(false), Cell::new(false));
        Self { name: name.to_owned(), path: path.to_owned(), place, keys, spec, automatic, used, resolved }
    }

    fn resolve(&self, link: LinkContext, report: &Report<'_>) -> Option<Resolved> {
        let place = |key: &str| self.keys.get(key).copied().unwrap_or(self.place);
        let path = self.path.as_str();
        match self.spec.as_ref()?.resolve(link) {
            Ok(resolved) => {
                for warning in &resolved.warnings {
                    report.warning(self.place, path, Complaint::new(warning.as_str()));
                }
                Some(resolved)
            }
            Err(errors) => {
                for e in errors {
                    let complaint = Complaint::new(e.message).allowed(e.allowed);
                    report.error(place(&e.key), join(path, &e.key), complaint);
                }
                None
            }
        }
    }
}

/// A queue by itself, as the body of a `[queue.NAME]` table.
pub(crate) fn alone(body: &Table, link: LinkContext, report: &Report<'_>) -> Option<Resolved> {
    Queue::read("", body, Place::File(0), "", report).resolve(link, report)
}
