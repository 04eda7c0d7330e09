mod adapt;
mod averages;
mod judged;
mod search;
mod settings;
mod simple;

use aqmlab_units::Time;

use self::averages::{AverageState, for_each_average, measured};
use self::simple::SimpleRed;
use super::adaptation::Adaptation;
use super::average::Average;
use super::by_class::ByClass;
use super::classes::Classes;
use super::curve::{Curve, CurveTable, LinuxCurve, ONE};
use super::response::Response;
use super::spacing::Spacing;
use super::store::Store;
use super::victim::Victim;
use super::{AVERAGE, Crossing, Dialect, ForcedAt, IdleWhen, P_B};
use crate::qdisc::find_gauge;
use crate::spec::Limit;
use crate::{
    Backlog, Dequeue, DropReason, Gauge, Host, Meta, Packet, Qdisc, Resolved, SpacingState, Verdict, Visitor,
};

/// The settings of a RED queue, checked and with all automatic values filled in.
#[derive(Clone, Debug)]
pub struct Params {
    /// Which set of parameters applies.
    pub classes: Classes,
    /// The response to the choice of a victim: drop or mark it.
    pub response: Response,
    /// Size of the buffer.
    pub limit: Limit,
    /// The own limits of classes, of the packets that their averages measure; empty if no class has one.
    pub class_limits: Vec<Option<Limit>>,
    /// Bytes of a mean packet when the queue is measured in bytes, else `None`.
    pub byte_mode: Option<f64>,
    /// Switches over all parts.
    pub dialect: Dialect,
}

/// The state that each class has of its own.
#[derive(Clone, Debug)]
pub struct ClassState {
    /// p_b from the average.
    pub curve: Curve,
    /// The curve in integers, by which arrivals are then judged.
    pub table: Option<Box<CurveTable>>,
    /// The curve in Linux's arithmetic, by which arrivals are then judged.
    pub linux: Option<Box<LinuxCurve>>,
    /// Spacing of its drops and marks.
    pub spacing: Spacing,
    /// The average was at or above min_th at the last arrival whose drop was not forced (ns-2's crossing).
    above_min_th: bool,
}

impl ClassState {
    /// Create the state of a class with no arrivals yet.
    pub fn new(curve: Curve, table: Option<CurveTable>, spacing: Spacing) -> Self {
        Self { curve, table: table.map(Box::new), linux: None, spacing, above_min_th: false }
    }

    /// The same in Linux's arithmetic.
    #[must_use]
    pub fn as_linux(self, curve: LinuxCurve) -> Self {
        Self { linux: Some(Box::new(curve)), ..self }
    }

    /// Return whether the arrival just counted is dropped or marked; `excess` is the average less min_th, in Linux's arithmetic.
    #[inline]
    fn picks<P>(&mut self, p_b: f64, excess: Option<u64>, bytes: u32, host: &mut impl Host<P>) -> bool {
        match (&self.linux, excess) {
            (Some(line), Some(excess)) => self.spacing.picks_as_linux(excess, line.step(), host),
            _ => self.spacing.picks(p_b, bytes, host),
        }
    }

    /// Note that the arrival just counted found the average below min_th.
    #[inline(always)]
    fn is_below_min_th(&mut self, dialect: &Dialect) {
        self.above_min_th = false;
        if dialect.crossing == Crossing::CountMinusOne {
            self.spacing.reset_below_min_th();
        }
    }

    /// Return a number such that an average below it, in packets or bytes after the mode, is below min_th.
    fn surely_below(&self, byte_mode: Option<f64>) -> f64 {
        match (&self.table, &self.linux, byte_mode) {
            (Some(_), ..) => f64::NEG_INFINITY,
            (None, Some(line), _) => line.min_th(),
            (None, None, None) => self.curve.min_th(),
            // The average is divided by the mean packet, and then compared: with room for the rounding.
            (None, None, Some(mean_packet)) => self.curve.min_th() * mean_packet * (1.0 - 1e-12),
        }
    }
}

/// The decision about an arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
enum DropDecision {
    /// The packet is accepted.
    Accept,
    /// Chosen at random, with this p_b.
    Early(f64),
    /// p_b is 1.
    Forced,
    /// The buffer is full.
    Overflow,
}

