//! One direction of the link in logical time: what comes before the queue, the queue with its link, and what comes behind.
//!
//! ```text
//! offer -> delay before, by group -> random loss -> queue and link (rate, delay) -> delay behind, by group -> out
//! ```
//!
//! No clock and no input or output: packets are buffers with a header, time is an argument. Queue and link are the station
//! of the simulator, so its decisions, books and probes are the same, given the same arrivals. A direction without a queue
//! is delay and loss only.

use aqmlab_aqm::{Ecn, Kind, Packet};
use aqmlab_netsim::plan::{LinkId, Plan};
use aqmlab_netsim::standalone_link::{StandaloneLink, StandaloneOptions};
use aqmlab_units::{Span, Stream, Time};

use crate::buffer::Buffer;
use crate::classify::Group;
use crate::delay_line::Lines;
use crate::flows::FlowBook;

/// What a group's packets have before the queue, and behind the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// Delay from the sender to the queue.
    pub before: Span,
    /// Delay from the end of the link to the receiver.
    pub behind: Span,
}

/// What a direction is made of.
#[derive(Clone, Debug)]
pub struct Setting<'a> {
    /// `forward` or `reverse`; names the random stream of the loss.
    pub name: &'static str,
    /// The plan.
    pub plan: &'a Plan,
    /// Its link with the queue; none: delay only.
    pub link: Option<LinkId>,
    /// Seed of the random numbers.
    pub seed: u64,
    /// How the link is to be.
    pub options: StandaloneOptions,
    /// The groups, as the classifier has them.
    pub groups: &'a [Group],
    /// The ways of the groups.
    pub ways: Vec<Way>,
    /// Probability that a packet is lost before the queue.
    pub loss: f64,
    /// Flows that are known at most.
    pub flows: usize,
}

/// Packets by what became of them, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fates {
    /// Offered.
    pub offered: u64,
    /// Handed out at the end of the way.
    pub out: u64,
    /// Dropped by the discipline.
    pub dropped: u64,
    /// Lost by chance before the queue.
    pub lost: u64,
}

/// One direction; see the text of the module.
#[derive(Clone, Debug)]
pub struct Bottleneck {
    name: &'static str,
    link: Option<StandaloneLink<Buffer>>,
    before: Lines,
    behind: Lines,
    loss: f64,
    rng: Stream,
    flows: FlowBook,
    fates: Fates,
    freed: Vec<Buffer>,
    /// When the warm-up ends, until it has.
    warmup: Option<Time>,
}

impl Bottleneck {
    /// At time 0, empty.
    pub fn new(setting: &Setting<'_>) -> Self {
        let room = setting.options.room;
        let ways = || setting.ways.iter();
        let link = |id| StandaloneLink::new(setting.plan, id, setting.seed, setting.options);
        Self {
            name: setting.name,
            link: setting.link.map(link),
            before: Lines::new(ways().map(|way| way.before), room),
            behind: Lines::new(ways().map(|way| way.behind), room),
            loss: setting.loss,
            rng: Stream::new(setting.seed, &format!("loss {}", setting.name)),
            flows: FlowBook::new(setting.plan, setting.groups, setting.flows),
            fates: Fates::default(),
            freed: Vec::with_capacity(room),
            warmup: Some(Time::ZERO + setting.plan.warmup),
        }
    }

    /// A packet enters at `now`. Times never decrease from call to call.
    pub fn offer(&mut self, now: Time, packet: Packet<Buffer>) {
        self.fates.offered += 1;
        self.before.push(now, packet);
        self.arrive_until(now);
    }

    /// A flow that others had the number of before begins; its first packet is still to be offered.
    pub fn begin_flow(&mut self, flow: u32, generation: u32) {
        self.flows.begin(flow, generation);
    }

    /// Goes on to `to` and hands out what has come to the end of its way by then, in order of time.
    pub fn advance(&mut self, to: Time, out: &mut impl FnMut(Time, Packet<Buffer>)) {
        self.arrive_until(to);
        self.depart_until(to);
        while let Some((time, packet)) = self.behind.pop(to) {
            self.fates.out += 1;
            out(time, packet);
        }
    }

