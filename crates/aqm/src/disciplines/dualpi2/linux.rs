//! DualPI2 in the integers of Linux 7.3 (`net/sched/sch_dualpi2.c`, in the kernel since 6.17).
//!
//! Times are in ns, probabilities of 32 bits. A gain is first rounded to 1/256 per second, as `tc` has it, and then to units of 2^-32 in
//! 64 ns:
//!
//! ```text
//! p' = p' + (alpha (delay - target) + beta (delay - old delay)) / 64
//! ```
//!
//! Differences from RFC 9332, all of which are here too:
//!
//! * A packet is hit where a random number of 32 bits is at most the probability, in C and in overload where two are.
//! * A `k p'` above 1 is overload of both queues: packets of C too are dropped without a mark.
//! * L's native AQM marks in a step, packets that waited longer than `l4s_min_th` and found at least `l4s_min_packets` in L.
//! * Packets of C are marked wherever they are ECN-capable.
//! * Sums have 32 bits: where the delay rises by so much between two steps that p' grows by 1 or more (by default 313 ms), they wrap around.
//! * `overload = "overflow"` marks packets of L in overload and bounds p' by 1/k, so that the buffer fills.
//! * `decide = "arriving"` draws as a packet arrives.
//! * `limit` is 10000 packets, and the memory of waiting packets is bounded (`memlimit`): automatically to two of `max_packet` for each.
//! * Defaults: Tupdate 16 ms, alpha 41/256, beta 819/256, step 1 ms, at any length of L.
//!
//! `python/aqmlab/interop/kernel/module/dualpi2.h` has the same lines in C, for a kernel module.

use std::collections::VecDeque;

use aqmlab_units::{Span, Time};

use super::parameters::{DECIDE_WORDS, OVERLOAD_WORDS};
use super::scheduler::Queue;
use super::{L4S, OVERLOAD};
use crate::disciplines::memory::MemoryUnit;
use crate::disciplines::{ParameterReader, marks};
use crate::{Backlog, Dequeue, DropReason, Ecn, Fifo, Gauge, Host, Limit, Packet, Qdisc, Room, Value};

/// The probability 1.
const ONE: u32 = u32::MAX;
/// `tc` and the kernel exchange gains in units of 1/256 per second, which the kernel keeps in units of 64 ns.
const GAIN_SCALING: u32 = 2;
const DELAY_SHIFT: u32 = 6;
/// Largest gain in 1/256 per second whose value in units of the kernel has 32 bits.
const MOST_256THS: f64 = 4e9;

fn nanoseconds(time: Time) -> u64 {
    time.0 / 1000
}

/// Validated parameters, from which a kernel module is generated too.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Space for waiting packets.
    pub room: Room,
    /// Most memory of waiting packets in bytes.
    pub memlimit: u64,
    /// Delay of C that the controller aims at in ns.
    pub target: u64,
    /// Time between two steps.
    pub t_update: Span,
    /// Gain on the delay above the target, in units of 2^-32 in 64 ns.
    pub alpha: u32,
    /// Gain on the rise of the delay, in the same units.
    pub beta: u32,
    /// Factor k of L's probability.
    pub coupling: u32,
    /// Delay of a packet in ns above which it is marked in L.
    pub step: u64,
    /// Packets in L from which on the step applies to an arrival.
    pub step_packets: u32,
    /// Weights of C and L in percent.
    pub weights: [i32; 2],
    /// Largest packet with the link's header in bytes.
    pub mtu: u32,
    /// Drop packets of L in overload, rather than fill the buffer.
    pub drops_in_overload: bool,
    /// Decide as a packet arrives, rather than as it leaves.
    pub at_arrival: bool,
}

/// The numbers that change with each call, as a kernel module logs them.
#[cfg(feature = "replay")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    /// Delay of the last step in ns.
    pub delay: u64,
    /// The base probability, times 2^32.
    pub p: u32,
    /// Credit of C.
    pub credit: i32,
}

