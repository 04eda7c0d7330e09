use aqmlab_units::Time;

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

/// Load-adaptive thresholds (J. Aweya, M. Ouellette, D. Y. Montuno and A. Chapman, "A load adaptive mechanism for buffer
/// management", Computer Networks 36(5-6), 2001): the thresholds rise and fall with the load, which is measured by the
/// drop rate, so that the drop rate stays near a target.
///
/// ```text
/// every interval:
///   loss   <- (1 - beta) loss + beta drops/arrivals          arrivals and drops of the interval
///   max_th <- max_th + alpha (loss/theta - 1)                within [max_L, max_U]
///   min_th <- max_th/ratio
/// ```
///
/// | symbol | field | unit | allowed |
/// |---|---|---|---|
/// | theta | `target` | 1 | 0 < theta < 1 |
/// | alpha | `gain` | packets | > 0 |
/// | beta | `filter` | 1 | 0 < beta <= 1 |
/// | max_L, max_U | `bounds` | packets | 0 < max_L <= max_U |
/// | | `ratio` | 1 | > 1 |
///
/// Readings: the law of the paper is known here by its description alone (thresholds follow the number of connections
/// and the load so that the actual drop rate is as near as possible to a given one): an integral controller is the
/// simplest that does it, and its numbers are choices, not the paper's. An interval without arrivals changes nothing.
#[derive(Clone, Debug)]
pub struct Load {
    /// The drop rate aimed at.
    pub target: f64,
    /// Change of max_th per interval at twice the target.
    pub gain: f64,
    /// Weight of one interval.
    pub filter: f64,
    /// Bounds of max_th.
    pub bounds: (f64, f64),
    /// max_th over min_th.
    pub ratio: f64,
    loss: f64,
    arrivals: u64,
    drops: u64,
}

const PAPER: &str = "Aweya, Ouellette, Montuno and Chapman 2001";

impl Part for Load {
    const NAME: &'static str = "load";
    const DOC: &'static str = "the thresholds follow the load so that the drop rate stays near a target";
    const PARAMETERS: &'static [Parameter] = &[
        ADAPT_INTERVAL,
        ADAPT_CLOCK,
        Parameter::new(
            "target_loss",
            "theta",
            ValueKind::Number,
            "load: drop rate that the thresholds aim at",
        )
        .above(0.0)
        .below(1.0)
        .source(PAPER),
        Parameter::new(
            "loss_filter",
            "beta",
            ValueKind::Number,
            "load: weight of one interval in the measured drop rate",
        )
        .above(0.0)
        .to(1.0)
        .source(PAPER),
        Parameter::new(
            "load_gain",
            "alpha",
            ValueKind::PacketsOrBytes,
            "load: change of max_th per interval for a drop rate one target above the target",
        )
        .above(0.0)
        .source(PAPER),
        MAX_L,
        MAX_U,
        ALPHA,
    ];

    #[cfg(test)]
    fn changes() -> Vec<Change> {
        vec![
            Change::to("adapt_interval", Value::Seconds(0.01)),
            Change::to("adapt_clock", Value::Word("timer".into())),
            Change::to("target_loss", Value::Number(0.2)),
            Change::to("loss_filter", Value::Number(1.0)),
            Change::to("load_gain", Value::Packets(5.0)),
            Change::to("max_l", Value::Packets(30.0)),
            Change::to("max_u", Value::Packets(16.0)),
            Change::to("alpha", Value::Number(1.5)),
        ]
    }
}

impl AdaptationPart for Load {
    const STEPS: Steps = Steps::AfterDecision(0.1);

    fn read(
        reader: &mut ParameterReader<'_>,
        context: &AdaptationContext<'_>,
    ) -> Result<Self, ParameterError> {
        let target = reader.number("target_loss", 0.02);
        let filter = reader.number("loss_filter", 0.1);
        let gain = reader.packets("load_gain", 0.5, context.mean_packet);
        let (bounds, ratio) = context.threshold_bounds(reader)?;
        Ok(Self::new(target, gain, filter, bounds, ratio))
    }

    fn on_decision(&mut self, _: Time, _: &Meta, dropped: bool, _: bool) {
        self.count(dropped);
    }

    fn step<'a>(
        &mut self,
        _: Time,
        _: usize,
        mut adapted: impl DoubleEndedIterator<Item = Adapted<'a>>,
    ) -> bool {
        if let Some(last) = adapted.next_back() {
            self.step_of(last.curve);
        }
        true
    }

    fn gauges(&self, _: Time, last: &Curve, out: &mut dyn FnMut(&'static str, f64)) {
        out("max_th", last.thresholds().1);
        out("loss", self.loss);
    }
}

impl Load {
    /// With the loss at its target.
    pub fn new(target: f64, gain: f64, filter: f64, bounds: (f64, f64), ratio: f64) -> Self {
        Self { target, gain, filter, bounds, ratio, loss: target, arrivals: 0, drops: 0 }
    }

    /// The filtered drop rate.
    pub fn loss(&self) -> f64 {
        self.loss
    }

    fn count(&mut self, dropped: bool) {
        self.arrivals += 1;
        self.drops += u64::from(dropped);
    }

    /// One step of the last class.
    fn step_of(&mut self, curve: &mut Curve) {
        if self.arrivals == 0 {
            return;
        }
        self.loss += self.filter * (self.drops as f64 / self.arrivals as f64 - self.loss);
        (self.arrivals, self.drops) = (0, 0);
        let moved = curve.thresholds().1 + self.gain * (self.loss / self.target - 1.0);
        let max_th = moved.clamp(self.bounds.0, self.bounds.1);
        curve.set_thresholds(max_th / self.ratio, max_th);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::red::curve::Linear;

    #[test]
    fn by_hand() {
        let mut curve = Curve::Linear(Linear { min_th: 10.0, max_th: 30.0, max_p: 0.1 });
        let mut load = Load::new(0.01, 2.0, 0.5, (15.0, 33.0), 3.0);
        load.step_of(&mut curve);
        assert_eq!(curve.thresholds(), (10.0, 30.0));
        // 3 % lost: the filter says 2 %, one target above the target.
        (0..100).for_each(|i| load.count(i < 3));
        load.step_of(&mut curve);
        assert!((load.loss() - 0.02).abs() < 1e-15);
        let (min_th, max_th) = curve.thresholds();
        assert!((max_th - 32.0).abs() < 1e-12 && (min_th - 32.0 / 3.0).abs() < 1e-12);
        (0..10).for_each(|_| load.count(true));
        load.step_of(&mut curve);
        assert_eq!(curve.thresholds(), (11.0, 33.0));
        for _ in 0..100 {
            load.count(false);
            load.step_of(&mut curve);
        }
        assert_eq!(curve.thresholds(), (5.0, 15.0));
    }
}
