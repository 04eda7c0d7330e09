//! The flows that are known: a bounded table with dense numbers.
//!
//! A flow gets the next number from 0 on. When all are taken, the flow that has been idle longest gives its number to the
//! new one ([`Table::replaced`] counts); the generation distinguishes them. Hashes are deterministic, memory is taken
//! once, and a packet costs a look-up.

use hashbrown::HashTable;

use super::group::bits_of;
use super::{Direction, Label};

const NONE: u32 = u32::MAX;

/// The key of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    a: u128,
    b: u128,
    rest: Rest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// Protocol and ports.
    Ports(u8, u16, u16),
    /// Whether the flow label is that of side b, and the label.
    Label(bool, u32),
}

impl Key {
    /// The 5-tuple; the same for both directions.
    #[inline]
    pub fn of_ports(label: &Label) -> Self {
        let (a, b) = label.ports.unwrap_or_default();
        Self { a: bits_of(label.a), b: bits_of(label.b), rest: Rest::Ports(label.protocol, a, b) }
    }

    /// Addresses and flow label, which belongs to one direction.
    #[inline]
    pub fn of_label(label: &Label, direction: Direction) -> Self {
        let rest = Rest::Label(direction == Direction::Reverse, label.flow_label);
        Self { a: bits_of(label.a), b: bits_of(label.b), rest }
    }

    /// Multiplications that mix 64 bits each, the high half folded into the low one.
    #[inline]
    fn hash(&self) -> u64 {
        let rest = match self.rest {
            Rest::Ports(protocol, a, b) => u64::from(protocol) << 32 | u64::from(a) << 16 | u64::from(b),
            Rest::Label(of_b, label) => 1 << 40 | u64::from(of_b) << 32 | u64::from(label),
        };
        let words = [self.a as u64, (self.a >> 64) as u64, self.b as u64, (self.b >> 64) as u64, rest];
        words.into_iter().fold(0x2545_f491_4f6c_dd1d, |hash, word| {
            let product = u128::from(hash ^ word) * 0x9e37_79b9_7f4a_7c15;
            (product >> 64) as u64 ^ product as u64
        })
    }
}

/// A flow that is known.
#[derive(Clone, Debug)]
pub(super) struct Known {
    key: Key,
    /// A second key, by which replies find it.
    alias: Option<Key>,
    /// How many flows had its number before.
    pub generation: u32,
    /// Place of its group.
    pub group: u16,
    pub label: Label,
    /// Hops that the last packet of each direction had come.
    come: [Option<u8>; 2],
    older: u32,
    newer: u32,
}

impl Known {
    /// A packet of this direction had come so many hops.
    #[inline]
    pub fn has_come(&mut self, direction: Direction, hops: u8) {
        self.come[direction as usize] = Some(hops);
    }

    /// The hops that a packet of this direction has to go, if that is known.
    #[inline]
    pub fn to_go(&self, direction: Direction) -> Option<u8> {
        self.come[1 - direction as usize]
    }
}

/// The table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// Numbers by key, doubled; by alias one more.
    index: HashTable<u32>,
    flows: Vec<Known>,
    oldest: u32,
    newest: u32,
    bound: usize,
    replaced: u64,
}

impl Table {
    /// For at most so many flows, at least one.
    pub fn new(bound: usize) -> Self {
        let bound = bound.max(1);
        Self {
            // A key and an alias a flow, and twice that: so that tidying up after removals never needs more room.
            index: HashTable::with_capacity(4 * bound),
            flows: Vec::with_capacity(bound),
            oldest: NONE,
            newest: NONE,
            bound,
            replaced: 0,
        }
    }

