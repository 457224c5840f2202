//! Opens existing outputs that are not replaced, because the program writes into them: FIFOs and devices.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::about::{About, FileId};

/// Opens a FIFO or a device for writing. Waits for the reader of a FIFO. The caller has checked the owner of the file
/// with this id. If the path now leads to a file with another id, returns `None`.
///
/// # Errors
/// The system's errors.
pub fn open_special(path: &Path, id: FileId) -> io::Result<Option<File>> {
    let is_link = About::of_name(path)?.is_link();
    let flags = if is_link { OFlags::NOCTTY } else { OFlags::NOCTTY | OFlags::NOFOLLOW };
    let file = OpenOptions::new().write(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    Ok((About::of_file(&file)?.id == id).then_some(file))
}

/// Opens a file to append to it. This function is for paths of open file descriptors, such as `/dev/fd/3`.
///
/// # Errors
/// The system's errors.
pub fn append_to(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).open(path)
}
