//! The achieved rate of packets while the link was busy.

use aqmlab_units::{Rate, Span, Time};

/// Measures intervals in which one service directly followed another and both packets were written in that order. Packets
/// of groups with different delays after the link may be written in another order; their intervals do not count.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateMeter {
    /// End of the last service, and how late the packet was written, in nanoseconds.
    last: Option<(Time, u64)>,
    bytes: u64,
    /// From write to write, in picoseconds.
    busy: i128,
}

/// The largest rounding error between the ends of two services that follow each other.
const ROUNDING: Span = Span(1000);

impl RateMeter {
    /// A packet whose service ended then was written so late.
    pub fn wrote(&mut self, service_end: Time, late_ns: u64, bytes: u32, rate: Rate) {
        let transmission = rate.time_of(u64::from(bytes));
        if let Some((last_end, last_late)) = self.last {
            let between = service_end.since(last_end);
            if between <= transmission + ROUNDING && transmission <= between + ROUNDING {
                self.bytes += u64::from(bytes);
                self.busy += i128::from(between.0) + 1000 * (i128::from(late_ns) - i128::from(last_late));
            }
        }
        self.last = Some((service_end, late_ns));
    }

    /// Bits per second while busy, and how long that was; nothing without two packets that follow each other.
    pub fn achieved(&self) -> Option<(f64, Span)> {
        let busy = Span(u64::try_from(self.busy).ok().filter(|busy| *busy > 0)?);
        Some((self.bytes as f64 * 8.0 / busy.secs(), busy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_services_that_follow_each_other_count() {
        let rate = Rate(8_000_000);
        let mut meter = RateMeter::default();
        assert_eq!(meter.achieved(), None);
        // 1000 bytes last a millisecond; the third packet comes after a pause.
        for (ms, late) in [(1, 0), (2, 500_000), (10, 0), (11, 0), (12, 0)] {
            meter.wrote(Time::ZERO + Span::from_millis(ms), late, 1000, rate);
        }
        let (achieved, busy) = meter.achieved().expect("busy");
        assert_eq!(busy, Span(3_500_000_000));
        assert!((achieved - 24_000.0 / 3.5e-3).abs() < 1e-6);
    }

    #[test]
    fn services_that_are_written_in_another_order_do_not_count_twice() {
        let rate = Rate(8_000_000);
        let mut meter = RateMeter::default();
        // Every other packet takes a path that is 3 ms longer, as far as there are some to come; the last two follow.
        for ms in [1, 3, 5, 2, 7, 4, 9, 6, 8, 10, 12, 13] {
            meter.wrote(Time::ZERO + Span::from_millis(ms), 0, 1000, rate);
        }
        assert_eq!(meter.achieved(), Some((8_000_000.0, Span::from_millis(1))));
    }
}
