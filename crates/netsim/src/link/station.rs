//! A link with its discipline, statistics and clock; shared by all link stations that run a discipline.

use aqmlab_aqm::{Dequeue, Discipline, DropReason, Host, Meta, Packet, Qdisc, TinStats, Verdict};
use aqmlab_units::{Span, Stream, Time};

use super::channel::CutPlace;
use super::outage::{CUT, DOWN, FLUSHED, Outages};
use super::{Serving, Wire};
use crate::attached::Attached;
use crate::link_stats::{LinkCounters, LinkHost, LinkStats, Numbered};
use crate::marker::{Markers, POLICED};
use crate::message::Message;
use crate::observe::Observation;
use crate::paths::{PING_DELAY, Paths, brings_delay};
use crate::plan::LinkId;
use crate::sink::MICROSECOND;

/// Discipline, statistics and clock of a link; `P` is the part of a queued packet that is not in its header, `Q` the type of the
/// discipline.
#[derive(Clone, Debug)]
pub(crate) struct Station<P, Q = Discipline<P>> {
    pub id: LinkId,
    pub server: Serving,
    pub channel: Wire,
    pub discipline: Q,
    /// The discipline may have a timer.
    is_timed: bool,
    rng: Stream,
    /// Start and end of the service in progress, or of a pause by the discipline's shaper.
    pub service: Option<(Time, Time)>,
    /// The end of the last such time.
    held_until: Time,
    /// Packets dropped in the last call; recorded if the discipline may drop packets after accepting them.
    pub dropped: Option<Vec<P>>,
    entrance: Option<Box<Entrance>>,
    /// When the last packet arrived that takes a detour.
    pub turned_at: Time,
    /// Packets leave no trace besides counts: none is logged or gets a code point.
    pub only_counts: bool,
    pub stats: LinkStats,
    /// Time of the next own event: the end of the warm-up, a sample or a timer.
    next_event: Time,
    warmup: Time,
}

/// What packets pass before the queue of some links.
#[derive(Clone, Debug)]
struct Entrance {
    markers: Option<Markers>,
    outages: Outages,
    /// Answers of pings come, which bring delays.
    is_measured: bool,
    /// The last packet found the link down.
    is_down: bool,
}

impl Entrance {
    fn new(id: LinkId, plan: &Attached<'_>, seed: u64) -> Option<Box<Self>> {
        let (markers, outages) =
            (Markers::of(plan.markers(id), plan, seed), &plan.links[id as usize].line.outages);
        let is_measured = plan.is_measured(id);
        let is_needed = markers.is_some() || is_measured || !outages.is_empty();
        let outages = is_needed.then(|| Outages::new(outages))?;
        Some(Box::new(Self { markers, outages, is_measured, is_down: false }))
    }

    /// Mark a packet. Return whether it does not come to the queue.
    fn refuses(&mut self, now: Time, flow: usize, meta: &mut Meta) -> bool {
        if self.is_measured && brings_delay(meta.flow) {
            self.is_down = false;
            return true;
        }
        self.is_down = self.outages.is_down(now);
        self.is_down || self.markers.as_mut().is_some_and(|markers| markers.mark(now, flow, meta))
    }
}

impl<P: Numbered, Q: Qdisc<P>> Station<P, Q> {
    /// Create the station of a link with its discipline, which `keeps` its packets, or decides about those that the caller keeps.
    pub fn new(id: LinkId, plan: &Attached<'_>, seed: u64, discipline: Q, keeps: bool) -> Self {
        let link = &plan.links[id as usize];
        let observed = plan.is_observed(id);
        let mut observation = observed.then(|| Observation::new(&plan.probe));
        if let Some(observation) = &mut observation {
            observation.attach(&discipline);
        }
        let mut station = Self {
            id,
            server: link.line.server.start(seed, &link.name),
            channel: Wire::new(&link.line.channel, seed, &link.name),
            is_timed: discipline.is_timed(),
            discipline,
            rng: Stream::new(seed, &format!("link {}", link.name)),
            service: None,
            held_until: Time::ZERO,
            dropped: keeps.then(Vec::new),
            entrance: Entrance::new(id, plan, seed),
            turned_at: Time::NEVER,
            only_counts: plan.only_counts(id),
            stats: LinkStats::new(observation, plan.hosts(id)),
            next_event: Time::ZERO,
            warmup: Time::ZERO + plan.warmup,
        };
        station.stats.drops.channel = link.line.channel.is_impaired().then(Default::default);
        station.next_event = station.next_event(None);
        station
    }

