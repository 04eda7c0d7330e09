//! Plugins in Python: disciplines, curves and victim rules.
//!
//! A run calls them in its own thread. The first exception is kept there; the plugin is not called again, and the run ends
//! with that exception at the next check.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

use aqmlab_aqm::plugin::{
    self, Action, ArrivalDecision, CurveNumbers, Definition, Idea, Policy, Uniform, VictimRule,
};
use aqmlab_aqm::{DropReason, Ecn, Kind, Meta, plugin_parameter};
use aqmlab_units::{Parameter, Span, Stream, Time, ValueKind};
use pyo3::exceptions::{PyIndexError, PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::scenario::InputError;

thread_local! {
    /// The exception raised by a plugin of the run in this thread.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Clear the exception that an interrupted run left.
pub(crate) fn clear_raised() {
    take_raised();
}

fn take_raised() -> Option<PyErr> {
    RAISED.with(RefCell::take)
}

/// Return the exception of a plugin in this thread as an error of one line.
pub(crate) fn check_raised(py: Python<'_>) -> PyResult<()> {
    take_raised().map_or(Ok(()), |error| {
        Err(as_stop(py, &error).unwrap_or_else(|| InputError::new_err(in_a_line(py, &error))))
    })
}

/// Return Ctrl-C as an error if it was pressed while a curve or the constructor of a discipline ran in this thread. Other
/// exceptions are in the answer of the check.
pub(crate) fn check_interrupted(py: Python<'_>) -> PyResult<()> {
    take_raised().and_then(|error| as_stop(py, &error)).map_or(Ok(()), Err)
}

/// Return an exception if it is Ctrl-C: it ends the program, and is no error of the plugin.
fn as_stop(py: Python<'_>, error: &PyErr) -> Option<PyErr> {
    error.is_instance_of::<PyKeyboardInterrupt>(py).then(|| error.clone_ref(py))
}

/// Keep an exception for `check_interrupted`, and return its text.
fn noted(error: PyErr) -> String {
    let text = error.to_string();
    RAISED.with(|raised| *raised.borrow_mut() = Some(error));
    text
}

/// Format an exception and its place as one line.
fn in_a_line(py: Python<'_>, error: &PyErr) -> String {
    let place = || -> PyResult<String> {
        let mut frame = error.traceback(py).ok_or_else(|| PyValueError::new_err("no traceback"))?.into_any();
        while let Some(next) = frame.getattr("tb_next")?.extract::<Option<Bound<'_, PyAny>>>()? {
            frame = next;
        }
        let file: String = frame.getattr("tb_frame")?.getattr("f_code")?.getattr("co_filename")?.extract()?;
        Ok(format!("{file}:{}: ", frame.getattr("tb_lineno")?))
    };
    let notes: Vec<String> =
        error.value(py).getattr("__notes__").and_then(|notes| notes.extract()).unwrap_or_default();
    let notes: String = notes.iter().map(|note| format!(" ({note})")).collect();
    format!("{}{error}{notes}", place().unwrap_or_default())
}

/// Add a note to an exception: the packet at whose arrival it was raised.
fn at_arrival(py: Python<'_>, error: PyErr, now: Time, packet: &Meta) -> PyErr {
    let note = format!("at {} s, when a packet of {} B arrives", now.secs(), packet.bytes);
    match error.value(py).call_method1("add_note", (note,)) {
        Ok(_) => error,
        Err(other) => other,
    }
}

fn has_raised() -> bool {
    RAISED.with(|raised| raised.borrow().is_some())
}

/// Call Python; return the result, or `None` once an exception was raised.
fn ask<T>(question: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
    if has_raised() {
        return None;
    }
    Python::attach(question).map_err(|error| RAISED.with(|raised| *raised.borrow_mut() = Some(error))).ok()
}

/// A packet, as passed to a plugin.
#[pyclass(frozen, get_all, module = "aqmlab._core")]
pub(crate) struct Packet {
    arrival_s: f64,
    bytes: u32,
    flow: u32,
    dscp: u8,
    ecn: &'static str,
    kind: &'static str,
    #[pyo3(name = "class_")]
    class: u8,
    ttl: u8,
    ttl_initial: u8,
    ttl_final: u8,
}

impl From<&Meta> for Packet {
    fn from(meta: &Meta) -> Self {
        let header = meta.header;
        Self {
            arrival_s: meta.arrival.secs(),
            bytes: meta.bytes,
            flow: meta.flow,
            dscp: header.dscp(),
            ecn: match header.ecn() {
                Ecn::NotEct => "not-ect",
                Ecn::Ect => "ect0",
                Ecn::Ect1 => "ect1",
                Ecn::Ce => "ce",
            },
            kind: match header.kind() {
                Kind::Data => "data",
                Kind::Ack => "ack",
                Kind::Syn => "syn",
            },
            class: header.class(),
            ttl: header.ttl(),
            ttl_initial: header.ttl_initial(),
            ttl_final: header.ttl_final(),
        }
    }
}

#[pymethods]
impl Packet {
    /// Routers that the packet has passed.
    #[getter]
    fn hops(&self) -> u8 {
        self.ttl_initial.saturating_sub(self.ttl)
    }
}

/// The queue, as passed to a plugin; its methods drop and mark packets.
#[pyclass(module = "aqmlab._core")]
#[derive(Clone)]
pub(crate) struct Queue {
    waiting: VecDeque<Meta>,
    bytes: u64,
    bps: f64,
    /// Time without transmission until now, in s; `None` while the link transmits.
    idle_s: Option<f64>,
    random: Stream,
    actions: Vec<Action>,
}

impl Queue {
    fn at(&self, place: isize) -> PyResult<usize> {
        let place = if place < 0 { place + self.waiting.len() as isize } else { place };
        usize::try_from(place).ok().filter(|place| *place < self.waiting.len()).ok_or_else(|| {
            PyIndexError::new_err(format!("place {place} in a queue of {} packets", self.waiting.len()))
        })
    }

    fn take(&mut self, place: usize) {
        if let Some(meta) = self.waiting.remove(place) {
            self.bytes -= u64::from(meta.bytes);
        }
    }
}

#[pymethods]
impl Queue {
    fn __len__(&self) -> usize {
        self.waiting.len()
    }

    fn __getitem__(&self, place: isize) -> PyResult<Packet> {
        Ok(Packet::from(&self.waiting[self.at(place)?]))
    }

    /// Bytes waiting.
    #[getter]
    fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The link's bit rate.
    #[getter]
    fn rate_bps(&self) -> f64 {
        self.bps
    }

    /// Whether the link transmits a packet now.
    #[getter]
    fn busy(&self) -> bool {
        self.idle_s.is_none()
    }

    /// Seconds since the link's last transmission, or since the start of the run; 0 while it transmits.
    #[getter]
    fn idle_s(&self) -> f64 {
        self.idle_s.unwrap_or(0.0)
    }

    /// A random number, uniform on [0, 1), of the run's seed.
    fn uniform(&mut self) -> f64 {
        self.random.uniform()
    }

    /// A random integer, uniform on 0 to n - 1.
    fn below(&mut self, n: u64) -> PyResult<u64> {
        if n == 0 {
            return Err(PyValueError::new_err("below(n): n must be at least 1"));
        }
        Ok(self.random.below(n))
    }

    /// Drops the packet at a place (0: the head; -1: the last); those behind it move up.
    #[pyo3(signature = (place, reason = "early"))]
    fn drop(&mut self, place: isize, reason: &str) -> PyResult<()> {
        let place = self.at(place)?;
        self.actions.push(Action::Drop(place, drop_reason(reason)?));
        self.take(place);
        Ok(())
    }

    /// Marks the packet at a place. Whether it is ECN-capable; one that is not stays as it is.
    fn mark(&mut self, place: isize) -> PyResult<bool> {
        let place = self.at(place)?;
        let header = &mut self.waiting[place].header;
        let can = header.ecn() != Ecn::NotEct;
        if can {
            header.set_ecn(Ecn::Ce);
            self.actions.push(Action::Mark(place));
        }
        Ok(can)
    }
}

fn drop_reason(word: &str) -> PyResult<DropReason> {
    let reasons = [DropReason::EARLY, DropReason::FORCED, DropReason::OVERFLOW];
    reasons.into_iter().find(|reason| reason.name() == word).ok_or_else(|| {
        let allowed = reasons.map(DropReason::name).join(", ");
        PyValueError::new_err(format!("{word:?} is not a reason of a drop (allowed: {allowed})"))
    })
}

/// A discipline in Python: an object, and the queue passed to it.
#[derive(Debug)]
struct PythonPolicy {
    object: Py<PyAny>,
    queue: Option<Py<Queue>>,
    bps: f64,
    /// When the link's last transmission ended; `None` while it transmits.
    idle_since: Option<Time>,
    gauges: Arc<[String]>,
    decision: ArrivalDecision,
}

impl PythonPolicy {
    /// Call a method with the time, its other arguments and the queue.
    fn call<T>(
        &mut self,
        now: Time,
        draw: Uniform<'_>,
        actions: &mut Vec<Action>,
        call: impl FnOnce(&Bound<'_, PyAny>, &Bound<'_, Queue>) -> PyResult<T>,
    ) -> Option<T> {
        ask(|py| {
            let queue = match &self.queue {
                Some(queue) => queue.bind(py).clone(),
                None => {
                    // A stream of its own, since Python may ask for numbers in any order.
                    let seed = (draw() * (1u64 << 53) as f64) as u64;
                    let random = Stream::new(seed, "discipline in Python");
                    let (waiting, bps, actions) = (VecDeque::new(), self.bps, Vec::new());
                    let queue = Queue { waiting, bytes: 0, bps, idle_s: None, random, actions };
                    let queue = Bound::new(py, queue)?;
                    self.queue = Some(queue.clone().unbind());
                    queue
                }
            };
            queue.borrow_mut().idle_s = self.idle_since.map(|since| now.since(since).secs());
            let answer = call(self.object.bind(py), &queue)?;
            actions.append(&mut queue.borrow_mut().actions);
            Ok(answer)
        })
    }

    fn number(&self, name: &str) -> f64 {
        let get = |py: Python<'_>| match self.object.bind(py).getattr_opt(name)? {
            Some(value) => value.extract::<f64>(),
            None => Ok(0.0),
        };
        ask(get).unwrap_or(0.0)
    }
}

