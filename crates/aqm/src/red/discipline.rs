use aqmlab_units::Time;

use super::adaptation::{Adaptation, Adapted};
use super::average::Average;
use super::by_class::ByClass;
use super::classes::Classes;
use super::curve::Curve;
use super::response::Response;
use super::spacing::Spacing;
use super::store::Store;
use super::victim::Victim;
use super::{Crossing, Dialect, IdleWhen};
use crate::spec::Limit;
use crate::{Backlog, Dequeue, DropReason, Ecn, Host, MarkReason, Meta, Packet, Qdisc, Spaced, State};

/// What a RED queue is set to, checked and with all automatic values filled in.
#[derive(Clone, Debug)]
pub struct Params {
    /// Which set of parameters applies.
    pub classes: Classes,
    /// What happens to the victim.
    pub response: Response,
    /// Size of the buffer.
    pub limit: Limit,
    /// Bytes of a mean packet when the queue is measured in bytes, else `None`.
    pub byte_mode: Option<f64>,
    /// Switches over all parts.
    pub dialect: Dialect,
}

/// What a class has of its own.
#[derive(Clone, Debug)]
pub struct Set {
    /// p_b from the average.
    pub curve: Curve,
    /// Whether this packet is the one.
    pub spacing: Spacing,
    /// The average was at or above min_th at the last arrival (ns-2's crossing).
    above_min_th: bool,
}

impl Set {
    /// A class at rest.
    pub fn new(curve: Curve, spacing: Spacing) -> Self {
        Self { curve, spacing, above_min_th: false }
    }
}

/// An average, and the packets that it measures.
#[derive(Clone, Debug)]
struct Measure {
    average: Average,
    waiting: Backlog,
    /// Since when it has been idle.
    idle_since: Time,
}

impl Measure {
    #[cold]
    fn end_idleness(&mut self, now: Time, idle_when: IdleWhen) {
        self.average.on_arrival_after_idle(now.since(self.idle_since));
        if idle_when == IdleWhen::Free {
            self.idle_since = now;
        }
    }
}

/// The measures of the packets of a class, with their numbers; nearly always there is one alone.
#[inline(always)]
fn each(
    params: &Params,
    measures: &mut ByClass<Measure>,
    class: usize,
    mut see: impl FnMut(usize, &Params, &mut Measure),
) {
    if measures.len() == 1 {
        see(0, params, &mut measures[0]);
    } else {
        params.classes.measured_by(class).for_each(|i| see(i, params, &mut measures[i]));
    }
}

/// A queue as an average and the guard measure it: packets or bytes.
#[inline]
fn measured(in_bytes: bool, waiting: Backlog, serving: Option<u32>) -> f64 {
    if in_bytes {
        waiting.bytes as f64 + f64::from(serving.unwrap_or(0))
    } else {
        f64::from(waiting.packets + u32::from(serving.is_some()))
    }
}

/// What becomes of an arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    Accept,
    /// By chance, at this p_b.
    Early(f64),
    Forced,
    Overflow,
}

impl Verdict {
    fn reason(self) -> DropReason {
        match self {
            Self::Accept | Self::Early(_) => DropReason::Early,
            Self::Forced => DropReason::Forced,
            Self::Overflow => DropReason::Overflow,
        }
    }
}

/// A RED queue: parameters, and the state of its parts.
#[derive(Clone, Debug)]
pub struct Red<P> {
    params: Params,
    sets: ByClass<Set>,
    measures: ByClass<Measure>,
    waiting: Backlog,
    adaptation: Adaptation,
    victim: Victim,
    queue: Store<P>,
    /// Class and bytes of the packet in transmission.
    serving: Option<(usize, u32)>,
}

impl<P: Copy> Red<P> {
    /// An empty, idle queue: a set of parameters for each class, and an average for each that the classes have.
    pub fn new(
        params: Params,
        average: &Average,
        sets: Vec<Set>,
        victim: Victim,
        adaptation: Adaptation,
    ) -> Self {
        let measure =
            Measure { average: average.clone(), waiting: Backlog::default(), idle_since: Time::ZERO };
        let measures = ByClass::from(vec![measure; params.classes.averages()]);
        let queue = Store::new(&victim);
        let (sets, waiting) = (ByClass::from(sets), Backlog::default());
        Self { params, sets, measures, waiting, adaptation, victim, queue, serving: None }
    }

    /// The average of the first class, to look at or to freeze for a measurement.
    pub fn average_mut(&mut self) -> &mut Average {
        &mut self.measures[0].average
    }

