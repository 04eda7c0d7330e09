//! Replay of the log of a tap: the calls of an unchanged discipline of Linux, with the times, random numbers and hashes that it got.

use std::collections::VecDeque;

use aqmlab_units::Time;

use super::log::{At, Difference, Replayed};
use super::record::Record;
use super::tap::{Call, CallKind, Reset, Value, codel_state};
use super::tcp::ack_fields;
use crate::disciplines::{Cake, CoDel, JIFFY_PS, LinuxState};
use crate::{
    AckFields, Dequeue, Discipline, DropClass, DropReason, Ecn, Header, Host, Kind, Logged, Meta, NonRed,
    Packet, Qdisc, Resolved,
};

/// Bytes of Ethernet's header and of an IPv4 header without options.
const BEFORE_TCP: u32 = 14 + 20;
/// The return code of an arrival that was dropped (`NET_XMIT_DROP`).
const DROPPED: u8 = 1;
/// The return code of RED and SFB for an arrival that they dropped to signal congestion, and of FQ-CoDel where packets of its queue
/// were dropped (`NET_XMIT_CN`).
const CONGESTED: u8 = 2;

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
    /// Time in jiffies at which a discipline that reads them began.
    jiffies: u32,
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
        let mut new = Self {
            discipline: queue.build(),
            jiffies: reset.jiffies,
            arrived: 0,
            facts: Vec::new(),
            values: VecDeque::new(),
            header: Vec::new(),
            segments: Vec::new(),
            peeked: None,
            dequeues_to_peek: DEQUEUE_TO_PEEK.contains(&reset.name()),
            before: LinuxState::default(),
        };
        if let Discipline::NonRed(found) = &mut new.discipline {
            found.stop_timer();
        }
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
            at.compare("notice of an empty queue", call.false_notice, false)?;
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

    /// Return the time that the discipline read first in a call; where it reads none, the time before the call. Jiffies count from
    /// the reset.
    fn time_of(&mut self, call: &Call, at: At) -> Result<Time, Difference> {
        if let Some(Value::Jiffies(jiffies)) = self.values.front() {
            let since = jiffies.wrapping_sub(self.jiffies);
            self.values.pop_front();
            return Ok(Time(u64::from(since) * JIFFY_PS));
        }
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
        let is_cake = self.cake().is_some();
        let hashes: Vec<u32> = std::iter::from_fn(|| match self.values.front() {
            Some(Value::Hash(hash)) if is_cake => {
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
        for (segment, mut packet) in packets.into_iter().enumerate() {
            if segment > 0 {
                packet.meta.arrival = host.time_of_segment(now);
            }
            self.discipline.enqueue(packet.meta.arrival, packet, &mut host);
        }
        if matches!(self.discipline, Discipline::Red(_)) {
            at.compare("return code", call.outcome, host.code_of_red())?;
        }
        let is_dropped = host.has_dropped.is_some();
        if (is_dropped && !self.hides_drop(host.has_dropped)) || call.outcome == DROPPED {
            let logged = call.outcome != 0;
            at.compare("dropped at the arrival", logged, is_dropped)?;
        }
        let counts = host.end(at)?;
        if let Some(is_congested) = self.is_congested(is_dropped) {
            at.compare("return code is NET_XMIT_CN", call.outcome == CONGESTED, is_congested)?;
        }
        Ok(counts)
    }

    /// Return whether an arrival ends with `NET_XMIT_CN`, of a discipline that returns it.
    fn is_congested(&self, is_dropped: bool) -> Option<bool> {
        let Discipline::NonRed(found) = &self.discipline else { return None };
        match found.as_ref() {
            NonRed::FqCoDel(fq_codel) => Some(fq_codel.has_cut_own()),
            NonRed::Sfb(_) => Some(is_dropped),
            _ => None,
        }
    }

    /// Return whether the return code of an arrival is success though it was dropped: DualPI2's drops by chance.
    fn hides_drop(&self, reason: Option<DropReason>) -> bool {
        let is_by_chance = reason.is_some_and(|reason| reason.class() != DropClass::Overflow);
        let Discipline::NonRed(found) = &self.discipline else { return false };
        is_by_chance && matches!(found.as_ref(), NonRed::DualPi2(_))
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
        if let Discipline::NonRed(found) = &mut self.discipline {
            found.timer(now, &mut host);
        }
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
            Some(_) => CONGESTED,
        }
    }

    /// Return the time that the discipline read for a segment that is not the first one; `now` if it read none.
    fn time_of_segment(&mut self, now: Time) -> Time {
        let read = self.values.iter().position(|value| matches!(value, Value::Time(_)));
        match read.and_then(|place| self.values.remove(place)) {
            Some(Value::Time(after)) => Time((self.before_ns + u64::from(after)) * 1000),
            _ => now,
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

    fn keyed_hash(&mut self, _flow: u32, _key: &mut Option<u64>) -> u32 {
        match self.values.pop_front() {
            Some(Value::Hash(hash)) => hash,
            other => {
                self.lacks("a hash", other);
                0
            }
        }
    }

    fn new_key(&mut self, _key: &mut Option<u64>) {
        // Of 16 bytes.
        for _ in 0..4 {
            match self.values.pop_front() {
                Some(Value::Bytes(_)) => {}
                other => self.lacks("the key of a hash", other),
            }
        }
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
mod tests;
