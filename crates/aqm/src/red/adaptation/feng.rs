use aqmlab_units::Time;

use super::{AdaptationContext, AdaptationPart, GENTLE_SLOPE, GentleSlope, MAX_P_HIGH, MAX_P_LOW};
use crate::ParameterError;
#[cfg(test)]
use crate::Value;
use crate::red::curve::Curve;
use crate::red::part::Part;
#[cfg(test)]
use crate::red::part::tests::Change;
use crate::spec::ParameterReader;
use crate::{Parameter, ValueKind};

/// Feng's self-configuring RED (W. Feng, D. Kandlur, D. Saha and K. Shin, "A Self-Configuring RED Gateway", INFOCOM
/// 1999, figure 4): max_p falls when the average sinks below min_th and rises when it climbs above max_th.
///
/// ```text
/// min_th < avg < max_th                      status <- between
/// avg < min_th and status is not below       status <- below,  max_p <- max_p/alpha
/// avg > max_th and status is not above       status <- above,  max_p <- max_p beta
/// ```
///
/// | symbol | field | unit | paper | allowed |
/// |---|---|---|---|---|
/// | alpha | `alpha` | 1 | 3 | > 1 |
/// | beta | `beta` | 1 | 2 | > 1 |
///
/// Readings: the paper bounds max_p by nothing, a probability must end at 1; `max_p_low` and `max_p_high` are bounds
/// of choice. max_p is changed before the decision about the arriving packet, as in ns-2.35 (`queue/red.cc`,
/// `updateMaxPFeng`); with gentle RED the slope above max_th moves too, or not, as in ns-2.35 (`gentle_slope`).
#[derive(Clone, Debug)]
pub struct Feng {
    /// Divisor of max_p.
    pub alpha: f64,
    /// Factor of max_p.
    pub beta: f64,
    /// Bounds of max_p.
    pub bounds: (f64, f64),
    /// The part of the curve that a step moves.
    pub slope: GentleSlope,
    /// Of each class.
    status: Vec<Status>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Below,
    Between,
    Above,
}

const PAPER: &str = "Feng, Kandlur, Saha and Shin 1999";

impl Part for Feng {
    const NAME: &'static str = "feng";
    const DOC: &'static str =
        "max_p falls when the average sinks below min_th and rises when it passes max_th";
    const PARAMETERS: &'static [Parameter] = &[
        Parameter::new("feng_alpha", "alpha", ValueKind::Number, "Feng: max_p is divided by it below min_th")
            .above(1.0)
            .source(PAPER),
        Parameter::new(
            "feng_beta",
            "beta",
            ValueKind::Number,
            "Feng: max_p is multiplied by it above max_th",
        )
        .above(1.0)
        .source(PAPER),
        MAX_P_LOW,
        MAX_P_HIGH,
        GENTLE_SLOPE,
    ];

    #[cfg(test)]
    fn changes() -> Vec<Change> {
        let change = |key, x| Change::to(key, Value::Number(x));
        vec![
            change("feng_alpha", 20.0),
            change("feng_beta", 10.0),
            change("max_p_low", 0.3),
            change("max_p_high", 0.01),
            Change::to("gentle_slope", Value::Word("initial".into()))
                .with("curve", Value::Word("gentle".into())),
        ]
    }
}

impl Feng {
    /// With status *between* in each of so many classes.
    pub fn new(alpha: f64, beta: f64, bounds: (f64, f64), slope: GentleSlope, classes: usize) -> Self {
        Self { alpha, beta, bounds, slope, status: vec![Status::Between; classes] }
    }
}

impl AdaptationPart for Feng {
    const MULTIPLIES_MAX_P: bool = true;

    fn read(
        reader: &mut ParameterReader<'_>,
        context: &AdaptationContext<'_>,
    ) -> Result<Self, ParameterError> {
        let (alpha, beta) = (reader.number("feng_alpha", 3.0), reader.number("feng_beta", 2.0));
        let bounds = context.max_p_bounds(reader, (1e-6, 1.0))?;
        let slope = context.gentle_slope(reader);
        Ok(Self::new(alpha, beta, bounds, slope, context.classes.len()))
    }

    fn on_average(&mut self, class: usize, average: f64, curve: &mut Curve) {
        let last = self.status[class];
        let (min_th, max_th) = curve.thresholds();
        let status = if average < min_th {
            Status::Below
        } else if average > max_th {
            Status::Above
        } else if average > min_th && average < max_th {
            Status::Between
        } else {
            return;
        };
        let max_p = match status {
            Status::Below if last != Status::Below => curve.max_p() / self.alpha,
            Status::Above if last != Status::Above => curve.max_p() * self.beta,
            _ => curve.max_p(),
        };
        if status != last {
            self.slope.set_max_p(curve, max_p.clamp(self.bounds.0, self.bounds.1));
        }
        self.status[class] = status;
    }

    fn gauges(&self, _: Time, last: &Curve, out: &mut dyn FnMut(&'static str, f64)) {
        out("max_p", last.max_p());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::red::curve::Linear;

    #[test]
    fn by_hand() {
        let mut curve = Curve::Linear(Linear { min_th: 5.0, max_th: 15.0, max_p: 0.12 });
        let mut feng = Feng::new(3.0, 2.0, (0.03, 0.1), GentleSlope::Moving, 1);
        let mut at = |average: f64| {
            feng.on_average(0, average, &mut curve);
            (curve.max_p() * 1e6).round() / 1e6
        };
        // Nothing happens at a threshold itself, nor while the average stays on its side.
        assert_eq!([5.0, 10.0, 15.0].map(&mut at), [0.12, 0.12, 0.12]);
        assert_eq!([4.9, 4.0, 5.0, 4.0], [4.9, 4.0, 5.0, 4.0]);
        assert_eq!([4.9, 4.0, 5.0, 4.0].map(&mut at), [0.04, 0.04, 0.04, 0.04]);
        assert_eq!([6.0, 4.0].map(&mut at), [0.04, 0.03]);
        assert_eq!([16.0, 20.0, 15.0, 16.0].map(&mut at), [0.06, 0.06, 0.06, 0.06]);
        assert_eq!([14.0, 16.0].map(&mut at), [0.06, 0.1]);
        // From below to above at once, and back.
        assert_eq!([4.0, 16.0, 4.0].map(&mut at), [0.033_333, 0.066_667, 0.03]);
    }
}
