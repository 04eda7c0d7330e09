//! The bytes of packets: slots of equal size that are allocated once.

use aqmlab_aqm::{Ecn, Meta};
use aqmlab_netsim::Numbered;

/// Bytes of a slot: a packet of the usual MTU, and some more.
pub const SLOT: usize = 2048;

/// A packet's slot, and the state that the link keeps for the packet in addition to its header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    /// Number of the slot.
    pub slot: u32,
    /// Sequence number, or number acknowledged.
    pub number: i32,
    /// Number of its flow.
    pub flow: u32,
    /// How many flows had that number before its flow.
    pub generation: u32,
    /// The flow of the plan that markers use for it.
    pub marked_as: u32,
    /// Place of its group.
    pub group: u16,
    /// Code point and ECN field that it came with.
    pub traffic_class: u8,
}

impl Buffer {
    /// Code point that the packet came with.
    #[inline]
    pub fn dscp(&self) -> u8 {
        self.traffic_class >> 2
    }

    /// Whether congestion was experienced before the packet came here.
    #[inline]
    pub fn was_ce(&self) -> bool {
        Ecn::from_bits(self.traffic_class) == Ecn::Ce
    }
}

impl Numbered for Buffer {
    fn number(&self) -> i32 {
        self.number
    }

    fn marked_as(&self, _: &Meta) -> usize {
        self.marked_as as usize
    }
}

/// All slots, and which of them are free.
#[derive(Debug)]
pub struct Pool {
    bytes: Vec<u8>,
    lengths: Vec<u16>,
    free: Vec<u32>,
}

impl Pool {
    /// So many slots, every page of them touched.
    pub fn new(slots: u32) -> Self {
        let mut bytes = vec![0; SLOT * slots as usize];
        // The allocator gives pages that exist on paper only; the first packets should not have to wait for them.
        bytes.iter_mut().step_by(SLOT).for_each(|byte| *byte = core::hint::black_box(0xff));
        Self { bytes, lengths: vec![0; slots as usize], free: (0..slots).rev().collect() }
    }

    /// All slots.
    pub fn slots(&self) -> usize {
        self.lengths.len()
    }

    /// A free slot.
    pub fn take(&mut self) -> Option<u32> {
        self.free.pop()
    }

    /// Gives a slot back.
    pub fn give_back(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// Slots in use.
    pub fn used(&self) -> usize {
        self.slots() - self.free.len()
    }

    /// The whole slot, to read a packet into.
    pub fn room(&mut self, slot: u32) -> &mut [u8] {
        let start = slot as usize * SLOT;
        &mut self.bytes[start..start + SLOT]
    }

    /// Says how long the packet in a slot is.
    pub fn set_length(&mut self, slot: u32, length: usize) {
        self.lengths[slot as usize] = length.min(SLOT) as u16;
    }

    /// The packet in a slot.
    pub fn packet(&mut self, slot: u32) -> &mut [u8] {
        let length = usize::from(self.lengths[slot as usize]);
        &mut self.room(slot)[..length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_come_back() {
        let mut pool = Pool::new(2);
        let (a, b) = (pool.take().expect("a slot"), pool.take().expect("a slot"));
        assert_eq!((pool.take(), pool.used()), (None, 2));
        pool.room(a)[..3].copy_from_slice(b"abc");
        pool.room(b)[..2].copy_from_slice(b"de");
        pool.set_length(a, 3);
        pool.set_length(b, 2);
        assert_eq!((&*pool.packet(a).to_vec(), &*pool.packet(b).to_vec()), (&b"abc"[..], &b"de"[..]));
        pool.give_back(a);
        assert_eq!((pool.take(), pool.used(), pool.slots()), (Some(a), 2, 2));
    }
}
