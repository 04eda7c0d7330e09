use aqmlab_units::{Span, Time};

use crate::acknowledgement::AckFields;
use crate::red::AVERAGE;
use crate::{Meta, Packet, Resolved, TinStats, Verdict};

/// The class of a reason, by which statistics compare disciplines whose own reasons differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropClass {
    /// The discipline chose this packet to signal congestion, by chance or by a control law.
    Early,
    /// The discipline rejects every such packet at present, although the buffer has room.
    Forced,
    /// The buffer is full.
    Overflow,
    /// It is no decision about congestion: the link is down, or the packet is sent another way. No other counter has these packets.
    Route,
}

impl DropClass {
    /// Return the class as a word, as in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Early => "early",
            Self::Forced => "forced",
            Self::Overflow => "overflow",
            Self::Route => "route",
        }
    }
}

/// Why a discipline dropped a packet, or marked it in place of a drop (ECN, RFC 3168): its own name for the reason, and
/// the class of the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropReason(&'static (&'static str, DropClass));

impl DropReason {
    /// For disciplines that have only one reason of class [`DropClass::Early`].
    pub const EARLY: Self = Self::new(&(DropClass::Early.name(), DropClass::Early));
    /// For disciplines that have only one reason of class [`DropClass::Forced`].
    pub const FORCED: Self = Self::new(&(DropClass::Forced.name(), DropClass::Forced));
    /// The buffer is full.
    pub const OVERFLOW: Self = Self::new(&(DropClass::Overflow.name(), DropClass::Overflow));

    /// Define a reason. The name is in lower case, with hyphens, and differs from all other reasons of the discipline.
    pub const fn new(name_and_class: &'static (&'static str, DropClass)) -> Self {
        Self(name_and_class)
    }

    /// Return the discipline's name for the reason, as in tables and JSON.
    pub const fn name(self) -> &'static str {
        self.0.0
    }

    /// Return the class.
    pub const fn class(self) -> DropClass {
        self.0.1
    }
}

/// Values of a packet that a kernel computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Logged {
    /// Hash of the flow.
    pub flow: u32,
    /// Hashes of the source host and of the destination host.
    pub hosts: [u32; 2],
    /// Bytes of memory that the packet takes.
    pub memory: u32,
}

/// The environment of a discipline: provides random numbers, and receives dropped and marked packets.
pub trait Host<P> {
    /// Return the next random number, uniform on [0, 1).
    fn uniform(&mut self) -> f64;
    /// Return the next random integer, uniform on 0 to n - 1; `n` is at least 1.
    fn below(&mut self, n: u64) -> u64;
    /// Receive a dropped packet.
    fn dropped(&mut self, packet: Packet<P>, reason: DropReason);
    /// Note that the ECN field of a packet was set to CE in place of a drop for `reason`; the packet is not dropped.
    fn marked(&mut self, packet: &Packet<P>, reason: DropReason);
    /// Return the numbers of the packet's source host and destination host. Where hosts are not known, each flow has hosts of its own.
    fn hosts(&mut self, packet: &Packet<P>) -> [u32; 2] {
        [packet.meta.flow; 2]
    }
    /// Return the fields of a packet that is an acknowledgement; `None` where they are not known.
    fn ack_fields(&mut self, _packet: &Packet<P>) -> Option<AckFields> {
        None
    }
    /// Return the kernel's values for a packet of a replayed log; they replace the values that the discipline computes itself.
    fn logged(&mut self, _packet: &Packet<P>) -> Option<Logged> {
        None
    }
    /// Return the time when the discipline reads the clock again in a call that began at `now`: a kernel's clock has gone on.
    fn clock(&mut self, now: Time) -> Time {
        now
    }
    /// Return the hash of a flow under a key; draw the key first if it is `None`.
    fn keyed_hash(&mut self, flow: u32, key: &mut Option<u64>) -> u32 {
        let key = *key.get_or_insert_with(|| self.below(1 << 53));
        crate::disciplines::keyed_hash(flow, key)
    }
    /// Replace the key of a hash by another one.
    fn new_key(&mut self, key: &mut Option<u64>) {
        *key = None;
    }
    /// Note that [`Qdisc::dequeue`] returns this packet from the queue of this name, of a discipline with several queues of different service.
    fn left(&mut self, _packet: &Packet<P>, _queue: &'static str) {}
}

/// Packets and bytes waiting, without the packet in transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets waiting.
    pub packets: u32,
    /// Bytes waiting.
    pub bytes: u64,
}

