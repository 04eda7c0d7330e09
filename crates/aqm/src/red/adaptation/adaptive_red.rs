use aqmlab_units::Time;

use super::{
    ADAPT_CLOCK, ADAPT_INTERVAL, AdaptationContext, AdaptationPart, Adapted, GENTLE_SLOPE, GentleSlope,
    IntegerCurve, MAX_P_HIGH, MAX_P_LOW, Steps,
};
use crate::ParameterError;
#[cfg(test)]
use crate::Value;
use crate::red::curve::{Curve, CurveTable, LinuxCurve, ONE, fixed};
use crate::red::part::Part;
#[cfg(test)]
use crate::red::part::tests::Change;
use crate::spec::ParameterReader;
use crate::{Parameter, ValueKind, names};

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
/// of its own; a step may pass a bound, as in the paper, since it is the value before the step that is compared. The
/// interval begins with each step, or with each change of max_p (`adapt_from = "last-change"`, ns-2.35: once the average
/// has stayed in the target for an interval, the first arrival that finds it outside moves max_p); ns-2.35 then also leaves
/// a max_p that is equal to the bound. With gentle RED the slope above max_th moves with max_p, or not (ns-2.35).
#[derive(Clone, Debug)]
pub struct AdaptiveRed {
    /// Largest increment of max_p.
    pub alpha: f64,
    /// Factor by which max_p decreases.
    pub beta: f64,
    /// Between them max_p moves.
    pub bounds: (f64, f64),
    /// When the interval to the next step begins.
    pub from: AdaptFrom,
    /// The part of the curve that a step moves.
    pub slope: GentleSlope,
}

/// When the interval to the next step begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdaptFrom {
    /// With each step, whether or not it changed max_p.
    LastStep,
    /// With each change of max_p. A max_p equal to its bound does not pass it.
    LastChange,
}

const PAPER: &str = "Floyd, Gummadi and Shenker 2001";

/// Our default, and ns-2's value.
const FROM_WORDS: [(&str, AdaptFrom); 2] =
    [("last-step", AdaptFrom::LastStep), ("last-change", AdaptFrom::LastChange)];

impl Part for AdaptiveRed {
    const NAME: &'static str = "adaptive-red";
    const DOC: &'static str = "max_p moves slowly so that the average stays in the middle of the thresholds";
    const PARAMETERS: &'static [Parameter] = &[
        ADAPT_INTERVAL,
        ADAPT_CLOCK,
        Parameter::new(
            "adapt_from",
            "",
            ValueKind::Choice,
            "Adaptive RED: whether the interval begins with the last step or the last change of max_p",
        )
        .or(&names(&FROM_WORDS))
        .source("ns-2.35 queue/red.cc (last-change)"),
        GENTLE_SLOPE,
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
            Change::to("adapt_from", Value::Word("last-change".into()))
                .with("adapt_interval", Value::Seconds(0.05)),
            Change::to("gentle_slope", Value::Word("initial".into()))
                .with("curve", Value::Word("gentle".into())),
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
        let from = reader.word("adapt_from", &context.ordered(FROM_WORDS));
        Ok(Self { alpha, beta, bounds, from, slope: context.gentle_slope(reader) })
    }

    fn step<'a>(&mut self, _: Time, _: usize, adapted: impl DoubleEndedIterator<Item = Adapted<'a>>) -> bool {
        let mut changed = false;
        for class in adapted {
            changed |= match class.in_integers {
                Some(IntegerCurve::Table(table, average)) => {
                    self.step_in_integers(average, table, class.curve)
                }
                Some(IntegerCurve::Linux(line, average)) => self.step_as_linux(average, line, class.curve),
                None => self.step_of(class.average, class.curve),
            };
        }
        changed || self.from == AdaptFrom::LastStep
    }

    fn gauges(&self, _: Time, last: &Curve, out: &mut dyn FnMut(&'static str, f64)) {
        out("max_p", last.max_p());
    }
}

