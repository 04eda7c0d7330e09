use aqmlab_units::Time;

/// The two ECN bits of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable transport: congestion can only be signalled by a drop.
    #[default]
    NotEct = 0b00,
    /// ECN-capable transport that wants the low-latency service L4S, ECT(1) (RFC 9331).
    Ect1 = 0b01,
    /// ECN-capable transport, ECT(0).
    Ect = 0b10,
    /// Congestion experienced: marked by a queue on the way.
    Ce = 0b11,
}

/// The kind of a packet for its transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Carries data.
    #[default]
    Data,
    /// A pure acknowledgement.
    Ack,
    /// Opens a connection.
    Syn,
}

/// The small fields of a header in one word, so that packets are moved in few registers: a byte each, but ECN field and QOSA
/// share one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header(u64);

/// Getter, setter and builder of a field from a bit of the word on. The setter writes the bits of the mask; the getter reads up to
/// eight bits, of which the conversion takes its own.
macro_rules! fields {
    ($($(#[$text:meta])* $at:literal $mask:literal $get:ident $set:ident $with:ident: $type:ty = $from:expr;)*) => {
        impl Header {
            $(
                $(#[$text])*
                #[inline]
                pub fn $get(self) -> $type {
                    $from((self.0 >> $at) as u8)
                }

                #[doc = concat!("Sets [`Header::", stringify!($get), "`].")]
                #[inline]
                pub fn $set(&mut self, value: $type) {
                    *self = self.$with(value);
                }

                #[doc = concat!("The same with another [`Header::", stringify!($get), "`].")]
                #[inline]
                #[must_use]
                pub fn $with(self, value: $type) -> Self {
                    Self(self.0 & !($mask << $at) | u64::from(value as u8) << $at)
                }
            )*
        }
    };
}

fields! {
    /// Differentiated services code point (RFC 2474), 0 to 63.
    0 0xff dscp set_dscp with_dscp: u8 = core::convert::identity;
    /// ECN field.
    8 0b11 ecn set_ecn with_ecn: Ecn = Ecn::from_bits;
    /// Data, acknowledgement or connection set-up.
    16 0xff kind set_kind with_kind: Kind = Kind::from_byte;
    /// Class of the source, free for the scenario to use.
    24 0xff class set_class with_class: u8 = core::convert::identity;
    /// Time to live (hop limit) with which the sender sent the packet.
    32 0xff ttl_initial set_ttl_initial with_ttl_initial: u8 = core::convert::identity;
    /// Time to live now, already decremented for this router.
    40 0xff ttl set_ttl with_ttl: u8 = core::convert::identity;
    /// Time to live seen by the destination of an earlier packet of the flow; 0 when not known.
    48 0xff ttl_final set_ttl_final with_ttl_final: u8 = core::convert::identity;
    /// PC-RED's protection bit (quality of service alert), set at the arrival at a PC-RED queue.
    15 1 qosa set_qosa with_qosa: bool = |byte| byte & 1 != 0;
}

impl Header {
    /// The bytes of the fields that a packet carries with it: code point, ECN field with QOSA, and kind.
    const OWN: u64 = 0xff_ffff;

    /// The header with code point, ECN field, QOSA and kind of [`Header::own`].
    #[inline]
    #[must_use]
    pub fn with_own(self, own: u32) -> Self {
        Self(self.0 & !Self::OWN | u64::from(own) & Self::OWN)
    }

    /// Code point, ECN field with QOSA as the highest bit, and kind, a byte each from the lowest.
    #[inline]
    pub fn own(self) -> u32 {
        (self.0 & Self::OWN) as u32
    }
}

impl Ecn {
    /// The field with these bits; all but the lowest two are ignored.
    #[inline]
    pub fn from_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect,
            _ => Self::Ce,
        }
    }
}

impl Kind {
    #[inline]
    fn from_byte(byte: u8) -> Self {
        match byte {
            0 => Self::Data,
            1 => Self::Ack,
            _ => Self::Syn,
        }
    }
}

/// The metadata of a packet that a queue discipline may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// When the packet was offered to this queue.
    pub arrival: Time,
    /// Length on the wire in bytes.
    pub bytes: u32,
    /// Flow label: flow number in the simulator, IPv6 flow label or hash of the 5-tuple on a live link.
    pub flow: u32,
    /// All else.
    pub header: Header,
}

/// A packet in a queue: a header that the discipline reads, and a payload that it never inspects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet<P> {
    /// The header, as the discipline sees it.
    pub meta: Meta,
    /// A segment in the simulator, a buffer on a live link.
    pub payload: P,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_field_of_a_header_has_bits_of_its_own(
            (dscp, class, ttl_initial, ttl, ttl_final) in any::<(u8, u8, u8, u8, u8)>(),
            ecn in prop::sample::select(vec![Ecn::NotEct, Ecn::Ect1, Ecn::Ect, Ecn::Ce]),
            kind in prop::sample::select(vec![Kind::Data, Kind::Ack, Kind::Syn]),
            qosa in any::<bool>(),
        ) {
            let on_the_way = Header::default().with_dscp(dscp).with_ecn(Ecn::Ce).with_qosa(qosa).with_kind(kind);
            let on_the_way = on_the_way.with_ecn(ecn);
            prop_assert_eq!((on_the_way.qosa(), on_the_way.ecn()), (qosa, ecn));
            let mut header = Header::default().with_dscp(!dscp).with_own(on_the_way.own() | 0xab00_0000);
            header.set_class(class);
            header.set_ttl(ttl);
            header = header.with_ttl_final(ttl_final).with_ttl_initial(ttl_initial);
            prop_assert_eq!((header.dscp(), header.ecn(), header.kind()), (dscp, ecn, kind));
            prop_assert_eq!((header.class(), header.qosa()), (class, qosa));
            prop_assert_eq!((header.ttl_initial(), header.ttl(), header.ttl_final()), (ttl_initial, ttl, ttl_final));
        }
    }
}
