//! Lengths of UDP packets: all the same, or drawn for each.
//!
//! A length that is drawn is `N = min(max(round(X), 1), 65535)` bytes, with X from a [`Spread`]. Its mean, from which
//! the times at which packets leave follow, is that of N, not of X: so the bit rate is what was asked for also where
//! the bounds change the mean. With P(N >= n) = P(X >= n - 1/2) from 2 bytes on,
//!
//! ```text
//! E[N] = 1 + sum over n = 2 to 65535 of P(X >= n - 1/2)
//! ```
//!
//! Exponential lengths give a link exponential service times, as in M/M/1/K: up to the rounding, which moves no
//! service time by more than that of half a byte.
//!
//! # Relation to ns-2 2.35
//! It has nothing of the kind: `Traffic/CBR`, `Traffic/Exponential` and `Traffic/Pareto` send packets of `packetSize_`
//! bytes, and `Traffic/Trace` reads lengths, like times, from a file.

use aqmlab_units::Spread;

/// The distribution of the lengths of a flow's packets, headers included.
#[derive(Clone, Debug, PartialEq)]
pub struct Length {
    spread: Spread,
    mean: f64,
}

impl Length {
    /// The longest packet in bytes, IP's longest.
    pub const MAX: u32 = 65_535;

    /// Always so many bytes; not 0.
    pub fn fixed(bytes: u32) -> Self {
        debug_assert!(bytes > 0, "a packet has a length");
        let bytes = f64::from(bytes);
        Self { spread: Spread::Fixed(bytes), mean: bytes }
    }

    /// Drawn from this distribution, which is in bytes.
    pub fn drawn(spread: Spread) -> Self {
        if let Spread::Fixed(bytes) = spread {
            return Self::fixed(whole(bytes));
        }
        let longer: f64 = (2..=Self::MAX).rev().map(|n| spread.at_least(f64::from(n) - 0.5)).sum();
        Self { spread, mean: 1.0 + longer }
    }

    /// The distribution before rounding.
    pub fn spread(&self) -> &Spread {
        &self.spread
    }

    /// The mean in bytes, of lengths as they are sent.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The length of every packet in bytes, if all have the same.
    pub fn same(&self) -> Option<u32> {
        if let Spread::Fixed(bytes) = self.spread { Some(bytes as u32) } else { None }
    }

    /// The length of a packet in bytes; takes a number uniform on [0, 1) unless all are the same.
    pub fn draw(&self, uniform: &mut impl FnMut() -> f64) -> u32 {
        self.same().unwrap_or_else(|| whole(self.spread.draw(uniform())))
    }
}

/// Rounded to whole bytes, at least 1 and at most [`Length::MAX`].
fn whole(bytes: f64) -> u32 {
    (bytes.max(1.0) + 0.5).min(f64::from(Length::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqmlab_units::Stream;

    const DRAWN: [Spread; 6] = [
        Spread::Exponential(1000.0),
        Spread::Exponential(2.0),
        Spread::Exponential(40_000.0),
        Spread::Uniform(40.0, 1500.0),
        Spread::Pareto { mean: 1000.0, shape: 1.2 },
        Spread::Pareto { mean: 3.0, shape: 2.5 },
    ];

    fn sample(spread: Spread, n: usize) -> Vec<u32> {
        let mut stream = Stream::new(7, "lengths");
        let length = Length::drawn(spread);
        (0..n).map(|_| length.draw(&mut || stream.uniform())).collect()
    }

    #[test]
    fn whole_bytes_within_bounds() {
        let cases = [(0.0, 1), (0.4, 1), (1.49, 1), (1.5, 2), (999.5, 1000), (65_534.4, 65_534)];
        for (bytes, expected) in cases {
            assert_eq!(whole(bytes), expected, "{bytes}");
        }
        for bytes in [65_534.5, 65_535.0, 65_536.0, 1e300, f64::INFINITY] {
            assert_eq!(whole(bytes), 65_535, "{bytes}");
        }
    }

    #[test]
    fn a_fixed_length_takes_no_number() {
        for length in [Length::fixed(777), Length::drawn(Spread::Fixed(777.0))] {
            assert_eq!(length.draw(&mut || unreachable!("nothing to draw")), 777);
            assert_eq!((length.same(), length.mean()), (Some(777), 777.0));
        }
    }

    #[test]
    fn means_in_closed_form() {
        // Geometric: 1 + e^(-1.5/m) (1 - e^(-65534/m)) / (1 - e^(-1/m)).
        for m in [0.7, 2.0, 1000.0, 40_000.0] {
            let ratio = libm::exp(-1.0 / m);
            let tail = 1.0 - libm::exp(-65_534.0 / m);
            let expected = 1.0 + libm::exp(-1.5 / m) * tail / (1.0 - ratio);
            let mean = Length::drawn(Spread::Exponential(m)).mean();
            assert!((mean / expected - 1.0).abs() < 1e-10, "{m}: {mean} {expected}");
        }
        let mean = Length::drawn(Spread::Uniform(40.0, 1500.0)).mean();
        assert!((mean - 770.0).abs() < 1e-9, "{mean}");
        assert!((Length::drawn(Spread::Exponential(1000.0)).mean() - 1000.0).abs() < 1e-3);
        // Bounds: a mean of 40,000 bytes is 40,000 (1 - e^(-65535/40000)) if no packet has more than 65,535.
        let mean = Length::drawn(Spread::Exponential(40_000.0)).mean();
        assert!((mean - 40_000.0 * (1.0 - libm::exp(-65_535.0 / 40_000.0))).abs() < 1.0, "{mean}");
    }

    #[test]
    fn means_of_samples() {
        for spread in DRAWN {
            let lengths = sample(spread.clone(), 400_000);
            let n = lengths.len() as f64;
            let mean = lengths.iter().map(|&b| f64::from(b)).sum::<f64>() / n;
            let variance =
                lengths.iter().map(|&b| (f64::from(b) - mean) * (f64::from(b) - mean)).sum::<f64>() / n;
            let error = (mean - Length::drawn(spread.clone()).mean()) / (variance / n).sqrt();
            assert!(error.abs() < 3.0, "{spread:?}: {error} standard errors");
            assert!(lengths.iter().all(|b| (1..=Length::MAX).contains(b)));
        }
    }

    #[test]
    fn lengths_follow_the_distribution() {
        // Kolmogorov-Smirnov: P(N <= n) is P(X < n + 1/2) below the greatest length; 1.63 / sqrt(n) is the 1 % point.
        let n = 20_000;
        for spread in DRAWN {
            let mut lengths = sample(spread.clone(), n);
            lengths.sort_unstable();
            let mut largest: f64 = 0.0;
            for (i, &bytes) in lengths.iter().enumerate().filter(|(_, b)| **b < Length::MAX) {
                if lengths.get(i + 1) != Some(&bytes) {
                    let below = 1.0 - spread.at_least(f64::from(bytes) + 0.5);
                    largest = largest.max((below - (i + 1) as f64 / n as f64).abs());
                }
            }
            assert!(largest < 1.63 / (n as f64).sqrt(), "{spread:?}: {largest}");
        }
    }
}
