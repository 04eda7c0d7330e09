//! Quantities of TCP flows together, from the table `flows`.

use crate::quantity::Better::{Higher, Lower};
use crate::quantity::Compared::Main;
use crate::quantity::View::{
    Agreement, Answer, Compare, Finding, Laboratory, Notebook, Rfc7928, Scenarios, Spread, SweepReport, Until,
};
use crate::quantity::{Compared, Groups, Quantity};
use crate::run::{Run, at};
use crate::sum::{pairwise, ratio};

macro_rules! in_order {
    () => {
        "bytes of packets delivered in order after the warm-up, headers included; those that had crossed the link before \
         its end, and were on the way or waited for a packet before them, count: it may exceed the link's rate"
    };
}

pub(crate) const QUANTITIES: &[Quantity] = &[
    Quantity::new("goodput_mbps", "TCP goodput", "Mb/s", 3, 110, |run| {
        let goodput = run.numbers("flows", "goodput_bps")?;
        Some(in_turn(&goodput, &tcp_flows(run)?) / 1e6)
    })
    .doc(concat!(in_order!(), ", all TCP flows"))
    .head("TCP", "goodput")
    .better(Higher)
    .compared(Main)
    .by_group(Groups {
        title: "Goodput",
        head: "goodput of",
        doc: concat!(
            in_order!(),
            " (UDP and media: received, with the copies that a channel makes), all flows of the group"
        ),
        compared: Compared::Tested,
        values: |run| {
            let goodput = run.numbers("flows", "goodput_bps").unwrap_or_default();
            run.by_group("flows", |rows| Some(in_turn(&goodput, rows) / 1e6))
        },
    })
    .at(SweepReport, 4)
    .at(Notebook, 1)
    .at(Laboratory, 1)
    .at(Answer, 3)
    .at(Finding, 2)
    .at(Until, 1)
    .hidden(&[Spread, Agreement, Rfc7928]),
    Quantity::new("payload_mbps", "Application goodput", "Mb/s", 3, 115, |run| {
        let payload = run.numbers("flows", "payload_bps")?;
        Some(in_turn(&payload, &tcp_flows(run)?) / 1e6)
    })
    .doc("bytes of payload delivered in order after the warm-up, without headers, all TCP flows")
    .head("payload", "goodput")
    .better(Higher)
    // It is nearly in proportion to the goodput with headers.
    .hidden(&[Compare, SweepReport, Scenarios, Spread, Notebook, Laboratory, Agreement, Rfc7928]),
    Quantity::new("mean_rtt_ms", "Mean RTT", "ms", 2, 130, |run| {
        Some(mean_known(&of_tcp(run, "mean_rtt_s")?) * 1e3)
    })
    .doc("mean of the TCP flows' mean round-trip samples")
    .better(Lower)
    .by_group(Groups {
        title: "",
        head: "RTT of",
        doc: "mean of the mean round-trip samples of the group's flows of TCP and media",
        compared: Compared::Described,
        values: |run| {
            let rtt = run.numbers("flows", "mean_rtt_s").unwrap_or_default();
            let mean = |rows: &[usize]| Some(mean_known(&at(&rtt, rows)) * 1e3).filter(|mean| !mean.is_nan());
            if rtt.is_empty() { Vec::new() } else { run.by_group("flows", mean) }
        },
    })
    .hidden(&[Compare, SweepReport, Scenarios, Spread, Notebook, Laboratory, Rfc7928]),
    Quantity::new("retransmitted", "Retransmitted", "1", 5, 140, |run| {
        Some(ratio(pairwise(&of_tcp(run, "retransmissions")?), pairwise(&of_tcp(run, "sent")?)))
    })
    .doc("retransmissions / packets sent, all TCP flows")
    .bounds(0.0, 1.0)
    .better(Lower)
    .hidden(&[Compare, SweepReport, Scenarios, Spread, Notebook, Laboratory, Rfc7928]),
    Quantity::new("timeouts", "Time-outs", "1", 1, 145, |run| Some(pairwise(&of_tcp(run, "timeouts")?)))
        .doc("retransmission time-outs, all TCP flows")
        .head("time-", "outs")
        .better(Lower)
        .compared(Main)
        .hidden(&[SweepReport, Scenarios, Spread, Notebook, Laboratory, Agreement, Rfc7928]),
];

/// Words of the column `transport` that are not TCP.
const NOT_TCP: [&str; 2] = ["udp", "scream"];

/// Return the rows of the TCP flows that start in the run, or `None` without such flows.
pub(crate) fn tcp_flows(run: &Run<'_>) -> Option<Vec<usize>> {
    let transports = run.words("flows", "transport")?;
    let starts = run.numbers("flows", "start_s");
    let has_started = |row: usize| starts.as_ref().is_none_or(|starts| !starts[row].is_nan());
    let rows: Vec<_> = (0..transports.len())
        .filter(|&row| !NOT_TCP.contains(&transports.get(row)) && has_started(row))
        .collect();
    (!rows.is_empty()).then_some(rows)
}

/// Return a column of the TCP flows.
fn of_tcp(run: &Run<'_>, column: &'static str) -> Option<Vec<f64>> {
    Some(at(&run.numbers("flows", column)?, &tcp_flows(run)?))
}

/// Add one after the other.
fn in_turn(values: &[f64], rows: &[usize]) -> f64 {
    rows.iter().fold(0.0, |sum, &row| sum + values[row])
}

/// Return the mean of the values that are not NaN, which count 0 in their places of the sum.
fn mean_known(values: &[f64]) -> f64 {
    let known: Vec<_> = values.iter().map(|x| if x.is_nan() { 0.0 } else { *x }).collect();
    pairwise(&known) / values.iter().filter(|x| !x.is_nan()).count() as f64
}
