//! `_core.ControlledRuns`: runs of a scenario, one for each seed, whose queue settings change interval by interval.

use std::thread;

use aqmlab_netsim::Interval;
use aqmlab_scenario::{ControlledRun, Settable};
use aqmlab_units::Span;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::plugins;
use crate::scenario::Scenario;

/// The columns of a step's answer, in order.
const COLUMNS: [&str; 11] = [
    "length_s",
    "queue_packets",
    "queue_bytes",
    "mean_queue",
    "arrivals",
    "departures",
    "departed_bytes",
    "delay_s",
    "drops",
    "marks",
    "busy_s",
];

fn row(interval: &Interval) -> [f64; COLUMNS.len()] {
    let Interval { length, waiting, counters } = interval;
    let seconds = |ps: u128| ps as f64 * 1e-12;
    let mean_queue = if length.0 == 0 { 0.0 } else { counters.queue_area as f64 / length.0 as f64 };
    let delay =
        if counters.departures == 0 { 0.0 } else { seconds(counters.delay) / counters.departures as f64 };
    [
        length.secs(),
        f64::from(waiting.packets),
        waiting.bytes as f64,
        mean_queue,
        counters.arrivals as f64,
        counters.departures as f64,
        counters.departed_bytes as f64,
        delay,
        counters.drops() as f64,
        counters.marks() as f64,
        seconds(counters.busy.into()),
    ]
}

/// Runs of a scenario that go on together.
#[pyclass(module = "aqmlab._core")]
pub(crate) struct ControlledRuns {
    scenario: Py<Scenario>,
    settable: Settable,
    seeds: Vec<u64>,
    runs: Vec<ControlledRun>,
}

#[pymethods]
impl ControlledRuns {
    /// The columns of a step's answer.
    #[classattr]
    #[pyo3(name = "COLUMNS")]
    fn columns() -> [&'static str; COLUMNS.len()] {
        COLUMNS
    }

    /// Create the runs, of which `keys` of the queue before `link` are set at each step.
    #[new]
    fn new(
        py: Python<'_>,
        scenario: Py<Scenario>,
        link: &str,
        keys: Vec<String>,
        seeds: Vec<u64>,
    ) -> PyResult<Self> {
        let own = scenario.get();
        let settable = Settable::new(&own.scenario, link, &keys).map_err(|why| own.error(&why))?;
        plugins::clear_raised();
        let runs = py.detach(|| seeds.iter().map(|&seed| settable.run(&own.scenario, seed)).collect());
        plugins::check_raised(py)?;
        Ok(Self { scenario, settable, seeds, runs })
    }

    /// The bit rate of the link at the start of a run, in bit/s.
    fn rate_bps(&self) -> f64 {
        self.settable.rate().bps()
    }

    /// Whether the runs are at their end.
    fn is_over(&self) -> bool {
        self.runs.first().is_none_or(|run| run.controlled().is_over())
    }

    /// Set the values of all runs (8 bytes each, run by run) and go on by an interval in s, on so many threads. Return the
    /// columns, run by run.
    #[pyo3(signature = (values, interval_s, threads = 1))]
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        values: &[u8],
        interval_s: f64,
        threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let interval = Span::from_secs(interval_s);
        let values: Vec<f64> = values.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect();
        let Self { scenario, settable, runs, .. } = self;
        let width = values.len() / runs.len().max(1);
        let step_all = |first: usize, runs: &mut [ControlledRun]| -> Result<Vec<u8>, String> {
            let mut answer = Vec::with_capacity(runs.len() * COLUMNS.len() * 8);
            for (number, run) in (first..).zip(runs) {
                let own = &values[number * width..(number + 1) * width];
                let interval = run.step(settable, own, interval)?;
                answer.extend(row(&interval).iter().flat_map(|value| value.to_le_bytes()));
            }
            Ok(answer)
        };
        let share = runs.len().div_ceil(threads.max(1)).max(1);
        plugins::clear_raised();
        let answers = py.detach(|| {
            if runs.len() <= share {
                return vec![step_all(0, runs)];
            }
            thread::scope(|scope| {
                let parts: Vec<_> = runs
                    .chunks_mut(share)
                    .enumerate()
                    .map(|(part, runs)| scope.spawn(move || step_all(part * share, runs)))
                    .collect();
                parts.into_iter().map(|part| part.join().expect("a step does not panic")).collect()
            })
        });
        plugins::check_raised(py)?;
        let answers: Result<Vec<_>, _> = answers.into_iter().collect();
        let answers = answers.map_err(|why| scenario.get().error(&why))?;
        Ok(PyBytes::new(py, &answers.concat()))
    }

    /// Finish all runs with the settings that hold. Return what [`Scenario::run`] returns for each.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let scenario = self.scenario.get();
        let runs = std::mem::take(&mut self.runs);
        let finish = |(run, &seed): (ControlledRun, &u64)| {
            let mut simulation = run.into_controlled().into_simulation();
            plugins::clear_raised();
            py.detach(|| simulation.finish());
            scenario.results(py, simulation, seed)
        };
        runs.into_iter().zip(&self.seeds).map(finish).collect()
    }
}
