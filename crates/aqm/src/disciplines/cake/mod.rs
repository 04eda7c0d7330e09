//! CAKE, common applications kept enhanced (T. Hoeiland-Joergensen, D. Taht and J. Morton, "Piece of CAKE: a comprehensive queue management
//! solution for home gateways", LANMAN 2018; tc-cake(8); the behaviour of Linux 6.12's `sch_cake`).
//!
//! Packets go by code point to a tin (`diffserv.rs`), and in it by the hash of their flow (`hash.rs`) to a queue under
//! [COBALT](super::cobalt). Queues are served in turn, new ones first (`flows.rs`), with quanta that divide the share of a host by its flows
//! (`hosts.rs`). A buffer whose memory is full drops at the head of the longest queue (`overflow.rs`, `memory.rs`).
//!
//! | parameter | unit | default | allowed | source |
//! |---|---|---|---|---|
//! | `diffserv` | | `diffserv3` | see `diffserv.rs` | tc-cake(8) |
//! | `isolation` | | `triple-isolate` | see `hosts.rs` | the same |
//! | `rtt` | s | 100 ms | 1 us to 1000 s, or `lan`, `internet`, ... | the same |
//! | `memlimit` | bytes | 4 rate rtt, at least 4 MiB | at least 1 | the same |
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
//!
//! Drop reasons are those of COBALT; gauges are COBALT's for the queue that was served last, the memory, and counts of flows and of ways of the
//! hash, for several tins also packets, delay and bulk flows of each.

mod diffserv;
mod flows;
mod hash;
mod hosts;
mod memory;
mod overflow;
mod parameters;
mod shaper;
#[cfg(test)]
mod tests;
mod tin;

pub(crate) use parameters::Params;
pub(super) use parameters::{PARAMETERS, PRESETS, read};

use aqmlab_units::Time;

use self::diffserv::MAX_TINS;
use self::hash::QUEUES;
use self::overflow::Overflow;
use self::shaper::Shaper;
use self::tin::{Common, Tin};
use super::flow_queues::{FlowQueues, mix};
use crate::{Backlog, Dequeue, DropReason, Gauge, Host, Packet, Qdisc};

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
            tin.clock.byte_time = shaper::ByteTime::of_rate(threshold);
        }
        self.shaper.byte_time = shaper::ByteTime::of_rate(rate);
        self.memlimit = self.params.memory_at(rate);
    }

    /// Return what is the same for all tins; the key of the hash is drawn once.
    #[inline]
    fn common(&mut self, host: &mut impl Host<P>) -> Common {
        let Params { isolation, key, .. } = self.params;
        *self.common.get_or_insert_with(|| {
            let key = mix(key.unwrap_or_else(|| host.below(1 << 53)));
            Common { isolation, key }
        })
    }

    /// Drop at the head of the longest queue.
    fn drop_from_longest(&mut self, now: Time, host: &mut impl Host<P>) {
        let Self { queues, overflow, tins, .. } = self;
        let longest = overflow.longest(|queue| bytes_of(queues, queue));
        let tin = longest / QUEUES;
        let Some(packet) = self.queues.pop(longest) else { return };
        tins[tin].overflowed(longest % QUEUES, now);
        self.left(longest, &packet);
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

    /// Select the tin to serve: deficit round robin by weights. At least one packet waits.
    #[inline]
    fn choose_tin(&mut self) {
        loop {
            let tin = &mut self.tins[self.current];
            let is_idle = tin.flows.active() == 0;
            if tin.deficit >= 0 && !is_idle {
                return;
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.weight;
            }
            self.current = (self.current + 1) % self.tins.len();
        }
    }

    /// Take the packet to send from the tin that is served, by way of COBALT. Return whether there is one; if not, a flow has left the lists
    /// in which it was without packets.
    fn serve_tin(
        &mut self,
        now: Time,
        looks_at_decaying: &mut bool,
        packet: &mut Packet<P>,
        host: &mut impl Host<P>,
    ) -> bool {
        let base = self.current * QUEUES;
        let (queue, list) = loop {
            let tin = &mut self.tins[self.current];
            let Some((queue, list)) = tin.flows.next(*looks_at_decaying) else { return false };
            *looks_at_decaying = false;
            if tin.flows[queue].deficit > 0 {
                break (queue, list);
            }
            let waits = self.queues.backlog(base + queue).packets > 0;
            tin.begin_round(queue, list, waits, host);
        };
        self.last = queue;
        while self.queues.pop_into(base + queue, packet) {
            self.left(base + queue, packet);
            let is_last = self.queues.backlog(base + queue).packets == 0;
            let tin = &mut self.tins[self.current];
            let control = &mut tin.flows[queue].control;
            let reason = control.should_drop(&tin.law, now, packet, host);
            let Some(reason) = reason.filter(|_| !is_last) else {
                self.send(now, queue, packet, host);
                return true;
            };
            host.dropped(*packet, reason);
        }
        self.tins[self.current].ran_empty(queue, list, now);
        false
    }

    /// Note that a packet leaves by the link.
    #[inline]
    fn send(&mut self, now: Time, queue: usize, packet: &Packet<P>, host: &mut impl Host<P>) {
        let tin = &mut self.tins[self.current];
        tin.sent(queue, packet.meta.bytes, now.since(packet.meta.arrival));
        self.overflow.departed();
        if self.tins.len() > 1 {
            host.left(packet, self.tins[self.current].name);
        }
    }
}

