//! SFB in the integers of Linux (`net/sched/sch_sfb.c`; 6.1, 6.12 and 7.3 decide alike).
//!
//! A hash of 32 bits has a bin of 16 on each of 8 levels in every 4 bits, the lowest first; 0 becomes 1. A probability is a number
//! of 0 to 65535, its steps are too. Time is counted in jiffies of 4 ms, as Debian's kernels do. There are two sets of bins, slots:
//!
//! * An arrival first meets the limit; it moves nothing then. After that the hash may change, when more than `rehash` has passed since
//!   the last change: the slot in use gets a new key and the other one is used from then on. The arrival itself still takes the slot
//!   that was in use, with the new key. No bin is cleared: packets that wait leave the bins that they joined, and probabilities stay.
//! * In the last `warmup` before a change an arrival whose p_min is 65535 also joins its bins in the other slot, and moves their
//!   probabilities. Until then packets are not counted there.
//! * A mark becomes a drop with a probability that grows from 0 at p_min = 32767 to 1.
//! * The penalty box gets tokens only when it has none: so many as jiffies since then yield, of the last 10 s at most.

use std::collections::VecDeque;

use aqmlab_units::{Span, Time};

use super::{FULL_BIN, PENALTY_BOX};
use crate::{DropReason, Host, Meta, Verdict};

/// Levels and bins of each.
pub(super) const LEVELS: usize = 8;
pub(super) const BINS: usize = 16;
/// The largest probability.
pub(super) const MAX_PROB: u32 = 65_535;
/// Jiffies in a second.
const HZ: u64 = 250;
/// Picoseconds in a jiffy.
pub(crate) const JIFFY_PS: u64 = 1_000_000_000_000 / HZ;

/// Validated parameters.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub limit: u32,
    /// Packets of a bin from which its probability increases.
    pub bin_size: u32,
    /// Packets in all bins of a flow from which its arrivals are dropped.
    pub max_bin: u32,
    pub increment: u32,
    pub decrement: u32,
    pub penalty_rate: u32,
    pub penalty_burst: u32,
    /// In jiffies; 0 is never.
    pub rehash: u64,
    pub warmup: u64,
    pub ecn: bool,
}

/// Return a time in jiffies, rounded up from whole milliseconds (`msecs_to_jiffies`).
pub(super) fn jiffies(span: Span) -> u64 {
    (span.0 / 1_000_000_000).saturating_mul(HZ).div_ceil(1000)
}

/// Return a probability in the units of Linux.
pub(super) fn units(p: f64) -> u32 {
    libm::rint(p * f64::from(MAX_PROB)) as u32
}

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    packets: u16,
    p_mark: u16,
}

/// A set of bins with the key of its hash; the first flow draws the key.
#[derive(Clone, Debug)]
struct Slot {
    key: Option<u64>,
    bins: [[Bin; BINS]; LEVELS],
}

impl Slot {
    fn new() -> Self {
        Self { key: None, bins: [[Bin::default(); BINS]; LEVELS] }
    }

    /// Return the hash of a flow, which is not 0.
    fn hash<P>(&mut self, flow: u32, host: &mut impl Host<P>) -> u32 {
        host.keyed_hash(flow, &mut self.key).max(1)
    }

    /// Return the bins of a hash.
    fn bins(&mut self, hash: u32) -> impl Iterator<Item = &mut Bin> {
        self.bins
            .iter_mut()
            .enumerate()
            .map(move |(level, bins)| &mut bins[(hash >> (4 * level) & 15) as usize])
    }

    /// Move the probabilities of a hash. Return the least number of packets and the least probability of its bins.
    fn learn(&mut self, settings: &Settings, hash: u32) -> (u32, u32) {
        self.bins(hash).fold((u32::MAX, u32::MAX), |(packets, p_min), bin| {
            let p = u32::from(bin.p_mark);
            let waiting = u32::from(bin.packets);
            let moved = match waiting {
                0 => p.saturating_sub(settings.decrement),
                _ if waiting >= settings.bin_size => p.saturating_add(settings.increment).min(MAX_PROB),
                _ => p,
            };
            bin.p_mark = moved as u16;
            (packets.min(waiting), p_min.min(moved))
        })
    }
}

/// Bins, penalty box and clock.
#[derive(Clone, Debug)]
pub(super) struct LinuxSfb {
    settings: Settings,
    slots: [Slot; 2],
    /// The slot in use.
    slot: usize,
    is_warming_up: bool,
    rehash_time: u64,
    tokens: u32,
    token_time: u64,
    /// Hashes of the last arrival in both slots; 0 where it is not counted.
    hashes: [u32; 2],
    /// Hashes of the waiting packets, in order of arrival.
    waiting: VecDeque<[u32; 2]>,
    /// p_min of the last arrival.
    p_min: u32,
    pub penalized: u64,
}

