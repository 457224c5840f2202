//! Base64, paddings and comparison, in a time that depends on the lengths only.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::buffer;
use deadpan_base64::{Base64, STANDARD, URL_SAFE};
use deadpan_ct::CtEq;
use deadpan_pad::{Padding, Scheme};

fn codec(urlsafe: bool) -> Base64 {
    if urlsafe { URL_SAFE } else { STANDARD }
}

/// Encodes bytes as base64.
#[pyfunction]
#[pyo3(signature = (data, *, urlsafe = false))]
pub(crate) fn b64encode<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    urlsafe: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let (data, codec) = (buffer::input(data)?, codec(urlsafe));
    let room = codec.encoded_len(data.bytes().len()).ok_or_else(|| PyValueError::new_err("the data are too long"))?;
    PyBytes::new_with(py, room, |text| {
        codec.encode_into(data.bytes(), text).map(drop).map_err(|error| PyValueError::new_err(error.to_string()))
    })
}

/// Decodes base64, strictly: each sequence of bytes has one valid text.
#[pyfunction]
#[pyo3(signature = (text, *, urlsafe = false))]
pub(crate) fn b64decode<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyAny>,
    urlsafe: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let text = buffer::text(text)?;
    let decoded = codec(urlsafe).decode(&text).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(PyBytes::new(py, &decoded))
}

/// Compares bytes or texts in constant time.
#[pyfunction]
pub(crate) fn compare_digest(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (a, b) = (buffer::text(a)?, buffer::text(b)?);
    Ok(a.len() == b.len() && a.ct_eq(&b).declassify())
}

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
    let (data, padding) = (buffer::input(data)?, padding(scheme, block)?);
    let room = padding.padded_len(data.bytes().len()).ok_or_else(|| PyValueError::new_err("the data are too long"))?;
    PyBytes::new_with(py, room, |padded| {
        padding.pad_into(data.bytes(), padded).map(drop).map_err(|error| PyValueError::new_err(error.to_string()))
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
    let (data, padding) = (buffer::input(data)?, padding(scheme, block)?);
    let plain = padding.unpad(data.bytes()).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(PyBytes::new(py, plain))
}
