//! Sources and sinks as stations, and their timers.
//!
//! All sources are one station, and so are all sinks that are stations of their own, unless the windows are shorter then. This is
//! exact. An endpoint reads nothing but its own inputs, so it has no effect in which order endpoints are evaluated; and its inputs
//! come in order: all of them come over the last link of its path, which sends in order, and a page keeps what it is given in the
//! order in which it is given. So the inputs of a window, of all sources, are evaluated from the first to the last, and need neither
//! sorting nor a queue for each flow. (Inputs that were further ahead than windows are kept for come to a page late. Such a page is
//! sorted, and so is every page where a link does not send in order.) An endpoint's own events before an input, by the keys, are evaluated before it; its events after the last input of
//! the window, after all inputs.
//!
//! Timers are lazy: an endpoint is listed for a window no later than that of its next own event. If it finds nothing to do there, since
//! the timer was set again, it is listed again. Where endpoints are together, one whose event is further ahead than windows are kept for is
//! listed for a block of [`SLOTS`] windows, and with its first window at last.

use aqmlab_units::Time;

use super::calendar::Calendar;
use super::read_ahead::{MANY_FLOWS, stages};
use super::{SLOTS, Windows};
use crate::key::Key;
use crate::message::Message;
use crate::network::Network;
use crate::target::Numbering;

/// Of an endpoint that is listed for no window.
const UNLISTED: u64 = u64::MAX;

/// The next start and stop of the application of a flow; `NEVER` without.
#[derive(Clone, Copy, Debug)]
pub(super) struct Application {
    pub start: Time,
    pub stop: Time,
}

impl Application {
    fn next(self) -> Time {
        self.start.min(self.stop)
    }
}

/// When the endpoints of a flow have something to do by themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timers {
    pub application: Application,
    /// The windows for which source and sink are listed.
    listed: [u64; 2],
}

/// The endpoints; those of flow f have the numbers 2 f (source) and 2 f + 1 (sink).
#[derive(Clone, Debug)]
pub(super) struct Ends {
    /// All sources are station 0, and all sinks station 1, of the stations behind the links; else each endpoint is one.
    together: bool,
    /// Of each flow.
    pub flows: Vec<Timers>,
    /// Where they are together: the flows listed for each window, of sources and of sinks.
    lists: [Calendar; 2],
    /// The same for blocks of windows that begin later than the lists reach.
    blocks: [Calendar; 2],
}

impl Ends {
    pub fn new(numbering: Numbering, together: bool) -> Self {
        let flows = numbering.flows as usize;
        let application = Application { start: Time::NEVER, stop: Time::NEVER };
        let list = || Calendar::new(if together { flows } else { 0 });
        Self {
            together,
            flows: vec![Timers { application, listed: [UNLISTED; 2] }; flows],
            lists: [list(), list()],
            blocks: [list(), list()],
        }
    }

    /// The flows of which a source or sink is listed for a window, of one word of the list.
    #[inline]
    pub fn listed_for(&self, number: u32, window: u64, word: usize) -> impl Iterator<Item = u32> + use<> {
        self.lists[number as usize].ranks(window, word)
    }

    /// The window for which an endpoint is listed.
    #[inline(always)]
    fn listed(&mut self, end_point: u32) -> &mut u64 {
        &mut self.flows[(end_point / 2) as usize].listed[(end_point % 2) as usize]
    }

    /// Return how many stations they are.
    pub fn stations(&self) -> u32 {
        if self.together { 2 } else { 2 * self.flows.len() as u32 }
    }

    /// Return the number of the station of an endpoint behind those of the links.
    #[inline]
    pub fn station(&self, end_point: u32) -> u32 {
        if self.together { end_point % 2 } else { end_point }
    }
}

pub(super) fn is_source(end_point: u32) -> bool {
    end_point.is_multiple_of(2)
}

impl Windows {
    /// At the start of a block of windows, list the endpoints that are listed for the block for its first window.
    #[inline]
    pub(super) fn begin_block(&mut self) {
        if !self.ends.together || !self.now.is_multiple_of(SLOTS) {
            return;
        }
        for number in 0..2 {
            let block = &mut self.ends.blocks[number];
            if self.ends.lists[number].take_over(self.now, block, self.now / SLOTS) {
                self.calendar.set(self.now, self.ranks[self.numbering.links as usize + number]);
            }
        }
    }

