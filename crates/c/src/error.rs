//! Errors of the C functions: a status, and a text for each thread.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::ffi::Status;

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub status: Status,
    pub text: String,
}

impl Failure {
    /// An argument has a wrong value.
    pub fn argument(text: impl Into<String>) -> Self {
        Self { status: Status::Argument, text: text.into() }
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Return a text that C can read. A text never has a zero byte inside; if it did, it would end there.
pub(crate) fn c_text(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

/// Give the text of the thread's last error to a function.
pub(crate) fn with_last<T>(read: impl FnOnce(&CStr) -> T) -> T {
    LAST.with_borrow(|last| read(last))
}

/// Call a function, and return its status after keeping the text of an error. A panic becomes [`Status::Internal`].
pub(crate) fn guarded(function: impl FnOnce() -> Result<(), Failure>) -> Status {
    let failure = match catch_unwind(AssertUnwindSafe(function)) {
        Ok(Ok(())) => return Status::Ok,
        Ok(Err(failure)) => failure,
        Err(panic) => {
            Failure { status: Status::Internal, text: format!("internal error: {}", message(&*panic)) }
        }
    };
    LAST.set(c_text(&failure.text));
    failure.status
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("panic")
}
