//! CAKE, common applications kept enhanced (T. Hoeiland-Joergensen, D. Taht and J. Morton, "Piece of CAKE: a comprehensive queue management
//! solution for home gateways", LANMAN 2018; tc-cake(8); the behaviour of `sch_cake` of Linux 6.1, 6.12 and 7.3).
//!
//! Packets go by code point to a tin (`diffserv.rs`), and in it by the hash of their flow (`hash.rs`) to a queue under
//! [COBALT](super::cobalt). Queues are served in turn, new ones first (`flows.rs`), with quanta that divide the share of a host by its flows
//! (`hosts.rs`). A buffer whose memory is full drops at the head of the longest queue (`overflow.rs`, [`memory`](super::memory)).
//!
//! A shaper lets packets leave at a rate of its own (`shaper.rs`), which a controller may change (`controller.rs`).
//!
//! | parameter | unit | default | allowed | source |
//! |---|---|---|---|---|
//! | `rate` | bit/s | `unlimited` | above 0 | tc-cake(8), as all without another source |
//! | `overhead`, `mpu`, `linklayer` | bytes | 0, 0, `ethernet` | as of a [link](aqmlab_units::Framing) | |
//! | `ingress`, `autorate_ingress`, `wash` | | false | | |
//! | `autorate` and its settings | | false | see `controller.rs` | cake-autorate |
//! | `ack_filter` | | `off` | or `on`, `aggressive` | |
//! | `nat` | | false | see [`Host::hosts`](crate::Host::hosts) | |
//! | `split_gso` | | true | without effect | |
//! | `diffserv` | | `diffserv3` | see `diffserv.rs` | |
//! | `isolation` | | `triple-isolate` | see `hosts.rs` | |
//! | `rtt` | s | 100 ms | 1 us to 1000 s, or `lan`, `internet`, ... | |
//! | `memlimit` | bytes | 4 rate rtt, at least 4 MiB | at least 1 | |
//! | `limit` | packets or bytes | 10240 packets | at least 1 | Linux `sch_cake.c`: the most that `memlimit` is by default |
//! | `memory` | | `truesize` | or `length` | Linux `skbuff.h` |
//! | `dialect` | | `linux-7.3` | or `linux-6.12`, `linux-6.1` | Linux `sch_cake.c` |
//! | `max_packet` | bytes | 1514 | 1 to 65535 | Linux `sch_cake.c` |
//!
//! Readings, where paper, manual and kernel differ or are silent:
//!
//! * The last packet of a queue is never dropped by COBALT, as in Linux.
//! * An empty queue keeps its place in its list until its turn comes, and COBALT's state decays only while packets wait elsewhere, as in
//!   Linux, whose watchdog for empty queues does nothing.
//! * Times are whole nanoseconds and roots those of Linux, see `cobalt/law.rs`. A packet that BLUE selects is not marked before,
//!   unless it is the last of its queue.
//! * Kernels differ: `dialect` selects the roots of Linux 6.1 or those from 6.12 on; in 7.3 BLUE draws no number for a packet that the
//!   control law drops, and `autorate_ingress` waits 250 ms between two changes.
//! * The flow label takes the place of the hash of addresses and ports. Hosts are those that the environment knows
//!   ([`Host::hosts`](crate::Host::hosts)).
//! * `ecn = false` drops where Linux always marks.
//! * A `memlimit` of its own bounds the memory alone; `limit` is that of Linux's device queue, which bounds only what follows from the rate.
//! * Where a scheduler serves `cake`, it may have no shaper: other classes could not use the link meanwhile.
//!
//! Deliberately absent: filters and firewall marks that override tin or queue.
//!
//! Drop reasons are those of COBALT and `ack-filter`; gauges are COBALT's for the queue that was served last, the memory, and counts of flows and
//! of ways of the hash, for several tins also packets, delays and flows of each, as `tc -s`.

mod ack_filter;
mod autorate;
mod controller;
mod diffserv;
#[cfg(test)]
mod fairness_tests;
mod flows;
mod hash;
mod hosts;
mod overflow;
mod parameters;
mod shaper;
mod statistics;
#[cfg(test)]
mod tests;
mod tin;

pub(crate) use parameters::Params;
pub(super) use parameters::{ONE_QUEUE, PARAMETERS, PRESETS, read};

use aqmlab_units::{Span, Time};

