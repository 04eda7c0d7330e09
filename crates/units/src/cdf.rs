/// An empirical distribution: points (x, F(x)) of a distribution function with straight lines between them.
///
/// The first point has its probability as an atom, and so has every step (two points with the same x).
#[derive(Clone, Debug, PartialEq)]
pub struct Cdf(Vec<(f64, f64)>);

impl Cdf {
    /// The distribution through these points (x, probability).
    ///
    /// # Errors
    /// Return the error in the points: x must be finite, 0 or above and must not fall, probabilities must rise from 0
    /// or above to 1, and the mean must be above 0.
    pub fn new(points: Vec<(f64, f64)>) -> Result<Self, &'static str> {
        let pairs = || points.windows(2);
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return Err("the distribution is empty");
        };
        if points.iter().any(|(x, p)| !x.is_finite() || !p.is_finite() || *x < 0.0) {
            return Err("a value is below 0 or no number");
        }
        if pairs().any(|pair| pair[1].0 < pair[0].0) {
            return Err("a value is below the one before it");
        }
        if first.1 < 0.0 || pairs().any(|pair| pair[1].1 <= pair[0].1) {
            return Err("the probabilities do not rise from 0 or above");
        }
        if last.1 != 1.0 {
            return Err("the last probability is not 1");
        }
        let cdf = Self(points);
        if cdf.mean() > 0.0 { Ok(cdf) } else { Err("it is always 0") }
    }

    /// The points.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.0
    }

    /// Inverse transform of a number uniform on [0, 1).
    pub fn draw(&self, uniform: f64) -> f64 {
        let above = self.0.partition_point(|(_, p)| *p <= uniform).min(self.0.len() - 1);
        let (x, p) = self.0[above];
        let Some(&(x_before, p_before)) = above.checked_sub(1).map(|before| &self.0[before]) else {
            return x;
        };
        x_before + (x - x_before) * (uniform - p_before) / (p - p_before)
    }

    /// The probability of `x` or more.
    pub fn at_least(&self, x: f64) -> f64 {
        let from = self.0.partition_point(|(of, _)| *of < x);
        let Some(&(x_before, p_before)) = from.checked_sub(1).map(|before| &self.0[before]) else {
            return 1.0;
        };
        let Some(&(x_next, p_next)) = self.0.get(from) else { return 0.0 };
        1.0 - (p_before + (p_next - p_before) * (x - x_before) / (x_next - x_before))
    }

    /// The mean number of pieces, each of `size` at most, of a number of this distribution; at least one.
    pub fn mean_pieces(&self, size: f64) -> f64 {
        let (x, p) = self.0[0];
        let lines = self.0.windows(2).map(|pair| {
            let [(from, p_from), (to, p_to)] = [pair[0], pair[1]];
            (p_to - p_from) * mean_pieces_between(from, to, size)
        });
        (x / size).ceil().max(1.0) * p + lines.sum::<f64>()
    }

    /// The mean: that of each line, weighted by its probability, and the first atom.
    pub fn mean(&self) -> f64 {
        let (x, p) = self.0[0];
        let lines =
            self.0.windows(2).map(|pair| (pair[1].1 - pair[0].1) * f64::midpoint(pair[0].0, pair[1].0));
        x * p + lines.sum::<f64>()
    }
}

/// The mean of the number of pieces of a number uniform between two, each of `size` at most; at least one.
pub(crate) fn mean_pieces_between(from: f64, to: f64, size: f64) -> f64 {
    // The integral of the number of pieces from 0 to x.
    let integral = |x: f64| {
        let whole = (x / size).floor();
        size * whole * (whole + 1.0) / 2.0 + (whole + 1.0) * (x - whole * size)
    };
    if from == to { (to / size).ceil().max(1.0) } else { (integral(to) - integral(from)) / (to - from) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // 100 with probability 0.2, then straight to 300 at 0.6, an atom of 0.1 there, then straight to 500.
        let cdf =
            Cdf::new(vec![(100.0, 0.2), (300.0, 0.6), (300.0, 0.7), (500.0, 1.0)]).expect("a distribution");
        let drawn = [0.0, 0.1, 0.2, 0.4, 0.65, 0.7, 0.85].map(|u| cdf.draw(u));
        for (x, expected) in drawn.into_iter().zip([100.0, 100.0, 100.0, 200.0, 300.0, 300.0, 400.0]) {
            assert!((x - expected).abs() < 1e-9, "{x} {expected}");
        }
        let least = [0.0, 100.0, 200.0, 300.0, 400.0, 500.0, 501.0].map(|x| cdf.at_least(x));
        for (p, expected) in least.into_iter().zip([1.0, 1.0, 0.6, 0.4, 0.15, 0.0, 0.0]) {
            assert!((p - expected).abs() < 1e-12, "{p} {expected}");
        }
        // 0.2 100 + 0.4 200 + 0.1 300 + 0.3 400.
        assert!((cdf.mean() - 250.0).abs() < 1e-9);
        assert_eq!(Cdf::new(vec![(7.0, 1.0)]).map(|cdf| (cdf.draw(0.999), cdf.mean())), Ok((7.0, 7.0)));
    }

    #[test]
    fn points_that_are_no_distribution() {
        let refused = |points: &[(f64, f64)]| Cdf::new(points.to_vec()).expect_err("no distribution");
        assert_eq!(refused(&[]), "the distribution is empty");
        assert_eq!(refused(&[(-1.0, 1.0)]), "a value is below 0 or no number");
        assert_eq!(refused(&[(2.0, 0.5), (1.0, 1.0)]), "a value is below the one before it");
        assert_eq!(
            refused(&[(1.0, 0.5), (2.0, 0.5), (3.0, 1.0)]),
            "the probabilities do not rise from 0 or above"
        );
        assert_eq!(refused(&[(1.0, 0.5), (2.0, 0.9)]), "the last probability is not 1");
        assert_eq!(refused(&[(0.0, 1.0)]), "it is always 0");
    }
}
