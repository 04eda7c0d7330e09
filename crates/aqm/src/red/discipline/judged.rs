//! The average by which a class is judged, and the backlog that its own limit bounds.

use super::Red;
use crate::red::IdleWhen;
use crate::red::average::IntegerEwma;
use crate::red::classes::Averages;

impl<P: Copy> Red<P> {
    /// Return the average of a class in packets, also in byte mode.
    #[inline(always)]
    pub fn average_of(&self, class: usize) -> f64 {
        let judged_by = if self.is_simple { 0 } else { self.params.classes.judged_by(class) };
        let own = self.averages[judged_by].average.value();
        let added =
            if self.is_simple { None } else { self.added(class, |i| self.averages[i].average.value()) };
        self.in_packets(added.map_or(own, |added| own + added))
    }

    /// Return an average in packets.
    #[inline(always)]
    pub(super) fn in_packets(&self, average: f64) -> f64 {
        self.params.byte_mode.map_or(average, |mean_packet| average / mean_packet)
    }

    /// Return the average of the last class, in packets: the gauge [`AVERAGE`](crate::red::AVERAGE).
    #[inline(always)]
    pub fn average(&self) -> f64 {
        self.average_of(self.class_states.len() - 1)
    }

    /// Return the average of a class times 2^wlog, in Linux's arithmetic.
    #[inline]
    pub(super) fn scaled(&self, class: usize) -> u64 {
        let scaled = |i: usize| self.averages[i].average.integer().map_or(0, IntegerEwma::scaled);
        scaled(self.params.classes.judged_by(class)) + self.added(class, scaled).unwrap_or(0)
    }

    /// Return the sum of the averages of more precious classes that are not idle, where it is added to a class's own; else `None`.
    #[inline]
    fn added<T: core::iter::Sum>(&self, class: usize, average: impl Fn(usize) -> T) -> Option<T> {
        let is_summed = self.params.classes.measured() == Averages::Summed;
        is_summed.then(|| (0..class).filter(|&i| !self.is_idle_average(i)).map(average).sum())
    }

    /// Return whether an idle time of an average runs.
    fn is_idle_average(&self, i: usize) -> bool {
        let state = &self.averages[i];
        let is_served =
            || self.serving.is_some_and(|(class, _)| self.params.classes.is_measured_by(class, i));
        match self.params.dialect.idle_when {
            IdleWhen::LastDequeue => state.is_idle,
            IdleWhen::NoneWaiting | IdleWhen::ClassEmpty => state.waiting.packets == 0,
            IdleWhen::Free => state.waiting.packets == 0 && !is_served() && !self.idle_ended,
        }
    }

    /// Return whether the buffer is full for a packet of a class.
    #[inline]
    pub(super) fn is_full_for(&self, class: usize, bytes: u32) -> bool {
        let serving = self.serving.filter(|_| self.params.dialect.in_service_counts);
        self.is_full(bytes, serving.map(|(_, bytes)| bytes)) || self.is_class_full(class, bytes)
    }

    /// Return whether the own limit of a class leaves no room for a packet among those that its average measures.
    #[inline]
    fn is_class_full(&self, class: usize, bytes: u32) -> bool {
        let limit = self.params.class_limits.get(class).copied().flatten();
        let waiting = || self.averages[self.params.classes.judged_by(class)].waiting;
        limit.is_some_and(|limit| self.exceeds(limit, waiting(), bytes, None))
    }
}
