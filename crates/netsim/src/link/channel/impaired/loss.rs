//! Loss of packets: independent, in bursts, or of given packets.
//!
//! | model | keys | source |
//! |---|---|---|
//! | Bernoulli | `probability`, `correlation` | netem `loss random P CORRELATION` |
//! | Gilbert-Elliott | `p`, `r`, `bad_loss` (1 - h), `good_loss` (1 - k) | E. O. Elliott, "Estimates of Error Rates for Codes on Burst-Noise Channels", BSTJ 42, 1963; netem `loss gemodel p r 1-h 1-k` |
//! | list | `packets`, `period` | numbers of lost packets |
//!
//! Gilbert-Elliott is a chain of two states, good at the start. At each packet it goes from good to bad with probability p and
//! back with r; the state before that decides, with the loss probability 1 - k (good) or 1 - h (bad). Thus the share of bad is
//! p / (p + r), the loss rate (p (1 - h) + r (1 - k)) / (p + r), and with h = 0, k = 1 the length of a burst is geometric with
//! mean 1 / r.
//!
//! A packet is lost if its number is below the probability. With a correlation the numbers are not uniform
//! ([`Correlated`]), so the loss rate is below a probability that is below 1/2, as in Linux.

use std::sync::Arc;

use aqmlab_aqm::ParameterError;
use aqmlab_units::{Parameter, ParameterValue, Stream, ValueKind};

use super::correlated::Correlated;
use super::{CORRELATION, PROBABILITY, Settings, number};
use crate::link::part::Keys;

/// The key of a link.
pub(super) const KEY: Parameter =
    Parameter::new("loss", "", ValueKind::Number, "probability that a packet is lost")
        .from(0.0)
        .to(1.0)
        .default("0");
const P: Parameter = Parameter::new(
    "p",
    "p",
    ValueKind::Number,
    "Gilbert-Elliott: probability of going from good to bad at a packet",
)
.from(0.0)
.to(1.0);
const R: Parameter = Parameter::new(
    "r",
    "r",
    ValueKind::Number,
    "Gilbert-Elliott: probability of going from bad to good; 1 - p if absent",
)
.from(0.0)
.to(1.0);
const BAD_LOSS: Parameter = Parameter::new(
    "bad_loss",
    "1-h",
    ValueKind::Number,
    "Gilbert-Elliott: probability of a loss in the bad state",
)
.from(0.0)
.to(1.0)
.default("1");
const GOOD_LOSS: Parameter = Parameter::new(
    "good_loss",
    "1-k",
    ValueKind::Number,
    "Gilbert-Elliott: probability of a loss in the good state",
)
.from(0.0)
.to(1.0)
.default("0");
const PACKETS: Parameter = Parameter::new(
    "packets",
    "",
    ValueKind::Numbers,
    "numbers of the lost packets, counted from 1 in the order of services, or the name of a file with them",
);
const PERIOD: Parameter = Parameter::new(
    "period",
    "",
    ValueKind::Number,
    "packets after which the list of lost packets repeats; never if absent",
)
.whole()
.from(1.0)
.to(1e15);
/// The keys of a table in place of the probability.
pub(super) const TABLE: &[Parameter] =
    &[PROBABILITY, CORRELATION, P, R, BAD_LOSS, GOOD_LOSS, PACKETS, PERIOD];

/// A model of losses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Loss {
    /// With a probability, and a correlation of the numbers by which that is decided.
    Bernoulli { probability: f64, correlation: f64 },
    /// With two states.
    GilbertElliott { p: f64, r: f64, bad: f64, good: f64 },
    /// The packets with these numbers, rising from 1, and again after a period.
    List { packets: Arc<[u64]>, period: Option<u64> },
}

impl Loss {
    /// No packet is lost.
    pub const NONE: Self = Self::Bernoulli { probability: 0.0, correlation: 0.0 };

