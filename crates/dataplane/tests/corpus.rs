//! Distinct inputs that fuzzing found, and the inputs that it started from, once more in every test run. The
//! targets are in `fuzz/`; `tests/corpus` holds a small choice of their inputs.

mod common;
mod harness;

use std::fs;
use std::path::Path;

use common::{ACK, Ip, SYN};
use proptest::prelude::*;

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(target);
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|f| f.expect("a file").path()).collect();
    files.sort();
    assert!(files.len() > 10, "the corpus of {target} is there");
    files.into_iter().map(|file| fs::read(file).expect("a file")).collect()
}

#[test]
fn packets_of_the_corpus() {
    corpus("packets").iter().for_each(|bytes| harness::packets(bytes));
}

#[test]
fn control_input_of_the_corpus() {
    corpus("control").iter().for_each(|bytes| harness::control(bytes));
}

/// Packets behind each other, each with its length before it.
fn several(packets: &[Vec<u8>]) -> Vec<u8> {
    packets.iter().flat_map(|packet| [&[packet.len() as u8], &packet[..]].concat()).collect()
}

fn conversation() -> Vec<u8> {
    let (there, back) = (Ip::new("fd77::1", "fd88::2"), Ip::new("fd88::2", "fd77::1"));
    let labelled = Ip { flow_label: 77, ..there.clone() };
    several(&[
        labelled.tcp((1, 2), SYN, 1, 0, 0),
        Ip { flow_label: 5, ttl: 60, ..back }.tcp((2, 1), ACK, 1, 2, 9),
        Ip { flow_label: 78, ..there }.tcp((1, 2), ACK, 2, 9, 50),
        Ip { options: vec![1; 8], traffic_class: 2, ..Ip::new("10.0.0.1", "10.0.0.2") }.udp((5, 6), 30),
    ])
}

proptest! {
    #[test]
    fn a_conversation_with_changed_bytes(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
    ) {
        let mut bytes = conversation();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        harness::packets(&bytes);
    }

    #[test]
    fn bytes_of_any_kind(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        harness::packets(&bytes);
        harness::control(&bytes);
    }

    #[test]
    fn words_of_the_control_input(words in prop::collection::vec(prop::sample::select(WORDS), 0..30)) {
        harness::control(words.concat().as_bytes());
    }
}

/// The parts of generated control input.
const WORDS: &[&str] = &[
    "start\n",
    "\"a\\nb\":1",
    "stop\n",
    "reload ",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\n",
    "\"scenario\":",
    "\"a\":",
    "\"b\":",
    "{\"device\":\"x\"}",
    "\"groups\":",
    "null",
    "1e999",
    "-1",
    "0",
    "true",
    "\"flows\":",
    "\"duration_s\":",
    "\"loss\":",
    "\"distance\":",
    "{\"rule\":\"inferred\"}",
    "\"seed\":",
    "\"\"",
    "\\u0000",
    "é",
];
