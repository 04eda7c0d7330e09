//! The stations of a run, and what happens at each of them. An engine decides when.

use std::collections::BTreeMap;

use aqmlab_aqm::Kind;
use aqmlab_transport::{Ack, Data};
use aqmlab_units::Time;

use crate::application::Taken;
use crate::attached::Attached;
use crate::key::Key;
use crate::link::Link;
use crate::message::{Message, SackStore};
use crate::paths::{Next, Paths};
use crate::plan::{Dispatch, LinkId, Page, Plan};
use crate::sink::Sink;
use crate::source::Source;
use crate::target::Numbering;

/// What an engine is told of things to come.
pub(crate) trait Scheduler {
    /// Whether stations are evaluated in the order of their keys all over the network. Then a packet may be handed to
    /// the first link of its path at once.
    const GLOBAL_ORDER: bool;

    /// A packet is on its way to a station, and as that will see it; it comes over the link that is its source.
    fn sent(&mut self, to: Next, message: &Message);
    /// A packet is at the first link of its path, where the order is not global.
    fn entered(&mut self, link: LinkId, message: &Message);
    /// The service in progress at a link will end, and something waits for it; told where the order is global.
    fn serving(&mut self, link: LinkId, end: Key);
    /// A source has a timer, or none.
    fn reschedule_source(&mut self, flow: usize, source: &mut Source);
    /// A sink has a timer, or none.
    fn reschedule_sink(&mut self, flow: usize, sink: &mut Sink);
    /// The application will have something to send.
    fn starts(&mut self, flow: u32, at: Time);
    /// The application will have nothing more to send.
    fn stops(&mut self, flow: u32, at: Time);
}

/// The stations of a run.
#[derive(Debug)]
pub(crate) struct Network {
    pub plan: Plan,
    pub sources: Vec<Source>,
    pub sinks: Vec<Sink>,
    pub fabric: Fabric,
    pub numbering: Numbering,
}

/// What lies between the endpoints.
#[derive(Clone, Debug)]
pub(crate) struct Fabric {
    pub links: Vec<Link>,
    pub paths: Paths,
    sacks: SackStore,
    end: Time,
}

