//! Replay of the log of a module of DualPI2, which decides also about packets that leave.

use super::log::{At, Difference, outcome_name, time_since, verdict_name, verdict_of};
use super::record::{Record, RecordKind};
use crate::disciplines::DualPi2;
use crate::{
    Dequeue, Discipline, DropReason, Ecn, Header, Host, Logged, Meta, NonRed, Packet, Qdisc, Resolved,
};

/// A queue whose packets are numbered in the order of arrival.
pub(super) struct DualPi2Queue {
    queue: DualPi2<u32>,
    start_ns: u64,
    /// Bytes of memory of each packet.
    memory: Vec<u32>,
    /// Records of packets that were dropped as they left, before the next departure.
    discarded: Vec<Record>,
}

impl DualPi2Queue {
    /// Create an empty queue at a time of the log; `None` for any other discipline.
    pub fn new(queue: &Resolved, start_ns: u64) -> Option<Self> {
        let Discipline::NonRed(found) = queue.build() else { return None };
        let NonRed::DualPi2(queue) = *found else { return None };
        Some(Self { queue, start_ns, memory: Vec::new(), discarded: Vec::new() })
    }

    /// Repeat a record and compare its outcome, and the state after it.
    pub fn step(&mut self, record: &Record, at: At) -> Result<(), Difference> {
        let now = time_since(self.start_ns, record, at)?;
        if record.kind == RecordKind::Discard {
            self.discarded.push(*record);
            return Ok(());
        }
        let discarded = std::mem::take(&mut self.discarded);
        let records: Vec<_> = discarded.iter().chain([record]).collect();
        let mut host = Packets::of(&records, &mut self.memory);
        if record.kind == RecordKind::Arrival {
            at.compare("packet", record.packet, host.memory.len() as u32)?;
            at.compare("waiting", record.waiting, Qdisc::<u32>::backlog(&self.queue).packets)?;
            host.memory.push(record.flow);
            let header = Header::default().with_dscp(record.tos >> 2).with_ecn(Ecn::from_bits(record.tos));
            let meta = Meta { arrival: now, bytes: record.bytes, header, ..Meta::default() };
            self.queue.enqueue(now, Packet { meta, payload: record.packet }, &mut host);
        } else {
            self.queue.on_timer(now, &mut host);
            let departed = match self.queue.dequeue(now, &mut host) {
                Dequeue::Packet(packet) => packet.payload,
                Dequeue::Empty | Dequeue::NotBefore(_) => Record::NONE,
            };
            let logged = if record.kind == RecordKind::Departure { record.packet } else { Record::NONE };
            host.compare_discarded(&discarded, at)?;
            at.compare("departure", logged, departed)?;
            at.compare("waiting", record.waiting, Qdisc::<u32>::backlog(&self.queue).packets)?;
        }
        host.compare_last(record, at)?;
        let Some(state) = self.queue.state() else { return Ok(()) };
        at.compare("delay of the last step in ns", record.average, state.delay)?;
        at.compare("base probability", record.p_b, state.p)?;
        at.compare("credit", record.count, state.credit)
    }
}

/// The effect of a decision: number of the packet, verdict and outcome.
type Effect = (u32, u8, u8);

/// Returns the draws of the records of a call, and notes what happens to packets.
struct Packets<'a> {
    draws: Vec<u32>,
    drawn: usize,
    memory: &'a mut Vec<u32>,
    dropped: Vec<Effect>,
    marked: Option<Effect>,
}

impl<'a> Packets<'a> {
    fn of(records: &[&Record], memory: &'a mut Vec<u32>) -> Self {
        let draws = records.iter().flat_map(|record| {
            let count = (record.drawn & (Record::DREW | Record::DREW_VICTIM)).count_ones() as usize;
            [record.draw, record.victim_draw].into_iter().take(count)
        });
        Self { draws: draws.collect(), drawn: 0, memory, dropped: Vec::new(), marked: None }
    }

    /// Compare the packets that were dropped as they left.
    fn compare_discarded(&self, records: &[Record], at: At) -> Result<(), Difference> {
        let text = |effects: &[Effect]| {
            let texts =
                effects.iter().map(|(packet, verdict, _)| format!("{packet} {}", verdict_name(*verdict)));
            texts.collect::<Vec<_>>().join(", ")
        };
        let logged: Vec<_> = records.iter().map(|r| (r.packet, r.verdict, r.outcome)).collect();
        at.compare("packets dropped as they left", text(&logged), text(&self.dropped))
    }

