use aqmlab_units::{Span, Time};
use hashbrown::HashTable;

use crate::LEVELS;
use crate::{Kind, Meta};

/// No entry.
const NONE: u32 = u32::MAX;

/// PC-RED's state of a flow (its section 2.1).
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Flow label.
    pub flow: u32,
    /// L in bytes per interval; infinite for flows without priority.
    pub limit: f64,
    /// Priority level that the limit is of, 0 without priority.
    pub level: u8,
    /// a_d, average size of the drops in bytes per interval, as of `last_drop`.
    pub a_d: f64,
    /// When the flow last lost a packet; at first, when it was listed.
    pub last_drop: Time,
    /// Whether a_d exceeds L: the flow's packets are protected.
    pub protected: bool,
    /// It has carried acknowledgements alone, and is no flow to count.
    pub acks: bool,
    /// The class of its packets: the level that it asks for, whether or not it has it.
    pub asks: u8,
    seen: Time,
    older: u32,
    newer: u32,
}

impl Entry {
    /// Whether the flow has priority.
    pub fn has_priority(&self) -> bool {
        self.limit.is_finite()
    }
}

/// How the list is kept.
#[derive(Clone, Debug)]
pub struct ListParams {
    /// L of high-priority flows.
    pub limits: Limits,
    /// a_d of a flow that gets its priority, as a share of its L.
    pub start: f64,
    /// Most flows in the list.
    pub size: u32,
    /// A flow not seen for so long is forgotten.
    pub timeout: Option<Span>,
    /// Largest share of high-priority flows.
    pub r_p_max: f64,
    /// What becomes of flows beyond that share.
    pub over_share: OverShare,
}

/// The treatment of high-priority flows beyond the largest share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverShare {
    /// They are only counted.
    Counted,
    /// They have no priority.
    Refused,
    /// Their packets go over the backup of the link.
    Redirected,
}

impl ListParams {
    /// r_p_max times 2^32, rounded up: shares of less than 2^16 flows compare with it as they do with `r_p_max`.
    pub fn share(&self) -> u64 {
        libm::ceil(self.r_p_max * libm::exp2(32.0)) as u64
    }
}

/// L in bytes per interval, for each priority level from 1.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    of: [f64; LEVELS],
    levels: u8,
}

impl Limits {
    /// Of these levels, the first for level 1: at least one, and all above [`LEVELS`] are left out.
    pub fn new(limits: &[f64]) -> Self {
        let levels = limits.len().min(LEVELS);
        let of = core::array::from_fn(|i| limits.get(i).copied().unwrap_or(f64::INFINITY));
        Self { of, levels: levels as u8 }
    }

    /// These limits, each changed.
    #[must_use]
    pub fn map(self, change: impl Fn(f64) -> f64) -> Self {
        let limits: Vec<_> = self.of[..usize::from(self.levels)].iter().map(|&limit| change(limit)).collect();
        Self::new(&limits)
    }

    /// How many levels have a limit.
    pub fn levels(&self) -> u8 {
        self.levels
    }

    /// The level that packets of this class ask for; a class above the last level asks for that.
    fn level(&self, class: u8) -> u8 {
        class.min(self.levels)
    }

    /// L of a level; infinite for level 0, which is no priority.
    pub fn limit(&self, level: u8) -> f64 {
        usize::from(level).checked_sub(1).map_or(f64::INFINITY, |i| self.of[i])
    }
}

/// PC-RED's priority list: flows by label, bounded in size.
///
/// A flow has the limit of the level that the class of its packets asked for when it was given priority, and keeps it as
/// long as it is in the list.
///
/// A flow label that is not in the list is entered; when the list is full the flow that was not seen for the longest
/// time makes room, flows without priority first. So a flood of labels costs memory for `size` flows and takes no
/// high-priority flow its place.
#[derive(Clone, Debug)]
pub struct PriorityList {
    params: ListParams,
    index: HashTable<u32>,
    entries: Vec<Entry>,
    /// Per kind of flow (without and with priority) the oldest and the newest.
    ends: [(u32, u32); 2],
    /// Flows, and high-priority flows among them; acknowledgements are none.
    flows: u32,
    priority: u32,
    over: u64,
}

