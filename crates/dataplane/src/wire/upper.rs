//! The protocols above IP: TCP (RFC 9293), UDP (RFC 768), and of ICMP only its presence.

use aqmlab_aqm::Kind;

use super::header::{TcpBits, protocol};
use super::malformed::Malformed;

/// Shortest headers.
const TCP: usize = 20;
const UDP: usize = 8;
const ICMP: usize = 8;
const ICMPV6: usize = 4;

/// The fields read above IP; none in later fragments and for unknown protocols.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Upper {
    pub ports: Option<(u16, u16)>,
    pub tcp: Option<TcpBits>,
}

impl Upper {
    #[inline]
    pub fn kind(&self) -> Kind {
        self.tcp.as_ref().map_or(Kind::Data, TcpBits::kind)
    }
}

/// Reads the start of a payload; `is_whole` unless fragments follow.
#[inline]
pub(super) fn parse(number: u8, payload: &[u8], is_whole: bool) -> Result<Upper, Malformed> {
    match number {
        protocol::TCP => tcp(payload),
        protocol::UDP => udp(payload, is_whole),
        protocol::ICMP if payload.len() < ICMP => Err(Malformed::IcmpTruncated),
        protocol::ICMPV6 if payload.len() < ICMPV6 => Err(Malformed::IcmpTruncated),
        _ => Ok(Upper::default()),
    }
}

#[inline]
fn tcp(payload: &[u8]) -> Result<Upper, Malformed> {
    let fixed = payload.first_chunk::<TCP>().ok_or(Malformed::TcpTruncated)?;
    let number = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let header = usize::from(fixed[12] >> 4) * 4;
    if header < TCP {
        return Err(Malformed::TcpDataOffset);
    }
    let data = payload.get(header..).ok_or(Malformed::TcpTruncated)?;
    let flag = |bit: u8| fixed[13] & bit != 0;
    let bits = TcpBits {
        fin: flag(0x01),
        syn: flag(0x02),
        rst: flag(0x04),
        ack: flag(0x10),
        ece: flag(0x40),
        cwr: flag(0x80),
        seq: number(4),
        acked: number(8),
        payload: data.len() as u32,
    };
    Ok(Upper { ports: Some(ports(fixed)), tcp: Some(bits) })
}

#[inline]
fn udp(payload: &[u8], is_whole: bool) -> Result<Upper, Malformed> {
    let fixed = payload.first_chunk::<UDP>().ok_or(Malformed::UdpTruncated)?;
    let length = usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    // In a first fragment the length is that of the whole datagram.
    if length < UDP || is_whole && length > payload.len() {
        return Err(Malformed::UdpLength);
    }
    Ok(Upper { ports: Some(ports(fixed)), tcp: None })
}

/// The ports, which TCP and UDP have in the same place.
#[inline]
fn ports<const N: usize>(fixed: &[u8; N]) -> (u16, u16) {
    (u16::from_be_bytes([fixed[0], fixed[1]]), u16::from_be_bytes([fixed[2], fixed[3]]))
}
