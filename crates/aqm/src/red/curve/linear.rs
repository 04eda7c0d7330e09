use super::CurvePart;
use crate::ParameterError;
use crate::plugin::CurveNumbers;
use crate::red::part::Part;
use crate::spec::ParameterReader;

/// Classic RED (Floyd and Jacobson 1993, eq. 1):
///
/// ```text
/// p_b = max_p (avg - min_th)/(max_th - min_th)     min_th <= avg < max_th
///     = 1                                          avg >= max_th
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// Lower threshold in packets, > 0.
    pub min_th: f64,
    /// Upper threshold in packets, > min_th.
    pub max_th: f64,
    /// p_b just below max_th, 0 <= max_p <= 1.
    pub max_p: f64,
}

impl Part for Linear {
    const NAME: &'static str = "linear";
    const DOC: &'static str = "a straight line from 0 at min_th to max_p at max_th, and 1 from there on";
}

impl CurvePart for Linear {
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
            1.0
        }
    }

    between_thresholds!();
}

/// The first segment, from (min_th, 0) to (max_th, max_p): also gentle RED's.
#[inline]
pub(super) fn below_max_th(avg: f64, min_th: f64, max_th: f64, max_p: f64) -> f64 {
    max_p * ((avg - min_th) / (max_th - min_th))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let c = Linear { min_th: 10.0, max_th: 30.0, max_p: 0.1 };
        assert_eq!(c.p_b(9.999), 0.0);
        assert_eq!(c.p_b(10.0), 0.0);
        assert_eq!(c.p_b(20.0), 0.05);
        assert!((c.p_b(29.999_999) - 0.1).abs() < 1e-8);
        assert_eq!(c.p_b(30.0), 1.0);
    }

    #[test]
    fn a_max_p_of_0_is_a_step() {
        let c = Linear { min_th: 10.0, max_th: 30.0, max_p: 0.0 };
        assert_eq!([0.0, 10.0, 29.999, 30.0, 99.0].map(|avg| c.p_b(avg)), [0.0, 0.0, 0.0, 1.0, 1.0]);
    }
}
