use super::SpacingPart;
use crate::red::curve::ONE;
use crate::red::part::Part;
use crate::spec::ParameterReader;

/// ns-2 with `wait_` true, its default (ns-2.35 `queue/red.cc`, `modify_p`): a gap is uniform on 1/p_b .. 2/p_b.
///
/// ```text
/// p_a = 0                       count p_b < 1
///     = p_b/(2 - count p_b)     1 <= count p_b < 2
///     = 1                       count p_b >= 2
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Ns2Wait;

impl Part for Ns2Wait {
    const NAME: &'static str = "ns2-wait";
    const DOC: &'static str = "ns-2 with wait_ true: gaps uniform on 1/p_b .. 2/p_b";
}

impl SpacingPart for Ns2Wait {
    fn read(_: &mut ParameterReader<'_>) -> Self {
        Self
    }

    #[inline]
    fn p_a(&self, p_b: f64, count: i64) -> Option<f64> {
        let done = count as f64 * p_b;
        Some(if done < 1.0 {
            0.0
        } else if done < 2.0 {
            (p_b / (2.0 - done)).min(1.0)
        } else {
            1.0
        })
    }

    #[inline]
    fn divisor(&self, done: u64) -> Option<u64> {
        (done >= ONE.into()).then(|| (2 * u64::from(ONE)).saturating_sub(done))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let expected = [0.0, 0.25, 0.5, 1.0, 1.0].map(Some);
        assert_eq!([3, 4, 6, 7, 8].map(|count| Ns2Wait.p_a(0.25, count)), expected);
    }
}
