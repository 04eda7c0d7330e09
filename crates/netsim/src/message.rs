//! The message between stations: a packet with the key of its next arrival.

use aqmlab_aqm::{AckFields, AckOptions, Ecn, Header, Kind, Meta};
use aqmlab_transport::{Ack, Data, DataFlags, NewData, PlainAck, SackBlocks};
use aqmlab_units::{Time, prefetch};

use crate::key::Key;
use crate::link_stats::Numbered;

/// Where the flags of a data packet are in [`Message::header`]; they have six bits. In an acknowledgement, the three of the
/// number of marked packets (ACE).
const FLAGS_AT: u32 = 24;
const ACE: u32 = 7;
/// In an acknowledgement: it answers a ping.
const ANSWER: u32 = (Ack::OF_PING as u32) << FLAGS_AT;
/// The sender has received a packet from the other end, so it knows the time to live there.
const PEER_TTL_KNOWN: u32 = 1 << 30;
/// An acknowledgement echoes a mark.
const ECHO: u32 = 1 << 31;
/// A data packet is the last of an object.
const LAST: u32 = 1 << 31;

const NO_SACK: u32 = u32::MAX;

/// A packet on its way, with the key of its arrival at the next station. SACK blocks are kept aside.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Message {
    /// When it arrives.
    pub time: Time,
    /// The cause and the source of the arrival, see [`Key`].
    pub cause: Time,
    /// When the data packet was sent; in an acknowledgement, the time stamp echoed.
    sent: Time,
    pub source: u32,
    /// Where it is on its path, see [`Paths`](crate::paths::Paths).
    pub step: u32,
    /// Sequence number, or number acknowledged.
    pub number: i32,
    /// Length in bytes.
    pub bytes: u32,
    /// Where the SACK blocks and the time stamp are; [`NO_SACK`] without.
    sack: u32,
    /// Code point, ECN field, QOSA and kind as in [`Header::own`], and above them the bits of the transport.
    pub header: u32,
}

/// The part of a queued packet that disciplines do not see.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rest {
    sent: Time,
    step: u32,
    number: i32,
    sack: u32,
    /// [`Message::header`] as it came.
    header: u32,
}

impl Numbered for Rest {
    #[inline]
    fn number(&self) -> i32 {
        self.number
    }

    fn sent(&self) -> Time {
        self.sent
    }

    fn ack_fields(&self) -> Option<AckFields> {
        if Header::default().with_own(self.header).kind() != Kind::Ack || self.header & ANSWER != 0 {
            return None;
        }
        let (ace, echo) = (self.header >> FLAGS_AT & ACE, self.header >> 28 & (ECHO >> 28));
        let options = if self.sack == NO_SACK { AckOptions::None } else { AckOptions::Unknown };
        Some(AckFields { number: self.number, ecn: (ace | echo) as u8, is_pure: true, options })
    }
}

impl Message {
    /// In place of an arrival: the packet takes the detour of its path at the link, which knows when ([`Link::turned_at`]).
    ///
    /// [`Link::turned_at`]: crate::link::Link::turned_at
    pub const TURNED: Time = Time(Time::NEVER.0 - 2);

    /// Return what disciplines do not see of the packet; the inverse is [`Message::of_rest`].
    #[inline]
    pub fn rest(&self) -> Rest {
        let Self { sent, step, number, sack, header, .. } = *self;
        Rest { sent, step, number, sack, header }
    }

    /// Return the packet that leaves a queue, with the header as the queue rewrote it.
    #[inline]
    pub fn of_rest(key: Key, meta: &Meta, rest: &Rest) -> Self {
        let Rest { sent, step, number, sack, header } = *rest;
        let Key { time, cause, source } = key;
        let mut message = Self { time, cause, sent, source, step, number, bytes: meta.bytes, sack, header };
        message.rewrite(meta.header);
        message
    }

