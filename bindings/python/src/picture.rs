//! Data in pictures.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::buffer::Input;
use crate::work;
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
    let length = memory.len() as u64;
    work::run(py, Some(length), None, |work| write_pictures(&memory, length, &output, options, work))
}

/// Returns the bytes of pictures, which may be in any order. Spare pictures (which contain redundant data) replace
/// missing pictures.
#[pyfunction]
pub(crate) fn reveal<'py>(py: Python<'py>, pictures: Vec<PathBuf>) -> PyResult<Bound<'py, PyBytes>> {
    let data = work::run(py, None, None, |work| read_pictures(&pictures, work))?;
    Ok(PyBytes::new(py, &data))
}
