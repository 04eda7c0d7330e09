use std::collections::BTreeMap;

use aqmlab_units::Time;

use super::dualpi2::DualPi2Queue;
use super::record::{Record, RecordKind, word};
use super::tap::TapRecord;
use super::tapped::TappedQueue;
use crate::red::Red;
use crate::{Dequeue, Discipline, DropClass, DropReason, Ecn, Header, Host, Meta, Packet, Qdisc, Resolved};

/// A log that was replayed without a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Records.
    pub records: u64,
    /// Arrivals, each with a decision; of a tap also departures.
    pub decisions: u64,
    /// Decisions by which a packet was marked.
    pub marks: u64,
    /// Decisions by which a packet was dropped.
    pub drops: u64,
}

/// The first difference between a log and its replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Number of the record in the log, from 0.
    pub record: u64,
    /// Time of the record in ns.
    pub time_ns: u64,
    /// The field that differs.
    pub what: &'static str,
    /// Its value in the log.
    pub logged: String,
    /// Its value in the replay.
    pub replayed: String,
}

/// The priority level of each code point: a module tells the flows of PC-RED by it.
pub type Levels = [u8; 64];

/// Replay the log of a module's decisions with its draws, and compare averages, p_b, verdicts, victims and order of departure
/// bit by bit. Times are counted from the reset.
///
/// The log of a tap is replayed in the dialect of Linux: order of departure, drops, ECN fields, backlog and the state after
/// each call are compared.
///
/// # Errors
/// Return the first difference. A log that is cut or has a gap differs in its `length` or `sequence`.
pub fn replay_log(queue: &Resolved, levels: &Levels, log: &[u8]) -> Result<Replayed, Difference> {
    let mut queues = BTreeMap::new();
    let mut tapped = Tapped::default();
    let mut replayed = Replayed::default();
    for chunk in log.chunks(Record::BYTES) {
        let at = At { record: replayed.records, time_ns: 0 };
        let bytes = <&[u8; Record::BYTES]>::try_from(chunk).ok();
        let bytes = bytes.ok_or_else(|| at.difference("length", &chunk.len(), &Record::BYTES))?;
        if let Some(record) = TapRecord::read(bytes) {
            at.compare("sequence", word(bytes, 16), replayed.records as u32)?;
            step_tapped(queue, &record, bytes[63], &mut tapped, &mut replayed, at)?;
            replayed.records += 1;
            continue;
        }
        let record =
            Record::read(bytes).ok_or_else(|| at.difference("kind", &bytes[56], &"0 to 3, 5 or 32 to 40"))?;
        let at = At { time_ns: record.time_ns, ..at };
        at.compare("sequence", record.sequence, replayed.records as u32)?;
        if record.kind == RecordKind::Reset {
            queues.insert(record.instance, ModuleQueue::new(queue, levels, record.time_ns));
        } else {
            let queue = queues.get_mut(&record.instance).ok_or_else(|| at.no_reset())?;
            let decides = record.kind == RecordKind::Arrival || queue.decides_leaving();
            queue.step(&record, at)?;
            replayed.decisions += u64::from(decides && record.kind != RecordKind::Empty);
            replayed.marks += u64::from(decides && record.outcome == 1);
            replayed.drops += u64::from(decides && record.outcome == 2);
        }
        replayed.records += 1;
    }
    Ok(replayed)
}

/// A queue of a module.
enum ModuleQueue<'a> {
    Red(Queue<'a>),
    DualPi2(Box<DualPi2Queue>),
}

impl<'a> ModuleQueue<'a> {
    fn new(queue: &Resolved, levels: &'a Levels, start_ns: u64) -> Self {
        match DualPi2Queue::new(queue, start_ns) {
            Some(queue) => Self::DualPi2(Box::new(queue)),
            None => Self::Red(Queue::new(queue, levels, start_ns)),
        }
    }

    /// Return whether packets that leave are decided about.
    fn decides_leaving(&self) -> bool {
        matches!(self, Self::DualPi2(_))
    }

    fn step(&mut self, record: &Record, at: At) -> Result<(), Difference> {
        match self {
            Self::Red(queue) => queue.step(record, at),
            Self::DualPi2(queue) => queue.step(record, at),
        }
    }
}

/// Return the time of a record since the reset.
pub(super) fn time_since(start_ns: u64, record: &Record, at: At) -> Result<Time, Difference> {
    let after_reset = record.time_ns.saturating_sub(start_ns);
    let most = u64::MAX / 1000 - 1;
    let allowed = format!("at most {most}, 213.5 days");
    let too_late = || at.difference("time after the reset in ns", &after_reset, &allowed);
    after_reset.checked_mul(1000).filter(|_| after_reset <= most).map(Time).ok_or_else(too_late)
}

