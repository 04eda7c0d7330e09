//! SACK blocks: which packets beyond the acknowledgement have arrived.
//!
//! M. Mathis et al., RFC 2018, section 4; ns-2 2.35 `TCPSink/Sack1`.
//!
//! The first block is the run that contains the packet being answered. The blocks reported most recently
//! before follow, most recent first, except those that the first block covers, three blocks in all. A packet
//! in order has no block of its own; it stands for the run from 0 to the first packet missing, and so retires
//! the blocks that have been overtaken. With nothing out of order, everything is forgotten.

use super::reassembly::Reassembly;
use crate::{MAX_SACK_BLOCKS, SackBlock, SackBlocks};

/// The history of one receiver's blocks.
#[derive(Clone, Debug, Default)]
pub struct SackGenerator {
    history: [SackBlock; MAX_SACK_BLOCKS],
    len: usize,
}

impl SackGenerator {
    /// The blocks of the answer to packet `seq`, after `reassembly` has taken it.
    pub fn blocks(&mut self, reassembly: &Reassembly, seq: i32) -> SackBlocks {
        let mut blocks = SackBlocks::EMPTY;
        let ack = reassembly.last_in_order();
        if ack >= reassembly.highest() {
            self.len = 0;
            return blocks;
        }
        let right = reassembly.end_of_run(seq);
        let left = if seq > ack { reassembly.start_of_run(right) } else { 0 };
        let recent = SackBlock { left, right };
        if seq > ack {
            blocks.push(recent);
        }
        let mut k = 0;
        while blocks.len() < MAX_SACK_BLOCKS && k < self.len {
            let block = self.history[k];
            if recent.left <= block.left && block.right <= recent.right {
                self.remove(k);
            } else {
                blocks.push(block);
                k += 1;
            }
        }
        if seq > ack {
            self.remember(recent);
        }
        blocks
    }

    fn remove(&mut self, k: usize) {
        self.history.copy_within(k + 1..self.len, k);
        self.len -= 1;
    }

    fn remember(&mut self, block: SackBlock) {
        self.history.copy_within(..MAX_SACK_BLOCKS - 1, 1);
        self.history[0] = block;
        self.len = (self.len + 1).min(MAX_SACK_BLOCKS);
    }
}
