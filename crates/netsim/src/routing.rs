//! Shortest paths by number of links; of several, the one over the link of the lowest number at the first difference,
//! seen from the source, or one that is drawn router by router. Detours around links that are down.
//!
//! One search for every node that paths end at, back from there and only as far as the sources asked for. Hosts with a
//! single neighbour are left out of it, so that a dumbbell of any number of flows costs one search over its two routers.

use std::collections::{BTreeMap, VecDeque};

use aqmlab_units::Stream;

use crate::plan::{BackupRule, LinkId, NodeId, Plan};

/// Stands for no link, and for a distance that is not known.
const NONE: u32 = u32::MAX;

/// Finds paths in one plan.
pub struct Routes<'a> {
    plan: &'a Plan,
    /// The only link into a node, and out of it, where there is just one.
    only_in: Vec<LinkId>,
    only_out: Vec<LinkId>,
    /// Links out of a node and into it, in the order of their numbers, with the node at the other end; without those of
    /// hosts with a single neighbour.
    out: Adjacency,
    into: Adjacency,
    search: Search,
    searches: usize,
}

impl<'a> Routes<'a> {
    /// Routes of a plan.
    pub fn new(plan: &'a Plan) -> Self {
        let nodes = plan.nodes.len();
        let only_in = only(nodes, plan.links.iter().map(|l| l.to));
        let only_out = only(nodes, plan.links.iter().map(|l| l.from));
        let leaf = |node: NodeId| {
            let (into, out) = (only_in[node as usize], only_out[node as usize]);
            into < NONE && out < NONE && plan.links[into as usize].from == plan.links[out as usize].to
        };
        let inner = || (0..).zip(&*plan.links).filter(|(_, l)| !leaf(l.from) && !leaf(l.to));
        let out = Adjacency::new(nodes, inner().map(|(id, l)| (l.from, l.to, id)));
        let into = Adjacency::new(nodes, inner().map(|(id, l)| (l.to, l.from, id)));
        Self { plan, only_in, only_out, out, into, search: Search::new(nodes), searches: 0 }
    }

    /// The links from `from` to `to`; empty when they are the same node, `None` when there is no path.
    pub fn path(&mut self, from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
        let mut links = Vec::new();
        self.append(from, to, None, &mut links).then_some(links)
    }

    /// The same for many pairs, with one search for each node that paths end at.
    pub fn paths(&mut self, pairs: &[(NodeId, NodeId)]) -> Routed {
        self.paths_drawn(pairs, |_| None)
    }

    /// The same, with the stream by which one of several shortest paths of a pair is drawn.
    pub(crate) fn paths_drawn(
        &mut self,
        pairs: &[(NodeId, NodeId)],
        stream: impl Fn(usize) -> Option<Stream>,
    ) -> Routed {
        let mut order: Vec<u32> = (0..pairs.len() as u32).collect();
        order.sort_by_key(|&i| self.end(pairs[i as usize].1).0);
        let mut routed = Routed { links: Vec::new(), spans: vec![None; pairs.len()] };
        for i in order {
            let ((from, to), start) = (pairs[i as usize], routed.links.len());
            if self.append(from, to, stream(i as usize), &mut routed.links) {
                routed.spans[i as usize] = Some((start, routed.links.len()));
            }
        }
        routed
    }

    /// How many searches there have been.
    pub fn searches(&self) -> usize {
        self.searches
    }

    /// A node with one way in is reached by it: the node to search for instead, and that link.
    fn end(&self, to: NodeId) -> (NodeId, Option<LinkId>) {
        match self.only_in[to as usize] {
            NONE => (to, None),
            link => (self.plan.links[link as usize].from, Some(link)),
        }
    }

    /// Adds the links of a path, if there is one.
    fn append(
        &mut self,
        from: NodeId,
        to: NodeId,
        mut stream: Option<Stream>,
        links: &mut Vec<LinkId>,
    ) -> bool {
        if from == to {
            return true;
        }
        let ((end, last), length) = (self.end(to), links.len());
        let mut here = from;
        if here != end && self.only_out[here as usize] < NONE {
            let first = self.only_out[here as usize];
            links.push(first);
            here = self.plan.links[first as usize].to;
        }
        if here != end {
            if self.search.end != Some(end) {
                self.search.begin(end);
                self.searches += 1;
            }
            if !self.search.reach(here, &self.into) {
                links.truncate(length);
                return false;
            }
        }
        while here != end {
            let (link, next) = match &mut stream {
                Some(stream) => self.search.draw(here, &self.out, stream),
                None => self.search.next(here, &self.out),
            };
            links.push(link);
            here = next;
        }
        links.extend(last);
        true
    }
}