impl Settings {
    /// Read the parameters.
    pub(super) fn read(reader: &mut ParameterReader<'_>) -> Self {
        let mtu = reader.bytes("max_packet", 1514) as u32;
        let limit = reader.limit(10_000);
        let room = Room::new(limit, false);
        reader.counts_packets_in_linux(limit);
        reader.has_largest_packet_of_device("max_packet");
        let memlimit = reader.set_number("memlimit").map_or_else(
            || match limit {
                Limit::Packets(packets) => 2 * u64::from(packets) * u64::from(mtu),
                Limit::Bytes(_) => u64::MAX,
            },
            |bytes| bytes as u64,
        );
        let memlimit = memlimit.min(u32::MAX.into());
        reader.rounded_in_linux("memlimit", Value::Bytes(memlimit));
        let share = libm::rint(reader.set_number("classic_share").unwrap_or(0.1) * 100.0) as i32;
        reader.rounded_in_linux("classic_share", Value::Number(f64::from(share) / 100.0));
        let coupling = reader.number("coupling", 2.0);
        if coupling != libm::rint(coupling) || !(1.0..=255.0).contains(&coupling) {
            let message = format!("{coupling} is out of range in the dialect of Linux");
            reader.error("coupling", message, "whole numbers from 1 to 255");
        }
        reader.fixed_in_linux("l4s_range", Value::Seconds(0.0));
        reader.fixed_in_linux("scheduler", Value::Word("weighted".to_owned()));
        reader.fixed_in_linux("decision", Value::Word("random".to_owned()));
        reader.fixed_in_linux("ecn", Value::Flag(true));
        reader.warn_without_effect(&["rtt_max", "time_shift"], "in the dialect of Linux");
        Self {
            room,
            memlimit,
            target: reader.linux_time("target", Span::from_millis(15)).0 / 1000,
            t_update: reader.linux_time("t_update", Span::from_millis(16)),
            alpha: read_gain(reader, "alpha", 41),
            beta: read_gain(reader, "beta", 819),
            coupling: coupling as u32,
            step: reader.linux_time("l4s_min_th", Span::from_millis(1)).0 / 1000,
            step_packets: reader.integer("l4s_min_packets", 0) as u32,
            weights: [share, 100 - share],
            mtu,
            drops_in_overload: reader.word("overload", &OVERLOAD_WORDS),
            at_arrival: reader.word("decide", &DECIDE_WORDS),
        }
    }

    /// Return the probability after a step, of delays in ns now and a step before.
    fn step(&self, p: u32, delay: u64, old: u64) -> u32 {
        let part = |from: u64, gain: u32| (delay as i64).wrapping_sub(from as i64).wrapping_mul(gain.into());
        let change = part(self.target, self.alpha).wrapping_add(part(old, self.beta));
        let size = (change.unsigned_abs() >> DELAY_SHIFT) as u32;
        let next = if change > 0 {
            Some(p.wrapping_add(size)).filter(|next| *next >= p).unwrap_or(ONE)
        } else {
            Some(p.wrapping_sub(size)).filter(|next| *next <= p).unwrap_or(0)
        };
        next.min(self.most())
    }

    /// Return the largest base probability.
    fn most(&self) -> u32 {
        if self.drops_in_overload { ONE } else { ONE / self.coupling }
    }

    /// Return the credit at the start: negative where L comes first.
    fn initial_credit(&self) -> i32 {
        (self.mtu as i32).wrapping_mul(self.weights[0] - self.weights[1])
    }
}

/// Read a gain, which tc cuts to whole 1/256 per second; return it in units of the kernel.
fn read_gain(reader: &mut ParameterReader<'_>, key: &str, default: u32) -> u32 {
    let in_256ths = reader.set_number(key).map_or(default.into(), |gain| libm::floor(gain * 256.0 + 0.01));
    if !(1.0..=MOST_256THS).contains(&in_256ths) {
        let message = format!("{} is out of range in the dialect of Linux", in_256ths / 256.0);
        reader.error(key, message, "1/256 to 15625000");
        return default;
    }
    reader.rounded_in_linux(key, Value::Number(in_256ths / 256.0));
    scaled(in_256ths as u64)
}

/// Convert a gain in 1/256 per second to units of the kernel.
fn scaled(in_256ths: u64) -> u32 {
    (((in_256ths * u64::from(ONE)) >> GAIN_SCALING) / 1_000_000_000) as u32
}

