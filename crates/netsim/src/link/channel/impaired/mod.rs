//! Packets are lost, delayed at random, reordered and duplicated, on a propagation delay: keys `loss`, `jitter`, `reorder`, `duplicate`.
//!
//! The order of decisions is that of Linux's netem (net/sched/sch_netem.c), for each packet:
//! 1. whether it is duplicated, then whether it is lost. A packet with both arrives once, and nothing is counted;
//! 2. whether it skips the delay ([`reorder`]); if not, its delay with jitter ([`jitter`]);
//! 3. for a copy: whether it is lost, and its own delay. It is not duplicated again.
//!
//! With `order = "kept"` a delayed packet arrives at least its transmission time after the one before it; packets that skip the delay
//! pass them.
//!
//! Each of the four has a random stream of its own, named after it and the link, so that none changes the others.
//!
//! # Differences from netem
//! * netem acts at the queue, before a packet is served by the device below it, and its delayed packets are in its queue of `limit`
//!   packets. Here the packet has left the queue and the server: losses and delays are those of the wire, and take no room in the queue.
//! * A copy takes no time on the server: netem's passes the device below as a packet of its own.
//! * netem with `rate`: packets that skip the delay skip the rate too. Here they have left the server.
//! * Linux makes the correlation of jitter ineffective ([`jitter`]), and tc does not send that of `duplicate` in a line without one of
//!   `delay` or `loss`.
//! * A propagation delay that changes keeps the order of packets only without jitter.

mod correlated;
mod duplicate;
mod jitter;
mod loss;
mod reorder;

use std::collections::VecDeque;

use aqmlab_aqm::ParameterError;
use aqmlab_units::{Parameter, ParameterValue, Span, Stream, Time, ValueKind};

use self::duplicate::Duplicate;
use self::jitter::Jitter;
use self::loss::Loss;
use self::reorder::Reorder;
use super::{Carry, Carrying, Channel, ChannelChange, ChannelPart};
use crate::link::part::Keys;

const PROBABILITY: Parameter =
    Parameter::new("probability", "P", ValueKind::Number, "probability for each packet").from(0.0).to(1.0);
const CORRELATION: Parameter = Parameter::new(
    "correlation",
    "rho",
    ValueKind::Number,
    "weight of the previous random number in the next one, as netem's",
)
.from(0.0)
.to(1.0)
.default("0");

fn number(keys: &dyn Keys, parameter: &Parameter) -> Option<f64> {
    if let ParameterValue::Number(x) = keys.value(parameter)? { Some(x) } else { None }
}

/// Complain about the table of a key that lacks another.
fn required(table: &dyn Keys, key: &str, parameter: &Parameter) -> Result<(), ParameterError> {
    if table.has(parameter.key) {
        return Ok(());
    }
    let message = format!("the table has no {}", parameter.key);
    Err(ParameterError { key: key.to_owned(), message, allowed: format!("a table with {}", parameter.key) })
}

/// Keys of a table and their values.
pub type Settings<'a> = Vec<(&'static str, ParameterValue<'a>)>;

/// Impairments of packets; an absent one stays as it is, or does not happen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Impairments {
    loss: Option<Loss>,
    jitter: Option<Jitter>,
    reorder: Option<Reorder>,
    duplicate: Option<Duplicate>,
}

impl Impairments {
    /// The keys that select them.
    pub const KEYS: [&str; 4] = [loss::KEY.key, jitter::KEY.key, reorder::KEY.key, duplicate::KEY.key];

    /// Read them from the keys of a link.
    pub(super) fn read(keys: &dyn Keys) -> Result<Self, ParameterError> {
        let found = Self {
            loss: Loss::read(keys)?,
            jitter: Jitter::read(keys)?,
            reorder: Reorder::read(keys)?,
            duplicate: Duplicate::read(keys)?,
        };
        Ok(found)
    }