/// Parse the return value of `enqueue`.
fn decision(answer: &Bound<'_, PyAny>) -> PyResult<ArrivalDecision> {
    const ALLOWED: &str = "enqueue returns \"accept\", \"mark\", \"drop\" or \"drop:REASON\"";
    let word: String = answer.extract().map_err(|_| PyTypeError::new_err(ALLOWED))?;
    match word.as_str() {
        "accept" => Ok(ArrivalDecision::Accept),
        "mark" => Ok(ArrivalDecision::Mark),
        "drop" => Ok(ArrivalDecision::Drop(DropReason::EARLY)),
        other => match other.strip_prefix("drop:") {
            Some(reason) => Ok(ArrivalDecision::Drop(drop_reason(reason)?)),
            None => Err(PyValueError::new_err(ALLOWED)),
        },
    }
}

impl Policy for PythonPolicy {
    fn enqueue(
        &mut self,
        now: Time,
        arriving: &Meta,
        draw: Uniform<'_>,
        actions: &mut Vec<Action>,
    ) -> ArrivalDecision {
        let packet = Packet::from(arriving);
        let answer = self.call(now, draw, actions, |object, queue| {
            let answer = object
                .call_method1("enqueue", (now.secs(), packet, queue))
                .map_err(|error| at_arrival(object.py(), error, now, arriving))?;
            decision(&answer).map_err(|error| {
                let text = format!("{} ({:?})", error.value(object.py()), answer);
                let error = PyValueError::new_err(format!(
                    "{}: {text}",
                    object.get_type().qualname().map_or_else(|_| String::new(), |n| n.to_string())
                ));
                at_arrival(object.py(), error, now, arriving)
            })
        });
        self.decision = answer.unwrap_or(ArrivalDecision::Accept);
        self.decision
    }

