//! Live links, UDP in real time, and captures through data plane and simulator. Linux only.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use aqmlab_dataplane::replay::replay_json;
use aqmlab_dataplane::traffic::{self, Role};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

/// Add the functions of this file to the module.
pub(crate) fn add(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(live_link, m)?)?;
    m.add_function(wrap_pyfunction!(live_udp, m)?)?;
    m.add_function(wrap_pyfunction!(live_replay, m)?)
}

/// Run a link process: the configuration is a file, `-` for standard input, or JSON itself; commands come from standard
/// input, lines of JSON go to standard output. Ends with the run, and on SIGINT and SIGTERM; the exit code.
#[pyfunction]
fn live_link(py: Python<'_>, config: &str) -> u8 {
    py.detach(|| aqmlab_dataplane::process::main(config))
}

/// Run the source or the sink of UDP flows: requests on standard input, results on standard output.
#[pyfunction]
fn live_udp(py: Python<'_>, role: &str) -> PyResult<()> {
    let role = match role {
        "source" => Role::Source,
        "sink" => Role::Sink,
        other => {
            return Err(PyValueError::new_err(format!(
                "role {other:?} is not known (allowed: source, sink)"
            )));
        }
    };
    py.detach(|| traffic::run(role, io::stdin().lock(), io::stdout().lock())).map_err(|error| {
        match error.kind() {
            ErrorKind::InvalidInput => PyValueError::new_err(error.to_string()),
            _ => PyOSError::new_err(error.to_string()),
        }
    })
}

/// Replay the packets of a capture through the data plane and through the simulator, for the configuration of a link
/// process. Return the outcomes and the differences, as JSON.
#[pyfunction]
fn live_replay(py: Python<'_>, config: &str, capture: PathBuf) -> PyResult<String> {
    py.detach(|| replay_json(config, &capture)).map_err(PyValueError::new_err)
}