    /// The average of a class in packets, whatever the mode.
    pub fn average_of(&self, class: usize) -> f64 {
        let value = self.measures[self.params.classes.judged_by(class)].average.value();
        match self.params.byte_mode {
            Some(mean_packet) => value / mean_packet,
            None => value,
        }
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.sets.len()
    }

    #[inline]
    fn is_full_for(&self, bytes: u32) -> bool {
        let waiting = self.waiting;
        let serving = self.serving.filter(|_| self.params.dialect.in_service_counts);
        match self.params.limit {
            Limit::Packets(n) => waiting.packets + u32::from(serving.is_some()) >= n,
            // ns-2 compares what is there, the others what would be there.
            Limit::Bytes(n) if self.params.dialect.strict_limit => waiting.bytes >= n,
            Limit::Bytes(n) => {
                waiting.bytes + u64::from(bytes) + serving.map_or(0, |(_, bytes)| u64::from(bytes)) > n
            }
        }
    }

    /// The averages of the class take in what the arrival finds.
    #[inline(always)]
    fn update_averages(&mut self, now: Time, class: usize) {
        let Self { params, measures, serving, .. } = self;
        let Dialect { idle_when, in_service_counts, .. } = params.dialect;
        let in_bytes = params.byte_mode.is_some();
        each(params, measures, class, |i, params, measure| {
            // Only of the packets that this average measures.
            let serving = serving.filter(|&(class, _)| params.classes.is_measured_by(class, i));
            let idle = match idle_when {
                IdleWhen::Free => measure.waiting.packets == 0 && serving.is_none(),
                IdleWhen::NoneWaiting => measure.waiting.packets == 0,
            };
            if idle {
                measure.end_idleness(now, idle_when);
            } else {
                let serving = serving.filter(|_| in_service_counts).map(|(_, bytes)| bytes);
                measure.average.on_arrival(measured(in_bytes, measure.waiting, serving));
            }
        });
    }

    /// The algorithm of the paper's figure 2, between the average and the victim.
    #[inline(always)]
    fn judge(&mut self, class: usize, bytes: u32, host: &mut impl Host<P>) -> Verdict {
        let avg = self.average_of(class);
        let dialect = &self.params.dialect;
        let set = &mut self.sets[class];
        set.spacing.count(bytes);
        let guarded = || {
            let serving = self.serving.filter(|_| dialect.in_service_counts).map(|(_, bytes)| bytes);
            measured(self.params.byte_mode.is_some(), self.waiting, serving) <= 1.0
        };
        if avg < set.curve.min_th() || (dialect.guard_one && guarded()) {
            set.above_min_th = false;
            if dialect.crossing == Crossing::CountMinusOne {
                set.spacing.rest();
            }
            return Verdict::Accept;
        }
        let p_b = set.curve.p_b(avg);
        let just_crossed = !core::mem::replace(&mut set.above_min_th, true);
        if p_b >= 1.0 && !dialect.p_one_is_early {
            set.spacing.force();
            Verdict::Forced
        } else if just_crossed && dialect.crossing == Crossing::CountOne {
            set.spacing.cross(bytes);
            Verdict::Accept
        } else if set.spacing.picks(p_b, bytes, host) {
            set.spacing.restart();
            Verdict::Early(p_b)
        } else {
            Verdict::Accept
        }
    }

    /// Marks the victim if the response says so, else it must be dropped.
    fn marks(&self, packet: &mut Packet<P>, verdict: Verdict, host: &mut impl Host<P>) -> bool {
        let (p_b, reason) = match verdict {
            Verdict::Early(p_b) => (p_b, MarkReason::Early),
            Verdict::Forced => (1.0, MarkReason::Forced),
            Verdict::Accept | Verdict::Overflow => return false,
        };
        let marks = self.params.response.marks(&packet.meta, p_b, reason == MarkReason::Forced);
        if marks {
            packet.meta.header.set_ecn(Ecn::Ce);
            host.marked(packet, reason);
        }
        marks
    }

    /// Puts a packet at the tail.
    #[inline(always)]
    fn accept(&mut self, class: usize, packet: Packet<P>) {
        each(&self.params, &mut self.measures, class, |_, _, measure| {
            measure.waiting.add(packet.meta.bytes);
        });
        self.waiting.add(packet.meta.bytes);
        self.queue.push(packet);
    }

    /// A packet has left the queue, by service or by drop.
    #[inline]
    fn left(&mut self, class: usize, bytes: u32) {
        each(&self.params, &mut self.measures, class, |_, _, measure| {
            measure.waiting.take(bytes);
        });
        self.waiting.take(bytes);
    }

