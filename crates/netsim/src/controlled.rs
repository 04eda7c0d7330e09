//! A run whose queue before one link takes other settings between events: a controller outside the run sees an interval, and chooses the
//! settings for the next one.

use aqmlab_aqm::{Backlog, Resolved};
use aqmlab_units::{Span, Time};

use crate::engine::Simulation;
use crate::link_stats::LinkCounters;
use crate::plan::{LinkId, Plan};

/// A run in progress with a link under control.
///
/// Its results are those of [`Simulation::new`] if the settings stay those of the plan.
#[derive(Debug)]
pub struct Controlled {
    simulation: Simulation,
    link: LinkId,
    now: Time,
    end: Time,
    warmup: Time,
    /// The counters at `now`; modulo 2^64 where the end of the warm-up reset them.
    before: LinkCounters,
}

/// The counts of an interval at the link under control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// How long it took; the last one of a run may be shorter.
    pub length: Span,
    /// Packets and bytes waiting at its end.
    pub waiting: Backlog,
    /// The counts of the interval, but for `max_queue`, which is that since the start or the end of the warm-up.
    pub counters: LinkCounters,
}

impl Controlled {
    /// Create a run of `plan` with this seed, at time 0.
    ///
    /// # Panics
    /// As [`Simulation::new`].
    pub fn new(plan: &Plan, seed: u64, link: LinkId) -> Self {
        let simulation = Simulation::controlled(plan, seed, link);
        let (end, warmup) = (Time::ZERO + plan.duration, Time::ZERO + plan.warmup);
        Self { simulation, link, now: Time::ZERO, end, warmup, before: LinkCounters::default() }
    }

    /// Give the queue these settings from now on. Return whether it can take them.
    pub fn take_settings(&mut self, settings: &Resolved) -> bool {
        self.simulation.network.fabric.links[self.link as usize].take_settings(settings)
    }

    /// The time up to which the run has gone.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Whether the run is at its end.
    pub fn is_over(&self) -> bool {
        self.now == self.end
    }

    /// Go on by `length`, at most to the end of the run. Return the counts of this interval.
    pub fn advance(&mut self, length: Span) -> Interval {
        let begin = self.now;
        let until = Time(begin.0.saturating_add(length.0)).min(self.end);
        // The end of the warm-up resets the counters, so they are read an instant before.
        let reset = Time(self.warmup.0.saturating_sub(1));
        if begin < self.warmup && self.warmup <= until {
            let (counters, _) = self.counters_at(reset);
            self.before = self.before.since(&counters);
        }
        let (counters, waiting) = self.counters_at(until);
        let interval = counters.since(&self.before);
        (self.now, self.before) = (until, counters);
        Interval { length: until.since(begin), waiting, counters: interval }
    }

    fn counters_at(&mut self, at: Time) -> (LinkCounters, Backlog) {
        self.simulation.run_until(at);
        self.simulation.network.fabric.links[self.link as usize].counters_at(at)
    }

    /// Return the run, to be finished.
    pub fn into_simulation(self) -> Simulation {
        self.simulation
    }
}
