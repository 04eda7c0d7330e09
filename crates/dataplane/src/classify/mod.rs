//! Classification of packets for the disciplines: group, flow, and hops travelled.
//!
//! # Flows
//! A packet belongs to the first [`Group`] whose prefixes hold both its ends, else to the last group, `other`.
//! Its flow is known by the 5-tuple or, where the group asks for it, by IPv6 flow label and addresses (RFC 6437; packets
//! without a label, and IPv4, by the 5-tuple). Both directions of a connection are one flow: a reply is found by its
//! 5-tuple also where flow labels rule, since each end labels its own packets. Protocols without ports, later fragments
//! and encrypted packets are one flow a pair of addresses and protocol. A flow gets the next number
//! from 0 on; when as many are known as may be, the one that has been idle longest gives its number to the new one.
//! The counters of the old flow are then added to the other flows of its group
//! ([`FlowStats::others`](crate::flows::FlowStats::others)). Two users of flow numbers cannot
//! distinguish them: the event log, and PC-RED, whose list treats the new flow as the old one, with its a_d, until that
//! entry expires or is removed.
//! So a run that is to compare flows, or has PC-RED, needs room for all of them (`flows` of the configuration);
//! [`Classifier::replaced`], which certificates report, counts reused numbers.
//!
//! [`Meta::flow`] is as in the simulator: twice the number of the flow, and one more for acknowledgements, unless they
//! share the label; then they have the class of the group too.
//!
//! # Distance
//! DDRED needs the time to live with which the sender sent a packet (`TTL_i`) and, in its second method, the one with
//! which an earlier packet of the flow reached the destination (`TTL_f`). Its authors carry both in an option. With
//! [`Distance::Option`] they are read from [one](crate::wire::RouteOption), where a packet has it. Packets of hosts that know
//! nothing of DDRED do not. A link in the middle then uses these values instead:
//!
//! | field | source |
//! |---|---|
//! | `ttl` | the packet's own, less the routers that the scenario places before the queue (`hops_before`; on the way back `hops_after`). The link lowers it on the wire by all routers that it stands for, before and after the queue, and drops a packet whose time to live ends at one of them |
//! | `ttl_initial` | the least usual initial value (32, 64, 128, 255) that is not below what came; or given for the longest prefix that holds the source. A host that starts at 64 and is 32 hops or more away is classified as one that starts at 32 |
//! | `ttl_final` | `ttl` less the hops that the last packet of the other direction had come, on the assumption that the way on to the destination is as long as the way from there; 0, not known, until one came. The simulator's hosts write this number into packets themselves, once the sender has received it; here it is known when the first packet comes back |
//!
//! # QOSA
//! PC-RED's bit travels from one queue to the next in the IP header. The paper takes one bit of IPv6's, and does not say which.
//! With `qosa_bit` of the configuration it is the lowest bit of the code point, in both versions of IP: the code points of RFC 2474's
//! first pool, which all standard services but two (LE of RFC 8622, NQB) have, end in 0, so that code point and bit do not
//! disturb each other. The flow label would not do: hosts draw all of its bits at random.
//!
//! PC-RED needs a flow label, which every packet of IPv6 has, and the priority of a flow, which is the class of the
//! group. Linux chooses another label for a connection at a retransmission time-out (`net.core.txrehash`, 1 by
//! default); with 0 a connection keeps its label.

mod distance;
mod group;
mod label;
mod table;

use aqmlab_aqm::{Kind, Meta};
use aqmlab_units::Time;

pub use self::distance::Distance;
pub use self::group::{FlowRule, Group, Prefix};
pub use self::label::Label;
use self::table::{Key, Table};
use crate::wire::Header;

/// From which side of the link a packet came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From side a, where senders are.
    Forward,
    /// From side b.
    Reverse,
}

/// Knows the groups and the flows that were seen.
#[derive(Clone, Debug)]
pub struct Classifier {
    /// The groups of the configuration, and `other`.
    groups: Vec<Group>,
    distance: Distance,
    qosa_bit: bool,
    table: Table,
}

/// The lowest bit of a code point, which is QOSA where it travels with packets.
pub(crate) const QOSA: u8 = 1;

impl Classifier {
    /// For these groups; at most `flows` flows are known at a time.
    pub fn new(groups: &[Group], distance: Distance, flows: usize) -> Self {
        let mut classifier = Self { groups: Vec::new(), distance, qosa_bit: false, table: Table::new(flows) };
        classifier.set_groups(groups);
        classifier
    }

