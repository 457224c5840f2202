//! A new file for a header that does not fit the place of the old one. The payload is copied by the system, which
//! shares the blocks of both files where the file system can.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt};

use rustix::fs::{copy_file_range, fchown};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};

use super::file::Target;
use crate::armor::Armor;
use crate::failure::Failure;
use crate::partial::{Attributes, Landing, Partial};
use crate::progress::Progress;
use crate::sealed::Sealed;
use deadpan_seal::{Error, Format, age};

/// Blocks can be shared from a multiple of this on.
const BLOCK: u64 = 4096;
/// The most bytes to copy at once, so that the progress is shown.
const STEP: u64 = 256 << 20;
/// The length of the buffer where the system cannot copy.
const BUFFER: usize = 1 << 20;

/// Replaces the file by one with this header and the payload of the old file, which follows a header of `old` bytes.
pub fn replace(target: &Target, header: &[u8], old: u64) -> Result<(), Failure> {
    let partial = Partial::create(&target.real)?;
    let output = partial.file();
    let total = target.metadata.len() - old;
    let progress = Progress::new(&target.shown(), Some(total));
    output.write_all_at(header, 0).map_err(|error| target.failed("write", &error))?;
    let copied = copy(&target.file, old, output, header.len() as u64, total, |bytes| progress.add(bytes));
    copied.map_err(|error| Failure::of(&target.shown(), error))?;
    land(target, partial)
}

/// Replaces a file in armor by one with this header and the payload of the old file.
pub fn replace_armor(target: &Target, header: &[u8], sealed: Sealed<'_>) -> Result<(), Failure> {
    let partial = Partial::create(&target.real)?;
    let output = BufWriter::with_capacity(1 << 18, partial.file());
    armor(output, header, sealed).map_err(|error| Failure::of(&target.shown(), error))?;
    land(target, partial)
}

/// Writes this header and the payload in the armor of their format.
pub fn armor(output: impl Write, header: &[u8], sealed: Sealed<'_>) -> Result<(), Error> {
    if sealed.header.format() == Format::Age {
        let mut armor = age::armor::Writer::new(output);
        append(&mut armor, header, sealed.payload)?;
        return armor.finish().map(|_| ()).map_err(Error::Write);
    }
    let mut armor = Armor::new(output).map_err(Error::Write)?;
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

/// Gives the new file the owner, mode and time of the old one, and then its name.
fn land(target: &Target, partial: Partial) -> Result<(), Failure> {
    let about = &target.metadata;
    let now = partial.file().metadata().map_err(|error| target.failed("write", &error))?;
    if (now.uid(), now.gid()) != (about.uid(), about.gid()) {
        // Where the owner cannot be kept, the group may be.
        let group = Some(Gid::from_raw(about.gid()));
        let _ = fchown(partial.file(), Some(Uid::from_raw(about.uid())), group)
            .or_else(|_| fchown(partial.file(), None, group));
    }
    let attributes = Attributes { mode: about.mode() & 0o7777, modified: about.modified().ok() };
    partial.land(attributes, Landing { replace: true, sync: true })
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
        // The first piece ends where whole blocks begin, if they begin at one place in both files.
        let step = if from.is_multiple_of(BLOCK) { STEP } else { BLOCK - from % BLOCK };
        let step = usize::try_from(step.min(end - from)).unwrap_or(BUFFER);
        let copied = if by_system {
            let (mut at, mut into) = (from, to);
            match copy_file_range(input, Some(&mut at), output, Some(&mut into), step) {
                Ok(copied) => copied,
                Err(Errno::INTR) => continue,
                Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM | Errno::BADF) => {
                    by_system = false;
                    continue;
                }
                Err(error) => return Err(Error::Write(error.into())),
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
