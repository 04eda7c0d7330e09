//! Tables of a run as Python reads them: columns of numbers as type and bytes, columns of words as the different words and, for each
//! row, the bytes of the place of its word.

use aqmlab_netsim::{Column, Table};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

fn column<'py>(py: Python<'py>, column: &Column) -> PyResult<Bound<'py, PyAny>> {
    Ok(match column {
        Column::Integer(v) => ("<i8", bytes(py, v, i64::to_le_bytes)?).into_pyobject(py)?.into_any(),
        Column::Real(v) => ("<f8", bytes(py, v, f64::to_le_bytes)?).into_pyobject(py)?.into_any(),
        Column::Text(v) => {
            let different = PyList::new(py, v.different().map(|word| PyString::new(py, word)))?;
            (different, bytes(py, v.places(), u32::to_le_bytes)?).into_pyobject(py)?.into_any()
        }
    })
}

/// Copy numbers into a buffer that Python reads.
fn bytes<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    values: &[T],
    to_bytes: fn(T) -> [u8; N],
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, N * values.len(), |buffer| {
        let places = buffer.as_chunks_mut().0;
        places.iter_mut().zip(values).for_each(|(place, &value)| *place = to_bytes(value));
        Ok(())
    })
}

pub(crate) fn table<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, values) in table {
        dict.set_item(name, column(py, values)?)?;
    }
    Ok(dict)
}
