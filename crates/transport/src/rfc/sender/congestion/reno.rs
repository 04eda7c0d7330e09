//! Reno.
//!
//! M. Allman et al., RFC 5681, section 3.1: the window grows by a segment for each window that is acknowledged, and half
//! of it is the threshold after a loss:
//!
//! ```text
//! cwnd += 1 / cwnd a segment acknowledged                                  (equation 3)
//! ssthresh = max(cwnd / 2, 2)                                              (equation 4)
//! ```
//!
//! # Linux's reading
//! The half is of the window, not of the data in flight: the window does not grow while it is not used.

use aqmlab_units::Time;

use super::super::window::Window;
use super::{Cause, Controller};
use crate::rfc::Config;

/// Share of the window that is left after a loss.
pub const BETA: f64 = 0.5;

/// Reno has no state but the window.
#[derive(Clone, Debug)]
pub struct Reno;

impl Controller for Reno {
    const NAME: &'static str = "reno";
    const DOC: &'static str = "losses, marks";
    const SOURCE: &'static str = "RFC 5681";
    const LINUX_NAME: Option<&'static str> = Some(Self::NAME);

    type Options = ();
    const DEFAULTS: () = ();

    fn new(_: &Config) -> Self {
        Self
    }

    fn open_window(&mut self, window: &mut Window, _: Time, acked: f64, _: f64) {
        open_window(window, acked);
    }

    fn reduce(&mut self, window: &Window, _: Cause) -> f64 {
        reduce(window)
    }
}

/// Opens the window for `acked` segments.
pub fn open_window(window: &mut Window, acked: f64) {
    let left = if window.in_slow_start() { window.slow_start(acked) } else { acked };
    if left > 0.0 {
        window.avoid(window.cwnd, left);
    }
}

/// A loss or a mark; the new threshold.
pub fn reduce(window: &Window) -> f64 {
    window.threshold(BETA)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reno_grows_by_a_segment_a_window_and_halves() {
        let mut window = Window::new(Some(12), true);
        window.cwnd = 10.0;
        open_window(&mut window, 2.0);
        assert_eq!(window.cwnd, 12.0);
        for _ in 0..6 {
            open_window(&mut window, 2.0);
        }
        assert_eq!(window.cwnd, 13.0);
        assert_eq!(reduce(&window), 6.0);
    }
}