    /// Return the settings of each impairment, by its key of the link; empty for one without effect.
    pub fn settings(&self) -> Vec<(&'static str, Settings<'_>)> {
        let all = [
            (loss::KEY.key, self.loss.as_ref().map(Loss::settings)),
            (jitter::KEY.key, self.jitter.map(|jitter| jitter.settings())),
            (reorder::KEY.key, self.reorder.map(|reorder| reorder.settings())),
            (duplicate::KEY.key, self.duplicate.map(|duplicate| duplicate.settings())),
        ];
        all.into_iter().filter_map(|(key, settings)| Some((key, settings?))).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Return them with these settings in place of their own.
    fn or(self, other: Self) -> Self {
        Self {
            loss: self.loss.or(other.loss),
            jitter: self.jitter.or(other.jitter),
            reorder: self.reorder.or(other.reorder),
            duplicate: self.duplicate.or(other.duplicate),
        }
    }

    fn keeps_order(&self) -> bool {
        self.jitter.is_none_or(|jitter| jitter.deviation == Span::ZERO || jitter.keeps_order)
            && self.reorder.is_none_or(|reorder| reorder.probability == 0.0)
            && self.duplicate.is_none_or(|duplicate| duplicate.probability == 0.0)
    }

    /// Return the shortest delay where the propagation delay is at least `least`.
    fn shortest(&self, least: Span) -> Span {
        if self.reorder.is_some_and(|reorder| reorder.probability > 0.0) {
            return Span::ZERO;
        }
        let earliest =
            self.jitter.filter(|jitter| jitter.deviation > Span::ZERO).map(|jitter| jitter.earliest());
        Span(least.0.saturating_sub(earliest.unwrap_or(Span::ZERO).0))
    }
}

/// A propagation delay, with impairments and later changes of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Impaired {
    before: Box<Channel>,
    first: Impairments,
    /// In the order of their times.
    later: Vec<(Time, Impairments)>,
}

impl Impaired {
    /// Add impairments to a channel.
    pub fn new(before: Channel, first: Impairments) -> Self {
        Self { before: Box::new(before), first, later: Vec::new() }
    }

    fn all(&self) -> impl Iterator<Item = &Impairments> {
        core::iter::once(&self.first).chain(self.later.iter().map(|(_, later)| later))
    }

    pub fn first(&self) -> &Impairments {
        &self.first
    }

    /// Return the same with another, constant, propagation delay.
    pub fn with_delay(self, delay: Span) -> Self {
        Self { before: Box::new(Channel::constant(delay)), ..self }
    }
}

impl ChannelPart for Impaired {
    const PARAMETERS: &'static [Parameter] = &[loss::KEY, jitter::KEY, reorder::KEY, duplicate::KEY];
    const TABLES: &'static [(&'static str, &'static [Parameter])] = &[
        (loss::KEY.key, loss::TABLE),
        (jitter::KEY.key, jitter::TABLE),
        (reorder::KEY.key, reorder::TABLE),
        (duplicate::KEY.key, duplicate::TABLE),
    ];
    /// It is large, and few links have one.
    type State = Box<State>;

    fn read(keys: &dyn Keys, before: Option<Channel>) -> Result<Option<Channel>, ParameterError> {
        let found = Impairments::read(keys)?;
        if found.is_empty() {
            return Ok(before);
        }
        let Some(before) = before else { return Ok(None) };
        let impaired = match before.as_impaired() {
            Some(Self { before, first, .. }) => {
                Self::new((**before).clone(), found.or(first.clone()))
            }
            None => Self::new(before, found),
        };
        Ok(Some(impaired.into()))
    }

    fn delay(&self) -> Span {
        self.before.delay()
    }

    fn varies_by(&self) -> Option<&'static str> {
        self.before.varies_by()
    }

    fn shortest(&self) -> Span {
        let least = self.before.shortest();
        self.all().map(|impairments| impairments.shortest(least)).min().unwrap_or(least)
    }

    fn keeps_order(&self) -> bool {
        self.all().all(Impairments::keeps_order)
    }

    fn then(mut self, at: Time, change: &ChannelChange) -> Channel {
        if let Some(delay) = change.delay {
            *self.before = self.before.then(at, &delay.into());
        }
        if !change.impairments.is_empty() {
            self.later.push((at, change.impairments.clone()));
        }
        self.into()
    }

    fn since(&self, now: Time) -> Self {
        let past = self.later.iter().filter(|(at, _)| *at <= now);
        let first = past.fold(self.first.clone(), |first, (_, later)| later.clone().or(first));
        let later = self.later.iter().filter(|(at, _)| *at > now).cloned().collect();
        Self { before: Box::new(self.before.since(now)), first, later }
    }

    fn start(&self, seed: u64, link: &str) -> Box<State> {
        let Impairments { loss, jitter, reorder, duplicate } = self.first.clone();
        let stream = |what: &str| Stream::new(seed, &format!("{what} {link}"));
        Box::new(State {
            before: Box::new(self.before.start(seed, link)),
            later: self.later.iter().cloned().collect(),
            loss: loss::State::new(&loss.unwrap_or(Loss::NONE), stream(loss::KEY.key)),
            jitter: jitter::State::new(jitter.unwrap_or(Jitter::NONE), stream(jitter::KEY.key)),
            reorder: reorder::State::new(reorder.unwrap_or(Reorder::NONE), stream(reorder::KEY.key)),
            duplicate: duplicate::State::new(
                duplicate.unwrap_or(Duplicate::NONE),
                stream(duplicate::KEY.key),
            ),
            keeps_order: self.keeps_order(),
            last_arrival: Time::ZERO,
            copy: None,
        })
    }
}

