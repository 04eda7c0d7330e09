/// Nonlinear RED (K. Zhou, K. L. Yeung and V. O. K. Li, "Nonlinear RED: A simple yet efficient active queue
/// management scheme", Computer Networks 50(18), 2006):
///
/// ```text
/// p_b = 1.5 max_p ((avg - min_th)/(max_th - min_th))^2      min_th <= avg < max_th
///     = 1                                                   avg >= max_th
/// ```
///
/// The factor 1.5 makes the mean of p_b over the two thresholds that of RED with the same max_p.
#[derive(Clone, Debug, PartialEq)]
pub struct Nlred {
    /// Lower threshold in packets, > 0.
    pub min_th: f64,
    /// Upper threshold in packets, > min_th.
    pub max_th: f64,
    /// RED's max_p, 0 <= max_p <= 2/3 (so that p_b <= 1).
    pub max_p: f64,
}

impl Nlred {
    #[inline]
    pub(super) fn p_b(&self, avg: f64) -> f64 {
        if avg < self.min_th {
            0.0
        } else if avg < self.max_th {
            let x = (avg - self.min_th) / (self.max_th - self.min_th);
            (1.5 * self.max_p * x * x).min(1.0)
        } else {
            1.0
        }
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
