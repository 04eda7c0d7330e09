//! The congestion control of a sender: Reno or CUBIC.
//!
//! Reno is RFC 5681, section 3.1: the window grows by a segment for each window that is acknowledged, and half of it is
//! the threshold after a loss. As in Linux the half is of the window, not of what is in flight (equation 4): the window
//! does not grow while it is not used.

use aqmlab_units::{Span, Time};

use super::cubic::Cubic;
use super::window::Window;
use crate::rfc::{Config, CongestionControl};

/// The congestion control of one sender.
#[derive(Clone, Debug)]
pub enum Congestion {
    Reno,
    Cubic(Box<Cubic>),
}

impl Congestion {
    pub fn new(config: &Config) -> Self {
        match config.congestion_control {
            CongestionControl::Reno => Self::Reno,
            CongestionControl::Cubic => Self::Cubic(Box::new(Cubic::new(config))),
        }
    }

    /// The connection opens.
    pub fn open(&mut self, now: Time, next: u64) {
        if let Self::Cubic(cubic) = self {
            cubic.open(now, next);
        }
    }

    /// Takes the round-trip time that an acknowledgement tells; `edges`: first segment outstanding, next to send.
    pub fn on_sample(&mut self, window: &mut Window, now: Time, rtt: Span, edges: (u64, u64)) {
        if let Self::Cubic(cubic) = self {
            cubic.on_sample(window, now, rtt, edges);
        }
    }

    /// Opens the window for `acked` segments.
    pub fn open_window(&mut self, window: &mut Window, now: Time, acked: f64) {
        if let Self::Cubic(cubic) = self {
            return cubic.open_window(window, now, acked);
        }
        let left = if window.in_slow_start() { window.slow_start(acked) } else { acked };
        if left > 0.0 {
            window.avoid(window.cwnd, left);
        }
    }

    /// A loss or a mark; the new threshold.
    pub fn reduce(&mut self, window: &Window) -> f64 {
        match self {
            Self::Reno => window.threshold(0.5),
            Self::Cubic(cubic) => cubic.reduce(window),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reno_grows_by_a_segment_a_window_and_halves() {
        let config = Config::linux(CongestionControl::Reno);
        let mut reno = Congestion::new(&config);
        let mut window = Window::new(Some(12), true);
        window.cwnd = 10.0;
        reno.open_window(&mut window, Time::ZERO, 2.0);
        assert_eq!(window.cwnd, 12.0);
        for _ in 0..6 {
            reno.open_window(&mut window, Time::ZERO, 2.0);
        }
        assert_eq!(window.cwnd, 13.0);
        assert_eq!(reno.reduce(&window), 6.0);
    }
}
