//! Replay of the log of a tap: the calls of an unchanged discipline of Linux, with the times, random numbers and hashes that it got.

use std::collections::VecDeque;

use aqmlab_units::Time;

use super::log::{At, Difference, Replayed};
use super::record::Record;
use super::tap::{Call, CallKind, Reset, Value, codel_state};
use super::tcp::ack_fields;
use crate::disciplines::{Cake, CoDel, LinuxState};
use crate::{
    AckFields, Dequeue, Discipline, DropClass, DropReason, Ecn, Header, Host, Kind, Logged, Meta, NonRed,
    Packet, Qdisc, Resolved,
};

/// Bytes of Ethernet's header and of an IPv4 header without options.
const BEFORE_TCP: u32 = 14 + 20;
/// The return code of an arrival that was dropped (`NET_XMIT_DROP`).
const DROPPED: u8 = 1;
/// The return code of RED for an arrival that it dropped to signal congestion (`NET_XMIT_CN`).
const CONGESTION: u8 = 2;

/// Drops and marks of a call.
type Counts = (u64, u64);

/// Disciplines that dequeue the packet that their parent asks for.
const DEQUEUE_TO_PEEK: [&str; 5] = ["codel", "fq_codel", "fq_pie", "cake", "dualpi2"];

/// A packet, or a segment of one.
#[derive(Clone, Copy, Debug)]
struct Facts {
    number: u32,
    /// Number of the segment.
    segment: u32,
    logged: Logged,
    ack: Option<AckFields>,
}

/// A queue whose packets and segments are numbered in the order of arrival.
pub(super) struct TappedQueue {
    discipline: Discipline<u32>,
    arrived: u32,
    facts: Vec<Facts>,
    values: VecDeque<Value>,
    header: Vec<u8>,
    /// First sequence number and bytes of segments, for each packet.
    segments: Vec<(u32, u32)>,
    /// The packet that the parent has asked for, and that stays with the discipline.
    peeked: Option<Packet<u32>>,
    /// Whether it dequeues the packet that its parent asks for.
    dequeues_to_peek: bool,
    /// State of CoDel before the last call.
    before: LinuxState,
}

impl TappedQueue {
    /// Create an empty queue, and compare its settings with those of the discipline in the kernel.
    pub fn new(
        queue: &Resolved,
        reset: &Reset,
        settings: Option<[u32; 8]>,
        at: At,
    ) -> Result<Self, Difference> {
        let new = Self {
            discipline: queue.build(),
            arrived: 0,
            facts: Vec::new(),
            values: VecDeque::new(),
            header: Vec::new(),
            segments: Vec::new(),
            peeked: None,
            dequeues_to_peek: DEQUEUE_TO_PEEK.contains(&reset.name()),
            before: LinuxState::default(),
        };
        at.compare("discipline", reset.name(), &linux_name(queue.preset))?;
        if let (Some(codel), Some(settings)) = (new.codel(), settings) {
            compare_settings(codel, &settings, at)?;
        }
        Ok(new)
    }

    fn codel(&self) -> Option<&CoDel<u32>> {
        match &self.discipline {
            Discipline::NonRed(found) => match found.as_ref() {
                NonRed::CoDel(codel) => Some(codel),
                _ => None,
            },
            _ => None,
        }
    }

    fn cake(&mut self) -> Option<&mut Cake<u32>> {
        match &mut self.discipline {
            Discipline::NonRed(found) => match found.as_mut() {
                NonRed::Cake(cake) => Some(cake),
                _ => None,
            },
            _ => None,
        }
    }

    /// Keep values of the next call.
    pub fn keep_values(&mut self, values: &[Option<Value>; 8]) {
        self.values.extend(values.iter().flatten());
    }

    /// Keep bytes of the next header.
    pub fn keep_header(&mut self, bytes: &[u8]) {
        self.header.extend(bytes);
    }

