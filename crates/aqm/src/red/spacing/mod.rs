//! Spacing of drops and marks: the decision for one packet, given p_b.
//!
//! Every rule is one small file with its formula, and one line in the list below. At constant p_b, the drop rates of the
//! rules differ by up to a factor of three:
//!
//! ```text
//! floyd93, ns2-nowait   gap uniform on 1 .. 1/p_b      rate about 2 p_b
//! ns2-wait              gap uniform on 1/p_b .. 2/p_b  rate about 2 p_b/3
//! dsred                 as floyd93, or never
//! linux                 gap uniform on 1 .. 1/p_b      rate about 2 p_b
//! none                  gap geometric                  rate p_b
//! ```
//!
//! In ns-2's byte mode count is the bytes since the last drop over the mean packet size, rounded down.

use super::part::{Part, parts};
use crate::red::ByteScaling;
use crate::spec::ParameterReader;
use crate::{Host, SpacingState};

/// What a spacing rule does besides registering itself.
pub(crate) trait SpacingPart: Part {
    /// Whether a forced drop resets the count as an average below min_th does; else it restarts the count.
    const FORCED_DROP_RESETS: bool = false;

    /// Read it.
    fn read(reader: &mut ParameterReader<'_>) -> Self;

    /// Return p_a at this count, in [0, 1]; `None` if the rule has none.
    fn p_a(&self, p_b: f64, count: i64) -> Option<f64>;

    /// Decide whether the arrival just counted is dropped or marked. `p_b` is in [0, 1].
    #[inline]
    fn picks<P>(&mut self, counted: &Counted, p_b: f64, bytes: u32, host: &mut impl Host<P>) -> bool {
        counted.p_a(self, p_b, bytes).is_some_and(|p_a| host.uniform() < p_a)
    }

    /// Whether a forced drop resets the count.
    #[inline]
    fn forced_drop_resets(&self) -> bool {
        Self::FORCED_DROP_RESETS
    }
}

parts! {
    "spacing",
    /// How drops and marks are spaced, with the state that only one rule has.
    #[derive(Clone, Debug)]
    enum SpacingRule, SpacingKind, each_spacing, of_spacing_kind;
    floyd93: Floyd93,
    ns2_wait: Ns2Wait,
    ns2_nowait: Ns2NoWait,
    linux: Linux,
    dsred: DsRed,
    bernoulli: Bernoulli,
}

impl SpacingKind {
    /// Read a rule of this kind.
    pub(crate) fn read(self, reader: &mut ParameterReader<'_>) -> SpacingRule {
        of_spacing_kind!(self, T => T::read(reader).into())
    }
}

/// What has arrived since the last drop or mark.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// Scaling and mean packet size of byte mode.
    byte_mode: Option<(ByteScaling, f64)>,
    /// Packets; -1 below min_th.
    packets: i64,
    bytes: u64,
}

impl Counted {
    /// Return p_a of the arrival just counted, in [0, 1]; `None` if the rule has none.
    #[inline]
    fn p_a(&self, rule: &impl SpacingPart, p_b: f64, bytes: u32) -> Option<f64> {
        match self.byte_mode {
            Some((ByteScaling::BeforeSpacing, mean)) => {
                rule.p_a((p_b * f64::from(bytes) / mean).min(1.0), self.packets)
            }
            Some((ByteScaling::AfterSpacing, mean)) => {
                let p_a = rule.p_a(p_b, (self.bytes as f64 / mean) as i64)?;
                Some(if p_a < 1.0 { (p_a * f64::from(bytes) / mean).min(1.0) } else { 1.0 })
            }
            Some((ByteScaling::None, _)) | None => rule.p_a(p_b, self.packets),
        }
    }
}

/// Spacing with its state.
#[derive(Clone, Debug)]
pub struct Spacing {
    rule: SpacingRule,
    counted: Counted,
}

impl Spacing {
    /// Spacing by `rule`; in byte mode with its scaling and the mean packet size in bytes.
    pub fn new(rule: SpacingRule, byte_mode: Option<(ByteScaling, f64)>) -> Self {
        Self { rule, counted: Counted { byte_mode, packets: -1, bytes: 0 } }
    }

    /// Reset because the average is below min_th: the next arrival above it is counted as the first.
    #[inline]
    pub fn reset_below_min_th(&mut self) {
        (self.counted.packets, self.counted.bytes) = (-1, 0);
    }

    /// Restart the count after a drop or mark.
    #[inline]
    pub fn restart(&mut self) {
        (self.counted.packets, self.counted.bytes) = (0, 0);
    }

    /// Restart or reset the count after a forced drop.
    pub fn force(&mut self) {
        if each_spacing!(&self.rule, rule => rule.forced_drop_resets()) {
            self.reset_below_min_th();
        } else {
            self.restart();
        }
    }

