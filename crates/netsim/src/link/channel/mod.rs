//! The channel of a link: when a packet that has left arrives at the far end, and whether it does.
//!
//! Every channel is one file, and one line in the list below. A channel that does something to packets in addition to their delay
//! holds the channel before it.

use aqmlab_aqm::ParameterError;
use aqmlab_units::{Parameter, ParameterValue, Span, Time, ValueKind};

use super::outage::Outage;
use super::part::{Keys, parts};

/// A channel in a plan.
pub(crate) trait ChannelPart: Clone + Into<Channel> {
    /// The keys of a link that select and describe it.
    const PARAMETERS: &'static [Parameter] = &[];
    /// The keys of tables that may stand in place of the values of these keys.
    const TABLES: &'static [(&'static str, &'static [Parameter])] = &[];
    /// Its state in a run.
    type State: Carry;

    /// Return the channel that the keys of a link select among those of the list up to this one; `before` is the channel without this
    /// one.
    fn read(_keys: &dyn Keys, before: Option<Channel>) -> Result<Option<Channel>, ParameterError> {
        Ok(before)
    }

    /// Return the propagation delay by which automatic parameters are chosen and runs are estimated: that of the start, or the mean.
    fn delay(&self) -> Span;

    /// Return the key of a model by which its delay varies; impairments of single packets do not count.
    fn varies_by(&self) -> Option<&'static str> {
        None
    }

    /// Return the shortest time from the end of a service to an arrival, of all times: windows rely on it.
    fn shortest(&self) -> Span;

    /// Return whether packets arrive in the order of their services, each at most once: stations behind the link rely on it.
    fn keeps_order(&self) -> bool;

    /// Return this channel until a time, then the same with a change.
    fn then(self, at: Time, change: &ChannelChange) -> Channel;

    /// Return the channel for a link that starts at `now`, where earlier changes do not count.
    fn since(&self, now: Time) -> Self;

    /// Start it.
    fn start(&self, seed: u64, link: &str) -> Self::State;
}

/// The state of a channel in a run.
pub(crate) trait Carry {
    /// Return when a packet arrives at the far end whose service lasts from `start` to `end`; `NEVER` if it is lost. Called once for each
    /// packet, in the order of services; before the start, if it is known before.
    fn carry(&mut self, start: Time, end: Time) -> Time;

    /// Return when a copy of the packet of the last call of [`Carry::carry`] arrives, if there is one. Called after it, unless the channel
    /// [keeps the order](ChannelPart::keeps_order).
    fn copy(&mut self) -> Option<Time>;

    /// Return where the packet of the last call of [`Carry::carry`], or its copy, was lost since the link went down; `None` if it was not.
    fn cut(&self) -> Option<CutPlace> {
        None
    }
}

/// The place of a packet when the link went down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutPlace {
    InService,
    OnWire,
}

parts! {
    /// How packets get to the far end of a link.
    Channel,
    /// The state of a channel in a run.
    Carrying,
    ChannelPart, each_channel, every_channel;
    constant: Constant,
    changing: Changing,
    handover: Handover,
    impaired: Impaired,
    cut: Cut,
    #[cfg(test)]
    lossy: Lossy,
    #[cfg(test)]
    shuffled: Shuffled,
}

pub use impaired::{Impairments, Settings};

/// A change of a channel during a run: absent settings stay as they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelChange {
    /// The propagation delay from then on.
    pub delay: Option<Span>,
    /// Impairments of packets from then on.
    pub impairments: Impairments,
}

impl ChannelChange {
    /// Read it from the keys of a change.
    ///
    /// # Errors
    /// If parameters contradict each other.
    pub fn read(keys: &dyn Keys) -> Result<Self, ParameterError> {
        let delay = match keys.value(&Channel::KEY) {
            Some(ParameterValue::Time(delay)) => Some(delay),
            _ => None,
        };
        Ok(Self { delay, impairments: Impairments::read(keys)? })
    }
}