impl LinuxSfb {
    pub fn new(settings: &Settings) -> Self {
        Self {
            settings: settings.clone(),
            slots: [Slot::new(), Slot::new()],
            slot: 0,
            is_warming_up: false,
            rehash_time: 0,
            tokens: settings.penalty_burst,
            token_time: 0,
            hashes: [0; 2],
            waiting: VecDeque::new(),
            p_min: 0,
            penalized: 0,
        }
    }

    /// Decide about an arrival that finds so many packets.
    pub fn decide<P>(&mut self, now: Time, meta: &Meta, waiting: u32, host: &mut impl Host<P>) -> Verdict {
        if waiting >= self.settings.limit {
            return Verdict::Drop(DropReason::OVERFLOW);
        }
        let now = now.0 / JIFFY_PS;
        let slot = self.slot;
        self.change_hash(now, host);
        let hash = self.slots[slot].hash(meta.flow, host);
        let (packets, p_min) = self.slots[slot].learn(&self.settings, hash);
        self.hashes = [0; 2];
        self.hashes[slot] = hash;
        self.p_min = p_min;
        if packets >= self.settings.max_bin {
            return Verdict::Drop(FULL_BIN);
        }
        if p_min >= MAX_PROB {
            if self.is_warming_up {
                let hash = self.slots[slot ^ 1].hash(meta.flow, host);
                self.slots[slot ^ 1].learn(&self.settings, hash);
                self.hashes[slot ^ 1] = hash;
            }
            self.penalized += 1;
            return if self.passes(now) { Verdict::Accept } else { Verdict::Drop(PENALTY_BOX) };
        }
        let r = (host.uniform() * 65_536.0) as u32;
        if r >= p_min {
            return Verdict::Accept;
        }
        let half = MAX_PROB / 2;
        let drops = p_min > half && r < (p_min - half) * 2;
        Verdict::signal(DropReason::EARLY, self.settings.ecn && !drops, meta)
    }

    /// Change the hash, or begin to teach the other slot, when it is time to.
    fn change_hash<P>(&mut self, now: u64, host: &mut impl Host<P>) {
        let Settings { rehash, warmup, .. } = self.settings;
        if rehash == 0 {
            return;
        }
        let end = self.rehash_time + rehash;
        if now > end {
            host.new_key(&mut self.slots[self.slot].key);
            self.slot ^= 1;
            self.is_warming_up = false;
            self.rehash_time = now;
        } else if warmup > 0 && now.saturating_add(warmup) > end {
            self.is_warming_up = true;
        }
    }

    /// Return whether the penalty box lets a packet pass.
    fn passes(&mut self, now: u64) -> bool {
        let Settings { penalty_rate, penalty_burst, .. } = self.settings;
        if penalty_rate == 0 || penalty_burst == 0 {
            return false;
        }
        if self.tokens == 0 {
            let age = now.saturating_sub(self.token_time).min(10 * HZ);
            self.tokens = ((age * u64::from(penalty_rate) / HZ) as u32).min(penalty_burst);
            self.token_time = now;
            if self.tokens == 0 {
                return false;
            }
        }
        self.tokens -= 1;
        true
    }

    /// Count the last arrival, which joins the queue.
    pub fn joins(&mut self) {
        self.waiting.push_back(self.hashes);
        self.count(self.hashes, |bin| bin.packets = bin.packets.saturating_add(1));
    }

    /// Count the packet at the head of the queue, which leaves.
    pub fn leaves(&mut self) {
        if let Some(hashes) = self.waiting.pop_front() {
            self.count(hashes, |bin| bin.packets = bin.packets.saturating_sub(1));
        }
    }

    fn count(&mut self, hashes: [u32; 2], count: impl Fn(&mut Bin)) {
        for (slot, hash) in self.slots.iter_mut().zip(hashes) {
            if hash != 0 {
                slot.bins(hash).for_each(&count);
            }
        }
    }

    /// Return p_min of the last arrival.
    pub fn p_min(&self) -> f64 {
        f64::from(self.p_min) / f64::from(MAX_PROB)
    }

    /// Return the share of bins of the first level with the largest probability.
    pub fn closed(&self) -> f64 {
        let first = &self.slots[self.slot].bins[0];
        first.iter().filter(|bin| u32::from(bin.p_mark) == MAX_PROB).count() as f64 / BINS as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ecn, Packet};

