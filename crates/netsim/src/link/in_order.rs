//! A link whose departures follow from the arrivals only.

use aqmlab_aqm::{Ecn, Packet};
use aqmlab_units::Time;

use super::station::Station;
use crate::attached::Attached;
use crate::key::Key;
use crate::message::Message;
use crate::paths::Paths;
use crate::plan::LinkId;

/// A link whose discipline departs in order. The departure of a packet is known at its arrival; the discipline is called later,
/// with the correct time, before the next event.
#[derive(Clone, Debug)]
pub(crate) struct InOrder {
    /// Of a packet the queue holds the number that an event log shows.
    pub(super) station: Station<i32>,
    /// When the last packet accepted will have been served.
    free_at: Time,
}

impl InOrder {
    pub fn new(id: LinkId, plan: &Attached<'_>, seed: u64) -> Self {
        Self { station: Station::new(id, plan, seed, false), free_at: Time::ZERO }
    }

    /// Handle an arriving packet. Return whether it is accepted; its key is then that of its arrival at the far end.
    pub fn arrive(&mut self, paths: &Paths, message: &mut Message) -> bool {
        let now = message.time;
        self.serve_until(message.key());
        let transmission = self.station.serializer.transmit(message.bytes);
        let starts = if self.station.service.is_none() {
            let mut packet = Packet { meta: paths.meta(message), payload: message.number };
            if !self.station.enqueue_dequeue(now, &mut packet) {
                return false;
            }
            self.station.serve(now, now + transmission, &packet);
            message.rewrite(packet.meta.header);
            now
        } else {
            let mut packet = Packet { meta: paths.meta(message), payload: message.number };
            let (fate, mut header) = self.station.admit(now, &mut packet);
            self.station.measure();
            if fate.has_dropped {
                return false;
            }
            if fate.has_marked {
                header.set_ecn(Ecn::Ce);
            }
            message.rewrite(header);
            self.free_at
        };
        self.free_at = starts + transmission;
        (message.time, message.cause, message.source) =
            (self.free_at + self.station.delay, starts, self.station.id);
        true
    }

    /// Advance the station to the end of the run.
    pub fn finish(&mut self, end: Time) {
        self.serve_until(Key::start_of(end));
        self.station.finish(end);
    }

    /// Ends of service that come before `key`.
    #[inline(always)]
    fn serve_until(&mut self, key: Key) {
        while let Some((cause, time)) = self.station.service
            && (Key { time, cause, source: self.station.id }).precedes(key)
        {
            self.station.advance(time);
            self.serve_next(time);
        }
        self.station.advance(key.time);
    }

    /// The link is free: the next packet's service starts now.
    #[inline(always)]
    fn serve_next(&mut self, now: Time) {
        let mut packet = Packet::default();
        if self.station.dequeue(now, &mut packet) {
            let end = now + self.station.serializer.transmit(packet.meta.bytes);
            self.station.serve(now, end, &packet);
        }
    }
}
