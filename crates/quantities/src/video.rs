//! Videos, of the whole run, its warm-up included: a video that began early would lose its start.

use crate::quantity::Better::{Higher, Lower};
use crate::quantity::Compared::Tested;
use crate::quantity::View::{Agreement, Laboratory, Notebook, Rfc7928, Spread, SweepReport};
use crate::quantity::{Compared, Groups, Quantity};
use crate::run::Run;
use crate::sum::{mean, pairwise};

pub(crate) const QUANTITIES: &[Quantity] = &[
    Quantity::new("stalled", "Video stalled", "1", 4, 200, |run| Segments::of(run)?.all(Segments::stalled))
        .doc("time that videos stood still / that and the time they played")
        .bounds(0.0, 1.0)
        .head("video", "stalled")
        .percent()
        .better(Lower)
        .compared(Tested)
        .seldom()
        .by_group(Groups {
            title: "",
            head: "",
            doc: "",
            compared: Compared::Tested,
            values: |run| of_groups(run, Segments::stalled),
        })
        .hidden(&[SweepReport, Spread, Notebook, Agreement, Rfc7928]),
    Quantity::new("video_mbps", "Video bit rate", "Mb/s", 3, 210, |run| {
        Segments::of(run)?.all(Segments::mean_mbps)
    })
    .doc("mean over the segments of videos that arrived")
    .head("video", "bit rate")
    .better(Higher)
    .compared(Tested)
    .by_group(Groups {
        title: "",
        head: "",
        doc: "",
        compared: Compared::Tested,
        values: |run| of_groups(run, Segments::mean_mbps),
    })
    .hidden(&[SweepReport, Spread, Notebook, Laboratory, Agreement, Rfc7928]),
];

fn of_groups(run: &Run<'_>, measure: fn(&Segments, &[usize]) -> f64) -> Vec<(String, f64)> {
    let Some(segments) = Segments::of(run) else { return Vec::new() };
    run.by_group("segments", |rows| segments.some(rows, measure))
}

/// The segments of a run's videos. One plays for its bits over its bit rate; a video stands still before a segment, not before
/// its first.
struct Segments {
    bit_rate: Vec<f64>,
    played: Vec<f64>,
    stall: Vec<f64>,
    arrived: Vec<bool>,
}

impl Segments {
    fn of(run: &Run<'_>) -> Option<Self> {
        let numbers = |column| run.numbers("segments", column);
        let bit_rate = numbers("bitrate_bps")?.into_owned();
        let played =
            numbers("bytes")?.iter().zip(&bit_rate).map(|(bytes, rate)| bytes * 8.0 / rate).collect();
        let stall = numbers("stall_s")?.iter().map(|x| if x.is_nan() { 0.0 } else { *x }).collect();
        let arrived = numbers("finish_s")?.iter().map(|at| !at.is_nan()).collect();
        Some(Self { bit_rate, played, stall, arrived })
    }

    fn all(&self, measure: fn(&Self, &[usize]) -> f64) -> Option<f64> {
        self.some(&(0..self.arrived.len()).collect::<Vec<_>>(), measure)
    }

    /// Measure those of some rows that arrived; `None` if none did.
    fn some(&self, rows: &[usize], measure: fn(&Self, &[usize]) -> f64) -> Option<f64> {
        let arrived: Vec<_> = rows.iter().copied().filter(|&row| self.arrived[row]).collect();
        (!arrived.is_empty()).then(|| measure(self, &arrived))
    }

    fn stalled(&self, rows: &[usize]) -> f64 {
        let sum = |of: &[f64]| pairwise(&crate::run::at(of, rows));
        let stalled = sum(&self.stall);
        stalled / (stalled + sum(&self.played))
    }

    fn mean_mbps(&self, rows: &[usize]) -> f64 {
        mean(&crate::run::at(&self.bit_rate, rows)) / 1e6
    }
}
