//! Adaptation: how parameters move while the queue runs.
//!
//! Every rule is one file, and one line in the list below. Feng's and Floyd's rules move max_p of every class by the class's
//! own average; the load-adaptive one and Adaptive-RIO move the thresholds of the last, least precious class.

mod rate_window;

pub use adaptive_red::IntegerSteps;
pub use adaptive_rio::{IntegerRio, Trend};
pub use rate_window::RateWindow;

use aqmlab_units::{Span, Time};

use super::curve::{Curve, CurveKind, CurveTable, LinuxCurve};
use super::part::{Part, parts};
use crate::plugin::CurveNumbers;
use crate::red::DialectName;
use crate::spec::ParameterReader;
use crate::{Meta, Parameter, ParameterError, ValueKind, names};

/// The constants and functions of an adaptation in addition to those of [`Part`].
pub(crate) trait AdaptationPart: Part {
    /// When it takes steps. A rule that does has the parameters [`ADAPT_INTERVAL`] and [`ADAPT_CLOCK`].
    const STEPS: Steps = Steps::Never;
    /// Whether it multiplies max_p, which must not be 0 then.
    const MULTIPLIES_MAX_P: bool = false;

    /// Read it.
    fn read(
        reader: &mut ParameterReader<'_>,
        context: &AdaptationContext<'_>,
    ) -> Result<Self, ParameterError>;

    /// Whether there is never anything to do.
    fn is_none(&self) -> bool {
        false
    }

    /// Note that the average of a class has a new value; the decision about its packet is not made yet.
    fn on_average(&mut self, _class: usize, _average: f64, _curve: &mut Curve) {}

    /// Note what was decided about an arrival.
    fn on_decision(&mut self, _now: Time, _meta: &Meta, _dropped: bool, _is_assured: bool) {}

    /// Take a step; `adapted` are the parameters of the classes, in order, and `classes` is their number. Return whether the
    /// interval to the next step begins now.
    fn step<'a>(
        &mut self,
        _now: Time,
        _classes: usize,
        _adapted: impl DoubleEndedIterator<Item = Adapted<'a>>,
    ) -> bool {
        true
    }

    /// Report the gauges of the rule; `last` is the curve of the last class.
    fn gauges(&self, _now: Time, _last: &Curve, _out: &mut dyn FnMut(&'static str, f64)) {}
}

/// When a rule takes steps, and the default of the seconds between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Steps {
    /// It has none.
    Never,
    /// At an arrival, before the decision about it; more than an interval after the last step (ns-2.35).
    BeforeDecision(f64),
    /// At an arrival, after the decision about it; an interval after the last step.
    AfterDecision(f64),
}

const CLOCK_WORDS: [(&str, Clock); 2] = [("arrival", Clock::Arrival), ("timer", Clock::Timer)];
/// Our default, and ns-2's value.
const SLOPE_WORDS: [(&str, GentleSlope); 2] =
    [("moving", GentleSlope::Moving), ("initial", GentleSlope::Initial)];

/// Time between two steps.
pub(crate) const ADAPT_INTERVAL: Parameter =
    Parameter::new("adapt_interval", "", ValueKind::Time, "adaptation: time between two steps").above(0.0);
/// The clock of the steps: arrivals, or a timer.
pub(crate) const ADAPT_CLOCK: Parameter = Parameter::new(
    "adapt_clock",
    "",
    ValueKind::Choice,
    "adaptation: steps at arrivals, or by a timer of its own",
)
.or(&names(&CLOCK_WORDS));
/// The part of gentle RED's curve that a step of max_p moves.
pub(crate) const GENTLE_SLOPE: Parameter = Parameter::new(
    "gentle_slope",
    "",
    ValueKind::Choice,
    "adaptation: whether gentle RED's slope above max_th moves with max_p, or stays that of the initial max_p",
)
.or(&names(&SLOPE_WORDS))
.source("ns-2.35 queue/red.cc (initial)");
/// Bounds of max_p.
pub(crate) const MAX_P_LOW: Parameter =
    Parameter::new("max_p_low", "", ValueKind::Number, "adaptation: lower bound of max_p").above(0.0).to(1.0);
