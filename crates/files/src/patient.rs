//! Inputs for which a reader may have to wait, such as named pipes. The work can be stopped while a reader waits.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::Error;
use deadpan_disk::{About, FileKind, Input, OpenMode};
use deadpan_seal::Work;

/// Opens an input of any kind. This function does not wait for the writer of a pipe.
pub(crate) fn open_input(path: &Path) -> Result<Input, Error> {
    Input::open(path, OpenMode::default()).map_err(|error| Error::read(path, error))
}

/// Opens an input that is read at any position. Returns the file and its length.
///
/// # Errors
/// If the input cannot be read, or if it is a pipe.
pub fn open_seekable(path: impl AsRef<Path>) -> Result<(File, u64), Error> {
    let path = path.as_ref();
    let Input { file, about, .. } = open_input(path)?;
    refuse_fifo(&about, path)?;
    Ok((file, about.length))
}

/// Refuses a pipe, because a pipe can be read only in order.
pub(crate) fn refuse_fifo(about: &About, path: &Path) -> Result<(), Error> {
    match about.kind {
        FileKind::Fifo => Err(Error::IsPipe(path.to_owned())),
        _ => Ok(()),
    }
}

/// An input that is read in order. Reading ends with an error when the work is stopped.
pub(crate) struct PatientInput<'a> {
    file: &'a File,
    is_fifo: bool,
    work: Work<'a>,
}

impl<'a> PatientInput<'a> {
    pub(crate) fn new(file: &'a File, about: &About, work: &Work<'a>) -> Self {
        Self { file, is_fifo: about.kind == FileKind::Fifo, work: *work }
    }
}

impl Read for PatientInput<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = self.file;
        if !self.is_fifo {
            return file.read(buffer);
        }
        loop {
            if has_data(file) {
                match file.read(buffer) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    result => return result,
                }
            }
            if self.work.stop.is_some_and(|stop| stop()) {
                return Err(io::Error::other(deadpan_seal::Error::Stopped));
            }
        }
    }
}

/// Waits a moment for data in a pipe. Returns whether a reader may read. After that, a reader checks again whether the
/// work was stopped.
#[cfg(unix)]
fn has_data(file: &File) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 40_000_000 };
    poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&TICK)).is_ok_and(|count| count > 0)
}

/// Windows has no wait for the data of a pipe, so the read itself waits.
#[cfg(not(unix))]
fn has_data(_file: &File) -> bool {
    true
}
