use crate::{Backlog, Packet};

const NONE: u32 = u32::MAX;

/// Many queues, each first in, first out, in one store: lists through slots that are used again.
#[derive(Clone, Debug)]
pub(crate) struct Lanes<P> {
    slots: Vec<Slot<P>>,
    free: Vec<u32>,
    lanes: Vec<Lane>,
    backlog: Backlog,
}

#[derive(Clone, Debug)]
struct Slot<P> {
    packet: Packet<P>,
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct Lane {
    head: u32,
    tail: u32,
    backlog: Backlog,
}

impl<P: Copy> Lanes<P> {
    /// So many empty queues.
    pub fn new(queues: usize) -> Self {
        let lane = Lane { head: NONE, tail: NONE, backlog: Backlog::default() };
        Self { slots: Vec::new(), free: Vec::new(), lanes: vec![lane; queues], backlog: Backlog::default() }
    }

    /// Appends a packet to a queue.
    pub fn push(&mut self, queue: usize, packet: Packet<P>) {
        let slot = Slot { packet, next: NONE };
        let at = match self.free.pop() {
            Some(at) => {
                self.slots[at as usize] = slot;
                at
            }
            None => {
                self.slots.push(slot);
                // So that no slot that comes free needs room.
                self.free.reserve(self.slots.len());
                self.slots.len() as u32 - 1
            }
        };
        let lane = &mut self.lanes[queue];
        if lane.tail == NONE {
            lane.head = at;
        } else {
            self.slots[lane.tail as usize].next = at;
        }
        lane.tail = at;
        lane.backlog.add(packet.meta.bytes);
        self.backlog.add(packet.meta.bytes);
    }

    /// Takes the packet at the head of a queue.
    pub fn pop(&mut self, queue: usize) -> Option<Packet<P>> {
        let lane = &mut self.lanes[queue];
        if lane.head == NONE {
            return None;
        }
        let at = lane.head;
        let Slot { packet, next } = self.slots[at as usize];
        lane.head = next;
        if next == NONE {
            lane.tail = NONE;
        }
        lane.backlog.take(packet.meta.bytes);
        self.backlog.take(packet.meta.bytes);
        self.free.push(at);
        Some(packet)
    }

    /// What waits in a queue.
    pub fn backlog_of(&self, queue: usize) -> Backlog {
        self.lanes[queue].backlog
    }

    /// What waits in all.
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// The queue with the most bytes; the first of several.
    pub fn longest(&self) -> usize {
        let mut longest = 0;
        for (queue, lane) in self.lanes.iter().enumerate() {
            if lane.backlog.bytes > self.lanes[longest].backlog.bytes {
                longest = queue;
            }
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fifo, Meta};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_queue_is_first_in_first_out(ops in prop::collection::vec((0usize..4, 0u32..1500), 0..300)) {
            let mut lanes = Lanes::new(4);
            let mut single: Vec<Fifo<usize>> = (0..4).map(|_| Fifo::default()).collect();
            for (number, (queue, bytes)) in ops.into_iter().enumerate() {
                if bytes < 600 {
                    prop_assert_eq!(lanes.pop(queue), single[queue].pop());
                } else {
                    let packet = Packet { meta: Meta { bytes, ..Meta::default() }, payload: number };
                    lanes.push(queue, packet);
                    single[queue].push(packet);
                }
                let all = single.iter().map(Fifo::backlog);
                prop_assert_eq!(lanes.backlog().bytes, all.clone().map(|b| b.bytes).sum::<u64>());
                prop_assert_eq!(lanes.backlog().packets, all.clone().map(|b| b.packets).sum::<u32>());
                prop_assert_eq!(lanes.backlog_of(queue), single[queue].backlog());
                prop_assert_eq!(lanes.backlog_of(lanes.longest()).bytes, all.map(|b| b.bytes).max().unwrap_or(0));
            }
        }
    }
}
