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
//! | memory limit | `memory_limit` | bytes | off; `linux`: 32 MiB | at least 1, or off | Linux `sch_fq_codel.c` |
//!
//! With `ce_threshold` departing packets that waited longer are marked: all that are ECN-capable, or with
//! `ce_threshold_selector = "ect1"` those of L4S (in tc's words `ce_threshold_selector 0x1/0x3`).
//!
//! Readings. A drop needs more than MAXPACKET left in all queues (RFC 8289, section 4.4, and Linux), or in the flow's own, as in
//! ns-3 (`occupancy = "queue"`). `dialect = "linux"` has Linux's arithmetic of the control law; a full buffer drops half of the
//! longest queue's bytes, and such a drop counts as one of the law's; and a new queue that runs empty where no old ones are
//! leaves the lists, where the RFC has it among the old (Linux 6.1, `sch_fq_codel.c`). `linux-6.1`, `linux-6.12` and `linux-7.3` are its
//! versions: see CoDel's [`law`](super::codel).
//!
//! With `memory_limit` an arrival also finds the buffer full when the packets that wait take more [memory](super::memory). In a replay
//! of Linux's own log, hashes and memory are the kernel's.
//!
//! Drop reasons are those of [`codel`](super::codel); gauges are CoDel's for the queue that was served last.

use aqmlab_units::Time;

use super::codel::{
    Arithmetic, CE_THRESHOLD, Control, ControlLaw, INTERVAL, MAX_PACKET, TARGET, read_ce_threshold, read_law,
};
use super::fair::{HASH_KEY, Hash, QUANTUM, QUEUES, Rounds, Shape};
use super::flow_queues::FlowQueues;
use super::memory::MemoryUnit;
use super::{Named, ParameterReader};
use crate::registry::{ECN, LIMIT};
use crate::{
    Backlog, Dequeue, DropReason, Gauge, Host, Packet, Parameter, ParameterError, Qdisc, Room, Value,
    ValueKind, names,
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
const DIALECT_WORDS: [(&str, Arithmetic); 5] = {
    let [linux, v6_1, v6_12, v7_3] = Arithmetic::LINUX_WORDS;
    [("rfc8290", Arithmetic::Real), linux, v6_1, v6_12, v7_3]
};
/// The memory limit of Linux, in bytes.
const LINUX_MEMORY: u64 = 32 << 20;
/// The least quantum of Linux, in bytes.
const LEAST_QUANTUM: u32 = 256;

/// Packets wait in several queues.
pub(super) const ONE_QUEUE: bool = false;
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
        "memory_limit",
        "",
        ValueKind::Bytes,
        "memory of waiting packets; a packet more drops from the longest queue",
    )
    .from(1.0)
    .or(&["off"])
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
    /// In bytes.
    memory_limit: Option<u64>,
    /// The control law uses the backlog left in the flow's queue, not in all queues.
    by_queue: bool,
    is_linux: bool,
}

/// Read and validate the parameters.
pub(super) fn read(reader: &mut ParameterReader<'_>) -> Result<Params, Vec<ParameterError>> {
    let limit = reader.limit(10_240);
    let is_linux = reader.value("dialect", &DIALECT_WORDS).is_some_and(Arithmetic::is_linux);
    let (target, interval, max_packet) = read_law(reader, is_linux);
    let mut shape = Shape::read(reader);
    if is_linux {
        reader.counts_packets_in_linux(limit);
        reader.differs_from_linux("occupancy", Value::Word("all".to_owned()));
        shape = shape.with_least_quantum(reader, LEAST_QUANTUM);
    }
    let room = Room::new(limit, false);
    let drop_batch = reader.integer("drop_batch", 64) as u32;
    let ecn = reader.flag("ecn", true);
    let ce_threshold = read_ce_threshold(reader, is_linux);
    let only_ect1 = reader.word("ce_threshold_selector", &SELECTOR_WORDS);
    if ce_threshold.is_none() {
        reader.warn_without_effect(&["ce_threshold_selector"], "without ce_threshold");
    }
    let by_queue = reader.word("occupancy", &OCCUPANCY_WORDS);
    let arithmetic = reader.word("dialect", &DIALECT_WORDS);
    let memory_limit = reader.bytes_or("memory_limit", is_linux.then_some(LINUX_MEMORY), "off");
    let law =
        ControlLaw::new(arithmetic, target, interval, max_packet).marking_above(ce_threshold, only_ect1);
    Ok(Params { room, law, ecn, shape, drop_batch, memory_limit, by_queue, is_linux })
}

