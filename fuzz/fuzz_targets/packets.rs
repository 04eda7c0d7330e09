#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/dataplane/tests/harness/mod.rs"]
mod harness;

fuzz_target!(|bytes: &[u8]| harness::packets(bytes));
