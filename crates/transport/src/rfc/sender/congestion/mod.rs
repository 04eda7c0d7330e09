//! The congestion control of a sender: one controller, of those that have a file each.
//!
//! | controller | what it answers to | file |
//! |---|---|---|
//! | Reno | losses | `reno.rs` |
//! | CUBIC | losses | `cubic.rs`, `hystart.rs` |
//! | DCTCP | the share of marked packets | `dctcp.rs` |
//! | LEDBAT | the delay of a queue | `ledbat/` |
//!
//! The sender tells it of every acknowledgement ([`Congestion::hear`]), lets it open the window while nothing is amiss
//! ([`Congestion::open_window`]), and asks for the threshold when something is ([`Congestion::reduce`]). How the window
//! gets there is the sender's.

mod cubic;
mod dctcp;
mod hystart;
mod ledbat;
mod reno;

use aqmlab_units::{Span, Time};

use super::window::Window;
use crate::rfc::{Config, CongestionControl};
use cubic::Cubic;
use dctcp::Dctcp;
use ledbat::Ledbat;

/// Why the window is to be reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A segment was lost.
    Loss,
    /// A mark was echoed.
    Mark,
}

/// What an acknowledgement tells, before the sender has drawn its conclusions.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// Segments newly known to have arrived.
    pub delivered: u64,
    /// How many of them, or of duplicates, were marked.
    pub marked: u64,
    /// First segment outstanding, and the next to send.
    pub edges: (u64, u64),
    /// How long a segment was on its way there; `None`: not told.
    pub one_way: Option<Span>,
}

/// The congestion control of one sender.
#[derive(Clone, Debug)]
pub enum Congestion {
    Reno,
    Cubic(Box<Cubic>),
    Dctcp(Box<Dctcp>),
    Ledbat(Box<Ledbat>),
}

impl Congestion {
    pub fn new(config: &Config) -> Self {
        match config.congestion_control {
            CongestionControl::Reno => Self::Reno,
            CongestionControl::Cubic => Self::Cubic(Box::new(Cubic::new(config))),
            CongestionControl::Dctcp => Self::Dctcp(Box::new(Dctcp::new(&config.dctcp))),
            CongestionControl::Ledbat => Self::Ledbat(Box::new(Ledbat::new(&config.ledbat))),
        }
    }

    /// The connection opens.
    pub fn open(&mut self, now: Time, next: u64) {
        match self {
            Self::Cubic(cubic) => cubic.open(now, next),
            Self::Dctcp(dctcp) => dctcp.open(next),
            Self::Reno | Self::Ledbat(_) => {}
        }
    }

    /// Whether it wants to be told of acknowledgements by [`Congestion::hear`].
    pub fn listens(&self) -> bool {
        matches!(self, Self::Dctcp(_) | Self::Ledbat(_))
    }

    /// Takes what an acknowledgement tells.
    pub fn hear(&mut self, now: Time, heard: &Heard) {
        match self {
            Self::Dctcp(dctcp) => dctcp.hear(heard),
            Self::Ledbat(ledbat) => ledbat.hear(now, heard),
            Self::Reno | Self::Cubic(_) => {}
        }
    }

    /// Takes the round-trip time that an acknowledgement tells; `edges`: first segment outstanding, next to send.
    pub fn on_sample(&mut self, window: &mut Window, now: Time, rtt: Span, edges: (u64, u64)) {
        if let Self::Cubic(cubic) = self {
            cubic.on_sample(window, now, rtt, edges);
        }
    }

    /// Opens the window for `acked` segments; `flight`: how many are in flight behind them.
    pub fn open_window(&mut self, window: &mut Window, now: Time, acked: f64, flight: f64) {
        match self {
            Self::Reno | Self::Dctcp(_) => reno::open_window(window, acked),
            Self::Cubic(cubic) => cubic.open_window(window, now, acked),
            Self::Ledbat(ledbat) => ledbat.open_window(window, acked, flight),
        }
    }

    /// A loss or a mark; the new threshold.
    pub fn reduce(&mut self, window: &Window, cause: Cause) -> f64 {
        match self {
            Self::Reno => reno::reduce(window),
            Self::Cubic(cubic) => cubic.reduce(window),
            Self::Dctcp(dctcp) => dctcp.reduce(window, cause),
            Self::Ledbat(ledbat) => ledbat.reduce(window),
        }
    }

    /// Whether a loss calls for a reduction of its own while the window is being reduced on account of a mark.
    pub fn tells_losses_from_marks(&self) -> bool {
        matches!(self, Self::Dctcp(_))
    }

    /// A time-out, after [`Congestion::reduce`].
    pub fn forget(&mut self, window: &Window, now: Time, next: u64) {
        if let Self::Cubic(cubic) = self {
            cubic.forget(window, now, next);
        }
    }

    /// The sender was idle for so long.
    pub fn note_idle(&mut self, now: Time, idle: Span) {
        if let Self::Cubic(cubic) = self {
            cubic.note_idle(now, idle);
        }
    }
}
