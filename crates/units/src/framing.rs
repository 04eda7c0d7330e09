//! The length of packets on the wire: a header, a smallest length and the cells or blocks of a link layer.
//!
//! Source: tc-cake(8), "Overhead compensation parameters" (`overhead`, `mpu`, `atm`, `ptm`), and tc-stab(8).
//!
//! ```text
//! n    = max(length + overhead, mpu)
//! wire = n                    ethernet
//! wire = 53 ceil(n / 48)      atm: cells of 53 bytes carry 48
//! wire = n + ceil(n / 64)     ptm: 64b/65b, one byte for each 64 or part of them
//! ```
//!
//! # Readings
//! Where the two disagree this is cake's rule:
//!
//! | | here, as cake | stab |
//! |---|---|---|
//! | length | of the IP packet | of the packet that the device gets: with 14 bytes of Ethernet's header |
//! | rounding | none | up to steps of a size table, `mtu` / `tsize` bytes each |
//! | ptm | rounded up for each packet | unknown |
//!
//! The smallest length is that of the packet with its overhead, before cells are made of it.

use crate::{Parameter, ValueKind};

const OVERHEAD: Parameter = Parameter::new(
    "overhead",
    "",
    ValueKind::Number,
    "bytes that every packet has on the wire in addition to its own, headers of IP included",
)
.whole()
.from(-64.0)
.to(256.0)
.default("0")
.source("tc-cake(8)");
const MPU: Parameter = Parameter::new(
    "mpu",
    "",
    ValueKind::Number,
    "smallest length of a packet on the wire with its overhead, in bytes",
)
.whole()
.from(0.0)
.to(256.0)
.default("0")
.source("tc-cake(8)");
const LINKLAYER: Parameter = Parameter::new(
    "linklayer",
    "",
    ValueKind::Choice,
    "cells or blocks that carry packets: atm has 53 bytes for 48, ptm 65 for 64",
)
.or(LinkLayer::WORDS)
.default("ethernet")
.source("tc-cake(8), tc-stab(8)");

/// The cells or blocks of a link layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkLayer {
    /// None.
    #[default]
    Ethernet,
    /// Cells of 53 bytes that carry 48.
    Atm,
    /// 65 bytes for 64.
    Ptm,
}

impl LinkLayer {
    /// The words of a scenario file, in the order of the variants.
    pub const WORDS: &'static [&'static str] = &["ethernet", "atm", "ptm"];

    /// Return the layer of a word.
    pub fn of(word: &str) -> Option<Self> {
        let all = [Self::Ethernet, Self::Atm, Self::Ptm];
        Self::WORDS.iter().position(|one| *one == word).map(|place| all[place])
    }

    /// Return its word.
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }
}

/// How long packets are on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Framing {
    /// Bytes that every packet has in addition; may be negative.
    pub overhead: i32,
    /// The smallest length with the overhead, in bytes.
    pub mpu: u32,
    /// Cells or blocks.
    pub layer: LinkLayer,
}

impl Framing {
    /// The keys that describe it: `overhead`, `mpu` and `linklayer`.
    pub const PARAMETERS: [Parameter; 3] = [OVERHEAD, MPU, LINKLAYER];

    /// Return the length on the wire of a packet, in bytes; at least 1.
    pub fn on_wire(&self, bytes: u32) -> u32 {
        let length = bytes.saturating_add_signed(self.overhead).max(self.mpu).max(1);
        match self.layer {
            LinkLayer::Ethernet => length,
            LinkLayer::Atm => length.div_ceil(48).saturating_mul(53),
            LinkLayer::Ptm => length.saturating_add(length.div_ceil(64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_wire(overhead: i32, mpu: u32, layer: LinkLayer, lengths: &[u32]) -> Vec<u32> {
        let framing = Framing { overhead, mpu, layer };
        lengths.iter().map(|&bytes| framing.on_wire(bytes)).collect()
    }

    #[test]
    fn by_hand() {
        use LinkLayer::{Atm, Ethernet, Ptm};
        assert_eq!(on_wire(0, 0, Ethernet, &[1, 40, 1500]), [1, 40, 1500]);
        assert_eq!(on_wire(38, 84, Ethernet, &[40, 46, 47, 1500]), [84, 84, 85, 1538]);
        // An acknowledgement of 40 bytes over PPPoE and LLC: 80 bytes are 2 cells; one of 56 is 96, and 2 cells; one of 57 is 3.
        assert_eq!(on_wire(40, 0, Atm, &[40, 56, 57, 1500]), [106, 106, 159, 33 * 53]);
        assert_eq!(on_wire(0, 0, Atm, &[1, 48, 49]), [53, 53, 106]);
        // The smallest length comes before the cells: 97 bytes are 3 of them.
        assert_eq!(on_wire(0, 97, Atm, &[40]), [159]);
        assert_eq!(on_wire(0, 0, Ptm, &[1, 64, 65, 128, 1500]), [2, 65, 67, 130, 1524]);
        assert_eq!(on_wire(30, 94, Ptm, &[40, 64, 1500]), [96, 96, 1554]);
        assert_eq!(on_wire(-64, 0, Ethernet, &[40, 100]), [1, 36]);
        assert_eq!(on_wire(48, 0, Atm, &[u32::MAX]), [u32::MAX]);
    }

    #[test]
    fn words() {
        for word in LinkLayer::WORDS {
            assert_eq!(LinkLayer::of(word).map(LinkLayer::word), Some(*word));
        }
        assert_eq!(LinkLayer::of("adsl"), None);
    }
}
