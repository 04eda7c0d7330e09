//! The controller of PIE for a queue: queueing delay and drop probability (RFC 8033, sections 4.1 to 4.4 and 5.2 to 5.5).

use aqmlab_units::{Span, Time};

use crate::{Backlog, DropReason, Gauge, Host, Meta, Verdict};

/// How the queueing delay is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delay {
    /// By the time that the last packet to leave has waited; zero when none is left.
    Timestamp,
    /// By the length of the queue over an estimate of the rate at which it drains.
    DepartureRate,
}

/// By what the gains are divided where the probability is small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AutoTune {
    /// Seven ranges (RFC 8033, section 4.2).
    Rfc,
    /// Three ranges: light, medium and high dropping mode of Linux 3.14 to 5.0.
    ThreeRanges,
    /// Fixed gains.
    Off,
}

/// The constants of the controller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ControlLaw {
    /// QDELAY_REF, in seconds.
    pub target: f64,
    /// Per second.
    pub alpha: f64,
    /// Per second.
    pub beta: f64,
    pub auto_tune: AutoTune,
    pub t_update: Span,
    pub max_burst: Span,
    pub mean_packet: u64,
    pub delay: Delay,
    pub in_bytes: bool,
    pub caps: bool,
    pub derandomizes: bool,
    /// The probability shrinks by itself at any delay below half of the target, not only at none.
    pub decays_early: bool,
    /// mark_ecnth, where ECN is on.
    pub mark_up_to: Option<f64>,
}

impl ControlLaw {
    /// The divisor of a step of the probability; a small probability moves in small steps.
    fn divisor(&self, p: f64) -> f64 {
        match self.auto_tune {
            AutoTune::Rfc => Self::rfc_divisor(p),
            AutoTune::ThreeRanges if p < 0.01 => 8.0,
            AutoTune::ThreeRanges if p < 0.1 => 2.0,
            AutoTune::ThreeRanges | AutoTune::Off => 1.0,
        }
    }

    fn rfc_divisor(p: f64) -> f64 {
        match p {
            p if p < 0.000_001 => 2048.0,
            p if p < 0.000_01 => 512.0,
            p if p < 0.000_1 => 128.0,
            p if p < 0.001 => 32.0,
            p if p < 0.01 => 8.0,
            p if p < 0.1 => 2.0,
            _ => 1.0,
        }
    }

    /// The probability after a step, of delays in seconds now and a step before.
    pub fn step(&self, p: f64, delay: f64, old: f64) -> f64 {
        let mut change = (self.alpha * (delay - self.target) + self.beta * (delay - old)) / self.divisor(p);
        if self.caps && p >= 0.1 {
            change = change.min(0.02);
        }
        let mut p = p + change;
        let longest = delay.max(old);
        if longest == 0.0 || (self.decays_early && longest < self.target / 2.0) {
            p *= 0.98;
        }
        p.clamp(0.0, 1.0)
    }
}

/// The estimate of the rate at which a queue drains (section 5.2).
#[derive(Clone, Copy, Debug, Default)]
struct Departures {
    /// Since when it measures, and how much has left since.
    cycle: Option<(Time, u64)>,
    /// How long DQ_THRESHOLD bytes take, in seconds; 0 while unknown.
    time: f64,
}

impl Departures {
    /// Bytes of a measurement.
    const THRESHOLD: u64 = 1 << 14;
    /// Weight of a measurement, DQ_THRESHOLD/2^16.
    const WEIGHT: f64 = 0.25;

    fn departed(&mut self, now: Time, bytes: u64, left: Backlog) {
        let is_long = left.bytes >= Self::THRESHOLD;
        let (start, count) = match self.cycle {
            Some(cycle) => cycle,
            None if is_long => (now, 0),
            None => return,
        };
        let count = count + bytes;
        self.cycle = Some((start, count));
        if count >= Self::THRESHOLD && now > start {
            let time = now.since(start).secs() * Self::THRESHOLD as f64 / count as f64;
            self.time =
                if self.time == 0.0 { time } else { Self::WEIGHT * time + (1.0 - Self::WEIGHT) * self.time };
            self.cycle = is_long.then_some((now, 0));
        }
    }

    /// Return the time until the backlog has left.
    fn delay(&self, backlog: Backlog) -> f64 {
        backlog.bytes as f64 * self.time / Self::THRESHOLD as f64
    }
}

/// State of the controller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control {
    /// The probability of a drop.
    pub p: f64,
    /// The delay in seconds, and that of the step before.
    delay: f64,
    old: f64,
    burst_allowance: Span,
    /// The sum of probabilities since the last drop (section 5.4).
    accumulated: f64,
    departures: Departures,
    next_update: Time,
}