    fn link_is(&mut self, busy: bool, now: Time) {
        self.idle_since = (!busy).then(|| self.idle_since.unwrap_or(now));
    }

    fn accepted(&mut self, packet: &Meta) {
        let Some(queue) = &self.queue else { return };
        ask(|py| {
            let mut queue = queue.borrow_mut(py);
            queue.bytes += u64::from(packet.bytes);
            queue.waiting.push_back(*packet);
            Ok(())
        });
    }

    fn dequeue(&mut self, now: Time, draw: Uniform<'_>, actions: &mut Vec<Action>) -> Option<usize> {
        self.call(now, draw, actions, |object, queue| {
            let answer = object.call_method1("dequeue", (now.secs(), queue))?;
            let mut queue = queue.borrow_mut();
            if queue.waiting.is_empty() {
                return Ok(None);
            }
            let place = queue.at(answer.extract::<Option<isize>>()?.unwrap_or(0))?;
            queue.take(place);
            Ok(Some(place))
        })?
    }

    fn on_timer(&mut self, now: Time, draw: Uniform<'_>, actions: &mut Vec<Action>) {
        self.call(now, draw, actions, |object, queue| {
            object.call_method1("on_timer", (now.secs(), queue)).map(drop)
        });
    }

    fn average(&self) -> f64 {
        let average = self.number("average");
        if average >= 0.0 { average } else { 0.0 }
    }

    fn p_b(&self) -> f64 {
        self.number("p_b").clamp(0.0, 1.0)
    }

    fn gauges(&self, out: &mut dyn FnMut(f64)) {
        for name in self.gauges.iter() {
            out(self.number(name));
        }
    }

