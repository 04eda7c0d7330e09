//! A drop-tail link that is not observed: it keeps no queue of packets, only the time at which the link becomes free.

use std::collections::VecDeque;

use aqmlab_aqm::Backlog;
use aqmlab_units::{Serializer, Span, Time};

use crate::key::Key;
use crate::link_stats::{Drops, LinkCounters};
use crate::message::Message;
use crate::paths::Paths;
use crate::plan::{LinkId, Plan};

/// A drop-tail link whose departures follow from the time at which the link becomes free.
///
/// A packet that finds the link free costs a few additions. The state of waiting packets is allocated separately, since on
/// most links no packet ever waits.
#[derive(Clone, Debug)]
pub(crate) struct UnobservedDropTail {
    id: LinkId,
    /// Maximum number of waiting packets, at least 1; and their current number.
    limit: u32,
    waiters: u32,
    /// Time from which the link is free.
    free_at: Time,
    /// Start of the last service.
    serving_since: Time,
    /// End of the warm-up; `NEVER` once it is over.
    warmup_end: Time,
    delay: Span,
    serializer: Serializer,
    /// Packets offered, their bytes, and the transmission time of those accepted.
    arrivals: u64,
    arrived_bytes: u64,
    busy: u64,
    waiting: Option<Box<Waiting>>,
}

/// The waiting packets, and the statistics of all that waited.
///
/// Delays and areas are added when a packet arrives, as if the run lasted until its service starts. At the end of the warm-up
/// and of the run they are corrected for the packets that still wait.
#[derive(Clone, Debug)]
struct Waiting {
    /// Packets that wait, in order.
    packets: VecDeque<Waiter>,
    bytes: u64,
    /// Largest number that waited.
    max_queue: u32,
    /// [`LinkCounters::delay`], [`LinkCounters::queue_area`] and [`LinkCounters::byte_area`].
    delay: u128,
    queue_area: u128,
    byte_area: u128,
    /// Backlog at the end of the warm-up.
    carried_over: Backlog,
    lost: Option<Box<Lost>>,
}

/// What a link has lost, since the end of the warm-up.
#[derive(Clone, Debug, Default)]
struct Lost {
    packets: u64,
    bytes: u64,
    drops: Drops,
}

#[derive(Clone, Copy, Debug)]
struct Waiter {
    arrival: Time,
    starts: Time,
    bytes: u32,
}

impl Waiting {
    fn new() -> Self {
        Self {
            packets: VecDeque::new(),
            bytes: 0,
            max_queue: 0,
            delay: 0,
            queue_area: 0,
            byte_area: 0,
            carried_over: Backlog::default(),
            lost: None,
        }
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u32, bytes: self.bytes }
    }

    /// Add a waiting packet.
    #[inline]
    fn push(&mut self, packet: Waiter) {
        let wait = u128::from(packet.starts.since(packet.arrival).0);
        self.delay += wait;
        self.queue_area += wait;
        self.byte_area += wait * u128::from(packet.bytes);
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
        self.max_queue = self.max_queue.max(self.packets.len() as u32);
    }

    /// Reset the statistics at the end of the warm-up; of waiting packets, only the time after it counts.
    fn reset_stats(&mut self, warmup: Time) {
        self.carried_over = self.backlog();
        self.max_queue = self.carried_over.packets;
        (self.delay, self.queue_area, self.byte_area) = (0, 0, 0);
        for packet in &self.packets {
            let to_come = u128::from(packet.starts.since(warmup).0);
            self.delay += u128::from(packet.starts.since(packet.arrival).0);
            self.queue_area += to_come;
            self.byte_area += to_come * u128::from(packet.bytes);
        }
        self.lost = None;
    }

    /// Correct the statistics at the end of the run for packets that still wait.
    fn finish(&mut self, end: Time) {
        for packet in &self.packets {
            let beyond = u128::from(packet.starts.since(end).0);
            self.delay -= u128::from(packet.starts.since(packet.arrival).0);
            self.queue_area -= beyond;
            self.byte_area -= beyond * u128::from(packet.bytes);
        }
    }
}

impl UnobservedDropTail {
    /// Create a link where up to `limit` packets may wait; `limit` is at least 1.
    pub fn new(id: LinkId, plan: &Plan, limit: u32) -> Self {
        let link = &plan.links[id as usize];
        Self {
            id,
            limit,
            waiters: 0,
            free_at: Time::ZERO,
            serving_since: Time::ZERO,
            warmup_end: Time::ZERO + plan.warmup,
            delay: link.delay,
            serializer: Serializer::new(link.rate),
            arrivals: 0,
            arrived_bytes: 0,
            busy: 0,
            waiting: None,
        }
    }

