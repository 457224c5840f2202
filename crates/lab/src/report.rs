//! From a record to pages that people read: one HTML page that holds everything, or Markdown with pictures beside it.
//!
//! The HTML page is one file without scripts, fonts or addresses; it follows the reader's light or dark theme, fits a phone, and prints.
//! Choose the Markdown page where pages are shown beside sources; there, [`Detail`] keeps the folder small.
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
mod table;
mod words;

use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

pub use chart::Chart;

use crate::disk;
use crate::record::Record;

/// The whole report as one HTML page.
#[must_use]
pub fn html(record: &Record) -> String {
    page::write(record, &[])
}

/// Likewise, with pictures of how baselines and speeds went over earlier runs, which come in order of time.
#[must_use]
pub fn html_with_history(record: &Record, earlier: &[Record]) -> String {
    page::write(record, earlier)
}

/// How much of a record goes into a Markdown page: with a hundred targets, all of it is a megabyte of tables and a thousand pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// All tables and all pictures.
    Full,
    /// All tables; of the pictures the overviews, and the main ones of targets that did not end as `NO_LEAK_ABOVE`.
    Main,
    /// For each timing target one row, and a reason for each pair that did not end as `NO_LEAK_ABOVE`; the overviews.
    Brief,
}

/// The charts of a record, each with its name and both forms.
#[must_use]
pub fn charts(record: &Record, earlier: &[Record], detail: Detail) -> Vec<Chart> {
    chart::of_record(record, earlier).into_iter().filter(|chart| chart.belongs(record, detail)).collect()
}

/// Writes `report.md` with everything, and the pictures, into `folder`, which is made where there is none.
///
/// # Errors
///
/// Files that cannot be written; pictures that cannot be packed.
pub fn markdown(record: &Record, folder: &Path) -> Result<(), Error> {
    markdown_as(record, &[], folder, "report.md", Detail::Full)
}

/// Writes the Markdown page as `file` in `folder`, as detailed as wanted, with its pictures beside it.
///
/// # Errors
///
/// Files that cannot be written; pictures that cannot be packed.
pub fn markdown_as(record: &Record, earlier: &[Record], folder: &Path, file: &str, detail: Detail) -> Result<(), Error> {
    let charts = charts(record, earlier, detail);
    let write = |path: PathBuf, bytes: &[u8]| disk::write(&path, bytes).map_err(|source| Error::Write { path, source });
    fs::create_dir_all(folder).map_err(|source| Error::Write { path: folder.to_owned(), source })?;
    for chart in &charts {
        write(folder.join(format!("{}.png", chart.name)), &chart.png()?)?;
    }
    write(folder.join(file), markdown::write(record, &charts, detail).as_bytes())
}

/// Why a report could not be written.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder.
    Write {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A picture, with the part of it that failed.
    Picture(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write { path, source } => write!(out, "cannot write {}: {source}", path.display()),
            Self::Picture(part) => write!(out, "cannot make a picture: {part}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Write { source, .. } => Some(source),
            Self::Picture(_) => None,
        }
    }
}
