use super::SpacingPart;
use super::floyd93::{uniform_gaps, uniform_gaps_divisor};
use crate::red::curve::ONE;
use crate::red::part::Part;
use crate::spec::ParameterReader;

/// ns-2's DiffServ module (ns-2.35 `diffserv/dsredq.cc`): as Floyd and Jacobson, but p_a is not clamped. Once count p_b
/// passes 1 it is negative, and nothing is dropped until the average leaves the curve. The count begins with 0, not with -1.
///
/// ```text
/// p_a = p_b/(1 - count p_b)     count p_b <= 1
///     = 0                       count p_b > 1
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DsRed;

impl Part for DsRed {
    const NAME: &'static str = "dsred";
    const DOC: &'static str = "ns-2's DiffServ module: as floyd93 while count p_b is at most 1, then never";
}

impl SpacingPart for DsRed {
    /// So that a class whose first packet finds a shared average above min_th begins with count 1.
    const FIRST_COUNT: i64 = 0;

    fn read(_: &mut ParameterReader<'_>) -> Self {
        Self
    }

    #[inline]
    fn p_a(&self, p_b: f64, count: i64) -> Option<f64> {
        Some(if count as f64 * p_b > 1.0 { 0.0 } else { uniform_gaps(p_b, count) })
    }

    #[inline]
    fn divisor(&self, done: u64) -> Option<u64> {
        (done <= ONE.into()).then(|| uniform_gaps_divisor(done))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_arrival_above_min_th_has_count_1() {
        let spec = crate::Spec::new("red").expect("a preset");
        let mut reader = ParameterReader::new(&spec, crate::red::part::tests::LINK);
        let mut spacing =
            super::super::Spacing::new(super::super::SpacingKind::DsRed.read(&mut reader), None);
        spacing.count(1000);
        assert_eq!((spacing.counted(), spacing.p_a(0.25, 1000)), (1, Some(0.25 / 0.75)));
        spacing.reset_below_min_th();
        spacing.count(1000);
        assert_eq!((spacing.counted(), spacing.p_a(0.25, 1000)), (0, Some(0.25)));
    }

    #[test]
    fn it_stops_dropping() {
        let expected = [0.5, 1.0, 0.0, 0.0].map(Some);
        assert_eq!([2, 4, 5, 9].map(|count| DsRed.p_a(0.25, count)), expected);
    }
}
