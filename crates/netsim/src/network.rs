//! The stations of a run and their events. An engine decides in which order they are evaluated.

use std::collections::BTreeMap;

use aqmlab_aqm::Kind;
use aqmlab_transport::{Ack, Data, PlainAnswer};
use aqmlab_units::Time;

use crate::application::Taken;
use crate::attached::Attached;
use crate::feeders;
use crate::key::Key;
use crate::link::{Link, Queue, Wire};
use crate::message::{Message, SackStore};
use crate::paths::{Next, Paths};
use crate::plan::{Dispatch, LinkId, Page, Plan};
use crate::sink::Sink;
use crate::source::Source;
use crate::target::Numbering;

/// Schedules future events; implemented by each engine.
pub(crate) trait Scheduler {
    /// Whether all events of the network are evaluated in the order of their keys. A packet may then enter the first link of
    /// its path at once.
    const GLOBAL_ORDER: bool;

    /// Schedule the arrival of a packet at a station, over the link that is its source.
    fn sent(&mut self, to: Next, message: &Message);
    /// [`Scheduler::sent`] over a link that does not send in order.
    fn sent_unordered(&mut self, to: Next, message: &Message);
    /// Schedule the arrival of a packet at the first link of its path; called if the order is not global.
    fn entered(&mut self, link: LinkId, message: &Message);
    /// Schedule the end of a service after which a packet waits; called if the order is global.
    fn serving(&mut self, link: LinkId, end: Key);
    /// Schedule the timer of a source, if it has one.
    fn reschedule_source(&mut self, flow: usize, source: &mut Source);
    /// Schedule the timer of a sink, if it has one.
    fn reschedule_sink(&mut self, flow: usize, sink: &mut Sink);
    /// Schedule the start of the application of a flow.
    fn starts(&mut self, flow: u32, at: Time);
    /// Schedule the stop of the application of a flow.
    fn stops(&mut self, flow: u32, at: Time);
}

/// The stations of a run.
#[derive(Debug)]
pub(crate) struct Network {
    pub plan: Plan,
    pub seed: u64,
    pub sources: Vec<Source>,
    pub sinks: Vec<Sink>,
    pub fabric: Fabric,
    pub numbering: Numbering,
}

/// The links and paths between the endpoints.
#[derive(Clone, Debug)]
pub(crate) struct Fabric {
    pub links: Vec<Link>,
    pub paths: Paths,
    pub sacks: SackStore,
    end: Time,
    /// Plain packets and acknowledgements are answered where they are.
    shortcuts: bool,
}

/// Return the counter of objects taken, for each connection of a page whose connections share its objects.
fn shared_objects(plan: &Plan) -> BTreeMap<u32, Taken> {
    let shared = plan.pages.iter().filter(|page| page.dispatch == Dispatch::FirstFree);
    let of_page = |page: &Page| {
        let taken = Taken::default();
        (page.first..page.first + page.connections).map(move |flow| (flow, Taken::clone(&taken)))
    };
    shared.flat_map(of_page).collect()
}

impl Network {
    /// # Panics
    /// If a flow has no path there and back; in a checked plan every flow has.
    pub fn new(plan: &Plan, seed: u64, shortcuts: bool) -> Self {
        Self::with_controlled(plan, seed, shortcuts, None)
    }

    /// [`Network::new`] with a link whose settings change between events of the run.
    pub fn with_controlled(plan: &Plan, seed: u64, shortcuts: bool, controlled: Option<LinkId>) -> Self {
        let plan = plan.drawn(seed).with_outages();
        let attached = Attached::new(&plan);
        let links =
            (0..plan.links.len() as LinkId).map(|id| Link::new(id, &attached, seed, shortcuts)).collect();
        let flows = || plan.flows.iter().enumerate();
        let mut taken = shared_objects(&plan);
        let mut network = Self {
            sources: flows()
                .map(|(i, flow)| Source::new(flow, taken.remove(&(i as u32)), &plan, seed))
                .collect(),
            sinks: flows().map(|(i, flow)| Sink::new(i, flow, &plan)).collect(),
            fabric: Fabric {
                links,
                paths: Paths::new(&plan, seed),
                sacks: SackStore::default(),
                end: Time::ZERO + plan.duration,
                shortcuts,
            },
            numbering: Numbering { links: plan.links.len() as u32, flows: plan.flows.len() as u32 },
            seed,
            plan,
        };
        if shortcuts {
            let Self { plan, fabric, .. } = &mut network;
            feeders::allow_ahead(plan, &mut fabric.paths, &fabric.links, controlled);
        }
        network
    }