use self::ack_filter::ACK_FILTER;
use self::autorate::AutoRate;
use self::controller::Controller;
use self::diffserv::{DiffServ, MAX_TINS};
use self::hash::QUEUES;
use self::overflow::Overflow;
use self::shaper::{ByteTime, Shaper};
use self::tin::{Common, Tin};
use super::flow_queues::{FlowQueues, mix};
use crate::{Backlog, Dequeue, DropReason, Gauge, Host, Packet, Qdisc, TinStats};

/// The discipline; see the module text.
#[derive(Clone, Debug)]
pub struct Cake<P> {
    params: Params,
    tin_of: [u8; 64],
    /// Queue q of tin t is number 1024 t + q.
    queues: FlowQueues<P>,
    tins: Vec<Tin>,
    /// The tin that is served.
    current: usize,
    /// The queue of it that was served last.
    last: usize,
    shaper: Shaper,
    /// Its rate in bytes per second; 0 is unlimited.
    rate: u64,
    autorate: AutoRate,
    controller: Option<Box<Controller>>,
    overflow: Overflow,
    memory: u64,
    memlimit: u64,
    /// The key of the hash, once it is known.
    common: Option<Common>,
}

/// Result of serving a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Served {
    /// It sends a packet.
    Packet,
    /// A packet was dropped; the next one is of the same tin.
    Drop,
    /// It was empty and has left its list; the tin is selected again.
    NoFlow,
}

impl<P: Copy + Default> Cake<P> {
    /// Create empty queues.
    pub(super) fn new(params: &Params) -> Self {
        let diffserv = params.diffserv;
        let (law, ..) = tin::configure(0, params);
        let tin = |(number, name): (usize, &&'static str)| {
            Tin::new(name, params.isolation, diffserv.weight(number), law)
        };
        let tins: Vec<_> = diffserv.names().iter().enumerate().map(tin).collect();
        let mut cake = Self {
            params: params.clone(),
            tin_of: diffserv.tin_of(),
            queues: FlowQueues::new(tins.len() * QUEUES),
            tins,
            current: 0,
            last: 0,
            shaper: Shaper::default(),
            rate: 0,
            autorate: AutoRate::new(params.rate, params.kernel),
            controller: params.controller.as_ref().map(|settings| Box::new(Controller::new(settings))),
            overflow: Overflow::new(),
            memory: 0,
            memlimit: 0,
            common: None,
        };
        cake.set_rate(params.rate);
        cake
    }

    /// Set the rate in bytes per second, 0 for unlimited, with all that follows from it.
    fn set_rate(&mut self, rate: u64) {
        let diffserv = self.params.diffserv;
        for (number, tin) in self.tins.iter_mut().enumerate() {
            let threshold = diffserv.threshold(number, rate);
            (tin.law, tin.packet_time, tin.quantum) = tin::configure(threshold, &self.params);
            tin.clock.byte_time = ByteTime::of_rate(threshold);
            tin.threshold = threshold;
        }
        (self.rate, self.shaper.byte_time) = (rate, ByteTime::of_rate(rate));
        self.memlimit = self.params.memory_at(rate);
    }

    /// Let the controller act, if there is one, and take its rate.
    fn control(&mut self, act: impl FnOnce(&mut Controller)) {
        let Some(controller) = &mut self.controller else { return };
        let before = controller.bytes_per_second();
        act(controller);
        let rate = controller.bytes_per_second();
        if rate != before {
            self.set_rate(rate);
        }
    }

    /// Return the settings of all tins; the key of the hash is drawn once.
    #[inline]
    fn common(&mut self, host: &mut impl Host<P>) -> Common {
        let Params { isolation, key, .. } = self.params;
        *self.common.get_or_insert_with(|| {
            let key = mix(key.unwrap_or_else(|| host.below(1 << 53)));
            Common { isolation, key }
        })
    }

    /// Return the length of a packet in the shaper and in the shares of flows.
    pub(crate) fn on_wire(&self, bytes: u32) -> u32 {
        self.params.framing.on_wire(bytes)
    }

    /// Return whether the shaper is at work.
    #[inline]
    fn is_shaped(&self) -> bool {
        !self.shaper.byte_time.is_unlimited()
    }

    /// Charge a dropped packet to the clocks, if there is a shaper.
    fn charge_drop(&mut self, tin: usize, bytes: u32, now: u64) {
        let on_wire = self.params.framing.on_wire(bytes);
        self.shaper.charge(&mut self.tins[tin].clock, on_wire, now, true);
    }

