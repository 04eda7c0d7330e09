//! `autorate-ingress`: the rate follows the highest rate at which packets arrive.
//!
//! An arrival after a gap longer than the average gap ends a window, whose bytes over its time are a measured rate. The peak follows
//! measured rates that are higher with weight 1/4, and lower ones with weight 1/256; the shaper gets 15/16 of it, at most once in 250 ms.
//! In Linux 6.1 and 6.12 each window changes the rate, because these kernels do not record the time of a change.

use super::tin::ewma;
use crate::disciplines::kernel::Kernel;

const SECOND: u64 = 1_000_000_000;
/// Least time between two changes of the rate, in nanoseconds.
const SPACING: u64 = 250_000_000;

/// The estimate. Times are in nanoseconds, rates in bytes per second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AutoRate {
    last_arrival: u64,
    average_gap: u64,
    window_begin: u64,
    window_bytes: u64,
    peak: u64,
    last_change: u64,
    kernel: Kernel,
}

impl AutoRate {
    /// Create an estimate that begins with this rate.
    pub fn new(rate: u64, kernel: Kernel) -> Self {
        Self { peak: rate, kernel, ..Self::default() }
    }

    /// Note the arrival of a packet of this length, less that of a packet dropped for it. Return the new rate if it changes.
    pub fn arrived(&mut self, now: u64, bytes: i64) -> Option<u64> {
        self.window_bytes = self.window_bytes.wrapping_add_signed(bytes);
        let gap = now.saturating_sub(self.last_arrival).min(SECOND);
        // Bursts, as of an aggregate of a wireless link, do not end a window.
        self.average_gap = ewma(self.average_gap, gap, if gap > self.average_gap { 2 } else { 8 });
        self.last_arrival = now;
        if gap <= self.average_gap {
            return None;
        }
        let window = (now - self.window_begin).max(1);
        let measured = u64::try_from(u128::from(self.window_bytes) * u128::from(SECOND) / u128::from(window));
        let measured = measured.unwrap_or(u64::MAX);
        self.peak = ewma(self.peak, measured, if measured > self.peak { 2 } else { 8 });
        (self.window_begin, self.window_bytes) = (now, 0);
        if now <= self.last_change + SPACING {
            return None;
        }
        if self.kernel == Kernel::V7_3 {
            self.last_change = now;
        }
        Some(self.peak.saturating_mul(15) >> 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_becomes_fifteen_sixteenths_of_the_arrivals() {
        let mut estimate = AutoRate::default();
        let (mut rate, mut changes, mut now) = (0, 0, 0);
        // 1000 bytes each 1 ms, in pairs that are 0.5 and 1.5 ms apart: 1 MB/s.
        for packet in 0..20_000_u64 {
            now += if packet % 2 == 0 { 500_000 } else { 1_500_000 };
            if let Some(new) = estimate.arrived(now, 1000) {
                (rate, changes) = (new, changes + 1);
            }
        }
        // Each window is a pair; whole numbers round its rate down.
        assert!((937_000..=937_500).contains(&rate), "{rate}");
        assert!((70..=80).contains(&changes), "one in 250 ms of 20 s: {changes}");
    }

    #[test]
    fn a_measured_rate_by_hand() {
        let mut estimate = AutoRate::default();
        // A gap of 0.3 s is above the average, a quarter of it; 3000 B / 0.3 s = 10 000 B/s, a quarter is 2500.
        assert_eq!(estimate.arrived(300_000_000, 3000), Some(2343));
        assert_eq!((estimate.peak, estimate.average_gap), (2500, 75_000_000));
        // 0.1 s later the window ends again, but the last change was less than 250 ms ago.
        assert_eq!(estimate.arrived(400_000_000, 3000), None);
        assert_eq!(estimate.peak, 2500 - 625 + 30_000 / 4);
    }

    #[test]
    fn older_kernels_change_the_rate_with_each_window() {
        let mut estimate = AutoRate::new(0, Kernel::V6_12);
        assert_eq!(estimate.arrived(300_000_000, 3000), Some(2343));
        // 2500 - 625 + 7500 = 9375, 15/16 of it.
        assert_eq!(estimate.arrived(400_000_000, 3000), Some(8789));
    }
}
