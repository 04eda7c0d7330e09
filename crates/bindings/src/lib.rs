//! `aqmlab._core`: the compiled part of the Python package. No logic lives here.

mod live_traffic;
mod page_session;
mod plugins;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use aqmlab_aqm::replay::{Replay, replay_log};
use aqmlab_aqm::{Ecn, Header, Kind, LinkContext, Meta};
use aqmlab_netsim::meter::{Arithmetic, Color, Exact, Meter, Ns2};
use aqmlab_netsim::open_loop::OpenLoop;
use aqmlab_netsim::plan;
use aqmlab_netsim::{Column, EngineChoice, Options, Simulation, Table};
use aqmlab_scenario::Problem;
use aqmlab_units::{Rate, Span, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

/// Progress is reported, and Ctrl-C noticed, at most this many times a run.
const STEPS: u64 = 200;
/// The least time from one such look to the next: each needs Python's lock, which another thread may have.
const LOOK_EVERY: Duration = Duration::from_millis(5);

fn value_error(problems: &[Problem]) -> PyErr {
    let lines: Vec<_> = problems.iter().map(Problem::to_string).collect();
    PyValueError::new_err(lines.join("\n"))
}

fn column<'py>(py: Python<'py>, column: &Column) -> PyResult<Bound<'py, PyAny>> {
    Ok(match column {
        Column::Integer(v) => ("<i8", words(py, v, |x| x.to_le_bytes())?).into_pyobject(py)?.into_any(),
        Column::Real(v) => ("<f8", words(py, v, |x| x.to_le_bytes())?).into_pyobject(py)?.into_any(),
        Column::Text(v) => {
            let different: Vec<_> = v.different().map(|word| PyString::new(py, word)).collect();
            PyList::new(py, v.places().iter().map(|&place| &different[place as usize]))?.into_any()
        }
    })
}

/// Copy numbers of eight bytes each into a buffer that Python reads.
fn words<'py, T: Copy>(
    py: Python<'py>,
    values: &[T],
    bytes: fn(T) -> [u8; 8],
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, 8 * values.len(), |buffer| {
        buffer
            .chunks_exact_mut(8)
            .zip(values)
            .for_each(|(place, &value)| place.copy_from_slice(&bytes(value)));
        Ok(())
    })
}

fn table<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, values) in table {
        dict.set_item(name, column(py, values)?)?;
    }
    Ok(dict)
}

/// Check a scenario file without running it; JSON. Every node, link and flow is listed only if `whole`.
#[pyfunction]
#[pyo3(signature = (text, filename, overrides = Vec::new(), whole = true))]
fn check(
    py: Python<'_>,
    text: &str,
    filename: &str,
    overrides: Vec<(String, String)>,
    whole: bool,
) -> PyResult<String> {
    plugins::clear_raised();
    let answer = py.detach(|| aqmlab_scenario::check_json(text, filename, &overrides, whole));
    plugins::check_interrupted(py)?;
    Ok(answer)
}

/// Check a scenario file for a live run and return the plan of that run for one seed; JSON.
#[pyfunction]
#[pyo3(signature = (text, filename, overrides = Vec::new(), seed = 1))]
fn live_plan(
    py: Python<'_>,
    text: &str,
    filename: &str,
    overrides: Vec<(String, String)>,
    seed: u64,
) -> String {
    py.detach(|| aqmlab_scenario::live_plan_json(text, filename, &overrides, seed))
}

/// Read a TOML text with the limits and messages of scenario files; JSON.
#[pyfunction]
fn document(py: Python<'_>, text: &str, filename: &str) -> String {
    py.detach(|| aqmlab_scenario::document_json(text, filename))
}

/// Return the hash of a scenario by its normalized text.
#[pyfunction]
fn text_hash(text: &str) -> String {
    aqmlab_scenario::text_hash(text)
}

