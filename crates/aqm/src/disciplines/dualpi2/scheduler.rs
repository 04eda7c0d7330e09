use aqmlab_units::Span;

use crate::{Backlog, Fifo};

/// Which of the two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queue {
    /// Low latency.
    L,
    /// Classic.
    C,
}

impl Queue {
    /// Return the name, as in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::L => "L",
            Self::C => "C",
        }
    }
}

/// How the queues share the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scheduler {
    /// L first, but C has this share of the bytes while both wait.
    Weighted(f64),
    /// The older head first, L's packets being taken to be older by this.
    TimeShifted(Span),
}

/// Priority for L without starving C (RFC 9332, section 4.2.2 and appendix A.2).
#[derive(Clone, Copy, Debug)]
pub(super) struct Credit {
    scheduler: Scheduler,
    /// Bytes that C may send before L, weighted; L's turn while it is not above 0.
    pub bytes: f64,
    /// The initial value: the largest packet times the difference between the weights of C and L.
    initial: f64,
}

impl Credit {
    /// Create a credit with its initial value.
    pub fn new(scheduler: Scheduler, max_packet: u64) -> Self {
        let initial = match scheduler {
            Scheduler::Weighted(share) => (2.0 * share - 1.0) * max_packet as f64,
            Scheduler::TimeShifted(_) => 0.0,
        };
        Self { scheduler, bytes: initial, initial }
    }

    /// Reset, because the link is idle and nothing waits.
    pub fn reset(&mut self) {
        self.bytes = self.initial;
    }

    /// Return the queue to serve next, or `None` if both are empty.
    pub fn next_queue<P: Copy>(&self, l: &Fifo<P>, c: &Fifo<P>) -> Option<Queue> {
        let (l, c) = match (l.head(), c.head()) {
            (None, None) => return None,
            (Some(_), None) => return Some(Queue::L),
            (None, Some(_)) => return Some(Queue::C),
            (Some(l), Some(c)) => (l.meta.arrival, c.meta.arrival),
        };
        let is_classic = match self.scheduler {
            Scheduler::Weighted(_) => self.bytes > 0.0,
            Scheduler::TimeShifted(shift) => c + shift < l,
        };
        Some(if is_classic { Queue::C } else { Queue::L })
    }

    /// Record a packet sent by a queue, and the backlogs left. Changes the credit only if the other queue has packets.
    pub fn sent(&mut self, queue: Queue, bytes: u32, l: Backlog, c: Backlog) {
        let Scheduler::Weighted(share) = self.scheduler else { return };
        match queue {
            Queue::L if c.packets > 0 => self.bytes += share * f64::from(bytes),
            Queue::C if l.packets > 0 => self.bytes -= (1.0 - share) * f64::from(bytes),
            Queue::L | Queue::C => {}
        }
    }
}
