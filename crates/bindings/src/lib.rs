//! `aqmlab._core`: the compiled part of the Python package. No logic lives here.

mod controlled;
#[cfg(target_os = "linux")]
mod live;
mod page_session;
mod plugins;
mod quantities;
mod scenario;
mod tables;

use std::collections::BTreeMap;

use aqmlab_aqm::replay::{Replay, replay_log};
use aqmlab_aqm::{Ecn, Header, Kind, LinkContext, Meta};
use aqmlab_netsim::meter::{Arithmetic, Color, Exact, Meter, Ns2};
use aqmlab_netsim::open_loop::OpenLoop;
use aqmlab_netsim::{EngineChoice, plan};
use aqmlab_scenario::Problem;
use aqmlab_units::{Rate, Span, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pythonize::pythonize;

/// Operations of a replay between two looks for Ctrl-C.
const OPERATIONS_BETWEEN_SIGNALS: usize = 1024;
/// Largest rate of a link that a queue is given, in bit/s, and its longest delay.
const MOST_BPS: f64 = 1e15;
const MOST_DELAY_S: f64 = 1e4;

fn value_error(problems: &[Problem]) -> PyErr {
    let lines: Vec<_> = problems.iter().map(Problem::to_string).collect();
    PyValueError::new_err(lines.join("\n"))
}

/// Return the disciplines, parts, dialects, transports and congestion controllers with their parameters.
#[pyfunction]
fn registry(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize(py, &aqmlab_scenario::registry())?)
}

/// Return the JSON schema of the scenario file.
#[pyfunction]
fn schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize(py, &aqmlab_scenario::schema())?)
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
    let resolved = aqmlab_scenario::queue_for_link(queue, link_context(rate_bps, delay_s)?)
        .map_err(|p| value_error(&p))?;
    let mut replay = Replay::new(&resolved, draws);
    let mut answers = Vec::with_capacity(operations.len());
    for (count, (ps, packet)) in operations.into_iter().enumerate() {
        if count % OPERATIONS_BETWEEN_SIGNALS == 0 {
            py.check_signals()?;
        }
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
        let averages = replay.queue().averages();
        answer.set_item("average", averages.first())?;
        answer.set_item("averages", averages)?;
        if gauges {
            let mut gauges = BTreeMap::new();
            replay.queue().gauges(&mut |gauge, value| {
                gauges.insert(gauge.name(), value);
            });
            answer.set_item("gauges", gauges)?;
        }
        answers.push(answer);
    }
    Ok(answers)
}

/// Return the integers of a queue (the body of a `[queue.NAME]` table) with `arithmetic = "integer"`, or of DualPI2 in the dialect
/// of Linux, before a link.
#[pyfunction]
fn integers<'py>(py: Python<'py>, queue: &str, rate_bps: f64, delay_s: f64) -> PyResult<Bound<'py, PyAny>> {
    let integers = aqmlab_scenario::integers(queue, link_context(rate_bps, delay_s)?);
    Ok(pythonize(py, &integers.map_err(|p| value_error(&p))?)?)
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
    let resolved = aqmlab_scenario::queue_for_link(queue, link_context(rate_bps, delay_s)?);
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

/// Return the link of a queue; a rate below 1 bit/s, a negative delay, and numbers that are not finite are errors.
fn link_context(rate_bps: f64, delay_s: f64) -> PyResult<LinkContext> {
    if !(1.0..=MOST_BPS).contains(&rate_bps) {
        let message = format!("rate_bps: {rate_bps} is out of range (allowed: 1 to {MOST_BPS:e})");
        return Err(PyValueError::new_err(message));
    }
    if !(0.0..=MOST_DELAY_S).contains(&delay_s) {
        let message = format!("delay_s: {delay_s} is out of range (allowed: 0 to {MOST_DELAY_S})");
        return Err(PyValueError::new_err(message));
    }
    Ok(LinkContext { rate: Rate(rate_bps as u64), delay: Span::from_secs(delay_s) })
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

/// Version of the compiled part.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<scenario::Scenario>()?;
    m.add_class::<controlled::ControlledRuns>()?;
    m.add("APPLICATIONS", aqmlab_scenario::APPLICATIONS)?;
    m.add("ENGINES", EngineChoice::ALL.map(EngineChoice::name))?;
    m.add_function(wrap_pyfunction!(scenario::document, m)?)?;
    m.add_function(wrap_pyfunction!(scenario::text_hash, m)?)?;
    m.add_function(wrap_pyfunction!(scenario::with_files, m)?)?;
    m.add_function(wrap_pyfunction!(scenario::trace, m)?)?;
    m.add_function(wrap_pyfunction!(registry, m)?)?;
    m.add_function(wrap_pyfunction!(schema, m)?)?;
    m.add_function(wrap_pyfunction!(curve, m)?)?;
    m.add_function(wrap_pyfunction!(open_loop, m)?)?;
    m.add_function(wrap_pyfunction!(replay, m)?)?;
    m.add_function(wrap_pyfunction!(integers, m)?)?;
    m.add_function(wrap_pyfunction!(replay_integer, m)?)?;
    m.add_function(wrap_pyfunction!(mark, m)?)?;
    #[cfg(target_os = "linux")]
    live::add(m)?;
    m.add_function(wrap_pyfunction!(plugins::register, m)?)?;
    m.add_class::<plugins::Packet>()?;
    m.add_class::<plugins::Queue>()?;
    m.add_class::<page_session::PageSession>()?;
    quantities::add(m)?;
    m.add_function(wrap_pyfunction!(version, m)?)
}
