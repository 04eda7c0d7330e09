//! The packets on their way to the far end of a link.

use std::collections::VecDeque;

use aqmlab_units::Time;

use crate::key::Key;
use crate::packet::SimPacket;
use crate::plan::LinkId;

/// When a packet's transmission starts, and when it arrives at the far end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub starts: Time,
    pub arrives: Time,
}

impl Departure {
    /// The key of the arrival at the far end of a link.
    #[inline]
    pub fn arrival(self, link: LinkId) -> Key {
        Key { time: self.arrives, cause: self.starts, source: link }
    }
}

/// A packet on the wire: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct InFlight {
    departure: Departure,
    packet: SimPacket,
}

/// The wire: first in, first out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wire(VecDeque<InFlight>);

impl Wire {
    /// The next arrival at the far end.
    #[inline]
    pub fn next(&self) -> Option<Departure> {
        self.0.front().map(|f| f.departure)
    }

    /// Takes the packet that arrives at the far end.
    #[inline]
    pub fn take(&mut self) -> Option<SimPacket> {
        self.0.pop_front().map(|f| f.packet)
    }

    /// Puts a packet on the wire; whether it is the only one there.
    #[inline]
    pub fn put(&mut self, departure: Departure, packet: &SimPacket) -> bool {
        self.0.push_back(InFlight { departure, packet: *packet });
        self.0.len() == 1
    }

    /// When everything on the wire will have arrived; time 0 if there is nothing.
    pub fn empty_at(&self) -> Time {
        self.0.back().map_or(Time::ZERO, |f| f.departure.arrives)
    }
}