    /// The same with QOSA read from the lowest bit of the code point, or not.
    #[must_use]
    pub fn with_qosa_bit(self, qosa_bit: bool) -> Self {
        Self { qosa_bit, ..self }
    }

    /// Return the metadata of a packet that was read at `now`.
    #[inline]
    pub fn meta(&mut self, now: Time, direction: Direction, packet: &Header) -> Meta {
        let flow = self.flow_of(direction, packet);
        let known = self.table.get_mut(flow);
        let group = &self.groups[usize::from(known.group)];
        let passed = match direction {
            Direction::Forward => group.hops_before,
            Direction::Reverse => group.hops_after,
        };
        let (ttl, initial) = (packet.ttl.saturating_sub(passed), self.distance.initial(packet));
        let is_ack = packet.kind == Kind::Ack && !group.acks_share_label;
        let mut meta = Meta {
            arrival: now,
            bytes: packet.bytes,
            flow: flow << 1 | u32::from(is_ack),
            ..Meta::default()
        };
        let header = &mut meta.header;
        let (dscp, qosa) =
            if self.qosa_bit { (packet.dscp & !QOSA, packet.dscp & QOSA != 0) } else { (packet.dscp, false) };
        header.set_dscp(match group.dscp {
            Some(dscp) if direction == Direction::Forward && packet.kind != Kind::Ack => dscp,
            _ => dscp,
        });
        header.set_qosa(qosa);
        header.set_ecn(packet.ecn);
        header.set_kind(packet.kind);
        header.set_class(if is_ack { 0 } else { group.class });
        header.set_ttl_initial(initial);
        header.set_ttl(ttl);
        let learned = || known.to_go(direction).map_or(0, |hops| ttl.saturating_sub(hops));
        header.set_ttl_final(self.distance.carried_final(packet).unwrap_or_else(learned));
        known.has_come(direction, initial.saturating_sub(ttl));
        meta
    }

    /// From which side a packet came, where that is not known otherwise: from b if only the other direction has a group.
    pub fn direction(&self, packet: &Header) -> Direction {
        let other = (self.groups.len() - 1) as u16;
        let belongs = |a, b| group_of(&self.groups, a, b) != other;
        let Header { source, destination, .. } = *packet;
        if !belongs(source, destination) && belongs(destination, source) {
            Direction::Reverse
        } else {
            Direction::Forward
        }
    }

    /// Other groups from now on; flows keep their numbers.
    pub fn set_groups(&mut self, groups: &[Group]) {
        self.groups = groups.iter().cloned().chain([Group::other()]).collect();
        let groups = &self.groups;
        self.table.all_mut().for_each(|flow| flow.group = group_of(groups, flow.label.a, flow.label.b));
    }

    /// The groups, `other` the last of them.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The place of a flow's group in [`Classifier::groups`].
    #[inline]
    pub fn group_of(&self, flow: u32) -> usize {
        usize::from(self.table.get(flow).group)
    }

    /// How many flows had a flow's number before it.
    #[inline]
    pub fn generation(&self, flow: u32) -> u32 {
        self.table.get(flow).generation
    }

    /// The flows that are known, in the order of their numbers.
    pub fn flows(&self) -> impl ExactSizeIterator<Item = (&Group, &Label)> {
        self.table.all().map(|flow| (&self.groups[usize::from(flow.group)], &flow.label))
    }

    /// How many flows have given their number to another.
    #[inline]
    pub fn replaced(&self) -> u64 {
        self.table.replaced()
    }

    /// The number of a packet's flow.
    fn flow_of(&mut self, direction: Direction, packet: &Header) -> u32 {
        let label = Label::new(direction, packet);
        let group = group_of(&self.groups, label.a, label.b);
        let by_ports = Key::of_ports(&label);
        let rule = self.groups[usize::from(group)].flow_label;
        if rule == FlowRule::FiveTuple || packet.flow_label == 0 {
            return self.table.touch(by_ports, None, || (group, label));
        }
        let by_label = Key::of_label(&label, direction);
        match (direction, self.table.find(&by_ports)) {
            (Direction::Reverse, Some(flow)) => self.table.touch_at(flow),
            (Direction::Reverse, None) => self.table.touch(by_label, None, || (group, label)),
            (Direction::Forward, _) => self.table.touch(by_label, Some(by_ports), || (group, label)),
        }
    }
}

/// The place of the first group that holds both ends; the last one holds all.
fn group_of(groups: &[Group], a: core::net::IpAddr, b: core::net::IpAddr) -> u16 {
    let place = groups.iter().position(|group| group.holds(a, b));
    place.unwrap_or(groups.len() - 1) as u16
}
