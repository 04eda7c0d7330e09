use aqmlab_aqm::{Ecn, Kind, Meta, Packet};
use aqmlab_transport::{Ack, Data, DataFlags, SackBlocks};
use aqmlab_units::Time;

/// What the simulator carries besides the header that disciplines see. SACK blocks are kept aside.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Segment {
    /// When the data packet was sent; in an acknowledgement, the time stamp echoed.
    sent: Time,
    /// Sequence number, or number acknowledged.
    number: i32,
    /// Where the SACK blocks are; [`NO_SACK`] without.
    sack: u32,
    /// Where it is on its path, see [`Paths`](crate::paths::Paths).
    pub step: u32,
    flags: DataFlags,
    ece: bool,
}

/// A packet in the simulator.
pub(crate) type SimPacket = Packet<Segment>;

const NO_SACK: u32 = u32::MAX;
/// What hosts of the simulator set the time to live to.
const TTL: u8 = 64;

/// The flow of a packet: data and acknowledgements of a flow carry labels of their own.
pub(crate) fn flow_of(meta: &Meta) -> usize {
    (meta.flow >> 1) as usize
}

fn label(flow: usize, kind: Kind) -> u32 {
    (flow as u32) << 1 | u32::from(kind == Kind::Ack)
}

fn meta(flow: usize, kind: Kind, bytes: u32, ecn: Ecn) -> Meta {
    Meta { flow: label(flow, kind), kind, bytes, ecn, ttl_initial: TTL, ttl: TTL, ..Meta::default() }
}

/// A data packet of `flow`.
pub(crate) fn data_packet(flow: usize, data: &Data) -> SimPacket {
    let kind = if data.syn() { Kind::Syn } else { Kind::Data };
    let ecn = if data.ect() { Ecn::Ect } else { Ecn::NotEct };
    let payload = Segment {
        sent: data.sent,
        number: data.seq as i32,
        sack: NO_SACK,
        flags: data.flags,
        ..Segment::default()
    };
    Packet { meta: meta(flow, kind, data.bytes, ecn), payload }
}

/// The data packet as its receiver sees it.
pub(crate) fn to_data(packet: &SimPacket) -> Data {
    let Segment { sent, number, flags, .. } = packet.payload;
    Data { sent, seq: number as u32, bytes: packet.meta.bytes, flags }
}

/// The number that a trace shows: sequence number or number acknowledged.
pub(crate) fn number_of(packet: &SimPacket) -> i32 {
    packet.payload.number
}

/// SACK blocks in flight, in slots that are used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct SackStore {
    slots: Vec<SackBlocks>,
    free: Vec<u32>,
}

impl SackStore {
    /// An acknowledgement of `flow` as a packet.
    pub fn ack_packet(&mut self, flow: usize, ack: &Ack) -> SimPacket {
        let sack = if ack.sack.is_empty() { NO_SACK } else { self.put(ack.sack) };
        let payload =
            Segment { sent: ack.ts_echo, number: ack.ack, sack, ece: ack.ece, ..Segment::default() };
        Packet { meta: meta(flow, Kind::Ack, ack.bytes, Ecn::NotEct), payload }
    }

    /// The acknowledgement as its receiver sees it; its slot becomes free.
    pub fn take_ack(&mut self, packet: &SimPacket) -> Ack {
        let Segment { sent, number, sack, ece, .. } = packet.payload;
        let blocks = self.slots.get(sack as usize).copied().unwrap_or(SackBlocks::EMPTY);
        self.release(packet);
        Ack { ts_echo: sent, ack: number, bytes: packet.meta.bytes, sack: blocks, ece }
    }

    /// The packet is gone: its slot becomes free.
    pub fn release(&mut self, packet: &SimPacket) {
        if packet.payload.sack != NO_SACK {
            self.free.push(packet.payload.sack);
        }
    }

    fn put(&mut self, blocks: SackBlocks) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = blocks;
            return slot;
        }
        self.slots.push(blocks);
        (self.slots.len() - 1) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqmlab_transport::SackBlock;

    #[test]
    fn packets_are_small() {
        assert!(size_of::<SimPacket>() <= 48);
    }

    #[test]
    fn acknowledgements_survive_the_journey_and_slots_are_used_again() {
        let mut store = SackStore::default();
        let mut ack = Ack { ts_echo: Time(7), ack: 3, bytes: 48, sack: SackBlocks::EMPTY, ece: true };
        ack.sack.push(SackBlock { left: 5, right: 6 });
        for _ in 0..3 {
            let packet = store.ack_packet(9, &ack);
            assert_eq!((flow_of(&packet.meta), packet.meta.kind), (9, Kind::Ack));
            assert_eq!(store.take_ack(&packet), ack);
        }
        assert_eq!(store.slots.len(), 1);
    }
}
