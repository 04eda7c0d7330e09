//! `exec` and `exec_server` of a group of flows: programs in place of the generator.

use std::collections::BTreeMap;

use crate::nearest::nearest;
use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::{Key, Kind};

const EXEC: &str = "exec";
const EXEC_SERVER: &str = "exec_server";
/// The placeholders of a command.
const PLACES: [&str; 3] = ["server", "port", "duration"];

/// The programs of a group in a live run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The command at the senders, with `{server}`, `{port}` and `{duration}` (in seconds) in it.
    pub exec: String,
    /// The command at the receivers.
    pub exec_server: Option<String>,
}

pub(crate) fn keys() -> [Key; 2] {
    [
        Key::new(
            EXEC,
            Kind::Text,
            "Live: the command that sends, in place of the generator; {server}, {port} and {duration} (in seconds) \
             stand for what they are.",
        ),
        Key::new(EXEC_SERVER, Kind::Text, "Live: the command that answers at the other end."),
    ]
}

/// The programs of all groups, by name of the group.
pub(super) fn read(file: &Section<'_>) -> BTreeMap<String, Program> {
    let mut programs = BTreeMap::new();
    for flow in file.sections("flow") {
        for key in [EXEC, EXEC_SERVER] {
            if let Some(complaint) = flow.text(key).and_then(complain) {
                flow.error(key, complaint);
            }
        }
        let server = flow.text(EXEC_SERVER);
        match flow.text(EXEC) {
            Some(exec) => {
                let program = Program { exec: exec.to_owned(), exec_server: server.map(str::to_owned) };
                programs.extend(flow.text("name").map(|name| (name.to_owned(), program)));
            }
            None if !flow.has(EXEC) => {
                let complaint = Complaint::new("exec_server needs exec, the command that sends");
                flow.refuse(EXEC_SERVER, complaint.allowed("exec, or exec and exec_server"));
            }
            None => {}
        }
    }
    programs
}

/// Warns that the simulator has generators alone.
pub(crate) fn warn(flow: &Section<'_>) {
    if flow.has(EXEC) {
        let transport = flow.text("transport").unwrap_or("TCP");
        let message = format!("is for live runs; the simulator's flow sends by {transport} as the file says");
        flow.warning(EXEC, Complaint::new(message));
    }
}

/// Return the error in a command, if any.
fn complain(command: &str) -> Option<Complaint> {
    if command.trim().is_empty() {
        return Some(
            Complaint::new("is empty").allowed("a command such as \"iperf3 -c {server} -p {port}\""),
        );
    }
    let words = command.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(word, _)| word);
    let slip = |word: &str| !PLACES.contains(&word) && nearest(word, PLACES).is_some();
    let word = words.into_iter().find(|word| slip(word))?;
    let complaint = Complaint::new(format!("{{{word}}} stands for nothing")).suggest(nearest(word, PLACES));
    Some(complaint.allowed("{server}, {port}, {duration}"))
}