/// The discipline in Linux's integers; see the module text.
#[derive(Clone, Debug)]
pub struct Linux<P> {
    settings: Settings,
    l: Fifo<P>,
    c: Fifo<P>,
    /// Whether the step applies to the packets of L.
    steps: VecDeque<bool>,
    /// The base probability.
    p: u32,
    /// The delay of the last step in ns.
    delay: u64,
    /// C is served while it is above 0, if both wait.
    credit: i32,
    memory: u64,
    /// `None`: steps are called from outside.
    next_update: Option<Time>,
}

impl<P: Copy> Linux<P> {
    /// Create empty queues.
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            settings: settings.clone(),
            l: Fifo::default(),
            c: Fifo::default(),
            steps: VecDeque::new(),
            p: 0,
            delay: 0,
            credit: settings.initial_credit(),
            memory: 0,
            next_update: Some(Time::ZERO + settings.t_update),
        }
    }

    /// Compute a step of the controller at `now`.
    fn step(&mut self, now: Time) {
        let delay = self.delay_at(now);
        self.p = self.settings.step(self.p, delay, self.delay);
        self.delay = delay;
    }

    /// Return the delay of the older head in ns.
    fn delay_at(&self, now: Time) -> u64 {
        let of_head = |queue: &Fifo<P>| {
            queue.head().map_or(0, |head| nanoseconds(now).wrapping_sub(nanoseconds(head.meta.arrival)))
        };
        of_head(&self.c).max(of_head(&self.l))
    }

    /// Return the numbers that a kernel module logs.
    #[cfg(feature = "replay")]
    pub(crate) fn state(&self) -> State {
        State { delay: self.delay, p: self.p, credit: self.credit }
    }

    /// Let no step run by itself.
    pub fn stop_timer(&mut self) {
        self.next_update = None;
    }

    /// Compute a step at `now`, as the kernel's timer does, which reads the clock again to set its next expiry.
    pub fn timer(&mut self, now: Time, host: &mut impl Host<P>) {
        self.step(now);
        host.clock(now);
    }

    /// Return whether steps change nothing while nothing arrives.
    fn is_at_rest(&self) -> bool {
        self.p == 0 && self.delay == 0 && self.l.head().is_none() && self.c.head().is_none()
    }

    /// Return whether further steps leave p as it is while nothing arrives or leaves, after a step from these p and delay: of empty
    /// queues, or at the most, where the heads only grow older.
    fn rests_since(&self, (p, delay): (u32, u64)) -> bool {
        let is_empty = self.l.head().is_none() && self.c.head().is_none();
        let is_steady = if is_empty { delay == 0 } else { p == self.settings.most() && self.delay > delay };
        self.p == p && is_steady
    }

    /// Compute the steps that are due.
    fn catch_up(&mut self, now: Time) {
        let t_update = self.settings.t_update;
        while let Some(due) = self.next_update.filter(|due| *due <= now) {
            let before = (self.p, self.delay);
            self.step(due);
            let mut last = due;
            if self.rests_since(before) {
                last = due + t_update * (now.since(due).0 / t_update.0);
                self.delay = self.delay_at(last);
            }
            self.next_update = Some(last + t_update);
        }
    }

    /// Decide about a packet outside the queues, and mark it. Return the reason if it must be dropped.
    fn drop_reason(
        &self,
        queue: Queue,
        packet: &mut Packet<P>,
        host: &mut impl Host<P>,
    ) -> Option<DropReason> {
        if Qdisc::<P>::backlog(self).bytes < 2 * u64::from(self.settings.mtu) {
            return None;
        }
        let p_l = u64::from(self.p) * u64::from(self.settings.coupling);
        let is_overload = p_l > ONE.into();
        match queue {
            Queue::C => {
                let is_hit = rolls(self.p, host) && rolls(self.p, host);
                let is_dropped = is_hit && (is_overload || !marks(true, packet, DropReason::EARLY, host));
                is_dropped.then_some(DropReason::EARLY)
            }
            Queue::L if is_overload => {
                if self.settings.drops_in_overload && rolls(self.p, host) && rolls(self.p, host) {
                    return Some(OVERLOAD);
                }
                marks(true, packet, L4S, host);
                None
            }
            Queue::L => {
                if rolls(p_l as u32, host) {
                    marks(true, packet, L4S, host);
                }
                None
            }
        }
    }

    /// Return the queue to serve next, and the change of the credit for each byte.
    fn next_queue(&self) -> Option<(Queue, i32)> {
        let [l, c] = [&self.l, &self.c].map(|queue| queue.head().is_some());
        let [wc, wl] = self.settings.weights;
        match (l, c) {
            (false, false) => None,
            (true, false) => Some((Queue::L, 0)),
            (false, true) => Some((Queue::C, 0)),
            (true, true) if self.credit <= 0 => Some((Queue::L, wc)),
            (true, true) => Some((Queue::C, -wl)),
        }
    }
}

