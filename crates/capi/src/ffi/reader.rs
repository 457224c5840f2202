//! Reading from any position in a sealed file.

use std::ffi::{c_char, c_void};
use std::io::{Read, Seek, SeekFrom};
use std::sync::{Mutex, TryLockError};

use super::border::{buffer, give, held, path, ready, set};
use super::kinds::{dp_opening, dp_reader};
use super::streams::{ReadAtCallback, ReadAtFn};
use crate::recipe::Ring;
use deadpan_bind::{Code, Fault, open_seekable};
use deadpan_seal::{Cursor, Header, ReadAt};

trait SeekableInput: Read + Seek + Send {}
impl<T: Read + Seek + Send> SeekableInput for T {}

struct Reader {
    source: Mutex<Box<dyn SeekableInput>>,
    length: u64,
}

impl Reader {
    fn new(input: impl ReadAt + Send + 'static, length: u64, ring: &Ring) -> Result<Self, Fault> {
        let header = Header::read(Cursor::new(&input, length))?;
        let source = header.open(&ring.identities())?.seek_in(Cursor::new(input, length))?;
        let length = source.length();
        Ok(Self { source: Mutex::new(Box::new(source)), length })
    }
}

exports! {
    fn dp_reader_new(opening: *const dp_opening, input: *const c_char, reader: *mut *mut dp_reader) {
        ready(reader)?;
        let (ring, input) = (held::<Ring, _>(opening)?, path(input)?);
        let (file, length) = open_seekable(input)?;
        give(reader, Reader::new(file, length, &ring).map_err(|fault| fault.about(input))?)
    }

    /// Opens sealed data of length `length`. A callback reads the sealed data at given positions.
    fn dp_reader_new_at(
        opening: *const dp_opening,
        read: ReadAtFn,
        user: *mut c_void,
        length: u64,
        reader: *mut *mut dp_reader,
    ) {
        ready(reader)?;
        let ring = held::<Ring, _>(opening)?;
        give(reader, Reader::new(ReadAtCallback::new(read, user)?, length, &ring)?)
    }

    /// Returns the length of the data.
    fn dp_reader_length(reader: *const dp_reader, length: *mut u64) {
        set(length, held::<Reader, _>(reader)?.length)
    }

    /// Reads from a position until the buffer is full or until the end of the data.
    fn dp_reader_read(reader: *const dp_reader, position: u64, output: *mut u8, room: usize, read: *mut usize) {
        set(read, 0)?;
        let reader = held::<Reader, _>(reader)?;
        let output = buffer(output, room)?;
        let mut source = match reader.source.try_lock() {
            Ok(source) => source,
            Err(TryLockError::WouldBlock) => return Err(Fault::new(Code::Busy, Code::Busy.message())),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        };
        if position >= reader.length {
            return Ok(());
        }
        let mut done = 0;
        let mut fill = || {
            source.seek(SeekFrom::Start(position))?;
            while done < output.len() {
                match source.read(&mut output[done..])? {
                    0 => break,
                    more => done += more,
                }
            }
            Ok(())
        };
        fill().map_err(Fault::of_reader)?;
        set(read, done)
    }
}

frees! {
    /// Frees a reader.
    dp_reader_free(dp_reader => Reader);
}