impl From<Span> for ChannelChange {
    fn from(delay: Span) -> Self {
        Self { delay: Some(delay), ..Self::default() }
    }
}

#[cfg(test)]
impl Channel {
    /// Return this channel, and then the loss of one in so many packets.
    pub(crate) fn lossy(self, every: u32) -> Self {
        Lossy { before: Box::new(self), every }.into()
    }

    /// Return this channel, and then a longer way for one in so many packets, and a copy of one in so many.
    pub(crate) fn shuffled(self, every: u32, detour: Span) -> Self {
        Shuffled { before: Box::new(self), every, detour }.into()
    }

    /// Return this channel with these keys in addition.
    pub(crate) fn with_keys(self, keys: &[(&str, aqmlab_units::ParameterValue<'static>)]) -> Self {
        let channel = Self::read(&super::part::Given(keys), Some(self));
        channel.expect("parameters that fit").expect("a channel")
    }
}

impl Channel {
    /// The key of a link with its propagation delay.
    pub const KEY: Parameter =
        Parameter::new("delay", "", ValueKind::Time, "one-way propagation delay").from(0.0);

    /// Return the channel of a constant delay.
    pub fn constant(delay: Span) -> Self {
        Constant { delay }.into()
    }

    /// Read it from the keys of a link; `before` if they select none.
    ///
    /// # Errors
    /// If parameters contradict each other.
    pub fn read(keys: &dyn Keys, mut before: Option<Self>) -> Result<Option<Self>, ParameterError> {
        every_channel!(T => before = T::read(keys, before)?);
        Ok(before)
    }

    /// Return the keys of the table that may stand in place of the value of a key; none if no table may.
    pub fn table_of(key: &str) -> &'static [Parameter] {
        let mut found: &'static [Parameter] = &[];
        every_channel!(T => for (of, table) in T::TABLES {
            if *of == key {
                found = *table;
            }
        });
        found
    }

    /// Return this channel until a time, then the same with a change. Changes are added in the order of their times.
    #[must_use]
    pub fn then(self, at: Time, change: &ChannelChange) -> Self {
        each_channel!(Kind, self.0, part => part.then(at, change))
    }

    /// Return the channel with another, constant, propagation delay.
    #[must_use]
    pub fn with_delay(self, delay: Span) -> Self {
        match self.0 {
            Kind::Impaired(impaired) => impaired.with_delay(delay).into(),
            _ => Self::constant(delay),
        }
    }

    /// Return what happens to packets in addition to the propagation delay, at the start.
    pub fn impairments(&self) -> Option<&Impairments> {
        self.as_impaired().map(Impaired::first)
    }

    /// Return whether it may lose, reorder or duplicate packets, or delay them at random.
    pub fn is_impaired(&self) -> bool {
        self.as_impaired().is_some()
    }

    fn as_impaired(&self) -> Option<&Impaired> {
        match &self.0 {
            Kind::Impaired(impaired) => Some(impaired),
            Kind::Cut(cut) => cut.before.as_impaired(),
            _ => None,
        }
    }

    /// Return the channel for a run in which its link goes down at these times.
    pub(crate) fn cut(self, outages: &[Outage]) -> Self {
        Cut { before: Box::new(self), outages: outages.to_vec() }.into()
    }

    /// Return the propagation delay at the start; of one that always varies, the mean.
    pub fn delay(&self) -> Span {
        each_channel!(Kind, &self.0, part => part.delay())
    }

    /// Return the key of a model by which its delay varies; impairments are apart ([`Channel::impairments`]).
    pub fn varies_by(&self) -> Option<&'static str> {
        each_channel!(Kind, &self.0, part => part.varies_by())
    }

    /// Return the shortest time from the end of a service to the arrival.
    pub(crate) fn shortest(&self) -> Span {
        each_channel!(Kind, &self.0, part => part.shortest())
    }

    /// See [`ChannelPart::keeps_order`].
    pub(crate) fn keeps_order(&self) -> bool {
        each_channel!(Kind, &self.0, part => part.keeps_order())
    }

