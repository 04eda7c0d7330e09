//! Jitter: a random deviation from the propagation delay.
//!
//! The deviation is J g(x), J the key `deviation`, x a number on [0, 1) ([`Correlated`]) and g by the distribution:
//!
//! | `distribution` | g(x) | mean, s.d. |
//! |---|---|---|
//! | `uniform` | 2 x - 1 | 0, 0.577 |
//! | `normal` | Phi^-1(x), in [-4, 4] | 0, 1 |
//! | `pareto` | 4/3 ((1 - x)^(-1/3) - 3/2), at most 4 | -0.03, 0.82 |
//! | `paretonormal` | 1/4 normal + 3/4 pareto of the same x | -0.03, 0.83 |
//!
//! These are the distributions of netem and of its tables `normal`, `pareto` and `paretonormal` (4096 values each, which the
//! formulas give within their rounding; they end at 4). A packet's delay is at least 0.
//!
//! # Readings
//! * `order = "free"` (default): a packet that is delayed less overtakes, as in netem. `order = "kept"`: delayed packets arrive in the
//!   order in which they left, each at least its transmission time after the one before it, as in netem with `rate`.
//! * `correlation`: of the numbers x, as the manual page of netem describes it. Linux takes x modulo the size of the table (or modulo
//!   2 J in nanoseconds), so that its deviations are nearly independent for all correlations.

use aqmlab_aqm::ParameterError;
use aqmlab_units::{Parameter, ParameterValue, Span, Stream, ValueKind};

use super::correlated::Correlated;
use super::{CORRELATION, Settings, number, required};
use crate::link::part::Keys;

/// The key of a link.
pub(super) const KEY: Parameter = Parameter::new(
    "jitter",
    "",
    ValueKind::Time,
    "largest random deviation from the propagation delay, uniform; overtaking packets are possible",
)
.from(0.0)
.default("0ms");
const DEVIATION: Parameter = Parameter::new(
    "deviation",
    "J",
    ValueKind::Time,
    "scale of the deviation: the largest of uniform, the standard deviation of normal",
)
.from(0.0);
const DISTRIBUTION: Parameter =
    Parameter::new("distribution", "", ValueKind::Choice, "distribution of the deviation, as netem's")
        .or(&["uniform", "normal", "pareto", "paretonormal"])
        .default("uniform");
const ORDER: Parameter = Parameter::new(
    "order",
    "",
    ValueKind::Choice,
    "whether packets that are delayed less overtake others (free, as netem) or not (kept, as netem with rate)",
)
.or(&["free", "kept"])
.default("free");
/// The keys of a table in place of the deviation.
pub(super) const TABLE: &[Parameter] = &[DEVIATION, DISTRIBUTION, CORRELATION, ORDER];

/// Where netem's tables end.
const LARGEST: f64 = 4.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Distribution {
    Uniform,
    Normal,
    Pareto,
    ParetoNormal,
}

/// The distribution of deviations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Jitter {
    pub deviation: Span,
    pub distribution: Distribution,
    pub correlation: f64,
    pub keeps_order: bool,
}

impl Jitter {
    /// Every packet has the same delay.
    pub const NONE: Self = Self {
        deviation: Span::ZERO,
        distribution: Distribution::Uniform,
        correlation: 0.0,
        keeps_order: false,
    };

    /// Read it from the keys of a link; `None` if they do not give any.
    pub fn read(keys: &dyn Keys) -> Result<Option<Self>, ParameterError> {
        let Some(table) = keys.table(KEY.key) else {
            let Some(ParameterValue::Time(deviation)) = keys.value(&KEY) else { return Ok(None) };
            return Ok(Some(Self { deviation, ..Self::NONE }));
        };
        required(&*table, KEY.key, &DEVIATION)?;
        let Some(ParameterValue::Time(deviation)) = table.value(&DEVIATION) else { return Ok(None) };
        let distribution = match table.value(&DISTRIBUTION) {
            Some(ParameterValue::Word("normal")) => Distribution::Normal,
            Some(ParameterValue::Word("pareto")) => Distribution::Pareto,
            Some(ParameterValue::Word("paretonormal")) => Distribution::ParetoNormal,
            _ => Distribution::Uniform,
        };
        let keeps_order = table.value(&ORDER) == Some(ParameterValue::Word("kept"));
        let correlation = number(&*table, &CORRELATION).unwrap_or(0.0);
        Ok(Some(Self { deviation, distribution, correlation, keeps_order }))
    }

