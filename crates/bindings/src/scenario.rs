//! `_core.Scenario`: a scenario file, read and checked once.

use std::time::{Duration, Instant};

use aqmlab_netsim::{EngineChoice, Options, Simulation};
use aqmlab_scenario::{Problem, TextAndOverrides};
use aqmlab_units::{Span, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pythonize::pythonize;

use crate::plugins;
use crate::tables::table;

pyo3::import_exception!(aqmlab.errors, InputError);
pyo3::import_exception!(aqmlab.errors, ScenarioError);

/// Progress is reported, and Ctrl-C noticed, at most this many times a run.
const STEPS: u64 = 200;
/// The least time from one such look to the next: each needs Python's lock, which another thread may have.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// The same on two threads, which begin and end with an exchange of all stations.
const LOOK_AT_TWO_EVERY: Duration = Duration::from_millis(200);
/// Most steps at a time on two threads.
const MOST_AT_TWO: u64 = 8;

/// A checked scenario. Its methods describe it, or run it; nothing changes it.
#[pyclass(frozen, module = "aqmlab._core")]
pub(crate) struct Scenario {
    pub(crate) scenario: aqmlab_scenario::Scenario,
    filename: String,
}

#[pymethods]
impl Scenario {
    /// Read and check the text of a file.
    #[new]
    #[pyo3(signature = (text, filename, overrides = Vec::new()))]
    fn new(py: Python<'_>, text: &str, filename: String, overrides: Vec<(String, String)>) -> PyResult<Self> {
        plugins::clear_raised();
        let parsed = py.detach(|| aqmlab_scenario::parse(text, &filename, &overrides));
        plugins::check_interrupted(py)?;
        let scenario = parsed.map_err(|errors| scenario_error(py, &errors))?;
        Ok(Self { scenario, filename })
    }

    /// Describe everything but nodes, links, flows and warnings.
    fn description<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize(py, &self.scenario.description())?)
    }

    /// List the warnings.
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        problems(py, &self.scenario.warnings)
    }

    /// List the names of the nodes.
    fn nodes(&self) -> Vec<&str> {
        self.scenario.nodes().collect()
    }

    /// Describe each link.
    fn links<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.scenario.links().map(|link| Ok(pythonize(py, &link)?)).collect()
    }

    /// Describe each flow.
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.scenario.flows().map(|flow| Ok(pythonize(py, &flow)?)).collect()
    }

    /// Return the tables of the file, overrides applied.
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize(py, &self.scenario.tables())?)
    }

    /// Return the hash without the list of seeds.
    fn run_hash(&self) -> String {
        self.scenario.run_hash()
    }

    /// Check the scenario for a live run with this seed. Return the run's plan, with warnings.
    fn live_plan<'py>(&self, py: Python<'py>, seed: u64) -> PyResult<Bound<'py, PyAny>> {
        let found = py.detach(|| self.scenario.live_plan(seed));
        let (plan, warnings) = found.map_err(|errors| scenario_error(py, &errors))?;
        let plan = pythonize(py, &plan)?;
        plan.set_item("warnings", problems(py, &warnings)?)?;
        Ok(plan)
    }

    /// Simulate it with one seed. Return the run's summary and tables.
    #[pyo3(signature = (seed, progress = None, shortcuts = true, engine = "auto", spare_core = false))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        progress: Option<Bound<'py, PyAny>>,
        shortcuts: bool,
        engine: &str,
        spare_core: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let plan = &self.scenario.plan;
        let Some(choice) = EngineChoice::find(engine) else {
            let allowed = EngineChoice::ALL.map(EngineChoice::name).join(", ");
            return Err(PyValueError::new_err(format!(
                "engine {engine:?} is not known (allowed: {allowed})"
            )));
        };
        plugins::clear_raised();
        let options = Options { shortcuts, engine: choice, spare_core };
        let mut simulation = py.detach(|| Simulation::new(plan, seed, options));
        if let (EngineChoice::Windows, Some(why)) = (choice, simulation.why_events()) {
            return Err(self.error(&format!("cannot be evaluated in windows, since {why}")));
        }
        if let (EngineChoice::Parallel, Some(why)) = (choice, simulation.why_not_parallel()) {
            let why = format!("cannot be evaluated in parallel, since {why} (choose another engine)");
            return Err(self.error(&why));
        }
        let (mut step, mut stride) = (0, 1);
        while step < STEPS {
            step = py.detach(|| advance(&mut simulation, plan.duration, step, &mut stride));
            self.check_run(py, &simulation)?;
            py.check_signals()?;
            if let Some(progress) = &progress {
                progress.call1((step as f64 / STEPS as f64,))?;
            }
        }
        py.detach(|| simulation.finish());
        self.results(py, simulation, seed)
    }
}