/// Run a scenario with one seed; its summary and tables.
#[expect(clippy::too_many_arguments, reason = "the keywords of a Python function")]
#[pyfunction]
#[pyo3(signature = (text, filename, seed, overrides = Vec::new(), progress = None, shortcuts = true, engine = "auto"))]
fn run<'py>(
    py: Python<'py>,
    text: &str,
    filename: &str,
    seed: u64,
    overrides: Vec<(String, String)>,
    progress: Option<Bound<'py, PyAny>>,
    shortcuts: bool,
    engine: &str,
) -> PyResult<Bound<'py, PyDict>> {
    plugins::clear_raised();
    let scenario = aqmlab_scenario::parse(text, filename, &overrides);
    plugins::check_interrupted(py)?;
    let scenario = scenario.map_err(|p| value_error(&p))?;
    let plan = &scenario.plan;
    let choice = match engine {
        "auto" => EngineChoice::Auto,
        "events" => EngineChoice::Events,
        "parallel" => EngineChoice::Parallel,
        "windows" => EngineChoice::Windows,
        other => {
            return Err(PyValueError::new_err(format!(
                "engine {other:?} is not known (allowed: auto, events, parallel, windows)"
            )));
        }
    };
    plugins::clear_raised();
    let mut simulation = py.detach(|| Simulation::new(plan, seed, Options { shortcuts, engine: choice }));
    if let (EngineChoice::Windows, Some(why)) = (choice, simulation.why_events()) {
        return Err(PyValueError::new_err(format!(
            "{filename}: cannot be evaluated in windows, since {why}"
        )));
    }
    if let (EngineChoice::Parallel, Some(why)) = (choice, simulation.why_not_parallel()) {
        return Err(PyValueError::new_err(format!(
            "{filename}: cannot be evaluated in parallel, since {why} (choose another engine)"
        )));
    }
    let mut step = 0;
    while step < STEPS {
        step = py.detach(|| advance(&mut simulation, plan.duration, step));
        plugins::check_raised(py)?;
        check_logs(&simulation, filename)?;
        py.check_signals()?;
        if let Some(progress) = &progress {
            progress.call1((step as f64 / STEPS as f64,))?;
        }
    }
    py.detach(|| simulation.finish());
    plugins::check_raised(py)?;
    check_logs(&simulation, filename)?;
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

/// Return an error if the logs of a run have no room left.
fn check_logs(simulation: &Simulation, filename: &str) -> PyResult<()> {
    let error = |why| PyValueError::new_err(format!("{filename}: {why}"));
    simulation.full_log().map_or(Ok(()), |why| Err(error(why)))
}

