//! The packets in service and on the wire, in the order of their arrivals at the far end.

use std::collections::VecDeque;

use aqmlab_aqm::Packet;
use aqmlab_units::Time;

use crate::link::Wire;

/// How a packet passed the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// Start of its service.
    pub start: Time,
    /// End of its service.
    pub end: Time,
    /// The same packet arrives once more: the channel has duplicated it.
    pub comes_again: bool,
}

/// The packets in service and on the wire.
#[derive(Clone, Debug)]
pub(super) struct Transit<P> {
    /// In the order of their arrivals; at one time, in that of their services.
    packets: VecDeque<(Time, Packet<P>, Passage)>,
    /// When the last packet of a channel that keeps the order arrives; none arrives before it, also when the channel is replaced.
    last_arrival: Time,
    /// Copies since the start.
    copies: u64,
}

impl<P: Copy> Transit<P> {
    /// Allocate memory for so many packets and a copy of each.
    pub fn with_room(room: usize) -> Self {
        Self { packets: VecDeque::with_capacity(2 * room), last_arrival: Time::ZERO, copies: 0 }
    }

    /// Add a packet that arrives when its channel says. Return whether it arrives at all.
    pub fn send(&mut self, wire: &mut Wire, start: Time, end: Time, packet: &Packet<P>) -> bool {
        let passage = Passage { start, end, comes_again: false };
        let arrival = wire.carry(start, end);
        if arrival == Time::NEVER {
            return false;
        }
        if arrival != Wire::UNORDERED {
            self.last_arrival = self.last_arrival.max(arrival);
            self.insert(self.last_arrival, *packet, passage);
            return true;
        }
        let [first, second] = wire.arrivals();
        let (first, second) = (first.min(second), first.max(second));
        if first == Time::NEVER {
            return false;
        }
        let comes_again = second != Time::NEVER;
        self.insert(first, *packet, Passage { comes_again, ..passage });
        if comes_again {
            self.copies += 1;
            self.insert(second, *packet, passage);
        }
        true
    }

    fn insert(&mut self, arrival: Time, packet: Packet<P>, passage: Passage) {
        let place = self.packets.partition_point(|one| one.0 <= arrival);
        self.packets.insert(place, (arrival, packet, passage));
    }

    /// Return when the next packet arrives.
    pub fn next(&self) -> Option<Time> {
        self.packets.front().map(|one| one.0)
    }

    /// Take the next packet, if it arrives by `to`.
    pub fn pop(&mut self, to: Time) -> Option<(Time, Packet<P>, Passage)> {
        if self.next()? <= to { self.packets.pop_front() } else { None }
    }

    /// Take back the packet whose service would end at `end`, which is far, with its copy; it arrives after all others.
    pub fn recall(&mut self, end: Time) -> Option<Packet<P>> {
        let mut found = None;
        while let Some((_, packet, passage)) = self.packets.back().copied().filter(|one| one.2.end >= end) {
            self.copies -= u64::from(passage.comes_again);
            self.packets.pop_back();
            found = Some(packet);
        }
        self.last_arrival = self.last_arrival.min(self.packets.back().map_or(Time::ZERO, |one| one.0));
        found
    }

    /// Return the packets, and the copies among them.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Return the copies since the start.
    pub fn copies(&self) -> u64 {
        self.copies
    }
}