/// Paths by the place of their pair.
#[derive(Clone, Debug)]
pub struct Routed {
    links: Vec<LinkId>,
    spans: Vec<Option<(usize, usize)>>,
}

impl Routed {
    /// The path of the pair in this place, as [`Routes::path`] has it.
    pub fn get(&self, pair: usize) -> Option<&[LinkId]> {
        self.spans[pair].map(|(start, end)| &self.links[start..end])
    }
}

/// The only link by node, [`NONE`] where there are none or several; `nodes_of_links` has the node of each.
fn only(nodes: usize, nodes_of_links: impl Iterator<Item = NodeId>) -> Vec<LinkId> {
    let (mut only, mut seen) = (vec![NONE; nodes], vec![false; nodes]);
    for (link, node) in (0..).zip(nodes_of_links) {
        let first = !core::mem::replace(&mut seen[node as usize], true);
        only[node as usize] = if first { link } else { NONE };
    }
    only
}

/// The neighbours of all nodes, in one array.
struct Adjacency {
    starts: Vec<u32>,
    /// The nodes at the other ends, and the links.
    neighbours: Vec<NodeId>,
    links: Vec<LinkId>,
}

impl Adjacency {
    /// From links as (node, neighbour, number).
    fn new(nodes: usize, links: impl Iterator<Item = (NodeId, NodeId, LinkId)> + Clone) -> Self {
        let mut starts = vec![0; nodes + 1];
        links.clone().for_each(|(node, _, _)| starts[node as usize + 1] += 1);
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let (mut free, all) = (starts.clone(), starts[nodes] as usize);
        let mut sorted = Self { starts, neighbours: vec![0; all], links: vec![0; all] };
        for (node, neighbour, link) in links {
            let place = &mut free[node as usize];
            sorted.neighbours[*place as usize] = neighbour;
            sorted.links[*place as usize] = link;
            *place += 1;
        }
        sorted
    }

    fn of(&self, node: NodeId) -> core::ops::Range<usize> {
        self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize
    }
}

/// A breadth-first search back from one node, which goes on where it stopped.
struct Search {
    end: Option<NodeId>,
    /// Links to the end, by node.
    distances: Vec<u32>,
    /// The link that a path takes, once it has been looked for, and where that leads.
    next: Vec<(LinkId, NodeId)>,
    /// Nodes by distance, as far as they are found; those from `looked` on have neighbours that may not be. With a place
    /// more than there are nodes.
    order: Vec<NodeId>,
    found: usize,
    looked: usize,
}

impl Search {
    fn new(nodes: usize) -> Self {
        let (distances, next) = (vec![NONE; nodes], vec![(NONE, 0); nodes]);
        Self { end: None, distances, next, order: vec![0; nodes + 1], found: 0, looked: 0 }
    }

    fn begin(&mut self, end: NodeId) {
        for &node in &self.order[..self.found] {
            self.distances[node as usize] = NONE;
            self.next[node as usize] = (NONE, 0);
        }
        self.distances[end as usize] = 0;
        self.order[0] = end;
        (self.end, self.found, self.looked) = (Some(end), 1, 0);
    }

    /// Goes on until the distance of `node` is known; whether there is a path from there.
    fn reach(&mut self, node: NodeId, into: &Adjacency) -> bool {
        let (distances, order, mut found) = (&mut self.distances[..], &mut self.order[..], self.found);
        while distances[node as usize] == NONE && self.looked < found {
            let here = order[self.looked];
            self.looked += 1;
            let distance = distances[here as usize] + 1;
            for &neighbour in &into.neighbours[into.of(here)] {
                // Whether a node is found for the first time is as good as random: nothing branches on it.
                let known = &mut distances[neighbour as usize];
                let is_new = *known == NONE;
                *known = distance.min(*known);
                order[found] = neighbour;
                found += usize::from(is_new);
            }
        }
        self.found = found;
        distances[node as usize] < NONE
    }

    /// As [`Search::next`], but drawn from all links that bring a path nearer to its end.
    fn draw(&self, node: NodeId, out: &Adjacency, stream: &mut Stream) -> (LinkId, NodeId) {
        let nearer = self.distances[node as usize] - 1;
        let all = || {
            let places = out.of(node);
            places.filter(|&place| self.distances[out.neighbours[place] as usize] == nearer)
        };
        let count = all().count() as u64;
        let drawn = if count > 1 { stream.below(count) as usize } else { 0 };
        all().nth(drawn).map_or((NONE, 0), |place| (out.links[place], out.neighbours[place]))
    }