    /// The key of its arrival.
    #[inline]
    pub fn key(&self) -> Key {
        Key { time: self.time, cause: self.cause, source: self.source }
    }

    /// Return the kind of the packet for its transport.
    #[inline]
    pub fn kind(&self) -> Kind {
        self.seen().kind()
    }

    /// The ECN field.
    #[inline]
    pub fn ecn(&self) -> Ecn {
        self.seen().ecn()
    }

    /// The part of the header that the packet carries.
    #[inline]
    pub fn seen(&self) -> Header {
        Header::default().with_own(self.header)
    }

    /// Whether it is an acknowledgement.
    #[inline]
    pub fn is_ack(&self) -> bool {
        self.kind() == Kind::Ack
    }

    /// Return whether its sender knew the time to live at the other end.
    #[inline]
    pub fn peer_ttl_known(&self) -> bool {
        self.header & PEER_TTL_KNOWN != 0
    }

    /// Of a data packet, whether it is the last of an object that an application has asked for.
    #[inline]
    pub fn is_last(&self) -> bool {
        self.header & LAST != 0
    }

    /// Makes a data packet the last of an object.
    #[inline]
    pub fn mark_last(&mut self) {
        self.header |= LAST;
    }

    /// When a data packet was sent.
    #[inline]
    pub fn sent(&self) -> Time {
        self.sent
    }

    /// Return whether it is an acknowledgement without SACK blocks and time stamp.
    #[inline]
    pub fn is_plain_ack(&self) -> bool {
        self.sack == NO_SACK
    }

    /// Return whether an acknowledgement echoes a mark.
    #[inline]
    pub fn echoes(&self) -> bool {
        self.header & ECHO != 0
    }

    /// A data packet becomes its acknowledgement, at the start of its path.
    #[inline(always)]
    pub fn become_answer(&mut self, step: u32, answer: PlainAck) {
        let PlainAck { ack, ts_echo, bytes, ece } = answer;
        let header = self.header & PEER_TTL_KNOWN
            | Header::default().with_kind(Kind::Ack).own()
            | if ece { ECHO } else { 0 };
        (self.sent, self.step, self.number, self.bytes, self.header) = (ts_echo, step, ack, bytes, header);
    }

    /// A plain acknowledgement becomes the first of the packets that it releases, at the start of its path.
    #[inline(always)]
    pub fn become_first_of(&mut self, step: u32, dscp: u8, new: &NewData) {
        let header = data_header(dscp, true, new.flags);
        (self.sent, self.step, self.number) = (self.time, step, new.first as i32);
        (self.bytes, self.header) = (new.bytes, header);
    }

    /// A data packet at the start of its path, put there by an event.
    #[inline]
    pub fn of_data(key: Key, step: u32, dscp: u8, peer_ttl_known: bool, data: &Data) -> Self {
        Self {
            time: key.time,
            cause: key.cause,
            sent: data.sent,
            source: key.source,
            step,
            number: data.seq as i32,
            bytes: data.bytes,
            sack: NO_SACK,
            header: data_header(dscp, peer_ttl_known, data.flags),
        }
    }

    /// A packet that was recorded before a link; what its header shows is known there.
    pub fn recorded(key: Key, step: u32, number: i32, meta: &Meta) -> Self {
        Self {
            time: key.time,
            cause: key.cause,
            sent: key.time,
            source: key.source,
            step,
            number,
            bytes: meta.bytes,
            sack: NO_SACK,
            header: meta.header.own() | PEER_TTL_KNOWN,
        }
    }

    /// The data packet as its receiver sees it.
    #[inline]
    pub fn to_data(self) -> Data {
        Data {
            sent: self.sent,
            seq: self.number as u32,
            bytes: self.bytes,
            flags: DataFlags::from_bits((self.header >> FLAGS_AT) as u8),
        }
    }

    /// Take over the fields of the header that a queue may write.
    #[inline]
    pub fn rewrite(&mut self, header: Header) {
        self.header = self.header >> FLAGS_AT << FLAGS_AT | header.own();
    }
}