/// Simulate after this step of a run those that take [`LOOK_EVERY`], at least one. Return the last.
#[expect(clippy::disallowed_methods, reason = "no result depends on where a run is divided")]
fn advance(simulation: &mut Simulation, duration: Span, mut step: u64) -> u64 {
    let began = Instant::now();
    loop {
        step += 1;
        simulation.run_until(Time((u128::from(duration.0) * u128::from(step) / u128::from(STEPS)) as u64));
        if step == STEPS || began.elapsed() >= LOOK_EVERY {
            return step;
        }
    }
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
    plugins::clear_raised();
    let r = py.detach(|| experiment.run(seed));
    plugins::check_raised(py)?;
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

/// A queue (the body of a `[queue.NAME]` table) under a list of operations, (time in ps, packet) or (time, None) where
/// the link asks for the next packet; a packet is a dict of header fields. `draws` are the random numbers to use.
/// One dict per operation: dropped, marked, departed, draws, averages, gauges (if asked for).
#[pyfunction]
#[pyo3(signature = (queue, rate_bps, delay_s, operations, draws, gauges = false))]
fn replay<'py>(
    py: Python<'py>,
    queue: &str,
    rate_bps: f64,
    delay_s: f64,
    operations: Vec<(u64, Option<Fields<'py>>)>,
    draws: Vec<f64>,
    gauges: bool,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let resolved = aqmlab_scenario::queue_for_link(queue, link_context(rate_bps, delay_s))
        .map_err(|p| value_error(&p))?;
    let mut replay = Replay::new(&resolved, draws);
    let mut answers = Vec::with_capacity(operations.len());
    for (ps, packet) in operations {
        let now = Time(ps);
        let decision = match packet {
            Some(fields) => replay.enqueue(now, header(&fields)?),
            None => replay.dequeue(now),
        };
        plugins::check_raised(py)?;
        let answer = PyDict::new(py);
        let dropped: Vec<_> = decision.dropped.iter().map(|&(id, reason)| (id, reason.name())).collect();
        answer.set_item("dropped", dropped)?;
        answer.set_item("marked", decision.marked)?;
        answer.set_item("departed", decision.departed)?;
        answer.set_item("draws", decision.drawn)?;
        let averages = replay.averages();
        answer.set_item("average", averages.first())?;
        answer.set_item("averages", averages)?;
        if gauges {
            answer.set_item("gauges", replay.gauges(now).into_iter().collect::<BTreeMap<_, _>>())?;
        }
        answers.push(answer);
    }
    Ok(answers)
}

/// Return the integers of a queue (the body of a `[queue.NAME]` table) with `arithmetic = "integer"` before a link; JSON.
#[pyfunction]
fn integers(queue: &str, rate_bps: f64, delay_s: f64) -> PyResult<String> {
    aqmlab_scenario::integers_json(queue, link_context(rate_bps, delay_s)).map_err(|p| value_error(&p))
}

/// Replay the log of a kernel module's decisions through a queue (the body of a `[queue.NAME]` table) before a link; `levels` are
/// the priority levels of the 64 code points. One dict:
/// records, decisions, marks and drops; or record, time_ns, what, logged and replayed of the first difference.
#[pyfunction]
fn replay_integer<'py>(
    py: Python<'py>,
    queue: &str,
    rate_bps: f64,
    delay_s: f64,
    levels: [u8; 64],
    log: &[u8],
) -> PyResult<Bound<'py, PyDict>> {
    let resolved = aqmlab_scenario::queue_for_link(queue, link_context(rate_bps, delay_s));
    let resolved = resolved.map_err(|p| value_error(&p))?;
    let answer = PyDict::new(py);
    match py.detach(|| replay_log(&resolved, &levels, log)) {
        Ok(replayed) => {
            answer.set_item("records", replayed.records)?;
            answer.set_item("decisions", replayed.decisions)?;
            answer.set_item("marks", replayed.marks)?;
            answer.set_item("drops", replayed.drops)?;
        }
        Err(difference) => {
            answer.set_item("record", difference.record)?;
            answer.set_item("time_ns", difference.time_ns)?;
            answer.set_item("what", difference.what)?;
            answer.set_item("logged", difference.logged)?;
            answer.set_item("replayed", difference.replayed)?;
        }
    }
    Ok(answer)
}

fn link_context(rate_bps: f64, delay_s: f64) -> LinkContext {
    LinkContext { rate: Rate(rate_bps as u64), delay: Span::from_secs(delay_s) }
}

/// The colours (0 green, 1 yellow, 2 red) that a meter gives to packets (time in ps, bytes, colour that it comes with).
/// Parameters: cir and pir in bit/s, cbs, ebs and pbs in bytes, window in s, color_aware and dialect_ns2 0 or 1.
#[pyfunction]
fn mark(
    kind: &str,
    parameters: BTreeMap<String, f64>,
    packets: Vec<(u64, u32, u8)>,
    draws: Vec<f64>,
) -> PyResult<Vec<u8>> {
    let number = |key: &str| parameters.get(key).copied().unwrap_or(0.0);
    let rate = |key| Rate(number(key) as u64);
    let bytes = |key| number(key) as u64;
    let window = Span::from_secs(number("window"));
    let color_aware = number("color_aware") != 0.0;
    let (cir, cbs) = (rate("cir"), bytes("cbs"));
    let meter = match kind {
        "token-bucket" => plan::Meter::TokenBucket { cir, cbs },
        "tsw2cm" => plan::Meter::Tsw2 { cir, window },
        "tsw3cm" => plan::Meter::Tsw3 { cir, pir: rate("pir"), window },
        "srtcm" => plan::Meter::SrTcm { cir, cbs, ebs: bytes("ebs"), color_aware },
        "trtcm" => plan::Meter::TrTcm { cir, cbs, pir: rate("pir"), pbs: bytes("pbs"), color_aware },
        other => return Err(PyValueError::new_err(format!("there is no meter {other:?}"))),
    };
    let colors = if number("dialect_ns2") != 0.0 {
        colors(Meter::<Ns2>::new(&meter), &packets, draws)
    } else {
        colors(Meter::<Exact>::new(&meter), &packets, draws)
    };
    Ok(colors)
}

