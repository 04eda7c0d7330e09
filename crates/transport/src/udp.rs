//! UDP: packets at a constant bit rate, as a Poisson process, or in bursts, of one length or of lengths that are drawn.
//!
//! A source sends in periods, from a start on and before an end; a start after an end goes on with the sequence numbers
//! and restarts the pattern. With `interval = 8 bytes / rate`, where `bytes` is the [mean](Length::mean) length:
//!
//! * [`Pattern::Constant`]: the k-th packet leaves at `start + k interval`, k = 0, 1, ...
//! * [`Pattern::Poisson`]: gaps are exponential with mean `interval`, the one before the first packet too.
//! * [`Pattern::OnOff`]: a burst of `on` seconds is `max(1, floor(on / interval + 1/2))` packets at the bit rate; the
//!   first packet of the next burst follows the last of this by `interval + off`, so that `off = 0` is a constant bit
//!   rate. A period begins with a burst.
//! * [`Pattern::Arrivals`]: packets leave at times after the start and with lengths that are given; a period begins with the
//!   first of them.
//!
//! As in ns-2 2.35, no packet leaves at or after the end: the stop command was scheduled before the timer of that
//! packet.
//!
//! Times do not depend on the lengths that are drawn, only on their mean: the bit rate is the mean over many packets.
//!
//! # Relation to ns-2 2.35
//! * `Traffic/CBR` adds the interval as a double to the clock, which drifts by rounding (and may so send a packet a hair
//!   before the end); here times are the exact quotients, rounded to the nearest picosecond.
//! * `Traffic/Exponential` and `Traffic/Pareto` are on-off sources with the same number of packets in a burst and the
//!   same gap between bursts. `burst_time_` and `idle_time_` are the means of exponential or Pareto distributions;
//!   the numbers of packets and the silences are drawn from them by the same inverse transforms. They begin with a
//!   silence, here a period begins with a burst; at a stop they drop the rest of the burst, as here.
//! * ns-2 has Poisson traffic as a `Traffic/Exponential` with bursts of one packet, a rate so high that a packet takes
//!   no time, and the mean gap as `idle_time_`; here the mean gap follows from the bit rate.

use std::sync::Arc;

use aqmlab_units::{Rate, Span, Spread, Time};

use crate::Length;

/// When packets of UDP leave.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// At a constant bit rate.
    Constant,
    /// Poisson: gaps exponential.
    Poisson,
    /// Bursts at the bit rate, silent between them; times in seconds.
    OnOff {
        /// Length of a burst.
        on: Spread,
        /// Length of a silence.
        off: Spread,
    },
    /// Packets that are given, in order of time.
    Arrivals(Arc<[Arrival]>),
}

/// A packet of [`Pattern::Arrivals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Time after the start of the period.
    pub after: Span,
    /// Length in bytes, headers included.
    pub bytes: u32,
}

/// A packet of UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Sequence number, from 0.
    pub seq: u64,
    /// Length in bytes, headers included.
    pub bytes: u32,
}

/// A source of packets. The caller provides random numbers, uniform on [0, 1). For times a Poisson source takes one a packet,
/// an on-off source one for every burst and one for every silence (also where they are fixed), a constant bit rate none;
/// for lengths it is one a packet, or none where all have the same.
#[derive(Clone, Debug)]
pub struct UdpSource {
    rate: Rate,
    length: Length,
    pattern: Pattern,
    /// Packets sent so far.
    sent: u64,
    /// Their bytes.
    sent_bytes: u64,
    /// When the next packet is due.
    next: Time,
    /// None is sent then or later.
    end: Time,
    burst: Burst,
}

/// The burst in progress; a constant bit rate is a burst without end.
#[derive(Clone, Copy, Debug)]
struct Burst {
    start: Time,
    sent: u64,
    packets: u64,
}

impl UdpSource {
    /// Create a source, not yet started: packets of this length (headers included) at `rate`, which is not 0.
    pub fn new(rate: Rate, length: Length, pattern: Pattern) -> Self {
        debug_assert!(rate.0 > 0);
        let burst = Burst { start: Time::NEVER, sent: 0, packets: 0 };
        Self { rate, length, pattern, sent: 0, sent_bytes: 0, next: Time::NEVER, end: Time::ZERO, burst }
    }

