//! Recovery data.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::work;
use deadpan_bind::sidecar_of;

/// Makes recovery data for a file, and returns their path: `path` with `.dpr`, or `sidecar`. With 10 percent, a tenth
/// of the file may be lost.
///
/// `replace` lets the recovery data replace another file. `progress` is called with the number of bytes that are
/// processed so far; an exception stops the work.
#[pyfunction]
#[pyo3(signature = (path, percent = 10, *, sidecar = None, replace = false, progress = None))]
pub(crate) fn repair_make(
    py: Python<'_>,
    path: PathBuf,
    percent: u8,
    sidecar: Option<PathBuf>,
    replace: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PathBuf> {
    let sidecar = sidecar.unwrap_or_else(|| sidecar_of(&path));
    work::run(py, None, progress, |work| deadpan_bind::repair_make(&path, &sidecar, percent, replace, work))?;
    Ok(sidecar)
}

/// Compares a file with its recovery data. Returns a dictionary: whether the file is `whole`, whether its recovery data
/// are (`sidecar_whole`), whether `repair_fix` can make the original file (`fixable`), the `missing` ranges of the
/// original file, and how many bytes have `moved`.
#[pyfunction]
#[pyo3(signature = (path, *, sidecar = None, progress = None))]
pub(crate) fn repair_check<'py>(
    py: Python<'py>,
    path: PathBuf,
    sidecar: Option<PathBuf>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let sidecar = sidecar.unwrap_or_else(|| sidecar_of(&path));
    let damage = work::run(py, None, progress, |work| deadpan_bind::repair_check(&path, &sidecar, work))?;
    let report = PyDict::new(py);
    report.set_item("whole", damage.whole)?;
    report.set_item("sidecar_whole", damage.sidecar_whole)?;
    report.set_item("fixable", damage.fixable)?;
    report.set_item("missing", damage.missing)?;
    report.set_item("moved", damage.moved)?;
    Ok(report)
}

/// Writes the original of a damaged file to `output`, which gets its name only if its hash is that of the original.
/// The damaged file stays as it is. Returns False, and writes nothing, if the file is whole. Raises TamperedError if
/// too much is damaged.
#[pyfunction]
#[pyo3(signature = (path, output, *, sidecar = None, replace = false, progress = None))]
pub(crate) fn repair_fix(
    py: Python<'_>,
    path: PathBuf,
    output: PathBuf,
    sidecar: Option<PathBuf>,
    replace: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<bool> {
    let sidecar = sidecar.unwrap_or_else(|| sidecar_of(&path));
    work::run(py, None, progress, |work| deadpan_bind::repair_fix(&path, &sidecar, &output, replace, work))
}
