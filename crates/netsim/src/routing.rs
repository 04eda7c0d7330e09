//! Shortest paths by number of links; of several, the one over the link of the lowest number at the first difference,
//! seen from the source.
//!
//! Hosts with a single neighbour are left out of the search, so that a dumbbell of any number of flows costs one
//! search over its two routers.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use crate::plan::{LinkId, NodeId, Plan};

/// Finds paths in one plan.
pub struct Routes<'a> {
    plan: &'a Plan,
    out: Vec<Vec<LinkId>>,
    /// The only link into a node that has one neighbour.
    only_in: Vec<Option<LinkId>>,
    /// Per destination already searched: distance in links of every node, `u32::MAX` where there is no path.
    distances: BTreeMap<NodeId, Vec<u32>>,
    into: Vec<Vec<LinkId>>,
}

impl<'a> Routes<'a> {
    /// Routes of a plan.
    pub fn new(plan: &'a Plan) -> Self {
        let mut out = vec![Vec::new(); plan.nodes.len()];
        let mut into = vec![Vec::new(); plan.nodes.len()];
        for (i, link) in plan.links.iter().enumerate() {
            out[link.from as usize].push(i as LinkId);
            into[link.to as usize].push(i as LinkId);
        }
        let only_in = into.iter().map(|links: &Vec<LinkId>| (links.len() == 1).then(|| links[0])).collect();
        Self { plan, out, only_in, distances: BTreeMap::new(), into }
    }

    /// The links from `from` to `to`; empty when they are the same node, `None` when there is no path.
    pub fn path(&mut self, from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
        if from == to {
            return Some(Vec::new());
        }
        // A node with one way in is reached by it; search for its neighbour instead.
        let (end, last) = match self.only_in[to as usize] {
            Some(link) => (self.plan.links[link as usize].from, Some(link)),
            None => (to, None),
        };
        let mut path = Vec::new();
        let mut here = from;
        while here != end {
            let distances = Self::distances_to(&mut self.distances, self.plan, &self.into, end);
            let next = self.out[here as usize]
                .iter()
                .copied()
                .filter(|&l| distances[self.plan.links[l as usize].to as usize] < distances[here as usize])
                .min_by_key(|&l| (distances[self.plan.links[l as usize].to as usize], l))?;
            path.push(next);
            here = self.plan.links[next as usize].to;
        }
        path.extend(last);
        Some(path)
    }

    fn distances_to<'d>(
        known: &'d mut BTreeMap<NodeId, Vec<u32>>,
        plan: &Plan,
        into: &[Vec<LinkId>],
        end: NodeId,
    ) -> &'d [u32] {
        known.entry(end).or_insert_with(|| {
            let mut distances = vec![u32::MAX; plan.nodes.len()];
            distances[end as usize] = 0;
            let mut todo = VecDeque::from([end]);
            while let Some(node) = todo.pop_front() {
                for &link in &into[node as usize] {
                    let from = plan.links[link as usize].from as usize;
                    if distances[from] == u32::MAX {
                        distances[from] = distances[node as usize] + 1;
                        todo.push_back(from as NodeId);
                    }
                }
            }
            distances
        })
    }
}
