//! A cellular link, whose rate wanders, with outages: `rate = { cellular = "12Mbps" }`.
//!
//! The process is the one by which Sprout forecasts such links (Winstein, Sivaraman and Balakrishnan, "Stochastic Forecasts Achieve High
//! Throughput and Low Delay over Cellular Networks", NSDI 2013, section 3): the rate is one of 256 values from 0 to the highest one; every
//! 20 ms it moves by a normal step whose variance grows with time (Brownian motion); a rate of 0 is an outage, which may end
//! only with probability 1 - exp(-t / outage) in a time t.
//!
//! Readings that were chosen:
//!
//! * Steps beyond 0 and beyond the highest rate are reflected. All rates above 0 are then equally probable, and an outage is 1 / p times as
//!   probable as each of them, where p is the probability by which it may end in one step: the chain is reversible, for a step from rate to
//!   rate is as probable as the step back. It starts in that distribution.
//! * Between steps the rate is constant. Sprout's packets leave at random within a step (a Poisson process); these leave evenly.

use aqmlab_aqm::ParameterError;
use aqmlab_units::{Parameter, ParameterValue, Rate, Span, Stream, Time, ValueKind};

use super::piecewise::Piecewise;
use super::{InService, Server, ServerPart};
use crate::link::part::Keys;

const SPROUT: &str = "Winstein et al. (NSDI 2013)";

const HIGHEST: Parameter = Parameter::new("cellular", "", ValueKind::Rate, "highest rate of a cellular link");
const VOLATILITY: Parameter = Parameter::new(
    "volatility",
    "sigma",
    ValueKind::Number,
    "standard deviation of the change of the rate in a second, as a share of the highest rate",
)
.from(1e-3)
.to(10.0)
.default("0.2")
.source(SPROUT);
const OUTAGE: Parameter =
    Parameter::new("outage", "1/lambda_z", ValueKind::Time, "mean time until an outage may end")
        .from(0.0)
        .to(3600.0)
        .default("1s")
        .source(SPROUT);
const STEP: Parameter = Parameter::new("step", "tau", ValueKind::Time, "time between changes of the rate")
    .from(1e-4)
    .to(10.0)
    .default("20ms")
    .source(SPROUT);

/// The rates are 0 and 255 above it.
const TOP: u32 = 255;

/// The server of a cellular link.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cellular {
    highest: Rate,
    volatility: f64,
    outage: Span,
    step: Span,
    in_service: InService,
}

impl Cellular {
    /// Return the probability by which an outage may end in a step.
    fn may_end(&self) -> f64 {
        if self.outage == Span::ZERO { 1.0 } else { -libm::expm1(-self.step.secs() / self.outage.secs()) }
    }

    /// Return the share of time in outages.
    fn outage_share(&self) -> f64 {
        1.0 / (1.0 + f64::from(TOP) * self.may_end())
    }

    fn walk(&self, seed: u64, link: &str) -> Walk {
        let mut rng = Stream::new(seed, &format!("cellular {link}"));
        let is_outage = rng.uniform() < self.outage_share();
        let level = if is_outage { 0 } else { 1 + rng.below(TOP.into()) as u32 };
        let deviation = self.volatility * f64::from(TOP) * libm::sqrt(self.step.secs());
        Walk {
            rng,
            level,
            deviation,
            may_end: self.may_end(),
            highest: self.highest,
            step: self.step,
            time: Time::ZERO,
        }
    }
}

impl ServerPart for Cellular {
    const IS_RATE_OVER_TIME: bool = true;
    const PARAMETERS: &'static [Parameter] = &[HIGHEST, VOLATILITY, OUTAGE, STEP];
    type State = Piecewise<Walk>;

    fn read(keys: &dyn Keys) -> Result<Option<Self>, ParameterError> {
        let Some(ParameterValue::Rate(highest)) = keys.value(&HIGHEST) else { return Ok(None) };
        Ok(Some(Self {
            highest,
            volatility: keys.number(&VOLATILITY, 0.2),
            outage: keys.time(&OUTAGE, Span::from_millis(1000)),
            step: keys.time(&STEP, Span::from_millis(20)),
            in_service: InService::default(),
        }))
    }

    fn rate(&self) -> Rate {
        // The mean of the rates above 0 is (TOP + 1) / (2 TOP) of the highest.
        let above = (1.0 - self.outage_share()) * f64::from(TOP + 1) / f64::from(2 * TOP);
        Rate((self.highest.bps() * above).max(1.0) as u64)
    }

    fn fastest(&self) -> Rate {
        self.highest
    }

    fn longest(&self, bytes: u64) -> Span {
        // Outages have no longest length. A hundred times the mean length of all that happens is far beyond all draws.
        (self.rate().time_of(bytes)
            + self.outage
            + Span::from_secs(1.0 / (self.volatility * self.volatility)))
            * 100
    }

    fn with_in_service(self, in_service: InService) -> Server {
        Self { in_service, ..self }.into()
    }

    fn in_service(&self) -> InService {
        self.in_service
    }

    fn uses_in_service(&self) -> bool {
        true
    }

    fn start(&self, seed: u64, link: &str) -> Self::State {
        let walk = self.walk(seed, link);
        Piecewise::new(walk.rate(), walk, self.in_service)
    }
}

