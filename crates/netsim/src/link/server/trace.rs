//! A rate that follows a trace: `rate = { trace = "lte.up" }`. Two readings:
//!
//! * Opportunities, as in mahimahi (Netravali et al., USENIX ATC 2015; `LinkQueue::rationalize` of its `link_queue.cc`): at each time of
//!   the trace 1500 bytes may leave. An opportunity that finds nothing is lost; a packet may take several; several packets may share
//!   one, and leave at its time, a picosecond apart. The trace repeats, its last time is the period. A packet that arrives at the time of an opportunity
//!   comes after it, unless the packet before it has left at that time.
//! * A bit rate over time, which holds until the next time of the trace, or is interpolated between them. The trace repeats, its last
//!   time is the period. Interpolated rates are means of steps of 1 ms, so that as many bits leave as under the straight line.
//!
//! A trace in a scenario's text is a list of whole numbers, in order of time, into which files are translated: `MS` or `MS*COUNT` for
//! opportunities, `NS:BPS` for a rate.
//!
//! Differences from mahimahi: it adds the 4 bytes of its tunnel's header to each packet and 1504 bytes to each opportunity, which is the
//! same for packets of 1500 bytes.

use std::sync::Arc;

use aqmlab_aqm::ParameterError;
use aqmlab_units::{Parameter, ParameterValue, Rate, Span, Time, ValueKind};

use super::piecewise::{Piecewise, Work};
use super::{InService, Serve, Server, ServerPart};
use crate::link::part::Keys;

const TRACE: Parameter = Parameter::new(
    "trace",
    "",
    ValueKind::Text,
    "file of a trace: lines of one time in ms at which 1500 bytes may leave (mahimahi), or of a time and a rate",
);
const BETWEEN: Parameter =
    Parameter::new("between", "", ValueKind::Choice, "the rate between two lines of a trace of rates")
        .or(&["hold", "interpolate"])
        .default("hold");
const ALLOWED: &str = "the name of a file with . or / in it; or times in ms, or ns:bit/s, in order";

/// Bytes that may leave at an opportunity.
const OPPORTUNITY: u64 = 1500;
const PS_PER_MS: u64 = 1_000_000_000;
const PS_PER_NS: u64 = 1000;
/// The step of interpolated rates.
const STEP: Span = Span::from_millis(1);
/// After an idle time of this length steps are skipped at once.
const LONG: Span = Span::from_millis(100);
/// The shortest trace: a rate that changes more often is a mean.
const SHORTEST_TRACE: Span = Span::from_millis(1);
/// The longest trace, 30 days: far from the last time of a run.
pub const LONGEST_TRACE: Span = Span(30 * 86_400 * 1_000_000_000_000);

/// The server of a trace.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trace {
    trace: TraceData,
    interpolates: bool,
    mean: Rate,
    in_service: InService,
}

/// A trace, checked.
#[derive(Clone, Debug, PartialEq)]
pub enum TraceData {
    /// Times above those before, and how many opportunities each is.
    Opportunities(Arc<[(Time, u64)]>),
    /// Times, from 0 on and each above the one before, and the rates from then on.
    Rates(Arc<[(Time, Rate)]>),
}