impl AdaptiveRed {
    /// Take one step of a class. Return whether it changed max_p.
    fn step_of(&self, average: f64, curve: &mut Curve) -> bool {
        let (min_th, max_th) = curve.thresholds();
        let part = 0.4 * (max_th - min_th);
        let max_p = curve.max_p();
        let (low, high) = self.bounds;
        let at_bound_too = self.from == AdaptFrom::LastStep;
        let next = if average > max_th - part && (max_p < high || (at_bound_too && max_p == high)) {
            (max_p + self.alpha.min(max_p / 4.0)).min(1.0)
        } else if average < min_th + part && (max_p > low || (at_bound_too && max_p == low)) {
            max_p * self.beta
        } else {
            return false;
        };
        self.slope.set_max_p(curve, next);
        true
    }
}

/// Adaptive RED of a class in integers; max_p, alpha and its bounds in units of 2^-31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerSteps {
    /// The average times 2^fraction below which max_p decreases.
    pub target_low: u64,
    /// The average times 2^fraction above which max_p increases.
    pub target_high: u64,
    /// Largest increment of max_p.
    pub alpha: u32,
    /// Factor by which max_p decreases, times 2^31.
    pub beta: u32,
    /// Lower bound of max_p.
    pub low: u32,
    /// Upper bound of max_p.
    pub high: u32,
    /// Whether a max_p that is equal to its bound still moves.
    pub at_bound_too: bool,
    /// Whether the curve above max_th moves with max_p.
    pub above_moves: bool,
}

impl IntegerSteps {
    /// Return the next max_p, if it moves.
    fn next(self, average: u64, max_p: u32) -> Option<u32> {
        if average > self.target_high && (max_p < self.high || (self.at_bound_too && max_p == self.high)) {
            Some((max_p + self.alpha.min(max_p >> 2)).min(ONE))
        } else if average < self.target_low && (max_p > self.low || (self.at_bound_too && max_p == self.low))
        {
            Some(((u64::from(max_p) * u64::from(self.beta)) >> 31) as u32)
        } else {
            None
        }
    }
}

impl AdaptiveRed {
    /// Return the constants of the steps in integers; `unit` is that of the curve's table.
    pub fn in_integers(&self, curve: &Curve, unit: f64) -> IntegerSteps {
        let (min_th, max_th) = curve.thresholds();
        let part = 0.4 * (max_th - min_th);
        IntegerSteps {
            target_low: libm::ceil((min_th + part) * unit) as u64,
            target_high: libm::floor((max_th - part) * unit) as u64,
            alpha: fixed(self.alpha),
            beta: fixed(self.beta),
            low: fixed(self.bounds.0),
            high: fixed(self.bounds.1),
            at_bound_too: self.from == AdaptFrom::LastStep,
            above_moves: self.slope == GentleSlope::Moving,
        }
    }

    /// Take one step of a class in Linux's arithmetic. Return whether it changed max_p.
    fn step_as_linux(&self, average: u64, line: &mut LinuxCurve, curve: &mut Curve) -> bool {
        let before = line.max_p();
        line.adapt(average, self.alpha, self.beta, self.bounds);
        self.slope.set_max_p(curve, f64::from(line.max_p()) * libm::exp2(-32.0));
        line.max_p() != before
    }