    pub fn markers(&self) -> Option<&Markers> {
        self.entrance.as_ref()?.markers.as_ref()
    }

    /// Enqueue a packet. Return whether it comes to the queue.
    #[inline(always)]
    pub fn admit(&mut self, now: Time, packet: &mut Packet<P>) -> bool {
        if self.offered(now, packet) {
            return false;
        }
        let mut host = LinkHost::new(&mut self.rng, &mut self.stats, now, self.dropped.as_mut());
        self.discipline.enqueue_from(now, packet, &mut host);
        self.after_decision(now);
        true
    }

    /// Enqueue a packet while the link is free, and dequeue at once. Return whether there is a packet to transmit; it is then in
    /// `packet`.
    #[inline(always)]
    pub fn enqueue_dequeue(&mut self, now: Time, packet: &mut Packet<P>) -> bool {
        if self.offered(now, packet) {
            return false;
        }
        let mut host = LinkHost::new(&mut self.rng, &mut self.stats, now, self.dropped.as_mut());
        let passes = self.discipline.enqueue_dequeue(now, packet, &mut host);
        self.after_decision(now);
        if !passes {
            self.hold(now);
        }
        passes
    }

    /// Return the discipline, and the host of a call that drops nothing.
    #[inline(always)]
    pub fn discipline_and_host(&mut self, now: Time) -> (&mut Q, LinkHost<'_, P>) {
        (&mut self.discipline, LinkHost::new(&mut self.rng, &mut self.stats, now, None))
    }

    /// Mark or drop the packet that arrives. Return whether it is accepted.
    #[inline]
    pub fn carry_out(&mut self, verdict: Verdict, packet: &mut Packet<P>) -> bool {
        let now = packet.meta.arrival;
        verdict.carry_out(packet, &mut LinkHost::new(&mut self.rng, &mut self.stats, now, None))
    }

    /// A packet is offered to the queue: markers see it, and its arrival is counted. Return whether it does not come to the queue: a policer
    /// drops it, or the link is down. Then [`Station::turn`] follows.
    #[inline(always)]
    pub fn offered(&mut self, now: Time, packet: &mut Packet<P>) -> bool {
        let is_refused = self.entrance.as_mut().is_some_and(|entrance| {
            entrance.refuses(now, packet.payload.marked_as(&packet.meta), &mut packet.meta)
        });
        if is_refused {
            self.police(now, packet);
        } else {
            self.stats.arrived(now, packet);
        }
        is_refused
    }

    /// Count a packet that does not come to the queue, unless the link is down: it may have another way. Let the discipline read the delay of
    /// an answer.
    #[cold]
    #[inline(never)]
    fn police(&mut self, now: Time, packet: &Packet<P>) {
        if self.entrance.as_ref().is_some_and(|entrance| entrance.is_measured)
            && brings_delay(packet.meta.flow)
        {
            self.discipline.on_answer(now, delay_of(now, packet));
            self.reschedule_timer();
        } else if !self.found_down() {
            self.drop_before_queue(now, packet, POLICED);
        }
    }

    fn found_down(&self) -> bool {
        self.entrance.as_ref().is_some_and(|entrance| entrance.is_down)
    }

