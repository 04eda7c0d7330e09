//! Reordering: some packets skip the propagation delay, and overtake all that are on the way (netem `reorder P CORRELATION gap N`).
//!
//! After a packet that skipped it, at least N - 1 packets are delayed; from then on each one skips it with probability P. With P = 1
//! every N-th packet does.

use aqmlab_aqm::ParameterError;
use aqmlab_units::{Parameter, ParameterValue, Stream, ValueKind};

use super::correlated::Correlated;
use super::{CORRELATION, PROBABILITY, Settings, number, required};
use crate::link::part::Keys;

/// The key of a link.
pub(super) const KEY: Parameter = Parameter::new(
    "reorder",
    "",
    ValueKind::Number,
    "probability that a packet skips the propagation delay, and overtakes the packets on the way",
)
.from(0.0)
.to(1.0)
.default("0");
const GAP: Parameter =
    Parameter::new("gap", "N", ValueKind::Number, "of so many packets at most one skips the delay")
        .whole()
        .from(1.0)
        .to(1e9)
        .default("1");
/// The keys of a table in place of the probability.
pub(super) const TABLE: &[Parameter] = &[PROBABILITY, CORRELATION, GAP];

/// How often packets skip the delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reorder {
    pub probability: f64,
    pub correlation: f64,
    pub gap: u64,
}

impl Reorder {
    /// No packet skips it.
    pub const NONE: Self = Self { probability: 0.0, correlation: 0.0, gap: 1 };

    /// Read it from the keys of a link; `None` if they do not give any.
    pub fn read(keys: &dyn Keys) -> Result<Option<Self>, ParameterError> {
        let Some(table) = keys.table(KEY.key) else {
            return Ok(number(keys, &KEY).map(|probability| Self { probability, ..Self::NONE }));
        };
        required(&*table, KEY.key, &PROBABILITY)?;
        let Some(probability) = number(&*table, &PROBABILITY) else { return Ok(None) };
        let gap = number(&*table, &GAP).map_or(1, |gap| gap as u64);
        Ok(Some(Self { probability, correlation: number(&*table, &CORRELATION).unwrap_or(0.0), gap }))
    }
}

impl Reorder {
    /// See [`super::Impairments::settings`].
    pub(super) fn settings(&self) -> Settings<'static> {
        if self.probability == 0.0 {
            return Vec::new();
        }
        vec![
            (PROBABILITY.key, ParameterValue::Number(self.probability)),
            (CORRELATION.key, ParameterValue::Number(self.correlation)),
            (GAP.key, ParameterValue::Number(self.gap as f64)),
        ]
    }
}

/// The state of a run.
#[derive(Clone, Debug)]
pub(super) struct State {
    reorder: Reorder,
    numbers: Correlated,
    /// Delayed packets since one skipped the delay.
    count: u64,
}

impl State {
    pub fn new(reorder: Reorder, rng: Stream) -> Self {
        Self { reorder, numbers: Correlated::new(rng, reorder.correlation), count: 0 }
    }

    pub fn change(&mut self, reorder: Reorder) {
        self.reorder = reorder;
        self.numbers.set_correlation(reorder.correlation);
    }

    /// Return whether the next packet skips the delay.
    pub fn skips(&mut self) -> bool {
        let Reorder { probability, gap, .. } = self.reorder;
        let skips = probability > 0.0 && self.count + 1 >= gap && self.numbers.next() < probability;
        self.count = if skips { 0 } else { self.count + 1 };
        skips
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skips(probability: f64, gap: u64, count: usize) -> Vec<bool> {
        let reorder = Reorder { probability, gap, ..Reorder::NONE };
        let mut state = State::new(reorder, Stream::new(5, "reorder"));
        (0..count).map(|_| state.skips()).collect()
    }

    #[test]
    fn the_share_is_one_in_gap_minus_one_and_the_mean_wait() {
        let n = 200_000;
        for (probability, gap) in [(0.25, 1), (0.25, 5), (0.02, 3)] {
            let share = skips(probability, gap, n).iter().filter(|skips| **skips).count() as f64 / n as f64;
            let expected = 1.0 / (gap as f64 - 1.0 + 1.0 / probability);
            assert!((share / expected - 1.0).abs() < 0.05, "{probability}, {gap}: {share} for {expected}");
        }
    }

    #[test]
    fn certain_reordering_takes_every_packet_after_the_gap() {
        let found: Vec<usize> =
            (1..).zip(skips(1.0, 5, 20)).filter(|(_, skips)| *skips).map(|(n, _)| n).collect();
        assert_eq!(found, [5, 10, 15, 20]);
    }
}
