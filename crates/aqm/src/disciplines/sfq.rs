//! Stochastic fairness queueing (P. E. McKenney, "Stochastic Fairness Queueing", INFOCOM 1990).
//!
//! Flows are hashed to a fixed number of queues that are served in turn, a packet each, so that flows share the link in packets
//! without a record of flows; the hash changes from time to time, so that flows do not share a queue permanently.
//! When the buffer is full, a packet of the longest queue is dropped.
//!
//! | symbol | parameter | unit | default | allowed | source |
//! |---|---|---|---|---|---|
//! | - | `buckets` | 1 | 1024 | 1 .. 65536 | Linux `sch_sfq.c`: divisor |
//! | - | `perturb` | s | never | above 0 | the paper; Linux `sch_sfq.c` |
//! | - | `hash` | | mix | mix, modulo | |
//! | - | `full` | | longest-tail | longest-tail, longest-head, ns2 | |
//! | buffer | `limit` | packets or bytes | 127 packets | at least 1 | Linux `sch_sfq.c` |
//!
//! Readings: turns are packets, as McKenney has them (Linux counts bytes, which is [`super::drr`]). At overflow the arrival is
//! queued first, then the queue with most packets loses its last one (`full` = "longest-tail") or, as in Linux since 3.3, its
//! first ("longest-head"). ns-2.35 never takes back a packet ("ns2"): it drops an arrival whose queue has at least half of
//! the room that is left in packets, or more than the limit over the number of queues while less than one packet a queue is
//! left. A change of the hash leaves packets where they are, so a flow's packets may overtake each other once.

use aqmlab_units::{Span, Time};

use super::drr::{BUCKETS, HASH};
use super::flow_queues::{FlowQueues, Hash, Ring};
use super::{Named, ParameterReader};
use crate::registry::LIMIT;
use crate::spec::Limit;
use crate::{
    Backlog, Dequeue, DropReason, Gauge, Host, Packet, Parameter, ParameterError, Qdisc, ValueKind, names,
};

/// Presets.
pub(super) const PRESETS: &[Named] = &[Named {
    name: "sfq",
    title: "Stochastic fairness queueing",
    paper: "P. E. McKenney, Stochastic Fairness Queueing, INFOCOM 1990",
    doc: "Flows are hashed to queues that send a packet each in turn; a full buffer drops from the longest queue.",
}];

/// Packets wait in several queues.
pub(super) const ONE_QUEUE: bool = false;
/// Parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    LIMIT,
    BUCKETS,
    HASH,
    Parameter::new("perturb", "", ValueKind::Time, "time between two changes of the hash")
        .above(0.0)
        .or(&["never"])
        .source("McKenney 1990; Linux sch_sfq.c"),
    Parameter::new("full", "", ValueKind::Choice, "which packet is dropped when the buffer is full")
        .or(&names(&FULL_WORDS))
        .source("McKenney 1990; Linux sch_sfq.c; ns-2.35 queue/sfq.cc"),
];

/// Validated parameters.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    limit: Limit,
    buckets: usize,
    hash: Hash,
    perturb: Option<Span>,
    full: Full,
}

const FULL_WORDS: [(&str, Full); 3] =
    [("longest-tail", Full::LongestTail), ("longest-head", Full::LongestHead), ("ns2", Full::Arrival(0))];

/// Which packet is dropped when the buffer is full.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Full {
    LongestTail,
    LongestHead,
    /// The arrival, by ns-2's rule for a limit in packets.
    Arrival(u32),
}

/// Read and validate the parameters.
pub(super) fn read(reader: &mut ParameterReader<'_>) -> Result<Params, Vec<ParameterError>> {
    let limit = reader.limit(127);
    let mut full = reader.word("full", &FULL_WORDS);
    match (&mut full, limit) {
        (Full::Arrival(most), Limit::Packets(n)) => *most = n,
        (Full::Arrival(_), Limit::Bytes(_)) => {
            reader.error("limit", "full = \"ns2\" counts packets".into(), "a limit in packets");
        }
        _ => {}
    }
    let perturb = reader.time_or("perturb", "never");
    let buckets = reader.integer("buckets", 1024) as usize;
    let hash = reader.word("hash", &Hash::ALL);
    if buckets == 1 {
        reader.warn_without_effect(&["hash", "perturb"], "with buckets = 1");
    } else if perturb.is_some() && hash == Hash::Modulo {
        reader.warn_without_effect(&["perturb"], "with hash = \"modulo\"");
    }
    Ok(Params { limit, buckets, hash, perturb, full })
}

impl Params {
    /// Return whether ns-2 drops an arrival whose queue has `used` packets while `occupied` wait in all.
    fn drops_arrival(&self, limit: u32, used: u32, occupied: u32) -> bool {
        let left = limit.saturating_sub(occupied);
        let buckets = self.buckets as u32;
        used >= left / 2 || (left < buckets && used > limit / buckets) || left == 0
    }

    /// The hash's salt at a time.
    fn salt(&self, now: Time) -> u64 {
        self.perturb.map_or(0, |perturb| now.0 / perturb.0.max(1))
    }
}

