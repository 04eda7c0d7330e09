//! The two fields that a link may change: the ECN field (RFC 3168) and the code point (RFC 2474), one byte together.

use super::checksum::repaired;

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

/// Changes the traffic class; IPv4's checksum, which covers it, is repaired.
#[inline]
fn change(packet: &mut [u8], to: impl FnOnce(u8) -> u8) {
    match packet.first().map(|byte| byte >> 4) {
        Some(4) => {
            let Some(header) = packet.first_chunk_mut::<20>() else { return };
            let old = u16::from_be_bytes([header[0], header[1]]);
            header[1] = to(header[1]);
            let new = u16::from_be_bytes([header[0], header[1]]);
            let checksum = u16::from_be_bytes([header[10], header[11]]);
            [header[10], header[11]] = repaired(checksum, old, new).to_be_bytes();
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
