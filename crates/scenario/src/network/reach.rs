use std::collections::BTreeMap;

/// Which nodes can be reached from which, searched once for every source asked for.
#[derive(Debug)]
pub(super) struct Reach {
    next: Vec<Vec<usize>>,
    known: BTreeMap<usize, Vec<bool>>,
}

impl Reach {
    pub fn new(nodes: usize, edges: impl Iterator<Item = (usize, usize)>) -> Self {
        let mut next = vec![Vec::new(); nodes];
        for (from, to) in edges {
            next[from].push(to);
        }
        Self { next, known: BTreeMap::new() }
    }

    /// Whether there is a path.
    pub fn has_path(&mut self, from: usize, to: usize) -> bool {
        let next = &self.next;
        let reached = self.known.entry(from).or_insert_with(|| {
            let mut reached = vec![false; next.len()];
            reached[from] = true;
            let mut todo = vec![from];
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
}
