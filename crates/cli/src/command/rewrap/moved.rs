//! Makes a new file for a header that does not fit into the place of the old header. The system copies the payload, and
//! both files share blocks if the file system supports this.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};

use crate::place::armor::Armor;
use crate::place::locked::LockedFile;
use crate::place::partial::{self, Partial};
use crate::place::sealed::Sealed;
use crate::tell::failure::Failure;
use crate::tell::progress::Progress;
use deadpan_disk::portable::FileExt;
use deadpan_disk::{Handle, Replace, copy_range, keep};
use deadpan_seal::{Error, Format, age};

/// The block size of file systems: files can share data only in blocks that begin at a multiple of this number.
const BLOCK: u64 = 4096;
/// The most bytes to copy at once. The maximum number of bytes to copy at once.
const STEP: u64 = 256 << 20;
/// The length of the buffer for copying, if the system does not copy the data itself.
const BUFFER: usize = 1 << 20;

/// Replaces the file by a new file with the header `header` and the payload of the old file. In the old file, the
/// payload follows a header of `old` bytes. With `force`, the new file may lose attributes of the old file that the new
/// file cannot keep. Returns notes about the lost attributes.
pub fn replace(target: &LockedFile, header: &[u8], old: u64, force: bool) -> Result<Vec<String>, Failure> {
    let (partial, notes) = begin(target, force)?;
    let output = partial.file();
    let total = target.about.length - old;
    let progress = Progress::new(&target.shown(), Some(total));
    output.write_all_at(header, 0).map_err(|error| target.failed("write", &error))?;
    let copied = copy(&target.file, old, output, header.len() as u64, total, |bytes| progress.add(bytes));
    copied.map_err(|error| Failure::seal(&target.shown(), error))?;
    land(target, partial, force, None)?;
    Ok(notes)
}

/// Replaces a file in armor by a new file with the header `header` and the payload of the old file, as [`replace`]
/// does.
pub fn replace_armor(
    target: &LockedFile,
    header: &[u8],
    sealed: Sealed<'_>,
    force: bool,
) -> Result<Vec<String>, Failure> {
    let (partial, notes) = begin(target, force)?;
    armor(partial.file(), header, sealed).map_err(|error| Failure::seal(&target.shown(), error))?;
    land(target, partial, force, None)?;
    Ok(notes)
}

/// Checks whether a new file can replace the old file. The new file is removed again.
pub fn rehearse(target: &LockedFile, force: bool) -> Result<Vec<String>, Failure> {
    begin(target, force).map(|(_, notes)| notes)
}

/// Makes the new file in the folder of the old file. Without `force`, returns an error before the data are copied if
/// the new file cannot keep an attribute of the old file.
pub fn begin(target: &LockedFile, force: bool) -> Result<(Partial, Vec<String>), Failure> {
    let partial = Partial::create_at(&target.real, &target.path)?;
    let lost = keep(partial.file(), &target.file, force).map_err(|error| partial::failure(&target.path, error))?;
    let lost: Vec<_> = lost.iter().map(ToString::to_string).collect();
    let name = target.shown();
    let notes =
        if lost.is_empty() { Vec::new() } else { vec![format!("{name}: the new file loses {}", lost.join(", "))] };
    Ok((partial, notes))
}

/// Writes the header `header` and the payload, in the armor of the sealed file's format. A page around the armor stays
/// as it is.
pub fn armor(mut output: impl Write, header: &[u8], mut sealed: Sealed<'_>) -> Result<(), Error> {
    match sealed.page.take() {
        Some(page) => page.around(&mut output, |output| bare_armor(output, header, sealed)),
        None => bare_armor(&mut output, header, sealed),
    }
}

fn bare_armor(output: &mut impl Write, header: &[u8], sealed: Sealed<'_>) -> Result<(), Error> {
    if sealed.header.format() == Format::Age {
        let mut armor = age::armor::ArmorWriter::new(BufWriter::with_capacity(1 << 18, output));
        append(&mut armor, header, sealed.payload)?;
        return armor.finish().map(|_| ()).map_err(Error::Write);
    }
    let mut armor = Armor::new(output);
    append(&mut armor, header, sealed.payload)?;
    armor.finish().map_err(Error::Write)
}

fn append(output: &mut impl Write, header: &[u8], mut payload: impl Read) -> Result<(), Error> {
    output.write_all(header).map_err(Error::Write)?;
    let mut buffer = vec![0; BUFFER];
    loop {
        match payload.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => output.write_all(&buffer[..read]).map_err(Error::Write)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::Read(error)),
        }
    }
}

/// Gives the new file the attributes of the old file. Gives the new file the name of the old file, if the old file
/// still has this name. If the contents are new, `modified` is the time of their last change: seconds since 1970, and
/// nanoseconds.
pub fn land(target: &LockedFile, partial: Partial, force: bool, modified: Option<(i64, u32)>) -> Result<(), Failure> {
    // Writing has changed the new file's time and has removed its setuid and setgid bits, so the attributes are set
    // again.
    keep(partial.file(), &target.file, force).map_err(|error| partial::failure(&target.path, error))?;
    let listed = partial.file().take_access_list(&target.file);
    listed.map_err(|error| Failure::path("set the access control list of", &target.path, &error))?;
    if let Some(modified) = modified {
        partial.file().set_modified_at(modified).map_err(|error| target.failed("set the time of", &error))?;
    }
    target.refuse_changed()?;
    partial.land_dressed(Replace::Only(target.about.id), true)
}

/// Copies `length` bytes.
fn copy(
    input: &File,
    mut from: u64,
    output: &File,
    mut to: u64,
    length: u64,
    progress: impl Fn(u64),
) -> Result<(), Error> {
    let end = from + length;
    let mut by_system = true;
    while from < end {
        // The first piece ends at the next block boundary of the input. After the first piece, both files can share
        // whole blocks if the block boundaries are at the same places in both files.
        let step = if from.is_multiple_of(BLOCK) { STEP } else { BLOCK - from % BLOCK };
        let step = usize::try_from(step.min(end - from)).unwrap_or(BUFFER);
        let copied = if by_system {
            match copy_range(input, from, output, to, step).map_err(Error::Write)? {
                Some(copied) => copied,
                None => {
                    by_system = false;
                    continue;
                }
            }
        } else {
            by_hand(input, from, output, to, step)?
        };
        if copied == 0 {
            return Err(Error::Shrank);
        }
        from += copied as u64;
        to += copied as u64;
        progress(copied as u64);
    }
    Ok(())
}

fn by_hand(input: &File, from: u64, output: &File, to: u64, step: usize) -> Result<usize, Error> {
    let mut buffer = vec![0; step.min(BUFFER)];
    let read = loop {
        match input.read_at(&mut buffer, from) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => break read.map_err(Error::Read)?,
        }
    };
    output.write_all_at(&buffer[..read], to).map_err(Error::Write)?;
    Ok(read)
}
