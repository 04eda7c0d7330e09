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
}

impl Part for Gentle {
    const NAME: &'static str = "gentle";
    const DOC: &'static str = "linear up to max_th, then a straight line from max_p to 1 at twice max_th";
}

impl CurvePart for Gentle {
    fn read(_: &mut ParameterReader<'_>, numbers: &CurveNumbers) -> Result<Self, ParameterError> {
        let &CurveNumbers { min_th, max_th, max_p, .. } = numbers;
        Ok(Self { min_th, max_th, max_p })
    }

    #[inline]
    fn p_b(&self, avg: f64) -> f64 {
        if avg < self.min_th {
            0.0
        } else if avg < self.max_th {
            below_max_th(avg, self.min_th, self.max_th, self.max_p)
        } else {
            above_max_th(avg, self.max_th, self.max_p)
        }
    }

    between_thresholds!();
}

/// The second segment, from (max_th, max_p) to (2 max_th, 1): also MRED's.
#[inline]
pub(super) fn above_max_th(avg: f64, max_th: f64, max_p: f64) -> f64 {
    (max_p + (1.0 - max_p) * (avg - max_th) / max_th).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let c = Gentle { min_th: 10.0, max_th: 30.0, max_p: 0.1 };
        assert_eq!(c.p_b(9.999), 0.0);
        assert_eq!(c.p_b(20.0), 0.05);
        assert_eq!(c.p_b(30.0), 0.1);
        assert_eq!(c.p_b(45.0), 0.55);
        assert_eq!(c.p_b(60.0), 1.0);
        assert_eq!(c.p_b(1000.0), 1.0);
    }

    #[test]
    fn a_max_p_of_0_leaves_the_second_segment() {
        let c = Gentle { min_th: 10.0, max_th: 30.0, max_p: 0.0 };
        assert_eq!([10.0, 29.999, 30.0, 45.0, 60.0].map(|avg| c.p_b(avg)), [0.0, 0.0, 0.0, 0.5, 1.0]);
    }
}
