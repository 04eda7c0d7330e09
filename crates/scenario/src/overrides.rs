//! Overrides: `path=value` laid over the file before anything is checked.
//!
//! A path is the keys from the top, with dots between them; entries of `[[flow]]` and `[[link]]` go by their name
//! (a link without one by `from->to`). A key that holds a dot stands in double quotes. The value is TOML if it
//! parses, and text otherwise, so that `45p` needs no quotes.

use crate::nearest::{listed, nearest};
use crate::problem::{Complaint, Report};
use crate::section::element_name;
use crate::tree::{Entry, Node, Place, Table, Value, read_override};

/// Deepest path; no key of a scenario lies deeper.
const MAX_DEPTH: usize = 8;

/// Lays the overrides over the file, in their order; what cannot be laid is reported.
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

/// Takes a path apart; `None` if it is none.
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
    let mut parents = parents.iter();
    while let Some(key) = parents.next() {
        let entry = table.entry(key.clone()).or_insert_with(|| Entry {
            key_place: place,
            node: Node { value: Value::Table(Table::new()), place },
        });
        table = match &mut entry.node.value {
            Value::Table(inner) => inner,
            Value::List(list) => match parents.next() {
                Some(name) => element(list, key, name)?,
                None => return Err(one_of_many(list, key)),
            },
            other => {
                return Err(Complaint::new(format!("{key} is {}, it has no keys", other.type_name())));
            }
        };
    }
    table.insert(last.clone(), Entry { key_place: place, node });
    Ok(())
}

/// The entry of `[[key]]` that has this name.
fn element<'a>(list: &'a mut [Node], key: &str, name: &str) -> Result<&'a mut Table, Complaint> {
    let names: Vec<String> = list.iter().filter_map(|e| element_name(key, e)).collect();
    let found = list.iter_mut().find(|e| element_name(key, e).as_deref() == Some(name));
    match found.map(|e| &mut e.value) {
        Some(Value::Table(table)) => Ok(table),
        _ => {
            let known = || names.iter().map(String::as_str);
            let complaint = Complaint::new(format!("there is no {key} \"{name}\" in this file"));
            Err(complaint.allowed(listed(known())).suggest(nearest(name, known())))
        }
    }
}

fn one_of_many(list: &[Node], key: &str) -> Complaint {
    let names: Vec<String> =
        list.iter().filter_map(|e| element_name(key, e)).map(|n| format!("{key}.{n}")).collect();
    let allowed = listed(names.iter().map(String::as_str));
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
