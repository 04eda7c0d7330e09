//! One direction of the emulated link in logical time: delay and loss before the queue, the queue with its link, delay after it.
//!
//! ```text
//! offer -> delay before, by group -> random loss -> queue and link (rate, delay) -> delay after, by group -> out
//! ```
//!
//! The code reads no clock and does no input or output: packets are buffers with a header, time is an argument. Queue and
//! link are the station of the simulator, so that decisions, counters and probes are the same, given the same arrivals. A
//! direction without a queue has delay and loss only.

use aqmlab_aqm::{Ecn, Kind, Packet};
use aqmlab_netsim::plan::{LinkId, Plan};
use aqmlab_netsim::standalone_link::{Passage, StandaloneLink, StandaloneOptions};
use aqmlab_units::{Span, Stream, Time};

use crate::buffer::Buffer;
use crate::classify::Group;
use crate::delay_line::Lines;
use crate::flows::FlowStats;

/// Propagation delays of a group's packets before the queue and after the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathDelays {
    /// Delay from the sender to the queue.
    pub before_link: Span,
    /// Delay from the end of the link to the receiver.
    pub after_link: Span,
}

/// Configuration of one direction.
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
    /// Options of the link.
    pub options: StandaloneOptions,
    /// The groups, as the classifier has them.
    pub groups: &'a [Group],
    /// Path delays of the groups.
    pub delays: Vec<PathDelays>,
    /// Probability that a packet is lost before the queue.
    pub loss: f64,
    /// Maximum number of known flows.
    pub flows: usize,
}

/// Number of packets by outcome, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketOutcomes {
    /// Offered.
    pub offered: u64,
    /// Delivered at the end of the path.
    pub out: u64,
    /// Dropped by the discipline.
    pub dropped: u64,
    /// Lost at random, before the queue or in the channel of the link.
    pub lost: u64,
    /// Copies that the channel has made; delivered, or in transit.
    pub copied: u64,
}

/// One direction; see the text of the module.
#[derive(Clone, Debug)]
pub struct Bottleneck {
    name: &'static str,
    link: Option<StandaloneLink<Buffer>>,
    before_link: Lines,
    after_link: Lines,
    loss: f64,
    rng: Stream,
    flows: FlowStats,
    outcomes: PacketOutcomes,
    freed: Vec<Buffer>,
    /// When the warm-up ends, until it has.
    warmup: Option<Time>,
}

impl Bottleneck {
    /// Return an empty direction at time 0.
    pub fn new(setting: &Setting<'_>) -> Self {
        let room = setting.options.room;
        let delays = || setting.delays.iter();
        let link = |id| StandaloneLink::new(setting.plan, id, setting.seed, setting.options);
        Self {
            name: setting.name,
            link: setting.link.map(link),
            before_link: Lines::new(delays().map(|delays| delays.before_link), room),
            after_link: Lines::new(delays().map(|delays| delays.after_link), room),
            loss: setting.loss,
            rng: Stream::new(setting.seed, &format!("loss {}", setting.name)),
            flows: FlowStats::new(setting.plan, setting.groups, setting.flows),
            outcomes: PacketOutcomes::default(),
            freed: Vec::with_capacity(room),
            warmup: Some(Time::ZERO + setting.plan.warmup),
        }
    }

    /// Take a packet that enters at `now`. Times must not decrease from call to call.
    pub fn offer(&mut self, now: Time, packet: Packet<Buffer>) {
        self.outcomes.offered += 1;
        self.before_link.push(now, packet, Passage::default());
        self.arrive_until(now);
    }

    /// Begin a flow that reuses a number; call before its first packet is offered.
    pub fn begin_flow(&mut self, flow: u32, generation: u32) {
        self.flows.begin(flow, generation);
    }

    /// Advance to `to` and deliver the packets that reach the end of their path by then, in order of time. The buffer of a packet that
    /// [comes again](Passage::comes_again) is still in use.
    pub fn advance(&mut self, to: Time, out: &mut impl FnMut(Time, Packet<Buffer>, Passage)) {
        self.arrive_until(to);
        self.depart_until(to);
        while let Some((time, packet, passage)) = self.after_link.pop(to) {
            self.outcomes.out += 1;
            out(time, packet, passage);
        }
    }

