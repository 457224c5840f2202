//! A file whose header is open.

use super::{Opener, RangeReader};
use crate::engine::stream::Passed;
use crate::engine::units::{Alone, Drain, Giving, Sink, Writing};
use crate::engine::{file, memory, stream};
use crate::entropy::Entropy;
use crate::file_key::FileKey;
use crate::fill::read_full;
use crate::floe::{self, Message, Segments};
use crate::header::{self, Entry, PREAMBLE, Parsed, check_segment};
use crate::metadata::Contents;
use crate::padding::{Stripped, Stripper};
use crate::{Error, Metadata, Recipient, Summary, Work, recipient};
use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::Arc;

/// A file whose header is open: who has it can open the payload, in any way.
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

    /// What was sealed.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.contents.metadata
    }

    /// Whether the length is padded.
    #[must_use]
    pub fn hides_length(&self) -> bool {
        self.contents.padded
    }

    /// Bytes before the first segment.
    fn begin(&self) -> u64 {
        (self.header.length() + floe::HEADER) as u64
    }

    /// The message that begins here.
    fn message(&self, mut input: impl Read) -> Result<Message, Error> {
        let mut start = [0; floe::HEADER];
        let length = read_full(&mut input, &mut start).map_err(Error::Read)?;
        let start = start.get(..length).unwrap_or_default();
        let message = self.key.message(|key| Message::resume(key, &PREAMBLE, start))?;
        check_segment(message.segment_length())?;
        Ok(message)
    }

    /// The message of a whole sealed file, and where its segments lie.
    fn message_at<R: Read + Seek>(&self, mut input: R) -> Result<(Message, Segments), Error> {
        let length = input.seek(SeekFrom::End(0)).map_err(Error::Read)?;
        input.seek(SeekFrom::Start(self.header.length() as u64)).map_err(Error::Read)?;
        let message = self.message(input)?;
        let segments = message.segments_in(length.saturating_sub(self.begin()))?;
        Ok((message, segments))
    }

    /// One regular file to another, on all cores, at positions. `input` is the whole sealed file. `output` is empty, and not open for appending,
    /// where systems ignore positions.
    ///
    /// # Errors
    /// If the output is not empty, if the data were changed or cut short, or if the system fails. What is in `output` then must not be used.
    pub fn file(&self, input: &File, output: &File, work: &Work<'_>) -> Result<Summary, Error> {
        file::check_empty(output)?;
        let (message, segments) = self.message_at(input)?;
        let padded = self.contents.padded;
        let plain = file::open(&message, input, self.begin(), segments, padded, output, work)?;
        if padded {
            output.set_len(plain).map_err(Error::Write)?;
        }
        Ok(Summary { plain, sealed: self.begin() + segments.sealed() })
    }

    /// What follows the header, to a stream, on all cores, in order. What comes out is authentic; after an error more was to come.
    ///
    /// # Errors
    /// As for files.
    pub fn stream(&self, input: impl Read + Send, output: impl Write + Send, work: &Work<'_>) -> Result<Summary, Error> {
        if !self.contents.padded {
            let (summary, mut output) = self.units(input, Writing(output), work)?;
            return output.0.flush().map(|()| summary).map_err(Error::Write);
        }
        let stripped = Stripped { output, stripper: Stripper::default() };
        let (summary, mut stripped) = self.units(input, Writing(stripped), work)?;
        stripped.0.output.flush().map_err(Error::Write)?;
        Ok(Summary { plain: stripped.0.stripper.finish()?, ..summary })
    }

    /// What follows the header, to something that takes it apart, on all cores. What it gets is authentic; after an error more was to come.
    ///
    /// # Errors
    /// As for files.
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

    /// What follows the header, in memory, appended to `plain`; more than a few mebibytes on all cores.
    ///
    /// # Errors
    /// If the data were changed or cut short; `plain` is then as before.
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

    /// A reader of what follows the header, on the caller's thread.
    ///
    /// # Errors
    /// If the payload's header cannot be read or was changed.
    pub fn reader<R: Read>(&self, mut input: R) -> Result<Opener<R>, Error> {
        let message = self.message(&mut input)?;
        Ok(Opener::new(floe::Reader::new(Arc::new(message), input), self.contents.padded))
    }

    /// A reader that can jump, and opens only what is read. `input` is the whole sealed file.
    ///
    /// # Errors
    /// If the file's length cannot be right, or its last segment does not open.
    pub fn seekable<R: Read + Seek>(&self, mut input: R) -> Result<RangeReader<R>, Error> {
        let (message, _) = self.message_at(&mut input)?;
        let reader = floe::SeekReader::new(Arc::new(message), input, self.begin())?;
        RangeReader::new(reader, self.contents.padded)
    }

    /// A header for other recipients, exactly as long as the old one, to be written over it; the payload stays as it is. Whoever could open the
    /// file before and kept its key still can.
    ///
    /// # Errors
    /// As [`crate::Sealing::to`] (or [`crate::Sealing::mixed`], with `mixed`); [`Error::TooMany`] if they need a longer header: see
    /// [`Opened::rewrap_longer`].
    pub fn rewrap(&self, recipients: &[Recipient], mixed: bool) -> Result<Vec<u8>, Error> {
        let header = self.rewrap_longer(recipients, mixed)?;
        if header.len() > self.header.length() {
            return Err(Error::TooMany("these recipients need more room than the header has"));
        }
        Ok(header)
    }

    /// A header for other recipients that may be longer than the old one, which it therefore cannot overwrite: it is written to a new file, and
    /// the payload is copied behind it.
    ///
    /// # Errors
    /// As [`Opened::rewrap`], but for the length.
    pub fn rewrap_longer(&self, recipients: &[Recipient], mixed: bool) -> Result<Vec<u8>, Error> {
        recipient::check(recipients, mixed)?;
        let entries: Result<Vec<Entry>, Error> = recipients.iter().map(|it| it.wrap(&self.key, Entropy::System)).collect();
        let needed = header::length(recipients.iter().map(Recipient::body), self.header.metadata.len());
        header::build(&self.key, &entries?, &self.header.metadata, needed.max(self.header.length()))
    }
}
