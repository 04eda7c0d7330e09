//! Lengths on the wire: keys of a link that work with any server, which then serves packets of these lengths.
//! [`Framing`] has the rule and its sources.
//!
//! Queues, counters and drops have the packets as they are; the time of service, and so utilization, has their length on the wire.

use aqmlab_units::{Framing, LinkLayer, Parameter, ParameterValue, Rate, Span, Time};

use super::piecewise::Work;
use super::{InService, Serve, Server, ServerPart, Serving, TraceData};
use crate::link::part::Keys;

/// The keys of a link.
pub(super) const PARAMETERS: [Parameter; 3] = Framing::PARAMETERS;

/// Read the keys of a link; `None` if it has none of them.
pub(super) fn read(keys: &dyn Keys) -> Option<Framing> {
    let [overhead, mpu, layer] = PARAMETERS.map(|parameter| keys.value(&parameter));
    if overhead.is_none() && mpu.is_none() && layer.is_none() {
        return None;
    }
    let number = |value| if let Some(ParameterValue::Number(x)) = value { x as i32 } else { 0 };
    let layer = match layer {
        Some(ParameterValue::Word(word)) => LinkLayer::of(word),
        _ => None,
    };
    let (overhead, mpu) = (number(overhead), number(mpu).unsigned_abs());
    Some(Framing { overhead, mpu, layer: layer.unwrap_or_default() })
}

/// A server that serves packets of their lengths on the wire.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Framed {
    pub server: Box<Server>,
    pub framing: Framing,
}

impl ServerPart for Framed {
    type State = State;

    fn rate(&self) -> Rate {
        self.server.rate()
    }

    fn varies_by(&self) -> Option<&'static str> {
        self.server.varies_by()
    }

    fn fastest(&self) -> Rate {
        self.server.fastest()
    }

    fn least_s(&self, bytes: f64) -> f64 {
        self.server.least_s(bytes)
    }

    fn mean_rate(&self, seed: u64, link: &str, from: Time, to: Time) -> f64 {
        self.server.mean_rate(seed, link, from, to)
    }

    fn longest(&self, bytes: u64) -> Span {
        // The shortest packets grow the most.
        self.server.longest(bytes.saturating_mul(u64::from(self.framing.on_wire(1))))
    }

    fn with_in_service(self, in_service: InService) -> Server {
        Self { server: Box::new(self.server.with_in_service(in_service)), ..self }.into()
    }

    fn in_service(&self) -> InService {
        self.server.in_service()
    }

    fn uses_in_service(&self) -> bool {
        self.server.uses_in_service()
    }

    fn trace(&self) -> Option<(&TraceData, bool)> {
        self.server.trace()
    }

    fn since(&self, now: Time) -> Self {
        Self { server: Box::new(self.server.since(now)), ..*self }
    }

    fn start(&self, seed: u64, link: &str) -> State {
        State { server: Box::new(self.server.start(seed, link)), framing: self.framing }
    }
}

/// The server in a run.
#[derive(Clone, Debug)]
pub(crate) struct State {
    server: Box<Serving>,
    framing: Framing,
}

impl Serve for State {
    fn arrived(&mut self, arrival: Time) {
        self.server.arrived(arrival);
    }

    fn serve(&mut self, start: Time, bytes: u32) -> Span {
        self.server.serve(None, start, self.framing.on_wire(bytes))
    }

    fn serve_until(&mut self, start: Time, work: Work, until: Time) -> Result<Time, Work> {
        self.server.serve_until(start, work, until)
    }

    fn rate_at(&self, time: Time) -> Rate {
        self.server.rate_at(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_server_serves_lengths_on_the_wire() {
        let atm = Framing { overhead: 40, mpu: 0, layer: LinkLayer::Atm };
        let rate = Rate(8_000_000);
        let mut changing = Server::constant(rate)
            .framed(Some(atm))
            .then(Time(Span::from_millis(1).0), Server::constant(Rate(4_000_000)))
            .start(1, "a");
        // A byte lasts 1 us, and 2 us after the change.
        assert_eq!(changing.serve(None, Time::ZERO, 40), Span(106_000_000));
        assert_eq!(changing.serve(None, Time(Span::from_millis(2).0), 40).0, 2 * 106_000_000);
        // The bucket has tokens for two cells.
        let mut bucket = Server::token_bucket(rate, 106, None).framed(Some(atm)).start(1, "a");
        assert_eq!(bucket.serve(None, Time::ZERO, 40), Span(1));
        assert_eq!(bucket.serve(None, Time(1), 57).0, 159_000_000);
    }

    #[test]
    fn no_framing_is_the_server_itself() {
        let server = Server::constant(Rate(1));
        let framed = server.clone().framed(Some(Framing::default()));
        assert_eq!((framed.as_constant(), framed.framing()), (None, Some(Framing::default())));
        assert_eq!(framed.framed(None), server);
    }
}
