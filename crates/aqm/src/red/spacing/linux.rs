use super::{Counted, SpacingPart, draw};
use crate::Host;
use crate::red::part::Part;
use crate::spec::ParameterReader;

/// Linux' qcount (`include/net/red.h`): the first arrival with count p_b >= R, R uniform on [0, 1), is picked. A gap is
/// uniform on 1 .. 1/p_b. There is no p_a, since a threshold is drawn.
///
/// In Linux's arithmetic R is floor(r / step), with r of 32 bits and p_b = x step 2^-32 ([`LinuxCurve`]): the first arrival with
/// count x >= R is picked. The kernel divides by multiplication with a reciprocal, which is exact.
///
/// [`LinuxCurve`]: crate::red::curve::LinuxCurve
#[derive(Clone, Copy, Debug)]
pub struct Linux {
    /// R.
    threshold: f64,
    /// The same in Linux's arithmetic (`qR`), in bytes or packets.
    units: u32,
}

impl Linux {
    /// Decide about the arrival just counted, at an average of so many units above min_th.
    #[inline]
    pub(super) fn picks_at<P>(
        &mut self,
        count: i64,
        excess: u64,
        step: u32,
        host: &mut impl Host<P>,
    ) -> bool {
        let picked = count != 0 && count.max(0) as u64 * excess >= u64::from(self.units);
        if picked || count == 0 {
            self.units = draw(host) / step;
        }
        picked
    }
}

impl Part for Linux {
    const NAME: &'static str = "linux";
    const DOC: &'static str =
        "Linux: the first arrival with count p_b above a threshold that is drawn once a gap";
}

impl SpacingPart for Linux {
    /// As if the average had been below min_th.
    const FORCED_DROP_RESETS: bool = true;

    fn read(_: &mut ParameterReader<'_>) -> Self {
        Self { threshold: 1.0, units: 0 }
    }

    #[inline]
    fn p_a(&self, _: f64, _: i64) -> Option<f64> {
        None
    }

    fn divisor(&self, _: u64) -> Option<u64> {
        None
    }

    fn picks_in_integers<P>(&mut self, count: u64, p_b: u32, host: &mut impl Host<P>) -> bool {
        // A multiple of 2^-32, or 1 before the first draw.
        let threshold = (self.threshold * libm::exp2(32.0)) as u64;
        let picked = count > 0 && p_b > 0 && 2 * count * u64::from(p_b) >= threshold;
        if picked || count == 0 {
            self.threshold = f64::from(draw(host)) * libm::exp2(-32.0);
        }
        picked
    }

    fn picks<P>(&mut self, counted: &Counted, p_b: f64, _: u32, host: &mut impl Host<P>) -> bool {
        // Count 0 is the first arrival above min_th or after a pick: it draws the threshold. After a pick
        // the threshold is drawn at once, so that the next arrival (count 1) is a candidate.
        if counted.packets == 0 {
            self.threshold = host.uniform();
            return false;
        }
        let picked = p_b > 0.0 && counted.packets as f64 * p_b >= self.threshold;
        if picked {
            self.threshold = host.uniform();
        }
        picked
    }
}