impl TraceData {
    /// Read the text of a trace in a scenario.
    ///
    /// # Errors
    /// If it is not a trace, in words.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut words = text.split_ascii_whitespace().peekable();
        let is_rates = words.peek().is_some_and(|first| first.contains(':'));
        let number = |word: &str, most: u64| word.parse().ok().filter(|n: &u64| *n <= most);
        let pair = |word: &str, by: char, unit: u64, other: u64, most: u64| {
            let (time, count) = word.split_once(by).unwrap_or((word, if by == '*' { "1" } else { "" }));
            let time = number(time, LONGEST_TRACE.0 / unit).map(|n| Time(n * unit));
            time.zip(number(count, most).filter(|n| *n >= other))
                .ok_or_else(|| format!("{word:?} is not of a trace"))
        };
        let mut all: Vec<(Time, u64)> = Vec::new();
        for word in words {
            let (time, n) = if is_rates {
                pair(word, ':', PS_PER_NS, 0, 100_000_000_000_000)?
            } else {
                pair(word, '*', PS_PER_MS, 1, u64::from(u32::MAX))?
            };
            match all.last_mut() {
                Some((last, _)) if time < *last || (time == *last && is_rates) => {
                    return Err(format!("the time of {word:?} is not after the one before"));
                }
                Some((last, count)) if time == *last => *count += n,
                _ => all.push((time, n)),
            }
        }
        let all = if is_rates {
            Self::Rates(all.into_iter().map(|(time, bps)| (time, Rate(bps))).collect())
        } else {
            Self::Opportunities(all.into())
        };
        if let Some(fault) = all.fault() { Err(fault.to_owned()) } else { Ok(all) }
    }

    /// Return the error of a trace whose times are in order.
    pub fn fault(&self) -> Option<&'static str> {
        let (first, mut empty) = match self {
            Self::Opportunities(all) => (all.first().map(|_| Time::ZERO), false),
            Self::Rates(all) => (all.first().map(|one| one.0), true),
        };
        if let Self::Rates(all) = self {
            empty = all.iter().rev().skip(1).all(|(_, rate)| rate.0 == 0);
        }
        match (first, self.period()) {
            (None, _) => Some("the trace is empty"),
            (Some(Time::ZERO), Span::ZERO) => Some("the trace lasts no time: its last time is 0"),
            (Some(Time::ZERO), _) if empty => Some("the rate is 0 for ever"),
            (Some(Time::ZERO), period) if period < SHORTEST_TRACE => Some("the trace lasts less than 1 ms"),
            (Some(Time::ZERO), _) => None,
            _ => Some("the first time of the trace is not 0"),
        }
    }

    /// Return the text of the trace in a scenario.
    pub fn text(&self) -> String {
        let words: Vec<String> = match self {
            Self::Opportunities(all) => {
                let word = |&(Time(at), n): &(Time, u64)| match n {
                    1 => (at / PS_PER_MS).to_string(),
                    n => format!("{}*{n}", at / PS_PER_MS),
                };
                all.iter().map(word).collect()
            }
            Self::Rates(all) => {
                all.iter().map(|(at, rate)| format!("{}:{}", at.0 / PS_PER_NS, rate.0)).collect()
            }
        };
        words.join(" ")
    }

    /// Return after how long the trace repeats.
    pub fn period(&self) -> Span {
        let last = match self {
            Self::Opportunities(all) => all.last().map(|one| one.0),
            Self::Rates(all) => all.last().map(|one| one.0),
        };
        last.unwrap_or_default().since(Time::ZERO)
    }

    /// Return the bits of a period until each of some times in it, in order.
    fn bits_until(&self, times: impl Iterator<Item = Time>, interpolates: bool) -> Vec<f64> {
        let (mut next, mut bits) = (0, 0.0);
        let mut until = |time: Time| match self {
            Self::Opportunities(all) => {
                while all.get(next).is_some_and(|one| one.0 <= time) {
                    bits += all[next].1 as f64 * 8.0 * OPPORTUNITY as f64;
                    next += 1;
                }
                bits
            }
            Self::Rates(all) => {
                let part = |next: usize, to: Time| {
                    let [(from, first), (end, last)] = [all[next], all[next + 1]];
                    let (part, whole) = (to.since(from).secs(), end.since(from).secs());
                    let slope = if interpolates { (last.bps() - first.bps()) / whole } else { 0.0 };
                    part * (first.bps() + slope * part / 2.0)
                };
                while next + 2 < all.len() && all[next + 1].0 <= time {
                    bits += part(next, all[next + 1].0);
                    next += 1;
                }
                bits + part(next, time)
            }
        };
        times.map(&mut until).collect()
    }

    /// Return the mean rate of a period in bit/s.
    pub fn mean_bps(&self, interpolates: bool) -> f64 {
        let bits: f64 = self.bits_until([Time(self.period().0)].into_iter(), interpolates).iter().sum();
        bits / self.period().secs()
    }

    /// Return the mean rates of so many equal parts of a period, in bit/s.
    pub fn bins(&self, count: u64, interpolates: bool) -> Vec<f64> {
        let end = |i: u64| Time((u128::from(self.period().0) * u128::from(i) / u128::from(count)) as u64);
        let mut bits = self.bits_until((0..=count).map(end), interpolates);
        // Opportunities at time 0 are those of its end.
        bits[0] = 0.0;
        let mean = |i: u64| (bits[i as usize + 1] - bits[i as usize]) / end(i + 1).since(end(i)).secs();
        (0..count).map(mean).collect()
    }

    /// Return the longest time in which nothing may leave, also across the end of a period.
    pub fn longest_outage(&self) -> Span {
        let mut longest = Span::ZERO;
        match self {
            Self::Opportunities(all) => {
                let first = all.first().map_or(Time::ZERO, |one| one.0);
                longest = first.since(Time::ZERO);
                all.windows(2).for_each(|pair| longest = longest.max(pair[1].0.since(pair[0].0)));
            }
            Self::Rates(all) => {
                let mut outage = Span::ZERO;
                // Twice, for an outage from the end to the start.
                for pair in all.windows(2).chain(all.windows(2)) {
                    outage = if pair[0].1.0 == 0 { outage + pair[1].0.since(pair[0].0) } else { Span::ZERO };
                    longest = longest.max(outage);
                }
            }
        }
        longest
    }
}

