//! Detects packs that another program, for example `tar r`, has changed.
//!
//! A program that changes a pack overwrites the two blocks of zeros at the end of the archive, and some of the bytes
//! after them. The program does not update the index. So the file may still contain the old index or a part of it, but
//! this index is outdated and must not be used.

use std::cmp::Ordering;
use std::io::{Read, Seek, SeekFrom};

use crate::block::BLOCK;
use crate::entry::Entry;
use crate::error::Error;
use crate::index::form::{SIGNATURE, TRAILER, number, zeros};
use crate::index::{Table, fill};
use crate::path::{is_under, order};
use crate::scan::{Listed, Scan};

/// The length of the longest tar record that programs fill with zeros in practice. GNU tar has records of 10 KiB.
const LONGEST_RECORD: u64 = 64 << 10;

/// Whether the input begins like a pack, but another program has changed the archive, so that the index is destroyed or
/// outdated. [`Contents`](crate::Contents) and [`Scan::seekable`] read such an input as an archive of another program.
/// For an [`Unpacker`](crate::Unpacker), call [`Unpacker::without_index`](crate::Unpacker::without_index) before the
/// first bytes are passed to it. After this function, the input may be at any position.
///
/// If a pack was damaged or cut off, the result is false, and reading the pack returns an error.
///
/// # Errors
/// If the input cannot be read.
pub fn index_is_stale(input: &mut (impl Read + Seek)) -> Result<bool, Error> {
    let mut scan = Scan::with_marker(&mut *input)?;
    let first = scan.next().transpose();
    if !scan.is_pack() {
        return if let Err(error @ Error::Read(_)) = first { Err(error) } else { Ok(false) };
    }
    match current(input) {
        Ok(table) => Ok(table.is_none()),
        Err(error @ Error::Read(_)) => Err(error),
        Err(_) => Ok(false),
    }
}

/// Reads the table of a pack. Returns `None` if another program has changed the archive.
pub(crate) fn current(input: &mut (impl Read + Seek)) -> Result<Option<Table>, Error> {
    match Table::read(input) {
        Ok(table) => Ok(table.ends_archive(input)?.then_some(table)),
        Err(error @ Error::Read(_)) => Err(error),
        Err(error) => {
            if ends_elsewhere(input)? {
                Ok(None)
            } else {
                Err(error)
            }
        }
    }
}

/// Whether a pack without a valid index has a complete archive with other bytes than an index after its end.
fn ends_elsewhere(input: &mut (impl Read + Seek)) -> Result<bool, Error> {
    let mut scan = Scan::foreign(&mut *input)?;
    let (mut root, mut before) = (None, Vec::new());
    let mut other = false;
    for listed in scan.by_ref() {
        match listed {
            Ok(Listed::Entry(Entry { path, .. })) => {
                let root = root.get_or_insert_with(|| path.clone());
                other |= !is_under(&path, root) || !before.is_empty() && order(&before, &path) != Ordering::Less;
                before = path;
            }
            Ok(_) => {}
            Err(error @ Error::Read(_)) => return Err(error),
            Err(_) => return Ok(false),
        }
    }
    // A pack must end with blocks of zeros.
    let Some(end) = scan.end().filter(|end| *end > 0) else { return Ok(false) };
    // In a pack, all entries are inside the root and in order, so entries elsewhere come from another program.
    if other {
        return Ok(true);
    }
    let whole = input.seek(SeekFrom::End(0)).map_err(Error::Read)?;
    // The first bytes of an index are never all zero, but other programs fill the rest of their last tar record with
    // zeros.
    let mut next = Vec::new();
    input.seek(SeekFrom::Start(end)).map_err(Error::Read)?;
    input.by_ref().take(LONGEST_RECORD).read_to_end(&mut next).map_err(Error::Read)?;
    if next.is_empty() || next.len() as u64 >= BLOCK && next[..BLOCK as usize].iter().all(|byte| *byte == 0) {
        // More zeros than a record has are an end that was lost, and not the end of another program.
        return Ok((next.len() as u64) < LONGEST_RECORD || next.iter().any(|byte| *byte != 0));
    }
    // The end of the changed archive may lie inside the table of the old index.
    let Some(at) = whole.checked_sub(TRAILER as u64).filter(|at| *at >= end) else { return Ok(false) };
    let mut trailer = [0; TRAILER];
    fill(input, at, &mut trailer)?;
    let (table, length) = (number(&trailer[..8]), number(&trailer[8..16]));
    let behind = table.checked_add(length).filter(|behind| *behind <= at && behind + zeros(*behind) as u64 == at);
    Ok(trailer.ends_with(SIGNATURE) && behind.is_some() && table < end)
}
