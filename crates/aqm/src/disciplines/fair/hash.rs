use super::super::flow_queues::mix;
use crate::{Host, Packet};

/// A keyed hash of flows to queues, without modulo bias.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hash {
    queues: u32,
    /// The key, its bits mixed. If `None`, drawn at the first packet.
    mixed_key: Option<u64>,
}

impl Hash {
    /// To so many queues.
    pub fn new(queues: u32, key: Option<u64>) -> Self {
        Self { queues, mixed_key: key.map(mix) }
    }

    /// The queue of a packet: of its flow, or of the hash that a kernel logged.
    pub fn queue_of<P>(&mut self, packet: &Packet<P>, host: &mut impl Host<P>) -> usize {
        match host.logged(packet) {
            Some(logged) => scaled(logged.flow, self.queues),
            None => self.queue(packet.meta.flow, host),
        }
    }

    /// The queue of a flow.
    pub fn queue<P>(&mut self, flow: u32, host: &mut impl Host<P>) -> usize {
        let key = *self.mixed_key.get_or_insert_with(|| mix(host.below(1 << 53)));
        let hash = mix(u64::from(flow).wrapping_add(key));
        ((u128::from(hash) * u128::from(self.queues)) >> 64) as usize
    }
}

/// Return `hash` scaled to 0 to `queues` - 1 (Linux `reciprocal_scale`).
fn scaled(hash: u32, queues: u32) -> usize {
    ((u64::from(hash) * u64::from(queues)) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DropReason;

    struct Draws(u64);

    impl Host<()> for Draws {
        fn uniform(&mut self) -> f64 {
            0.0
        }
        fn below(&mut self, n: u64) -> u64 {
            self.0 += 1;
            self.0 % n
        }
        fn dropped(&mut self, _packet: Packet<()>, _reason: DropReason) {}
        fn marked(&mut self, _packet: &Packet<()>, _reason: DropReason) {}
    }

    #[test]
    fn flows_spread_evenly_and_stay_where_they_are() {
        let mut host = Draws(0);
        let mut hash = Hash::new(64, None);
        let mut counts = [0_u32; 64];
        for flow in 0..64_000 {
            let queue = hash.queue(flow, &mut host);
            assert_eq!(queue, hash.queue(flow, &mut host));
            counts[queue] += 1;
        }
        assert_eq!(host.0, 1, "the key is drawn once");
        // Chi-square of 63 degrees: its mean is 63, its standard deviation 11.2.
        let chi2: f64 = counts.iter().map(|n| libm::pow(f64::from(*n) - 1000.0, 2.0) / 1000.0).sum();
        assert!(chi2 < 63.0 + 5.0 * 11.2, "{chi2}");
    }

    #[test]
    fn hashes_of_a_kernel_are_scaled() {
        assert_eq!([0, 1 << 22, u32::MAX].map(|hash| scaled(hash, 1024)), [0, 1, 1023]);
    }

    #[test]
    fn another_key_is_another_hash() {
        let queues = |key| (0..100).map(move |flow| Hash::new(1024, Some(key)).queue(flow, &mut Draws(0)));
        assert!(queues(1).zip(queues(2)).filter(|(a, b)| a == b).count() < 5);
        assert!(queues(1).eq(queues(1)));
    }
}
