//! FQ-CoDel (RFC 8290): a queue for each flow, served in turn, each under CoDel's control law.
//!
//! Flows are hashed to `queues`. Deficit round robin gives each a `quantum` of bytes in a round; a queue that was idle comes
//! before all others once, so flows that send little hardly wait ([`fair`](super::fair)). When the buffer is full, packets are
//! dropped at the head of the longest queue, up to half of its bytes.
//!
//! | symbol | parameter | unit | default | allowed | source |
//! |---|---|---|---|---|---|
//! | TARGET | `target` | s | 5 ms | above 0 | RFC 8290, section 5.2.2 |
//! | INTERVAL | `interval` | s | 100 ms | above 0 | section 5.2.1 |
//! | limit | `limit` | packets or bytes | 10240 packets | at least 1 | section 5.2.3 |
//! | quantum | `quantum` | bytes | 1514 | 1 to 2^20 | section 5.2.4 |
//! | flows | `queues` | | 1024 | 1 to 65536 | section 5.2.5 |
//! | batch | `drop_batch` | packets | 64 | at least 1 | section 4.1; Linux `sch_fq_codel.c` |
//! | MAXPACKET | `max_packet` | bytes | 1514 | at least 1 | RFC 8289, section 5.2 |
//!
//! Readings. The control law looks at what is left in the flow's queue; in `dialect = "linux"`, which has Linux's arithmetic,
//! at what is left in all, and a drop for want of room counts as one of the law's (Linux 6.1, `sch_fq_codel.c`).

use aqmlab_units::Time;

use super::codel::{Arithmetic, Control, INTERVAL, Law, MAX_PACKET, TARGET, read_law};
use super::fair::{HASH_KEY, Hash, QUANTUM, QUEUES, Rounds, Shape};
use super::lanes::Lanes;
use super::{Named, Reading};
use crate::registry::{ECN, LIMIT};
use crate::{
    Backlog, Dequeue, DropReason, Host, Packet, Parameter, ParameterError, Qdisc, Room, State, Unit,
};

/// Names.
pub(super) const PRESETS: &[Named] = &[Named {
    name: "fq-codel",
    title: "Flow queue CoDel",
    paper: "T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys, E. Dumazet, RFC 8290, 2018",
    doc: "A queue for each flow, sparse flows first, the others in turn, each queue under CoDel.",
}];

/// Parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    LIMIT,
    TARGET,
    INTERVAL,
    MAX_PACKET,
    QUEUES,
    QUANTUM,
    HASH_KEY,
    Parameter::new(
        "drop_batch",
        "",
        Unit::Integer,
        "most packets that a full buffer drops of the longest queue",
    )
    .from(1.0)
    .to(1_048_576.0)
    .source("RFC 8290"),
    ECN,
    Parameter::new("dialect", "", Unit::Choice, "arithmetic of the control law, and what it looks at")
        .or(&["rfc8290", "linux"]),
];

/// Parameters, checked.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    room: Room,
    law: Law,
    ecn: bool,
    shape: Shape,
    drop_batch: u32,
    is_linux: bool,
}

/// From words to parameters.
pub(super) fn read(reading: &mut Reading<'_>) -> Result<Params, Vec<ParameterError>> {
    let room = Room::new(reading.limit(10_240), false);
    let (target, interval, max_packet) = read_law(reading);
    let shape = Shape::read(reading);
    let drop_batch = reading.integer("drop_batch", 64) as u32;
    let ecn = reading.flag("ecn", true);
    let arithmetic = reading.word("dialect", &[("rfc8290", Arithmetic::Real), ("linux", Arithmetic::Linux)]);
    let law = Law::new(arithmetic, target, interval, max_packet);
    Ok(Params { room, law, ecn, shape, drop_batch, is_linux: arithmetic == Arithmetic::Linux })
}

/// The discipline; see the module text.
#[derive(Clone, Debug)]
pub struct FqCoDel<P> {
    params: Params,
    hash: Hash,
    lanes: Lanes<P>,
    rounds: Rounds,
    controls: Vec<Control>,
    /// The queue that was served last.
    last: usize,
}

impl<P: Copy> FqCoDel<P> {
    /// Empty queues.
    pub(super) fn new(params: &Params) -> Self {
        let shape = params.shape;
        Self {
            params: params.clone(),
            hash: shape.hash(),
            lanes: shape.lanes(),
            rounds: shape.rounds(),
            controls: vec![Control::default(); shape.queues()],
            last: 0,
        }
    }

    /// Makes room at the cost of the longest queue.
    fn make_room(&mut self, host: &mut impl Host<P>) {
        let bytes_of = |queue: &usize| self.lanes.backlog(*queue).bytes;
        // The first of several.
        let queue = (0..self.params.shape.queues()).rev().max_by_key(bytes_of).unwrap_or(0);
        let half = self.lanes.backlog(queue).bytes / 2;
        let (mut drops, mut bytes) = (0, 0);
        while let Some(packet) = self.lanes.pop(queue) {
            drops += 1;
            bytes += u64::from(packet.meta.bytes);
            host.dropped(packet, DropReason::Overflow);
            if drops == self.params.drop_batch || bytes >= half {
                break;
            }
        }
        if self.params.is_linux {
            self.controls[queue].count_also(drops);
        }
    }
}

impl<P: Copy> Qdisc<P> for FqCoDel<P> {
    fn enqueue(&mut self, _now: Time, packet: Packet<P>, host: &mut impl Host<P>) {
        let is_full = self.params.room.is_full_for(self.lanes.total(), packet.meta.bytes);
        let queue = self.hash.queue(packet.meta.flow, host);
        self.lanes.push(queue, packet);
        self.rounds.arrived(queue);
        if is_full {
            self.make_room(host);
        }
    }

    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        let Self { params: Params { law, ecn, is_linux, .. }, lanes, rounds, controls, last, .. } = self;
        while let Some(queue) = rounds.turn() {
            let pop = || {
                let packet = lanes.pop(queue)?;
                Some((packet, if *is_linux { lanes.total() } else { lanes.backlog(queue) }))
            };
            if let Some(packet) = controls[queue].dequeue(law, *ecn, now, host, pop) {
                rounds.sent(queue, packet.meta.bytes);
                *last = queue;
                return Dequeue::Packet(packet);
            }
            rounds.ran_empty(queue);
        }
        Dequeue::Empty
    }

    fn backlog(&self) -> Backlog {
        self.lanes.total()
    }

    fn state(&self) -> State {
        State { average: f64::from(self.lanes.total().packets), p_b: 0.0 }
    }

    fn gauges(&self, _now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        self.controls[self.last].gauges(out);
    }

    fn departs_in_order(&self) -> bool {
        false
    }
}
