//! Sealing and opening of files and folders by path.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::exception;
use crate::to::{Limit, Options, identities, sealing};
use crate::work::{self, detached};
use deadpan_bind::{Kind, OsStringExt as _};

fn length(path: &std::path::Path) -> Option<u64> {
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|about| about.len())
}

/// Seals the file `input` to the file `output`, with its name, time and mode.
///
/// `to`, `age`, `hide_length`, `allow_mixed` and `compress` work as in `seal`. `replace` lets the output replace
/// another file. `progress` is called with the number of bytes that are processed so far; an exception stops the work.
#[pyfunction]
#[pyo3(signature = (input, output, to, *, replace = false, age = false, hide_length = false, allow_mixed = false,
    compress = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "they are the arguments in Python")]
pub(crate) fn seal_file(
    py: Python<'_>,
    input: PathBuf,
    output: PathBuf,
    to: &Bound<'_, PyAny>,
    replace: bool,
    age: bool,
    hide_length: bool,
    allow_mixed: bool,
    compress: Option<u8>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let sealing = sealing(to, Options { age, hide_length, allow_mixed, compress })?;
    work::run(py, length(&input), progress, |work| {
        deadpan_bind::seal_file(&sealing, &input, &output, replace, work).map(drop)
    })
}

/// Opens the sealed file `input` to the file `output`, and restores its time and mode. `keys` and `max_cost` work as in
/// `open`; `replace` and `progress` work as in `seal_file`.
#[pyfunction]
#[pyo3(signature = (input, output, keys, *, replace = false, max_cost = None, progress = None))]
pub(crate) fn open_file(
    py: Python<'_>,
    input: PathBuf,
    output: PathBuf,
    keys: &Bound<'_, PyAny>,
    replace: bool,
    max_cost: Option<Limit>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let identities = identities(keys, max_cost)?;
    work::run(py, length(&input), progress, |work| {
        deadpan_bind::open_file(&identities, &input, &output, replace, work).map(drop)
    })
}

/// Seals a folder with everything in it, or without what matches `exclude` and, with `gitignore`, what git would
/// ignore. Returns notes about entries that were not sealed. The other options work as in `seal_file`.
#[pyfunction]
#[pyo3(signature = (folder, output, to, *, exclude = None, gitignore = false, replace = false, hide_length = false,
    allow_mixed = false, compress = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "they are the arguments in Python")]
pub(crate) fn seal_folder(
    py: Python<'_>,
    folder: PathBuf,
    output: PathBuf,
    to: &Bound<'_, PyAny>,
    exclude: Option<Only>,
    gitignore: bool,
    replace: bool,
    hide_length: bool,
    allow_mixed: bool,
    compress: Option<u8>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<String>> {
    let sealing = sealing(to, Options { hide_length, allow_mixed, compress, ..Options::default() })?;
    let exclude = exclude.map_or_else(Vec::new, Only::into_bytes);
    let exclude =
        exclude.iter().map(|text| deadpan_bind::pattern(text)).collect::<Result<_, _>>().map_err(exception)?;
    work::run(py, None, progress, |work| {
        let sealed = deadpan_bind::seal_folder(&sealing, &folder, &output, exclude, gitignore, replace, work);
        sealed.map(|(_, notes)| notes)
    })
}

/// Selected paths and patterns.
#[derive(FromPyObject)]
pub(crate) enum Only {
    One(PathBuf),
    Several(Vec<PathBuf>),
}

impl Only {
    fn into_bytes(self) -> Vec<Vec<u8>> {
        let paths = match self {
            Self::One(path) => vec![path],
            Self::Several(paths) => paths,
        };
        paths.into_iter().map(|path| path.into_os_string().into_vec()).collect()
    }
}

/// Opens a sealed folder into a new folder. `only` is one path or several paths as in `list_folder`: files, folders
/// with everything in them, and patterns as in .gitignore. With `only`, only these parts of the input are read.
/// `max_cost` works as in `open`.
#[pyfunction]
#[pyo3(signature = (input, folder, keys, *, only = None, max_cost = None, progress = None))]
pub(crate) fn open_folder(
    py: Python<'_>,
    input: PathBuf,
    folder: PathBuf,
    keys: &Bound<'_, PyAny>,
    only: Option<Only>,
    max_cost: Option<Limit>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let identities = identities(keys, max_cost)?;
    let only = only.map(Only::into_bytes);
    work::run(py, None, progress, |work| match only {
        Some(only) => deadpan_bind::open_folder_part(&identities, &input, &folder, only, work),
        None => deadpan_bind::open_folder(&identities, &input, &folder, work).map(drop),
    })
}

/// Lists the entries of a sealed folder: dictionaries with path, kind, size, mode and the time of the last change, in
/// seconds since 1970. `max_cost` works as in `open`.
#[pyfunction]
#[pyo3(signature = (input, keys, *, max_cost = None))]
pub(crate) fn list_folder<'py>(
    py: Python<'py>,
    input: PathBuf,
    keys: &Bound<'py, PyAny>,
    max_cost: Option<Limit>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let identities = identities(keys, max_cost)?;
    let mut entries = Vec::new();
    detached(py, || {
        deadpan_bind::list_folder(&identities, &input, |entry| {
            let kind = match entry.kind {
                Kind::File => "file",
                Kind::Folder => "folder",
                _ => "other",
            };
            let modified = entry.modified.seconds as f64 + f64::from(entry.modified.nanoseconds) / 1e9;
            entries.push((entry.path.clone(), kind, entry.size, entry.mode, modified));
            true
        })
    })
    .map_err(exception)?;
    let entry = |(path, kind, size, mode, modified): (Vec<u8>, &str, u64, u32, f64)| {
        let entry = PyDict::new(py);
        entry.set_item("path", OsString::from_vec(path))?;
        entry.set_item("kind", kind)?;
        entry.set_item("size", size)?;
        entry.set_item("mode", mode)?;
        entry.set_item("modified", modified)?;
        Ok(entry)
    };
    entries.into_iter().map(entry).collect()
}

/// Describes a sealed file as JSON.
#[pyfunction]
#[pyo3(signature = (path, keys = None, *, max_cost = None))]
pub(crate) fn inspect(
    py: Python<'_>,
    path: PathBuf,
    keys: Option<&Bound<'_, PyAny>>,
    max_cost: Option<Limit>,
) -> PyResult<String> {
    let identities = keys.map(|keys| identities(keys, max_cost)).transpose()?;
    detached(py, || deadpan_bind::inspect(&path, identities.as_deref())).map_err(exception)
}

/// Removes incomplete outputs when the interpreter exits. Afterwards, no new output is made.
#[pyfunction]
pub(crate) fn remove_drafts(py: Python<'_>) {
    detached(py, deadpan_bind::remove_drafts);
}