    /// The kernel's hashes and random numbers, in their order.
    #[derive(Default)]
    struct Kernel {
        hashes: Vec<u32>,
        draws: Vec<u16>,
        keys: u32,
    }

    impl Host<()> for Kernel {
        fn uniform(&mut self) -> f64 {
            f64::from(self.draws.remove(0)) / 65_536.0
        }
        fn below(&mut self, _n: u64) -> u64 {
            0
        }
        fn dropped(&mut self, _packet: Packet<()>, _reason: DropReason) {}
        fn marked(&mut self, _packet: &Packet<()>, _reason: DropReason) {}
        fn keyed_hash(&mut self, _flow: u32, _key: &mut Option<u64>) -> u32 {
            self.hashes.remove(0)
        }
        fn new_key(&mut self, _key: &mut Option<u64>) {
            self.keys += 1;
        }
    }

    const SETTINGS: Settings = Settings {
        limit: 100,
        bin_size: 2,
        max_bin: 4,
        increment: 40_000,
        decrement: 10_000,
        penalty_rate: 100,
        penalty_burst: 2,
        rehash: 10,
        warmup: 3,
        ecn: true,
    };

    /// A queue and its host.
    struct Fixture {
        sfb: LinuxSfb,
        host: Kernel,
        waiting: u32,
    }

    impl Fixture {
        fn new(settings: Settings) -> Self {
            Self { sfb: LinuxSfb::new(&settings), host: Kernel::default(), waiting: 0 }
        }

        /// Offer an ECN-capable packet with these hashes and draw at a time in jiffies.
        fn offer(&mut self, jiffies: u64, hashes: &[u32], draw: Option<u16>) -> Verdict {
            self.host.hashes = hashes.to_vec();
            self.host.draws = draw.into_iter().collect();
            let mut meta = Meta::default();
            meta.header.set_ecn(Ecn::Ect);
            let verdict = self.sfb.decide(Time(jiffies * JIFFY_PS), &meta, self.waiting, &mut self.host);
            if !matches!(verdict, Verdict::Drop(_)) {
                self.sfb.joins();
                self.waiting += 1;
            }
            assert!(self.host.hashes.is_empty() && self.host.draws.is_empty(), "all values are used");
            verdict
        }

        fn leave(&mut self) {
            self.sfb.leaves();
            self.waiting -= 1;
        }
    }

    #[test]
    fn units_by_hand() {
        assert_eq!([0.0, 0.5, 1.0].map(units), [0, 32_768, 65_535]);
        // 600 s, 1 ms and 9 ms: 0.25 and 2.25 jiffies become 1 and 3.
        assert_eq!([600_000, 1, 9].map(|ms| jiffies(Span::from_millis(ms))), [150_000, 1, 3]);
    }

    #[test]
    fn a_hash_has_a_bin_for_every_four_bits() {
        let mut slot = Slot::new();
        slot.bins(0x8765_4321).for_each(|bin| bin.packets = 7);
        for (level, bins) in slot.bins.iter().enumerate() {
            let expected: Vec<_> = (0..BINS).map(|n| if n == level + 1 { 7 } else { 0 }).collect();
            assert_eq!(bins.map(|bin| usize::from(bin.packets)).to_vec(), expected);
        }
    }

    #[test]
    fn marks_become_drops_above_half() {
        let mut fixture = Fixture::new(SETTINGS);
        assert_eq!(fixture.offer(0, &[1], Some(0)), Verdict::Accept);
        assert_eq!(fixture.offer(0, &[1], Some(0)), Verdict::Accept);
        // Two packets are bin_size: p is 40 000. Drops have (40 000 - 32 767) * 2 = 14 466 draws, marks 25 534.
        assert_eq!(fixture.offer(0, &[1], Some(14_465)), Verdict::Drop(DropReason::EARLY));
        assert_eq!(fixture.sfb.p_min, 40_000);
        let mut fixture = Fixture::new(SETTINGS);
        (0..2).for_each(|_| assert_eq!(fixture.offer(0, &[1], Some(0)), Verdict::Accept));
        assert_eq!(fixture.offer(0, &[1], Some(14_466)), Verdict::Mark(DropReason::EARLY));
        let mut fixture = Fixture::new(SETTINGS);
        (0..2).for_each(|_| assert_eq!(fixture.offer(0, &[1], Some(0)), Verdict::Accept));
        assert_eq!(fixture.offer(0, &[1], Some(40_000)), Verdict::Accept);
        // A flow that shares 7 of 8 bins has an empty one, and p_min 0; the hash 0 is 1.
        assert_eq!(fixture.offer(0, &[0x11], Some(0)), Verdict::Accept);
        // Three packets in the bins, and p stays at its most.
        assert_eq!(fixture.offer(0, &[0], None), Verdict::Accept, "a token of the penalty box");
        assert_eq!(fixture.sfb.p_min, MAX_PROB);
        // The fifth of these packets finds four in each bin.
        assert_eq!(fixture.offer(0, &[1], None), Verdict::Drop(FULL_BIN));
        (0..5).for_each(|_| fixture.leave());
        assert_eq!(fixture.offer(0, &[1], Some(60_000)), Verdict::Accept);
        assert_eq!(fixture.sfb.p_min, MAX_PROB - 10_000, "an empty bin lowers p");
    }

