//! The channel of a link: loss, jitter, reordering, duplication.

use super::{VALID, refused};

#[test]
fn settings_of_a_channel() {
    let cases: &[(&str, &[&str])] = &[(
        "loss = 1.5",
        &["net.toml:9:8: link.a->b.loss: 1.5 is out of range (allowed: a number from 0 to 1)"],
    )];
    let with_delay: Vec<(String, &[&str])> =
        cases.iter().map(|(text, expected)| (format!("delay = \"10ms\"\n{text}"), *expected)).collect();
    for (text, expected) in &with_delay {
        refused(VALID, "delay = \"10ms\"", &[(text, expected)]);
    }
}
