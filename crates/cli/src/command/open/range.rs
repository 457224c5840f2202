//! `--range OFFSET:LEN` opens a part of a sealed file. If the file can be read at any position, the program does not
//! open the rest of the file.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::str::FromStr;

use super::{Origin, pass, watched};
use crate::place::output::Output;
use crate::place::sealed::Sealed;
use crate::place::window::Window;
use crate::tell::failure::Failure;
use crate::tell::shown::count;
use crate::tell::text::TextOnly;
use deadpan_ct::Wiped;
use deadpan_seal::{Cursor, Error, Opened, RangeReader, ReadAt, Summary};

/// The number of bytes that one request reads from an object in a store.
const PIECE: u64 = 8 << 20;

/// A range of bytes. A range without a length extends to the end of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    offset: u64,
    length: Option<u64>,
}

impl FromStr for Range {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| text.parse::<u64>().map_err(|_| "a range is OFFSET:LEN, two numbers of bytes");
        let (offset, length) =
            text.split_once(':').ok_or("a range is OFFSET:LEN, with a colon between two numbers of bytes")?;
        let offset = if offset.is_empty() { 0 } else { number(offset)? };
        let length = if length.is_empty() { None } else { Some(number(length)?) };
        if offset.checked_add(length.unwrap_or(0)).is_none() {
            return Err("the range ends after the longest possible file");
        }
        Ok(Self { offset, length })
    }
}

impl Range {
    /// The range of all data.
    pub const ALL: Self = Self { offset: 0, length: None };

    /// Writes the range. Returns a summary with the length of the range.
    pub fn write(
        self,
        opened: &Opened,
        origin: &Origin<'_>,
        sealed: Sealed<'_>,
        output: &Output,
    ) -> Result<Summary, Error> {
        if output.is_terminal() {
            self.write_to(opened, origin, sealed, TextOnly::new(output.writer()))
        } else {
            self.write_to(opened, origin, sealed, output.writer())
        }
    }

    fn write_to(
        self,
        opened: &Opened,
        origin: &Origin<'_>,
        sealed: Sealed<'_>,
        output: impl Write + Send,
    ) -> Result<Summary, Error> {
        let needs_end = self.length.is_none() || opened.needs_end();
        if let Some(positions) = origin.positions.filter(|_| origin.is_remote() && !needs_end) {
            return self.fetch(opened, positions, origin, output);
        }
        if let Some((input, length)) = origin.positions {
            let reader = opened.seek_in(Cursor::new(input, length))?;
            return self.jump(opened, reader, origin, output);
        }
        // A stream is opened as a whole, but only the bytes of the range are written.
        let window = Window::new(output, self.offset, self.length.unwrap_or(u64::MAX));
        let total = pass(opened, origin, sealed, window)?;
        Ok(Summary { plain: self.within(total.plain)?, ..total })
    }

    /// Writes the range of an object in a store; each request reads one piece of the range.
    fn fetch(
        self,
        opened: &Opened,
        (input, sealed): (&dyn ReadAt, u64),
        origin: &Origin<'_>,
        mut output: impl Write + Send,
    ) -> Result<Summary, Error> {
        let (begin, length) = self.place(opened.room_at(&input, sealed)?)?;
        watched(opened, origin, |work| {
            let (mut at, end) = (begin, begin + length);
            let (mut segments, mut data) = (Vec::new(), Wiped::new(vec![0; length.min(PIECE) as usize]));
            while at < end {
                let next = end.min(at + PIECE);
                let piece = &mut data[..(next - at) as usize];
                opened.read_range(&input, sealed, at..next, &mut segments, piece)?;
                output.write_all(piece).map_err(Error::Write)?;
                work.progress.inspect(|progress| progress(next - at));
                at = next;
            }
            Ok(Summary { plain: length, sealed: 0, signatures: None })
        })
    }

    fn jump(
        self,
        opened: &Opened,
        mut reader: RangeReader<impl Read + Seek>,
        origin: &Origin<'_>,
        mut output: impl Write + Send,
    ) -> Result<Summary, Error> {
        let length = self.within(reader.length())?;
        let signatures = reader.signatures().cloned();
        reader.seek(SeekFrom::Start(self.offset)).map_err(library)?;
        let mut rest = reader.take(length);
        let mut buffer = vec![0; 1 << 18];
        watched(opened, origin, |work| {
            loop {
                let read = rest.read(&mut buffer).map_err(library)?;
                if read == 0 {
                    return Ok(Summary { plain: length, sealed: 0, signatures: signatures.clone() });
                }
                output.write_all(&buffer[..read]).map_err(Error::Write)?;
                work.progress.inspect(|progress| progress(read as u64));
            }
        })
    }

    /// Returns the offset and the length of the range in data of `total` bytes.
    pub fn place(self, total: u64) -> Result<(u64, u64), Error> {
        self.within(total).map(|length| (self.offset, length))
    }

    /// Returns the length of the range in data of `total` bytes.
    fn within(self, total: u64) -> Result<u64, Error> {
        let rest = total.checked_sub(self.offset);
        match (rest, self.length) {
            (Some(rest), None) => Ok(rest),
            (Some(rest), Some(length)) if length <= rest => Ok(length),
            _ => {
                let message =
                    format!("the range ends after the data, which have a length of {}", count(total, "byte", "bytes"));
                Err(Error::Read(Failure::usage(message, "ask for less").into_io()))
            }
        }
    }
}

/// Returns the library's error that is inside the error of a reader.
pub fn library(error: io::Error) -> Error {
    error.downcast::<Error>().unwrap_or_else(Error::Read)
}
