use core::net::IpAddr;

use aqmlab_aqm::{Ecn, Kind};

use super::route_option::RouteOption;

/// Protocol numbers (IANA).
pub mod protocol {
    /// ICMP for IPv4.
    pub const ICMP: u8 = 1;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// ICMP for IPv6.
    pub const ICMPV6: u8 = 58;
}

/// The header fields of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// 4 or 6.
    pub version: u8,
    /// Differentiated services code point (RFC 2474), 0 to 63.
    pub dscp: u8,
    /// ECN field.
    pub ecn: Ecn,
    /// Time to live or hop limit, as it came.
    pub ttl: u8,
    /// Length in bytes, IP header included.
    pub bytes: u32,
    /// From where.
    pub source: IpAddr,
    /// To where.
    pub destination: IpAddr,
    /// Protocol above IP and its extension headers.
    pub protocol: u8,
    /// Ports of TCP or UDP, source and destination, where the packet shows them.
    pub ports: Option<(u16, u16)>,
    /// Flow label of IPv6 (RFC 6437), 20 bits; 0 in IPv4.
    pub flow_label: u32,
    /// DDRED's fields, where the packet has them.
    pub route: Option<RouteOption>,
    /// TCP fields, where the packet has them.
    pub tcp: Option<TcpBits>,
    /// Opens a connection (SYN), acknowledges only (ACK without payload, SYN, FIN or RST), or all else.
    pub kind: Kind,
}

/// Fields of the TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpBits {
    /// Opens a connection.
    pub syn: bool,
    /// The acknowledgement number counts.
    pub ack: bool,
    /// No more data from the sender.
    pub fin: bool,
    /// The connection is reset.
    pub rst: bool,
    /// ECN echo (RFC 3168).
    pub ece: bool,
    /// Congestion window reduced (RFC 3168).
    pub cwr: bool,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub acked: u32,
    /// Bytes of payload.
    pub payload: u32,
}

impl TcpBits {
    /// Return the kind of the segment.
    pub fn kind(&self) -> Kind {
        match self {
            Self { syn: true, .. } => Kind::Syn,
            Self { ack: true, fin: false, rst: false, payload: 0, .. } => Kind::Ack,
            _ => Kind::Data,
        }
    }
}

impl Header {
    /// The number that an event log shows: sequence number, or number acknowledged, as 32 bits; 0 of all but TCP.
    pub fn number(&self) -> i32 {
        match (&self.tcp, self.kind) {
            (Some(tcp), Kind::Ack) => tcp.acked as i32,
            (Some(tcp), Kind::Data | Kind::Syn) => tcp.seq as i32,
            (None, _) => 0,
        }
    }
}

/// The ECN field in the lower two bits of a traffic class.
#[inline]
pub(super) fn ecn(traffic_class: u8) -> Ecn {
    Ecn::from_bits(traffic_class)
}