    /// Evaluate the endpoints of a station, which has this number behind those of the links.
    #[inline(never)]
    pub(super) fn run_ends(&mut self, network: &mut Network, number: u32, end: Time) {
        let station = self.numbering.links + number;
        let rank = self.ranks[station as usize];
        let reads_ahead = self.ends.together && self.numbering.flows > MANY_FLOWS;
        if let Some((page, mut messages)) = self.inboxes.take_in_order(rank, self.now) {
            for i in 0..messages.len() {
                if reads_ahead {
                    let read =
                        |stage: usize, packet: &Message| self.read_ahead_for_end(network, stage, packet);
                    stages(i, |i| messages.get(i), read);
                }
                let message = &mut messages[i];
                if message.time >= end {
                    // The window is cut short: for the rest of it.
                    self.put(station, message);
                } else if is_source(number) {
                    self.run_source(network, message);
                } else {
                    self.run_sink(network, message);
                }
            }
            self.inboxes.give_back(page, messages);
        }
        if self.inboxes.has_late(rank) {
            self.put_due(rank);
        }
        if self.ends.together {
            for word in 0..self.ends.lists[number as usize].words {
                if reads_ahead {
                    self.read_ahead_listed(network, number, word);
                }
                let mut from = 0;
                while let Some(rank) = self.ends.lists[number as usize].take(self.now, word, from) {
                    from = rank + 1;
                    self.run_listed(network, 2 * (word as u32 * 64 + rank) + number, end);
                }
            }
        } else {
            self.run_listed(network, number, end);
        }
    }

    /// An acknowledgement arrives at its source.
    #[inline]
    fn run_source(&mut self, network: &mut Network, ack: &mut Message) {
        let flow = network.fabric.paths.flow(ack);
        let end_point = 2 * flow as u32;
        if self.next_own_event(network, end_point) <= ack.time {
            self.run_own_events(network, end_point, ack.key());
        }
        network.at_source(self, flow, ack);
        let next = self.next_own_event(network, end_point);
        self.list(end_point, next);
    }

    /// A data packet arrives at its sink.
    #[inline]
    fn run_sink(&mut self, network: &mut Network, data: &mut Message) {
        let end_point = 2 * network.fabric.paths.flow(data) as u32 + 1;
        if self.next_own_event(network, end_point) <= data.time {
            self.run_own_events(network, end_point, data.key());
        }
        network.at_sink(self, data);
        let next = self.next_own_event(network, end_point);
        self.list(end_point, next);
    }

    /// Evaluate the own events of an endpoint before `end`, if it is listed for this window.
    fn run_listed(&mut self, network: &mut Network, end_point: u32, end: Time) {
        if *self.ends.listed(end_point) != self.now {
            return;
        }
        // The entry for this window stays until here: an entry that a start or stop of the flow adds now would never be read.
        if self.next_own_event(network, end_point) < end {
            self.run_own_events(network, end_point, Key::start_of(end));
        }
        *self.ends.listed(end_point) = UNLISTED;
        let next = self.next_own_event(network, end_point);
        self.list(end_point, next);
    }

    /// Return the time of the next own event of an endpoint; `NEVER` without.
    #[inline(always)]
    fn next_own_event(&self, network: &Network, end_point: u32) -> Time {
        let flow = (end_point / 2) as usize;
        if is_source(end_point) {
            network.sources[flow].deadline().min(self.ends.flows[flow].application.next())
        } else {
            network.sinks[flow].deadline()
        }
    }

    /// Evaluate the own events of an endpoint before `limit`, in the order of their keys.
    #[inline(never)]
    fn run_own_events(&mut self, network: &mut Network, end_point: u32, limit: Key) {
        let flow = end_point / 2;
        let source = self.numbering.links + end_point;
        let own = |time: Time, cause: Time| Key { time, cause, source };
        loop {
            let timer = if is_source(end_point) {
                network.sources[flow as usize].timer()
            } else {
                network.sinks[flow as usize].timer()
            };
            let timer = timer.map_or(own(Time::NEVER, Time::ZERO), |t| own(t.deadline, t.set_at));
            if !is_source(end_point) {
                if timer >= limit {
                    return;
                }
                network.sink_timer(self, flow as usize, timer);
                continue;
            }
            let Application { start, stop } = self.ends.flows[flow as usize].application;
            let (start, stop) = (own(start, Time::ZERO), own(stop, Time::ZERO));
            let key = start.min(stop).min(timer);
            if key >= limit {
                return;
            }
            if start == key {
                self.ends.flows[flow as usize].application.start = Time::NEVER;
                network.start(self, flow, key);
            } else if stop == key {
                self.ends.flows[flow as usize].application.stop = Time::NEVER;
                network.stop(self, flow, key);
            } else {
                network.source_timer(self, flow as usize, key);
            }
        }
    }

    /// List an endpoint for the window of its next own event, or for an earlier one.
    #[inline(always)]
    pub(super) fn list(&mut self, end_point: u32, next: Time) {
        let window = next.0 >> self.shift;
        if window < *self.ends.listed(end_point) && next != Time::NEVER {
            self.list_for(end_point, window.max(self.now));
        }
    }