/// The discipline; see the module text.
#[derive(Clone, Debug)]
pub struct FqCoDel<P> {
    params: Params,
    hash: Hash,
    queues: FlowQueues<P>,
    rounds: Rounds,
    controls: Vec<Control>,
    /// Memory of the packets that wait, where it is limited.
    memory: u64,
    /// The queue that was served last.
    last: usize,
    /// The last arrival found the buffer full, and its own queue was the longest.
    has_cut_own: bool,
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
            memory: 0,
            last: 0,
            has_cut_own: false,
        }
    }

    /// Return whether packets of the last arrival's queue were dropped for it: Linux's return code is then `NET_XMIT_CN`.
    pub(crate) fn has_cut_own(&self) -> bool {
        self.has_cut_own
    }

    /// Make room by dropping from the longest queue. Return its number.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, host: &mut impl Host<P>) -> usize {
        let bytes_of = |queue: &usize| self.queues.backlog(*queue).bytes;
        // The first of several.
        let queue = (0..self.params.shape.queues()).rev().max_by_key(bytes_of).unwrap_or(0);
        let before = self.queues.backlog(queue);
        let (is_linux, drop_batch) = (self.params.is_linux, self.params.drop_batch);
        let (mut drops, mut bytes) = (0, 0);
        while let Some(packet) = self.queues.pop(queue) {
            drops += 1;
            bytes += u64::from(packet.meta.bytes);
            if self.params.memory_limit.is_some() {
                self.memory -= memory_of(&packet, host);
            }
            host.dropped(packet, DropReason::OVERFLOW);
            let is_half = if is_linux { bytes >= before.bytes / 2 } else { drops >= before.packets / 2 };
            if drops == drop_batch || is_half {
                break;
            }
        }
        if is_linux {
            self.controls[queue].count_also(drops);
        }
        queue
    }
}

/// Take the packet at the head of a queue. Return the backlog for its decision; `None` if the queue is empty.
#[inline(always)]
fn pop<P: Copy + Default>(
    params: &Params,
    queues: &mut FlowQueues<P>,
    memory: &mut u64,
    queue: usize,
    packet: &mut Packet<P>,
    host: &mut impl Host<P>,
) -> Option<Backlog> {
    if !queues.pop_into(queue, packet) {
        return None;
    }
    if params.memory_limit.is_some() {
        *memory -= memory_of(packet, host);
    }
    Some(if params.by_queue { queues.backlog(queue) } else { queues.total() })
}

/// Return the memory that a packet takes.
fn memory_of<P>(packet: &Packet<P>, host: &mut impl Host<P>) -> u64 {
    let logged = host.logged(packet).map(|logged| u64::from(logged.memory));
    logged.unwrap_or_else(|| MemoryUnit::TrueSize.of(packet.meta.bytes))
}

impl<P: Copy + Default> Qdisc<P> for FqCoDel<P> {
    fn enqueue(&mut self, now: Time, mut packet: Packet<P>, host: &mut impl Host<P>) {
        self.enqueue_from(now, &mut packet, host);
    }

