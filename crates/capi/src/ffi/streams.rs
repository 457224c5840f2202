//! Sealing and opening of streams, through callbacks or through descriptors.

use std::ffi::c_void;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::mem::ManuallyDrop;

use super::border::{held, maybe};
use super::kinds::{dp_opening, dp_sealing, dp_work};
use super::work::User;
use crate::recipe::{Recipe, Ring};
use crate::watch::{Watch, under};
use deadpan_bind::{Code, Fault};
use deadpan_seal::{Header, ReadAt};

/// Fills a buffer. Returns the number of bytes that were read, 0 at the end, or a negative number after an error.
type ReadFn = Option<unsafe extern "C" fn(user: *mut c_void, buffer: *mut u8, room: usize) -> i64>;
/// Takes all the bytes. Returns 0, or another number after an error.
pub(super) type WriteFn = Option<unsafe extern "C" fn(user: *mut c_void, bytes: *const u8, length: usize) -> i32>;
/// Fills a buffer from a position. The return value has the same meaning as for a [`ReadFn`].
pub(super) type ReadAtFn =
    Option<unsafe extern "C" fn(user: *mut c_void, position: u64, buffer: *mut u8, room: usize) -> i64>;

fn failed(code: Code, what: &str, number: i64) -> io::Error {
    io::Error::other(Fault::new(code, format!("the {what} callback returned {number}")))
}

/// Turns the result of a reading callback into a number of bytes or an error.
fn count(said: i64, room: usize) -> io::Result<usize> {
    usize::try_from(said).ok().filter(|count| *count <= room).ok_or_else(|| failed(Code::Read, "read", said))
}

/// A callback that reads.
struct ReadCallback(unsafe extern "C" fn(*mut c_void, *mut u8, usize) -> i64, User);

impl Read for ReadCallback {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // SAFETY: the buffer is as long as the length that is passed with it, and the caller allows calls of the
        // callback.
        let said = unsafe { (self.0)(self.1.pointer(), buffer.as_mut_ptr(), buffer.len()) };
        count(said, buffer.len())
    }
}

/// A callback that writes.
pub(super) struct WriteCallback(unsafe extern "C" fn(*mut c_void, *const u8, usize) -> i32, User);

impl WriteCallback {
    pub(super) fn new(write: WriteFn, user: *mut c_void) -> Result<Self, Fault> {
        Ok(Self(write.ok_or_else(|| Fault::argument("the write callback is NULL"))?, User(user)))
    }
}

