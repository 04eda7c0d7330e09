//! DDRED's tail-drop variant (E. Dedu, S. Linck and F. Spies, "Distance-Dependent RED Policy", section on other queues):
//! when a packet arrives at a full queue, it and the last N packets of the queue are compared, and the one that has
//! travelled least is dropped. If it is a packet of the queue, the arriving one is put at the tail.
//!
//! | symbol | parameter | unit | default | allowed |
//! |---|---|---|---|---|
//! | limit | `limit` | packets or bytes | 50 packets | at least 1 |
//! | N | `last_n` | packets | 1 | at least 1; the limit or more searches the whole queue |
//! | d_r | `distance` | hops or share of the route | `ttl` | see [`Distance`](crate::red::victim::Distance) |
//!
//! Readings: of packets that have travelled equally far the arriving one is dropped, then the newest. With a limit in
//! bytes a packet of the queue that is too short to make room is kept, and the arriving one is dropped.

use aqmlab_units::Time;

use super::{Named, ParameterReader};
use crate::drop_tail::none_early;
use crate::indexed::{Indexed, Tag};
use crate::red::victim::Distance;
use crate::red::victim::{DDRED_PAPER, DISTANCE, DISTANCE_WORDS, UNKNOWN_FRACTION};
use crate::red::{AVERAGE, P_B};
use crate::registry::LIMIT;
use crate::spec::Limit;
use crate::{Backlog, Dequeue, DropReason, Gauge, Host, Packet, Parameter, ParameterError, Qdisc, ValueKind};

/// Presets.
pub(super) const PRESETS: &[Named] = &[Named {
    name: "ddred-tail",
    title: "DDRED's tail-drop variant",
    paper: "E. Dedu, S. Linck, F. Spies, Distance-Dependent RED Policy (DDRED), ICN 2007",
    doc: "Drop-tail that drops, of the arriving and the last N packets, the one that has travelled least.",
}];

/// All packets wait in one queue, whose limit is never exceeded.
pub(super) const ONE_QUEUE: bool = true;
/// Parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    LIMIT,
    Parameter::new(
        "last_n",
        "N",
        ValueKind::Number,
        "how many packets at the tail are compared with the arriving one",
    )
    .whole()
    .from(1.0)
    .to(1_048_576.0)
    .source(DDRED_PAPER),
    DISTANCE,
    UNKNOWN_FRACTION,
];

/// Validated parameters.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    limit: Limit,
    last_n: u32,
    distance: Distance,
}

/// Read and validate the parameters.
pub(super) fn read(reader: &mut ParameterReader<'_>) -> Result<Params, Vec<ParameterError>> {
    let limit = reader.limit(50);
    let last_n = reader.integer("last_n", 1) as u32;
    let by_fraction = reader.word("distance", &DISTANCE_WORDS);
    let unknown = reader.number("unknown_fraction", 1.0);
    let distance = if by_fraction { Distance::Fraction(unknown) } else { Distance::Ttl };
    Ok(Params { limit, last_n, distance })
}

/// The discipline; see the module text.
#[derive(Clone, Debug)]
pub struct DdredTail<P> {
    queue: Indexed<P>,
    limit: Limit,
    /// Compared with an arriving packet, at least 1.
    last_n: u32,
    distance: Distance,
}

impl<P: Copy> DdredTail<P> {
    /// Create an empty queue.
    pub(super) fn new(params: &Params) -> Self {
        let &Params { limit, last_n, distance } = params;
        Self { queue: Indexed::default(), limit, last_n, distance }
    }

    /// Whether a packet has room once one of `freed` bytes (0: none) has left.
    fn has_room_for(&self, bytes: u32, freed: u32) -> bool {
        let waiting = self.queue.backlog();
        match self.limit {
            Limit::Packets(n) => waiting.packets - u32::from(freed > 0) < n,
            Limit::Bytes(n) => waiting.bytes + u64::from(bytes) <= n + u64::from(freed),
        }
    }

    /// Return the slot of the packet to drop instead of an arrival with this key and length, if there is one.
    fn victim(&mut self, key: u32, bytes: u32) -> Option<usize> {
        let from = self.queue.len().saturating_sub(self.last_n as usize);
        let index = self.queue.index(|meta| Tag { key: self.distance.key(meta), open: true });
        let (slot, least) = index.least_from(index.nth(from)?)?;
        let freed = self.queue.get_mut(slot)?.meta.bytes;
        (least < key && self.has_room_for(bytes, freed)).then_some(slot)
    }
}

impl<P: Copy> Qdisc<P> for DdredTail<P> {
    #[inline(never)]
    fn enqueue(&mut self, _now: Time, packet: Packet<P>, host: &mut impl Host<P>) {
        let key = self.distance.key(&packet.meta);
        let bytes = packet.meta.bytes;
        if !self.has_room_for(bytes, 0) {
            let Some(slot) = self.victim(key, bytes) else {
                return host.dropped(packet, DropReason::OVERFLOW);
            };
            host.dropped(self.queue.remove(slot), DropReason::OVERFLOW);
        }
        self.queue.push(packet);
    }

    fn dequeue(&mut self, _now: Time, _host: &mut impl Host<P>) -> Dequeue<P> {
        self.queue.pop().map_or(Dequeue::Empty, Dequeue::Packet)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn gauges(&self, _now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        none_early(out);
    }

    fn gauge(&self, _now: Time, name: &str) -> Option<f64> {
        [AVERAGE, P_B].contains(&name).then_some(0.0)
    }
}
