//! The fields that a link may change: the ECN field (RFC 3168) and the code point (RFC 2474), one byte together, and the
//! time to live or hop limit.

use super::checksum::repaired;
use super::malformed::Malformed;

/// Writes *congestion experienced* into the ECN field. Bytes that hold no header of IP stay what they are.
#[inline]
pub fn set_ce(packet: &mut [u8]) {
    change(packet, |traffic_class| traffic_class | 0b11);
}

/// Writes a code point, of which the lower six bits count. Bytes that hold no header of IP stay what they are.
#[inline]
pub fn set_dscp(packet: &mut [u8], dscp: u8) {
    change(packet, |traffic_class| traffic_class & 0b11 | dscp << 2);
}

/// Lowers the time to live by that many routers. Bytes that hold no header of IP stay what they are.
///
/// # Errors
/// `Expired` if a router lowers it to 0: it drops the packet (RFC 1812, section 5.3.1). The packet stays as it was.
#[inline]
pub fn lower_ttl(packet: &mut [u8], routers: u8) -> Result<(), Malformed> {
    if routers == 0 {
        return Ok(());
    }
    let lower = |ttl: u8| ttl.checked_sub(routers).filter(|&ttl| ttl > 0).ok_or(Malformed::Expired);
    match packet.first().map(|byte| byte >> 4) {
        Some(4) => {
            let Some(header) = packet.first_chunk_mut::<20>() else { return Ok(()) };
            let ttl = lower(header[8])?;
            set_byte(header, 8, ttl);
        }
        Some(6) => {
            let Some(header) = packet.first_chunk_mut::<40>() else { return Ok(()) };
            header[7] = lower(header[7])?;
        }
        _ => {}
    }
    Ok(())
}

/// Changes the traffic class.
#[inline]
fn change(packet: &mut [u8], to: impl FnOnce(u8) -> u8) {
    match packet.first().map(|byte| byte >> 4) {
        Some(4) => {
            let Some(header) = packet.first_chunk_mut::<20>() else { return };
            set_byte(header, 1, to(header[1]));
        }
        Some(6) => {
            let Some(header) = packet.first_chunk_mut::<40>() else { return };
            let traffic_class = to(header[0] << 4 | header[1] >> 4);
            header[0] = header[0] & 0xf0 | traffic_class >> 4;
            header[1] = header[1] & 0x0f | traffic_class << 4;
        }
        _ => {}
    }
}

/// Changes a byte of IPv4's header; the checksum, which covers it, is repaired.
#[inline]
fn set_byte(header: &mut [u8; 20], at: usize, byte: u8) {
    let word = |header: &[u8; 20]| u16::from_be_bytes([header[at & !1], header[at | 1]]);
    let old = word(header);
    header[at] = byte;
    let checksum = u16::from_be_bytes([header[10], header[11]]);
    [header[10], header[11]] = repaired(checksum, old, word(header)).to_be_bytes();
}
