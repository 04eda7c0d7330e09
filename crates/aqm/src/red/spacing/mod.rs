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
use crate::red::curve::{ONE, fixed};
use crate::spec::ParameterReader;
use crate::{Host, SpacingState};

/// The constants and functions of a spacing rule in addition to those of [`Part`].
pub(crate) trait SpacingPart: Part {
    /// Whether a forced drop resets the count as an average below min_th does; else it restarts the count.
    const FORCED_DROP_RESETS: bool = false;
    /// The count before the first arrival.
    const FIRST_COUNT: i64 = -1;

    /// Read it.
    fn read(reader: &mut ParameterReader<'_>) -> Self;

    /// Return p_a at this count, in [0, 1]; `None` if the rule has none.
    fn p_a(&self, p_b: f64, count: i64) -> Option<f64>;

    /// Decide whether the arrival just counted is dropped or marked. `p_b` is in [0, 1].
    #[inline]
    fn picks<P>(&mut self, counted: &Counted, p_b: f64, bytes: u32, host: &mut impl Host<P>) -> bool {
        counted.p_a(self, p_b, bytes).is_some_and(|p_a| host.uniform() < p_a)
    }

    /// Return what divides p_b into p_a, as a multiple of 2^-31, where count p_b is `done` 2^-31; 0 where p_a is 1, `None` where
    /// it is 0.
    fn divisor(&self, done: u64) -> Option<u64>;

    /// Decide as [`SpacingPart::picks`] does, in integers: p_b is in units of 2^-31, and a draw has 32 bits.
    #[inline]
    fn picks_in_integers<P>(&mut self, count: u64, p_b: u32, host: &mut impl Host<P>) -> bool {
        let draw = u64::from(draw(host));
        let divisor = self.divisor(count * u64::from(p_b));
        divisor.is_some_and(|divisor| draw * divisor < u64::from(p_b) << 32)
    }

    /// Return the count before the first arrival.
    fn first_count(&self) -> i64 {
        Self::FIRST_COUNT
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

/// Return a random integer of 32 bits: the first bits of the next random number.
#[inline]
pub(super) fn draw<P>(host: &mut impl Host<P>) -> u32 {
    (host.uniform() * libm::exp2(32.0)) as u32
}

/// Multiplies p_b by a packet's size over the mean packet, in integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeScale {
    /// 2^32 over the mean packet in bytes.
    pub reciprocal: u64,
}

impl SizeScale {
    /// The scale for a mean packet of so many bytes, at least 1.
    pub fn new(mean_packet: f64) -> Self {
        Self { reciprocal: (libm::exp2(32.0) / mean_packet) as u64 }
    }

    /// Scale p_b, in units of 2^-31, by the size of a packet.
    #[inline]
    fn scale(self, p_b: u32, bytes: u32) -> u32 {
        // The size over the mean, times 2^16. A packet has fewer than 2^31 bytes.
        let share = ((u64::from(bytes) * self.reciprocal) >> 16).min(u32::MAX.into());
        ((u64::from(p_b) * share) >> 16).min(ONE.into()) as u32
    }
}

/// The arrivals since the last drop or mark.
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
    in_integers: bool,
    size_scale: Option<SizeScale>,
}

impl Spacing {
    /// Spacing by `rule`; in byte mode with its scaling and the mean packet size in bytes.
    pub fn new(rule: SpacingRule, byte_mode: Option<(ByteScaling, f64)>) -> Self {
        let packets = each_spacing!(&rule, rule => rule.first_count());
        let counted = Counted { byte_mode, packets, bytes: 0 };
        let before = byte_mode.filter(|(scaling, _)| *scaling == ByteScaling::BeforeSpacing);
        let size_scale = before.map(|(_, mean)| SizeScale::new(mean));
        Self { rule, counted, in_integers: false, size_scale }
    }

    /// The same in integers: p_b must be a multiple of 2^-31. Byte mode must not scale after spacing.
    #[must_use]
    pub fn in_integers(self) -> Self {
        Self { in_integers: true, ..self }
    }

    /// The rule.
    pub fn rule(&self) -> &SpacingRule {
        &self.rule
    }

    /// The scale of byte mode, in integers.
    pub fn size_scale(&self) -> Option<SizeScale> {
        self.size_scale
    }

    /// Arrivals since the last drop or mark; -1 below min_th.
    pub fn counted(&self) -> i64 {
        self.counted.packets
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
        if self.in_integers {
            return self.picks_in_integers(fixed(p_b), bytes, host);
        }
        let Self { rule, counted, .. } = self;
        each_spacing!(rule, rule => rule.picks(counted, p_b, bytes, host))
    }