/// Queues of taps and their logged states, by instance.
#[derive(Default)]
struct Tapped {
    queues: BTreeMap<u8, TappedQueue>,
    /// After the next call; before a reset the settings.
    states: BTreeMap<u8, [u32; 8]>,
}

/// Repeat a record of a tap.
fn step_tapped(
    queue: &Resolved,
    record: &TapRecord,
    instance: u8,
    tapped: &mut Tapped,
    replayed: &mut Replayed,
    at: At,
) -> Result<(), Difference> {
    let Tapped { queues, states } = tapped;
    let found = queues.get_mut(&instance);
    match (record, found) {
        (TapRecord::Reset(reset), _) => {
            let new = TappedQueue::new(queue, reset, states.remove(&instance), at.of(reset.time_ns))?;
            queues.insert(instance, new);
        }
        (TapRecord::State(words), _) => {
            states.insert(instance, *words);
        }
        (TapRecord::Values(values), Some(queue)) => queue.keep_values(values),
        (TapRecord::Header(bytes, length), Some(queue)) => queue.keep_header(&bytes[..*length]),
        (TapRecord::Call(call), Some(queue)) => {
            queue.step(call, states.remove(&instance), replayed, at.of(call.time_ns))?;
        }
        (_, None) => return Err(at.no_reset()),
    }
    Ok(())
}

impl Difference {
    /// Add the states: that before the record, which log and replay share, and those after it.
    pub(super) fn with_states(
        self,
        before: &impl ToString,
        logged: &impl ToString,
        replayed: &impl ToString,
    ) -> Self {
        let text = |value: &str, after: String| {
            let change = format!("before [{}], after [{after}]", before.to_string());
            if value == after { change } else { format!("{value}; {change}") }
        };
        Self {
            logged: text(&self.logged, logged.to_string()),
            replayed: text(&self.replayed, replayed.to_string()),
            ..self
        }
    }
}

/// The place of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    record: u64,
    time_ns: u64,
}

impl At {
    /// Return the place with the time of its record.
    pub(super) fn of(self, time_ns: u64) -> Self {
        Self { time_ns, ..self }
    }

    fn no_reset(self) -> Difference {
        self.difference("kind", &"no reset", &"a reset first")
    }

    pub(super) fn difference(
        self,
        what: &'static str,
        logged: &impl ToString,
        replayed: &impl ToString,
    ) -> Difference {
        let Self { record, time_ns } = self;
        Difference { record, time_ns, what, logged: logged.to_string(), replayed: replayed.to_string() }
    }

    pub(super) fn compare<T: PartialEq + ToString>(
        self,
        what: &'static str,
        logged: T,
        replayed: T,
    ) -> Result<(), Difference> {
        if logged == replayed { Ok(()) } else { Err(self.difference(what, &logged, &replayed)) }
    }
}

/// A queue whose packets are numbered in the order of arrival.
struct Queue<'a> {
    discipline: Discipline<u32>,
    levels: &'a Levels,
    arrived: u32,
    start_ns: u64,
}

impl<'a> Queue<'a> {
    fn new(queue: &Resolved, levels: &'a Levels, start_ns: u64) -> Self {
        Self { discipline: queue.build(), levels, arrived: 0, start_ns }
    }

    fn red(&self) -> Option<&Red<u32>> {
        match &self.discipline {
            Discipline::Red(red) => Some(red),
            Discipline::DropTail(_) | Discipline::NonRed(_) => None,
        }
    }

    fn step(&mut self, record: &Record, at: At) -> Result<(), Difference> {
        let now = time_since(self.start_ns, record, at)?;
        let mut host = Draws::of(record);
        if record.kind == RecordKind::Arrival {
            return self.arrival(now, record, &mut host, at);
        }
        if record.kind == RecordKind::Discard {
            return Err(at.difference("kind", &"a drop of a packet that leaves", &"a departure"));
        }
        let departed = match self.discipline.dequeue(now, &mut host) {
            Dequeue::Packet(packet) => packet.payload,
            Dequeue::Empty | Dequeue::NotBefore(_) => Record::NONE,
        };
        let logged = if record.kind == RecordKind::Departure { record.packet } else { Record::NONE };
        at.compare("departure", logged, departed)
    }

