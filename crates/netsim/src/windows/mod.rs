//! The windowed engine: no queue of events. Time is divided into windows, and within a window each station evaluates all its
//! inputs in one tight loop.
//!
//! This is conservative synchronization as in parallel discrete-event simulation, on one thread. Chandy and Misra (1979) and
//! Bryant (1977) evaluate a station up to the time before which no input can arrive, by the lookahead of its neighbours. YAWNS
//! (D. M. Nicol, "The Cost of Conservative Synchronization in Parallel Discrete Event Simulations", JACM 40(2), 1993) derives a
//! common window from it, within which stations are independent. The windows here are fixed and longer: only edges that would
//! close a cycle need a delay of at least one window. The edges that are shorter than a window form no cycle, so the stations
//! have a topological order, and each message goes to a later station or to a later window. When a station is evaluated, all
//! its inputs of the window are known; they are sorted by their keys.
//!
//! A station with a single feeder is evaluated together with that feeder, as in the event-queue engine.

mod calendar;
mod inboxes;
mod lookahead;
mod order;

use std::collections::VecDeque;

use aqmlab_units::Time;

use self::calendar::Calendar;
use self::inboxes::Inboxes;
use self::lookahead::Lookahead;
use self::order::Order;
use crate::key::Key;
use crate::link::Link;
use crate::message::Message;
use crate::network::{Network, Scheduler};
use crate::paths::Next;
use crate::plan::LinkId;
use crate::sink::Sink;
use crate::source::Source;
use crate::target::{Numbering, Target};

/// Number of windows for which inputs are kept by window.
const SLOTS: u64 = 64;
const NONE: u32 = u32::MAX;
/// The next start and stop of the application of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Application {
    start: Option<Time>,
    stop: Option<Time>,
}

impl Application {
    fn next(self) -> Time {
        self.start.unwrap_or(Time::NEVER).min(self.stop.unwrap_or(Time::NEVER))
    }
}

/// The state of the windowed engine.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    /// A window is 2^shift ps.
    shift: u32,
    /// The window in progress.
    now: u64,
    numbering: Numbering,
    calendar: Calendar,
    /// The stations in topological order, and the rank of each station in it.
    stations: Vec<u32>,
    ranks: Vec<u32>,
    inboxes: Inboxes,
    /// Inputs of sources and sinks; each has one feeder, so they arrive in order.
    lines: Vec<VecDeque<Message>>,
    applications: Vec<Application>,
    /// The window in which each source and sink is registered for its timer.
    wake: Vec<u64>,
    order: Order,
}

impl Windows {
    /// Create the windows of a network.
    ///
    /// # Errors
    /// The reason why this network cannot be evaluated in windows.
    pub fn new(network: &Network) -> Result<Self, String> {
        let Lookahead { shift, topological_order: stations } = Lookahead::new(network)?;
        let numbering = network.numbering;
        let mut ranks = vec![NONE; (numbering.links + 2 * numbering.flows) as usize];
        for (rank, &station) in (0..).zip(&stations) {
            ranks[station as usize] = rank;
        }
        let mut windows = Self {
            shift,
            now: 0,
            numbering,
            calendar: Calendar::new(stations.len()),
            inboxes: Inboxes::new(numbering.links, &stations),
            stations,
            ranks,
            lines: vec![VecDeque::new(); 2 * numbering.flows as usize],
            applications: vec![Application::default(); numbering.flows as usize],
            wake: vec![0; 2 * numbering.flows as usize],
            order: Order::default(),
        };
        network.announce(&mut windows);
        Ok(windows)
    }

    /// Evaluate everything before `until`.
    pub fn run_until(&mut self, network: &mut Network, until: Time) {
        while self.now << self.shift < until.0 {
            let whole = (self.now + 1) << self.shift;
            self.run_window(network, Time(whole.min(until.0)));
            if whole > until.0 {
                return;
            }
            self.now += 1;
        }
    }