    /// When there is something to do next.
    pub fn next_event(&self) -> Option<Time> {
        let link = self.link.as_ref().and_then(StandaloneLink::next_event);
        [self.before.next(), link, self.behind.next()].into_iter().flatten().min()
    }

    /// Hands out the buffers of packets that were dropped or lost since the last call.
    pub fn take_freed(&mut self, take: impl FnMut(Buffer)) {
        self.freed.drain(..).for_each(take);
    }

    /// Brings the books to the end of the run.
    pub fn finish(&mut self, end: Time) {
        self.arrive_until(end);
        if let Some(link) = &mut self.link {
            link.finish(end);
        }
        self.note_dropped();
    }

    /// Another plan, other ways, another loss, from `now` on; see [`StandaloneLink::renew`].
    pub fn renew(&mut self, now: Time, setting: &Setting<'_>, is_same_queue: bool) {
        self.arrive_until(now);
        if let (Some(link), Some(id)) = (&mut self.link, setting.link) {
            link.renew(now, setting.plan, id, is_same_queue);
        }
        self.before.set_delays(setting.ways.iter().map(|way| way.before));
        self.behind.set_delays(setting.ways.iter().map(|way| way.behind));
        self.loss = setting.loss;
    }

    /// Name of the direction.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The link with its queue, if there is one.
    pub fn link(&self) -> Option<&StandaloneLink<Buffer>> {
        self.link.as_ref()
    }

    /// What was counted of flows.
    pub fn flows(&self) -> &FlowBook {
        &self.flows
    }

    /// What became of all packets.
    pub fn fates(&self) -> Fates {
        self.fates
    }

    /// Packets on their way: offered, and neither out nor dropped nor lost.
    pub fn held(&self) -> u64 {
        (self.before.held() + self.link.as_ref().map_or(0, StandaloneLink::held) + self.behind.held()) as u64
    }

    /// Packets that come to the queue until `to`. What came and left before the warm-up was over is forgotten first.
    fn arrive_until(&mut self, to: Time) {
        if let Some(warmup) = self.warmup.filter(|warmup| *warmup <= to) {
            self.warmup = None;
            if let Some(just_before) = warmup.0.checked_sub(1).map(Time) {
                self.arrive_until(just_before);
                self.depart_until(just_before);
            }
            self.flows.reset_stats();
        }
        while let Some((time, packet)) = self.before.pop(to) {
            self.arrive(time, packet);
        }
    }

    /// Packets that leave the link until `to`.
    fn depart_until(&mut self, to: Time) {
        let Self { link, behind, flows, .. } = self;
        if let Some(link) = link {
            link.advance(to, |time, packet| {
                let is_marked = packet.meta.header.ecn() == Ecn::Ce && !packet.payload.was_ce;
                flows.departed(time, &packet.payload, packet.meta.bytes, is_marked);
                behind.push(time, packet);
            });
            self.note_dropped();
        }
    }

    fn arrive(&mut self, now: Time, mut packet: Packet<Buffer>) {
        if self.loss > 0.0 && self.rng.uniform() < self.loss {
            self.fates.lost += 1;
            self.freed.push(packet.payload);
            return;
        }
        let is_data = packet.meta.header.kind() == Kind::Data;
        packet.payload.marked_as = self.flows.arrived(now, &packet.payload, packet.meta.bytes, is_data);
        match &mut self.link {
            Some(link) => {
                link.offer(now, packet);
                self.note_dropped();
            }
            None => {
                self.flows.departed(now, &packet.payload, packet.meta.bytes, false);
                self.behind.push(now, packet);
            }
        }
    }

    /// What the discipline has dropped is counted, and its buffer is free.
    fn note_dropped(&mut self) {
        let Self { link, flows, fates, freed, .. } = self;
        if let Some(link) = link {
            link.take_dropped(|buffer| {
                fates.dropped += 1;
                flows.dropped(&buffer);
                freed.push(buffer);
            });
        }
    }
}