    /// Count an arrival.
    #[inline]
    pub fn count(&mut self, bytes: u32) {
        self.counted.packets += 1;
        self.counted.bytes += u64::from(bytes);
    }

    /// Count the first arrival above min_th as in ns-2: as one, and not as a candidate.
    #[inline]
    pub fn cross(&mut self, bytes: u32) {
        (self.counted.packets, self.counted.bytes) = (1, u64::from(bytes));
    }

    /// Decide whether the arrival just counted is dropped or marked. `p_b` is in [0, 1].
    #[inline]
    pub fn picks<P>(&mut self, p_b: f64, bytes: u32, host: &mut impl Host<P>) -> bool {
        let Self { rule, counted } = self;
        each_spacing!(rule, rule => rule.picks(counted, p_b, bytes, host))
    }

    /// Return p_a of the arrival just counted, in [0, 1]; `None` if the rule has none.
    pub fn p_a(&self, p_b: f64, bytes: u32) -> Option<f64> {
        each_spacing!(&self.rule, rule => self.counted.p_a(rule, p_b, bytes))
    }

    /// Return the state for a packet of mean size.
    pub fn state(&self, p_b: f64) -> SpacingState {
        let mean = self.counted.byte_mode.map_or(0, |(_, mean)| mean as u32);
        SpacingState { p_a: self.p_a(p_b, mean), count: self.counted.packets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::red::part::tests::LINK;
    use crate::{DropReason, Packet, Spec};

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

    fn spacing(kind: SpacingKind, byte_mode: Option<(ByteScaling, f64)>) -> Spacing {
        let spec = Spec::new("red").expect("a preset");
        Spacing::new(kind.read(&mut ParameterReader::new(&spec, LINK)), byte_mode)
    }

    fn at(kind: SpacingKind, count: i64) -> Spacing {
        let mut spacing = spacing(kind, None);
        spacing.counted.packets = count;
        spacing
    }

    #[test]
    fn the_state_by_hand() {
        assert_eq!(at(SpacingKind::Floyd93, 2).state(0.25), SpacingState { p_a: Some(0.5), count: 2 });
        assert_eq!(at(SpacingKind::Linux, 2).state(0.25), SpacingState { p_a: None, count: 2 });
        let mut bytes = spacing(SpacingKind::Floyd93, Some((ByteScaling::BeforeSpacing, 500.0)));
        bytes.counted.packets = 2;
        assert_eq!(bytes.state(0.25).p_a, Some(0.5));
    }

    #[test]
    fn nothing_is_picked_at_0_and_every_rule_picks_at_1() {
        for &kind in SpacingKind::ALL {
            // A rule that draws a threshold draws it at count 0.
            let mut spacing = at(kind, 0);
            spacing.picks(0.0, 1000, &mut Zero);
            for count in [-1, 0, 1, 1_000_000] {
                spacing.counted.packets = count;
                assert!(!spacing.picks(0.0, 1000, &mut Zero), "{kind:?} at {count}");
            }
            let mut count = 0..10;
            let picked = count.any(|count| {
                spacing.counted.packets = count;
                spacing.picks(1.0, 1000, &mut Zero)
            });
            assert!(picked, "{kind:?}");
        }
    }

    #[test]
    fn p_a_is_a_probability() {
        for &kind in SpacingKind::ALL {
            for (count, p_b) in (-1..50).flat_map(|count| [0.0, 0.01, 0.25, 1.0].map(|p_b| (count, p_b))) {
                let p_a = at(kind, count).p_a(p_b, 1000);
                assert!(p_a.is_none_or(|p_a| (0.0..=1.0).contains(&p_a)), "{kind:?} at {count}: {p_a:?}");
            }
        }
    }

    #[test]
    fn a_forced_drop_restarts_the_count() {
        let after = |kind| {
            let mut spacing = at(kind, 7);
            spacing.force();
            spacing.counted.packets
        };
        assert_eq!((after(SpacingKind::Floyd93), after(SpacingKind::Linux)), (0, -1));
    }

    #[test]
    fn byte_mode_by_hand() {
        let mut s = spacing(SpacingKind::Ns2NoWait, Some((ByteScaling::AfterSpacing, 500.0)));
        s.restart();
        s.count(900);
        // 900 B are one mean packet: p = 0.1/(1 - 0.1), times 900/500.
        assert!((s.p_a(0.1, 900).expect("a p_a") - 0.1 / 0.9 * 1.8).abs() < 1e-15);
        let mut s = spacing(SpacingKind::Floyd93, Some((ByteScaling::BeforeSpacing, 500.0)));
        s.restart();
        s.count(900);
        assert!((s.p_a(0.1, 900).expect("a p_a") - 0.18 / 0.82).abs() < 1e-15);
    }
}
