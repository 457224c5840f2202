//! Unpacks archives into folders, and describes folders so that tests can compare them.
#![allow(dead_code)] // Each file of tests uses some of it.

pub mod odd;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use deadpan_pack::{Error, Folder, Outcome, Unpacker, Unpacking, Work, unpack};

pub fn fresh() -> Unpacking {
    Unpacking { fresh: true, ..Unpacking::default() }
}

pub fn unpacker(target: &Path, options: Unpacking) -> Unpacker {
    Unpacker::new(Folder::open(target).unwrap(), options)
}

/// Unpacks on two threads.
pub fn into(target: &Path, archive: &[u8], options: Unpacking) -> Result<Outcome, Error> {
    unpack(archive, &mut unpacker(target, options), &Work { threads: 2, ..Work::default() })
}

/// Unpacks an archive in pieces of `step` bytes, and writes the files of each piece before the next piece is read.
pub fn in_steps(target: &Path, archive: &[u8], step: usize, options: Unpacking) -> Result<Outcome, Error> {
    let mut unpacker = unpacker(target, options);
    for piece in archive.chunks(step) {
        unpacker.put(piece)?.complete(piece);
    }
    unpacker.finish()
}

/// Maps the path of each entry under a folder to a text with its kind, mode, time and content.
pub fn tree(folder: &Path, nanoseconds: bool) -> BTreeMap<Vec<u8>, String> {
    let mut found = BTreeMap::new();
    add(folder, Path::new(""), nanoseconds, &mut found);
    found
}

fn add(folder: &Path, inner: &Path, nanoseconds: bool, found: &mut BTreeMap<Vec<u8>, String>) {
    let path = folder.join(inner);
    let metadata = path.symlink_metadata().unwrap();
    let content = if metadata.is_symlink() {
        format!("-> {}", fs::read_link(&path).unwrap().display())
    } else if metadata.is_file() {
        blake3::hash(&fs::read(&path).unwrap()).to_string()
    } else {
        String::new()
    };
    let nanoseconds_there = if nanoseconds { metadata.mtime_nsec() } else { 0 };
    // On some file systems only, the link count of a folder includes its subfolders.
    let links = if metadata.is_dir() { 0 } else { metadata.nlink() };
    let facts = format!("{:o} {}.{nanoseconds_there:09} {links} {content}", metadata.mode(), metadata.mtime());
    found.insert(inner.as_os_str().as_bytes().to_vec(), facts);
    if metadata.is_dir() {
        for entry in fs::read_dir(&path).unwrap() {
            add(folder, &inner.join(entry.unwrap().file_name()), nanoseconds, found);
        }
    }
}

pub fn names(folder: &Path) -> Vec<String> {
    tree(folder, false)
        .keys()
        .filter(|name| !name.is_empty())
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect()
}
