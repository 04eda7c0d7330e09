//! Runs a scenario file with one seed and prints what it cost: the process that `make bench` times.
//!
//! ```text
//! cargo run --release -p aqmlab-scenario --example simulate -- FILE.toml [SEED]
//! ```

use std::time::Instant;

use aqmlab_netsim::{Options, Simulation};

#[expect(clippy::disallowed_methods, reason = "this is where the simulator itself is timed")]
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, file, rest @ ..] = &arguments[..] else {
        eprintln!("usage: simulate FILE.toml [SEED]");
        std::process::exit(2);
    };
    let began = Instant::now();
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| {
        eprintln!("{file}: {error}");
        std::process::exit(2);
    });
    let scenario = aqmlab_scenario::parse(&text, file, &[]).unwrap_or_else(|problems| {
        problems.iter().for_each(|problem| eprintln!("{problem}"));
        std::process::exit(2);
    });
    let seed = rest.first().and_then(|s| s.parse().ok()).unwrap_or(scenario.seeds[0]);
    let mut simulation = Simulation::new(&scenario.plan, seed, Options::default());
    let set_up = began.elapsed().as_secs_f64();
    simulation.finish();
    let run = began.elapsed().as_secs_f64() - set_up;
    let (packet_hops, _) = simulation.totals();
    println!("packet_hops={packet_hops} events={} setup_s={set_up:.6} run_s={run:.6}", simulation.events());
}
