//! DRR++ (M. MacGregor and W. Shi, "Deficits for bursty latency-critical flows: DRR++", ICON 2000): the flows of a tin in three lists.
//!
//! | set | list | meaning |
//! |---|---|---|
//! | unused | none | empty, and COBALT at rest |
//! | sparse | new | in its first quantum |
//! | sparse, waiting | old | used its quantum up and was empty then: bulk with its next packet |
//! | bulk | old | used up a quantum with packets left |
//! | decaying | decaying | empty, with a state of COBALT that decays |
//!
//! New flows are served before old ones. In each dequeue the state of one decaying flow decays before.

use super::hash::QUEUES;
use crate::disciplines::cobalt::Control;
use crate::disciplines::flow_queues::NONE;

/// State of a flow in the scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Set {
    #[default]
    Unused,
    Sparse,
    SparseWaiting,
    Bulk,
    Decaying,
}

/// A queue of a tin, without its packets.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub set: Set,
    pub deficit: i32,
    pub hosts: [u16; 2],
    pub control: Control,
    next: u32,
    before: u32,
}

/// Which list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListName {
    New,
    Old,
    Decaying,
}

#[derive(Clone, Copy, Debug)]
struct List {
    head: u32,
    tail: u32,
}

/// The flows of a tin, and their order of service. Numbers of queues count modulo [`QUEUES`], so that no access has to be checked.
#[derive(Clone, Debug)]
pub(super) struct Flows {
    flows: Box<[Flow; QUEUES]>,
    lists: [List; 3],
    /// Flows in the sets sparse and sparse-waiting, bulk, decaying.
    pub sparse: u32,
    pub bulk: u32,
    pub decaying: u32,
}

impl core::ops::Index<usize> for Flows {
    type Output = Flow;
    #[inline]
    fn index(&self, queue: usize) -> &Flow {
        &self.flows[queue % QUEUES]
    }
}

impl core::ops::IndexMut<usize> for Flows {
    #[inline]
    fn index_mut(&mut self, queue: usize) -> &mut Flow {
        &mut self.flows[queue % QUEUES]
    }
}

impl Flows {
    /// Create unused flows.
    pub fn new() -> Self {
        let flow = Flow {
            set: Set::Unused,
            deficit: 0,
            hosts: [0; 2],
            control: Control::default(),
            next: NONE,
            before: NONE,
        };
        let lists = [List { head: NONE, tail: NONE }; 3];
        Self {
            flows: Box::new(core::array::from_fn(|_| flow.clone())),
            lists,
            sparse: 0,
            bulk: 0,
            decaying: 0,
        }
    }

    /// Return the number of flows that may have packets.
    #[inline]
    pub fn active(&self) -> u32 {
        self.sparse + self.bulk
    }

    /// Move a flow to another set; the counts follow. Return its former set.
    #[inline]
    pub fn set(&mut self, queue: usize, set: Set) -> Set {
        let before = core::mem::replace(&mut self[queue].set, set);
        if let Some(count) = self.count(before) {
            *count -= 1;
        }
        if let Some(count) = self.count(set) {
            *count += 1;
        }
        before
    }

    #[inline]
    fn count(&mut self, set: Set) -> Option<&mut u32> {
        match set {
            Set::Unused => None,
            Set::Sparse | Set::SparseWaiting => Some(&mut self.sparse),
            Set::Bulk => Some(&mut self.bulk),
            Set::Decaying => Some(&mut self.decaying),
        }
    }

    /// Return the first flow of a list.
    #[inline]
    pub fn first(&self, list: ListName) -> Option<usize> {
        let head = self.lists[list as usize].head;
        (head != NONE).then_some(head as usize)
    }

    /// Return the flow to serve next and its list.
    #[inline]
    pub fn next(&self) -> Option<(usize, ListName)> {
        let list =
            if self.lists[ListName::New as usize].head == NONE { ListName::Old } else { ListName::New };
        self.first(list).map(|queue| (queue, list))
    }

