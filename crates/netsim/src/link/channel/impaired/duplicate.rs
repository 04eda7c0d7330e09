//! Duplication: a second copy of a packet arrives too (netem `duplicate P CORRELATION`).

use aqmlab_aqm::ParameterError;
use aqmlab_units::{Parameter, ParameterValue, Stream, ValueKind};

use super::correlated::Correlated;
use super::{CORRELATION, PROBABILITY, Settings, number, required};
use crate::link::part::Keys;

/// The key of a link.
pub(super) const KEY: Parameter =
    Parameter::new("duplicate", "", ValueKind::Number, "probability that a packet is duplicated")
        .from(0.0)
        .to(1.0)
        .default("0");
/// The keys of a table in place of the probability.
pub(super) const TABLE: &[Parameter] = &[PROBABILITY, CORRELATION];

/// How often packets are duplicated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Duplicate {
    pub probability: f64,
    pub correlation: f64,
}

impl Duplicate {
    /// No packet is.
    pub const NONE: Self = Self { probability: 0.0, correlation: 0.0 };

    /// Read it from the keys of a link; `None` if they do not give any.
    pub fn read(keys: &dyn Keys) -> Result<Option<Self>, ParameterError> {
        let Some(table) = keys.table(KEY.key) else {
            return Ok(number(keys, &KEY).map(|probability| Self { probability, ..Self::NONE }));
        };
        required(&*table, KEY.key, &PROBABILITY)?;
        let Some(probability) = number(&*table, &PROBABILITY) else { return Ok(None) };
        Ok(Some(Self { probability, correlation: number(&*table, &CORRELATION).unwrap_or(0.0) }))
    }
}

impl Duplicate {
    /// See [`super::Impairments::settings`].
    pub(super) fn settings(&self) -> Settings<'static> {
        if self.probability == 0.0 {
            return Vec::new();
        }
        vec![
            (PROBABILITY.key, ParameterValue::Number(self.probability)),
            (CORRELATION.key, ParameterValue::Number(self.correlation)),
        ]
    }
}

/// The state of a run.
#[derive(Clone, Debug)]
pub(super) struct State {
    duplicate: Duplicate,
    numbers: Correlated,
}

impl State {
    pub fn new(duplicate: Duplicate, rng: Stream) -> Self {
        Self { duplicate, numbers: Correlated::new(rng, duplicate.correlation) }
    }

    pub fn change(&mut self, duplicate: Duplicate) {
        self.duplicate = duplicate;
        self.numbers.set_correlation(duplicate.correlation);
    }

    /// Return whether the next packet is duplicated.
    pub fn is_copied(&mut self) -> bool {
        self.duplicate.probability > 0.0 && self.numbers.next() < self.duplicate.probability
    }
}