    /// List an endpoint for this window; if that is too far ahead, for the first window of its block, or of the last block that is kept.
    #[inline(never)]
    fn list_for(&mut self, end_point: u32, mut window: u64) {
        let kept = self.now + SLOTS;
        if window >= kept && self.ends.together {
            window = (window / SLOTS).min(self.now / SLOTS + SLOTS - 1) * SLOTS;
        } else {
            window = window.min(kept - 1);
        }
        if window >= *self.ends.listed(end_point) {
            return;
        }
        *self.ends.listed(end_point) = window;
        let (number, flow) = ((end_point % 2) as usize, end_point / 2);
        if window >= kept {
            return self.ends.blocks[number].set(window / SLOTS, flow);
        }
        if self.ends.together {
            self.ends.lists[number].set(window, flow);
        }
        let station = self.numbering.links + self.ends.station(end_point);
        self.calendar.set(window, self.ranks[station as usize]);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use aqmlab_transport::TcpConfig;
    use aqmlab_transport::rfc::{Config, CongestionControl};
    use aqmlab_units::{Span, Time};

    use super::super::lookahead::tests::network;
    use crate::engine::Engine;
    use crate::plan::{Plan, Transport};
    use crate::{EngineChoice, Options, Simulation};

    /// Return the tables of a run.
    fn run(plan: &Plan, engine: EngineChoice, shortcuts: bool) -> String {
        let mut simulation = Simulation::new(plan, 1, Options { shortcuts, engine, ..Options::default() });
        simulation.finish();
        match engine {
            EngineChoice::Windows => assert!(matches!(simulation.engine, Engine::Windows(_))),
            EngineChoice::Parallel => assert!(matches!(simulation.engine, Engine::Parallel(_))),
            _ => {}
        }
        format!("{:?}", simulation.into_tables())
    }

    #[test]
    fn all_engines_agree_where_channels_lose_reorder_and_duplicate_packets() {
        for (profile, delays) in
            [(false, [20; 5]), (true, [20; 5]), (true, [1, 3, 7, 2, 5]), (false, [100, 1, 1, 100, 1])]
        {
            let mut plan = network(delays, &[(0, 4), (5, 4), (4, 0), (1, 2)]).plan;
            let plain = run(&plan, EngineChoice::Events, true);
            let mut links = plan.links.to_vec();
            for (i, link) in links.iter_mut().enumerate().filter(|(i, _)| i % 3 != 1) {
                let mut line = (*link.line).clone();
                line.channel = line.channel.lossy(97).shuffled(5 + i as u32, Span::from_millis(23));
                link.line = line.into();
            }
            plan.links = links.into();
            if profile {
                let mut flows = plan.flows.to_vec();
                for flow in &mut flows {
                    if let Transport::Tcp { config, .. } = Arc::make_mut(&mut flow.transport) {
                        *config = TcpConfig::Rfc(Arc::new(Config::linux(CongestionControl::Cubic)));
                    }
                }
                plan.flows = flows.into();
            }
            let by_events = run(&plan, EngineChoice::Events, true);
            assert_ne!(by_events, plain);
            assert_eq!(by_events, run(&plan, EngineChoice::Events, false), "without shortcuts, {delays:?}");
            assert_eq!(by_events, run(&plan, EngineChoice::Windows, true), "windows, {delays:?}");
            assert_eq!(by_events, run(&plan, EngineChoice::Parallel, true), "two threads, {delays:?}");
        }
    }

    #[test]
    fn timers_go_on_after_a_pause_shorter_than_a_window() {
        let at = Time::from_secs;
        for pause in [1e-9, 1e-5, 1e-4, 3e-3] {
            let mut plan = network([20; 5], &[(0, 4), (5, 4), (4, 0), (1, 2)]).plan;
            let mut flows = plan.flows.to_vec();
            for flow in &mut flows {
                flow.stop = Some(at(1.0));
                flow.again = vec![(at(1.0 + pause), at(1.5)), (at(1.5 + pause), at(60.0))];
            }
            plan.flows = flows.into();
            let mut links = plan.links.to_vec();
            for link in &mut links {
                let mut line = (*link.line).clone();
                line.channel = line.channel.lossy(13);
                link.line = line.into();
            }
            plan.links = links.into();
            let by_events = run(&plan, EngineChoice::Events, true);
            assert_eq!(by_events, run(&plan, EngineChoice::Windows, true), "windows, {pause} s");
            assert_eq!(by_events, run(&plan, EngineChoice::Parallel, true), "two threads, {pause} s");
        }
    }
}
