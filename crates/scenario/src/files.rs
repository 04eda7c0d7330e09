//! Files beside a scenario: distributions, `cdf = "sizes.cdf"`, traces of rates, `trace = "lte.up"`, and lists of lost packets,
//! `packets = "lost.txt"`. Their contents replace the name of the file in the text of the scenario, so that the text means the same
//! wherever it is read, and its hash depends on them.

use aqmlab_netsim::plan::Server;

use crate::overrides;
use crate::problem::{Complaint, Problem, Report};
use crate::section::{element_name, join};
use crate::sizes;
use crate::traces;
use crate::tree::{self, Node, Place, Table, Value};

/// The key of a distribution.
const CDF: &str = "cdf";
/// The key of a trace, in the table of a rate.
const TRACE: &str = "trace";

/// The key of a list of lost packets, in a table whose key ends in `loss`.
const PACKETS: &str = "packets";

/// Return whether a text is the name of a file, not that of a distribution.
pub(crate) fn is_file(name: &str) -> bool {
    name.contains(['.', '/', '\\'])
}

/// The text of a scenario, and its overrides as (path, value).
pub type TextAndOverrides = (String, Vec<(String, String)>);

/// Return a scenario's text and overrides with distributions and traces in place of the files that have them. `read` returns
/// the text of a file by its name in the scenario, or the error.
///
/// # Errors
/// Return errors in the files. Other errors in the scenario are left to [`parse`](crate::parse).
pub fn with_files(
    text: &str,
    file: &str,
    overrides: &[(String, String)],
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<TextAndOverrides, Vec<Problem>> {
    let (mut text, mut pairs) = (text.to_owned(), overrides.to_vec());
    let names = |text: &str| [CDF, TRACE, PACKETS].iter().any(|key| text.contains(key));
    if !names(&text) && !pairs.iter().any(|(key, value)| names(key) || names(value)) {
        return Ok((text, pairs));
    }
    let found = named_files(&text, file, overrides);
    let report = Report::new(file, &text);
    let mut contents = Vec::new();
    for Named { name, path, place } in &found {
        match read(name).map_err(Complaint::new).and_then(|content| value(path, name, &content)) {
            Ok(found) => contents.push(found),
            Err(complaint) => report.error(*place, path.as_str(), complaint),
        }
    }
    let (errors, _) = report.finish();
    if !errors.is_empty() {
        return Err(errors);
    }
    // From the end of the text, so that the places before it stay.
    let mut all: Vec<_> = found.iter().zip(contents).collect();
    all.sort_by_key(|(named, _)| core::cmp::Reverse(named.place));
    for (Named { name, place, .. }, list) in all {
        match *place {
            Place::File(start) => text.replace_range(start..end_of_string(&text, start), &list),
            Place::Set(number) => {
                let value = &mut pairs[number].1;
                let quoted = |quote: char| format!("{quote}{name}{quote}");
                *value = if value.trim() == name.as_str() {
                    list
                } else {
                    value.replace(&quoted('"'), &list).replace(&quoted('\''), &list)
                };
            }
        }
    }
    Ok((text, pairs))
}

/// Return the value that replaces the name of a file with this content.
fn value(path: &str, name: &str, content: &str) -> Result<String, Complaint> {
    if path.ends_with(CDF) {
        let points = sizes::points(name, content)?;
        let points: Vec<String> = points.iter().map(|(size, p)| format!("[{size:?}, {p:?}]")).collect();
        return Ok(format!("[{}]", points.join(", ")));
    }
    if path.ends_with(PACKETS) {
        return packets(name, content);
    }
    traces::read(name, content).map(|trace| format!("\"{}\"", trace.text()))
}

/// Most packets of a list in a file.
const MOST_PACKETS: usize = 100_000;

/// Return the numbers of lost packets in a text as a list of TOML; report the first line that is wrong.
fn packets(file: &str, text: &str) -> Result<String, Complaint> {
    let allowed = "a line for each lost packet with its number, from 1, rising, # before a comment";
    let wrong =
        |line: usize, what: String| Err(Complaint::new(format!("{file}:{line}: {what}")).allowed(allowed));
    let (mut numbers, mut last) = (Vec::new(), 0);
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.split('#').next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        let Ok(number) = content.parse::<u64>() else {
            return wrong(line, format!("{content:?} is not a whole number"));
        };
        if number <= last {
            let what = if last == 0 { "is below 1".to_owned() } else { format!("does not rise from {last}") };
            return wrong(line, format!("the packet {number} {what}"));
        }
        if numbers.len() == MOST_PACKETS {
            return wrong(line, format!("there are more than {MOST_PACKETS} packets"));
        }
        last = number;
        numbers.push(number.to_string());
    }
    if numbers.is_empty() {
        return wrong(1, "the list is empty".to_owned());
    }
    Ok(format!("[{}]", numbers.join(", ")))
}

/// A file that a scenario names.
struct Named {
    name: String,
    /// The key.
    path: String,
    place: Place,
}