    /// Begins a period: from `start` on, before `end` ([`Time::NEVER`]: without end).
    pub fn start(&mut self, start: Time, end: Time, uniform: &mut impl FnMut() -> f64) {
        self.end = end;
        match self.pattern {
            Pattern::Poisson => self.next = start + self.gap(uniform),
            Pattern::Constant | Pattern::OnOff { .. } | Pattern::Arrivals(_) => {
                self.begin_burst(start, uniform);
            }
        }
    }

    /// When the next packet is due; `None` when the period has no more.
    pub fn next_send(&self) -> Option<Time> {
        (self.next < self.end).then_some(self.next)
    }

    /// Sends the packet that is due, with random numbers for times and for lengths. `None` when there is no more.
    pub fn send(
        &mut self,
        for_time: &mut impl FnMut() -> f64,
        for_length: &mut impl FnMut() -> f64,
    ) -> Option<Datagram> {
        self.next_send()?;
        let bytes = match &self.pattern {
            Pattern::Arrivals(arrivals) => arrivals[self.burst.sent as usize].bytes,
            _ => self.length.draw(for_length),
        };
        let datagram = Datagram { seq: self.sent, bytes };
        self.sent += 1;
        self.sent_bytes += u64::from(datagram.bytes);
        match self.pattern {
            Pattern::Poisson => self.next += self.gap(for_time),
            Pattern::Constant | Pattern::OnOff { .. } => self.go_on(for_time),
            Pattern::Arrivals(_) => {
                self.burst.sent += 1;
                self.next = self.given();
            }
        }
        Some(datagram)
    }

    /// Packets sent so far.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Bytes sent so far, headers included.
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// A gap of the Poisson process.
    fn gap(&self, uniform: &mut impl FnMut() -> f64) -> Span {
        Span::from_secs(Spread::Exponential(self.interval()).draw(uniform()))
    }

    /// Seconds from packet to packet at the bit rate.
    fn interval(&self) -> f64 {
        self.length.mean() * 8.0 / self.rate.bps()
    }

    /// How long so many packets take at the bit rate: the exact quotient where all have the same length.
    fn time_of(&self, packets: u64) -> Span {
        match self.length.same() {
            Some(bytes) => self.rate.time_of(packets * u64::from(bytes)),
            None => Span::from_secs(packets as f64 * self.interval()),
        }
    }

    fn begin_burst(&mut self, start: Time, uniform: &mut impl FnMut() -> f64) {
        let packets = match &self.pattern {
            Pattern::OnOff { on, .. } => ((on.draw(uniform()) / self.interval() + 0.5) as u64).max(1),
            Pattern::Constant | Pattern::Poisson | Pattern::Arrivals(_) => u64::MAX,
        };
        self.burst = Burst { start, sent: 0, packets };
        self.next = if matches!(self.pattern, Pattern::Arrivals(_)) { self.given() } else { start };
    }

    /// When the next of the given packets is due.
    fn given(&self) -> Time {
        let Pattern::Arrivals(arrivals) = &self.pattern else { return Time::NEVER };
        arrivals.get(self.burst.sent as usize).map_or(Time::NEVER, |arrival| self.burst.start + arrival.after)
    }