impl Trace {
    fn new(trace: TraceData, interpolates: bool) -> Self {
        let mean = Rate((trace.mean_bps(interpolates) as u64).max(1));
        Self { trace, interpolates, mean, in_service: InService::default() }
    }
}

impl ServerPart for Trace {
    const IS_RATE_OVER_TIME: bool = true;
    const PARAMETERS: &'static [Parameter] = &[TRACE, BETWEEN];
    type State = State;

    fn read(keys: &dyn Keys) -> Result<Option<Self>, ParameterError> {
        let error = |key: &str, message: String, allowed: &str| ParameterError {
            key: key.into(),
            message,
            allowed: allowed.into(),
        };
        let between = keys.value(&BETWEEN);
        let Some(ParameterValue::Text(text)) = keys.value(&TRACE) else {
            return match between {
                Some(_) => Err(error(BETWEEN.key, "needs a trace".into(), "trace = \"FILE\" beside it")),
                None => Ok(None),
            };
        };
        if text.contains(['.', '/', '\\']) {
            return Err(error(TRACE.key, format!("the file {text:?} cannot be read here"), ALLOWED));
        }
        let trace = TraceData::read(text).map_err(|message| error(TRACE.key, message, ALLOWED))?;
        if matches!(trace, TraceData::Opportunities(_)) && between.is_some() {
            let message = "has no effect on a trace of opportunities".into();
            return Err(error(BETWEEN.key, message, "with lines of a time and a rate"));
        }
        let interpolates = between == Some(ParameterValue::Word("interpolate"));
        Ok(Some(Self::new(trace, interpolates)))
    }

    fn rate(&self) -> Rate {
        self.mean
    }

    fn fastest(&self) -> Rate {
        match &self.trace {
            TraceData::Opportunities(all) => {
                Rate(all.iter().map(|one| one.1).max().unwrap_or(0) * OPPORTUNITY * 8 * 1000)
            }
            TraceData::Rates(all) => all.iter().map(|one| one.1).max().unwrap_or(Rate(0)),
        }
    }

    fn longest(&self, bytes: u64) -> Span {
        // Whole periods, and one more at the start and at the end.
        let bits = self.mean.bps() * self.trace.period().secs();
        let periods = (bytes as f64 * 8.0 / bits).ceil() + 2.0;
        Span((periods * self.trace.period().0 as f64) as u64)
    }

    fn with_in_service(self, in_service: InService) -> Server {
        Self { in_service, ..self }.into()
    }

    fn in_service(&self) -> InService {
        self.in_service
    }

    fn uses_in_service(&self) -> bool {
        matches!(self.trace, TraceData::Rates(_))
    }

