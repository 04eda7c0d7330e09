//! UDP in real time, and captures through data plane and simulator.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use aqmlab_dataplane::replay::replay_json;
use aqmlab_dataplane::traffic::{self, Role};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

/// Run the source or the sink of UDP flows: requests on standard input, results on standard output.
#[pyfunction]
pub(crate) fn live_udp(py: Python<'_>, role: &str) -> PyResult<()> {
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
pub(crate) fn live_replay(py: Python<'_>, config: &str, capture: PathBuf) -> PyResult<String> {
    py.detach(|| replay_json(config, &capture)).map_err(PyValueError::new_err)
}
