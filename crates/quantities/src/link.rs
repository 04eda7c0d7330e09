//! Quantities of the link itself, from its row of the table `links`.

use crate::quantity::Better::{Higher, Lower};
use crate::quantity::Compared::{Described, Main};
use crate::quantity::View::{
    Agreement, Answer, Compare, Finding, Laboratory, Notebook, Rfc7928, Scenarios, Spread, SweepReport, Until,
};
use crate::quantity::{Groups, LimitedBy, Quantity};
use crate::run::{Run, each_of_several};
use crate::sum::ratio;

pub(crate) const QUANTITIES: &[Quantity] = &[
    Quantity::new("throughput_mbps", "Throughput", "Mb/s", 3, 10, |run| {
        Some(run.of_link("throughput_bps")? / 1e6)
    })
    .doc("bits that left the link, all packets, per second")
    .limited_by(LimitedBy::Rate)
    .by_group(by_tin(|run| of_tins(run, throughput_mbps)))
    .head("through-", "put")
    .better(Higher)
    .compared(Main)
    .at(SweepReport, 5)
    .at(Notebook, 2)
    .at(Answer, 4)
    .at(Until, 2)
    .hidden(&[Laboratory, Rfc7928]),
    Quantity::new("utilization", "Utilization", "1", 4, 20, |run| run.of_link("utilization"))
        .doc("share of the time in which a packet was in service; a service waits while the rate is 0 or the link is down")
        .bounds(0.0, 1.0)
        .better(Higher)
        .hidden(&[Compare, SweepReport, Scenarios, Spread, Notebook, Rfc7928]),
    Quantity::new("capacity_used", "Capacity used", "1", 4, 25, |run| {
        Some(ratio(run.of_link("throughput_bps")?, run.of_link("capacity_bps")?))
    })
    .doc("bits of packets that left the link / bits that its server could send, which for Wi-Fi, DOCSIS and token buckets is a mean of long times; overhead and cells take a share of it, too")
    .bounds(0.0, 1.0)
    .head("capacity", "used")
    .percent()
    .better(Higher)
    // Of a constant rate it is the utilization.
    .hidden(&[Compare, SweepReport, Scenarios, Spread, Notebook, Laboratory, Rfc7928]),
    Quantity::new("loss", "Loss", "1", 5, 30, |run| {
        Some(ratio(run.of_link("drops")?, run.of_link("arrivals")?))
    })
    .doc("packets dropped / packets offered to the link's queue; in a tin: / packets that left or were dropped")
    .bounds(0.0, 1.0)
    .by_group(by_tin(|run| of_tins(run, |run, row| share_of_tin(run, row, "drops"))))
    .head("", "loss")
    .percent()
    .better(Lower)
    .compared(Main)
    .at(SweepReport, 3)
    .at(Notebook, 6)
    .at(Answer, 2)
    .at(Finding, 3)
    .hidden(&[Rfc7928]),
    Quantity::new("marks", "Marks", "1", 5, 40, |run| {
        Some(ratio(run.of_link("marks")?, run.of_link("arrivals")?))
    })
    .doc("packets marked (ECN) / packets offered to the link's queue; in a tin: / packets that left or were dropped")
    .bounds(0.0, 1.0)
    .by_group(by_tin(|run| of_tins(run, |run, row| share_of_tin(run, row, "marks"))))
    .seldom()
    .hidden(&[Compare, SweepReport, Scenarios, Spread, Notebook, Rfc7928]),
    Quantity::new("mean_queue", "Mean queue", "packets", 2, 50, |run| run.of_link("mean_queue"))
        .doc("time average of the packets waiting, without the one in service")
        .limited_by(LimitedBy::Buffer)
        .head("mean", "queue")
        .better(Lower)
        .compared(Main)
        .at(Notebook, 5)
        .at(Answer, 1)
        .hidden(&[SweepReport, Scenarios, Spread]),
    Quantity::new("max_queue", "Largest queue", "packets", 1, 55, |run| run.of_link("max_queue"))
        .doc("largest number of packets waiting, without the one in service")
        .limited_by(LimitedBy::Buffer)
        .head("largest", "queue")
        .better(Lower),
    Quantity::new("mean_average", "RED's average", "packets", 2, 60, |run| {
        run.of_link("mean_average")
    })
    .doc("mean of RED's average as each arrival found it, without idle time; 0 of drop-tail, none of other disciplines")
    .hidden(&[Compare, SweepReport, Scenarios, Spread, Notebook, Laboratory, Rfc7928]),
    Quantity::new("sd_average", "S.d. of RED's average", "packets", 2, 70, |run| {
        run.of_link("sd_average")
    })
    .doc("standard deviation of RED's average as each arrival found it")
    .hidden(&[Compare, SweepReport, Scenarios, Spread, Notebook, Laboratory, Agreement, Rfc7928]),
    Quantity::new("outage_losses", "Losses at outages", "packets", 0, 75, outage_losses)
        .doc("packets that arrived while the link was down, were flushed or cut off when it went down; none in runs without such losses")
        .head("outage", "losses")
        .better(Lower)
        .seldom()
        .hidden(&[SweepReport, Scenarios, Spread, Notebook, Agreement, Rfc7928]),
    Quantity::new("channel_losses", "Losses in the channel", "packets", 0, 76, |run| {
        run.of_channel("losses")
    })
    .doc("packets that left the link and were lost in its channel; none without such a channel")
    .head("channel", "losses")
    .better(Lower)
    .seldom()
    .hidden(&[Rfc7928]),
    Quantity::new("channel_loss_rate", "Loss in the channel", "1", 5, 77, |run| {
        Some(ratio(run.of_channel("losses")?, run.of_link("departures")?))
    })
    .doc("packets lost in the link's channel / packets that left the link; none without such a channel")
    .bounds(0.0, 1.0)
    .head("channel", "loss")
    .percent()
    .better(Lower)
    .seldom()
    .hidden(&[Rfc7928]),
    Quantity::new("channel_overtaking_rate", "Overtaking in the channel", "1", 5, 78, |run| {
        Some(ratio(run.of_channel("overtaking")?, run.of_link("departures")?))
    })
    .doc("packets that overtook an earlier one in the link's channel / packets that left the link")
    .bounds(0.0, 1.0)
    .head("over-", "taking")
    .percent()
    .better(Lower)
    .seldom()
    .hidden(&[Rfc7928]),
];

