use std::sync::Arc;

use crate::{Cdf, cdf};

/// A distribution of positive numbers.
///
/// Drawn by inverse transform from one uniform number: `F^-1(u)`, with `F(x) = 1 - exp(-x / mean)` for the exponential
/// and `F(x) = 1 - (scale / x)^shape`, `scale = mean (shape - 1) / shape`, for the Pareto distribution.
///
/// A clone shares the points of an empirical distribution.
#[derive(Clone, Debug, PartialEq)]
pub enum Spread {
    /// Always this.
    Fixed(f64),
    /// Uniform between two numbers.
    Uniform(f64, f64),
    /// Exponential with this mean.
    Exponential(f64),
    /// Pareto with this mean and shape; shape above 1.
    Pareto {
        /// Mean.
        mean: f64,
        /// Shape.
        shape: f64,
    },
    /// Through points of a distribution function.
    Empirical(Arc<Cdf>),
}

impl Spread {
    /// A number of this distribution, given one that is uniform on [0, 1).
    pub fn draw(&self, uniform: f64) -> f64 {
        match *self {
            Self::Empirical(ref cdf) => cdf.draw(uniform),
            Self::Fixed(x) => x,
            Self::Uniform(from, to) => from + (to - from) * uniform,
            Self::Exponential(mean) => -mean * libm::log(1.0 - uniform),
            Self::Pareto { mean, shape } => {
                let scale = mean * (shape - 1.0) / shape;
                scale * libm::pow(1.0 - uniform, -1.0 / shape)
            }
        }
    }

    /// The probability that a number of this distribution is `x` or more.
    pub fn at_least(&self, x: f64) -> f64 {
        match *self {
            Self::Empirical(ref cdf) => cdf.at_least(x),
            Self::Fixed(value) => f64::from(value >= x),
            Self::Uniform(from, to) => ((to - x) / (to - from)).clamp(0.0, 1.0),
            Self::Exponential(mean) => libm::exp(-x.max(0.0) / mean),
            Self::Pareto { mean, shape } => {
                let scale = mean * (shape - 1.0) / shape;
                libm::pow(scale / x.max(scale), shape)
            }
        }
    }

    /// The mean number of pieces, each of `size` at most, that a number of this distribution is divided into; at least one.
    pub fn mean_pieces(&self, size: f64) -> f64 {
        /// Terms of the Pareto distribution's sum that are added one by one.
        const TERMS: u32 = 1000;
        match *self {
            Self::Empirical(ref cdf) => cdf.mean_pieces(size),
            Self::Fixed(x) => (x / size).ceil().max(1.0),
            Self::Uniform(from, to) => cdf::mean_pieces_between(from, to, size),
            // The sum of P(X > k size) over k from 0: a geometric series.
            Self::Exponential(mean) => -1.0 / libm::expm1(-size / mean),
            Self::Pareto { mean, shape } => {
                let scale = mean * (shape - 1.0) / shape / size;
                // Of the same sum: terms of 1, some more, and the rest as an integral from half a step before.
                let whole = scale.ceil();
                let some: f64 = (0..TERMS).map(|k| libm::pow(scale / (whole + f64::from(k)), shape)).sum();
                let rest = whole + f64::from(TERMS) - 0.5;
                whole + some + rest * libm::pow(scale / rest, shape) / (shape - 1.0)
            }
        }
    }

    /// Its mean.
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Empirical(ref cdf) => cdf.mean(),
            Self::Fixed(x) => x,
            Self::Uniform(from, to) => f64::midpoint(from, to),
            Self::Exponential(mean) | Self::Pareto { mean, .. } => mean,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stream;

    const ALL: [Spread; 4] = [
        Spread::Fixed(3.0),
        Spread::Uniform(2.0, 6.0),
        Spread::Exponential(3.0),
        Spread::Pareto { mean: 3.0, shape: 3.0 },
    ];

    fn empirical() -> Spread {
        let points = vec![(1.0, 0.0), (2.0, 0.5), (8.0, 0.9), (20.0, 1.0)];
        Spread::Empirical(Arc::new(Cdf::new(points).expect("a distribution")))
    }

