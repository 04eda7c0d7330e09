//! Fairness between flows of one kind.

use std::collections::BTreeSet;

use crate::flows::tcp_flows;
use crate::quantity::Better::Higher;
use crate::quantity::Compared::Main;
use crate::quantity::View::{Notebook, Rfc7928, Spread, SweepReport};
use crate::quantity::{Groups, Quantity};
use crate::run::{Run, at, each_of_several};
use crate::sum::{pairwise, ratio};

pub(crate) const QUANTITIES: &[Quantity] = &[Quantity::new("jain", "Jain's index", "1", 4, 120, |run| {
    let (greedy, transports) = (greedy_flows(run)?, run.words("flows", "transport")?);
    let alike = greedy.iter().all(|&row| transports.get(row) == transports.get(greedy[0]));
    let goodput = at(&run.numbers("flows", "goodput_bps")?, &greedy);
    (goodput.len() > 1 && alike).then(|| jain(&goodput))
})
.doc("fairness of the goodput of endless TCP flows, all of one transport")
.bounds(0.0, 1.0)
.head("Jain's", "index")
.better(Higher)
.compared(Main)
.by_group(Groups { title: "", head: "Jain of", doc: "", values: |run| of_groups(run).unwrap_or_default() })
.at(SweepReport, 6)
.at(Notebook, 7)
.hidden(&[Spread, Rfc7928])];

fn of_groups(run: &Run<'_>) -> Option<Vec<(String, f64)>> {
    let goodput = run.numbers("flows", "goodput_bps")?;
    let index = |rows: &[usize]| (rows.len() > 1).then(|| jain(&at(&goodput, rows)));
    Some(each_of_several(&*run.words("flows", "group")?, greedy_flows(run)?, index))
}

/// Return the rows of the TCP flows that want the same: without end (`size_packets` below 0), and without an application that
/// drives them. They are compared if they have one transport; if not, the index of each group tells transports apart.
fn greedy_flows(run: &Run<'_>) -> Option<Vec<usize>> {
    let groups = run.words("flows", "group");
    let applications = [run.words("pages", "group"), run.words("segments", "group")];
    let driven: BTreeSet<_> = applications.iter().flatten().flat_map(|words| words.different()).collect();
    let sizes = run.numbers("flows", "size_packets");
    let is_greedy = |&row: &usize| {
        sizes.as_ref().is_none_or(|sizes| sizes[row] < 0.0)
            && groups.as_ref().is_none_or(|groups| !driven.contains(groups.get(row)))
    };
    Some(tcp_flows(run)?.into_iter().filter(is_greedy).collect())
}

/// Jain's fairness index: 1 if all are equal, 1/n if one has everything (Jain, Chiu and Hawe 1984); NaN if all are 0.
///
/// ```text
/// (sum x)^2 / (n sum x^2)
/// ```
///
/// ```
/// use aqmlab_quantities::fairness::jain;
/// assert_eq!((jain(&[1.0, 1.0]), jain(&[2.0, 0.0])), (1.0, 0.5));
/// ```
pub fn jain(values: &[f64]) -> f64 {
    let sum = pairwise(values);
    let squares: Vec<_> = values.iter().map(|x| x * x).collect();
    ratio(sum * sum, values.len() as f64 * pairwise(&squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert!((jain(&[1.0, 2.0, 3.0]) - 36.0 / (3.0 * 14.0)).abs() < 1e-15);
        assert!(jain(&[0.0, 0.0]).is_nan());
    }
}
