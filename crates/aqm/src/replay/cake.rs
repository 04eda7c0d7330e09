//! Replay of the log of Linux's cake: the calls of an unchanged `sch_cake`, with the times, random numbers and hashes that it got.

use std::collections::VecDeque;

use aqmlab_units::Time;

use super::log::{At, Difference, Replayed};
use super::record::{Record, half, word};
use super::tcp::ack_fields;
use crate::disciplines::Cake;
use crate::{
    AckFields, Backlog, Dequeue, Discipline, DropReason, Ecn, Header, Host, Kind, Logged, Meta, NonRed,
    Packet, Qdisc, Resolved,
};

/// Bytes of Ethernet's header and of an IPv4 header without options.
const BEFORE_TCP: u32 = 14 + 20;

/// A record of the tap of cake: 64 bytes, little endian, with the kinds from 32 on.
///
/// `python/aqmlab/interop/kernel/module/cake.h` is the same in C, with the meaning of each field.
#[derive(Clone, Copy, Debug)]
pub(super) enum CakeRecord {
    Call(Call),
    /// Values of the next call.
    Values([Option<Value>; 8]),
    /// Bytes of the TCP header of the next packet.
    Header([u8; 32], usize),
}

/// A call of the discipline, or its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub kind: CallKind,
    pub time_ns: u64,
    span_ns: u32,
    values: u32,
    packet: u32,
    bytes: u32,
    /// The hash of an arriving packet, the length in the shaper of a departing one.
    flow: u32,
    memory: u32,
    segment: u16,
    segments: u16,
    header: u8,
    is_hashed: bool,
    seq: u32,
    backlog: Backlog,
    tos: u8,
    /// Packets that the parent counts less those that wait, and whether it counts other bytes.
    apart: (i8, bool),
}

/// The kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallKind {
    Arrival,
    Departure,
    Empty,
    Reset,
}

/// A value that the kernel's discipline got.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    /// In ns after the record's time.
    Time(u32),
    /// Uniform on [0, 1).
    Uniform(f64),
    Hash(u32),
}

impl CakeRecord {
    /// Read a record with its instance and its sequence number; `None` if its kind is unknown.
    pub fn read(bytes: &[u8; Record::BYTES]) -> Option<Self> {
        let kind = match bytes[56] {
            32 => CallKind::Arrival,
            33 => CallKind::Departure,
            34 => CallKind::Empty,
            35 => CallKind::Reset,
            36 => {
                return Some(Self::Values(core::array::from_fn(|at| {
                    Value::read(bytes[at], word(bytes, 24 + 4 * at))
                })));
            }
            37 => {
                return Some(Self::Header(
                    core::array::from_fn(|at| bytes[24 + at]),
                    word(bytes, 20).min(32) as usize,
                ));
            }
            _ => return None,
        };
        Some(Self::Call(Call {
            kind,
            time_ns: u64::from(word(bytes, 0)) | u64::from(word(bytes, 4)) << 32,
            span_ns: word(bytes, 8),
            values: word(bytes, 12),
            packet: word(bytes, 20),
            bytes: word(bytes, 24),
            flow: word(bytes, 28),
            memory: word(bytes, 32),
            segment: half(bytes, 36),
            segments: half(bytes, 38),
            header: bytes[40],
            is_hashed: bytes[41] != 0,
            seq: word(bytes, 44),
            backlog: Backlog { packets: word(bytes, 48), bytes: word(bytes, 52).into() },
            tos: bytes[59],
            apart: (bytes[60] as i8, bytes[61] != 0),
        }))
    }
}

impl Value {
    fn read(kind: u8, value: u32) -> Option<Self> {
        match kind {
            1 => Some(Self::Time(value)),
            2 => Some(Self::Uniform(f64::from(value) / 65_536.0)),
            3 => Some(Self::Uniform(f64::from(value) / 4_294_967_296.0)),
            4 => Some(Self::Hash(value)),
            _ => None,
        }
    }
}

/// A packet, or a segment of one.
#[derive(Clone, Copy, Debug)]
struct Facts {
    number: u32,
    /// Number of the segment, and its first sequence number.
    segment: u32,
    logged: Logged,
    ack: Option<AckFields>,
}

