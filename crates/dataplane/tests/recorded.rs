//! A capture of a live run, replayed: data plane and simulator repeat the decisions of the live link.
//!
//! `data/live-pc-red` is the beginning of a run of 4 s over two TUN devices: PC-RED with ECN at 10 Mb/s; iperf3 with CUBIC of
//! Linux 6.18 over IPv4 and IPv6 (whose group has priority, by flow label) and UDP of 1.5 Mb/s. `capture.pcap` has the
//! packets that came in, cut to their headers, `decisions.csv` the drops and marks that the link thread wrote down.

use std::fs;
use std::path::Path;

use aqmlab_dataplane::replay::replay_json;
use serde_json::Value;

/// Time in nanoseconds, kind, reason, bytes and flow of a drop or mark.
type Decision = (u64, String, String, u64, u64);

#[test]
fn a_live_run_is_decided_again_as_it_was() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/live-pc-red");
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("a file");
    let live: Vec<Decision> = read("decisions.csv")
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<_> = line.split(',').collect();
            let number = |i: usize| cells[i].parse().expect("a number");
            (number(0), cells[1].to_owned(), cells[2].to_owned(), number(3), number(4))
        })
        .collect();
    let found = replay_json(&read("config.json"), &folder.join("capture.pcap")).expect("a replay");
    let found: Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!(found["differences"], Value::Array(Vec::new()));
    let column = |name: &str| found["events"][name].as_array().expect("a column");
    let number = |name: &str, i: usize| column(name)[i].as_u64().expect("a number");
    let word = |name: &str, i: usize| column(name)[i].as_str().expect("a word").to_owned();
    let replayed: Vec<Decision> = (0..column("t_ps").len())
        .filter(|&i| ["d", "m"].contains(&word("kind", i).as_str()))
        .map(|i| {
            (
                number("t_ps", i) / 1000,
                word("kind", i),
                word("reason", i),
                number("bytes", i),
                number("flow", i),
            )
        })
        .collect();
    assert!(live.len() > 100 && live.iter().any(|decision| decision.1 == "m"));
    // The capture ends before the run; what was in the queue then is judged without what came next.
    assert_eq!(replayed[..live.len()], live);
}
