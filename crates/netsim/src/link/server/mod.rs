//! The server of a link: when a packet whose service starts has left, and so when the next service may start.
//!
//! Every server is one file, and one line in the list below.

use aqmlab_aqm::ParameterError;
use aqmlab_units::{Framing, Parameter, Rate, Span, Time, ValueKind};

pub(crate) use self::piecewise::FAR;
pub use self::piecewise::InService;
use self::piecewise::Work;
pub use self::trace::{LONGEST_TRACE, TraceData};
use super::outage::Outage;
use super::part::{Keys, parts};

mod piecewise;

/// A server in a plan.
pub(crate) trait ServerPart: Clone + Into<Server> {
    /// The keys of a table in place of the bit rate that select and describe it: `rate = { KEY = VALUE }`.
    const PARAMETERS: &'static [Parameter] = &[];
    /// Its state in a run.
    type State: Serve;

    /// Read it from the keys of a link, or of such a table; `None` if none of them is of this server.
    fn read(_keys: &dyn Keys) -> Result<Option<Self>, ParameterError> {
        Ok(None)
    }

    /// Return the bit rate by which automatic parameters are chosen and runs are estimated: that of the start, or the mean.
    fn rate(&self) -> Rate;

    /// Return the highest bit rate of all times; of a token bucket without peak rate, that of its tokens.
    fn fastest(&self) -> Rate {
        self.rate()
    }

    /// Return the least time in s that the services of so many bytes in all take.
    fn least_s(&self, bytes: f64) -> f64 {
        bytes * 8.0 / self.fastest().bps()
    }

    /// Whether its rate is a function of time, whatever the packets: then [`ServerPart::mean_rate`] is that of the run.
    const IS_RATE_OVER_TIME: bool = false;

    /// Return the mean bit rate between two times of a run, in bit/s; [`ServerPart::rate`] where the rate depends on the packets.
    fn mean_rate(&self, seed: u64, link: &str, from: Time, to: Time) -> f64 {
        if !Self::IS_RATE_OVER_TIME || from >= to {
            return self.rate().bps();
        }
        let mut server = self.clone().with_in_service(InService::RemainingBits).start(seed, link);
        match server.serve_until(from, Work::ENDLESS, to) {
            Err(left) => Work::ENDLESS.without(left).bits() / to.since(from).secs(),
            Ok(_) => self.rate().bps(),
        }
    }

    /// Return the longest time that the services of packets of so many bytes in all may take.
    fn longest(&self, bytes: u64) -> Span {
        self.rate().time_of(bytes)
    }

    /// Return it with the reading of the packet in service when the rate changes; without effect if its rate never does.
    fn with_in_service(self, _in_service: InService) -> Server {
        self.into()
    }

    /// Return the reading of the packet in service when the rate changes.
    fn in_service(&self) -> InService {
        InService::RemainingBits
    }

    /// Return the key that selects it; `None` for a constant rate and a token bucket, which other programs have too.
    fn varies_by(&self) -> Option<&'static str> {
        Self::PARAMETERS.first().map(|first| first.key)
    }

    /// Return whether the reading of the packet in service has an effect: on a rate that changes by itself, or by `[[change]]`.
    fn uses_in_service(&self) -> bool {
        false
    }

    /// Return the trace that its rate follows, and whether that is interpolated.
    fn trace(&self) -> Option<(&TraceData, bool)> {
        None
    }

    /// Return the server for a link that starts at `now`, where earlier changes do not count.
    fn since(&self, _now: Time) -> Self {
        self.clone()
    }

    /// Start it.
    fn start(&self, seed: u64, link: &str) -> Self::State;
}

/// The state of a server in a run.
pub(crate) trait Serve {
    /// Report when the packet arrived whose service is the next one, if that is known: for servers whose services depend on the waiting packets.
    fn arrived(&mut self, _arrival: Time) {}

    /// Return how long the service of a packet of this length takes, if that is the same at all times and serving has no effect.
    fn constant_time(&self, _bytes: u32) -> Option<Span> {
        None
    }

    /// Return how long the service of a packet of this length takes that starts at `start`. Called once for each service, in their order;
    /// before the start, if it is known before.
    fn serve(&mut self, start: Time, bytes: u32) -> Span {
        let end = self.serve_until(start, Work::of(bytes), Time::NEVER);
        end.map_or(FAR, |end| end.min(FAR)).since(start)
    }

    /// Return the end of a service of so much work that starts at `start`, or the work that is left at `until` if it ends later. The end
    /// is after the start: messages of a link that leave at one instant would have the same key.
    ///
    /// # Errors
    /// If the service does not end until then.
    fn serve_until(&mut self, start: Time, work: Work, until: Time) -> Result<Time, Work>;

    /// Return the bit rate at a time, which is not before the last start.
    fn rate_at(&self, time: Time) -> Rate;
}

