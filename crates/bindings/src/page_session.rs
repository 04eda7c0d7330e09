//! Requests of the laboratory's page.

use aqmlab_web::Session;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::plugins;

/// A page's session: at most one run, and the numbers of the last one that was finished. One thread at a time uses it.
#[pyclass(module = "aqmlab._core")]
#[derive(Default)]
pub(crate) struct PageSession(Session);

#[pymethods]
impl PageSession {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Answer a request: check, disciplines, quantities, curve, read_toml, start or finish; JSON.
    fn answer(&mut self, py: Python<'_>, name: &str, text: &str) -> PyResult<String> {
        plugins::clear_raised();
        let answer = py.detach(|| self.0.answer(name, text));
        if matches!(name, "start" | "finish") {
            plugins::check_raised(py)?;
        } else {
            plugins::check_interrupted(py)?;
        }
        Ok(answer)
    }

    /// Go on to this share of the run; the packets that all links carried so far, None if there is no run.
    fn advance(&mut self, py: Python<'_>, share: f64) -> PyResult<Option<u64>> {
        plugins::clear_raised();
        let hops = py.detach(|| self.0.advance(share));
        plugins::check_raised(py)?;
        Ok(hops)
    }

    /// The numbers of the last run that was finished.
    fn columns<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.columns())
    }
}