    fn drop_before_queue(&mut self, now: Time, packet: &Packet<P>, reason: DropReason) {
        self.stats.arrived(now, packet);
        let mut host = LinkHost::new(&mut self.rng, &mut self.stats, now, self.dropped.as_mut());
        host.dropped(*packet, reason);
    }

    /// A packet did not come to the queue, or not through it. Return whether that is since the link is down, and the packet takes the detour
    /// of its path; the message is then [`Message::TURNED`]. Without a detour, it is dropped.
    #[cold]
    #[inline(never)]
    pub fn turn(&mut self, paths: &Paths, packet: &Packet<P>, message: &mut Message) -> bool {
        if !self.found_down() {
            return false;
        }
        if paths.detour(message.step).is_none() {
            self.drop_before_queue(message.time, packet, DOWN);
            return false;
        }
        (self.turned_at, message.time) = (message.time, Message::TURNED);
        true
    }

    /// The discipline sent the packet that arrived another way, if it did. Return whether it takes the detour of its path. If there is none,
    /// it is dropped.
    #[cold]
    #[inline(never)]
    pub fn turn_redirected(&mut self, paths: &Paths, message: &mut Message) -> bool {
        if !core::mem::take(&mut self.stats.is_redirected) || paths.detour(message.step).is_none() {
            return false;
        }
        self.dropped.iter_mut().for_each(Vec::clear);
        (self.turned_at, message.time) = (message.time, Message::TURNED);
        true
    }

    /// Observe a decision, and the timer of the discipline.
    #[inline(always)]
    pub fn after_decision(&mut self, now: Time) {
        if let Some(observation) = &mut self.stats.observation {
            observation.after_decision(now, &self.discipline);
        }
        self.reschedule_timer();
    }

    /// Update the maximum queue length, after an arrival that found the link busy. Return the number of packets waiting.
    #[inline(always)]
    pub fn measure(&mut self) -> u32 {
        let counters = &mut self.stats.counters;
        let packets = self.discipline.backlog().packets;
        counters.max_queue = counters.max_queue.max(packets);
        packets
    }

    /// Report to the discipline that the link becomes idle, since nothing waits.
    #[inline(always)]
    pub fn become_idle(&mut self, now: Time) {
        debug_assert_eq!(self.discipline.backlog().packets, 0, "nothing waits");
        let mut host = LinkHost::new(&mut self.rng, &mut self.stats, now, self.dropped.as_mut());
        self.discipline.on_idle(now, &mut host);
        self.reschedule_timer();
        self.service = None;
    }

    /// Take the next packet to transmit; the link is free and packets wait. Return whether one leaves.
    #[inline(always)]
    pub fn dequeue(&mut self, now: Time, packet: &mut Packet<P>) -> bool {
        debug_assert!(self.discipline.backlog().packets > 0, "packets wait");
        let mut host = LinkHost::new(&mut self.rng, &mut self.stats, now, self.dropped.as_mut());
        let is_packet = self.discipline.dequeue_into(now, packet, &mut host);
        self.reschedule_timer();
        if !is_packet {
            self.hold(now);
        }
        is_packet
    }

    /// Nothing leaves at `now`: the link is free, or waits as long as the shaper of the discipline lets nothing leave.
    #[cold]
    #[inline(never)]
    fn hold(&mut self, now: Time) {
        self.service = self.discipline.not_before(now).map(|until| {
            debug_assert!(until > now, "a wait that is over");
            self.held_until = until;
            (now, until)
        });
    }

    /// Let the link wait if the shaper of the discipline holds back the packets that wait. Return the end of
    /// the wait. Asks only a discipline that has held packets back before.
    #[inline(always)]
    pub fn wait_for_shaper(&mut self, now: Time) -> Option<Time> {
        if self.held_until == Time::ZERO {
            return None;
        }
        let until = self.discipline.not_before(now)?;
        (self.service, self.held_until) = (Some((now, until)), until);
        Some(until)
    }

    /// Return start and end of the service in progress, if a packet is in service.
    fn in_service(&self) -> Option<(Time, Time)> {
        self.service.filter(|(_, end)| *end != self.held_until)
    }