/// The rate of a cellular link: its level of [`TOP`], and all that its changes depend on.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    rng: Stream,
    level: u32,
    /// Standard deviation of a step, in levels.
    deviation: f64,
    may_end: f64,
    highest: Rate,
    step: Span,
    time: Time,
}

impl Walk {
    fn rate(&self) -> Rate {
        Rate((u128::from(self.highest.0) * u128::from(self.level) / u128::from(TOP)) as u64)
    }
}

impl Iterator for Walk {
    type Item = (Time, Rate);

    fn next(&mut self) -> Option<Self::Item> {
        self.time += self.step;
        if self.level > 0 || self.rng.uniform() < self.may_end {
            let to = i64::from(self.level) + (self.deviation * self.rng.normal()).round() as i64;
            let folded = to.rem_euclid(i64::from(2 * TOP + 2)) as u32;
            self.level = folded.min(2 * TOP + 1 - folded);
        }
        Some((self.time, self.rate()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cellular() -> Cellular {
        let (outage, step) = (Span::from_millis(1000), Span::from_millis(20));
        Cellular {
            highest: Rate(TOP as u64 * 1000),
            volatility: 0.2,
            outage,
            step,
            in_service: InService::default(),
        }
    }

    fn levels(cellular: &Cellular, seed: u64, steps: usize) -> impl Iterator<Item = u32> {
        cellular.walk(seed, "a->b").take(steps).map(|(_, rate)| (rate.0 / 1000) as u32)
    }

    #[test]
    fn the_distribution_is_that_of_the_closed_form() {
        let cellular = cellular();
        // 1 - exp(-0.02) = 0.0198013: 1 / (1 + 255 * 0.0198013) = 0.165307.
        assert!((cellular.outage_share() - 0.165_307).abs() < 1e-6);
        let (n, mut quarters, mut outages, mut sum) = (1_500_000, [0u32; 5], 0, 0u64);
        for level in levels(&cellular, 1, n) {
            outages += u32::from(level == 0);
            quarters[if level == 0 { 4 } else { (level as usize - 1) / 64 }] += 1;
            sum += u64::from(level);
        }
        let share = |count: u32| f64::from(count) / n as f64;
        assert!((share(outages) - 0.1653).abs() < 0.01, "{}", share(outages));
        // 64, 64, 64 and 63 rates of the 255 above 0.
        for (quarter, rates) in quarters.iter().zip([64.0, 64.0, 64.0, 63.0]) {
            assert!((share(*quarter) - 0.834_693 * rates / 255.0).abs() < 0.01, "{quarters:?}");
        }
        let mean = sum as f64 * 1000.0 / n as f64;
        assert!((mean / cellular.rate().bps() - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn outages_last_as_long_as_they_may_not_end() {
        // An outage goes on in a step if it may not end, or if the step leads to 0: from -1.5 to 0.5 of a deviation of 7.212 levels, which
        // has probability 0.11009. So it lasts 1 / (0.0198013 * 0.88991) = 56.75 steps in the mean.
        let (mut lengths, mut length) = (Vec::new(), 0u32);
        for level in levels(&cellular(), 2, 1_500_000) {
            if level == 0 {
                length += 1;
            } else if length > 0 {
                lengths.push(f64::from(std::mem::take(&mut length)));
            }
        }
        let (n, mean) = (lengths.len() as f64, lengths.iter().sum::<f64>() / lengths.len() as f64);
        assert!(n > 3000.0 && (mean - 56.75).abs() < 4.0 * 56.75 / n.sqrt(), "{n} {mean}");
        // Geometric: the share of those that are longer than the mean is near 1 / e.
        let longer = lengths.iter().filter(|&&length| length > 56.0).count() as f64 / n;
        assert!((longer - libm::pow(1.0 - 1.0 / 56.75, 56.0)).abs() < 0.02, "{longer}");
    }

    #[test]
    fn a_second_changes_the_rate_by_the_volatility() {
        let mut walk = cellular().walk(3, "a->b");
        let mut changes = Vec::new();
        for _ in 0..4000 {
            walk.level = 128;
            for _ in 0..50 {
                walk.next();
            }
            changes.push((f64::from(walk.level) - 128.0) / 255.0);
        }
        let variance = changes.iter().map(|x| x * x).sum::<f64>() / changes.len() as f64;
        // Few steps reach an end, 2.5 deviations away.
        assert!((variance.sqrt() - 0.2).abs() < 0.01, "{}", variance.sqrt());
    }

    #[test]
    fn no_outage_time_means_one_level_of_256() {
        let cellular = Cellular { outage: Span::ZERO, ..cellular() };
        assert_eq!(cellular.outage_share(), 1.0 / 256.0);
        let outages = levels(&cellular, 4, 1_000_000).filter(|level| *level == 0).count();
        assert!((outages as f64 / 1e6 - 1.0 / 256.0).abs() < 5e-4, "{outages}");
    }

    #[test]
    fn rates_depend_on_seed_and_link() {
        let head = |seed, link| cellular().walk(seed, link).take(20).collect::<Vec<_>>();
        assert_eq!(head(1, "a"), head(1, "a"));
        assert_ne!(head(1, "a"), head(2, "a"));
        assert_ne!(head(1, "a"), head(1, "b"));
    }
}
