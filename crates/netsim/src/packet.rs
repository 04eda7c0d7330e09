use aqmlab_aqm::{Ecn, Kind, Meta, Packet};
use aqmlab_transport::{Ack, Data, DataFlags, SackBlocks};
use aqmlab_units::Time;

use crate::plan::Flow;

/// What the simulator carries besides the header that disciplines see. SACK blocks are kept aside.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
    /// Time to live of the last packet that the sender of this one has received from the other end; 0 before the first.
    ttl_echo: u8,
}

/// A packet in the simulator.
pub(crate) type SimPacket = Packet<Segment>;

const NO_SACK: u32 = u32::MAX;
/// What hosts of the simulator set the time to live to.
const TTL: u8 = 64;

/// The flow of a packet. Its data has an even label, its acknowledgements have the odd one next to it or share that of
/// the data.
pub(crate) fn flow_of(meta: &Meta) -> usize {
    (meta.flow >> 1) as usize
}

fn label(flow: usize, kind: Kind) -> u32 {
    (flow as u32) << 1 | u32::from(kind == Kind::Ack)
}

/// What one end of a flow writes into the headers of its packets.
///
/// Each end echoes the time to live of the last packet that it has received, and writes the other end's echo into its
/// own packets: so routers learn how long the path of a packet is (DDRED's `TTL_f`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    meta: Meta,
    ttl_echo: u8,
}

impl Header {
    /// Of the data packets of a flow.
    pub fn of_data(flow: usize, plan: &Flow) -> Self {
        let (label, class) = (label(flow, Kind::Data), plan.class);
        Self::new(Meta { flow: label, kind: Kind::Data, dscp: plan.dscp, class, ..Meta::default() })
    }

    /// Of the acknowledgements of a flow.
    pub fn of_acks(flow: usize, plan: &Flow) -> Self {
        let (label, class) = if plan.acks_share_label {
            (label(flow, Kind::Data), plan.class)
        } else {
            (label(flow, Kind::Ack), 0)
        };
        Self::new(Meta { flow: label, kind: Kind::Ack, class, ..Meta::default() })
    }

    fn new(meta: Meta) -> Self {
        Self { meta: Meta { ttl_initial: TTL, ttl: TTL, ..meta }, ttl_echo: 0 }
    }

    /// A packet has come from the other end.
    #[inline]
    pub fn learn(&mut self, packet: &SimPacket) {
        self.ttl_echo = packet.meta.ttl;
        self.meta.ttl_final = packet.payload.ttl_echo;
    }

