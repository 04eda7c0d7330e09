use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A source of random bits, and the numbers that components make of them.
pub trait Random {
    /// Return the next 64 random bits.
    fn bits64(&mut self) -> u64;

    /// Uniform on [0, 1): the highest 53 of the next 64 bits, over 2^53.
    #[inline]
    fn uniform(&mut self) -> f64 {
        (self.bits64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Uniform on 0, 1, ..., n - 1, without bias (Lemire's multiplication method): the integer part of the next 64 bits times `n` over
    /// 2^64, unless the lowest 64 bits of that product are below 2^64 mod `n`; then the bits after them are used.
    ///
    /// # Panics
    /// If `n` is 0.
    #[inline]
    fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "no number is below 0");
        let threshold = n.wrapping_neg() % n;
        loop {
            let m = u128::from(self.bits64()) * u128::from(n);
            if m as u64 >= threshold {
                return (m >> 64) as u64;
            }
        }
    }
}

/// A stream of random numbers that belongs to one component of a scenario.
///
/// A stream is derived from the seed of the run and the name of the component alone, so that a component that
/// is added, removed or drawn from more often disturbs no other: with the same seed two disciplines see the
/// same traffic (common random numbers). The generator is xoshiro256++ (Blackman and Vigna, 2021), seeded by
/// SplitMix64 from the seed and the 64-bit FNV-1a hash of the name.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of component `name` in the run with this seed.
    pub fn new(seed: u64, name: &str) -> Self {
        let mut h: u64 = 0xcbf2_9ce4_8422_2325;
        for b in name.bytes() {
            h = (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        // The seed is spread before it meets the hash: neighbouring seeds give unrelated streams.
        Self(Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ h))
    }

    /// [`Random::uniform`].
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        Random::uniform(self)
    }

    /// 32 random bits.
    #[inline]
    pub fn bits32(&mut self) -> u32 {
        (self.0.next_u64() >> 32) as u32
    }

    /// [`Random::below`].
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        Random::below(self, n)
    }

    /// Exponential with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform())
    }

    /// Normal with mean 0 and standard deviation 1, by the transform of Box and Muller (1958).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(self.exponential(2.0));
        radius * libm::cos(core::f64::consts::TAU * self.uniform())
    }
}

impl Random for Stream {
    #[inline]
    fn bits64(&mut self) -> u64 {
        self.0.next_u64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_pinned() {
        let mut s = Stream::new(1, "red");
        let first: Vec<u64> = (0..2).map(|_| s.0.next_u64()).collect();
        assert_eq!(first, [16_576_583_961_303_974_589, 14_706_421_353_361_550_045]);
    }

    #[test]
    fn streams_differ_by_name_and_seed() {
        let head = |seed, name| Stream::new(seed, name).0.next_u64();
        assert_ne!(head(1, "a"), head(1, "b"));
        assert_ne!(head(1, "a"), head(2, "a"));
        assert_eq!(head(7, "a"), head(7, "a"));
    }

    #[test]
    fn moments() {
        let mut s = Stream::new(3, "moments");
        let n = 200_000;
        let (mut u, mut e, mut b) = (0.0, 0.0, [0u32; 5]);
        let (mut z, mut z2, mut beyond) = (0.0, 0.0, 0);
        for _ in 0..n {
            let x = s.normal();
            (z, z2, beyond) = (z + x, z2 + x * x, beyond + u32::from(x > 1.0));
            u += s.uniform();
            e += s.exponential(2.0);
            b[s.below(5) as usize] += 1;
        }
        assert!((z / f64::from(n)).abs() < 0.01 && (z2 / f64::from(n) - 1.0).abs() < 0.02);
        assert!((f64::from(beyond) / f64::from(n) - 0.158_655).abs() < 0.003);
        assert!((u / f64::from(n) - 0.5).abs() < 0.003);
        assert!((e / f64::from(n) - 2.0).abs() < 0.02);
        assert!(b.iter().all(|&k| (f64::from(k) / f64::from(n) - 0.2).abs() < 0.004));
    }
}
