//! What a link is with a discipline of its own before it.

use std::collections::VecDeque;

use aqmlab_aqm::{Dequeue, Discipline, Header, Packet, Qdisc};
use aqmlab_units::{Serializer, Span, Stream, Time};

use crate::attached::Attached;
use crate::link_stats::{Fate, LinkHost, LinkStats, Numbered};
use crate::marker::Markers;
use crate::observe::Observation;
use crate::plan::{self, Change, LinkId};

/// Discipline, books and clock of a link; `P` is what the queue holds of a packet besides its header.
#[derive(Clone, Debug)]
pub(crate) struct Station<P> {
    pub id: LinkId,
    pub delay: Span,
    pub serializer: Serializer,
    pub discipline: Discipline<P>,
    rng: Stream,
    /// Start and end of the service in progress.
    pub service: Option<(Time, Time)>,
    /// Handed over by the discipline at the last call, where what it accepts may be dropped later.
    pub dropped: Option<Vec<P>>,
    markers: Option<Box<Markers>>,
    /// Changes to come.
    changes: VecDeque<Change>,
    pub stats: LinkStats,
    /// The next time at which something is to be looked at: the end of the warm-up, a sample, a change, a timer.
    next_event: Time,
    warmup: Time,
}

impl<P: Copy + Numbered> Station<P> {
    pub fn new(id: LinkId, plan: &Attached<'_>, seed: u64, keeps: bool) -> Self {
        let link = &plan.links[id as usize];
        let observed = plan.is_observed(id);
        let mut station = Self {
            id,
            delay: link.delay,
            serializer: Serializer::new(link.rate),
            discipline: link.queue.build(),
            rng: Stream::new(seed, &format!("link {}", link.name)),
            service: None,
            dropped: keeps.then(Vec::new),
            markers: Markers::of(plan.markers(id), plan, seed),
            changes: plan.changes(id).iter().cloned().collect(),
            stats: LinkStats::new(observed.then(|| Observation::new(&plan.probe))),
            next_event: Time::ZERO,
            warmup: Time::ZERO + plan.warmup,
        };
        station.next_event = station.next_event(None);
        station
    }

    pub fn markers(&self) -> Option<&Markers> {
        self.markers.as_deref()
    }

    /// Offers a packet to the discipline; also its header, which may have been marked by a marker.
    #[inline(always)]
    pub fn admit(&mut self, now: Time, mut packet: Packet<P>) -> (Fate, Header) {
        self.offered(now, &mut packet);
        let header = packet.meta.header;
        let mut host = LinkHost::new(&mut self.rng, &mut self.stats, now, self.dropped.as_mut());
        self.discipline.enqueue(now, packet, &mut host);
        let fate = host.fate;
        self.judged();
        (fate, header)
    }

    /// Offers a packet to the discipline while the link is free. Whether it may be served at once, as it then is.
    #[inline(always)]
    pub fn enqueue_dequeue(&mut self, now: Time, packet: &mut Packet<P>) -> bool {
        self.offered(now, packet);
        let mut host = LinkHost::new(&mut self.rng, &mut self.stats, now, self.dropped.as_mut());
        let passes = self.discipline.enqueue_dequeue(now, packet, &mut host);
        self.judged();
        passes
    }

    #[inline(always)]
    fn offered(&mut self, now: Time, packet: &mut Packet<P>) {
        if let Some(markers) = &mut self.markers {
            markers.mark(now, packet.payload.marked_as(&packet.meta), &mut packet.meta);
        }
        self.stats.arrived(now, packet);
    }

    #[inline(always)]
    fn judged(&mut self) {
        if let Some(observation) = &mut self.stats.observation {
            observation.saw_average(self.discipline.average());
        }
        self.mind_timer();
    }

    /// The longest queue so far, after an arrival that found the link busy.
    #[inline]
    pub fn measure(&mut self) {
        let counters = &mut self.stats.counters;
        counters.max_queue = counters.max_queue.max(self.discipline.backlog().packets);
    }

