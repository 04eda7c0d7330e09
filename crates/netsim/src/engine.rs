//! The event-queue engine: stations evaluated one event at a time, in the order of their keys.
//!
//! Three shortcuts, all exact, since a station is a function of its own inputs in their order:
//! * A link whose discipline departs in order has no events of its own: departures are computed at arrival.
//! * Of the packets on a wire only the first is a pending event.
//! * A station that is fed by one other station alone gets its inputs in order anyway: it is evaluated at once when
//!   the input is known, ahead of the global order, and the packet is never an event between the two.
//!
//! Timers are lazy: a wake-up that comes too early goes to sleep again.

use aqmlab_aqm::{Ecn, Kind};
use aqmlab_transport::{Ack, Data, Timer};
use aqmlab_units::Time;

use crate::feeders;
use crate::flow::{Sink, Source};
use crate::heap::Heap;
use crate::key::Key;
use crate::link::{Departure, Link};
use crate::observe::Observation;
use crate::packet::{SackStore, SimPacket, data_packet, flow_of, to_data};
use crate::paths::{Next, Paths};
use crate::plan::{LinkId, Plan};

/// What an event is for; its number among all of them is its slot in the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// The first packet on this link's wire arrives.
    Arrival(u32),
    /// The service in progress at this link ends.
    ServiceEnd(u32),
    /// This flow starts.
    Start(u32),
    /// This flow's application has nothing more to send.
    Stop(u32),
    /// This flow's sender wanted to be woken.
    Sender(u32),
    /// This flow's receiver wanted to be woken.
    Receiver(u32),
}

/// Slots and source stations: first the links, then two ends a flow.
#[derive(Clone, Copy, Debug)]
struct Numbering {
    links: u32,
    flows: u32,
}

impl Numbering {
    fn slot(self, target: Target) -> u32 {
        let Self { links, .. } = self;
        match target {
            Target::Arrival(link) => link,
            Target::ServiceEnd(link) => links + link,
            Target::Start(flow) => 2 * links + 4 * flow,
            Target::Stop(flow) => 2 * links + 4 * flow + 1,
            Target::Sender(flow) => 2 * links + 4 * flow + 2,
            Target::Receiver(flow) => 2 * links + 4 * flow + 3,
        }
    }

    #[inline]
    fn target(self, slot: u32) -> Target {
        if slot < self.links {
            return Target::Arrival(slot);
        }
        if slot < 2 * self.links {
            return Target::ServiceEnd(slot - self.links);
        }
        let flow = (slot - 2 * self.links) / 4;
        match (slot - 2 * self.links) % 4 {
            0 => Target::Start(flow),
            1 => Target::Stop(flow),
            2 => Target::Sender(flow),
            _ => Target::Receiver(flow),
        }
    }

    /// The station that a slot's events come from.
    fn source(self, slot: u32) -> u32 {
        match self.target(slot) {
            Target::Arrival(link) | Target::ServiceEnd(link) => link,
            Target::Start(flow) | Target::Stop(flow) | Target::Sender(flow) => self.links + 2 * flow,
            Target::Receiver(flow) => self.links + 2 * flow + 1,
        }
    }

    fn slots(self) -> u32 {
        2 * self.links + 4 * self.flows
    }
}

/// How to evaluate a plan; all ways give the same results.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Take the exact shortcuts. Off: every end of service and every arrival is an event.
    pub shortcuts: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { shortcuts: true }
    }
}

/// A run in progress.
#[derive(Clone, Debug)]
pub struct Simulation<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) links: Vec<Link>,
    pub(crate) sources: Vec<Source>,
    pub(crate) sinks: Vec<Sink>,
    paths: Paths,
    sacks: SackStore,
    heap: Heap,
    numbering: Numbering,
    events: u64,
    to_send: Vec<Data>,
    to_ack: Vec<Ack>,
}

impl<'a> Simulation<'a> {
    /// A run of `plan` with this seed, at time 0.
    ///
    /// # Panics
    /// If a flow has no path there and back; a checked plan has.
    pub fn new(plan: &'a Plan, seed: u64, options: Options) -> Self {
        let observed =
            |i: usize| plan.probe.links.contains(&(i as LinkId)).then(|| Observation::new(&plan.probe));
        let links = plan.links.iter().enumerate();
        let links: Vec<_> = links
            .map(|(i, link)| Link::new(i as u32, link, seed, plan.warmup, observed(i), options.shortcuts))
            .collect();
        let sources = plan.flows.iter();
        let sources = sources.map(|f| Source::new(f, seed, plan.warmup, plan.probe.cwnd_interval)).collect();
        let sinks = plan.flows.iter().map(|f| Sink::new(f, plan.warmup)).collect();
        let mut paths = Paths::new(plan);
        if options.shortcuts {
            feeders::allow_ahead(plan, &mut paths, &links);
        }
        let numbering = Numbering { links: plan.links.len() as u32, flows: plan.flows.len() as u32 };
        let mut simulation = Self {
            plan,
            links,
            sources,
            sinks,
            paths,
            sacks: SackStore::default(),
            heap: Heap::new((0..numbering.slots()).map(|slot| numbering.source(slot))),
            numbering,
            events: 0,
            to_send: Vec::new(),
            to_ack: Vec::new(),
        };
        simulation.schedule_applications();
        simulation
    }

