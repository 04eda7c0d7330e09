use aqmlab_units::{Span, Time};

use crate::red::curve::Curve;

/// Adaptive-RIO (C.-H. Chien and W. Liao, "A Self-Configuring RED Gateway for Quality of Service (QoS) Networks"): the
/// thresholds of the *out* packets grow while the link is not full or assured traffic is absent, and shrink while
/// congestion builds up. The rate of all arrivals is estimated by a time-sliding window (its reference 4):
///
/// ```text
/// at an arrival of L bits:   A <- (A Win + L)/(now - t + Win),  t <- now
/// every UI:
///   no assured packet for T_abs              max <- max + Delta_T,  C' <- C' - Delta_C
///   A > C' + epsilon and A rises             max <- max - Delta_T,  C' <- C' + Delta_C
///   A < C' - epsilon and A falls             max <- max + Delta_T,  C' <- C' - Delta_C
///   max within [max_L, max_U],  C' within [C_init, C],  min <- max/alpha
/// ```
///
/// | symbol | field | unit | paper | allowed |
/// |---|---|---|---|---|
/// | C_init | `c_init` | C | 0.9 | (0, 1] |
/// | Delta_C | `delta_c` | C | 0.0002 | (0, 1] |
/// | Delta_T | `delta_t` | max_U | 0.02 | (0, 1] |
/// | epsilon | `epsilon` | C' | 0.025 | [0, 1) |
/// | UI | | s | 0.2 | > 0 |
/// | Win | `window` | s | 5 | > 0 |
/// | alpha | `alpha` | 1 | 3 | > 1 |
/// | T_abs | `absence` | s | not given | > 0 |
/// | max_L, max_U | `bounds` | packets | not given | 0 < max_L <= max_U |
///
/// The paper's Figure 3 with the algorithm is lost; this is put together from its text. Readings: rate and trend must
/// both say so, or the rate alone, or either (A-1, `trend`); absence counts whatever the rate is (A-2) and lowers C' (A-3); a step is taken at the
/// first arrival after UI (A-4); the previous rate is that of the previous step (A-5); assured are the packets of the
/// first class (A-7); it is max and C' that are bounded (A-10). With a single class no traffic is assured, and so none
/// is ever absent.
#[derive(Clone, Debug)]
pub struct AdaptiveRio {
    /// Bit rate of the link.
    pub capacity: f64,
    /// C_init/C.
    pub c_init: f64,
    /// Delta_C/C.
    pub delta_c: f64,
    /// Delta_T/max_U.
    pub delta_t: f64,
    /// epsilon/C'.
    pub epsilon: f64,
    /// max_L and max_U.
    pub bounds: (f64, f64),
    /// max over min.
    pub alpha: f64,
    /// Win.
    pub window: Span,
    /// T_abs.
    pub absence: Span,
    /// What speaks for a step.
    pub trend: Trend,
}

/// What speaks for a step of Adaptive-RIO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    /// The rate is beyond the threshold and moves away from it.
    Both,
    /// The rate is beyond the threshold.
    Rate,
    /// The rate is beyond the threshold, or moves away from it.
    Either,
}

impl Trend {
    /// All of them, as they stand in a scenario file.
    pub const ALL: [(&'static str, Self); 3] =
        [("both", Self::Both), ("rate", Self::Rate), ("either", Self::Either)];

    fn speaks(self, beyond: bool, moving: bool) -> bool {
        match self {
            Self::Both => beyond && moving,
            Self::Rate => beyond,
            Self::Either => beyond || moving,
        }
    }
}

/// What Adaptive-RIO has measured.
#[derive(Clone, Debug)]
pub struct RioState {
    /// C', in bit/s.
    threshold: f64,
    /// A, in bit/s.
    rate: f64,
    rate_at: Time,
    previous: f64,
    assured_at: Time,
}

impl RioState {
    pub(super) fn new(rule: &AdaptiveRio) -> Self {
        let threshold = rule.c_init * rule.capacity;
        Self { threshold, rate: 0.0, rate_at: Time::ZERO, previous: 0.0, assured_at: Time::ZERO }
    }

    /// A packet arrives, whatever becomes of it.
    pub(super) fn on_arrival(&mut self, rule: &AdaptiveRio, now: Time, bytes: u32, is_assured: bool) {
        let window = rule.window.secs();
        let bits = 8.0 * f64::from(bytes);
        self.rate = (self.rate * window + bits) / (now.since(self.rate_at).secs() + window);
        self.rate_at = now;
        if is_assured {
            self.assured_at = now;
        }
    }

    /// Whether assured traffic is absent.
    fn is_absent(&self, rule: &AdaptiveRio, now: Time) -> bool {
        now.since(self.assured_at) > rule.absence
    }

    /// One step; `may_be_absent`: there is assured traffic that can be absent.
    pub(super) fn step(&mut self, rule: &AdaptiveRio, now: Time, may_be_absent: bool, curve: &mut Curve) {
        let epsilon = rule.epsilon * self.threshold;
        let (over, rising) = (self.rate > self.threshold + epsilon, self.rate > self.previous);
        let (under, falling) = (self.rate < self.threshold - epsilon, self.rate < self.previous);
        let congested = rule.trend.speaks(over, rising);
        let relaxed = rule.trend.speaks(under, falling);
        self.previous = self.rate;
        let up = if may_be_absent && self.is_absent(rule, now) {
            1.0
        } else if congested {
            -1.0
        } else if relaxed {
            1.0
        } else {
            return;
        };
        let (max_l, max_u) = rule.bounds;
        let max_th = (curve.thresholds().1 + up * rule.delta_t * max_u).clamp(max_l, max_u);
        curve.set_thresholds(max_th / rule.alpha, max_th);
        self.threshold = (self.threshold - up * rule.delta_c * rule.capacity)
            .clamp(rule.c_init * rule.capacity, rule.capacity);
    }

    pub(super) fn gauges(
        &self,
        rule: &AdaptiveRio,
        now: Time,
        curve: &Curve,
        out: &mut dyn FnMut(&'static str, f64),
    ) {
        out("max_th_out", curve.thresholds().1);
        out("c_threshold_bps", self.threshold);
        out("rate_bps", self.rate);
        out("absent", f64::from(u8::from(self.is_absent(rule, now))));
    }
}