    /// Return the end of the run.
    pub fn end(&self) -> Time {
        self.fabric.end
    }

    /// Advance all stations to the end of the run.
    pub fn finish(&mut self) {
        let end = self.end();
        (0..).zip(&mut self.fabric.links).for_each(|(id, link)| link.finish(id, end));
        self.sources.iter_mut().for_each(|f| f.end(end));
        self.sinks.iter_mut().for_each(|f| f.end(end));
    }

    /// Schedule the starts and stops of applications that are known in advance.
    pub fn announce(&self, scheduler: &mut impl Scheduler) {
        for (i, flow) in self.sources.iter().enumerate() {
            scheduler.starts(i as u32, flow.start_time());
            if let Some(stop) = self.plan.flows[i].stop {
                scheduler.stops(i as u32, stop);
            }
        }
    }

    /// Start a period of a flow; its end is known from the plan.
    #[inline(never)]
    pub fn start(&mut self, scheduler: &mut impl Scheduler, flow: u32, key: Key) {
        let source = &self.sources[flow as usize];
        if let Some((_, end)) = source.next_period().filter(|_| source.has_begun()) {
            scheduler.stops(flow, end);
        }
        self.send(scheduler, flow as usize, key, |source, out| source.start(key.time, out));
    }

    /// End a period of a flow, and schedule the next one, if any.
    #[inline(never)]
    pub fn stop(&mut self, scheduler: &mut impl Scheduler, flow: u32, key: Key) {
        self.send(scheduler, flow as usize, key, |source, out| source.stop(key.time, out));
        let source = &self.sources[flow as usize];
        if let Some((start, _)) = source.next_period().filter(|_| source.has_begun()) {
            scheduler.starts(flow, start);
        }
    }

    /// Handle the timer of a source.
    #[inline(never)]
    pub fn source_timer(&mut self, scheduler: &mut impl Scheduler, flow: usize, key: Key) {
        self.send(scheduler, flow, key, |source, out| source.on_timer(key.time, out));
    }

    /// Handle the timer of a sink.
    #[inline(never)]
    pub fn sink_timer(&mut self, scheduler: &mut impl Scheduler, flow: usize, key: Key) {
        let Self { sinks, fabric, .. } = self;
        fabric.acknowledge(&mut sinks[flow], scheduler, flow, key, |sink, out| sink.on_timer(key.time, out));
    }

    /// Deliver a packet to the next station of its path.
    #[inline]
    pub fn arrive<A: Scheduler>(&mut self, scheduler: &mut A, message: &mut Message) {
        match self.fabric.paths.at(message.step).next() {
            Next::Link(link) => self.at_link(scheduler, link, message),
            Next::Endpoint(flow) if message.is_ack() => self.at_source(scheduler, flow as usize, message),
            Next::Endpoint(_) => self.at_sink(scheduler, message),
        }
    }

    /// Deliver a packet to the queue of a link.
    #[inline(always)]
    pub fn at_link<A: Scheduler>(&mut self, scheduler: &mut A, link: LinkId, message: &mut Message) {
        self.fabric.forward(&mut self.sinks, scheduler, link, message);
    }

    /// Deliver a data packet to its sink.
    #[inline]
    pub fn at_sink<A: Scheduler>(&mut self, scheduler: &mut A, message: &mut Message) {
        if let Some(link) = self.fabric.deliver(&mut self.sinks, scheduler, message) {
            self.at_link(scheduler, link, message);
        }
    }

    /// Deliver an acknowledgement to its source.
    #[inline(always)]
    pub fn at_source<A: Scheduler>(&mut self, scheduler: &mut A, flow: usize, message: &mut Message) {
        let Self { sources, sinks, fabric, .. } = self;
        let source = &mut sources[flow];
        let plain =
            if fabric.shortcuts && message.is_plain_ack() { source.on_plain_ack(message) } else { None };
        let Some(new) = plain else {
            return self.at_source_with_any(scheduler, flow, message);
        };
        if new.count > 0 {
            message.become_first_of(fabric.paths.first(flow, Kind::Data), source.dscp, &new);
            for _ in 1..new.count {
                let mut next = *message;
                next.number = next.number.wrapping_add(new.step as i32);
                fabric.launch(sinks, scheduler, message);
                *message = next;
            }
            fabric.launch(sinks, scheduler, message);
        }
        scheduler.reschedule_source(flow, source);
    }

