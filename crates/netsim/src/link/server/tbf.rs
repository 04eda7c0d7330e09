//! A token bucket: `rate = { tbf = "10Mbps", burst = "15KB", peakrate = "50Mbps", mtu = "1540B" }`.
//!
//! Source: tc-tbf(8); the bucket of RFC 2475, section 2.3.3.1.
//!
//! The first waiting packet leaves as soon as the bucket has a token for each of its bytes; the bucket is full at the start, gets
//! tokens at the rate, and holds at most `burst`. With `peakrate` a second bucket of `mtu` bytes has to cover the packet too.
//! For a packet of n bytes that is first at time s, with b tokens at that time:
//!
//! ```text
//! end = s + max(0, (8 n - b) / rate, (8 n - b_peak) / peakrate)
//! ```
//!
//! So in any interval of length t at most `burst + rate t` leave, and at most `mtu + peakrate t`.
//!
//! | symbol | key | unit | range |
//! |---|---|---|---|
//! | r | `tbf` | bit/s | above 0 |
//! | b | `burst` | bytes | from 1 |
//! | p | `peakrate` | bit/s | above `tbf` |
//! | m | `mtu` | bytes | from 1; together with `peakrate` |
//!
//! # Readings
//! * `limit` and `latency` of tc belong to the discipline: the queue's `limit`.
//! * A packet takes no time beyond that which it waits for tokens, but for a picosecond, so that packets have an order. Without
//!   `peakrate` a burst leaves at once, as from an interface much faster than the rate.
//! * Tokens are whole bit-picoseconds; Linux counts nanoseconds of the rate.
//! * Linux drops packets longer than `burst` (or `mtu`) or cuts them into segments. Here such a packet waits until tokens for all its bytes have come, after
//!   which the bucket is empty: the interval's bound holds with the length of the packet in place of the bucket's.

use aqmlab_aqm::ParameterError;
use aqmlab_units::{Parameter, ParameterValue, Rate, Span, Time, ValueKind};

use super::piecewise::Work;
use super::{Serve, ServerPart};
use crate::link::part::Keys;
use crate::meter::{Arithmetic, Bucket, Exact};

const RATE: Parameter =
    Parameter::new("tbf", "r", ValueKind::Rate, "token bucket: rate of the tokens").source("tc-tbf(8)");
const BURST: Parameter =
    Parameter::new("burst", "b", ValueKind::Bytes, "token bucket: bytes that may leave at once")
        .from(1.0)
        .to(1e12)
        .source("tc-tbf(8)");
const PEAKRATE: Parameter =
    Parameter::new("peakrate", "p", ValueKind::Rate, "token bucket: highest rate of a burst; none if absent")
        .source("tc-tbf(8)");
const MTU: Parameter =
    Parameter::new("mtu", "m", ValueKind::Bytes, "token bucket: bytes that may leave at once with peakrate")
        .from(1.0)
        .to(1e12)
        .source("tc-tbf(8)");

/// A token bucket, or two.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tbf {
    pub rate: Rate,
    /// Bytes.
    pub burst: u64,
    /// The peak rate, and the bytes of its bucket.
    pub peak: Option<(Rate, u64)>,
}

impl Tbf {
    fn buckets(&self) -> impl Iterator<Item = (Rate, u64)> {
        [(self.rate, self.burst)].into_iter().chain(self.peak)
    }
}

impl ServerPart for Tbf {
    const PARAMETERS: &'static [Parameter] = &[RATE, BURST, PEAKRATE, MTU];
    type State = State;

    fn read(keys: &dyn Keys) -> Result<Option<Self>, ParameterError> {
        let rate = |parameter| match keys.value(parameter) {
            Some(ParameterValue::Rate(rate)) => Some(rate),
            _ => None,
        };
        let bytes = |parameter| match keys.value(parameter) {
            Some(ParameterValue::Bytes(bytes)) => Some(bytes),
            _ => None,
        };
        let missing = |parameter: &Parameter, of: &str| {
            ParameterError::new(parameter.key, format!("is required by {of}"), &parameter.allowed())
        };
        if Self::PARAMETERS.iter().any(|key| keys.has(key.key) && keys.value(key).is_none()) {
            return Ok(None);
        }
        let all = (rate(&RATE), bytes(&BURST), rate(&PEAKRATE), bytes(&MTU));
        let peak = match all {
            (None, None, None, None) => return Ok(None),
            (None, ..) => return Err(missing(&RATE, "a token bucket")),
            (_, None, ..) => return Err(missing(&BURST, "a token bucket")),
            (_, _, None, None) => None,
            (_, _, None, _) => return Err(missing(&PEAKRATE, "mtu")),
            (_, _, _, None) => return Err(missing(&MTU, "peakrate")),
            (Some(rate), _, Some(peak), _) if peak <= rate => {
                let message = format!("peakrate ({} bit/s) is not above tbf ({} bit/s)", peak.0, rate.0);
                return Err(ParameterError::new(PEAKRATE.key, message, "tbf < peakrate"));
            }
            (_, _, Some(peak), Some(mtu)) => Some((peak, mtu)),
        };
        let (Some(rate), Some(burst), ..) = all else { return Ok(None) };
        Ok(Some(Self { rate, burst, peak }))
    }