impl PriorityList {
    /// An empty list.
    pub fn new(params: ListParams) -> Self {
        let ends = [(NONE, NONE); 2];
        let (index, entries) = (HashTable::new(), Vec::new());
        Self { params, index, entries, ends, flows: 0, priority: 0, over: 0 }
    }

    /// Return the entry of an arriving packet's flow; create it if it is missing.
    pub fn lookup(&mut self, now: Time, meta: &Meta) -> &mut Entry {
        self.find(now, meta, true)
    }

    /// The entry of a dropped packet's flow. The packet was counted when it arrived.
    pub fn lookup_dropped(&mut self, now: Time, meta: &Meta) -> &mut Entry {
        self.find(now, meta, false)
    }

    /// Whether a flow is in the list and protected.
    pub fn is_protected(&self, flow: u32) -> bool {
        self.id_of(flow).is_some_and(|id| self.entries[id as usize].protected)
    }

    fn id_of(&self, flow: u32) -> Option<u32> {
        self.index.find(hash(flow), |&i| self.entries[i as usize].flow == flow).copied()
    }

    fn find(&mut self, now: Time, meta: &Meta, arrives: bool) -> &mut Entry {
        self.forget(now);
        let found = self.id_of(meta.flow);
        let id = match found {
            Some(id) => id,
            None => self.enter(now, meta),
        };
        self.note_data(id, meta);
        self.admit(id, meta, arrives);
        self.touch(id);
        let entry = &mut self.entries[id as usize];
        entry.seen = now;
        entry
    }

    /// All entries.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Flows in the list, high-priority flows among them, and arriving packets of flows beyond r_p_max.
    pub fn counts(&self) -> (u32, u32, u64) {
        (self.flows, self.priority, self.over)
    }

    fn enter(&mut self, now: Time, meta: &Meta) -> u32 {
        if self.entries.len() < self.params.size as usize {
            self.entries.push(Entry {
                flow: 0,
                limit: f64::INFINITY,
                level: 0,
                a_d: 0.0,
                last_drop: now,
                protected: false,
                acks: false,
                asks: 0,
                seen: now,
                older: NONE,
                newer: NONE,
            });
            let id = self.entries.len() as u32 - 1;
            return self.put(id, now, meta);
        }
        let oldest = if self.ends[0].0 == NONE { self.ends[1].0 } else { self.ends[0].0 };
        self.take_out(oldest);
        self.put(oldest, now, meta)
    }

    fn put(&mut self, id: u32, now: Time, meta: &Meta) -> u32 {
        let acks = meta.header.kind() == Kind::Ack;
        let entry = &mut self.entries[id as usize];
        *entry = Entry {
            flow: meta.flow,
            limit: f64::INFINITY,
            level: 0,
            a_d: 0.0,
            last_drop: now,
            protected: false,
            acks,
            asks: if acks { 0 } else { meta.header.class() },
            seen: now,
            older: NONE,
            newer: NONE,
        };
        self.flows += u32::from(!acks);
        let entries = &self.entries;
        self.index.insert_unique(hash(meta.flow), id, |&i| hash(entries[i as usize].flow));
        self.link(id);
        id
    }

    /// A label that carries data is a flow to count, whatever else it carries.
    fn note_data(&mut self, id: u32, meta: &Meta) {
        let entry = &mut self.entries[id as usize];
        if entry.acks && meta.header.kind() != Kind::Ack {
            entry.acks = false;
            entry.asks = meta.header.class();
            self.flows += 1;
            self.priority += u32::from(entry.has_priority());
        }
    }