impl Backlog {
    /// Add a packet of this length.
    #[inline]
    pub(crate) fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    /// Remove a packet of this length.
    #[inline]
    pub(crate) fn take(&mut self, bytes: u32) {
        self.packets -= 1;
        self.bytes -= u64::from(bytes);
    }
}

/// The answer to a request for the next packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dequeue<P> {
    /// The packet to transmit now.
    Packet(Packet<P>),
    /// Nothing is waiting.
    Empty,
    /// Packets are waiting, but none may leave before this time.
    NotBefore(Time),
}

/// The name of a gauge, a number that a discipline publishes about its state or its last decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gauge {
    /// The state of the discipline. Probes sample it.
    State(&'static str),
    /// The last decision about an arrival. It changes with every arrival, so that probes do not sample it; a running link
    /// shows it.
    Decision(&'static str),
}

impl Gauge {
    /// Return the name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::State(name) | Self::Decision(name) => name,
        }
    }
}

/// A computation with a discipline whose type its caller does not know.
pub trait Visitor<P> {
    /// The result.
    type Output;

    /// Compute it.
    fn visit<Q: Qdisc<P> + Clone + Send + Sync + 'static>(self, discipline: Q) -> Self::Output;
}

/// A queue discipline. It owns its packets and returns every one exactly once, to the link or to the host.
///
/// `now` never decreases from call to call. The link calls [`Qdisc::dequeue`] at every end of service and after an arrival at
/// an idle link. If the result is [`Dequeue::Empty`], the idle time begins.
pub trait Qdisc<P> {
    /// Whether [`Qdisc::decide`] and [`Qdisc::leaves`] read more of a packet than arrival, length and the part of the header that the packet
    /// carries ([`Header::own`](crate::Header::own)): the flow label, the class of the source, times to live.
    const READS_FLOW: bool = true;

    /// Enqueue a packet that arrives at `now`. This may drop or mark any packets of the queue.
    fn enqueue(&mut self, now: Time, packet: Packet<P>, host: &mut impl Host<P>);

    /// Return the next packet to transmit; its service starts at `now`.
    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P>;

