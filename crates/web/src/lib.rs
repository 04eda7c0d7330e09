//! The simulator behind the laboratory's page: requests and answers as JSON, tables as one block of numbers.
//!
//! A [`Session`] answers the requests of one page. A run is `start`, any number of calls of [`Session::advance`], and
//! `finish`; [`Session::columns`] has the numbers of its tables. A run that is not wanted any more is dropped by the next `start`.
//!
//! A page reaches a session in one of two ways, both in `python/aqmlab/lab/core.js`:
//!
//! * served by `aqmlab lab`, over HTTP: `bindings` has the session as `aqmlab._core.PageSession`;
//! * as a file, in its own memory: `make web` builds this crate for the target `wasm32-unknown-unknown`. The module
//!   imports nothing: it has no clock, no I/O and no threads. Its tables are those of the native core to the
//!   byte: arithmetic is IEEE 754 in both, and every function beyond `+ - * / sqrt` comes from the crate `libm`.
//!
//! The functions of the module (`abi`) take a request from the *input* and leave an answer in the *output*, in UTF-8:
//!
//! 1. `input(n)` returns where the caller writes the `n` bytes of a request;
//! 2. `check`, `disciplines`, `quantities`, `curve`, `read_toml`, `start` or `finish` reads it and returns the length of its answer;
//! 3. `output()` returns where that answer begins, `columns()` where the numbers of the run's tables begin.

// Elsewhere the names of its functions would be exported by every library that uses this crate.
#[cfg(any(target_arch = "wasm32", test))]
mod abi;
mod request;
mod run;
mod session;

pub use session::Session;
