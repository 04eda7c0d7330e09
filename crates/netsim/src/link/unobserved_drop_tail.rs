//! A drop-tail link that is not observed: it keeps no queue of packets, only the time at which the link becomes free.

use std::collections::VecDeque;

use aqmlab_aqm::Backlog;
use aqmlab_units::{Rate, Span, Time, prefetch};

use crate::key::Key;
use crate::link_stats::{Drops, LinkCounters};
use crate::message::Message;
use crate::paths::Paths;
use crate::plan::LinkId;

/// A drop-tail link of constant rate and delay whose departures follow from the time at which the link becomes free.
///
/// A packet that finds the link free and has the length of the one before costs a few additions, in one cache line. All else is
/// allocated when it is needed: on most links no packet ever waits.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct UnobservedDropTail {
    /// Time from which the link is free.
    free_at: Time,
    /// Before this time an arrival need not look at waiting packets and the end of the warm-up: that end, then `NEVER`; `ZERO` while
    /// packets wait.
    short_until: Time,
    delay: Span,
    rate: Rate,
    /// Transmission time and length of the last packet accepted.
    transmission: Span,
    bytes: u32,
    /// Packets accepted of this length, since the length changed.
    count: u32,
    /// Maximum number of waiting packets, at least 1.
    limit: u32,
    has_waiters: bool,
    cold: Option<Box<Cold>>,
}

/// Fields that most arrivals do not need, most of them for waiting packets.
///
/// Delays and areas are added when a packet arrives, as if the run lasted until its service starts. At the end of the warm-up
/// and of the run they are corrected for the packets that still wait.
#[derive(Clone, Debug)]
#[repr(C)]
struct Cold {
    /// Packets that wait, in order, and their number and bytes.
    runs: VecDeque<Run>,
    packets: u32,
    /// Largest number that waited.
    max_queue: u32,
    bytes: u64,
    /// While packets wait: start of the service in progress, and end of the warm-up; `NEVER` once that is over.
    serving_since: Time,
    warmup_end: Time,
    /// The length before the last one, and its transmission time: nearly all packets of a link have one of two.
    before: (u32, Span),
    /// [`LinkCounters::delay`], [`LinkCounters::queue_area`] and [`LinkCounters::byte_area`].
    delay: u128,
    queue_area: u128,
    byte_area: u128,
    /// Packets accepted, their bytes and transmission time, without those of [`UnobservedDropTail::count`].
    accepted: u64,
    accepted_bytes: u64,
    busy: u64,
    rare: Option<Box<Rare>>,
}

/// Fields that few links need: a backlog at the end of the warm-up, and losses since then.
#[derive(Clone, Debug, Default)]
struct Rare {
    carried_over: Backlog,
    lost: u64,
    lost_bytes: u64,
    drops: Drops,
}

/// Packets of one length that arrived one after the other at one time, as those of a window do: their services follow each other.
#[derive(Clone, Copy, Debug)]
struct Run {
    arrival: Time,
    /// When the service of the first one starts, and how long each takes.
    starts: Time,
    transmission: Span,
    bytes: u32,
    packets: u32,
}

impl Run {
    /// The sum of the times from `from` until the service of each starts; that is not before `from`.
    fn waits(&self, from: Time) -> u128 {
        let packets = u128::from(self.packets);
        let first = u128::from(self.starts.since(from).0);
        packets * first + packets * (packets - 1) / 2 * u128::from(self.transmission.0)
    }
}

impl Default for Cold {
    fn default() -> Self {
        Self {
            runs: VecDeque::new(),
            packets: 0,
            max_queue: 0,
            bytes: 0,
            serving_since: Time::ZERO,
            warmup_end: Time::NEVER,
            before: (0, Span::ZERO),
            delay: 0,
            queue_area: 0,
            byte_area: 0,
            accepted: 0,
            accepted_bytes: 0,
            busy: 0,
            rare: None,
        }
    }
}

