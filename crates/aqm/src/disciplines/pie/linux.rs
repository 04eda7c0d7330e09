//! The controller of PIE in the integers of Linux (`net/sched/sch_pie.c`, `include/net/pie.h`; the same decisions in Linux 6.1, 6.12 and
//! 7.3).
//!
//! A tick of time is 64 ns. A probability is an integer of 64 bits, of which 1 is `2^56 - 1`:
//!
//! ```text
//! change = alpha (delay - target) + beta (delay - old delay)            alpha, beta in (2^56 - 1)/(16 ticks per second)
//! ```
//!
//! Below a tenth both gains are halved, and then quartered for each power of ten that the probability is below 10^-2, down to 10^-6.
//! Differences from RFC 8033, all of which are here too:
//!
//! * A step from a tenth on is at most 0.02, and a delay above 250 ms adds another 0.02 at any probability.
//! * A delay of 0 at two steps takes 1/64 of the probability, unless bytes wait.
//! * The burst allowance shrinks with the time between departures, or between estimates of the rate. It is restored by a step that
//!   finds both delays below half of the target and the probability 0.
//! * The delay of the present step, not of the step before, spares packets below half of the target.
//! * Drops are spaced always. A mark by the sum of probabilities (8.5) leaves the sum, so that marks follow each other until a drop.
//! * The probability stops at `2^64`, not at 1: an overload that lasts raises it to as much as 256.
//! * Two packets of the MTU with the link's header are spared, less than which wait.
//! * A new measurement replaces an eighth of the estimate of the rate.

use aqmlab_units::{Span, Time};

use super::control::Delay;
use crate::disciplines::ParameterReader;
use crate::{Backlog, DropReason, Gauge, Host, Meta, Value, Verdict};

/// The probability 1.
const ONE: u64 = u64::MAX >> 8;
/// Picoseconds of a tick (`PSCHED_SHIFT`).
const TICK_PS: u64 = 64_000;
/// The largest gain of tc, in sixteenths.
const MOST_SIXTEENTHS: f64 = 32.0;
const TICKS_PER_SECOND: u64 = 1_000_000_000_000 / TICK_PS;
/// Delay from which the probability grows faster.
const LONG_DELAY: u64 = TICKS_PER_SECOND / 4;
/// Bytes of a measurement of the rate, and of the queue that begins one.
const QUEUE_THRESHOLD: u64 = 16_384;
/// Binary digits after the point of a rate in bytes per tick.
const RATE_SHIFT: u32 = 8;
/// Time between two interrupts of the kernel's clock (`CONFIG_HZ` is 250 in Debian).
pub(crate) const JIFFY: Span = Span::from_millis(4);
/// The first step comes so long after the start.
const FIRST_STEP: Span = Span::from_millis(500);

fn ticks(time: Time) -> u64 {
    time.0 / TICK_PS
}

/// The constants of the controller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    /// In ticks.
    target: u64,
    /// In ticks.
    max_burst: u64,
    /// Per second, in sixteenths.
    alpha: u64,
    /// Per second, in sixteenths.
    beta: u64,
    /// Largest packet with the link's header.
    mtu: u64,
    delay: Delay,
    in_bytes: bool,
    /// Largest probability at which ECN marks; `None` without ECN.
    mark_up_to: Option<u64>,
    /// Time between two steps, in whole jiffies.
    pub t_update: Span,
}

impl Law {
    /// Read the constants. `mark_up_to` converts a number of percent to a probability.
    pub fn read(reader: &mut ParameterReader<'_>, mark_up_to: fn(u64) -> u64) -> Self {
        let mut sixteenths = |key, default: f64| {
            let gain = libm::rint(reader.set_number(key).unwrap_or(default) * 16.0);
            if gain > MOST_SIXTEENTHS {
                reader.exceeds_linux(key, Value::Number(MOST_SIXTEENTHS / 16.0));
                reader.known(key, Value::Number(gain / 16.0));
            } else {
                reader.rounded_in_linux(key, Value::Number(gain / 16.0));
            }
            gain as u64
        };
        let (alpha, beta) = (sixteenths("alpha", 0.125), sixteenths("beta", 1.25));
        let t_update = reader.linux_time("t_update", Span::from_millis(15));
        let t_update = Span(t_update.0.div_ceil(JIFFY.0) * JIFFY.0);
        // tc keeps it as it is set.
        reader.warn_if_rounded("t_update", &Value::Seconds(t_update.secs()), "in the dialect of Linux");
        let percent = libm::rint(reader.set_number("mark_up_to").unwrap_or(0.1) * 100.0) as u64;
        reader.rounded_in_linux("mark_up_to", Value::Number(percent as f64 / 100.0));
        reader.differs_from_linux("max_burst", Value::Seconds(0.15));
        reader.has_largest_packet_of_device("mean_packet");
        reader.fixed_in_linux("auto_tune", Value::Word("rfc8033".to_owned()));
        reader.fixed_in_linux("cap_adjustment", Value::Flag(true));
        reader.fixed_in_linux("derandomize", Value::Flag(true));
        reader.fixed_in_linux("decay", Value::Word("empty".to_owned()));
        Self {
            target: reader.linux_time("target", Span::from_millis(15)).0 / TICK_PS,
            max_burst: reader.time("max_burst", Span::from_millis(150)).0 / TICK_PS,
            alpha,
            beta,
            mtu: reader.bytes("mean_packet", 1514),
            delay: reader.word("delay", &super::DELAY_WORDS),
            in_bytes: reader.flag("byte_mode", false),
            mark_up_to: reader.flag("ecn", false).then(|| mark_up_to(percent)),
            t_update,
        }
    }

