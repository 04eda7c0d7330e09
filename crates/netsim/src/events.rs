//! The event-queue engine: stations evaluated one event at a time, in the order of their keys all over the network.
//!
//! Three shortcuts, all exact, since a station is a function of its own inputs in their order:
//! * A link whose discipline departs in order has no events of its own: departures are computed at arrival.
//! * Of the packets on a wire only the first is a pending event.
//! * A station that is fed by one other station alone gets its inputs in order anyway: it is evaluated at once when
//!   the input is known, ahead of the global order, and the packet is never an event between the two.
//!
//! Timers are lazy: a wake-up that comes too early goes to sleep again.

use std::collections::VecDeque;

use aqmlab_transport::Timer;
use aqmlab_units::Time;

use crate::heap::Heap;
use crate::key::Key;
use crate::message::Message;
use crate::network::{Network, Scheduler};
use crate::paths::Next;
use crate::plan::LinkId;
use crate::sink::Sink;
use crate::source::Source;
use crate::target::{Numbering, Target};

/// The events to come.
#[derive(Clone, Debug)]
pub(crate) struct Events {
    heap: Heap,
    numbering: Numbering,
    /// The packets on the wire of each link: first in, first out.
    wires: Vec<VecDeque<Message>>,
    /// The packets on the wires of links that do not send in order, by their keys. Each is a pending event.
    unordered: VecDeque<Message>,
    evaluated: u64,
}

impl Events {
    pub fn new(network: &Network) -> Self {
        let numbering = network.numbering;
        let heap = Heap::new((0..numbering.slots()).map(|slot| numbering.source(slot)));
        let wires = vec![VecDeque::new(); numbering.links as usize];
        let mut events = Self { heap, numbering, wires, unordered: VecDeque::new(), evaluated: 0 };
        network.announce(&mut events);
        events
    }

    /// Events evaluated so far.
    pub fn evaluated(&self) -> u64 {
        self.evaluated
    }

    /// Evaluates everything that comes before `until`.
    #[inline(never)]
    pub fn run_until(&mut self, network: &mut Network, until: Time) {
        while let Some((time, slot)) = self.heap.first()
            && time < until
        {
            self.evaluated += 1;
            self.evaluate(network, self.heap.key(), self.numbering.target(slot));
        }
    }

    /// Evaluates everything that comes before `key`.
    pub fn run_before(&mut self, network: &mut Network, key: Key) {
        while let Some((_, slot)) = self.heap.first()
            && self.heap.key() < key
        {
            self.evaluated += 1;
            self.evaluate(network, self.heap.key(), self.numbering.target(slot));
        }
    }

    /// Inlined where events are evaluated one after the other: a call for each costs 4 % of all instructions.
    #[inline(always)]
    fn evaluate(&mut self, network: &mut Network, key: Key, target: Target) {
        if let Target::Arrival(link) = target {
            let wire = &mut self.wires[link as usize];
            let arrived = wire.pop_front();
            match wire.front() {
                Some(next) => self.heap.postpone_first(next.time, next.cause),
                None => self.heap.pop(),
            }
            if let Some(mut message) = arrived.or_else(|| self.unordered.pop_front()) {
                network.arrive(self, &mut message);
            }
            return;
        }
        self.heap.pop();
        match target {
            Target::Arrival(_) => {}
            Target::ServiceEnd(link) => network.serve(self, link, key.time),
            Target::Start(flow) => network.start(self, flow, key),
            Target::Stop(flow) => network.stop(self, flow, key),
            Target::Sender(flow) => {
                let source = &mut network.sources[flow as usize];
                let due = source.timer();
                if is_due(&mut source.wake, due, key) {
                    network.source_timer(self, flow as usize, key);
                } else {
                    self.reschedule_source(flow as usize, source);
                }
            }
            Target::Receiver(flow) => {
                let sink = &mut network.sinks[flow as usize];
                let due = sink.timer();
                if is_due(sink.wake(), due, key) {
                    network.sink_timer(self, flow as usize, key);
                } else {
                    self.reschedule_sink(flow as usize, sink);
                }
            }
        }
    }

    /// Schedules a wake-up for `timer` unless one is pending that comes no later. One that comes later stays behind in
    /// the heap and finds nothing to do.
    #[inline]
    fn schedule(&mut self, pending: &mut Option<Timer>, timer: Option<Timer>, target: Target) {
        if let Some(timer) = timer
            && pending.is_none_or(|p| comes_before(timer, p))
        {
            *pending = Some(timer);
            self.heap.push(timer.deadline, timer.set_at, self.numbering.slot(target));
        }
    }
}

impl Scheduler for Events {
    const GLOBAL_ORDER: bool = true;

    #[inline]
    fn sent(&mut self, _to: Next, message: &Message) {
        let wire = &mut self.wires[message.source as usize];
        wire.push_back(*message);
        if wire.len() == 1 {
            let slot = self.numbering.slot(Target::Arrival(message.source));
            self.heap.push(message.time, message.cause, slot);
        }
    }

    fn sent_unordered(&mut self, _to: Next, message: &Message) {
        let place = self.unordered.partition_point(|other| other.key() <= message.key());
        self.unordered.insert(place, *message);
        self.heap.push(message.time, message.cause, self.numbering.slot(Target::Arrival(message.source)));
    }

    fn entered(&mut self, _link: LinkId, _message: &Message) {}

    fn serving(&mut self, link: LinkId, end: Key) {
        self.heap.push(end.time, end.cause, self.numbering.slot(Target::ServiceEnd(link)));
    }

    #[inline]
    fn reschedule_source(&mut self, flow: usize, source: &mut Source) {
        let timer = source.timer();
        self.schedule(&mut source.wake, timer, Target::Sender(flow as u32));
    }

    #[inline]
    fn reschedule_sink(&mut self, flow: usize, sink: &mut Sink) {
        let timer = sink.timer();
        if timer.is_some() {
            self.schedule(sink.wake(), timer, Target::Receiver(flow as u32));
        }
    }

    fn starts(&mut self, flow: u32, at: Time) {
        self.heap.push(at, Time::ZERO, self.numbering.slot(Target::Start(flow)));
    }

    fn stops(&mut self, flow: u32, at: Time) {
        self.heap.push(at, Time::ZERO, self.numbering.slot(Target::Stop(flow)));
    }
}

/// Whether a timer is due before another, or at the same time and is to be looked at first.
#[inline]
fn comes_before(timer: Timer, other: Timer) -> bool {
    timer.deadline <= other.deadline && (timer.deadline < other.deadline || timer.set_at < other.set_at)
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