impl DropDecision {
    fn reason(self) -> DropReason {
        match self {
            Self::Accept | Self::Early(_) => DropReason::EARLY,
            Self::Forced => DropReason::FORCED,
            Self::Overflow => DropReason::OVERFLOW,
        }
    }
}

/// The integers by which arrivals of a class are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InIntegers {
    /// The average times 2^(wlog + fraction), in packets or bytes.
    pub average: u64,
    /// p_b times 2^31; `None` below min_th.
    pub p_b: Option<u32>,
    /// Arrivals since the last drop or mark; -1 below min_th.
    pub count: i64,
}

/// A RED queue: parameters, and the state of its parts.
#[derive(Clone, Debug)]
pub struct Red<P> {
    params: Params,
    class_states: ByClass<ClassState>,
    averages: ByClass<AverageState>,
    waiting: Backlog,
    /// Packets of each class, where the idle time of a shared average depends on it ([`IdleWhen::ClassEmpty`]); else empty.
    of_class_waiting: Vec<u32>,
    adaptation: Adaptation,
    victim: Victim,
    queue: Store<P>,
    /// Class and bytes of the packet in transmission.
    serving: Option<(usize, u32)>,
    /// Of an adaptation: p_b in integers of the last decision.
    judged: Option<u32>,
    /// Linux's arithmetic, and its order: a full buffer drops only a packet that was accepted or marked.
    as_linux: bool,
    /// In Linux's RED and CHOKe an idle time begins with a dequeue that finds the queue empty.
    idles_by_dequeue: bool,
    /// There, an arrival has ended the idle time, and no dequeue has found the queue empty since. On a link that asks for a
    /// packet after each arrival the next idle time begins at once.
    idle_ended: bool,
    /// One class, no adaptation, and of the dialect and the victim rule nothing that needs more than [`Red::update_average`].
    is_simple: bool,
    /// Of a simple queue: an average below this, in packets or bytes after the mode, is below min_th.
    surely_below: f64,
}

impl<P: Copy> Red<P> {
    /// Create an empty, idle queue. `class_states` has one entry a class.
    pub fn new(
        params: Params,
        average: &Average,
        class_states: Vec<ClassState>,
        victim: Victim,
        adaptation: Adaptation,
    ) -> Self {
        let state = AverageState {
            average: average.clone(),
            waiting: Backlog::default(),
            idle_since: Time::ZERO,
            is_idle: false,
            is_class_empty: false,
        };
        let averages = ByClass::from(vec![state; params.classes.averages()]);
        let queue = Store::new(&victim);
        let (class_states, waiting) = (ByClass::from(class_states), Backlog::default());
        let (serving, judged) = (None, None);
        let Dialect { idle_when, in_service_counts, full_first, .. } = params.dialect;
        let is_simple = class_states.len() == 1
            && adaptation.is_none()
            && !victim.compares()
            && victim.takes_all()
            && idle_when.while_served()
            && !in_service_counts
            && !full_first;
        let surely_below = class_states[0].surely_below(params.byte_mode);
        let as_linux = class_states[0].linux.is_some();
        let by_class = idle_when == IdleWhen::ClassEmpty && averages.len() < class_states.len();
        let of_class_waiting = if by_class { vec![0; class_states.len()] } else { Vec::new() };
        Self {
            params,
            class_states,
            averages,
            waiting,
            of_class_waiting,
            adaptation,
            victim,
            queue,
            serving,
            judged,
            as_linux,
            idles_by_dequeue: as_linux && idle_when.while_served(),
            idle_ended: false,
            is_simple,
            surely_below,
        }
    }

    /// Return the average of the first class, to inspect it or to freeze it for a measurement.
    pub fn average_mut(&mut self) -> &mut Average {
        &mut self.averages[0].average
    }

    /// Return the integers by which the last arrival, one of this class, was judged; `None` unless the queue computes in integers.
    pub fn in_integers(&self, class: usize) -> Option<InIntegers> {
        let state = &self.class_states[class];
        let average = self.averages[self.params.classes.judged_by(class)].average.integer()?;
        state.table.as_ref()?;
        let p_b = if self.adaptation.is_none() { self.table_p_b(class) } else { self.judged };
        Some(InIntegers { average: average.scaled(), p_b, count: state.spacing.counted() })
    }

