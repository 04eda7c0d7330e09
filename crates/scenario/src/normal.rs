//! The canonical text of a scenario, and its hash.
//!
//! Keys are sorted, comments and layout are gone, numbers are written in one way: two files that differ in nothing
//! else have the same text. Values stay as they are written: `1Mbps` and `1000kbps` differ.

use std::fmt::Write as _;

use crate::tree::{Node, Table, Value};

/// The canonical text.
pub(crate) fn text(root: &Table) -> String {
    let mut out = String::new();
    let plain = |value: &Value| value.as_table().is_none() && tables_of(value).is_none();
    for (key, entry) in root.iter().filter(|(_, e)| plain(&e.node.value)) {
        assignment(&mut out, key, &entry.node.value);
    }
    for (key, entry) in root {
        if let Some(table) = entry.node.value.as_table() {
            section(&mut out, &bare(key), table);
        } else if let Some(tables) = tables_of(&entry.node.value) {
            for table in tables {
                header(&mut out, &format!("[[{}]]", bare(key)));
                table.iter().for_each(|(key, entry)| assignment(&mut out, key, &entry.node.value));
            }
        }
    }
    out
}

/// The tables of a list of nothing but tables, of at least one.
fn tables_of(value: &Value) -> Option<Vec<&Table>> {
    let list = value.as_list().filter(|list| !list.is_empty())?;
    list.iter().map(|node| node.value.as_table()).collect()
}

/// A table; one of nothing but tables becomes a section for each.
fn section(out: &mut String, name: &str, table: &Table) {
    let tables: Option<Vec<_>> = table.iter().map(|(k, e)| Some((k, e.node.value.as_table()?))).collect();
    match tables.filter(|t| !t.is_empty() && ["queue", "marker"].contains(&name)) {
        Some(tables) => {
            for (key, inner) in tables {
                header(out, &format!("[{name}.{}]", bare(key)));
                inner.iter().for_each(|(key, entry)| assignment(out, key, &entry.node.value));
            }
        }
        None => {
            header(out, &format!("[{name}]"));
            table.iter().for_each(|(key, entry)| assignment(out, key, &entry.node.value));
        }
    }
}

fn header(out: &mut String, header: &str) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(header);
    out.push('\n');
}

fn assignment(out: &mut String, key: &str, value: &Value) {
    out.push_str(&bare(key));
    out.push_str(" = ");
    inline(out, value);
    out.push('\n');
}

fn inline(out: &mut String, value: &Value) {
    match value {
        Value::Text(text) => quote(out, text),
        Value::Integer(n) => out.push_str(&n.to_string()),
        Value::Real(x) if x.is_nan() => out.push_str("nan"),
        Value::Real(x) if x.is_infinite() => out.push_str(if *x > 0.0 { "inf" } else { "-inf" }),
        Value::Real(x) => out.push_str(&format!("{x:?}")),
        Value::Flag(b) => out.push_str(&b.to_string()),
        Value::List(list) => {
            out.push('[');
            separated(out, list, |out, node: &Node| inline(out, &node.value));
            out.push(']');
        }
        Value::Table(table) if table.is_empty() => out.push_str("{}"),
        Value::Table(table) => {
            out.push_str("{ ");
            separated(out, table, |out, (key, entry)| {
                out.push_str(&bare(key));
                out.push_str(" = ");
                inline(out, &entry.node.value);
            });
            out.push_str(" }");
        }
    }
}

fn separated<T>(out: &mut String, items: impl IntoIterator<Item = T>, write: impl Fn(&mut String, T)) {
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write(out, item);
    }
}

fn bare(key: &str) -> String {
    if !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
        return key.to_owned();
    }
    let mut quoted = String::new();
    quote(&mut quoted, key);
    quoted
}

fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Return the hash of a scenario by its normalized text: FNV-1a with 128 bits, as 32 hexadecimal digits.
pub fn hash(text: &str) -> String {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let hash = text.bytes().fold(OFFSET, |h, byte| (h ^ u128::from(byte)).wrapping_mul(PRIME));
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Report;
    use crate::tree;

    fn normal(input: &str) -> String {
        text(&tree::read(input, &Report::new("", input)).expect("TOML"))
    }

    #[test]
    fn sorted_and_bare() {
        let input = "# a comment\nname='x'\nformat = 1\n[run]\nseeds = [1,\n 2]\nduration = \"1s\"\n\
                     [queue.b]\nw_q = 2e-3\n[queue.a]\n[[flow]]\nname = \"t\"\ntcp.syn = false\ntcp.tick = \"1ms\"\n";
        let expected = "format = 1\nname = \"x\"\n\n[[flow]]\nname = \"t\"\ntcp = { syn = false, tick = \"1ms\" }\n\n\
                        [queue.a]\n\n[queue.b]\nw_q = 0.002\n\n[run]\nduration = \"1s\"\nseeds = [1, 2]\n";
        assert_eq!(normal(input), expected);
        assert_eq!(normal(expected), expected);
    }

    #[test]
    fn awkward_values() {
        let input = "\"a b\" = \"tab\\t quote\\\" \\u0001\"\nx = [inf, -inf, nan, 1e300, -0.0, 1.0]\ny = {}\nz = []\n";
        let expected =
            "\"a b\" = \"tab\\t quote\\\" \\u0001\"\nx = [inf, -inf, nan, 1e300, -0.0, 1.0]\nz = []\n\n[y]\n";
        assert_eq!(normal(input), expected);
        assert_eq!(normal(expected), expected);
    }

    #[test]
    fn published_vectors() {
        // The vectors of the FNV reference: the empty text, "a", "foobar".
        assert_eq!(hash(""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(hash("a"), "d228cb696f1a8caf78912b704e4a8964");
        assert_eq!(hash("foobar"), "343e1662793c64bf6f0d3597ba446f18");
    }
}
