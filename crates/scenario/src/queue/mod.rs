//! `[queue.NAME]`: a discipline and its parameters.

mod child_queue;
mod class;
mod keys;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use aqmlab_aqm::plugin::Definition;
use aqmlab_aqm::{LinkContext, Resolved, Spec};
use aqmlab_netsim::plan::Line;
use aqmlab_units::{Rate, Span};

use crate::nearest::{listed, nearest};
use crate::parameter;
use crate::problem::{Complaint, Report};
use crate::section::{Section, join};
use crate::tree::{Place, Table, text_of};

pub(crate) use class::{EffectiveClass, effective as effective_classes};
pub(crate) use keys::{keys_of, shape, shape_for};

/// Name of the queue that is defined by default, and that links have by default.
pub(crate) const DEFAULT: &str = "default";
/// The discipline of a queue that names none.
pub(crate) const DEFAULT_AQM: &str = "drop-tail";

/// The link for which an unused queue is checked: 10 Mbit/s and 10 ms.
pub(crate) const NOMINAL: LinkContext = LinkContext { rate: Rate(10_000_000), delay: Span::from_millis(10) };

/// Number of a queue in [`Queues`].
pub(crate) type QueueId = usize;

struct Queue {
    name: String,
    path: String,
    place: Place,
    /// Place of every key that is set; of a class `class.NAME`, of its keys `class.NAME.KEY`.
    keys: BTreeMap<String, Place>,
    /// `None`: something in it is wrong already.
    spec: Option<Spec>,
    /// Whether a parameter is left to the link.
    automatic: bool,
    used: Cell<bool>,
    resolved: Cell<bool>,
    /// Class and name of each child queue.
    child_queues: Vec<(String, String)>,
    /// Indices of the child queues, if all are valid.
    children: Vec<QueueId>,
    /// It is the child queue of a class of another queue, which reports its errors.
    is_child: bool,
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
            // It is not defined by the user, so give no warning if it is not used.
            queue.used = Cell::new(true);
            queues.push(queue);
        }
        child_queue::connect(&mut queues, file.report);
        Self { queues, known: RefCell::default(), report: file.report }
    }

    /// The queue that `key` names, or the default one. What is no queue is reported.
    pub fn named_by(&self, section: &Section<'_>, key: &str) -> Option<QueueId> {
        let name = if section.has(key) { section.text(key)? } else { DEFAULT };
        let found = self.queues.iter().position(|q| q.name == name);
        match found {
            Some(id) => self.uses(id),
            None => {
                let names = || self.names();
                let complaint = Complaint::new(format!("unknown queue {name:?}"));
                section.error(key, complaint.allowed(listed(names())).suggest(nearest(name, names())));
            }
        }
        found
    }

    /// Mark a queue and its child queues as used.
    fn uses(&self, id: QueueId) {
        if !self.queues[id].used.replace(true) {
            self.queues[id].children.iter().for_each(|&child| self.uses(child));
        }
    }

    /// The queue's name.
    pub fn name(&self, id: QueueId) -> &str {
        &self.queues[id].name
    }

    /// The names of all, by their numbers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.queues.iter().map(|queue| queue.name.as_str())
    }

    /// The queue before a link with this server and channel. Each error is reported once.
    pub fn before_link(&self, id: QueueId, line: &Line) -> Option<Shared> {
        let mut known = self.known.borrow_mut();
        let link = line.context();
        let make = || {
            let queue = &self.queues[id];
            queue.resolved.set(true);
            queue.resolve(link, self.report).map(Arc::new)
        };
        known.entry((id, link.rate, link.delay)).or_insert_with(make).clone()
    }

    /// Return the definitions of the plugins among them.
    pub fn definitions(&self) -> impl Iterator<Item = &'static Definition> {
        self.queues.iter().filter_map(|queue| queue.spec.as_ref()?.preset().definition())
    }

    /// Report unused queues, and errors in queues that no valid link has.
    pub fn finish(&self) {
        for queue in &self.queues {
            if !queue.resolved.get() && !queue.automatic && !queue.is_child {
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
                    self.report.error_of_table(queue.place, &queue.path, complaint);
                }
            }
        }
    }
}

