//! A TOML text as data: one parser, with its limits, reads every file of a user.

use serde::{Serialize, Serializer};

use crate::problem::{Complaint, Problem, Report};
use crate::tree::{self, Node, Place, Table, Value};

/// Read a TOML text; the keys of its tables are in the file's order.
///
/// # Errors
/// Return all errors of the text.
pub fn document(text: &str, file: &str) -> Result<impl Serialize + use<>, Vec<Problem>> {
    read(text, file).map(InFileOrder)
}

struct InFileOrder(Table);

impl Serialize for InFileOrder {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write(&self.0, true, serializer)
    }
}

/// A table with sorted keys.
pub(super) struct Sorted<'a>(pub &'a Table);

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write(self.0, false, serializer)
    }
}

fn read(text: &str, file: &str) -> Result<Table, Vec<Problem>> {
    let report = Report::new(file, text);
    let table = tree::read(text, &report);
    if let Some(table) = &table {
        check_table(table, "", &report);
    }
    let (errors, _) = report.finish();
    match table {
        Some(table) if errors.is_empty() => Ok(table),
        _ => Err(errors),
    }
}

fn check_table(table: &Table, path: &str, report: &Report<'_>) {
    for (key, entry) in table {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        check_node(&entry.node, &path, report);
    }
}

/// JSON has neither infinity nor NaN, and no key has a use for them.
fn check_node(node: &Node, path: &str, report: &Report<'_>) {
    match &node.value {
        Value::Real(x) if !x.is_finite() => {
            let complaint = Complaint::new(format!("{x} is out of range"));
            report.error(node.place, path, complaint.allowed("finite numbers"));
        }
        Value::Table(table) => check_table(table, path, report),
        Value::List(list) => list.iter().for_each(|node| check_node(node, path, report)),
        _ => {}
    }
}

/// Write a table. Its keys are sorted; their order in the file is that of their places.
fn write<S: Serializer>(table: &Table, in_file_order: bool, serializer: S) -> Result<S::Ok, S::Error> {
    let mut entries: Vec<_> = table.iter().collect();
    if in_file_order {
        entries.sort_by_key(|(_, entry)| match entry.key_place {
            Place::File(at) | Place::Set(at) => at,
        });
    }
    let entries = entries.into_iter();
    serializer
        .collect_map(entries.map(|(key, entry)| (key, Inner { value: &entry.node.value, in_file_order })))
}

/// A value inside a table.
struct Inner<'a> {
    value: &'a Value,
    in_file_order: bool,
}

impl Serialize for Inner<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let in_file_order = self.in_file_order;
        match self.value {
            Value::Text(text) => serializer.serialize_str(text),
            Value::Integer(number) => serializer.serialize_i64(*number),
            Value::Real(number) => serializer.serialize_f64(*number),
            Value::Flag(flag) => serializer.serialize_bool(*flag),
            Value::List(list) => {
                serializer.collect_seq(list.iter().map(|node| Inner { value: &node.value, in_file_order }))
            }
            Value::Table(table) => write(table, in_file_order, serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order_and_numbers_their_kind() {
        let found = document("b = 1\na = [1.0, \"x\", true, { d = 2, c = -3 }]\n[t.\"u.v\"]\n", "f");
        let table = r#"{"b":1,"a":[1.0,"x",true,{"d":2,"c":-3}],"t":{"u.v":{}}}"#;
        assert_eq!(serde_json::to_string(&found.ok()).expect("JSON"), table);
    }

    #[test]
    fn deep_and_endless_texts_are_errors_with_a_place() {
        let deep = [format!("x = {}", "[".repeat(100_000)), format!("{} = 1", ["a"; 50_000].join("."))];
        for text in deep {
            let errors = read(&text, "f").unwrap_err();
            assert!(errors[0].to_string().starts_with("f:1:"), "{}", errors[0]);
            assert!(errors[0].message.contains("nesting"), "{}", errors[0]);
        }
        let errors = read("a = 1\nb.c = [nan]\n", "f").unwrap_err();
        assert_eq!(errors[0].to_string(), "f:2:8: b.c: NaN is out of range (allowed: finite numbers)");
    }
}
