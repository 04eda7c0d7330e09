//! A growing receive window, and the acknowledgements that it keeps from being delayed.
//!
//! Linux 6 begins with a window of 64 KB and widens it by two segments for each that arrives, as far as its buffer allows
//! (`tcp_grow_window`); and each time it does, the next acknowledgement is not delayed. The buffer follows the bytes
//! that the program takes in a round trip (`tcp_rcvbuf_grow`). With c bytes in this one and s in the greatest before:
//!
//! ```text
//! limit = 2 c + 2 (2 c) (c - s) / s       when c > s
//! ```
//!
//! so that in slow start nearly every segment is acknowledged separately. With `window_growth` this module decides
//! when; the window itself never limits the sender here.
//!
//! # Differences from Linux
//! The round trip is the handshake's; it is not measured again. The first limit is the one that 128 KB of buffer come to with
//! full segments over Ethernet, 79 KB.

use aqmlab_units::{Span, Time};

use crate::rfc::Config;

/// Window of the handshake, and the first limit.
const FIRST_WINDOW: f64 = 65_160.0;
const FIRST_LIMIT: f64 = 80_896.0;
/// Segments that the program is taken to have had in a round trip at the start (Linux TCP_INIT_CWND).
const FIRST_ROUND: f64 = 10.0;
/// Segments by which the window grows with one.
const STEP: f64 = 2.0;

/// The window of one receiver.
#[derive(Clone, Debug)]
pub struct Growth {
    window: f64,
    limit: f64,
    /// Bytes of this round trip, of the greatest before, and when this one began.
    taken: f64,
    most: f64,
    began: Time,
}

impl Growth {
    pub fn new(config: &Config) -> Self {
        Self {
            window: FIRST_WINDOW,
            limit: FIRST_LIMIT,
            taken: 0.0,
            most: FIRST_ROUND * f64::from(config.mss),
            began: Time::ZERO,
        }
    }

    /// Data of so many bytes has arrived in order; whether the window grows. `rtt`: the handshake's.
    pub fn take(&mut self, now: Time, bytes: u64, rtt: Span, config: &Config) -> bool {
        if now.since(self.began) >= rtt {
            if self.taken > self.most {
                let twice = 2.0 * self.taken;
                let limit = twice + 2.0 * twice * (self.taken - self.most) / self.most;
                self.limit = self.limit.max(limit.min(config.window.into()));
                self.most = self.taken;
            }
            self.taken = 0.0;
            self.began = now;
        }
        self.taken += bytes as f64;
        let room = self.limit - self.window;
        let grows = bytes > 0 && room > 0.0;
        if grows {
            self.window += room.min(STEP * bytes as f64);
        }
        grows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rfc::CongestionControl;

    #[test]
    fn the_window_follows_what_arrives_in_a_round_trip() {
        let config = Config { mss: 1000, ..Config::linux(CongestionControl::Reno) };
        let mut growth = Growth::new(&config);
        let rtt = Span::from_millis(100);
        let mut round = |k: u64, segments: u64| {
            let at = |n: u64| Time::ZERO + Span::from_millis(100 * k + n);
            (0..segments).filter(|n| growth.take(at(*n), 1000, rtt, &config)).count()
        };
        // 15,736 bytes of room at two segments each; the next rounds have none until twenty in one have shown more to
        // be of use: 2 * 20 + 2 * 40 = 120 KB, of which 39,104 bytes are left.
        assert_eq!([round(1, 10), round(2, 20), round(3, 40)], [8, 0, 20]);
        // Of forty, 240 KB.
        assert_eq!(round(4, 80), 60);
    }

    #[test]
    fn the_window_stays_below_the_buffer() {
        let config = Config { window: 100_000, ..Config::linux(CongestionControl::Reno) };
        let mut growth = Growth::new(&config);
        for k in 0..2000 {
            growth.take(Time(k * 1_000_000_000), 1448, Span::from_millis(50), &config);
        }
        assert!(growth.window <= 100_000.0 && growth.window > 80_000.0);
    }
}