    /// Repeat a call and compare its outcome, the values that both used, and the state after it.
    pub fn step(
        &mut self,
        call: &Call,
        after: Option<[u32; 8]>,
        replayed: &mut Replayed,
        at: At,
    ) -> Result<(), Difference> {
        at.compare("values of the call", call.values, self.values.len() as u32)?;
        let now = self.time_of(call, at)?;
        let done = match call.kind {
            CallKind::Arrival => self.arrival(now, call, at),
            CallKind::Departure | CallKind::Empty => self.departure(now, call, at),
            CallKind::Peek => self.peek(now, call, at),
            CallKind::Timer => self.timer(now, call, at),
        };
        let after = after.map(|words| codel_state(&words));
        let state = self.codel().and_then(CoDel::linux).unwrap_or_default();
        let found = done.and_then(|counts| {
            let mut backlog = self.discipline.backlog();
            self.peeked.iter().for_each(|packet| backlog.add(packet.meta.bytes));
            at.compare("waiting", call.backlog.packets, backlog.packets)?;
            at.compare("backlog", call.backlog.bytes, backlog.bytes)?;
            at.compare("packets that the parent counts too many", call.apart.0, 0)?;
            at.compare("bytes that the parent counts", call.apart.1, false)?;
            at.compare("parent told that the queue is empty", call.told_empty, false)?;
            after.map_or(Ok(()), |after| at.compare("state", after, state))?;
            Ok(counts)
        });
        let (drops, marks) = found.map_err(|difference| match after {
            Some(after) => difference.with_states(&self.before, &after, &state),
            None => difference,
        })?;
        self.before = state;
        replayed.decisions += u64::from(matches!(call.kind, CallKind::Arrival | CallKind::Departure));
        replayed.marks += marks;
        replayed.drops += drops;
        Ok(())
    }

    /// Return the time that the discipline read first in a call; where it reads none, the time before the call.
    fn time_of(&mut self, call: &Call, at: At) -> Result<Time, Difference> {
        let read = self.values.iter().position(|value| matches!(value, Value::Time(_)));
        let after = match read.and_then(|place| self.values.remove(place)) {
            Some(Value::Time(after)) => after,
            _ => 0,
        };
        if after > call.span_ns || (read.is_none() && self.cake().is_some()) {
            let clock = format!("a time within {} ns of the call", call.span_ns);
            return Err(at.difference("time of the call", &format!("{:?}", read.map(|_| after)), &clock));
        }
        let now = call.time_ns + u64::from(after);
        let most = u64::MAX / 1000 - 1;
        Ok(Time(now.min(most) * 1000))
    }

    fn arrival(&mut self, now: Time, call: &Call, at: At) -> Result<Counts, Difference> {
        at.compare("packet", call.packet, self.arrived)?;
        self.arrived = self.arrived.wrapping_add(1);
        let hashes: Vec<u32> = std::iter::from_fn(|| match self.values.front() {
            Some(Value::Hash(hash)) => {
                let hash = *hash;
                self.values.pop_front();
                Some(hash)
            }
            _ => None,
        })
        .collect();
        // Cake computes the hashes of destination, source and flow, in this order.
        let flow = hashes.get(2).copied().unwrap_or(call.flow);
        let hosts = [hashes.get(1).copied().unwrap_or(0), hashes.first().copied().unwrap_or(0)];
        let logged = Logged { flow, hosts, memory: call.memory };
        let header = std::mem::take(&mut self.header);
        let ack = ack_fields(&header, call.bytes.saturating_sub(BEFORE_TCP));
        let kind = if ack.is_some() { Kind::Ack } else { Kind::Data };
        let header =
            Header::default().with_dscp(call.tos >> 2).with_ecn(Ecn::from_bits(call.tos)).with_kind(kind);
        let label = if call.is_hashed { call.flow } else { flow };
        self.segments.push((call.seq, call.segment()));
        let packets: Vec<_> = call
            .lengths()
            .zip(0..)
            .map(|(bytes, segment)| {
                let payload = self.facts.len() as u32;
                self.facts.push(Facts { number: call.packet, segment, logged, ack });
                Packet { meta: Meta { arrival: now, bytes, flow: label, header }, payload }
            })
            .collect();
        let mut host = Kernel::new(&self.facts, std::mem::take(&mut self.values), call);
        if let Discipline::NonRed(found) = &mut self.discipline
            && let NonRed::Cake(cake) = found.as_mut()
        {
            match packets[..] {
                [packet] => cake.enqueue(now, packet, &mut host),
                _ => cake.enqueue_segments(now, &packets, &mut host),
            }
            return host.end(at);
        }
        packets.into_iter().for_each(|packet| self.discipline.enqueue(now, packet, &mut host));
        if matches!(self.discipline, Discipline::Red(_)) {
            at.compare("return code", call.outcome, host.code_of_red())?;
        }
        let is_dropped = host.has_dropped.is_some();
        if is_dropped || call.outcome == DROPPED {
            let logged = call.outcome != 0;
            at.compare("dropped at the arrival", logged, is_dropped)?;
        }
        host.end(at)
    }

