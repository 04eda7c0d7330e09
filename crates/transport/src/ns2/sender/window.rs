//! The congestion window: slow start, congestion avoidance and the cuts.
//!
//! V. Jacobson, "Congestion avoidance and control", SIGCOMM 1988, in units of packets, as ns-2 2.35 computes:
//! cwnd is a double, ssthresh an integer.
//!
//! ```text
//! new acknowledgement:  cwnd < ssthresh:  cwnd <- cwnd + 1        (slow start)
//!                       otherwise:        cwnd <- cwnd + 1/cwnd   (congestion avoidance)
//! usable window:        min(floor(cwnd) + inflation, floor(window))
//! cut:                  half = min(cwnd + inflation, window) / 2
//!                       ssthresh <- max(floor(half), 2), cwnd <- half or 1
//! ```
//!
//! `inflation` is what fast recovery adds for packets that have left the network; 0 outside it, and always
//! for Tahoe and SACK. cwnd may grow above the receiver's window; only its use is limited. Halving may take
//! cwnd below one packet (ECN echoes do): then nothing can be sent until an acknowledgement or the timer
//! opens it.

/// The congestion window of one sender.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Window {
    /// Congestion window, packets, above 0.
    pub cwnd: f64,
    /// Slow-start threshold, packets, at least 2 after a cut.
    pub ssthresh: i32,
    /// Packets that fast recovery knows to have left the network.
    pub inflation: u32,
    limit: f64,
    /// The whole packets of `limit`.
    whole_limit: i32,
}

impl Window {
    /// A window that starts with `cwnd` under a receiver's window of `limit` packets.
    pub fn new(cwnd: f64, ssthresh: i32, limit: f64) -> Self {
        Self { cwnd, ssthresh, inflation: 0, limit, whole_limit: limit as i32 }
    }

    /// The receiver's window in packets, as set.
    pub fn limit(&self) -> f64 {
        self.limit
    }

    /// How many packets may be in flight.
    #[inline]
    pub fn usable(&self) -> i32 {
        (self.cwnd as i32 + self.inflation as i32).min(self.whole_limit)
    }

    /// Opens the window for an acknowledgement of new data.
    #[inline]
    pub fn open(&mut self) {
        self.cwnd += if self.cwnd < f64::from(self.ssthresh) { 1.0 } else { 1.0 / self.cwnd };
    }

    /// Halves cwnd and ssthresh.
    pub fn halve(&mut self) {
        let half = self.half();
        self.ssthresh = (half as i32).max(2);
        self.cwnd = half;
    }

    /// Goes back to one packet and to slow start until half the present window.
    pub fn collapse(&mut self) {
        self.ssthresh = (self.half() as i32).max(2);
        self.cwnd = 1.0;
    }

    /// Goes back to one packet and leaves the threshold alone.
    pub fn restart(&mut self) {
        self.ssthresh = self.ssthresh.max(2);
        self.cwnd = 1.0;
    }

    fn half(&self) -> f64 {
        (self.cwnd + f64::from(self.inflation)).min(self.limit) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_then_one_packet_per_window() {
        let mut w = Window::new(1.0, 4, 20.0);
        for cwnd in [2.0, 3.0, 4.0, 4.25] {
            w.open();
            assert_eq!(w.cwnd, cwnd);
        }
        w.open();
        assert_eq!(w.cwnd, 4.25 + 1.0 / 4.25);
        assert_eq!(w.usable(), 4);
    }

    #[test]
    fn the_receiver_limits_use_not_growth() {
        let mut w = Window::new(7.0, 20, 7.9);
        w.open();
        w.open();
        assert_eq!((w.cwnd, w.usable()), (9.0, 7));
        // Half of 7.9, not of 9.
        w.halve();
        assert_eq!((w.cwnd, w.ssthresh), (3.95, 3));
    }

    #[test]
    fn cuts() {
        let mut w = Window::new(3.0, 20, 20.0);
        w.halve();
        assert_eq!((w.cwnd, w.ssthresh), (1.5, 2));
        w.halve();
        assert_eq!((w.cwnd, w.ssthresh, w.usable()), (0.75, 2, 0));
        let mut w = Window::new(11.0, 20, 20.0);
        w.collapse();
        assert_eq!((w.cwnd, w.ssthresh), (1.0, 5));
        let mut w = Window::new(11.0, 20, 20.0);
        w.restart();
        assert_eq!((w.cwnd, w.ssthresh), (1.0, 20));
    }

    #[test]
    fn inflation_counts_in_use_and_in_a_cut() {
        let mut w = Window::new(5.5, 5, 20.0);
        w.inflation = 4;
        assert_eq!(w.usable(), 9);
        w.halve();
        assert_eq!((w.cwnd, w.ssthresh), (4.75, 4));
    }
}
