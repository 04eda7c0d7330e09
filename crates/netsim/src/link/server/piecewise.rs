//! A service over a rate that changes at known times: by `[[change]]`, along a trace, or by a random generator.
//!
//! Work is counted in bits times 10^12, so a bit rate times picoseconds is exact, and only the end of a service is rounded, to the
//! nearest picosecond. Two readings of a change while a packet is in service:
//!
//! * [`InService::RemainingBits`]: the bits that are left at the change are sent at the new rate. None are sent at a rate of 0.
//! * [`InService::AsStarted`], that of ns-2: the service lasts as long as at the rate of its start. A service that would start at a
//!   rate of 0 starts when the rate is above 0.

use std::collections::VecDeque;

use aqmlab_units::{Parameter, ParameterValue, Rate, Span, Time, ValueKind};

use super::Serve;
use crate::link::part::Keys;

/// The end of a service during which the rate stays at 0: after the end of any run.
pub(crate) const FAR: Time = Time(u64::MAX / 2);

/// Rates of a service for which memory is allocated in advance.
const ROOM: usize = 32;

const PS_PER_S: u128 = 1_000_000_000_000;

/// The end of the packet in service when the rate changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InService {
    /// Its remaining bits are sent at the new rate.
    #[default]
    RemainingBits,
    /// Its service ends as it started, as in ns-2.
    AsStarted,
}

impl InService {
    const WORDS: [&'static str; 2] = ["remaining-bits", "as-started"];

    /// The key of a link that selects the reading.
    pub const KEY: Parameter = Parameter::new(
        "in_service",
        "",
        ValueKind::Choice,
        "the packet in service when the rate changes: its remaining bits leave at the new rate, or its service ends as it started, \
         as in ns-2",
    )
    .or(&Self::WORDS)
    .default("remaining-bits");

    /// Read it from the keys of a link.
    pub fn read(keys: &dyn Keys) -> Self {
        match keys.value(&Self::KEY) {
            Some(ParameterValue::Word(word)) if word == Self::WORDS[1] => Self::AsStarted,
            _ => Self::RemainingBits,
        }
    }

    /// Return its word in a scenario file.
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }
}

/// The rest of a service, in bits times 10^12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Work(u128);

impl Work {
    const PER_BYTE: u128 = 8 * PS_PER_S;

    /// Return the work of a whole packet.
    pub fn of(bytes: u32) -> Self {
        Self(u128::from(bytes) * Self::PER_BYTE)
    }

    /// More than a server does in any run.
    pub const ENDLESS: Self = Self((1 << 60) * Self::PER_BYTE);

    /// Return the bits, of which the last may be a part.
    pub fn bits(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// Return the difference to the work left.
    pub fn without(self, left: Self) -> Self {
        Self(self.0 - left.0)
    }

    /// Return the bytes, of which the last may be a part.
    pub fn bytes(self) -> u64 {
        self.0.div_ceil(Self::PER_BYTE) as u64
    }

    /// Return the rest after so many bytes.
    pub fn after(self, bytes: u64) -> Self {
        Self(self.0.saturating_sub(u128::from(bytes) * Self::PER_BYTE))
    }
}

/// The longest packet whose work has 64 bits, rounding included.
const SHORT: u32 = 2_000_000;

/// A rate as a server: the segments of a rate over time.
impl Serve for Rate {
    #[inline]
    fn constant_time(&self, bytes: u32) -> Option<Span> {
        let work = u64::from(bytes.min(SHORT)) * Work::PER_BYTE as u64;
        (bytes <= SHORT).then(|| (work + self.0 / 2).checked_div(self.0)).flatten().map(Span)
    }

    fn serve_until(&mut self, start: Time, work: Work, until: Time) -> Result<Time, Work> {
        let rate = u128::from(self.0);
        if rate == 0 {
            return Err(work);
        }
        let rounded = work.0 + rate / 2;
        // A division of 64 bits where that is enough: up to 2 MB.
        let span = match u64::try_from(rounded) {
            Ok(rounded) => rounded / self.0,
            Err(_) => u64::try_from(rounded / rate).unwrap_or(u64::MAX),
        };
        let end = start + Span(span);
        if end <= until { Ok(end) } else { Err(Work(work.0 - rate * u128::from(until.since(start).0))) }
    }

