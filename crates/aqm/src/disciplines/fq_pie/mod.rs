//! FQ-PIE: a queue for each flow, served in turn, each under PIE's controller (Linux 6.1 `sch_fq_pie.c`; G. Ramakrishnan et al.,
//! "FQ-PIE queue discipline in the Linux kernel", LCN Symposium 2019; RFC 8290 for queues and turns, RFC 8033 for the rest).
//!
//! Queues, hash and turns are FQ-CoDel's ([`fair`](super::fair)), the parameters of the controller are PIE's ([`pie`](super::pie)).
//!
//! | symbol | parameter | unit | default | allowed | source |
//! |---|---|---|---|---|---|
//! | limit | `limit` | packets or bytes | 10240 packets | at least 1 | Linux `sch_fq_pie.c` |
//! | flows | `queues` | | 1024 | 1 to 65536 | the same |
//! | quantum | `quantum` | bytes | 1514 | 1 to 2^20 | the same |
//! | | all of `pie` | | | | RFC 8033 |
//!
//! Readings. A full buffer drops the arriving packet, as in Linux, and a new queue that runs empty where no old ones are leaves the
//! lists, where RFC 8290 and ns-3 have it among the old. The steps of a queue's controller are computed when the
//! queue is next used, each for its time on one grid for all, so that idle queues cost nothing.
//!
//! `dialect = "linux"` computes as Linux does, in integers ([`linux`](super::pie::linux)): a timer computes the steps of 2048 queues at
//! a time, and ECN marks up to `mark_up_to` in whole percent (`ecn_prob`). The kernel's `memory_limit` only counts packets and
//! never drops one, so the parameter is omitted.
//!
//! Drop reasons are those of [`pie`](super::pie); gauges are PIE's for the queue that was served last.

mod controls;

use aqmlab_units::Time;

use controls::Controls;

use super::fair::{HASH_KEY, Hash, QUANTUM, QUEUES, Rounds, Shape};
use super::flow_queues::FlowQueues;
use super::pie::{self, Law};
use super::{Named, ParameterReader, joined};
use crate::{Backlog, Dequeue, DropReason, Gauge, Host, Packet, Parameter, ParameterError, Qdisc, Room};

/// Presets.
pub(super) const PRESETS: &[Named] = &[Named {
    name: "fq-pie",
    title: "Flow queue PIE",
    paper: "G. Ramakrishnan et al., FQ-PIE queue discipline in the Linux kernel, LCN Symposium 2019",
    doc: "A queue for each flow, sparse flows first, the others in turn, each queue under PIE.",
}];

/// Packets wait in several queues.
pub(super) const ONE_QUEUE: bool = false;
/// Parameters.
pub(super) const PARAMETERS: &[Parameter] =
    &joined::<{ pie::PARAMETERS.len() + 3 }>(pie::PARAMETERS, &[QUEUES, QUANTUM, HASH_KEY]);

/// Validated parameters.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    room: Room,
    law: Law,
    shape: Shape,
}

/// Read and validate the parameters.
pub(super) fn read(reader: &mut ParameterReader<'_>) -> Result<Params, Vec<ParameterError>> {
    let limit = reader.limit(10_240);
    let law = Law::read(reader, pie::linux::by_percent);
    if matches!(law, Law::Linux(_)) {
        reader.counts_packets_in_linux(limit);
    }
    Ok(Params { room: Room::new(limit, false), law, shape: Shape::read(reader) })
}

/// The discipline; see the module text.
#[derive(Clone, Debug)]
pub struct FqPie<P> {
    room: Room,
    hash: Hash,
    queues: FlowQueues<P>,
    rounds: Rounds,
    controls: Controls,
    /// The queue that was used last.
    last: usize,
}

impl<P: Copy + Default> FqPie<P> {
    /// Create empty queues.
    pub(super) fn new(params: &Params) -> Self {
        let shape = params.shape;
        Self {
            room: params.room,
            hash: shape.hash(),
            queues: shape.flow_queues(),
            rounds: shape.rounds(true),
            controls: Controls::new(params.law, shape.queues()),
            last: 0,
        }
    }
}

impl<P: Copy + Default> FqPie<P> {
    /// Let no step run by itself, in the dialect of Linux: a replay calls [`FqPie::timer`].
    pub(crate) fn stop_timer(&mut self) {
        self.controls.stop_timer();
    }

    /// Compute a batch of steps of the dialect of Linux: the kernel's timer has expired.
    pub(crate) fn timer(&mut self) {
        self.controls.step(&self.queues);
    }
}

impl<P: Copy + Default> Qdisc<P> for FqPie<P> {
    fn enqueue(&mut self, now: Time, mut packet: Packet<P>, host: &mut impl Host<P>) {
        let queue = self.hash.queue_of(&packet, host);
        let Self { room, queues, rounds, controls, last, .. } = self;
        let before = queues.backlog(queue);
        *last = queue;
        controls.catch_up(queue, now, before);
        if room.is_full_for(queues.total(), packet.meta.bytes) {
            controls.overflowed(queue);
            return host.dropped(packet, DropReason::OVERFLOW);
        }
        if controls.decide(queue, &packet.meta, before, host).carry_out(&mut packet, host) {
            queues.push(queue, &packet);
            rounds.arrived(queue);
        }
    }

    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        let Self { queues, rounds, controls, last, .. } = self;
        while let Some(queue) = rounds.next_queue() {
            controls.catch_up(queue, now, queues.backlog(queue));
            if let Some(packet) = queues.pop(queue) {
                controls.departed(queue, now, &packet.meta, queues.backlog(queue), || host.clock(now));
                rounds.sent(queue, packet.meta.bytes);
                *last = queue;
                return Dequeue::Packet(packet);
            }
            rounds.ran_empty(queue);
        }
        Dequeue::Empty
    }

    fn next_timer(&self) -> Option<Time> {
        self.controls.next_timer()
    }

    fn on_timer(&mut self, now: Time, _host: &mut impl Host<P>) {
        self.controls.on_timer(now, &self.queues);
    }

    fn backlog(&self) -> Backlog {
        self.queues.total()
    }

    fn gauges(&self, _now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        self.controls.gauges(self.last, out);
    }
}
