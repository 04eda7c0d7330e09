use super::CurvePart;
use super::linear::below_max_th;
use crate::ParameterError;
use crate::plugin::CurveNumbers;
use crate::red::part::Part;
use crate::spec::ParameterReader;

/// Gentle RED (S. Floyd, "Recommendation on using the gentle_ variant of RED", 2000): no jump at max_th.
///
/// ```text
/// p_b = max_p (avg - min_th)/(max_th - min_th)          min_th <= avg < max_th
///     = max_p + (1 - max_p)(avg - max_th)/max_th        max_th <= avg < 2 max_th
///     = 1                                               avg >= 2 max_th
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Gentle {
    /// Lower threshold in packets, > 0.
    pub min_th: f64,
    /// Upper threshold in packets, > min_th.
    pub max_th: f64,
    /// p_b at max_th, 0 <= max_p <= 1.
    pub max_p: f64,
    /// Where the second segment starts: max_p, or its initial value if an adaptation moves only the first segment.
    above: f64,
}

impl Gentle {
    /// Return the curve for thresholds in packets, 0 < min_th < max_th, and 0 <= max_p <= 1.
    pub const fn new(min_th: f64, max_th: f64, max_p: f64) -> Self {
        Self { min_th, max_th, max_p, above: max_p }
    }
}

impl Part for Gentle {
    const NAME: &'static str = "gentle";
    const DOC: &'static str = "linear up to max_th, then a straight line from max_p to 1 at twice max_th";
}

impl CurvePart for Gentle {
    fn read(_: &mut ParameterReader<'_>, numbers: &CurveNumbers) -> Result<Self, ParameterError> {
        let &CurveNumbers { min_th, max_th, max_p, .. } = numbers;
        Ok(Self::new(min_th, max_th, max_p))
    }

    #[inline]
    fn p_b(&self, avg: f64) -> f64 {
        if avg < self.min_th {
            0.0
        } else if avg < self.max_th {
            below_max_th(avg, self.min_th, self.max_th, self.max_p)
        } else if avg < 2.0 * self.max_th {
            above_max_th(avg, self.max_th, self.above)
        } else {
            1.0
        }
    }

    fn knots(&self) -> Vec<f64> {
        vec![self.min_th, self.max_th, 2.0 * self.max_th]
    }

    fn end(&self) -> f64 {
        2.0 * self.max_th
    }

    #[inline]
    fn thresholds(&self) -> (f64, f64) {
        (self.min_th, self.max_th)
    }

    fn max_p(&self) -> f64 {
        self.max_p
    }

    fn set_max_p(&mut self, max_p: f64) {
        (self.max_p, self.above) = (max_p, max_p);
    }

    fn set_max_p_below_max_th(&mut self, max_p: f64) {
        self.max_p = max_p;
    }

    fn set_thresholds(&mut self, min_th: f64, max_th: f64) {
        (self.min_th, self.max_th) = (min_th, max_th);
    }
}

/// The second segment, from (max_th, max_p) to (2 max_th, 1): also MRED's.
#[inline]
pub(super) fn above_max_th(avg: f64, max_th: f64, max_p: f64) -> f64 {
    max_p + (1.0 - max_p) * (avg - max_th) / max_th
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let c = Gentle::new(10.0, 30.0, 0.1);
        assert_eq!(c.p_b(9.999), 0.0);
        assert_eq!(c.p_b(20.0), 0.05);
        assert_eq!(c.p_b(30.0), 0.1);
        assert_eq!(c.p_b(45.0), 0.55);
        assert_eq!(c.p_b(60.0), 1.0);
        assert_eq!(c.p_b(1000.0), 1.0);
    }

    #[test]
    fn p_b_is_1_at_twice_max_th_and_at_most_1_below() {
        let mut numbers = aqmlab_units::Stream::new(1, "curve");
        for _ in 0..100_000 {
            let (max_th, max_p) = (1.0 + 200.0 * numbers.uniform(), numbers.uniform());
            let c = Gentle::new(max_th / 3.0, max_th, max_p);
            assert_eq!(c.p_b(2.0 * max_th), 1.0, "{c:?}");
            assert!(c.p_b((2.0 * max_th).next_down()) <= 1.0, "{c:?}");
        }
    }

    #[test]
    fn the_second_segment_may_stay_where_it_was() {
        let mut c = Gentle::new(10.0, 30.0, 0.1);
        c.set_max_p_below_max_th(0.3);
        assert_eq!([20.0, 30.0, 45.0, 60.0].map(|avg| c.p_b(avg)), [0.15, 0.1, 0.55, 1.0]);
        c.set_max_p(0.3);
        assert_eq!([20.0, 30.0, 37.5, 60.0].map(|avg| c.p_b(avg)), [0.15, 0.3, 0.475, 1.0]);
    }

    #[test]
    fn a_max_p_of_0_leaves_the_second_segment() {
        let c = Gentle::new(10.0, 30.0, 0.0);
        assert_eq!([10.0, 29.999, 30.0, 45.0, 60.0].map(|avg| c.p_b(avg)), [0.0, 0.0, 0.0, 0.5, 1.0]);
    }
}