    /// Goes on to just before `until` (or the end of the run, if that is earlier).
    pub fn run_until(&mut self, until: Time) {
        let until = until.min(self.end());
        while let Some((time, slot)) = self.heap.first()
            && time < until
        {
            self.events += 1;
            self.evaluate(self.heap.key(time, slot), self.numbering.target(slot));
        }
    }

    /// Ends the run: all counters are those at the end instant.
    pub fn finish(&mut self) {
        let end = self.end();
        self.run_until(end);
        self.links.iter_mut().for_each(|l| l.finish(end));
        self.sources.iter_mut().for_each(|f| f.end(end));
        self.sinks.iter_mut().for_each(|f| f.end(end));
    }

    /// Events evaluated so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The links that the data packets of flow `flow` cross, in order.
    pub fn path(&self, flow: usize) -> impl Iterator<Item = u32> {
        self.paths.links(flow, Kind::Data)
    }

    fn end(&self) -> Time {
        Time::ZERO + self.plan.duration
    }

    fn schedule_applications(&mut self) {
        for (i, flow) in self.sources.iter().enumerate() {
            self.heap.push(flow.start, Time::ZERO, self.numbering.slot(Target::Start(i as u32)));
            if let Some(stop) = self.plan.flows[i].stop {
                self.heap.push(stop, Time::ZERO, self.numbering.slot(Target::Stop(i as u32)));
            }
        }
    }

    #[inline]
    fn evaluate(&mut self, key: Key, target: Target) {
        match target {
            Target::Arrival(link) => {
                let station = &mut self.links[link as usize];
                let arrived = station.take_arrival();
                match station.next_arrival() {
                    Some(next) => self.heap.postpone_first(next.time, next.cause),
                    None => self.heap.pop(),
                }
                if let Some(packet) = arrived {
                    self.forward(key, packet);
                }
            }
            Target::ServiceEnd(link) => {
                self.heap.pop();
                self.serve(link, key.time);
            }
            Target::Start(flow) => {
                self.heap.pop();
                self.sources[flow as usize].start(key.time, &mut self.to_send);
                self.send(flow as usize, key);
            }
            Target::Stop(flow) => {
                self.heap.pop();
                self.sources[flow as usize].stop(key.time, &mut self.to_send);
                self.send(flow as usize, key);
            }
            Target::Sender(flow) => {
                self.heap.pop();
                self.wake_source(flow as usize, key);
            }
            Target::Receiver(flow) => {
                self.heap.pop();
                self.wake_sink(flow as usize, key);
            }
        }
    }

    /// A packet is at the far end of a link: on to the next, or to its endpoint.
    #[inline]
    fn forward(&mut self, key: Key, mut packet: SimPacket) {
        packet.payload.step += 1;
        match self.paths.at(packet.payload.step).0 {
            Next::Link(link) => {
                packet.meta.ttl = packet.meta.ttl.saturating_sub(1);
                self.carry(link, key, packet);
            }
            Next::Endpoint => self.deliver(key, &packet),
        }
    }

    /// A packet is at its endpoint.
    #[inline]
    fn deliver(&mut self, key: Key, packet: &SimPacket) {
        let flow = flow_of(&packet.meta);
        if packet.meta.kind == Kind::Ack {
            let ack = self.sacks.take_ack(packet);
            self.sources[flow].on_ack(key.time, &ack, &mut self.to_send);
            self.send(flow, key);
        } else {
            let ce = packet.meta.ecn == Ecn::Ce;
            self.sinks[flow].on_data(key.time, &to_data(packet), ce, &mut self.to_ack);
            self.acknowledge(flow, key);
        }
    }

