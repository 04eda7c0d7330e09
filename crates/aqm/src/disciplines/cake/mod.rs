//! CAKE, common applications kept enhanced (T. Hoeiland-Joergensen, D. Taht and J. Morton, "Piece of CAKE: a comprehensive queue management
//! solution for home gateways", LANMAN 2018; tc-cake(8); the behaviour of Linux 6.12's `sch_cake`).
//!
//! Packets go by code point to a tin (`diffserv.rs`), and in it by the hash of their flow (`hash.rs`) to a queue under
//! [COBALT](super::cobalt). Queues are served in turn, new ones first (`flows.rs`), with quanta that divide the share of a host by its flows
//! (`hosts.rs`). A buffer whose memory is full drops at the head of the longest queue (`overflow.rs`, `memory.rs`).
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
//! | `max_packet` | bytes | 1514 | 1 to 65535 | Linux `sch_cake.c` |
//!
//! Readings, where paper, manual and kernel differ or are silent:
//!
//! * The last packet of a queue is never dropped by COBALT, as in Linux.
//! * An empty queue keeps its place in its list until its turn comes, and COBALT's state decays only while packets wait elsewhere, as in
//!   Linux, whose watchdog for empty queues does nothing.
//! * The heap of the longest queues is whole. Linux's moves a queue down by one level at a time, so that the queue of which it drops is not
//!   always the longest after several drops.
//! * COBALT's roots are exact, see [`cobalt`](super::cobalt); a packet that BLUE selects is not marked before.
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
mod memory;
mod overflow;
mod parameters;
mod shaper;
mod statistics;
#[cfg(test)]
mod tests;
mod tin;

pub(crate) use parameters::Params;
pub(super) use parameters::{PARAMETERS, PRESETS, read};

use aqmlab_units::{Span, Time};

use self::ack_filter::ACK_FILTER;
use self::autorate::AutoRate;
use self::controller::Controller;
use self::diffserv::{DiffServ, MAX_TINS};
use self::flows::ListName;
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

