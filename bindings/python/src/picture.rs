//! Data in pictures.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::buffer::Input;
use crate::errors::exception;
use deadpan_bind::{PictureOptions, read_pictures, write_pictures};

/// Writes bytes to PNG or WebP pictures, and returns their paths. Nothing is encrypted: seal the bytes first.
#[pyfunction]
#[pyo3(signature = (data, output, *, size = None, spares = 0, replace = false))]
pub(crate) fn hide(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    output: PathBuf,
    size: Option<(u32, u32)>,
    spares: u32,
    replace: bool,
) -> PyResult<Vec<PathBuf>> {
    let data = Input::of(data)?;
    let (memory, options) = (data.memory(), PictureOptions { size, spares, replace });
    py.detach(|| write_pictures(&memory, memory.len() as u64, &output, options)).map_err(exception)
}

/// Returns the bytes of pictures, which may be in any order. Spare pictures replace missing ones.
#[pyfunction]
pub(crate) fn reveal<'py>(py: Python<'py>, pictures: Vec<PathBuf>) -> PyResult<Bound<'py, PyBytes>> {
    let data = py.detach(|| read_pictures(&pictures)).map_err(exception)?;
    Ok(PyBytes::new(py, &data))
}
