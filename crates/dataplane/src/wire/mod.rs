//! Packet headers: parsing for the queue disciplines, and rewriting of the fields that a link may change.
//!
//! [`parse`] reads an IPv4 (RFC 791) or IPv6 (RFC 8200) packet as a TUN device gives it, without a link header, as far as
//! TCP (RFC 9293), UDP (RFC 768) or ICMP (RFC 792, RFC 4443). It is a function of the bytes alone, allocates nothing
//! and returns a result for any input: a [`Header`], or the [`Malformed`] reason why a router would drop the
//! packet. Bytes after the packet's length (padding) are ignored; [`Header::bytes`] says where it ends.
//!
//! These are not errors: unknown protocols, later fragments and encrypted packets, which have no ports; a first
//! fragment of IPv4 that cuts its transport's header; odd combinations of flags of TCP.

mod checksum;
mod header;
mod ipv4;
mod ipv6;
mod malformed;
mod rewrite;
mod route_option;
mod upper;

pub use self::header::{Header, TcpBits, protocol};
pub use self::malformed::{Malformed, MalformedCounts};
pub use self::rewrite::{lower_ttl, set_ce, set_dscp};
pub use self::route_option::RouteOption;

/// Parse a packet's headers. The checksum of IPv4's header is not checked: see [`parse_verified`].
#[inline]
pub fn parse(packet: &[u8]) -> Result<Header, Malformed> {
    match packet.first().map(|byte| byte >> 4) {
        None => Err(Malformed::Empty),
        Some(4) => ipv4::parse(packet),
        Some(6) => ipv6::parse(packet),
        Some(_) => Err(Malformed::Version),
    }
}

/// The same for packets that no kernel has checked: the checksum of IPv4's header must be right.
pub fn parse_verified(packet: &[u8]) -> Result<Header, Malformed> {
    let header = parse(packet)?;
    if header.version == 4 && !checksum::is_right(ipv4::header_of(packet)) {
        return Err(Malformed::Checksum);
    }
    Ok(header)
}
