//! Typed access to a table of the file. Invalid values are reported only once.

use aqmlab_transport::Profile;
use aqmlab_units::{Rate, Span, Time};

use crate::dscp;
use crate::live;
use crate::problem::{Complaint, Report};
use crate::queue;
use crate::shape::{Key, Kind, Shape};
use crate::tcp;
use crate::tree::{Entry, Node, Place, Table, Value, text_of};
use crate::units::{self, Amount};

/// Check a value against the kind expected there, and everything inside it.
pub(crate) fn check(node: &Node, path: &str, kind: &Kind, report: &Report<'_>) {
    match (kind, &node.value) {
        (Kind::Any(kinds), value) => match Kind::of(kinds, value) {
            // A misspelt word may belong to another kind.
            Some(words @ (Kind::Choice(_) | Kind::Distribution(_))) => {
                if let Some(complaint) = words.complain(value) {
                    report.error(node.place, path, complaint.allowed(kind.expected()));
                }
            }
            Some(kind) => check(node, path, kind, report),
            None => report.error(node.place, path, units::wrong_type(value).allowed(kind.expected())),
        },
        (Kind::Table(shape), Value::Table(table)) => check_table(table, node.place, path, shape, report),
        (Kind::Queue, Value::Table(table)) => {
            check_table(table, node.place, path, &queue::shape_for(table), report);
        }
        (Kind::Map(inner), Value::Table(table)) => {
            for (name, entry) in table {
                if let Some(complaint) = Kind::Name.complain(&Value::Text(name.clone())) {
                    report.error(entry.key_place, path, complaint);
                }
                check(&entry.node, &join(path, name), inner, report);
            }
        }
        (Kind::ByPrefix(inner), Value::Table(table)) => {
            for (prefix, entry) in table {
                if !live::is_prefix(prefix) {
                    let complaint = Complaint::new(format!("{prefix:?} is not a prefix of addresses"));
                    report.error(
                        entry.key_place,
                        path,
                        complaint.allowed("prefixes such as \"10.77.1.0/24\""),
                    );
                }
                check(&entry.node, &join(path, prefix), inner, report);
            }
        }
        (Kind::Tables(name, shape), Value::List(list)) => {
            for (i, element) in list.iter().enumerate() {
                let path = element_path(path, name, i, element);
                match &element.value {
                    Value::Table(table) => check_table(table, element.place, &path, shape, report),
                    other => {
                        report.error(element.place, path, units::wrong_type(other).allowed(kind.expected()))
                    }
                }
            }
        }
        (Kind::List(inner), Value::List(list)) => {
            for element in list {
                check(element, path, inner, report);
            }
        }
        (Kind::Pair(kinds), Value::List(list)) => {
            for (i, element) in list.iter().enumerate() {
                check(element, path, &kinds[i.min(1)], report);
            }
        }
        (kind, value) => {
            let complaint = kind.complain(value);
            let mismatch = || units::wrong_type(value).allowed(kind.expected());
            if let Some(complaint) = complaint.or_else(|| (!kind.fits(value)).then(mismatch)) {
                report.error(node.place, path, complaint);
            }
        }
    }
}

fn check_table(table: &Table, place: Place, path: &str, shape: &Shape, report: &Report<'_>) {
    for (name, entry) in table {
        match shape.find(name) {
            Some(Key { kind: Kind::Tcp, .. }) => {
                check_tcp(&entry.node, tcp::profile_of(table), &join(path, name), report);
            }
            Some(key) => check(&entry.node, &join(path, name), &key.kind, report),
            None => report.error(entry.key_place, join(path, name), shape.unknown(name, table)),
        }
    }
    let absent = |key: &&Key| !table.contains_key(key.name) && !is_misspelt(table, shape, key.name);
    for key in shape.keys.iter().filter(|k| k.required).filter(absent) {
        report.error(place, join(path, key.name), Complaint::new("is missing").allowed(key.kind.expected()));
    }
}