    /// Return p_b at the average of a class, in units of 2^-31; `None` below min_th, and for a curve that is no table.
    fn table_p_b(&self, class: usize) -> Option<u32> {
        let table = self.class_states[class].table.as_ref()?;
        table.p_b(self.averages[self.params.classes.judged_by(class)].average.fixed())
    }

    /// Return the class of a packet.
    #[inline(always)]
    pub fn class_of(&self, meta: &Meta) -> usize {
        if self.is_simple { 0 } else { self.params.classes.of(meta.header.dscp()) }
    }

    /// Return the number of classes.
    pub fn classes(&self) -> usize {
        self.class_states.len()
    }

    /// Return whether there is no room for a packet; `serving` are the bytes of the packet in service, if it counts.
    #[inline(always)]
    fn is_full(&self, bytes: u32, serving: Option<u32>) -> bool {
        self.exceeds(self.params.limit, self.waiting, bytes, serving)
    }

    /// Return whether a packet behind those that wait would exceed a limit.
    #[inline(always)]
    fn exceeds(&self, limit: Limit, waiting: Backlog, bytes: u32, serving: Option<u32>) -> bool {
        match limit {
            Limit::Packets(n) => waiting.packets + u32::from(serving.is_some()) >= n,
            // ns-2 compares the backlog before the arrival, the others the backlog after it.
            Limit::Bytes(n) if self.params.dialect.strict_limit => waiting.bytes >= n,
            Limit::Bytes(n) => waiting.bytes + u64::from(bytes) + serving.map_or(0, u64::from) > n,
        }
    }

    /// Update the averages of the class with the queue that the arrival finds.
    #[inline(always)]
    fn update_averages(&mut self, now: Time, class: usize) {
        let idle_ended = self.idles_by_dequeue && core::mem::replace(&mut self.idle_ended, true);
        let Self { params, averages, serving, .. } = self;
        let Dialect { idle_when, in_service_counts, .. } = params.dialect;
        let in_bytes = params.byte_mode.is_some();
        // `serving`: the bytes of the packet in service, if the average covers it.
        let update = |state: &mut AverageState, serving: Option<u32>| {
            let is_idle = match idle_when {
                IdleWhen::LastDequeue => core::mem::take(&mut state.is_idle),
                IdleWhen::Free => !idle_ended && serving.is_none() && state.waiting.packets == 0,
                IdleWhen::NoneWaiting | IdleWhen::ClassEmpty => state.waiting.packets == 0,
            };
            if is_idle {
                state.end_idleness(now, idle_when);
            } else if state.is_class_empty {
                state.end_idleness_with(now, measured(in_bytes, state.waiting, None));
            } else {
                let serving = serving.filter(|_| in_service_counts);
                state.average.on_arrival(measured(in_bytes, state.waiting, serving));
            }
        };
        if averages.len() == 1 {
            // It covers all packets.
            update(&mut averages[0], serving.map(|(_, bytes)| bytes));
            return;
        }
        for i in params.classes.measured_by(class) {
            let covered = serving.filter(|&(class, _)| params.classes.is_measured_by(class, i));
            update(&mut averages[i], covered.map(|(_, bytes)| bytes));
        }
    }

    /// Return p_b at the average of a class; `None` below min_th. In integer arithmetic it is a multiple of 2^-31.
    #[inline(always)]
    fn p_b(&self, class: usize) -> Option<f64> {
        let state = &self.class_states[class];
        if let Some(line) = &state.linux {
            return line.p_b(self.scaled(class));
        }
        if let Some(table) = &state.table {
            let average = &self.averages[self.params.classes.judged_by(class)].average;
            return table.p_b(average.fixed()).map(|p_b| f64::from(p_b) / f64::from(ONE));
        }
        let average = self.average_of(class);
        (average >= state.curve.min_th()).then(|| state.curve.p_b(average))
    }

    /// Return whether a drop at the average of a class, where p_b is 1, is forced.
    #[inline(never)]
    fn forces(&self, class: usize) -> bool {
        let Dialect { p_one_is_early, forced_at, .. } = self.params.dialect;
        let ClassState { curve, table, .. } = &self.class_states[class];
        let is_at_end = || match table {
            Some(table) => self.averages[self.params.classes.judged_by(class)].average.fixed() >= table.end,
            None => self.average_of(class) >= curve.end(),
        };
        !p_one_is_early && (forced_at == ForcedAt::POne || is_at_end())
    }