    fn arrival(&mut self, now: Time, record: &Record, host: &mut Draws, at: At) -> Result<(), Difference> {
        at.compare("packet", record.packet, self.arrived)?;
        at.compare("waiting", record.waiting, self.discipline.backlog().packets)?;
        self.arrived = self.arrived.wrapping_add(1);
        let header = Header::default()
            .with_dscp(record.tos >> 2)
            .with_class(self.levels[usize::from(record.tos >> 2)])
            .with_ecn(Ecn::from_bits(record.tos))
            .with_ttl(record.ttl)
            .with_ttl_initial(record.ttl_initial)
            .with_ttl_final(record.ttl_final());
        let meta = Meta { arrival: now, bytes: record.bytes, flow: record.flow, header };
        self.discipline.enqueue(now, Packet { meta, payload: record.packet }, host);
        let judged = self.red().and_then(|red| red.in_integers(red.class_of(&meta)));
        if let Some(judged) = judged {
            at.compare("average", record.average, judged.average)?;
            at.compare("p_b", record.p_b, judged.p_b.unwrap_or(Record::NONE))?;
        }
        at.compare("verdict", verdict_name(record.verdict), verdict_name(host.verdict))?;
        at.compare("drawn", record.drawn, host.drawn)?;
        at.compare("outcome", outcome_name(record.outcome), outcome_name(host.outcome))?;
        at.compare("victim", record.victim, host.victim)?;
        judged.map_or(Ok(()), |judged| at.compare("count", i64::from(record.count), judged.count))
    }
}

/// Return the name of a verdict.
pub(super) fn verdict_name(number: u8) -> &'static str {
    Record::VERDICTS.get(usize::from(number)).copied().unwrap_or("unknown")
}

/// Return the name of an outcome.
pub(super) fn outcome_name(number: u8) -> &'static str {
    Record::OUTCOMES.get(usize::from(number)).copied().unwrap_or("unknown")
}

/// Return the number of the verdict for which a packet is dropped or marked.
pub(super) fn verdict_of(reason: DropReason) -> u8 {
    match reason.class() {
        DropClass::Early => 1,
        DropClass::Forced => 2,
        DropClass::Overflow => 3,
        DropClass::Route => 4,
    }
}

/// Returns the draws of a record, and notes what happens to packets.
struct Draws {
    draw: u32,
    victim_draw: u32,
    drawn: u8,
    verdict: u8,
    outcome: u8,
    victim: u32,
}

impl Draws {
    fn of(record: &Record) -> Self {
        let Record { draw, victim_draw, .. } = *record;
        Self { draw, victim_draw, drawn: 0, verdict: 0, outcome: 0, victim: Record::NONE }
    }

    fn note(&mut self, packet: &Packet<u32>, reason: DropReason, outcome: u8) {
        self.verdict = verdict_of(reason);
        (self.outcome, self.victim) = (outcome, packet.payload);
    }
}

impl Host<u32> for Draws {
    fn uniform(&mut self) -> f64 {
        self.drawn |= Record::DREW;
        f64::from(self.draw) * libm::exp2(-32.0)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.drawn |= Record::DREW_VICTIM;
        (u64::from(self.victim_draw) * n) >> 32
    }

    fn dropped(&mut self, packet: Packet<u32>, reason: DropReason) {
        self.note(&packet, reason, 2);
    }

    fn marked(&mut self, packet: &Packet<u32>, reason: DropReason) {
        self.note(packet, reason, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;
    use crate::red::part::tests::LINK;

    fn record(sequence: u32, kind: u8, time_ns: u64) -> [u8; Record::BYTES] {
        let mut bytes = [0; Record::BYTES];
        bytes[..8].copy_from_slice(&time_ns.to_le_bytes());
        bytes[16..20].copy_from_slice(&sequence.to_le_bytes());
        bytes[20..24].copy_from_slice(&Record::NONE.to_le_bytes());
        bytes[56] = kind;
        bytes
    }

    #[test]
    fn a_log_ends_before_the_last_time_there_is() {
        let queue = Spec::new("red").and_then(|spec| spec.resolve(LINK).ok()).expect("a queue");
        let empty_after =
            |ns: u64| replay_log(&queue, &[0; 64], &[record(0, 3, 7), record(1, 2, 7 + ns)].concat());
        let most = u64::MAX / 1000 - 1;
        assert_eq!(empty_after(most).map(|replayed| replayed.records), Ok(2));
        let difference = empty_after(most + 1).expect_err("too late");
        assert_eq!((difference.record, difference.what), (1, "time after the reset in ns"));
        assert_eq!(difference.replayed, format!("at most {most}, 213.5 days"));
        assert!(empty_after(u64::MAX - 7).is_err());
    }
}
