//! Replay of the log of a tap: the calls and the state of an unchanged discipline of Linux.

use aqmlab_units::Time;

use super::log::{At, Difference, Replayed};
use super::record::{Record, word};
use crate::disciplines::LinuxState;
use crate::{
    Backlog, Dequeue, Discipline, DropReason, Ecn, Header, Host, Meta, NonRed, Packet, Qdisc, Resolved,
};

/// Picoseconds of a tick of Linux's CoDel.
const TICK_PS: u64 = 1024 * 1000;

/// A record of a tap: 64 bytes, little endian, with the kinds from 16 on.
///
/// `python/aqmlab/interop/kernel/module/tap.h` is the same in C, with the meaning of each field.
#[derive(Clone, Copy, Debug)]
pub(super) struct TapRecord {
    pub time_ns: u64,
    span_ns: u32,
    tick: u32,
    pub sequence: u32,
    packet: u32,
    bytes: u32,
    flow: u32,
    backlog: Backlog,
    pub kind: TapKind,
    outcome: u8,
    tos: u8,
    state: LinuxState,
    pub instance: u8,
}

/// The kind of event that a record of a tap describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TapKind {
    Arrival,
    Departure,
    Empty,
    Reset,
}

impl TapRecord {
    /// Read a record; `None` if its kind is unknown.
    pub fn read(bytes: &[u8; Record::BYTES]) -> Option<Self> {
        let kind = match bytes[56] {
            16 => TapKind::Arrival,
            17 => TapKind::Departure,
            18 => TapKind::Empty,
            19 => TapKind::Reset,
            _ => return None,
        };
        Some(Self {
            time_ns: u64::from(word(bytes, 0)) | u64::from(word(bytes, 4)) << 32,
            span_ns: word(bytes, 8),
            tick: word(bytes, 12),
            sequence: word(bytes, 16),
            packet: word(bytes, 20),
            bytes: word(bytes, 24),
            flow: word(bytes, 28),
            backlog: Backlog { packets: word(bytes, 48), bytes: word(bytes, 52).into() },
            kind,
            outcome: bytes[57],
            tos: bytes[59],
            state: LinuxState {
                first_above: word(bytes, 32),
                drop_next: word(bytes, 36),
                count: word(bytes, 40),
                last_count: word(bytes, 44),
                rec_inv_sqrt: u16::from_le_bytes([bytes[60], bytes[61]]),
                dropping: bytes[62] != 0,
            },
            instance: bytes[63],
        })
    }

    /// Return the time that the discipline read, in ticks of 64 bits; `None` if it is not between the clock's readings before
    /// and after its call.
    fn ticks(&self) -> Option<u64> {
        let first = self.time_ns >> 10;
        let ticks = first + u64::from(self.tick.wrapping_sub(first as u32));
        (ticks <= (self.time_ns + u64::from(self.span_ns)) >> 10).then_some(ticks)
    }
}

/// A queue whose packets are numbered in the order of arrival.
pub(super) struct TappedQueue {
    discipline: Discipline<u32>,
    arrived: u32,
    /// State of both before the last record.
    before: LinuxState,
}

impl TappedQueue {
    /// Create an empty queue, and compare its settings with those of the discipline in the kernel.
    pub fn new(queue: &Resolved, record: &TapRecord, at: At) -> Result<Self, Difference> {
        let new = Self { discipline: queue.build(), arrived: 0, before: LinuxState::default() };
        let Discipline::NonRed(found) = &new.discipline else {
            return Err(at.difference("discipline", &"codel", &"another one"));
        };
        let NonRed::CoDel(codel) = found.as_ref() else {
            return Err(at.difference("discipline", &"codel", &"another one"));
        };
        let Some(settings) = codel.linux_settings() else {
            return Err(at.difference("dialect", &"linux, limit in packets", &"another one"));
        };
        let LinuxState { first_above, drop_next, count, last_count, dropping, .. } = record.state;
        let logged = [first_above, drop_next, count, last_count, dropping.into()];
        let names = ["target", "interval", "limit", "max_packet", "ecn"];
        for ((name, logged), own) in names.into_iter().zip(logged).zip(settings) {
            at.compare(name, u64::from(logged), own)?;
        }
        // The record of settings has the threshold in place of a packet's length, and 1 as its outcome where it is off.
        let ce_threshold = codel.linux_ce_threshold();
        let logged = (record.outcome == 0).then_some(u64::from(record.bytes));
        let text = |ticks: Option<u64>| ticks.map_or_else(|| "off".to_owned(), |ticks| ticks.to_string());
        at.compare("ce_threshold", text(logged), text(ce_threshold))?;
        Ok(new)
    }

