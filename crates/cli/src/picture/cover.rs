//! Covers and other pictures that are read from their pixels.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::picture::failed;
use crate::shown::shown;
use deadpan_picture::{Decoded, FileFormat, Limits, Orientation, probe, read};

/// Decodes a picture.
pub fn decode(path: &Path, orientation: Orientation) -> Result<Decoded, Failure> {
    let name = shown(path);
    let file = File::open(path).map_err(|error| Failure::io("read", &name, &error))?;
    if file.metadata().is_ok_and(|about| about.is_dir()) {
        return Err(Failure::usage(format!("{name} is a folder"), "name a picture"));
    }
    read(BufReader::with_capacity(1 << 16, file), orientation, &Limits::default()).map_err(|error| failed(&name, error))
}

/// Returns the paths of all covers: the pictures that are named, and those directly in folders that are named. Other
/// files in the folders are left out.
pub fn all(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut covers = Vec::new();
    for path in named {
        if !path.is_dir() {
            covers.push(path.clone());
            continue;
        }
        let before = covers.len();
        for inside in files_in(path)? {
            covers.extend(format_of(&inside).map(|_| inside));
        }
        if covers.len() == before {
            return Err(Failure::usage(
                format!("{} has no pictures in it", shown(path)),
                "name PNG, WebP or JPEG files",
            ));
        }
    }
    Ok(covers)
}

/// Returns the files directly in a folder, in the order of their names.
pub fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| Failure::path("read", folder, &error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        // A link to a file is a file. Pipes and devices are left alone: opening one could wait for ever.
        if fs::metadata(&path).is_ok_and(|about| about.is_file()) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the format of a picture; `None` if the file is no picture.
fn format_of(path: &Path) -> Option<FileFormat> {
    let file = File::open(path).ok()?;
    probe(BufReader::new(file)).ok().map(|header| header.format)
}
