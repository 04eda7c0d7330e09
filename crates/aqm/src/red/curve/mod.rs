//! The curve: the probability p_b as a function of the average.
//!
//! Every curve is one small file with its formula, and one line in the list below. All are non-decreasing, stay in
//! [0, 1], and take the average in packets.

mod linux;
mod table;

pub use linux::{LinuxCurve, LinuxNumbers};
pub use table::{CELLS, CurveTable, ONE, Segment, fixed};

use super::part::{Part, parts};
use crate::ParameterError;
use crate::plugin::CurveNumbers;
use crate::spec::ParameterReader;

/// The constants and functions of a curve in addition to those of [`Part`].
pub(crate) trait CurvePart: Part {
    /// Whether it lies between min_th and max_th with max_p, which an adaptation can move.
    const HAS_THRESHOLDS: bool = true;
    /// Whether it reaches 1 at the limit, so that max_th must stay below.
    const ENDS_AT_LIMIT: bool = false;

    /// Read it. The thresholds are in order if it has some; `numbers` are those of the class.
    fn read(reader: &mut ParameterReader<'_>, numbers: &CurveNumbers) -> Result<Self, ParameterError>;

    /// Return warnings about valid but probably mistaken settings.
    fn warnings(_: &CurveNumbers) -> Vec<String> {
        Vec::new()
    }

    /// p_b for an average of `avg` packets, in [0, 1].
    fn p_b(&self, avg: f64) -> f64;

    /// min_th and max_th in packets.
    fn thresholds(&self) -> (f64, f64);

    /// The average in packets below which p_b is 0.
    #[inline]
    fn min_th(&self) -> f64 {
        self.thresholds().0
    }

    /// The averages in packets, in order, between which p_b neither jumps nor bends; it is 0 before the first and constant from
    /// the last on.
    fn knots(&self) -> Vec<f64> {
        let (min_th, max_th) = self.thresholds();
        vec![min_th, max_th]
    }

    /// The average in packets from which p_b is constant: the last of the knots.
    fn end(&self) -> f64 {
        self.thresholds().1
    }

    /// p_b just below max_th, or the parameter of that name where the curve has another p_b there.
    fn max_p(&self) -> f64;

    /// Set max_p, in [0, 1].
    fn set_max_p(&mut self, max_p: f64);

    /// Set max_p, in [0, 1], and leave the curve above max_th as it is.
    fn set_max_p_below_max_th(&mut self, max_p: f64) {
        self.set_max_p(max_p);
    }

    /// Set the thresholds, 0 < min_th < max_th.
    fn set_thresholds(&mut self, min_th: f64, max_th: f64);

    /// Return the curve for these numbers, which may be any with 0 < min_th < max_th < limit and 0 <= max_p <= 1.
    #[cfg(test)]
    fn sample(numbers: CurveNumbers) -> Self {
        let spec = crate::Spec::new("red").expect("a preset");
        let mut reader = ParameterReader::new(&spec, super::part::tests::LINK);
        Self::read(&mut reader, &numbers).expect("a curve for any numbers")
    }
}

/// The methods of a curve that keeps `min_th`, `max_th` and `max_p` in fields, and nothing that depends on them.
macro_rules! between_thresholds {
    () => {
        #[inline]
        fn thresholds(&self) -> (f64, f64) {
            (self.min_th, self.max_th)
        }

        fn max_p(&self) -> f64 {
            self.max_p
        }

        fn set_max_p(&mut self, max_p: f64) {
            self.max_p = max_p;
        }

        fn set_thresholds(&mut self, min_th: f64, max_th: f64) {
            (self.min_th, self.max_th) = (min_th, max_th);
        }
    };
}

parts! {
    "curve",
    /// The curves to choose from.
    #[derive(Clone, Debug, PartialEq)]
    enum Curve, CurveKind, each_curve, of_curve_kind;
    linear: Linear,
    gentle: Gentle,
    mred: Mred,
    exred: Exred,
    nlred: Nlred,
    double_slope: DoubleSlope,
    points: Points,
}

impl CurveNumbers {
    /// Check that min_th is below max_th.
    pub(crate) fn check_order(&self) -> Result<(), ParameterError> {
        let Self { min_th, max_th, .. } = self;
        if min_th < max_th {
            return Ok(());
        }
        let message = format!("min_th ({min_th}p) is not below max_th ({max_th}p)");
        Err(ParameterError::new("min_th", message, "0 < min_th < max_th"))
    }
}

impl CurveKind {
    /// Read a curve of this kind for a class with these numbers.
    pub(crate) fn read(
        self,
        reader: &mut ParameterReader<'_>,
        numbers: &CurveNumbers,
    ) -> Result<Curve, ParameterError> {
        if self.has_thresholds() {
            numbers.check_order()?;
        }
        of_curve_kind!(self, T => T::read(reader, numbers).map(Curve::from))
    }