    /// Start the service of a packet.
    #[inline(always)]
    pub fn serve(&mut self, now: Time, end: Time, packet: &Packet<P>) {
        self.service = Some((now, end));
        self.stats.departed(now, packet, end.since(now));
    }

    /// The channel has lost the last packet, or does not keep the order: count how often it arrives at the far end, if its service
    /// starts after the warm-up.
    pub fn count_arrivals(&mut self, starts: Time, meta: &Meta) {
        if self.channel.is_constant() {
            return;
        }
        let arrivals = self.channel.arrivals().into_iter().filter(|time| *time != Time::NEVER).count();
        let cut = self.channel.cut().filter(|_| arrivals == 0);
        if arrivals == 0
            && let Some(observation) = &mut self.stats.observation
        {
            observation.lost(starts, meta, cut.map(|_| CUT));
        }
        if starts < self.warmup {
            return;
        }
        if let Some(place) = cut {
            self.stats.drops.cut += 1;
            if place == CutPlace::InService {
                self.stats.drops.cut_bytes += u64::from(meta.bytes);
            }
        } else {
            let counters = self.stats.drops.channel.get_or_insert_default();
            counters.losses += u64::from(arrivals == 0);
            counters.copies += u64::from(arrivals == 2);
            counters.overtaking += u64::from(self.channel.overtakes());
        }
    }

    /// Return the time of the next own event; `NEVER` without.
    #[inline(always)]
    pub fn next_own_event(&self) -> Time {
        self.next_event
    }

    /// Return the end of the warm-up.
    pub fn warmup(&self) -> Time {
        self.warmup
    }

    /// Handle all own events up to `now`, before any input at `now`. Return whether there were any.
    #[inline]
    pub fn advance(&mut self, now: Time) -> bool {
        let is_due = self.next_event <= now;
        while self.next_event <= now {
            self.handle_events(self.next_event);
        }
        is_due
    }

    #[cold]
    fn handle_events(&mut self, at: Time) {
        if at == self.warmup {
            self.reset_stats(at);
        }
        if let Some(observation) = &mut self.stats.observation {
            observation.sample(at, &self.discipline);
        }
        if self.entrance.as_ref().is_some_and(|entrance| entrance.outages.flushes_at(at)) {
            self.flush(at);
        }
        if self.discipline.next_timer().is_some_and(|t| t <= at) {
            self.on_timer(at);
        }
        self.next_event = self.next_event(Some(at));
    }

    /// Drop all packets that wait, as far as the discipline gives them away.
    fn flush(&mut self, now: Time) {
        while self.discipline.backlog().packets > 0 {
            let mut host = LinkHost::flushing(&mut self.rng, &mut self.stats, now, self.dropped.as_mut());
            let Dequeue::Packet(packet) = self.discipline.dequeue(now, &mut host) else { return };
            host.dropped(packet, FLUSHED);
        }
    }

    /// Handle the timer of the discipline.
    fn on_timer(&mut self, now: Time) {
        let mut host = LinkHost::new(&mut self.rng, &mut self.stats, now, self.dropped.as_mut());
        self.discipline.on_timer(now, &mut host);
        debug_assert!(self.discipline.next_timer().is_none_or(|t| t > now), "a timer that never ends");
    }

    /// Reschedule the next event, since the timer of the discipline may have become earlier.
    #[inline(always)]
    pub fn reschedule_timer(&mut self) {
        if self.is_timed
            && let Some(timer) = self.discipline.next_timer()
        {
            self.next_event = self.next_event.min(timer);
        }
    }