    /// Drop at the head of the longest queue.
    fn drop_from_longest(&mut self, now: u64, host: &mut impl Host<P>) {
        let now = nanoseconds(host.clock(time(now)));
        let Self { queues, overflow, .. } = self;
        let longest = overflow.longest(|queue| bytes_of(queues, queue));
        let (tin, queue) = (longest / QUEUES, longest % QUEUES);
        let Some(packet) = self.queues.pop(longest) else { return self.overflow.rebuild() };
        self.tins[tin].overflowed(queue, time(now));
        self.left(longest, &packet, host);
        if self.params.ingress {
            self.charge_drop(tin, packet.meta.bytes, now);
        }
        host.dropped(packet, DropReason::OVERFLOW);
    }

    /// Return the memory that a packet takes.
    #[inline]
    fn memory_of(&self, packet: &Packet<P>, host: &mut impl Host<P>) -> u64 {
        self.params.memory.of_packet(packet, host)
    }

    /// Note that a packet has left a queue.
    #[inline(always)]
    fn left(&mut self, queue: usize, packet: &Packet<P>, host: &mut impl Host<P>) {
        self.memory -= self.memory_of(packet, host);
        self.tins[queue / QUEUES].backlog.take(packet.meta.bytes);
        let queues = &self.queues;
        self.overflow.shrank(queue, |queue| bytes_of(queues, queue));
    }

    /// Select the tin and the queue of an arriving packet. Return the queue's number among all. Clocks that were not used lose their time.
    #[inline]
    fn classify(&mut self, now: u64, packet: &Packet<P>, host: &mut impl Host<P>) -> usize {
        let common = self.common(host);
        let number = usize::from(self.tin_of[usize::from(packet.meta.header.dscp() & 63)]);
        let tin = &mut self.tins[number];
        let queue = tin.classify(common, packet, host);
        if tin.backlog.packets == 0 {
            tin.clock.on_backlog(now);
            if self.queues.total().packets == 0 {
                self.shaper.on_backlog(now);
            }
        }
        number * QUEUES + queue
    }

    /// Append a packet to a queue.
    #[inline]
    fn append(&mut self, queue: usize, mut packet: Packet<P>, host: &mut impl Host<P>) {
        if self.params.wash {
            packet.meta.header.set_dscp(0);
        }
        let tin = &mut self.tins[queue / QUEUES];
        tin.backlog.add(packet.meta.bytes);
        tin.counts.longest = tin.counts.longest.max(packet.meta.bytes);
        self.memory += self.memory_of(&packet, host);
        self.queues.push(queue, &packet);
    }

    /// Drop an acknowledgement that the last packet of a queue makes superfluous. Return its length, or 0.
    #[inline]
    fn filter_acks(&mut self, queue: usize, now: u64, packet: &Packet<P>, host: &mut impl Host<P>) -> u32 {
        let Some(slot) = self.params.ack_filter.superfluous(&self.queues, queue, packet, host) else {
            return 0;
        };
        let older = self.queues.remove(queue, slot);
        let bytes = older.meta.bytes;
        self.memory -= self.memory_of(&older, host);
        let tin = &mut self.tins[queue / QUEUES];
        tin.backlog.take(bytes);
        tin.counts.ack_drops += 1;
        if self.params.ingress {
            self.charge_drop(queue / QUEUES, bytes, now);
        }
        host.dropped(older, ACK_FILTER);
        bytes
    }

    /// Note that so many bytes have joined a queue, and drop packets as long as the memory is full.
    #[inline]
    fn joined(&mut self, queue: usize, now: u64, bytes: i64, host: &mut impl Host<P>) {
        let queues = &self.queues;
        self.overflow.grew(queue, |queue| bytes_of(queues, queue));
        if self.params.autorate
            && let Some(rate) = self.autorate.arrived(now, bytes)
        {
            self.set_rate(rate);
        }
        self.tins[queue / QUEUES].arrived(queue % QUEUES, host);
        while self.memory > self.memlimit {
            self.drop_from_longest(now, host);
        }
    }

    /// Enqueue the segments of a packet that Linux splits (`split-gso`): they arrive together.
    pub(crate) fn enqueue_segments(&mut self, now: Time, segments: &[Packet<P>], host: &mut impl Host<P>) {
        let now = nanoseconds(now);
        let Some(first) = segments.first() else { return };
        let queue = self.classify(now, first, host);
        segments.iter().for_each(|segment| self.append(queue, *segment, host));
        self.joined(queue, now, segments.iter().map(|segment| i64::from(segment.meta.bytes)).sum(), host);
    }