    /// Deliver an acknowledgement that is not plain to its source.
    #[inline(never)]
    fn at_source_with_any<A: Scheduler>(&mut self, scheduler: &mut A, flow: usize, message: &Message) {
        let ack = self.fabric.sacks.take_ack(message);
        self.send(scheduler, flow, message.key(), |source, out| source.on_ack(message.time, &ack, out));
    }

    /// Handle the end of a service, where that is an event: start the next one.
    #[inline]
    pub fn serve<A: Scheduler>(&mut self, scheduler: &mut A, link: LinkId, now: Time) {
        let mut message = Message::default();
        if self.fabric.serve(scheduler, link, now, &mut message) {
            self.at_sink(scheduler, &mut message);
        }
    }

    /// Run an action of a source, send its output and reschedule its timer.
    #[inline]
    fn send<'a, A: Scheduler>(
        &'a mut self,
        scheduler: &'a mut A,
        flow: usize,
        key: Key,
        act: impl FnOnce(&mut Source, &mut DataOutput<'a, A>),
    ) {
        let Self { sources, sinks, fabric, .. } = self;
        let source = &mut sources[flow];
        let step = fabric.paths.first(flow, Kind::Data);
        let (dscp, peer_ttl_known) = (source.dscp, source.peer_ttl_known());
        let mut output =
            DataOutput { fabric, sinks, scheduler, key, step, dscp, peer_ttl_known, last: false };
        act(source, &mut output);
        output.scheduler.reschedule_source(flow, source);
    }
}

/// Receives the packets that an endpoint sends.
pub(crate) trait Out<T> {
    /// Send a packet.
    fn put(&mut self, packet: &T);
    /// Set whether the endpoint has received a packet, and thus knows the time to live at the other end.
    fn set_peer_ttl_known(&mut self, peer_ttl_known: bool);
    /// Set whether the following packets are the last of an object that an application requested.
    fn ends_object(&mut self, _ends: bool) {}
}

/// Sends the data packets of a source along their path.
struct DataOutput<'a, A> {
    fabric: &'a mut Fabric,
    sinks: &'a mut [Sink],
    scheduler: &'a mut A,
    key: Key,
    step: u32,
    dscp: u8,
    peer_ttl_known: bool,
    last: bool,
}

impl<A: Scheduler> Out<Data> for DataOutput<'_, A> {
    #[inline]
    fn put(&mut self, data: &Data) {
        let mut message = Message::of_data(self.key, self.step, self.dscp, self.peer_ttl_known, data);
        if self.last {
            message.mark_last();
        }
        self.fabric.launch(self.sinks, self.scheduler, &mut message);
    }

    #[inline]
    fn set_peer_ttl_known(&mut self, peer_ttl_known: bool) {
        self.peer_ttl_known = peer_ttl_known;
    }

    #[inline]
    fn ends_object(&mut self, ends: bool) {
        self.last = ends;
    }
}

/// Sends the acknowledgements of a sink along their path.
struct AckOutput<'a, A> {
    fabric: &'a mut Fabric,
    scheduler: &'a mut A,
    key: Key,
    step: u32,
    peer_ttl_known: bool,
}

impl<A: Scheduler> Out<Ack> for AckOutput<'_, A> {
    #[inline]
    fn put(&mut self, ack: &Ack) {
        let mut message = self.fabric.sacks.message(self.key, self.step, self.peer_ttl_known, ack);
        if let Some(link) = self.fabric.enter(self.scheduler, &message) {
            let arrived = self.fabric.carry(self.scheduler, link, &mut message);
            debug_assert!(!arrived, "a source is never evaluated ahead");
        }
    }

    #[inline]
    fn set_peer_ttl_known(&mut self, peer_ttl_known: bool) {
        self.peer_ttl_known = peer_ttl_known;
    }
}

impl Fabric {
    /// Send a data packet along its path.
    #[inline(never)]
    fn launch<A: Scheduler>(&mut self, sinks: &mut [Sink], scheduler: &mut A, message: &mut Message) {
        if let Some(link) = self.enter(scheduler, message) {
            self.forward(sinks, scheduler, link, message);
        }
    }

