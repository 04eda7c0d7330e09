//! Every packet that came to an observed link: when it came, and when and how it left.

use std::collections::VecDeque;

use aqmlab_aqm::{Kind, Packet};
use aqmlab_units::Time;

use crate::link_stats::Numbered;
use crate::paths::flow_of;

/// A packet that was offered to a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoggedPacket {
    /// When it came.
    pub offered: Time,
    /// When its transmission started; `NEVER` if it was dropped or waits still.
    pub left: Time,
    /// When it was dropped; `NEVER` if it was not.
    pub dropped: Time,
    /// When it was marked first; `NEVER` if it was not.
    pub marked: Time,
    /// Number of the flow.
    pub flow: u32,
    /// Sequence number, or number acknowledged.
    pub number: i32,
    /// Length in bytes.
    pub bytes: u32,
    /// Data, acknowledgement or connection set-up.
    pub packet: Kind,
}

/// The packets of one link, in order of arrival.
#[derive(Clone, Debug, Default)]
pub(crate) struct PacketLog {
    packets: Vec<LoggedPacket>,
    /// Of each flow the places of the packets that wait, in order of arrival.
    waiting: Vec<VecDeque<u32>>,
}

impl PacketLog {
    pub fn packets(&self) -> &[LoggedPacket] {
        &self.packets
    }

    #[inline]
    pub fn offered<P: Numbered>(&mut self, time: Time, packet: &Packet<P>) {
        let flow = flow_of(&packet.meta);
        if self.waiting.len() <= flow {
            self.waiting.resize_with(flow + 1, VecDeque::new);
        }
        self.waiting[flow].push_back(self.packets.len() as u32);
        self.packets.push(LoggedPacket {
            offered: time,
            left: Time::NEVER,
            dropped: Time::NEVER,
            marked: Time::NEVER,
            flow: flow as u32,
            number: packet.payload.number(),
            bytes: packet.meta.bytes,
            packet: packet.meta.header.kind(),
        });
    }

    #[inline]
    pub fn left<P: Numbered>(&mut self, time: Time, packet: &Packet<P>) {
        if let Some(logged) = self.remove(packet) {
            logged.left = time;
        }
    }

    pub fn dropped<P: Numbered>(&mut self, time: Time, packet: &Packet<P>) {
        if let Some(logged) = self.remove(packet) {
            logged.dropped = time;
        }
    }

    /// Of several alike the first that has no mark yet is marked.
    pub fn marked<P: Numbered>(&mut self, time: Time, packet: &Packet<P>) {
        if let Some(position) = self.position(packet, |logged| logged.marked == Time::NEVER) {
            let place = self.waiting[flow_of(&packet.meta)][position];
            self.packets[place as usize].marked = time;
        }
    }

    #[inline]
    fn remove<P: Numbered>(&mut self, packet: &Packet<P>) -> Option<&mut LoggedPacket> {
        let position = self.position(packet, |_| true)?;
        let place = self.waiting[flow_of(&packet.meta)].remove(position)?;
        Some(&mut self.packets[place as usize])
    }

    /// Where a packet stands among those of its flow that wait. Of several alike, such as duplicate acknowledgements, it is
    /// the first that came and `may_be` it.
    #[inline]
    fn position<P: Numbered>(
        &self,
        packet: &Packet<P>,
        may_be: impl Fn(&LoggedPacket) -> bool,
    ) -> Option<usize> {
        let (kind, number) = (packet.meta.header.kind(), packet.payload.number());
        let is_it = |&place: &u32| {
            let logged = &self.packets[place as usize];
            (logged.packet, logged.number) == (kind, number) && may_be(logged)
        };
        self.waiting.get(flow_of(&packet.meta))?.iter().position(is_it)
    }
}
