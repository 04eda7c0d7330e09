//! A link whose discipline may take back what it has accepted, or whose rate or delay changes.

use aqmlab_aqm::{Packet, Qdisc};
use aqmlab_units::Time;

use super::station::Station;
use crate::attached::Attached;
use crate::key::Key;
use crate::link_stats::Numbered;
use crate::message::Message;
use crate::paths::Paths;
use crate::plan::LinkId;

/// A link where what leaves is known only when the link is free: ends of service are events, while something waits.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    pub(super) station: Station<Held>,
    /// The packets that wait; their slots are used again.
    messages: Vec<Message>,
    free: Vec<u32>,
    /// When the service in progress ends, if something waits for it.
    due: Time,
    /// The engine knows of the end of the service in progress.
    is_announced: bool,
    /// When the last packet that was sent arrives at the far end.
    last_arrival: Time,
}

/// Packets for which a new queue has room.
const ROOM: usize = 64;
/// Of a packet that passes without waiting.
const NO_SLOT: u32 = u32::MAX;

/// What the queue holds of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// Where the rest is.
    slot: u32,
    /// The number that an event log shows.
    number: i32,
}

impl Numbered for Held {
    #[inline]
    fn number(&self) -> i32 {
        self.number
    }
}

impl Queue {
    pub fn new(id: LinkId, plan: &Attached<'_>, seed: u64) -> Self {
        let station = Station::new(id, plan, seed, true);
        Self {
            station,
            messages: Vec::with_capacity(ROOM),
            free: Vec::with_capacity(ROOM),
            due: Time::NEVER,
            is_announced: false,
            last_arrival: Time::ZERO,
        }
    }

    /// Handle an arriving packet. Return whether it is transmitted at once; it is then as [`Queue::serve`] returns it.
    pub fn arrive(&mut self, paths: &Paths, message: &mut Message) -> bool {
        let now = message.time;
        self.settle(message.key());
        self.station.advance(now);
        let meta = paths.meta(message);
        if self.station.service.is_none() {
            let payload = Held { slot: NO_SLOT, number: message.number };
            let mut packet = Packet { meta, payload };
            let passes = self.station.enqueue_dequeue(now, &mut packet);
            if passes {
                self.send(now, &packet, message);
            }
            return passes;
        }
        let payload = Held { slot: self.put(message), number: message.number };
        self.station.admit(now, Packet { meta, payload });
        let waiting = self.station.measure();
        self.note_due(waiting);
        false
    }

    /// The key of the next end of service that matters: something waits for it.
    #[inline]
    pub fn service_end(&self) -> Option<Key> {
        self.end().filter(|_| self.due != Time::NEVER)
    }

    /// Whether such an end of service comes before `key`.
    #[inline]
    pub fn is_due_before(&self, key: Key) -> bool {
        self.due <= key.time && self.service_end().is_some_and(|end| end < key)
    }

    #[inline]
    fn note_due(&mut self, waiting: u32) {
        self.due = self.station.service.filter(|_| waiting > 0).map_or(Time::NEVER, |(_, end)| end);
    }

    /// The key of the end of service that has come to matter, once.
    #[inline]
    pub fn announce(&mut self) -> Option<Key> {
        let end = self.service_end().filter(|_| !self.is_announced);
        self.is_announced |= end.is_some();
        end
    }

    #[inline]
    fn end(&self) -> Option<Key> {
        self.station.service.map(|(cause, time)| Key { time, cause, source: self.station.id })
    }

    /// Pass the end of a service after which nothing waited to the discipline, late but with the correct time.
    #[inline]
    fn settle(&mut self, key: Key) {
        if let Some(end) = self.end()
            && end.precedes(key)
        {
            self.is_announced = false;
            self.station.advance(end.time);
            let next = self.station.dequeue(end.time);
            debug_assert!(next.is_none(), "nothing waited");
        }
    }

    /// What the discipline dropped at the last call, at arrival or at departure; `passing` was on its way past the queue.
    #[inline]
    pub fn take_dropped(&mut self, passing: Option<&Message>, mut take: impl FnMut(&Message)) {
        let Some(dropped) = self.station.dropped.as_mut().filter(|d| !d.is_empty()) else { return };
        for held in dropped.drain(..) {
            if held.slot == NO_SLOT {
                passing.into_iter().for_each(&mut take);
            } else {
                take(&self.messages[held.slot as usize]);
                self.free.push(held.slot);
            }
        }
    }

    /// The link is free: the next packet's service starts. What is returned is on its way to the far end.
    pub fn serve(&mut self, now: Time) -> Option<Message> {
        self.is_announced = false;
        self.station.advance(now);
        let served = self.station.dequeue(now).map(|packet| {
            let mut message = self.messages[packet.payload.slot as usize];
            self.free.push(packet.payload.slot);
            self.send(now, &packet, &mut message);
            message
        });
        self.note_due(self.station.discipline.backlog().packets);
        served
    }

    /// The service of a packet starts.
    #[inline]
    fn send(&mut self, now: Time, packet: &Packet<Held>, message: &mut Message) {
        let end = now + self.station.serializer.transmit(packet.meta.bytes);
        self.station.serve(now, end, packet);
        message.rewrite(packet.meta.header);
        // Not before those on the wire, also when the delay has become shorter.
        self.last_arrival = self.last_arrival.max(end + self.station.delay);
        (message.time, message.cause, message.source) = (self.last_arrival, now, self.station.id);
    }

    #[inline]
    fn put(&mut self, message: &Message) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.messages[slot as usize] = *message;
            return slot;
        }
        self.messages.push(*message);
        self.messages.len() as u32 - 1
    }

    /// Brings the station to the end of the run.
    pub fn finish(&mut self, end: Time) {
        self.settle(Key::start_of(end));
        self.station.finish(end);
    }
}
