//! Samples of the delivery rate: how fast the network delivered what was in flight.
//!
//! draft-ietf-ccwg-bbr-06, section 4.1 (before: draft-cheng-iccrg-delivery-rate-estimation). A segment remembers when it
//! is sent how much had been delivered by then; when it arrives,
//!
//! ```text
//! interval = max(send_elapsed, ack_elapsed)                                (section 4.1.2.3)
//! rate = (C.delivered - P.delivered) / interval
//! ```
//!
//! of the segment that was sent last of those that arrive together. Intervals below the least round-trip time give no
//! rate. Segments are counted, not bytes.
//!
//! Parts of all versions of BBR that follow from the samples: the count of rounds, the full pipe, the time between segments.

use aqmlab_units::{Span, Time};

/// The state of the connection when a segment was last sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    pub at: Time,
    /// Of the connection then: segments delivered, when the last was, when the first of this flight was sent.
    pub delivered: u64,
    delivered_at: Time,
    first_at: Time,
    /// Segments lost by then, and in flight with this one.
    pub lost: u64,
    pub in_flight: u64,
    pub app_limited: bool,
    marked: u64,
}

/// A sample, one an acknowledgement that delivers something.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Segments per second; `None`: the interval is too short.
    pub rate: Option<f64>,
    /// Segments delivered in the interval.
    pub delivered: f64,
    /// Delivered when the segment was sent, and what was lost since.
    pub prior_delivered: u64,
    pub lost: f64,
    /// In flight when it was sent.
    pub in_flight: f64,
    pub app_limited: bool,
    /// Of those delivered in the interval, how many were marked.
    pub marked: f64,
}

/// The sampler of one sender.
#[derive(Clone, Debug)]
pub struct Deliveries {
    /// By the number of the segment, modulo its length.
    ring: Vec<Sent>,
    pub delivered: u64,
    pub lost: u64,
    pub marked: u64,
    delivered_at: Time,
    first_at: Time,
    /// Until so much is delivered, samples are limited by the application; 0: they are not.
    app_limited: u64,
    /// The segment sent last, of those that this acknowledgement delivers.
    newest: Option<(Sent, u64)>,
}

impl Default for Deliveries {
    fn default() -> Self {
        Self {
            ring: vec![Sent::default(); 16],
            delivered: 0,
            lost: 0,
            marked: 0,
            delivered_at: Time::ZERO,
            first_at: Time::ZERO,
            app_limited: 0,
            newest: None,
        }
    }
}

impl Deliveries {
    fn slot(&self, k: u64) -> usize {
        k as usize & (self.ring.len() - 1)
    }

    /// Return the state stored for segment `k`, which must be outstanding.
    pub fn sent(&self, k: u64) -> Sent {
        self.ring[self.slot(k)]
    }

    /// Segment `k` is sent, `una` being the first outstanding; with it, `in_flight` are.
    pub fn note_sent(&mut self, now: Time, k: u64, una: u64, in_flight: u64) {
        while k - una >= self.ring.len() as u64 {
            let mut longer = vec![Sent::default(); 2 * self.ring.len()];
            for other in una..k {
                longer[other as usize & (2 * self.ring.len() - 1)] = self.sent(other);
            }
            self.ring = longer;
        }
        if in_flight <= 1 {
            self.first_at = now;
            self.delivered_at = now;
        }
        let slot = self.slot(k);
        self.ring[slot] = Sent {
            at: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_at: self.first_at,
            lost: self.lost,
            in_flight,
            app_limited: self.app_limited > 0,
            marked: self.marked,
        };
    }

    /// Segment `k` has arrived.
    pub fn note_arrived(&mut self, now: Time, k: u64) {
        let sent = self.sent(k);
        self.delivered += 1;
        self.delivered_at = now;
        if self.newest.is_none_or(|(newest, number)| (sent.at, k) > (newest.at, number)) {
            self.newest = Some((sent, k));
            self.first_at = sent.at;
        }
    }

    /// Note that all data to send is in flight.
    pub fn note_app_limited(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }

    pub fn is_app_limited(&self) -> bool {
        self.app_limited > 0
    }

    /// The sample of an acknowledgement; `None` if nothing was delivered.
    pub fn sample(&mut self, least: Span) -> Option<Sample> {
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let (sent, _) = self.newest.take()?;
        let interval = sent.at.since(sent.first_at).max(self.delivered_at.since(sent.delivered_at));
        let delivered = (self.delivered - sent.delivered) as f64;
        let is_valid = interval >= least && interval > Span::ZERO;
        Some(Sample {
            rate: is_valid.then(|| delivered / interval.secs()),
            delivered,
            prior_delivered: sent.delivered,
            lost: (self.lost - sent.lost) as f64,
            in_flight: sent.in_flight as f64,
            app_limited: sent.app_limited,
            marked: (self.marked - sent.marked) as f64,
        })
    }
}

/// Rounds counted by packets: a round is over when a segment arrives that was sent after the round began.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    /// Segments delivered when the round began.
    pub next: u64,
    /// Whether this acknowledgement began a round.
    pub start: bool,
    pub count: u64,
}

impl Rounds {
    pub fn begin(&mut self, delivered: u64) {
        self.next = delivered;
    }

