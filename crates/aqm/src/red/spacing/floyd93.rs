use super::SpacingPart;
use crate::red::curve::ONE;
use crate::red::part::Part;
use crate::spec::ParameterReader;

/// Floyd and Jacobson 1993, eq. 2: a gap between drops is uniform on 1 .. 1/p_b.
///
/// ```text
/// p_a = p_b/(1 - count p_b)     count p_b < 1
///     = 1                       count p_b >= 1
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Floyd93;

impl Part for Floyd93 {
    const NAME: &'static str = "floyd93";
    const DOC: &'static str = "gaps uniform on 1 .. 1/p_b, by the paper's p_a";
}

impl SpacingPart for Floyd93 {
    fn read(_: &mut ParameterReader<'_>) -> Self {
        Self
    }

    #[inline]
    fn p_a(&self, p_b: f64, count: i64) -> Option<f64> {
        Some(uniform_gaps(p_b, count))
    }

    #[inline]
    fn divisor(&self, done: u64) -> Option<u64> {
        Some(uniform_gaps_divisor(done))
    }
}

/// p_a of gaps that are uniform on 1 .. 1/p_b.
#[inline]
pub(super) fn uniform_gaps(p_b: f64, count: i64) -> f64 {
    let done = count as f64 * p_b;
    if done < 1.0 { (p_b / (1.0 - done)).min(1.0) } else { 1.0 }
}

/// Return the divisor that turns p_b into that p_a, in integers; 0 where p_a is 1.
#[inline]
pub(super) fn uniform_gaps_divisor(done: u64) -> u64 {
    u64::from(ONE).saturating_sub(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let p_a = |count, p_b| Floyd93.p_a(p_b, count);
        assert_eq!([0, 2, 3, 4, 9].map(|count| p_a(count, 0.25)), [0.25, 0.5, 1.0, 1.0, 1.0].map(Some));
        assert_eq!(p_a(-1, 0.0), Some(0.0));
    }
}
