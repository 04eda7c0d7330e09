//! A TOML text as JSON, for Python: one parser, with its limits, reads every file of a user.

use serde_json::{Value as Json, json};

use super::check::answer;
use crate::problem::{Complaint, Problem, Report};
use crate::tree::{self, Node, Place, Table, Value};

/// Read a TOML text and return JSON: `ok`, `errors`, `warnings`, and its `table` if it is TOML. Keys are in the file's order.
pub fn document_json(text: &str, file: &str) -> String {
    match read(text, file) {
        Ok(table) => answer(Ok(("table", &table_text(&table))), &[]),
        Err(errors) => answer(Err(&errors), &[]),
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

/// The object of a table. Tables are sorted by key; their order in the file is that of the places.
fn table_text(table: &Table) -> String {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(_, entry)| match entry.key_place {
        Place::File(at) | Place::Set(at) => at,
    });
    let entry = |(key, entry): (&String, &tree::Entry)| format!("{}:{}", json!(key), text(&entry.node.value));
    format!("{{{}}}", entries.into_iter().map(entry).collect::<Vec<_>>().join(","))
}

fn text(value: &Value) -> String {
    let json: Json = match value {
        Value::Text(text) => json!(text),
        Value::Integer(i) => json!(i),
        Value::Real(x) => json!(x),
        Value::Flag(b) => json!(b),
        Value::Table(table) => return table_text(table),
        Value::List(list) => {
            return format!("[{}]", list.iter().map(|n| text(&n.value)).collect::<Vec<_>>().join(","));
        }
    };
    json.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order_and_numbers_their_kind() {
        let found = document_json("b = 1\na = [1.0, \"x\", true, { d = 2, c = -3 }]\n[t.\"u.v\"]\n", "f");
        let table = r#"{"b":1,"a":[1.0,"x",true,{"d":2,"c":-3}],"t":{"u.v":{}}}"#;
        assert_eq!(found, format!(r#"{{"errors":[],"ok":true,"warnings":[],"table":{table}}}"#));
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