pub(crate) const MAX_P_HIGH: Parameter =
    Parameter::new("max_p_high", "", ValueKind::Number, "adaptation: upper bound of max_p")
        .above(0.0)
        .to(1.0);
/// Bounds of max_th, and max_th over min_th.
pub(crate) const MAX_L: Parameter = Parameter::new(
    "max_l",
    "max_L",
    ValueKind::PacketsOrBytes,
    "adaptation of thresholds: lower bound of max_th",
)
.above(0.0)
.source(adaptive_rio::PAPER);
pub(crate) const MAX_U: Parameter = Parameter::new(
    "max_u",
    "max_U",
    ValueKind::PacketsOrBytes,
    "adaptation of thresholds: upper bound of max_th",
)
.above(0.0)
.source(adaptive_rio::PAPER);
pub(crate) const ALPHA: Parameter =
    Parameter::new("alpha", "alpha", ValueKind::Number, "adaptation of thresholds: max_th over min_th")
        .above(1.0)
        .source(adaptive_rio::PAPER);

/// The parameters of several adaptations that are listed first.
pub(crate) const SHARED: &[Parameter] = &[ADAPT_INTERVAL, ADAPT_CLOCK];

parts! {
    "adaptation",
    /// The rules to choose from, with their state.
    #[derive(Clone, Debug)]
    enum AdaptationRule, AdaptationKind, each_adaptation, of_adaptation_kind;
    fixed: Fixed,
    feng: Feng,
    adaptive_red: AdaptiveRed,
    load: Load,
    adaptive_rio: AdaptiveRio,
}

/// The context in which an adaptation's parameters are read.
#[derive(Debug)]
pub(crate) struct AdaptationContext<'a> {
    /// The numbers of the classes, the most precious first; at least one.
    pub classes: &'a [CurveNumbers],
    /// Bytes of a mean packet.
    pub mean_packet: f64,
    /// The curve; `None` for that of a plugin.
    pub curve: Option<CurveKind>,
    /// Whether the dialect is ns-2's.
    pub is_ns2: bool,
}

/// The part of the curve that a step of max_p moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GentleSlope {
    /// The whole curve.
    Moving,
    /// The curve below max_th; above, it stays that of the initial max_p. ns-2.35 computes the slope of gentle RED at reset.
    Initial,
}

impl GentleSlope {
    /// Move a curve to another max_p, in [0, 1].
    fn set_max_p(self, curve: &mut Curve, max_p: f64) {
        match self {
            Self::Moving => curve.set_max_p(max_p),
            Self::Initial => curve.set_max_p_below_max_th(max_p),
        }
    }
}