    fn rate(&self) -> Rate {
        self.rate
    }

    fn varies_by(&self) -> Option<&'static str> {
        None
    }

    fn fastest(&self) -> Rate {
        self.peak.map_or(self.rate, |(peak, _)| peak)
    }

    /// Full buckets pass their bytes at once.
    fn least_s(&self, bytes: f64) -> f64 {
        let least = |(rate, burst): (Rate, u64)| (bytes - burst as f64).max(0.0) * 8.0 / rate.bps();
        self.buckets().map(least).fold(0.0, f64::max)
    }

    fn longest(&self, bytes: u64) -> Span {
        // A bucket may be full while a packet waits for the other one.
        self.buckets().fold(Span(2), |sum, (rate, _)| sum + rate.time_of(bytes))
    }

    fn start(&self, _seed: u64, _link: &str) -> State {
        let [first, peak] = [Some((self.rate, self.burst)), self.peak]
            .map(|one| one.map(|(rate, bytes)| (rate, Bucket::full(bytes))));
        State { buckets: [first, peak], last: Time::ZERO }
    }
}

/// The buckets, and the time for which they have their tokens.
#[derive(Clone, Debug)]
pub(crate) struct State {
    buckets: [Option<(Rate, Bucket<Exact>)>; 2],
    last: Time,
}

impl Serve for State {
    /// Nothing of a packet leaves before its end, so all of it is left when the server is replaced.
    fn serve_until(&mut self, start: Time, work: Work, until: Time) -> Result<Time, Work> {
        let bytes = u32::try_from(work.bytes()).unwrap_or(u32::MAX);
        // Packets of a burst leave one after the other, a picosecond apart.
        let mut wait = Span(1);
        for (rate, bucket) in self.buckets.iter_mut().flatten() {
            bucket.pour(Exact::earned(*rate, self.last, start));
            wait = wait.max(bucket.wait(*rate, bytes));
        }
        self.last = start + wait;
        for (rate, bucket) in self.buckets.iter_mut().flatten() {
            bucket.pay_after_wait(Exact::earned(*rate, start, self.last), bytes);
        }
        if self.last <= until { Ok(self.last) } else { Err(work) }
    }

