//! A queue outside the simulator: one discipline whose caller passes time, packets and random numbers.
//!
//! [`StandaloneQueue`] keeps the numbers of packets, not the packets: each decision names the packets that were dropped or marked, and
//! each departure the packet to send. The C library, test vectors and comparisons with other implementations use it.

use aqmlab_units::{Random, Time};

use crate::{Backlog, Dequeue, Discipline, DropReason, Gauge, Host, Meta, Packet, Qdisc, Resolved, Verdict};

/// The caller's own data of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// Number of the packet, chosen by the caller; the packets that wait have different ones.
    pub id: u64,
    /// Numbers of the source host and of the destination host, for disciplines with host isolation; `[flow, flow]` where
    /// hosts are not known ([`Tag::new`]).
    pub hosts: [u32; 2],
}

impl Tag {
    /// Tag a packet of this flow whose hosts are not known.
    pub fn new(id: u64, flow: u32) -> Self {
        Self { id, hosts: [flow; 2] }
    }
}

/// The effect of a decision on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The packet left the queue and is not sent.
    Dropped,
    /// The packet's ECN field was set to CE; it stays in the queue, or leaves by the call that marked it.
    Marked,
}

/// A packet that was dropped or marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Number of the packet.
    pub id: u64,
    /// Dropped or marked.
    pub effect: Effect,
    /// The discipline's reason.
    pub reason: DropReason,
}

/// Random numbers of a list, in order. Once they are used up, each is 2^63, which stands for one half.
#[derive(Clone, Debug)]
pub struct Listed<'a> {
    numbers: &'a [u64],
    drawn: usize,
}

impl<'a> Listed<'a> {
    /// Create a source of these numbers.
    pub fn new(numbers: &'a [u64]) -> Self {
        Self { numbers, drawn: 0 }
    }

    /// Return how many numbers were drawn; more than the list has if it was too short.
    pub fn drawn(&self) -> usize {
        self.drawn
    }
}

impl Random for Listed<'_> {
    fn bits64(&mut self) -> u64 {
        let number = self.numbers.get(self.drawn).copied().unwrap_or(1 << 63);
        self.drawn += 1;
        number
    }
}

/// A queue of packets that its caller numbers.
///
/// A caller serves it as a link does: it asks for the next packet ([`StandaloneQueue::dequeue`]) whenever a transmission ends, and after an arrival while
/// it transmits nothing. Where the answer is [`Dequeue::Empty`], the idle time of the queue begins.
///
/// `now` never decreases from call to call. Each call first handles the timers of the discipline that are due by then, each at its time.
#[derive(Clone, Debug)]
pub struct StandaloneQueue {
    discipline: Discipline<Tag>,
    now: Time,
    events: Vec<Event>,
}

/// The host of one call.
struct Caller<'a, R> {
    events: &'a mut Vec<Event>,
    random: &'a mut R,
}

impl<R: Random> Host<Tag> for Caller<'_, R> {
    fn uniform(&mut self) -> f64 {
        self.random.uniform()
    }

    fn below(&mut self, n: u64) -> u64 {
        self.random.below(n)
    }

    fn dropped(&mut self, packet: Packet<Tag>, reason: DropReason) {
        self.events.push(Event { id: packet.payload.id, effect: Effect::Dropped, reason });
    }

    fn marked(&mut self, packet: &Packet<Tag>, reason: DropReason) {
        self.events.push(Event { id: packet.payload.id, effect: Effect::Marked, reason });
    }

    fn hosts(&mut self, packet: &Packet<Tag>) -> [u32; 2] {
        packet.payload.hosts
    }
}

impl StandaloneQueue {
    /// Create an empty queue at time 0.
    pub fn new(queue: &Resolved) -> Self {
        Self { discipline: queue.build(), now: Time::ZERO, events: Vec::new() }
    }

    /// Enqueue a packet, whose [`Meta::arrival`] becomes `now`, and return the decision about it. Other packets may be dropped or
    /// marked too: [`StandaloneQueue::events`].
    ///
    /// # Panics
    /// If `now` is before the last call.
    pub fn enqueue(&mut self, now: Time, meta: Meta, tag: Tag, random: &mut impl Random) -> Verdict {
        let meta = Meta { arrival: now, ..meta };
        self.call(now, random, |discipline, caller| {
            discipline.enqueue(now, Packet { meta, payload: tag }, caller);
        });
        match self.verdict_of(tag.id) {
            None => Verdict::Accept,
            Some(Event { effect: Effect::Marked, reason, .. }) => Verdict::Mark(*reason),
            Some(Event { effect: Effect::Dropped, reason, .. }) => Verdict::Drop(*reason),
        }
    }

    /// Return the last event of the last call about this packet, if it was dropped or marked.
    pub fn verdict_of(&self, id: u64) -> Option<&Event> {
        self.events.iter().rfind(|event| event.id == id)
    }

    /// Return the next packet to send, with its header as the queue leaves it. Packets may be dropped or marked at their departure:
    /// [`StandaloneQueue::events`].
    ///
    /// # Panics
    /// If `now` is before the last call.
    pub fn dequeue(&mut self, now: Time, random: &mut impl Random) -> Dequeue<Tag> {
        self.call(now, random, |discipline, caller| discipline.dequeue(now, caller))
    }

    /// Handle the timers that are due by `now`. Only a caller that reads gauges between packets needs it.
    ///
    /// # Panics
    /// If `now` is before the last call.
    pub fn advance(&mut self, now: Time, random: &mut impl Random) {
        self.call(now, random, |_, _| ());
    }

    /// Return the packets that the last call dropped or marked, in the order of the decisions.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Return the time of the last call.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Return the time of the next timer, if any.
    pub fn next_timer(&self) -> Option<Time> {
        self.discipline.next_timer()
    }

    /// Return the time before which the discipline's own shaper lets no packet leave, if packets wait and it holds them back.
    pub fn not_before(&self) -> Option<Time> {
        self.discipline.not_before(self.now)
    }

    /// Return the packets and bytes waiting.
    pub fn backlog(&self) -> Backlog {
        self.discipline.backlog()
    }

    /// Publish the gauges: always the same names in the same order, with the values after the last call.
    pub fn gauges(&self, out: &mut dyn FnMut(Gauge, f64)) {
        self.discipline.gauges(self.now, out);
    }

    /// Return one gauge; `None` if the discipline has none of this name.
    pub fn gauge(&self, name: &str) -> Option<f64> {
        self.discipline.gauge(self.now, name)
    }

    /// Return the average of each class in packets; empty for disciplines other than RED and its descendants.
    pub fn averages(&self) -> Vec<f64> {
        match &self.discipline {
            #[cfg(feature = "red")]
            Discipline::Red(red) => (0..red.classes()).map(|class| red.average_of(class)).collect(),
            _ => Vec::new(),
        }
    }

    fn call<R: Random, T>(
        &mut self,
        now: Time,
        random: &mut R,
        operation: impl FnOnce(&mut Discipline<Tag>, &mut Caller<'_, R>) -> T,
    ) -> T {
        assert!(now >= self.now, "time runs backwards: {} ps after {} ps", now.0, self.now.0);
        self.now = now;
        self.events.clear();
        let mut caller = Caller { events: &mut self.events, random };
        while let Some(due) = self.discipline.next_timer()
            && due <= now
        {
            self.discipline.on_timer(due, &mut caller);
        }
        operation(&mut self.discipline, &mut caller)
    }
}
