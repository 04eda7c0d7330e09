//! Adaptation: how parameters move while the queue runs.
//!
//! Feng's and Floyd's rules move max_p of every class by the class's own average; the load-adaptive one and Adaptive-RIO
//! move the thresholds of the last, least precious class.

mod adaptive_red;
mod adaptive_rio;
mod feng;
mod load;

pub use adaptive_red::AdaptiveRed;
pub use adaptive_rio::{AdaptiveRio, RioState, Trend};
pub use feng::Feng;
pub use load::Load;

use aqmlab_units::{Span, Time};

use super::curve::Curve;
use crate::Meta;

/// The rules to choose from, with their state.
#[derive(Clone, Debug)]
pub enum AdaptationRule {
    /// Parameters stay as they are.
    None,
    /// Feng's self-configuring RED, with a status for each class.
    Feng(Vec<Feng>),
    /// Floyd's Adaptive RED.
    AdaptiveRed(AdaptiveRed),
    /// Load-adaptive thresholds.
    Load(Box<Load>),
    /// Adaptive-RIO.
    AdaptiveRio(Box<(AdaptiveRio, RioState)>),
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
    clock: Clock,
    interval: Span,
    next: Time,
}

/// A set of parameters as an adaptation sees it: the average by which its class is judged, and its curve.
pub(crate) struct Adapted<'a> {
    pub average: f64,
    pub curve: &'a mut Curve,
}

impl Adaptation {
    /// `rule`, with a step every `interval` where it takes steps.
    pub fn new(rule: AdaptationRule, clock: Clock, interval: Span) -> Self {
        Self { rule, clock, interval, next: Time::ZERO + interval }
    }

    /// No adaptation.
    pub fn none() -> Self {
        Self::new(AdaptationRule::None, Clock::Arrival, Span::ZERO)
    }

    /// Adaptive-RIO by these rules.
    pub fn adaptive_rio(rule: AdaptiveRio) -> AdaptationRule {
        let state = RioState::new(&rule);
        AdaptationRule::AdaptiveRio(Box::new((rule, state)))
    }

    /// Whether there is anything to do.
    #[inline]
    pub fn is_none(&self) -> bool {
        matches!(self.rule, AdaptationRule::None)
    }

    /// When the timer is due.
    #[inline]
    pub fn next_timer(&self) -> Option<Time> {
        let steps = !matches!(self.rule, AdaptationRule::None | AdaptationRule::Feng(_));
        (steps && self.clock == Clock::Timer).then_some(self.next)
    }

    /// The average of a class has a new value; its packet is not judged yet.
    pub(crate) fn on_average(&mut self, class: usize, average: f64, curve: &mut Curve) {
        if let AdaptationRule::Feng(classes) = &mut self.rule {
            classes[class].on_average(average, curve);
        }
    }

    /// It is decided what becomes of an arrival.
    pub(crate) fn on_decision(&mut self, now: Time, meta: &Meta, dropped: bool, is_assured: bool) {
        match &mut self.rule {
            AdaptationRule::Load(load) => load.count(dropped),
            AdaptationRule::AdaptiveRio(rio) => rio.1.on_arrival(&rio.0, now, meta.bytes, is_assured),
            AdaptationRule::None | AdaptationRule::Feng(_) | AdaptationRule::AdaptiveRed(_) => {}
        }
    }

    /// Whether a step is due at an arrival that is not judged yet (ns-2.35 compares strictly).
    pub(crate) fn is_due_before_decision(&self, now: Time) -> bool {
        self.clock == Clock::Arrival && matches!(self.rule, AdaptationRule::AdaptiveRed(_)) && now > self.next
    }

    /// Whether a step is due at an arrival that is judged.
    pub(crate) fn is_due_after_decision(&self, now: Time) -> bool {
        let by_thresholds = matches!(self.rule, AdaptationRule::Load(_) | AdaptationRule::AdaptiveRio(_));
        self.clock == Clock::Arrival && by_thresholds && now >= self.next
    }

    /// One step; `sets` are those of the classes, in order.
    pub(crate) fn step<'a>(
        &mut self,
        now: Time,
        classes: usize,
        mut sets: impl DoubleEndedIterator<Item = Adapted<'a>>,
    ) {
        self.next = now + self.interval;
        match &mut self.rule {
            AdaptationRule::None | AdaptationRule::Feng(_) => {}
            AdaptationRule::AdaptiveRed(rule) => sets.for_each(|set| rule.step(set.average, set.curve)),
            AdaptationRule::Load(load) => {
                if let Some(last) = sets.next_back() {
                    load.step(last.curve);
                }
            }
            AdaptationRule::AdaptiveRio(rio) => {
                let (rule, state) = &mut **rio;
                if let Some(last) = sets.next_back() {
                    state.step(rule, now, classes > 1, last.curve);
                }
            }
        }
    }

    /// What there is to see; `last` is the last class's curve.
    pub(crate) fn gauges(&self, now: Time, last: &Curve, out: &mut dyn FnMut(&'static str, f64)) {
        match &self.rule {
            AdaptationRule::None => {}
            AdaptationRule::Feng(_) | AdaptationRule::AdaptiveRed(_) => out("max_p", last.max_p()),
            AdaptationRule::Load(load) => {
                out("max_th", last.thresholds().1);
                out("loss", load.loss());
            }
            AdaptationRule::AdaptiveRio(rio) => rio.1.gauges(&rio.0, now, last, out),
        }
    }
}