impl Cold {
    fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets, bytes: self.bytes }
    }

    /// Add a waiting packet of `bytes`, whose service starts at `starts` and takes `transmission`.
    #[inline]
    fn push(&mut self, arrival: Time, starts: Time, (bytes, transmission): (u32, Span)) {
        let wait = u128::from(starts.since(arrival).0);
        self.delay += wait;
        self.queue_area += wait;
        self.byte_area += wait * u128::from(bytes);
        self.packets += 1;
        self.bytes += u64::from(bytes);
        self.max_queue = self.max_queue.max(self.packets);
        match self.runs.back_mut() {
            Some(last) if (last.arrival, last.bytes) == (arrival, bytes) => last.packets += 1,
            _ => {
                if self.runs.len() == self.runs.capacity() {
                    // There is mostly one.
                    self.runs.reserve_exact(self.runs.len().max(1));
                }
                self.runs.push_back(Run { arrival, starts, transmission, bytes, packets: 1 });
            }
        }
    }

    /// Account for the services of link `id` that start before `key`.
    #[inline(always)]
    fn release(&mut self, id: LinkId, key: Key) {
        while let Some(run) = self.runs.front_mut()
            && (Key { time: run.starts, cause: self.serving_since, source: id }) < key
        {
            self.serving_since = run.starts;
            self.packets -= 1;
            self.bytes -= u64::from(run.bytes);
            run.packets -= 1;
            run.starts += run.transmission;
            if run.packets == 0 {
                self.runs.pop_front();
            }
        }
    }

    /// Account for the services of all that wait, of which the last one has started.
    #[inline(always)]
    fn release_all(&mut self) {
        (self.packets, self.bytes) = (0, 0);
        self.runs.clear();
    }

    /// Reset the statistics at the end of the warm-up; of waiting packets, only the time after it counts.
    fn reset_stats(&mut self, warmup: Time) {
        let carried_over = self.backlog();
        self.rare = (carried_over.packets > 0).then(|| Box::new(Rare { carried_over, ..Rare::default() }));
        self.max_queue = carried_over.packets;
        (self.delay, self.queue_area, self.byte_area) = (0, 0, 0);
        for run in &self.runs {
            let to_come = run.waits(warmup);
            self.delay += run.waits(run.arrival);
            self.queue_area += to_come;
            self.byte_area += to_come * u128::from(run.bytes);
        }
    }

    /// Correct the statistics at the end of the run for packets that still wait.
    fn finish(&mut self, end: Time) {
        for run in &self.runs {
            let beyond = run.waits(end);
            self.delay -= run.waits(run.arrival);
            self.queue_area -= beyond;
            self.byte_area -= beyond * u128::from(run.bytes);
        }
    }
}

impl UnobservedDropTail {
    /// Create a link of constant rate and delay where up to `limit` packets may wait; `limit` is at least 1.
    pub fn new(warmup: Span, rate: Rate, delay: Span, limit: u32) -> Self {
        Self {
            free_at: Time::ZERO,
            short_until: Time::ZERO + warmup,
            delay,
            rate,
            transmission: Span::ZERO,
            bytes: 0,
            count: 0,
            limit,
            has_waiters: false,
            cold: None,
        }
    }

    /// Handle a packet that arrives at this link, number `id`. Return whether it is accepted; its key is then that of its arrival at the
    /// far end.
    #[inline(always)]
    pub fn arrive(&mut self, id: LinkId, paths: &Paths, message: &mut Message) -> bool {
        let now = message.time;
        if self.free_at < now && now < self.short_until && message.bytes == self.bytes {
            self.serve_at_once(id, message);
            return true;
        }
        self.arrive_any(id, paths, message)
    }

    /// Ask for what an arrival needs of packets that wait, if some do: a field in each cache line.
    #[inline(always)]
    pub fn prefetch_waiting(&self) {
        if self.has_waiters
            && let Some(cold) = &self.cold
        {
            prefetch(&cold.runs);
            prefetch(&cold.serving_since);
            prefetch(&cold.byte_area);
        }
    }

