//! Reading ahead, with many flows.
//!
//! The state of some thousand flows does not stay in the caches: each packet waits for memory some twenty times, one after the other,
//! since what is read next depends on what was read. So while a station evaluates one input, it asks for what later ones are going to
//! need, a stage each for what a stage before has asked for: the place on the path of the last of them, then flow and link of one that is
//! nearer, then their parts. Nothing is changed, and no result depends on it.

use aqmlab_aqm::Kind;
use aqmlab_units::prefetch;

use super::Windows;
use crate::link::Link;
use crate::message::Message;
use crate::network::Network;
use crate::paths::Next;

/// Fewer flows stay in the caches.
pub(super) const MANY_FLOWS: u32 = 2000;
/// The stages, and by how many inputs each is ahead of the next.
const STAGES: usize = 5;
const APART: usize = 8;

/// Call `read` with the inputs that come after number `i`, and the stage that each is due for.
#[inline(never)]
pub(super) fn stages<'m>(
    i: usize,
    input: impl Fn(usize) -> Option<&'m Message>,
    read: impl Fn(usize, &Message),
) {
    for stage in 0..STAGES {
        if let Some(message) = input(i + (STAGES - stage) * APART) {
            read(stage, message);
        }
    }
}

impl Windows {
    /// Ask for what a source needs for an acknowledgement, and for the packets that it releases.
    #[inline(always)]
    pub(super) fn read_ahead_for_source(&self, network: &Network, stage: usize, ack: &Message) {
        let paths = &network.fabric.paths;
        if stage == 0 {
            return paths.prefetch(ack.step);
        }
        let flow = paths.flow(ack);
        match stage {
            1 => {
                prefetch(&network.sources[flow]);
                prefetch(&self.ends.flows[flow]);
            }
            2 => network.sources[flow].prefetch_sender(),
            _ => {}
        }
        network.read_ahead_first_link(stage, flow, Kind::Data);
    }
}

impl Network {
    /// Ask for what a packet needs behind a link: private links, and the sink with the first link of the acknowledgement.
    #[inline(always)]
    pub(super) fn read_ahead_behind(&self, stage: usize, packet: &Message) {
        let paths = &self.fabric.paths;
        match stage {
            0 => return paths.prefetch(packet.step + 1),
            1 => self.prefetch_link_at(packet.step + 1),
            2 => self.prefetch_waiting_at(packet.step + 1),
            _ => {}
        }
        if packet.is_ack() {
            return;
        }
        let flow = paths.flow(packet);
        match stage {
            1 => prefetch(&self.sinks[flow]),
            2 => self.sinks[flow].prefetch_receiver(),
            _ => {}
        }
        self.read_ahead_first_link(stage, flow, Kind::Ack);
    }

    /// Ask for what is needed where a packet of a flow enters the first link of its path, from stage 1 on.
    #[inline(always)]
    fn read_ahead_first_link(&self, stage: usize, flow: usize, kind: Kind) {
        let paths = &self.fabric.paths;
        match stage {
            1 => paths.prefetch_first(flow),
            2 => paths.prefetch(paths.first(flow, kind)),
            3 => self.prefetch_link_at(paths.first(flow, kind)),
            _ => self.prefetch_waiting_at(paths.first(flow, kind)),
        }
    }

    /// Ask for the link at a step of a path.
    #[inline(always)]
    fn prefetch_link_at(&self, step: u32) {
        if let Next::Link(link) = self.fabric.paths.at(step).next() {
            prefetch(&self.fabric.links[link as usize]);
        }
    }

    /// Ask for what waits at the link at a step of a path.
    #[inline(always)]
    fn prefetch_waiting_at(&self, step: u32) {
        if let Next::Link(link) = self.fabric.paths.at(step).next()
            && let Link::UnobservedDropTail(link) = &self.fabric.links[link as usize]
        {
            link.prefetch_waiting();
        }
    }
}
