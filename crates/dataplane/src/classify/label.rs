use core::fmt;
use core::net::IpAddr;

use super::Direction;
use crate::wire::{Header, protocol};

/// The name of a flow: the ends and ports of its first packet, as seen from side a.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// The end on side a.
    pub a: IpAddr,
    /// The end on side b.
    pub b: IpAddr,
    /// Ports of a and of b.
    pub ports: Option<(u16, u16)>,
    /// Protocol above IP.
    pub protocol: u8,
    /// Flow label of IPv6; 0 without one.
    pub flow_label: u32,
}

impl Label {
    #[inline]
    pub(super) fn new(direction: Direction, packet: &Header) -> Self {
        let Header { source, destination, ports, protocol, flow_label, .. } = *packet;
        match direction {
            Direction::Forward => Self { a: source, b: destination, ports, protocol, flow_label },
            Direction::Reverse => {
                let ports = ports.map(|(source, destination)| (destination, source));
                Self { a: destination, b: source, ports, protocol, flow_label }
            }
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |f: &mut fmt::Formatter<'_>, address: IpAddr, port: Option<u16>| match (address, port) {
            (IpAddr::V6(_), Some(port)) => write!(f, "[{address}]:{port}"),
            (IpAddr::V4(_), Some(port)) => write!(f, "{address}:{port}"),
            (_, None) => write!(f, "{address}"),
        };
        end(f, self.a, self.ports.map(|ports| ports.0))?;
        f.write_str(" > ")?;
        end(f, self.b, self.ports.map(|ports| ports.1))?;
        match self.protocol {
            protocol::TCP => f.write_str(" tcp")?,
            protocol::UDP => f.write_str(" udp")?,
            protocol::ICMP => f.write_str(" icmp")?,
            protocol::ICMPV6 => f.write_str(" icmpv6")?,
            other => write!(f, " protocol {other}")?,
        }
        if self.flow_label == 0 { Ok(()) } else { write!(f, " label {:#07x}", self.flow_label) }
    }
}
