use super::SpacingPart;
use super::floyd93::{uniform_gaps, uniform_gaps_divisor};
use crate::red::part::Part;
use crate::spec::ParameterReader;

/// ns-2 with `wait_` false (ns-2.35 `queue/red.cc`, `modify_p`): p_a as in Floyd and Jacobson 1993, with ns-2's own
/// count in byte mode.
#[derive(Clone, Copy, Debug)]
pub struct Ns2NoWait;

impl Part for Ns2NoWait {
    const NAME: &'static str = "ns2-nowait";
    const DOC: &'static str = "ns-2 with wait_ false: gaps uniform on 1 .. 1/p_b";
}

impl SpacingPart for Ns2NoWait {
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