    /// Repeat a call and compare its outcome, then the state. A difference has the states before and after.
    pub fn step(&mut self, record: &TapRecord, replayed: &mut Replayed, at: At) -> Result<(), Difference> {
        let ticks = record.ticks().ok_or_else(|| {
            let clock = format!("{} to {} ns", record.time_ns, record.time_ns + u64::from(record.span_ns));
            at.difference("tick", &record.tick, &clock)
        })?;
        let now =
            Time(ticks.checked_mul(TICK_PS).ok_or_else(|| at.difference("time", &ticks, &"213.5 days"))?);
        let mut host = Notes::default();
        let done = match record.kind {
            TapKind::Arrival => self.arrival(now, record, &mut host, at),
            _ => self.departure(now, record, &mut host, at),
        };
        let state = self.state();
        let found = done
            .and_then(|()| at.compare("waiting", record.backlog.packets, self.discipline.backlog().packets))
            .and_then(|()| at.compare("backlog", record.backlog.bytes, self.discipline.backlog().bytes))
            .and_then(|()| at.compare("state", record.state, state));
        found.map_err(|difference| difference.with_states(&self.before, &record.state, &state))?;
        self.before = state;
        replayed.decisions += u64::from(record.kind != TapKind::Empty);
        replayed.marks += host.marks;
        replayed.drops += host.drops;
        Ok(())
    }

    fn state(&self) -> LinuxState {
        match &self.discipline {
            Discipline::NonRed(found) => match found.as_ref() {
                NonRed::CoDel(codel) => codel.linux().unwrap_or_default(),
                _ => LinuxState::default(),
            },
            _ => LinuxState::default(),
        }
    }

    fn arrival(&mut self, now: Time, record: &TapRecord, host: &mut Notes, at: At) -> Result<(), Difference> {
        at.compare("packet", record.packet, self.arrived)?;
        self.arrived = self.arrived.wrapping_add(1);
        let header = Header::default().with_dscp(record.tos >> 2).with_ecn(Ecn::from_bits(record.tos));
        let meta = Meta { arrival: now, bytes: record.bytes, flow: record.flow, header };
        self.discipline.enqueue(now, Packet { meta, payload: record.packet }, host);
        at.compare("dropped at the arrival", u64::from(record.outcome), host.drops)
    }

    fn departure(
        &mut self,
        now: Time,
        record: &TapRecord,
        host: &mut Notes,
        at: At,
    ) -> Result<(), Difference> {
        let (packet, ecn) = match self.discipline.dequeue(now, host) {
            Dequeue::Packet(packet) => (packet.payload, packet.meta.header.ecn()),
            Dequeue::Empty | Dequeue::NotBefore(_) => (Record::NONE, Ecn::NotEct),
        };
        at.compare("departure", record.packet, packet)?;
        let logged = Ecn::from_bits(record.tos);
        at.compare("ECN field", format!("{logged:?}"), format!("{ecn:?}"))
    }
}

/// Counts drops and marks. CoDel draws no random numbers.
#[derive(Default)]
struct Notes {
    drops: u64,
    marks: u64,
}

