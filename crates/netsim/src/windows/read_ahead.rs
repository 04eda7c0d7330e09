//! Reading ahead, with many flows.
//!
//! The state of some thousand flows does not stay in the caches: each packet waits for memory some ten times, one after the other, since
//! what is read next depends on what was read. So before a station evaluates a block of inputs, it reads what all of them are going to
//! need, first by first, then second by second: reads that do not depend on each other are waited for together. Nothing is changed,
//! and no result depends on it.

use core::hint::black_box;

use aqmlab_aqm::Kind;

use super::Windows;
use crate::message::Message;
use crate::network::Network;
use crate::paths::Next;

/// Fewer flows stay in the caches.
pub(super) const MANY_FLOWS: u32 = 2000;
/// Inputs that are read ahead together.
pub(super) const BLOCK: usize = 16;

impl Windows {
    /// Read what sources need for these acknowledgements, and for the packets that they release.
    #[inline(never)]
    pub(super) fn read_ahead_for_sources(&self, network: &Network, acks: &[Message]) {
        let mut flows = [0; BLOCK];
        let flows = &mut flows[..acks.len().min(BLOCK)];
        for (flow, ack) in flows.iter_mut().zip(acks) {
            *flow = network.fabric.paths.flow(ack);
        }
        let mut first = [0; BLOCK];
        for (first, &flow) in first.iter_mut().zip(&*flows) {
            let source = &network.sources[flow];
            *first = network.fabric.paths.first(flow, Kind::Data);
            black_box((source.dscp, self.ends.flows[flow]));
        }
        for (&flow, &first) in flows.iter().zip(&first) {
            black_box((network.sources[flow].timer(), network.sources[flow].acked()));
            network.read_link_at(first);
        }
    }
}

impl Network {
    /// Read what these packets need behind a link: private links, and the sinks with the first links of the acknowledgements.
    #[inline(never)]
    pub(super) fn read_ahead_behind<'m>(&self, packets: impl Iterator<Item = &'m Message> + Clone) {
        for packet in packets.clone() {
            self.read_link_at(packet.step + 1);
        }
        let sinks = packets.filter(|packet| !packet.is_ack());
        let mut first = [0; BLOCK];
        for (first, packet) in first.iter_mut().zip(sinks.clone()) {
            let flow = self.fabric.paths.flow(packet);
            *first = self.fabric.paths.first(flow, Kind::Ack);
            black_box((self.sinks[flow].peer_ttl_known(), self.sinks[flow].last_received()));
        }
        for (&first, packet) in first.iter().zip(sinks) {
            black_box(self.sinks[self.fabric.paths.flow(packet)].expected());
            self.read_link_at(first);
        }
    }

    /// Read the step of a path, and the link there.
    #[inline(always)]
    fn read_link_at(&self, step: u32) {
        if let Next::Link(link) = self.fabric.paths.at(step).next() {
            black_box(self.fabric.links[link as usize].departs_in_order());
        }
    }
}