    /// Append a flow to a list.
    #[inline]
    pub fn push(&mut self, list: ListName, queue: usize) {
        let List { head, tail } = &mut self.lists[list as usize];
        let flow = &mut self.flows[queue % QUEUES];
        (flow.next, flow.before) = (NONE, *tail);
        match *tail {
            NONE => *head = queue as u32,
            last => self.flows[last as usize % QUEUES].next = queue as u32,
        }
        *tail = queue as u32;
    }

    /// Move the first flow of a list to the end of another one, or of the same one.
    #[inline]
    pub fn requeue(&mut self, from: ListName, to: ListName) {
        let List { head, tail } = self.lists[from as usize];
        if from != to || head != tail {
            self.pop(from);
            self.push(to, head as usize);
        }
    }

    /// Remove the first flow from a list.
    #[inline]
    pub fn pop(&mut self, list: ListName) {
        let List { head, tail } = &mut self.lists[list as usize];
        *head = self.flows[*head as usize % QUEUES].next;
        match *head {
            NONE => *tail = NONE,
            next => self.flows[next as usize % QUEUES].before = NONE,
        }
    }

    /// Remove a flow from its list.
    #[inline]
    pub fn remove(&mut self, list: ListName, queue: usize) {
        let Flow { next, before, .. } = self.flows[queue % QUEUES];
        let List { head, tail } = &mut self.lists[list as usize];
        match before {
            NONE => *head = next,
            before => self.flows[before as usize % QUEUES].next = next,
        }
        match next {
            NONE => *tail = before,
            next => self.flows[next as usize % QUEUES].before = before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn new_flows_come_before_old_ones() {
        let mut flows = Flows::new();
        assert_eq!(flows.next(), None);
        flows.push(ListName::Decaying, 7);
        assert_eq!(flows.next(), None);
        flows.push(ListName::Old, 8);
        assert_eq!(flows.next(), Some((8, ListName::Old)));
        flows.push(ListName::New, 9);
        assert_eq!(flows.next(), Some((9, ListName::New)));
    }

    #[test]
    fn a_flow_that_is_alone_stays() {
        let mut flows = Flows::new();
        flows.push(ListName::New, 7);
        flows.requeue(ListName::New, ListName::Old);
        flows.requeue(ListName::Old, ListName::Old);
        assert_eq!(flows.next(), Some((7, ListName::Old)));
        flows.push(ListName::Old, 8);
        flows.requeue(ListName::Old, ListName::Old);
        assert_eq!((flows.first(ListName::Old), flows[8].next), (Some(8), 7));
    }

    proptest! {
        #[test]
        fn lists_are_lists(ops in prop::collection::vec((any::<bool>(), 0usize..6), 0..200)) {
            let mut flows = Flows::new();
            let mut naive: Vec<usize> = Vec::new();
            for (pushes, queue) in ops {
                match naive.iter().position(|q| *q == queue) {
                    None if pushes => {
                        flows.push(ListName::New, queue);
                        naive.push(queue);
                    }
                    Some(at) if !pushes => {
                        if at == 0 { flows.pop(ListName::New) } else { flows.remove(ListName::New, queue) }
                        naive.remove(at);
                    }
                    _ => {}
                }
                let mut seen = Vec::new();
                let mut at = flows.first(ListName::New);
                while let Some(queue) = at {
                    seen.push(queue);
                    at = (flows[queue].next != NONE).then_some(flows[queue].next as usize);
                }
                prop_assert_eq!(&seen, &naive);
            }
        }

        #[test]
        fn counts_follow_the_sets(ops in prop::collection::vec((0usize..5, 0usize..4), 0..200)) {
            const SETS: [Set; 5] = [Set::Unused, Set::Sparse, Set::SparseWaiting, Set::Bulk, Set::Decaying];
            let mut flows = Flows::new();
            for (set, queue) in ops {
                flows.set(queue, SETS[set]);
                let count = |sets: &[Set]| (0..4).filter(|queue| sets.contains(&flows[*queue].set)).count() as u32;
                prop_assert_eq!(flows.sparse, count(&[Set::Sparse, Set::SparseWaiting]));
                prop_assert_eq!((flows.bulk, flows.decaying), (count(&[Set::Bulk]), count(&[Set::Decaying])));
            }
        }
    }
}
