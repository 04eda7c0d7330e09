//! Overrides: `path=value`, applied to the file before anything is checked.
//!
//! A path is the keys from the top, with dots between them; entries of `[[flow]]` and `[[link]]` go by their name
//! (a link without one by `from->to`), those of `[[change]]` by their number from 0, classes of a queue by
//! `queue.NAME.class.CLASS`. A key that holds a dot stands in double quotes. The value is TOML if it
//! parses, and text otherwise, so that `45p` needs no quotes.

use crate::nearest::{listed, nearest};
use crate::problem::{Complaint, Report};
use crate::section::element_name;
use crate::tree::{Entry, Node, Place, Table, Value, read_override};

/// Deepest path; no key of a scenario lies deeper.
const MAX_DEPTH: usize = 8;

/// Applies the overrides to the file, in their order; what cannot be applied is reported.
pub(crate) fn apply(root: &mut Table, overrides: &[(String, String)], report: &Report<'_>) {
    for (number, (path, value)) in overrides.iter().enumerate() {
        let place = Place::Set(number);
        let done =
            match segments(path) {
                Some(segments) => set(root, &segments, read_override(value, place)),
                None => Err(Complaint::new("is not a path")
                    .allowed("keys with dots between them, such as run.duration")),
            };
        if let Err(complaint) = done {
            report.error(place, path.as_str(), complaint);
        }
    }
}

/// Split a path into its segments; return `None` if it is malformed.
fn segments(path: &str) -> Option<Vec<String>> {
    let mut segments = Vec::new();
    let mut rest = path.trim();
    loop {
        let (segment, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => rest.split_at(rest.find('.').unwrap_or(rest.len())),
        };
        if segment.is_empty() || segments.len() == MAX_DEPTH {
            return None;
        }
        segments.push(segment.to_owned());
        match after.strip_prefix('.') {
            Some(more) => rest = more,
            None => return after.is_empty().then_some(segments),
        }
    }
}

fn set(root: &mut Table, path: &[String], node: Node) -> Result<(), Complaint> {
    let Some((last, parents)) = path.split_last() else { return Ok(()) };
    let place = node.place;
    let mut table = root;
    let mut at = 0;
    while let Some(key) = parents.get(at) {
        let inside = &parents[..at];
        if inside == ["marker"] && !table.contains_key(key) {
            return Err(none_of_this_name("marker", key, table.keys().map(String::as_str)));
        }
        // A class of the discipline's own need not stand in the file.
        let is_class = key == "class" && matches!(inside, [queue, _] if queue == "queue");
        if is_class && !table.contains_key(key) && at + 1 == parents.len() {
            return Err(one_of_many(&[], key));
        }
        let empty = || if is_class { Value::List(Vec::new()) } else { Value::Table(Table::new()) };
        let entry = table
            .entry(key.clone())
            .or_insert_with(|| Entry { key_place: place, node: Node { value: empty(), place } });
        at += 1;
        table = match &mut entry.node.value {
            Value::Table(inner) => inner,
            Value::List(list) => {
                let Some(name) = parents.get(at) else { return Err(one_of_many(list, key)) };
                at += 1;
                if is_class && !element_names(list, key).contains(name) {
                    list.push(named(name, place));
                }
                element(list, key, name)?
            }
            other => {
                return Err(Complaint::new(format!("{key} is {}, it has no keys", other.type_name())));
            }
        };
    }
    table.insert(last.clone(), Entry { key_place: place, node });
    Ok(())
}

/// A table with nothing but a name.
fn named(name: &str, place: Place) -> Node {
    let name = Node { value: Value::Text(name.to_owned()), place };
    let entry = Entry { key_place: place, node: name };
    Node { value: Value::Table(Table::from([("name".to_owned(), entry)])), place }
}

fn none_of_this_name<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Complaint {
    let complaint = Complaint::new(format!("unknown {what} \"{name}\""));
    complaint.allowed(listed(known.clone())).suggest(nearest(name, known))
}

/// The entry of `[[key]]` that has this name.
fn element<'a>(list: &'a mut [Node], key: &str, name: &str) -> Result<&'a mut Table, Complaint> {
    let names = element_names(list, key);
    let is_it = |(i, e): &(usize, &mut Node)| element_name(key, *i, e).as_deref() == Some(name);
    let found = list.iter_mut().enumerate().find(is_it);
    match found.map(|(_, e)| &mut e.value) {
        Some(Value::Table(table)) => Ok(table),
        _ => Err(none_of_this_name(key, name, names.iter().map(String::as_str))),
    }
}

fn element_names(list: &[Node], key: &str) -> Vec<String> {
    list.iter().enumerate().filter_map(|(i, e)| element_name(key, i, e)).collect()
}

fn one_of_many(list: &[Node], key: &str) -> Complaint {
    let names: Vec<String> = element_names(list, key).iter().map(|n| format!("{key}.{n}")).collect();
    let allowed =
        if names.is_empty() { format!("{key}.NAME") } else { listed(names.iter().map(String::as_str)) };
    Complaint::new(format!("{key} is a list, say which and what of it")).allowed(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let parts = |path| segments(path).map(|s| s.join("|"));
        assert_eq!(parts("run.duration").as_deref(), Some("run|duration"));
        assert_eq!(parts("link.\"a.b\".rate").as_deref(), Some("link|a.b|rate"));
        assert_eq!(parts("link.a->b.rate").as_deref(), Some("link|a->b|rate"));
        for bad in ["", ".", "a.", ".a", "a..b", "\"a", "\"a\"b", "a.b.c.d.e.f.g.h.i"] {
            assert_eq!(segments(bad), None, "{bad}");
        }
    }
}