/// A queue whose packets and segments are numbered in the order of arrival.
pub(super) struct TappedCake {
    discipline: Discipline<u32>,
    arrived: u32,
    facts: Vec<Facts>,
    values: VecDeque<Value>,
    header: Vec<u8>,
    /// First sequence number and bytes of segments, for each packet.
    segments: Vec<(u32, u32)>,
}

impl TappedCake {
    /// Create an empty queue.
    pub fn new(queue: &Resolved, at: At) -> Result<Self, Difference> {
        let mut new = Self {
            discipline: queue.build(),
            arrived: 0,
            facts: Vec::new(),
            values: VecDeque::new(),
            header: Vec::new(),
            segments: Vec::new(),
        };
        if new.cake().is_none() {
            return Err(at.difference("discipline", &"cake", &"another one"));
        }
        Ok(new)
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
    pub fn keep_values(&mut self, values: [Option<Value>; 8]) {
        self.values.extend(values.into_iter().flatten());
    }

    /// Keep bytes of the next header.
    pub fn keep_header(&mut self, bytes: &[u8]) {
        self.header.extend(bytes);
    }

    /// Repeat a call and compare its outcome, and the values that both used.
    pub fn step(&mut self, call: &Call, replayed: &mut Replayed, at: At) -> Result<(), Difference> {
        at.compare("values of the call", call.values, self.values.len() as u32)?;
        let now = match self.values.pop_front() {
            Some(Value::Time(after)) if after <= call.span_ns => call.time_ns + u64::from(after),
            other => {
                return Err(at.difference(
                    "time of the call",
                    &format!("{other:?}"),
                    &"a time within the call",
                ));
            }
        };
        let most = u64::MAX / 1000 - 1;
        let now = Time(now.min(most) * 1000);
        let (drops, marks) = match call.kind {
            CallKind::Arrival => self.arrival(now, call, at)?,
            _ => self.departure(now, call, at)?,
        };
        at.compare("waiting", call.backlog.packets, self.discipline.backlog().packets)?;
        at.compare("backlog", call.backlog.bytes, self.discipline.backlog().bytes)?;
        at.compare("packets that the parent counts too many", call.apart.0, 0)?;
        at.compare("bytes that the parent counts", call.apart.1, false)?;
        replayed.decisions += u64::from(call.kind != CallKind::Empty);
        replayed.marks += marks;
        replayed.drops += drops;
        Ok(())
    }

    fn arrival(&mut self, now: Time, call: &Call, at: At) -> Result<(u64, u64), Difference> {
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
        // The order of sch_cake.c: destination, source, flow.
        let flow = hashes.get(2).copied().unwrap_or(call.flow);
        let hosts = [hashes.get(1).copied().unwrap_or(0), hashes.first().copied().unwrap_or(0)];
        let logged = Logged { flow, hosts, memory: call.memory };
        let header = std::mem::take(&mut self.header);
        let ack = ack_fields(&header, call.bytes.saturating_sub(BEFORE_TCP));
        let kind = if ack.is_some() { Kind::Ack } else { Kind::Data };
        let header =
            Header::default().with_dscp(call.tos >> 2).with_ecn(Ecn::from_bits(call.tos)).with_kind(kind);
        let label = if call.is_hashed { call.flow } else { flow };
        self.segments.push((call.seq, call.segment.into()));
        let packets: Vec<_> = call
            .lengths()
            .zip(0..)
            .map(|(bytes, segment)| {
                let payload = self.facts.len() as u32;
                self.facts.push(Facts { number: call.packet, segment, logged, ack });
                Packet { meta: Meta { arrival: now, bytes, flow: label, header }, payload }
            })
            .collect();
        let mut host = Kernel::new(&self.facts, std::mem::take(&mut self.values), call.time_ns);
        let Discipline::NonRed(found) = &mut self.discipline else { return Ok((0, 0)) };
        let NonRed::Cake(cake) = found.as_mut() else { return Ok((0, 0)) };
        match packets[..] {
            [packet] => cake.enqueue(now, packet, &mut host),
            _ => cake.enqueue_segments(now, &packets, &mut host),
        }
        host.end(at)
    }

    fn departure(&mut self, now: Time, call: &Call, at: At) -> Result<(u64, u64), Difference> {
        let mut host = Kernel::new(&self.facts, std::mem::take(&mut self.values), call.time_ns);
        let dequeued = self.discipline.dequeue(now, &mut host);
        let counts = host.end(at)?;
        let (number, segment, packet) = match dequeued {
            Dequeue::Packet(packet) => {
                let Facts { number, segment, .. } = self.facts[packet.payload as usize];
                (number, segment, packet)
            }
            Dequeue::Empty | Dequeue::NotBefore(_) => (Record::NONE, 0, Packet::default()),
        };
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
        let on_wire = self.cake().map_or(0, |cake| cake.on_wire(packet.meta.bytes));
        at.compare("length in the shaper", call.flow, on_wire)?;
        Ok(counts)
    }
}

impl Call {
    /// Return the lengths of the packet's segments, or its own.
    fn lengths(&self) -> impl Iterator<Item = u32> {
        let Self { bytes, segment, segments, header, .. } = *self;
        let [payload, header] = [u32::from(segment), u32::from(header)];
        let count = if segment == 0 { 1 } else { u32::from(segments).max(1) };
        (0..count).map(move |at| match at + 1 == count {
            true => bytes - payload * at,
            false => header + payload,
        })
    }
}

/// Returns the values that the kernel's discipline got, in their order.
struct Kernel<'a> {
    facts: &'a [Facts],
    values: VecDeque<Value>,
    before_ns: u64,
    drops: u64,
    marks: u64,
    /// A value that the log lacks or has of another kind.
    missing: Option<(&'static str, Option<Value>)>,
}

impl<'a> Kernel<'a> {
    fn new(facts: &'a [Facts], values: VecDeque<Value>, before_ns: u64) -> Self {
        Self { facts, values, before_ns, drops: 0, marks: 0, missing: None }
    }

