//! The steps of a queue whose parameters adapt: before and after a decision, and by the averages at intervals.

use aqmlab_units::{Span, Time};

use super::averages::AverageState;
use super::{ClassState, Red};
use crate::Meta;
use crate::red::adaptation::{Adapted, IntegerCurve};

impl<P: Copy> Red<P> {
    #[cold]
    pub(super) fn adapt_before_decision(&mut self, now: Time, class: usize) {
        let average = self.average_of(class);
        self.adaptation.on_average(class, average, &mut self.class_states[class].curve);
        if self.adaptation.is_due_before_decision(now) {
            self.adapt_by_averages(now);
        }
        self.judged = self.table_p_b(class);
    }

    #[inline(always)]
    pub(super) fn adapt_after_decision(&mut self, now: Time, class: usize, meta: &Meta, dropped: bool) {
        if !self.adaptation.is_none() {
            self.adapt_by_decision(now, class, meta, dropped);
        }
    }

    #[cold]
    fn adapt_by_decision(&mut self, now: Time, class: usize, meta: &Meta, dropped: bool) {
        self.adaptation.on_decision(now, meta, dropped, self.class_states.len() > 1 && class == 0);
        if self.adaptation.is_due_after_decision(now) {
            self.adapt_by_averages(now);
        }
    }

    pub(super) fn adapt_by_averages(&mut self, now: Time) {
        let is_idle = self.is_idle();
        let Self { params, class_states, averages, adaptation, .. } = self;
        let mean = params.byte_mode.unwrap_or(1.0);
        let classes = class_states.len();
        let adapted = class_states.iter_mut().map(|(class, state)| {
            let AverageState { average, idle_since, .. } = &averages[params.classes.judged_by(class)];
            let ClassState { curve, table, linux, .. } = state;
            let in_integers = match (table, linux) {
                (Some(table), _) => Some(IntegerCurve::Table(table, average.fixed())),
                (_, Some(line)) => {
                    let idle = if is_idle { now.since(*idle_since) } else { Span::ZERO };
                    Some(IntegerCurve::Linux(line, average.fixed_after(idle)))
                }
                (None, None) => None,
            };
            Adapted { average: average.value() / mean, curve, in_integers }
        });
        adaptation.step(now, classes, adapted);
    }
}