    fn trace(&self) -> Option<(&TraceData, bool)> {
        Some((&self.trace, self.interpolates))
    }

    fn start(&self, _seed: u64, _link: &str) -> State {
        match &self.trace {
            TraceData::Opportunities(times) => State::Opportunities(Opportunities {
                times: times.clone(),
                mean: self.rate(),
                // None at time 0: a packet that arrives then comes after them.
                next: usize::from(times[0].0 == Time::ZERO),
                lap: 0,
                taken: 0,
                last: Time::ZERO,
                left: 0,
            }),
            TraceData::Rates(points) => {
                let steps = Rates {
                    points: points.clone(),
                    interpolates: self.interpolates,
                    next: 0,
                    lap: Span::ZERO,
                    within: Span::ZERO,
                };
                State::Rates(Box::new(Piecewise::new(Rate(0), steps, self.in_service)))
            }
        }
    }
}

/// The state of a trace in a run.
#[derive(Clone, Debug)]
pub(crate) enum State {
    Opportunities(Opportunities),
    Rates(Box<Piecewise<Rates>>),
}

impl Serve for State {
    #[inline]
    fn serve(&mut self, start: Time, bytes: u32) -> Span {
        match self {
            Self::Opportunities(state) => match state.serve_bytes(start, u64::from(bytes), Time::NEVER) {
                Ok(end) => end.since(start),
                Err(_) => super::FAR.since(start),
            },
            Self::Rates(state) => {
                state.skip(start, LONG, |steps| steps.skip_to(start));
                state.serve(start, bytes)
            }
        }
    }

    fn serve_until(&mut self, start: Time, work: Work, until: Time) -> Result<Time, Work> {
        match self {
            Self::Opportunities(state) => {
                let bytes = work.bytes();
                state.serve_bytes(start, bytes, until).map_err(|left| work.after(bytes - left))
            }
            Self::Rates(state) => {
                state.skip(start, LONG, |steps| steps.skip_to(start));
                state.serve_until(start, work, until)
            }
        }
    }

    fn rate_at(&self, time: Time) -> Rate {
        match self {
            Self::Opportunities(state) => state.mean,
            Self::Rates(state) => {
                let mut ahead = state.clone();
                ahead.skip(time, LONG, |steps| steps.skip_to(time));
                ahead.rate_at(time)
            }
        }
    }
}

/// The position in a trace of opportunities.
#[derive(Clone, Debug)]
pub(crate) struct Opportunities {
    times: Arc<[(Time, u64)]>,
    mean: Rate,
    /// The next time, of the repetition that begins at `lap`, and how many of its opportunities are taken.
    next: usize,
    lap: u64,
    taken: u64,
    /// When the last packet left or the last opportunity was taken, whichever is later, and the bytes that are left of that opportunity.
    last: Time,
    left: u64,
}

impl Opportunities {
    /// Return the time of the next opportunity.
    #[inline]
    fn at(&self) -> Time {
        Time(self.lap + self.times[self.next].0.0)
    }

    /// Go on to the next time.
    #[inline]
    fn step(&mut self) {
        self.taken = 0;
        self.next += 1;
        if self.next == self.times.len() {
            (self.next, self.lap) = (0, self.lap + self.period());
        }
    }

    #[inline]
    fn period(&self) -> u64 {
        self.times[self.times.len() - 1].0.0
    }

    /// The opportunities up to `start` are lost.
    #[inline]
    fn lose(&mut self, start: Time) {
        self.left = 0;
        for _ in 0..4 {
            if self.at() > start {
                return;
            }
            self.step();
        }
        self.lose_many(start);
    }

    #[cold]
    #[inline(never)]
    fn lose_many(&mut self, start: Time) {
        let laps = (start.0.saturating_sub(self.lap)) / self.period();
        if laps > 0 {
            (self.lap, self.next) = (self.lap + laps * self.period(), 0);
        }
        let within = Time(start.0 - self.lap);
        self.next += self.times[self.next..].partition_point(|one| one.0 <= within);
        self.taken = 0;
        if self.next == self.times.len() {
            (self.next, self.lap) = (0, self.lap + self.period());
        }
        while self.at() <= start {
            self.step();
        }
    }