    fn departure(&mut self, now: Time, call: &Call, at: At) -> Result<Counts, Difference> {
        let (dequeued, counts) = match self.peeked.take() {
            Some(packet) => (Some(packet), (0, 0)),
            None => self.dequeue(now, call, at)?,
        };
        let packet = dequeued.unwrap_or_default();
        let (number, segment) = self.number(dequeued);
        at.compare("departure", call.packet, number)?;
        if call.kind == CallKind::Empty {
            return Ok(counts);
        }
        if let Some((seq, bytes @ 1..)) = self.segments.get(number as usize).copied() {
            at.compare("segment", call.seq.wrapping_sub(seq) / bytes, segment)?;
        }
        at.compare("length", call.bytes, packet.meta.bytes)?;
        let header = packet.meta.header;
        at.compare("code point", call.tos >> 2, header.dscp())?;
        let logged = Ecn::from_bits(call.tos);
        at.compare("ECN field", format!("{logged:?}"), format!("{:?}", header.ecn()))?;
        if let Some(cake) = self.cake() {
            at.compare("length in the shaper", call.flow, cake.on_wire(packet.meta.bytes))?;
        }
        Ok(counts)
    }

    /// Ask for the next packet, as a parent does before it dequeues. Disciplines that drop at the departure take it out of their
    /// queues and keep it.
    fn peek(&mut self, now: Time, call: &Call, at: At) -> Result<Counts, Difference> {
        if !self.dequeues_to_peek || self.peeked.is_some() {
            return Ok((0, 0));
        }
        let (dequeued, counts) = self.dequeue(now, call, at)?;
        self.peeked = dequeued;
        at.compare("packet at which the parent peeks", call.packet, self.number(dequeued).0)?;
        Ok(counts)
    }

    fn dequeue(
        &mut self,
        now: Time,
        call: &Call,
        at: At,
    ) -> Result<(Option<Packet<u32>>, Counts), Difference> {
        let mut host = Kernel::new(&self.facts, std::mem::take(&mut self.values), call);
        let dequeued = match self.discipline.dequeue(now, &mut host) {
            Dequeue::Packet(packet) => Some(packet),
            Dequeue::Empty | Dequeue::NotBefore(_) => None,
        };
        host.end(at).map(|counts| (dequeued, counts))
    }

    /// Return the number of a packet and of its segment.
    fn number(&self, packet: Option<Packet<u32>>) -> (u32, u32) {
        packet.map_or((Record::NONE, 0), |packet| {
            let Facts { number, segment, .. } = self.facts[packet.payload as usize];
            (number, segment)
        })
    }

    fn timer(&mut self, now: Time, call: &Call, at: At) -> Result<Counts, Difference> {
        let mut host = Kernel::new(&self.facts, std::mem::take(&mut self.values), call);
        self.discipline.on_timer(now, &mut host);
        host.end(at)
    }
}

