use aqmlab_units::Time;

use super::{
    ADAPT_CLOCK, ADAPT_INTERVAL, AdaptationContext, AdaptationPart, Adapted, MAX_P_HIGH, MAX_P_LOW, Steps,
};
use crate::ParameterError;
#[cfg(test)]
use crate::Value;
use crate::red::curve::Curve;
use crate::red::part::Part;
#[cfg(test)]
use crate::red::part::tests::Change;
use crate::spec::ParameterReader;
use crate::{Parameter, ValueKind};

/// Adaptive RED (S. Floyd, R. Gummadi and S. Shenker, "Adaptive RED: An Algorithm for Increasing the Robustness of RED's
/// Active Queue Management", 2001, figure 1): max_p moves slowly so that the average stays near the middle.
///
/// ```text
/// every interval:
///   avg > target and max_p <= 0.5     max_p <- max_p + alpha,  alpha = min(0.01, max_p/4)
///   avg < target and max_p >= 0.01    max_p <- max_p beta
/// target = [min_th + 0.4 (max_th - min_th), min_th + 0.6 (max_th - min_th)]
/// ```
///
/// | symbol | field | unit | paper | allowed |
/// |---|---|---|---|---|
/// | alpha | `alpha` | 1 | 0.01 | 0 < alpha <= 1 |
/// | beta | `beta` | 1 | 0.9 | 0 < beta < 1 |
/// | | `bounds` | 1 | 0.01 to 0.5 | in (0, 1] |
///
/// Readings: a step is taken at the first arrival after the interval (`adapt_clock = "arrival"`, ns-2.35) or by a timer
/// of its own; a step may pass a bound, as in the paper, since it is the value before the step that is compared.
#[derive(Clone, Debug)]
pub struct AdaptiveRed {
    /// Largest increment of max_p.
    pub alpha: f64,
    /// Factor by which max_p decreases.
    pub beta: f64,
    /// Between them max_p moves.
    pub bounds: (f64, f64),
}

const PAPER: &str = "Floyd, Gummadi and Shenker 2001";

impl Part for AdaptiveRed {
    const NAME: &'static str = "adaptive-red";
    const DOC: &'static str = "max_p moves slowly so that the average stays in the middle of the thresholds";
    const PARAMETERS: &'static [Parameter] = &[
        ADAPT_INTERVAL,
        ADAPT_CLOCK,
        Parameter::new("ared_alpha", "alpha", ValueKind::Number, "Adaptive RED: largest increment of max_p")
            .above(0.0)
            .to(1.0)
            .source(PAPER),
        Parameter::new(
            "ared_beta",
            "beta",
            ValueKind::Number,
            "Adaptive RED: factor by which max_p decreases",
        )
        .above(0.0)
        .below(1.0)
        .source(PAPER),
        MAX_P_LOW,
        MAX_P_HIGH,
    ];

    #[cfg(test)]
    fn changes() -> Vec<Change> {
        let change = |key, x| Change::to(key, Value::Number(x));
        vec![
            Change::to("adapt_interval", Value::Seconds(0.05)),
            Change::to("adapt_clock", Value::Word("timer".into())),
            change("ared_alpha", 0.5),
            change("ared_beta", 0.1),
            change("max_p_low", 0.3),
            change("max_p_high", 0.02),
        ]
    }
}

impl AdaptationPart for AdaptiveRed {
    const STEPS: Steps = Steps::BeforeDecision(0.5);
    const MULTIPLIES_MAX_P: bool = true;

    fn read(
        reader: &mut ParameterReader<'_>,
        context: &AdaptationContext<'_>,
    ) -> Result<Self, ParameterError> {
        let (alpha, beta) = (reader.number("ared_alpha", 0.01), reader.number("ared_beta", 0.9));
        let bounds = context.max_p_bounds(reader, (0.01, 0.5))?;
        Ok(Self { alpha, beta, bounds })
    }

    fn step<'a>(&mut self, _: Time, _: usize, adapted: impl DoubleEndedIterator<Item = Adapted<'a>>) {
        adapted.for_each(|class| self.step_of(class.average, class.curve));
    }

    fn gauges(&self, _: Time, last: &Curve, out: &mut dyn FnMut(&'static str, f64)) {
        out("max_p", last.max_p());
    }
}

impl AdaptiveRed {
    /// One step of a class.
    fn step_of(&self, average: f64, curve: &mut Curve) {
        let (min_th, max_th) = curve.thresholds();
        let part = 0.4 * (max_th - min_th);
        let max_p = curve.max_p();
        if average > max_th - part && max_p <= self.bounds.1 {
            curve.set_max_p((max_p + self.alpha.min(max_p / 4.0)).min(1.0));
        } else if average < min_th + part && max_p >= self.bounds.0 {
            curve.set_max_p(max_p * self.beta);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::red::curve::Gentle;

    #[test]
    fn by_hand() {
        let rule = AdaptiveRed { alpha: 0.01, beta: 0.9, bounds: (0.01, 0.5) };
        let after = |max_p: f64, average: f64| {
            let mut curve = Curve::Gentle(Gentle { min_th: 5.0, max_th: 15.0, max_p });
            rule.step_of(average, &mut curve);
            (curve.max_p() * 1e9).round() / 1e9
        };
        // The target is 9 to 11.
        assert_eq!((after(0.1, 9.0), after(0.1, 10.0), after(0.1, 11.0)), (0.1, 0.1, 0.1));
        assert_eq!((after(0.1, 11.1), after(0.02, 11.1), after(0.1, 8.9)), (0.11, 0.025, 0.09));
        assert_eq!((after(0.5, 12.0), after(0.51, 12.0)), (0.51, 0.51));
        assert_eq!((after(0.01, 1.0), after(0.009, 1.0)), (0.009, 0.009));
    }
}