    /// Decide about an arrival: the algorithm of Floyd and Jacobson 1993, figure 2, after the average and before the victim rule.
    #[inline(always)]
    fn drop_decision(&mut self, class: usize, bytes: u32, host: &mut impl Host<P>) -> DropDecision {
        let p_b = self.p_b(class);
        let is_forced = p_b.is_some_and(|p_b| p_b >= 1.0) && self.forces(class);
        let linux = self.class_states[class].linux.as_ref();
        let excess = linux.and_then(|line| line.excess(self.scaled(class)));
        let dialect = &self.params.dialect;
        let state = &mut self.class_states[class];
        state.spacing.count(bytes);
        let guarded = || {
            let serving = self.serving.filter(|_| dialect.in_service_counts).map(|(_, bytes)| bytes);
            measured(self.params.byte_mode.is_some(), self.waiting, serving) <= 1.0
        };
        let Some(p_b) = p_b.filter(|_| !(dialect.guard_one && guarded())) else {
            state.is_below_min_th(dialect);
            return DropDecision::Accept;
        };
        if is_forced {
            state.spacing.force();
            DropDecision::Forced
        } else if dialect.crossing == Crossing::CountOne && !core::mem::replace(&mut state.above_min_th, true)
        {
            state.spacing.cross(bytes);
            DropDecision::Accept
        } else if state.picks(p_b, excess, bytes, host) {
            state.spacing.restart();
            DropDecision::Early(p_b)
        } else {
            DropDecision::Accept
        }
    }

    /// [`Red::drop_decision`], after which a buffer without room overflows.
    #[inline(always)]
    fn drop_decision_with_room(&mut self, class: usize, bytes: u32, host: &mut impl Host<P>) -> DropDecision {
        let decision = self.drop_decision(class, bytes, host);
        if self.is_full_for(class, bytes) && !(self.as_linux && decision != DropDecision::Accept) {
            if self.params.dialect.overflow_restarts {
                self.class_states[class].spacing.restart();
            }
            return DropDecision::Overflow;
        }
        decision
    }

    /// Return what becomes of the victim of a decision: it is marked if the response allows it, else dropped.
    #[inline(never)]
    fn verdict(&self, decision: DropDecision, victim: &Meta) -> Verdict {
        let (p_b, is_forced) = match decision {
            DropDecision::Accept => return Verdict::Accept,
            DropDecision::Early(p_b) => (p_b, false),
            DropDecision::Forced => (1.0, true),
            DropDecision::Overflow => return Verdict::Drop(decision.reason()),
        };
        let verdict = self.params.response.verdict(victim, p_b, is_forced, decision.reason());
        let overflows = self.as_linux
            && !matches!(verdict, Verdict::Drop(_))
            && self.is_full_for(self.class_of(victim), victim.bytes);
        if overflows { Verdict::Drop(DropReason::OVERFLOW) } else { verdict }
    }

    /// Append a packet at the tail.
    #[inline(always)]
    fn accept(&mut self, packet: Packet<P>) {
        self.joins(&packet.meta);
        self.queue.push(packet);
    }

    /// Note that an accepted packet waits.
    #[inline(always)]
    fn joins(&mut self, meta: &Meta) {
        self.waiting.add(meta.bytes);
        if !self.is_simple {
            self.joins_class(meta);
        }
    }

    /// Note that the service of a packet starts, which does not wait any more.
    #[inline(always)]
    fn passes(&mut self, now: Time, meta: &Meta) {
        if self.is_simple {
            self.serving = Some((0, meta.bytes));
        } else {
            self.serve(now, Some((self.class_of(meta), meta.bytes)));
        }
    }

    /// Account for a packet that left the queue, by service or by drop.
    #[inline(always)]
    fn left(&mut self, meta: &Meta) {
        self.waiting.take(meta.bytes);
        if !self.is_simple {
            self.leaves_class(meta);
        }
    }

