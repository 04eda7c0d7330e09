use core::cell::RefCell;
use core::fmt;
use std::collections::BTreeSet;

use serde::{Serialize, Serializer};

use crate::tree::Place;

/// Severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The scenario cannot run.
    Error,
    /// The scenario can run, but is probably not what was intended.
    Warning,
}

/// An error or a warning of a scenario file, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file, or `--set` when an override is at fault.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The key in question as a dotted path, as an override would name it; empty: the file as a whole.
    pub key: String,
    /// The error.
    pub message: String,
    /// The allowed values; may be empty.
    pub allowed: String,
    /// The nearest valid word, if the error looks like a typo.
    #[serde(serialize_with = "or_empty")]
    pub suggestion: Option<String>,
    /// Error or warning.
    #[serde(skip)]
    pub severity: Severity,
}

/// Write a missing text as an empty one.
fn or_empty<S: Serializer>(text: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text.as_deref().unwrap_or_default())
}

impl fmt::Display for Problem {
    /// `file:line:column: key: message (allowed: ...; did you mean "..."?)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.file, self.line, self.column)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)?;
        match (self.allowed.as_str(), &self.suggestion) {
            ("", None) => Ok(()),
            ("", Some(word)) => write!(f, " (did you mean \"{word}\"?)"),
            (allowed, None) => write!(f, " (allowed: {allowed})"),
            (allowed, Some(word)) => write!(f, " (allowed: {allowed}; did you mean \"{word}\"?)"),
        }
    }
}

impl core::error::Error for Problem {}

/// An error of a value whose place is not known yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub message: String,
    pub allowed: String,
    /// An addition to `allowed` once that is known.
    pub hint: String,
    pub suggestion: Option<String>,
}

impl Complaint {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), allowed: String::new(), hint: String::new(), suggestion: None }
    }

    /// Set the allowed values, unless they are set already.
    pub fn or_allowed(mut self, allowed: impl FnOnce() -> String) -> Self {
        if self.allowed.is_empty() {
            self.allowed = allowed();
        }
        self
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    pub fn allowed(mut self, allowed: impl Into<String>) -> Self {
        self.allowed = allowed.into();
        self
    }

    pub fn suggest(mut self, word: Option<impl Into<String>>) -> Self {
        self.suggestion = word.map(Into::into);
        self
    }
}

/// Whether a character would break or reorder the line of a message.
pub(crate) fn is_disruptive(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Escape what would break a line: names of files and keys may have any characters.
fn in_a_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if is_disruptive(c) { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

/// Collects the problems of one file.
pub(crate) struct Report<'a> {
    file: &'a str,
    text: &'a str,
    /// Where each line but the first begins.
    lines: Vec<usize>,
    found: RefCell<Vec<(Place, Problem)>>,
}

impl<'a> Report<'a> {
    pub fn new(file: &'a str, text: &'a str) -> Self {
        Self::with(file, text, Vec::new())
    }

    /// Return a report that has these problems already.
    pub fn with(file: &'a str, text: &'a str, found: Vec<(Place, Problem)>) -> Self {
        let lines = text.match_indices('\n').map(|(i, _)| i + 1).collect();
        Self { file, text, lines, found: RefCell::new(found) }
    }

    /// Return the problems found so far.
    pub fn found(&self) -> Vec<(Place, Problem)> {
        self.found.borrow().clone()
    }

    pub fn error(&self, place: Place, key: impl Into<String>, complaint: Complaint) {
        self.add(place, key.into(), complaint, Severity::Error);
    }

    pub fn warning(&self, place: Place, key: impl Into<String>, complaint: Complaint) {
        self.add(place, key.into(), complaint, Severity::Warning);
    }

    fn add(&self, place: Place, key: String, complaint: Complaint, severity: Severity) {
        let (file, line, column) = match place {
            Place::Set(_) => ("--set", 1, 1),
            Place::File(offset) => {
                let (line, column) = self.line_and_column(offset);
                (self.file, line, column)
            }
        };
        let Complaint { message, mut allowed, hint, suggestion } = complaint;
        if !hint.is_empty() {
            allowed = format!("{allowed}; {hint}");
        }
        let [file, key, message, allowed] = [file, &key, &message, &allowed].map(in_a_line);
        let suggestion = suggestion.as_deref().map(in_a_line);
        let problem = Problem { file, line, column, key, message, allowed, suggestion, severity };
        self.found.borrow_mut().push((place, problem));
    }

    /// Report an error of a whole table in place of all problems inside it.
    pub fn error_of_table(&self, place: Place, path: &str, complaint: Complaint) {
        let is_inside = |key: &str| key.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
        self.found.borrow_mut().retain(|(_, problem)| !is_inside(&problem.key));
        self.error(place, path, complaint);
    }

    /// The line of a place, to point at from another one: `line 12`.
    pub fn line_of(&self, place: Place) -> String {
        match place {
            Place::Set(_) => "--set".to_owned(),
            Place::File(offset) => format!("line {}", self.line_and_column(offset).0),
        }
    }

    /// Line and column of a byte offset, both from 1, columns in characters.
    fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let line = self.lines.partition_point(|&start| start <= end);
        let start = line.checked_sub(1).map_or(0, |i| self.lines[i]);
        let column = self.text[start..end].chars().filter(|&c| c != '\u{feff}').count() + 1;
        (line + 1, column)
    }

    /// How many errors there are so far.
    pub fn errors(&self) -> usize {
        self.found.borrow().iter().filter(|(_, p)| p.severity == Severity::Error).count()
    }

    /// Errors and warnings, each in the order of the file, overrides last, nothing twice.
    pub fn finish(self) -> (Vec<Problem>, Vec<Problem>) {
        let mut found = self.found.into_inner();
        found.sort_by_key(|(place, _)| *place);
        let mut seen = BTreeSet::new();
        let fresh = found.into_iter().map(|(_, p)| p).filter(|p| seen.insert(p.to_string()));
        fresh.partition(|p| p.severity == Severity::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_from_one_and_in_characters() {
        let line_and_column = |text, offset| Report::new("", text).line_and_column(offset);
        assert_eq!(line_and_column("ab\ncd", 0), (1, 1));
        assert_eq!(line_and_column("ab\ncd", 4), (2, 2));
        assert_eq!(line_and_column("äb\nc", 2), (1, 2));
        assert_eq!(line_and_column("äb", 1), (1, 1));
        assert_eq!(line_and_column("ab\n", 99), (2, 1));
        assert_eq!(line_and_column("\u{feff}ab", 3), (1, 1));
    }

    #[test]
    fn shown_with_its_hints() {
        let problem = |allowed: &str, suggestion: Option<&str>| {
            let (key, message) = ("run.warmup".into(), "is wrong".into());
            let (allowed, suggestion) = (allowed.into(), suggestion.map(Into::into));
            let severity = Severity::Error;
            Problem { file: "a.toml".into(), line: 3, column: 7, key, message, allowed, suggestion, severity }
                .to_string()
        };
        assert_eq!(problem("", None), "a.toml:3:7: run.warmup: is wrong");
        assert_eq!(problem("x", None), "a.toml:3:7: run.warmup: is wrong (allowed: x)");
        assert_eq!(problem("", Some("y")), "a.toml:3:7: run.warmup: is wrong (did you mean \"y\"?)");
        let both = "a.toml:3:7: run.warmup: is wrong (allowed: x; did you mean \"y\"?)";
        assert_eq!(problem("x", Some("y")), both);
    }
}
