//! The option with which a packet says how far it has come and how far it goes (DDRED, section IV: "we need our own IP
//! fields, implemented as IP options for example").
//!
//! | version | bytes | type |
//! |---|---|---|
//! | IPv4 | `9e 04 TTL_i TTL_f` | 158, for experiments, copied into fragments (RFC 4727, section 2) |
//! | IPv6 | hop-by-hop `NEXT 00 1e 02 TTL_i TTL_f 01 00` | 0x1e, for experiments, does not change on the way, skipped by hosts that do not know it (RFC 4727, section 4; RFC 8200, section 4.2), and two bytes of padding |

/// Type in IPv4.
const IPV4: u8 = 158;
/// Type in IPv6.
const IPV6: u8 = 0x1e;
/// The option of IPv6 that is one byte of padding.
const PAD1: u8 = 0;

/// The two fields of DDRED in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteOption {
    /// Time to live with which the sender sent the packet (TTL_i).
    pub ttl_initial: u8,
    /// Time to live with which an earlier packet of the flow reached its destination (TTL_f); 0 when not known.
    pub ttl_final: u8,
}

impl RouteOption {
    /// Read an option of IPv4, which begins with its type.
    pub(super) fn of_ipv4(option: &[u8]) -> Option<Self> {
        match *option {
            [IPV4, 4, ttl_initial, ttl_final] => Some(Self { ttl_initial, ttl_final }),
            _ => None,
        }
    }

    /// Find it among the options of a hop-by-hop header of IPv6. Options after one that is cut are not read.
    pub(super) fn of_ipv6(mut options: &[u8]) -> Option<Self> {
        while let Some((&kind, rest)) = options.split_first() {
            if kind == PAD1 {
                options = rest;
                continue;
            }
            let (&length, data) = rest.split_first()?;
            let (data, behind) = data.split_at_checked(usize::from(length))?;
            if let (IPV6, &[ttl_initial, ttl_final]) = (kind, data) {
                return Some(Self { ttl_initial, ttl_final });
            }
            options = behind;
        }
        None
    }

    /// The options of a header of IPv4.
    pub fn ipv4(self) -> [u8; 4] {
        [IPV4, 4, self.ttl_initial, self.ttl_final]
    }

    /// The hop-by-hop header of IPv6 before the header with this number.
    pub fn ipv6(self, next: u8) -> [u8; 8] {
        [next, 0, IPV6, 2, self.ttl_initial, self.ttl_final, 1, 0]
    }
}