parts! {
    /// How fast a link transmits.
    Server,
    /// The state of a server in a run.
    Serving,
    ServerPart, each_server, every_server;
    constant: Constant,
    changing: Changing,
    trace: Trace,
    cellular: Cellular,
    leo: Leo,
    wifi: Wifi,
    docsis: Docsis,
    framed: Framed,
    tbf: Tbf,
    failing: Failing,
    #[cfg(test)]
    slots: Slots,
}

#[cfg(test)]
impl Server {
    /// Return the server of opportunities.
    pub(crate) fn slots(period: Span, bytes: u32) -> Self {
        Slots { period, bytes }.into()
    }

    /// Return the server of these keys of a table.
    pub(crate) fn of_keys(keys: &[(&str, aqmlab_units::ParameterValue<'static>)]) -> Self {
        let server = Self::read_table(&super::part::Given(keys));
        server.expect("parameters that fit").expect("a key that selects a server")
    }
}

impl Server {
    /// The key of a link that selects its server: a bit rate, or a table of [`Server::parameters`].
    pub const KEY: Parameter = Parameter::new("rate", "C", ValueKind::Rate, "bit rate");

    /// The same key where a server replaces another one: nothing leaves at a rate of 0.
    pub const CHANGED: Parameter = Self::KEY.from(0.0);

    /// Return the server of a constant bit rate; 0 only for a server that replaces another one.
    pub fn constant(rate: Rate) -> Self {
        Constant { rate, in_service: InService::default() }.into()
    }

    /// Return it with the reading of the packet in service when the rate changes.
    #[must_use]
    pub fn with_in_service(self, in_service: InService) -> Self {
        each_server!(Kind, self.0, part => part.with_in_service(in_service))
    }

    /// Return the reading of the packet in service when the rate changes.
    pub fn in_service(&self) -> InService {
        each_server!(Kind, &self.0, part => part.in_service())
    }

    /// Return the key of a model or a trace by which its rate varies; `None` of a constant rate and of a token bucket.
    pub fn varies_by(&self) -> Option<&'static str> {
        each_server!(Kind, &self.0, part => part.varies_by())
    }

    /// Return whether the reading of the packet in service has an effect.
    pub fn uses_in_service(&self) -> bool {
        each_server!(Kind, &self.0, part => part.uses_in_service())
    }

    /// Return a token bucket: burst in bytes, and perhaps a higher peak rate with the bytes of its own bucket.
    pub fn token_bucket(rate: Rate, burst: u64, peak: Option<(Rate, u64)>) -> Self {
        Tbf { rate, burst, peak }.into()
    }

    /// Read it from the keys of a link, or of a table in place of the bit rate; `None` if they select no server.
    ///
    /// # Errors
    /// If parameters contradict each other.
    pub fn read(keys: &dyn Keys) -> Result<Option<Self>, ParameterError> {
        every_server!(T => if let Some(part) = T::read(keys)? {
            return Ok(Some(part.into()));
        });
        Ok(None)
    }

    /// Read it from the keys of a table in place of the bit rate. One of [`Self::selecting_keys`] selects a server.
    ///
    /// # Errors
    /// If parameters contradict each other, or belong to different servers.
    pub fn read_table(keys: &dyn Keys) -> Result<Option<Self>, ParameterError> {
        let mut selected = None;
        every_server!(T => if let Some(first) = T::PARAMETERS.first() && keys.value(first).is_some() {
            selected = selected.or(Some(T::PARAMETERS));
        });
        let own = selected.unwrap_or_default();
        let is_own = |parameter: &Parameter| own.iter().any(|p| p.key == parameter.key);
        every_server!(T => if let Some(other) = T::PARAMETERS.iter().find(|p| !is_own(p) && keys.value(p).is_some()) {
            let (key, of) = (other.key.into(), T::PARAMETERS[0].key);
            let message = own.first().map_or_else(|| format!("needs {of}"), |own| format!("is a key of {of}, not of {}", own.key));
            let own: Vec<_> = if own.is_empty() { vec![of] } else { own.iter().map(|p| p.key).collect() };
            return Err(ParameterError { key, message, allowed: own.join(", ") });
        });
        Self::read(keys)
    }

    /// Return the keys of a table of which each selects a server: the first of each server.
    pub fn selecting_keys() -> Vec<&'static str> {
        let mut keys = Vec::new();
        every_server!(T => keys.extend(T::PARAMETERS.first().map(|first| first.key)));
        keys
    }

    /// Return this server until a time, then another one. Changes are added in the order of their times.
    #[must_use]
    pub fn then(self, at: Time, server: Self) -> Self {
        let framing = self.framing();
        Self::from(Changing::new(self.framed(None), at, server.framed(None))).framed(framing)
    }