/// The state of a run.
#[derive(Clone, Debug)]
pub(crate) struct State {
    before: Box<Carrying>,
    later: VecDeque<(Time, Impairments)>,
    loss: loss::State,
    jitter: jitter::State,
    reorder: reorder::State,
    duplicate: duplicate::State,
    /// Of the whole run.
    keeps_order: bool,
    last_arrival: Time,
    copy: Option<Time>,
}

impl State {
    fn change(&mut self, impairments: &Impairments) {
        let Impairments { loss, jitter, reorder, duplicate } = impairments;
        loss.iter().for_each(|loss| self.loss.change(loss));
        jitter.iter().for_each(|jitter| self.jitter.change(*jitter));
        reorder.iter().for_each(|reorder| self.reorder.change(*reorder));
        duplicate.iter().for_each(|duplicate| self.duplicate.change(*duplicate));
    }

    /// Return when a packet or copy that left at `end` after a service of this length arrives.
    fn arrival(&mut self, end: Time, service: Span, propagation: Span) -> Time {
        if self.reorder.skips() {
            return end;
        }
        let mut arrival = end + self.jitter.delay(propagation);
        if self.jitter.keeps_order() {
            arrival = arrival.max(self.last_arrival + service);
        } else if self.keeps_order {
            arrival = arrival.max(self.last_arrival);
        }
        self.last_arrival = self.last_arrival.max(arrival);
        arrival
    }
}

impl Carry for Box<State> {
    fn carry(&mut self, start: Time, end: Time) -> Time {
        while self.later.front().is_some_and(|(at, _)| *at <= start)
            && let Some((_, impairments)) = self.later.pop_front()
        {
            self.change(&impairments);
        }
        self.copy = None;
        let propagation = self.before.carry(start, end).since(end);
        let is_copied = self.duplicate.is_copied();
        let is_lost = self.loss.is_lost();
        if is_lost && !is_copied {
            return Time::NEVER;
        }
        let service = end.since(start);
        let arrival = self.arrival(end, service, propagation);
        if is_copied && !is_lost && !self.loss.is_lost() {
            self.copy = Some(self.arrival(end, service, propagation));
        }
        arrival
    }