    /// Handle an arriving packet. Return whether it is accepted; its key is then that of its arrival at the far end.
    #[inline]
    pub fn arrive(&mut self, paths: &Paths, message: &mut Message) -> bool {
        let now = message.time;
        // The link is free, and no waiting packet remains to be accounted for.
        if self.free_at < now && now < self.warmup_end && self.waiters == 0 {
            self.arrivals += 1;
            self.arrived_bytes += u64::from(message.bytes);
            self.serve_at_once(message);
            return true;
        }
        self.queue(paths, message)
    }

    /// Start the service of a packet at once.
    #[inline]
    fn serve_at_once(&mut self, message: &mut Message) {
        let transmission = self.serializer.transmit(message.bytes);
        self.busy += transmission.0;
        self.serving_since = message.time;
        self.free_at = message.time + transmission;
        (message.time, message.cause, message.source) = (self.free_at + self.delay, message.time, self.id);
    }

    /// Handle an arrival that may find other packets.
    fn queue(&mut self, paths: &Paths, message: &mut Message) -> bool {
        let (now, bytes) = (message.time, message.bytes);
        self.advance(now);
        self.release(message.key());
        self.arrivals += 1;
        self.arrived_bytes += u64::from(bytes);
        let end = Key { time: self.free_at, cause: self.serving_since, source: self.id };
        let is_free = self.free_at == Time::ZERO || end < message.key();
        if is_free && self.waiters == 0 {
            self.serve_at_once(message);
            return true;
        }
        let waiting = self.waiting.get_or_insert_with(|| Box::new(Waiting::new()));
        if self.waiters >= self.limit {
            let lost = waiting.lost.get_or_insert_default();
            lost.packets += 1;
            lost.bytes += u64::from(bytes);
            lost.drops.count(&paths.meta(message));
            return false;
        }
        let (starts, transmission) = (self.free_at, self.serializer.transmit(bytes));
        self.waiters += 1;
        self.busy += transmission.0;
        waiting.push(Waiter { arrival: now, starts, bytes });
        self.free_at = starts + transmission;
        (message.time, message.cause, message.source) = (self.free_at + self.delay, starts, self.id);
        true
    }

    /// Account for the services that start before `key`.
    #[inline]
    fn release(&mut self, key: Key) {
        if self.waiters == 0 {
            return;
        }
        let Some(waiting) = &mut self.waiting else { return };
        while let Some(&packet) = waiting.packets.front()
            && (Key { time: packet.starts, cause: self.serving_since, source: self.id }) < key
        {
            waiting.packets.pop_front();
            waiting.bytes -= u64::from(packet.bytes);
            self.waiters -= 1;
            self.serving_since = packet.starts;
        }
    }

    /// Advance to `now`; at the end of the warm-up, reset the statistics.
    #[inline]
    fn advance(&mut self, now: Time) {
        if now >= self.warmup_end {
            self.reset_stats();
        }
    }

    #[cold]
    fn reset_stats(&mut self) {
        let warmup = core::mem::replace(&mut self.warmup_end, Time::NEVER);
        self.release(Key::start_of(warmup));
        (self.arrivals, self.arrived_bytes) = (0, 0);
        self.busy = self.free_at.since(warmup).0;
        if let Some(waiting) = &mut self.waiting {
            waiting.reset_stats(warmup);
        }
    }

    /// Advance the station to the end of the run.
    pub fn finish(&mut self, end: Time) {
        self.advance(end);
        self.release(Key::start_of(end));
        // Transmissions after the end do not count.
        self.busy -= self.free_at.since(end).0;
        if let Some(waiting) = &mut self.waiting {
            waiting.finish(end);
        }
    }

    /// Return the packets and bytes waiting.
    pub fn backlog(&self) -> Backlog {
        self.waiting.as_ref().map_or_else(Backlog::default, |w| w.backlog())
    }

    /// Return the counters over the measured part of the run.
    pub fn counters(&self) -> LinkCounters {
        let Self { arrivals, arrived_bytes, busy, .. } = *self;
        let passed = LinkCounters {
            arrivals,
            arrived_bytes,
            departures: arrivals,
            departed_bytes: arrived_bytes,
            busy,
            ..LinkCounters::default()
        };
        let Some(waiting) = self.waiting.as_deref() else { return passed };
        let Backlog { packets, bytes } = self.backlog();
        let (lost_packets, lost_bytes) =
            waiting.lost.as_ref().map_or((0, 0), |lost| (lost.packets, lost.bytes));
        let carried_over = waiting.carried_over;
        LinkCounters {
            departures: arrivals + u64::from(carried_over.packets) - u64::from(packets) - lost_packets,
            departed_bytes: arrived_bytes + carried_over.bytes - bytes - lost_bytes,
            drops_overflow: lost_packets,
            max_queue: waiting.max_queue,
            delay: waiting.delay,
            queue_area: waiting.queue_area,
            byte_area: waiting.byte_area,
            ..passed
        }
    }

    /// Return the drops by flow and distance, if there were any.
    pub fn drops(&self) -> Option<&Drops> {
        self.waiting.as_ref()?.lost.as_ref().map(|lost| &lost.drops)
    }
}
