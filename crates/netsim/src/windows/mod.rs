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
//! A station with a single feeder is evaluated together with that feeder, as in the event-queue engine. [`Parallel`] divides the stations
//! between two threads.

mod calendar;
mod division;
mod ends;
mod inboxes;
mod lookahead;
mod order;
mod parallel;
mod read_ahead;

use aqmlab_units::Time;

use self::calendar::Calendar;
pub(crate) use self::division::Division;
use self::ends::Ends;
use self::inboxes::Inboxes;
pub(crate) use self::lookahead::Lookahead;
use self::order::Order;
pub(crate) use self::parallel::Parallel;
use self::read_ahead::{MANY_FLOWS, stages};
use crate::key::Key;
use crate::link::Link;
use crate::message::Message;
use crate::network::{Network, Scheduler};
use crate::paths::Next;
use crate::plan::LinkId;
use crate::sink::Sink;
use crate::source::Source;
use crate::target::Numbering;

/// Number of windows for which inputs are kept by window.
const SLOTS: u64 = 64;
const NONE: u32 = u32::MAX;

/// The state of the windowed engine.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    /// A window is 2^shift ps.
    shift: u32,
    /// The window in progress.
    now: u64,
    numbering: Numbering,
    calendar: Calendar,
    /// The stations that are evaluated here, in topological order; from [`Windows::first_other`] those that another thread evaluates.
    stations: Vec<u32>,
    first_other: usize,
    /// The rank of each station: in the calendar, in `stations` and among the inboxes.
    ranks: Vec<u32>,
    inboxes: Inboxes,
    ends: Ends,
    order: Order,
}

impl Windows {
    /// Create the windows of a network.
    pub fn new(network: &Network, lookahead: &Lookahead) -> Self {
        Self::of_part(network, lookahead, &lookahead.topological_order, &[])
    }

    /// Windows in which these of the stations are evaluated, in this order. What is sent to the others is kept until it is handed over.
    fn of_part(network: &Network, lookahead: &Lookahead, own: &[u32], others: &[u32]) -> Self {
        let numbering = network.numbering;
        // A word of the calendar has no ranks of both.
        let first_other = if others.is_empty() { own.len() } else { own.len().next_multiple_of(64) };
        let mut stations = own.to_vec();
        stations.resize(first_other, NONE);
        stations.extend(others);
        let ends = Ends::new(numbering, lookahead.ends_together);
        let mut ranks = vec![NONE; (numbering.links + ends.stations()) as usize];
        for (rank, &station) in (0..).zip(&stations).filter(|&(_, &station)| station != NONE) {
            ranks[station as usize] = rank;
        }
        // Packets of an endpoint may come over several links.
        let is_unordered = network.fabric.paths.has_detours()
            || network.plan.links.iter().any(|link| !link.line.channel.keeps_order());
        let mut windows = Self {
            shift: lookahead.shift,
            now: 0,
            numbering,
            calendar: Calendar::new(stations.len()),
            inboxes: Inboxes::new(stations.len(), is_unordered),
            stations,
            first_other,
            ranks,
            ends,
            order: Order::default(),
        };
        network.announce(&mut windows);
        windows
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
        self.begin_block();
        for word in 0..self.first_other.div_ceil(64) {
            let mut from = 0;
            while let Some(rank) = self.calendar.take(self.now, word, from) {
                from = rank + 1;
                let station = self.stations[word * 64 + rank as usize];
                if station < self.numbering.links {
                    self.run_link(network, station, end);
                } else {
                    self.run_ends(network, station - self.numbering.links, end);
                }
            }
        }
    }

