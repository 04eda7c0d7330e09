use std::collections::VecDeque;

use aqmlab_units::Probability;

use super::super::flow_queues::mix;

/// Most levels.
pub(super) const MAX_LEVELS: usize = 8;

/// The size of a set of bins, and the steps of its probabilities.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// L.
    pub levels: usize,
    /// N.
    pub bins: usize,
    /// Packets of a bin above which its probability increases.
    pub bin_size: u32,
    pub increment: f64,
    pub decrement: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bin {
    packets: u32,
    p_m: f64,
}

/// L levels of N bins, each level with its own hash: a counting Bloom filter.
#[derive(Clone, Debug)]
pub(super) struct Bins {
    salt: u64,
    bins: Vec<Bin>,
}

/// The state of the bins of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BinState {
    /// The least of their probabilities.
    pub p_min: f64,
    /// Number of bins with more packets than `bin_size`.
    pub full: usize,
}

impl Bins {
    /// Empty bins with a hash of this number.
    pub fn new(shape: &Shape, salt: u64) -> Self {
        Self { salt, bins: vec![Bin::default(); shape.levels * shape.bins] }
    }

    /// The bins of a flow, one of each level.
    fn of(&mut self, shape: &Shape, flow: u32) -> impl Iterator<Item = &mut Bin> {
        let (n, salt) = (shape.bins, self.salt);
        self.bins.chunks_mut(n).enumerate().map(move |(level, bins)| {
            let hash = mix(u64::from(flow) ^ mix(salt * MAX_LEVELS as u64 + level as u64));
            &mut bins[(hash % n as u64) as usize]
        })
    }

    /// Return the state of the bins of a flow at an arrival.
    pub fn state_of(&mut self, shape: &Shape, flow: u32) -> BinState {
        let mut state = BinState { p_min: 1.0, full: 0 };
        for bin in self.of(shape, flow) {
            state.p_min = state.p_min.min(bin.p_m);
            state.full += usize::from(bin.packets > shape.bin_size);
        }
        state
    }

    /// Update the probabilities of a flow's bins.
    pub fn learn(&mut self, shape: &Shape, flow: u32) {
        for bin in self.of(shape, flow) {
            let by = match bin.packets {
                0 => -shape.decrement,
                n if n > shape.bin_size => shape.increment,
                _ => 0.0,
            };
            bin.p_m = Probability::clamped(bin.p_m + by).get();
        }
    }

    /// Count a packet of a flow that arrived.
    pub fn add(&mut self, shape: &Shape, flow: u32) {
        self.of(shape, flow).for_each(|bin| bin.packets += 1);
    }

    /// Count a packet of a flow that left.
    pub fn take(&mut self, shape: &Shape, flow: u32) {
        self.of(shape, flow).for_each(|bin| bin.packets -= 1);
    }

    /// Restart with another hash and the packets waiting now.
    pub fn restart(&mut self, shape: &Shape, salt: u64, waiting: &VecDeque<u32>) {
        self.salt = salt;
        self.bins.fill(Bin::default());
        waiting.iter().for_each(|&flow| self.add(shape, flow));
    }

    /// Return the share of bins of the first level with probability 1.
    pub fn closed(&self, shape: &Shape) -> f64 {
        let closed = self.bins[..shape.bins].iter().filter(|bin| bin.p_m >= 1.0).count();
        closed as f64 / shape.bins as f64
    }
}

/// A token bucket that lets so many packets a second through.
#[derive(Clone, Copy, Debug)]
pub(super) struct PenaltyBox {
    tokens: f64,
    /// When it was filled up, in seconds.
    filled: f64,
}

impl PenaltyBox {
    /// A full bucket.
    pub fn new(burst: f64) -> Self {
        Self { tokens: burst, filled: 0.0 }
    }

    /// Whether a packet passes at `now` seconds.
    pub fn passes(&mut self, now: f64, rate: f64, burst: f64) -> bool {
        self.tokens = (self.tokens + (now - self.filled) * rate).min(burst);
        self.filled = now;
        let passes = self.tokens >= 1.0;
        if passes {
            self.tokens -= 1.0;
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SHAPE: Shape = Shape { levels: 2, bins: 4, bin_size: 2, increment: 0.25, decrement: 0.125 };

    #[test]
    fn probabilities_by_hand() {
        let mut bins = Bins::new(&SHAPE, 0);
        for n in 0..3 {
            bins.learn(&SHAPE, 7);
            bins.add(&SHAPE, 7);
            assert_eq!(bins.state_of(&SHAPE, 7), BinState { p_min: 0.0, full: if n < 2 { 0 } else { 2 } });
        }
        for p in [0.25, 0.5, 0.75, 1.0, 1.0] {
            bins.learn(&SHAPE, 7);
            assert_eq!(bins.state_of(&SHAPE, 7).p_min, p);
        }
        (0..3).for_each(|_| bins.take(&SHAPE, 7));
        bins.learn(&SHAPE, 7);
        assert_eq!(bins.state_of(&SHAPE, 7), BinState { p_min: 0.875, full: 0 });
    }

    #[test]
    fn a_flow_suffers_only_if_all_of_its_bins_are_shared() {
        let mut bins = Bins::new(&SHAPE, 0);
        (0..9).for_each(|_| bins.add(&SHAPE, 0));
        (0..9).for_each(|_| bins.learn(&SHAPE, 0));
        let suffer = (1..1000).filter(|&flow| bins.state_of(&SHAPE, flow).p_min > 0.0).count();
        // (1/4)^2 of all flows.
        assert!((40..90).contains(&suffer), "{suffer}");
    }

    #[test]
    fn the_penalty_box_by_hand() {
        let mut limiter = PenaltyBox::new(2.0);
        let passed = [0.0, 0.0, 0.0, 0.05, 0.1, 0.15, 10.0, 10.0, 10.0].map(|t| limiter.passes(t, 10.0, 2.0));
        assert_eq!(passed, [true, true, false, false, true, false, true, true, false]);
    }

    proptest! {
        #[test]
        fn bins_are_a_recount(
            ops in prop::collection::vec((0u8..3, 0u32..20, 0u64..5), 1..200),
        ) {
            let mut bins = Bins::new(&SHAPE, 0);
            let mut queue = VecDeque::new();
            for (op, flow, salt) in ops {
                match op {
                    0 => {
                        queue.push_back(flow);
                        bins.learn(&SHAPE, flow);
                        bins.add(&SHAPE, flow);
                    }
                    1 => if let Some(gone) = queue.pop_front() {
                        bins.take(&SHAPE, gone);
                    },
                    _ => bins.restart(&SHAPE, salt, &queue),
                }
                let mut recount = Bins::new(&SHAPE, bins.salt);
                queue.iter().for_each(|&flow| recount.add(&SHAPE, flow));
                let packets = |bins: &Bins| bins.bins.iter().map(|bin| bin.packets).collect::<Vec<_>>();
                prop_assert_eq!(packets(&bins), packets(&recount));
                let of_level = bins.bins.chunks(4).map(|level| level.iter().map(|b| b.packets).sum::<u32>());
                prop_assert!(of_level.into_iter().all(|n| n as usize == queue.len()));
                prop_assert!(bins.bins.iter().all(|bin| (0.0..=1.0).contains(&bin.p_m)));
            }
        }
    }
}
