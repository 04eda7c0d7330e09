use super::CurvePart;
use crate::ParameterError;
use crate::plugin::CurveNumbers;
use crate::red::part::Part;
use crate::spec::ParameterReader;

/// DSRED, double-slope RED (B. Zheng and M. Atiquzzaman, "DSRED: An Active Queue Management Scheme for Next Generation
/// Networks", LCN 2000): a gentle slope while congestion begins, a steep one when it stays.
///
/// ```text
/// K_m = (K_l + K_h)/2,  alpha = 2 (1 - gamma)/(K_h - K_l),  beta = 2 gamma/(K_h - K_l)
///
/// p_b = alpha (avg - K_l)                      K_l <= avg < K_m
///     = 1 - gamma + beta (avg - K_m)           K_m <= avg < K_h
///     = 1                                      avg >= K_h
/// ```
///
/// K_l is `min_th`, K_h `max_th`, and p_b where the slopes meet, 1 - gamma, is `max_p`: 0.04 with the paper's gamma of
/// 0.96. The name does not say "dsred", which is the dialect of ns-2's DiffServ module.
///
/// The paper's text was not at hand: the curve is as other implementations have it, gamma is from memory.
///
/// Reading: the paper's thresholds are shares of its buffer; the preset has those of the other members of the family, so
/// that a comparison shows the curve.
#[derive(Clone, Debug, PartialEq)]
pub struct DoubleSlope {
    /// K_l in packets, > 0.
    pub min_th: f64,
    /// K_h in packets, > min_th.
    pub max_th: f64,
    /// 1 - gamma: p_b in the middle, 0 <= max_p <= 1.
    pub max_p: f64,
}

impl Part for DoubleSlope {
    const NAME: &'static str = "double-slope";
    const DOC: &'static str =
        "two straight lines that meet at max_p in the middle of the thresholds, and reach 1 at max_th";
}

impl CurvePart for DoubleSlope {
    fn read(_: &mut ParameterReader<'_>, numbers: &CurveNumbers) -> Result<Self, ParameterError> {
        let &CurveNumbers { min_th, max_th, max_p, .. } = numbers;
        Ok(Self { min_th, max_th, max_p })
    }

    #[inline]
    fn p_b(&self, avg: f64) -> f64 {
        let Self { min_th, max_th, max_p } = *self;
        if avg < min_th {
            return 0.0;
        }
        // From 0 to 2 between the thresholds.
        let x = 2.0 * (avg - min_th) / (max_th - min_th);
        if x < 1.0 { max_p * x } else { (max_p + (1.0 - max_p) * (x - 1.0)).min(1.0) }
    }

    between_thresholds!();

    fn knots(&self) -> Vec<f64> {
        vec![self.min_th, 0.5 * (self.min_th + self.max_th), self.max_th]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: DoubleSlope = DoubleSlope { min_th: 10.0, max_th: 30.0, max_p: 0.04 };

    #[test]
    fn by_hand() {
        assert_eq!(PAPER.p_b(9.99), 0.0);
        assert_eq!(PAPER.p_b(10.0), 0.0);
        assert_eq!(PAPER.p_b(15.0), 0.02);
        assert_eq!(PAPER.p_b(20.0), 0.04);
        assert_eq!(PAPER.p_b(25.0), 0.52);
        assert_eq!(PAPER.p_b(30.0), 1.0);
        assert_eq!(PAPER.p_b(100.0), 1.0);
    }

    #[test]
    fn the_slopes_are_alpha_and_beta() {
        let slope = |a: f64, b: f64| (PAPER.p_b(b) - PAPER.p_b(a)) / (b - a);
        assert!((slope(11.0, 19.0) - 2.0 * 0.04 / 20.0).abs() < 1e-12);
        assert!((slope(21.0, 29.0) - 2.0 * 0.96 / 20.0).abs() < 1e-12);
    }
}