/// Return whether a random number hits.
fn rolls<P>(p: u32, host: &mut impl Host<P>) -> bool {
    (host.uniform() * 4_294_967_296.0) as u32 <= p
}

impl<P: Copy> Qdisc<P> for Linux<P> {
    fn enqueue(&mut self, now: Time, mut packet: Packet<P>, host: &mut impl Host<P>) {
        self.catch_up(now);
        let memory = MemoryUnit::TrueSize.of_packet(&packet, host);
        let is_full = self.settings.room.is_full_for(Qdisc::<P>::backlog(self), packet.meta.bytes);
        if is_full || self.memory + memory > self.settings.memlimit {
            return host.dropped(packet, DropReason::OVERFLOW);
        }
        let queue = match packet.meta.header.ecn() {
            Ecn::Ect1 | Ecn::Ce => Queue::L,
            Ecn::NotEct | Ecn::Ect => Queue::C,
        };
        if self.settings.at_arrival
            && let Some(reason) = self.drop_reason(queue, &mut packet, host)
        {
            return host.dropped(packet, reason);
        }
        self.memory += memory;
        match queue {
            Queue::C => self.c.push(packet),
            Queue::L => {
                self.steps.push_back(self.l.backlog().packets >= self.settings.step_packets);
                self.l.push(packet);
            }
        }
    }

    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        while let Some((queue, weight)) = self.next_queue() {
            let source = if queue == Queue::L { &mut self.l } else { &mut self.c };
            let Some(mut packet) = source.pop() else { break };
            let is_step = queue == Queue::L && self.steps.pop_front().unwrap_or(false);
            self.memory -= MemoryUnit::TrueSize.of_packet(&packet, host);
            if !self.settings.at_arrival
                && let Some(reason) = self.drop_reason(queue, &mut packet, host)
            {
                host.dropped(packet, reason);
                continue;
            }
            let delay = nanoseconds(now).wrapping_sub(nanoseconds(packet.meta.arrival));
            if is_step && delay > self.settings.step {
                marks(true, &mut packet, L4S, host);
            }
            self.credit = self.credit.wrapping_add(weight.wrapping_mul(packet.meta.bytes as i32));
            host.left(&packet, queue.name());
            return Dequeue::Packet(packet);
        }
        self.credit = self.settings.initial_credit();
        Dequeue::Empty
    }

    fn next_timer(&self) -> Option<Time> {
        self.next_update.filter(|_| !self.is_at_rest())
    }

    fn on_timer(&mut self, now: Time, _host: &mut impl Host<P>) {
        self.catch_up(now);
    }

    fn backlog(&self) -> Backlog {
        let (l, c) = (self.l.backlog(), self.c.backlog());
        Backlog { packets: l.packets + c.packets, bytes: l.bytes + c.bytes }
    }

    fn gauges(&self, _now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        let p = f64::from(self.p) / f64::from(ONE);
        out(Gauge::State("delay"), self.delay as f64 / 1e9);
        out(Gauge::State("p_base"), p);
        out(Gauge::State("p_c"), p * p);
        out(Gauge::State("p_cl"), (p * f64::from(self.settings.coupling)).min(1.0));
        out(Gauge::State("l_packets"), f64::from(self.l.backlog().packets));
        out(Gauge::State("c_packets"), f64::from(self.c.backlog().packets));
    }
}

#[cfg(test)]
mod tests;