    /// Return warnings about valid but probably mistaken settings.
    pub(crate) fn warnings(self, numbers: &CurveNumbers) -> Vec<String> {
        of_curve_kind!(self, T => T::warnings(numbers))
    }

    /// Whether it lies between min_th and max_th with max_p, which an adaptation can move.
    pub(crate) fn has_thresholds(self) -> bool {
        of_curve_kind!(self, T => T::HAS_THRESHOLDS)
    }

    /// Whether it reaches 1 at the limit, so that max_th must stay below.
    pub(crate) fn ends_at_limit(self) -> bool {
        of_curve_kind!(self, T => T::ENDS_AT_LIMIT)
    }
}

impl Curve {
    /// p_b for an average of `avg` packets, in [0, 1].
    #[inline]
    pub fn p_b(&self, avg: f64) -> f64 {
        each_curve!(self, curve => curve.p_b(avg))
    }

    /// min_th and max_th in packets: what an adaptation moves.
    pub fn thresholds(&self) -> (f64, f64) {
        each_curve!(self, curve => curve.thresholds())
    }

    /// The averages in packets between which p_b neither jumps nor bends.
    pub fn knots(&self) -> Vec<f64> {
        each_curve!(self, curve => curve.knots())
    }

    /// The average in packets from which p_b is constant.
    pub fn end(&self) -> f64 {
        each_curve!(self, curve => curve.end())
    }

    /// p_b just below max_th; of two slopes, where they meet; in NLRED 2/3 of it.
    pub fn max_p(&self) -> f64 {
        each_curve!(self, curve => curve.max_p())
    }

    /// The same curve with another max_p, in [0, 1]. A curve without thresholds stays as it is.
    pub fn set_max_p(&mut self, max_p: f64) {
        each_curve!(self, curve => curve.set_max_p(max_p));
    }

    /// The same curve with another max_p, in [0, 1], and above max_th as before.
    pub fn set_max_p_below_max_th(&mut self, max_p: f64) {
        each_curve!(self, curve => curve.set_max_p_below_max_th(max_p));
    }

    /// The same curve between other thresholds, 0 < min_th < max_th. A curve without thresholds stays as it is.
    pub fn set_thresholds(&mut self, min_th: f64, max_th: f64) {
        each_curve!(self, curve => curve.set_thresholds(min_th, max_th));
    }

    /// The average in packets below which p_b is 0 and spacing starts again.
    #[inline]
    pub fn min_th(&self) -> f64 {
        each_curve!(self, curve => curve.min_th())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A curve of any kind, with its name.
    pub(super) fn any_curve() -> impl Strategy<Value = (&'static str, Curve)> {
        let max_p = prop_oneof![8 => 0.001f64..1.0, 1 => Just(0.0), 1 => Just(1.0)];
        let kind = prop::sample::select(CurveKind::ALL);
        (kind, 0.1f64..100.0, 0.1f64..100.0, max_p, 1.0f64..200.0).prop_map(
            |(kind, min_th, width, max_p, room)| {
                let max_th = min_th + width;
                let numbers = CurveNumbers { min_th, max_th, max_p, limit: max_th + room };
                (kind.name(), of_curve_kind!(kind, T => Curve::from(T::sample(numbers))))
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn monotone_and_a_probability((name, curve) in any_curve(), mut xs in prop::collection::vec(0.0f64..500.0, 2..50)) {
            xs.sort_by(f64::total_cmp);
            let mut last = 0.0;
            for x in xs {
                let p = curve.p_b(x);
                prop_assert!((0.0..=1.0).contains(&p), "{name}");
                // Rounding may take back an ulp where a curve is flat.
                prop_assert!(p >= last - 1e-15, "{name}: {p} after {last} at {x}");
                last = p;
            }
        }

        #[test]
        fn nothing_below_min_th((name, curve) in any_curve(), part in 0.0f64..1.0) {
            prop_assert_eq!(curve.p_b(curve.min_th() * part * 0.999), 0.0, "{}", name);
        }

        #[test]
        fn it_ends_at_the_last_knot((name, curve) in any_curve(), above in 0.0f64..100.0) {
            let knots = curve.knots();
            prop_assert_eq!(Some(&curve.end()), knots.last(), "{}", name);
            // Rounding may take back an ulp.
            let rise = curve.p_b(curve.end() + above) - curve.p_b(curve.end());
            prop_assert!(rise.abs() < 1e-15, "{}", name);
        }

        #[test]
        fn what_an_adaptation_moves((name, mut curve) in any_curve(), min_th in 0.1f64..50.0, max_p in 0.001f64..0.1) {
            if CurveKind::named(name).is_ok_and(CurveKind::has_thresholds) {
                curve.set_thresholds(min_th, 2.0 * min_th);
                curve.set_max_p(max_p);
                prop_assert_eq!((curve.thresholds(), curve.max_p()), ((min_th, 2.0 * min_th), max_p));
            }
        }
    }
}