    #[inline(never)]
    fn picks_in_integers<P>(&mut self, p_b: u32, bytes: u32, host: &mut impl Host<P>) -> bool {
        let p_b = self.size_scale.map_or(p_b, |size| size.scale(p_b, bytes));
        let count = self.counted.packets.clamp(0, i64::from(u32::MAX >> 1)) as u64;
        each_spacing!(&mut self.rule, rule => rule.picks_in_integers(count, p_b, host))
    }

    /// Decide as [`Spacing::picks`] does, in Linux's arithmetic: at an average of so many units above min_th, `step` 2^-32 of p_b each.
    #[inline]
    pub fn picks_as_linux<P>(&mut self, excess: u64, step: u32, host: &mut impl Host<P>) -> bool {
        match &mut self.rule {
            SpacingRule::Linux(rule) => rule.picks_at(self.counted.packets, excess, step, host),
            _ => unreachable!("Linux's arithmetic has Linux's spacing"),
        }
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

    /// Always draws this number; 0 is below every probability except 0.
    struct Draws(f64);

    impl Host<()> for Draws {
        fn uniform(&mut self) -> f64 {
            self.0
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
            spacing.picks(0.0, 1000, &mut Draws(0.0));
            for count in [-1, 0, 1, 1_000_000] {
                spacing.counted.packets = count;
                assert!(!spacing.picks(0.0, 1000, &mut Draws(0.0)), "{kind:?} at {count}");
            }
            let mut count = 0..10;
            let picked = count.any(|count| {
                spacing.counted.packets = count;
                spacing.picks(1.0, 1000, &mut Draws(0.0))
            });
            assert!(picked, "{kind:?}");
        }
    }

    #[test]
    fn in_integers_every_rule_picks_with_p_a() {
        for &kind in SpacingKind::ALL {
            for (count, p_b) in (0..9).flat_map(|count| [0.0, 0.125, 0.25, 0.75, 1.0].map(|p_b| (count, p_b)))
            {
                let picks = |draw: f64| {
                    let mut spacing = at(kind, count).in_integers();
                    spacing.picks(p_b, 1000, &mut Draws(draw))
                };
                let Some(p_a) = at(kind, count).p_a(p_b, 1000) else { continue };
                let unit = libm::exp2(-32.0);
                let name = format!("{kind:?} at {count}, p_b {p_b}");
                assert_eq!(picks((p_a - 2.0 * unit).max(0.0)), p_a > 0.0, "{name}");
                assert!(!picks((p_a + 2.0 * unit).min(1.0 - unit)) || p_a == 1.0, "{name}");
            }
        }
    }

    #[test]
    fn linux_in_integers_by_hand() {
        let mut spacing = at(SpacingKind::Linux, 0).in_integers();
        let mut picked_at = |threshold| {
            spacing.restart();
            spacing.picks(0.25, 1000, &mut Draws(threshold));
            (1..9).find(|_| {
                spacing.count(1000);
                spacing.picks(0.25, 1000, &mut Draws(0.0))
            })
        };
        // The first count with 0.25 count >= threshold.
        assert_eq!([0.0, 0.2, 0.25, 0.26, 0.99].map(&mut picked_at), [1, 1, 1, 2, 4].map(Some));
    }

    #[test]
    fn as_linux_by_hand() {
        // 2^32/2^20: R is the draw in 4096ths.
        let (step, excess) = (1 << 20, 1000);
        let picked_at = |threshold: u32| {
            let mut spacing = at(SpacingKind::Linux, -1);
            let first = Draws(f64::from(threshold) / 4096.0);
            spacing.count(1000);
            assert!(!spacing.picks_as_linux(excess, step, &mut { first }), "the first one draws");
            (1..9).find(|_| {
                spacing.count(1000);
                spacing.picks_as_linux(excess, step, &mut Draws(0.0))
            })
        };
        assert_eq!([0, 1000, 1001, 2000, 3001, 4095].map(picked_at), [1, 1, 2, 2, 4, 5].map(Some));
        // At min_th itself a packet is picked only where R is 0, and the next R is drawn.
        let mut spacing = at(SpacingKind::Linux, 1);
        assert!(spacing.picks_as_linux(0, step, &mut Draws(0.5)));
        assert!(!spacing.picks_as_linux(0, step, &mut Draws(0.5)));
    }

    #[test]
    fn byte_mode_in_integers_by_hand() {
        let scale = SizeScale::new(500.0);
        assert!((f64::from(scale.scale(fixed(0.1), 900)) / f64::from(ONE) - 0.18).abs() < 1e-5);
        assert_eq!((scale.scale(fixed(0.9), 900), scale.scale(0, 900)), (ONE, 0));
        assert_eq!(SizeScale::new(1.0).scale(1, u32::MAX >> 1), (1 << 16) - 1);
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
