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
use crate::heap::Heap;
use crate::key::Key;
use crate::link::Link;
use crate::packet::{SackStore, SimPacket, flow_of};
use crate::paths::{Next, Paths};
use crate::plan::{LinkId, Plan};
use crate::sink::Sink;
use crate::source::Source;
use crate::target::{Numbering, Target};
use crate::wire::Departure;

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
pub struct Simulation {
    pub(crate) plan: Plan,
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

impl Simulation {
    /// A run of `plan` with this seed, at time 0; what the plan leaves to chance is drawn here.
    ///
    /// # Panics
    /// If a flow has no path there and back; in a checked plan every flow has.
    pub fn new(plan: &Plan, seed: u64, options: Options) -> Self {
        let plan = plan.drawn(seed);
        let links = 0..plan.links.len() as LinkId;
        let links: Vec<_> = links.map(|id| Link::new(id, &plan, seed, options.shortcuts)).collect();
        let flows = || plan.flows.iter().enumerate();
        let sources = flows().map(|(i, flow)| Source::new(i, flow, &plan, seed)).collect();
        let sinks = flows().map(|(i, flow)| Sink::new(i, flow, &plan)).collect();
        let mut paths = Paths::new(&plan);
        if options.shortcuts {
            feeders::allow_ahead(&plan, &mut paths, &links);
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

    /// What the disciplines have found to be probably not meant, with the names of their links.
    pub fn warnings(&self) -> Vec<String> {
        let links = self.plan.links.iter().zip(&self.links);
        links.flat_map(|(p, l)| l.warnings().into_iter().map(|w| format!("link {}: {w}", p.name))).collect()
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
            self.heap.push(flow.start_time(), Time::ZERO, self.numbering.slot(Target::Start(i as u32)));
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
                self.start(flow, key);
            }
            Target::Stop(flow) => {
                self.heap.pop();
                self.stop(flow, key);
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

    /// A period of a flow begins; its end is known from the plan.
    fn start(&mut self, flow: u32, key: Key) {
        let source = &mut self.sources[flow as usize];
        if let Some((_, end)) = source.next_period().filter(|_| source.has_begun()) {
            self.heap.push(end, Time::ZERO, self.numbering.slot(Target::Stop(flow)));
        }
        source.start(key.time, &mut self.to_send);
        self.send(flow as usize, key);
    }

    /// A period of a flow ends, and the next may follow.
    fn stop(&mut self, flow: u32, key: Key) {
        let source = &mut self.sources[flow as usize];
        source.stop(key.time, &mut self.to_send);
        if let Some((start, _)) = source.next_period().filter(|_| source.has_begun()) {
            self.heap.push(start, Time::ZERO, self.numbering.slot(Target::Start(flow)));
        }
        self.send(flow as usize, key);
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
            self.sources[flow].header.learn(packet);
            self.sources[flow].on_ack(key.time, &ack, &mut self.to_send);
            self.send(flow, key);
        } else {
            let ce = packet.meta.ecn == Ecn::Ce;
            self.sinks[flow].on_data(key.time, packet, ce, &mut self.to_ack);
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
                let packet = self.sources[flow].header.data_packet(&data);
                self.emit(key, packet);
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
                let packet = self.sacks.ack_packet(&self.sinks[flow].header, &ack);
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