    /// The link of the lowest number that brings a path from `node`, which has been reached, nearer to its end, and the
    /// node it leads to.
    fn next(&mut self, node: NodeId, out: &Adjacency) -> (LinkId, NodeId) {
        let known = &mut self.next[node as usize];
        if known.0 == NONE {
            let nearer = self.distances[node as usize] - 1;
            let mut places = out.of(node);
            let place = places.find(|&place| self.distances[out.neighbours[place] as usize] == nearer);
            *known = place.map_or(*known, |place| (out.links[place], out.neighbours[place]));
        }
        *known
    }
}

/// Finds detours around links of one plan that may be down.
pub struct Detours<'a> {
    plan: &'a Plan,
    /// Links out of each node.
    out: BTreeMap<NodeId, Vec<LinkId>>,
    /// The link by which each node is reached, from a node without some links.
    trees: BTreeMap<(NodeId, Vec<LinkId>), BTreeMap<NodeId, LinkId>>,
}

impl<'a> Detours<'a> {
    /// Detours of a plan; `None` if it has none.
    pub fn new(plan: &'a Plan) -> Option<Self> {
        let is_shortest = plan.routing.backup == BackupRule::Shortest;
        let fails = plan.links.iter().any(|link| !link.line.outages.is_empty());
        if plan.routing.backups.is_empty() && !(is_shortest && fails) {
            return None;
        }
        let mut out: BTreeMap<_, Vec<_>> = BTreeMap::new();
        (0..).zip(&*plan.links).for_each(|(id, link)| out.entry(link.from).or_default().push(id));
        Some(Self { plan, out, trees: BTreeMap::new() })
    }

    /// Return the links from the start of `path` to its end that avoid its first link and others, if that has a detour: its backup and the
    /// remaining links, or the shortest path.
    fn around(&mut self, path: &[LinkId], avoided: &[LinkId]) -> Option<Vec<LinkId>> {
        let (&link, rest) = path.split_first()?;
        let (plan, routing) = (self.plan, &self.plan.routing);
        if let Some(backup) = routing.backups.iter().find(|backup| backup.link == link) {
            let is_free = backup.path.iter().all(|link| !avoided.contains(link));
            return is_free.then(|| [&backup.path, rest].concat());
        }
        let line = &plan.links[link as usize].line;
        if routing.backup != BackupRule::Shortest || line.outages.is_empty() {
            return None;
        }
        let mut without = avoided.to_vec();
        without.push(link);
        without.sort_unstable();
        without.dedup();
        self.shortest(plan.links[link as usize].from, plan.links[*path.last()? as usize].to, without)
    }

    fn shortest(&mut self, from: NodeId, to: NodeId, without: Vec<LinkId>) -> Option<Vec<LinkId>> {
        let (plan, out) = (self.plan, &self.out);
        let tree = self.trees.entry((from, without)).or_insert_with_key(|(from, without)| {
            let (mut reached, mut todo) = (BTreeMap::new(), VecDeque::from([*from]));
            while let Some(node) = todo.pop_front() {
                for &link in out.get(&node).into_iter().flatten().filter(|link| !without.contains(link)) {
                    let next = plan.links[link as usize].to;
                    if next != *from && !reached.contains_key(&next) {
                        reached.insert(next, link);
                        todo.push_back(next);
                    }
                }
            }
            reached
        });
        let mut path = Vec::new();
        let mut here = to;
        while here != from {
            let link = *tree.get(&here)?;
            path.push(link);
            here = plan.links[link as usize].from;
        }
        path.reverse();
        Some(path)
    }

    /// Return the most links that a packet of this path passes, detours included.
    pub fn longest(&mut self, path: &[LinkId]) -> usize {
        self.longest_after(path, &mut Vec::new())
    }

    fn longest_after(&mut self, path: &[LinkId], avoided: &mut Vec<LinkId>) -> usize {
        let mut longest = path.len();
        for passed in 0..path.len() {
            if let Some(detour) = self.at(path, passed, avoided) {
                avoided.push(path[passed]);
                longest = longest.max(passed + self.longest_after(&detour, avoided));
                avoided.pop();
            }
        }
        longest
    }

