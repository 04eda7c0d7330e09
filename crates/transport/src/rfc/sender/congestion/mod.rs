//! The congestion control of a sender.
//!
//! Every controller is one file, and one line in the list below. The file has the name, the parameters that only this controller
//! has with the fields that hold them, and the controller's algorithm. The words of `congestion_control`, the
//! parameters of the profile, the schema, the documentation and the shared tests follow from the list.
//!
//! The sender reports every acknowledgement to the controller ([`Controller::on_feedback`]) and lets it open the window
//! while there is no loss or mark ([`Controller::open_window`]). On a loss or a mark it asks for the new threshold
//! ([`Controller::reduce`]) and moves the window there itself. Some controllers set the window themselves: BBRv1 and BBRv3 in
//! all states, Prague after a mark.

mod controllers;
mod delivery;
mod hystart;
#[cfg(test)]
mod tests;

use core::fmt::Debug;

use aqmlab_units::{Span, Time};

use super::window::{Window, real};
use crate::Parameter;
use crate::rfc::{Config, EcnFeedback};
use crate::settings::{Setting, Settings, Value};
use controllers::controllers;

pub use bbr::BbrConfig;
pub use bbr1::Bbr1Config;
pub use dctcp::DctcpConfig;
pub use ledbat::{DelayFilter, LedbatConfig};
pub use prague::PragueConfig;

controllers! {
    reno: Reno,
    cubic: Cubic,
    dctcp: Dctcp,
    ledbat: Ledbat,
    prague: Prague,
    bbr: Bbr,
    bbr1: Bbr1,
}

/// A congestion control: what it says about itself, and what it does for one sender.
pub trait Controller: Sized + Clone + Debug {
    /// The word in a scenario file, as Linux has it.
    const NAME: &'static str;
    /// The signals that it responds to, in one line.
    const DOC: &'static str;
    /// Where it comes from.
    const SOURCE: &'static str;

    /// The parameters that only this controller has.
    type Options: Copy + Debug + PartialEq + 'static;
    /// Their defaults.
    const DEFAULTS: Self::Options;
    /// Their descriptions, and the fields that hold them. Keys begin with the name.
    const SETTINGS: &'static [Setting<Self::Options>] = &[];

    /// The feedback of marks that it works with; the first is the default. Controllers that count marks need a report of each.
    const FEEDBACK: &'static [EcnFeedback] = &[EcnFeedback::Off, EcnFeedback::Classic, EcnFeedback::Accurate];
    /// Whether it responds to marks that are reported.
    const RESPONDS_TO_MARKS: bool = true;
    /// Whether its packets ask for L4S by ECT(1) (RFC 9331).
    const IS_L4S: bool = false;
    /// Its name in Linux, which lacks the others.
    const LINUX_NAME: Option<&'static str> = None;
    /// Whether its sender asks for one-way delays.
    const NEEDS_ONE_WAY_DELAY: bool = false;
    /// Whether the sender must report acknowledgements by [`Controller::on_feedback`].
    const NEEDS_FEEDBACK: bool = false;
    /// Whether it adjusts the window even when the window is not the limit.
    const MOVES_UNUSED_WINDOWS: bool = false;
    /// Whether a loss reduces the window again while it is being reduced for a mark.
    const REDUCES_FOR_LOSS_AFTER_MARK: bool = false;
    /// Whether the window falls at once after a mark, and grows on meanwhile.
    const ANSWERS_MARKS_AT_ONCE: bool = false;
    /// Whether it sets the window in all states by [`Controller::on_ack`].
    const OWNS_WINDOW: bool = false;
    /// Whether it sets its own pacing rate.
    const PACES: bool = false;

    /// Return the state before the connection opens.
    fn new(config: &Config) -> Self;

    /// The connection opens, after a handshake of this round-trip time.
    fn open(&mut self, _now: Time, _next: u64, _srtt: Option<Span>) {}

    /// Take an acknowledgement, before [`Controller::open_window`] and [`Controller::reduce`].
    fn on_feedback(&mut self, _window: &Window, _now: Time, _feedback: &AckFeedback) {}

    /// Take the round-trip sample of an acknowledgement, and the smoothed round-trip time; `edges`: first segment outstanding,
    /// next to send.
    fn on_sample(&mut self, _window: &mut Window, _now: Time, _rtts: (Span, Span), _edges: (u64, u64)) {}

