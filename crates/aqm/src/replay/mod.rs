//! Replay of a list of operations and random numbers through a discipline, to compare each decision with an independent
//! implementation; and of the log of decisions that a kernel module writes ([`replay_log`]).

mod dualpi2;
mod log;
mod record;
mod tap;
mod tapped;
mod tcp;

pub use log::{Difference, Levels, Replayed, replay_log};
pub use record::{Record, RecordKind};

use std::collections::VecDeque;

use aqmlab_units::{Random, Time};

use crate::{Dequeue, DropReason, Effect, Meta, Resolved, StandaloneQueue, Tag};

/// A queue whose packets are numbered 0, 1, 2, ... in the order of their arrival.
#[derive(Clone, Debug)]
pub struct Replay {
    queue: StandaloneQueue,
    draws: Draws,
    arrived: u32,
}

/// The result of one operation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// Packets dropped, and why.
    pub dropped: Vec<(u32, DropReason)>,
    /// Packets marked.
    pub marked: Vec<u32>,
    /// The packet that departs.
    pub departed: Option<u32>,
    /// Random numbers used so far.
    pub drawn: usize,
}

/// The random numbers of the list in [0, 1), in order; 0.5 once they are used up.
#[derive(Clone, Debug)]
struct Draws {
    numbers: VecDeque<f64>,
    drawn: usize,
}

impl Random for Draws {
    fn bits64(&mut self) -> u64 {
        (self.uniform() * 18_446_744_073_709_551_616.0) as u64
    }

    fn uniform(&mut self) -> f64 {
        self.drawn += 1;
        self.numbers.pop_front().unwrap_or(0.5)
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.uniform() * n as f64) as u64
    }
}

impl Replay {
    /// Create an empty queue that uses these random numbers in [0, 1), in order; 0.5 once they are used up.
    pub fn new(queue: &Resolved, draws: Vec<f64>) -> Self {
        let draws = Draws { numbers: draws.into(), drawn: 0 };
        Self { queue: StandaloneQueue::new(queue), draws, arrived: 0 }
    }

    /// Offer a packet, after the timers that are due.
    pub fn enqueue(&mut self, now: Time, meta: Meta) -> Decision {
        let tag = Tag::new(self.arrived.into(), meta.flow);
        self.arrived += 1;
        self.queue.enqueue(now, meta, tag, &mut self.draws);
        self.decision(None)
    }

    /// The link asks for the next packet: at the end of a service, and after an arrival at an idle link.
    pub fn dequeue(&mut self, now: Time) -> Decision {
        match self.queue.dequeue(now, &mut self.draws) {
            Dequeue::Packet(packet) => self.decision(Some(packet.payload.id as u32)),
            Dequeue::Empty | Dequeue::NotBefore(_) => self.decision(None),
        }
    }

    /// The queue.
    pub fn queue(&self) -> &StandaloneQueue {
        &self.queue
    }

    /// Return the effects of the last call of the queue.
    fn decision(&self, departed: Option<u32>) -> Decision {
        let mut decision = Decision { departed, drawn: self.draws.drawn, ..Decision::default() };
        for event in self.queue.events() {
            match event.effect {
                Effect::Dropped => decision.dropped.push((event.id as u32, event.reason)),
                Effect::Marked => decision.marked.push(event.id as u32),
            }
        }
        decision
    }
}