    /// The link is free: takes the next packet for service, if there is one.
    #[inline(always)]
    pub fn dequeue(&mut self, now: Time) -> Option<Packet<P>> {
        let mut host = LinkHost::new(&mut self.rng, &mut self.stats, now, self.dropped.as_mut());
        let next = if self.discipline.backlog().packets == 0 {
            self.discipline.on_idle(now, &mut host);
            Dequeue::Empty
        } else {
            self.discipline.dequeue(now, &mut host)
        };
        self.mind_timer();
        match next {
            Dequeue::Packet(packet) => Some(packet),
            Dequeue::Empty | Dequeue::NotBefore(_) => {
                self.service = None;
                None
            }
        }
    }

    /// The service of a packet starts.
    #[inline(always)]
    pub fn serve(&mut self, now: Time, end: Time, packet: &Packet<P>) {
        self.service = Some((now, end));
        self.stats.departed(now, packet, end.since(now));
    }

    /// Looks at what is due before anything happens at `now`.
    #[inline]
    pub fn advance(&mut self, now: Time) {
        while self.next_event <= now {
            self.handle_events(self.next_event);
        }
    }

    #[cold]
    fn handle_events(&mut self, at: Time) {
        if at == self.warmup {
            self.reset_stats(at);
        }
        if let Some(observation) = &mut self.stats.observation {
            observation.sample(at, &self.discipline);
        }
        self.change(at);
        if self.discipline.next_timer().is_some_and(|t| t <= at) {
            self.on_timer(at);
        }
        self.next_event = self.next_event(Some(at));
    }

    /// Changes that are due. The packet in service has left already with the rate and the delay that it began with.
    fn change(&mut self, now: Time) {
        while self.changes.front().is_some_and(|c| c.at <= now)
            && let Some(change) = self.changes.pop_front()
        {
            if let Some(rate) = change.rate {
                self.serializer = Serializer::new(rate);
            }
            self.delay = change.delay.unwrap_or(self.delay);
        }
    }

    /// The discipline wanted to be called now.
    fn on_timer(&mut self, now: Time) {
        let mut host = LinkHost::new(&mut self.rng, &mut self.stats, now, self.dropped.as_mut());
        self.discipline.on_timer(now, &mut host);
        debug_assert!(self.discipline.next_timer().is_none_or(|t| t > now), "a timer that never ends");
    }

    /// The discipline may want to be called earlier than before.
    #[inline]
    pub fn mind_timer(&mut self) {
        if let Some(timer) = self.discipline.next_timer() {
            self.next_event = self.next_event.min(timer);
        }
    }

    /// Rate, delay and changes to come are others from now on.
    pub fn renew(&mut self, now: Time, link: &plan::Link, changes: VecDeque<Change>) {
        self.serializer = Serializer::new(link.rate);
        self.delay = link.delay;
        self.changes = changes;
        self.next_event = self.next_event(Some(now));
    }

    /// When to look next: at the end of the warm-up, at samples, changes and timers.
    fn next_event(&self, at: Option<Time>) -> Time {
        let warmup = if at.is_none_or(|t| t < self.warmup) { self.warmup } else { Time::NEVER };
        let sample = self.stats.observation.as_ref().map_or(Time::NEVER, |o| o.sample_after(at));
        let change = self.changes.front().map_or(Time::NEVER, |c| c.at);
        let timer = self.discipline.next_timer().unwrap_or(Time::NEVER);
        warmup.min(sample).min(change).min(timer)
    }

    /// The warm-up is over: counts anew.
    fn reset_stats(&mut self, now: Time) {
        let service = self.service.map_or(Span::ZERO, |(_, end)| end.since(now));
        self.stats.reset_stats(now, self.discipline.backlog(), service);
        if let Some(markers) = &mut self.markers {
            markers.reset_stats();
        }
    }

    /// Brings the books to the end of the run.
    pub fn finish(&mut self, end: Time) {
        self.advance(end);
        self.stats.close(end, self.discipline.backlog());
        if let Some((start, stop)) = self.service {
            // The rest of the service in progress lies beyond the end.
            self.stats.counters.busy -= stop.since(end.max(start)).0;
        }
    }
}