/// Return tc's name of the discipline that a preset is.
fn linux_name(preset: &str) -> String {
    match preset {
        "gentle-red" | "adaptive-red" => "red".to_owned(),
        "rio" | "wred" => "gred".to_owned(),
        _ => preset.replace('-', "_"),
    }
}

/// Compare the settings of CoDel.
fn compare_settings(codel: &CoDel<u32>, logged: &[u32; 8], at: At) -> Result<(), Difference> {
    let Some(own) = codel.linux_settings() else {
        return Err(at.difference("dialect", &"linux, limit in packets", &"another one"));
    };
    let names = ["target", "interval", "limit", "max_packet", "ecn"];
    for ((name, logged), own) in names.into_iter().zip(logged).zip(own) {
        at.compare(name, u64::from(*logged), own)?;
    }
    let [.., threshold, is_off, _] = *logged;
    let text = |ticks: Option<u64>| ticks.map_or_else(|| "off".to_owned(), |ticks| ticks.to_string());
    let logged = (is_off == 0).then_some(u64::from(threshold));
    at.compare("ce_threshold", text(logged), text(codel.linux_ce_threshold()))
}

/// Returns the values that the kernel's discipline got, in their order.
struct Kernel<'a> {
    facts: &'a [Facts],
    values: VecDeque<Value>,
    before_ns: u64,
    drops: u64,
    marks: u64,
    /// The reason for which the packet of the call was dropped.
    has_dropped: Option<DropReason>,
    packet: u32,
    /// A value that the log lacks or has of another kind.
    missing: Option<(&'static str, Option<Value>)>,
}

impl<'a> Kernel<'a> {
    fn new(facts: &'a [Facts], values: VecDeque<Value>, call: &Call) -> Self {
        Self {
            facts,
            values,
            before_ns: call.time_ns,
            drops: 0,
            marks: 0,
            has_dropped: None,
            packet: call.packet,
            missing: None,
        }
    }

    /// Return the drops and marks of the call, or the first value in which log and replay differ.
    fn end(&self, at: At) -> Result<Counts, Difference> {
        if let Some((what, found)) = self.missing {
            return Err(at.difference("value", &format!("{found:?}"), &what));
        }
        at.compare("values left", self.values.len() as u64, 0)?;
        Ok((self.drops, self.marks))
    }

    /// Return RED's return code of an arrival.
    fn code_of_red(&self) -> u8 {
        match self.has_dropped.map(DropReason::class) {
            None => 0,
            Some(DropClass::Overflow) => DROPPED,
            Some(_) => CONGESTION,
        }
    }

    fn lacks(&mut self, what: &'static str, found: Option<Value>) {
        self.missing.get_or_insert((what, found));
    }
}

