//! DualPI2, the coupled dual queue of L4S (RFC 9332, appendix A; K. De Schepper, O. Bondarenko, I.-J. Tsang, B. Briscoe,
//! CoNEXT 2016).
//!
//! Packets with ECT(1) or CE go to a queue L of low latency, all others to a classic queue C. PI2's controller keeps C's delay
//! at the target; L's marking is coupled to it, so that a flow of either kind gets the same share. L's native AQM marks
//! packets that have waited longer than a threshold:
//!
//! ```text
//! p_C = p'^2        p_CL = k p'        p_L = max(ramp(delay), p_CL)                  (RFC 9332, appendix A.1)
//! ```
//!
//! | symbol | parameter | unit | default | allowed | source |
//! |---|---|---|---|---|---|
//! | target | `target` | s | 15 ms | above 0 | figure 2, line 8 |
//! | RTT_max | `rtt_max` | s | 100 ms | 1 us and more | line 9 |
//! | Tupdate | `t_update` | s | min(target, RTT_max/3) = 15 ms | 1 us and more | line 12 |
//! | alpha | `alpha` | 1/s | 0.1 Tupdate/RTT_max^2 = 0.15 | above 0 | line 13 |
//! | beta | `beta` | 1/s | 0.3/RTT_max = 3 | above 0 | line 14 |
//! | k | `coupling` | | 2 | above 0 | line 3 |
//! | minTh | `l4s_min_th` | s | 0.8 ms | 0 and more | line 17 |
//! | range | `l4s_range` | s | 0.4 ms | 0 (a step) and more | line 18 |
//! | Th_len | `l4s_min_packets` | packets | 1 | 0 and more | line 19 |
//! | weight of C | `classic_share` | | 0.1 | above 0, below 1 | Linux `sch_dualpi2.c`; the RFC: small, such as 1/16 |
//! | tshift | `time_shift` | s | 50 ms | 0 and more | appendix A.2 |
//! | MTU | `max_packet` | bytes | 1514 | 0 and more | Linux `sch_dualpi2.c` |
//! | limit | `limit` | packets or bytes | 250 ms of the link in packets of 1500 B | at least 1 | line 5 |
//! | | `overload` | | `drop` | `drop`, `overflow`; `linux` alone | Linux `sch_dualpi2.c` |
//! | | `decide` | | `leaving` | `leaving`, `arriving`; `linux` alone | the same |
//! | memory limit | `memlimit` | bytes | `auto` | at least 1; `linux` alone | the same |
//!
//! The controller uses the longer delay of both queues (figure 8). From p_CL = 1 on there is overload: L's packets are
//! dropped with p_C, or else all marked, and from p_C = min(1/k^2, 1) on C's are no longer marked but dropped (figure 7).
//!
//! Readings. L comes first; C is kept from starving by weights in bytes, or by time: L's packets are taken to be `time_shift`
//! older (`scheduler`). The weights' credit starts in favour of L, is reset when the link is idle, and changes while both
//! queues have packets, as in Linux. A packet is hit by a recurring count, as the RFC has it, or by chance, as in Linux (`decision`).
//! In overload a mark counts as 1: with the pseudocode's p_CL above 1 the count of L would grow without bound and with it
//! drops above p_C. Neither p_C nor p_CL applies while less than two of `max_packet` are left in both queues: the RFC describes
//! this rule of Linux, but its pseudocode does not have it (`max_packet = 0`). While at most `l4s_min_packets` are in L, the one that
//! leaves included, the ramp marks nothing: the text means a queue of one packet, and the pseudocode checks after the packet has
//! been removed. The delay of the ramp is that of the packet. `ecn` is that of C; without it ECT(0) is dropped, and L's marks
//! stay. Differences: a limit in bytes is tested with the packet's own length, where the RFC always leaves room for an MTU.
//!
//! `dialect = "linux"` computes as Linux does, in integers and with its defaults: see [`linux`].
//!
//! Drop reasons: `early` (queue C), `overload` (queue L), `overflow`; L's marks have the reason `l4s`. Gauges: `delay` in s,
//! `p_base` (p'), `p_c`, `p_cl`, `l_packets`, `c_packets`.