    /// Start the service of a packet of the length at hand at once.
    #[inline(always)]
    fn serve_at_once(&mut self, id: LinkId, message: &mut Message) {
        self.count_accepted();
        self.free_at = message.time + self.transmission;
        (message.time, message.cause, message.source) = (self.free_at + self.delay, message.time, id);
    }

    #[inline(always)]
    fn count_accepted(&mut self) {
        self.count += 1;
        if self.count == u32::MAX {
            self.sum_up();
        }
    }

    /// Handle an arrival that may find other packets.
    #[inline(never)]
    fn arrive_any(&mut self, id: LinkId, paths: &Paths, message: &mut Message) -> bool {
        self.advance(id, message.time);
        self.release(id, message.key());
        if self.has_waiters {
            return self.wait(id, paths, message);
        }
        let end = Key { time: self.free_at, cause: self.last_start(), source: id };
        if self.free_at == Time::ZERO || end < message.key() {
            self.set_length(message.bytes);
            self.serve_at_once(id, message);
            return true;
        }
        let (serving_since, warmup_end) = (self.last_start(), self.short_until);
        let cold = self.cold_mut();
        (cold.serving_since, cold.warmup_end) = (serving_since, warmup_end);
        (self.has_waiters, self.short_until) = (true, Time::ZERO);
        self.wait(id, paths, message)
    }

    /// Let a packet wait, if there is room. Return whether there is.
    #[inline(always)]
    fn wait(&mut self, id: LinkId, paths: &Paths, message: &mut Message) -> bool {
        let bytes = message.bytes;
        if self.cold_mut().packets >= self.limit {
            let rare = self.cold_mut().rare.get_or_insert_default();
            rare.lost += 1;
            rare.lost_bytes += u64::from(bytes);
            rare.drops.count(&paths.meta(message));
            return false;
        }
        let starts = self.free_at;
        self.set_length(bytes);
        self.count_accepted();
        self.free_at = starts + self.transmission;
        let length = (bytes, self.transmission);
        self.cold_mut().push(message.time, starts, length);
        (message.time, message.cause, message.source) = (self.free_at + self.delay, starts, id);
        true
    }

    /// Start of the last service, if nothing waits.
    #[inline(always)]
    fn last_start(&self) -> Time {
        Time(self.free_at.0 - self.transmission.0)
    }

    #[inline(always)]
    fn cold_mut(&mut self) -> &mut Cold {
        self.cold.get_or_insert_default()
    }

    /// Make this the length at hand.
    #[inline(always)]
    fn set_length(&mut self, bytes: u32) {
        if bytes != self.bytes {
            self.change_length(bytes);
        }
    }

    #[inline(never)]
    fn change_length(&mut self, bytes: u32) {
        let last = (self.bytes, self.transmission);
        let before = if self.count == 0 && self.cold.is_none() {
            (0, Span::ZERO)
        } else {
            self.sum_up();
            core::mem::replace(&mut self.cold_mut().before, last)
        };
        self.bytes = bytes;
        self.transmission = if before.0 == bytes { before.1 } else { self.rate.time_of(u64::from(bytes)) };
    }

    /// Add the count of packets of the current length to the sums.
    fn sum_up(&mut self) {
        let cold = self.cold.get_or_insert_default();
        let count = u64::from(core::mem::take(&mut self.count));
        cold.accepted += count;
        cold.accepted_bytes += count * u64::from(self.bytes);
        cold.busy += count * self.transmission.0;
    }

    /// Account for the services that start before `key`.
    #[inline(always)]
    fn release(&mut self, id: LinkId, key: Key) {
        if !self.has_waiters {
            return;
        }
        // No tie is left then.
        let has_last_started = self.last_start() < key.time;
        let cold = self.cold_mut();
        if has_last_started {
            cold.release_all();
        } else {
            cold.release(id, key);
        }
        if cold.packets == 0 {
            self.short_until = cold.warmup_end;
            self.has_waiters = false;
        }
    }

