//! A server whose link is down for some time, by `[[change]]` with `state`. Made of the server and the outages of a link when a run starts.

use aqmlab_units::{Rate, Span, Time};

use super::piecewise::Work;
use super::{FAR, Serve, Server, ServerPart, Serving};
use crate::link::outage::{Outage, Outages};

/// A server that serves nothing while its link is down.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failing {
    pub server: Box<Server>,
    pub outages: Vec<Outage>,
}

impl ServerPart for Failing {
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

    /// The mean, with a rate of 0 while the link is down.
    fn mean_rate(&self, seed: u64, link: &str, from: Time, to: Time) -> f64 {
        if from >= to {
            return self.rate().bps();
        }
        let starts = [Time::ZERO].into_iter().chain(self.outages.iter().map(|outage| outage.up));
        let ends = self.outages.iter().map(|outage| outage.down).chain([Time::NEVER]);
        let bits = starts.zip(ends).map(|(start, end)| {
            let (start, end) = (start.clamp(from, to), end.clamp(from, to));
            if start < end {
                self.server.mean_rate(seed, link, start, end) * end.since(start).secs()
            } else {
                0.0
            }
        });
        bits.sum::<f64>() / to.since(from).secs()
    }

    fn longest(&self, bytes: u64) -> Span {
        let outages = self.outages.iter().map(|outage| outage.up.since(outage.down));
        outages.fold(self.server.longest(bytes), |sum, one| Span(sum.0.saturating_add(one.0)))
    }

    fn since(&self, now: Time) -> Self {
        let outages = self.outages.iter().filter(|outage| outage.up > now).copied().collect();
        Self { server: Box::new(self.server.since(now)), outages }
    }

    fn start(&self, seed: u64, link: &str) -> State {
        State(Box::new((self.server.start(seed, link), Outages::new(&self.outages))))
    }
}

/// The server, and the outages to come.
#[derive(Clone, Debug)]
pub(crate) struct State(Box<(Serving, Outages)>);

impl State {
    /// Return the end of a service that starts at `start` and that the server ends at the time that `end` returns for its start. A service
    /// starts when the link is up. If the link goes down before it ends, it is lost, and the server is free when the link is up again.
    fn end(&mut self, start: Time, end: impl FnOnce(&mut Serving, Time) -> Time) -> Time {
        let (server, outages) = &mut *self.0;
        let from = outages.at(start).filter(|outage| outage.down <= start).map_or(start, |outage| outage.up);
        if from >= FAR {
            return FAR;
        }
        let end = end(server, from);
        let cut = outages.at(from).filter(|outage| outage.down < end);
        cut.map_or(end, |outage| outage.up).min(FAR)
    }
}

impl Serve for State {
    fn arrived(&mut self, arrival: Time) {
        self.0.0.arrived(arrival);
    }

    fn serve(&mut self, start: Time, bytes: u32) -> Span {
        self.end(start, |server, from| from + Serve::serve(server, from, bytes)).since(start)
    }

    fn serve_until(&mut self, start: Time, work: Work, until: Time) -> Result<Time, Work> {
        let end = self.end(start, |server, from| server.serve_until(from, work, until).unwrap_or(FAR));
        if end <= until { Ok(end) } else { Err(work) }
    }

    fn rate_at(&self, time: Time) -> Rate {
        self.0.0.rate_at(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_wait_for_the_end_of_an_outage_and_are_cut_by_its_start() {
        let at = |seconds: u64| Time(seconds * 1_000_000_000_000);
        let outage = |down, up| Outage { down: at(down), up: at(up), flushes: false };
        // A byte takes a second.
        let outages = vec![outage(5, 7), outage(20, 30)];
        let failing = Failing { server: Box::new(Server::constant(Rate(8))), outages };
        let mut state = failing.start(1, "a");
        let mut end = |start, bytes| at(start) + Serve::serve(&mut state, at(start), bytes);
        assert_eq!(end(1, 4), at(5), "before the outage");
        assert_eq!(end(5, 2), at(9), "starts when the link is up");
        assert_eq!(end(19, 3), at(30), "cut");
        assert_eq!(end(30, 3), at(33));
        assert_eq!(failing.mean_rate(1, "a", at(0), at(10)), 6.4);
        assert_eq!(failing.longest(2), Span(at(14).0));
        let forever = Failing { outages: vec![Outage { up: Time::NEVER, ..outage(5, 7) }], ..failing };
        assert_eq!(at(4) + Serve::serve(&mut forever.start(1, "a"), at(4), 9), FAR);
    }
}