    #[test]
    fn by_hand() {
        // Medians: 3, 4, 3 ln 2, 2 * 2^(1/3) (the scale is 3 * 2/3).
        let medians = [3.0, 4.0, 3.0 * core::f64::consts::LN_2, 2.0 * 1.259_921_049_894_873_2];
        for (spread, median) in ALL.into_iter().zip(medians) {
            assert!((spread.draw(0.5) - median).abs() < 1e-12, "{spread:?}");
        }
        let least = [3.0, 2.0, 0.0, 2.0];
        for (spread, least) in ALL.into_iter().zip(least) {
            assert_eq!(spread.draw(0.0), least, "{spread:?}");
        }
    }

    #[test]
    fn at_least_by_hand() {
        // 1 - F at 4: (6 - 4) / (6 - 2), e^(-4/3), (2 / 4)^3.
        let found = ALL.map(|spread| spread.at_least(4.0));
        for (p, expected) in found.into_iter().zip([0.0, 0.5, libm::exp(-4.0 / 3.0), 0.125]) {
            assert!((p - expected).abs() < 1e-15, "{p} {expected}");
        }
        assert_eq!(ALL.map(|spread| spread.at_least(0.0)), [1.0; 4]);
        assert_eq!([3.0, 3.1].map(|x| ALL[0].at_least(x)), [1.0, 0.0]);
        assert_eq!([2.0, 6.0, 7.0].map(|x| ALL[1].at_least(x)), [1.0, 0.0, 0.0]);
    }

    #[test]
    fn pieces() {
        // By hand, of pieces of 2: 3 needs 2; of 2 to 6 half needs 2 and half needs 3; 1 / (1 - e^(-2/3)).
        let by_hand = [2.0, 2.5, 1.0 / (1.0 - libm::exp(-2.0 / 3.0))];
        for (spread, expected) in ALL.into_iter().zip(by_hand) {
            assert!((spread.mean_pieces(2.0) - expected).abs() < 1e-12, "{spread:?}");
        }
        // Pareto of scale 2 and shape 3, pieces of 2: 1 and the sum of k^-3 from 1, Apery's constant.
        assert!((ALL[3].mean_pieces(2.0) - 2.202_056_903_159_594).abs() < 1e-9);
        // As the mean of many draws, also where pieces are large or small.
        let mut stream = Stream::new(5, "pieces");
        let n = 200_000;
        for spread in ALL.into_iter().chain([empirical()]) {
            for size in [0.3, 1.0, 1.7, 40.0] {
                let sum: f64 = (0..n).map(|_| (spread.draw(stream.uniform()) / size).ceil().max(1.0)).sum();
                let found = sum / f64::from(n) / spread.mean_pieces(size);
                assert!((found - 1.0).abs() < 0.01, "{spread:?} {size}: {found}");
            }
        }
    }

    #[test]
    fn means() {
        let mut stream = Stream::new(5, "means");
        let n = 400_000;
        for spread in ALL.into_iter().chain([empirical()]) {
            let sum: f64 = (0..n).map(|_| spread.draw(stream.uniform())).sum();
            assert!((sum / f64::from(n) / spread.mean() - 1.0).abs() < 0.01, "{spread:?}");
        }
    }

    #[test]
    fn draws_follow_the_distribution() {
        // Kolmogorov-Smirnov against the distribution functions; 1.63 / sqrt(n) is the 1 % point.
        let n = 20_000;
        for spread in &[&ALL[1..], &[empirical()]].concat() {
            let mut stream = Stream::new(11, "distribution");
            let mut x: Vec<f64> = (0..n).map(|_| spread.draw(stream.uniform())).collect();
            x.sort_by(f64::total_cmp);
            let gaps = x.iter().enumerate().map(|(i, &x)| {
                let f = 1.0 - spread.at_least(x);
                (f - i as f64 / f64::from(n)).abs().max(((i + 1) as f64 / f64::from(n) - f).abs())
            });
            let largest = gaps.fold(0.0, f64::max);
            assert!(largest < 1.63 / f64::from(n).sqrt(), "{spread:?}: {largest}");
        }
    }
}
