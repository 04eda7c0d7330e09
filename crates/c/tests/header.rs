//! The header in `include/` is that which cbindgen makes of the functions.

use std::fs;
use std::path::Path;

#[test]
fn the_header_is_that_of_the_functions() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(here.join("cbindgen.toml")).expect("a configuration");
    let bindings = cbindgen::Builder::new().with_config(config).with_src(here.join("src/ffi.rs")).generate();
    let mut made = Vec::new();
    bindings.expect("types and functions of C").write(&mut made);
    let made = String::from_utf8(made).expect("UTF-8");
    let committed = here.join("../../include/aqmlab.h");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&committed, &made).expect("written");
    }
    let committed = fs::read_to_string(committed).expect("the header");
    assert!(
        committed == made,
        "include/aqmlab.h is out of date: UPDATE_GOLDEN=1 cargo test -p aqmlab-c --test header"
    );
}