    /// Evaluate one window, up to `end`.
    fn run_window(&mut self, network: &mut Network, end: Time) {
        for word in 0..self.calendar.words {
            let mut from = 0;
            while let Some(rank) = self.calendar.take(self.now, word, from) {
                from = rank + 1;
                let station = self.stations[word * 64 + rank as usize];
                if station < self.numbering.links {
                    self.run_link(network, station, end);
                } else {
                    let end_point = station - self.numbering.links;
                    if end_point.is_multiple_of(2) {
                        self.run_source(network, end_point / 2, end);
                    } else {
                        self.run_sink(network, end_point / 2, end);
                    }
                }
            }
        }
    }

    fn run_link(&mut self, network: &mut Network, link: LinkId, end: Time) {
        let is_queue = matches!(network.fabric.links[link as usize], Link::Queue(_));
        if let Some((page, mut messages)) = self.inboxes.take(link, self.now) {
            let mut order = core::mem::take(&mut self.order);
            let mut done = messages.len();
            let sorted = order.of(&messages, Time(self.now << self.shift), self.shift);
            for (i, &(time, place)) in sorted.iter().enumerate() {
                if time >= end {
                    done = i;
                    break;
                }
                let message = &mut messages[place as usize];
                if is_queue {
                    self.serve_before(network, link, message.key());
                }
                network.at_link(self, link, message);
            }
            // If the window is cut short, keep the inputs after `end` for the rest of it.
            for &(_, place) in &sorted[done..] {
                self.put(link, &messages[place as usize]);
            }
            self.order = order;
            self.inboxes.give_back(page, messages);
        }
        let (rank, last) = (self.ranks[link as usize], self.now + SLOTS - 1);
        if self.inboxes.put_due(link, self.shift, last + 1, |window| self.calendar.set(window, rank)) {
            self.calendar.set(last, rank);
        }
        if is_queue {
            self.serve_before(network, link, Key::start_of(end));
            if let Link::Queue(queue) = &network.fabric.links[link as usize]
                && let Some(next) = queue.service_end()
            {
                self.register(link, next.time.0 >> self.shift);
            }
        }
    }

    /// Evaluate the ends of service before `key`, if they are events.
    #[inline]
    fn serve_before(&mut self, network: &mut Network, link: LinkId, key: Key) {
        while let Link::Queue(queue) = &network.fabric.links[link as usize]
            && queue.is_due_before(key)
            && let Some(end) = queue.service_end()
        {
            network.serve(self, link, end.time);
        }
    }

    fn run_source(&mut self, network: &mut Network, flow: u32, end: Time) {
        let (f, line) = (flow as usize, 2 * flow as usize);
        let mut application = self.applications[f].next();
        loop {
            let timer = network.sources[f].timer().map_or(Time::NEVER, |t| t.deadline);
            let own = application.min(timer);
            if let Some(ack) = self.lines[line].front()
                && ack.time < own.min(end)
            {
                let ack = *ack;
                self.lines[line].pop_front();
                network.at_source(self, f, &ack);
            } else if own < end {
                self.step_source(network, flow);
                application = self.applications[f].next();
            } else {
                if timer != Time::NEVER {
                    self.wake(line, timer);
                }
                break;
            }
        }
        if application != Time::NEVER {
            self.register(self.numbering.links + 2 * flow, application.0 >> self.shift);
        }
        self.expect(line);
    }

    /// Evaluate the next event of a source, by key, if there is one.
    fn step_source(&mut self, network: &mut Network, flow: u32) {
        let (f, line) = (flow as usize, 2 * flow as usize);
        let number = self.numbering.source(self.numbering.slot(Target::Sender(flow)));
        let own = |time: Time, cause: Time| Key { time, cause, source: number };
        let Application { start, stop } = self.applications[f];
        let ack = self.lines[line].front().map(Message::key);
        let timer = network.sources[f].timer().map(|t| own(t.deadline, t.set_at));
        let (start, stop) = (start.map(|t| own(t, Time::ZERO)), stop.map(|t| own(t, Time::ZERO)));
        let Some(key) = [start, stop, timer, ack].into_iter().flatten().min() else { return };
        if start == Some(key) {
            self.applications[f].start = None;
            network.start(self, flow, key);
        } else if stop == Some(key) {
            self.applications[f].stop = None;
            network.stop(self, flow, key);
        } else if timer == Some(key) {
            network.source_timer(self, f, key);
        } else if let Some(message) = self.lines[line].pop_front() {
            network.at_source(self, f, &message);
        }
    }

