use aqmlab_units::Time;

use crate::Packet;

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// At random, by a probability below 1.
    Early,
    /// Because the average is so high that the drop probability is 1.
    Forced,
    /// Because the buffer is full.
    Overflow,
}

impl DropReason {
    /// Return the reason as a word, as in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Early => "early",
            Self::Forced => "forced",
            Self::Overflow => "overflow",
        }
    }
}

/// Why a packet was marked (ECN, RFC 3168).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkReason {
    /// In place of an early drop.
    Early,
    /// In place of a forced drop.
    Forced,
}

/// The environment of a discipline: provides random numbers, and receives dropped and marked packets.
pub trait Host<P> {
    /// Return the next random number, uniform on [0, 1).
    fn uniform(&mut self) -> f64;
    /// Return the next random integer, uniform on 0 to n - 1; `n` is at least 1.
    fn below(&mut self, n: u64) -> u64;
    /// Receive a dropped packet.
    fn dropped(&mut self, packet: Packet<P>, reason: DropReason);
    /// Note that the ECN field of a packet was set to CE; the packet stays in the queue.
    fn marked(&mut self, packet: &Packet<P>, reason: MarkReason);
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

/// The state that a discipline shows in probes and tables.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct State {
    /// The average by which congestion is measured, in packets.
    pub average: f64,
    /// Probability that the curve gives for that average, before spacing.
    pub p_b: f64,
}

/// State of the spacing of drops and marks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpacingState {
    /// Probability that the last arrival was dropped or marked, for a packet of mean size; `None` if the rule has no
    /// probability, as in Linux.
    pub p_a: Option<f64>,
    /// Arrivals since the last drop or mark; -1 below min_th.
    pub count: i64,
}

/// A queue discipline. It owns its packets and returns every one exactly once, to the link or to the host.
///
/// `now` never decreases from call to call. The link calls [`Qdisc::dequeue`] at every end of service and after an arrival at
/// an idle link. If the result is [`Dequeue::Empty`], the idle time begins.
pub trait Qdisc<P> {
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
        self.enqueue(now, *packet, host);
        match self.dequeue(now, host) {
            Dequeue::Packet(next) => {
                *packet = next;
                true
            }
            Dequeue::Empty | Dequeue::NotBefore(_) => false,
        }
    }

    /// Note that the link is idle from `now` on: [`Qdisc::dequeue`] at the end of a service with an empty queue.
    #[inline]
    fn on_idle(&mut self, now: Time, host: &mut impl Host<P>) {
        self.dequeue(now, host);
    }

    /// Return the time of the next call of [`Qdisc::on_timer`], if any.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// Handle the timer at the time that [`Qdisc::next_timer`] returned.
    fn on_timer(&mut self, _now: Time, _host: &mut impl Host<P>) {}

    /// Return the packets and bytes waiting.
    fn backlog(&self) -> Backlog;

    /// Return the average and p_b, as probes and tables show them.
    fn state(&self) -> State {
        State::default()
    }

    /// Return the average of [`Qdisc::state`] only.
    fn average(&self) -> f64 {
        self.state().average
    }

    /// Return the state of the spacing of drops, if the discipline has one; with several classes, that of the last.
    fn spacing_state(&self) -> Option<SpacingState> {
        None
    }

    /// Report further gauges as named numbers, always the same names in the same order.
    fn gauges(&self, _now: Time, _out: &mut dyn FnMut(&'static str, f64)) {}

    /// Return warnings about settings that are allowed but probably not intended, one line each.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Return whether every accepted packet leaves by the link, in the order of acceptance, as soon as the link is free. An
    /// engine may then compute departures at arrival, and call `dequeue` later with the correct `now`.
    fn departs_in_order(&self) -> bool;
}
