//! Replay of a list of operations and random numbers through a discipline, to compare each decision with an independent
//! implementation; and of the log of decisions that a kernel module writes ([`replay_log`]).

mod log;
mod record;
mod tap;
mod tapped;
mod tcp;

pub use log::{Difference, Levels, Replayed, replay_log};
pub use record::{Record, RecordKind};

use std::collections::VecDeque;

use aqmlab_units::Time;

use crate::{Dequeue, Discipline, DropReason, Host, Meta, Packet, Qdisc, Resolved};

/// A discipline whose packets are numbered 0, 1, 2, ... in the order of their arrival.
#[derive(Clone, Debug)]
pub struct Replay {
    queue: Discipline<u32>,
    draws: VecDeque<f64>,
    drawn: usize,
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

/// Records decisions, and returns the random numbers of the list.
struct Notes<'a> {
    decision: &'a mut Decision,
    draws: &'a mut VecDeque<f64>,
    drawn: &'a mut usize,
}

impl Host<u32> for Notes<'_> {
    fn uniform(&mut self) -> f64 {
        *self.drawn += 1;
        self.draws.pop_front().unwrap_or(0.5)
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.uniform() * n as f64) as u64
    }

    fn dropped(&mut self, packet: Packet<u32>, reason: DropReason) {
        self.decision.dropped.push((packet.payload, reason));
    }

    fn marked(&mut self, packet: &Packet<u32>, _reason: DropReason) {
        self.decision.marked.push(packet.payload);
    }
}

impl Replay {
    /// Create an empty queue that uses these random numbers in [0, 1), in order; 0.5 once they are used up.
    pub fn new(queue: &Resolved, draws: Vec<f64>) -> Self {
        Self { queue: queue.build(), draws: draws.into(), drawn: 0, arrived: 0 }
    }

    /// Offer a packet, after the timers that are due.
    pub fn enqueue(&mut self, now: Time, meta: Meta) -> Decision {
        let payload = self.arrived;
        self.arrived += 1;
        let meta = Meta { arrival: now, ..meta };
        self.ask(now, |queue, notes| {
            queue.enqueue(now, Packet { meta, payload }, notes);
            None
        })
    }

    /// The link asks for the next packet: at the end of a service, and after an arrival at an idle link.
    pub fn dequeue(&mut self, now: Time) -> Decision {
        self.ask(now, |queue, notes| match queue.dequeue(now, notes) {
            Dequeue::Packet(packet) => Some(packet.payload),
            Dequeue::Empty | Dequeue::NotBefore(_) => None,
        })
    }

    /// The average of each class, in packets.
    pub fn averages(&self) -> Vec<f64> {
        match &self.queue {
            Discipline::Red(red) => (0..red.classes()).map(|class| red.average_of(class)).collect(),
            _ => Vec::new(),
        }
    }

    /// The gauges of the discipline's state.
    pub fn gauges(&self, now: Time) -> Vec<(&'static str, f64)> {
        let mut gauges = Vec::new();
        self.queue.gauges(now, &mut |gauge, value| gauges.push((gauge.name(), value)));
        gauges
    }

    fn ask(
        &mut self,
        now: Time,
        operation: impl FnOnce(&mut Discipline<u32>, &mut Notes<'_>) -> Option<u32>,
    ) -> Decision {
        let mut decision = Decision::default();
        let mut notes = Notes { decision: &mut decision, draws: &mut self.draws, drawn: &mut self.drawn };
        while let Some(due) = self.queue.next_timer()
            && due <= now
        {
            self.queue.on_timer(due, &mut notes);
        }
        let departed = operation(&mut self.queue, &mut notes);
        Decision { departed, drawn: self.drawn, ..decision }
    }
}