/// For each connection of a page that shares the page's objects, how many are taken.
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
        let plan = plan.drawn(seed);
        let attached = Attached::new(&plan);
        let links =
            (0..plan.links.len() as LinkId).map(|id| Link::new(id, &attached, seed, shortcuts)).collect();
        let flows = || plan.flows.iter().enumerate();
        let mut taken = shared_objects(&plan);
        Self {
            sources: flows()
                .map(|(i, flow)| Source::new(flow, taken.remove(&(i as u32)), &plan, seed))
                .collect(),
            sinks: flows().map(|(i, flow)| Sink::new(i, flow, &plan)).collect(),
            fabric: Fabric {
                links,
                paths: Paths::new(&plan),
                sacks: SackStore::default(),
                end: Time::ZERO + plan.duration,
            },
            numbering: Numbering { links: plan.links.len() as u32, flows: plan.flows.len() as u32 },
            plan,
        }
    }

    /// When the run ends.
    pub fn end(&self) -> Time {
        self.fabric.end
    }

    /// Brings all stations to the end of the run.
    pub fn finish(&mut self) {
        let end = self.end();
        self.fabric.links.iter_mut().for_each(|l| l.finish(end));
        self.sources.iter_mut().for_each(|f| f.end(end));
        self.sinks.iter_mut().for_each(|f| f.end(end));
    }

    /// What applications do, as far as it is known at the beginning.
    pub fn announce(&self, scheduler: &mut impl Scheduler) {
        for (i, flow) in self.sources.iter().enumerate() {
            scheduler.starts(i as u32, flow.start_time());
            if let Some(stop) = self.plan.flows[i].stop {
                scheduler.stops(i as u32, stop);
            }
        }
    }

    /// A period of a flow begins; its end is known from the plan.
    pub fn start(&mut self, scheduler: &mut impl Scheduler, flow: u32, key: Key) {
        let source = &self.sources[flow as usize];
        if let Some((_, end)) = source.next_period().filter(|_| source.has_begun()) {
            scheduler.stops(flow, end);
        }
        self.send(scheduler, flow as usize, key, |source, out| source.start(key.time, out));
    }

    /// A period of a flow ends, and the next may follow.
    pub fn stop(&mut self, scheduler: &mut impl Scheduler, flow: u32, key: Key) {
        self.send(scheduler, flow as usize, key, |source, out| source.stop(key.time, out));
        let source = &self.sources[flow as usize];
        if let Some((start, _)) = source.next_period().filter(|_| source.has_begun()) {
            scheduler.starts(flow, start);
        }
    }

    /// The timer of a source is due.
    pub fn source_timer(&mut self, scheduler: &mut impl Scheduler, flow: usize, key: Key) {
        self.send(scheduler, flow, key, |source, out| source.on_timer(key.time, out));
    }

    /// The timer of a sink is due.
    pub fn sink_timer(&mut self, scheduler: &mut impl Scheduler, flow: usize, key: Key) {
        let Self { sinks, fabric, .. } = self;
        fabric.acknowledge(&mut sinks[flow], scheduler, flow, key, |sink, out| sink.on_timer(key.time, out));
    }

    /// A packet is at the next station of its path.
    #[inline]
    pub fn arrive<A: Scheduler>(&mut self, scheduler: &mut A, message: &mut Message) {
        match self.fabric.paths.at(message.step).next() {
            Next::Link(link) => self.at_link(scheduler, link, message),
            Next::Endpoint(flow) if message.is_ack() => self.at_source(scheduler, flow as usize, message),
            Next::Endpoint(_) => self.at_sink(scheduler, message),
        }
    }

    /// A packet arrives at the queue of a link.
    #[inline(always)]
    pub fn at_link<A: Scheduler>(&mut self, scheduler: &mut A, link: LinkId, message: &mut Message) {
        if self.fabric.carry(scheduler, link, message) {
            self.at_sink(scheduler, message);
        }
    }

    /// A data packet is at its destination.
    #[inline(always)]
    pub fn at_sink<A: Scheduler>(&mut self, scheduler: &mut A, message: &Message) {
        self.fabric.deliver(&mut self.sinks, scheduler, message);
    }

    /// An acknowledgement is at the source.
    #[inline(always)]
    pub fn at_source<A: Scheduler>(&mut self, scheduler: &mut A, flow: usize, message: &Message) {
        let ack = self.fabric.sacks.take_ack(message);
        self.send(scheduler, flow, message.key(), |source, out| source.on_ack(message.time, &ack, out));
    }

    /// A link is free, where that is an event: its next service starts.
    #[inline]
    pub fn serve<A: Scheduler>(&mut self, scheduler: &mut A, link: LinkId, now: Time) {
        if let Some(message) = self.fabric.serve(scheduler, link, now) {
            self.at_sink(scheduler, &message);
        }
    }

    /// Lets a source act, sends what it puts out and sees to its timer.
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

/// Takes what an endpoint sends.
pub(crate) trait Out<T> {
    /// The next packet.
    fn put(&mut self, packet: &T);
    /// Whether the endpoint has received a packet whose header says how long the way is.
    fn set_peer_ttl_known(&mut self, peer_ttl_known: bool);
    /// Whether the packets that follow are the last of an object that an application has asked for.
    fn ends_object(&mut self, _ends: bool) {}
}

/// Puts the data packets of a source on their path.
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
    #[inline(never)]
    fn put(&mut self, data: &Data) {
        let mut message = Message::of_data(self.key, self.step, self.dscp, self.peer_ttl_known, data);
        if self.last {
            message.mark_last();
        }
        if self.fabric.enter(self.scheduler, &mut message) {
            self.fabric.deliver(self.sinks, self.scheduler, &message);
        }
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

/// Puts the acknowledgements of a sink on their path.
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
        let arrived = self.fabric.enter(self.scheduler, &mut message);
        debug_assert!(!arrived, "a source is never evaluated ahead");
    }

    #[inline]
    fn set_peer_ttl_known(&mut self, peer_ttl_known: bool) {
        self.peer_ttl_known = peer_ttl_known;
    }
}