    fn rate_at(&self, _time: Time) -> Rate {
        self.buckets[0].map_or(Rate(0), |(rate, _)| rate)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::link::Server;

    const SECOND: u128 = 1_000_000_000_000;

    /// Start of service and departure of packets that arrive at these times (ps), first in, first out.
    fn departures(tbf: &Tbf, arrivals: &[(u64, u32)]) -> Vec<Time> {
        let mut server = Server::from(tbf.clone()).start(1, "a");
        let mut free = Time::ZERO;
        let each = arrivals.iter().map(|&(at, bytes)| {
            free = free.max(Time(at));
            free += server.serve(None, free, bytes);
            free
        });
        each.collect()
    }

    /// The oracle: the level of a bucket as a quotient, in bits, of whole numbers; it is emptied and filled by fractions of
    /// the definition, and rounded only for the time. A packet leaves at the smallest time t > s with b(t) >= 8 n in all buckets.
    fn expected(tbf: &Tbf, arrivals: &[(u64, u32)]) -> Vec<Time> {
        let buckets: Vec<_> =
            tbf.buckets().map(|(rate, bytes)| (u128::from(rate.0), u128::from(bytes) * 8)).collect();
        // The numerators of the levels, over SECOND, and the times for which they are.
        let mut levels: Vec<_> = buckets.iter().map(|(_, bits)| bits * SECOND).collect();
        let (mut last, mut departures) = (0u64, Vec::new());
        for &(at, bytes) in arrivals {
            let start = last.max(at);
            let need = u128::from(bytes) * 8 * SECOND;
            for ((rate, bits), level) in buckets.iter().zip(&mut levels) {
                *level = (*level + rate * u128::from(start - last)).min(bits * SECOND);
            }
            let ready =
                |t: u128| buckets.iter().zip(&levels).all(|((rate, _), level)| level + rate * t >= need);
            let slowest =
                buckets.iter().zip(&levels).map(|((rate, _), level)| need.saturating_sub(*level) / rate);
            let mut wait = slowest.max().unwrap_or(0).max(1);
            while !ready(wait) {
                wait += 1;
            }
            assert!(wait == 1 || !ready(wait - 1));
            for ((rate, bits), level) in buckets.iter().zip(&mut levels) {
                *level = (*level + rate * wait).min((bits * SECOND).max(need)) - need;
            }
            last = start + wait as u64;
            departures.push(Time(last));
        }
        departures
    }

    #[test]
    fn by_hand() {
        // 8 Mbit/s: a byte is 1 us. A burst of 3000 bytes leaves at once; from then on a packet of 1000 each ms.
        let tbf = Tbf { rate: Rate(8_000_000), burst: 3000, peak: None };
        let micros = |all: Vec<Time>| all.iter().map(|t| t.0 / 1_000_000).collect::<Vec<_>>();
        assert_eq!(micros(departures(&tbf, &[(0, 1000); 6])), [0, 0, 0, 1000, 2000, 3000]);
        // After 1.5 ms without packets 1500 bytes may leave; after a second no more than the burst.
        let ms = 1_000_000_000;
        let pauses = [(0, 3000), (3 * ms / 2, 1500), (3 * ms / 2, 10), (1000 * ms, 3000), (1000 * ms, 1)];
        assert_eq!(micros(departures(&tbf, &pauses)), [0, 1500, 1510, 1_000_000, 1_000_001]);
        // The peak rate spaces the burst: 16 Mbit/s are 0.5 us a byte, and its bucket has one packet.
        let peak = Tbf { peak: Some((Rate(16_000_000), 1000)), ..tbf.clone() };
        assert_eq!(micros(departures(&peak, &[(0, 1000); 7])), [0, 500, 1000, 1500, 2000, 3000, 4000]);
        // A packet longer than the burst waits for all its tokens.
        assert_eq!(micros(departures(&tbf, &[(0, 4000), (0, 100)])), [1000, 1100]);
    }

    fn buckets() -> impl Strategy<Value = Tbf> {
        let peak = prop::option::of((1u64..1_000_000_000, 1u64..20_000));
        (1_000u64..1_000_000_000, 1u64..20_000, peak).prop_map(|(rate, burst, peak)| Tbf {
            rate: Rate(rate),
            burst,
            peak: peak.map(|(more, mtu)| (Rate(rate + more), mtu)),
        })
    }

    fn arrivals() -> impl Strategy<Value = Vec<(u64, u32)>> {
        let one = (
            prop_oneof![3 => Just(0u64), 5 => 0..5_000_000_000u64, 1 => 0..1_000_000_000_000u64],
            1u32..3000,
        );
        prop::collection::vec(one, 1..200).prop_map(|mut all| {
            let mut now = 0;
            for (at, _) in &mut all {
                now += *at;
                *at = now;
            }
            all
        })
    }

    proptest! {
        #[test]
        fn departures_are_those_of_the_definition(tbf in buckets(), arrivals in arrivals()) {
            prop_assert_eq!(departures(&tbf, &arrivals), expected(&tbf, &arrivals));
        }

        #[test]
        fn no_interval_has_more_than_burst_and_rate(tbf in buckets(), arrivals in arrivals()) {
            let departures = departures(&tbf, &arrivals);
            let longest = arrivals.iter().map(|one| u64::from(one.1)).max().unwrap_or(0);
            for (rate, size) in tbf.buckets() {
                for first in 0..departures.len() {
                    let mut bits = 0;
                    for last in first..departures.len() {
                        bits += u128::from(arrivals[last].1) * 8;
                        let time = u128::from(departures[last].since(departures[first]).0);
                        let most = u128::from(size.max(longest)) * 8 * SECOND + u128::from(rate.0) * time;
                        prop_assert!(bits * SECOND <= most);
                    }
                }
            }
        }

        #[test]
        fn a_backlog_leaves_at_the_rate(tbf in buckets(), bytes in 1u32..1500) {
            let all = vec![(0, bytes); 2000];
            let departures = departures(&tbf, &all);
            let bits = 8 * u128::from(bytes) * 2000 - 8 * u128::from(tbf.burst.min(2000 * u64::from(bytes)));
            let end = u128::from(departures[1999].0);
            // The rate to one packet, unless the peak rate's bucket is what lasts.
            let least = bits * SECOND / u128::from(tbf.rate.0);
            prop_assert!(end + 1 >= least);
            let longest = Server::from(tbf.clone()).longest(u64::from(bytes) * 2000);
            prop_assert!(end <= u128::from(longest.0));
        }
    }
}