mod linux;
mod parameters;
mod rfc;
mod scheduler;

pub use linux::Settings;
#[cfg(feature = "replay")]
pub(crate) use linux::State;
pub(super) use parameters::{ONE_QUEUE, PARAMETERS, PRESETS, read};

use aqmlab_units::Time;

use crate::{Backlog, Dequeue, DropClass, DropReason, Gauge, Host, Packet, Qdisc};

/// By the likelihood of queue L.
const L4S: DropReason = DropReason::new(&("l4s", DropClass::Early));
/// In overload, where marks no longer suffice, a packet of queue L.
const OVERLOAD: DropReason = DropReason::new(&("overload", DropClass::Forced));

/// Validated parameters.
#[derive(Clone, Debug)]
pub(crate) enum Params {
    /// In real numbers, of RFC 9332.
    Rfc(parameters::Params),
    /// In the integers of Linux.
    Linux(linux::Settings),
}

impl Params {
    /// Return the settings in the integers of Linux; `None` in real numbers.
    pub(super) fn in_linux(&self) -> Option<&Settings> {
        match self {
            Self::Rfc(_) => None,
            Self::Linux(settings) => Some(settings),
        }
    }
}

/// The discipline; see the module text.
#[derive(Clone, Debug)]
pub enum DualPi2<P> {
    /// In real numbers, of RFC 9332.
    Rfc(rfc::Rfc<P>),
    /// In the integers of Linux.
    Linux(linux::Linux<P>),
}

impl<P: Copy> DualPi2<P> {
    /// Create empty queues.
    pub(super) fn new(params: &Params) -> Self {
        match params {
            Params::Rfc(params) => Self::Rfc(rfc::Rfc::new(params)),
            Params::Linux(settings) => Self::Linux(linux::Linux::new(settings)),
        }
    }

    /// Return the numbers that a kernel module logs; `None` in real numbers.
    #[cfg(feature = "replay")]
    pub(crate) fn state(&self) -> Option<State> {
        match self {
            Self::Rfc(_) => None,
            Self::Linux(linux) => Some(linux.state()),
        }
    }

    /// Let no step run by itself, in the dialect of Linux: a replay calls [`DualPi2::timer`].
    pub(crate) fn stop_timer(&mut self) {
        if let Self::Linux(linux) = self {
            linux.stop_timer();
        }
    }

    /// Compute a step of the dialect of Linux: the kernel's timer has expired.
    pub(crate) fn timer(&mut self, now: Time, host: &mut impl Host<P>) {
        if let Self::Linux(linux) = self {
            linux.timer(now, host);
        }
    }
}

/// Call the same method in either arithmetic.
macro_rules! either {
    ($self:ident, $q:ident => $call:expr) => {
        match $self {
            DualPi2::Rfc($q) => $call,
            DualPi2::Linux($q) => $call,
        }
    };
}

impl<P: Copy> Qdisc<P> for DualPi2<P> {
    fn enqueue(&mut self, now: Time, packet: Packet<P>, host: &mut impl Host<P>) {
        either!(self, q => q.enqueue(now, packet, host));
    }

    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        either!(self, q => q.dequeue(now, host))
    }

    fn next_timer(&self) -> Option<Time> {
        either!(self, q => Qdisc::<P>::next_timer(q))
    }

    fn on_timer(&mut self, now: Time, host: &mut impl Host<P>) {
        either!(self, q => q.on_timer(now, host));
    }

    fn backlog(&self) -> Backlog {
        either!(self, q => Qdisc::<P>::backlog(q))
    }

    fn gauges(&self, now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        either!(self, q => Qdisc::<P>::gauges(q, now, out));
    }
}