    /// Return when a packet leaves whose service starts at `start`, or the bytes that are left of it at `until`.
    #[inline]
    fn serve_bytes(&mut self, start: Time, bytes: u64, until: Time) -> Result<Time, u64> {
        if start > self.last {
            self.lose(start);
        }
        let mut missing = bytes;
        while missing > self.left {
            let at = self.at();
            if at > until {
                return Err(missing - self.left);
            }
            missing -= self.left;
            self.left = OPPORTUNITY;
            self.last = at;
            self.taken += 1;
            if self.taken == self.times[self.next].1 {
                self.step();
            }
        }
        self.left -= missing;
        // Packets that share an opportunity leave one after the other, a picosecond apart.
        self.last = self.last.max(start + Span(1));
        Ok(self.last)
    }
}

/// The steps of a rate over time.
#[derive(Clone, Debug)]
pub(crate) struct Rates {
    points: Arc<[(Time, Rate)]>,
    interpolates: bool,
    /// The next point, of the repetition that begins after `lap`.
    next: usize,
    lap: Span,
    /// Since that point, if rates are interpolated.
    within: Span,
}

impl Rates {
    /// Go on to the last step that begins by a time.
    #[cold]
    fn skip_to(&mut self, time: Time) {
        let period = self.points[self.points.len() - 1].0.0;
        let within = Time(time.0 % period);
        self.lap = Span(time.0 - within.0);
        self.next = self.points.partition_point(|one| one.0 <= within) - 1;
        let since = within.since(self.points[self.next].0);
        self.within = if self.interpolates { Span(since.0 - since.0 % STEP.0) } else { Span::ZERO };
    }
}