/// Return [`Message::header`] of a data packet.
#[inline]
fn data_header(dscp: u8, peer_ttl_known: bool, flags: DataFlags) -> u32 {
    let seen = Header::default()
        .with_dscp(dscp)
        .with_ecn(match (flags.has(DataFlags::ECT), flags.has(DataFlags::ECT1)) {
            (false, _) => Ecn::NotEct,
            (true, false) => Ecn::Ect,
            (true, true) => Ecn::Ect1,
        })
        .with_kind(if flags.has(DataFlags::SYN) { Kind::Syn } else { Kind::Data });
    seen.own() | u32::from(flags.bits()) << FLAGS_AT | if peer_ttl_known { PEER_TTL_KNOWN } else { 0 }
}

/// Optional data of an acknowledgement: SACK blocks, and the time at which it was sent.
type Aside = (SackBlocks, Time);

/// The optional data of acknowledgements in flight, in slots that are reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct SackStore {
    slots: Vec<Aside>,
    free: Vec<u32>,
}

impl SackStore {
    /// An acknowledgement at the start of its path, put there by an event.
    #[inline]
    pub fn message(&mut self, key: Key, step: u32, peer_ttl_known: bool, ack: &Ack) -> Message {
        Message {
            time: key.time,
            cause: key.cause,
            sent: ack.ts_echo,
            source: key.source,
            step,
            number: ack.ack,
            bytes: ack.bytes,
            sack: if ack.sack.is_empty() && ack.stamp == Time::ZERO {
                NO_SACK
            } else {
                self.put((ack.sack, ack.stamp))
            },
            header: Header::default().with_kind(Kind::Ack).own()
                | if peer_ttl_known { PEER_TTL_KNOWN } else { 0 }
                | u32::from(ack.ace) << FLAGS_AT & (ACE << FLAGS_AT | ANSWER)
                | if ack.ece { ECHO } else { 0 },
        }
    }

    /// The acknowledgement as its receiver sees it; its slot becomes free.
    #[inline]
    pub fn take_ack(&mut self, message: &Message) -> Ack {
        let Message { sent, number, bytes, header, .. } = *message;
        let ace = (header >> FLAGS_AT & ACE) as u8;
        let mut ack =
            Ack { ts_echo: sent, ack: number, bytes, ece: header & ECHO != 0, ace, ..Ack::default() };
        if message.sack != NO_SACK {
            (ack.sack, ack.stamp) = self.take(message.sack);
        }
        ack
    }

    /// Ask for the optional data of an acknowledgement.
    #[inline]
    pub fn prefetch(&self, message: &Message) {
        if let Some(aside) = self.slots.get(message.sack as usize) {
            prefetch(aside);
        }
    }

    /// Free the slot of a packet that was dropped.
    #[inline]
    pub fn release(&mut self, dropped: &Rest) {
        if dropped.sack != NO_SACK {
            self.take(dropped.sack);
        }
    }

    /// Make a packet a copy of itself: it gets a slot of its own.
    pub fn copy(&mut self, message: &mut Message) {
        if message.sack != NO_SACK {
            message.sack = self.put(self.slots[message.sack as usize]);
        }
    }

    /// Move the parts of a packet that are kept aside to another store.
    pub fn hand_over(&mut self, message: &mut Message, other: &mut Self) {
        if message.sack != NO_SACK {
            message.sack = other.put(self.take(message.sack));
        }
    }

    fn take(&mut self, slot: u32) -> Aside {
        self.free.push(slot);
        self.slots[slot as usize]
    }

