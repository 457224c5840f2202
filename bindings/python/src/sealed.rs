//! A sealed file whose header is open: the native part of `Reader` and of the package's file system.

use std::ffi::OsString;
use std::io::{self, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{exception, raised};
use crate::source::{SealedSource, SharedFile, raised_by_object};
use crate::streams::NativeReader;
use crate::to::{Limit, identities};
use crate::work::detached;
use deadpan_bind::{Entry, Fault, Kind, OsStringExt as _, contents, each_entry, file_in, open_seekable};
use deadpan_seal::{Cursor, Error, Header, Identity, Opened, RangeReader};

/// An entry of a folder: path, kind, size, mode, time of the last change, target.
type Row = (OsString, &'static str, u64, u32, f64, Option<OsString>);

struct Place {
    path: PathBuf,
    file: SharedFile,
    length: u64,
}

/// A sealed file whose header was opened with keys. Readers of its data need no further key.
#[pyclass(frozen, module = "deadpan._native")]
pub(crate) struct NativeSealed {
    opened: Opened,
    /// The file, unless the sealed data came from a file object.
    place: Option<Place>,
}

/// Returns the exception for an error of the engine: the file object's own exception, if reading failed.
fn failed(error: Error) -> PyErr {
    match error {
        Error::Read(error) => raised_by_object(error),
        error => raised(error),
    }
}

fn unlock(mut source: SealedSource, identities: &[Identity]) -> Result<Opened, Error> {
    source.seek(SeekFrom::Start(0)).map_err(Error::Read)?;
    Header::read(source)?.open(identities)
}

fn row(entry: Entry) -> Row {
    let kind = match entry.kind {
        Kind::File | Kind::Sparse => "file",
        Kind::Folder => "folder",
        Kind::SymbolicLink => "symlink",
        Kind::HardLink => "hardlink",
        _ => "other",
    };
    let modified = entry.modified.seconds as f64 + f64::from(entry.modified.nanoseconds) / 1e9;
    let target = entry.target.map(OsString::from_vec);
    (OsString::from_vec(entry.path), kind, entry.size, entry.mode, modified, target)
}

impl NativeSealed {
    /// Calls `work` with a new reader of the data, and returns the exception for its error. `source` is a file object
    /// with the sealed data, and is not used if the sealed data are in a file.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        source: Option<&Bound<'_, PyAny>>,
        work: impl FnOnce(RangeReader<SealedSource>) -> io::Result<T> + Send,
    ) -> PyResult<T> {
        let source = match (&self.place, source) {
            (Some(place), _) => SealedSource::File(Cursor::new(place.file.clone(), place.length)),
            (None, Some(object)) => SealedSource::Object(object.clone().unbind()),
            (None, None) => return Err(PyValueError::new_err("a file object with the sealed data is needed")),
        };
        let inner = |error| match error {
            Error::Read(error) => error,
            error => io::Error::other(error),
        };
        detached(py, || work(self.opened.seek_in(source).map_err(inner)?)).map_err(|error| match &self.place {
            Some(place) => exception(Fault::of_reader(error).about(&place.path)),
            None => raised_by_object(error),
        })
    }
}

#[pymethods]
impl NativeSealed {
    /// `source` is a path, or a file object with `seek` and `read`, which is not kept.
    #[new]
    #[pyo3(signature = (source, keys, *, max_cost = None))]
    fn new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        keys: &Bound<'_, PyAny>,
        max_cost: Option<Limit>,
    ) -> PyResult<Self> {
        let identities = identities(keys, max_cost)?;
        if source.hasattr("read")? && source.hasattr("seek")? {
            let source = SealedSource::Object(source.clone().unbind());
            let opened = detached(py, || unlock(source, &identities)).map_err(failed)?;
            return Ok(Self { opened, place: None });
        }
        let path: PathBuf = source.extract()?;
        let opened = detached(py, || {
            let (file, length) = open_seekable(&path)?;
            let file = SharedFile(Arc::new(file));
            let source = SealedSource::File(Cursor::new(file.clone(), length));
            unlock(source, &identities)
                .map(|opened| (opened, file, length))
                .map_err(|error| Fault::from(error).about(&path))
        });
        let (opened, file, length) = opened.map_err(exception)?;
        Ok(Self { opened, place: Some(Place { path, file, length }) })
    }

    /// Whether a folder was sealed.
    #[getter]
    fn is_folder(&self) -> bool {
        self.opened.metadata().kind == deadpan_seal::Kind::Folder
    }

    /// Returns the entries of the folder: tuples of path, kind, size, mode, time of the last change, target of a link.
    #[pyo3(signature = (source = None))]
    fn entries(&self, py: Python<'_>, source: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Row>> {
        self.with(py, source, |reader| {
            let mut rows = Vec::new();
            each_entry(contents(reader)?, |entry| rows.push(row(entry)))?;
            Ok(rows)
        })
    }

    /// Returns a reader of the data, or of the file `entry` of the folder. Each reader has its own position.
    #[pyo3(signature = (entry = None, source = None))]
    fn reader(
        &self,
        py: Python<'_>,
        entry: Option<OsString>,
        source: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<NativeReader> {
        let path = self.place.as_ref().map(|place| place.path.clone());
        let entry = entry.map(OsString::into_vec);
        self.with(py, source, |reader| match entry {
            None => {
                let length = reader.length();
                Ok(NativeReader::of(reader, length, path))
            }
            Some(entry) => {
                let file = file_in(contents(reader)?, &entry)?;
                let length = file.length();
                Ok(NativeReader::of(file, length, path))
            }
        })
    }
}