impl Queue {
    fn read(name: &str, body: &Table, place: Place, path: &str, report: &Report<'_>) -> Self {
        let aqm = if body.contains_key("aqm") { text_of(body, "aqm") } else { Some(DEFAULT_AQM) };
        let keys = body.iter().map(|(key, entry)| (key.clone(), entry.node.place)).collect();
        let spec = aqm.and_then(Spec::new);
        let valid = spec.is_some();
        let mut reader = Reader { valid, keys, automatic: false, child_queues: Vec::new(), path, report };
        let spec = spec.map(|mut spec| {
            reader.parameters(&mut spec, body);
            if spec.has_classes() && body.contains_key(class::KEY) {
                reader.classes(&mut spec, body, place);
            }
            spec
        });
        let Reader { valid, keys, automatic, child_queues, .. } = reader;
        let spec = spec.filter(|_| valid);
        let (used, resolved) = (Cell::new(false), Cell::new(false));
        Self {
            name: name.to_owned(),
            path: path.to_owned(),
            place,
            keys,
            spec,
            automatic,
            used,
            resolved,
            child_queues,
            children: Vec::new(),
            is_child: false,
        }
    }

    fn resolve(&self, link: LinkContext, report: &Report<'_>) -> Option<Resolved> {
        // The place of a key, or of the narrowest table that has one.
        let place = |key: &str| {
            let mut prefixes =
                std::iter::successors(Some(key), |k| k.rsplit_once('.').map(|(table, _)| table));
            prefixes.find_map(|key| self.keys.get(key)).copied().unwrap_or(self.place)
        };
        let path = self.path.as_str();
        match self.spec.as_ref()?.resolve(link) {
            Ok(resolved) => {
                for warning in &resolved.warnings {
                    // A warning begins with the key that it is about.
                    let key = warning.split([' ', ',']).next().unwrap_or_default();
                    report.warning(place(key), path, Complaint::new(warning.as_str()));
                }
                Some(resolved)
            }
            Err(errors) => {
                for e in errors {
                    let complaint = Complaint::new(e.message).allowed(e.allowed);
                    let key = e.key.split('.').fold(path.to_owned(), |path, key| join(&path, key));
                    report.error(place(&e.key), key, complaint);
                }
                None
            }
        }
    }
}

/// A queue while it is read.
struct Reader<'a> {
    valid: bool,
    keys: BTreeMap<String, Place>,
    automatic: bool,
    child_queues: Vec<(String, String)>,
    path: &'a str,
    report: &'a Report<'a>,
}

impl Reader<'_> {
    fn parameters(&mut self, spec: &mut Spec, body: &Table) {
        for (key, entry) in body.iter().filter(|(key, _)| !["aqm", class::KEY].contains(&key.as_str())) {
            let parameter = spec.preset().parameters().iter().find(|p| p.key == key);
            let value = parameter
                .and_then(|p| parameter::read(&entry.node.value, p).ok())
                .and_then(parameter::of_discipline);
            // An unknown key or invalid value has been reported.
            let Some(value) = value else {
                self.valid = false;
                continue;
            };
            self.automatic |= is_automatic(&value);
            if let Err(e) = spec.set(key, value) {
                self.valid = false;
                let complaint = Complaint::new(e.message).allowed(e.allowed);
                self.report.error(entry.node.place, join(self.path, key), complaint);
            }
        }
    }

    fn classes(&mut self, spec: &mut Spec, body: &Table, place: Place) {
        let shape = keys::shape_of([spec.preset()].into_iter());
        let section = Section::at(body, place, self.path.to_owned(), &shape, self.report);
        let classes = class::read(&section, spec.preset(), &class::of_preset(spec.preset()));
        self.valid &= classes.is_some();
        for class in classes.into_iter().flatten() {
            self.automatic |= class.automatic;
            self.keys.extend(class.places);
            self.child_queues.extend(class.queue.map(|queue| (class.spec.name.clone(), queue)));
            spec.class(class.spec);
        }
    }
}

/// Whether a value is left to the link.
fn is_automatic(value: &aqmlab_aqm::Value) -> bool {
    matches!(value, aqmlab_aqm::Value::Word(word) if word.starts_with("auto"))
}

/// Return the discipline and the settings of a queue of a checked file; `None` if it has child queues, or the file does not have it.
pub(crate) fn spec_of(file: &Table, name: &str) -> Option<Spec> {
    let body = file.get("queue")?.node.value.as_table()?.get(name)?.node.value.as_table()?;
    let queue = Queue::read(name, body, Place::File(0), "", &Report::new("queue", ""));
    queue.spec.filter(|_| queue.child_queues.is_empty())
}

/// Resolve one queue outside a scenario, given the body of its `[queue.NAME]` table.
pub(crate) fn resolve_one(body: &Table, link: LinkContext, report: &Report<'_>) -> Option<Resolved> {
    Queue::read("", body, Place::File(0), "", report).resolve(link, report)
}
