//! The packets between the endpoints: data packets one way, acknowledgements the other.

use aqmlab_units::Time;

/// Most SACK blocks in one acknowledgement (RFC 2018, section 3: three with a time stamp option).
pub const MAX_SACK_BLOCKS: usize = 3;

/// The one-bit properties of a data packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataFlags(u8);

impl DataFlags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// The sequence number was sent before.
    pub const RETRANSMISSION: Self = Self(1);
    /// Opens the connection: carries no payload.
    pub const SYN: Self = Self(2);
    /// ECN-capable transport: may be marked instead of dropped.
    pub const ECT: Self = Self(4);
    /// Congestion window reduced: the answer to an ECN echo (or to a loss).
    pub const CWR: Self = Self(8);
    /// Asks the receiver to take part in ECN (RFC 3168, section 6.1.1).
    pub const ECN_SETUP: Self = Self(16);
    /// With [`DataFlags::ECT`]: the code point is ECT(1), which asks for L4S (RFC 9331), instead of ECT(0).
    pub const ECT1: Self = Self(32);

    /// All flags, a bit each in the six lowest.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The flags of these bits.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & 63)
    }

    /// These flags, and `flag` if `on`.
    #[must_use]
    pub const fn with(self, flag: Self, on: bool) -> Self {
        if on { Self(self.0 | flag.0) } else { self }
    }

    /// Whether all of `flag` is set.
    pub const fn has(self, flag: Self) -> bool {
        self.0 & flag.0 == flag.0
    }
}

/// A data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// When it was sent.
    pub sent: Time,
    /// Sequence number, in packets from 0.
    pub seq: u32,
    /// Length in bytes, headers included.
    pub bytes: u32,
    /// One-bit properties.
    pub flags: DataFlags,
}

impl Data {
    /// Whether the sequence number was sent before.
    pub const fn retransmission(&self) -> bool {
        self.flags.has(DataFlags::RETRANSMISSION)
    }

    /// Whether the packet opens the connection.
    pub const fn syn(&self) -> bool {
        self.flags.has(DataFlags::SYN)
    }

    /// Whether the packet may be marked instead of dropped.
    pub const fn ect(&self) -> bool {
        self.flags.has(DataFlags::ECT)
    }

    /// Whether the code point is ECT(1) instead of ECT(0).
    pub const fn ect1(&self) -> bool {
        self.flags.has(DataFlags::ECT1)
    }

    /// Whether the sender says that it has reduced its window.
    pub const fn cwr(&self) -> bool {
        self.flags.has(DataFlags::CWR)
    }

    /// Whether the sender asks for ECN.
    pub const fn ecn_setup(&self) -> bool {
        self.flags.has(DataFlags::ECN_SETUP)
    }
}

/// A run of packets that the receiver holds out of order: `left` is in it, `right` is one past it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First packet of the run.
    pub left: i32,
    /// One past the last packet of the run.
    pub right: i32,
}

/// The SACK blocks of an acknowledgement, most recent first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [SackBlock; MAX_SACK_BLOCKS],
    len: u8,
}

impl SackBlocks {
    /// No block.
    pub const EMPTY: Self = Self { blocks: [SackBlock { left: 0, right: 0 }; MAX_SACK_BLOCKS], len: 0 };

    /// Append a block; ignore it if the list is full.
    pub fn push(&mut self, block: SackBlock) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = block;
            self.len += 1;
        }
    }

    /// The blocks, most recent first.
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.len)]
    }

    /// How many blocks there are.
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there is no block.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// The time stamp to echo: when the packet was sent that this answers, delayed acknowledgements included.
    pub ts_echo: Time,
    /// Last packet received in order; -1 while packet 0 is missing.
    pub ack: i32,
    /// Length in bytes, SACK blocks included.
    pub bytes: u32,
    /// Out-of-order runs that the receiver holds; empty without SACK.
    pub sack: SackBlocks,
    /// ECN echo: a packet was marked (or, answering packet 0, the receiver takes part in ECN).
    pub ece: bool,
    /// Marked packets modulo 8, where feedback is accurate (RFC 9768, section 3.2.2); [`Ack::OF_PING`] in the answer of a ping; otherwise 0.
    pub ace: u8,
    /// When it was sent, where the sender asks for one-way delays; stands for the time stamp value of RFC 7323. With QUIC's loss
    /// detection, for how long it was held back. Otherwise 0.
    pub stamp: Time,
}

impl Ack {
    /// Value of `ace` in the answer of a ping; filters of acknowledgements never drop such an answer.
    pub const OF_PING: u8 = 8;
}

/// The receiver's answer to a data packet that changes nothing of SACK and ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainAnswer {
    /// Its acknowledgement is held back.
    Held,
    /// It is acknowledged at once.
    Sent(PlainAck),
}

/// An acknowledgement without SACK blocks, count of marks and time stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainAck {
    /// [`Ack::ack`].
    pub ack: i32,
    /// [`Ack::ts_echo`].
    pub ts_echo: Time,
    /// Length in bytes.
    pub bytes: u32,
    /// [`Ack::ece`].
    pub ece: bool,
}

impl From<PlainAck> for Ack {
    #[inline]
    fn from(PlainAck { ack, ts_echo, bytes, ece }: PlainAck) -> Self {
        Self { ts_echo, ack, bytes, ece, ..Self::default() }
    }
}

/// New data packets that are sent at once, one after the other; alike except for their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewData {
    /// Sequence number of the first packet.
    pub first: u32,
    /// How many there are.
    pub count: u32,
    /// From one sequence number to the next.
    pub step: u32,
    /// Length of each packet in bytes, headers included.
    pub bytes: u32,
    /// Their properties.
    pub flags: DataFlags,
}

impl NewData {
    /// Call `out` with each of the packets, which are sent at `now`.
    #[inline]
    pub fn send(self, now: Time, out: &mut impl FnMut(Data)) {
        let Self { first, count, step, bytes, flags } = self;
        for k in 0..count {
            out(Data { sent: now, seq: first.wrapping_add(k * step), bytes, flags });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_small() {
        assert!(size_of::<Data>() <= 24);
        assert!(size_of::<Ack>() <= 56);
    }

    #[test]
    fn flags_are_independent() {
        let flags = DataFlags::NONE.with(DataFlags::ECT, true).with(DataFlags::CWR, false);
        assert!(flags.has(DataFlags::ECT));
        assert!(!flags.has(DataFlags::CWR) && !flags.has(DataFlags::SYN));
    }

    #[test]
    fn a_fourth_block_is_left_out() {
        let mut blocks = SackBlocks::EMPTY;
        for left in 0..4 {
            blocks.push(SackBlock { left, right: left + 1 });
        }
        assert_eq!(blocks.len(), 3);
        assert_eq!(blocks.as_slice()[2], SackBlock { left: 2, right: 3 });
    }
}