    /// Compare the outcome of the last record's packet, and the number of draws.
    fn compare_last(&self, record: &Record, at: At) -> Result<(), Difference> {
        let own = self.dropped.iter().chain(&self.marked).find(|effect| effect.0 == record.packet);
        let (victim, verdict, outcome) = own.copied().unwrap_or((Record::NONE, 0, 0));
        at.compare("verdict", verdict_name(record.verdict), verdict_name(verdict))?;
        at.compare("outcome", outcome_name(record.outcome), outcome_name(outcome))?;
        at.compare("victim", record.victim, victim)?;
        at.compare("draws", self.draws.len(), self.drawn)
    }
}

impl Host<u32> for Packets<'_> {
    fn uniform(&mut self) -> f64 {
        let draw = self.draws.get(self.drawn).copied().unwrap_or_default();
        self.drawn += 1;
        f64::from(draw) * libm::exp2(-32.0)
    }

    fn below(&mut self, _n: u64) -> u64 {
        0
    }

    fn dropped(&mut self, packet: Packet<u32>, reason: DropReason) {
        self.dropped.push((packet.payload, verdict_of(reason), 2));
    }

    fn marked(&mut self, packet: &Packet<u32>, reason: DropReason) {
        self.marked = Some((packet.payload, verdict_of(reason), 1));
    }

    fn logged(&mut self, packet: &Packet<u32>) -> Option<Logged> {
        let memory = self.memory.get(packet.payload as usize).copied()?;
        Some(Logged { memory, ..Logged::default() })
    }
}

#[cfg(test)]
mod tests {
    use aqmlab_units::{Rate, Span};

    use super::super::{Replayed, replay_log};
    use super::*;
    use crate::{LinkContext, Spec, Value};

    /// Write a record of a packet of 1000 bytes and 2304 bytes of memory.
    fn record(sequence: u32, kind: u8, ms: u64, packet: u32, rest: [u32; 2], last: [u8; 3]) -> [u8; 64] {
        let [waiting, credit] = rest;
        let [verdict, outcome, tos] = last;
        let mut bytes = [0; Record::BYTES];
        bytes[..8].copy_from_slice(&(ms * 1_000_000).to_le_bytes());
        let victim = if outcome > 0 { packet } else { Record::NONE };
        let words =
            [(16, sequence), (20, packet), (24, 1000), (28, 2304), (44, victim), (48, waiting), (52, credit)];
        for (at, word) in words {
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        bytes[56..60].copy_from_slice(&[kind, verdict, outcome, tos]);
        bytes
    }

    /// Two packets of L and one of C, with a buffer for two; the first of L waits for 2 ms, twice the step.
    fn log() -> Vec<[u8; 64]> {
        let start = (-121_120_i32).cast_unsigned();
        vec![
            record(0, 3, 5, Record::NONE, [0, 0], [0, 0, 0]),
            record(1, 0, 6, 0, [0, start], [0, 0, 1]),
            record(2, 0, 7, 1, [1, start], [0, 0, 0]),
            record(3, 0, 7, 2, [2, start], [3, 2, 1]),
            record(4, 1, 8, 0, [1, start + 10_000], [1, 1, 1]),
            record(5, 1, 8, 1, [0, start + 10_000], [0, 0, 0]),
            record(6, 2, 9, Record::NONE, [0, start], [0, 0, 0]),
        ]
    }

    fn replayed(records: &[[u8; 64]]) -> Result<Replayed, Difference> {
        let mut spec = Spec::new("dualpi2").expect("a preset");
        for (key, value) in [("dialect", Value::Word("linux".into())), ("limit", Value::Packets(2.0))] {
            spec.set(key, value).expect("a valid value");
        }
        // Two of the largest packet are more than what waits, but memory has room for it.
        spec.set("memlimit", Value::Bytes(5000)).expect("a valid value");
        let link = LinkContext { rate: Rate(1_000_000_000), delay: Span::ZERO };
        replay_log(&spec.resolve(link).expect("valid"), &[0; 64], &records.concat())
    }

    #[test]
    fn packets_are_decided_about_as_they_arrive_and_leave() {
        let expected = Replayed { records: 7, decisions: 5, marks: 1, drops: 1 };
        assert_eq!(replayed(&log()), Ok(expected));
    }

    #[test]
    fn an_altered_record_is_found() {
        for (at, byte, what) in [
            (1, 20, "packet"),
            (2, 48, "waiting"),
            (3, 57, "verdict"),
            (4, 58, "outcome"),
            (4, 52, "credit"),
            (4, 32, "base probability"),
            (4, 8, "delay of the last step in ns"),
            (4, 20, "departure"),
            (5, 62, "draws"),
            (6, 52, "credit"),
        ] {
            let mut records = log();
            records[at][byte] ^= 1;
            let difference = replayed(&records).expect_err(what);
            assert_eq!((difference.record, difference.what), (at as u64, what));
        }
        let mut records = log();
        records[4][56] = 5;
        assert_eq!(replayed(&records).expect_err("a drop").what, "packets dropped as they left");
    }
}
