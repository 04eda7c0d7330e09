use aqmlab_units::{Span, Time};

use super::{
    ADAPT_CLOCK, ADAPT_INTERVAL, ALPHA, AdaptationContext, AdaptationPart, Adapted, MAX_L, MAX_U, Steps,
};
use crate::ParameterError;
#[cfg(test)]
use crate::Value;
use crate::red::curve::Curve;
use crate::red::part::Part;
#[cfg(test)]
use crate::red::part::tests::Change;
use crate::spec::ParameterReader;
use crate::{Meta, Parameter, ValueKind};

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
/// both ask for a step, or the rate alone, or either (A-1, `trend`); absence counts whatever the rate is (A-2) and lowers C' (A-3); a step is taken at the
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
    state: RioState,
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

pub(super) const PAPER: &str = "Chien and Liao, Adaptive-RIO";

impl Part for AdaptiveRio {
    const NAME: &'static str = "adaptive-rio";
    const DOC: &'static str =
        "the thresholds of the last class follow the rate of arrivals and the presence of the first class";
    const PARAMETERS: &'static [Parameter] = &[
        ADAPT_INTERVAL,
        ADAPT_CLOCK,
        MAX_L,
        MAX_U,
        ALPHA,
        Parameter::new(
            "c_init",
            "C_init/C",
            ValueKind::Number,
            "Adaptive-RIO: first and smallest threshold of the rate, as a share of the link",
        )
        .above(0.0)
        .to(1.0)
        .source(PAPER),
        Parameter::new("delta_c", "Delta_C/C", ValueKind::Number, "Adaptive-RIO: step of that threshold")
            .above(0.0)
            .to(1.0)
            .source(PAPER),
        Parameter::new(
            "delta_t",
            "Delta_T/max_U",
            ValueKind::Number,
            "Adaptive-RIO: step of max_th as a share of max_u",
        )
        .above(0.0)
        .to(1.0)
        .source(PAPER),
        Parameter::new(
            "epsilon",
            "epsilon/C'",
            ValueKind::Number,
            "Adaptive-RIO: dead zone around the threshold of the rate",
        )
        .from(0.0)
        .below(1.0)
        .source(PAPER),
        Parameter::new("tsw_window", "Win", ValueKind::Time, "Adaptive-RIO: window of the rate estimate")
            .above(0.0)
            .source(PAPER),
        Parameter::new(
            "absence",
            "T_abs",
            ValueKind::Time,
            "Adaptive-RIO: assured traffic is absent after so long without a packet of it",
        )
        .above(0.0)
        .source(PAPER),
        Parameter::new(
            "trend",
            "",
            ValueKind::Choice,
            "Adaptive-RIO: rate beyond the threshold and moving away from it, beyond it, or either",
        )
        .or(&["both", "rate", "either"]),
    ];

    #[cfg(test)]
    fn changes() -> Vec<Change> {
        let window = ("tsw_window", Value::Seconds(0.1));
        let change = |key, value| Change::to(key, value).of("rio").with(window.0, window.1.clone());
        vec![
            change("adapt_interval", Value::Seconds(0.02)),
            change("adapt_clock", Value::Word("timer".into())),
            change("max_l", Value::Packets(30.0)),
            change("max_u", Value::Packets(16.0)),
            change("alpha", Value::Number(1.5)),
            change("c_init", Value::Number(0.2)),
            change("delta_c", Value::Number(0.5)).with("c_init", Value::Number(0.2)),
            change("delta_t", Value::Number(0.5)),
            change("epsilon", Value::Number(0.5)),
            Change::to("tsw_window", Value::Seconds(0.1)).of("rio"),
            change("absence", Value::Seconds(0.01)),
            change("trend", Value::Word("either".into())),
        ]
    }
}

impl AdaptationPart for AdaptiveRio {
    const STEPS: Steps = Steps::AfterDecision(0.2);

