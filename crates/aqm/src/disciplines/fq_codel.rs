//! FQ-CoDel (RFC 8290): a queue for each flow, served in turn, each under CoDel's control law.
//!
//! Flows are hashed to `queues`. Deficit round robin gives each a `quantum` of bytes in a round; a queue that was idle is served
//! before all others once, so that sparse flows hardly wait ([`fair`](super::fair)). When the buffer is full, packets are
//! dropped at the head of the longest queue in bytes, half of its packets at once (section 4.1).
//!
//! | symbol | parameter | unit | default | allowed | source |
//! |---|---|---|---|---|---|
//! | TARGET | `target` | s | 5 ms | above 0 | RFC 8290, section 5.2.2 |
//! | INTERVAL | `interval` | s | 100 ms | above 0 | section 5.2.1 |
//! | limit | `limit` | packets or bytes | 10240 packets | at least 1 | section 5.2.3 |
//! | quantum | `quantum` | bytes | 1514 | 1 to 2^20 | section 5.2.4 |
//! | flows | `queues` | | 1024 | 1 to 65536 | section 5.2.5 |
//! | batch | `drop_batch` | packets | 64 | at least 1 | section 4.1; Linux `sch_fq_codel.c` |
//! | MAXPACKET | `max_packet` | bytes | 1514 | at least 1 | RFC 8289, section 4.1: the MTU |
//! | CE threshold | `ce_threshold` | s | off | above 0, or off | section 3: as Linux has it |
//! | selector | `ce_threshold_selector` | | `all` | `all`, `ect1` | Linux `sch_fq_codel.c` |
//!
//! With `ce_threshold` departing packets that waited longer are marked: all that are ECN-capable, or with
//! `ce_threshold_selector = "ect1"` those of L4S (in tc's words `ce_threshold_selector 0x1/0x3`).
//!
//! Readings. A drop needs more than MAXPACKET left in all queues (RFC 8289, section 4.4, and Linux), or in the flow's own, as in
//! ns-3 (`occupancy = "queue"`). `dialect = "linux"` has Linux's arithmetic of the control law; a full buffer drops half of the
//! longest queue's bytes, and such a drop counts as one of the law's; and a new queue that runs empty where no old ones are
//! leaves the lists, where the RFC has it among the old (Linux 6.1, `sch_fq_codel.c`).
//!
//! Drop reasons are those of [`codel`](super::codel); gauges are CoDel's for the queue that was served last.

use aqmlab_units::Time;

use super::codel::{Arithmetic, CE_THRESHOLD, Control, ControlLaw, INTERVAL, MAX_PACKET, TARGET, read_law};
use super::fair::{HASH_KEY, Hash, QUANTUM, QUEUES, Rounds, Shape};
use super::flow_queues::FlowQueues;
use super::{Named, ParameterReader};
use crate::registry::{ECN, LIMIT};
use crate::{
    Backlog, Dequeue, DropReason, Gauge, Host, Packet, Parameter, ParameterError, Qdisc, Room, ValueKind,
    names,
};

/// Presets.
pub(super) const PRESETS: &[Named] = &[Named {
    name: "fq-codel",
    title: "Flow queue CoDel",
    paper: "T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys, E. Dumazet, RFC 8290, 2018",
    doc: "A queue for each flow, sparse flows first, the others in turn, each queue under CoDel.",
}];

const SELECTOR_WORDS: [(&str, bool); 2] = [("all", false), ("ect1", true)];
const OCCUPANCY_WORDS: [(&str, bool); 2] = [("all", false), ("queue", true)];
const DIALECT_WORDS: [(&str, Arithmetic); 2] = [("rfc8290", Arithmetic::Real), ("linux", Arithmetic::Linux)];

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
        ValueKind::Number,
        "maximum number of packets that a full buffer drops from the longest queue at once",
    )
    .whole()
    .from(1.0)
    .to(1_048_576.0)
    .source("RFC 8290"),
    ECN,
    CE_THRESHOLD,
    Parameter::new(
        "ce_threshold_selector",
        "",
        ValueKind::Choice,
        "which ECN-capable packets ce_threshold marks: all, or those with ECT(1)",
    )
    .or(&names(&SELECTOR_WORDS))
    .source("Linux sch_fq_codel.c"),
    Parameter::new(
        "occupancy",
        "",
        ValueKind::Choice,
        "where more than max_packet must be left for a drop: all queues, or the flow's own",
    )
    .or(&names(&OCCUPANCY_WORDS))
    .source("RFC 8289, section 4.4"),
    Parameter::new(
        "dialect",
        "",
        ValueKind::Choice,
        "arithmetic of the control law, and its rules for drops",
    )
    .or(&names(&DIALECT_WORDS)),
];

