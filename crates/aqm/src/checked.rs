use aqmlab_units::{Span, Time};

use crate::{AckFields, Backlog, Dequeue, DropReason, Gauge, Host, Logged, Meta, Packet, Qdisc};

/// A wrapper that checks the invariants of all disciplines after every call.
///
/// * received = dropped + queued + departed, in packets and in bytes;
/// * time does not run backwards;
/// * each packet comes back once, and is one that went in (payloads must be numbered 0, 1, 2, ...);
/// * packets depart in order where `decides_at_arrival` is true;
/// * gauges named `p` or `p_...` are probabilities, and an average is neither negative nor NaN.
///
/// # Panics
/// Each method, when a check fails.
#[derive(Clone, Debug)]
pub struct Checked<Q> {
    inner: Q,
    inside: Vec<bool>,
    received: Tally,
    dropped: Tally,
    departed: Tally,
    last_departed: Option<u32>,
    last_now: Time,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    packets: u64,
    bytes: u64,
}

impl Tally {
    fn add(&mut self, meta: &Meta) {
        self.packets += 1;
        self.bytes += u64::from(meta.bytes);
    }
}

impl<Q: Qdisc<u32>> Checked<Q> {
    /// Wraps a fresh discipline.
    pub fn new(inner: Q) -> Self {
        Self {
            inner,
            inside: Vec::new(),
            received: Tally::default(),
            dropped: Tally::default(),
            departed: Tally::default(),
            last_departed: None,
            last_now: Time::ZERO,
        }
    }

    /// The discipline itself.
    pub fn inner_mut(&mut self) -> &mut Q {
        &mut self.inner
    }

    fn leave(inside: &mut [bool], packet: &Packet<u32>) {
        let was_inside = inside.get_mut(packet.payload as usize).map(|b| core::mem::replace(b, false));
        assert_eq!(was_inside, Some(true), "packet {} left but was not inside", packet.payload);
    }

    fn check(&self) {
        let Backlog { packets, bytes } = self.inner.backlog();
        let gone = self.dropped.packets + self.departed.packets;
        assert_eq!(self.received.packets, gone + u64::from(packets), "packets are conserved");
        let gone = self.dropped.bytes + self.departed.bytes;
        assert_eq!(self.received.bytes, gone + bytes, "bytes are conserved");
        self.inner.gauges(self.last_now, &mut |gauge, value| match gauge.name() {
            "average" => assert!(value >= 0.0, "average {value}"),
            p if p == "p" || p.starts_with("p_") => assert!((0.0..=1.0).contains(&value), "{p} {value}"),
            _ => {}
        });
    }

    fn tick(&mut self, now: Time) {
        assert!(now >= self.last_now, "time runs backwards");
        self.last_now = now;
    }
}

/// Forward all calls to the host, and record the packets that are dropped or marked.
struct Watching<'a, H> {
    host: &'a mut H,
    inside: &'a mut [bool],
    dropped: &'a mut Tally,
}

impl<H: Host<u32>> Host<u32> for Watching<'_, H> {
    fn hosts(&mut self, packet: &Packet<u32>) -> [u32; 2] {
        self.host.hosts(packet)
    }

    fn left(&mut self, packet: &Packet<u32>, queue: &'static str) {
        self.host.left(packet, queue);
    }

    fn ack_fields(&mut self, packet: &Packet<u32>) -> Option<AckFields> {
        self.host.ack_fields(packet)
    }

    fn logged(&mut self, packet: &Packet<u32>) -> Option<Logged> {
        self.host.logged(packet)
    }

    fn clock(&mut self, now: Time) -> Time {
        self.host.clock(now)
    }

    fn keyed_hash(&mut self, flow: u32, key: &mut Option<u64>) -> u32 {
        self.host.keyed_hash(flow, key)
    }

    fn new_key(&mut self, key: &mut Option<u64>) {
        self.host.new_key(key);
    }

    fn uniform(&mut self) -> f64 {
        self.host.uniform()
    }

    fn below(&mut self, n: u64) -> u64 {
        self.host.below(n)
    }

    fn dropped(&mut self, packet: Packet<u32>, reason: DropReason) {
        Checked::<crate::DropTail<u32>>::leave(self.inside, &packet);
        self.dropped.add(&packet.meta);
        self.host.dropped(packet, reason);
    }

    fn marked(&mut self, packet: &Packet<u32>, reason: DropReason) {
        assert_eq!(packet.meta.header.ecn(), crate::Ecn::Ce, "a marked packet carries the mark");
        self.host.marked(packet, reason);
    }
}

impl<Q: Qdisc<u32>> Qdisc<u32> for Checked<Q> {
    fn enqueue(&mut self, now: Time, packet: Packet<u32>, host: &mut impl Host<u32>) {
        self.tick(now);
        assert_eq!(packet.payload as usize, self.inside.len(), "payloads are numbered in order of arrival");
        self.inside.push(true);
        self.received.add(&packet.meta);
        let mut watching = Watching { host, inside: &mut self.inside, dropped: &mut self.dropped };
        self.inner.enqueue(now, packet, &mut watching);
        self.check();
    }

    fn dequeue(&mut self, now: Time, host: &mut impl Host<u32>) -> Dequeue<u32> {
        self.tick(now);
        let mut watching = Watching { host, inside: &mut self.inside, dropped: &mut self.dropped };
        let answer = self.inner.dequeue(now, &mut watching);
        if let Dequeue::Packet(packet) = &answer {
            Self::leave(&mut self.inside, packet);
            self.departed.add(&packet.meta);
            if self.inner.decides_at_arrival() {
                assert!(self.last_departed.is_none_or(|last| last < packet.payload), "departs in order");
            }
            self.last_departed = Some(packet.payload);
        }
        self.check();
        answer
    }

    fn not_before(&self, now: Time) -> Option<Time> {
        self.inner.not_before(now)
    }

    fn is_timed(&self) -> bool {
        self.inner.is_timed()
    }

    fn next_timer(&self) -> Option<Time> {
        let timer = self.inner.next_timer();
        assert!(self.inner.is_timed() || timer.is_none(), "a discipline without a timer");
        timer
    }

    fn on_timer(&mut self, now: Time, host: &mut impl Host<u32>) {
        self.tick(now);
        let mut watching = Watching { host, inside: &mut self.inside, dropped: &mut self.dropped };
        self.inner.on_timer(now, &mut watching);
        self.check();
    }

    fn on_answer(&mut self, now: Time, delay: Span) {
        self.inner.on_answer(now, delay);
    }

    fn backlog(&self) -> Backlog {
        self.inner.backlog()
    }

    fn gauges(&self, now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        self.inner.gauges(now, out);
    }

    fn decides_at_arrival(&self) -> bool {
        self.inner.decides_at_arrival()
    }
}
