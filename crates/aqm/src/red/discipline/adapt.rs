//! The steps of a queue whose parameters adapt: before and after a decision, and by the averages at intervals.

use aqmlab_units::Time;

use super::Red;
use crate::Meta;
use crate::red::adaptation::Adapted;

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
        let Self { params, class_states, averages, adaptation, .. } = self;
        let mean = params.byte_mode.unwrap_or(1.0);
        let classes = class_states.len();
        let adapted = class_states.iter_mut().map(|(class, state)| {
            let average = &averages[params.classes.judged_by(class)].average;
            let table = state.table.as_deref_mut();
            let in_integers = table.map(|table| (table, average.fixed()));
            Adapted { average: average.value() / mean, curve: &mut state.curve, in_integers }
        });
        adaptation.step(now, classes, adapted);
    }
}