/// The files that flows and links of a scenario name.
fn named_files(text: &str, file: &str, overrides: &[(String, String)]) -> Vec<Named> {
    let unheard = Report::new(file, text);
    let Some(mut root) = tree::read(text, &unheard) else { return Vec::new() };
    overrides::apply(&mut root, overrides, &unheard);
    let flows = root.get("flow").and_then(|entry| entry.node.value.as_list()).unwrap_or_default();
    let mut found = Vec::new();
    for (i, flow) in flows.iter().enumerate() {
        let name = element_name("flow", i, flow).unwrap_or_else(|| i.to_string());
        collect(flow, &join("flow", &name), &mut found);
    }
    for (key, entry) in root.iter().filter(|(key, _)| *key != "flow") {
        match entry.node.value.as_list() {
            None => collect(&entry.node, key, &mut found),
            Some(list) => {
                for (i, element) in list.iter().enumerate() {
                    let name = element_name(key, i, element).unwrap_or_else(|| i.to_string());
                    collect(element, &join(key, &name), &mut found);
                }
            }
        }
    }
    found
}

fn collect(node: &Node, path: &str, found: &mut Vec<Named>) {
    let Some(table): Option<&Table> = node.value.as_table() else { return };
    for (key, entry) in table {
        let path = join(path, key);
        match &entry.node.value {
            Value::Text(name) if is_file(name) && names_file(&path) => {
                found.push(Named { name: name.clone(), path, place: entry.node.place });
            }
            _ => collect(&entry.node, &path, found),
        }
    }
}

/// Return whether the text under a path of keys may name a file.
fn names_file(path: &str) -> bool {
    let mut keys = path.rsplit('.');
    let (key, table) = (keys.next(), keys.next());
    match key {
        Some(CDF) => path.starts_with("flow."),
        Some(TRACE) => table == Some(Server::KEY.key),
        Some(PACKETS) => table.is_some_and(|table| table.ends_with("loss")),
        _ => false,
    }
}

/// The end of the TOML string that begins here.
fn end_of_string(text: &str, start: usize) -> usize {
    let rest = &text[start..];
    let quotes =
        ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quotes| rest.starts_with(quotes)).unwrap_or("");
    let mut at = quotes.len();
    while at < rest.len() && !rest[at..].starts_with(quotes) {
        let escaped = quotes.starts_with('"') && rest[at..].starts_with('\\');
        let one = |at: usize| rest[at..].chars().next().map_or(0, char::len_utf8);
        at += one(at);
        if escaped {
            at += one(at);
        }
    }
    (start + at + quotes.len()).min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    fn read(name: &str) -> Result<String, String> {
        match name {
            "a.cdf" => Ok("100 0.5\n1000 1\n".to_owned()),
            "dir/b.cdf" => Ok("7 1".to_owned()),
            "wrong.cdf" => Ok("7 1\n8 2\n".to_owned()),
            _ => Err(format!("{name}: no such file")),
        }
    }

    #[test]
    fn points_replace_the_names_of_files() {
        let text = "[[flow]]\nname = \"w\"\nsize = { cdf = \"a.cdf\" } # a.cdf\n[flow.web.size]\ncdf = '''dir/b.cdf'''\n\
                    [[flow]]\nsize.cdf = \"web-search\"\n";
        let set =
            [pair("flow.w.pattern.on.cdf", "a.cdf"), pair("flow.w.pattern.off", "{ cdf = 'dir/b.cdf' }")];
        let (text, set) = with_files(text, "x", &set, &mut read).expect("no error");
        let expected = "[[flow]]\nname = \"w\"\nsize = { cdf = [[100.0, 0.5], [1000.0, 1.0]] } # a.cdf\n[flow.web.size]\n\
                        cdf = [[7.0, 1.0]]\n[[flow]]\nsize.cdf = \"web-search\"\n";
        assert_eq!(text, expected);
        assert_eq!(set[0].1, "[[100.0, 0.5], [1000.0, 1.0]]");
        assert_eq!(set[1].1, "{ cdf = [[7.0, 1.0]] }");
        let again = with_files(&text, "x", &set, &mut |name| panic!("{name} is read twice"));
        assert_eq!(again, Ok((text, set)));
    }

    #[test]
    fn errors_name_file_line_and_key() {
        let text = "[[flow]]\nname = \"w\"\nsize = { cdf = \"wrong.cdf\" }\n[[flow]]\nsize = { cdf = \"absent.cdf\" }\n";
        let errors = with_files(text, "x.toml", &[], &mut read).expect_err("errors");
        let lines: Vec<_> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines[0],
            "x.toml:3:16: flow.w.size.cdf: wrong.cdf:2: the probability 2 is not a number from 0 to 1 (allowed: lines \
             \"size probability\", sizes not falling, probabilities rising to 1, # before a comment)"
        );
        assert_eq!(lines[1], "x.toml:5:16: flow.1.size.cdf: absent.cdf: no such file");
        assert_eq!(with_files("cdf = [", "x", &[], &mut read), Ok(("cdf = [".to_owned(), Vec::new())));
    }

    #[test]
    fn strings_end_at_their_quotes() {
        for (text, end) in [("\"a\\\"b\" c", 6), ("'a\\' c", 4), ("\"\"\"a\"b\"\"\" c", 9), ("\"open", 5)] {
            assert_eq!(end_of_string(text, 0), end, "{text}");
        }
    }
}