    /// See [`super::Impairments::settings`].
    pub(super) fn settings(&self) -> Settings<'static> {
        if self.deviation == Span::ZERO {
            return Vec::new();
        }
        let distribution = match self.distribution {
            Distribution::Uniform => "uniform",
            Distribution::Normal => "normal",
            Distribution::Pareto => "pareto",
            Distribution::ParetoNormal => "paretonormal",
        };
        vec![
            (DEVIATION.key, ParameterValue::Time(self.deviation)),
            (DISTRIBUTION.key, ParameterValue::Word(distribution)),
            (CORRELATION.key, ParameterValue::Number(self.correlation)),
            (ORDER.key, ParameterValue::Word(if self.keeps_order { "kept" } else { "free" })),
        ]
    }

    /// Return the largest deviation towards earlier arrivals.
    pub fn earliest(&self) -> Span {
        let least = match self.distribution {
            Distribution::Uniform => 1.0,
            Distribution::Normal => LARGEST,
            Distribution::Pareto => -pareto(0.0),
            Distribution::ParetoNormal => 0.25 * LARGEST - 0.75 * pareto(0.0),
        };
        // One more, for the rounding.
        Span((self.deviation.0 as f64 * least) as u64 + 1)
    }
}

fn normal(x: f64) -> f64 {
    quantile_of_normal(x).clamp(-LARGEST, LARGEST)
}

/// Pareto of shape 3, its mean 3/2 taken off, scaled by 4/3.
fn pareto(x: f64) -> f64 {
    (4.0 / 3.0 * (1.0 / libm::cbrt(1.0 - x) - 1.5)).min(LARGEST)
}

/// Return the quantile of the standard normal distribution to about 7 digits (M. J. Wichura, "Algorithm AS 241", Applied
/// Statistics 37, 1988, PPND7).
fn quantile_of_normal(x: f64) -> f64 {
    let q = x - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        let above = ((59.109_374_720 * r + 159.291_132_02) * r + 50.434_271_938) * r + 3.387_132_717_9;
        return q * above / (((67.187_563_600 * r + 78.757_757_664) * r + 17.895_169_469) * r + 1.0);
    }
    let tail = x.min(1.0 - x);
    if tail <= 0.0 {
        return if q < 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    let r = libm::sqrt(-libm::log(tail));
    let size = if r <= 5.0 {
        let r = r - 1.6;
        let above = ((0.170_238_211_03 * r + 1.306_728_481_6) * r + 2.756_815_390_0) * r + 1.423_437_277_7;
        above / ((0.120_211_329_75 * r + 0.737_001_642_50) * r + 1.0)
    } else {
        let r = r - 5.0;
        let above = ((0.017_337_203_997 * r + 0.428_682_943_37) * r + 3.081_226_386_0) * r + 6.657_905_115_0;
        above / ((0.012_258_202_635 * r + 0.241_978_942_25) * r + 1.0)
    };
    if q < 0.0 { -size } else { size }
}

/// The state of a run.
#[derive(Clone, Debug)]
pub(super) struct State {
    jitter: Jitter,
    numbers: Correlated,
}

impl State {
    pub fn new(jitter: Jitter, rng: Stream) -> Self {
        Self { jitter, numbers: Correlated::new(rng, jitter.correlation) }
    }

    pub fn change(&mut self, jitter: Jitter) {
        self.jitter = jitter;
        self.numbers.set_correlation(jitter.correlation);
    }

    pub fn keeps_order(&self) -> bool {
        self.jitter.keeps_order
    }

