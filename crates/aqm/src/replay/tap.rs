//! The records of a tap: calls of an unchanged discipline of Linux, and the times, random numbers and hashes that it got from
//! the kernel.

use super::record::{Record, half, word};
use crate::Backlog;
use crate::disciplines::LinuxState;

/// A record of a tap: 64 bytes, little endian, with the kinds from 32 on.
///
/// `python/aqmlab/interop/kernel/module/tap.h` is the same in C, with the meaning of each field.
#[derive(Clone, Copy, Debug)]
pub(super) enum TapRecord {
    Reset(Reset),
    Call(Call),
    /// Values of the next call.
    Values([Option<Value>; 8]),
    /// Bytes of the TCP header of the next packet.
    Header([u8; 32], usize),
    /// State of the discipline after the next call, or its settings before a reset.
    State([u32; 8]),
}

/// The start of a discipline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reset {
    pub time_ns: u64,
    /// Lower 32 bits of the time in jiffies.
    pub jiffies: u32,
    name: [u8; 16],
}

/// A call of the discipline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub kind: CallKind,
    pub time_ns: u64,
    pub span_ns: u32,
    pub values: u32,
    pub packet: u32,
    pub bytes: u32,
    /// The hash of a packet; of a departure from cake its length in the shaper.
    pub flow: u32,
    pub memory: u32,
    segment: u16,
    segments: u16,
    header: u8,
    pub is_hashed: bool,
    pub seq: u32,
    pub backlog: Backlog,
    /// The return code of an arrival.
    pub outcome: u8,
    pub tos: u8,
    /// Packets that the parent counts less those that wait, and whether it counts other bytes.
    pub apart: (i8, bool),
    /// The kernel notified the parent of an empty queue, and a packet waits.
    pub false_notice: bool,
}

/// The kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallKind {
    Arrival,
    Departure,
    Empty,
    Timer,
    /// The parent asks for the next packet, which stays.
    Peek,
}

/// A value that the kernel's discipline got.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    /// In ns after the record's time.
    Time(u32),
    /// Uniform on [0, 1).
    Uniform(f64),
    Hash(u32),
    /// Four bytes at random.
    Bytes(u32),
    /// A number below a bound that the discipline gave.
    Below(u32),
    Jiffies(u32),
}

impl TapRecord {
    /// Read a record without its instance and its sequence number; `None` if its kind is unknown.
    pub fn read(bytes: &[u8; Record::BYTES]) -> Option<Self> {
        let words = || core::array::from_fn(|at| word(bytes, 24 + 4 * at));
        let kind = match bytes[56] {
            32 => CallKind::Arrival,
            33 => CallKind::Departure,
            34 => CallKind::Empty,
            35 => return Some(Self::Reset(Reset::read(bytes))),
            36 => {
                let values: [u32; 8] = words();
                return Some(Self::Values(core::array::from_fn(|at| Value::read(bytes[at], values[at]))));
            }
            37 => {
                let header = core::array::from_fn(|at| bytes[24 + at]);
                return Some(Self::Header(header, word(bytes, 20).min(32) as usize));
            }
            38 => CallKind::Timer,
            40 => CallKind::Peek,
            39 => return Some(Self::State(words())),
            _ => return None,
        };
        Some(Self::Call(Call::read(kind, bytes)))
    }
}

impl Reset {
    fn read(bytes: &[u8; Record::BYTES]) -> Self {
        let name = core::array::from_fn(|at| bytes[24 + at]);
        Self { time_ns: time_ns(bytes), jiffies: word(bytes, 12), name }
    }

    /// Return tc's name of the discipline.
    pub fn name(&self) -> &str {
        let name = self.name.split(|byte| *byte == 0).next().unwrap_or_default();
        core::str::from_utf8(name).unwrap_or("?")
    }
}

fn time_ns(bytes: &[u8; Record::BYTES]) -> u64 {
    u64::from(word(bytes, 0)) | u64::from(word(bytes, 4)) << 32
}

impl Call {
    fn read(kind: CallKind, bytes: &[u8; Record::BYTES]) -> Self {
        Self {
            kind,
            time_ns: time_ns(bytes),
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
            outcome: bytes[57],
            tos: bytes[59],
            apart: (bytes[60] as i8, bytes[61] != 0),
            false_notice: bytes[62] != 0,
        }
    }

    /// Return the bytes of payload of a segment; 0 where the packet has none.
    pub fn segment(&self) -> u32 {
        self.segment.into()
    }

    /// Return the lengths of the packet's segments, or its own.
    pub fn lengths(&self) -> impl Iterator<Item = u32> {
        let Self { bytes, segment, segments, header, .. } = *self;
        let [payload, header] = [u32::from(segment), u32::from(header)];
        let count = if segment == 0 { 1 } else { u32::from(segments).max(1) };
        (0..count).map(move |at| match at + 1 == count {
            true => bytes - payload * at,
            false => header + payload,
        })
    }
}

impl Value {
    fn read(kind: u8, value: u32) -> Option<Self> {
        match kind {
            1 => Some(Self::Time(value)),
            2 => Some(Self::Uniform(f64::from(value) / 65_536.0)),
            3 => Some(Self::Uniform(f64::from(value) / 4_294_967_296.0)),
            4 | 7 => Some(Self::Hash(value)),
            5 => Some(Self::Bytes(value)),
            6 => Some(Self::Below(value)),
            8 => Some(Self::Jiffies(value)),
            _ => None,
        }
    }
}

/// Return the state of CoDel in a record.
pub(super) fn codel_state(words: &[u32; 8]) -> LinuxState {
    let [first_above, drop_next, count, last_count, root, dropping, ..] = *words;
    LinuxState {
        first_above,
        drop_next,
        count,
        last_count,
        rec_inv_sqrt: root as u16,
        dropping: dropping != 0,
    }
}
