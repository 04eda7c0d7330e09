/// Count, sum and sum of squares of values, taken relative to the first so that nothing is lost to cancellation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    n: u64,
    first: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    /// One more value.
    #[inline]
    pub fn add(&mut self, x: f64) {
        if self.n == 0 {
            self.first = x;
        }
        let d = x - self.first;
        self.n += 1;
        self.sum += d;
        self.squares += d * d;
    }

    /// Mean; NaN without a value.
    pub fn mean(&self) -> f64 {
        if self.n == 0 { f64::NAN } else { self.first + self.sum / self.n as f64 }
    }

    /// Sample standard deviation; NaN below two values.
    pub fn sd(&self) -> f64 {
        let n = self.n as f64;
        if self.n < 2 {
            f64::NAN
        } else {
            ((self.squares - self.sum * self.sum / n).max(0.0) / (n - 1.0)).sqrt()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_by_hand() {
        let mut m = Moments::default();
        for x in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0] {
            m.add(x);
        }
        assert_eq!(m.mean(), 5.0);
        assert!((m.sd() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
    }
}
