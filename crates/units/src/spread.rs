/// A distribution of positive numbers.
///
/// Drawn by inverse transform from one uniform number: `F^-1(u)`, with `F(x) = 1 - exp(-x / mean)` for the exponential
/// and `F(x) = 1 - (scale / x)^shape`, `scale = mean (shape - 1) / shape`, for the Pareto distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
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
}

impl Spread {
    /// A number of this distribution, given one that is uniform on [0, 1).
    pub fn draw(&self, uniform: f64) -> f64 {
        match *self {
            Self::Fixed(x) => x,
            Self::Uniform(from, to) => from + (to - from) * uniform,
            Self::Exponential(mean) => -mean * libm::log(1.0 - uniform),
            Self::Pareto { mean, shape } => {
                let scale = mean * (shape - 1.0) / shape;
                scale * libm::pow(1.0 - uniform, -1.0 / shape)
            }
        }
    }

    /// Its mean.
    pub fn mean(&self) -> f64 {
        match *self {
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
    fn means() {
        let mut stream = Stream::new(5, "means");
        let n = 400_000;
        for spread in ALL {
            let sum: f64 = (0..n).map(|_| spread.draw(stream.uniform())).sum();
            assert!((sum / f64::from(n) / spread.mean() - 1.0).abs() < 0.01, "{spread:?}");
        }
    }

    #[test]
    fn draws_follow_the_distribution() {
        // Kolmogorov-Smirnov against the distribution functions; 1.63 / sqrt(n) is the 1 % point.
        let n = 20_000;
        let distribution = |spread: &Spread, x: f64| match *spread {
            Spread::Fixed(_) => unreachable!("has no density"),
            Spread::Uniform(from, to) => (x - from) / (to - from),
            Spread::Exponential(mean) => 1.0 - libm::exp(-x / mean),
            Spread::Pareto { mean, shape } => 1.0 - libm::pow(mean * (shape - 1.0) / shape / x, shape),
        };
        for spread in &ALL[1..] {
            let mut stream = Stream::new(11, "distribution");
            let mut x: Vec<f64> = (0..n).map(|_| spread.draw(stream.uniform())).collect();
            x.sort_by(f64::total_cmp);
            let gaps = x.iter().enumerate().map(|(i, &x)| {
                let f = distribution(spread, x);
                (f - i as f64 / f64::from(n)).abs().max(((i + 1) as f64 / f64::from(n) - f).abs())
            });
            let largest = gaps.fold(0.0, f64::max);
            assert!(largest < 1.63 / f64::from(n).sqrt(), "{spread:?}: {largest}");
        }
    }
}
