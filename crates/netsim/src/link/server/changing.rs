//! A server that is replaced at known times, by `[[change]]` with `rate`. Two readings of the packet in service: see
//! [`piecewise`](super::piecewise).

use std::sync::Arc;

use aqmlab_units::{Rate, Span, Time};

use super::piecewise::{Piecewise, Work};
use super::{InService, Kind, Serve, Server, ServerPart, Serving, TraceData};

/// A server and its replacements.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Changing {
    first: Box<Server>,
    /// In the order of their times.
    later: Vec<(Time, Server)>,
}

impl Changing {
    /// Create it from the server before a change, its time, and the server from then on.
    pub fn new(before: Server, at: Time, server: Server) -> Self {
        let mut changing = match before.0 {
            Kind::Changing(changing) => changing,
            _ => Self { first: Box::new(before), later: Vec::new() },
        };
        changing.later.push((at, server));
        changing
    }

    fn all(&self) -> impl Iterator<Item = &Server> {
        self.later.iter().map(|(_, server)| server).chain([&*self.first])
    }
}

impl ServerPart for Changing {
    type State = State;

    fn rate(&self) -> Rate {
        self.first.rate()
    }

    fn varies_by(&self) -> Option<&'static str> {
        self.first.varies_by()
    }

    fn fastest(&self) -> Rate {
        self.all().map(Server::fastest).fold(Rate(0), Rate::max)
    }

    fn least_s(&self, bytes: f64) -> f64 {
        self.all().map(|server| server.least_s(bytes)).fold(f64::INFINITY, f64::min)
    }

    fn mean_rate(&self, seed: u64, link: &str, from: Time, to: Time) -> f64 {
        let starts = [(Time::ZERO, &*self.first)]
            .into_iter()
            .chain(self.later.iter().map(|(at, server)| (*at, server)));
        let ends = self.later.iter().map(|(at, _)| *at).chain([Time::NEVER]);
        let bits = starts.zip(ends).map(|((start, server), end)| {
            let (start, end) = (start.clamp(from, to), end.clamp(from, to));
            if start < end { server.mean_rate(seed, link, start, end) * end.since(start).secs() } else { 0.0 }
        });
        bits.sum::<f64>() / to.since(from).secs()
    }

    fn longest(&self, bytes: u64) -> Span {
        let starts = [Time::ZERO].into_iter().chain(self.later.iter().map(|(at, _)| *at));
        let ends = self.later.iter().map(|(at, _)| *at).chain([Time::NEVER]);
        let servers = [&*self.first].into_iter().chain(self.later.iter().map(|(_, server)| server));
        let each = starts.zip(ends).zip(servers);
        // A server of rate 0 delays a service until the next one.
        each.map(|((from, to), server)| match server.longest(bytes) {
            Span(u64::MAX) => to.since(from),
            longest => longest,
        })
        .fold(Span::ZERO, |sum, one| Span(sum.0.saturating_add(one.0)))
    }

    fn trace(&self) -> Option<(&TraceData, bool)> {
        self.first.trace()
    }

    fn with_in_service(self, in_service: InService) -> Server {
        Self { first: Box::new(self.first.with_in_service(in_service)), ..self }.into()
    }

    fn in_service(&self) -> InService {
        self.first.in_service()
    }

    fn uses_in_service(&self) -> bool {
        self.first.uses_in_service()
    }

    fn since(&self, now: Time) -> Self {
        let later = self.later.iter().filter(|(at, _)| *at > now).cloned().collect();
        Self { first: self.first.clone(), later }
    }

    fn start(&self, seed: u64, link: &str) -> State {
        let later = self.later.iter().map(|(at, server)| (*at, server.start(seed, link))).collect();
        let steps = Later { all: later, next: 0 };
        State(Box::new(Piecewise::new(self.first.start(seed, link), steps, self.in_service())))
    }
}

/// The server at present, and those that replace it.
#[derive(Clone, Debug)]
pub(crate) struct State(Box<Piecewise<Later, Serving>>);

/// The servers that replace the first one, in order.
#[derive(Clone, Debug)]
struct Later {
    all: Arc<[(Time, Serving)]>,
    next: usize,
}

impl Iterator for Later {
    type Item = (Time, Serving);

    fn next(&mut self) -> Option<Self::Item> {
        self.next += 1;
        self.all.get(self.next - 1).cloned()
    }
}

impl Serve for State {
    fn arrived(&mut self, arrival: Time) {
        self.0.arrived(arrival);
    }

    fn serve_until(&mut self, start: Time, work: Work, until: Time) -> Result<Time, Work> {
        self.0.serve_until(start, work, until)
    }

    fn rate_at(&self, time: Time) -> Rate {
        self.0.rate_at(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_rate_by_hand() {
        let at = |seconds: u64| Time(seconds * 1_000_000_000_000);
        let server = Server::constant(Rate(10))
            .then(at(2), Server::constant(Rate(40)))
            .then(at(5), Server::constant(Rate(1)));
        let mean = |from, to| server.mean_rate(1, "a", at(from), at(to));
        assert_eq!((mean(0, 2), mean(2, 4), mean(6, 9)), (10.0, 40.0, 1.0));
        // 1 s at 10 bit/s, 3 s at 40 bit/s, 2 s at 1 bit/s.
        assert_eq!(mean(1, 7), 132.0 / 6.0);
        assert_eq!(Server::constant(Rate(7)).mean_rate(1, "a", at(1), at(3)), 7.0);
    }
}
