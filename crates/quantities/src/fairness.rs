//! Fairness between endless TCP flows: of one transport, of all, and over time.

use std::collections::BTreeSet;

use crate::flows::tcp_flows;
use crate::quantity::Better::Higher;
use crate::quantity::Compared::Main;
use crate::quantity::View::{Laboratory, Notebook, Rfc7928, Spread, SweepReport};
use crate::quantity::{Compared, Groups, Quantity};
use crate::run::{Run, at, each_of_several};
use crate::sum::{mean, pairwise, ratio};

/// Windows of fairness over time in s.
const WINDOW_S: f64 = 1.0;

pub(crate) const QUANTITIES: &[Quantity] = &[
Quantity::new("jain", "Jain's index", "1", 4, 120, |run| {
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
.by_group(Groups { title: "", head: "Jain of", doc: "", compared: Compared::Tested, values: |run| of_groups(run).unwrap_or_default() })
.at(SweepReport, 6)
.at(Notebook, 7)
.hidden(&[Spread, Rfc7928]),
    Quantity::new("jain_all", "Jain's index, all transports", "1", 4, 121, |run| {
        let goodput = at(&run.numbers("flows", "goodput_bps")?, &greedy_flows(run)?);
        (goodput.len() > 1).then(|| jain(&goodput))
    })
    .doc("fairness of the goodput of endless TCP flows of all transports together")
    .bounds(0.0, 1.0)
    .head("Jain, all", "kinds")
    .better(Higher)
    // With one transport it is Jain's index.
    .hidden(&[SweepReport, Spread, Notebook, Laboratory, Rfc7928]),
    Quantity::new("jain_1s", "Jain's index over 1 s", "1", 4, 122, over_time)
        .doc(
            "mean over windows of 1 s after the warm-up of Jain's index of the bytes that endless TCP flows of all transports \
             delivered in the window; needs probe.flow_interval",
        )
        .bounds(0.0, 1.0)
        .head("Jain,", "1 s")
        .better(Higher)
        .hidden(&[SweepReport, Spread, Notebook, Laboratory, Rfc7928]),
];

/// Return the mean of Jain's index over windows of [`WINDOW_S`], without those in which nothing was delivered.
fn over_time(run: &Run<'_>) -> Option<f64> {
    let (names, flows) = (run.words("flow_samples", "flow")?, run.words("flows", "flow")?);
    let (times, delivered) =
        (run.numbers("flow_samples", "t_s")?, run.numbers("flow_samples", "delivered_bytes")?);
    let from = run.measured_from(times.iter().copied().reduce(f64::max)?)?;
    let greedy: BTreeSet<_> = greedy_flows(run)?.into_iter().map(|row| flows.get(row)).collect();
    let counts = |row: &usize| times[*row] >= from && greedy.contains(names.get(*row));
    let mut samples: Vec<Vec<usize>> = vec![Vec::new(); names.different().len()];
    for row in (0..times.len()).filter(counts) {
        samples[names.places()[row] as usize].push(row);
    }
    samples.retain(|rows| !rows.is_empty());
    let length = samples.iter().map(Vec::len).min().filter(|&length| length > 1 && samples.len() > 1)?;
    let interval = times[samples[0][1]] - times[samples[0][0]];
    let step = ((WINDOW_S / interval).round() as usize).max(1);
    let index = |first: usize| {
        let of = |rows: &Vec<usize>| delivered[rows[first + step]] - delivered[rows[first]];
        jain(&samples.iter().map(of).collect::<Vec<_>>())
    };
    let windows = (0..length.saturating_sub(step)).step_by(step);
    let indices: Vec<_> = windows.map(index).filter(|index| !index.is_nan()).collect();
    (!indices.is_empty()).then(|| mean(&indices))
}

fn of_groups(run: &Run<'_>) -> Option<Vec<(String, f64)>> {
    let goodput = run.numbers("flows", "goodput_bps")?;
    let index = |rows: &[usize]| (rows.len() > 1).then(|| jain(&at(&goodput, rows)));
    Some(each_of_several(&*run.words("flows", "group")?, greedy_flows(run)?, index))
}

/// Return the rows of the TCP flows that want the same: without end (`size_packets` below 0), and without an application that
/// drives them. They are compared if they have one transport; if not, the index of each group tells transports apart.
pub(crate) fn greedy_flows(run: &Run<'_>) -> Option<Vec<usize>> {
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
    use aqmlab_netsim::{Column, Table};

    use super::*;

    #[test]
    fn by_hand() {
        assert!((jain(&[1.0, 2.0, 3.0]) - 36.0 / (3.0 * 14.0)).abs() < 1e-15);
        assert!(jain(&[0.0, 0.0]).is_nan());
    }

    #[test]
    fn of_all_transports_and_over_time_by_hand() {
        let text = |words: &[&str]| Column::Text(words.iter().collect());
        let real = |numbers: &[f64]| Column::Real(numbers.to_vec());
        // 3 s, of which 2 are measured: 0.25 bytes at 1 bit/s.
        let links: Table = vec![
            ("link", text(&["a"])),
            ("aqm", text(&["red"])),
            ("departed_bytes", Column::Integer(vec![1000])),
            ("throughput_bps", real(&[4000.0])),
        ];
        let flows: Table = vec![
            ("flow", text(&["x", "y", "z"])),
            ("group", text(&["x", "y", "z"])),
            ("transport", text(&["tcp-cubic", "tcp-bbr", "udp"])),
            ("goodput_bytes", real(&[0.25, 0.75, 2.25])),
            ("goodput_bps", real(&[1.0, 3.0, 9.0])),
        ];
        let half_seconds = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0];
        let samples: Table = vec![
            ("t_s", real(&[half_seconds; 3].concat())),
            ("flow", text(&[["x"; 7], ["y"; 7], ["z"; 7]].concat())),
            (
                "delivered_bytes",
                real(
                    &[
                        [0.0, 9.0, 10.0, 11.0, 12.0, 12.0, 12.0],
                        [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0],
                        [0.0; 7],
                    ]
                    .concat(),
                ),
            ),
        ];
        let tables = vec![("links", links), ("flows", flows), ("flow_samples", samples)];
        let values = crate::values(&Run::new(&tables, None).unwrap());
        let of = |key: &str| values.iter().find(|(own, _)| own == key).map(|(_, value)| *value);
        assert_eq!(of("jain"), None, "two transports");
        assert_eq!(of("jain_all"), Some(16.0 / 20.0));
        // 2 and 2 bytes in the first window after the warm-up, 0 and 2 in the second.
        assert_eq!(of("jain_1s"), Some(0.75));
    }
}