    /// Return the drops and marks of the call, or the first value in which log and replay differ.
    fn end(&self, at: At) -> Result<(u64, u64), Difference> {
        if let Some((what, found)) = self.missing {
            return Err(at.difference("value", &format!("{found:?}"), &what));
        }
        at.compare("values left", self.values.len() as u64, 0)?;
        Ok((self.drops, self.marks))
    }

    fn lacks(&mut self, what: &'static str, found: Option<Value>) {
        self.missing.get_or_insert((what, found));
    }
}

impl Host<u32> for Kernel<'_> {
    fn uniform(&mut self) -> f64 {
        match self.values.pop_front() {
            Some(Value::Uniform(value)) => value,
            other => {
                self.lacks("a random number", other);
                0.5
            }
        }
    }

    fn below(&mut self, _n: u64) -> u64 {
        0
    }

    fn dropped(&mut self, _packet: Packet<u32>, _reason: DropReason) {
        self.drops += 1;
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
                self.lacks("the time of a drop", other);
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

    fn cake() -> Resolved {
        let mut spec = Spec::new("cake").expect("a preset");
        let set = [("diffserv", Setting::Word("besteffort".into())), ("hash_key", Setting::Number(1.0))];
        set.into_iter().for_each(|(key, value)| spec.set(key, value).expect("a parameter"));
        spec.resolve(LINK).expect("a queue")
    }

    fn record(sequence: u32, kind: u8, words: &[(usize, u32)]) -> Bytes {
        let mut bytes = [0; Record::BYTES];
        for &(at, value) in [(16, sequence)].iter().chain(words) {
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        bytes[56] = kind;
        bytes
    }

    /// Values of a call, of these types.
    fn values(sequence: u32, types: &[u8], values: &[u32]) -> Bytes {
        let words: Vec<_> = values.iter().enumerate().map(|(at, value)| (24 + 4 * at, *value)).collect();
        let mut bytes = record(sequence, 36, &words);
        bytes[..types.len()].copy_from_slice(types);
        bytes
    }

    /// A call at 1 ms that takes 9 ns.
    fn call(sequence: u32, kind: u8, values: u32, words: &[(usize, u32)]) -> Bytes {
        record(sequence, kind, &[&[(0, 1_000_000), (8, 9), (12, values), (24, 1000)], words].concat())
    }

    /// A packet arrives and leaves: time, hashes of destination, source and flow, and the dithering of the quantum.
    fn log() -> Vec<Bytes> {
        vec![
            record(0, 35, &[(20, Record::NONE)]),
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
}
