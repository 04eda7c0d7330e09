use aqmlab_units::{Span, Time};

use super::rate_window::RateWindow;
use super::{
    ADAPT_CLOCK, ADAPT_INTERVAL, ALPHA, AdaptationContext, AdaptationPart, Adapted, IntegerCurve, MAX_L,
    MAX_U, Steps,
};
use crate::ParameterError;
#[cfg(test)]
use crate::Value;
use crate::red::curve::{Curve, CurveTable};
use crate::red::part::Part;
#[cfg(test)]
use crate::red::part::tests::Change;
use crate::spec::ParameterReader;
use crate::{Meta, Parameter, ValueKind, names};

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
    /// The condition for a step.
    pub trend: Trend,
    rate_at: Time,
    assured_at: Time,
    measured: Measured,
}

/// The condition for a step of Adaptive-RIO.
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
        .or(&names(&Trend::ALL)),
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
        let mut rule = Self {
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
            rate_at: Time::ZERO,
            assured_at: Time::ZERO,
            measured: Measured::Exact { rate: 0.0, previous: 0.0, threshold: c_init * capacity },
        };
        if reader.in_integers() {
            if !RateWindow::holds(rule.window, capacity) {
                let message =
                    format!("{} s has no form in integers (arithmetic = \"integer\")", rule.window.secs());
                return Err(ParameterError::new(
                    "tsw_window",
                    message,
                    "1 us to 13 days, and at most 2^45 bytes at the rate of the link",
                ));
            }
            let window = RateWindow::new(rule.window);
            let threshold = window.of_rate(c_init * capacity);
            rule.measured = Measured::Integer { window, rate: 0, previous: 0, threshold };
        }
        Ok(rule)
    }

    fn on_decision(&mut self, now: Time, meta: &Meta, _: bool, is_assured: bool) {
        let gap = now.since(self.rate_at);
        match &mut self.measured {
            Measured::Exact { rate, .. } => {
                let window = self.window.secs();
                let bits = 8.0 * f64::from(meta.bytes);
                *rate = (*rate * window + bits) / (gap.secs() + window);
            }
            Measured::Integer { window, rate, .. } => *rate = window.after(*rate, gap.0 / 1000, meta.bytes),
        }
        self.rate_at = now;
        if is_assured {
            self.assured_at = now;
        }
    }

    fn step<'a>(
        &mut self,
        now: Time,
        classes: usize,
        mut adapted: impl DoubleEndedIterator<Item = Adapted<'a>>,
    ) -> bool {
        let Some(last) = adapted.next_back() else { return true };
        // With a single class no traffic is assured, and none can be absent.
        let is_absent = classes > 1 && self.is_absent(now);
        if let Some(grows) = self.grows(is_absent) {
            match last.in_integers {
                None | Some(IntegerCurve::Linux(..)) => self.step_of(grows, last.curve),
                Some(IntegerCurve::Table(table, _)) => self.step_in_integers(grows, table, last.curve),
            }
        }
        self.note_rate();
        true
    }

    fn gauges(&self, now: Time, last: &Curve, out: &mut dyn FnMut(&'static str, f64)) {
        out("max_th_out", last.thresholds().1);
        let (rate, threshold) = match self.measured {
            Measured::Exact { rate, threshold, .. } => (rate, threshold),
            Measured::Integer { window, rate, threshold, .. } => (window.rate(rate), window.rate(threshold)),
        };
        out("c_threshold_bps", threshold);
        out("rate_bps", rate);
        out("absent", f64::from(u8::from(self.is_absent(now))));
    }
}

/// The measurements of Adaptive-RIO: A, A at the last step, and C'.
#[derive(Clone, Copy, Debug)]
enum Measured {
    /// In bit/s.
    Exact { rate: f64, previous: f64, threshold: f64 },
    /// In bytes in a window, times 2^16.
    Integer { window: RateWindow, rate: u64, previous: u64, threshold: u64 },
}

/// The constants of the steps in integers. Rates are in bytes in a window times 2^16, thresholds of the curve in units of its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerRio {
    /// The window of the rate.
    pub window: RateWindow,
    /// C.
    pub capacity: u64,
    /// C_init.
    pub c_init: u64,
    /// Delta_C.
    pub delta_c: u64,
    /// epsilon, times 2^32.
    pub epsilon: u32,
    /// Delta_T.
    pub delta_t: u64,
    /// max_L.
    pub max_l: u64,
    /// max_U.
    pub max_u: u64,
    /// 1/alpha, times 2^32.
    pub min_share: u32,
    /// T_abs in ns.
    pub absence_ns: u64,
}

/// Return a share of 1 in units of 2^-32.
fn share_of_2_32(share: f64) -> u32 {
    libm::round(share * libm::exp2(32.0)).min(f64::from(u32::MAX)) as u32
}

impl IntegerRio {
    /// Return the next value of C'.
    fn next_threshold(&self, threshold: u64, grows: bool) -> u64 {
        let next = if grows { threshold.saturating_sub(self.delta_c) } else { threshold + self.delta_c };
        next.clamp(self.c_init, self.capacity)
    }

    /// Return the next min_th and max_th.
    fn next_thresholds(&self, max_th: u64, grows: bool) -> (u64, u64) {
        let next = if grows { max_th + self.delta_t } else { max_th.saturating_sub(self.delta_t) };
        let max_th = next.clamp(self.max_l, self.max_u);
        let min_th = (u128::from(max_th) * u128::from(self.min_share)) >> 32;
        ((min_th as u64).min(max_th - 1), max_th)
    }
}