    /// Evaluate the inputs of a link and the ends of its services before `end`.
    #[inline(never)]
    fn run_link(&mut self, network: &mut Network, link: LinkId, end: Time) {
        let is_queue = matches!(network.fabric.links[link as usize], Link::Queue(_));
        let reads_ahead = self.numbering.flows > MANY_FLOWS;
        let rank = self.ranks[link as usize];
        if let Some((page, mut messages)) = self.inboxes.take(rank, self.now) {
            let mut order = (!Order::is_in(&messages)).then(|| core::mem::take(&mut self.order));
            let base = Time(self.now << self.shift);
            let with_sinks = reads_ahead && self.sinks_are_no_stations();
            let sorted = order.as_mut().map(|order| order.of(&messages, base, self.shift));
            let place = |i: usize| sorted.map_or(i, |sorted| sorted[i].position());
            let mut done = messages.len();
            for i in 0..messages.len() {
                if reads_ahead {
                    let input = |i: usize| (i < messages.len()).then(|| &messages[place(i)]);
                    stages(i, input, |stage, packet| network.read_ahead_behind(stage, packet, with_sinks));
                }
                let message = &mut messages[place(i)];
                if message.time >= end {
                    done = i;
                    break;
                }
                if is_queue {
                    self.serve_before(network, link, message.key());
                }
                network.at_link(self, link, message);
            }
            // If the window is cut short, keep the inputs after `end` for the rest of it.
            for i in done..messages.len() {
                self.put(link, &messages[place(i)]);
            }
            if let Some(order) = order {
                self.order = order;
            }
            self.inboxes.give_back(page, messages);
        }
        if self.inboxes.has_late(rank) {
            self.put_due(rank);
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
    #[inline(always)]
    fn serve_before(&mut self, network: &mut Network, link: LinkId, key: Key) {
        if let Link::Queue(queue) = &network.fabric.links[link as usize]
            && queue.is_due_before(key)
        {
            self.serve_due(network, link, key);
        }
    }

    #[inline(never)]
    fn serve_due(&mut self, network: &mut Network, link: LinkId, key: Key) {
        while let Link::Queue(queue) = &network.fabric.links[link as usize]
            && queue.is_due_before(key)
            && let Some(end) = queue.service_end()
        {
            network.serve(self, link, end.time);
        }
    }

    /// Register a station for a window; if that is too far ahead, for the last window that the calendar has.
    #[inline(always)]
    fn register(&mut self, station: u32, window: u64) {
        self.calendar.set(window.clamp(self.now, self.now + SLOTS - 1), self.ranks[station as usize]);
    }

    /// Deliver an input of a station.
    #[inline(always)]
    fn put(&mut self, station: u32, message: &Message) {
        let (window, rank) = (message.time.0 >> self.shift, self.ranks[station as usize]);
        if window >= self.now + SLOTS {
            self.inboxes.put_late(rank, message);
            self.register(station, window);
        } else if self.inboxes.put(rank, window, message) {
            self.calendar.set(window, rank);
        }
    }

    /// Move the inputs of a station that were too far ahead into their windows.
    #[inline(never)]
    fn put_due(&mut self, rank: u32) {
        let last = self.now + SLOTS - 1;
        if self.inboxes.put_due(rank, self.shift, last + 1, |window| self.calendar.set(window, rank)) {
            self.calendar.set(last, rank);
        }
    }
}

impl Scheduler for Windows {
    const GLOBAL_ORDER: bool = false;

    #[inline(always)]
    fn sent(&mut self, to: Next, message: &Message) {
        match to {
            Next::Link(link) => self.put(link, message),
            Next::Endpoint(flow) => {
                let end_point = 2 * flow + u32::from(!message.is_ack());
                self.put(self.numbering.links + self.ends.station(end_point), message);
            }
        }
    }

    fn sent_unordered(&mut self, to: Next, message: &Message) {
        self.sent(to, message);
    }

    fn entered(&mut self, link: LinkId, message: &Message) {
        self.put(link, message);
    }

    fn serving(&mut self, _link: LinkId, _end: Key) {}
    fn reschedule_source(&mut self, _flow: usize, _source: &mut Source) {}
    fn reschedule_sink(&mut self, _flow: usize, _sink: &mut Sink) {}

    fn starts(&mut self, flow: u32, at: Time) {
        self.ends.flows[flow as usize].application.start = at;
        self.list(2 * flow, at);
    }

    fn stops(&mut self, flow: u32, at: Time) {
        self.ends.flows[flow as usize].application.stop = at;
        self.list(2 * flow, at);
    }
}