impl Scenario {
    /// Return summary and tables of a finished run.
    pub(crate) fn results<'py>(
        &self,
        py: Python<'py>,
        simulation: Simulation,
        seed: u64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let plan = &self.scenario.plan;
        self.check_run(py, &simulation)?;
        let (packet_hops, enqueue_events) = simulation.totals();
        let summary = PyDict::new(py);
        summary.set_item("seed", seed)?;
        summary.set_item("duration_s", plan.duration.secs())?;
        summary.set_item("warmup_s", plan.warmup.secs())?;
        summary.set_item("packet_hops", packet_hops)?;
        summary.set_item("enqueue_events", enqueue_events)?;
        let warnings = simulation.warnings();
        if !warnings.is_empty() {
            summary.set_item("warnings", warnings)?;
        }
        let result = PyDict::new(py);
        result.set_item("summary", summary)?;
        // Not part of the summary: results do not depend on the engine.
        result.set_item("engine", simulation.engine())?;
        result.set_item("why_events", simulation.why_events())?;
        result.set_item("events", simulation.events())?;
        let tables = PyDict::new(py);
        for (name, columns) in py.detach(|| simulation.into_tables()) {
            tables.set_item(name, table(py, &columns)?)?;
        }
        result.set_item("tables", tables)?;
        Ok(result)
    }

    /// Return an error if a plugin raised an exception, or if the logs of the run have no room left.
    fn check_run(&self, py: Python<'_>, simulation: &Simulation) -> PyResult<()> {
        plugins::check_raised(py)?;
        simulation.full_log().map_or(Ok(()), |why| Err(self.error(&why)))
    }

    pub(crate) fn error(&self, why: &str) -> PyErr {
        InputError::new_err(format!("{}: {why}", self.filename))
    }
}

/// Simulate after this step of a run those that take [`LOOK_EVERY`], or on two threads [`LOOK_AT_TWO_EVERY`], at least one. Return the
/// last. `stride` steps are taken at a time: on two threads up to [`MOST_AT_TWO`], while they take less than that.
#[expect(clippy::disallowed_methods, reason = "no result depends on where a run is divided")]
fn advance(simulation: &mut Simulation, duration: Span, mut step: u64, stride: &mut u64) -> u64 {
    let is_parallel = simulation.engine() == EngineChoice::Parallel.name();
    let (every, most) = if is_parallel { (LOOK_AT_TWO_EVERY, MOST_AT_TWO) } else { (LOOK_EVERY, 1) };
    let began = Instant::now();
    loop {
        step = (step + *stride).min(STEPS);
        simulation.run_until(Time((u128::from(duration.0) * u128::from(step) / u128::from(STEPS)) as u64));
        if step == STEPS || began.elapsed() >= every {
            return step;
        }
        *stride = (*stride * 2).min(most);
    }
}

/// Return the text and the overrides of a scenario with the points of distributions in place of the files that have them. `read`
/// returns the text of a file by its name in the scenario.
#[pyfunction]
pub(crate) fn with_files(
    py: Python<'_>,
    text: &str,
    filename: &str,
    overrides: Vec<(String, String)>,
    read: &Bound<'_, PyAny>,
) -> PyResult<TextAndOverrides> {
    let mut failed = None;
    let mut read = |name: &str| match read.call1((name,)).and_then(|text| text.extract::<String>()) {
        Ok(text) => Ok(text),
        Err(error) if error.is_instance_of::<InputError>(py) => Err(error.value(py).to_string()),
        Err(error) => {
            failed = Some(error);
            Err("is not read".to_owned())
        }
    };
    let found = aqmlab_scenario::with_files(text, filename, &overrides, &mut read);
    match failed {
        Some(error) => Err(error),
        None => found.map_err(|errors| scenario_error(py, &errors)),
    }
}

/// Describe a trace, whose text is that of a file with this name, as JSON.
#[pyfunction]
pub(crate) fn trace(py: Python<'_>, text: &str, filename: &str) -> PyResult<String> {
    py.detach(|| aqmlab_scenario::trace_json(filename, text)).map_err(InputError::new_err)
}

/// Read a TOML text with the limits and messages of scenario files.
#[pyfunction]
pub(crate) fn document<'py>(py: Python<'py>, text: &str, filename: &str) -> PyResult<Bound<'py, PyAny>> {
    let read = py.detach(|| aqmlab_scenario::document(text, filename));
    Ok(pythonize(py, &read.map_err(|errors| scenario_error(py, &errors))?)?)
}

/// Return the hash of a scenario by its normalized text.
#[pyfunction]
pub(crate) fn text_hash(text: &str) -> String {
    aqmlab_scenario::text_hash(text)
}

/// Return the errors of a file as the exception that lists them.
fn scenario_error(py: Python<'_>, errors: &[Problem]) -> PyErr {
    match problems(py, errors) {
        Ok(problems) => ScenarioError::new_err((problems.unbind(),)),
        Err(error) => error,
    }
}

/// Return problems as objects of Python's class.
fn problems<'py>(py: Python<'py>, problems: &[Problem]) -> PyResult<Bound<'py, PyTuple>> {
    let class = py.import("aqmlab.errors")?.getattr("Problem")?;
    let problem = |problem: &Problem| {
        let fields = pythonize(py, problem)?;
        class.call((), Some(fields.cast::<PyDict>()?))
    };
    PyTuple::new(py, problems.iter().map(problem).collect::<PyResult<Vec<_>>>()?)
}
