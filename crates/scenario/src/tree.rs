//! The input as a tree of values, each with its place.

use std::collections::BTreeMap;

use toml_span::value::ValueInner;
use toml_span::{Error, ErrorKind};

use crate::problem::{Complaint, Report};

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// In the file, at this byte.
    File(usize),
    /// In the override of this number.
    Set(usize),
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Real(f64),
    Flag(bool),
    List(Vec<Node>),
    Table(Table),
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub value: Value,
    pub place: Place,
}

/// A key's place and its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub key_place: Place,
    pub node: Node,
}

/// A table, sorted by key.
pub(crate) type Table = BTreeMap<String, Entry>;

impl Value {
    /// Return the name of its type in words.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Integer(_) => "a whole number",
            Self::Real(_) => "a number",
            Self::Flag(true) => "true",
            Self::Flag(false) => "false",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub fn as_table(&self) -> Option<&Table> {
        if let Self::Table(table) = self { Some(table) } else { None }
    }

    pub fn as_list(&self) -> Option<&[Node]> {
        if let Self::List(list) = self { Some(list) } else { None }
    }
}

/// The text under a key, if it is text.
pub(crate) fn text_of<'a>(table: &'a Table, key: &str) -> Option<&'a str> {
    table.get(key)?.node.value.as_text()
}

/// Where a carriage return stands that no line feed follows. TOML has none; the parser takes it for a blank.
fn bare_carriage_return(text: &str) -> Option<usize> {
    text.match_indices('\r').map(|(at, _)| at).find(|at| !text[at + 1..].starts_with('\n'))
}

/// Read TOML; report text that is not TOML.
pub(crate) fn read(text: &str, report: &Report<'_>) -> Option<Table> {
    if let Some(at) = bare_carriage_return(text) {
        let complaint = Complaint::new("not TOML: a carriage return without a line feed");
        report.error(Place::File(at), "", complaint.allowed("lines that end with LF or CR LF"));
        return None;
    }
    match toml_span::parse(text) {
        Ok(mut root) => {
            match convert(root.take(), &|start, quoted| Place::File(at_quote(text, start, quoted))) {
                Value::Table(table) => Some(table),
                _ => None,
            }
        }
        Err(error) => {
            let place = Place::File(error.span.start);
            report.error(place, "", complaint(&error, report));
            None
        }
    }
}

/// Reads the value of an override: TOML if it is, text otherwise.
pub(crate) fn read_override(text: &str, place: Place) -> Node {
    let line = format!("value = {text}");
    let value = toml_span::parse(&line).ok().and_then(|mut root| match convert(root.take(), &|_, _| place) {
        Value::Table(mut table) if table.len() == 1 => table.remove("value").map(|entry| entry.node.value),
        _ => None,
    });
    Node { value: value.unwrap_or_else(|| Value::Text(text.to_owned())), place }
}

/// The start of a string's span lies behind its quotes; people look at the quote.
fn at_quote(text: &str, start: usize, quoted: bool) -> usize {
    let quotes = text.as_bytes()[..start.min(text.len())].iter().rev();
    if quoted { start - quotes.take_while(|&&b| b == b'"' || b == b'\'').count() } else { start }
}

fn convert(value: ValueInner<'_>, place: &impl Fn(usize, bool) -> Place) -> Value {
    let node = |mut v: toml_span::Value<'_>| {
        let (start, inner) = (v.span.start, v.take());
        let quoted = matches!(&inner, ValueInner::String(s) if !s.is_empty());
        Node { value: convert(inner, place), place: place(start, quoted) }
    };
    match value {
        ValueInner::String(s) => Value::Text(s.into_owned()),
        ValueInner::Integer(i) => Value::Integer(i),
        ValueInner::Float(x) => Value::Real(x),
        ValueInner::Boolean(b) => Value::Flag(b),
        ValueInner::Array(list) => Value::List(list.into_iter().map(node).collect()),
        ValueInner::Table(table) => {
            let entry = |(key, v): (toml_span::value::Key<'_>, toml_span::Value<'_>)| {
                let key_place = place(key.span.start, false);
                (key.name.into_owned(), Entry { key_place, node: node(v) })
            };
            Value::Table(table.into_iter().map(entry).collect())
        }
    }
}

fn complaint(error: &Error, report: &Report<'_>) -> Complaint {
    let first_at = |span: toml_span::Span| report.line_of(Place::File(span.start));
    match &error.kind {
        ErrorKind::InvalidNumber | ErrorKind::UnquotedString => {
            Complaint::new("not TOML: neither a number nor text in quotes")
                .allowed("0.5, true, or text and values with a unit in quotes such as \"10Mbps\"")
        }
        ErrorKind::DuplicateKey { key, first } => {
            Complaint::new(format!("not TOML: \"{key}\" is set twice, first on {}", first_at(*first)))
        }
        ErrorKind::DuplicateTable { name, first } => {
            Complaint::new(format!("not TOML: table \"{name}\" stands twice, first on {}", first_at(*first)))
        }
        ErrorKind::InvalidCharInString('\n') | ErrorKind::UnterminatedString => {
            Complaint::new("not TOML: the text has no closing quote")
        }
        ErrorKind::UnexpectedEof => Complaint::new("not TOML: the file ends in the middle of a value"),
        ErrorKind::Wanted { expected, found: "eof" } => {
            Complaint::new(format!("not TOML: expected {expected}, found the end of the file"))
        }
        _ => Complaint::new(format!("not TOML: {error}")),
    }
}

/// Reads a table written as a JSON object, or as TOML.
pub(crate) fn read_json_or_toml(text: &str, report: &Report<'_>) -> Option<Table> {
    if !text.trim_start().starts_with('{') {
        return read(text, report);
    }
    match serde_json::from_str(text) {
        Ok(json) => match from_json(json) {
            Some(Value::Table(table)) => Some(table),
            _ => None,
        },
        Err(error) => {
            let start =
                text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
            let place = Place::File(start + error.column().saturating_sub(1));
            report.error(place, "", Complaint::new("not JSON").allowed("a JSON object, or TOML"));
            None
        }
    }
}

/// A JSON value without places; `None` for null, which is as good as absent.
fn from_json(json: serde_json::Value) -> Option<Value> {
    let place = Place::File(0);
    let node = |json| from_json(json).map(|value| Node { value, place });
    Some(match json {
        serde_json::Value::Null => return None,
        serde_json::Value::Bool(b) => Value::Flag(b),
        serde_json::Value::Number(n) => {
            n.as_i64().map_or(Value::Real(n.as_f64().unwrap_or(f64::NAN)), Value::Integer)
        }
        serde_json::Value::String(s) => Value::Text(s),
        serde_json::Value::Array(list) => Value::List(list.into_iter().filter_map(node).collect()),
        serde_json::Value::Object(map) => {
            let entry = |(key, json)| Some((key, Entry { key_place: place, node: node(json)? }));
            Value::Table(map.into_iter().filter_map(entry).collect())
        }
    })
}
