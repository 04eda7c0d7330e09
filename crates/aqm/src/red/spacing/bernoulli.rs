use super::SpacingPart;
use crate::red::curve::ONE;
use crate::red::part::Part;
use crate::spec::ParameterReader;

/// Each packet independently with p_b: a gap is geometric.
#[derive(Clone, Copy, Debug)]
pub struct Bernoulli;

impl Part for Bernoulli {
    const NAME: &'static str = "none";
    const DOC: &'static str = "each packet independently with p_b";
}

impl SpacingPart for Bernoulli {
    fn read(_: &mut ParameterReader<'_>) -> Self {
        Self
    }

    #[inline]
    fn p_a(&self, p_b: f64, _: i64) -> Option<f64> {
        Some(p_b)
    }

    #[inline]
    fn divisor(&self, _: u64) -> Option<u64> {
        Some(ONE.into())
    }
}
