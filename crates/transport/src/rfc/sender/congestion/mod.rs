//! The congestion control of a sender. Each controller has its own file.
//!
//! | controller | signal | file |
//! |---|---|---|
//! | Reno | losses | `reno.rs` |
//! | CUBIC | losses | `cubic.rs`, `hystart.rs` |
//! | DCTCP | the share of marked packets | `dctcp.rs` |
//! | LEDBAT | the delay of a queue | `ledbat/` |
//! | Prague | the share of marked packets, on L4S paths | `prague.rs` |
//! | BBR | the rate of delivery and the least round-trip time | `bbr/` |
//!
//! The sender reports every acknowledgement to the controller ([`Congestion::on_feedback`]) and lets it open the window
//! while there is no loss or mark ([`Congestion::open_window`]). On a loss or a mark it asks for the new threshold
//! ([`Congestion::reduce`]) and moves the window there itself. Two controllers set the window themselves: BBR in all
//! states, Prague after a mark.

mod bbr;
mod cubic;
mod dctcp;
mod hystart;
mod ledbat;
mod prague;
mod reno;

use aqmlab_units::{Span, Time};

use super::window::Window;
use crate::rfc::{Config, CongestionControl};
pub use bbr::Acked;
use bbr::Bbr;
use cubic::Cubic;
use dctcp::Dctcp;
use ledbat::Ledbat;
use prague::Prague;

/// Why the window is to be reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A segment was lost.
    Loss,
    /// A mark was echoed.
    Mark,
}

/// The content of an acknowledgement, before the sender has updated its state.
#[derive(Clone, Copy, Debug)]
pub struct AckFeedback {
    /// Segments newly known to have arrived.
    pub delivered: u64,
    /// How many of them, or of duplicates, were marked.
    pub marked: u64,
    /// First segment outstanding, and the next to send.
    pub edges: (u64, u64),
    /// One-way delay of a segment; `None`: not reported.
    pub one_way: Option<Span>,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
}

/// The congestion control of one sender.
#[derive(Clone, Debug)]
pub enum Congestion {
    Reno,
    Cubic(Box<Cubic>),
    Dctcp(Box<Dctcp>),
    Ledbat(Box<Ledbat>),
    Prague(Box<Prague>),
    Bbr(Box<Bbr>),
}

impl Congestion {
    pub fn new(config: &Config) -> Self {
        match config.congestion_control {
            CongestionControl::Reno => Self::Reno,
            CongestionControl::Cubic => Self::Cubic(Box::new(Cubic::new(config))),
            CongestionControl::Dctcp => Self::Dctcp(Box::new(Dctcp::new(&config.dctcp))),
            CongestionControl::Ledbat => Self::Ledbat(Box::new(Ledbat::new(&config.ledbat))),
            CongestionControl::Prague => Self::Prague(Box::new(Prague::new(&config.prague))),
            CongestionControl::Bbr => Self::Bbr(Box::new(Bbr::new(config))),
        }
    }

    /// The connection opens, after a handshake of this round-trip time.
    pub fn open(&mut self, now: Time, next: u64, srtt: Option<Span>) {
        match self {
            Self::Cubic(cubic) => cubic.open(now, next),
            Self::Dctcp(dctcp) => dctcp.open(next),
            Self::Prague(prague) => prague.open(now, next),
            Self::Bbr(bbr) => bbr.open(now, srtt),
            Self::Reno | Self::Ledbat(_) => {}
        }
    }

    /// Whether the sender must report acknowledgements by [`Congestion::on_feedback`].
    pub fn needs_feedback(&self) -> bool {
        matches!(self, Self::Dctcp(_) | Self::Ledbat(_) | Self::Prague(_))
    }

    /// Report an acknowledgement to the controller.
    pub fn on_feedback(&mut self, window: &Window, now: Time, feedback: &AckFeedback) {
        match self {
            Self::Dctcp(dctcp) => dctcp.on_feedback(feedback),
            Self::Ledbat(ledbat) => ledbat.on_feedback(now, feedback),
            Self::Prague(prague) => prague.on_feedback(window, now, feedback),
            Self::Reno | Self::Cubic(_) | Self::Bbr(_) => {}
        }
    }

    /// Report the round-trip sample of an acknowledgement, and the smoothed round-trip time; `edges`: first segment outstanding,
    /// next to send.
    pub fn on_sample(&mut self, window: &mut Window, now: Time, rtts: (Span, Span), edges: (u64, u64)) {
        if let Self::Cubic(cubic) = self {
            cubic.on_sample(window, now, rtts, edges);
        }
    }

