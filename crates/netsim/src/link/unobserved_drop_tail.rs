//! A first-in first-out link that nobody looks at more closely: no queue of packets, only the line's clock.

use std::collections::VecDeque;

use aqmlab_aqm::Backlog;
use aqmlab_units::{Serializer, Span, Time};

use crate::key::Key;
use crate::link_stats::{Drops, LinkCounters};
use crate::message::Message;
use crate::paths::Paths;
use crate::plan::{LinkId, Plan};

/// A link behind drop-tail: when a packet leaves follows from when the line gets free.
///
/// What finds the line free passes it in a few additions; all else is kept aside, since on most links nothing waits ever.
#[derive(Clone, Debug)]
pub(crate) struct UnobservedDropTail {
    id: LinkId,
    /// How many packets may wait, at least 1; and how many do.
    limit: u32,
    waiters: u32,
    /// The line is free from then on.
    free_at: Time,
    /// Start of the last service.
    serving_since: Time,
    /// The end of the warm-up, while that is to come.
    warmup_end: Time,
    delay: Span,
    serializer: Serializer,
    /// Packets offered, their bytes, and the transmission time of those accepted.
    arrivals: u64,
    arrived_bytes: u64,
    busy: u64,
    waiting: Option<Box<Waiting>>,
}

/// What has waited at a lane, and what waits.
///
/// Delay and areas are booked when a packet arrives, as if the run went on until its service starts. At the end of the
/// warm-up and of the run those that still wait are looked at again.
#[derive(Clone, Debug)]
struct Waiting {
    /// Packets that wait, in order.
    packets: VecDeque<Waiter>,
    bytes: u64,
    /// What waited at the end of the warm-up.
    carried_over: Backlog,
    counters: LinkCounters,
    dropped_bytes: u64,
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
            carried_over: Backlog::default(),
            counters: LinkCounters::default(),
            dropped_bytes: 0,
            drops: Drops::default(),
        }
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u32, bytes: self.bytes }
    }

    /// A packet waits.
    #[inline]
    fn push(&mut self, packet: Waiter) {
        let wait = u128::from(packet.starts.since(packet.arrival).0);
        self.counters.delay += wait;
        self.counters.queue_area += wait;
        self.counters.byte_area += wait * u128::from(packet.bytes);
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
        self.counters.max_queue = self.counters.max_queue.max(self.packets.len() as u32);
    }

    /// The warm-up is over: counts anew, of what waits only what is to come.
    fn reset_stats(&mut self, warmup: Time) {
        self.carried_over = self.backlog();
        self.counters = LinkCounters { max_queue: self.carried_over.packets, ..LinkCounters::default() };
        for packet in &self.packets {
            let to_come = u128::from(packet.starts.since(warmup).0);
            self.counters.delay += u128::from(packet.starts.since(packet.arrival).0);
            self.counters.queue_area += to_come;
            self.counters.byte_area += to_come * u128::from(packet.bytes);
        }
        self.dropped_bytes = 0;
        self.drops = Drops::default();
    }

    /// The run is over: what waits has not left.
    fn finish(&mut self, end: Time) {
        for packet in &self.packets {
            let beyond = u128::from(packet.starts.since(end).0);
            self.counters.delay -= u128::from(packet.starts.since(packet.arrival).0);
            self.counters.queue_area -= beyond;
            self.counters.byte_area -= beyond * u128::from(packet.bytes);
        }
    }
}

impl UnobservedDropTail {
    /// A lane where up to `limit` packets wait, at least 1.
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

    /// A packet arrives at the queue. Whether it goes on: then its key is that of its arrival at the far end.
    #[inline]
    pub fn arrive(&mut self, paths: &Paths, message: &mut Message) -> bool {
        let now = message.time;
        // A line that is free, with nothing waiting whose start is not in the books.
        if self.free_at < now && now < self.warmup_end && self.waiters == 0 {
            self.arrivals += 1;
            self.arrived_bytes += u64::from(message.bytes);
            self.serve_at_once(message);
            return true;
        }
        self.queue(paths, message)
    }

    /// Service starts at once.
    #[inline]
    fn serve_at_once(&mut self, message: &mut Message) {
        let transmission = self.serializer.transmit(message.bytes);
        self.busy += transmission.0;
        self.serving_since = message.time;
        self.free_at = message.time + transmission;
        (message.time, message.cause, message.source) = (self.free_at + self.delay, message.time, self.id);
    }

    /// An arrival that may find others.
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
            waiting.counters.drops_overflow += 1;
            waiting.dropped_bytes += u64::from(bytes);
            waiting.drops.count(&paths.meta(message));
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

    /// Services that start before `key`.
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

    /// At the end of the warm-up all counts start anew.
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

    /// Brings the station to the end of the run.
    pub fn finish(&mut self, end: Time) {
        self.advance(end);
        self.release(Key::start_of(end));
        // What would be transmitted beyond the end.
        self.busy -= self.free_at.since(end).0;
        if let Some(waiting) = &mut self.waiting {
            waiting.finish(end);
        }
    }

    /// What waits.
    pub fn backlog(&self) -> Backlog {
        self.waiting.as_ref().map_or_else(Backlog::default, |w| w.backlog())
    }

    /// What was counted over the measured part of the run.
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
        let Some(Waiting { counters, carried_over, dropped_bytes, .. }) = self.waiting.as_deref() else {
            return passed;
        };
        let Backlog { packets, bytes } = self.backlog();
        LinkCounters {
            departures: arrivals + u64::from(carried_over.packets) - u64::from(packets) - counters.drops(),
            departed_bytes: arrived_bytes + carried_over.bytes - bytes - dropped_bytes,
            drops_overflow: counters.drops_overflow,
            max_queue: counters.max_queue,
            delay: counters.delay,
            queue_area: counters.queue_area,
            byte_area: counters.byte_area,
            ..passed
        }
    }

    /// Who lost packets.
    pub fn drops(&self) -> Option<&Drops> {
        self.waiting.as_ref().map(|w| &w.drops)
    }
}