/// The quantity for each tin of CAKE with arrivals. `compare` tests no differences, because other disciplines lack tins.
const fn by_tin(values: fn(&Run<'_>) -> Vec<(String, f64)>) -> Groups {
    Groups { title: "", head: "", doc: "", compared: Described, values }
}

/// Measure the tins of the link, by their rows in the table of tins.
fn of_tins(run: &Run<'_>, measure: fn(&Run<'_>, usize) -> Option<f64>) -> Vec<(String, f64)> {
    let (Some(links), Some(tins)) = (run.words("tins", "link"), run.words("tins", "tin")) else {
        return Vec::new();
    };
    let is_used = |row: &usize| packets_of_tin(run, *row).is_some_and(|packets| packets > 0.0);
    let rows = (0..links.len()).filter(|&row| links.get(row) == run.link()).filter(is_used).collect();
    each_of_several(&tins, rows, |rows| measure(run, rows[0]))
}

/// Return the packets that left a tin or were dropped.
fn packets_of_tin(run: &Run<'_>, row: usize) -> Option<f64> {
    let count = |column| Some(run.numbers("tins", column)?[row]);
    Some(count("packets")? + count("drops")? + count("ack_drops")?)
}

fn share_of_tin(run: &Run<'_>, row: usize, column: &'static str) -> Option<f64> {
    Some(ratio(run.numbers("tins", column)?[row], packets_of_tin(run, row)?))
}

fn throughput_mbps(run: &Run<'_>, row: usize) -> Option<f64> {
    let share = ratio(run.numbers("tins", "bytes")?[row], run.of_link("departed_bytes")?);
    Some(share * run.of_link("throughput_bps")? / 1e6)
}

/// The reasons of drops at a link that is down (`netsim/src/link/outage.rs`).
const OUTAGES: [&str; 3] = ["down", "flushed", "cut"];

/// Return the packets lost at outages; `None` if there were none.
fn outage_losses(run: &Run<'_>) -> Option<f64> {
    let (links, reasons) = (run.words("drop_reasons", "link")?, run.words("drop_reasons", "reason")?);
    let drops = run.numbers("drop_reasons", "drops")?;
    let counts = |&row: &usize| links.get(row) == run.link() && OUTAGES.contains(&reasons.get(row));
    let lost: Vec<_> = (0..drops.len()).filter(counts).map(|row| drops[row]).collect();
    (!lost.is_empty()).then(|| lost.iter().sum())
}