    fn rate_at(&self, _time: Time) -> Rate {
        *self
    }
}

/// A server and its replacements: `S` yields the time of each replacement, in order, and the server from then on. They are
/// taken one by one, when a service reaches them, so that a generator can draw them; it ends, or yields a rate above 0 again and again.
#[derive(Clone, Debug)]
pub(crate) struct Piecewise<S, N = Rate> {
    now: N,
    /// Since when.
    since: Time,
    next: Option<(Time, N)>,
    steps: S,
    in_service: InService,
    /// The rates from the start of the last service to `since`, and from when on each.
    passed: VecDeque<(Time, Rate)>,
}

impl<N: Serve + Clone, S: Iterator<Item = (Time, N)> + Clone> Piecewise<S, N> {
    /// Start with a server at time 0.
    pub fn new(first: N, mut steps: S, in_service: InService) -> Self {
        let next = steps.next();
        Self { now: first, since: Time::ZERO, next, steps, in_service, passed: VecDeque::with_capacity(ROOM) }
    }

    /// Return when the next server replaces the present one.
    #[inline]
    fn change(&self) -> Time {
        self.next.as_ref().map_or(Time::NEVER, |(at, _)| *at)
    }

    /// Let `skip` leave out steps that end before `start`, if the next one begins long before.
    #[inline]
    pub fn skip(&mut self, start: Time, long: Span, skip: impl FnOnce(&mut S)) {
        if self.change() + long < start {
            skip(&mut self.steps);
            self.next = self.steps.next();
        }
    }

    /// Go on to the next server.
    #[inline]
    fn step(&mut self) {
        if let Some((at, server)) = self.next.take() {
            (self.now, self.since) = (server, at);
            self.next = self.steps.next();
        }
    }

    /// Go on to the server at the start of a service.
    #[inline]
    fn start(&mut self, start: Time) {
        self.passed.clear();
        while self.change() <= start {
            self.step();
        }
    }

    /// Remember the rate of the present server, for [`Serve::rate_at`].
    #[inline]
    fn pass(&mut self) {
        let rate = self.now.rate_at(self.since);
        if self.passed.back().is_none_or(|last| last.1 != rate) {
            self.passed.push_back((self.since, rate));
        }
    }
}

impl<N: Serve + Clone, S: Iterator<Item = (Time, N)> + Clone> Serve for Piecewise<S, N> {
    fn arrived(&mut self, arrival: Time) {
        self.now.arrived(arrival);
    }

    /// In a few steps if the present server is a rate and serves the whole packet.
    #[inline]
    fn serve(&mut self, start: Time, bytes: u32) -> Span {
        let change = self.change().min(FAR);
        if start < change
            && let Some(time) = self.now.constant_time(bytes)
            && start + time <= change
        {
            self.passed.clear();
            return time;
        }
        let end = self.serve_until(start, Work::of(bytes), Time::NEVER);
        end.map_or(FAR, |end| end.min(FAR)).since(start)
    }

    fn serve_until(&mut self, mut start: Time, mut work: Work, until: Time) -> Result<Time, Work> {
        self.start(start);
        loop {
            let change = self.change();
            let stop = match self.in_service {
                InService::RemainingBits => change.min(until),
                InService::AsStarted => Time::NEVER,
            };
            match self.now.serve_until(start, work, stop) {
                Ok(end) => return Ok(end),
                Err(left) if until <= change => return Err(left),
                Err(left) => (work, start) = (left, change),
            }
            self.pass();
            self.step();
        }
    }

    fn rate_at(&self, time: Time) -> Rate {
        if time < self.since {
            let passed = self.passed.iter().rev().find(|(from, _)| *from <= time);
            return passed.or(self.passed.front()).map_or(Rate(0), |(_, rate)| *rate);
        }
        if time < self.change() {
            return self.now.rate_at(time);
        }
        let mut ahead = self.clone();
        ahead.start(time);
        ahead.now.rate_at(time)
    }
}

#[cfg(test)]
mod tests {
    use aqmlab_units::Stream;

    use super::*;

    const MS: u64 = 1_000_000_000;