    /// Return the delay of the next packet, from the propagation delay.
    pub fn delay(&mut self, propagation: Span) -> Span {
        if self.jitter.deviation == Span::ZERO {
            return propagation;
        }
        let x = self.numbers.next();
        let g = match self.jitter.distribution {
            Distribution::Uniform => 2.0 * x - 1.0,
            Distribution::Normal => normal(x),
            Distribution::Pareto => pareto(x),
            Distribution::ParetoNormal => 0.25 * normal(x) + 0.75 * pareto(x),
        };
        let deviation = self.jitter.deviation.0 as f64 * g;
        if deviation < 0.0 {
            Span(propagation.0.saturating_sub(-deviation as u64))
        } else {
            propagation + Span(deviation as u64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Quantile = fn(f64) -> f64;

    const J: Span = Span(2_000_000_000);
    const DELAY: Span = Span(20_000_000_000);

    fn deviations(distribution: Distribution, correlation: f64, count: usize) -> Vec<f64> {
        let jitter = Jitter { deviation: J, distribution, correlation, keeps_order: false };
        let mut state = State::new(jitter, Stream::new(3, "jitter"));
        let deviation = |delay: Span| (delay.0 as f64 - DELAY.0 as f64) / J.0 as f64;
        (0..count).map(|_| deviation(state.delay(DELAY))).collect()
    }

    #[test]
    fn quantiles_of_the_normal_distribution() {
        // Python's statistics.NormalDist().inv_cdf.
        for (x, expected) in [
            (0.5, 0.0),
            (0.6, 0.253_347_103_1),
            (0.05, -1.644_853_626_95),
            (0.975, 1.959_963_984_54),
            (1e-5, -4.264_890_793_92),
            (1e-12, -7.034_483_825_31),
        ] {
            assert!((quantile_of_normal(x) - expected).abs() < 2e-6, "{x}: {}", quantile_of_normal(x));
        }
    }

    #[test]
    fn quantiles_are_those_of_the_tables_of_iproute2() {
        // Values at (i + 1/2) / 4096 of the sorted tables, of scale 8192: i = 10, 1024, 2048, 3072, 3996.
        let places = [10.0, 1024.0, 2048.0, 3072.0, 3996.0].map(|i| (i + 0.5) / 4096.0);
        let tables: [(Quantile, [f64; 5]); 3] = [
            (normal, [-2.810_67, -0.674_44, 0.0, 0.674_56, 1.970_58]),
            (pareto, [-0.665_53, -0.532_47, -0.320_07, 0.116_58, 2.596_07]),
            (|x| 0.25 * normal(x) + 0.75 * pareto(x), [-1.201_78, -0.567_87, -0.239_99, 0.255_98, 2.439_70]),
        ];
        for (g, expected) in tables {
            for (x, expected) in places.into_iter().zip(expected) {
                assert!((g(x) - expected).abs() < 0.015, "{x}: {} for {expected}", g(x));
            }
        }
    }

    #[test]
    fn deviations_follow_their_distribution() {
        let n = 40_000;
        let cdf: [(Distribution, Quantile); 4] = [
            (Distribution::Uniform, |x| 2.0 * x - 1.0),
            (Distribution::Normal, normal),
            (Distribution::Pareto, pareto),
            (Distribution::ParetoNormal, |x| 0.25 * normal(x) + 0.75 * pareto(x)),
        ];
        for (distribution, quantile) in cdf {
            let mut found = deviations(distribution, 0.0, n);
            found.sort_by(f64::total_cmp);
            // Kolmogorov and Smirnov: the largest distance in x, at 0.1 %.
            for x in (1..200).map(|i| f64::from(i) / 200.0).filter(|x| quantile(*x) < LARGEST) {
                let below = found.partition_point(|d| *d < quantile(x)) as f64 / n as f64;
                assert!((below - x).abs() < 1.95 / (n as f64).sqrt(), "{distribution:?} {x}: {below}");
            }
            let least = -(Jitter { deviation: J, distribution, correlation: 0.0, keeps_order: false }
                .earliest()
                .0 as f64)
                / J.0 as f64;
            assert!(found[0] >= least, "{distribution:?}: {} before {least}", found[0]);
        }
    }

    #[test]
    fn deviations_have_the_autocorrelation_that_is_asked_for() {
        for correlation in [0.0, 0.25, 0.9] {
            let found = deviations(Distribution::Uniform, correlation, 200_000);
            let mean = found.iter().sum::<f64>() / found.len() as f64;
            let product = |lag: usize| -> f64 {
                found.iter().zip(&found[lag..]).map(|(a, b)| (a - mean) * (b - mean)).sum()
            };
            for lag in [1, 2] {
                let measured = product(lag) / product(0);
                let expected = libm::pow(correlation, lag as f64);
                assert!((measured - expected).abs() < 0.02, "{correlation}, lag {lag}: {measured}");
            }
        }
    }

    #[test]
    fn delays_are_not_negative() {
        let jitter = Jitter { deviation: J, ..Jitter::NONE };
        let mut state = State::new(jitter, Stream::new(3, "jitter"));
        let delays: Vec<_> = (0..1000).map(|_| state.delay(Span(1_000_000_000))).collect();
        let at_once = delays.iter().filter(|delay| **delay == Span::ZERO).count();
        // A quarter of the deviations is below -J / 2.
        assert!((200..300).contains(&at_once), "{at_once}");
    }
}