    fn run_sink(&mut self, network: &mut Network, flow: u32, end: Time) {
        let (f, line) = (flow as usize, 2 * flow as usize + 1);
        let number = self.numbering.source(self.numbering.slot(Target::Receiver(flow)));
        loop {
            let data = self.lines[line].front().map(Message::key);
            let timer = network.sinks[f].timer();
            let timer = timer.map(|t| Key { time: t.deadline, cause: t.set_at, source: number });
            let Some(key) = [timer, data].into_iter().flatten().min().filter(|k| k.time < end) else { break };
            if timer == Some(key) {
                network.sink_timer(self, f, key);
            } else if let Some(message) = self.lines[line].pop_front() {
                network.at_sink(self, &message);
            }
        }
        if let Some(timer) = network.sinks[f].timer() {
            self.wake(line, timer.deadline);
        }
        self.expect(line);
    }

    /// Register a source or sink for the window of its next input.
    #[inline]
    fn expect(&mut self, line: usize) {
        if let Some(next) = self.lines[line].front() {
            self.register(self.numbering.links + line as u32, next.time.0 >> self.shift);
        }
    }

    /// Register a source or sink for the window of its timer, or for an earlier one.
    #[inline]
    fn wake(&mut self, line: usize, timer: Time) {
        let window = (timer.0 >> self.shift).clamp(self.now, self.now + SLOTS - 1);
        let pending = self.wake[line];
        if pending <= self.now || window < pending {
            self.wake[line] = window;
            self.register(self.numbering.links + line as u32, window);
        }
    }

    /// Register a station for a window; if that is too far ahead, for the last window that the calendar has.
    #[inline(always)]
    fn register(&mut self, station: u32, window: u64) {
        self.calendar.set(window.clamp(self.now, self.now + SLOTS - 1), self.ranks[station as usize]);
    }

    /// Deliver an input of a link.
    #[inline(always)]
    fn put(&mut self, link: LinkId, message: &Message) {
        let window = message.time.0 >> self.shift;
        if window >= self.now + SLOTS {
            self.inboxes.put_late(link, message);
            self.register(link, window);
        } else if self.inboxes.put(link, window, message) {
            self.calendar.set(window, self.ranks[link as usize]);
        }
    }

    /// Deliver an input of a source or sink.
    #[inline(always)]
    fn queue(&mut self, line: usize, message: &Message) {
        self.lines[line].push_back(*message);
        self.register(self.numbering.links + line as u32, message.time.0 >> self.shift);
    }
}

impl Scheduler for Windows {
    const GLOBAL_ORDER: bool = false;

    #[inline(always)]
    fn sent(&mut self, to: Next, message: &Message) {
        match to {
            Next::Link(link) => self.put(link, message),
            Next::Endpoint(flow) => self.queue(2 * flow as usize + usize::from(!message.is_ack()), message),
        }
    }

    fn entered(&mut self, link: LinkId, message: &Message) {
        self.put(link, message);
    }

    fn serving(&mut self, _link: LinkId, _end: Key) {}
    fn reschedule_source(&mut self, _flow: usize, _source: &mut Source) {}
    fn reschedule_sink(&mut self, _flow: usize, _sink: &mut Sink) {}

    fn starts(&mut self, flow: u32, at: Time) {
        self.applications[flow as usize].start = Some(at);
        self.register(self.numbering.links + 2 * flow, at.0 >> self.shift);
    }

    fn stops(&mut self, flow: u32, at: Time) {
        self.applications[flow as usize].stop = Some(at);
        self.register(self.numbering.links + 2 * flow, at.0 >> self.shift);
    }
}