    /// Return the time of the next event.
    pub fn next_event(&self) -> Option<Time> {
        let link = self.link.as_ref().and_then(StandaloneLink::next_event);
        [self.before_link.next(), link, self.after_link.next()].into_iter().flatten().min()
    }

    /// Return the buffers of packets that were dropped or lost since the last call.
    pub fn take_freed(&mut self, take: impl FnMut(Buffer)) {
        self.freed.drain(..).for_each(take);
    }

    /// Advance all counters to the end of the run.
    pub fn finish(&mut self, end: Time) {
        self.arrive_until(end);
        if let Some(link) = &mut self.link {
            link.finish(end);
        }
        self.note_dropped();
    }

    /// Apply a new plan, path delays and loss from `now` on; see [`StandaloneLink::renew`].
    pub fn renew(&mut self, now: Time, setting: &Setting<'_>, is_same_queue: bool) {
        self.arrive_until(now);
        if let (Some(link), Some(id)) = (&mut self.link, setting.link) {
            link.renew(now, setting.plan, id, is_same_queue);
        }
        self.note_dropped();
        self.before_link.set_delays(setting.delays.iter().map(|delays| delays.before_link));
        self.after_link.set_delays(setting.delays.iter().map(|delays| delays.after_link));
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

    /// Return the counters of the flows.
    pub fn flows(&self) -> &FlowStats {
        &self.flows
    }

    /// Return the number of packets by outcome.
    pub fn outcomes(&self) -> PacketOutcomes {
        let copied = self.link.as_ref().map_or(0, StandaloneLink::copies);
        PacketOutcomes { copied, ..self.outcomes }
    }

    /// Return the packets in transit: offered or copied, and neither delivered nor dropped nor lost.
    pub fn held(&self) -> u64 {
        (self.before_link.held()
            + self.link.as_ref().map_or(0, StandaloneLink::held)
            + self.after_link.held()) as u64
    }

    /// Process arrivals at the queue until `to`. Counters are reset when the warm-up ends.
    fn arrive_until(&mut self, to: Time) {
        if let Some(warmup) = self.warmup.filter(|warmup| *warmup <= to) {
            self.warmup = None;
            if let Some(just_before) = warmup.0.checked_sub(1).map(Time) {
                self.arrive_until(just_before);
                self.depart_until(just_before);
            }
            self.flows.reset_stats();
        }
        while let Some((time, packet, _)) = self.before_link.pop(to) {
            self.arrive(time, packet);
        }
    }

    /// Process departures from the link until `to`.
    fn depart_until(&mut self, to: Time) {
        let Self { link, after_link, flows, .. } = self;
        if let Some(link) = link {
            link.advance(to, |time, packet, passage| {
                let is_marked = packet.meta.header.ecn() == Ecn::Ce && !packet.payload.was_ce();
                flows.departed(time, &packet.payload, packet.meta.bytes, is_marked);
                after_link.push(time, packet, passage);
            });
            self.note_dropped();
        }
    }

    fn arrive(&mut self, now: Time, mut packet: Packet<Buffer>) {
        if self.loss > 0.0 && self.rng.uniform() < self.loss {
            self.outcomes.lost += 1;
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
                self.after_link.push(now, packet, Passage { start: now, end: now, comes_again: false });
            }
        }
    }

    /// Count the packets that the discipline has dropped and the channel has lost, and free their buffers.
    fn note_dropped(&mut self) {
        let Self { link, flows, outcomes, freed, .. } = self;
        if let Some(link) = link {
            link.take_dropped(|buffer| {
                outcomes.dropped += 1;
                flows.dropped(&buffer);
                freed.push(buffer);
            });
            link.take_lost(|buffer| {
                outcomes.lost += 1;
                freed.push(buffer);
            });
        }
    }
}
