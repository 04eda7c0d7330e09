use core::fmt;
use core::net::{IpAddr, Ipv6Addr};
use core::str::FromStr;

use serde::Deserialize;

/// A group of flows, as the configuration of a link has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Name, unique.
    pub name: String,
    /// Where its senders are.
    pub prefix_a: Vec<Prefix>,
    /// Where its receivers are.
    pub prefix_b: Vec<Prefix>,
    /// Delay of the path before the queue, in nanoseconds.
    #[serde(default)]
    pub delay_before_ns: u64,
    /// Delay of the path after the link, in nanoseconds.
    #[serde(default)]
    pub delay_after_ns: u64,
    /// Delay of the way back, in nanoseconds.
    #[serde(default)]
    pub delay_back_ns: u64,
    /// Routers before the queue.
    #[serde(default)]
    pub hops_before: u8,
    /// Routers between the link and the receivers.
    #[serde(default)]
    pub hops_after: u8,
    /// Code point written into packets of side a, all but acknowledgements.
    #[serde(default)]
    pub dscp: Option<u8>,
    /// Class of its packets.
    #[serde(default)]
    pub class: u8,
    /// How its flows are distinguished.
    #[serde(default)]
    pub flow_label: FlowRule,
    /// Acknowledgements have the label and the class of the data; else a label of their own and class 0.
    #[serde(default)]
    pub acks_share_label: bool,
}

/// How flows are distinguished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum FlowRule {
    /// By addresses, protocol and ports.
    #[default]
    #[serde(rename = "5-tuple")]
    FiveTuple,
    /// By addresses and flow label of IPv6, where a packet has one.
    #[serde(rename = "ipv6-label")]
    Ipv6Label,
}

impl Group {
    /// Return the group of packets that belong to no other.
    pub(super) fn other() -> Self {
        Self {
            name: "other".to_owned(),
            prefix_a: Vec::new(),
            prefix_b: Vec::new(),
            delay_before_ns: 0,
            delay_after_ns: 0,
            delay_back_ns: 0,
            hops_before: 0,
            hops_after: 0,
            dscp: None,
            class: 0,
            flow_label: FlowRule::FiveTuple,
            acks_share_label: false,
        }
    }

    /// Routers that the link stands for on a packet's way, in either direction; each lowers the time to live by one.
    #[inline]
    pub(crate) fn routers(&self) -> u8 {
        self.hops_before.saturating_add(self.hops_after)
    }

    /// Whether one end is a sender's and the other a receiver's.
    #[inline]
    pub(super) fn holds(&self, a: IpAddr, b: IpAddr) -> bool {
        self.prefix_a.iter().any(|p| p.holds(a)) && self.prefix_b.iter().any(|p| p.holds(b))
    }
}

/// Addresses that begin alike, such as `10.77.1.0/24`; an address alone is a prefix of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Prefix {
    /// The bits that count, those of IPv4 as in [`bits_of`].
    bits: u128,
    mask: u128,
}

/// An address as a number; IPv4 lies in ::ffff:0:0/96 (RFC 4291).
#[inline]
pub(super) fn bits_of(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

impl Prefix {
    /// Whether the address begins so.
    #[inline]
    pub fn holds(&self, address: IpAddr) -> bool {
        bits_of(address) & self.mask == self.bits
    }

    /// How many bits count.
    pub(super) fn length(&self) -> u32 {
        self.mask.count_ones()
    }
}

/// Text that is no prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoPrefix(String);

impl fmt::Display for NoPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not a prefix (allowed: prefixes such as 10.77.1.0/24 or fd77::/64)", self.0)
    }
}

impl FromStr for Prefix {
    type Err = NoPrefix;

    fn from_str(text: &str) -> Result<Self, NoPrefix> {
        let wrong = || NoPrefix(text.to_owned());
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length.parse::<u32>().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let (bits, before) = if address.is_ipv4() { (32, 96) } else { (128, 0) };
        let length = length.unwrap_or(bits);
        if length > bits {
            return Err(wrong());
        }
        let mask = u128::MAX.checked_shl(128 - before - length).unwrap_or(0);
        Ok(Self { bits: bits_of(address) & mask, mask })
    }
}

impl TryFrom<String> for Prefix {
    type Error = NoPrefix;

    fn try_from(text: String) -> Result<Self, NoPrefix> {
        text.parse()
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = Ipv6Addr::from_bits(self.bits);
        match address.to_ipv4_mapped() {
            Some(v4) if self.length() >= 96 => write!(f, "{v4}/{}", self.length() - 96),
            _ => write!(f, "{address}/{}", self.length()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> Prefix {
        text.parse().expect("a prefix")
    }

    #[test]
    fn prefixes_by_hand() {
        for (text, inside, outside) in [
            ("10.77.1.0/24", "10.77.1.255", "10.77.2.0"),
            ("10.77.1.1", "10.77.1.1", "10.77.1.2"),
            ("0.0.0.0/0", "255.1.2.3", "fd77::1"),
            ("fd77:0:0:1::/64", "fd77:0:0:1::9", "fd77:0:0:2::9"),
            ("::/0", "fd77::1", ""),
        ] {
            let holds = |address: &str| prefix(text).holds(address.parse().expect("an address"));
            assert!(holds(inside), "{text}");
            assert!(outside.is_empty() || !holds(outside), "{text}");
        }
        assert_eq!(prefix("10.77.1.9/24").to_string(), "10.77.1.0/24");
        assert_eq!(prefix("fd77::1").to_string(), "fd77::1/128");
        assert_eq!(prefix("0.0.0.0/0").to_string(), "0.0.0.0/0");
    }

    #[test]
    fn what_is_no_prefix() {
        for text in ["", "10.0.0.0/33", "::1/129", "10.0.0/8", "a/b", "10.0.0.0/", "10.0.0.0/-1"] {
            assert_eq!(text.parse::<Prefix>(), Err(NoPrefix(text.to_owned())));
        }
        let said = serde_json::from_str::<Prefix>("\"x\"").expect_err("no prefix").to_string();
        assert!(said.starts_with("\"x\" is not a prefix (allowed: prefixes such as 10.77.1.0/24"), "{said}");
    }
}