fn colors<A: Arithmetic>(mut meter: Meter<A>, packets: &[(u64, u32, u8)], draws: Vec<f64>) -> Vec<u8> {
    let mut draws = draws.into_iter();
    let of = |number| match number {
        0 => Color::Green,
        1 => Color::Yellow,
        _ => Color::Red,
    };
    let color = |&(ps, bytes, incoming): &(u64, u32, u8)| {
        meter.color(Time(ps), bytes, of(incoming), || draws.next().unwrap_or(0.5)) as u8
    };
    packets.iter().map(color).collect()
}

/// Header fields of a packet by name.
type Fields<'py> = BTreeMap<String, Bound<'py, PyAny>>;

/// Return a packet's header from its fields; absent fields are 0.
fn header(fields: &Fields<'_>) -> PyResult<Meta> {
    let header = Header::default().with_ttl_initial(64).with_ttl(64);
    let mut meta = Meta { bytes: 1000, header, ..Meta::default() };
    let header = &mut meta.header;
    for (key, value) in fields {
        match key.as_str() {
            "bytes" => meta.bytes = value.extract()?,
            "flow" => meta.flow = value.extract()?,
            "cls" => header.set_class(value.extract()?),
            "alert" => header.set_qosa(value.extract()?),
            "dscp" => header.set_dscp(value.extract()?),
            "ttl_initial" => header.set_ttl_initial(value.extract()?),
            "ttl" => header.set_ttl(value.extract()?),
            "ttl_final" => header.set_ttl_final(value.extract()?),
            "ect" => header.set_ecn(if value.extract()? { Ecn::Ect } else { Ecn::NotEct }),
            "ecn" => {
                header.set_ecn([Ecn::NotEct, Ecn::Ect1, Ecn::Ect, Ecn::Ce][value.extract::<usize>()? & 3])
            }
            "kind" => header.set_kind(match value.extract::<String>()?.as_str() {
                "ack" => Kind::Ack,
                "syn" => Kind::Syn,
                _ => Kind::Data,
            }),
            other => return Err(PyValueError::new_err(format!("a packet has no field {other:?}"))),
        }
    }
    Ok(meta)
}

/// Run a link process: the configuration is a file, `-` for standard input, or JSON itself; commands come from standard
/// input, lines of JSON go to standard output. Ends with the run, and on SIGINT and SIGTERM; the exit code.
#[pyfunction]
fn live_link(py: Python<'_>, config: &str) -> u8 {
    py.detach(|| aqmlab_dataplane::process::main(config))
}

/// Version of the compiled part.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(check, m)?)?;
    m.add_function(wrap_pyfunction!(document, m)?)?;
    m.add_function(wrap_pyfunction!(live_plan, m)?)?;
    m.add_function(wrap_pyfunction!(text_hash, m)?)?;
    m.add_function(wrap_pyfunction!(run, m)?)?;
    m.add_function(wrap_pyfunction!(disciplines, m)?)?;
    m.add_function(wrap_pyfunction!(schema, m)?)?;
    m.add_function(wrap_pyfunction!(curve, m)?)?;
    m.add_function(wrap_pyfunction!(open_loop, m)?)?;
    m.add_function(wrap_pyfunction!(replay, m)?)?;
    m.add_function(wrap_pyfunction!(integers, m)?)?;
    m.add_function(wrap_pyfunction!(replay_integer, m)?)?;
    m.add_function(wrap_pyfunction!(mark, m)?)?;
    m.add_function(wrap_pyfunction!(live_link, m)?)?;
    m.add_function(wrap_pyfunction!(live_traffic::live_udp, m)?)?;
    m.add_function(wrap_pyfunction!(live_traffic::live_replay, m)?)?;
    m.add_function(wrap_pyfunction!(plugins::register, m)?)?;
    m.add_class::<plugins::Packet>()?;
    m.add_class::<plugins::Queue>()?;
    m.add_class::<page_session::PageSession>()?;
    m.add_function(wrap_pyfunction!(version, m)?)
}
