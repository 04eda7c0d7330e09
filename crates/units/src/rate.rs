use crate::Span;

const PS_PER_S: u128 = 1_000_000_000_000;

/// A bit rate in bits per second; in a checked scenario 0 only where a link lets nothing leave for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

impl Rate {
    /// Bits per second as a double.
    pub fn bps(self) -> f64 {
        self.0 as f64
    }

    /// How long `bytes` last at this rate, to the nearest picosecond; at most the longest span, also at a rate of 0.
    pub fn time_of(self, bytes: u64) -> Span {
        let rate = u128::from(self.0);
        let ps = (u128::from(bytes) * 8 * PS_PER_S + rate / 2).checked_div(rate);
        Span(ps.and_then(|ps| u64::try_from(ps).ok()).unwrap_or(u64::MAX))
    }
}

/// Transmission times at a given rate, each rounded by itself to the nearest picosecond.
///
/// No remainder is carried from packet to packet: events that are simultaneous by the numbers of a scenario (a
/// departure and the arrival that it clocks by way of an acknowledgement) then stay simultaneous to the picosecond,
/// and their order is that of the causes, not of rounding. The price is at most half a picosecond a packet; rates of
/// 10^k, 25 or 40 Gbit/s and the like have whole picoseconds per byte and pay nothing.
#[derive(Clone, Debug)]
pub struct Serializer {
    rate: Rate,
    /// Two lengths, the newer one last: nearly all packets of a link have one of two.
    memo: [(u32, Span); 2],
}

impl Serializer {
    /// For this rate.
    pub fn new(rate: Rate) -> Self {
        Self { rate, memo: [(0, Span::ZERO); 2] }
    }

    /// The rate.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// How long a packet of `bytes` occupies the link.
    #[inline]
    pub fn transmit(&mut self, bytes: u32) -> Span {
        // An index in place of a branch: lengths alternate as they like, which no processor predicts.
        let place = usize::from(self.memo[0].0 != bytes);
        let (length, time) = self.memo[place];
        if length == bytes { time } else { self.transmit_other(bytes) }
    }

    #[cold]
    fn transmit_other(&mut self, bytes: u32) -> Span {
        self.memo = [self.memo[1], (bytes, self.rate.time_of(u64::from(bytes)))];
        self.memo[1].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn by_hand() {
        assert_eq!(Rate(10_000_000).time_of(1040), Span(832_000_000));
        assert_eq!(Rate(3_000_000).time_of(1000), Span(2_666_666_667));
        assert_eq!(Rate(400_000_000_000).time_of(64), Span(1280));
        assert_eq!(Rate(0).time_of(1), Span(u64::MAX));
    }

    proptest! {
        #[test]
        fn memory_changes_nothing(rate in 1u64..1_000_000_000_000, lens in prop::collection::vec(1u32..5, 1..100)) {
            let mut s = Serializer::new(Rate(rate));
            for len in lens {
                prop_assert_eq!(s.transmit(len), Rate(rate).time_of(u64::from(len)));
            }
        }

        #[test]
        fn within_half_a_picosecond(rate in 1u64..1_000_000_000_000, bytes in 1u64..70_000) {
            let exact = u128::from(bytes) * 8 * PS_PER_S;
            let rounded = u128::from(Rate(rate).time_of(bytes).0) * u128::from(rate);
            prop_assert!(exact.abs_diff(rounded) * 2 <= u128::from(rate));
        }
    }
}