impl AdaptiveRio {
    /// Return the constants of the steps in integers; `unit` is that of the curve's table. `None` for a queue that does not compute
    /// in integers.
    pub fn in_integers(&self, unit: f64) -> Option<IntegerRio> {
        let Measured::Integer { window, .. } = self.measured else { return None };
        let (max_l, max_u) = self.bounds;
        let x_of = |packets: f64| libm::round(packets * unit).max(1.0) as u64;
        Some(IntegerRio {
            window,
            capacity: window.of_rate(self.capacity),
            c_init: window.of_rate(self.c_init * self.capacity),
            delta_c: window.of_rate(self.delta_c * self.capacity),
            epsilon: share_of_2_32(self.epsilon),
            delta_t: x_of(self.delta_t * max_u),
            max_l: x_of(max_l),
            max_u: x_of(max_u),
            min_share: share_of_2_32(1.0 / self.alpha),
            absence_ns: self.absence.0 / 1000,
        })
    }

    /// Whether assured traffic is absent.
    fn is_absent(&self, now: Time) -> bool {
        now.since(self.assured_at) > self.absence
    }

    /// Return whether the thresholds grow (`Some(true)`), shrink, or stay.
    fn grows(&self, is_absent: bool) -> Option<bool> {
        if is_absent {
            return Some(true);
        }
        let (over, rising, under, falling) = match self.measured {
            Measured::Exact { rate, previous, threshold } => {
                let epsilon = self.epsilon * threshold;
                (rate > threshold + epsilon, rate > previous, rate < threshold - epsilon, rate < previous)
            }
            Measured::Integer { rate, previous, threshold, .. } => {
                let epsilon = u128::from(threshold) * u128::from(share_of_2_32(self.epsilon));
                let epsilon = (epsilon >> 32) as u64;
                (rate > threshold + epsilon, rate > previous, rate < threshold - epsilon, rate < previous)
            }
        };
        if self.trend.speaks(over, rising) {
            Some(false)
        } else {
            self.trend.speaks(under, falling).then_some(true)
        }
    }

    /// Note the rate of this step.
    fn note_rate(&mut self) {
        match &mut self.measured {
            Measured::Exact { rate, previous, .. } => *previous = *rate,
            Measured::Integer { rate, previous, .. } => *previous = *rate,
        }
    }

    /// Let the thresholds of a curve grow or shrink, and C' the other way.
    fn step_of(&mut self, grows: bool, curve: &mut Curve) {
        let Measured::Exact { threshold, .. } = &mut self.measured else { return };
        let up = if grows { 1.0 } else { -1.0 };
        let (max_l, max_u) = self.bounds;
        let max_th = (curve.thresholds().1 + up * self.delta_t * max_u).clamp(max_l, max_u);
        curve.set_thresholds(max_th / self.alpha, max_th);
        let next = *threshold - up * self.delta_c * self.capacity;
        *threshold = next.clamp(self.c_init * self.capacity, self.capacity);
    }

    /// The same in integers.
    fn step_in_integers(&mut self, grows: bool, table: &mut CurveTable, curve: &mut Curve) {
        let Some(steps) = self.in_integers(table.unit) else { return };
        let Measured::Integer { threshold, .. } = &mut self.measured else { return };
        *threshold = steps.next_threshold(*threshold, grows);
        let (min_th, max_th) = steps.next_thresholds(table.max_th(), grows);
        table.set_thresholds(min_th, max_th);
        curve.set_thresholds(min_th as f64 / table.unit, max_th as f64 / table.unit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::red::curve::{Gentle, Linear};

    fn steps() -> IntegerRio {
        IntegerRio {
            window: RateWindow::new(Span::from_secs(1.0)),
            capacity: 1000,
            c_init: 900,
            delta_c: 30,
            epsilon: 0,
            delta_t: 160,
            max_l: 320,
            max_u: 640,
            min_share: share_of_2_32(1.0 / 3.0),
            absence_ns: 0,
        }
    }

    #[test]
    fn steps_in_integers_by_hand() {
        let next = |max_th, grows| steps().next_thresholds(max_th, grows);
        assert_eq!([next(320, true), next(480, true), next(640, true)], [(159, 480), (213, 640), (213, 640)]);
        assert_eq!(
            [next(640, false), next(480, false), next(320, false)],
            [(159, 480), (106, 320), (106, 320)]
        );
        let next = |threshold, grows| steps().next_threshold(threshold, grows);
        assert_eq!([next(900, false), next(990, false)], [930, 1000]);
        assert_eq!([next(1000, true), next(910, true)], [970, 900]);
        // min_th stays below max_th.
        let narrow = IntegerRio { min_share: u32::MAX, max_l: 1, ..steps() };
        assert_eq!(narrow.next_thresholds(2, false), (0, 1));
    }

    #[test]
    fn a_table_that_moves_is_that_of_the_curve_that_moved() {
        let curves = [
            Curve::from(Linear { min_th: 5.0, max_th: 15.0, max_p: 0.1 }),
            Curve::Gentle(Gentle::new(5.0, 15.0, 0.1)),
        ];
        for mut curve in curves {
            let mut table = CurveTable::new(&curve, 16.0);
            assert_eq!(table.max_th(), 240);
            table.set_thresholds(160, 480);
            curve.set_thresholds(10.0, 30.0);
            assert_eq!(table, CurveTable::new(&curve, 16.0));
            assert_eq!(table.max_th(), 480);
        }
    }
}