    /// One packet must pay for this verdict. Whether it was dropped.
    #[inline(never)]
    fn sacrifice(
        &mut self,
        now: Time,
        class: usize,
        mut packet: Packet<P>,
        verdict: Verdict,
        host: &mut impl Host<P>,
    ) -> bool {
        let arrival_competes = match &self.victim {
            Victim::Arriving | Victim::Choke(_) => None,
            Victim::PcRed(_) | Victim::Custom(_) => Some(true),
            Victim::Ddred(rule) if rule.early_only && !matches!(verdict, Verdict::Early(_)) => None,
            Victim::Ddred(rule) => {
                let alone = self.waiting.packets == 0;
                Some(rule.arrival_is_candidate || alone || verdict == Verdict::Overflow)
            }
        };
        let Some(arrival_competes) = arrival_competes else {
            let dropped = !self.marks(&mut packet, verdict, host);
            if dropped {
                self.on_drop(now, packet, verdict, host);
            } else {
                self.accept(class, packet);
            }
            return dropped;
        };
        if arrival_competes {
            self.accept(class, packet);
        }
        let slot = self.queue.pick(&self.victim, host);
        let dropped = slot.is_some_and(|slot| self.strike(now, slot, verdict, host));
        if !arrival_competes {
            self.accept(class, packet);
        }
        dropped
    }

    /// Marks or drops the packet in a slot. Whether it was dropped.
    fn strike(&mut self, now: Time, slot: usize, verdict: Verdict, host: &mut impl Host<P>) -> bool {
        let mut victim = self.queue.at(slot);
        if self.marks(&mut victim, verdict, host) {
            self.queue.mark(slot);
            return false;
        }
        self.queue.remove(slot);
        self.left(self.params.classes.of(victim.meta.header.dscp()), victim.meta.bytes);
        self.on_drop(now, victim, verdict, host);
        true
    }

    fn on_drop(&mut self, now: Time, packet: Packet<P>, verdict: Verdict, host: &mut impl Host<P>) {
        if let Victim::PcRed(rule) = &mut self.victim {
            rule.on_drop(now, &packet.meta);
        }
        host.dropped(packet, verdict.reason());
    }

    fn adapt_by_averages(&mut self, now: Time) {
        let Self { params, sets, measures, adaptation, .. } = self;
        let mean = params.byte_mode.unwrap_or(1.0);
        let classes = sets.len();
        let adapted = sets.iter_mut().map(|(class, set)| Adapted {
            average: measures[params.classes.judged_by(class)].average.value() / mean,
            curve: &mut set.curve,
        });
        adaptation.step(now, classes, adapted);
    }

    /// What becomes of an arrival. Where that is for the caller to accept, its class is returned.
    #[inline(always)]
    fn offer(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) -> Option<usize> {
        let class = self.params.classes.of(packet.meta.header.dscp());
        let bytes = packet.meta.bytes;
        if !self.victim.is_arriving() {
            self.victim.on_arrival(now, &mut packet.meta);
        }
        if self.params.dialect.full_first && self.is_full_for(bytes) {
            self.on_drop(now, *packet, Verdict::Overflow, host);
            return None;
        }
        self.update_averages(now, class);
        let adapts = !self.adaptation.is_none();
        if adapts {
            self.adapt_before_judgement(now, class);
        }
        if !self.victim.is_arriving() && self.meets_its_own(class, packet, host) {
            return None;
        }
        let mut verdict = self.judge(class, bytes, host);
        if self.is_full_for(bytes) {
            verdict = Verdict::Overflow;
            self.sets[class].spacing.restart();
        }
        let accepted = verdict == Verdict::Accept;
        let dropped = !accepted && self.sacrifice(now, class, *packet, verdict, host);
        if adapts {
            self.adapt_after_judgement(now, class, &packet.meta, dropped);
        }
        accepted.then_some(class)
    }

    /// CHOKe: drops what is drawn of the arrival's flow, and then the arrival. Whether there was any.
    #[inline(never)]
    fn meets_its_own(&mut self, class: usize, packet: &Packet<P>, host: &mut impl Host<P>) -> bool {
        let Victim::Choke(rule) = self.victim else { return false };
        let (average, curve) = (self.average_of(class), &self.sets[class].curve);
        if average <= curve.min_th() {
            return false;
        }
        let mut has_met = false;
        for _ in 0..rule.draws(average, curve.thresholds()) {
            if let Some(slot) = self.queue.draw_of_flow(packet.meta.flow, host) {
                let victim = self.queue.at(slot);
                self.queue.remove(slot);
                self.left(self.params.classes.of(victim.meta.header.dscp()), victim.meta.bytes);
                host.dropped(victim, DropReason::Early);
                has_met = true;
            }
        }
        if has_met {
            host.dropped(*packet, DropReason::Early);
        }
        has_met
    }

