//! Functions for the lab's Python code: the source of the worker, and the pictures and sentences for a record.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use deadpan_lab::foreign::Language;
use deadpan_lab::record::Record;
use deadpan_lab::report::{self, Detail};

/// Returns the source of the lab's worker for Python.
#[pyfunction]
pub(crate) fn lab_worker() -> &'static str {
    Language::Python.source()
}

/// Returns a sentence that describes the result of the first pair in a record. Also returns the pair's pictures as SVG
/// files with their names.
#[pyfunction]
pub(crate) fn lab_shown(record: &str) -> PyResult<(String, Vec<(String, String)>)> {
    let record: Record = serde_json::from_str(record).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let pairs = record.timing.iter().flat_map(|timing| timing.pairs.iter().map(|pair| (pair, timing.design.delta_ns)));
    let words = pairs.map(|(pair, delta_ns)| pair.sentence(delta_ns)).next().unwrap_or_default();
    let charts = report::charts(&record, &[], Detail::Full);
    Ok((words, charts.iter().map(|chart| (chart.name.clone(), chart.svg())).collect()))
}
