//! Random numbers of which each depends on the one before, as Linux's netem draws them.

use aqmlab_units::Stream;

/// Numbers x_n = (1 - rho) u_n + rho x_(n-1) on [0, 1), u_n uniform. With rho above 0 they are not uniform: they gather around 1/2,
/// with variance (1 - rho) / (1 + rho) / 12, and their autocorrelation at lag k is rho^k.
#[derive(Clone, Debug)]
pub(super) struct Correlated {
    rng: Stream,
    rho: f64,
    last: f64,
}

impl Correlated {
    /// Start the numbers of this correlation, at a uniform one.
    pub fn new(mut rng: Stream, rho: f64) -> Self {
        let last = if rho > 0.0 { rng.uniform() } else { 0.0 };
        Self { rng, rho, last }
    }

    /// Return the next number.
    pub fn next(&mut self) -> f64 {
        let uniform = self.rng.uniform();
        self.last = if self.rho > 0.0 { (1.0 - self.rho) * uniform + self.rho * self.last } else { uniform };
        self.last
    }

    /// Go on with another correlation.
    pub fn set_correlation(&mut self, rho: f64) {
        self.rho = rho;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variance_and_autocorrelation_are_those_of_the_recursion() {
        for rho in [0.0, 0.25, 0.75] {
            let mut numbers = Correlated::new(Stream::new(1, "correlated"), rho);
            let x: Vec<f64> = (0..200_000).map(|_| numbers.next() - 0.5).collect();
            let covariance = |lag: usize| {
                x.iter().zip(&x[lag..]).map(|(a, b)| a * b).sum::<f64>() / (x.len() - lag) as f64
            };
            let variance = covariance(0);
            assert!((variance / ((1.0 - rho) / (1.0 + rho) / 12.0) - 1.0).abs() < 0.02, "{rho}: {variance}");
            for lag in 1..4 {
                let expected = libm::pow(rho, lag as f64);
                assert!((covariance(lag) / variance - expected).abs() < 0.02, "{rho}, lag {lag}");
            }
        }
    }
}
