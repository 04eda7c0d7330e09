//! Replays a capture through the data plane and through the simulator: `replay CONFIG CAPTURE`, the configuration being that
//! of the link process that wrote the capture. Prints what became of the packets, and where the two differ.

use std::path::Path;
use std::process::ExitCode;

use aqmlab_dataplane::replay::replay_json;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [config, capture] = arguments.as_slice() else {
        eprintln!("usage: replay CONFIG CAPTURE");
        return ExitCode::from(2);
    };
    let found = std::fs::read_to_string(config)
        .map_err(|error| format!("{config}: {error}"))
        .and_then(|config| replay_json(&config, Path::new(capture)));
    match found {
        Ok(found) => {
            println!("{found}");
            ExitCode::SUCCESS
        }
        Err(wrong) => {
            eprintln!("{wrong}");
            ExitCode::FAILURE
        }
    }
}