impl Host<u32> for Notes {
    fn uniform(&mut self) -> f64 {
        0.5
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::red::part::tests::LINK;
    use crate::replay::replay_log;
    use crate::{Spec, Value};

    const LATER: u32 = 1_000_000;

    fn codel() -> Resolved {
        codel_marking(None)
    }

    fn codel_marking(ce_threshold: Option<f64>) -> Resolved {
        let mut spec = Spec::new("codel").expect("a preset");
        spec.set("dialect", Value::Word("linux".into())).expect("a parameter");
        if let Some(seconds) = ce_threshold {
            spec.set("ce_threshold", Value::Seconds(seconds)).expect("a parameter");
        }
        spec.resolve(LINK).expect("a queue")
    }

    /// A record at a tick, 7 ns after it began.
    fn record(sequence: u32, kind: u8, tick: u32, packet: u32) -> [u8; Record::BYTES] {
        let mut bytes = [0; Record::BYTES];
        let words = [(12, tick), (16, sequence), (20, packet), (24, 1000)];
        bytes[..8].copy_from_slice(&(u64::from(tick) * 1024 + 7).to_le_bytes());
        for (at, value) in words {
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        bytes[56] = kind;
        bytes
    }

    fn with(mut record: [u8; Record::BYTES], words: &[(usize, u32)]) -> [u8; Record::BYTES] {
        for &(at, value) in words {
            record[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        record
    }

    fn reset() -> [u8; Record::BYTES] {
        let mut bytes =
            with(record(0, 19, LATER, Record::NONE), &[(32, 4882), (36, 97_656), (40, 1000), (44, 1514)]);
        bytes[57] = 1;
        bytes
    }

    fn reset_with_threshold(ticks: u32) -> [u8; Record::BYTES] {
        let mut bytes = with(reset(), &[(24, ticks)]);
        bytes[57] = 0;
        bytes
    }

    fn log() -> Vec<[u8; Record::BYTES]> {
        vec![
            reset(),
            with(record(1, 16, LATER + 1, 0), &[(48, 1), (52, 1000)]),
            with(record(2, 16, LATER + 2, 1), &[(48, 2), (52, 2000)]),
            with(record(3, 16, LATER + 3, 2), &[(48, 3), (52, 3000)]),
            // 6000 ticks are above the target of 4882: the interval begins.
            with(record(4, 17, LATER + 6001, 0), &[(32, LATER + 6001 + 97_656), (48, 2), (52, 2000)]),
            with(record(5, 17, LATER + 6002, 1), &[(48, 1), (52, 1000)]),
        ]
    }

    #[test]
    fn equal_calls_and_states() {
        let replayed = replay_log(&codel(), &[0; 64], &log().concat());
        assert_eq!(replayed, Ok(Replayed { records: 6, decisions: 5, marks: 0, drops: 0 }));
    }

    #[test]
    fn the_threshold_of_marks_is_compared_and_marks() {
        // 6 ms are 5859 ticks: packet 0 has ECT(1) and waited 6000 ticks, packet 1 ECT(0) and as many.
        let mut log = log();
        log[0] = reset_with_threshold(5859);
        for (at, tos) in [(1, 0b01), (2, 0b10), (4, 0b11), (5, 0b11)] {
            log[at][59] = tos;
        }
        let found = replay_log(&codel_marking(Some(0.006)), &[0; 64], &log.concat());
        assert_eq!(found, Ok(Replayed { records: 6, decisions: 5, marks: 2, drops: 0 }));
        log[5][59] = 0b10;
        let found = replay_log(&codel_marking(Some(0.006)), &[0; 64], &log.concat()).expect_err("a mark");
        assert_eq!((found.record, found.what), (5, "ECN field"));
        let found = replay_log(&codel(), &[0; 64], &log.concat()).expect_err("another threshold");
        assert_eq!(
            (found.what, found.logged.as_str(), found.replayed.as_str()),
            ("ce_threshold", "5859", "off")
        );
    }

    #[test]
    fn differences_have_both_states() {
        let mut log = log();
        log[4] = with(log[4], &[(32, LATER + 6002 + 97_656)]);
        let found = replay_log(&codel(), &[0; 64], &log.concat()).expect_err("a difference");
        assert_eq!((found.record, found.what), (4, "state"));
        assert!(found.logged.contains("first_above 1103658"), "{}", found.logged);
        assert!(found.replayed.contains("first_above 1103657"), "{}", found.replayed);
    }

    #[test]
    fn settings_order_and_clock_are_compared() {
        for (at, changed, what) in [
            (0, with(log()[0], &[(36, 97_657)]), "interval"),
            // A threshold of marks in the kernel, where the queue has none.
            (0, reset_with_threshold(5859), "ce_threshold"),
            (4, with(log()[4], &[(20, 1)]), "departure"),
            (4, with(log()[4], &[(12, LATER + 6002)]), "tick"),
            (3, with(log()[3], &[(52, 2999)]), "backlog"),
            (1, with(log()[1], &[(16, 2)]), "sequence"),
        ] {
            let mut log = log();
            log[at] = changed;
            let found = replay_log(&codel(), &[0; 64], &log.concat()).expect_err(what);
            assert_eq!((found.record, found.what), (at as u64, what));
        }
    }
}