impl Fabric {
    /// An endpoint puts a packet on its path. Whether it is at its destination at once.
    #[inline(always)]
    fn enter<A: Scheduler>(&mut self, scheduler: &mut A, message: &mut Message) -> bool {
        let step = self.paths.at(message.step);
        let Next::Link(link) = step.next() else { return false };
        if A::GLOBAL_ORDER || step.is_ahead() {
            self.carry(scheduler, link, message)
        } else {
            scheduler.entered(link, message);
            false
        }
    }

    /// A packet arrives at the queue of a link; it is carried as far as its way is known. Whether it is at its
    /// destination.
    #[inline(always)]
    fn carry<A: Scheduler>(&mut self, scheduler: &mut A, mut link: LinkId, message: &mut Message) -> bool {
        loop {
            let goes_on = match &mut self.links[link as usize] {
                Link::UnobservedDropTail(link) => link.arrive(&self.paths, message),
                Link::InOrder(link) => link.arrive(&self.paths, message),
                Link::Queue(_) => {
                    if !self.queue(scheduler, link, message) {
                        return false;
                    }
                    true
                }
            };
            if !goes_on {
                self.sacks.release(message);
                return false;
            }
            if message.time >= self.end {
                return false;
            }
            message.step += 1;
            let step = self.paths.at(message.step);
            if !step.is_ahead() {
                scheduler.sent(step.next(), message);
                return false;
            }
            match step.next() {
                Next::Link(next) => link = next,
                Next::Endpoint(_) => return true,
            }
        }
    }

    /// A packet arrives at a queue where ends of service are events. Whether it goes on at once.
    fn queue<A: Scheduler>(&mut self, scheduler: &mut A, link: LinkId, message: &mut Message) -> bool {
        let Self { links, paths, sacks, .. } = self;
        let Link::Queue(queue) = &mut links[link as usize] else { return false };
        let goes_on = queue.arrive(paths, message);
        queue.take_dropped(Some(message), |dropped| sacks.release(dropped));
        if A::GLOBAL_ORDER
            && !goes_on
            && let Some(end) = queue.announce()
        {
            scheduler.serving(link, end);
        }
        goes_on
    }

    /// A link is free, where that is an event: its next service starts. What is returned is at its destination.
    fn serve<A: Scheduler>(&mut self, scheduler: &mut A, link: LinkId, now: Time) -> Option<Message> {
        let Self { links, sacks, .. } = self;
        let Link::Queue(queue) = &mut links[link as usize] else { return None };
        let served = queue.serve(now);
        queue.take_dropped(None, |dropped| sacks.release(dropped));
        let mut message = served?;
        if A::GLOBAL_ORDER
            && let Some(end) = queue.announce()
        {
            scheduler.serving(link, end);
        }
        if message.time >= self.end {
            return None;
        }
        message.step += 1;
        let step = self.paths.at(message.step);
        match step.next() {
            next if !step.is_ahead() => {
                scheduler.sent(next, &message);
                None
            }
            Next::Link(next) => self.carry(scheduler, next, &mut message).then_some(message),
            Next::Endpoint(_) => Some(message),
        }
    }

    /// A data packet is at its destination.
    #[inline(always)]
    fn deliver<A: Scheduler>(&mut self, sinks: &mut [Sink], scheduler: &mut A, message: &Message) {
        let flow = self.paths.flow(message);
        self.acknowledge(&mut sinks[flow], scheduler, flow, message.key(), |sink, out| {
            sink.on_data(message, out)
        });
    }

    /// Lets a sink act, sends what it puts out and sees to its timer.
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
