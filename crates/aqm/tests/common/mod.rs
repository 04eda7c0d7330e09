//! A host that counts, a link in virtual time, and small tools to read tables.
#![allow(dead_code, reason = "each test file uses its part")]

use aqmlab_aqm::{
    Dequeue, Discipline, DropClass, DropReason, Ecn, Header, Host, LinkContext, Meta, Packet, Qdisc, Spec,
    Value,
};
use aqmlab_units::{Rate, Serializer, Span, Stream, Time};

/// Lends random numbers and counts what it is given.
pub struct Counting {
    pub rng: Stream,
    pub early: u32,
    pub forced: u32,
    pub overflow: u32,
    pub marks: u32,
    pub last_dropped: Option<u32>,
}

impl Counting {
    pub fn new(seed: u64) -> Self {
        Self {
            rng: Stream::new(seed, "test"),
            early: 0,
            forced: 0,
            overflow: 0,
            marks: 0,
            last_dropped: None,
        }
    }

    pub fn drops(&self) -> u32 {
        self.early + self.forced + self.overflow
    }
}

impl Host<u32> for Counting {
    fn uniform(&mut self) -> f64 {
        self.rng.uniform()
    }
    fn below(&mut self, n: u64) -> u64 {
        self.rng.below(n)
    }
    fn dropped(&mut self, packet: Packet<u32>, reason: DropReason) {
        match reason.class() {
            DropClass::Early => self.early += 1,
            DropClass::Forced => self.forced += 1,
            DropClass::Overflow => self.overflow += 1,
            DropClass::Route => {}
        }
        self.last_dropped = Some(packet.payload);
    }
    fn marked(&mut self, _packet: &Packet<u32>, _reason: DropReason) {
        self.marks += 1;
    }
}

/// A gauge of a discipline.
pub fn gauge(queue: &impl Qdisc<u32>, name: &str) -> f64 {
    queue.gauge(Time::ZERO, name).unwrap_or_else(|| panic!("no gauge {name}"))
}

/// A discipline before a link of this rate.
pub fn build(aqm: &str, bps: u64, set: &[(&str, Value)]) -> Discipline<u32> {
    try_build(aqm, bps, set).expect("valid together")
}

/// A discipline before a link of this rate, unless its parameters contradict each other.
pub fn try_build(aqm: &str, bps: u64, set: &[(&str, Value)]) -> Option<Discipline<u32>> {
    let mut spec = Spec::new(aqm).expect("a preset");
    for (key, value) in set {
        spec.set(key, value.clone()).expect("a valid value");
    }
    let link = LinkContext { rate: Rate(bps), delay: Span::from_millis(1) };
    Some(spec.resolve(link).ok()?.build())
}

pub fn packet(number: u32, bytes: u32, ecn: Ecn) -> Packet<u32> {
    Packet {
        meta: Meta { bytes, header: Header::default().with_ecn(ecn), ..Meta::default() },
        payload: number,
    }
}

/// A queue before a link that transmits in virtual time.
pub struct VirtualLink<Q> {
    pub queue: Q,
    serializer: Serializer,
    free_at: Option<Time>,
}

impl<Q: Qdisc<u32>> VirtualLink<Q> {
    pub fn new(queue: Q, bps: u64) -> Self {
        Self { queue, serializer: Serializer::new(Rate(bps)), free_at: None }
    }

    /// Serves up to `now`.
    pub fn serve_until(&mut self, now: Time, host: &mut impl Host<u32>) {
        while let Some(end) = self.free_at
            && end <= now
        {
            self.next(end, host);
        }
    }

    /// An arrival that comes before an end of service of the same instant.
    pub fn arrive_first(&mut self, now: Time, packet: Packet<u32>, host: &mut impl Host<u32>) {
        self.serve_until(Time(now.0 - 1), host);
        self.queue.enqueue(now, packet, host);
        assert!(self.free_at.is_some(), "an arrival at an idle link competes with nothing");
    }

    /// Whether an end of service falls on this instant.
    pub fn ends_at(&mut self, now: Time, host: &mut impl Host<u32>) -> bool {
        self.serve_until(Time(now.0 - 1), host);
        self.free_at == Some(now)
    }

    pub fn arrive(&mut self, now: Time, packet: Packet<u32>, host: &mut impl Host<u32>) {
        self.serve_until(now, host);
        self.queue.enqueue(now, packet, host);
        if self.free_at.is_none() {
            self.next(now, host);
        }
    }

    fn next(&mut self, now: Time, host: &mut impl Host<u32>) {
        self.free_at = match self.queue.dequeue(now, host) {
            Dequeue::Packet(p) => Some(now + self.serializer.transmit(p.meta.bytes)),
            Dequeue::NotBefore(time) => Some(time),
            Dequeue::Empty => None,
        };
    }
}

/// Rows of a table below `tests/data`, as text.
pub fn table(path: &str) -> Vec<std::collections::BTreeMap<String, String>> {
    let path = format!("{}/../../tests/data/{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("a table");
    let mut lines = text.lines();
    let header: Vec<_> = lines.next().expect("a header").split(',').map(str::to_owned).collect();
    lines.map(|l| header.iter().cloned().zip(l.split(',').map(str::to_owned)).collect()).collect()
}

pub fn word(w: &str) -> Value {
    Value::Word(w.into())
}