    /// Return the first link of the path of a packet that an endpoint sends, if it may enter it at once. If not, schedule that.
    #[inline(always)]
    fn enter<A: Scheduler>(&mut self, scheduler: &mut A, message: &Message) -> Option<LinkId> {
        let step = self.paths.at(message.step);
        let Next::Link(link) = step.next() else { return None };
        if A::GLOBAL_ORDER || step.is_ahead() {
            return Some(link);
        }
        scheduler.entered(link, message);
        None
    }

    /// Deliver a packet to the queue of a link, and forward it and its acknowledgement over all that may be evaluated ahead.
    #[inline(always)]
    fn forward<A: Scheduler>(
        &mut self,
        sinks: &mut [Sink],
        scheduler: &mut A,
        mut link: LinkId,
        message: &mut Message,
    ) {
        while self.carry(scheduler, link, message)
            && let Some(next) = self.deliver(sinks, scheduler, message)
        {
            link = next;
        }
    }

    /// Deliver a packet to the queue of a link, and forward it over all following links that may be evaluated ahead. Return
    /// whether it is at its destination.
    #[inline(always)]
    fn carry<A: Scheduler>(&mut self, scheduler: &mut A, mut link: LinkId, message: &mut Message) -> bool {
        loop {
            if !self.pass(scheduler, link, message) {
                return false;
            }
            match self.leave(scheduler, message) {
                Some(Next::Link(next)) => link = next,
                Some(Next::Endpoint(_)) => return true,
                None => return false,
            }
        }
    }

    /// Deliver a packet to the queue of a link. Return whether its key is then that of its arrival at the far end; if not, it is dropped,
    /// or its departure is an event.
    #[inline(always)]
    fn pass<A: Scheduler>(&mut self, scheduler: &mut A, link: LinkId, message: &mut Message) -> bool {
        let is_accepted = match &mut self.links[link as usize] {
            Link::UnobservedDropTail(station) => station.arrive(link, &self.paths, message),
            Link::InOrder(station) => station.arrive(&self.paths, message),
            Link::Queue(queue) => {
                return Self::queue(queue, &self.paths, &mut self.sacks, scheduler, message);
            }
        };
        if !is_accepted {
            self.sacks.release(&message.rest());
        }
        is_accepted
    }

    /// A packet leaves a link: it goes on to the next station of its path. Return that if it may be evaluated ahead; if not, schedule the
    /// arrival, unless the packet is lost or the run ends before.
    #[inline(always)]
    fn leave<A: Scheduler>(&mut self, scheduler: &mut A, message: &mut Message) -> Option<Next> {
        if message.time >= self.end {
            self.ends(scheduler, message);
            return None;
        }
        message.step += 1;
        let step = self.paths.at(message.step);
        if !step.is_ahead() {
            scheduler.sent(step.next(), message);
            return None;
        }
        Some(step.next())
    }

    /// A packet leaves a link: it does not arrive at the far end during the run, or not in order, or takes a detour. If it is lost, release
    /// what it holds; count the channel's effect on it.
    #[cold]
    #[inline(never)]
    fn ends<A: Scheduler>(&mut self, scheduler: &mut A, message: &Message) {
        if message.time == Message::TURNED {
            return self.turn(scheduler, message);
        }
        let is_unordered = message.time == Wire::UNORDERED;
        let is_sent = is_unordered && self.send_unordered(scheduler, message);
        if message.cause < self.end && (is_unordered || message.time == Time::NEVER) {
            if !is_sent {
                self.sacks.release(&message.rest());
            }
            self.links[message.source as usize].count_arrivals(message.cause, &self.paths.meta(message));
        }
    }

    /// A link sends a packet that arrived over the detour of its path.
    fn turn<A: Scheduler>(&mut self, scheduler: &mut A, message: &Message) {
        let (Next::Link(link), Some(step)) =
            (self.paths.at(message.step).next(), self.paths.detour(message.step))
        else {
            return;
        };
        let mut message = *message;
        (message.time, message.step) = (self.links[link as usize].turned_at(), step);
        let Next::Link(first) = self.paths.at(step).next() else { return };
        if !A::GLOBAL_ORDER {
            return scheduler.entered(first, &message);
        }
        let arrived = self.carry(scheduler, first, &mut message);
        debug_assert!(!arrived, "a sink of several paths is never evaluated ahead");
    }