/// The discipline; see the module text.
#[derive(Clone, Debug)]
pub struct Sfq<P> {
    params: Params,
    queues: FlowQueues<P>,
    ring: Ring,
}

impl<P: Copy + Default> Sfq<P> {
    /// Create an empty queue.
    pub(super) fn new(params: &Params) -> Self {
        let (queues, ring) = (FlowQueues::new(params.buckets), Ring::new(params.buckets));
        Self { params: params.clone(), queues, ring }
    }

    /// The queue with most packets; of several the one whose turn comes first.
    fn longest(&self) -> Option<usize> {
        let packets = |queue| self.queues.backlog(queue).packets;
        self.ring
            .iter()
            .reduce(|longest, queue| if packets(queue) > packets(longest) { queue } else { longest })
    }

    fn steal(&mut self) -> Option<Packet<P>> {
        let longest = self.longest()?;
        let victim = match self.params.full {
            Full::LongestHead => self.queues.pop(longest),
            Full::LongestTail | Full::Arrival(_) => self.queues.pop_tail(longest),
        };
        if self.queues.backlog(longest).packets == 0 {
            self.ring.leave(longest);
        }
        victim
    }
}

impl<P: Copy + Default> Qdisc<P> for Sfq<P> {
    fn enqueue(&mut self, now: Time, packet: Packet<P>, host: &mut impl Host<P>) {
        let Params { buckets, hash, full, limit, .. } = self.params;
        let queue = hash.bucket(packet.meta.flow, self.params.salt(now), buckets);
        if let Full::Arrival(limit) = full
            && self.params.drops_arrival(
                limit,
                self.queues.backlog(queue).packets,
                self.queues.total().packets,
            )
        {
            return host.dropped(packet, DropReason::OVERFLOW);
        }
        self.queues.push(queue, &packet);
        if self.queues.backlog(queue).packets == 1 {
            self.ring.enter(queue);
        }
        while limit.is_passed_by(self.queues.total()) {
            let Some(victim) = self.steal() else { return };
            host.dropped(victim, DropReason::OVERFLOW);
        }
    }

    fn dequeue(&mut self, _now: Time, _host: &mut impl Host<P>) -> Dequeue<P> {
        let Some(queue) = self.ring.current() else { return Dequeue::Empty };
        let packet = self.queues.pop(queue);
        if self.queues.backlog(queue).packets == 0 {
            self.ring.leave(queue);
        } else {
            self.ring.advance();
        }
        packet.map_or(Dequeue::Empty, Dequeue::Packet)
    }

    fn is_timed(&self) -> bool {
        false
    }

    fn backlog(&self) -> Backlog {
        self.queues.total()
    }

    fn gauges(&self, _now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        out(Gauge::State("active_queues"), f64::from(self.ring.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TestHost, packet};
    use super::*;

    fn params(full: Full) -> Params {
        Params { limit: Limit::Packets(4), buckets: 16, hash: Hash::Modulo, perturb: None, full }
    }

    fn order(queue: &mut Sfq<u32>) -> Vec<u32> {
        let next = |_| match queue.dequeue(Time::ZERO, &mut TestHost::default()) {
            Dequeue::Packet(p) => Some(p.payload),
            _ => None,
        };
        (0..20).map_while(next).collect()
    }

    #[test]
    fn turns_are_packets() {
        let mut queue = Sfq::new(&params(Full::LongestTail));
        for (n, flow, bytes) in [(0, 1, 1500), (1, 1, 1500), (2, 2, 40), (3, 2, 40)] {
            queue.enqueue(Time::ZERO, packet(n, flow, bytes), &mut TestHost::default());
        }
        assert_eq!(order(&mut queue), [0, 2, 1, 3]);
    }

    #[test]
    fn the_longest_queue_loses_the_packet() {
        for (full, victim, left) in
            [(Full::LongestTail, 2, [0, 3, 1, 4]), (Full::LongestHead, 0, [1, 3, 2, 4])]
        {
            let mut queue = Sfq::new(&params(full));
            let mut host = TestHost::default();
            for (n, flow) in [(0, 1), (1, 1), (2, 1), (3, 2), (4, 2)] {
                queue.enqueue(Time::ZERO, packet(n, flow, 1000), &mut host);
            }
            assert_eq!((host.dropped.as_slice(), order(&mut queue)), (&[victim][..], left.to_vec()));
        }
    }

    /// 40 packets in 16 queues, ns-2's defaults: fair share 2.
    #[test]
    fn ns2_drops_by_hand() {
        let params = params(Full::Arrival(40));
        let drops_arrival = |used, occupied| params.drops_arrival(40, used, occupied);
        // Of 25 that are left half is 12.
        assert_eq!((drops_arrival(11, 15), drops_arrival(12, 15)), (false, true));
        // Of 15, which is less than a packet for each queue, half is 7, but 3 are above the fair share.
        assert_eq!((drops_arrival(2, 25), drops_arrival(3, 25)), (false, true));
        assert_eq!((drops_arrival(0, 0), drops_arrival(0, 39), drops_arrival(0, 40)), (false, true, true));
    }
}
