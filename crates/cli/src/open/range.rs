//! `--range OFFSET:LEN`: a part of a sealed file, without opening the rest where the file can be read anywhere.

use super::{pass, watched};
use crate::input::Input;
use crate::output::Output;
use crate::sealed::Sealed;
use crate::window::{TextOnly, Window};
use deadpan_seal::{Error, Opened};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::str::FromStr;

/// Bytes from an offset on; to the end if there is no length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    offset: u64,
    length: Option<u64>,
}

impl FromStr for Range {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| text.parse::<u64>().map_err(|_| "a range is OFFSET:LEN, two numbers of bytes");
        let (offset, length) = text.split_once(':').ok_or("a range is OFFSET:LEN, with a colon between two numbers of bytes")?;
        let offset = if offset.is_empty() { 0 } else { number(offset)? };
        let length = if length.is_empty() { None } else { Some(number(length)?) };
        if offset.checked_add(length.unwrap_or(0)).is_none() {
            return Err("no file is that long");
        }
        Ok(Self { offset, length })
    }
}

impl Range {
    /// Writes it; says how many bytes that were.
    pub fn write(self, opened: &Opened, input: &Input, sealed: Sealed<'_>, output: &Output) -> Result<u64, Error> {
        if output.is_terminal() {
            self.write_to(opened, input, sealed, TextOnly::new(output.file()))
        } else {
            self.write_to(opened, input, sealed, output.file())
        }
    }

    fn write_to(self, opened: &Opened, input: &Input, sealed: Sealed<'_>, output: impl Write + Send) -> Result<u64, Error> {
        if input.positioned && !sealed.armored {
            return self.jump(opened, input, output);
        }
        // What comes through a pipe passes as a whole, and only the window gets out.
        let window = Window::new(output, self.offset, self.length.unwrap_or(u64::MAX));
        let total = pass(opened, input, sealed, window)?;
        self.within(total)
    }

    fn jump(self, opened: &Opened, input: &Input, mut output: impl Write + Send) -> Result<u64, Error> {
        let mut reader = opened.seekable(&input.file)?;
        let length = self.within(reader.length())?;
        reader.seek(SeekFrom::Start(self.offset)).map_err(library)?;
        let mut rest = reader.take(length);
        let mut buffer = vec![0; 1 << 18];
        watched(input, |work| {
            loop {
                let read = rest.read(&mut buffer).map_err(library)?;
                if read == 0 {
                    return Ok(length);
                }
                output.write_all(&buffer[..read]).map_err(Error::Write)?;
                work.progress.inspect(|progress| progress(read as u64));
            }
        })
    }

    /// How long it is in data of this length.
    fn within(self, total: u64) -> Result<u64, Error> {
        let rest = total.checked_sub(self.offset);
        match (rest, self.length) {
            (Some(rest), None) => Ok(rest),
            (Some(rest), Some(length)) if length <= rest => Ok(length),
            _ => Err(Error::Range { length: total }),
        }
    }
}

/// The library's error inside of a reader's.
fn library(error: io::Error) -> Error {
    error.downcast::<Error>().unwrap_or_else(Error::Read)
}