    fn put(&mut self, aside: Aside) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = aside;
            return slot;
        }
        self.slots.push(aside);
        (self.slots.len() - 1) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqmlab_transport::SackBlock;

    const KEY: Key = Key { time: Time(9), cause: Time(8), source: 3 };

    #[test]
    fn a_packet_in_flight_has_48_bytes() {
        assert_eq!(size_of::<Message>(), 48);
    }

    #[test]
    fn data_survive_the_journey() {
        let flags = DataFlags::NONE.with(DataFlags::SYN, true).with(DataFlags::ECT, true);
        let data = Data { sent: Time(5), seq: 1, bytes: 500, flags };
        let mut message = Message::of_data(KEY, 7, 46, true, &data);
        assert!(!message.is_last());
        message.mark_last();
        message.rewrite(message.seen().with_qosa(true));
        assert!(message.is_last() && message.sent() == Time(5) && message.seen().qosa());
        message.rewrite(message.seen().with_qosa(false));
        assert!(message.is_last() && !message.seen().qosa());
        assert_eq!((message.to_data(), message.key(), message.kind()), (data, KEY, Kind::Syn));
        assert_eq!((message.ecn(), message.seen().dscp(), message.peer_ttl_known()), (Ecn::Ect, 46, true));
        let flags = DataFlags::ECT.with(DataFlags::ECT1, true).with(DataFlags::CWR, true);
        let message = Message::of_data(KEY, 7, 46, true, &Data { flags, ..data });
        assert_eq!(
            (message.to_data().flags, message.ecn(), message.peer_ttl_known()),
            (flags, Ecn::Ect1, true)
        );
    }

    #[test]
    fn a_packet_survives_a_queue_that_may_rewrite_its_header() {
        let data =
            Data { sent: Time(5), seq: 1, bytes: 500, flags: DataFlags::ECT.with(DataFlags::CWR, true) };
        let message = Message { sack: 4, ..Message::of_data(KEY, 7, 46, true, &data) };
        let next = Key { time: Time(19), ..KEY };
        let mut meta = Meta { bytes: 500, header: message.seen(), ..Meta::default() };
        let left = Message::of_rest(next, &meta, &message.rest());
        assert_eq!(left, Message { time: Time(19), ..message });
        meta.header.set_ecn(Ecn::Ce);
        let marked = Message::of_rest(next, &meta, &message.rest());
        assert_eq!((marked.ecn(), marked.to_data()), (Ecn::Ce, data));
    }

    #[test]
    fn acknowledgements_survive_the_journey_and_slots_are_used_again() {
        let mut store = SackStore::default();
        let plain = Ack { ts_echo: Time(7), ack: 3, bytes: 48, ece: true, ..Ack::default() };
        for (ace, stamp) in [(0, Time::ZERO), (5, Time::ZERO), (7, Time(8))] {
            let ack = Ack { ace, stamp, ..plain };
            let message = store.message(KEY, 7, false, &ack);
            assert_eq!(store.take_ack(&message), ack);
        }
        let fields = |store: &mut SackStore, ack: &Ack| store.message(KEY, 7, true, ack).rest().ack_fields();
        let expected = AckFields { number: 3, ecn: 0b1101, is_pure: true, options: AckOptions::None };
        assert_eq!(fields(&mut store, &Ack { ace: 5, ..plain }), Some(expected));
        assert_eq!(fields(&mut store, &Ack { ece: false, ..plain }), Some(AckFields { ecn: 0, ..expected }));
        let mut ack = plain;
        ack.sack.push(SackBlock { left: 5, right: 6 });
        for _ in 0..3 {
            let message = store.message(KEY, 7, false, &ack);
            assert_eq!((message.kind(), message.key(), message.peer_ttl_known()), (Kind::Ack, KEY, false));
            assert_eq!(store.take_ack(&message), ack);
        }
        let mut elsewhere = SackStore::default();
        let mut message = store.message(KEY, 7, false, &ack);
        store.hand_over(&mut message, &mut elsewhere);
        assert_eq!((elsewhere.take_ack(&message), store.free.len()), (ack, 1));
        let lost = store.message(KEY, 7, false, &ack);
        store.release(&lost.rest());
        assert_eq!((store.slots.len(), store.free.len()), (1, 1));
    }
}
