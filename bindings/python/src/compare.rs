//! Comparison in a time that depends on the lengths only.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::buffer;
use deadpan_ct::CtEq;

/// Compares bytes or texts in constant time.
#[pyfunction]
pub(crate) fn compare_digest(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<bool> {
    if a.is_instance_of::<PyString>() != b.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("a text and bytes cannot be compared: encode the text first"));
    }
    let (a, b) = (buffer::text(a)?, buffer::text(b)?);
    Ok(a.len() == b.len() && a.ct_eq(&*b).declassify())
}
