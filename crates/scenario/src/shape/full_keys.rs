//! The keys of one name in the tables inside a table: `max_th` at the top of a file is `queue.NAME.max_th`.

use aqmlab_transport::Profile;

use super::{Kind, Shape};
use crate::queue;
use crate::section::{element_path, join};
use crate::tcp;
use crate::tree::{Table, Value};

/// Full keys that a suggestion names if there are at least two more.
const MOST: usize = 3;

/// Return the keys of this name inside a table as a suggestion; tables that the file has come before others.
pub(super) fn suggestion(shape: &Shape, table: &Table, name: &str) -> Option<String> {
    let mut search = Search { name, present: Vec::new(), absent: Vec::new() };
    search.inside(shape, Some(table), "");
    let Search { mut present, absent, .. } = search;
    let found = if present.is_empty() {
        absent
    } else {
        present.dedup();
        present
    };
    let more = if found.len() > MOST + 1 { found.len() - MOST } else { 0 };
    let shown = &found[..found.len() - more];
    match (shown, more) {
        ([], _) => None,
        ([one], 0) => Some(one.clone()),
        ([first @ .., last], 0) => Some(format!("{} or {last}", first.join(", "))),
        _ => Some(format!("{} or one of {more} more", shown.join(", "))),
    }
}

struct Search<'a> {
    name: &'a str,
    /// Keys in tables that the file has.
    present: Vec<String>,
    /// Keys in tables that it lacks.
    absent: Vec<String>,
}

impl Search<'_> {
    /// Search the tables under the keys of a table, which is at `path`.
    fn inside(&mut self, shape: &Shape, table: Option<&Table>, path: &str) {
        for key in &shape.keys {
            let value = table.and_then(|table| table.get(key.name)).map(|entry| &entry.node.value);
            self.value(&key.kind, value, &join(path, key.name));
        }
    }

    fn value(&mut self, kind: &Kind, value: Option<&Value>, path: &str) {
        let table = value.and_then(Value::as_table);
        match (kind, value) {
            (Kind::Any(kinds), _) => kinds.iter().for_each(|kind| self.value(kind, value, path)),
            (Kind::Table(shape), None) => self.absent_table(shape, path),
            (Kind::Tcp, None) => {
                Profile::ALL.iter().for_each(|profile| self.absent_table(tcp::shape(*profile), path))
            }
            (Kind::Tables(list, shape), Some(Value::List(elements))) => {
                for (index, element) in elements.iter().enumerate() {
                    let path = element_path(path, list, index, element);
                    element.value.as_table().into_iter().for_each(|table| self.table(shape, table, &path));
                }
            }
            _ => {}
        }
        let Some(table) = table else { return };
        match kind {
            Kind::Table(shape) => self.table(shape, table, path),
            Kind::Queue => self.table(&queue::shape_for(table), table, path),
            Kind::Tcp => {
                Profile::ALL.iter().for_each(|profile| self.table(tcp::shape(*profile), table, path))
            }
            Kind::Map(inner) => {
                for (name, entry) in table {
                    let path = join(path, name);
                    if name == self.name {
                        self.present.push(path.clone());
                    }
                    self.value(inner, Some(&entry.node.value), &path);
                }
            }
            _ => {}
        }
    }

    fn table(&mut self, shape: &Shape, table: &Table, path: &str) {
        if shape.find(self.name).is_some() {
            self.present.push(join(path, self.name));
        }
        self.inside(shape, Some(table), path);
    }

    fn absent_table(&mut self, shape: &Shape, path: &str) {
        if shape.find(self.name).is_some() {
            self.absent.push(join(path, self.name));
        }
    }
}
