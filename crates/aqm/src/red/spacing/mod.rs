//! Spacing of drops and marks: the decision for one packet, given p_b.
//!
//! At constant p_b, the drop rates of the rules below differ by up to a factor of three:
//!
//! ```text
//! floyd93, ns2-nowait   p_a = p_b/(1 - count p_b)                          gap uniform on 1 .. 1/p_b      rate about 2 p_b
//! ns2-wait              p_a = 0                    count p_b < 1
//!                           = p_b/(2 - count p_b)  1 <= count p_b < 2      gap uniform on 1/p_b .. 2/p_b  rate about 2 p_b/3
//! dsred                 as floyd93 while count p_b <= 1, then 0                   as floyd93, or never
//! linux                 first arrival with count p_b >= R, R uniform       gap uniform on 1 .. 1/p_b      rate about 2 p_b
//! none                  p_a = p_b                                          gap geometric                  rate p_b
//! ```
//!
//! Sources: Floyd and Jacobson 1993, eq. 2; ns-2.35 `queue/red.cc`, `modify_p`; Linux `include/net/red.h`.
//! In ns-2's byte mode count is the bytes since the last drop over the mean packet size, rounded down.

use crate::red::ByteScaling;
use crate::{Host, SpacingState};

/// How drops and marks are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpacingRule {
    /// Floyd and Jacobson 1993.
    Floyd93,
    /// ns-2 with `wait_` true, its default.
    Ns2Wait,
    /// ns-2 with `wait_` false.
    Ns2NoWait,
    /// Linux' qcount.
    Linux,
    /// ns-2's DiffServ module: as Floyd and Jacobson, but p_a is not clamped. Once count p_b passes 1 it is negative,
    /// and nothing is dropped until the average leaves the curve.
    DsRed,
    /// Each packet independently with p_b (Bernoulli).
    None,
}

impl SpacingRule {
    /// All rules with their names in scenario files.
    pub const ALL: [(&'static str, Self); 6] = [
        ("floyd93", Self::Floyd93),
        ("ns2-wait", Self::Ns2Wait),
        ("ns2-nowait", Self::Ns2NoWait),
        ("linux", Self::Linux),
        ("dsred", Self::DsRed),
        ("none", Self::None),
    ];
}

/// Spacing with its state: what has arrived since the last drop or mark.
#[derive(Clone, Debug)]
pub struct Spacing {
    rule: SpacingRule,
    /// Scaling and mean packet size of byte mode.
    byte_mode: Option<(ByteScaling, f64)>,
    /// Arrivals since the last drop or mark; -1 below min_th.
    count: i64,
    count_bytes: u64,
    /// Linux: the random number that count p_b must reach.
    threshold: f64,
}

impl Spacing {
    /// Spacing by `rule`; in byte mode with its scaling and the mean packet size in bytes.
    pub fn new(rule: SpacingRule, byte_mode: Option<(ByteScaling, f64)>) -> Self {
        Self { rule, byte_mode, count: -1, count_bytes: 0, threshold: 1.0 }
    }

    /// Reset because the average is below min_th: the next arrival above it is counted as the first.
    #[inline]
    pub fn reset_below_min_th(&mut self) {
        self.count = -1;
        self.count_bytes = 0;
    }

    /// Restart the count after a drop or mark.
    #[inline]
    pub fn restart(&mut self) {
        self.count = 0;
        self.count_bytes = 0;
    }

    /// Restart the count after a forced drop; in Linux as if the average had been below min_th.
    pub fn force(&mut self) {
        if self.rule == SpacingRule::Linux {
            self.reset_below_min_th();
        } else {
            self.restart();
        }
    }

    /// Count an arrival.
    #[inline]
    pub fn count(&mut self, bytes: u32) {
        self.count += 1;
        self.count_bytes += u64::from(bytes);
    }

    /// Count the first arrival above min_th as in ns-2: as one, and not as a candidate.
    #[inline]
    pub fn cross(&mut self, bytes: u32) {
        self.count = 1;
        self.count_bytes = u64::from(bytes);
    }

    /// Decide whether the arrival just counted is dropped or marked. `p_b` is in [0, 1].
    #[inline]
    pub fn picks<P>(&mut self, p_b: f64, bytes: u32, host: &mut impl Host<P>) -> bool {
        if self.rule == SpacingRule::Linux {
            return self.linux_picks(p_b, host);
        }
        host.uniform() < self.p_a(p_b, bytes)
    }

    /// Return p_a of the arrival just counted, in [0, 1].
    pub fn p_a(&self, p_b: f64, bytes: u32) -> f64 {
        match self.byte_mode {
            Some((ByteScaling::BeforeSpacing, mean)) => {
                self.spaced_probability((p_b * f64::from(bytes) / mean).min(1.0), self.count)
            }
            Some((ByteScaling::AfterSpacing, mean)) => {
                let p_a = self.spaced_probability(p_b, (self.count_bytes as f64 / mean) as i64);
                if p_a < 1.0 { (p_a * f64::from(bytes) / mean).min(1.0) } else { 1.0 }
            }
            Some((ByteScaling::None, _)) | None => self.spaced_probability(p_b, self.count),
        }
    }

    /// Return the state for a packet of mean size. Linux has no p_a, since it draws a threshold.
    pub fn state(&self, p_b: f64) -> SpacingState {
        let mean = self.byte_mode.map_or(0, |(_, mean)| mean as u32);
        let p_a = (self.rule != SpacingRule::Linux).then(|| self.p_a(p_b, mean));
        SpacingState { p_a, count: self.count }
    }