    fn copied(&self) -> Box<dyn Policy> {
        let copy = ask(|py| {
            let object = py.import("copy")?.call_method1("deepcopy", (&self.object,))?.unbind();
            let queue = self.queue.as_ref().map(|queue| Py::new(py, queue.borrow(py).clone()));
            Ok((object, queue.transpose()?))
        });
        let (object, queue) = copy.map_or((None, None), |(object, queue)| (Some(object), queue));
        let object = object.unwrap_or_else(|| Python::attach(|py| self.object.clone_ref(py)));
        let (bps, idle_since, gauges) = (self.bps, self.idle_since, Arc::clone(&self.gauges));
        Box::new(Self { object, queue, bps, idle_since, gauges, decision: self.decision })
    }
}

/// A victim rule in Python.
#[derive(Debug)]
struct PythonRule(Py<PyAny>);

impl VictimRule for PythonRule {
    fn pick(&self, waiting: &VecDeque<Meta>, draw: Uniform<'_>) -> Option<usize> {
        ask(|py| {
            let packets = waiting.iter().map(Packet::from).map(|p| Py::new(py, p));
            let packets = packets.collect::<PyResult<Vec<_>>>()?;
            let count = packets.len();
            let answer = self.0.bind(py).call1((packets, draw()))?.extract::<Option<usize>>()?;
            match answer {
                Some(place) if place >= count => {
                    Err(PyIndexError::new_err(format!("place {place} among {count} packets")))
                }
                place => Ok(place),
            }
        })?
    }
}

/// A parameter: key, unit, default, smallest and largest value, what it is.
type ParameterRow = (String, String, f64, Option<f64>, Option<f64>, String);

fn parameter((key, unit, default, min, max, doc): ParameterRow) -> PyResult<(Parameter, f64)> {
    let kind = match unit.as_str() {
        "packets" => ValueKind::PacketsOrBytes,
        "bytes" => ValueKind::Bytes,
        "s" => ValueKind::Time,
        "1" => ValueKind::Number,
        "flag" => ValueKind::Flag,
        other => {
            let message = format!("{key}: there is no unit {other:?} (allowed: packets, bytes, s, 1, flag)");
            return Err(PyValueError::new_err(message));
        }
    };
    // A definition lives as long as the program.
    Ok((plugin_parameter(key.leak(), kind, (min, max), doc.leak()), default))
}

/// The shortest time between two calls of a discipline's timer, in seconds. A call takes about as long.
const SHORTEST_TIMER_S: f64 = 1e-6;

/// Return the interval of a timer, or an error if it is too short or not a number.
fn timer(every_s: f64) -> PyResult<Span> {
    if every_s.is_finite() && every_s >= SHORTEST_TIMER_S {
        return Ok(Span::from_secs(every_s));
    }
    let message =
        format!("every: {every_s} s is out of range (allowed: {SHORTEST_TIMER_S} s or more, or None)");
    Err(PyValueError::new_err(message))
}

/// Register a plugin written in Python: `idea` is "discipline" (`object` is called with the parameters and
/// gives an object with the methods enqueue, dequeue and on_timer), "curve" or "victim" (`object` is called).
#[expect(clippy::too_many_arguments, reason = "the keywords of a Python function")]
#[pyfunction]
pub(crate) fn register(
    name: String,
    title: String,
    source: String,
    doc: String,
    digest: String,
    idea: &str,
    object: Py<PyAny>,
    parameters: Vec<ParameterRow>,
    every_s: Option<f64>,
    gauges: Vec<String>,
) -> PyResult<()> {
    let idea = match idea {
        "discipline" => {
            let parameters = parameters.into_iter().map(parameter).collect::<PyResult<Vec<_>>>()?;
            let names: Arc<[String]> = gauges.clone().into();
            let make = move |values: &[(&'static str, f64)], bps: f64| {
                let made = Python::attach(|py| object.call1(py, (values.to_vec(),)));
                let object = made.map_err(noted)?;
                let (gauges, decision) = (Arc::clone(&names), ArrivalDecision::Accept);
                let idle_since = Some(Time::ZERO);
                Ok(Box::new(PythonPolicy { object, queue: None, bps, idle_since, gauges, decision })
                    as Box<dyn Policy>)
            };
            let gauges = gauges.into_iter().map(|name| &*name.leak()).collect();
            let every = every_s.map(timer).transpose()?;
            Idea::Discipline { make: Arc::new(make), parameters, every, gauges }
        }
        "curve" => Idea::Curve(Arc::new(move |average, numbers: CurveNumbers| {
            let CurveNumbers { min_th, max_th, max_p, limit } = numbers;
            let p_b = Python::attach(|py| {
                object.call1(py, (average, min_th, max_th, max_p, limit))?.extract::<f64>(py)
            });
            p_b.map_err(noted)
        })),
        _ => Idea::Victim(Arc::new(PythonRule(object))),
    };
    plugin::register(Definition { name, title, source, doc, digest, idea }).map_err(PyValueError::new_err)
}