    /// A packet arrives at the queue of a link; it is carried as far as its way is known.
    fn carry(&mut self, mut link: u32, mut key: Key, mut packet: SimPacket) {
        let end_of_run = self.end();
        loop {
            let station = &mut self.links[link as usize];
            let departure = station.arrive(key, &mut packet);
            for packet in station.take_dropped() {
                self.sacks.release(&packet);
            }
            let Some(departure) = departure else {
                if station.wants_to_serve() {
                    self.serve(link, key.time);
                }
                return;
            };
            let (next, ahead) = self.paths.at(packet.payload.step + 1);
            if !ahead || departure.arrives >= end_of_run {
                return self.put_on_wire(link, departure, &packet);
            }
            key = departure.arrival(link);
            packet.payload.step += 1;
            match next {
                Next::Link(next) => {
                    packet.meta.ttl = packet.meta.ttl.saturating_sub(1);
                    link = next;
                }
                Next::Endpoint => return self.deliver(key, &packet),
            }
        }
    }

    /// A link is free, where that is an event: its next service starts.
    fn serve(&mut self, link: u32, now: Time) {
        let station = &mut self.links[link as usize];
        let served = station.on_free(now);
        for packet in station.take_dropped() {
            self.sacks.release(&packet);
        }
        let Some((departure, packet)) = served else { return };
        if let Some(end) = station.service_end() {
            self.heap.push(end.time, end.cause, self.numbering.slot(Target::ServiceEnd(link)));
        }
        self.put_on_wire(link, departure, &packet);
    }

    #[inline]
    fn put_on_wire(&mut self, link: u32, departure: Departure, packet: &SimPacket) {
        if self.links[link as usize].put_on_wire(departure, packet) {
            self.heap.push(departure.arrives, departure.starts, self.numbering.slot(Target::Arrival(link)));
        }
    }

    /// Sends what a source has put out, and sees to its timer.
    #[inline]
    fn send(&mut self, flow: usize, key: Key) {
        if !self.to_send.is_empty() {
            let mut packets = core::mem::take(&mut self.to_send);
            for data in packets.drain(..) {
                self.emit(key, data_packet(flow, &data));
            }
            self.to_send = packets;
        }
        let source = &mut self.sources[flow];
        let timer = source.timer();
        schedule(&mut self.heap, &mut source.wake, timer, self.numbering.slot(Target::Sender(flow as u32)));
    }

    /// Sends what a sink has put out, and sees to its timer.
    #[inline]
    fn acknowledge(&mut self, flow: usize, key: Key) {
        if !self.to_ack.is_empty() {
            let mut acks = core::mem::take(&mut self.to_ack);
            for ack in acks.drain(..) {
                let packet = self.sacks.ack_packet(flow, &ack);
                self.emit(key, packet);
            }
            self.to_ack = acks;
        }
        let sink = &mut self.sinks[flow];
        let timer = sink.timer();
        schedule(&mut self.heap, &mut sink.wake, timer, self.numbering.slot(Target::Receiver(flow as u32)));
    }

    /// An endpoint puts a packet on its path.
    #[inline]
    fn emit(&mut self, key: Key, mut packet: SimPacket) {
        packet.payload.step = self.paths.first(flow_of(&packet.meta), packet.meta.kind);
        if let (Next::Link(link), _) = self.paths.at(packet.payload.step) {
            self.carry(link, key, packet);
        }
    }

    fn wake_source(&mut self, flow: usize, key: Key) {
        let source = &mut self.sources[flow];
        let due = source.timer();
        if is_due(&mut source.wake, due, key) {
            source.on_timer(key.time, &mut self.to_send);
        }
        self.send(flow, key);
    }

    fn wake_sink(&mut self, flow: usize, key: Key) {
        let sink = &mut self.sinks[flow];
        let due = sink.timer();
        if is_due(&mut sink.wake, due, key) {
            sink.on_timer(key.time, &mut self.to_ack);
        }
        self.acknowledge(flow, key);
    }
}

/// Schedules a wake-up for `timer` unless one is pending that comes no later. One that comes later stays behind in
/// the heap and finds nothing to do.
#[inline]
fn schedule(heap: &mut Heap, pending: &mut Option<Timer>, timer: Option<Timer>, slot: u32) {
    if let Some(timer) = timer
        && pending.is_none_or(|p| timer.deadline < p.deadline)
    {
        *pending = Some(timer);
        heap.push(timer.deadline, timer.set_at, slot);
    }
}

/// Whether the wake-up with this key is the pending one and its timer is due; it is pending no longer.
fn is_due(pending: &mut Option<Timer>, due: Option<Timer>, key: Key) -> bool {
    let this = Timer { deadline: key.time, set_at: key.cause };
    if *pending != Some(this) {
        return false;
    }
    *pending = None;
    due == Some(this)
}