    #[cold]
    fn adapt_before_judgement(&mut self, now: Time, class: usize) {
        let average = self.average_of(class);
        self.adaptation.on_average(class, average, &mut self.sets[class].curve);
        if self.adaptation.is_due_before_judgement(now) {
            self.adapt_by_averages(now);
        }
    }

    #[cold]
    fn adapt_after_judgement(&mut self, now: Time, class: usize, meta: &Meta, dropped: bool) {
        self.adaptation.on_decision(now, meta, dropped, self.sets.len() > 1 && class == 0);
        if self.adaptation.is_due_after_judgement(now) {
            self.adapt_by_averages(now);
        }
    }

    /// The service of a packet of this class and length starts, or none does.
    #[inline(always)]
    fn serve(&mut self, now: Time, next: Option<(usize, u32)>) {
        let before = core::mem::replace(&mut self.serving, next);
        // Idleness begins with the end of the last service, or in ns-2's DiffServ module with its start.
        let ended = match self.params.dialect.idle_when {
            IdleWhen::Free => before,
            IdleWhen::NoneWaiting => next,
        };
        let Some((class, _)) = ended else { return };
        let Self { params, measures, serving, .. } = self;
        each(params, measures, class, |i, params, measure| {
            let is_served = params.dialect.idle_when == IdleWhen::Free
                && serving.is_some_and(|(class, _)| params.classes.is_measured_by(class, i));
            if measure.waiting.packets == 0 && !is_served {
                measure.idle_since = now;
            }
        });
    }
}

impl<P: Copy> Qdisc<P> for Red<P> {
    #[inline(always)]
    fn enqueue(&mut self, now: Time, mut packet: Packet<P>, host: &mut impl Host<P>) {
        if let Some(class) = self.offer(now, &mut packet, host) {
            self.accept(class, packet);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, now: Time, _host: &mut impl Host<P>) -> Dequeue<P> {
        let Some(packet) = self.queue.pop() else {
            self.serve(now, None);
            return Dequeue::Empty;
        };
        let class = self.params.classes.of(packet.meta.header.dscp());
        self.left(class, packet.meta.bytes);
        self.serve(now, Some((class, packet.meta.bytes)));
        Dequeue::Packet(packet)
    }

    #[inline(always)]
    fn pass(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool {
        let next = match self.offer(now, packet, host) {
            Some(class) => Some((class, packet.meta.bytes)),
            // It may have been accepted with a mark.
            None => self.queue.pop().map(|marked| {
                *packet = marked;
                let class = self.params.classes.of(packet.meta.header.dscp());
                self.left(class, packet.meta.bytes);
                (class, packet.meta.bytes)
            }),
        };
        self.serve(now, next);
        next.is_some()
    }

    #[inline]
    fn rest(&mut self, now: Time, _host: &mut impl Host<P>) {
        self.serve(now, None);
    }

    #[inline]
    fn next_timer(&self) -> Option<Time> {
        self.adaptation.next_timer()
    }

    #[inline(never)]
    fn on_timer(&mut self, now: Time, _host: &mut impl Host<P>) {
        self.adapt_by_averages(now);
    }

    fn backlog(&self) -> Backlog {
        self.waiting
    }

    fn state(&self) -> State {
        let last = self.sets.len() - 1;
        let average = self.average_of(last);
        State { average, p_b: self.sets[last].curve.p_b(average) }
    }

    #[inline]
    fn average(&self) -> f64 {
        self.average_of(self.sets.len() - 1)
    }

    fn spaced(&self) -> Option<Spaced> {
        let spacing = &self.sets[self.sets.len() - 1].spacing;
        Some(spacing.stands(self.state().p_b))
    }

    fn gauges(&self, now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        const NAMES: [&str; 8] = [
            "average_0",
            "average_1",
            "average_2",
            "average_3",
            "average_4",
            "average_5",
            "average_6",
            "average_7",
        ];
        if self.sets.len() > 1 {
            for (class, name) in NAMES.iter().enumerate().take(self.sets.len()) {
                out(name, self.average_of(class));
            }
        }
        if let Victim::PcRed(rule) = &self.victim {
            rule.gauges(out);
        }
        self.adaptation.gauges(now, &self.sets[self.sets.len() - 1].curve, out);
    }

    fn warnings(&self) -> Vec<String> {
        match &self.victim {
            Victim::PcRed(rule) => rule.warning().into_iter().collect(),
            Victim::Arriving | Victim::Ddred(_) | Victim::Choke(_) | Victim::Custom(_) => Vec::new(),
        }
    }

    fn departs_in_order(&self) -> bool {
        self.victim.is_arriving()
    }
}