    /// A data packet.
    #[inline]
    pub fn data_packet(&self, data: &Data) -> SimPacket {
        let kind = if data.syn() { Kind::Syn } else { Kind::Data };
        let ecn = if data.ect() { Ecn::Ect } else { Ecn::NotEct };
        let payload = Segment {
            sent: data.sent,
            number: data.seq as i32,
            sack: NO_SACK,
            flags: data.flags,
            ttl_echo: self.ttl_echo,
            ..Segment::default()
        };
        Packet { meta: Meta { kind, ecn, bytes: data.bytes, ..self.meta }, payload }
    }
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
    /// An acknowledgement as a packet.
    pub fn ack_packet(&mut self, header: &Header, ack: &Ack) -> SimPacket {
        let sack = if ack.sack.is_empty() { NO_SACK } else { self.put(ack.sack) };
        let payload = Segment {
            sent: ack.ts_echo,
            number: ack.ack,
            sack,
            ece: ack.ece,
            ttl_echo: header.ttl_echo,
            ..Segment::default()
        };
        Packet { meta: Meta { bytes: ack.bytes, ..header.meta }, payload }
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
    use std::sync::Arc;

    use super::*;
    use crate::plan::{Ends, Length, Link, Pattern, Plan, Probe, Size, Start, Transport};
    use crate::{Options, Simulation};
    use aqmlab_aqm::{LinkContext, Spec};
    use aqmlab_transport::{SackBlock, TcpConfig, Variant};
    use aqmlab_units::{Rate, Span};

    fn flow(acks_share_label: bool) -> Flow {
        Flow {
            name: String::new(),
            group: String::new(),
            ends: Ends::At(0, 1),
            start: Start::At(Time::ZERO),
            stop: None,
            again: Vec::new(),
            dscp: 46,
            class: 1,
            acks_share_label,
            transport: Transport::Udp { rate: Rate(1), packet: Length::fixed(1), pattern: Pattern::Constant },
        }
    }

    const DATA: Data = Data { sent: Time(5), seq: 1, bytes: 500, flags: DataFlags::NONE };
    const ACK: Ack = Ack { ts_echo: Time(7), ack: 3, bytes: 48, sack: SackBlocks::EMPTY, ece: true };

    #[test]
    fn packets_are_small() {
        assert!(size_of::<SimPacket>() <= 48);
    }

    #[test]
    fn acknowledgements_survive_the_journey_and_slots_are_used_again() {
        let (mut store, mut ack) = (SackStore::default(), ACK);
        ack.sack.push(SackBlock { left: 5, right: 6 });
        for _ in 0..3 {
            let packet = store.ack_packet(&Header::of_acks(9, &flow(false)), &ack);
            assert_eq!((flow_of(&packet.meta), packet.meta.kind), (9, Kind::Ack));
            assert_eq!(store.take_ack(&packet), ack);
        }
        assert_eq!(store.slots.len(), 1);
    }

    #[test]
    fn labels_and_classes() {
        let mut store = SackStore::default();
        let data = Header::of_data(3, &flow(false)).data_packet(&DATA).meta;
        assert_eq!((data.flow, data.class, data.dscp, data.kind), (6, 1, 46, Kind::Data));
        let own = store.ack_packet(&Header::of_acks(3, &flow(false)), &ACK).meta;
        assert_eq!((own.flow, own.class, own.dscp, own.kind), (7, 0, 0, Kind::Ack));
        let shared = store.ack_packet(&Header::of_acks(3, &flow(true)), &ACK).meta;
        assert_eq!((shared.flow, shared.class, shared.dscp, shared.kind), (6, 1, 0, Kind::Ack));
        assert_eq!(flow_of(&shared), 3);
    }

    #[test]
    fn each_end_learns_at_which_time_to_live_its_packets_arrive() {
        let (mut source, mut sink) = (Header::of_data(0, &flow(false)), Header::of_acks(0, &flow(false)));
        let mut store = SackStore::default();
        let mut data = source.data_packet(&DATA);
        assert_eq!((data.meta.ttl_initial, data.meta.ttl, data.meta.ttl_final), (64, 64, 0));
        data.meta.ttl = 61;
        sink.learn(&data);
        let mut ack = store.ack_packet(&sink, &ACK);
        assert_eq!(ack.meta.ttl_final, 0, "the source has not seen an acknowledgement");
        ack.meta.ttl = 62;
        source.learn(&ack);
        let data = source.data_packet(&DATA);
        assert_eq!(data.meta.ttl_final, 61);
        sink.learn(&data);
        assert_eq!(store.ack_packet(&sink, &ACK).meta.ttl_final, 62);
    }

    #[test]
    fn both_ends_of_a_flow_know_the_length_of_the_path() {
        let context = LinkContext { rate: Rate(1_000_000), delay: Span::from_millis(1) };
        let queue = Arc::new(Spec::new("drop-tail").expect("a preset").resolve(context).expect("a queue"));
        // Three links there, two back: the other end sees 62 and 63.
        let links = [(0, 1), (1, 2), (2, 3), (3, 1), (1, 0)].map(|(from, to)| Link {
            name: format!("{from}->{to}"),
            from,
            to,
            rate: context.rate,
            delay: context.delay,
            aqm: "drop-tail",
            queue: queue.clone(),
        });
        let config = Arc::new(TcpConfig::ns2(Variant::Reno));
        let transport = Transport::Tcp { config, size: Size::Packets(20), clock_offset: None };
        let plan = Plan {
            nodes: (0..4).map(|i| i.to_string()).collect(),
            links: links.into(),
            flows: vec![Flow { ends: Ends::At(0, 3), transport, ..flow(false) }],
            markers: Vec::new(),
            changes: Vec::new(),
            duration: Span::from_millis(5000),
            warmup: Span::ZERO,
            probe: Probe::default(),
        };
        for shortcuts in [false, true] {
            let mut simulation = Simulation::new(&plan, 1, Options { shortcuts });
            simulation.finish();
            let (source, sink) = (simulation.sources[0].header, simulation.sinks[0].header);
            assert_eq!((source.meta.ttl_final, source.ttl_echo), (62, 63));
            assert_eq!((sink.meta.ttl_final, sink.ttl_echo), (63, 62));
        }
    }
}
