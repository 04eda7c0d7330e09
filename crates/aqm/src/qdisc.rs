use aqmlab_units::Time;

use crate::Packet;

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// By chance, from an average between the thresholds.
    Early,
    /// Because the average is so high that every packet must go.
    Forced,
    /// Because the buffer is full.
    Overflow,
}

impl DropReason {
    /// The reason in a word.
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

/// What surrounds a discipline: it lends random numbers and takes what is dropped or marked.
pub trait Host<P> {
    /// The next random number, uniform on [0, 1).
    fn uniform(&mut self) -> f64;
    /// The next random integer, uniform on 0 to n - 1; `n` is at least 1.
    fn below(&mut self, n: u64) -> u64;
    /// Takes a packet that leaves the queue by being dropped.
    fn dropped(&mut self, packet: Packet<P>, reason: DropReason);
    /// Is told of a packet whose ECN field was just set to CE; the packet stays in the queue.
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
    /// A packet of this length has come.
    #[inline]
    pub(crate) fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    /// A packet of this length has gone.
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
    /// Something is waiting that may not leave before this time.
    NotBefore(Time),
}

/// What a discipline shows of its inside.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct State {
    /// The average by which congestion is measured, in packets.
    pub average: f64,
    /// Probability that the curve gives for that average, before spacing.
    pub p_b: f64,
}

/// Where the spacing of drops stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spaced {
    /// Probability that the last arrival had of being dropped or marked, if it was of mean size; none where spacing does
    /// not go by one, as in Linux.
    pub p_a: Option<f64>,
    /// Arrivals since the last drop or mark; -1 below min_th.
    pub count: i64,
}

/// A queue discipline: owns its packets and hands back every one exactly once, to the link or to the host.
///
/// `now` never decreases from call to call. The link calls [`Qdisc::dequeue`] at every end of service and after
/// an arrival at an idle link, also when the answer is [`Dequeue::Empty`]: that is when idleness begins.
pub trait Qdisc<P> {
    /// Takes a packet that arrives at `now`. Any packet, and several, may go to the host in return.
    fn enqueue(&mut self, now: Time, packet: Packet<P>, host: &mut impl Host<P>);

    /// Hands over the next packet to transmit; its service starts at `now`.
    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P>;

    /// [`Qdisc::enqueue`] of a packet that finds a free link and nothing waiting, and [`Qdisc::dequeue`] at once. Whether
    /// there is a packet to transmit now: then `packet` is it.
    #[inline]
    fn pass(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool
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

    /// [`Qdisc::dequeue`] at the end of a service when nothing waits: the link is free from `now` on.
    #[inline]
    fn rest(&mut self, now: Time, host: &mut impl Host<P>) {
        self.dequeue(now, host);
    }

    /// When [`Qdisc::on_timer`] wants to be called next.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// Called at the time that [`Qdisc::next_timer`] gave.
    fn on_timer(&mut self, _now: Time, _host: &mut impl Host<P>) {}

    /// What is waiting.
    fn backlog(&self) -> Backlog;

    /// What is to be seen of the inside.
    fn state(&self) -> State {
        State::default()
    }

    /// The average of [`Qdisc::state`] alone.
    fn average(&self) -> f64 {
        self.state().average
    }

    /// Where the spacing of drops stands, in a discipline that has it; of several classes, the last one's.
    fn spaced(&self) -> Option<Spaced> {
        None
    }

    /// Hands out what else there is to see of the inside, as named numbers; always the same names in the same order.
    fn gauges(&self, _now: Time, _out: &mut dyn FnMut(&'static str, f64)) {}

    /// What the discipline has found to be allowed but probably not meant: a line each.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether a packet that was accepted always leaves by the link, in the order of acceptance, as soon as the
    /// link is free. An engine may then compute departures at arrival and call `dequeue` late, with the right
    /// `now`.
    fn departs_in_order(&self) -> bool;
}