#[inline]
fn bytes_of<P: Copy + Default>(queues: &FlowQueues<P>, queue: usize) -> u64 {
    queues.find_backlog(queue).bytes
}

impl<P: Copy + Default> Qdisc<P> for Cake<P> {
    fn enqueue(&mut self, now: Time, packet: Packet<P>, host: &mut impl Host<P>) {
        let common = self.common(host);
        let number = usize::from(self.tin_of[usize::from(packet.meta.header.dscp() & 63)]);
        let tin = &mut self.tins[number];
        let queue = tin.classify(common, &packet, host);
        tin.backlog.add(packet.meta.bytes);
        tin.arrived(queue, host);
        self.memory += self.params.memory.of(packet.meta.bytes);
        let queue = number * QUEUES + queue;
        self.queues.push(queue, packet);
        let queues = &self.queues;
        self.overflow.grew(queue, |queue| bytes_of(queues, queue));
        while self.memory > self.memlimit {
            self.drop_from_longest(now, host);
        }
    }

    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        let mut packet = Packet::default();
        if self.dequeue_into(now, &mut packet, host) { Dequeue::Packet(packet) } else { Dequeue::Empty }
    }

    fn dequeue_into(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool {
        let mut looks_at_decaying = true;
        while self.queues.total().packets > 0 {
            self.choose_tin();
            if self.serve_tin(now, &mut looks_at_decaying, packet, host) {
                return true;
            }
        }
        false
    }

    /// Do nothing, as in Linux: an empty queue stays in its list until packets wait again.
    fn on_idle(&mut self, _now: Time, _host: &mut impl Host<P>) {}

    fn backlog(&self) -> Backlog {
        self.queues.total()
    }

    fn gauges(&self, _now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        self.tins[self.current].flows[self.last].control.gauges(out);
        let sum = |of: fn(&Tin) -> u64| self.tins.iter().map(of).sum::<u64>() as f64;
        out(Gauge::State("memory"), self.memory as f64);
        out(Gauge::State("sparse_flows"), sum(|tin| tin.flows.sparse.into()));
        out(Gauge::State("bulk_flows"), sum(|tin| tin.flows.bulk.into()));
        out(Gauge::State("unresponsive_flows"), sum(|tin| tin.unresponsive.into()));
        out(Gauge::State("indirect_hits"), sum(|tin| tin.hash.counts.indirect_hits));
        out(Gauge::State("way_misses"), sum(|tin| tin.hash.counts.misses));
        out(Gauge::State("way_collisions"), sum(|tin| tin.hash.counts.collisions));
        if self.tins.len() == 1 {
            return;
        }
        for (tin, [packets, delay, bulk]) in self.tins.iter().zip(&GAUGES) {
            out(Gauge::State(packets), tin.backlog.packets.into());
            out(Gauge::State(delay), tin.delays.average as f64 / 1e9);
            out(Gauge::State(bulk), tin.flows.bulk.into());
        }
    }
}

/// Names of the gauges of each tin.
const GAUGES: [[&str; 3]; MAX_TINS] = [
    ["packets_0", "delay_0", "bulk_flows_0"],
    ["packets_1", "delay_1", "bulk_flows_1"],
    ["packets_2", "delay_2", "bulk_flows_2"],
    ["packets_3", "delay_3", "bulk_flows_3"],
    ["packets_4", "delay_4", "bulk_flows_4"],
    ["packets_5", "delay_5", "bulk_flows_5"],
    ["packets_6", "delay_6", "bulk_flows_6"],
    ["packets_7", "delay_7", "bulk_flows_7"],
];