    /// Add an accepted packet to its averages and its class.
    #[inline(never)]
    fn joins_class(&mut self, meta: &Meta) {
        let class = self.class_of(meta);
        for_each_average(&self.params, &mut self.averages, class, |_, _, state| {
            state.waiting.add(meta.bytes);
        });
        if let Some(waiting) = self.of_class_waiting.get_mut(class) {
            *waiting += 1;
            self.averages[0].is_class_empty = false;
        }
    }

    /// Take a packet that left from its averages and its class.
    #[inline(never)]
    fn leaves_class(&mut self, meta: &Meta) {
        let class = self.class_of(meta);
        for_each_average(&self.params, &mut self.averages, class, |_, _, state| {
            state.waiting.take(meta.bytes);
        });
        if let Some(waiting) = self.of_class_waiting.get_mut(class) {
            *waiting -= 1;
        }
    }

    /// Decide about an arrival where the victim is always the arriving packet.
    #[inline(always)]
    fn verdict_at_arrival(&mut self, now: Time, meta: &Meta, host: &mut impl Host<P>) -> Verdict {
        if self.is_simple {
            self.decide_simple(now, meta, self.is_idle(), host)
        } else {
            self.decide_by_class(now, meta, host)
        }
    }

    /// Decide about an arrival at a queue that is not simple.
    #[inline(never)]
    fn decide_by_class(&mut self, now: Time, meta: &Meta, host: &mut impl Host<P>) -> Verdict {
        let class = self.class_of(meta);
        if self.overflows_first(class, meta.bytes) {
            return Verdict::Drop(DropReason::OVERFLOW);
        }
        self.see_arrival(now, class);
        let decision = self.drop_decision_with_room(class, meta.bytes, host);
        let verdict = self.verdict(decision, meta);
        self.adapt_after_decision(now, class, meta, matches!(verdict, Verdict::Drop(_)));
        verdict
    }

    /// Decide about an arrival and carry the decision out. Return whether the packet is accepted; the caller then accepts it.
    #[inline(always)]
    fn offer(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool {
        if self.victim.is_arriving() {
            self.verdict_at_arrival(now, &packet.meta, host).carry_out(packet, host)
        } else {
            self.offer_to_search(now, packet, host)
        }
    }

    /// Return whether a full buffer drops an arrival before anything else.
    #[inline(always)]
    fn overflows_first(&mut self, class: usize, bytes: u32) -> bool {
        let overflows = self.params.dialect.full_first && self.is_full_for(class, bytes);
        if overflows {
            self.judged = self.table_p_b(class);
        }
        overflows
    }

    /// Update the averages with an arrival, and the parameters with the averages.
    #[inline(always)]
    fn see_arrival(&mut self, now: Time, class: usize) {
        self.update_averages(now, class);
        if !self.adaptation.is_none() {
            self.adapt_before_decision(now, class);
        }
    }

    /// Note that the service of a packet of this class and length starts, or that the link becomes idle.
    #[inline(never)]
    fn serve(&mut self, now: Time, next: Option<(usize, u32)>) {
        let before = core::mem::replace(&mut self.serving, next);
        if self.idle_ended {
            self.idle_ended = false;
            if next.is_none() && self.waiting.packets == 0 {
                self.averages[0].idle_since = now;
            }
        }
        // Idleness begins with the end of the last service, or in ns-2's DiffServ module with its start.
        let ended = match self.params.dialect.idle_when {
            IdleWhen::Free => before,
            IdleWhen::NoneWaiting | IdleWhen::ClassEmpty | IdleWhen::LastDequeue => next,
        };
        let Some((class, _)) = ended else { return };
        let Self { params, averages, serving, .. } = self;
        for_each_average(params, averages, class, |i, params, state| {
            let is_served = params.dialect.idle_when.while_served()
                && serving.is_some_and(|(class, _)| params.classes.is_measured_by(class, i));
            if state.waiting.packets == 0 && !is_served {
                (state.idle_since, state.is_idle) = (now, true);
            }
        });
        if self.of_class_waiting.get(class) == Some(&0) {
            let state = &mut self.averages[0];
            (state.is_class_empty, state.idle_since) = (true, now);
        }
    }
}

impl<P: Copy> Qdisc<P> for Red<P> {
    #[inline(always)]
    fn enqueue(&mut self, now: Time, mut packet: Packet<P>, host: &mut impl Host<P>) {
        self.enqueue_from(now, &mut packet, host);
    }

