//! `aqmlab._core`: the compiled part of the Python package. No logic lives here.

use aqmlab_netsim::open_loop::OpenLoop;
use aqmlab_netsim::{Column, Options, Simulation, Table};
use aqmlab_scenario::Problem;
use aqmlab_units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

/// Progress is reported, and Ctrl-C noticed, this many times a run.
const STEPS: u64 = 200;

fn value_error(problems: &[Problem]) -> PyErr {
    let lines: Vec<_> = problems.iter().map(Problem::to_string).collect();
    PyValueError::new_err(lines.join("\n"))
}

fn column<'py>(py: Python<'py>, column: &Column) -> PyResult<Bound<'py, PyAny>> {
    let numbers = |dtype: &str, bytes: Vec<u8>| (dtype, PyBytes::new(py, &bytes)).into_pyobject(py);
    Ok(match column {
        Column::Integer(v) => numbers("<i8", v.iter().flat_map(|x| x.to_le_bytes()).collect())?.into_any(),
        Column::Real(v) => numbers("<f8", v.iter().flat_map(|x| x.to_le_bytes()).collect())?.into_any(),
        Column::Text(v) => PyList::new(py, v)?.into_any(),
    })
}

fn table<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, values) in table {
        dict.set_item(name, column(py, values)?)?;
    }
    Ok(dict)
}

/// Check a scenario file without running it; JSON.
#[pyfunction]
#[pyo3(signature = (text, filename, overrides = Vec::new()))]
fn check(py: Python<'_>, text: &str, filename: &str, overrides: Vec<(String, String)>) -> String {
    py.detach(|| aqmlab_scenario::check_json(text, filename, &overrides))
}

/// Run a scenario with one seed; its summary and tables.
#[pyfunction]
#[pyo3(signature = (text, filename, seed, overrides = Vec::new(), progress = None, shortcuts = true))]
fn run<'py>(
    py: Python<'py>,
    text: &str,
    filename: &str,
    seed: u64,
    overrides: Vec<(String, String)>,
    progress: Option<Bound<'py, PyAny>>,
    shortcuts: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let scenario = aqmlab_scenario::parse(text, filename, &overrides).map_err(|p| value_error(&p))?;
    let plan = &scenario.plan;
    let mut simulation = py.detach(|| Simulation::new(plan, seed, Options { shortcuts }));
    for step in 1..=STEPS {
        let until = Time((u128::from(plan.duration.0) * u128::from(step) / u128::from(STEPS)) as u64);
        py.detach(|| simulation.run_until(until));
        py.check_signals()?;
        if let Some(progress) = &progress {
            progress.call1((step as f64 / STEPS as f64,))?;
        }
    }
    py.detach(|| simulation.finish());
    let (packet_hops, enqueue_events) = simulation.totals();
    let summary = PyDict::new(py);
    summary.set_item("seed", seed)?;
    summary.set_item("duration_s", plan.duration.secs())?;
    summary.set_item("warmup_s", plan.warmup.secs())?;
    summary.set_item("packet_hops", packet_hops)?;
    summary.set_item("enqueue_events", enqueue_events)?;
    summary.set_item("events_processed", simulation.events())?;
    let tables = PyDict::new(py);
    for (name, columns) in py.detach(|| simulation.tables()) {
        tables.set_item(name, table(py, &columns)?)?;
    }
    let result = PyDict::new(py);
    result.set_item("summary", summary)?;
    result.set_item("tables", tables)?;
    Ok(result)
}

/// Disciplines, dialects, curves, spacings and transports with their parameters; JSON.
#[pyfunction]
fn disciplines() -> String {
    aqmlab_scenario::disciplines_json()
}

/// JSON schema of the scenario file.
#[pyfunction]
fn schema() -> String {
    aqmlab_scenario::schema_json()
}

/// p_b of a queue (the body of a `[queue.NAME]` table) at averages given in packets.
#[pyfunction]
fn curve(queue: &str, x: Vec<f64>) -> PyResult<Vec<f64>> {
    aqmlab_scenario::curve(queue, &x).map_err(|p| value_error(&p))
}

/// A queue (the body of a `[queue.NAME]` table) under Poisson arrivals and exponential service; rates per second.
#[pyfunction]
#[pyo3(signature = (queue, arrival_rate, service_rate, arrivals, warmup, seed))]
fn open_loop<'py>(
    py: Python<'py>,
    queue: &str,
    arrival_rate: f64,
    service_rate: f64,
    arrivals: u64,
    warmup: u64,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let (resolved, packet_bytes) =
        aqmlab_scenario::queue_for_rate(queue, service_rate).map_err(|p| value_error(&p))?;
    let experiment =
        OpenLoop { queue: &resolved, packet_bytes, arrival_rate, service_rate, arrivals, warmup };
    let r = py.detach(|| experiment.run(seed));
    let dict = PyDict::new(py);
    dict.set_item("arrivals", r.arrivals)?;
    dict.set_item("drops", r.drops)?;
    dict.set_item("p_drop", r.p_drop())?;
    dict.set_item("throughput", r.throughput())?;
    dict.set_item("mean_number_seen", r.mean_number_seen())?;
    dict.set_item("mean_wait_s", r.mean_wait())?;
    dict.set_item("mean_run", r.mean_run())?;
    dict.set_item("runs_longer_than", r.runs.clone())?;
    Ok(dict)
}

/// Version of the compiled part.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(check, m)?)?;
    m.add_function(wrap_pyfunction!(run, m)?)?;
    m.add_function(wrap_pyfunction!(disciplines, m)?)?;
    m.add_function(wrap_pyfunction!(schema, m)?)?;
    m.add_function(wrap_pyfunction!(curve, m)?)?;
    m.add_function(wrap_pyfunction!(open_loop, m)?)?;
    m.add_function(wrap_pyfunction!(version, m)?)
}
