//! Seals compressed data. Several threads compress, and the threads of the engine copy and seal the stored bytes.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use super::draft::Start;
use super::{Sealing, units};
use crate::api::engine::stream;
use crate::api::engine::units::{Source, Taken};
use crate::format::deadpan::padding::Padded;
use crate::format::fill::read_full;
use crate::format::positions::read_full_at;
use crate::{Error, ReadAt, Summary, Work, WriteAt};
use deadpan_compress::{Level, Pieces, Rest};

/// Stored bytes, and the padding after them if the length is hidden.
struct Stored<'i> {
    pieces: Pieces<'i>,
    padded: bool,
    padding: Option<Padded<io::Empty>>,
}

impl<'i> Source for Stored<'i> {
    type Rest = Rest<'i>;

    fn take(&mut self, buffer: &mut [u8]) -> io::Result<Taken<Rest<'i>>> {
        let (mut length, rest) = self.pieces.take(buffer)?;
        let mut last = self.pieces.is_over();
        if last && self.padded {
            let padding = self.padding.get_or_insert_with(|| Padded::after(self.pieces.table().stored()));
            length += read_full(padding, &mut buffer[length..])?;
            last = padding.is_over();
        }
        Ok(Taken { length, last, rest })
    }

    fn complete(rest: Rest<'i>, bytes: &mut [u8]) -> io::Result<()> {
        rest.complete(bytes)
    }
}

/// The callback for the progress counts data, and not compressed data.
fn inside<'w>(work: &Work<'w>) -> Work<'w> {
    Work { progress: None, ..*work }
}

impl Sealing {
    fn stored<'i>(&self, pieces: Pieces<'i>) -> Stored<'i> {
        Stored { pieces, padded: self.contents.padded, padding: None }
    }

    /// Compresses the first `length` bytes of `input`, and seals to positions. Data that do not shrink are read only
    /// when they are sealed.
    pub(super) fn compress_at(
        &self,
        level: Level,
        input: &impl ReadAt,
        length: u64,
        output: &impl WriteAt,
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        let told = AtomicU64::new(0);
        let read = |buffer: &mut [u8], position: u64| {
            if work.stop.is_some_and(|stop| stop()) {
                return Err(Error::Stopped.into_io());
            }
            if read_full_at(input, buffer, position)? < buffer.len() {
                return Err(Error::Shrank.into_io());
            }
            let end = position + buffer.len() as u64;
            let before = told.fetch_max(end, Ordering::Relaxed);
            work.progress.filter(|_| end > before).inspect(|progress| progress(end - before));
            Ok(())
        };
        self.compress_to(Pieces::at(&read, length, level, work.threads), output, work)
    }

    /// Seals stored bytes to positions.
    pub(super) fn compress_to(
        &self,
        pieces: Pieces<'_>,
        output: &impl WriteAt,
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        let sealed = self.place(self.stored(pieces), output, &inside(work)).map_err(Error::or_inner);
        sealed.map(|(summary, stored)| Summary { plain: stored.pieces.table().length(), ..summary })
    }

    /// Seals stored bytes to a stream.
    pub(super) fn compress_stream(
        &self,
        pieces: Pieces<'_>,
        output: &mut (dyn Write + Send),
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        let start = Start::new(self)?;
        let sealed = stream::Gathered::start(self.stored(pieces), start.unit())
            .and_then(|input| units(start, input, output, &inside(work)))
            .map_err(Error::or_inner);
        sealed.map(|(summary, input)| Summary { plain: input.into_source().pieces.table().length(), ..summary })
    }
}
