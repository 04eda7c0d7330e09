use super::CurvePart;
use super::gentle::above_max_th;
use crate::ParameterError;
use crate::plugin::CurveNumbers;
use crate::red::part::Part;
use crate::spec::ParameterReader;

/// MRED (Y. Zhang, J. Ma, Y. Wang and C. Xu, "MRED: An Improved Nonlinear RED Algorithm", section 3): quadratic
/// up to max_th, so that drops start more slowly, then linear to twice max_th as in gentle RED.
///
/// ```text
/// p_b = max_p (avg^2 - min_th^2)/(max_th^2 - min_th^2)      min_th <= avg < max_th
///     = max_p + (1 - max_p)(avg - max_th)/max_th            max_th <= avg < 2 max_th
///     = 1                                                   avg >= 2 max_th
/// ```
///
/// The paper bounds the last case by the buffer size. The bound has no effect, as the average cannot exceed the limit.
/// Defaults: preset `mred` in `red/preset.rs`; meaning and range of the parameters: `red/parameters.rs`.
/// This is not the "Modified RED" that other papers abbreviate the same way.
///
/// Modules whose settings may change compute it in C: `aqmlab_share` in `python/aqmlab/interop/kernel/module/curve.h`.
#[derive(Clone, Debug, PartialEq)]
pub struct Mred {
    /// Lower threshold in packets, > 0.
    pub min_th: f64,
    /// Upper threshold in packets, > min_th.
    pub max_th: f64,
    /// p_b at max_th, 0 <= max_p <= 1.
    pub max_p: f64,
}

impl Part for Mred {
    const NAME: &'static str = "mred";
    const DOC: &'static str = "quadratic up to max_th, then a straight line from max_p to 1 at twice max_th";
}

impl CurvePart for Mred {
    fn read(_: &mut ParameterReader<'_>, numbers: &CurveNumbers) -> Result<Self, ParameterError> {
        let &CurveNumbers { min_th, max_th, max_p, .. } = numbers;
        Ok(Self { min_th, max_th, max_p })
    }

    #[inline]
    fn p_b(&self, avg: f64) -> f64 {
        let Self { min_th, max_th, max_p } = *self;
        if avg < min_th {
            0.0
        } else if avg < max_th {
            max_p * (avg * avg - min_th * min_th) / (max_th * max_th - min_th * min_th)
        } else if avg < 2.0 * max_th {
            above_max_th(avg, max_th, max_p)
        } else {
            1.0
        }
    }

    between_thresholds!();

    fn knots(&self) -> Vec<f64> {
        vec![self.min_th, self.max_th, 2.0 * self.max_th]
    }

    fn end(&self) -> f64 {
        2.0 * self.max_th
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::red::curve::Gentle;

    const PAPER: Mred = Mred { min_th: 10.0, max_th: 30.0, max_p: 0.1 };

    #[test]
    fn by_hand() {
        assert_eq!(PAPER.p_b(9.999), 0.0);
        assert_eq!(PAPER.p_b(10.0), 0.0);
        assert_eq!(PAPER.p_b(20.0), 0.1 * 300.0 / 800.0);
        assert_eq!(PAPER.p_b(30.0), 0.1);
        assert_eq!(PAPER.p_b(45.0), 0.55);
        assert_eq!(PAPER.p_b(60.0), 1.0);
    }

    #[test]
    fn never_above_gentle_red_and_equal_from_max_th_on() {
        let gentle = Gentle::new(10.0, 30.0, 0.1);
        let mut largest: f64 = 0.0;
        for i in 0..1000 {
            let avg = f64::from(i) * 0.1;
            let gap = gentle.p_b(avg) - PAPER.p_b(avg);
            assert!(gap >= -1e-16);
            assert!(avg < 30.0 || gap == 0.0);
            largest = largest.max(gap);
        }
        assert!((largest - 0.0125).abs() < 1e-12);
    }
}
