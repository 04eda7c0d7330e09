use std::collections::VecDeque;

use crate::{Backlog, Packet};

/// First-in first-out queue of all single-queue disciplines.
#[derive(Clone, Debug)]
pub struct Fifo<P> {
    packets: VecDeque<Packet<P>>,
    bytes: u64,
}

impl<P> Default for Fifo<P> {
    fn default() -> Self {
        Self { packets: VecDeque::new(), bytes: 0 }
    }
}

impl<P: Copy> Fifo<P> {
    /// Create an empty queue with capacity for `packets` before it grows.
    pub fn with_capacity(packets: usize) -> Self {
        Self { packets: VecDeque::with_capacity(packets), bytes: 0 }
    }

    /// Appends a packet at the tail.
    #[inline]
    pub fn push(&mut self, packet: Packet<P>) {
        self.bytes += u64::from(packet.meta.bytes);
        self.packets.push_back(packet);
    }

    /// Takes the packet at the head.
    #[inline]
    pub fn pop(&mut self) -> Option<Packet<P>> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.meta.bytes);
        Some(packet)
    }

    /// [`Fifo::pop`] to `packet`. Return whether there is one.
    #[inline]
    pub fn pop_into(&mut self, packet: &mut Packet<P>) -> bool {
        let Some(head) = self.packets.front() else { return false };
        *packet = *head;
        self.packets.pop_front();
        self.bytes -= u64::from(packet.meta.bytes);
        true
    }

    /// The packet at the head.
    #[inline]
    pub fn head(&self) -> Option<&Packet<P>> {
        self.packets.front()
    }

    /// All packets, from the head on.
    pub fn iter(&self) -> impl Iterator<Item = &Packet<P>> {
        self.packets.iter()
    }

    /// Packets and bytes in the queue.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u32, bytes: self.bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Meta;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn backlog_is_a_recount(ops in prop::collection::vec((0u8..2, 1u32..2000), 0..200)) {
            let mut q = Fifo::default();
            for (op, bytes) in ops {
                match op {
                    0 => q.push(Packet { meta: Meta { bytes, ..Meta::default() }, payload: () }),
                    _ => { q.pop(); }
                }
                prop_assert_eq!(q.backlog().bytes, q.packets.iter().map(|p| u64::from(p.meta.bytes)).sum::<u64>());
                prop_assert_eq!(q.backlog().packets as usize, q.packets.len());
            }
        }
    }
}