/// Validated parameters.
#[derive(Clone, Debug)]
pub(crate) struct Params {
    room: Room,
    law: ControlLaw,
    ecn: bool,
    shape: Shape,
    drop_batch: u32,
    /// The control law uses the backlog left in the flow's queue, not in all queues.
    by_queue: bool,
    is_linux: bool,
}

/// Read and validate the parameters.
pub(super) fn read(reader: &mut ParameterReader<'_>) -> Result<Params, Vec<ParameterError>> {
    let room = Room::new(reader.limit(10_240), false);
    let (target, interval, max_packet) = read_law(reader);
    let shape = Shape::read(reader);
    let drop_batch = reader.integer("drop_batch", 64) as u32;
    let ecn = reader.flag("ecn", true);
    let ce_threshold = reader.time_or("ce_threshold", "off");
    let only_ect1 = reader.word("ce_threshold_selector", &SELECTOR_WORDS);
    if only_ect1 && ce_threshold.is_none() {
        reader.warn("ce_threshold_selector has no effect without ce_threshold".into());
    }
    let by_queue = reader.word("occupancy", &OCCUPANCY_WORDS);
    let arithmetic = reader.word("dialect", &DIALECT_WORDS);
    let law =
        ControlLaw::new(arithmetic, target, interval, max_packet).marking_above(ce_threshold, only_ect1);
    Ok(Params { room, law, ecn, shape, drop_batch, by_queue, is_linux: arithmetic == Arithmetic::Linux })
}

/// The discipline; see the module text.
#[derive(Clone, Debug)]
pub struct FqCoDel<P> {
    params: Params,
    hash: Hash,
    queues: FlowQueues<P>,
    rounds: Rounds,
    controls: Vec<Control>,
    /// The queue that was served last.
    last: usize,
}

impl<P: Copy + Default> FqCoDel<P> {
    /// Create empty queues.
    pub(super) fn new(params: &Params) -> Self {
        let shape = params.shape;
        Self {
            params: params.clone(),
            hash: shape.hash(),
            queues: shape.flow_queues(),
            rounds: shape.rounds(params.is_linux),
            controls: vec![Control::default(); shape.queues()],
            last: 0,
        }
    }

    /// Make room by dropping from the longest queue.
    fn make_room(&mut self, host: &mut impl Host<P>) {
        let bytes_of = |queue: &usize| self.queues.backlog(*queue).bytes;
        // The first of several.
        let queue = (0..self.params.shape.queues()).rev().max_by_key(bytes_of).unwrap_or(0);
        let before = self.queues.backlog(queue);
        let (is_linux, drop_batch) = (self.params.is_linux, self.params.drop_batch);
        let (mut drops, mut bytes) = (0, 0);
        while let Some(packet) = self.queues.pop(queue) {
            drops += 1;
            bytes += u64::from(packet.meta.bytes);
            host.dropped(packet, DropReason::OVERFLOW);
            let is_half = if is_linux { bytes >= before.bytes / 2 } else { drops >= before.packets / 2 };
            if drops == drop_batch || is_half {
                break;
            }
        }
        if is_linux {
            self.controls[queue].count_also(drops);
        }
    }
}