    #[inline(always)]
    fn dequeue(&mut self, now: Time, _host: &mut impl Host<P>) -> Dequeue<P> {
        let Some(packet) = self.queue.pop() else {
            self.serve(now, None);
            return Dequeue::Empty;
        };
        Qdisc::<P>::leaves(self, now, &packet.meta);
        Dequeue::Packet(packet)
    }

    #[inline(always)]
    fn enqueue_from(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) {
        if self.offer(now, packet, host) {
            self.accept(*packet);
        }
    }

    #[inline(always)]
    fn dequeue_into(&mut self, now: Time, packet: &mut Packet<P>, _host: &mut impl Host<P>) -> bool {
        let is_packet = self.queue.pop_into(packet);
        if is_packet {
            Qdisc::<P>::leaves(self, now, &packet.meta);
        } else {
            self.serve(now, None);
        }
        is_packet
    }

    #[inline(always)]
    fn enqueue_dequeue(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool {
        let passes = self.offer(now, packet, host);
        if passes {
            self.passes(now, &packet.meta);
        }
        // It may have been accepted by the search for a victim.
        passes || self.dequeue_into(now, packet, host)
    }

    #[inline]
    fn on_idle(&mut self, now: Time, _host: &mut impl Host<P>) {
        self.serve(now, None);
    }

    #[inline]
    fn is_timed(&self) -> bool {
        !self.adaptation.is_none()
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

    fn gauges(&self, now: Time, out: &mut dyn FnMut(Gauge, f64)) {
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
        let last = self.class_states.len() - 1;
        let (average, ClassState { curve, spacing, .. }) = (self.average_of(last), &self.class_states[last]);
        let p_b = self.p_b(last).unwrap_or(0.0);
        out(Gauge::State(AVERAGE), average);
        out(Gauge::State(P_B), p_b);
        let SpacingState { p_a, count } = spacing.state(p_b);
        if let Some(p_a) = p_a {
            out(Gauge::Decision("p_a"), p_a);
        }
        out(Gauge::Decision("count"), count as f64);
        let out: &mut dyn FnMut(&'static str, f64) = &mut |name, value| out(Gauge::State(name), value);
        if self.class_states.len() > 1 {
            for (class, name) in NAMES.iter().enumerate().take(self.class_states.len()) {
                out(name, self.average_of(class));
            }
        }
        self.victim.gauges(out);
        self.adaptation.gauges(now, curve, out);
    }

    #[inline(always)]
    fn gauge(&self, now: Time, name: &str) -> Option<f64> {
        // Statistics need the average at every arrival, samples of the queue both of these.
        let last = self.class_states.len() - 1;
        match name {
            AVERAGE => Some(self.average()),
            P_B => Some(self.p_b(last).unwrap_or(0.0)),
            _ => find_gauge::<P>(self, now, name),
        }
    }

    fn take_settings(&mut self, settings: &Resolved) -> bool {
        self.take_curve(settings)
    }

    fn warnings(&self) -> Vec<String> {
        self.victim.warnings()
    }

    #[inline(always)]
    fn average(&self, _now: Time) -> Option<f64> {
        Some(self.average())
    }

    fn decides_at_arrival(&self) -> bool {
        self.victim.is_arriving()
    }

    fn visited_by<V: Visitor<P>>(self, visitor: V) -> V::Output
    where
        P: Copy + Default + Send + Sync + 'static,
    {
        if self.is_simple { visitor.visit(SimpleRed::new(self)) } else { visitor.visit(self) }
    }

    #[inline(always)]
    fn decide(&mut self, now: Time, meta: &Meta, is_free: bool, host: &mut impl Host<P>) -> Verdict {
        let verdict = self.verdict_at_arrival(now, meta, host);
        if matches!(verdict, Verdict::Drop(_)) {
            // There a link asks for a packet after each arrival.
            if is_free && self.idle_ended {
                self.serve(now, None);
            }
            return verdict;
        }
        if is_free {
            self.passes(now, meta);
        } else {
            self.joins(meta);
        }
        verdict
    }

    #[inline(always)]
    fn leaves(&mut self, now: Time, meta: &Meta) {
        self.left(meta);
        self.passes(now, meta);
    }
}

#[cfg(test)]
mod tests;