impl Control {
    /// Create the state for an empty queue.
    pub fn new(law: &ControlLaw) -> Self {
        Self {
            p: 0.0,
            delay: 0.0,
            old: 0.0,
            burst_allowance: Span::ZERO,
            accumulated: 0.0,
            departures: Departures::default(),
            next_update: Time::ZERO + law.t_update,
        }
    }

    /// Decide about an arriving packet, for which there is room.
    #[inline]
    pub fn decide<P>(
        &mut self,
        law: &ControlLaw,
        meta: &Meta,
        before: Backlog,
        host: &mut impl Host<P>,
    ) -> Verdict {
        if !self.hits(law, meta.bytes, before, host) {
            return Verdict::Accept;
        }
        let may_mark = law.mark_up_to.is_some_and(|up_to| self.p <= up_to);
        Verdict::signal(DropReason::EARLY, may_mark, meta)
    }

    /// Return whether an arriving packet must be dropped or marked.
    fn hits<P>(&mut self, law: &ControlLaw, bytes: u32, before: Backlog, host: &mut impl Host<P>) -> bool {
        if self.p == 0.0 && self.delay < law.target / 2.0 && self.old < law.target / 2.0 {
            self.burst_allowance = law.max_burst;
        }
        let hits = self.burst_allowance == Span::ZERO && self.draws(law, bytes, before, host);
        if hits {
            self.accumulated = 0.0;
        }
        hits
    }

    fn draws<P>(&mut self, law: &ControlLaw, bytes: u32, before: Backlog, host: &mut impl Host<P>) -> bool {
        // The link must never run empty for a drop (section 4.1).
        if (self.old < law.target / 2.0 && self.p < 0.2) || before.bytes <= law.mean_packet.saturating_mul(2)
        {
            return false;
        }
        let scale = if law.in_bytes { f64::from(bytes) / law.mean_packet as f64 } else { 1.0 };
        let p = (self.p * scale).min(1.0);
        if law.derandomizes {
            self.accumulated = if self.p == 0.0 { 0.0 } else { self.accumulated + p };
            if self.accumulated < 0.85 {
                return false;
            }
            if self.accumulated >= 8.5 {
                return true;
            }
        }
        host.uniform() < p
    }

    /// Record a packet dropped because the buffer is full.
    pub fn overflowed(&mut self) {
        self.accumulated = 0.0;
    }

    /// A packet leaves.
    pub fn departed(&mut self, law: &ControlLaw, now: Time, meta: &Meta, left: Backlog) {
        match law.delay {
            Delay::Timestamp if left.packets == 0 => self.delay = 0.0,
            Delay::Timestamp => self.delay = now.since(meta.arrival).secs(),
            Delay::DepartureRate => self.departures.departed(now, u64::from(meta.bytes), left),
        }
    }

    /// Compute the steps that are due by `now`, for a queue without changes since the last call.
    pub fn catch_up(&mut self, law: &ControlLaw, now: Time, backlog: Backlog) {
        while self.next_update <= now {
            if self.is_at_rest(backlog) {
                let late = now.since(self.next_update).0 / law.t_update.0 + 1;
                self.next_update += law.t_update * late;
                return;
            }
            self.update(law, backlog);
            self.next_update += law.t_update;
        }
    }

    /// Whether steps change nothing.
    fn is_at_rest(&self, backlog: Backlog) -> bool {
        let is_quiet = self.p == 0.0 && self.delay == 0.0 && self.old == 0.0;
        is_quiet && self.burst_allowance == Span::ZERO && backlog.packets == 0
    }

    /// When the next step is due that changes something.
    pub fn next_update(&self, backlog: Backlog) -> Option<Time> {
        (!self.is_at_rest(backlog)).then_some(self.next_update)
    }

    fn update(&mut self, law: &ControlLaw, backlog: Backlog) {
        if law.delay == Delay::DepartureRate {
            self.delay = self.departures.delay(backlog);
        }
        self.p = law.step(self.p, self.delay, self.old);
        self.old = self.delay;
        self.burst_allowance = self.burst_allowance - law.t_update;
    }