    /// Return the keys of a link with the length of its packets on the wire, whichever the server.
    pub fn framing_parameters() -> &'static [Parameter] {
        &framed::PARAMETERS
    }

    /// Read the length of packets on the wire from the keys of a link; `None` if it has none of them.
    pub fn read_framing(keys: &dyn Keys) -> Option<Framing> {
        framed::read(keys)
    }

    /// Return the server that counts packets by their length on the wire, or as they are.
    #[must_use]
    pub fn framed(self, framing: Option<Framing>) -> Self {
        let server = if let Kind::Framed(framed) = self.0 { *framed.server } else { self };
        match framing {
            Some(framing) => Framed { server: Box::new(server), framing }.into(),
            None => server,
        }
    }

    /// Return the length of packets on the wire, if it is another than that of the packets.
    pub fn framing(&self) -> Option<Framing> {
        if let Kind::Framed(framed) = &self.0 { Some(framed.framing) } else { None }
    }

    /// Return the token bucket, if it is one: burst in bytes, peak rate and its bucket in bytes.
    pub fn as_token_bucket(&self) -> Option<(u64, Option<(Rate, u64)>)> {
        match &self.0 {
            Kind::Framed(framed) => framed.server.as_token_bucket(),
            Kind::Tbf(tbf) => Some((tbf.burst, tbf.peak)),
            _ => None,
        }
    }

    /// Return the bit rate at the start; of one that always varies, the mean.
    pub fn rate(&self) -> Rate {
        each_server!(Kind, &self.0, part => part.rate())
    }

    /// Return the server for a run in which its link is down at these times.
    pub(crate) fn failing(self, outages: &[Outage]) -> Self {
        Failing { server: Box::new(self), outages: outages.to_vec() }.into()
    }

    /// Return the highest bit rate of all times; of a token bucket without peak rate, that of its tokens.
    pub fn fastest(&self) -> Rate {
        each_server!(Kind, &self.0, part => part.fastest())
    }

    /// Return the least time in s that the services of so many bytes in all take.
    pub fn least_s(&self, bytes: f64) -> f64 {
        each_server!(Kind, &self.0, part => part.least_s(bytes))
    }

    /// Return the trace that its rate follows from the start, and whether that is interpolated.
    pub fn trace(&self) -> Option<(&TraceData, bool)> {
        each_server!(Kind, &self.0, part => part.trace())
    }

    /// Return the mean bit rate between two times, in bit/s.
    pub(crate) fn mean_rate(&self, seed: u64, link: &str, from: Time, to: Time) -> f64 {
        each_server!(Kind, &self.0, part => part.mean_rate(seed, link, from, to))
    }

    /// Return the longest time that the services of packets of so many bytes in all may take.
    pub(crate) fn longest(&self, bytes: u64) -> Span {
        each_server!(Kind, &self.0, part => part.longest(bytes))
    }

    /// Return the bit rate, if it never changes.
    pub(crate) fn as_constant(&self) -> Option<Rate> {
        if let Kind::Constant(Constant { rate, .. }) = self.0 { Some(rate) } else { None }
    }

    /// Return the server for a link that starts at `now`, where earlier changes do not count.
    pub(crate) fn since(&self, now: Time) -> Self {
        each_server!(Kind, &self.0, part => part.since(now).into())
    }
}

impl Serving {
    /// See [`Serve::serve`]; the packet arrived at `arrival`, if that is known.
    #[inline(always)]
    pub fn serve(&mut self, arrival: Option<Time>, start: Time, bytes: u32) -> Span {
        if let Self::Constant(server) = self {
            server.serve(start, bytes)
        } else {
            self.serve_any(arrival, start, bytes)
        }
    }

    /// Out of the way of the constant one.
    #[cold]
    #[inline(never)]
    fn serve_any(&mut self, arrival: Option<Time>, start: Time, bytes: u32) -> Span {
        each_server!(Self, self, server => {
            arrival.into_iter().for_each(|arrival| server.arrived(arrival));
            server.serve(start, bytes)
        })
    }

    /// Return whether the bit rate never changes.
    pub fn is_constant(&self) -> bool {
        matches!(self, Self::Constant(_))
    }

    /// See [`Serve::rate_at`].
    pub fn rate_at(&self, time: Time) -> Rate {
        Serve::rate_at(self, time)
    }
}

impl Serve for Serving {
    fn arrived(&mut self, arrival: Time) {
        each_server!(Self, self, server => server.arrived(arrival));
    }

    fn serve_until(&mut self, start: Time, work: Work, until: Time) -> Result<Time, Work> {
        each_server!(Self, self, server => server.serve_until(start, work, until))
    }

    fn rate_at(&self, time: Time) -> Rate {
        each_server!(Self, self, server => server.rate_at(time))
    }
}