    /// Open the window for `acked` segments; `flight`: how many are in flight behind them.
    fn open_window(&mut self, window: &mut Window, now: Time, acked: f64, flight: f64);

    /// Return the new threshold after a loss or a mark.
    fn reduce(&mut self, window: &Window, cause: Cause) -> f64;

    /// Take the sender's state after it has processed an acknowledgement.
    fn on_ack(&mut self, _window: &mut Window, _ack: &Acked) {}

    /// Segment `k` is sent, `una` being the first outstanding; with it, `in_flight` are.
    fn note_sent(&mut self, _now: Time, _k: u64, _una: u64, _in_flight: u64) {}

    /// Segment `k` has arrived.
    fn note_arrived(&mut self, _now: Time, _k: u64) {}

    /// Segments were found lost.
    fn note_lost(&mut self, _window: &Window, _now: Time, _lost: &[u64]) {}

    /// Note that all data to send is in flight.
    fn note_app_limited(&mut self, _in_flight: u64) {}

    /// Undo a spurious reduction.
    fn undo(&mut self, _window: &mut Window) {}

    /// Return the time between two segments.
    fn gap(&self, _window: &Window, _srtt: Option<Span>) -> Option<Span> {
        None
    }

    /// There was a time-out, after [`Controller::reduce`].
    fn on_timeout(&mut self, _window: &Window, _now: Time, _next: u64) {}

    /// The sender resumes after having been idle for this long.
    fn note_idle(&mut self, _window: &mut Window, _now: Time, _idle: Span) {}

    /// Return a change of each of its parameters that changes the sender's behaviour.
    #[cfg(test)]
    fn changes() -> Vec<tests::Change> {
        Vec::new()
    }
}

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

/// State of the sender after it has processed an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    pub now: Time,
    /// Segments newly known to have arrived.
    pub delivered: u64,
    /// Marked packets reported.
    pub marked: u64,
    /// Round-trip time of the last of them.
    pub rtt: Option<Span>,
    /// Least round-trip time of the connection.
    pub least: Span,
    pub in_flight: u64,
    /// Whether the window was the limit in this round trip.
    pub cwnd_limited: bool,
    /// Whether losses are being repaired; and whether the sender is in the open state.
    pub repairs: bool,
    pub calm: bool,
}

impl CongestionControl {
    /// Return the default ECN feedback of this controller.
    pub const fn feedback(self) -> EcnFeedback {
        self.feedbacks()[0]
    }

    /// Return whether the controller works with this feedback.
    pub fn works_with(self, feedback: EcnFeedback) -> bool {
        self.feedbacks().contains(&feedback)
    }

    /// Return whether the controller depends on ECN, so that all its packets, SYN and retransmissions included, are ECN-capable.
    pub fn needs_ecn(self) -> bool {
        !self.works_with(EcnFeedback::Off)
    }
}

impl Congestion {
    /// The connection opens, after a handshake of this round-trip time.
    pub fn open(&mut self, now: Time, next: u64, srtt: Option<Span>) {
        each_controller!(self, c, T => c.open(now, next, srtt));
    }

    /// Return whether the sender must report acknowledgements by [`Congestion::on_feedback`].
    pub fn needs_feedback(&self) -> bool {
        each_controller!(self, _, T => T::NEEDS_FEEDBACK)
    }

    /// Report an acknowledgement to the controller.
    pub fn on_feedback(&mut self, window: &Window, now: Time, feedback: &AckFeedback) {
        each_controller!(self, c, T => c.on_feedback(window, now, feedback));
    }

    /// Report the round-trip sample of an acknowledgement, and the smoothed round-trip time; `edges`: first segment outstanding,
    /// next to send.
    pub fn on_sample(&mut self, window: &mut Window, now: Time, rtts: (Span, Span), edges: (u64, u64)) {
        each_controller!(self, c, T => c.on_sample(window, now, rtts, edges));
    }

    /// Report a plain acknowledgement to a controller that leaves the window to the sender: its sample by [`Congestion::on_sample`], and
    /// the segments for which the window opens, if it was the limit, by [`Congestion::open_window`]. Return false if the window shrinks instead,
    /// since it is being reduced.
    #[inline]
    pub fn on_plain_ack(
        &mut self,
        window: &mut Window,
        now: Time,
        (rtts, edges): ((Span, Span), (u64, u64)),
        acked: u64,
        reducing: bool,
    ) -> bool {
        each_controller!(self, c, T => {
            c.on_sample(window, now, rtts, edges);
            let opens = !reducing || T::ANSWERS_MARKS_AT_ONCE;
            if opens && (window.is_limiting() || T::MOVES_UNUSED_WINDOWS) {
                c.open_window(window, now, real(acked), real(edges.1 - edges.0));
            }
            opens
        })
    }

