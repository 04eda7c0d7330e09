//! The memory of waiting packets, which `memlimit` bounds in CAKE and in Linux's DualPI2, and `memory_limit` in FQ-CoDel.
//!
//! Linux counts a packet by its buffer (`truesize`): the frame with its 14 bytes of Ethernet, 64 bytes of headroom and 320 bytes that
//! describe fragments take a power of two, and the description of the packet 256 bytes more. A packet of 1500 bytes takes 2304 bytes, an
//! acknowledgement of 40 bytes 768.

use crate::{Host, Packet};

/// Bytes around a packet in its buffer: Ethernet's header, headroom, and the description of fragments.
const AROUND: u32 = 14 + 64 + 320;
/// Bytes that describe a packet.
const DESCRIPTION: u32 = 256;

/// How the memory of a packet is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MemoryUnit {
    /// As Linux.
    #[default]
    TrueSize,
    /// As its length.
    Length,
}

impl MemoryUnit {
    /// The words of a scenario file, the default first.
    pub const WORDS: [(&'static str, Self); 2] = [("truesize", Self::TrueSize), ("length", Self::Length)];

    /// Return the bytes that a packet of this length counts.
    #[inline]
    pub fn of(self, bytes: u32) -> u64 {
        match self {
            Self::TrueSize => {
                u64::from(bytes.saturating_add(AROUND)).next_power_of_two() + u64::from(DESCRIPTION)
            }
            Self::Length => bytes.into(),
        }
    }

    /// Return the bytes that a packet counts: those that a kernel logged, where a log is replayed.
    #[inline]
    pub fn of_packet<P>(self, packet: &Packet<P>, host: &mut impl Host<P>) -> u64 {
        host.logged(packet).map_or_else(|| self.of(packet.meta.bytes), |known| known.memory.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // 40 + 398 = 438, 1500 + 398 = 1898, 1650 + 398 = 2048, 1651 + 398 = 2049.
        assert_eq!([40, 1500, 1650, 1651].map(|n| MemoryUnit::TrueSize.of(n)), [768, 2304, 2304, 4352]);
        assert_eq!(MemoryUnit::Length.of(1500), 1500);
    }
}
