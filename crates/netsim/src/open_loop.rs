//! A queue under Poisson arrivals and exponential service: the open loop in which queueing theory is exact.
//!
//! Arrivals do not react to drops. Service times are drawn at the start of service (they are memoryless, so nothing
//! is lost by it), and the discipline sees packets of one length. With the packet in service counted and a weight of
//! 1 the queue is the birth-death chain of ExRED's analysis (its eq. 9).

use aqmlab_aqm::{Dequeue, Discipline, DropReason, Host, Meta, Packet, Qdisc, Resolved};
use aqmlab_units::{Span, Stream, Time};

/// Longest run of drops that is counted apart.
pub const LONGEST_RUN: usize = 32;

/// The configuration of an open-loop run.
#[derive(Clone, Debug)]
pub struct OpenLoop<'a> {
    /// The discipline, resolved for a link that carries `service_rate` packets of mean size a second.
    pub queue: &'a Resolved,
    /// Mean size of a packet in bytes, as resolved.
    pub packet_bytes: u32,
    /// Arrivals per second.
    pub arrival_rate: f64,
    /// Services per second while busy.
    pub service_rate: f64,
    /// Arrivals to measure.
    pub arrivals: u64,
    /// Arrivals before measuring.
    pub warmup: u64,
}

/// The measurements of an open-loop run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenLoopResult {
    /// Arrivals measured.
    pub arrivals: u64,
    /// Drops among them.
    pub drops: u64,
    /// Sum of the number in system (in service included) that the arrivals found.
    pub seen: u64,
    /// Sum of the waiting times of the packets whose service started, in seconds.
    pub wait: f64,
    /// Services started.
    pub served: u64,
    /// Time measured in seconds.
    pub time: f64,
    /// `runs[n]`: runs of more than n consecutive drops that have ended, n below [`LONGEST_RUN`].
    pub runs: Vec<u64>,
    /// Drops in runs that have ended.
    pub drops_in_runs: u64,
}

impl OpenLoopResult {
    /// Probability that an arrival is dropped.
    pub fn p_drop(&self) -> f64 {
        self.drops as f64 / self.arrivals as f64
    }

    /// Packets carried per second.
    pub fn throughput(&self) -> f64 {
        (self.arrivals - self.drops) as f64 / self.time
    }

    /// Mean number in system as arrivals see it.
    pub fn mean_number_seen(&self) -> f64 {
        self.seen as f64 / self.arrivals as f64
    }

    /// Mean wait of an accepted packet in seconds.
    pub fn mean_wait(&self) -> f64 {
        self.wait / self.served as f64
    }

    /// Mean length of a run of consecutive drops; NaN without one.
    pub fn mean_run(&self) -> f64 {
        self.drops_in_runs as f64 / self.runs[0] as f64
    }
}

struct LoopHost<'a> {
    rng: &'a mut Stream,
    dropped: bool,
}

impl Host<()> for LoopHost<'_> {
    fn uniform(&mut self) -> f64 {
        self.rng.uniform()
    }
    fn below(&mut self, n: u64) -> u64 {
        self.rng.below(n)
    }
    fn dropped(&mut self, _packet: Packet<()>, _reason: DropReason) {
        self.dropped = true;
    }
    fn marked(&mut self, _packet: &Packet<()>, _reason: DropReason) {}
}

struct State {
    queue: Discipline<()>,
    /// End of the service in progress.
    service: Option<Time>,
    services: Stream,
    draws: Stream,
    mean_service: f64,
    measured_from: Option<Time>,
    result: OpenLoopResult,
}

impl OpenLoop<'_> {
    /// Runs it.
    pub fn run(&self, seed: u64) -> OpenLoopResult {
        let mut arrivals = Stream::new(seed, "open loop arrivals");
        let mut state = State {
            queue: self.queue.build(),
            service: None,
            services: Stream::new(seed, "open loop services"),
            draws: Stream::new(seed, "open loop discipline"),
            mean_service: 1.0 / self.service_rate,
            measured_from: None,
            result: OpenLoopResult { runs: vec![0; LONGEST_RUN], ..OpenLoopResult::default() },
        };
        let (mut now, mut run) = (Time::ZERO, 0);
        for i in 0..self.warmup + self.arrivals {
            now += Span::from_secs(arrivals.exponential(1.0 / self.arrival_rate));
            state.serve_until(now);
            if i == self.warmup {
                state.measured_from = Some(now);
            }
            let dropped = state.arrive(now, self.packet_bytes);
            if i >= self.warmup {
                state.result.count(dropped, &mut run);
            }
        }
        state.result.time = now.since(state.measured_from.unwrap_or(now)).secs();
        state.result
    }
}

impl State {
    fn arrive(&mut self, now: Time, bytes: u32) -> bool {
        let in_system = u64::from(self.queue.backlog().packets) + u64::from(self.service.is_some());
        if self.measured_from.is_some() {
            self.result.seen += in_system;
        }
        let packet = Packet { meta: Meta { bytes, arrival: now, ..Meta::default() }, payload: () };
        let mut host = LoopHost { rng: &mut self.draws, dropped: false };
        self.queue.enqueue(now, packet, &mut host);
        let dropped = host.dropped;
        if self.service.is_none() {
            self.serve(now);
        }
        dropped
    }

    fn serve_until(&mut self, now: Time) {
        while let Some(end) = self.service
            && end <= now
        {
            self.serve(end);
        }
    }

    fn serve(&mut self, now: Time) {
        let mut host = LoopHost { rng: &mut self.draws, dropped: false };
        self.service = match self.queue.dequeue(now, &mut host) {
            Dequeue::Packet(packet) => {
                if self.measured_from.is_some_and(|from| packet.meta.arrival >= from) {
                    self.result.wait += now.since(packet.meta.arrival).secs();
                    self.result.served += 1;
                }
                Some(now + Span::from_secs(self.services.exponential(self.mean_service)))
            }
            Dequeue::NotBefore(time) => Some(time),
            Dequeue::Empty => None,
        };
    }
}

impl OpenLoopResult {
    /// Counts an arrival; `run` is the length of the run of drops in progress.
    fn count(&mut self, dropped: bool, run: &mut usize) {
        self.arrivals += 1;
        if dropped {
            self.drops += 1;
            *run += 1;
        } else if *run > 0 {
            self.drops_in_runs += *run as u64;
            self.runs.iter_mut().take(*run).for_each(|n| *n += 1);
            *run = 0;
        }
    }
}
