//! A host for unit tests: it lends listed numbers and writes down what it is told.

use std::collections::VecDeque;

use crate::{DropReason, Host, Meta, Packet};

/// What a discipline told, and the numbers that it is lent; 0.5 once they are used up.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    pub draws: VecDeque<f64>,
    pub dropped: Vec<u32>,
    pub marked: Vec<u32>,
}

impl Told {
    /// One that lends these numbers.
    pub fn lending(draws: &[f64]) -> Self {
        Self { draws: draws.iter().copied().collect(), ..Self::default() }
    }
}

impl Host<u32> for Told {
    fn uniform(&mut self) -> f64 {
        self.draws.pop_front().unwrap_or(0.5)
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.uniform() * n as f64) as u64
    }

    fn dropped(&mut self, packet: Packet<u32>, _reason: DropReason) {
        self.dropped.push(packet.payload);
    }

    fn marked(&mut self, packet: &Packet<u32>, _reason: DropReason) {
        self.marked.push(packet.payload);
    }
}

/// A packet of a flow.
pub(super) fn packet(number: u32, flow: u32, bytes: u32) -> Packet<u32> {
    Packet { meta: Meta { flow, bytes, ..Meta::default() }, payload: number }
}