    /// Read the model that the keys of a link select; `None` if they select none.
    pub fn read(keys: &dyn Keys) -> Result<Option<Self>, ParameterError> {
        let Some(table) = keys.table(KEY.key) else {
            let probability = number(keys, &KEY);
            return Ok(probability.map(|probability| Self::Bernoulli { probability, correlation: 0.0 }));
        };
        let of = |keys: &[Parameter]| keys.iter().find(|key| table.has(key.key)).map(|key| key.key);
        let models =
            [of(&[PROBABILITY, CORRELATION]), of(&[P, R, BAD_LOSS, GOOD_LOSS]), of(&[PACKETS, PERIOD])];
        let mut given = models.into_iter().flatten();
        let (first, second) = (given.next(), given.next());
        if let (Some(first), Some(second)) = (first, second) {
            let message = format!("{second} belongs to another model of losses than {first}");
            return Err(error(&format!("{}.{second}", KEY.key), message));
        }
        let needs = |key: &Parameter| {
            (!table.has(key.key)).then(|| error(KEY.key, format!("the table has no {}", key.key)))
        };
        let number = |key| number(&*table, key);
        let missing = match models {
            [Some(_), ..] => needs(&PROBABILITY),
            [_, Some(_), _] => needs(&P),
            [.., Some(_)] => needs(&PACKETS),
            _ => Some(error(KEY.key, "an empty table".to_owned())),
        };
        if let Some(missing) = missing {
            return Err(missing);
        }
        if let Some(probability) = number(&PROBABILITY) {
            return Ok(Some(Self::Bernoulli {
                probability,
                correlation: number(&CORRELATION).unwrap_or(0.0),
            }));
        }
        if let Some(p) = number(&P) {
            let r = number(&R).unwrap_or(1.0 - p);
            let (bad, good) = (number(&BAD_LOSS).unwrap_or(1.0), number(&GOOD_LOSS).unwrap_or(0.0));
            return Ok(Some(Self::GilbertElliott { p, r, bad, good }));
        }
        let Some(ParameterValue::Numbers(packets)) = table.value(&PACKETS) else { return Ok(None) };
        let wrong = |message| Err(error(&format!("{}.{}", KEY.key, PACKETS.key), message));
        if packets.first() == Some(&0) {
            return wrong("packets are counted from 1".to_owned());
        }
        if let Some(pair) = packets.windows(2).find(|pair| pair[0] >= pair[1]) {
            return wrong(format!("packet {} follows packet {}", pair[1], pair[0]));
        }
        let period = number(&PERIOD).map(|period| period as u64);
        if let (Some(period), Some(last)) = (period, packets.last())
            && *last > period
        {
            return wrong(format!("packet {last} is after the period of {period} packets"));
        }
        Ok(Some(Self::List { packets: packets.into(), period }))
    }

    /// See [`super::Impairments::settings`].
    pub(super) fn settings(&self) -> Settings<'_> {
        let number = |key: Parameter, x: f64| (key.key, ParameterValue::Number(x));
        match self {
            Self::Bernoulli { probability: 0.0, .. } => Vec::new(),
            Self::Bernoulli { probability, correlation } => {
                vec![number(PROBABILITY, *probability), number(CORRELATION, *correlation)]
            }
            Self::GilbertElliott { p, r, bad, good } => {
                vec![number(P, *p), number(R, *r), number(BAD_LOSS, *bad), number(GOOD_LOSS, *good)]
            }
            Self::List { packets, period } => {
                let list = (PACKETS.key, ParameterValue::Numbers(packets.to_vec()));
                let period = period.map(|period| number(PERIOD, period as f64));
                [list].into_iter().chain(period).collect()
            }
        }
    }
}

fn error(key: &str, message: String) -> ParameterError {
    let allowed =
        "probability with correlation; p with r, bad_loss, good_loss; or packets, rising from 1, with period";
    ParameterError { key: key.to_owned(), message, allowed: allowed.to_owned() }
}

/// The state of a model.
#[derive(Clone, Debug)]
pub(super) struct State {
    model: Loss,
    numbers: Correlated,
    is_bad: bool,
    /// Packets so far, in this period.
    count: u64,
    /// The place in the list of the next packet to be lost.
    next: usize,
}

impl State {
    pub fn new(model: &Loss, rng: Stream) -> Self {
        let numbers = Correlated::new(rng, correlation(model));
        Self { model: model.clone(), numbers, is_bad: false, count: 0, next: 0 }
    }

    /// Replace the model; a chain begins in its good state, a list at its first packet.
    pub fn change(&mut self, model: &Loss) {
        self.numbers.set_correlation(correlation(model));
        *self =
            Self { model: model.clone(), numbers: self.numbers.clone(), is_bad: false, count: 0, next: 0 };
    }

    /// Return whether the next packet is lost.
    pub fn is_lost(&mut self) -> bool {
        match &self.model {
            Loss::Bernoulli { probability, .. } if *probability == 0.0 => false,
            Loss::Bernoulli { probability, .. } => self.numbers.next() < *probability,
            Loss::GilbertElliott { p, r, bad, good } => {
                let (leaves, loss) = if self.is_bad { (*r, *bad) } else { (*p, *good) };
                self.is_bad ^= self.numbers.next() < leaves;
                self.numbers.next() < loss
            }
            Loss::List { packets, period } => {
                if period.is_some_and(|period| self.count == period) {
                    (self.count, self.next) = (0, 0);
                }
                self.count += 1;
                let is_lost = packets.get(self.next) == Some(&self.count);
                self.next += usize::from(is_lost);
                is_lost
            }
        }
    }
}