    /// Return whether a packet waits, and the shaper lets it leave.
    #[inline]
    fn may_send(&self, now: u64) -> bool {
        self.queues.total().packets > 0 && self.shaper.not_before(now).is_none()
    }

    /// Select the tin to serve; at least one packet waits.
    #[inline]
    fn choose_tin(&mut self, now: u64) {
        if self.tins.len() == 1 {
            return;
        }
        if self.is_shaped() { self.choose_by_clocks(now) } else { self.choose_by_weights() }
    }

    /// Select the last tin below its threshold; if there is none, the tin with the earliest clock.
    #[inline]
    fn choose_by_clocks(&mut self, now: u64) {
        let mut earliest = u64::MAX;
        for (number, tin) in self.tins.iter().enumerate() {
            // All times up to now are equal, so that the last tin has priority.
            let next = tin.clock.next.max(now);
            if tin.flows.active() > 0 && next <= earliest {
                (earliest, self.current) = (next, number);
            }
        }
    }

    /// Select a tin by deficit round robin.
    fn choose_by_weights(&mut self) {
        loop {
            let tin = &mut self.tins[self.current];
            if tin.deficit >= 0 && tin.flows.active() > 0 {
                return;
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.weight;
            }
            self.current = (self.current + 1) % self.tins.len();
        }
    }

    /// Let the next flow of the tin send a packet, by way of COBALT.
    #[inline]
    fn serve_flow(&mut self, now: u64, packet: &mut Packet<P>, host: &mut impl Host<P>) -> Served {
        let (queues, ingress) = (&self.queues, self.params.ingress);
        let (tin, first) = (&mut self.tins[self.current], self.current * QUEUES);
        let waits = |queue| queues.find_backlog(first + queue).packets > 0;
        let Some((queue, list)) = tin.choose_flow(waits, host) else { return Served::NoFlow };
        self.last = queue;
        if !self.queues.pop_into(first + queue, packet) {
            tin.ran_empty(queue, list, time(now));
            return Served::NoFlow;
        }
        self.left(first + queue, packet, host);
        let is_last = self.queues.find_backlog(first + queue).packets == 0;
        let tin = &mut self.tins[self.current];
        let reason = tin.should_drop(queue, ingress, time(now), is_last, packet, host);
        let Some(reason) = reason.filter(|_| !is_last) else { return Served::Packet };
        tin.counts.drops += 1;
        host.dropped(*packet, reason);
        if ingress {
            // The flow may use its quantum up.
            let on_wire = self.params.framing.on_wire(packet.meta.bytes);
            self.shaper.charge(&mut tin.clock, on_wire, now, true);
            tin.charge(queue, on_wire);
        }
        Served::Drop
    }

    /// Continue after a flow that sent nothing, until another flow sends a packet. Return whether one does. Cold: the first flow mostly sends.
    #[cold]
    #[inline(never)]
    fn serve_more(
        &mut self,
        first: Served,
        now: u64,
        packet: &mut Packet<P>,
        host: &mut impl Host<P>,
    ) -> bool {
        let mut served = first;
        while served != Served::Packet {
            if served == Served::NoFlow {
                // Drops may have used the time of others up.
                if !self.may_send(now) {
                    return false;
                }
                self.choose_tin(now);
            }
            served = self.serve_flow(now, packet, host);
        }
        true
    }

    /// Note that a packet leaves by the link.
    #[inline]
    fn send(&mut self, now: u64, packet: &Packet<P>, host: &mut impl Host<P>) {
        let has_one_tin = self.tins.len() == 1;
        let tin = &mut self.tins[self.current];
        let on_wire = self.params.framing.on_wire(packet.meta.bytes);
        self.shaper.charge(&mut tin.clock, on_wire, now, false);
        tin.charge(self.last, on_wire);
        tin.counts.sent(packet.meta.bytes);
        tin.delays.note(now.saturating_sub(nanoseconds(packet.meta.arrival)));
        self.overflow.departed();
        if let Some(controller) = &mut self.controller {
            controller.sent(packet.meta.bytes);
        }
        if !has_one_tin {
            host.left(packet, tin.name);
        }
    }
}

/// The whole nanoseconds of a time.
#[inline]
fn nanoseconds(time: Time) -> u64 {
    time.0 / 1000
}

/// The time of so many nanoseconds.
#[inline]
fn time(nanoseconds: u64) -> Time {
    Time(nanoseconds.saturating_mul(1000))
}

