//! Packets made by hand, byte by byte as the RFCs say.

#![allow(dead_code, reason = "each test uses what it needs")]

use std::net::IpAddr;

pub const SYN: u8 = 0x02;
pub const PSH: u8 = 0x08;
pub const ACK: u8 = 0x10;

/// The IP header of a packet to be.
#[derive(Clone, Debug)]
pub struct Ip {
    pub from: IpAddr,
    pub to: IpAddr,
    pub traffic_class: u8,
    pub ttl: u8,
    pub flow_label: u32,
    /// IPv4: a multiple of 4 bytes.
    pub options: Vec<u8>,
    /// IPv4: flags and fragment offset.
    pub fragment: u16,
}

impl Ip {
    pub fn new(from: &str, to: &str) -> Self {
        let address = |text: &str| text.parse().expect("an address");
        Self {
            from: address(from),
            to: address(to),
            traffic_class: 0,
            ttl: 64,
            flow_label: 0,
            options: Vec::new(),
            fragment: 0,
        }
    }

    /// A packet with this payload, which begins with the header of `protocol`.
    pub fn packet(&self, protocol: u8, payload: &[u8]) -> Vec<u8> {
        match (self.from, self.to) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                let header = 20 + self.options.len();
                let mut packet = vec![0x40 | (header / 4) as u8, self.traffic_class];
                packet.extend(((header + payload.len()) as u16).to_be_bytes());
                packet.extend([0x12, 0x34]);
                packet.extend(self.fragment.to_be_bytes());
                packet.extend([self.ttl, protocol, 0, 0]);
                packet.extend(from.octets());
                packet.extend(to.octets());
                packet.extend(&self.options);
                let checksum = checksum(&packet);
                packet[10..12].copy_from_slice(&checksum.to_be_bytes());
                packet.extend(payload);
                packet
            }
            (IpAddr::V6(from), IpAddr::V6(to)) => {
                let first = 6 << 28 | u32::from(self.traffic_class) << 20 | self.flow_label;
                let mut packet = first.to_be_bytes().to_vec();
                packet.extend((payload.len() as u16).to_be_bytes());
                packet.extend([protocol, self.ttl]);
                packet.extend(from.octets());
                packet.extend(to.octets());
                packet.extend(payload);
                packet
            }
            _ => panic!("addresses of one version"),
        }
    }

    pub fn tcp(&self, ports: (u16, u16), flags: u8, seq: u32, acked: u32, payload: usize) -> Vec<u8> {
        self.packet(6, &tcp(ports, flags, seq, acked, payload))
    }

    pub fn udp(&self, ports: (u16, u16), payload: usize) -> Vec<u8> {
        self.packet(17, &udp(ports, payload))
    }
}

/// A segment with the twelve bytes of options that time stamps take.
pub fn tcp(ports: (u16, u16), flags: u8, seq: u32, acked: u32, payload: usize) -> Vec<u8> {
    let mut segment = [ports.0.to_be_bytes(), ports.1.to_be_bytes()].concat();
    segment.extend(seq.to_be_bytes());
    segment.extend(acked.to_be_bytes());
    segment.extend([8 << 4, flags, 0xff, 0xff, 0, 0, 0, 0]);
    segment.extend([1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
    segment.resize(32 + payload, 0xa5);
    segment
}

pub fn udp(ports: (u16, u16), payload: usize) -> Vec<u8> {
    let mut datagram = [ports.0.to_be_bytes(), ports.1.to_be_bytes()].concat();
    datagram.extend((8 + payload as u16).to_be_bytes());
    datagram.extend([0, 0]);
    datagram.resize(8 + payload, 0x5a);
    datagram
}

/// The checksum of a header whose own checksum field is 0, by its definition (RFC 1071).
pub fn checksum(header: &[u8]) -> u16 {
    let sum: u32 = header.chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    !(((sum & 0xffff) + (sum >> 16)) as u16)
}

/// The packet with the checksum of its IPv4 header recomputed.
pub fn with_checksum(mut packet: Vec<u8>) -> Vec<u8> {
    let header = usize::from(packet[0] & 0xf) * 4;
    packet[10..12].fill(0);
    let checksum = checksum(&packet[..header]);
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    packet
}
