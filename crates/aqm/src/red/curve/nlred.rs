use super::CurvePart;
use crate::ParameterError;
use crate::plugin::CurveNumbers;
use crate::red::part::Part;
use crate::spec::ParameterReader;

/// Nonlinear RED (K. Zhou, K. L. Yeung and V. O. K. Li, "Nonlinear RED: A simple yet efficient active queue
/// management scheme", Computer Networks 50(18), 2006):
///
/// ```text
/// p_b = 1.5 max_p ((avg - min_th)/(max_th - min_th))^2      min_th <= avg < max_th
///     = 1                                                   avg >= max_th
/// ```
///
/// The factor 1.5 makes the mean of p_b over the two thresholds that of RED with the same max_p.
///
/// Modules whose settings may change compute it in C: `aqmlab_share` in `python/aqmlab/interop/kernel/module/curve.h`.
#[derive(Clone, Debug, PartialEq)]
pub struct Nlred {
    /// Lower threshold in packets, > 0.
    pub min_th: f64,
    /// Upper threshold in packets, > min_th.
    pub max_th: f64,
    /// RED's max_p, 0 <= max_p <= 2/3 (so that p_b <= 1).
    pub max_p: f64,
}

impl Part for Nlred {
    const NAME: &'static str = "nlred";
    const DOC: &'static str = "quadratic up to 1.5 max_p at max_th, and 1 from there on";
}

impl CurvePart for Nlred {
    fn read(_: &mut ParameterReader<'_>, numbers: &CurveNumbers) -> Result<Self, ParameterError> {
        let &CurveNumbers { min_th, max_th, max_p, .. } = numbers;
        if max_p > 2.0 / 3.0 {
            let message = format!("NLRED's p_b = 1.5 max_p x^2 would pass 1 with max_p = {max_p}");
            return Err(ParameterError::new("max_p", message, "0 <= max_p <= 2/3"));
        }
        Ok(Self { min_th, max_th, max_p })
    }

    #[inline]
    fn p_b(&self, avg: f64) -> f64 {
        if avg < self.min_th {
            0.0
        } else if avg < self.max_th {
            let x = (avg - self.min_th) / (self.max_th - self.min_th);
            (1.5 * self.max_p * x * x).min(1.0)
        } else {
            1.0
        }
    }

    between_thresholds!();

    #[cfg(test)]
    fn sample(numbers: CurveNumbers) -> Self {
        let CurveNumbers { min_th, max_th, max_p, .. } = numbers;
        Self { min_th, max_th, max_p: max_p / 1.5 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let c = Nlred { min_th: 10.0, max_th: 30.0, max_p: 0.1 };
        assert_eq!(c.p_b(9.0), 0.0);
        assert!((c.p_b(20.0) - 0.0375).abs() < 1e-16);
        assert!((c.p_b(29.999_999) - 0.15).abs() < 1e-7);
        assert_eq!(c.p_b(30.0), 1.0);
    }

    #[test]
    fn same_mean_as_red() {
        let c = Nlred { min_th: 10.0, max_th: 30.0, max_p: 0.1 };
        let n = 200_000;
        let mean = (0..n).map(|i| c.p_b(10.0 + 20.0 * (f64::from(i) + 0.5) / f64::from(n))).sum::<f64>()
            / f64::from(n);
        assert!((mean - 0.05).abs() < 1e-9);
    }
}