impl Iterator for Rates {
    type Item = (Time, Rate);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (from, first) = self.points[self.next];
        let (to, last) = self.points[self.next + 1];
        let at = from + self.lap + self.within;
        let mut rate = first;
        if self.interpolates {
            let whole = to.since(from);
            let end = Span((self.within + STEP).0.min(whole.0));
            let middle = (self.within.0 + end.0) as f64 / 2.0 / whole.0 as f64;
            rate = Rate((first.bps() + (last.bps() - first.bps()) * middle).round() as u64);
            if end < whole {
                self.within = end;
                return Some((at, rate));
            }
            self.within = Span::ZERO;
        }
        self.next += 1;
        if self.next + 1 == self.points.len() {
            (self.next, self.lap) = (0, self.lap + to.since(Time::ZERO));
        }
        Some((at, rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = PS_PER_MS;

    fn start(text: &str, interpolates: bool) -> State {
        let trace = TraceData::read(text).expect("a trace");
        Trace::new(trace, interpolates).start(1, "a")
    }

    /// Ends in us of services that start at `us`, or at the end of the one before.
    fn ends(state: &mut State, services: &[(u64, u32)]) -> Vec<u64> {
        let mut free = Time::ZERO;
        let one = |&(us, bytes): &(u64, u32)| {
            let start = free.max(Time(us * MS / 1000));
            free = start + state.serve(start, bytes);
            free.0 * 1000 / MS
        };
        services.iter().map(one).collect()
    }

    #[test]
    fn opportunities_by_hand() {
        // At 1 ms, twice at 3 ms, at 10 ms; again at 11, 13, 13, 20 ms, ...
        let mut state = start("1 3*2 10", false);
        // The one at 1 ms is lost; two packets share one at 3 ms, the third takes the rest and the other; the fourth waits.
        assert_eq!(
            ends(&mut state, &[(1000, 600), (1000, 600), (0, 1500), (0, 400)]),
            [3000, 3000, 3000, 10_000]
        );
        // A packet of 3000 bytes takes two in the next repetition, since one at 10 ms is gone in part and then lost.
        assert_eq!(ends(&mut start("1 3*2 10", false), &[(10_500, 3000)]), [13_000]);
        assert_eq!(
            ends(&mut start("1 3*2 10", false), &[(0, 4500), (0, 1500), (0, 1500)]),
            [3000, 10_000, 11_000]
        );
        // After many repetitions.
        assert_eq!(ends(&mut start("1 3*2 10", false), &[(1_000_000_500, 100)]), [1_000_001_000]);
        // Opportunities at 0 are those of the end of the period.
        assert_eq!(ends(&mut start("0 5", false), &[(0, 1500), (0, 1500), (0, 1500)]), [5000, 5000, 10_000]);
    }

    #[test]
    fn rates_hold_or_are_interpolated() {
        // 8 Mbit/s until 2 ms, 0 until 6 ms, and again.
        let text = "0:8000000 2000000:0 6000000:8000000";
        assert_eq!(ends(&mut start(text, false), &[(0, 1000), (0, 1500), (0, 1000)]), [1000, 6500, 7500]);
        // From 8 to 0 Mbit/s in 2 ms: steps of 6 and 2 Mbit/s; 0, 2 and 4, 6 Mbit/s until 6 ms.
        let text = "0:8000000 2000000:0 6000000:8000000";
        assert_eq!(ends(&mut start(text, true), &[(0, 750), (0, 250), (0, 125)]), [1000, 2000, 3000]);
    }

    #[test]
    fn steps_that_are_skipped_change_no_service() {
        let text = "0:8000000 2300000:500000 6100000:3000000 707700000:0 900000000:1";
        for interpolates in [false, true] {
            // One goes through all steps; the other skips those of pauses of up to 3 s.
            let (mut all, mut skipping) = (start(text, interpolates), start(text, interpolates));
            let mut rng = aqmlab_units::Stream::new(1, "pauses");
            let mut now = Time::ZERO;
            for _ in 0..300 {
                now += Span((rng.uniform() * 3000.0 * MS as f64) as u64);
                assert_eq!(all.rate_at(now), skipping.rate_at(now));
                let (State::Rates(one), bytes) = (&mut all, 40 + rng.below(1460) as u32) else { panic!() };
                let span = one.serve(now, bytes);
                assert_eq!(span, skipping.serve(now, bytes), "{now:?}");
                now += span;
            }
        }
    }

    #[test]
    fn bounds_and_means() {
        let trace = TraceData::read("1 3*2 10").expect("a trace");
        assert_eq!(trace.mean_bps(false), 4.0 * 12_000.0 / 0.01);
        assert_eq!(trace.bins(2, false), [3.0 * 12_000.0 / 0.005, 12_000.0 / 0.005]);
        assert_eq!(trace.longest_outage(), Span::from_millis(7));
        assert_eq!(trace.text(), "1 3*2 10");
        let rates = TraceData::read("0:0 1000000:8000 3000000:0 4000000:9").expect("a trace");
        assert_eq!(rates.longest_outage(), Span::from_millis(2));
        assert_eq!(
            (rates.mean_bps(false), rates.mean_bps(true)),
            (4000.0, (4.0 + 8.0 + 0.0045) / 4.0 * 1000.0)
        );
        assert_eq!(rates.text(), "0:0 1000000:8000 3000000:0 4000000:9");
    }

    #[test]
    fn what_is_not_a_trace() {
        for (text, fault) in [
            ("", "the trace is empty"),
            ("0 0", "the trace lasts no time: its last time is 0"),
            ("0:5", "the trace lasts no time: its last time is 0"),
            ("0:0 5:0 7:9", "the rate is 0 for ever"),
            ("0:9 999999:9", "the trace lasts less than 1 ms"),
            ("1:5 7:9", "the first time of the trace is not 0"),
            ("2 1", "the time of \"1\" is not after the one before"),
            ("0:1 0:2", "the time of \"0:2\" is not after the one before"),
            ("1*0", "\"1*0\" is not of a trace"),
            ("1 x", "\"x\" is not of a trace"),
            ("99999999999999", "\"99999999999999\" is not of a trace"),
        ] {
            assert_eq!(TraceData::read(text), Err(fault.to_owned()));
        }
    }
}