    /// Report the gauges.
    pub fn gauges(&self, out: &mut dyn FnMut(Gauge, f64)) {
        out(Gauge::State("p"), self.p);
        out(Gauge::State("delay"), self.delay);
        out(Gauge::State("burst_allowance"), self.burst_allowance.secs());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Packet;
    use proptest::prelude::*;

    const LAW: ControlLaw = ControlLaw {
        target: 0.015,
        alpha: 0.125,
        beta: 1.25,
        auto_tune: AutoTune::Rfc,
        t_update: Span::from_millis(15),
        max_burst: Span::from_millis(150),
        mean_packet: 1000,
        delay: Delay::Timestamp,
        in_bytes: false,
        caps: true,
        derandomizes: false,
        decays_early: false,
        mark_up_to: None,
    };

    /// A host that returns one random number.
    struct Draws(f64);

    impl Host<()> for Draws {
        fn uniform(&mut self) -> f64 {
            self.0
        }
        fn below(&mut self, _n: u64) -> u64 {
            0
        }
        fn dropped(&mut self, _packet: Packet<()>, _reason: crate::DropReason) {}
        fn marked(&mut self, _packet: &Packet<()>, _reason: crate::DropReason) {}
    }

    #[test]
    fn steps_by_hand() {
        // 0.125 (0.035 - 0.015) + 1.25 (0.035 - 0.025) = 0.015, divided by the factor for the range of the probability.
        for (p, divisor) in [
            (0.0, 2048.0),
            (0.000_001, 512.0),
            (0.000_01, 128.0),
            (0.000_1, 32.0),
            (0.001, 8.0),
            (0.01, 2.0),
            (0.1, 1.0),
        ] {
            let change = LAW.step(p, 0.035, 0.025) - p;
            assert!((change - 0.015 / divisor).abs() < 1e-15, "{p}: {change}");
        }
        // At the target and without a trend nothing changes.
        assert_eq!(LAW.step(0.3, 0.015, 0.015), 0.3);
        // Two empty steps: (0.5 - 0.125 * 0.015) * 0.98.
        assert!((LAW.step(0.5, 0.0, 0.0) - 0.498_125 * 0.98).abs() < 1e-15);
        assert_eq!(LAW.step(0.0, 0.0, 0.0), 0.0);
    }

    /// By hand: 0.015 as above over 8 below 1 %, 2 below 10 %, and 1; or without a divisor.
    #[test]
    fn other_ranges_of_the_gains() {
        for (auto_tune, p, change) in [
            (AutoTune::ThreeRanges, 0.0, 0.001_875),
            (AutoTune::ThreeRanges, 0.009_999, 0.001_875),
            (AutoTune::ThreeRanges, 0.01, 0.007_5),
            (AutoTune::ThreeRanges, 0.099_99, 0.007_5),
            (AutoTune::ThreeRanges, 0.1, 0.015),
            (AutoTune::Off, 0.0, 0.015),
            (AutoTune::Off, 0.000_1, 0.015),
            (AutoTune::Off, 0.1, 0.015),
        ] {
            let step = ControlLaw { auto_tune, ..LAW }.step(p, 0.035, 0.025) - p;
            assert!((step - change).abs() < 1e-15, "{auto_tune:?} {p}: {step}");
        }
    }

    /// Section 4.2 and appendix A of the RFC differ from its appendix B.
    #[test]
    fn the_probability_shrinks_by_itself_when_two_delays_are_short() {
        let early = ControlLaw { decays_early: true, ..LAW };
        for (delay, old, shrinks) in [(0.007, 0.001, true), (0.007, 0.0075, false), (0.0075, 0.0, false)] {
            let change = 0.125 * (delay - 0.015) + 1.25 * (delay - old);
            assert!((LAW.step(0.5, delay, old) - (0.5 + change)).abs() < 1e-15);
            let factor = if shrinks { 0.98 } else { 1.0 };
            assert!((early.step(0.5, delay, old) - factor * (0.5 + change)).abs() < 1e-15);
        }
        assert_eq!(early.step(0.5, 0.0, 0.0), LAW.step(0.5, 0.0, 0.0));
    }

    #[test]
    fn large_steps_are_capped_from_a_tenth_on() {
        assert!((LAW.step(0.1, 0.2, 0.0) - 0.12).abs() < 1e-15);
        // Below: (0.125 * 0.185 + 0.25) / 2 = 0.136 562 5.
        assert!((LAW.step(0.09, 0.2, 0.0) - 0.226_562_5).abs() < 1e-15);
        let free = ControlLaw { caps: false, ..LAW };
        assert!((free.step(0.1, 0.2, 0.0) - 0.373_125).abs() < 1e-15);
    }

    fn backlog(bytes: u64) -> Backlog {
        Backlog { packets: bytes.div_ceil(1000) as u32, bytes }
    }

    #[test]
    fn a_burst_passes() {
        let mut control = Control::new(&LAW);
        assert!(!control.hits(&LAW, 1000, backlog(50_000), &mut Draws(0.0)));
        assert_eq!(control.burst_allowance, LAW.max_burst);
        (control.p, control.delay, control.old) = (1.0, 1.0, 1.0);
        for left in (0..10).rev() {
            assert!(!control.hits(&LAW, 1000, backlog(50_000), &mut Draws(0.0)));
            control.update(&LAW, backlog(50_000));
            assert_eq!(control.burst_allowance, LAW.t_update * left);
        }
        assert!(control.hits(&LAW, 1000, backlog(50_000), &mut Draws(0.0)));
    }

    #[test]
    fn little_queues_are_left_alone() {
        let mut control = Control::new(&LAW);
        (control.p, control.delay, control.old) = (0.19, 0.1, 0.0074);
        assert!(
            !control.hits(&LAW, 1000, backlog(50_000), &mut Draws(0.0)),
            "half of the target, p below 0.2"
        );
        control.old = 0.0076;
        assert!(control.hits(&LAW, 1000, backlog(50_000), &mut Draws(0.0)));
        assert!(!control.hits(&LAW, 1000, backlog(2000), &mut Draws(0.0)), "two packets");
        assert!(!control.hits(&LAW, 1000, backlog(50_000), &mut Draws(0.19)), "by chance");
        assert!(control.hits(&LAW, 1000, backlog(50_000), &mut Draws(0.189)));
    }

    #[test]
    fn the_probability_of_bytes_is_that_of_a_mean_packet() {
        let law = ControlLaw { in_bytes: true, ..LAW };
        let mut control = Control::new(&law);
        (control.p, control.old) = (0.2, 0.1);
        assert!(!control.hits(&law, 500, backlog(50_000), &mut Draws(0.1)));
        assert!(control.hits(&law, 500, backlog(50_000), &mut Draws(0.099)));
    }

    #[test]
    fn drops_are_spaced_by_the_sum_of_probabilities() {
        let law = ControlLaw { derandomizes: true, ..LAW };
        let mut control = Control::new(&law);
        (control.p, control.old) = (0.25, 0.1);
        // 0.25, 0.5 and 0.75 are below 0.85, 1.0 is not.
        let hits = [0.0; 4].map(|u| control.hits(&law, 1000, backlog(50_000), &mut Draws(u)));
        assert_eq!(hits, [false, false, false, true]);
        // Without luck until 8.5 = 34 * 0.25.
        for _ in 1..34 {
            assert!(!control.hits(&law, 1000, backlog(50_000), &mut Draws(0.99)));
        }
        assert!(control.hits(&law, 1000, backlog(50_000), &mut Draws(0.99)));
    }

    #[test]
    fn the_rate_of_departures_by_hand() {
        let mut departures = Departures::default();
        let at = |ms: u64| Time::ZERO + Span::from_millis(ms);
        departures.departed(at(0), 4096, backlog(16_383));
        assert_eq!(departures.time, 0.0, "too short to measure");
        (0..4).for_each(|i| departures.departed(at(10 * i), 4096, backlog(20_000)));
        assert!((departures.time - 0.03).abs() < 1e-12);
        assert!((departures.delay(backlog(32_768)) - 0.06).abs() < 1e-12);
        // The next cycle has begun at 30 ms; it takes 40 ms: 0.25 * 0.04 + 0.75 * 0.03.
        (4..8).for_each(|i| departures.departed(at(10 * i), 4096, backlog(20_000)));
        assert!((departures.time - 0.0325).abs() < 1e-12);
    }

    #[test]
    fn an_idle_queue_comes_to_rest_and_keeps_its_grid() {
        let mut control = Control::new(&LAW);
        (control.p, control.delay) = (1.0, 0.3);
        let empty = Backlog::default();
        control.delay = 0.0;
        control.catch_up(&LAW, Time::from_secs(100.0), empty);
        assert!(control.is_at_rest(empty) && control.next_update(empty).is_none());
        control.catch_up(&LAW, Time::from_secs(1e6), empty);
        assert!(control.next_update > Time::from_secs(1e6));
        assert!(control.next_update <= Time::from_secs(1e6) + LAW.t_update);
        assert_eq!(control.next_update.0 % LAW.t_update.0, 0);
    }

    proptest! {
        #[test]
        fn a_step_is_a_probability_and_no_large_step_up(p in 0.0..=1.0f64, delay in 0.0..2.0f64, old in 0.0..2.0f64) {
            let next = LAW.step(p, delay, old);
            prop_assert!((0.0..=1.0).contains(&next));
            if p >= 0.1 {
                prop_assert!(next - p <= 0.02 + 1e-12);
            }
            if delay >= LAW.target && delay >= old {
                prop_assert!(next >= p);
            }
        }

        #[test]
        fn steps_in_one_go_are_steps_one_by_one(p in 0.0..=1.0f64, ms in 1u64..20_000) {
            let mut at_once = Control::new(&LAW);
            at_once.p = p;
            let mut by_timer = at_once;
            let empty = Backlog::default();
            let end = Time::ZERO + Span::from_millis(ms);
            while let Some(due) = by_timer.next_update(empty).filter(|due| *due <= end) {
                by_timer.catch_up(&LAW, due, empty);
            }
            at_once.catch_up(&LAW, end, empty);
            by_timer.catch_up(&LAW, end, empty);
            prop_assert_eq!(format!("{at_once:?}"), format!("{by_timer:?}"));
        }
    }
}