    /// Gives a flow the priority that it asks for, as far as r_p_max allows.
    fn admit(&mut self, id: u32, meta: &Meta, arrives: bool) {
        let entry = &self.entries[id as usize];
        if meta.header.class() == 0 || entry.has_priority() {
            return;
        }
        if u64::from(self.priority + 1) << 32 > self.params.share() * u64::from(self.flows.max(1)) {
            self.over += u64::from(arrives);
            if self.params.over_share != OverShare::Counted {
                return;
            }
        }
        self.unlink(id);
        let entry = &mut self.entries[id as usize];
        entry.level = self.params.limits.level(meta.header.class());
        entry.limit = self.params.limits.limit(entry.level);
        entry.a_d = entry.limit * self.params.start;
        self.priority += u32::from(!entry.acks);
        self.link(id);
    }

    /// Forgets the flows that were not seen for longer than the time-out.
    fn forget(&mut self, now: Time) {
        let Some(timeout) = self.params.timeout else { return };
        for kind in 0..2 {
            while let Some(oldest) = self.entries.get(self.ends[kind].0 as usize)
                && oldest.seen + timeout < now
            {
                self.drop_entry(self.ends[kind].0);
            }
        }
    }

    /// Takes an entry out and closes the gap in the array.
    fn drop_entry(&mut self, id: u32) {
        self.take_out(id);
        let last = self.entries.len() as u32 - 1;
        if id != last {
            let moved = self.entries[last as usize];
            self.entries[id as usize] = moved;
            for (neighbour, side) in [(moved.older, 1), (moved.newer, 0)] {
                match self.entries.get_mut(neighbour as usize) {
                    Some(e) if side == 1 => e.newer = id,
                    Some(e) => e.older = id,
                    None => {}
                }
            }
            let ends = &mut self.ends[usize::from(moved.has_priority())];
            if ends.0 == last {
                ends.0 = id;
            }
            if ends.1 == last {
                ends.1 = id;
            }
            if let Some(place) = self.index.find_mut(hash(moved.flow), |&i| i == last) {
                *place = id;
            }
        }
        self.entries.pop();
    }

    fn take_out(&mut self, id: u32) {
        self.unlink(id);
        let entry = self.entries[id as usize];
        self.flows -= u32::from(!entry.acks);
        self.priority -= u32::from(!entry.acks && entry.has_priority());
        if let Ok(place) = self.index.find_entry(hash(entry.flow), |&i| i == id) {
            place.remove();
        }
    }

    /// Make an entry the newest of its kind.
    fn touch(&mut self, id: u32) {
        if self.entries[id as usize].newer != NONE {
            self.unlink(id);
            self.link(id);
        }
    }

    fn unlink(&mut self, id: u32) {
        let Entry { older, newer, .. } = self.entries[id as usize];
        let ends = &mut self.ends[usize::from(self.entries[id as usize].has_priority())];
        match self.entries.get_mut(older as usize) {
            Some(e) => e.newer = newer,
            None => ends.0 = newer,
        }
        match self.entries.get_mut(newer as usize) {
            Some(e) => e.older = older,
            None => ends.1 = older,
        }
    }

    fn link(&mut self, id: u32) {
        let ends = &mut self.ends[usize::from(self.entries[id as usize].has_priority())];
        let older = core::mem::replace(&mut ends.1, id);
        if ends.0 == NONE {
            ends.0 = id;
        }
        if let Some(e) = self.entries.get_mut(older as usize) {
            e.newer = id;
        }
        let entry = &mut self.entries[id as usize];
        (entry.older, entry.newer) = (older, NONE);
    }
}

