//! A link whose departures are not known at arrivals: its discipline may take back what it has accepted, it flushes, or has a very long
//! backlog.

use aqmlab_aqm::{Packet, Qdisc};
use aqmlab_units::Time;

use super::station::Station;
use crate::attached::Attached;
use crate::key::Key;
use crate::message::{Message, Rest};
use crate::paths::Paths;
use crate::plan::LinkId;

/// A link where what leaves is known only when the link is free: ends of service are events, while something waits.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    pub(super) station: Station<Rest>,
    /// When the service in progress ends, if something waits for it.
    due: Time,
    /// The engine knows of the end of the service in progress.
    is_announced: bool,
}

impl Queue {
    /// Create the station of a link. With `shortcuts`, a packet may pass without being stored where that is exact.
    pub fn new(id: LinkId, plan: &Attached<'_>, seed: u64, shortcuts: bool) -> Self {
        let mut station = Station::new(id, plan, seed, plan.links[id as usize].queue.build(), true);
        station.only_counts &= shortcuts;
        Self { station, due: Time::NEVER, is_announced: false }
    }

    /// Handle an arriving packet. Return whether it is transmitted at once; it is then as [`Queue::serve`] gives it.
    #[inline(always)]
    pub fn arrive(&mut self, paths: &Paths, message: &mut Message) -> bool {
        let now = message.time;
        // While nothing waits, the end of the last service is no event; the link is idle from then on.
        if self.due == Time::NEVER {
            let idle_since = self.end().unwrap_or_else(|| Key::start_of(Time::ZERO));
            if idle_since.precedes(message.key()) {
                let mut meta = paths.meta(message);
                if self.station.passes_below_min_th(now, idle_since.time, &mut meta) {
                    self.is_announced = false;
                    message.rewrite(meta.header);
                    let end = self.station.service.map_or(now, |(_, end)| end);
                    let arrival = self.station.channel.carry(now, end);
                    (message.time, message.cause, message.source) = (arrival, now, self.station.id);
                    return true;
                }
            }
            self.settle(message.key());
        }
        debug_assert!(
            self.end().is_none_or(|end| !end.precedes(message.key())),
            "an end of service is evaluated before"
        );
        self.advance(now);
        let mut packet = Packet { meta: paths.meta(message), payload: message.rest() };
        if self.station.service.is_none() {
            let passes = self.station.enqueue_dequeue(now, &mut packet);
            if passes {
                *message = self.send(now, &packet);
                return true;
            }
            self.note_due(self.station.discipline.backlog().packets);
            return self.station.turn(paths, &packet, message);
        }
        if !self.station.admit(now, &mut packet) {
            return self.station.turn(paths, &packet, message);
        }
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

    /// Handle the station's own events up to `now`, by which packets that wait may have left.
    #[inline(always)]
    fn advance(&mut self, now: Time) {
        if self.station.advance(now) {
            self.note_due(self.station.discipline.backlog().packets);
        }
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
    #[inline(always)]
    fn settle(&mut self, key: Key) {
        if let Some(end) = self.end()
            && end.precedes(key)
        {
            self.is_announced = false;
            self.station.advance(end.time);
            self.station.become_idle(end.time);
        }
    }

    /// The discipline may have sent the packet that arrived another way. Return whether it takes one; its `message` is then
    /// [`Message::TURNED`].
    #[inline(always)]
    pub fn is_turned(&mut self, paths: &Paths, message: &mut Message) -> bool {
        self.has_dropped() && self.station.turn_redirected(paths, message)
    }

    fn has_dropped(&self) -> bool {
        self.station.dropped.as_ref().is_some_and(|dropped| !dropped.is_empty())
    }

    /// Take the packets that the discipline dropped at the last call, at arrival or at departure.
    #[inline(always)]
    pub fn take_dropped(&mut self, take: impl FnMut(Rest)) {
        if let Some(dropped) = self.station.dropped.as_mut().filter(|dropped| !dropped.is_empty()) {
            dropped.drain(..).for_each(take);
        }
    }

    /// The link is free: start the service of the next packet, if there is one. Return whether there is; `message` is then the packet
    /// on its way to the far end. (An `Option` would be copied.)
    #[inline(always)]
    pub fn serve(&mut self, now: Time, message: &mut Message) -> bool {
        self.is_announced = false;
        self.advance(now);
        if let Some(until) = self.station.wait_for_shaper(now) {
            self.due = until;
            return false;
        }
        if self.due == Time::NEVER && self.station.discipline.backlog().packets == 0 {
            self.station.become_idle(now);
            return false;
        }
        let mut packet = Packet::default();
        if !self.station.dequeue(now, &mut packet) {
            self.note_due(self.station.discipline.backlog().packets);
            return false;
        }
        *message = self.send(now, &packet);
        self.note_due(self.station.discipline.backlog().packets);
        true
    }

    /// Start the service of a packet. Return the packet as it arrives at the far end.
    #[inline(always)]
    fn send(&mut self, now: Time, packet: &Packet<Rest>) -> Message {
        let end = now + self.station.server.serve(Some(packet.meta.arrival), now, packet.meta.bytes);
        self.station.serve(now, end, packet);
        let key = Key { time: self.station.channel.carry(now, end), cause: now, source: self.station.id };
        Message::of_rest(key, &packet.meta, &packet.payload)
    }

    /// Brings the station to the end of the run.
    pub fn finish(&mut self, end: Time) {
        self.settle(Key::start_of(end));
        self.station.finish(end);
    }
}