impl Write for WriteCallback {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: the pointer is valid for the length that is passed with it, and the caller allows calls of the
        // callback.
        match unsafe { (self.0)(self.1.pointer(), bytes.as_ptr(), bytes.len()) } {
            0 => Ok(bytes.len()),
            number => Err(failed(Code::Write, "write", number.into())),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A callback that reads at positions.
pub(super) struct ReadAtCallback(unsafe extern "C" fn(*mut c_void, u64, *mut u8, usize) -> i64, User);

// SAFETY: deadpan.h states that any thread may call this callback; a reader never calls it from two threads at the same
// time.
unsafe impl Sync for ReadAtCallback {}

impl ReadAtCallback {
    pub(super) fn new(read: ReadAtFn, user: *mut c_void) -> Result<Self, Fault> {
        Ok(Self(read.ok_or_else(|| Fault::argument("the read callback is NULL"))?, User(user)))
    }
}

impl ReadAt for ReadAtCallback {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        // SAFETY: the buffer is as long as the length that is passed with it, and the caller allows calls of the
        // callback.
        let said = unsafe { (self.0)(self.1.pointer(), position, buffer.as_mut_ptr(), buffer.len()) };
        count(said, buffer.len())
    }
}

/// Returns an open file of the caller. The file stays open after use.
// SAFETY: the descriptor belongs to the caller, and stays open while the file is in use.
unsafe fn borrowed(descriptor: i32) -> Result<ManuallyDrop<File>, Fault> {
    if descriptor < 0 {
        return Err(Fault::argument(format!("{descriptor} is no descriptor")));
    }
    file(descriptor).map(ManuallyDrop::new)
}

#[cfg(unix)]
// SAFETY: as for `borrowed`.
unsafe fn file(descriptor: i32) -> Result<File, Fault> {
    Ok(std::os::fd::FromRawFd::from_raw_fd(descriptor))
}

/// On Windows, descriptors are numbers of the C library.
#[cfg(windows)]
// SAFETY: as for `borrowed`.
unsafe fn file(descriptor: i32) -> Result<File, Fault> {
    unsafe extern "C" {
        safe fn _get_osfhandle(descriptor: i32) -> isize;
    }
    match _get_osfhandle(descriptor) {
        // The descriptor is not open, or has no file.
        -1 | -2 => Err(Fault::argument(format!("{descriptor} is no descriptor"))),
        handle => Ok(std::os::windows::io::FromRawHandle::from_raw_handle(std::ptr::with_exposed_provenance_mut(
            handle.cast_unsigned(),
        ))),
    }
}

/// Returns whether both files can be accessed at chosen positions. Access at chosen positions is possible if both files
/// are regular files at position 0, and the output is empty.
fn is_positioned(mut input: &File, mut output: &File) -> bool {
    let is_regular = |file: &File| file.metadata().is_ok_and(|about| about.is_file());
    let is_empty = |file: &File| file.metadata().is_ok_and(|about| about.len() == 0);
    !appends(output)
        && is_regular(input)
        && is_regular(output)
        && is_empty(output)
        && input.stream_position().is_ok_and(|position| position == 0)
        && output.stream_position().is_ok_and(|position| position == 0)
}

/// Whether a file is open for appending: systems ignore the position of a write then.
#[cfg(unix)]
fn appends(file: &File) -> bool {
    use rustix::fs::{OFlags, fcntl_getfl};
    fcntl_getfl(file).is_ok_and(|flags| flags.contains(OFlags::APPEND))
}

/// Windows does not say whether a file is open for appending, so all files are read and written in order.
#[cfg(windows)]
fn appends(_file: &File) -> bool {
    true
}

fn refuse_same(input: &File, output: &File) -> Result<(), Fault> {
    let id = deadpan_bind::file_id;
    match (id(input), id(output)) {
        (Some(one), Some(other)) if one == other => Err(Fault::argument("a file is the input as well as the output")),
        _ => Ok(()),
    }
}

/// Moves both files to their ends. The files also end at these positions if they are read and written in order.
fn to_the_ends(mut input: &File, mut output: &File) -> Result<(), Fault> {
    let moved = input.seek(SeekFrom::End(0)).and_then(|_| output.seek(SeekFrom::End(0)));
    moved.map(drop).map_err(|error| Fault::new(Code::System, error.to_string()).with_errno(error.raw_os_error()))
}

exports! {
    /// Seals the data that one callback reads, and writes the sealed data with another callback.
    fn dp_seal_stream(
        sealing: *const dp_sealing,
        read: ReadFn,
        write: WriteFn,
        user: *mut c_void,
        work: *const dp_work,
    ) {
        let (sealing, watch) = (held::<Recipe, _>(sealing)?.sealing()?, maybe::<Watch, _>(work)?);
        let input = ReadCallback(read.ok_or_else(|| Fault::argument("the read callback is NULL"))?, User(user));
        let output = WriteCallback::new(write, user)?;
        under(watch.as_deref(), |work| sealing.seal_stream(input, output, work))?;
        Ok(())
    }

    /// Opens the sealed data that one callback reads, and writes the data with another callback.
    fn dp_open_stream(
        opening: *const dp_opening,
        read: ReadFn,
        write: WriteFn,
        user: *mut c_void,
        work: *const dp_work,
    ) {
        let (identities, watch) = (held::<Ring, _>(opening)?.identities(), maybe::<Watch, _>(work)?);
        let mut input = ReadCallback(read.ok_or_else(|| Fault::argument("the read callback is NULL"))?, User(user));
        let output = WriteCallback::new(write, user)?;
        let opened = Header::read(&mut input)?.open(&identities)?;
        under(watch.as_deref(), |work| opened.open_stream(input, output, work))?;
        Ok(())
    }

    /// Seals the data from one descriptor, and writes the result to another.
    fn dp_seal_fd(sealing: *const dp_sealing, input: i32, output: i32, work: *const dp_work) {
        let (sealing, watch) = (held::<Recipe, _>(sealing)?.sealing()?, maybe::<Watch, _>(work)?);
        let (input, output) = (borrowed(input)?, borrowed(output)?);
        refuse_same(&input, &output)?;
        let positioned = is_positioned(&input, &output);
        under(watch.as_deref(), |work| {
            if positioned {
                sealing.seal_file(&input, &output, work)
            } else {
                sealing.seal_stream(&*input, &*output, work)
            }
        })?;
        if positioned { to_the_ends(&input, &output) } else { Ok(()) }
    }

    /// Opens the sealed data from one descriptor, and writes the data to another.
    fn dp_open_fd(opening: *const dp_opening, input: i32, output: i32, work: *const dp_work) {
        let (identities, watch) = (held::<Ring, _>(opening)?.identities(), maybe::<Watch, _>(work)?);
        let (input, output) = (borrowed(input)?, borrowed(output)?);
        refuse_same(&input, &output)?;
        let positioned = is_positioned(&input, &output);
        let opened = Header::read(&*input)?.open(&identities)?;
        under(watch.as_deref(), |work| {
            if positioned {
                opened.open_file(&input, &output, work)
            } else {
                opened.open_stream(&*input, &*output, work)
            }
        })?;
        if positioned { to_the_ends(&input, &output) } else { Ok(()) }
    }
}