impl AdaptationContext<'_> {
    /// Read the bounds of max_p.
    pub fn max_p_bounds(
        &self,
        reader: &mut ParameterReader<'_>,
        (low, high): (f64, f64),
    ) -> Result<(f64, f64), ParameterError> {
        let (low, high) = (reader.number("max_p_low", low), reader.number("max_p_high", high));
        if low > high {
            let message = format!("max_p_low ({low}) is above max_p_high ({high})");
            return Err(ParameterError::new("max_p_low", message, "max_p_low <= max_p_high"));
        }
        Ok((low, high))
    }

    /// Return the words of a switch between our default and ns-2's value, the default of the dialect first.
    fn ordered<T: Copy>(&self, [ours, ns2]: [(&'static str, T); 2]) -> [(&'static str, T); 2] {
        if self.is_ns2 { [ns2, ours] } else { [ours, ns2] }
    }

    /// Read which part of the curve a step of max_p moves; only gentle RED has a choice.
    pub fn gentle_slope(&self, reader: &mut ParameterReader<'_>) -> GentleSlope {
        if self.curve != Some(CurveKind::Gentle) {
            return GentleSlope::Moving;
        }
        reader.word(GENTLE_SLOPE.key, &self.ordered(SLOPE_WORDS))
    }

    /// Read max_L and max_U, and max_th over min_th, for a rule that moves the thresholds of the last class.
    pub fn threshold_bounds(
        &self,
        reader: &mut ParameterReader<'_>,
    ) -> Result<((f64, f64), f64), ParameterError> {
        let last = self.classes[self.classes.len() - 1];
        let first = self.classes.first().filter(|_| self.classes.len() > 1);
        let ends_at_limit = self.curve.is_some_and(CurveKind::ends_at_limit);
        let low = reader.packets("max_l", last.max_th, self.mean_packet);
        // A curve that ends at the limit needs room between max_th and there.
        let highest = if ends_at_limit { 0.9 * last.limit } else { last.limit };
        let ceiling = first.map_or(highest, |first| first.max_th.min(highest));
        let high = reader.packets("max_u", (4.0 * low).min(ceiling).max(low), self.mean_packet);
        let alpha = reader.number("alpha", 3.0);
        if low > high {
            let message = format!("max_l ({low}p) is above max_u ({high}p)");
            return Err(ParameterError::new("max_l", message, "0 < max_l <= max_u"));
        }
        if let Some(first) = first.filter(|first| high > first.max_th) {
            let message = format!("max_u ({high}p) is above max_th of the first class ({}p)", first.max_th);
            return Err(ParameterError::new("max_u", message, "at most the first class's max_th"));
        }
        if let Some(curve) = self.curve.filter(|_| ends_at_limit && high >= last.limit) {
            let (limit, curve) = (last.limit, curve.name());
            let message = format!(
                "max_u ({high}p) is not below the limit ({limit}p), where the curve \"{curve}\" ends"
            );
            return Err(ParameterError::new("max_u", message, "below the limit"));
        }
        Ok(((low, high), alpha))
    }
}

impl AdaptationKind {
    /// Read an adaptation of this kind.
    pub(crate) fn read(
        self,
        reader: &mut ParameterReader<'_>,
        context: &AdaptationContext<'_>,
    ) -> Result<Adaptation, ParameterError> {
        let (rule, steps) =
            of_adaptation_kind!(self, T => (AdaptationRule::from(T::read(reader, context)?), T::STEPS));
        let (clock, interval) = match steps {
            Steps::Never => (Clock::Arrival, 0.0),
            Steps::BeforeDecision(default) | Steps::AfterDecision(default) => {
                let interval = reader.seconds("adapt_interval", default);
                // Linux's RED has a timer; generated modules step at arrivals.
                let is_linux = self == Self::AdaptiveRed
                    && reader.dialect_name() == Some(DialectName::Linux)
                    && !reader.in_integers();
                let default = if is_linux { Clock::Timer } else { Clock::Arrival };
                (reader.word_or("adapt_clock", &CLOCK_WORDS, default), interval)
            }
        };
        Ok(Adaptation::new(rule, steps, clock, Span::from_secs(interval)))
    }

    /// Whether it multiplies max_p, which must not be 0 then.
    pub(crate) fn multiplies_max_p(self) -> bool {
        of_adaptation_kind!(self, T => T::MULTIPLIES_MAX_P)
    }
}

/// When a step is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// At the first arrival at which an interval has passed since the last step.
    Arrival,
    /// By a timer, every interval.
    Timer,
}

/// A rule and its clock.
#[derive(Clone, Debug)]
pub struct Adaptation {
    rule: AdaptationRule,
    steps: Steps,
    clock: Clock,
    interval: Span,
    next: Time,
}

/// A set of parameters as an adaptation sees it: the average by which its class is judged, and its curve.
pub(crate) struct Adapted<'a> {
    pub average: f64,
    pub curve: &'a mut Curve,
    /// The curve in integers, with the average in its unit.
    pub in_integers: Option<IntegerCurve<'a>>,
}

