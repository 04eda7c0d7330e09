//! IPv6 and its extension headers (RFC 8200).

use core::net::{IpAddr, Ipv6Addr};

use super::header::{Header, ecn};
use super::ipv4::check_fragment;
use super::malformed::Malformed;
use super::route_option::RouteOption;
use super::upper::{self, Upper};

/// Length of the header without extensions.
const FIXED: usize = 40;
/// The longest payload.
const LONGEST: usize = 65_535;
/// Extension headers that are followed. RFC 8200, section 4.1, knows seven in their recommended order.
const EXTENSIONS: usize = 8;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION_OPTIONS: u8 = 60;
const MOBILITY: u8 = 135;
const HOST_IDENTITY: u8 = 139;
const SHIM6: u8 = 140;

#[inline]
pub(super) fn parse(buffer: &[u8]) -> Result<Header, Malformed> {
    let fixed = buffer.first_chunk::<FIXED>().ok_or(Malformed::Truncated)?;
    let payload = u16::from_be_bytes([fixed[4], fixed[5]]);
    if payload == 0 && fixed[6] == HOP_BY_HOP {
        return Err(Malformed::Jumbogram);
    }
    let total = FIXED + usize::from(payload);
    let packet = buffer.get(..total).ok_or(Malformed::TotalLength)?;
    let route = if fixed[6] == HOP_BY_HOP { route_of(&packet[FIXED..]) } else { None };
    let (protocol, upper) = follow(fixed[6], &packet[FIXED..])?;
    let traffic_class = fixed[0] << 4 | fixed[1] >> 4;
    let address = |at: usize| {
        let mut octets = [0; 16];
        octets.copy_from_slice(&fixed[at..at + 16]);
        IpAddr::V6(Ipv6Addr::from(octets))
    };
    Ok(Header {
        version: 6,
        dscp: traffic_class >> 2,
        ecn: ecn(traffic_class),
        ttl: fixed[7],
        bytes: total as u32,
        source: address(8),
        destination: address(24),
        protocol,
        ports: upper.ports,
        flow_label: u32::from_be_bytes([0, fixed[1] & 0xf, fixed[2], fixed[3]]),
        route,
        tcp: upper.tcp,
        kind: upper.kind(),
    })
}

/// The option that disciplines use, of a hop-by-hop header that is all there.
fn route_of(header: &[u8]) -> Option<RouteOption> {
    let length = 8 + 8 * usize::from(*header.get(1)?);
    RouteOption::of_ipv6(header.get(2..length)?)
}

/// Follows the chain of headers to the protocol above, and reads that.
#[inline]
fn follow(mut next: u8, mut rest: &[u8]) -> Result<(u8, Upper), Malformed> {
    let mut is_first_fragment = false;
    for passed in 0..=EXTENSIONS {
        let length = match next {
            HOP_BY_HOP if passed > 0 => return Err(Malformed::ExtensionOrder),
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS | MOBILITY | HOST_IDENTITY | SHIM6 => {
                rest.get(1).map(|&eights| 8 + 8 * usize::from(eights))
            }
            AUTHENTICATION => rest.get(1).map(|&fours| 8 + 4 * usize::from(fours)),
            FRAGMENT if is_first_fragment => return Err(Malformed::ExtensionOrder),
            FRAGMENT => {
                let fields = rest.first_chunk::<8>().ok_or(Malformed::ExtensionTruncated)?;
                let word = u16::from_be_bytes([fields[2], fields[3]]);
                let (more, offset) = (word & 1 != 0, usize::from(word & 0xfff8));
                check_fragment(more, offset, rest.len() - fields.len(), LONGEST)?;
                if offset > 0 {
                    return Ok((fields[0], Upper::default()));
                }
                is_first_fragment |= more;
                Some(fields.len())
            }
            _ => {
                return match upper::parse(next, rest, !is_first_fragment) {
                    Err(reason) if is_first_fragment && reason.is_cut() => Err(Malformed::HeaderChain),
                    read => read.map(|upper| (next, upper)),
                };
            }
        };
        let cut = if is_first_fragment { Malformed::HeaderChain } else { Malformed::ExtensionTruncated };
        let following = length.and_then(|length| rest.get(length..)).ok_or(cut)?;
        next = rest[0];
        rest = following;
    }
    Err(Malformed::ExtensionCount)
}