    /// Return the detour around the link in this place of a path, of a packet that has taken detours around others.
    pub(crate) fn at(&mut self, path: &[LinkId], passed: usize, avoided: &[LinkId]) -> Option<Vec<LinkId>> {
        let is_new = avoided.len() < MOST_DETOURS && !avoided.contains(&path[passed]);
        if is_new { self.around(&path[passed..], avoided) } else { None }
    }
}

/// Most detours that a packet takes.
const MOST_DETOURS: usize = 4;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::plan::{Line, Link, Probe};
    use aqmlab_aqm::{LinkContext, Spec};
    use aqmlab_units::{Rate, Span};
    use proptest::prelude::*;

    fn plan(nodes: u32, links: &[(u32, u32)]) -> Plan {
        let context = LinkContext { rate: Rate(1_000_000), delay: Span::from_millis(1) };
        let queue = Arc::new(Spec::new("drop-tail").expect("a preset").resolve(context).expect("a queue"));
        let link = |&(from, to): &(u32, u32)| Link {
            name: format!("{from}->{to}").into(),
            from,
            to,
            line: Line::constant(context.rate, context.delay).into(),
            queue: queue.clone(),
        };
        Plan {
            nodes: (0..nodes).map(|i| i.to_string().into()).collect(),
            links: links.iter().map(link).collect(),
            flows: [].into(),
            hosts: Vec::new(),
            pages: Vec::new(),
            markers: Vec::new(),
            pings: Vec::new(),
            translations: Vec::new(),
            routing: Default::default(),
            duration: Span::from_millis(1),
            warmup: Span::ZERO,
            probe: Probe::default(),
        }
    }

    /// The least path by length, then by the numbers of its links from the source on: paths are made longer in this
    /// order, and only the first to a node is followed.
    fn least(links: &[(u32, u32)], from: u32, to: u32) -> Option<Vec<u32>> {
        let mut paths = vec![(from, Vec::new())];
        for _ in 0..=links.len() {
            if let Some((_, path)) = paths.iter().find(|(node, _)| *node == to) {
                return Some(path.clone());
            }
            let mut longer: Vec<(u32, Vec<u32>)> = Vec::new();
            for (node, path) in &paths {
                for (link, (_, end)) in (0..).zip(links).filter(|(_, (start, _))| start == node) {
                    if !longer.iter().any(|(other, _)| other == end) {
                        longer.push((*end, path.iter().copied().chain([link]).collect()));
                    }
                }
            }
            paths = longer;
        }
        None
    }

    proptest! {
        /// Hosts, one-way links, parallel links and unconnected nodes included.
        #[test]
        fn the_least_of_all_paths(
            links in prop::collection::vec((0u32..7, 0u32..7), 1..16),
            hosts in prop::collection::vec(0u32..7, 0..4),
        ) {
            let mut links: Vec<_> = links.into_iter().filter(|(a, b)| a != b).collect();
            let nodes = 7 + hosts.len() as u32;
            links.extend((7..).zip(&hosts).flat_map(|(host, &router)| [(host, router), (router, host)]));
            let plan = plan(nodes, &links);
            let pairs: Vec<_> = (0..nodes).flat_map(|a| (0..nodes).map(move |b| (a, b))).collect();
            let routed = Routes::new(&plan).paths(&pairs);
            let mut routes = Routes::new(&plan);
            for (i, &(from, to)) in pairs.iter().enumerate() {
                let expected = least(&links, from, to);
                prop_assert_eq!(routed.get(i), expected.as_deref(), "{} to {} over {:?}", from, to, &links);
                prop_assert_eq!(routes.path(from, to), expected);
            }
        }
    }

    #[test]
    fn hosts_are_not_searched_for() {
        // Routers 0 and 1; hosts 2, 4, ... at the one, 3, 5, ... at the other.
        let hosts = (2..2000).flat_map(|host| [(host, host % 2), (host % 2, host)]);
        let links: Vec<_> = [(0, 1), (1, 0)].into_iter().chain(hosts).collect();
        let plan = plan(2000, &links);
        let mut routes = Routes::new(&plan);
        let pairs: Vec<_> = (2..1998).map(|host| (host, host + 1)).collect();
        let routed = routes.paths(&pairs);
        assert!((0..pairs.len()).all(|pair| routed.get(pair).is_some_and(|path| path.len() == 3)));
        assert_eq!(routes.searches(), 2, "one for each router");
        assert_eq!(routes.search.found, 2);
    }
}
