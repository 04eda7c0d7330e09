//! The averages of a queue: one, or several that each cover some classes.

use aqmlab_units::Time;

use super::Params;
use crate::Backlog;
use crate::red::IdleWhen;
use crate::red::average::Average;
use crate::red::by_class::ByClass;

/// An average with the packets that it covers.
#[derive(Clone, Debug)]
pub(super) struct AverageState {
    pub average: Average,
    pub waiting: Backlog,
    /// Start of the current idle time.
    pub idle_since: Time,
    /// An idle time runs ([`IdleWhen::LastDequeue`]).
    pub is_idle: bool,
    /// Idle while packets of other classes wait ([`IdleWhen::ClassEmpty`]).
    pub is_class_empty: bool,
}

impl AverageState {
    /// An arrival ends an idle time. Return the average.
    #[cold]
    pub fn end_idleness(&mut self, now: Time, idle_when: IdleWhen) -> f64 {
        self.average.on_arrival_after_idle(now.since(self.idle_since));
        if idle_when.while_served() {
            self.idle_since = now;
        }
        self.average.value()
    }

    /// Decay over an idle time in which `waiting` packets or bytes were queued, and take one step with them.
    #[cold]
    pub fn end_idleness_with(&mut self, now: Time, waiting: f64) {
        self.average.decay(now.since(self.idle_since));
        self.average.on_arrival(waiting);
    }
}

/// Call `see` with each average that covers packets of a class, and its number. Usually there is only one.
#[inline(always)]
pub(super) fn for_each_average(
    params: &Params,
    averages: &mut ByClass<AverageState>,
    class: usize,
    mut see: impl FnMut(usize, &Params, &mut AverageState),
) {
    if averages.len() == 1 {
        see(0, params, &mut averages[0]);
    } else {
        params.classes.measured_by(class).for_each(|i| see(i, params, &mut averages[i]));
    }
}

/// Return the queue length as the averages and the guard measure it, in packets or bytes.
#[inline]
pub(super) fn measured(in_bytes: bool, waiting: Backlog, serving: Option<u32>) -> f64 {
    if in_bytes {
        waiting.bytes as f64 + f64::from(serving.unwrap_or(0))
    } else {
        f64::from(waiting.packets + u32::from(serving.is_some()))
    }
}