fn check_tcp(node: &Node, profile: Profile, path: &str, report: &Report<'_>) {
    match &node.value {
        Value::Table(table) => check_table(table, node.place, path, tcp::shape(profile), report),
        other => report.error(node.place, path, units::wrong_type(other).allowed(Kind::Tcp.expected())),
    }
}

/// Whether a key that is not there was probably meant by one that is unknown.
fn is_misspelt(table: &Table, shape: &Shape, key: &str) -> bool {
    let mut unknown = table.keys().filter(|k| shape.find(k).is_none());
    unknown.any(|k| shape.unknown(k, table).suggestion.as_deref() == Some(key))
}

/// `path.key`, with quotes around a key that could be misread.
pub(crate) fn join(path: &str, key: &str) -> String {
    let mut joined = String::with_capacity(path.len() + key.len() + 1);
    joined.push_str(path);
    if !path.is_empty() {
        joined.push('.');
    }
    if key.is_empty() || key.contains(['.', '"']) {
        joined.push_str(&format!("{key:?}"));
    } else {
        joined.push_str(key);
    }
    joined
}

/// Return the name of an entry of `[[list]]` in overrides: its name, the two ends of a link, or the number of a change,
/// counted from 0.
pub(crate) fn element_name(list: &str, index: usize, element: &Node) -> Option<String> {
    let table = element.value.as_table()?;
    let ends = || Some(format!("{}->{}", text_of(table, "from")?, text_of(table, "to")?));
    match list {
        "change" | "backup" => Some(index.to_string()),
        "link" => text_of(table, "name").map(str::to_owned).or_else(ends),
        _ => text_of(table, "name").map(str::to_owned),
    }
}

/// The path of an entry of the list `list`, which stands under `path`.
pub(crate) fn element_path(path: &str, list: &str, index: usize, element: &Node) -> String {
    element_name(list, index, element).map_or_else(|| format!("{path}[{index}]"), |name| join(path, &name))
}

/// A table that was checked, and its place in the file.
#[derive(Clone)]
pub(crate) struct Section<'a> {
    table: &'a Table,
    pub place: Place,
    pub path: String,
    shape: &'a Shape,
    pub report: &'a Report<'a>,
}

impl<'a> Section<'a> {
    pub fn new(table: &'a Table, shape: &'a Shape, report: &'a Report<'a>) -> Self {
        Self { table, place: Place::File(0), path: String::new(), shape, report }
    }

    /// A table that stands elsewhere than at the top.
    pub fn at(
        table: &'a Table,
        place: Place,
        path: String,
        shape: &'a Shape,
        report: &'a Report<'a>,
    ) -> Self {
        Self { table, place, path, shape, report }
    }