    fn copy(&mut self) -> Option<Time> {
        self.copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arrivals, relative to the end of service, and copies of packets that leave every millisecond, on a delay of 20 ms.
    fn carried(impairments: Impairments, count: u64) -> Vec<(Option<i64>, Option<i64>)> {
        let mut state = Impaired::new(Channel::constant(Span::from_millis(20)), impairments).start(1, "link");
        let of = |time: Time, end: Time| (time != Time::NEVER).then(|| time.0 as i64 - end.0 as i64);
        let mut one = |i| {
            let end = Time(i * 1_000_000_000);
            let arrival = state.carry(end, end);
            (of(arrival, end), state.copy().and_then(|copy| of(copy, end)))
        };
        (1..=count).map(&mut one).collect()
    }

    fn share(of: &[(Option<i64>, Option<i64>)], what: impl Fn(&(Option<i64>, Option<i64>)) -> bool) -> f64 {
        of.iter().filter(|one| what(one)).count() as f64 / of.len() as f64
    }

    #[test]
    fn copies_and_losses_have_the_probabilities_of_netem() {
        let loss = Loss::Bernoulli { probability: 0.2, correlation: 0.0 };
        let duplicate = Duplicate { probability: 0.1, ..Duplicate::NONE };
        let impairments =
            Impairments { loss: Some(loss), duplicate: Some(duplicate), ..Impairments::default() };
        let found = carried(impairments, 200_000);
        // None: lost and not copied. Two: copied, and neither is lost.
        let expected = [(0.2 * 0.9, "none"), (0.8 * 0.1 * 0.8, "two")];
        let measured = [share(&found, |one| one.0.is_none()), share(&found, |one| one.1.is_some())];
        for ((expected, what), measured) in expected.into_iter().zip(measured) {
            assert!((measured / expected - 1.0).abs() < 0.03, "{what}: {measured} for {expected}");
        }
        assert!(found.iter().all(|one| one.0.is_some() || one.1.is_none()));
    }

    #[test]
    fn each_impairment_has_a_stream_of_its_own() {
        let loss = Some(Loss::Bernoulli { probability: 0.3, correlation: 0.0 });
        let jitter = Some(Jitter { deviation: Span::from_millis(5), ..Jitter::NONE });
        let alone = carried(Impairments { loss: loss.clone(), ..Impairments::default() }, 500);
        let both = carried(Impairments { loss, jitter, ..Impairments::default() }, 500);
        assert!(alone.iter().zip(&both).all(|(a, b)| a.0.is_some() == b.0.is_some()));
    }

    #[test]
    fn order_is_kept_where_that_is_asked_for() {
        let jitter = |keeps_order| Jitter { deviation: Span::from_millis(5), keeps_order, ..Jitter::NONE };
        let overtaking = |jitter| {
            let found = carried(Impairments { jitter: Some(jitter), ..Impairments::default() }, 2000);
            let times: Vec<_> =
                (1..).zip(found).filter_map(|(i, one)| Some(i * 1_000_000_000 + one.0?)).collect();
            times.windows(2).filter(|pair| pair[1] < pair[0]).count()
        };
        assert_eq!(overtaking(jitter(true)), 0);
        assert!(overtaking(jitter(false)) > 500);
    }

    #[test]
    fn packets_in_order_arrive_a_service_apart_and_those_that_skip_the_delay_pass_them() {
        let jitter = Jitter { deviation: Span::from_millis(5), keeps_order: true, ..Jitter::NONE };
        let reorder = Reorder { probability: 0.25, ..Reorder::NONE };
        let impairments =
            Impairments { jitter: Some(jitter), reorder: Some(reorder), ..Impairments::default() };
        let mut state = Impaired::new(Channel::constant(Span::from_millis(20)), impairments).start(1, "link");
        let service = 400_000_000;
        let (mut last, mut skipped, mut apart) = (0, 0, 0);
        for i in 1..=10_000_u64 {
            let end = Time(i * 1_000_000_000);
            let arrival = state.carry(Time(end.0 - service), end);
            if arrival == end {
                skipped += 1;
                continue;
            }
            assert!(arrival.0 >= last + service);
            apart += u32::from(arrival.0 == last + service);
            last = arrival.0;
        }
        assert!((2300..2700).contains(&skipped), "{skipped}");
        assert!(apart > 3000, "{apart}");
    }

    #[test]
    fn packets_that_skip_the_delay_arrive_when_they_have_left() {
        let reorder = Reorder { probability: 0.25, ..Reorder::NONE };
        let found = carried(Impairments { reorder: Some(reorder), ..Impairments::default() }, 10_000);
        let at_once = share(&found, |one| one.0 == Some(0));
        assert!((at_once - 0.25).abs() < 0.02, "{at_once}");
        assert!(found.iter().all(|one| [Some(0), Some(20_000_000_000)].contains(&one.0)));
    }

    #[test]
    fn changes_hold_for_services_from_their_time_on() {
        let lossy = |probability| ChannelChange {
            impairments: Impairments {
                loss: Some(Loss::Bernoulli { probability, correlation: 0.0 }),
                ..Impairments::default()
            },
            ..ChannelChange::default()
        };
        let at = |ms| Time(ms * 1_000_000_000);
        let channel = Channel::constant(Span::from_millis(20));
        let channel = channel
            .then(at(5), &lossy(1.0))
            .then(at(8), &Span::from_millis(1).into())
            .then(at(10), &lossy(0.0));
        let lost = |channel: &Channel| -> Vec<u64> {
            let mut state = channel.start(1, "link");
            (1..15).filter(|ms| state.carry(at(*ms), at(*ms)) == Time::NEVER).collect()
        };
        assert_eq!(lost(&channel), [5, 6, 7, 8, 9]);
        assert_eq!(lost(&channel.since(at(9))), (1..10).collect::<Vec<_>>());
        assert_eq!(channel.delay(), Span::from_millis(20));
        assert_eq!(channel.shortest(), Span::from_millis(1));
    }
}