impl<P: Copy + Default> Qdisc<P> for FqCoDel<P> {
    fn enqueue(&mut self, _now: Time, packet: Packet<P>, host: &mut impl Host<P>) {
        let is_full = self.params.room.is_full_for(self.queues.total(), packet.meta.bytes);
        let queue = self.hash.queue(packet.meta.flow, host);
        self.queues.push(queue, packet);
        self.rounds.arrived(queue);
        if is_full {
            self.make_room(host);
        }
    }

    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        let mut packet = Packet::default();
        if self.dequeue_into(now, &mut packet, host) { Dequeue::Packet(packet) } else { Dequeue::Empty }
    }

    fn dequeue_into(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool {
        let Self { params: Params { law, ecn, by_queue, .. }, queues, rounds, controls, last, .. } = self;
        while let Some(queue) = rounds.next_queue() {
            let pop = |packet: &mut Packet<P>| {
                let left =
                    |queues: &FlowQueues<P>| if *by_queue { queues.backlog(queue) } else { queues.total() };
                queues.pop_into(queue, packet).then(|| left(queues))
            };
            if controls[queue].dequeue(law, *ecn, now, packet, host, pop) {
                rounds.sent(queue, packet.meta.bytes);
                *last = queue;
                return true;
            }
            rounds.ran_empty(queue);
        }
        false
    }

    fn backlog(&self) -> Backlog {
        self.queues.total()
    }

    fn gauges(&self, _now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        self.controls[self.last].gauges(out);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TestHost, packet};
    use super::*;
    use crate::{Ecn, LinkContext, Spec, Value};
    use aqmlab_units::{Rate, Span};

    fn queue(set: &[(&str, Value)]) -> FqCoDel<u32> {
        let mut spec = Spec::new("fq-codel").expect("a preset");
        set.iter().for_each(|(key, value)| spec.set(key, value.clone()).expect("valid"));
        let link = LinkContext { rate: Rate(1_000_000), delay: Span::ZERO };
        FqCoDel::new(&read(&mut ParameterReader::new(&spec, link)).expect("valid"))
    }

    #[test]
    fn packets_of_other_flows_are_enough_left_for_a_drop() {
        for (occupancy, dropped) in [("all", vec![1]), ("queue", vec![])] {
            let set = [("occupancy", Value::Word(occupancy.into())), ("hash_key", Value::Number(1.0))];
            let (mut queue, mut host) = (queue(&set), TestHost::default());
            (0..2).for_each(|n| queue.enqueue(Time::ZERO, packet(n, 1, 700), &mut host));
            (2..7).for_each(|n| queue.enqueue(Time::ZERO, packet(n, 2, 1514), &mut host));
            // The first packet of flow 1 begins an interval, the second comes after its end.
            for ms in [20, 150] {
                queue.dequeue(Time::ZERO + Span::from_millis(ms), &mut host);
            }
            assert_eq!(host.dropped, dropped, "{occupancy}");
        }
    }

    #[test]
    fn the_ce_threshold_marks_by_delay_and_code_point() {
        // A delay of 1 ms is 976 ticks of 1024 ns; Linux marks from the next whole tick on, real time 1 ps later.
        for (dialect, selector, delay_ps, expected) in [
            ("rfc8290", "all", 1_000_000_000, [Ecn::NotEct, Ecn::Ect, Ecn::Ect1]),
            ("rfc8290", "all", 1_000_000_001, [Ecn::NotEct, Ecn::Ce, Ecn::Ce]),
            ("rfc8290", "ect1", 1_000_000_001, [Ecn::NotEct, Ecn::Ect, Ecn::Ce]),
            ("linux", "ect1", 977 * 1_024_000 - 1, [Ecn::NotEct, Ecn::Ect, Ecn::Ect1]),
            ("linux", "ect1", 977 * 1_024_000, [Ecn::NotEct, Ecn::Ect, Ecn::Ce]),
        ] {
            let word = |word: &str| Value::Word(word.into());
            // Without ECN the control law drops; the threshold marks all the same.
            let mut queue = queue(&[
                ("dialect", word(dialect)),
                ("ce_threshold", Value::Seconds(0.001)),
                ("ce_threshold_selector", word(selector)),
                ("ecn", Value::Flag(false)),
            ]);
            let mut host = TestHost::default();
            for (n, ecn) in [Ecn::NotEct, Ecn::Ect, Ecn::Ect1].into_iter().enumerate() {
                let mut packet = packet(n as u32, 1, 1000);
                packet.meta.header.set_ecn(ecn);
                queue.enqueue(Time::ZERO, packet, &mut host);
            }
            for ecn in expected {
                let Dequeue::Packet(packet) = queue.dequeue(Time(delay_ps), &mut host) else {
                    panic!("a packet waits");
                };
                assert_eq!(packet.meta.header.ecn(), ecn, "{dialect} {selector} {delay_ps}");
            }
        }
    }

    #[test]
    fn a_full_buffer_drops_half_of_the_longest_queue_at_its_head() {
        // Flow 1 has most bytes: 1500, 1500 and six of 100; flow 2 most packets. Half of eight packets, or of 3600 bytes.
        let longest = [1500, 1500, 100, 100, 100, 100, 100, 100];
        for (dialect, batch, dropped) in
            [("rfc8290", 64.0, 4), ("rfc8290", 3.0, 3), ("linux", 64.0, 2), ("linux", 1.0, 1)]
        {
            let mut queue = queue(&[
                ("dialect", Value::Word(dialect.into())),
                ("drop_batch", Value::Number(batch)),
                ("limit", Value::Packets(18.0)),
            ]);
            let mut host = TestHost::default();
            longest.iter().enumerate().for_each(|(n, &bytes)| {
                queue.enqueue(Time::ZERO, packet(n as u32, 1, bytes), &mut host);
            });
            (8..18).for_each(|n| queue.enqueue(Time::ZERO, packet(n, 2, 200), &mut host));
            assert!(host.dropped.is_empty());
            queue.enqueue(Time::ZERO, packet(18, 2, 200), &mut host);
            assert_eq!(host.dropped, (0..dropped).collect::<Vec<_>>(), "{dialect} {batch}");
            assert_eq!(queue.backlog().packets, 19 - dropped);
        }
    }
}