    pub fn update(&mut self, sample: &Sample, delivered: u64) {
        self.start = sample.prior_delivered >= self.next;
        if self.start {
            self.begin(delivered);
            self.count += 1;
        }
    }
}

/// Growth of the rate in a round with which the path is not full yet.
const GROWTH: f64 = 1.25;
/// Rounds without it after which the path is full.
const FULL_ROUNDS: u32 = 3;

/// Whether the rate has stopped growing.
#[derive(Clone, Debug, Default)]
pub struct FullPipe {
    rate: f64,
    rounds: u32,
}

impl FullPipe {
    pub fn from_rate(rate: f64) -> Self {
        Self { rate, rounds: 0 }
    }

    /// Take the rate of a round that the application did not limit.
    pub fn update(&mut self, rate: f64) {
        if rate >= self.rate * GROWTH {
            *self = Self::from_rate(rate);
        } else {
            self.rounds += 1;
        }
    }

    /// Compare with no earlier rate; a full path stays full.
    pub fn restart(&mut self) {
        if !self.is_full() {
            *self = Self::default();
        }
    }

    pub fn is_full(&self) -> bool {
        self.rounds >= FULL_ROUNDS
    }
}

/// Return the time between two segments at a rate in segments a second.
pub fn pacing_gap(rate: f64) -> Option<Span> {
    (rate > 0.0).then(|| Span::from_secs(1.0 / rate))
}

/// Stands for a random number: the output function of SplitMix64 (S. Vigna, public domain).
pub fn hash(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn the_rate_is_the_slower_of_sending_and_acknowledging() {
        let mut d = Deliveries::default();
        // Four segments 1 ms apart; they arrive from 100 ms on, 5 ms apart.
        for k in 0..4 {
            d.note_sent(ms(k), k, 0, k + 1);
        }
        d.note_arrived(ms(100), 0);
        assert_eq!(d.sample(Span::from_millis(100)).unwrap().rate, Some(10.0), "one in 100 ms");
        d.note_sent(ms(100), 4, 1, 4);
        for k in 1..4 {
            d.note_arrived(ms(100 + 5 * k), k);
            d.sample(Span::from_millis(100));
        }
        d.note_arrived(ms(200), 4);
        let sample = d.sample(Span::from_millis(100)).unwrap();
        // Delivered since 4 was sent: 1, 2, 3 and 4, in 100 ms.
        assert_eq!((sample.rate, sample.delivered, sample.prior_delivered), (Some(40.0), 4.0, 1));
        assert_eq!((sample.in_flight, sample.lost, sample.app_limited), (4.0, 0.0, false));
        assert_eq!(d.sample(Span::ZERO), None, "nothing was delivered");
    }

    #[test]
    fn an_interval_below_the_least_round_trip_gives_no_rate() {
        let mut d = Deliveries::default();
        d.note_sent(ms(0), 0, 0, 1);
        d.note_arrived(ms(50), 0);
        assert_eq!(d.sample(Span::from_millis(60)).unwrap().rate, None);
    }

    #[test]
    fn samples_of_a_round_are_limited_by_the_application() {
        let mut d = Deliveries::default();
        d.note_sent(ms(0), 0, 0, 1);
        d.note_app_limited(1);
        d.note_sent(ms(10), 1, 0, 2);
        d.note_arrived(ms(100), 0);
        assert!(!d.sample(Span::ZERO).unwrap().app_limited);
        assert!(d.is_app_limited());
        d.note_arrived(ms(110), 1);
        assert!(d.sample(Span::ZERO).unwrap().app_limited);
        assert!(!d.is_app_limited(), "more than 1 was delivered");
    }

    #[test]
    fn the_interval_of_sending_begins_with_the_segment_delivered_last() {
        let mut d = Deliveries::default();
        for k in 0..2 {
            d.note_sent(ms(10 * k), k, 0, k + 1);
        }
        // The second overtakes the first; the interval of later segments begins with the first.
        d.note_arrived(ms(100), 1);
        d.sample(Span::ZERO);
        d.note_arrived(ms(101), 0);
        d.sample(Span::ZERO);
        d.note_sent(ms(101), 2, 2, 2);
        d.note_arrived(ms(180), 2);
        // Sent in 101 ms, though acknowledged in 79.
        assert_eq!(d.sample(Span::ZERO).unwrap().rate, Some(1.0 / 0.101));
    }

    proptest! {
        #[test]
        fn rates_are_never_above_the_one_delivered_at(gap in 1u64..20, rounds in 1u64..50, window in 2u64..60) {
            let mut d = Deliveries::default();
            let (mut next, mut now) = (0, 0);
            while next < window {
                d.note_sent(ms(now), next, 0, next + 1);
                next += 1;
            }
            now = 100;
            for una in 0..rounds * window {
                d.note_arrived(ms(now), una);
                if let Some(rate) = d.sample(Span::ZERO).unwrap().rate {
                    prop_assert!(rate > 0.0 && rate <= 1000.0 / gap as f64 + 10.0 + 1e-9, "{rate}");
                }
                d.note_sent(ms(now), next, una + 1, window);
                next += 1;
                now += gap;
            }
        }
    }
}
