//! How slow start ends before a loss: HyStart as Linux has it, and HyStart++.
//!
//! S. Ha and I. Rhee, "Taming the elephants: New TCP slow start", Computer Networks 55(9), 2011, in the readings of
//! Linux 6. In each round of slow start, from a window of 16 on, slow start ends when
//!
//! - acknowledgements at most 2 ms apart have kept coming since the round began for longer than
//!   (least RTT + 1 ms) / 2, or the whole of it if the sender paces (ACK train); or
//! - one from the ninth sample of the round on finds the least of them above least RTT + clamp(least RTT / 8, 4 ms,
//!   16 ms) (delay increase).
//!
//! The 1 ms stands for the bursts of segmentation offload; Linux computes min(1 ms, four bursts of 64 KiB at the pacing
//! rate), which is less only above 2 Gb/s.
//!
//! P. Balasubramanian et al., RFC 9406 (HyStart++): a round whose least RTT exceeds that of the round before by
//! clamp(that / 8, 4 ms, 16 ms) begins conservative slow start, in which the window grows a quarter as fast. It goes on
//! for five rounds, and then slow start ends; a least RTT below that of the round in which it began takes it back.

use aqmlab_units::{Span, Time};

use crate::rfc::HyStart;

/// Least window for Linux's detection, in segments.
const LOW_WINDOW: f64 = 16.0;
/// Acknowledgements of a train are at most this far apart.
const TRAIN_GAP: Span = Span::from_millis(2);
/// The longest duration of a train beyond the least round-trip time.
const TRAIN_ALLOWANCE: Span = Span::from_millis(1);
/// Samples of a round before its minimum counts (both methods).
const SAMPLES: u32 = 8;
/// Bounds of the increase that counts (both methods).
const LEAST_INCREASE: Span = Span::from_millis(4);
const GREATEST_INCREASE: Span = Span::from_millis(16);
/// Conservative slow start of RFC 9406: growth divided by this, for so many rounds.
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;

const NO_SAMPLE: Span = Span(u64::MAX);

/// State of one sender in slow start.
#[derive(Clone, Debug)]
pub struct Detector {
    method: HyStart,
    paced: bool,
    /// The round is over when this segment is acknowledged.
    round_end: u64,
    round_start: Time,
    last_ack: Time,
    /// Least round-trip time of this round and of the one before.
    current: Span,
    before: Span,
    samples: u32,
    /// RFC 9406: the least of the round in which conservative slow start began, and the rounds since.
    baseline: Span,
    rounds: u32,
    conservative: bool,
}

impl Detector {
    pub fn new(method: HyStart, paced: bool) -> Self {
        Self {
            method,
            paced,
            round_end: 0,
            round_start: Time::ZERO,
            last_ack: Time::ZERO,
            current: NO_SAMPLE,
            before: NO_SAMPLE,
            samples: 0,
            baseline: NO_SAMPLE,
            rounds: 0,
            conservative: false,
        }
    }

    /// Begins a round that lasts until segment `next` is acknowledged.
    pub fn begin_round(&mut self, now: Time, next: u64) {
        self.round_start = now;
        self.last_ack = now;
        self.round_end = next;
        self.before = self.current;
        self.current = NO_SAMPLE;
        self.samples = 0;
    }

    /// Return the divisor of growth in slow start.
    pub fn divisor(&self) -> f64 {
        if self.conservative { CSS_GROWTH_DIVISOR } else { 1.0 }
    }

    /// Take the round-trip sample of an acknowledgement in slow start, and return whether slow start ends. `least` is
    /// the minimum so far.
    pub fn ends(&mut self, now: Time, rtt: Span, least: Span, cwnd: f64, (una, next): (u64, u64)) -> bool {
        match self.method {
            HyStart::Off => false,
            HyStart::Linux => self.ends_as_linux(now, rtt, least, cwnd, (una, next)),
            HyStart::PlusPlus => self.ends_conservatively(now, rtt, (una, next)),
        }
    }

    fn ends_as_linux(
        &mut self,
        now: Time,
        rtt: Span,
        least: Span,
        cwnd: f64,
        (una, next): (u64, u64),
    ) -> bool {
        if una > self.round_end {
            self.begin_round(now, next);
        }
        if cwnd < LOW_WINDOW {
            return false;
        }
        let mut ends = false;
        if now.since(self.last_ack) <= TRAIN_GAP {
            self.last_ack = now;
            let longest = least + TRAIN_ALLOWANCE;
            ends = now.since(self.round_start) > if self.paced { longest } else { Span(longest.0 / 2) };
        }
        self.current = self.current.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else {
            ends |= self.current > least + increase(least);
        }
        ends
    }