    fn spaced_probability(&self, p_b: f64, count: i64) -> f64 {
        let done = count as f64 * p_b;
        match self.rule {
            SpacingRule::Floyd93 | SpacingRule::Ns2NoWait if done < 1.0 => (p_b / (1.0 - done)).min(1.0),
            SpacingRule::Ns2Wait if done < 1.0 => 0.0,
            SpacingRule::Ns2Wait if done < 2.0 => (p_b / (2.0 - done)).min(1.0),
            SpacingRule::DsRed if done > 1.0 => 0.0,
            SpacingRule::DsRed if done < 1.0 => (p_b / (1.0 - done)).min(1.0),
            SpacingRule::None => p_b,
            SpacingRule::Floyd93
            | SpacingRule::Ns2NoWait
            | SpacingRule::Ns2Wait
            | SpacingRule::DsRed
            | SpacingRule::Linux => 1.0,
        }
    }

    fn linux_picks<P>(&mut self, p_b: f64, host: &mut impl Host<P>) -> bool {
        // Count 0 is the first arrival above min_th or after a pick: it draws the threshold. After a pick
        // the threshold is drawn at once, so that the next arrival (count 1) is a candidate.
        if self.count == 0 {
            self.threshold = host.uniform();
            return false;
        }
        let picked = p_b > 0.0 && self.count as f64 * p_b >= self.threshold;
        if picked {
            self.threshold = host.uniform();
        }
        picked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DropReason, Packet};

    /// Always draws 0, which is below every probability except 0.
    struct Zero;

    impl Host<()> for Zero {
        fn uniform(&mut self) -> f64 {
            0.0
        }
        fn below(&mut self, _n: u64) -> u64 {
            0
        }
        fn dropped(&mut self, _packet: Packet<()>, _reason: DropReason) {}
        fn marked(&mut self, _packet: &Packet<()>, _reason: DropReason) {}
    }

    fn at(rule: SpacingRule, count: i64) -> Spacing {
        Spacing { count, ..Spacing::new(rule, None) }
    }

    #[test]
    fn floyd_by_hand() {
        assert_eq!(at(SpacingRule::Floyd93, 0).p_a(0.25, 1000), 0.25);
        assert_eq!(at(SpacingRule::Floyd93, 2).p_a(0.25, 1000), 0.5);
        assert_eq!(at(SpacingRule::Floyd93, 3).p_a(0.25, 1000), 1.0);
        assert_eq!(at(SpacingRule::Floyd93, 4).p_a(0.25, 1000), 1.0);
        assert_eq!(at(SpacingRule::Floyd93, 9).p_a(0.25, 1000), 1.0);
        assert_eq!(at(SpacingRule::Floyd93, -1).p_a(0.0, 1000), 0.0);
    }

    #[test]
    fn the_state_by_hand() {
        assert_eq!(at(SpacingRule::Floyd93, 2).state(0.25), SpacingState { p_a: Some(0.5), count: 2 });
        assert_eq!(at(SpacingRule::Linux, 2).state(0.25), SpacingState { p_a: None, count: 2 });
        let bytes = Spacing {
            count: 2,
            ..Spacing::new(SpacingRule::Floyd93, Some((ByteScaling::BeforeSpacing, 500.0)))
        };
        assert_eq!(bytes.state(0.25).p_a, Some(0.5));
    }

    #[test]
    fn wait_by_hand() {
        assert_eq!(at(SpacingRule::Ns2Wait, 3).p_a(0.25, 1000), 0.0);
        assert_eq!(at(SpacingRule::Ns2Wait, 4).p_a(0.25, 1000), 0.25);
        assert_eq!(at(SpacingRule::Ns2Wait, 6).p_a(0.25, 1000), 0.5);
        assert_eq!(at(SpacingRule::Ns2Wait, 7).p_a(0.25, 1000), 1.0);
        assert_eq!(at(SpacingRule::Ns2Wait, 8).p_a(0.25, 1000), 1.0);
    }

    #[test]
    fn nothing_is_picked_at_0() {
        for (_, rule) in SpacingRule::ALL {
            for count in [-1, 0, 1, 1_000_000] {
                let mut spacing = Spacing { threshold: 0.0, ..at(rule, count) };
                assert!(!spacing.picks(0.0, 1000, &mut Zero), "{rule:?} at {count}");
            }
        }
    }

    #[test]
    fn dsred_stops_dropping() {
        assert_eq!(at(SpacingRule::DsRed, 2).p_a(0.25, 1000), 0.5);
        assert_eq!(at(SpacingRule::DsRed, 4).p_a(0.25, 1000), 1.0);
        assert_eq!(at(SpacingRule::DsRed, 5).p_a(0.25, 1000), 0.0);
        assert_eq!(at(SpacingRule::DsRed, 9).p_a(0.25, 1000), 0.0);
    }

    #[test]
    fn byte_mode_by_hand() {
        let mut s = Spacing::new(SpacingRule::Ns2NoWait, Some((ByteScaling::AfterSpacing, 500.0)));
        s.restart();
        s.count(900);
        // 900 B are one mean packet: p = 0.1/(1 - 0.1), times 900/500.
        assert!((s.p_a(0.1, 900) - 0.1 / 0.9 * 1.8).abs() < 1e-15);
        let mut s = Spacing::new(SpacingRule::Floyd93, Some((ByteScaling::BeforeSpacing, 500.0)));
        s.restart();
        s.count(900);
        assert!((s.p_a(0.1, 900) - 0.18 / 0.82).abs() < 1e-15);
    }
}
