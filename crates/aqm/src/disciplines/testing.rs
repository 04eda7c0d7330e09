//! A host for unit tests: it returns listed random numbers, and records drops and marks.

use std::collections::VecDeque;

use crate::{DropReason, Host, Meta, Packet};

/// Recorded drops and marks, and the random numbers to return; 0.5 once they are used up.
#[derive(Clone, Debug, Default)]
pub(super) struct TestHost {
    pub draws: VecDeque<f64>,
    pub dropped: Vec<u32>,
    pub marked: Vec<u32>,
}

impl TestHost {
    /// Create a host that returns these random numbers.
    pub fn with_draws(draws: &[f64]) -> Self {
        Self { draws: draws.iter().copied().collect(), ..Self::default() }
    }
}

impl Host<u32> for TestHost {
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
