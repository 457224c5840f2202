//! Files whose header is open.

use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use super::{Opener, RangeReader};
use crate::engine::stream::Passed;
use crate::engine::units::{Alone, Drain, Giving, Sink, Writing};
use crate::engine::{file, memory, stream};
use crate::entropy::Entropy;
use crate::file_key::FileKey;
use crate::fill::read_full;
use crate::floe::{self, Message, Segments};
use crate::header::{self, Parsed, check_segment};
use crate::layout::{Entry, PREAMBLE};
use crate::metadata::Contents;
use crate::padding::{Stripped, Stripper};
use crate::{Cursor, Error, Metadata, ReadAt, Recipient, Summary, Work, recipient};

/// A file whose header is open. It holds the file key, and opens the payload in any of several ways.
pub struct Opened {
    key: FileKey,
    contents: Contents,
    header: Parsed,
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opened(..)")
    }
}

impl Opened {
    pub(super) fn new(key: FileKey, contents: Contents, header: Parsed) -> Self {
        Self { key, contents, header }
    }

    /// Returns the metadata that were sealed with the data.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.contents.metadata
    }

    /// Returns whether the length of the data is hidden.
    #[must_use]
    pub fn hides_length(&self) -> bool {
        self.contents.padded
    }

    /// Returns the bytes before the first segment.
    fn begin(&self) -> u64 {
        (self.header.length() + floe::HEADER) as u64
    }

    /// Reads the beginning of the payload.
    fn message(&self, mut input: impl Read) -> Result<Message, Error> {
        let mut start = [0; floe::HEADER];
        let length = read_full(&mut input, &mut start).map_err(Error::Read)?;
        let start = start.get(..length).unwrap_or_default();
        let message = self.key.message(|key| Message::resume(key, &PREAMBLE, start))?;
        check_segment(message.segment_length())?;
        Ok(message)
    }

    /// Reads the beginning of the payload of a whole sealed file. Returns the message and how it divides into segments.
    fn message_at<R: Read + Seek>(&self, mut input: R) -> Result<(Message, Segments), Error> {
        let length = input.seek(SeekFrom::End(0)).map_err(Error::Read)?;
        input.seek(SeekFrom::Start(self.header.length() as u64)).map_err(Error::Read)?;
        let message = self.message(input)?;
        let segments = message.segments_in(length.saturating_sub(self.begin()))?;
        Ok((message, segments))
    }

    /// Opens one regular file to another, on all cores, at positions. `input` is the whole sealed file. `output` must
    /// be empty, and not open for appending, because systems then ignore positions.
    ///
    /// # Errors
    /// If the output is not empty, if the data were changed or cut short, or if the system fails. After an error, the
    /// contents of `output` must not be used.
    pub fn file(&self, input: &File, output: &File, work: &Work<'_>) -> Result<Summary, Error> {
        let length = (&mut &*input).seek(SeekFrom::End(0)).map_err(Error::Read)?;
        self.positions(input, length, output, work)
    }

    /// Opens `input`, a whole sealed file of `length` bytes, to a regular file, on all cores, at positions. `output` is
    /// as for [`Opened::file`], which does this for two regular files.
    ///
    /// # Errors
    /// If the output is not empty, if the data were changed or cut short, or if the system fails. After an error, the
    /// contents of `output` must not be used.
    pub fn positions(
        &self,
        input: &impl ReadAt,
        length: u64,
        output: &File,
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        file::check_empty(output)?;
        let (message, segments) = self.message_at(Cursor::new(input, length))?;
        let padded = self.contents.padded;
        let plain = file::open(&message, input, self.begin(), segments, padded, output, work)?;
        if padded {
            output.set_len(plain).map_err(Error::Write)?;
        }
        Ok(Summary { plain, sealed: self.begin() + segments.sealed() })
    }

    /// Opens a stream to a stream, on all cores, in order. `input` begins after the header. All written data are
    /// authentic. They are complete only if this method returns without an error.
    ///
    /// # Errors
    /// If the data were changed or cut short, if reading or writing fails, or if the system fails.
    pub fn stream(
        &self,
        input: impl Read + Send,
        output: impl Write + Send,
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        if !self.contents.padded {
            let (summary, mut output) = self.units(input, Writing(output), work)?;
            return output.0.flush().map(|()| summary).map_err(Error::Write);
        }
        let stripped = Stripped { output, stripper: Stripper::default() };
        let (summary, mut stripped) = self.units(input, Writing(stripped), work)?;
        stripped.0.output.flush().map_err(Error::Write)?;
        Ok(Summary { plain: stripped.0.stripper.finish()?, ..summary })
    }

    /// Opens a stream to a [`Sink`], on all cores. `input` begins after the header. All data that the sink gets are
    /// authentic. They are complete only if this method returns without an error.
    ///
    /// # Errors
    /// If the data were changed or cut short, if reading or writing fails, or if the system fails.
    pub fn scatter<S: Sink>(&self, input: impl Read + Send, sink: S, work: &Work<'_>) -> Result<(Summary, S), Error> {
        if !self.contents.padded {
            let (summary, sink) = self.units(input, Giving(sink), work)?;
            return Ok((summary, sink.0));
        }
        let stripped = Stripped { output: Alone { inner: sink, ended: false }, stripper: Stripper::default() };
        let (summary, stripped) = self.units(input, Writing(stripped), work)?;
        let plain = stripped.0.stripper.finish()?;
        Ok((Summary { plain, ..summary }, stripped.0.output.inner))
    }

    fn units<S: Drain>(&self, mut input: impl Read + Send, sink: S, work: &Work<'_>) -> Result<(Summary, S), Error> {
        let message = self.message(&mut input)?;
        let input = stream::Stream::start(input, stream::sealed_unit(&message))?;
        let Passed { read, written, output, .. } = stream::open(&message, input, sink, work)?;
        Ok((Summary { plain: written, sealed: self.begin() + read }, output))
    }

    /// Opens bytes in memory and appends the data to `plain`. `payload` begins after the header. More than a few
    /// mebibytes are opened on all cores.
    ///
    /// # Errors
    /// If the data were changed or cut short. `plain` is then as before.
    pub fn bytes_onto(&self, mut payload: &[u8], plain: &mut Vec<u8>) -> Result<(), Error> {
        let message = self.message(&mut payload)?;
        let begin = plain.len();
        memory::open(&message, payload, plain)?;
        if self.contents.padded {
            let mut stripper = Stripper::default();
            stripper.pass(&plain[begin..]);
            match stripper.finish() {
                Ok(length) => plain.truncate(begin + length as usize),
                Err(error) => {
                    deadpan_ct::Wipe::wipe(&mut plain[begin..]);
                    plain.truncate(begin);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Returns a reader that opens in order, on the caller's thread. `input` begins after the header.
    ///
    /// # Errors
    /// If the payload's header cannot be read or was changed.
    pub fn reader<R: Read>(&self, mut input: R) -> Result<Opener<R>, Error> {
        let message = self.message(&mut input)?;
        Ok(Opener::new(floe::Reader::new(Arc::new(message), input), self.contents.padded))
    }

    /// Returns a reader that can seek, and opens only the segments that are read. `input` is the whole sealed file.
    ///
    /// # Errors
    /// If the file cannot have this length, or its last segment does not open.
    pub fn seekable<R: Read + Seek>(&self, mut input: R) -> Result<RangeReader<R>, Error> {
        let (message, _) = self.message_at(&mut input)?;
        let reader = floe::SeekReader::new(Arc::new(message), input, self.begin())?;
        RangeReader::new(reader, self.contents.padded)
    }

    /// Makes a header for other recipients, with the length of the old header, to be written over it. The payload stays
    /// as it is. Recipients who could open the file before still can, if they kept the old header or the file key.
    ///
    /// # Errors
    /// Those of [`crate::Sealing::to`], or of [`crate::Sealing::mixed`] if `mixed` is set; [`Error::TooMany`] if the
    /// recipients need a longer header: see [`Opened::rewrap_longer`].
    pub fn rewrap(&self, recipients: &[Recipient], mixed: bool) -> Result<Vec<u8>, Error> {
        let header = self.rewrap_longer(recipients, mixed)?;
        if header.len() > self.header.length() {
            return Err(Error::TooMany("these recipients need more room than the header has"));
        }
        Ok(header)
    }

    /// Makes a header for other recipients that may be longer than the old header. It cannot be written over the old
    /// one: write it to a new file, and append the payload to it.
    ///
    /// # Errors
    /// Those of [`crate::Sealing::to`], or of [`crate::Sealing::mixed`] if `mixed` is set; [`Error::TooMany`] if the
    /// recipients do not fit any header.
    pub fn rewrap_longer(&self, recipients: &[Recipient], mixed: bool) -> Result<Vec<u8>, Error> {
        recipient::check(recipients, mixed)?;
        let entries: Result<Vec<Entry>, Error> =
            recipients.iter().map(|it| it.wrap(&self.key, Entropy::System)).collect();
        let needed = header::length(recipients.iter().map(Recipient::body), self.header.metadata.len());
        header::build(&self.key, &entries?, &self.header.metadata, needed.max(self.header.length()))
    }
}
