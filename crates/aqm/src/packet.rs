use aqmlab_units::Time;

/// The two ECN bits of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable transport: congestion can only be signalled by a drop.
    #[default]
    NotEct,
    /// ECN-capable transport.
    Ect,
    /// Congestion experienced: marked by a queue on the way.
    Ce,
}

/// What a packet is to its transport.
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

/// What a queue discipline may know of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// When the packet was offered to this queue.
    pub arrival: Time,
    /// Length on the wire in bytes.
    pub bytes: u32,
    /// Flow label: flow number in the simulator, IPv6 flow label or hash of the 5-tuple on a live link.
    pub flow: u32,
    /// Class of the source, free for the scenario to use.
    pub class: u8,
    /// Data, acknowledgement or connection set-up.
    pub kind: Kind,
    /// Differentiated services code point (RFC 2474), 0 to 63.
    pub dscp: u8,
    /// ECN field.
    pub ecn: Ecn,
    /// Time to live (hop limit) with which the sender sent the packet.
    pub ttl_initial: u8,
    /// Time to live now, already decremented for this router.
    pub ttl: u8,
    /// Time to live seen by the destination of an earlier packet of the flow; 0 when not known.
    pub ttl_final: u8,
    /// PC-RED's protection bit, stamped at arrival.
    pub qosa: bool,
}

/// A packet in a queue: what the discipline sees, and a payload that it never inspects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet<P> {
    /// The header, as the discipline sees it.
    pub meta: Meta,
    /// A segment in the simulator, a buffer on a live link.
    pub payload: P,
}