impl Host<u32> for Kernel<'_> {
    fn uniform(&mut self) -> f64 {
        match self.values.pop_front() {
            Some(Value::Uniform(value)) => value,
            // Eight bytes, little endian; a float has the first 53 bits.
            Some(Value::Bytes(low)) => match self.values.pop_front() {
                Some(Value::Bytes(high)) => {
                    ((u64::from(high) << 32 | u64::from(low)) >> 11) as f64 / 9_007_199_254_740_992.0
                }
                other => {
                    self.lacks("eight bytes at random", other);
                    0.5
                }
            },
            other => {
                self.lacks("a random number", other);
                0.5
            }
        }
    }

    fn below(&mut self, n: u64) -> u64 {
        // The key of a hash: hashes are those of the log.
        if n > u64::from(u32::MAX) {
            return 0;
        }
        match self.values.pop_front() {
            Some(Value::Below(value)) => value.into(),
            // Linux 6.1 scales a number of 32 bits.
            Some(Value::Uniform(value)) => (value * n as f64) as u64,
            other => {
                self.lacks("a random number below a bound", other);
                0
            }
        }
    }

    fn dropped(&mut self, packet: Packet<u32>, reason: DropReason) {
        self.drops += 1;
        let number = self.facts.get(packet.payload as usize).map(|facts| facts.number);
        if number == Some(self.packet) {
            self.has_dropped = Some(reason);
        }
    }

    fn marked(&mut self, _packet: &Packet<u32>, _reason: DropReason) {
        self.marks += 1;
    }

    fn ack_fields(&mut self, packet: &Packet<u32>) -> Option<AckFields> {
        self.facts.get(packet.payload as usize)?.ack
    }

    fn logged(&mut self, packet: &Packet<u32>) -> Option<Logged> {
        self.facts.get(packet.payload as usize).map(|facts| facts.logged)
    }

    fn clock(&mut self, now: Time) -> Time {
        match self.values.pop_front() {
            Some(Value::Time(after)) => Time((self.before_ns + u64::from(after)) * 1000),
            other => {
                self.lacks("another time", other);
                now
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::red::part::tests::LINK;
    use crate::replay::replay_log;
    use crate::{Spec, Value as Setting};

    type Bytes = [u8; Record::BYTES];

    fn queue(preset: &str, set: &[(&str, Setting)]) -> Resolved {
        let mut spec = Spec::new(preset).expect("a preset");
        set.iter().for_each(|(key, value)| spec.set(key, value.clone()).expect("a parameter"));
        spec.resolve(LINK).expect("a queue")
    }

    fn word(name: &str) -> Setting {
        Setting::Word(name.into())
    }

    fn record(sequence: u32, kind: u8, words: &[(usize, u32)]) -> Bytes {
        let mut bytes = [0; Record::BYTES];
        for &(at, value) in [(16, sequence)].iter().chain(words) {
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        bytes[56] = kind;
        bytes
    }

    fn reset(sequence: u32, name: &str) -> Bytes {
        let mut bytes = record(sequence, 35, &[(20, Record::NONE)]);
        bytes[24..24 + name.len()].copy_from_slice(name.as_bytes());
        bytes
    }

    /// Values of a call, of these types.
    fn values(sequence: u32, types: &[u8], values: &[u32]) -> Bytes {
        let mut bytes = state(sequence, values);
        bytes[56] = 36;
        bytes[..types.len()].copy_from_slice(types);
        bytes
    }

    fn state(sequence: u32, values: &[u32]) -> Bytes {
        let words: Vec<_> = values.iter().enumerate().map(|(at, value)| (24 + 4 * at, *value)).collect();
        record(sequence, 39, &words)
    }

    /// A call at 1 ms that takes 9 ns.
    fn call(sequence: u32, kind: u8, values: u32, words: &[(usize, u32)]) -> Bytes {
        record(sequence, kind, &[&[(0, 1_000_000), (8, 9), (12, values), (24, 1000)], words].concat())
    }

    fn with(mut record: Bytes, words: &[(usize, u32)]) -> Bytes {
        for &(at, value) in words {
            record[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        record
    }

    mod cake {
        use super::*;

        fn cake() -> Resolved {
            queue("cake", &[("diffserv", word("besteffort")), ("hash_key", Setting::Number(1.0))])
        }

        /// A packet arrives and leaves: time, hashes of destination, source and flow, and the dithering of the quantum.
        fn log() -> Vec<Bytes> {
            vec![
                reset(0, "cake"),
                values(1, &[1, 4, 4, 4, 2], &[3, 7, 8, 9, 65_535]),
                call(2, 32, 5, &[(32, 2304), (48, 1), (52, 1000)]),
                values(3, &[1], &[4]),
                call(4, 33, 1, &[(28, 1000)]),
                values(5, &[1], &[4]),
                call(6, 34, 1, &[(20, Record::NONE)]),
            ]
        }

        #[test]
        fn equal_calls() {
            let replayed = replay_log(&cake(), &[0; 64], &log().concat());
            assert_eq!(replayed, Ok(Replayed { records: 7, decisions: 2, marks: 0, drops: 0 }));
        }

        #[test]
        fn values_and_outcomes_are_compared() {
            for (at, changed, place, what) in [
                (1, values(1, &[1, 4, 4, 4], &[3, 7, 8, 9]), 2, "values of the call"),
                (1, values(1, &[1, 4, 4, 4, 1], &[3, 7, 8, 9, 5]), 2, "value"),
                (1, values(1, &[1, 4, 4, 2, 2], &[3, 7, 8, 9, 9]), 2, "values left"),
                (3, values(3, &[1], &[10]), 4, "time of the call"),
                (2, call(2, 32, 5, &[(32, 2304), (48, 2), (52, 1000)]), 2, "waiting"),
                (2, call(2, 32, 5, &[(32, 2304), (48, 1), (52, 999)]), 2, "backlog"),
                (
                    2,
                    call(2, 32, 5, &[(32, 2304), (48, 1), (52, 1000), (60, 1)]),
                    2,
                    "packets that the parent counts too many",
                ),
                (4, call(4, 33, 1, &[(28, 1000), (20, 1)]), 4, "departure"),
                (4, call(4, 33, 1, &[(28, 1001)]), 4, "length in the shaper"),
                (4, call(3, 33, 1, &[(28, 1000)]), 4, "sequence"),
            ] {
                let mut log = log();
                log[at] = changed;
                let found = replay_log(&cake(), &[0; 64], &log.concat()).expect_err(what);
                assert_eq!((found.record, found.what), (place, what));
            }
        }

        #[test]
        fn segments_arrive_together() {
            let mut log = log();
            // 2500 bytes of payload behind 66 bytes of headers, 1000 in a segment: 1066, 1066 and 566 bytes.
            log[2] = call(
                2,
                32,
                5,
                &[(24, 2566), (32, 2304), (36, 1000 | 3 << 16), (40, 66), (44, 5), (48, 3), (52, 2698)],
            );
            log[4] = call(4, 33, 1, &[(24, 1066), (28, 1066), (44, 5), (48, 2), (52, 1632)]);
            log[6] = call(6, 33, 1, &[(24, 1066), (28, 1066), (44, 1005), (48, 1), (52, 566)]);
            let replayed = replay_log(&cake(), &[0; 64], &log.concat());
            assert_eq!(replayed.map(|replayed| replayed.decisions), Ok(3));
            log[6] = call(6, 33, 1, &[(24, 1066), (28, 1066), (44, 2005), (48, 1), (52, 566)]);
            let found = replay_log(&cake(), &[0; 64], &log.concat()).expect_err("another segment");
            assert_eq!((found.record, found.what), (6, "segment"));
        }

        #[test]
        fn another_discipline_is_found() {
            let mut log = log();
            log[0] = reset(0, "codel");
            let found = replay_log(&cake(), &[0; 64], &log.concat()).expect_err("another discipline");
            assert_eq!((found.what, &*found.logged, &*found.replayed), ("discipline", "codel", "cake"));
        }
    }

    mod codel {
        use super::*;

        const LATER: u32 = 1_000_000;

        fn codel(ce_threshold: Option<f64>) -> Resolved {
            let threshold = ce_threshold.map(|seconds| ("ce_threshold", Setting::Seconds(seconds)));
            let set: Vec<_> = [("dialect", word("linux"))].into_iter().chain(threshold).collect();
            queue("codel", &set)
        }

        /// A call 7 ns after the beginning of a tick, in which the discipline reads the clock.
        fn call(sequence: u32, kind: u8, tick: u32, packet: u32, words: &[(usize, u32)]) -> Bytes {
            let before = u64::from(tick) * 1024;
            let own =
                [(0, before as u32), (4, (before >> 32) as u32), (8, 9), (12, 1), (20, packet), (24, 1000)];
            record(sequence, kind, &[&own, words].concat())
        }

        fn settings(threshold: Option<u32>) -> Bytes {
            let off = u32::from(threshold.is_none());
            state(0, &[4882, 97_656, 1000, 1514, 0, threshold.unwrap_or(u32::MAX), off])
        }

        /// Three packets arrive. 6000 ticks are above the target of 4882: the interval begins. It ends with a backlog of one packet.
        fn log(threshold: Option<u32>, tos: [u8; 3]) -> Vec<Bytes> {
            let mut log = vec![settings(threshold), reset(1, "codel")];
            let first_above = LATER + 6001 + 97_656;
            let calls = [
                (0, 32, LATER + 1, 0, [1, 1000]),
                (0, 32, LATER + 2, 1, [2, 2000]),
                (0, 32, LATER + 3, 2, [3, 3000]),
                (first_above, 33, LATER + 6001, 0, [2, 2000]),
                (0, 33, LATER + 6002, 1, [1, 1000]),
            ];
            for (above, kind, tick, packet, [waiting, backlog]) in calls {
                let sequence = log.len() as u32;
                log.push(values(sequence, &[1], &[7]));
                log.push(state(sequence + 1, &[above]));
                let mut call = call(sequence + 2, kind, tick, packet, &[(48, waiting), (52, backlog)]);
                call[59] = if kind == 32 { tos[packet as usize] } else { 0 };
                log.push(call);
            }
            log
        }

        #[test]
        fn equal_calls_and_states() {
            let replayed = replay_log(&codel(None), &[0; 64], &log(None, [0; 3]).concat());
            assert_eq!(replayed, Ok(Replayed { records: 17, decisions: 5, marks: 0, drops: 0 }));
        }

        #[test]
        fn the_threshold_of_marks_is_compared_and_marks() {
            // 6 ms are 5859 ticks: packet 0 has ECT(1) and waited 6000 ticks, packet 1 ECT(0) and as many.
            let mut log = log(Some(5859), [0b01, 0b10, 0]);
            (log[13][59], log[16][59]) = (0b11, 0b11);
            let replay = |seconds, log: &[Bytes]| replay_log(&codel(seconds), &[0; 64], &log.concat());
            let marked = Replayed { records: 17, decisions: 5, marks: 2, drops: 0 };
            assert_eq!(replay(Some(0.006), &log), Ok(marked));
            let found = replay(None, &log).expect_err("another threshold");
            assert_eq!((found.what, &*found.logged, &*found.replayed), ("ce_threshold", "5859", "off"));
            log[16][59] = 0b10;
            let found = replay(Some(0.006), &log).expect_err("a mark");
            assert_eq!((found.record, found.what), (16, "ECN field"));
        }

        #[test]
        fn differences_have_both_states() {
            let mut log = log(None, [0; 3]);
            log[12] = with(log[12], &[(24, LATER + 6002 + 97_656)]);
            let found = replay_log(&codel(None), &[0; 64], &log.concat()).expect_err("a difference");
            assert_eq!((found.record, found.what), (13, "state"));
            assert!(found.logged.contains("first_above 1103658"), "{}", found.logged);
            assert!(found.replayed.contains("first_above 1103657"), "{}", found.replayed);
        }

        #[test]
        fn settings_order_and_clock_are_compared() {
            let whole = log(None, [0; 3]);
            for (at, changed, place, what) in [
                (0, with(whole[0], &[(28, 97_657)]), 1, "interval"),
                (0, settings(Some(5859)), 1, "ce_threshold"),
                (13, with(whole[13], &[(20, 1)]), 13, "departure"),
                (11, values(11, &[1], &[10]), 13, "time of the call"),
                (10, with(whole[10], &[(52, 2999)]), 10, "backlog"),
                (4, with(whole[4], &[(16, 2)]), 4, "sequence"),
            ] {
                let mut log = whole.clone();
                log[at] = changed;
                let found = replay_log(&codel(None), &[0; 64], &log.concat()).expect_err(what);
                assert_eq!((found.record, found.what), (place, what));
            }
        }
    }
}