    pub fn get(&self, flow: u32) -> &Known {
        &self.flows[flow as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, flow: u32) -> &mut Known {
        &mut self.flows[flow as usize]
    }

    pub fn all(&self) -> impl ExactSizeIterator<Item = &Known> {
        self.flows.iter()
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Known> {
        self.flows.iter_mut()
    }

    pub fn replaced(&self) -> u64 {
        self.replaced
    }

    /// The flow with this key or alias.
    #[inline]
    pub fn find(&self, key: &Key) -> Option<u32> {
        let found = self.index.find(key.hash(), |&entry| keys(&self.flows, entry) == Some(key));
        found.map(|entry| entry >> 1)
    }

    /// Return the flow with this key, which is seen now; create it from `new` (group and label) if it is missing.
    /// Replies find it by `alias`.
    #[inline]
    pub fn touch(&mut self, key: Key, alias: Option<Key>, new: impl FnOnce() -> (u16, Label)) -> u32 {
        let flow = match self.find(&key) {
            Some(flow) => self.touch_at(flow),
            None => {
                let (group, label) = new();
                self.enter(key, group, label)
            }
        };
        if alias.is_some() && self.get(flow).alias != alias {
            self.set_alias(flow, alias);
        }
        flow
    }

    /// A flow is seen now.
    #[inline]
    pub fn touch_at(&mut self, flow: u32) -> u32 {
        if self.newest != flow {
            self.unlink(flow);
            self.link(flow);
        }
        flow
    }

    fn enter(&mut self, key: Key, group: u16, label: Label) -> u32 {
        let mut known = Known {
            key,
            alias: None,
            generation: 0,
            group,
            label,
            come: [None; 2],
            older: NONE,
            newer: NONE,
        };
        let flow = if self.flows.len() < self.bound {
            self.flows.push(known);
            self.flows.len() as u32 - 1
        } else {
            let flow = self.oldest;
            self.set_alias(flow, None);
            self.remove(flow << 1);
            self.unlink(flow);
            known.generation = self.get(flow).generation.wrapping_add(1);
            self.flows[flow as usize] = known;
            self.replaced += 1;
            flow
        };
        self.insert(flow << 1);
        self.link(flow);
        flow
    }

    /// Gives a flow this alias in place of another; a flow that had it has none any more. A key is never an alias.
    fn set_alias(&mut self, flow: u32, alias: Option<Key>) {
        if self.get(flow).alias.is_some() {
            self.remove(flow << 1 | 1);
            self.get_mut(flow).alias = None;
        }
        let Some(alias) = alias else { return };
        if let Some(other) = self.find(&alias) {
            if self.get(other).key == alias {
                return;
            }
            self.remove(other << 1 | 1);
            self.get_mut(other).alias = None;
        }
        self.get_mut(flow).alias = Some(alias);
        self.insert(flow << 1 | 1);
    }

    fn insert(&mut self, entry: u32) {
        let flows = &self.flows;
        let hash = |&entry: &u32| keys(flows, entry).map_or(0, Key::hash);
        self.index.insert_unique(hash(&entry), entry, hash);
    }

    fn remove(&mut self, entry: u32) {
        let hash = keys(&self.flows, entry).map_or(0, Key::hash);
        if let Ok(place) = self.index.find_entry(hash, |&other| other == entry) {
            place.remove();
        }
    }

    fn unlink(&mut self, flow: u32) {
        let Known { older, newer, .. } = self.flows[flow as usize];
        match self.flows.get_mut(older as usize) {
            Some(known) => known.newer = newer,
            None => self.oldest = newer,
        }
        match self.flows.get_mut(newer as usize) {
            Some(known) => known.older = older,
            None => self.newest = older,
        }
    }

    fn link(&mut self, flow: u32) {
        let older = core::mem::replace(&mut self.newest, flow);
        match self.flows.get_mut(older as usize) {
            Some(known) => known.newer = flow,
            None => self.oldest = flow,
        }
        let known = &mut self.flows[flow as usize];
        (known.older, known.newer) = (older, NONE);
    }
}

/// Key or alias of an entry of the index.
#[inline]
fn keys(flows: &[Known], entry: u32) -> Option<&Key> {
    let known = &flows[(entry >> 1) as usize];
    if entry & 1 == 0 { Some(&known.key) } else { known.alias.as_ref() }
}

#[cfg(test)]
mod tests {
    use core::net::{IpAddr, Ipv4Addr};

    use super::*;
    use proptest::prelude::*;

    fn label(port: u16) -> Label {
        let address = |last| IpAddr::V4(Ipv4Addr::new(10, 0, 0, last));
        Label { a: address(1), b: address(2), ports: Some((port, 80)), protocol: 6, flow_label: 0 }
    }

    fn key(port: u16) -> Key {
        Key::of_ports(&label(port))
    }

    #[test]
    fn the_longest_idle_gives_its_number_away() {
        let mut table = Table::new(2);
        let mut touch = |port| table.touch(key(port), None, || (0, label(port)));
        assert_eq!([1, 2, 1, 3, 1, 2].map(&mut touch), [0, 1, 0, 1, 0, 1]);
        assert_eq!((table.replaced(), table.find(&key(3)), table.all().len()), (2, None, 2));
        assert_eq!([0, 1].map(|flow| table.get(flow).generation), [0, 2]);
    }

    #[test]
    fn an_alias_belongs_to_the_last_that_took_it() {
        let mut table = Table::new(4);
        let reply = Some(key(9));
        let mut touch = |port, alias| table.touch(key(port), alias, || (0, label(port)));
        let (first, second) = (touch(1, reply), touch(2, reply));
        assert_eq!(table.find(&key(9)), Some(second));
        assert_eq!(table.touch(key(1), reply, || unreachable!("known")), first);
        assert_eq!(table.find(&key(9)), Some(first));
        // A key of its own is no alias any more.
        let third = table.touch(key(3), Some(key(2)), || (0, label(3)));
        assert_ne!(table.find(&key(2)), Some(third));
    }

    proptest! {
        #[test]
        fn the_table_is_what_a_list_would_be(ops in prop::collection::vec((0u16..12, prop::option::of(12u16..18)), 0..300)) {
            let mut table = Table::new(5);
            let room = table.index.capacity();
            // Flows in the order in which they were last seen: key, alias, number.
            let mut list: Vec<(u16, Option<u16>, u32)> = Vec::new();
            for (port, alias) in ops {
                let expected = match list.iter().position(|(known, ..)| *known == port) {
                    Some(place) => list.remove(place),
                    None if list.len() < 5 => (port, None, list.len() as u32),
                    None => (port, None, list.remove(0).2),
                };
                if alias.is_some() {
                    list.iter_mut().filter(|other| other.1 == alias).for_each(|other| other.1 = None);
                }
                list.push((port, alias.or(expected.1), expected.2));
                let flow = table.touch(key(port), alias.map(key), || (0, label(port)));
                prop_assert_eq!(flow, expected.2);
                for (port, alias, number) in &list {
                    prop_assert_eq!(table.find(&key(*port)), Some(*number));
                    prop_assert_eq!(alias.and_then(|alias| table.find(&key(alias))), alias.map(|_| *number));
                }
                let aliases = list.iter().filter(|(_, alias, _)| alias.is_some()).count();
                prop_assert_eq!((table.index.len(), table.index.capacity()), (list.len() + aliases, room));
            }
        }
    }
}
