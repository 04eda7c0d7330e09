//! Run a scenario file with one seed and print its costs: the process that `make bench` times.
//!
//! ```text
//! cargo run --release -p aqmlab-scenario --example simulate -- FILE.toml [SEED [events|windows|parallel]] [--set PATH=VALUE]...
//! ```
//!
//! Results are made as for any user: the time of the run ends when all tables are there. The line that is printed has
//! the packets that all links carried, the engine, the events of the event queue, the seconds before the first packet
//! and from there to the end, and the largest size that the process had in memory (KiB; 0 where the system does not report it).

use std::process::exit;
use std::time::Instant;

use aqmlab_netsim::{EngineChoice, Options, Simulation};

const USAGE: &str = "usage: simulate FILE.toml [SEED [events|windows|parallel]] [--set PATH=VALUE]...";

struct Arguments {
    file: String,
    seed: Option<u64>,
    engine: EngineChoice,
    overrides: Vec<(String, String)>,
}

/// Reads the command line; `None` if it is not as [`USAGE`] says.
fn arguments() -> Option<Arguments> {
    let mut words = std::env::args().skip(1);
    let (mut plain, mut overrides) = (Vec::new(), Vec::new());
    while let Some(word) = words.next() {
        if word == "--set" {
            let (path, value) = words.next()?.split_once('=').map(|(p, v)| (p.to_owned(), v.to_owned()))?;
            overrides.push((path, value));
        } else {
            plain.push(word);
        }
    }
    let mut plain = plain.into_iter();
    let file = plain.next()?;
    let seed = plain.next().map(|seed| seed.parse()).transpose().ok()?;
    let engine = match plain.next().as_deref() {
        None => EngineChoice::Auto,
        Some(name) => EngineChoice::find(name)?,
    };
    plain.next().is_none().then_some(Arguments { file, seed, engine, overrides })
}

/// Return the peak resident memory of this process in KiB, as reported by Linux.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

#[expect(clippy::disallowed_methods, reason = "this is where the simulator itself is timed")]
fn main() {
    let Some(Arguments { file, seed, engine, overrides }) = arguments() else {
        eprintln!("{USAGE}");
        exit(2);
    };
    let began = Instant::now();
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| {
        eprintln!("{file}: {error}");
        exit(2);
    });
    let scenario = aqmlab_scenario::parse(&text, &file, &overrides).unwrap_or_else(|problems| {
        problems.iter().for_each(|problem| eprintln!("{problem}"));
        exit(2);
    });
    let options = Options { engine, ..Options::default() };
    let mut simulation = Simulation::new(&scenario.plan, seed.unwrap_or(scenario.seeds[0]), options);
    let set_up = began.elapsed().as_secs_f64();
    simulation.finish();
    let (packet_hops, _) = simulation.totals();
    let (engine, events) = (simulation.engine(), simulation.events());
    let tables = simulation.into_tables();
    let run = began.elapsed().as_secs_f64() - set_up;
    drop(tables);
    print!("packet_hops={packet_hops} engine={engine} events={events} ");
    println!("setup_s={set_up:.6} run_s={run:.6} peak_kib={}", peak_kib());
}
