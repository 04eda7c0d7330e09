//! Another curve for a queue at work: averages, counts and packets stay.

use super::Red;
use crate::Resolved;

impl<P: Copy> Red<P> {
    /// See [`Qdisc::take_settings`](crate::Qdisc::take_settings).
    pub(super) fn take_curve(&mut self, settings: &Resolved) -> bool {
        let Some(parts) = settings.red() else { return false };
        if !self.adaptation.is_none() || self.class_states.len() != 1 || parts.class_states.len() != 1 {
            return false;
        }
        let (state, new) = (&mut self.class_states[0], &parts.class_states[0]);
        state.curve = new.curve.clone();
        state.table.clone_from(&new.table);
        state.linux.clone_from(&new.linux);
        self.surely_below = self.class_states[0].surely_below(self.params.byte_mode);
        true
    }
}
