//! Responsiveness under working conditions, in round trips per minute (RPM; draft-ietf-ippm-responsiveness-08, "Aggregating the
//! Measurements", the case without TLS).
//!
//! ```text
//! separate = 60 s / ((TM(tcp_f) + TM(http_f))/2)       RPM = (separate + loaded)/2
//! loaded = 60 s / TM(http_l)
//! ```
//!
//! TM is the mean of the smallest 95 %. A simulation has of it:
//!
//! * tcp_f and http_f, the handshake and the request on a separate connection: the requests for objects of at most 1 kB. The first one of
//!   a connection takes a round trip for the handshake too, and counts with half its time, the mean of both.
//! * http_l, the request on a connection that generates load: the mean of the round-trip times that the senders of endless TCP flows
//!   measured. A request inside such a flow is not simulated, so waiting in the sender's buffer is not in it, and it is not trimmed.
//!
//! The load is the scenario's: connections are not added until goodput is stable, and both directions count together.

use crate::fairness::greedy_flows;
use crate::quantity::Better::Higher;
use crate::quantity::Quantity;
use crate::quantity::View::{Agreement, Notebook, Rfc7928, Scenarios, Spread, SweepReport};
use crate::run::{Run, at};
use crate::sum::mean;

/// Greatest object of a probe in bytes.
const SMALL: f64 = 1000.0;
/// Share of the values that are kept.
const KEPT: f64 = 0.95;

pub(crate) const QUANTITIES: &[Quantity] = &[Quantity::new("rpm", "Responsiveness", "1/min", 0, 158, rpm)
    .doc(
        "round trips per minute under load (draft-ietf-ippm-responsiveness, without TLS): mean of 60 s over the trimmed mean time \
         of requests for at most 1 kB, half of it for the first one of a connection, and of 60 s over the mean RTT of endless TCP flows",
    )
    .head("respon-", "siveness")
    .better(Higher)
    .seldom()
    .hidden(&[SweepReport, Scenarios, Spread, Notebook, Agreement, Rfc7928])];

fn rpm(run: &Run<'_>) -> Option<f64> {
    let numbers = |column| run.numbers("objects", column);
    let (object, bytes) = (numbers("object")?, numbers("bytes")?);
    let (requested, finish) = (numbers("requested_s")?, numbers("finish_s")?);
    let is_probe = |&row: &usize| bytes[row] <= SMALL && !finish[row].is_nan();
    let round_trip = |row: usize| (finish[row] - requested[row]) / if object[row] == 0.0 { 2.0 } else { 1.0 };
    let separate: Vec<_> = (0..bytes.len()).filter(is_probe).map(round_trip).collect();
    let loaded = at(&run.numbers("flows", "mean_rtt_s")?, &greedy_flows(run)?);
    let loaded: Vec<_> = loaded.into_iter().filter(|rtt| !rtt.is_nan()).collect();
    let has_both = !separate.is_empty() && !loaded.is_empty();
    has_both.then(|| f64::midpoint(60.0 / trimmed_mean(separate), 60.0 / mean(&loaded)))
}

/// Return the mean of the smallest 95 % of the values, at least of one.
fn trimmed_mean(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.truncate(((values.len() as f64 * KEPT) as usize).max(1));
    mean(&values)
}

#[cfg(test)]
mod tests {
    use aqmlab_netsim::{Column, Table};

    use super::*;

    #[test]
    fn by_hand() {
        let text = |words: &[&str]| Column::Text(words.iter().collect());
        let links: Table = vec![("link", text(&["a"])), ("aqm", text(&["red"]))];
        let flows: Table = vec![
            ("transport", text(&["reno", "reno", "udp"])),
            ("size_packets", Column::Integer(vec![-1, -1, -1])),
            ("mean_rtt_s", Column::Real(vec![0.1, 0.2, f64::NAN])),
        ];
        // Round trips 0.1 (with handshake) and 0.05 s; a larger object and an unfinished one do not count.
        let objects: Table = vec![
            ("object", Column::Integer(vec![0, 1, 2, 3])),
            ("bytes", Column::Integer(vec![1000, 1000, 1001, 1])),
            ("requested_s", Column::Real(vec![1.0, 2.0, 3.0, 4.0])),
            ("finish_s", Column::Real(vec![1.2, 2.05, 9.0, f64::NAN])),
        ];
        let mut tables = vec![("links", links), ("flows", flows), ("objects", objects)];
        // One of two values is kept: floor(0.95 * 2).
        let found = rpm(&Run::new(&tables, None).unwrap()).unwrap();
        assert!((found - f64::midpoint(60.0 / 0.05, 60.0 / 0.15)).abs() < 1e-9, "{found}");
        tables.pop();
        assert!(rpm(&Run::new(&tables, None).unwrap()).is_none());
    }

    #[test]
    fn the_largest_twentieth_is_left_out() {
        assert_eq!(trimmed_mean((1..=20).map(f64::from).collect()), 10.0);
        assert_eq!(trimmed_mean(vec![3.0]), 3.0);
    }
}
