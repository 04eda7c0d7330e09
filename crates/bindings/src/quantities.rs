//! Quantities of runs, computed from tables in Python.

use std::borrow::Cow;
use std::cell::RefCell;

use aqmlab_netsim::Words;
use aqmlab_quantities::calls::e_model::{self, LossModel};
use aqmlab_quantities::calls::playout::{Buffer, Playout};
use aqmlab_quantities::calls::{Judging, Packets};
use aqmlab_quantities::{Run, Tables, delay, fairness};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyTuple};
use pythonize::pythonize;

pyo3::import_exception!(aqmlab.errors, InputError);

/// Return a column of numbers: a type and bytes as the core returns them, or anything that NumPy converts.
fn numbers(column: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let numpy = column.py().import("numpy")?;
    let array = match column.cast::<PyTuple>() {
        Ok(raw) => numpy.call_method1("frombuffer", (raw.get_item(1)?, raw.get_item(0)?))?,
        Err(_) => column.clone(),
    };
    let bytes = numpy.call_method1("asarray", (array, "<f8"))?.call_method0("tobytes")?;
    let bytes: Cow<'_, [u8]> = bytes.extract()?;
    Ok(bytes.as_chunks::<8>().0.iter().map(|&word| f64::from_le_bytes(word)).collect())
}

/// Return a column of words: the different words and places as the core returns them, a list, or anything that NumPy converts to one.
fn words(column: &Bound<'_, PyAny>) -> PyResult<Words> {
    if let Ok(raw) = column.cast::<PyTuple>() {
        let (different, places): (Vec<PyBackedStr>, Cow<'_, [u8]>) = raw.extract()?;
        let rows = places.as_chunks().0.iter().map(|&place| u32::from_le_bytes(place) as usize);
        return Ok(rows.map(|place| &different[place]).collect());
    }
    let list: Vec<PyBackedStr> = match column.extract() {
        Ok(list) => list,
        Err(_) => column
            .py()
            .import("numpy")?
            .call_method1("asarray", (column,))?
            .call_method0("tolist")?
            .extract()?,
    };
    Ok(list.into_iter().collect())
}

/// Tables in Python: mappings of names of tables to mappings of names of columns to columns.
struct PyTables<'t, 'py> {
    tables: &'t Bound<'py, PyAny>,
    /// The first error of a column that is there.
    error: RefCell<Option<PyErr>>,
}

impl<'py> PyTables<'_, 'py> {
    fn read<T>(
        &self,
        table: &str,
        column: &str,
        convert: impl Fn(&Bound<'py, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let item = |mapping: &Bound<'py, PyAny>, key: &str| match mapping.contains(key)? {
            true => mapping.get_item(key).map(Some),
            false => Ok(None),
        };
        let found =
            item(self.tables, table).and_then(|rows| rows.map_or(Ok(None), |rows| item(&rows, column)));
        let converted = found.and_then(|found| found.as_ref().map(convert).transpose());
        converted.unwrap_or_else(|error| {
            self.error.borrow_mut().get_or_insert(error);
            None
        })
    }
}

impl Tables for PyTables<'_, '_> {
    fn numbers(&self, table: &'static str, column: &'static str) -> Option<Cow<'_, [f64]>> {
        self.read(table, column, numbers).map(Cow::Owned)
    }

    fn words(&self, table: &'static str, column: &'static str) -> Option<Cow<'_, Words>> {
        self.read(table, column, words).map(Cow::Owned)
    }
}

/// Describe all quantities, in the order of display.
#[pyfunction]
pub(crate) fn quantities(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize(py, &aqmlab_quantities::descriptions())?)
}

/// Compute all quantities of one run from its tables; None if it has no such link.
#[pyfunction]
#[pyo3(signature = (tables, link = None))]
pub(crate) fn run_quantities<'py>(
    tables: &Bound<'py, PyAny>,
    link: Option<&str>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let py = tables.py();
    let tables = PyTables { tables, error: RefCell::default() };
    let found = Run::new(&tables, link).map(|run| aqmlab_quantities::values(&run));
    if let Some(error) = tables.error.take() {
        return Err(error);
    }
    let Some(values) = found else { return Ok(None) };
    let dict = PyDict::new(py);
    for (key, value) in values {
        dict.set_item(key, value)?;
    }
    Ok(Some(dict))
}

/// Return the place of the link that results are about.
#[pyfunction]
pub(crate) fn bottleneck_of(names: Vec<PyBackedStr>, disciplines: Vec<PyBackedStr>) -> Option<usize> {
    aqmlab_quantities::bottleneck_of(names.iter().map(|name| &**name), disciplines.iter().map(|name| &**name))
}

/// Return a quantile of a histogram.
#[pyfunction]
pub(crate) fn histogram_quantile(
    low: &Bound<'_, PyAny>,
    high: &Bound<'_, PyAny>,
    counts: &Bound<'_, PyAny>,
    share: f64,
) -> PyResult<f64> {
    Ok(delay::quantile(&numbers(low)?, &numbers(high)?, &numbers(counts)?, share))
}

/// Return Jain's index.
#[pyfunction]
pub(crate) fn jain(values: &Bound<'_, PyAny>) -> PyResult<f64> {
    Ok(fairness::jain(&numbers(values)?))
}

/// Return one of several choices by its name.
fn choice<T: Copy, const N: usize>(
    what: &str,
    name: &str,
    all: [T; N],
    name_of: fn(T) -> &'static str,
) -> PyResult<T> {
    all.into_iter().find(|&one| name_of(one) == name).ok_or_else(|| {
        InputError::new_err(format!("{what} {name:?}: {} are allowed", all.map(name_of).join(", ")))
    })
}