    /// Return the change of a probability by a step, without the decay.
    fn change(&self, p: u64, delay: u64, old: u64) -> i64 {
        let mut shift = 0;
        if p < ONE / 10 {
            shift = 1;
            let mut power = 100;
            while power <= 1_000_000 && p < ONE / power {
                shift += 2;
                power *= 10;
            }
        }
        let gain = |sixteenths: u64| sixteenths.wrapping_mul(ONE / TICKS_PER_SECOND) >> 4 >> shift;
        let distance = gain(self.alpha).wrapping_mul(delay.wrapping_sub(self.target));
        let trend = gain(self.beta).wrapping_mul(delay.wrapping_sub(old));
        let mut change = distance.wrapping_add(trend) as i64;
        if change > (ONE / 50) as i64 && p >= ONE / 10 {
            change = (ONE / 100 * 2) as i64;
        }
        if delay > LONG_DELAY { change.wrapping_add((ONE / 50) as i64) } else { change }
    }
}

/// The threshold of PIE's marks, of which the kernel has only 10 %.
pub(super) fn by_tenths(percent: u64) -> u64 {
    if percent == 10 { ONE / 10 } else { by_percent(percent) }
}

/// The threshold of FQ-PIE's marks.
pub(crate) fn by_percent(percent: u64) -> u64 {
    ONE / 100 * percent
}

/// State of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Control {
    p: u64,
    /// The delay in ticks, and that of the step before.
    delay: u64,
    old: u64,
    measured: Measured,
}

/// The part of the state that a quiet queue resets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Measured {
    /// Burst allowance in ticks.
    burst: u64,
    /// The last departure, or the start of a measurement of the rate.
    since: Option<u64>,
    /// The sum of probabilities since the last drop.
    accumulated: u64,
    /// Bytes departed in this measurement.
    departed: Option<u64>,
    /// Estimate of the rate in bytes per tick, in units of 1/256; 0 while unknown.
    rate: u32,
}

impl Measured {
    fn new(law: &Law) -> Self {
        Self { burst: law.max_burst, since: None, accumulated: 0, departed: None, rate: 0 }
    }
}

impl Control {
    /// Create the state for an empty queue.
    pub fn new(law: &Law) -> Self {
        Self { p: 0, delay: 0, old: 0, measured: Measured::new(law) }
    }

    /// Decide about an arriving packet, for which there is room.
    pub fn decide<P>(&mut self, law: &Law, meta: &Meta, before: Backlog, host: &mut impl Host<P>) -> Verdict {
        if !self.hits(law, meta.bytes, before, host) {
            return Verdict::Accept;
        }
        let may_mark = law.mark_up_to.is_some_and(|up_to| self.p <= up_to);
        let verdict = Verdict::signal(DropReason::EARLY, may_mark, meta);
        if matches!(verdict, Verdict::Drop(_)) {
            self.dropped();
        }
        verdict
    }

    /// Return whether an arriving packet must be dropped or marked.
    fn hits<P>(&mut self, law: &Law, bytes: u32, before: Backlog, host: &mut impl Host<P>) -> bool {
        let Self { p, delay, measured, .. } = self;
        let is_spared = measured.burst > 0
            || (*delay < law.target / 2 && *p < ONE / 5)
            || before.bytes < law.mtu.saturating_mul(2);
        if is_spared {
            return false;
        }
        let bytes = u64::from(bytes);
        let local = if law.in_bytes && bytes <= law.mtu { bytes.wrapping_mul(*p / law.mtu) } else { *p };
        let accumulated = &mut measured.accumulated;
        *accumulated = if local == 0 { 0 } else { accumulated.wrapping_add(local) };
        if *accumulated < ONE / 100 * 85 {
            return false;
        }
        if *accumulated >= ONE / 2 * 17 {
            return true;
        }
        // 56 random bits; a host's number has 53.
        let hits = ((host.uniform() * 72_057_594_037_927_936.0) as u64) < local;
        if hits {
            *accumulated = 0;
        }
        hits
    }

    /// Record a packet dropped, by decision or because the buffer is full.
    pub fn dropped(&mut self) {
        self.measured.accumulated = 0;
    }

    /// A packet leaves at `now`; `again` reads the clock again.
    pub fn departed(
        &mut self,
        law: &Law,
        now: Time,
        meta: &Meta,
        left: Backlog,
        again: impl FnMut() -> Time,
    ) {
        let elapsed = match law.delay {
            Delay::Timestamp => self.delayed(ticks(now), ticks(meta.arrival), left),
            Delay::DepartureRate => self.measured.depart(ticks(now), meta.bytes.into(), left, again),
        };
        let burst = &mut self.measured.burst;
        *burst = burst.saturating_sub(elapsed.into());
    }

