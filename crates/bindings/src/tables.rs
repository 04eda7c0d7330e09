//! Tables of a run as Python reads them: columns of numbers as bytes, columns of text as lists.

use aqmlab_netsim::{Column, Table};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

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

pub(crate) fn table<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, values) in table {
        dict.set_item(name, column(py, values)?)?;
    }
    Ok(dict)
}