fn loss_model(name: &str) -> PyResult<LossModel> {
    choice("loss model", name, LossModel::ALL, LossModel::name)
}

fn playout_named(name: &str) -> PyResult<Playout> {
    choice("playout", name, Playout::ALL, Playout::name)
}

fn packet_numbers(column: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    Ok(numbers(column)?.into_iter().map(|number| number as usize).collect())
}

/// Score every direction of the calls of one run, from the columns of `call_packets`: flow to fields of a score.
#[pyfunction]
#[pyo3(signature = (packets, *, playout, jitter_s, frame_s, model, bursts))]
pub(crate) fn call_scores<'py>(
    packets: &Bound<'py, PyAny>,
    playout: &str,
    jitter_s: f64,
    frame_s: Option<f64>,
    model: &str,
    bursts: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let judging =
        Judging { playout: playout_named(playout)?, jitter_s, frame_s, model: loss_model(model)?, bursts };
    let column = |name: &str| numbers(&packets.get_item(name)?);
    let (flows, sent) = (words(&packets.get_item("flow")?)?, column("sent_s")?);
    let (numbers, delays) = (column("packet")?, column("delay_s")?);
    let packets_of = Packets { flows: &flows, numbers: &numbers, sent_s: &sent, delays_s: &delays };
    let dict = PyDict::new(packets.py());
    for one in packets_of.scores(&judging) {
        dict.set_item(one.flow, pythonize(packets.py(), &one.score)?)?;
    }
    Ok(dict)
}

/// Score one direction of a call; the fields of its score.
#[expect(clippy::too_many_arguments, reason = "the keywords of a Python function")]
#[pyfunction]
#[pyo3(signature = (numbers, delays_s, sent, *, playout, jitter_s, frame_s, model, bursts))]
pub(crate) fn call_score<'py>(
    numbers: &Bound<'py, PyAny>,
    delays_s: &Bound<'py, PyAny>,
    sent: usize,
    playout: &str,
    jitter_s: f64,
    frame_s: f64,
    model: &str,
    bursts: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let (playout, model) = (playout_named(playout)?, loss_model(model)?);
    let judging = Judging { playout, jitter_s, frame_s: Some(frame_s), model, bursts };
    let score = judging.score(&packet_numbers(numbers)?, &self::numbers(delays_s)?, sent);
    Ok(pythonize(numbers.py(), &score)?)
}

/// Return the playout delay of each packet of one direction.
#[pyfunction]
#[pyo3(signature = (numbers, delays_s, sent, *, playout, jitter_s, frame_s, talkspurt_s))]
pub(crate) fn playout_delays(
    numbers: &Bound<'_, PyAny>,
    delays_s: &Bound<'_, PyAny>,
    sent: usize,
    playout: &str,
    jitter_s: f64,
    frame_s: f64,
    talkspurt_s: f64,
) -> PyResult<Vec<f64>> {
    let buffer = Buffer { playout: playout_named(playout)?, jitter_s, frame_s, talkspurt_s };
    Ok(buffer.delays(&packet_numbers(numbers)?, &self::numbers(delays_s)?, sent))
}

/// I_d of the E-model.
#[pyfunction]
pub(crate) fn delay_impairment(mouth_to_ear_s: f64) -> f64 {
    e_model::delay_impairment(mouth_to_ear_s)
}

/// I_e,eff of the E-model.
#[pyfunction]
pub(crate) fn loss_impairment(loss: f64, model: &str, burst_ratio: f64) -> PyResult<f64> {
    Ok(e_model::loss_impairment(loss, loss_model(model)?, burst_ratio))
}

/// R of the E-model.
#[pyfunction]
pub(crate) fn rating(mouth_to_ear_s: f64, loss: f64, model: &str, burst_ratio: f64) -> PyResult<f64> {
    Ok(e_model::rating(mouth_to_ear_s, loss, loss_model(model)?, burst_ratio))
}

/// MOS of a rating.
#[pyfunction]
pub(crate) fn opinion(r: f64) -> f64 {
    e_model::opinion(r)
}

/// BurstR of packets that were lost or not.
#[pyfunction]
pub(crate) fn burst_ratio(lost: Vec<bool>) -> f64 {
    e_model::burst_ratio(&lost)
}

/// Add everything to the module.
pub(crate) fn add(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("PLAYOUTS", Playout::ALL.map(Playout::name))?;
    m.add("LOSS_MODELS", LossModel::ALL.map(LossModel::name))?;
    m.add_function(wrap_pyfunction!(quantities, m)?)?;
    m.add_function(wrap_pyfunction!(run_quantities, m)?)?;
    m.add_function(wrap_pyfunction!(bottleneck_of, m)?)?;
    m.add_function(wrap_pyfunction!(histogram_quantile, m)?)?;
    m.add_function(wrap_pyfunction!(jain, m)?)?;
    m.add_function(wrap_pyfunction!(call_scores, m)?)?;
    m.add_function(wrap_pyfunction!(call_score, m)?)?;
    m.add_function(wrap_pyfunction!(playout_delays, m)?)?;
    m.add_function(wrap_pyfunction!(delay_impairment, m)?)?;
    m.add_function(wrap_pyfunction!(loss_impairment, m)?)?;
    m.add_function(wrap_pyfunction!(rating, m)?)?;
    m.add_function(wrap_pyfunction!(opinion, m)?)?;
    m.add_function(wrap_pyfunction!(burst_ratio, m)?)
}
