//! UDP at a constant bit rate.
//!
//! As in ns-2 2.35's CBR application over UDP: the first packet leaves at `start`, the k-th after it at
//! `start + k * 8 * bytes / rate`, and none at or after `stop`. In ns-2 the order of events decides at `stop`
//! itself: the stop command was scheduled before the timer of that packet, so the packet is not sent.
//!
//! Differences from ns-2: ns-2 adds the interval as a double to the clock, which drifts by rounding (and may
//! so send a packet a hair before `stop`); here times are the exact quotients, rounded to the nearest
//! picosecond. With `stop <= start` nothing is sent.

use aqmlab_units::{Rate, Time};

/// A source that sends packets of one length at a constant bit rate.
#[derive(Clone, Debug)]
pub struct ConstantBitRate {
    bytes: u32,
    stop: Time,
    next: Time,
    start: Time,
    rate: Rate,
    sent: u64,
}

impl ConstantBitRate {
    /// Packets of `bytes` (headers included) at `rate`, from `start` on and before `stop`
    /// ([`Time::NEVER`]: without end). Neither `rate` nor `bytes` may be 0.
    pub fn new(rate: Rate, bytes: u32, start: Time, stop: Time) -> Self {
        debug_assert!(rate.0 > 0 && bytes > 0);
        Self { bytes, stop, next: start, start, rate, sent: 0 }
    }

    /// When the next packet is due; `None` when there is no more.
    pub fn next_send(&self) -> Option<Time> {
        (self.next < self.stop).then_some(self.next)
    }

    /// Sends the packet that is due: its sequence number, from 0. `None` when there is no more.
    pub fn send(&mut self) -> Option<u64> {
        self.next_send()?;
        self.sent += 1;
        self.next = self.start + self.rate.time_of(self.sent * u64::from(self.bytes));
        Some(self.sent - 1)
    }

    /// Length of every packet in bytes.
    pub fn packet_bytes(&self) -> u32 {
        self.bytes
    }

    /// Packets sent so far.
    pub fn sent(&self) -> u64 {
        self.sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(mut source: ConstantBitRate) -> Vec<Time> {
        let mut times = Vec::new();
        while let Some(t) = source.next_send() {
            assert_eq!(source.send(), Some(times.len() as u64));
            times.push(t);
        }
        assert_eq!(source.send(), None);
        times
    }

    #[test]
    fn first_at_start_none_at_stop() {
        // 1000 B at 1 Mb/s: every 8 ms.
        let source =
            |stop| ConstantBitRate::new(Rate(1_000_000), 1000, Time::from_secs(1.0), Time::from_secs(stop));
        let expected = [1.0, 1.008, 1.016].map(Time::from_secs);
        assert_eq!(times(source(1.024)), expected);
        assert_eq!(times(source(1.024_000_001)).len(), 4);
        assert_eq!(times(source(1.0)), []);
    }

    #[test]
    fn does_not_drift() {
        // 210 B at 448 kb/s: 3.75 ms; 100 B at 300 kb/s: 2.666... ms, so that packet 3k is due at 8k ms.
        let source = ConstantBitRate::new(Rate(300_000), 100, Time::ZERO, Time::from_secs(100.0));
        let times = times(source);
        assert_eq!(times.len(), 37_500);
        for (k, t) in times.iter().step_by(3).enumerate() {
            assert_eq!(t.0, k as u64 * 8_000_000_000);
        }
        assert_eq!(times[1].0, 2_666_666_667);
    }
}