    /// Return the propagation delay, if it never changes and nothing else happens to packets.
    pub(crate) fn as_constant(&self) -> Option<Span> {
        if let Kind::Constant(Constant { delay }) = self.0 { Some(delay) } else { None }
    }

    /// Return the channel for a link that starts at `now`, where earlier changes do not count.
    pub(crate) fn since(&self, now: Time) -> Self {
        each_channel!(Kind, &self.0, part => part.since(now).into())
    }
}

/// The channel of a link in a run.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    channel: Carrying,
    keeps_order: bool,
    /// If it does not keep the order: when the last packet and its copy arrive, `NEVER` for those that do not.
    arrivals: [Time; 2],
    /// When the last of all packets before arrives.
    latest: Time,
    /// The last packet, or its copy, arrives before one that left earlier.
    overtakes: bool,
}

impl Wire {
    /// In place of an arrival: it may be before others, or there may be two. [`Wire::arrivals`] has them.
    pub const UNORDERED: Time = Time(Time::NEVER.0 - 1);

    /// Start a channel at time 0 of a run with this seed, for the link of this name.
    pub fn new(channel: &Channel, seed: u64, link: &str) -> Self {
        let keeps_order = channel.keeps_order();
        let channel = channel.start(seed, link);
        Self { channel, keeps_order, arrivals: [Time::NEVER; 2], latest: Time::ZERO, overtakes: false }
    }

    /// See [`Carry::carry`]; [`Wire::UNORDERED`] if the channel does not keep the order.
    #[inline(always)]
    pub fn carry(&mut self, start: Time, end: Time) -> Time {
        if let Carrying::Constant(channel) = &mut self.channel {
            channel.carry(start, end)
        } else {
            self.carry_any(start, end)
        }
    }

    /// Out of the way of the constant one.
    #[cold]
    #[inline(never)]
    fn carry_any(&mut self, start: Time, end: Time) -> Time {
        let arrival = self.channel.carry(start, end);
        if self.keeps_order {
            return arrival;
        }
        self.arrivals = [arrival, self.channel.copy().unwrap_or(Time::NEVER)];
        let arrivals = self.arrivals.into_iter().filter(|time| *time != Time::NEVER);
        self.overtakes = arrivals.clone().any(|time| time < self.latest);
        self.latest = arrivals.fold(self.latest, Time::max);
        Self::UNORDERED
    }

    /// Return when the last packet and its copy arrive.
    pub fn arrivals(&self) -> [Time; 2] {
        self.arrivals
    }

    /// Return whether the last packet, or its copy, overtakes one that left earlier.
    pub fn overtakes(&self) -> bool {
        self.overtakes
    }

    /// See [`ChannelPart::keeps_order`].
    #[inline]
    pub fn keeps_order(&self) -> bool {
        self.keeps_order
    }

    /// Return where the last packet, or its copy, was lost since the link went down; `None` if it was not.
    pub fn cut(&self) -> Option<CutPlace> {
        self.channel.cut()
    }

    /// Return whether nothing but a constant delay happens to packets.
    pub fn is_constant(&self) -> bool {
        matches!(self.channel, Carrying::Constant(_))
    }
}

impl<C: Carry> Carry for Box<C> {
    fn carry(&mut self, start: Time, end: Time) -> Time {
        (**self).carry(start, end)
    }

    fn copy(&mut self) -> Option<Time> {
        (**self).copy()
    }

    fn cut(&self) -> Option<CutPlace> {
        (**self).cut()
    }
}

impl Carry for Carrying {
    fn carry(&mut self, start: Time, end: Time) -> Time {
        each_channel!(Self, self, channel => channel.carry(start, end))
    }

    fn copy(&mut self) -> Option<Time> {
        each_channel!(Self, self, channel => channel.copy())
    }

    fn cut(&self) -> Option<CutPlace> {
        each_channel!(Self, self, channel => channel.cut())
    }
}