    fn ends_conservatively(&mut self, now: Time, rtt: Span, (una, next): (u64, u64)) -> bool {
        if una >= self.round_end {
            self.begin_round(now, next);
            self.rounds += u32::from(self.conservative);
            if self.rounds >= CSS_ROUNDS {
                return true;
            }
        }
        self.current = self.current.min(rtt);
        self.samples += 1;
        if self.samples < SAMPLES || self.before == NO_SAMPLE {
            return false;
        }
        if self.conservative {
            self.conservative = self.current >= self.baseline;
        } else if self.current >= self.before + increase(self.before) {
            self.conservative = true;
            self.baseline = self.current;
            self.rounds = 0;
        }
        false
    }
}

/// The increase over a round-trip time that counts.
fn increase(rtt: Span) -> Span {
    Span(rtt.0 / 8).clamp(LEAST_INCREASE, GREATEST_INCREASE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: Span = Span::from_millis(40);

    fn at(us: u64) -> Time {
        Time(us * 1_000_000)
    }

    #[test]
    fn a_train_longer_than_half_the_least_round_trip_ends_slow_start() {
        let mut detector = Detector::new(HyStart::Linux, false);
        detector.begin_round(at(0), 100);
        // (40 + 1) / 2 = 20.5 ms.
        let ends: Vec<bool> =
            (1..=11).map(|k| detector.ends(at(2000 * k), LEAST, LEAST, 20.0, (50, 120))).collect();
        assert_eq!(ends.iter().position(|&end| end), Some(10), "at 22 ms");
        detector.begin_round(at(0), 100);
        assert!(!detector.ends(at(2001), LEAST, LEAST, 20.0, (50, 120)), "no train");
        assert!(!detector.ends(at(30_000), LEAST, LEAST, 20.0, (50, 120)));
        let mut paced = Detector::new(HyStart::Linux, true);
        paced.begin_round(at(0), 100);
        let ends: Vec<bool> =
            (1..=21).map(|k| paced.ends(at(2000 * k), LEAST, LEAST, 20.0, (50, 120))).collect();
        assert_eq!(ends.iter().position(|&end| end), Some(20), "41 ms");
    }

    #[test]
    fn nine_samples_above_the_least_by_an_eighth_end_slow_start() {
        let mut detector = Detector::new(HyStart::Linux, false);
        let slow = LEAST + Span::from_millis(5);
        let mut ends = |rtt: Span| {
            detector.begin_round(at(0), 100);
            (1..=9).map(|k| detector.ends(at(5000 * k), rtt, LEAST, 16.0, (50, 120))).collect::<Vec<_>>()
        };
        assert_eq!(ends(slow), [false; 9]);
        let found = ends(slow + Span(1));
        assert_eq!((&found[..8], found[8]), (&[false; 8][..], true));
        assert!(!detector.ends(at(50_000), slow * 2, LEAST, 15.0, (50, 120)), "small window");
    }

    #[test]
    fn conservative_slow_start_lasts_five_rounds_or_until_the_delay_falls() {
        let mut detector = Detector::new(HyStart::PlusPlus, false);
        let mut una = 0;
        let mut round = |detector: &mut Detector, rtt: Span| {
            una += 10;
            (0..8).any(|_| detector.ends(at(una), rtt, LEAST, 30.0, (una, una + 10)))
        };
        assert!(!round(&mut detector, LEAST));
        assert!(!round(&mut detector, LEAST + Span::from_millis(4)));
        assert_eq!(detector.divisor(), 1.0, "an eighth is 5 ms");
        assert!(!round(&mut detector, LEAST + Span::from_millis(10)));
        assert_eq!(detector.divisor(), 4.0);
        assert!(!round(&mut detector, LEAST));
        assert_eq!(detector.divisor(), 1.0, "spurious");
        assert!(!round(&mut detector, LEAST + Span::from_millis(10)));
        let ends: Vec<bool> = (0..5).map(|_| round(&mut detector, LEAST + Span::from_millis(20))).collect();
        assert_eq!(ends, [false, false, false, false, true]);
    }
}
