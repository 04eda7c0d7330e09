//! The simulator as WebAssembly, for pages that run it in the browser.
//!
//! `make web` builds it for the target `wasm32-unknown-unknown`; `python/aqmlab/lab/core.js` is the other side.
//! The module imports nothing: it has no clock, no I/O and no threads. Its tables are those of the native core to the
//! byte: arithmetic is IEEE 754 in both, and every function beyond `+ - * / sqrt` comes from the crate `libm`.
//!
//! The functions in `abi` take a request from the *input* and leave an answer in the *output*, both as JSON in UTF-8:
//!
//! 1. `input(n)` returns where the caller writes the `n` bytes of a request;
//! 2. `check`, `disciplines`, `curve`, `read_toml`, `start` or `finish` reads it and returns the length of its answer;
//! 3. `output()` returns where that answer begins.
//!
//! A run is `start`, any number of calls of `advance`, and `finish`; `columns()` returns where the numbers of its tables
//! begin. A run that is not wanted any more is dropped by the next `start`.

mod abi;
mod request;
mod run;