    #[inline(always)]
    fn enqueue_from(&mut self, _now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) {
        let mut is_full = self.params.room.is_full_for(self.queues.total(), packet.meta.bytes);
        let queue = self.hash.queue_of(packet, host);
        if let Some(memory_limit) = self.params.memory_limit {
            self.memory += memory_of(packet, host);
            is_full |= self.memory > memory_limit;
        }
        self.queues.push(queue, packet);
        self.rounds.arrived(queue);
        self.has_cut_own = is_full && self.make_room(host) == queue;
    }

    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        let mut packet = Packet::default();
        if self.dequeue_into(now, &mut packet, host) { Dequeue::Packet(packet) } else { Dequeue::Empty }
    }

    #[inline(always)]
    fn dequeue_into(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool {
        let Self { params, queues, rounds, controls, memory, last, .. } = self;
        let (mut now, mut has_read_clock) = (now, false);
        while let Some(queue) = rounds.next_queue() {
            if queues.backlog(queue).packets > 0 && core::mem::replace(&mut has_read_clock, true) {
                now = host.clock(now);
            }
            let left = pop(params, queues, memory, queue, packet, host);
            let next =
                |packet: &mut Packet<P>, host: &mut _| pop(params, queues, memory, queue, packet, host);
            if controls[queue].dequeue(&params.law, params.ecn, now, left, packet, host, next) {
                rounds.sent(queue, packet.meta.bytes);
                *last = queue;
                return true;
            }
            rounds.ran_empty(queue);
        }
        false
    }

    fn is_timed(&self) -> bool {
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
    use crate::{Ecn, LinkContext, Logged, Spec, Value};
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

    /// A host with the kernel's values: hash 2^31, which is the middle queue, a memory of 1000 bytes, and a clock that goes on.
    #[derive(Default)]
    struct Kernel {
        host: TestHost,
        clock_ns: Vec<u64>,
    }

    impl Host<u32> for Kernel {
        fn uniform(&mut self) -> f64 {
            self.host.uniform()
        }
        fn below(&mut self, n: u64) -> u64 {
            self.host.below(n)
        }
        fn dropped(&mut self, packet: Packet<u32>, reason: DropReason) {
            self.host.dropped(packet, reason);
        }
        fn marked(&mut self, packet: &Packet<u32>, reason: DropReason) {
            self.host.marked(packet, reason);
        }
        fn logged(&mut self, packet: &Packet<u32>) -> Option<Logged> {
            Some(Logged { flow: packet.meta.flow, hosts: [0; 2], memory: 1000 })
        }
        fn clock(&mut self, _now: Time) -> Time {
            Time(self.clock_ns.remove(0) * 1000)
        }
    }

    #[test]
    fn hashes_and_memory_of_a_log_are_the_kernels() {
        let word = |word: &str| Value::Word(word.into());
        let mut queue = queue(&[("dialect", word("linux")), ("memory_limit", Value::Bytes(3999))]);
        let mut host = Kernel::default();
        for (n, flow, cut) in [(0, 1 << 31, false), (1, 1 << 31, false), (2, 7, false), (3, 7, true)] {
            queue.enqueue(Time::ZERO, packet(n, flow, 1000), &mut host);
            assert_eq!(queue.has_cut_own(), cut);
        }
        // 4000 bytes are too much: half of the bytes of the first of the two longest, which is queue 0.
        assert_eq!((host.host.dropped, queue.memory), (vec![2], 3000));
    }

    #[test]
    fn memory_is_that_of_linux_buffers_and_a_cut_of_the_own_queue_is_noted() {
        let mut queue = queue(&[("memory_limit", Value::Bytes(5000)), ("hash_key", Value::Number(1.0))]);
        let mut host = TestHost::default();
        for n in 0..3 {
            queue.enqueue(Time::ZERO, packet(n, 1, 1500), &mut host);
        }
        // Three of 2304 bytes; half of three packets is one.
        assert_eq!((host.dropped.as_slice(), queue.memory, queue.has_cut_own()), (&[0][..], 4608, true));
        queue.dequeue(Time::ZERO, &mut host);
        assert_eq!(queue.memory, 2304);
    }

    /// Serve a queue with one packet beyond the target, then the empty queue, then its next packet beyond the target.
    #[test]
    fn linux_6_12_keeps_the_interval_of_an_empty_queue() {
        for (dialect, dropped) in [("linux-6.1", vec![]), ("linux-6.12", vec![1])] {
            let mut queue = queue(&[("dialect", Value::Word(dialect.into()))]);
            let mut host = Kernel::default();
            let [flow, other] = [0, 1 << 31];
            let at = |ms| Time::ZERO + Span::from_millis(ms);
            queue.enqueue(at(0), packet(0, flow, 1000), &mut host);
            (2..20).for_each(|n| queue.enqueue(at(0), packet(n, other, 1500), &mut host));
            // Above the target with other packets behind: an interval begins. The second call finds the queue empty.
            for ms in [20, 21] {
                queue.dequeue(at(ms), &mut host);
            }
            queue.enqueue(at(130), packet(1, flow, 1000), &mut host);
            host.clock_ns = vec![0; 9];
            for _ in 0..3 {
                queue.dequeue(at(140), &mut host);
            }
            let found: Vec<_> = host.host.dropped.iter().copied().filter(|n| *n < 2).collect();
            assert_eq!(found, dropped, "{dialect}");
        }
    }

    #[test]
    fn linux_7_3_drops_at_most_256_packets_in_a_call() {
        // The law ends at packet 998, behind which a largest packet waits at most.
        for (dialect, dropped, departs) in [("linux", 1 + 995, 998), ("linux-7.3", 1 + 256, 3 + 256)] {
            let mut queue = queue(&[("dialect", Value::Word(dialect.into()))]);
            let mut host = TestHost::default();
            let at = |ms| Time::ZERO + Span::from_millis(ms);
            (0..1000).for_each(|n| queue.enqueue(at(0), packet(n, 1, 1500), &mut host));
            // An interval begins; packet 1 is dropped; a long time later the law is far behind.
            queue.dequeue(at(20), &mut host);
            queue.dequeue(at(150), &mut host);
            let Dequeue::Packet(next) = queue.dequeue(at(100_000), &mut host) else {
                panic!("a packet waits")
            };
            assert_eq!((host.dropped.len(), next.payload), (dropped, departs), "{dialect}");
        }
    }

    #[test]
    fn the_clock_is_read_again_for_another_queue() {
        let mut queue = queue(&[("dialect", Value::Word("linux".into()))]);
        let mut host = Kernel { clock_ns: vec![150_000_900], ..Kernel::default() };
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        (0..2).for_each(|n| queue.enqueue(at(0), packet(n, 0, 1000), &mut host));
        (2..9).for_each(|n| queue.enqueue(at(0), packet(n, 1 << 31, 1500), &mut host));
        queue.dequeue(at(20), &mut host);
        // The last packet of the first queue is dropped, and the second queue begins its interval at the later time.
        queue.dequeue(at(150), &mut host);
        assert_eq!(host.host.dropped, [1]);
        assert!(host.clock_ns.is_empty());
        assert_eq!(queue.controls[512].linux().first_above, (150_000_900 >> 10) + 97_656);
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
