//! Opens files with compressed data.

use std::io::{Read, Seek, SeekFrom, Write};

use super::Opened;
use super::opened::Located;
use super::range::StoredRange;
use crate::api::engine::told::Told;
use crate::api::engine::units::Writing;
use crate::api::engine::{file, stream};
use crate::format::deadpan::padding::{Stripped, Stripper};
use crate::format::fill::read_full;
use crate::format::positions::InOrder;
use crate::format::segment::{Payload, SeekReader};
use crate::{Cursor, Error, ReadAt, Summary, Work, WriteAt};
use deadpan_compress::{ExpandWriter, Expander, Flaw, Index, SeekExpander};
use deadpan_ct::Wipe;

/// How many bytes of data are expanded between two calls of the callbacks.
const PIECE: usize = 4 << 20;

impl Opened {
    /// Opens a stream, and expands the data.
    pub(super) fn expand<W: Write + Send>(
        &self,
        input: &mut (dyn Read + Send),
        output: W,
        work: &Work<'_>,
    ) -> Result<(Summary, W), Error> {
        let output = ExpandWriter::new(Told { inner: output, work }, work.threads);
        // The callback for the progress counts data, and not compressed data.
        let inside = Work { progress: None, ..*work };
        let (summary, output) = self.strip(input, output, &inside).map_err(Error::or_inner)?;
        let (output, table) = output.finish().map_err(|error| Error::Write(error).or_inner())?;
        Ok((Summary { plain: table.length(), ..summary }, output.inner))
    }

    /// Opens a whole sealed file, and writes the expanded data. Compares the segments of a signed file with the signed
    /// hashes before the data of the segments are expanded.
    pub(super) fn expand_at(
        &self,
        located: Located,
        input: &impl ReadAt,
        output: &impl WriteAt,
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        let begin = self.begin();
        let opened = located.open(input, |payload, segments| {
            let sealed = Cursor::new(input, begin + segments.sealed());
            let index = SeekReader::over(payload.cipher(), sealed.clone(), begin, begin + segments.sealed())
                .and_then(|reader| StoredRange::new(reader, self.hides_length()))
                .and_then(|stored| Index::read(stored).map_err(Error::Read));
            match index {
                Ok(index) => file::expand(payload, input, begin, segments, &index, output, work),
                // The first flaw may be before the seek table.
                Err(_) => self.expand_in_order(payload, sealed, output, work),
            }
        });
        let (plain, signatures) = opened.map_err(Error::or_inner)?;
        Ok(Summary { plain, sealed: 0, signatures })
    }

    /// Opens the segments in order, and writes the expanded data in order.
    fn expand_in_order(
        &self,
        payload: &impl Payload,
        mut sealed: impl Read + Seek + Send,
        output: &impl WriteAt,
        work: &Work<'_>,
    ) -> Result<u64, Error> {
        let inside = Work { progress: None, ..*work };
        sealed.seek(SeekFrom::Start(self.begin())).map_err(Error::Read)?;
        let stored = stream::Stream::start(sealed, stream::sealed_unit(payload))?;
        let output = ExpandWriter::new(Told { inner: InOrder::new(output), work }, work.threads);
        let output = if self.hides_length() {
            let stripped = Stripped { output, stripper: Stripper::default() };
            let Writing(Stripped { output, stripper }) =
                stream::open(payload, stored, Writing(stripped), &inside)?.output;
            stripper.finish()?;
            output
        } else {
            stream::open(payload, stored, Writing(output), &inside)?.output.0
        };
        Ok(output.finish().map_err(Error::Write)?.1.length())
    }

    /// Expands stored bytes in memory into a new vector. The memory is used only as the data are expanded, because a
    /// seek table can lie about the length of the data.
    pub(super) fn expand_bytes(stored: &[u8]) -> Result<Vec<u8>, Error> {
        let wrong = |error| Error::Read(error).or_inner();
        let length = SeekExpander::new(std::io::Cursor::new(stored)).map_err(wrong)?.length();
        let mut plain = Vec::new();
        let room = usize::try_from(length).unwrap_or(usize::MAX);
        plain.try_reserve_exact(room).map_err(|_| Error::System("there is not enough memory for the data"))?;
        let mut expander = Expander::new(stored, 0);
        let read = expander.by_ref().take(length).read_to_end(&mut plain).and_then(|_| expander.read(&mut [0]));
        match read {
            Ok(0) if plain.len() as u64 == length => Ok(plain),
            other => {
                plain.wipe();
                Err(other.map_or_else(wrong, |_| Error::Compressed(Flaw::OtherFrames)))
            }
        }
    }

    /// Expands stored bytes in memory into a buffer that is as long as the data. After an error, wipes the data.
    pub(super) fn expand_into(stored: &[u8], plain: &mut [u8], work: &Work<'_>) -> Result<(), Error> {
        let mut expander = Expander::new(stored, work.threads);
        let mut end = 0;
        let mut expand = || {
            while end < plain.len() {
                if work.stop.is_some_and(|stop| stop()) {
                    return Err(Error::Stopped);
                }
                let begin = end;
                end = plain.len().min(begin + PIECE);
                let read = read_full(&mut expander, &mut plain[begin..end]).map_err(Error::Read)?;
                if read < end - begin {
                    return Err(Error::Compressed(Flaw::OtherFrames));
                }
                work.progress.inspect(|progress| progress(read as u64));
            }
            match expander.read(&mut [0]).map_err(Error::Read)? {
                0 => Ok(()),
                _ => Err(Error::Compressed(Flaw::OtherFrames)),
            }
        };
        let expanded = expand().map_err(Error::or_inner);
        expanded.inspect_err(|_| plain[..end].wipe())
    }
}
