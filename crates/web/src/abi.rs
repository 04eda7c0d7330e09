//! The exported functions. Addresses and lengths are those of the module's memory.
#![expect(unsafe_code, reason = "names of exported functions must not be mangled")]

use std::cell::RefCell;

use crate::Session;

/// State kept between two calls.
#[derive(Default)]
struct State {
    input: Vec<u8>,
    output: Vec<u8>,
    session: Session,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Answer the request in the input; return the length of the answer.
fn reply(name: &str) -> usize {
    STATE.with_borrow_mut(|state| {
        let input = std::mem::take(&mut state.input);
        state.output = state.session.answer(name, &String::from_utf8_lossy(&input)).into_bytes();
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
    STATE.with_borrow(|state| state.session.columns().as_ptr())
}

/// Export requests of [`Session::answer`] under their names.
macro_rules! requests {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> usize {
            reply(stringify!($name))
        }
    )* };
}

requests! { check disciplines quantities curve read_toml start finish }

/// As [`Session::advance`]; -1 if there is no run.
#[unsafe(no_mangle)]
extern "C" fn advance(share: f64) -> f64 {
    STATE.with_borrow_mut(|state| state.session.advance(share).map_or(-1.0, |hops| hops as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_answers_pass_through_the_memory() {
        let _ = input(0);
        assert_eq!(advance(0.5), -1.0);
        STATE.with_borrow_mut(|state| state.input = crate::run::tests::REQUEST.as_bytes().to_vec());
        assert_eq!(start(), r#"{"ok":true}"#.len());
        assert!(advance(0.5) > 0.0);
        let length = finish();
        STATE.with_borrow(|state| assert_eq!(state.output.len(), length));
    }
}