    fn read(
        reader: &mut ParameterReader<'_>,
        context: &AdaptationContext<'_>,
    ) -> Result<Self, ParameterError> {
        let capacity = reader.rate().bps();
        let (bounds, alpha) = context.threshold_bounds(reader)?;
        let c_init = reader.number("c_init", 0.9);
        Ok(Self {
            capacity,
            c_init,
            delta_c: reader.number("delta_c", 0.0002),
            delta_t: reader.number("delta_t", 0.02),
            epsilon: reader.number("epsilon", 0.025),
            bounds,
            alpha,
            window: Span::from_secs(reader.seconds("tsw_window", 5.0)),
            absence: Span::from_secs(reader.seconds("absence", 1.0)),
            trend: reader.word("trend", &Trend::ALL),
            state: RioState::new(c_init * capacity),
        })
    }

    fn on_decision(&mut self, now: Time, meta: &Meta, _: bool, is_assured: bool) {
        self.state.on_arrival(self.window, now, meta.bytes, is_assured);
    }

    fn step<'a>(
        &mut self,
        now: Time,
        classes: usize,
        mut adapted: impl DoubleEndedIterator<Item = Adapted<'a>>,
    ) -> bool {
        if let Some(last) = adapted.next_back() {
            self.step_of(now, classes > 1, last.curve);
        }
        true
    }

    fn gauges(&self, now: Time, last: &Curve, out: &mut dyn FnMut(&'static str, f64)) {
        out("max_th_out", last.thresholds().1);
        out("c_threshold_bps", self.state.threshold);
        out("rate_bps", self.state.rate);
        out("absent", f64::from(u8::from(self.is_absent(now))));
    }
}

/// What Adaptive-RIO has measured.
#[derive(Clone, Debug)]
struct RioState {
    /// C', in bit/s.
    threshold: f64,
    /// A, in bit/s.
    rate: f64,
    rate_at: Time,
    previous: f64,
    assured_at: Time,
}

impl RioState {
    fn new(threshold: f64) -> Self {
        Self { threshold, rate: 0.0, rate_at: Time::ZERO, previous: 0.0, assured_at: Time::ZERO }
    }

    /// A packet arrives, whatever becomes of it.
    fn on_arrival(&mut self, window: Span, now: Time, bytes: u32, is_assured: bool) {
        let window = window.secs();
        let bits = 8.0 * f64::from(bytes);
        self.rate = (self.rate * window + bits) / (now.since(self.rate_at).secs() + window);
        self.rate_at = now;
        if is_assured {
            self.assured_at = now;
        }
    }
}

impl AdaptiveRio {
    /// Whether assured traffic is absent.
    fn is_absent(&self, now: Time) -> bool {
        now.since(self.state.assured_at) > self.absence
    }

    /// One step; `may_be_absent`: there is assured traffic that can be absent.
    fn step_of(&mut self, now: Time, may_be_absent: bool, curve: &mut Curve) {
        let RioState { threshold, rate, previous, .. } = self.state;
        let epsilon = self.epsilon * threshold;
        let (over, rising) = (rate > threshold + epsilon, rate > previous);
        let (under, falling) = (rate < threshold - epsilon, rate < previous);
        let congested = self.trend.speaks(over, rising);
        let relaxed = self.trend.speaks(under, falling);
        self.state.previous = rate;
        let up = if may_be_absent && self.is_absent(now) {
            1.0
        } else if congested {
            -1.0
        } else if relaxed {
            1.0
        } else {
            return;
        };
        let (max_l, max_u) = self.bounds;
        let max_th = (curve.thresholds().1 + up * self.delta_t * max_u).clamp(max_l, max_u);
        curve.set_thresholds(max_th / self.alpha, max_th);
        let threshold = threshold - up * self.delta_c * self.capacity;
        self.state.threshold = threshold.clamp(self.c_init * self.capacity, self.capacity);
    }
}
