//! IPv4 (RFC 791).

use core::net::{IpAddr, Ipv4Addr};

use super::header::{Header, ecn};
use super::malformed::Malformed;
use super::route_option::RouteOption;
use super::upper::{self, Upper};

/// Length of the header without options.
const FIXED: usize = 20;
/// The longest packet.
const LONGEST: usize = 65_535;

/// The whole header of a packet that was parsed.
pub(super) fn header_of(packet: &[u8]) -> &[u8] {
    let length = packet.first().map_or(0, |byte| header_length(*byte));
    packet.get(..length).unwrap_or_default()
}

#[inline]
fn header_length(first_byte: u8) -> usize {
    usize::from(first_byte & 0xf) * 4
}

#[inline]
pub(super) fn parse(buffer: &[u8]) -> Result<Header, Malformed> {
    let fixed = buffer.first_chunk::<FIXED>().ok_or(Malformed::Truncated)?;
    let word = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let address =
        |at: usize| IpAddr::V4(Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]));
    let header = header_length(fixed[0]);
    if header < FIXED {
        return Err(Malformed::HeaderLength);
    }
    let total = usize::from(word(2));
    if total < header {
        return Err(Malformed::HeaderBeyondPacket);
    }
    let packet = buffer.get(..total).ok_or(Malformed::TotalLength)?;
    let route = read_options(&packet[FIXED..header])?;
    let payload = &packet[header..];
    let upper = match (word(6) & 0x2000 != 0, usize::from(word(6) & 0x1fff) * 8) {
        (false, 0) => upper::parse(fixed[9], payload, true)?,
        (more, offset) => {
            check_fragment(more, offset, payload.len(), LONGEST - header)?;
            match upper::parse(fixed[9], payload, false) {
                _ if offset > 0 => Upper::default(),
                Err(reason) if reason.is_cut() => Upper::default(),
                first => first?,
            }
        }
    };
    Ok(Header {
        version: 4,
        dscp: fixed[1] >> 2,
        ecn: ecn(fixed[1]),
        ttl: fixed[8],
        bytes: total as u32,
        source: address(12),
        destination: address(16),
        protocol: fixed[9],
        ports: upper.ports,
        flow_label: 0,
        route,
        tcp: upper.tcp,
        kind: upper.kind(),
    })
}

/// Check all options, and return the one that disciplines use. Every option but the two of one byte (end of list, no
/// operation) has a length that counts itself.
#[inline]
fn read_options(mut options: &[u8]) -> Result<Option<RouteOption>, Malformed> {
    let mut route = None;
    while let Some((&kind, rest)) = options.split_first() {
        let length = match (kind, rest.first()) {
            (0, _) => return Ok(route),
            (1, _) => 1,
            (_, Some(&length)) if length >= 2 => usize::from(length),
            _ => return Err(Malformed::Option),
        };
        let (option, behind) = options.split_at_checked(length).ok_or(Malformed::Option)?;
        route = route.or_else(|| RouteOption::of_ipv4(option));
        options = behind;
    }
    Ok(route)
}

/// Offsets count 8 bytes, so that a fragment with more to follow has a multiple of that; and all must end in time.
pub(super) fn check_fragment(
    more: bool,
    offset: usize,
    length: usize,
    longest: usize,
) -> Result<(), Malformed> {
    let is_odd = more && (length == 0 || !length.is_multiple_of(8));
    if is_odd || offset + length > longest { Err(Malformed::Fragment) } else { Ok(()) }
}
