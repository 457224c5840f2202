//! The folders of this command's files, each of which is opened once.
//!
//! A command waits for a passphrase, or for the data of a pipe. Meanwhile, a path may come to lead elsewhere. So the
//! folders of inputs and outputs are opened before, and whoever looks for the same path later gets the open folder.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::remote;
use deadpan_disk::{Folder, Input, OpenMode, Way, parent, trimmed};

/// The most folders that are remembered, so that descriptors are left. Others are looked up again.
const MOST: usize = 256;

static HELD: Mutex<BTreeMap<PathBuf, Held>> = Mutex::new(BTreeMap::new());

/// What a path named first.
#[derive(Clone)]
enum Held {
    There(Way),
    /// Nothing: the nearest folder above, and the path from there.
    Missing(Folder, PathBuf),
}

/// Returns the way to the folder that this path named first.
pub fn way(path: &Path) -> io::Result<Way> {
    let path = trimmed(path);
    match held(&path) {
        Some(Held::There(way)) => Ok(way),
        Some(Held::Missing(above, rest)) => above.descend(&rest).map(Way::from),
        None => remember(path.clone(), Way::to(&path)?),
    }
}

/// As [`way`]. If the folder is missing, makes it, and the folders above it.
pub fn way_or_make(path: &Path, mode: u32) -> io::Result<Way> {
    let path = trimmed(path);
    hold_folder(&path);
    match held(&path) {
        Some(Held::Missing(above, rest)) => remember(path, above.descend_or_make(&rest, mode)?.into()),
        _ => way(&path),
    }
}

/// Opens the file that this path names in the folder that its beginning named first.
pub fn open(path: &Path, mode: OpenMode) -> io::Result<Input> {
    Input::open_by(path, mode, way)
}

/// Opens the folders in which files of these paths lie. What cannot be opened is told when it is used.
pub fn hold<'a>(paths: impl IntoIterator<Item = &'a Path>) {
    let files = paths.into_iter().filter(|path| !remote::is_address(path));
    files.for_each(|path| hold_folder(&trimmed(parent(path))));
}

/// Opens a folder, or the nearest one above it.
fn hold_folder(path: &Path) {
    let is_missing = |way: &io::Result<Way>| way.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound);
    if held(path).is_some() || !is_missing(&way(path)) {
        return;
    }
    for above in path.ancestors().skip(1) {
        let way = way(if above.as_os_str().is_empty() { Path::new(".") } else { above });
        if is_missing(&way) {
            continue;
        }
        if let (Ok(way), Ok(rest)) = (way, path.strip_prefix(above)) {
            put(path.to_owned(), Held::Missing(way.folder().clone(), rest.to_owned()));
        }
        return;
    }
}

fn held(path: &Path) -> Option<Held> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
}

fn remember(path: PathBuf, way: Way) -> io::Result<Way> {
    put(path, Held::There(way.clone()));
    Ok(way)
}

fn put(path: PathBuf, what: Held) {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    if held.len() < MOST || held.contains_key(&path) {
        held.insert(path, what);
    }
}