    /// Schedule the arrivals of a packet and its copy over a channel that does not keep the order. Return whether any of them arrives.
    fn send_unordered<A: Scheduler>(&mut self, scheduler: &mut A, message: &Message) -> bool {
        let arrivals = self.links[message.source as usize].arrivals();
        let mut message = *message;
        message.step += 1;
        let to = self.paths.at(message.step).next();
        let mut is_copy = false;
        for time in arrivals.into_iter().filter(|time| *time != Time::NEVER) {
            if is_copy {
                self.sacks.copy(&mut message);
            }
            is_copy = true;
            message.time = time;
            if time < self.end {
                scheduler.sent_unordered(to, &message);
            }
        }
        is_copy
    }

    /// Deliver a packet to a queue whose ends of service are events. Return whether it is transmitted at once.
    #[inline(never)]
    fn queue<A: Scheduler>(
        queue: &mut Queue,
        paths: &Paths,
        sacks: &mut SackStore,
        scheduler: &mut A,
        message: &mut Message,
    ) -> bool {
        let is_transmitted = queue.arrive(paths, message);
        if queue.is_turned(paths, message) {
            return true;
        }
        queue.take_dropped(|dropped| sacks.release(&dropped));
        if A::GLOBAL_ORDER
            && !is_transmitted
            && let Some(end) = queue.announce()
        {
            scheduler.serving(end.source, end);
        }
        is_transmitted
    }

    /// Handle the end of a service, where that is an event: start the next one. Return whether there is one and its
    /// packet, which is then in `message`, is at its destination.
    #[inline(always)]
    fn serve<A: Scheduler>(
        &mut self,
        scheduler: &mut A,
        link: LinkId,
        now: Time,
        message: &mut Message,
    ) -> bool {
        let Self { links, sacks, .. } = self;
        let Link::Queue(queue) = &mut links[link as usize] else { return false };
        let is_served = queue.serve(now, message);
        queue.take_dropped(|dropped| sacks.release(&dropped));
        if A::GLOBAL_ORDER
            && let Some(end) = queue.announce()
        {
            scheduler.serving(link, end);
        }
        if !is_served {
            return false;
        }
        match self.leave(scheduler, message) {
            Some(Next::Link(next)) => self.carry(scheduler, next, message),
            Some(Next::Endpoint(_)) => true,
            None => false,
        }
    }

    /// Deliver a data packet to its sink. If its answer is plain, the packet becomes its acknowledgement; return the first link of that if
    /// it may enter it at once.
    #[inline(always)]
    fn deliver<A: Scheduler>(
        &mut self,
        sinks: &mut [Sink],
        scheduler: &mut A,
        message: &mut Message,
    ) -> Option<LinkId> {
        let flow = self.paths.flow(message);
        let sink = &mut sinks[flow];
        let answer = if self.shortcuts { sink.on_plain_data(message) } else { None };
        match answer {
            Some(PlainAnswer::Sent(ack)) => {
                message.become_answer(self.paths.first(flow, Kind::Ack), ack);
                self.enter(scheduler, message)
            }
            Some(PlainAnswer::Held) => {
                scheduler.reschedule_sink(flow, sink);
                None
            }
            None => {
                self.answer_any(sink, scheduler, flow, message);
                None
            }
        }
    }

    /// Deliver a data packet to its sink, and send the acknowledgements of that.
    #[inline(never)]
    fn answer_any<A: Scheduler>(
        &mut self,
        sink: &mut Sink,
        scheduler: &mut A,
        flow: usize,
        message: &Message,
    ) {
        self.acknowledge(sink, scheduler, flow, message.key(), |sink, out| sink.on_data(message, out));
    }

    /// Run an action of a sink, send its output and reschedule its timer.
    #[inline]
    fn acknowledge<'a, A: Scheduler>(
        &'a mut self,
        sink: &mut Sink,
        scheduler: &'a mut A,
        flow: usize,
        key: Key,
        act: impl FnOnce(&mut Sink, &mut AckOutput<'a, A>),
    ) {
        let step = self.paths.first(flow, Kind::Ack);
        let mut output =
            AckOutput { fabric: self, scheduler, key, step, peer_ttl_known: sink.peer_ttl_known() };
        act(sink, &mut output);
        output.scheduler.reschedule_sink(flow, sink);
    }
}