    #[test]
    fn the_limit_comes_first_and_moves_nothing() {
        let mut fixture = Fixture::new(Settings { limit: 1, ..SETTINGS });
        assert_eq!(fixture.offer(0, &[1], Some(0)), Verdict::Accept);
        assert_eq!(fixture.offer(20, &[], None), Verdict::Drop(DropReason::OVERFLOW));
        assert_eq!((fixture.host.keys, fixture.sfb.slot), (0, 0));
    }

    #[test]
    fn the_penalty_box_is_filled_when_it_is_empty() {
        let mut fixture =
            Fixture::new(Settings { rehash: 0, bin_size: 1, max_bin: 100, increment: MAX_PROB, ..SETTINGS });
        assert_eq!(fixture.offer(100, &[1], Some(0)), Verdict::Accept);
        // Two tokens at first; then 100 a second are 2.4 in 6 jiffies of 4 ms since the time 0.
        let penalty = Verdict::Drop(PENALTY_BOX);
        let expected = [
            (100, Verdict::Accept),
            (100, Verdict::Accept),
            (100, Verdict::Accept),
            (100, Verdict::Accept),
            (100, penalty),
            (102, penalty),
            (103, penalty),
            (105, penalty),
        ];
        // The clock of tokens starts again at each look at an empty box: 2, 1 and 2 jiffies are less than a token.
        for (n, (jiffies, verdict)) in expected.into_iter().enumerate() {
            assert_eq!(fixture.offer(jiffies, &[1], None), verdict, "{n}");
        }
        assert_eq!(fixture.offer(108, &[1], None), Verdict::Accept, "three jiffies are 1.2 tokens");
        assert_eq!(fixture.offer(108, &[1], None), penalty);
    }

    #[test]
    fn the_hash_changes_and_the_other_slot_is_taught() {
        let mut fixture =
            Fixture::new(Settings { bin_size: 1, max_bin: 100, increment: MAX_PROB, ..SETTINGS });
        assert_eq!(fixture.offer(6, &[1], Some(0)), Verdict::Accept);
        // Jiffy 7 is not yet after 10 - 3; from 8 on a flow in the penalty box has a second hash.
        assert_eq!(fixture.offer(7, &[1], None), Verdict::Accept);
        assert_eq!(fixture.offer(8, &[1, 2], None), Verdict::Accept);
        assert_eq!(fixture.sfb.waiting.back(), Some(&[1, 2]));
        assert_eq!(fixture.sfb.slots[1].bins[0][2].packets, 1);
        assert_eq!(fixture.offer(10, &[3], Some(0)), Verdict::Accept, "another flow has none");
        // After jiffy 10 the slot changes. This arrival takes the old slot, whose bins stay, with its new key.
        assert_eq!(fixture.offer(11, &[1], None), Verdict::Accept);
        assert_eq!((fixture.host.keys, fixture.sfb.slot), (1, 1));
        assert_eq!(fixture.sfb.slots[0].bins[0][1].packets, 4);
        // The flow is known in the new slot by the packet that it was taught with.
        assert_eq!(fixture.offer(12, &[2], None), Verdict::Accept);
        assert_eq!(fixture.sfb.waiting.back(), Some(&[0, 2]));
        (0..6).for_each(|_| fixture.leave());
        assert_eq!(fixture.sfb.slots[0].bins[0][1].packets, 0);
        assert_eq!(fixture.sfb.slots[1].bins[0][2].packets, 0);
        // The next change is counted from the last one.
        assert_eq!(fixture.offer(21, &[1], Some(0)), Verdict::Accept);
        assert_eq!(fixture.host.keys, 1);
        assert_eq!(fixture.offer(22, &[1], None), Verdict::Accept);
        assert_eq!((fixture.host.keys, fixture.sfb.slot), (2, 0));
    }
}
