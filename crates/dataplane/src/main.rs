//! `aqmlab-link CONFIG`: the link process of a live run, for machines without Python. `CONFIG` is a file, or `-` for standard
//! input; see [`aqmlab_dataplane::config::Config`].

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [argument] => aqmlab_dataplane::process::main(argument).into(),
        _ => {
            eprintln!("usage: aqmlab-link CONFIG (a JSON file, or - for standard input)");
            2.into()
        }
    }
}
