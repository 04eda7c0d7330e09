//! Reading ahead, with many flows.
//!
//! The state of some thousand flows does not stay in the caches: each packet waits for memory some twenty times, one after the other,
//! since each read gives the address of the next. So while a station evaluates one input, it prefetches the data of
//! later inputs. Each stage follows the addresses that a stage before has fetched: the place on the path of the
//! last of them, then flow and link of one that is nearer, then their parts. So it does for endpoints whose timers
//! are listed for the window. Nothing is changed, and no result depends on it.

use aqmlab_aqm::Kind;
use aqmlab_units::prefetch;

use super::ends::is_source;
use super::{NONE, Windows};
use crate::link::Link;
use crate::message::Message;
use crate::network::Network;
use crate::paths::Next;

/// Fewer flows stay in the caches.
pub(super) const MANY_FLOWS: u32 = 2000;
/// The stages, and by how many inputs each is ahead of the next. The inputs themselves are asked for before the first.
const STAGES: usize = 5;
const APART: usize = 8;
/// By how many words of the list of flows with a timer a stage is ahead of the next: in most of them are a few flows.
const WORDS_APART: usize = 8;

/// Call `read` with the inputs that come after number `i`, and the stage that each is due for.
#[inline(never)]
pub(super) fn stages<'m>(
    i: usize,
    input: impl Fn(usize) -> Option<&'m Message>,
    read: impl Fn(usize, &Message),
) {
    if let Some(message) = input(i + (STAGES + 1) * APART) {
        prefetch(message);
    }
    for stage in 0..STAGES {
        if let Some(message) = input(i + (STAGES - stage) * APART) {
            read(stage, message);
        }
    }
}

impl Windows {
    /// Ask for what an endpoint needs for a packet, and for the packets that it then sends.
    #[inline(always)]
    pub(super) fn read_ahead_for_end(&self, network: &Network, stage: usize, packet: &Message) {
        let paths = &network.fabric.paths;
        if stage == 0 {
            network.fabric.sacks.prefetch(packet);
            return paths.prefetch(packet.step);
        }
        let flow = paths.flow(packet);
        let (end_point, sent) = if packet.is_ack() { (0, Kind::Data) } else { (1, Kind::Ack) };
        self.read_ahead_station(network, stage, 2 * flow as u32 + end_point);
        network.read_ahead_first_link(stage, flow, sent);
    }

    /// Ask for what endpoints of this station need whose timers are listed for this window, in words of the list that come after this one.
    #[inline]
    pub(super) fn read_ahead_listed(&self, network: &Network, number: u32, word: usize) {
        for stage in 1..3 {
            for flow in self.ends.listed_for(number, self.now, word + (3 - stage) * WORDS_APART) {
                self.read_ahead_station(network, stage, 2 * flow + number);
            }
        }
    }

    /// Ask for an endpoint that is a station, from stage 1 on.
    #[inline(always)]
    fn read_ahead_station(&self, network: &Network, stage: usize, end_point: u32) {
        if stage == 1 {
            prefetch(&self.ends.flows[(end_point / 2) as usize]);
        }
        network.read_ahead_end(stage, end_point);
    }

    /// Whether sinks are evaluated where their packets come from: all, where they are together, or else the first.
    pub(super) fn sinks_are_no_stations(&self) -> bool {
        let sinks = self.numbering.links + self.ends.station(1);
        self.ranks[sinks as usize] == NONE
    }
}

impl Network {
    /// Prefetch the data that a packet needs behind a link: private links, and `with_sinks` the sink with the first
    /// link of the acknowledgement.
    #[inline(always)]
    pub(super) fn read_ahead_behind(&self, stage: usize, packet: &Message, with_sinks: bool) {
        let paths = &self.fabric.paths;
        match stage {
            0 => return paths.prefetch(packet.step + 1),
            1 => self.prefetch_link_at(packet.step + 1),
            2 => self.prefetch_waiting_at(packet.step + 1),
            _ => {}
        }
        if packet.is_ack() || !with_sinks {
            return;
        }
        let flow = paths.flow(packet);
        self.read_ahead_end(stage, 2 * flow as u32 + 1);
        self.read_ahead_first_link(stage, flow, Kind::Ack);
    }

    /// Ask for an endpoint, from stage 1 on.
    #[inline(always)]
    fn read_ahead_end(&self, stage: usize, end_point: u32) {
        let flow = (end_point / 2) as usize;
        match (stage, is_source(end_point)) {
            (1, true) => prefetch(&self.sources[flow]),
            (1, false) => prefetch(&self.sinks[flow]),
            (2, true) => self.sources[flow].prefetch_sender(),
            (2, false) => self.sinks[flow].prefetch_receiver(),
            (3, true) => self.sources[flow].prefetch_acknowledged(),
            _ => {}
        }
    }

    /// Prefetch the data that is needed where a packet of a flow enters the first link of its path, from stage 1 on.
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