fn correlation(model: &Loss) -> f64 {
    if let Loss::Bernoulli { correlation, .. } = model { *correlation } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(model: &Loss, count: usize) -> Vec<bool> {
        let mut state = State::new(model, Stream::new(7, "loss"));
        (0..count).map(|_| state.is_lost()).collect()
    }

    /// Lengths of runs of losses.
    fn bursts(losses: &[bool]) -> Vec<usize> {
        let runs = losses.chunk_by(|a, b| a == b);
        runs.filter(|run| run[0]).map(<[bool]>::len).collect()
    }

    fn share(losses: &[bool]) -> f64 {
        losses.iter().filter(|lost| **lost).count() as f64 / losses.len() as f64
    }

    #[test]
    fn independent_losses_have_their_rate_and_geometric_bursts() {
        let n = 400_000;
        for probability in [0.01, 0.3] {
            let found = losses(&Loss::Bernoulli { probability, correlation: 0.0 }, n);
            let sd = (probability * (1.0 - probability) / n as f64).sqrt();
            assert!((share(&found) - probability).abs() < 4.0 * sd, "{}", share(&found));
            let bursts = bursts(&found);
            let mean = bursts.iter().sum::<usize>() as f64 / bursts.len() as f64;
            assert!((mean * (1.0 - probability) - 1.0).abs() < 0.02, "{mean}");
        }
        assert!(losses(&Loss::NONE, 1000).iter().all(|lost| !lost));
        assert!(
            losses(&Loss::Bernoulli { probability: 1.0, correlation: 0.0 }, 1000).iter().all(|lost| *lost)
        );
    }

    #[test]
    fn gilbert_elliott_has_its_rate_and_the_bursts_of_its_closed_form() {
        let n = 1_000_000;
        for (p, r, bad, good) in [(0.01, 0.25, 1.0, 0.0), (0.02, 0.1, 0.6, 0.001), (0.3, 0.9, 1.0, 0.0)] {
            let model = Loss::GilbertElliott { p, r, bad, good };
            let found = losses(&model, n);
            let rate = (p * bad + r * good) / (p + r);
            // The losses of a state are correlated over about 2 / (p + r) packets.
            let sd = (rate * (1.0 - rate) * 2.0 / (p + r) / n as f64).sqrt();
            assert!((share(&found) - rate).abs() < 4.0 * sd, "{} for {rate}", share(&found));
            if (bad, good) == (1.0, 0.0) {
                // P(length > k) = (1 - r)^k.
                let bursts = bursts(&found);
                for k in 0..6 {
                    let longer = bursts.iter().filter(|length| **length > k).count() as f64;
                    let expected = libm::pow(1.0 - r, k as f64);
                    let sd = (expected * (1.0 - expected) / bursts.len() as f64).sqrt();
                    let measured = longer / bursts.len() as f64;
                    assert!((measured - expected).abs() <= 4.0 * sd, "{k}: {measured} for {expected}");
                }
            }
            // The autocovariance of losses at lag k is (bad - good)^2 pi_bad pi_good (1 - p - r)^k.
            let x: Vec<f64> = found.iter().map(|lost| f64::from(u8::from(*lost)) - rate).collect();
            let pi = p / (p + r);
            for lag in [1, 3] {
                let measured = x.iter().zip(&x[lag..]).map(|(a, b)| a * b).sum::<f64>() / (n - lag) as f64;
                let expected =
                    (bad - good) * (bad - good) * pi * (1.0 - pi) * libm::pow(1.0 - p - r, lag as f64);
                assert!((measured - expected).abs() < 0.0015, "lag {lag}: {measured} for {expected}");
            }
        }
    }

    #[test]
    fn listed_packets_are_lost_in_each_period() {
        let list = |period| Loss::List { packets: [1, 4].into(), period };
        let numbers = |model: &Loss| -> Vec<usize> {
            (1..).zip(losses(model, 12)).filter(|(_, lost)| *lost).map(|(n, _)| n).collect()
        };
        assert_eq!(numbers(&list(None)), [1, 4]);
        assert_eq!(numbers(&list(Some(5))), [1, 4, 6, 9, 11]);
    }

    #[test]
    fn correlation_makes_losses_fewer_and_burstier() {
        let found = losses(&Loss::Bernoulli { probability: 0.3, correlation: 0.5 }, 200_000);
        // Numbers of variance (1 - rho) / (1 + rho) / 12 are below 0.3 less often.
        assert!((0.1..0.25).contains(&share(&found)), "{}", share(&found));
        let bursts = bursts(&found);
        let mean = bursts.iter().sum::<usize>() as f64 / bursts.len() as f64;
        assert!(mean > 1.2 / (1.0 - share(&found)), "{mean}");
    }
}
