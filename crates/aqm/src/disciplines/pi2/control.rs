//! The controller that PI2 and DualPI2 share: the base probability p', without PIE's tuning (RFC 9332, appendix A.1).

use aqmlab_units::{Span, Time};

use crate::{Fifo, Gauge};

/// The constants of the controller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gains {
    /// In seconds.
    pub target: f64,
    /// Per second.
    pub alpha: f64,
    /// Per second.
    pub beta: f64,
    pub t_update: Span,
}

impl Gains {
    /// `p' = p' + alpha (delay - target) + beta (delay - old delay)`, within [0, `most`].
    pub fn step(&self, p: f64, delay: f64, old: f64, most: f64) -> f64 {
        (p + self.alpha * (delay - self.target) + self.beta * (delay - old)).clamp(0.0, most)
    }
}

/// State of the controller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Base {
    /// The base probability p'.
    pub p: f64,
    /// The delay at the last step, in seconds.
    delay: f64,
    next_update: Time,
}

impl Base {
    /// Create the state for an empty queue.
    pub fn new(gains: &Gains) -> Self {
        Self { p: 0.0, delay: 0.0, next_update: Time::ZERO + gains.t_update }
    }

    /// Compute the steps that are due by `now`; `delay` returns how long the oldest packet has waited at a time, in seconds.
    pub fn catch_up(&mut self, gains: &Gains, most: f64, now: Time, delay: impl Fn(Time) -> f64) {
        while self.next_update <= now {
            let delay = delay(self.next_update);
            if self.p == 0.0 && self.delay == 0.0 && delay == 0.0 {
                // At rest: nothing would change until a packet waits.
                let late = now.since(self.next_update).0 / gains.t_update.0 + 1;
                self.next_update += gains.t_update * late;
                return;
            }
            self.p = gains.step(self.p, delay, self.delay, most);
            self.delay = delay;
            self.next_update += gains.t_update;
        }
    }

    /// When the next step is due that changes something.
    pub fn next_update(&self, is_empty: bool) -> Option<Time> {
        let is_at_rest = is_empty && self.p == 0.0 && self.delay == 0.0;
        (!is_at_rest).then_some(self.next_update)
    }

    /// Report the gauges.
    pub fn gauges(&self, out: &mut dyn FnMut(Gauge, f64)) {
        out(Gauge::State("delay"), self.delay);
        out(Gauge::State("p_base"), self.p);
    }
}

/// How long the packet at the head of a queue has waited, in seconds; 0 of an empty queue.
pub(crate) fn head_delay<P: Copy>(queue: &Fifo<P>, now: Time) -> f64 {
    queue.head().map_or(0.0, |packet| now.since(packet.meta.arrival).secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GAINS: Gains = Gains { target: 0.015, alpha: 0.15, beta: 3.0, t_update: Span::from_millis(15) };

    #[test]
    fn steps_by_hand() {
        // 0.15 (0.035 - 0.015) + 3 (0.035 - 0.025) = 0.033, whatever the probability is.
        for p in [0.0, 0.000_01, 0.5] {
            assert!((GAINS.step(p, 0.035, 0.025, 1.0) - p - 0.033).abs() < 1e-15);
        }
        assert_eq!(GAINS.step(0.2, 0.015, 0.015, 1.0), 0.2);
        assert_eq!(GAINS.step(0.0, 0.0, 0.0, 1.0), 0.0);
        assert_eq!(GAINS.step(0.49, 0.1, 0.0, 0.5), 0.5);
    }

    #[test]
    fn steps_are_done_at_their_times() {
        let mut base = Base::new(&GAINS);
        // A packet that came at 5 ms: delays of 10 and 25 ms at the steps of 15 and 30 ms.
        base.catch_up(&GAINS, 1.0, Time::from_secs(0.031), |t| t.secs() - 0.005);
        let first = GAINS.step(0.0, 0.01, 0.0, 1.0);
        assert!((base.p - GAINS.step(first, 0.025, 0.01, 1.0)).abs() < 1e-15);
        assert_eq!(base.next_update(false), Some(Time::from_secs(0.045)));
    }

    proptest! {
        #[test]
        fn an_idle_controller_rests_and_keeps_its_grid(p in 0.0..=1.0f64, late in 1000u64..1_000_000) {
            let mut base = Base::new(&GAINS);
            base.p = p;
            let now = Time::ZERO + Span::from_millis(late);
            base.catch_up(&GAINS, 1.0, now, |_| 0.0);
            prop_assert!(base.p <= (p - 0.15 * 0.015 * (late / 15) as f64).max(0.0) + 1e-9);
            prop_assert!(base.next_update > now && base.next_update <= now + GAINS.t_update);
            prop_assert_eq!(base.next_update.0 % GAINS.t_update.0, 0);
            prop_assert_eq!(base.next_update(true).is_none(), base.p == 0.0);
        }

        #[test]
        fn a_step_is_a_probability(p in 0.0..=0.5f64, delay in 0.0..5.0f64, old in 0.0..5.0f64) {
            prop_assert!((0.0..=0.5).contains(&GAINS.step(p, delay, old, 0.5)));
        }
    }
}