    /// Return whether it adjusts the window even when the window is not the limit.
    pub fn moves_unused_windows(&self) -> bool {
        each_controller!(self, _, T => T::MOVES_UNUSED_WINDOWS)
    }

    /// Let it open the window for `acked` segments; `flight`: how many are in flight behind them.
    pub fn open_window(&mut self, window: &mut Window, now: Time, acked: f64, flight: f64) {
        each_controller!(self, c, T => c.open_window(window, now, acked, flight));
    }

    /// Report a loss or a mark and return the new threshold.
    pub fn reduce(&mut self, window: &Window, cause: Cause) -> f64 {
        each_controller!(self, c, T => c.reduce(window, cause))
    }

    /// Return whether a loss reduces the window again while it is being reduced for a mark.
    pub fn reduces_for_loss_after_mark(&self) -> bool {
        each_controller!(self, _, T => T::REDUCES_FOR_LOSS_AFTER_MARK)
    }

    /// Return whether the window falls at once after a mark, and grows on meanwhile.
    pub fn answers_marks_at_once(&self) -> bool {
        each_controller!(self, _, T => T::ANSWERS_MARKS_AT_ONCE)
    }

    /// Return whether it sets the window in all states by [`Congestion::on_ack`].
    pub fn owns_window(&self) -> bool {
        each_controller!(self, _, T => T::OWNS_WINDOW)
    }

    /// Report the sender's state after it has processed an acknowledgement.
    pub fn on_ack(&mut self, window: &mut Window, ack: &Acked) {
        each_controller!(self, c, T => c.on_ack(window, ack));
    }

    /// Report that segment `k` is sent, `una` being the first outstanding; with it, `in_flight` are.
    pub fn note_sent(&mut self, now: Time, k: u64, una: u64, in_flight: u64) {
        each_controller!(self, c, T => c.note_sent(now, k, una, in_flight));
    }

    /// Report that segment `k` has arrived.
    pub fn note_arrived(&mut self, now: Time, k: u64) {
        each_controller!(self, c, T => c.note_arrived(now, k));
    }

    /// Report segments found lost.
    pub fn note_lost(&mut self, window: &Window, now: Time, lost: &[u64]) {
        each_controller!(self, c, T => c.note_lost(window, now, lost));
    }

    /// Report that all data to send is in flight.
    pub fn note_app_limited(&mut self, in_flight: u64) {
        each_controller!(self, c, T => c.note_app_limited(in_flight));
    }

    /// Undo a spurious reduction.
    pub fn undo(&mut self, window: &mut Window) {
        each_controller!(self, c, T => c.undo(window));
    }

    /// Return whether it sets its own pacing rate.
    pub fn paces(&self) -> bool {
        each_controller!(self, _, T => T::PACES)
    }

    /// Return its time between two segments.
    pub fn gap(&self, window: &Window, srtt: Option<Span>) -> Option<Span> {
        each_controller!(self, c, T => c.gap(window, srtt))
    }

    /// Report a time-out, after [`Congestion::reduce`].
    pub fn on_timeout(&mut self, window: &Window, now: Time, next: u64) {
        each_controller!(self, c, T => c.on_timeout(window, now, next));
    }

    /// Report that the sender resumes after having been idle for this long.
    pub fn note_idle(&mut self, window: &mut Window, now: Time, idle: Span) {
        each_controller!(self, c, T => c.note_idle(window, now, idle));
    }
}

/// The prefix of controllers' labels.
const PREFIX: &str = "tcp-";

/// Return the label of a controller of this name, which has `N` bytes with its prefix.
const fn labelled<const N: usize>(name: &str) -> [u8; N] {
    let (prefix, name) = (PREFIX.as_bytes(), name.as_bytes());
    let mut label = [0; N];
    let mut k = 0;
    while k < N {
        label[k] = if k < prefix.len() { prefix[k] } else { name[k - prefix.len()] };
        k += 1;
    }
    label
}
