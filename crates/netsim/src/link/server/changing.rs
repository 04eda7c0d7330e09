//! A server that is replaced at known times, by `[[change]]` with `rate`. A service ends as it started.

use std::collections::VecDeque;

use aqmlab_units::{Rate, Span, Time};

use super::{Kind, Serve, Server, ServerPart, Serving};

/// A server, and those that replace it.
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

    fn fastest(&self) -> Rate {
        self.all().map(Server::fastest).fold(Rate(0), Rate::max)
    }

    fn mean_rate(&self, from: Time, to: Time) -> f64 {
        let starts = [(Time::ZERO, &*self.first)]
            .into_iter()
            .chain(self.later.iter().map(|(at, server)| (*at, server)));
        let ends = self.later.iter().map(|(at, _)| *at).chain([Time::NEVER]);
        let bits = starts.zip(ends).map(|((start, server), end)| {
            let (start, end) = (start.clamp(from, to), end.clamp(from, to));
            if start < end { server.mean_rate(start, end) * end.since(start).secs() } else { 0.0 }
        });
        bits.sum::<f64>() / to.since(from).secs()
    }

    fn longest(&self, bytes: u64) -> Span {
        self.all().map(|server| server.longest(bytes)).fold(Span::ZERO, Span::max)
    }

    fn since(&self, now: Time) -> Self {
        let later = self.later.iter().filter(|(at, _)| *at > now).cloned().collect();
        Self { first: self.first.clone(), later }
    }

    fn start(&self, seed: u64, link: &str) -> State {
        let later = self.later.iter().map(|(at, server)| (*at, server.start(seed, link)));
        State { now: Box::new(self.first.start(seed, link)), later: later.collect() }
    }
}

/// The server at present, and those that replace it.
#[derive(Clone, Debug)]
pub(crate) struct State {
    now: Box<Serving>,
    later: VecDeque<(Time, Serving)>,
}

impl Serve for State {
    fn serve(&mut self, start: Time, bytes: u32) -> Span {
        while self.later.front().is_some_and(|(at, _)| *at <= start)
            && let Some((_, server)) = self.later.pop_front()
        {
            *self.now = server;
        }
        self.now.serve(start, bytes)
    }

    fn rate_at(&self, time: Time) -> Rate {
        let due = self.later.iter().rev().find(|(from, _)| *from <= time);
        due.map_or(&*self.now, |(_, server)| server).rate_at(time)
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
        let mean = |from, to| server.mean_rate(at(from), at(to));
        assert_eq!((mean(0, 2), mean(2, 4), mean(6, 9)), (10.0, 40.0, 1.0));
        // 1 s at 10 bit/s, 3 s at 40 bit/s, 2 s at 1 bit/s.
        assert_eq!(mean(1, 7), 132.0 / 6.0);
        assert_eq!(Server::constant(Rate(7)).mean_rate(at(1), at(3)), 7.0);
    }
}
