use super::CurvePart;
use crate::ParameterError;
use crate::plugin::CurveNumbers;
use crate::red::part::Part;
use crate::spec::ParameterReader;

/// ExRED (S. Prabhavat and R. Varakulsiripunth, "Performance Improvement on RED Based Gateway in TCP Communication
/// Network"), "extended drop slope RED": linear between k_l and k_h, then a parabola from (k_h, max_p) with the same
/// slope up to (K, 1), so that the whole buffer is used (its eq. 8).
///
/// ```text
/// p_d = max_p (x - k_l)/(k_h - k_l)                         k_l <= x < k_h
///     = max_p + s (x - k_h) + a2 (x - k_h)^2                k_h <= x <= K
/// s = max_p/(k_h - k_l),  a2 = ((k_h - k_l) - (K - k_l) max_p)/((k_h - k_l)(K - k_h)^2)
/// ```
///
/// The parabola is written around k_h, which is stable; multiplied out it has the paper's a2 and a1, and
/// `a0 = (k_h^3 - k_h^2 k_l - (k_h^2 - 2 k_h k_l + k_l K) K max_p)/D`. Reading E-1: the printed a0 has
/// `+ 2 k_h k_l`, which misses both end points. With max_p <= (k_h - k_l)/(K - k_l) the slope never falls;
/// beyond, p_d is clamped to [0, 1].
#[derive(Clone, Debug, PartialEq)]
pub struct Exred {
    /// Lower threshold in packets, > 0.
    pub k_l: f64,
    /// Upper threshold in packets, > k_l.
    pub k_h: f64,
    /// p_d at k_h, 0 <= max_p <= 1.
    pub max_p: f64,
    /// End of the buffer in packets, > k_h.
    pub k: f64,
    slope: f64,
    a2: f64,
}

impl Exred {
    /// The curve for thresholds `k_l < k_h` and a buffer of `k` packets, `k > k_h`.
    pub fn new(k_l: f64, k_h: f64, k: f64, max_p: f64) -> Self {
        let a2 = ((k_h - k_l) - (k - k_l) * max_p) / ((k_h - k_l) * (k - k_h) * (k - k_h));
        Self { k_l, k_h, max_p, k, slope: max_p / (k_h - k_l), a2 }
    }

    /// The largest max_p for which the slope never falls: (k_h - k_l)/(K - k_l).
    pub fn largest_max_p(k_l: f64, k_h: f64, k: f64) -> f64 {
        (k_h - k_l) / (k - k_l)
    }
}

impl Part for Exred {
    const NAME: &'static str = "exred";
    const DOC: &'static str = "linear up to max_th, then a parabola from max_p to 1 at the end of the buffer";
}

impl CurvePart for Exred {
    const ENDS_AT_LIMIT: bool = true;

    fn read(_: &mut ParameterReader<'_>, numbers: &CurveNumbers) -> Result<Self, ParameterError> {
        let &CurveNumbers { min_th, max_th, max_p, limit } = numbers;
        if max_th >= limit {
            let message =
                format!("ExRED's curve ends at the limit ({limit}p), which is not above max_th ({max_th}p)");
            return Err(ParameterError::new("limit", message, &format!("above {max_th}p")));
        }
        Ok(Self::new(min_th, max_th, limit, max_p))
    }

    fn warnings(numbers: &CurveNumbers) -> Vec<String> {
        let &CurveNumbers { min_th, max_th, max_p, limit } = numbers;
        let largest = Self::largest_max_p(min_th, max_th, limit);
        let falls = (max_p > largest).then(|| {
            format!("max_p is above {largest:.4}: ExRED's slope falls towards the end of the buffer")
        });
        let late = (min_th > limit / 4.0).then(|| {
            format!(
                "min_th ({min_th}p) is above limit/4 ({}p): ExRED's paper requires k_l <= K/4",
                limit / 4.0
            )
        });
        let steep = (max_th < 2.0 * min_th).then(|| {
            format!(
                "max_th ({max_th}p) is below 2 min_th ({}p): ExRED's paper requires k_h >= 2 k_l",
                2.0 * min_th
            )
        });
        falls.into_iter().chain(late).chain(steep).collect()
    }

    #[inline]
    fn p_b(&self, x: f64) -> f64 {
        if x < self.k_l {
            0.0
        } else if x < self.k_h {
            self.slope * (x - self.k_l)
        } else if x > self.k {
            // A parabola that falls would come back; an average in bytes may pass K packets.
            1.0
        } else {
            let d = x - self.k_h;
            (self.max_p + self.slope * d + self.a2 * d * d).clamp(0.0, 1.0)
        }
    }

    fn knots(&self) -> Vec<f64> {
        vec![self.k_l, self.k_h, self.k]
    }

    fn end(&self) -> f64 {
        self.k
    }

    #[inline]
    fn thresholds(&self) -> (f64, f64) {
        (self.k_l, self.k_h)
    }

    fn max_p(&self) -> f64 {
        self.max_p
    }

    fn set_max_p(&mut self, max_p: f64) {
        *self = Self::new(self.k_l, self.k_h, self.k, max_p);
    }

    fn set_thresholds(&mut self, min_th: f64, max_th: f64) {
        *self = Self::new(min_th, max_th, self.k, self.max_p);
    }

    #[cfg(test)]
    fn sample(numbers: CurveNumbers) -> Self {
        let CurveNumbers { min_th, max_th, max_p, limit } = numbers;
        Self::new(min_th, max_th, limit, max_p * Self::largest_max_p(min_th, max_th, limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let c = Exred::new(10.0, 30.0, 100.0, 0.1);
        assert_eq!(c.p_b(9.9), 0.0);
        assert_eq!(c.p_b(10.0), 0.0);
        assert!((c.p_b(20.0) - 0.05).abs() < 1e-15);
        assert_eq!(c.p_b(30.0), 0.1);
        assert!((c.p_b(100.0) - 1.0).abs() < 1e-12);
        assert!((c.a2 - 11.0 / 98_000.0).abs() < 1e-18);
        // a2 x^2 + a1 x + a0 with the paper's coefficients at x = 65.
        let by_coefficients = 11.0 / 98_000.0 * 65.0 * 65.0 - 17.0 / 9800.0 * 65.0 + 5.0 / 98.0;
        assert!((c.p_b(65.0) - by_coefficients).abs() < 1e-14);
    }

    #[test]
    fn beyond_the_buffer_a_falling_parabola_stays_at_1() {
        let c = Exred::new(10.0, 30.0, 100.0, 1.0);
        assert_eq!([30.0, 65.0, 100.0, 100.1, 120.0, 1e6].map(|x| c.p_b(x)), [1.0; 6]);
    }

    #[test]
    fn condition_on_max_p() {
        assert!((Exred::largest_max_p(10.0, 30.0, 100.0) - 0.222_222_222_222).abs() < 1e-9);
    }

    #[test]
    fn conditions_of_the_paper() {
        let warnings =
            |min_th, max_th, max_p| Exred::warnings(&CurveNumbers { min_th, max_th, max_p, limit: 100.0 });
        assert_eq!(warnings(10.0, 30.0, 0.1), [""; 0]);
        assert_eq!(warnings(25.0, 50.0, 0.1), [""; 0], "at the bounds");
        assert_eq!(
            warnings(26.0, 51.0, 0.4),
            [
                "max_p is above 0.3378: ExRED's slope falls towards the end of the buffer",
                "min_th (26p) is above limit/4 (25p): ExRED's paper requires k_l <= K/4",
                "max_th (51p) is below 2 min_th (52p): ExRED's paper requires k_h >= 2 k_l",
            ]
        );
    }
}
