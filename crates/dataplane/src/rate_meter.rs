//! The achieved rate of packets while the link was busy.

use aqmlab_netsim::standalone_link::Passage;
use aqmlab_units::{Span, Time};

/// Measures services of which one directly followed another and both packets were written in that order. Packets of groups with
/// different delays after the link, or of a channel with jitter, may be written in another order; their services do not count.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateMeter {
    /// End of the last service, and how late the packet was written, in nanoseconds.
    last: Option<(Time, u64)>,
    bytes: u64,
    /// The services themselves: at a rate that varies, how long its packets should take.
    services: Span,
    /// From write to write, in picoseconds.
    busy: i128,
}

impl RateMeter {
    /// A packet was written so late.
    pub fn wrote(&mut self, passage: &Passage, late_ns: u64, bytes: u32) {
        if let Some((last_end, last_late)) = self.last
            && last_end == passage.start
        {
            let service = passage.end.since(passage.start);
            self.bytes += u64::from(bytes);
            self.services = self.services + service;
            self.busy += i128::from(service.0) + 1000 * (i128::from(late_ns) - i128::from(last_late));
        }
        self.last = Some((passage.end, late_ns));
    }

    /// Bits per second while busy, and how long that was; nothing without two packets that follow each other.
    pub fn achieved(&self) -> Option<(f64, Span)> {
        let busy = Span(u64::try_from(self.busy).ok().filter(|busy| *busy > 0)?);
        Some((self.bytes as f64 * 8.0 / busy.secs(), busy))
    }

    /// Bits per second of the same packets at the rates of the link; nothing if they took no time.
    pub fn configured(&self) -> Option<f64> {
        (self.services > Span::ZERO).then(|| self.bytes as f64 * 8.0 / self.services.secs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(start_ms: u64, end_ms: u64) -> Passage {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        Passage { start: at(start_ms), end: at(end_ms), ..Passage::default() }
    }

    #[test]
    fn only_services_that_follow_each_other_count() {
        let mut meter = RateMeter::default();
        assert_eq!((meter.achieved(), meter.configured()), (None, None));
        // 1000 bytes last a millisecond; the third packet comes after a pause.
        for (ms, late) in [(1, 0), (2, 500_000), (10, 0), (11, 0), (12, 0)] {
            meter.wrote(&service(ms - 1, ms), late, 1000);
        }
        let (achieved, busy) = meter.achieved().expect("busy");
        assert_eq!(busy, Span(3_500_000_000));
        assert!((achieved - 24_000.0 / 3.5e-3).abs() < 1e-6);
        assert_eq!(meter.configured(), Some(8_000_000.0));
    }

    #[test]
    fn services_that_are_written_in_another_order_do_not_count_twice() {
        let mut meter = RateMeter::default();
        // Every other packet takes a path that is 3 ms longer, as far as there are some to come; the last two follow.
        for ms in [1, 3, 5, 2, 7, 4, 9, 6, 8, 10, 12, 13] {
            meter.wrote(&service(ms - 1, ms), 0, 1000);
        }
        assert_eq!(meter.achieved(), Some((8_000_000.0, Span::from_millis(1))));
    }

    #[test]
    fn a_rate_that_varies_is_compared_with_the_rates_of_its_services() {
        let mut meter = RateMeter::default();
        // An outage of 6 ms, and two packets of one opportunity to send.
        for (start, end, late) in [(0, 1, 0), (1, 9, 0), (9, 9, 0), (9, 10, 1_000_000)] {
            meter.wrote(&service(start, end), late, 1000);
        }
        assert_eq!(meter.configured(), Some(24_000.0 / 9e-3));
        assert_eq!(meter.achieved(), Some((2_400_000.0, Span::from_millis(10))));
    }
}
