/// Reasons with their names and meanings.
macro_rules! reasons {
    ($($(#[$text:meta])* $reason:ident = $name:literal,)*) => {
        /// Why a router would not forward a packet. Such packets are counted by reason and dropped before the queue.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Malformed {
            $($(#[$text])* $reason,)*
        }

        impl Malformed {
            /// All reasons.
            pub const ALL: &'static [Self] = &[$(Self::$reason),*];

            /// The name in results.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$reason => $name,)*
                }
            }
        }
    };
}

reasons! {
    /// No byte at all.
    Empty = "empty",
    /// Neither IPv4 nor IPv6.
    Version = "version",
    /// Shorter than the fixed header of its version.
    Truncated = "truncated",
    /// IPv4's header length is below 5 words.
    HeaderLength = "header-length",
    /// IPv4's header length is beyond its total length.
    HeaderBeyondPacket = "header-beyond-packet",
    /// The packet says that it is longer than what came.
    TotalLength = "total-length",
    /// An option of IPv4 has no length, or one that does not fit.
    Option = "option",
    /// The checksum of IPv4's header is wrong (looked at by [`parse_verified`](super::parse_verified) only).
    Checksum = "checksum",
    /// Its time to live ends at a router that the link stands for (looked at by [`lower_ttl`](super::lower_ttl) only).
    Expired = "expired",
    /// A fragment that is empty or no multiple of 8 bytes with more to follow, or that ends beyond the longest packet.
    Fragment = "fragment",
    /// A jumbogram (RFC 2675), which no link here can carry.
    Jumbogram = "jumbogram",
    /// An extension header of IPv6 ends beyond the packet.
    ExtensionTruncated = "extension-truncated",
    /// Hop-by-hop options that are not first, or a second fragment header.
    ExtensionOrder = "extension-order",
    /// Too many extension headers.
    ExtensionCount = "extension-count",
    /// A first fragment of IPv6 that does not hold all headers (RFC 7112).
    HeaderChain = "header-chain",
    /// TCP's header is not all there.
    TcpTruncated = "tcp-truncated",
    /// TCP's data offset is below 5 words.
    TcpDataOffset = "tcp-data-offset",
    /// UDP's header is not all there.
    UdpTruncated = "udp-truncated",
    /// UDP's length is below 8 or beyond the packet.
    UdpLength = "udp-length",
    /// ICMP's header is not all there.
    IcmpTruncated = "icmp-truncated",
}

impl Malformed {
    /// Whether a header above IP is not all there, as in a fragment may be.
    pub(super) fn is_cut(self) -> bool {
        matches!(self, Self::TcpTruncated | Self::UdpTruncated | Self::IcmpTruncated)
    }
}

/// How many packets were malformed, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MalformedCounts([u64; Malformed::ALL.len()]);

impl MalformedCounts {
    /// One more.
    #[inline]
    pub fn count(&mut self, reason: Malformed) {
        self.0[reason as usize] += 1;
    }

    /// Reasons that occurred, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (Malformed, u64)> {
        Malformed::ALL.iter().copied().zip(self.0).filter(|(_, n)| *n > 0)
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}
