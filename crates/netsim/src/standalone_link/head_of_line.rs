//! A packet in service that still waits: the discipline is asked for it at the end of its service.
//!
//! Linux's token bucket filter looks at the packet at the head of its inner queue and takes it out when there are tokens
//! enough for its whole length; until then the inner discipline counts it. A discipline cannot be asked which packet comes
//! next without taking it, so a separate list of those accepted is kept: service is in the order of acceptance.

use std::collections::VecDeque;

use aqmlab_aqm::Packet;
use aqmlab_units::{Span, Time};

use super::StandaloneLink;
use crate::link_stats::Numbered;

/// The packets that wait, in order, with their lengths; the first is in service.
#[derive(Clone, Debug)]
pub(super) struct HeadOfLine<P>(VecDeque<(P, u32)>);

impl<P> HeadOfLine<P> {
    pub fn with_room(room: usize) -> Self {
        Self(VecDeque::with_capacity(room))
    }

    /// Return the length of the packet in service.
    pub fn first(&self) -> Option<u32> {
        self.0.front().map(|(_, bytes)| *bytes)
    }
}

impl<P: PartialEq + Numbered> StandaloneLink<P> {
    /// A packet arrives where the one in service counts as waiting.
    pub(super) fn offer_to_waiting(&mut self, now: Time, mut packet: Packet<P>) {
        let known = self.station.dropped.as_ref().map_or(0, Vec::len);
        self.station.admit(now, &mut packet);
        self.station.measure();
        let Some(HeadOfLine(waiting)) = &mut self.head else { return };
        waiting.push_back((packet.payload, packet.meta.bytes));
        let served = waiting.front().map(|(payload, _)| *payload);
        for gone in self.station.dropped.iter().flat_map(|dropped| &dropped[known..]) {
            // The youngest first: it is the usual victim.
            if let Some(place) = waiting.iter().rposition(|(payload, _)| payload == gone) {
                waiting.remove(place);
            }
        }
        if self.station.service.is_none() || served != waiting.front().map(|(payload, _)| *payload) {
            self.begin_service(now);
        }
    }

    /// A service ends: the packet leaves, and the service of the next begins.
    pub(super) fn end_service(&mut self, now: Time) {
        if let Some(packet) = self.next_packet(now) {
            self.station.stats.departed(now, &packet, Span::ZERO);
            let start = self.station.service.map_or(now, |(start, _)| start);
            self.put_on_wire(start, now, &packet);
        }
        if let Some(HeadOfLine(waiting)) = &mut self.head {
            waiting.pop_front();
        }
        self.begin_service(now);
    }

    /// Begin the service of the first waiting packet, if there is one; otherwise report to the discipline that the link is free.
    fn begin_service(&mut self, now: Time) {
        let unserved = self.station.service.map_or(Span::ZERO, |(_, end)| end.since(now));
        self.station.stats.counters.busy -= unserved.0;
        let first = self.head.as_ref().and_then(HeadOfLine::first);
        if let Some(bytes) = first {
            let transmission = self.station.server.serve(None, now, bytes);
            self.station.service = Some((now, now + transmission));
            self.station.stats.counters.busy += transmission.0;
        } else {
            // The list has all waiting packets, so none waits.
            self.station.become_idle(now);
        }
    }
}