    /// Call [`Qdisc::enqueue`] for a packet that finds an idle link and an empty queue, then [`Qdisc::dequeue`]. Return whether
    /// there is a packet to transmit; it is then in `packet`.
    #[inline]
    fn enqueue_dequeue(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool
    where
        P: Copy,
    {
        self.enqueue_from(now, packet, host);
        self.dequeue_into(now, packet, host)
    }

    /// [`Qdisc::enqueue`] without a copy of the packet, whose header it may change.
    #[inline]
    fn enqueue_from(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>)
    where
        P: Copy,
    {
        self.enqueue(now, *packet, host);
    }

    /// [`Qdisc::dequeue`] to `packet`, without further copies. Return whether there is a packet to transmit.
    #[inline]
    fn dequeue_into(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool
    where
        P: Copy,
    {
        match self.dequeue(now, host) {
            Dequeue::Packet(next) => {
                *packet = next;
                true
            }
            Dequeue::Empty | Dequeue::NotBefore(_) => false,
        }
    }

    /// Return the time before which no packet may leave, if packets wait and [`Qdisc::dequeue_into`] has returned none at `now`; `None` from
    /// a discipline that is work-conserving.
    fn not_before(&self, _now: Time) -> Option<Time> {
        None
    }

    /// Note that the link is idle from `now` on: [`Qdisc::dequeue`] at the end of a service with an empty queue.
    #[inline]
    fn on_idle(&mut self, now: Time, host: &mut impl Host<P>) {
        self.dequeue(now, host);
    }

    /// Return whether [`Qdisc::next_timer`] may ever return a time.
    fn is_timed(&self) -> bool {
        true
    }

    /// Return the time of the next call of [`Qdisc::on_timer`], if any.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// Handle the timer at the time that [`Qdisc::next_timer`] returned.
    fn on_timer(&mut self, _now: Time, _host: &mut impl Host<P>) {}

    /// Note that the answer of a ping arrives, with its one-way delay over the path of this queue.
    fn on_answer(&mut self, _now: Time, _delay: Span) {}

    /// Return the packets and bytes waiting.
    fn backlog(&self) -> Backlog;

    /// Publish the gauges: always the same names in the same order. Names are the discipline's own.
    fn gauges(&self, _now: Time, _out: &mut dyn FnMut(Gauge, f64)) {}

    /// Return one gauge; `None` if the discipline has none of this name.
    ///
    /// A discipline with a gauge that statistics need at every arrival computes it here without the others.
    fn gauge(&self, now: Time, name: &str) -> Option<f64> {
        find_gauge(self, now, name)
    }

    /// Return the average that judged the last arrival, if the discipline has one: the gauge [`AVERAGE`].
    fn average(&self, now: Time) -> Option<f64> {
        self.gauge(now, AVERAGE)
    }

    /// Report the statistics of tins, if the discipline has tins.
    fn tins(&self, _out: &mut dyn FnMut(TinStats)) {}

    /// Let the counts of [`Qdisc::tins`] begin now: the warm-up is over.
    fn reset_stats(&mut self) {}

    /// Take over settings of the same discipline, and keep queue and state; they hold for all later decisions. The caller has checked that they
    /// differ in nothing else ([`Resolved::can_become`]). Return whether the discipline can do so.
    fn take_settings(&mut self, _settings: &Resolved) -> bool {
        false
    }

    /// Return warnings about settings that are allowed but probably not intended, one line each.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Return whether the discipline decides about each packet at its arrival, and every accepted packet leaves by the link, in the
    /// order of acceptance, as soon as the link is free. A caller may then keep the packets itself, and call [`Qdisc::decide`] and
    /// [`Qdisc::leaves`] in place of [`Qdisc::enqueue`] and [`Qdisc::dequeue`].
    fn decides_at_arrival(&self) -> bool {
        false
    }

    /// Decide about an arriving packet, which the caller then marks or drops ([`Verdict::carry_out`]). If it is accepted, it waits, or its
    /// service starts now if the link `is_free`.
    fn decide(&mut self, _now: Time, _meta: &Meta, _is_free: bool, _host: &mut impl Host<P>) -> Verdict {
        unreachable!("this discipline keeps its packets")
    }

    /// Note that a packet that waited leaves the queue at `now`, since its service starts.
    fn leaves(&mut self, _now: Time, _meta: &Meta) {}

    /// Let a visitor have a discipline that decides at arrivals with the type of its rule, so that no call has to look for it. Then only
    /// [`Qdisc::decide`] and [`Qdisc::leaves`] may be called, not [`Qdisc::enqueue`] and [`Qdisc::dequeue`].
    fn visited_by<V: Visitor<P>>(self, _visitor: V) -> V::Output
    where
        Self: Sized,
        P: Copy + Default + Send + Sync + 'static,
    {
        unreachable!("this discipline keeps its packets")
    }
}

/// Find a gauge among all of a discipline.
#[cold]
pub(crate) fn find_gauge<P>(discipline: &(impl Qdisc<P> + ?Sized), now: Time, name: &str) -> Option<f64> {
    let mut found = None;
    discipline.gauges(now, &mut |gauge, value| {
        if gauge.name() == name {
            found = Some(value);
        }
    });
    found
}