    fn at(ms: u64) -> Time {
        Time(ms * MS)
    }

    /// 8 Mbit/s (1 us a byte) until 1 ms, 4 Mbit/s until 3 ms, 0 until 10 ms, then 16 Mbit/s.
    fn server(in_service: InService) -> Piecewise<std::array::IntoIter<(Time, Rate), 3>> {
        let steps = [(at(1), Rate(4_000_000)), (at(3), Rate(0)), (at(10), Rate(16_000_000))];
        Piecewise::new(Rate(8_000_000), steps.into_iter(), in_service)
    }

    fn ends(in_service: InService, services: &[(u64, u32)]) -> Vec<u64> {
        let mut server = server(in_service);
        services
            .iter()
            .map(|&(us, bytes)| us + server.serve(Time(us * MS / 1000), bytes).0 * 1000 / MS)
            .collect()
    }

    #[test]
    fn remaining_bits_leave_at_the_new_rate() {
        use InService::RemainingBits;
        // 400 bytes until 1 ms, and 600 at half the rate.
        assert_eq!(ends(RemainingBits, &[(600, 1000)]), [2200]);
        // 1000 bytes until 1 ms, 1000 until 3 ms, 500 at twice the first rate from 10 ms on.
        assert_eq!(ends(RemainingBits, &[(0, 2500)]), [10_250]);
        // A service that ends at a change has ended; one that starts there has the new rate.
        assert_eq!(ends(RemainingBits, &[(0, 1000), (1000, 1000), (3000, 1000)]), [1000, 3000, 10_500]);
        assert_eq!(ends(RemainingBits, &[(5000, 1000), (20_000, 1000)]), [10_500, 20_500]);
    }

    #[test]
    fn a_service_ends_as_it_started() {
        use InService::AsStarted;
        assert_eq!(ends(AsStarted, &[(600, 1000), (1600, 1000)]), [1600, 3600]);
        assert_eq!(ends(AsStarted, &[(0, 2500), (2500, 1000)]), [2500, 4500]);
        // None starts while the rate is 0.
        assert_eq!(ends(AsStarted, &[(5000, 1000)]), [10_500]);
    }

    #[test]
    fn rates_are_known_during_and_after_services() {
        let rates =
            |server: &Piecewise<_, _>| [0, 2, 5, 10, 99].map(|ms| server.rate_at(at(ms)).0 / 1_000_000);
        let mut server = server(InService::RemainingBits);
        assert_eq!(rates(&server), [8, 4, 0, 16, 16]);
        server.serve(Time::ZERO, 2500);
        assert_eq!(rates(&server), [8, 4, 0, 16, 16]);
    }

    #[test]
    fn a_rate_of_0_to_the_end_ends_no_service() {
        for in_service in [InService::RemainingBits, InService::AsStarted] {
            let mut server = Piecewise::new(Rate(8_000_000), [(at(1), Rate(0))].into_iter(), in_service);
            assert_eq!(server.serve(at(2), 1), FAR.since(at(2)));
            assert_eq!(server.serve(at(3), u32::MAX), FAR.since(at(3)));
        }
    }

    #[test]
    fn steps_can_be_drawn_one_by_one() {
        // Rates at random, each for 1 ms: no work is lost or done twice.
        let mut rng = Stream::new(1, "steps");
        let steps = (1u64..).map(move |n| (at(n), Rate((rng.uniform() * 3.0) as u64 * 8_000_000)));
        let all: Vec<_> = steps.clone().take(2000).collect();
        let mut server = Piecewise::new(Rate(0), steps, InService::RemainingBits);
        let (mut time, mut bytes) = (Time::ZERO, 0);
        for length in (1..1500).cycle().take(1000) {
            time += server.serve(time, length);
            bytes += u128::from(length);
        }
        let sent: u128 = all
            .windows(2)
            .map(|pair| u128::from(pair[0].1.0) * u128::from(pair[1].0.min(time).since(pair[0].0).0))
            .sum();
        let expected = bytes * Work::PER_BYTE;
        // Each end is rounded by half a picosecond at most.
        assert!(sent.abs_diff(expected) <= 1000 * 16_000_000, "{sent} {expected}");
    }
}