    /// The end of the warm-up; `NEVER` once it is over.
    #[inline(always)]
    fn warmup_end(&mut self) -> &mut Time {
        if self.has_waiters { &mut self.cold_mut().warmup_end } else { &mut self.short_until }
    }

    /// Advance to `now`; at the end of the warm-up, reset the statistics.
    #[inline(always)]
    fn advance(&mut self, id: LinkId, now: Time) {
        if now >= *self.warmup_end() {
            self.reset_stats(id);
        }
    }

    #[cold]
    fn reset_stats(&mut self, id: LinkId) {
        let warmup = core::mem::replace(self.warmup_end(), Time::NEVER);
        self.release(id, Key::start_of(warmup));
        self.count = 0;
        let busy = self.free_at.since(warmup).0;
        if busy > 0 {
            self.cold.get_or_insert_default();
        }
        if let Some(cold) = &mut self.cold {
            (cold.accepted, cold.accepted_bytes, cold.busy) = (0, 0, busy);
            cold.reset_stats(warmup);
        }
    }

    /// Advance the station to the end of the run.
    pub fn finish(&mut self, id: LinkId, end: Time) {
        self.advance(id, end);
        self.release(id, Key::start_of(end));
        // Transmissions after the end do not count.
        let after_end = self.free_at.since(end).0;
        if after_end > 0 {
            self.sum_up();
        }
        if let Some(cold) = &mut self.cold {
            cold.busy -= after_end;
            cold.finish(end);
        }
    }

    /// Return the packets and bytes waiting.
    pub fn backlog(&self) -> Backlog {
        self.cold.as_ref().map_or_else(Backlog::default, |cold| cold.backlog())
    }

    /// Return the counters over the measured part of the run.
    pub fn counters(&self) -> LinkCounters {
        let count = u64::from(self.count);
        let (mut accepted, mut accepted_bytes) = (count, count * u64::from(self.bytes));
        let mut busy = count * self.transmission.0;
        let Some(cold) = &self.cold else {
            return LinkCounters {
                arrivals: accepted,
                arrived_bytes: accepted_bytes,
                departures: accepted,
                departed_bytes: accepted_bytes,
                busy,
                ..LinkCounters::default()
            };
        };
        accepted += cold.accepted;
        accepted_bytes += cold.accepted_bytes;
        busy += cold.busy;
        let (lost, lost_bytes) = cold.rare.as_ref().map_or((0, 0), |rare| (rare.lost, rare.lost_bytes));
        let carried_over = cold.rare.as_ref().map(|rare| rare.carried_over).unwrap_or_default();
        LinkCounters {
            arrivals: accepted + lost,
            arrived_bytes: accepted_bytes + lost_bytes,
            departures: accepted + u64::from(carried_over.packets) - u64::from(cold.packets),
            departed_bytes: accepted_bytes + carried_over.bytes - cold.bytes,
            drops_overflow: lost,
            max_queue: cold.max_queue,
            delay: cold.delay,
            queue_area: cold.queue_area,
            byte_area: cold.byte_area,
            busy,
            ..LinkCounters::default()
        }
    }

    /// Return the drops by flow and distance, if there were any.
    pub fn drops(&self) -> Option<&Drops> {
        self.cold.as_ref()?.rare.as_ref().map(|rare| &rare.drops)
    }
}

#[cfg(test)]
mod tests {
    use core::mem::offset_of;

    use aqmlab_units::are_in_successive_lines;

    use super::Cold;

    #[test]
    fn each_cache_line_of_what_waits_is_asked_for() {
        let fields = [0, offset_of!(Cold, serving_since), offset_of!(Cold, byte_area)];
        assert!(are_in_successive_lines(&fields), "{fields:?}");
    }
}