    /// Next in the burst, or first of the next burst.
    fn go_on(&mut self, uniform: &mut impl FnMut() -> f64) {
        self.burst.sent += 1;
        self.next = self.burst.start + self.time_of(self.burst.sent);
        if let Pattern::OnOff { off, .. } = &self.pattern
            && self.burst.sent == self.burst.packets
        {
            let start = self.next + Span::from_secs(off.draw(uniform()));
            self.begin_burst(start, uniform);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqmlab_units::Stream;

    /// When packets leave in the period from `start` to `end` seconds.
    fn times(source: &mut UdpSource, start: f64, end: f64, mut uniform: impl FnMut() -> f64) -> Vec<Time> {
        let first = source.sent();
        source.start(Time::from_secs(start), Time::from_secs(end), &mut uniform);
        let mut times = Vec::new();
        while let Some(t) = source.next_send() {
            let seq = source.send(&mut uniform, &mut || 0.5).map(|datagram| datagram.seq);
            assert_eq!(seq, Some(first + times.len() as u64));
            times.push(t);
        }
        assert_eq!(source.send(&mut uniform, &mut || 0.5), None);
        times
    }

    fn none() -> f64 {
        unreachable!("a constant bit rate takes no random number")
    }

    /// 1000 B at 1 Mb/s: every 8 ms.
    fn source(pattern: Pattern) -> UdpSource {
        UdpSource::new(Rate(1_000_000), Length::fixed(1000), pattern)
    }

    #[test]
    fn a_constant_bit_rate_begins_at_the_start_and_ends_before_the_end() {
        let until = |end| times(&mut source(Pattern::Constant), 1.0, end, none);
        assert_eq!(until(1.024), [1.0, 1.008, 1.016].map(Time::from_secs));
        assert_eq!(until(1.024_000_001).len(), 4);
        assert_eq!(until(1.0), []);
    }

    #[test]
    fn a_constant_bit_rate_does_not_drift() {
        // 100 B at 300 kb/s: 2.666... ms, so that packet 3k is due at 8k ms.
        let mut source = UdpSource::new(Rate(300_000), Length::fixed(100), Pattern::Constant);
        let times = times(&mut source, 0.0, 100.0, none);
        assert_eq!(times.len(), 37_500);
        for (k, t) in times.iter().step_by(3).enumerate() {
            assert_eq!(t.0, k as u64 * 8_000_000_000);
        }
        assert_eq!(times[1].0, 2_666_666_667);
    }

    #[test]
    fn given_packets_leave_when_and_as_long_as_they_are_given() {
        let given = [(0, 1500), (3, 40), (3, 1500), (9, 60)];
        let arrivals =
            given.map(|(ms, bytes)| Arrival { after: Span::from_secs(f64::from(ms) / 1e3), bytes });
        let mut source =
            UdpSource::new(Rate(1), Length::fixed(1), Pattern::Arrivals(Arc::from(arrivals.to_vec())));
        for (start, end, expected) in [(1.0, 2.0, 4), (2.0, 2.003, 1)] {
            source.start(Time::from_secs(start), Time::from_secs(end), &mut none);
            let mut found = Vec::new();
            while let Some(at) = source.next_send() {
                let bytes = source.send(&mut none, &mut none).map(|datagram| datagram.bytes);
                found.push((at, bytes));
            }
            let due = |&(ms, bytes): &(i32, u32)| {
                (Time::from_secs(start) + Span::from_secs(f64::from(ms) / 1e3), Some(bytes))
            };
            assert_eq!(found, given.iter().map(due).take(expected).collect::<Vec<_>>());
        }
        assert_eq!((source.sent(), source.sent_bytes()), (5, 4600));
    }

    #[test]
    fn a_new_period_begins_the_pattern_anew() {
        let mut source = source(Pattern::Constant);
        assert_eq!(times(&mut source, 0.0, 0.010, none), [0.0, 0.008].map(Time::from_secs));
        assert_eq!(times(&mut source, 0.5, 0.509, none), [0.5, 0.508].map(Time::from_secs));
        assert_eq!(source.sent(), 4);
    }

    #[test]
    fn bursts_by_hand() {
        // 20 ms are 2.5 packets, which is 3; the silence lasts 100 ms from the end of the last packet's interval.
        let pattern = Pattern::OnOff { on: Spread::Fixed(0.020), off: Spread::Fixed(0.1) };
        let expected = [0.0, 0.008, 0.016, 0.124, 0.132, 0.140, 0.248].map(Time::from_secs);
        assert_eq!(times(&mut source(pattern), 0.0, 0.25, || 0.7), expected);
        // A burst of less than half a packet is one packet.
        let pattern = Pattern::OnOff { on: Spread::Fixed(0.001), off: Spread::Fixed(0.1) };
        assert_eq!(times(&mut source(pattern), 0.0, 0.25, || 0.7), [0.0, 0.108, 0.216].map(Time::from_secs));
    }

    #[test]
    fn bursts_without_silence_are_a_constant_bit_rate() {
        let pattern = Pattern::OnOff { on: Spread::Exponential(0.05), off: Spread::Fixed(0.0) };
        let mut stream = Stream::new(1, "bursts");
        let bursts = times(&mut source(pattern), 0.0, 10.0, || stream.uniform());
        assert_eq!(bursts, times(&mut source(Pattern::Constant), 0.0, 10.0, none));
    }

    #[test]
    fn the_numbers_that_a_burst_takes() {
        // On -ln(1/2) mean = 34.7 ms, 4.3 packets; off 2 * 0.1 * 0.25 = 50 ms.
        let pattern = Pattern::OnOff { on: Spread::Exponential(0.05), off: Spread::Uniform(0.0, 0.2) };
        let mut numbers = [0.5, 0.25, 0.5].into_iter();
        let times = times(&mut source(pattern), 0.0, 0.083, || numbers.next().expect("three at most"));
        assert_eq!(times, [0.0, 0.008, 0.016, 0.024, 0.082].map(Time::from_secs));
    }

    #[test]
    fn poisson_gaps_by_hand() {
        // -8 ms ln(1/2) before every packet, the first too.
        let gap = Span::from_secs(0.008 * core::f64::consts::LN_2);
        let times = times(&mut source(Pattern::Poisson), 1.0, 1.0 + 0.0178, || 0.5);
        assert_eq!(times, [1, 2, 3].map(|k| Time::from_secs(1.0) + gap * k));
    }

    #[test]
    fn poisson_counts_have_mean_and_variance_of_poisson() {
        let mut stream = Stream::new(2, "poisson");
        let times = times(&mut source(Pattern::Poisson), 0.0, 4000.0, || stream.uniform());
        // 125 packets/s: counts of 4000 seconds.
        let mut counts = vec![0.0; 4000];
        for t in times {
            counts[t.secs() as usize] += 1.0;
        }
        let n = counts.len() as f64;
        let mean = counts.iter().sum::<f64>() / n;
        let variance = counts.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / (n - 1.0);
        assert!((mean - 125.0).abs() < 0.6, "{mean}");
        assert!((variance / mean - 1.0).abs() < 0.07, "{variance}");
    }

    #[test]
    fn bursts_and_silences_in_distribution() {
        // Mean burst 25 packets (200 ms), mean silence 300 ms; a Pareto silence is at least 100 ms.
        let pattern =
            Pattern::OnOff { on: Spread::Exponential(0.2), off: Spread::Pareto { mean: 0.3, shape: 1.5 } };
        let mut stream = Stream::new(3, "bursts");
        let times = times(&mut source(pattern), 0.0, 20_000.0, || stream.uniform());
        let gaps: Vec<f64> = times.windows(2).map(|w| w[1].since(w[0]).secs()).collect();
        let interval = 0.008;
        let silences: Vec<f64> = gaps.iter().filter(|g| **g > 0.05).map(|g| g - interval).collect();
        let bursts = silences.len() as f64;
        let packets = times.len() as f64 / bursts;
        // E max(1, floor(X + 1/2)) for X exponential with mean m is e^(-1/2m) / (1 - e^(-1/m)) + 1 - e^(-1/2m).
        let half = libm::exp(-1.0 / 50.0);
        let expected = half / (1.0 - half * half) + 1.0 - half;
        assert!((packets / expected - 1.0).abs() < 0.02, "{packets} {expected}");
        assert!(silences.iter().all(|s| *s > 0.1 - 1e-9));
        // Median 2^(1/1.5) times the least.
        let longer = silences.iter().filter(|s| **s > 0.1 * libm::pow(2.0, 1.0 / 1.5)).count() as f64;
        assert!((longer / bursts - 0.5).abs() < 0.01, "{longer} of {bursts}");
    }

    #[test]
    fn lengths_that_are_drawn_leave_the_times_alone_and_keep_the_bit_rate() {
        let lengths = Length::drawn(Spread::Pareto { mean: 1000.0, shape: 1.2 });
        assert!(lengths.mean() < 800.0, "no packet is longer than 65,535 bytes");
        let on_off = Pattern::OnOff { on: Spread::Exponential(0.05), off: Spread::Fixed(0.0) };
        for pattern in [Pattern::Constant, Pattern::Poisson, on_off] {
            let sent_at = |length_seed| {
                let mut source = UdpSource::new(Rate(1_000_000), lengths.clone(), pattern.clone());
                let mut stream = Stream::new(4, "times");
                let mut drawn = Stream::new(length_seed, "lengths");
                source.start(Time::ZERO, Time::from_secs(2000.0), &mut || stream.uniform());
                let (mut times, mut bytes) = (Vec::new(), 0);
                while let Some(at) = source.next_send() {
                    let packet = source.send(&mut || stream.uniform(), &mut || drawn.uniform());
                    bytes += packet.map_or(0, |p| u64::from(p.bytes));
                    times.push(at);
                }
                assert_eq!((source.sent(), source.sent_bytes()), (times.len() as u64, bytes));
                let rate = bytes as f64 * 8.0 / 2000.0;
                assert!((rate / 1e6 - 1.0).abs() < 0.02, "{pattern:?}: {rate}");
                times
            };
            assert_eq!(sent_at(1), sent_at(2), "{pattern:?}");
        }
    }
}