    /// Take one step of a class in integers. Return whether it changed max_p.
    fn step_in_integers(&self, average: u64, table: &mut CurveTable, curve: &mut Curve) -> bool {
        let steps = self.in_integers(curve, table.unit);
        let Some(max_p) = steps.next(average, table.points[1]) else { return false };
        table.set_max_p(max_p, steps.above_moves);
        self.slope.set_max_p(curve, f64::from(max_p) / f64::from(ONE));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::red::curve::Gentle;

    #[test]
    fn in_integers_by_hand() {
        let steps = |from| rule(from).in_integers(&Gentle::new(5.0, 15.0, 0.1).into(), 16.0);
        let last_step = steps(AdaptFrom::LastStep);
        assert_eq!((last_step.target_low, last_step.target_high), (144, 176));
        let next = |average: f64, max_p: f64| last_step.next((average * 16.0) as u64, fixed(max_p));
        let near = |found: Option<u32>, p: f64| found.expect("a step").abs_diff(fixed(p)) <= 1;
        assert_eq!([9.0, 10.0, 11.0].map(|average| next(average, 0.1)), [None; 3]);
        assert!(near(next(11.1, 0.1), 0.11) && near(next(11.1, 0.02), 0.025) && near(next(8.9, 0.1), 0.09));
        assert!(near(next(12.0, 0.5), 0.51) && next(12.0, 0.51).is_none());
        assert!(near(next(1.0, 0.01), 0.009) && next(1.0, 0.009).is_none());
        let last_change = steps(AdaptFrom::LastChange);
        assert_eq!((last_change.next(192, fixed(0.5)), last_change.next(16, fixed(0.01))), (None, None));
    }

    #[test]
    fn a_step_in_integers_moves_the_table() {
        // The second max_th is not a multiple of the table's unit.
        for (max_th, unit, error) in [(15.0, 16.0, 1e-6), (15.869, 65536.0, 1e-5)] {
            for slope in [GentleSlope::Moving, GentleSlope::Initial] {
                let mut curve = Curve::Gentle(Gentle::new(5.0, max_th, 0.25));
                let mut table = CurveTable::new(&curve, unit);
                let rule = AdaptiveRed { slope, ..rule(AdaptFrom::LastStep) };
                assert!(rule.step_in_integers((13.0 * unit) as u64, &mut table, &mut curve));
                assert!((curve.max_p() - 0.26).abs() < 1e-9);
                assert!(table.largest_error(&curve) < error, "{max_th} {slope:?}");
            }
        }
    }

    fn rule(from: AdaptFrom) -> AdaptiveRed {
        AdaptiveRed { alpha: 0.01, beta: 0.9, bounds: (0.01, 0.5), from, slope: GentleSlope::Moving }
    }

    fn after_a_step(rule: &AdaptiveRed, max_p: f64, average: f64) -> f64 {
        let mut curve = Curve::Gentle(Gentle::new(5.0, 15.0, max_p));
        rule.step_of(average, &mut curve);
        (curve.max_p() * 1e9).round() / 1e9
    }

    #[test]
    fn by_hand() {
        let rule = rule(AdaptFrom::LastStep);
        let after = |max_p: f64, average: f64| after_a_step(&rule, max_p, average);
        // The target is 9 to 11.
        assert_eq!((after(0.1, 9.0), after(0.1, 10.0), after(0.1, 11.0)), (0.1, 0.1, 0.1));
        assert_eq!((after(0.1, 11.1), after(0.02, 11.1), after(0.1, 8.9)), (0.11, 0.025, 0.09));
        assert_eq!((after(0.5, 12.0), after(0.51, 12.0)), (0.51, 0.51));
        assert_eq!((after(0.01, 1.0), after(0.009, 1.0)), (0.009, 0.009));
    }

    #[test]
    fn at_a_bound_itself_ns2_takes_no_step() {
        let rule = rule(AdaptFrom::LastChange);
        let after = |max_p: f64, average: f64| after_a_step(&rule, max_p, average);
        assert_eq!((after(0.5, 12.0), after(0.499, 12.0)), (0.5, 0.509));
        assert_eq!((after(0.01, 1.0), after(0.02, 1.0)), (0.01, 0.018));
    }

    #[test]
    fn the_interval_begins_with_a_step_or_with_a_change() {
        for (from, in_target) in [(AdaptFrom::LastStep, true), (AdaptFrom::LastChange, false)] {
            let mut rule = rule(from);
            let mut begins = |average| {
                let mut curve = Curve::Gentle(Gentle::new(5.0, 15.0, 0.1));
                rule.step(
                    Time::ZERO,
                    1,
                    [Adapted { average, curve: &mut curve, in_integers: None }].into_iter(),
                )
            };
            assert_eq!([4.0, 10.0, 14.0].map(&mut begins), [true, in_target, true], "{from:?}");
        }
    }
}