    /// Return the time of the next own event after `at`: the end of the warm-up, a sample or a timer.
    fn next_event(&self, at: Option<Time>) -> Time {
        let warmup = if at.is_none_or(|t| t < self.warmup) { self.warmup } else { Time::NEVER };
        let sample = self.stats.observation.as_ref().map_or(Time::NEVER, |o| o.sample_after(at));
        let timer = self.discipline.next_timer().unwrap_or(Time::NEVER);
        let flush = self.entrance.as_ref().map_or(Time::NEVER, |entrance| entrance.outages.next_flush(at));
        warmup.min(sample).min(timer).min(flush)
    }

    /// Reset the statistics at the end of the warm-up.
    fn reset_stats(&mut self, now: Time) {
        let service = self.in_service().map_or(Span::ZERO, |(_, end)| end.since(now));
        self.stats.reset_stats(now, self.discipline.backlog(), service);
        self.discipline.reset_stats();
        if let Some(markers) = self.entrance.as_mut().and_then(|entrance| entrance.markers.as_mut()) {
            markers.reset_stats();
        }
    }

    /// Return the statistics of the discipline's tins.
    pub fn tins(&self) -> Vec<TinStats> {
        let mut tins = Vec::new();
        self.discipline.tins(&mut |tin| tins.push(tin));
        tins
    }

    /// Advance the statistics to the end of the run.
    pub fn finish(&mut self, end: Time) {
        self.advance(end);
        self.stats.counters = self.counters_until(end);
    }

    /// Return the counters as if the run ended at `end`.
    pub fn counters_until(&self, end: Time) -> LinkCounters {
        let mut counters = self.stats.counters.closed(end, self.discipline.backlog());
        if let Some((start, stop)) = self.in_service() {
            // The rest of the service in progress is after the end.
            counters.busy -= stop.since(end.max(start)).0;
        }
        counters
    }
}

/// Return the one-way delay that the answer of a ping brings.
fn delay_of<P: Numbered>(now: Time, answer: &Packet<P>) -> Span {
    let there = Span(MICROSECOND * answer.payload.number().max(0) as u64);
    if answer.meta.flow == PING_DELAY {
        return there;
    }
    let both = now.since(answer.payload.sent());
    Span(both.0.saturating_sub(there.0))
}

impl<P: Numbered> Station<P> {
    /// A packet finds the link idle since `idle_since`, and a RED queue whose average is below min_th: enqueue and dequeue it, if it leaves no
    /// trace besides counts. Return whether that was done; if not, nothing is changed.
    #[inline(always)]
    pub fn passes_below_min_th(&mut self, now: Time, idle_since: Time, meta: &mut Meta) -> bool {
        if self.next_event <= now || !self.only_counts {
            return false;
        }
        let Discipline::Red(red) = &mut self.discipline else { return false };
        if !red.passes_below_min_th(now, idle_since, meta) {
            return false;
        }
        let transmission = self.server.serve(Some(now), now, meta.bytes);
        self.service = Some((now, now + transmission));
        let average = red.average();
        self.stats.judged(meta, Some((Span::ZERO, transmission)), Some(average));
        true
    }

    /// Replace the discipline.
    pub fn replace_discipline(&mut self, discipline: Discipline<P>) {
        if let Some(observation) = &mut self.stats.observation {
            observation.attach(&discipline);
        }
        self.is_timed = discipline.is_timed();
        self.discipline = discipline;
        self.reschedule_timer();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer of a ping that was sent at 10 ms and took 5 ms.
    #[derive(Clone, Copy, Default)]
    struct Answer;

    impl Numbered for Answer {
        fn number(&self) -> i32 {
            5000
        }
        fn sent(&self) -> Time {
            Time(10_000_000_000)
        }
    }

    #[test]
    fn an_answer_brings_the_delay_of_its_ping_or_its_own() {
        let delay = |flow| {
            let answer = Packet { meta: Meta { flow, ..Meta::default() }, payload: Answer };
            delay_of(Time(32_000_000_000), &answer)
        };
        assert_eq!(delay(PING_DELAY), Span::from_millis(5));
        assert_eq!(delay(PING_DELAY - 1), Span::from_millis(17), "22 ms less 5 ms");
    }
}
