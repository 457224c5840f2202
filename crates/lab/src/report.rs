//! Creates report pages from a record: one self-contained HTML page, or a Markdown page with SVG files.
//!
//! The HTML page is one file without scripts, fonts or links to other sites. The page follows the reader's light or
//! dark theme, fits a phone screen and can be printed. Use the Markdown page if the report belongs to a folder of
//! source files. For a Markdown page, [`Detail`] determines the size of the report.
//!
//! ```
//! use deadpan_lab::{record::Record, report};
//!
//! let page = report::html(&Record::default());
//! assert!(page.starts_with("<!doctype html>"));
//! ```

mod calibration;
mod chart;
mod generations;
mod guide;
mod markdown;
mod markup;
mod number;
mod page;
mod rank;
mod security;
mod speed;
mod summary;
mod table;
mod traces;
mod words;

use std::path::{Path, PathBuf};
use std::{fmt, io};

pub use chart::Chart;

use crate::disk;
use crate::record::Record;

/// Returns the whole report as one HTML page.
#[must_use]
pub fn html(record: &Record) -> String {
    page::write(record, &[])
}

/// Returns the whole report as one HTML page, with charts of baselines and speeds over several runs. `earlier` contains
/// the records of earlier runs, beginning with the oldest record.
#[must_use]
pub fn html_with_history(record: &Record, earlier: &[Record]) -> String {
    page::write(record, earlier)
}

/// The amount of detail in a Markdown page. For a hundred targets, a page with all details has a megabyte of tables and
/// a thousand pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// All tables and all pictures.
    Full,
    /// All tables, the overview pictures, and the main pictures of targets whose verdict is not `NO_LEAK_ABOVE`.
    Main,
    /// One row for each timing target, a reason for each pair whose verdict is not `NO_LEAK_ABOVE`, and the overview
    /// pictures.
    Brief,
}

/// Returns the charts that belong to a page with this amount of detail. `earlier` contains the records of earlier runs,
/// beginning with the oldest record.
#[must_use]
pub fn charts(record: &Record, earlier: &[Record], detail: Detail) -> Vec<Chart> {
    chart::of_record(record, earlier).into_iter().filter(|chart| chart.belongs(record, detail)).collect()
}

/// Writes the full page `report.md` and its pictures to `folder`. The function creates `folder` if the folder does not
/// exist.
///
/// # Errors
///
/// Fails if a file cannot be written, or if a picture cannot be encoded.
pub fn markdown(record: &Record, folder: &Path) -> Result<(), Error> {
    markdown_as(record, &[], folder, "report.md", Detail::Full)
}

/// Writes a Markdown page named `file` and its pictures to `folder`. The function creates `folder` if the folder does
/// not exist. `earlier` contains the records of earlier runs, beginning with the oldest record.
///
/// # Errors
///
/// Fails if a file cannot be written, or if a picture cannot be encoded.
pub fn markdown_as(
    record: &Record,
    earlier: &[Record],
    folder: &Path,
    file: &str,
    detail: Detail,
) -> Result<(), Error> {
    let charts = charts(record, earlier, detail);
    let write = |path: PathBuf, bytes: &[u8]| disk::write(&path, bytes).map_err(|source| Error::Write { path, source });
    disk::make_folder(folder).map_err(|source| Error::Write { path: folder.to_owned(), source })?;
    for chart in &charts {
        write(folder.join(chart.file()), chart.svg().as_bytes())?;
    }
    write(folder.join(file), markdown::write(record, &charts, detail).as_bytes())
}

/// The reason why a report could not be written.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder cannot be written.
    Write {
        /// The path of the file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write { path, source } => write!(out, "cannot write {}: {source}", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Write { source, .. } => Some(source),
        }
    }
}