/// A curve in integers, with the average in its unit.
pub(crate) enum IntegerCurve<'a> {
    /// A table; the average times 2^fraction.
    Table(&'a mut CurveTable, u64),
    /// Linux's line; the average in whole bytes or packets.
    Linux(&'a mut LinuxCurve, u64),
}

impl Adaptation {
    /// `rule`, with a step every `interval` where it takes steps.
    fn new(rule: AdaptationRule, steps: Steps, clock: Clock, interval: Span) -> Self {
        Self { rule, steps, clock, interval, next: Time::ZERO + interval }
    }

    /// Whether there is never anything to do.
    #[inline]
    pub fn is_none(&self) -> bool {
        each_adaptation!(&self.rule, rule => rule.is_none())
    }

    /// Adaptive RED with the interval of its steps, if that is the rule.
    pub fn adaptive_red(&self) -> Option<(&AdaptiveRed, Span)> {
        match &self.rule {
            AdaptationRule::AdaptiveRed(rule) => Some((rule, self.interval)),
            _ => None,
        }
    }

    /// Adaptive-RIO with the interval of its steps, if that is the rule.
    pub fn adaptive_rio(&self) -> Option<(&AdaptiveRio, Span)> {
        match &self.rule {
            AdaptationRule::AdaptiveRio(rule) => Some((rule, self.interval)),
            _ => None,
        }
    }

    /// When the timer is due.
    #[inline]
    pub fn next_timer(&self) -> Option<Time> {
        (self.clock == Clock::Timer).then_some(self.next)
    }

    /// The average of a class has a new value; its packet is not judged yet.
    pub(crate) fn on_average(&mut self, class: usize, average: f64, curve: &mut Curve) {
        each_adaptation!(&mut self.rule, rule => rule.on_average(class, average, curve));
    }

    /// It is decided what becomes of an arrival.
    pub(crate) fn on_decision(&mut self, now: Time, meta: &Meta, dropped: bool, is_assured: bool) {
        each_adaptation!(&mut self.rule, rule => rule.on_decision(now, meta, dropped, is_assured));
    }

    /// Whether a step is due at an arrival that is not judged yet.
    pub(crate) fn is_due_before_decision(&self, now: Time) -> bool {
        self.clock == Clock::Arrival && matches!(self.steps, Steps::BeforeDecision(_)) && now > self.next
    }

    /// Whether a step is due at an arrival that is judged.
    pub(crate) fn is_due_after_decision(&self, now: Time) -> bool {
        self.clock == Clock::Arrival && matches!(self.steps, Steps::AfterDecision(_)) && now >= self.next
    }

    /// One step; `adapted` are the parameters of the classes, in order.
    pub(crate) fn step<'a>(
        &mut self,
        now: Time,
        classes: usize,
        adapted: impl DoubleEndedIterator<Item = Adapted<'a>>,
    ) {
        let begins = each_adaptation!(&mut self.rule, rule => rule.step(now, classes, adapted));
        if begins || self.clock == Clock::Timer {
            self.next = now + self.interval;
        }
    }

    /// Report the gauges; `last` is the last class's curve.
    pub(crate) fn gauges(&self, now: Time, last: &Curve, out: &mut dyn FnMut(&'static str, f64)) {
        each_adaptation!(&self.rule, rule => rule.gauges(now, last, out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_with_steps_have_the_parameters_of_steps() {
        for &kind in AdaptationKind::ALL {
            of_adaptation_kind!(kind, T => {
                let has = |key| T::PARAMETERS.iter().any(|p| p.key == key);
                let steps = T::STEPS != Steps::Never;
                assert_eq!((has(ADAPT_INTERVAL.key), has(ADAPT_CLOCK.key)), (steps, steps), "{}", T::NAME);
            });
        }
    }
}