    /// The value under a key, valid or not.
    pub fn node(&self, key: &str) -> Option<&'a Node> {
        self.table.get(key).map(|entry| &entry.node)
    }

    /// Whether a key that is not there was probably meant by one that is unknown, which is reported.
    pub fn is_misspelt(&self, key: &str) -> bool {
        is_misspelt(self.table, self.shape, key)
    }

    /// The profile of TCP, of a flow.
    pub fn profile(&self) -> Profile {
        tcp::profile_of(self.table)
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether the key is there.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// The full path of a key.
    pub fn key(&self, key: &str) -> String {
        join(&self.path, key)
    }

    /// Return the place of a key's value, or of the beginning of the table if the key is absent.
    pub fn place_of(&self, key: &str) -> Place {
        self.node(key).map_or(self.place, |n| n.place)
    }

    /// Reports an error in the value of a key.
    pub fn error(&self, key: &str, complaint: Complaint) {
        self.report.error(self.place_of(key), self.key(key), complaint);
    }

    /// Reports a warning about the value of a key.
    pub fn warning(&self, key: &str, complaint: Complaint) {
        self.report.warning(self.place_of(key), self.key(key), complaint);
    }

    /// Reports a key that this table must not have, at the key.
    pub fn refuse(&self, key: &str, complaint: Complaint) {
        if let Some(entry) = self.table.get(key) {
            self.report.error(entry.key_place, self.key(key), complaint);
        }
    }

    /// Reports that a key is missing.
    pub fn missing(&self, key: &str, allowed: impl Into<String>) {
        self.report.error(self.place, self.key(key), Complaint::new("is missing").allowed(allowed));
    }

    /// Return the value under a key if it fits the key's kind.
    pub fn value(&self, key: &str) -> Option<&'a Value> {
        let (value, kind) = (&self.node(key)?.value, &self.shape.find(key)?.kind);
        let kind = match kind {
            Kind::Any(kinds) => Kind::of(kinds, value)?,
            kind => kind,
        };
        (kind.fits(value) && kind.complain(value).is_none()).then_some(value)
    }

    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.value(key)?.as_text()
    }

    pub fn flag(&self, key: &str) -> Option<bool> {
        if let Value::Flag(b) = self.value(key)? { Some(*b) } else { None }
    }

    pub fn integer(&self, key: &str) -> Option<i64> {
        if let Value::Integer(n) = self.value(key)? { Some(*n) } else { None }
    }

    pub fn rate(&self, key: &str) -> Option<Rate> {
        units::rate(self.value(key)?).ok().map(Rate)
    }

    pub fn span(&self, key: &str) -> Option<Span> {
        units::time(self.value(key)?).ok().map(Span)
    }

    pub fn time(&self, key: &str) -> Option<Time> {
        units::time(self.value(key)?).ok().map(Time)
    }

    pub fn bytes(&self, key: &str) -> Option<u64> {
        units::bytes(self.value(key)?, true).ok()
    }

    pub fn number(&self, key: &str) -> Option<f64> {
        units::number(self.value(key)?).ok()
    }

    pub fn dscp(&self, key: &str) -> Option<u8> {
        dscp::value(self.value(key)?).ok()
    }

    pub fn amount(&self, key: &str) -> Option<Amount> {
        units::amount(self.value(key)?).ok()
    }

    /// The elements of a list; an element may still be invalid.
    pub fn list(&self, key: &str) -> Option<&'a [Node]> {
        self.node(key)?.value.as_list()
    }

    /// The table under a key.
    pub fn section(&self, key: &str) -> Option<Self> {
        let node = self.node(key)?;
        let shape = match &self.shape.find(key)?.kind {
            Kind::Tcp => tcp::shape(self.profile()),
            kind => table_shape(kind)?,
        };
        let table = node.value.as_table()?;
        Some(Self { table, place: node.place, path: self.key(key), shape, report: self.report })
    }

    /// The tables of a `[key.NAME]` table with their names.
    pub fn named_sections(&self, key: &str) -> Vec<(&'a str, Self)> {
        let Some(Key { kind: Kind::Map(inner), .. }) = self.shape.find(key) else { return Vec::new() };
        let table = self.node(key).and_then(|node| node.value.as_table());
        let section = |(name, entry): (&'a String, &'a Entry)| {
            let (shape, table) = (table_shape(inner)?, entry.node.value.as_table()?);
            let path = join(&self.key(key), name);
            Some((name.as_str(), Self { table, place: entry.node.place, path, shape, report: self.report }))
        };
        table.into_iter().flatten().filter_map(section).collect()
    }

    /// The tables of a `[[key]]` list.
    pub fn sections(&self, key: &str) -> Vec<Self> {
        let Some(Key { kind: Kind::Tables(_, shape), .. }) = self.shape.find(key) else { return Vec::new() };
        let elements = self.list(key).unwrap_or_default().iter().enumerate();
        let section = |(i, element): (usize, &'a Node)| {
            let path = element_path(&self.key(key), key, i, element);
            let table = element.value.as_table()?;
            Some(Self { table, place: element.place, path, shape, report: self.report })
        };
        elements.filter_map(section).collect()
    }
}

fn table_shape(kind: &Kind) -> Option<&Shape> {
    match kind {
        Kind::Table(shape) => Some(shape),
        Kind::Any(kinds) => kinds.iter().find_map(table_shape),
        _ => None,
    }
}
