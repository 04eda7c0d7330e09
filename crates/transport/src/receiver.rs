use aqmlab_units::Time;

use crate::profile::out_of_line;
use crate::{Ack, Data, PlainAnswer, ReceiverCounters, TcpConfig, Timer, ns2, rfc, scream};

/// A receiver of any profile of TCP, or of media.
#[derive(Clone, Debug)]
pub enum Receiver {
    /// One of ns-2's sinks.
    Ns2(Box<ns2::Receiver>),
    /// By the RFCs.
    Rfc(Box<rfc::Receiver>),
    /// Media over UDP.
    Scream(Box<scream::Receiver>),
}

impl Receiver {
    /// A receiver of TCP that has received nothing. `config` must pass its check; the sender's must be the same.
    pub fn new(config: &TcpConfig) -> Self {
        match config {
            TcpConfig::Ns2(config) => Self::Ns2(Box::new(ns2::Receiver::new(config.clone()))),
            TcpConfig::Rfc(config) => Self::Rfc(Box::new(rfc::Receiver::new(config.clone()))),
        }
    }

    /// Takes a data packet; `ce`: it was marked on its way.
    #[inline]
    pub fn on_data(&mut self, now: Time, data: &Data, ce: bool, out: &mut impl FnMut(Ack)) {
        match self {
            Self::Ns2(receiver) => receiver.on_data(now, data, ce, out),
            Self::Rfc(receiver) => out_of_line(|| receiver.on_data(now, data, ce, out)),
            Self::Scream(receiver) => out_of_line(|| receiver.on_data(now, data, ce, out)),
        }
    }

    /// Take a data packet if its answer is plain, and return the answer. If it is another packet, return `None` and change nothing:
    /// [`Receiver::on_data`] takes it.
    // A browser compiles a function of its own sooner than a larger caller.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn on_plain_data(&mut self, now: Time, data: &Data, ce: bool) -> Option<PlainAnswer> {
        match self {
            Self::Ns2(receiver) => receiver.on_plain_data(now, data, ce),
            Self::Rfc(receiver) => receiver.on_plain_data(now, data, ce),
            Self::Scream(_) => None,
        }
    }

    /// The timer of a held acknowledgement has expired: to be called at its deadline.
    pub fn on_timer(&mut self, now: Time, out: &mut impl FnMut(Ack)) {
        match self {
            Self::Ns2(receiver) => receiver.on_timer(now, out),
            Self::Rfc(receiver) => out_of_line(|| receiver.on_timer(now, out)),
            Self::Scream(receiver) => out_of_line(|| receiver.on_timer(now, out)),
        }
    }

    /// Prefetch the fields that a plain packet needs.
    #[inline]
    pub fn prefetch(&self) {
        match self {
            Self::Ns2(receiver) => receiver.prefetch(),
            Self::Rfc(receiver) => receiver.prefetch(),
            Self::Scream(_) => {}
        }
    }

    /// Return when [`Receiver::timer`] is due; [`Time::NEVER`] without one.
    #[inline]
    pub fn deadline(&self) -> Time {
        match self {
            Self::Ns2(receiver) => Timer::due(receiver.timer()),
            Self::Rfc(receiver) => Timer::due(receiver.timer()),
            Self::Scream(receiver) => Timer::due(receiver.timer()),
        }
    }

    /// The timer of a held acknowledgement, if one is held.
    #[inline]
    pub fn timer(&self) -> Option<Timer> {
        match self {
            Self::Ns2(receiver) => receiver.timer(),
            Self::Rfc(receiver) => receiver.timer(),
            Self::Scream(receiver) => receiver.timer(),
        }
    }

    /// The sequence number that is expected next: everything before it has arrived.
    pub fn expected(&self) -> u32 {
        match self {
            Self::Ns2(receiver) => receiver.expected(),
            Self::Rfc(receiver) => receiver.expected(),
            Self::Scream(receiver) => receiver.expected(),
        }
    }

    /// Return the counters since the start.
    pub fn counters(&self) -> ReceiverCounters {
        match self {
            Self::Ns2(receiver) => receiver.counters(),
            Self::Rfc(receiver) => receiver.counters(),
            Self::Scream(receiver) => receiver.counters(),
        }
    }
}