/// Fibonacci hashing, its high half folded into the low one: labels are often consecutive even numbers.
fn hash(flow: u32) -> u64 {
    let product = u64::from(flow).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    product ^ (product >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Header;
    use proptest::prelude::*;

    const LIMITS: Limits = Limits { of: [70.0, 300.0, 20.0, 0.0, 0.0, 0.0, 0.0, 0.0], levels: 3 };
    const PARAMS: ListParams = ListParams {
        limits: LIMITS,
        start: 0.5,
        size: 4,
        timeout: None,
        r_p_max: 1.0,
        over_share: OverShare::Counted,
    };

    fn of(flow: u32, class: u8) -> Meta {
        Meta { flow, header: Header::default().with_class(class), ..Meta::default() }
    }

    fn listed(list: &PriorityList) -> Vec<u32> {
        let mut flows: Vec<_> = list.entries().map(|e| e.flow).collect();
        flows.sort_unstable();
        flows
    }

    #[test]
    fn a_new_flow_starts_at_half_its_limit() {
        let mut list = PriorityList::new(PARAMS);
        let e = *list.lookup(Time(5), &of(1, 1));
        assert_eq!((e.limit, e.a_d, e.protected, e.last_drop), (70.0, 35.0, false, Time(5)));
        let e = *list.lookup(Time(6), &of(2, 0));
        assert_eq!((e.limit, e.a_d, e.last_drop), (f64::INFINITY, 0.0, Time(6)));
        assert_eq!(list.counts(), (2, 1, 0));
    }

    #[test]
    fn each_flow_has_the_limit_of_its_level() {
        let mut list = PriorityList::new(ListParams { size: 6, ..PARAMS });
        let mut limits = |flow, class| {
            let e = *list.lookup(Time(1), &of(flow, class));
            (e.level, e.limit, e.a_d)
        };
        assert_eq!([limits(1, 1), limits(2, 2)], [(1, 70.0, 35.0), (2, 300.0, 150.0)]);
        assert_eq!([limits(3, 3), limits(6, 0)], [(3, 20.0, 10.0), (0, f64::INFINITY, 0.0)]);
        // Above the last level there is the last.
        assert_eq!([limits(4, 4), limits(5, 255)], [(3, 20.0, 10.0); 2]);
        // A flow keeps its limit, whatever the class of its next packet.
        assert_eq!([limits(2, 1), limits(2, 0)], [(2, 300.0, 150.0); 2]);
        // It may have none at first.
        assert_eq!(limits(6, 2), (2, 300.0, 150.0));
        assert_eq!(list.counts(), (6, 6, 0));
    }

    #[test]
    fn a_single_limit_is_that_of_every_level() {
        let limits = Limits::new(&[70.0]);
        assert_eq!((limits.levels(), limits.level(0), limits.level(1), limits.level(9)), (1, 0, 1, 1));
        let limits = Limits::new(&[5.0; LEVELS + 1]);
        assert_eq!((limits.levels(), limits.limit(LEVELS as u8)), (LEVELS as u8, 5.0));
    }

    #[test]
    fn a_flood_of_labels_takes_no_memory_and_no_priority() {
        let mut list = PriorityList::new(PARAMS);
        list.lookup(Time(0), &of(1, 1)).a_d = 50.0;
        for flow in 2..10_000 {
            list.lookup(Time(u64::from(flow)), &of(flow, 0));
        }
        assert_eq!(listed(&list), [1, 9997, 9998, 9999]);
        assert_eq!(list.lookup(Time(10_000), &of(1, 1)).a_d, 50.0);
        assert_eq!(list.counts(), (4, 1, 0));
    }

    #[test]
    fn flows_not_seen_are_forgotten() {
        let mut list = PriorityList::new(ListParams { timeout: Some(Span(10)), ..PARAMS });
        list.lookup(Time(0), &of(1, 1));
        list.lookup(Time(5), &of(2, 0));
        list.lookup(Time(10), &of(3, 0));
        assert_eq!(listed(&list), [1, 2, 3]);
        list.lookup(Time(15), &of(3, 0));
        assert_eq!(listed(&list), [2, 3]);
        assert_eq!(list.counts(), (2, 0, 0));
    }

    #[test]
    fn the_share_of_priority_is_limited() {
        let params = ListParams { r_p_max: 0.5, over_share: OverShare::Refused, ..PARAMS };
        let mut list = PriorityList::new(params.clone());
        assert!(!list.lookup(Time(0), &of(1, 1)).has_priority());
        list.lookup(Time(1), &of(2, 0));
        assert!(list.lookup(Time(2), &of(1, 1)).has_priority());
        assert!(!list.lookup(Time(3), &of(3, 1)).has_priority());
        assert_eq!(list.counts(), (3, 1, 2));
        let mut list = PriorityList::new(ListParams { over_share: OverShare::Counted, ..params });
        assert!(list.lookup(Time(0), &of(1, 1)).has_priority());
        assert_eq!(list.counts(), (1, 1, 1));
    }

    #[test]
    fn a_rejected_packet_that_is_dropped_counts_once() {
        let mut list =
            PriorityList::new(ListParams { r_p_max: 0.5, over_share: OverShare::Refused, ..PARAMS });
        list.lookup(Time(0), &of(1, 1));
        list.lookup_dropped(Time(1), &of(1, 1));
        assert_eq!(list.counts(), (1, 0, 1));
    }

    proptest! {
        #[test]
        fn size_links_and_counts_stay_right(
            ops in prop::collection::vec((0u32..12, 0u8..4, 0u64..8, any::<bool>()), 0..300),
            timeout in prop::option::of(1u64..30),
        ) {
            let mut list = PriorityList::new(ListParams { timeout: timeout.map(Span), ..PARAMS });
            let mut now = 0;
            // Level and a_d of each flow as they were last written.
            let mut written = std::collections::BTreeMap::new();
            for (flow, class, gap, acks) in ops {
                now += gap;
                let kind = if acks { Kind::Ack } else { Kind::Data };
                let mut meta = of(flow, class);
                meta.header.set_kind(kind);
                let before: Vec<u32> = list.entries().map(|e| e.flow).collect();
                let e = list.lookup(Time(now), &meta);
                prop_assert_eq!(e.flow, meta.flow);
                // A flow that stays in the list keeps its level and its a_d; a new one has the level that it asks for.
                let fresh = (class, if class == 0 { 0.0 } else { LIMITS.of[usize::from(class) - 1] / 2.0 });
                let old = written.get(&flow).filter(|_| before.contains(&flow)).copied();
                let is_forgotten = timeout.is_some() && (e.level, e.a_d) == fresh;
                match old.filter(|old: &(u8, f64)| old.0 > 0 || class == 0) {
                    Some(old) => prop_assert!((e.level, e.a_d) == old || is_forgotten),
                    None => prop_assert_eq!((e.level, e.a_d), fresh),
                }
                e.a_d += 1.0;
                written.insert(flow, (e.level, e.a_d));
                for e in list.entries() {
                    prop_assert_eq!(e.limit, LIMITS.limit(e.level));
                    prop_assert_eq!((e.level, e.a_d), written[&e.flow]);
                }
                prop_assert!(list.entries.len() <= 4);
                prop_assert_eq!(list.index.len(), list.entries.len());
                let flows = list.entries().filter(|e| !e.acks).count() as u32;
                let priority = list.entries().filter(|e| !e.acks && e.has_priority()).count() as u32;
                prop_assert_eq!((list.counts().0, list.counts().1), (flows, priority));
                let mut chained = 0;
                for (oldest, newest) in list.ends {
                    let (mut at, mut last, mut seen) = (oldest, NONE, Time::ZERO);
                    while at != NONE {
                        let e = list.entries[at as usize];
                        prop_assert!(e.older == last && e.seen >= seen);
                        (last, seen, at, chained) = (at, e.seen, e.newer, chained + 1);
                    }
                    prop_assert_eq!(last, newest);
                }
                prop_assert_eq!(chained, list.entries.len());
            }
        }
    }
}
