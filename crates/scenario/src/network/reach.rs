use std::collections::BTreeMap;

/// Which nodes can be reached from which. Links in both directions make islands, within which every node is reached from
/// every other; for what lies between islands there is one search for every source asked for.
#[derive(Debug)]
pub(super) struct Reach {
    next: Vec<Vec<usize>>,
    /// A node of the same island, by node; that of the node at its root is itself.
    islands: Vec<usize>,
    known: BTreeMap<usize, Vec<bool>>,
}

impl Reach {
    pub fn new(nodes: usize, edges: impl Iterator<Item = (usize, usize)>) -> Self {
        let mut next = vec![Vec::new(); nodes];
        let mut sorted: Vec<_> = edges.collect();
        sorted.iter().for_each(|&(from, to)| next[from].push(to));
        sorted.sort_unstable();
        let mut reach = Self { next, islands: (0..nodes).collect(), known: BTreeMap::new() };
        for &(from, to) in &sorted {
            if from < to && sorted.binary_search(&(to, from)).is_ok() {
                let (a, b) = (reach.island(from), reach.island(to));
                reach.islands[a] = b;
            }
        }
        reach
    }

    /// The node that stands for the island of this one.
    fn island(&mut self, mut node: usize) -> usize {
        while self.islands[node] != node {
            self.islands[node] = self.islands[self.islands[node]];
            node = self.islands[node];
        }
        node
    }

    /// Whether there is a path.
    pub fn has_path(&mut self, from: usize, to: usize) -> bool {
        let island = self.island(from);
        if island == self.island(to) {
            return true;
        }
        // From anywhere on an island the same can be reached.
        let next = &self.next;
        let reached = self.known.entry(island).or_insert_with(|| {
            let mut reached = vec![false; next.len()];
            reached[island] = true;
            let mut todo = vec![island];
            while let Some(node) = todo.pop() {
                for &neighbour in &next[node] {
                    if !std::mem::replace(&mut reached[neighbour], true) {
                        todo.push(neighbour);
                    }
                }
            }
            reached
        });
        reached[to]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_way_streets() {
        let mut reach = Reach::new(4, [(0, 1), (1, 2), (2, 1)].into_iter());
        let paths: Vec<bool> = (0..4).map(|to| reach.has_path(0, to)).collect();
        assert_eq!(paths, [true, true, true, false]);
        assert!(!reach.has_path(2, 0));
        assert!(reach.has_path(2, 1));
    }

    #[test]
    fn two_way_streets_need_no_search() {
        let there: Vec<_> = (0..999).map(|i| (i, i + 1)).filter(|(a, _)| *a != 499).collect();
        let both = there.iter().copied().chain(there.iter().map(|(a, b)| (*b, *a)));
        let mut reach = Reach::new(1000, both.chain([(100, 600)]));
        assert!(reach.has_path(0, 499) && reach.has_path(499, 0) && reach.has_path(500, 999));
        assert_eq!(reach.known.len(), 0);
        // One way from the first half to the second.
        assert!((0..500).all(|a| reach.has_path(a, 999 - a) && !reach.has_path(999 - a, a)));
        assert_eq!(reach.known.len(), 2, "one search from each half");
    }
}