impl<P: Copy + Default> Cake<P> {
    /// Create empty queues.
    pub(super) fn new(params: &Params) -> Self {
        let diffserv = params.diffserv;
        let (law, ..) = tin::configure(0, params.target, params.rtt, params.max_packet, params.ecn);
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
            autorate: AutoRate::new(params.rate),
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
        let Params { target, rtt, max_packet, ecn, diffserv, .. } = self.params;
        for (number, tin) in self.tins.iter_mut().enumerate() {
            let threshold = diffserv.threshold(number, rate);
            (tin.law, tin.packet_time, tin.quantum) = tin::configure(threshold, target, rtt, max_packet, ecn);
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

    /// Return whether the shaper is at work.
    #[inline]
    fn is_shaped(&self) -> bool {
        !self.shaper.byte_time.is_unlimited()
    }

    /// Charge a packet that leaves or is dropped to the clocks, if there is a shaper. Return its length on the wire.
    #[inline]
    fn charge(&mut self, tin: usize, bytes: u32, now: Time, is_dropped: bool) -> u32 {
        let on_wire = self.params.framing.on_wire(bytes);
        if self.is_shaped() {
            self.tins[tin].clock.charge(on_wire, nanoseconds(now));
            self.shaper.charge(on_wire, is_dropped);
        }
        on_wire
    }

    /// Drop at the head of the longest queue.
    fn drop_from_longest(&mut self, now: Time, host: &mut impl Host<P>) {
        let Self { queues, overflow, .. } = self;
        let longest = overflow.longest(|queue| bytes_of(queues, queue));
        let (tin, queue) = (longest / QUEUES, longest % QUEUES);
        let Some(packet) = self.queues.pop(longest) else { return };
        self.tins[tin].overflowed(queue, now);
        self.left(longest, &packet);
        if self.params.ingress {
            self.charge(tin, packet.meta.bytes, now, true);
        }
        host.dropped(packet, DropReason::OVERFLOW);
    }

    /// Note that a packet has left a queue.
    #[inline]
    fn left(&mut self, queue: usize, packet: &Packet<P>) {
        let bytes = packet.meta.bytes;
        self.memory -= self.params.memory.of(bytes);
        self.tins[queue / QUEUES].backlog.take(bytes);
        let queues = &self.queues;
        self.overflow.shrank(queue, |queue| bytes_of(queues, queue));
    }

    /// Select the tin to serve; at least one packet waits.
    #[inline]
    fn choose_tin(&mut self, now: Time) {
        if self.tins.len() == 1 {
            return;
        }
        if self.is_shaped() { self.choose_by_clocks(nanoseconds(now)) } else { self.choose_by_weights() }
    }

    /// Select the last tin below its threshold; if there is none, the tin with the earliest clock.
    fn choose_by_clocks(&mut self, now: u64) {
        let mut earliest = u64::MAX;
        for (number, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.flows.active() > 0) {
            // All times up to now are equal, so that the last tin has priority.
            let next = tin.clock.next.max(now);
            if next <= earliest {
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

    /// Select the flow of the tin to serve, and its list. Flows that have used their quantum up begin another round.
    #[inline]
    fn choose_flow(
        &mut self,
        looks_at_decaying: &mut bool,
        host: &mut impl Host<P>,
    ) -> Option<(usize, ListName)> {
        let Self { queues, tins, current, .. } = self;
        let tin = &mut tins[*current];
        loop {
            let (queue, list) = tin.flows.next(*looks_at_decaying)?;
            *looks_at_decaying = false;
            if tin.flows[queue].deficit > 0 {
                return Some((queue, list));
            }
            let waits = queues.backlog(*current * QUEUES + queue).packets > 0;
            tin.begin_round(queue, list, waits, host);
        }
    }

    /// Take the packet to send from the tin, by way of COBALT. Return whether there is one; if not, an empty flow has left the list in which
    /// it was.
    #[inline]
    fn serve_tin(
        &mut self,
        now: Time,
        looks_at_decaying: &mut bool,
        packet: &mut Packet<P>,
        host: &mut impl Host<P>,
    ) -> bool {
        let (tin, ingress) = (self.current, self.params.ingress);
        while let Some((queue, list)) = self.choose_flow(looks_at_decaying, host) {
            let number = tin * QUEUES + queue;
            self.last = queue;
            let mut is_charged = false;
            while !is_charged {
                if !self.queues.pop_into(number, packet) {
                    self.tins[tin].ran_empty(queue, list, now);
                    return false;
                }
                self.left(number, packet);
                let waits = self.queues.backlog(number).packets > 0;
                let reason = self.tins[tin].should_drop(queue, ingress, now, packet, host);
                let Some(reason) = reason.filter(|_| waits) else { return true };
                self.tins[tin].counts.drops += 1;
                host.dropped(*packet, reason);
                if ingress {
                    // The flow may have used its quantum up.
                    let on_wire = self.charge(tin, packet.meta.bytes, now, true);
                    self.tins[tin].charge(queue, on_wire);
                    is_charged = true;
                }
            }
        }
        false
    }

    /// Note that a packet leaves by the link.
    #[inline]
    fn send(&mut self, now: Time, packet: &Packet<P>, host: &mut impl Host<P>) {
        let on_wire = self.charge(self.current, packet.meta.bytes, now, false);
        let tin = &mut self.tins[self.current];
        tin.charge(self.last, on_wire);
        tin.counts.sent(packet.meta.bytes);
        tin.delays.note(nanoseconds(now).saturating_sub(nanoseconds(packet.meta.arrival)));
        self.overflow.departed();
        if let Some(controller) = &mut self.controller {
            controller.sent(packet.meta.bytes);
        }
        if self.tins.len() > 1 {
            host.left(packet, self.tins[self.current].name);
        }
    }
}

/// The whole nanoseconds of a time.
#[inline]
fn nanoseconds(time: Time) -> u64 {
    time.0 / 1000
}

#[inline]
fn bytes_of<P: Copy + Default>(queues: &FlowQueues<P>, queue: usize) -> u64 {
    queues.find_backlog(queue).bytes
}

impl<P: Copy + Default> Qdisc<P> for Cake<P> {
    fn enqueue(&mut self, now: Time, mut packet: Packet<P>, host: &mut impl Host<P>) {
        let common = self.common(host);
        let bytes = packet.meta.bytes;
        let number = usize::from(self.tin_of[usize::from(packet.meta.header.dscp() & 63)]);
        if self.params.wash {
            packet.meta.header.set_dscp(0);
        }
        let tin = &mut self.tins[number];
        let queue = tin.classify(common, &packet, host);
        if tin.backlog.packets == 0 {
            tin.clock.on_backlog(nanoseconds(now));
            if self.queues.total().packets == 0 {
                self.shaper.on_backlog(nanoseconds(now));
            }
        }
        tin.backlog.add(bytes);
        tin.counts.longest = tin.counts.longest.max(bytes);
        tin.arrived(queue, host);
        self.memory += self.params.memory.of(bytes);
        let queue = number * QUEUES + queue;
        self.queues.push(queue, packet);
        if let Some(slot) = self.params.ack_filter.superfluous(&self.queues, queue, &packet, host) {
            let older = self.queues.remove(queue, slot);
            self.left(queue, &older);
            if self.params.ingress {
                self.charge(number, older.meta.bytes, now, true);
            }
            self.tins[number].counts.ack_drops += 1;
            host.dropped(older, ACK_FILTER);
        }
        let queues = &self.queues;
        self.overflow.grew(queue, |queue| bytes_of(queues, queue));
        if self.params.autorate
            && let Some(rate) = self.autorate.arrived(nanoseconds(now), bytes)
        {
            self.set_rate(rate);
        }
        while self.memory > self.memlimit {
            self.drop_from_longest(now, host);
        }
    }

    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        let mut packet = Packet::default();
        if self.dequeue_into(now, &mut packet, host) {
            return Dequeue::Packet(packet);
        }
        Qdisc::<P>::not_before(self, now).map_or(Dequeue::Empty, Dequeue::NotBefore)
    }

    fn dequeue_into(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool {
        let mut looks_at_decaying = true;
        while self.queues.total().packets > 0 {
            // Drops may have used the time of others up.
            if self.shaper.not_before(nanoseconds(now)).is_some() {
                return false;
            }
            self.choose_tin(now);
            if self.serve_tin(now, &mut looks_at_decaying, packet, host) {
                self.send(now, packet, host);
                return true;
            }
        }
        false
    }

    fn not_before(&self, now: Time) -> Option<Time> {
        if self.queues.total().packets == 0 {
            return None;
        }
        self.shaper.not_before(nanoseconds(now)).map(|ns| Time(ns.saturating_mul(1000)))
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