    /// Return whether it adjusts the window even when the window is not the limit.
    pub fn moves_unused_windows(&self) -> bool {
        matches!(self, Self::Ledbat(_))
    }

    /// Opens the window for `acked` segments; `flight`: how many are in flight behind them.
    pub fn open_window(&mut self, window: &mut Window, now: Time, acked: f64, flight: f64) {
        match self {
            Self::Reno | Self::Dctcp(_) => reno::open_window(window, acked),
            Self::Cubic(cubic) => cubic.open_window(window, now, acked),
            Self::Ledbat(ledbat) => ledbat.open_window(window, acked, flight),
            Self::Prague(prague) => prague.open_window(window, acked),
            Self::Bbr(_) => {}
        }
    }

    /// A loss or a mark; the new threshold.
    pub fn reduce(&mut self, window: &Window, cause: Cause) -> f64 {
        match self {
            Self::Reno => reno::reduce(window),
            Self::Cubic(cubic) => cubic.reduce(window),
            Self::Dctcp(dctcp) => dctcp.reduce(window, cause),
            Self::Ledbat(ledbat) => ledbat.reduce(window),
            Self::Prague(prague) => prague.reduce(window, cause),
            Self::Bbr(bbr) => bbr.enter_recovery(window),
        }
    }

    /// Return whether a loss reduces the window again while it is being reduced for a mark.
    pub fn reduces_for_loss_after_mark(&self) -> bool {
        matches!(self, Self::Dctcp(_) | Self::Prague(_))
    }

    /// Whether the window falls at once after a mark, and grows on meanwhile.
    pub fn answers_marks_at_once(&self) -> bool {
        matches!(self, Self::Prague(_))
    }

    /// Whether it sets the window in all states by [`Congestion::on_ack`].
    pub fn owns_window(&self) -> bool {
        matches!(self, Self::Bbr(_))
    }

    /// Report the sender's state after it has processed an acknowledgement.
    pub fn on_ack(&mut self, window: &mut Window, ack: &Acked) {
        if let Self::Bbr(bbr) = self {
            bbr.on_ack(window, ack);
        }
    }

    /// Segment `k` is sent, `una` being the first outstanding; with it, `in_flight` are.
    pub fn note_sent(&mut self, now: Time, k: u64, una: u64, in_flight: u64) {
        if let Self::Bbr(bbr) = self {
            bbr.deliveries.note_sent(now, k, una, in_flight);
        }
    }

    /// Segment `k` has arrived.
    pub fn note_arrived(&mut self, now: Time, k: u64) {
        if let Self::Bbr(bbr) = self {
            bbr.deliveries.note_arrived(now, k);
        }
    }

    /// Report segments found lost.
    pub fn note_lost(&mut self, window: &Window, now: Time, lost: &[u64]) {
        if let Self::Bbr(bbr) = self {
            bbr.note_losses(window, now, lost);
        }
    }

    /// There is no more to send than what is in flight.
    pub fn note_app_limited(&mut self, in_flight: u64) {
        if let Self::Bbr(bbr) = self {
            bbr.deliveries.note_app_limited(in_flight);
        }
    }

    /// Undo a spurious reduction.
    pub fn undo(&mut self, window: &mut Window) {
        if let Self::Bbr(bbr) = self {
            bbr.undo(window);
        }
    }

    /// Return whether it sets its own pacing rate.
    pub fn paces(&self) -> bool {
        matches!(self, Self::Prague(_) | Self::Bbr(_))
    }

    /// Return its time between two segments.
    pub fn gap(&self, window: &Window, srtt: Option<Span>) -> Option<Span> {
        match self {
            Self::Prague(prague) => srtt.map(|srtt| prague.gap(window, srtt)),
            Self::Bbr(bbr) => bbr.gap(),
            _ => None,
        }
    }

    /// Report a time-out, after [`Congestion::reduce`].
    pub fn on_timeout(&mut self, window: &Window, now: Time, next: u64) {
        if let Self::Cubic(cubic) = self {
            cubic.on_timeout(window, now, next);
        }
    }

    /// Report that the sender resumes after having been idle for this long.
    pub fn note_idle(&mut self, window: &mut Window, now: Time, idle: Span) {
        match self {
            Self::Cubic(cubic) => cubic.note_idle(now, idle),
            Self::Bbr(bbr) => bbr.note_restart(window, now),
            _ => {}
        }
    }
}