#[inline]
fn bytes_of<P: Copy + Default>(queues: &FlowQueues<P>, queue: usize) -> u64 {
    queues.find_backlog(queue).bytes
}

impl<P: Copy + Default> Qdisc<P> for Cake<P> {
    fn enqueue(&mut self, now: Time, packet: Packet<P>, host: &mut impl Host<P>) {
        let now = nanoseconds(now);
        let queue = self.classify(now, &packet, host);
        self.append(queue, packet, host);
        let filtered = self.filter_acks(queue, now, &packet, host);
        self.joined(queue, now, i64::from(packet.meta.bytes) - i64::from(filtered), host);
    }

    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        let mut packet = Packet::default();
        if self.dequeue_into(now, &mut packet, host) {
            return Dequeue::Packet(packet);
        }
        Qdisc::<P>::not_before(self, now).map_or(Dequeue::Empty, Dequeue::NotBefore)
    }

    fn dequeue_into(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool {
        let now = nanoseconds(now);
        if !self.may_send(now) {
            return false;
        }
        self.choose_tin(now);
        self.tins[self.current].decay_one(time(now));
        let served = self.serve_flow(now, packet, host);
        if served != Served::Packet && !self.serve_more(served, now, packet, host) {
            return false;
        }
        self.send(now, packet, host);
        true
    }

    fn not_before(&self, now: Time) -> Option<Time> {
        if self.queues.total().packets == 0 {
            return None;
        }
        self.shaper.not_before(nanoseconds(now)).map(time)
    }

    /// Do nothing, as in Linux: an empty queue stays in its list until packets wait again.
    fn on_idle(&mut self, _now: Time, _host: &mut impl Host<P>) {}

    fn next_timer(&self) -> Option<Time> {
        self.controller.as_ref().map(|controller| controller.next_timer())
    }

    fn on_timer(&mut self, _now: Time, _host: &mut impl Host<P>) {
        self.control(|controller| controller.on_timer());
    }

    fn on_answer(&mut self, now: Time, delay: Span) {
        self.control(|controller| controller.on_answer(now, delay));
    }

    fn backlog(&self) -> Backlog {
        self.queues.total()
    }

    fn tins(&self, out: &mut dyn FnMut(TinStats)) {
        self.report_tins(out);
    }

    fn reset_stats(&mut self) {
        self.reset_counts();
    }

    fn gauges(&self, _now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        self.tins[self.current].flows[self.last].control.gauges(out);
        let sum = |of: fn(&Tin) -> u64| self.tins.iter().map(of).sum::<u64>() as f64;
        out(Gauge::State("memory"), self.memory as f64);
        out(Gauge::State("shaper_rate"), self.rate as f64 * 8.0);
        out(Gauge::State("sparse_flows"), sum(|tin| (tin.flows.sparse + tin.flows.decaying).into()));
        out(Gauge::State("bulk_flows"), sum(|tin| tin.flows.bulk.into()));
        out(Gauge::State("unresponsive_flows"), sum(|tin| tin.unresponsive.into()));
        out(Gauge::State("indirect_hits"), sum(|tin| tin.hash.counts.indirect_hits));
        out(Gauge::State("way_misses"), sum(|tin| tin.hash.counts.misses));
        out(Gauge::State("way_collisions"), sum(|tin| tin.hash.counts.collisions));
        if self.tins.len() == 1 {
            return;
        }
        for (tin, names) in self.tins.iter().zip(&GAUGES) {
            let seconds = |ns: u64| ns as f64 / 1e9;
            let values = [
                tin.backlog.packets.into(),
                seconds(tin.delays.average),
                seconds(tin.delays.peak),
                seconds(tin.delays.sparse),
                (tin.flows.sparse + tin.flows.decaying).into(),
                tin.flows.bulk.into(),
            ];
            names.iter().zip(values).for_each(|(name, value)| out(Gauge::State(name), value));
        }
    }
}

/// The names of the gauges of a tin.
macro_rules! names_of {
    ($($tin:literal)*) => {
        [$([
            concat!("packets_", $tin),
            concat!("delay_", $tin),
            concat!("peak_delay_", $tin),
            concat!("sparse_delay_", $tin),
            concat!("sparse_flows_", $tin),
            concat!("bulk_flows_", $tin),
        ]),*]
    };
}

/// Names of the gauges of each tin.
const GAUGES: [[&str; 6]; MAX_TINS] = names_of!(0 1 2 3 4 5 6 7);
