//! Paddings, in a time that depends on the lengths only.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::buffer::Input;
use deadpan_pad::{Padding, Scheme};

fn padding(scheme: &str, block: u8) -> PyResult<Padding> {
    let found = Scheme::ALL.into_iter().find(|known| known.name() == scheme).ok_or_else(|| {
        let names: Vec<_> = Scheme::ALL.iter().map(|scheme| scheme.name()).collect();
        PyValueError::new_err(format!("{scheme} is no padding; there are {}", names.join(", ")))
    })?;
    Padding::new(found, block).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Pads data to whole blocks.
#[pyfunction]
#[pyo3(signature = (data, block = 16, scheme = "pkcs7"))]
pub(crate) fn pad<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    block: u8,
    scheme: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let (data, padding) = (Input::of(data)?, padding(scheme, block)?);
    let data = data.fixed();
    let room = padding.padded_len(data.len()).ok_or_else(|| PyValueError::new_err("the data are too long"))?;
    PyBytes::new_with(py, room, |padded| {
        padding.pad_into(&data, padded).map(drop).map_err(|error| PyValueError::new_err(error.to_string()))
    })
}

/// Removes a padding.
#[pyfunction]
#[pyo3(signature = (data, block = 16, scheme = "pkcs7"))]
pub(crate) fn unpad<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    block: u8,
    scheme: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let (data, padding) = (Input::of(data)?, padding(scheme, block)?);
    let data = data.fixed();
    let plain = padding.unpad(&data).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(PyBytes::new(py, plain))
}
