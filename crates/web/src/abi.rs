//! The exported functions. Addresses and lengths are those of the module's memory.
#![expect(unsafe_code, reason = "names of exported functions must not be mangled")]

use std::cell::RefCell;

use crate::request;
use crate::run::Run;

/// State kept between two calls.
#[derive(Default)]
struct State {
    input: Vec<u8>,
    output: Vec<u8>,
    run: Option<Run>,
    columns: Vec<u8>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Answer the request with the JSON that `answer` makes of it; return the length of the answer.
fn reply(answer: impl FnOnce(&mut State, &str) -> String) -> usize {
    STATE.with_borrow_mut(|state| {
        let input = std::mem::take(&mut state.input);
        state.output = answer(state, &String::from_utf8_lossy(&input)).into_bytes();
        state.output.len()
    })
}

/// Make room for a request of this many bytes; return its address.
#[unsafe(no_mangle)]
extern "C" fn input(bytes: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.input = vec![0; bytes];
        state.input.as_mut_ptr()
    })
}

/// Return the address of the last answer.
#[unsafe(no_mangle)]
extern "C" fn output() -> *const u8 {
    STATE.with_borrow(|state| state.output.as_ptr())
}

/// Return the address of the numbers of the run that `finish` ended.
#[unsafe(no_mangle)]
extern "C" fn columns() -> *const u8 {
    STATE.with_borrow(|state| state.columns.as_ptr())
}

/// Check a scenario: `text`, `file`, `overrides` (pairs of key and value), `whole`; answer as `aqmlab check --json`.
#[unsafe(no_mangle)]
extern "C" fn check() -> usize {
    reply(|_, text| request::check(text))
}

/// List the disciplines and transports with their parameters.
#[unsafe(no_mangle)]
extern "C" fn disciplines() -> usize {
    reply(|_, _| aqmlab_scenario::disciplines_json())
}

/// Evaluate the drop curve of a queue: `queue` (the body of a `[queue.NAME]` table as JSON text) at the averages `x`.
#[unsafe(no_mangle)]
extern "C" fn curve() -> usize {
    reply(|_, text| request::curve(text))
}

/// Read TOML text as JSON.
#[unsafe(no_mangle)]
extern "C" fn read_toml() -> usize {
    reply(|_, text| request::read_toml(text))
}

/// Begin a run: `text`, `file`, `overrides`, `seed`. Another run in progress is dropped.
#[unsafe(no_mangle)]
extern "C" fn start() -> usize {
    reply(|state, text| {
        state.run = None;
        state.columns = Vec::new();
        match Run::start(text) {
            Ok(run) => {
                state.run = Some(run);
                request::ok()
            }
            Err(why) => why,
        }
    })
}

/// Go on to this share of the run; return the packets that all links carried so far, or -1 if there is no run.
#[unsafe(no_mangle)]
extern "C" fn advance(share: f64) -> f64 {
    STATE.with_borrow_mut(|state| state.run.as_mut().map_or(-1.0, |run| run.advance(share) as f64))
}

/// End the run; answer with its summary and the places of its columns.
#[unsafe(no_mangle)]
extern "C" fn finish() -> usize {
    reply(|state, _| match state.run.take() {
        Some(run) => {
            let (answer, columns) = run.finish();
            state.columns = columns;
            answer
        }
        None => request::error("there is no run"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_started_once_and_finished_once() {
        let answer = || STATE.with_borrow(|state| String::from_utf8(state.output.clone()).unwrap());
        let _ = input(0);
        assert_eq!(advance(0.5), -1.0);
        finish();
        assert_eq!(answer(), r#"{"error":"there is no run","ok":false}"#);
        STATE.with_borrow_mut(|state| state.input = crate::run::tests::REQUEST.as_bytes().to_vec());
        start();
        assert_eq!(answer(), r#"{"ok":true}"#);
        assert!(advance(0.5) > 0.0);
        assert_eq!(finish(), answer().len());
        assert!(answer().starts_with(r#"{"ok":true,"#));
        assert_eq!(advance(1.0), -1.0);
    }
}