    /// Take the delay of a packet that leaves; return the time since the last one.
    fn delayed(&mut self, now: u64, arrival: u64, left: Backlog) -> u32 {
        self.delay = if left.bytes == 0 { 0 } else { now.wrapping_sub(arrival) };
        let last = self.measured.since.replace(now);
        last.map_or(0, |last| now.wrapping_sub(last) as u32)
    }

    /// Compute a step while `backlog` waits.
    pub fn step(&mut self, law: &Law, backlog: Backlog) {
        let (mut delay, mut old) = (self.delay, self.old);
        if law.delay == Delay::DepartureRate {
            (delay, old, self.old) = (self.measured.drain_time(backlog), self.delay, self.delay);
        }
        let change = law.change(self.p, delay, old);
        let before = self.p;
        self.p = before.wrapping_add_signed(change);
        let overflows = change > 0 && self.p < before;
        if overflows {
            self.p = ONE;
        } else if change <= 0 && self.p > before {
            self.p = 0;
        }
        if delay == 0 && old == 0 && backlog.bytes == 0 && !overflows {
            self.p -= self.p / 64;
        }
        self.delay = delay;
        let is_short = delay < law.target / 2 && self.old < law.target / 2;
        let is_measured = law.delay == Delay::Timestamp || self.measured.rate > 0;
        if is_short && self.p == 0 && is_measured {
            self.measured = Measured::new(law);
        }
        if law.delay == Delay::Timestamp {
            self.old = delay;
        }
    }

    /// Return whether steps change nothing while nothing arrives.
    pub fn is_at_rest(&self, law: &Law, backlog: Backlog) -> bool {
        let has_no_rate = law.delay == Delay::DepartureRate && self.measured.rate == 0;
        let is_quiet = self.p == 0 && self.delay == 0 && self.old == 0 && backlog.packets == 0;
        is_quiet && (has_no_rate || self.measured == Measured::new(law))
    }

    /// Report the gauges; a probability above 1 is reported as 1.
    pub fn gauges(&self, out: &mut dyn FnMut(Gauge, f64)) {
        let seconds = |ticks: u64| ticks as f64 / TICKS_PER_SECOND as f64;
        out(Gauge::State("p"), self.p.min(ONE) as f64 / ONE as f64);
        out(Gauge::State("delay"), seconds(self.delay));
        out(Gauge::State("burst_allowance"), seconds(self.measured.burst));
    }
}

impl Measured {
    /// Count a departing packet; return the time of the measurement that it ends, 0 if it ends none.
    fn depart(&mut self, now: u64, bytes: u64, left: Backlog, mut again: impl FnMut() -> Time) -> u32 {
        let is_long = left.bytes >= QUEUE_THRESHOLD;
        if is_long && self.departed.is_none() {
            (self.since, self.departed) = (Some(ticks(again())), Some(0));
        }
        let Some(departed) = &mut self.departed else { return 0 };
        *departed += bytes;
        let count = (*departed << RATE_SHIFT) as u32;
        let elapsed = now.wrapping_sub(self.since.unwrap_or(0)) as u32;
        if *departed < QUEUE_THRESHOLD || elapsed == 0 {
            return 0;
        }
        let rate = count / elapsed;
        self.rate = if self.rate == 0 { rate } else { self.rate - (self.rate >> 3) + (rate >> 3) };
        self.departed = is_long.then_some(0);
        if is_long {
            self.since = Some(ticks(again()));
        }
        elapsed
    }

    /// Return the time in ticks until the backlog has left; 0 without an estimate of the rate.
    fn drain_time(&self, backlog: Backlog) -> u64 {
        ((backlog.bytes as u32) << RATE_SHIFT).checked_div(self.rate).unwrap_or(0).into()
    }
}

/// When steps are due: on a grid, or as a replay says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer(Option<Time>);

impl Timer {
    /// Create a timer that starts now.
    pub fn new() -> Self {
        Self(Some(Time::ZERO + FIRST_STEP))
    }

    /// Stop: steps are called from outside.
    pub fn stop(&mut self) {
        self.0 = None;
    }

    /// Return when the next step is due.
    pub fn next(&self) -> Option<Time> {
        self.0
    }

    /// Return whether a step is due at `now`.
    pub fn is_due(&self, now: Time) -> bool {
        self.0.is_some_and(|next| next <= now)
    }

    /// Set the next step a period after the last.
    pub fn advance(&mut self, period: Span) {
        self.0 = self.0.map(|next| next + period);
    }

    /// Pass the steps up to `now`, which change nothing.
    pub fn skip(&mut self, now: Time, period: Span) {
        if let Some(next) = self.0.filter(|next| *next <= now) {
            self.0 = Some(next + period * (now.since(next).0 / period.0 + 1));
        }
    }
}

#[cfg(test)]
mod tests;
