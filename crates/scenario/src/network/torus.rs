use aqmlab_netsim::plan::NodeId;

use crate::problem::Complaint;
use crate::queue::Queues;
use crate::section::Section;
use crate::shape::{Key, Kind, Shape};

use super::read_trunk;
use super::shared::{self, MAX_ROUTERS, Shared};

pub(super) const DOC: &str = "Routers r1, r2, ... row by row on a torus, each linked to the ones right of it and below; with hosts h1, h2, ... that flows share.";

pub(super) fn shape() -> Shape {
    let some = Kind::Integer { min: 1, max: MAX_ROUTERS };
    let own = vec![
        Key::new("rows", some.clone(), "How many rows of routers there are.").required(),
        Key::new("columns", some, "How many routers a row has.").required(),
    ];
    shared::shape(DOC, own)
}

pub(super) fn read(section: &Section<'_>, queues: &Queues<'_>) -> Option<Shared> {
    let size = |key| section.integer(key).and_then(|n| NodeId::try_from(n).ok());
    let grid = size("rows").zip(size("columns")).filter(|&(rows, columns)| is_fine(section, rows, columns));
    let link = section.section("link").and_then(|s| read_trunk(&s, queues));
    let cables = grid.zip(link).map(|((rows, columns), link)| {
        neighbours(rows, columns).into_iter().map(|(a, b)| (a, b, link.clone())).collect()
    });
    shared::read(section, queues, grid.map(|(rows, columns)| rows * columns), cables)
}

fn is_fine(section: &Section<'_>, rows: NodeId, columns: NodeId) -> bool {
    let all = i64::from(rows) * i64::from(columns);
    let fine = (2..=MAX_ROUTERS).contains(&all);
    if !fine {
        let makes = if all == 1 { "makes 1 router".to_owned() } else { format!("makes {all} routers") };
        section.error("columns", Complaint::new(makes).allowed(format!("from 2 to {MAX_ROUTERS} in all")));
    }
    fine
}

/// Each router with the one right of it and the one below, around the edges. Rows and columns of two have one link
/// between the two, not two.
fn neighbours(rows: NodeId, columns: NodeId) -> Vec<(NodeId, NodeId)> {
    let onward = |at: NodeId, of: NodeId| (at + 1 < of || of > 2).then_some((at + 1) % of);
    let mut pairs = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let here = row * columns + column;
            pairs.extend(onward(column, columns).map(|right| (here, row * columns + right)));
            pairs.extend(onward(row, rows).map(|below| (here, below * columns + column)));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_router_has_its_neighbours_once() {
        assert_eq!(neighbours(1, 2), [(0, 1)]);
        assert_eq!(neighbours(1, 3), [(0, 1), (1, 2), (2, 0)]);
        assert_eq!(neighbours(2, 2), [(0, 1), (0, 2), (1, 3), (2, 3)]);
        let pairs = neighbours(3, 4);
        assert_eq!(pairs.len(), 24);
        for router in 0..12 {
            assert_eq!(pairs.iter().filter(|(a, b)| *a == router || *b == router).count(), 4);
        }
    }
}
