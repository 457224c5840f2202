//! Sealing at positions.

use super::place::read_at;
use super::{Shift, WRITTEN, write_all_at};
use crate::engine::buffer::Buffer;
use crate::engine::on_threads;
use crate::floe::{Message, OVERHEAD, Segments};
use crate::{Error, Work};
use std::fs::File;
use std::io;

/// What is sealed: a file of so many bytes, and behind them the padding.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) file: &'a File,
    pub(crate) length: u64,
    pub(crate) padded: bool,
}

impl Source<'_> {
    /// Whether the file still ends where it did: a part of what somebody goes on writing is of no use.
    pub(crate) fn check_end(&self) -> Result<(), Error> {
        match read_at(self.file, &mut [0], self.length).map_err(Error::Read)? {
            0 => Ok(()),
            _ => Err(Error::Read(io::Error::other("the file grew while it was read\nhint: wait until nobody writes to it"))),
        }
    }

    /// Reads at a position; what lies behind the file is padding.
    fn read(&self, buffer: &mut [u8], position: u64) -> Result<(), Error> {
        let here = usize::try_from(self.length.saturating_sub(position)).map_or(buffer.len(), |left| left.min(buffer.len()));
        let (data, padding) = buffer.split_at_mut(here);
        if read_at(self.file, data, position).map_err(Error::Read)? < data.len() {
            let cut = "the file became shorter while it was read\nhint: wait until nobody writes to it";
            return Err(Error::Read(io::Error::new(io::ErrorKind::UnexpectedEof, cut)));
        }
        padding.fill(0);
        if self.padded && position + here as u64 == self.length {
            padding.iter_mut().take(1).for_each(|byte| *byte = 0x80);
        }
        Ok(())
    }
}

/// Seals `source` in `segments`, which begin at `begin` in `output`.
pub(crate) fn seal(
    message: &Message,
    source: Source<'_>,
    segments: Segments,
    output: &File,
    begin: u64,
    work: &Work<'_>,
) -> Result<(), Error> {
    let full = message.segment_length();
    let data = segments.data_in(0);
    let room = segments.sealed().min(WRITTEN.next_multiple_of(full) as u64) as usize;
    let (shift, workers) = Shift::new(segments, work, data + room);
    on_threads(workers, || {
        let mut cipher = message.cipher();
        let (mut plain, mut sealed) = (Buffer::new(data), Buffer::new(room));
        // How much is sealed and not written yet: nothing between stretches.
        let mut ready = 0;
        shift.run(|segment, edge| {
            let plain = &mut plain[..segments.data_in(segment)];
            source.read(plain, segments.data_at(segment))?;
            let end = ready + plain.len() + OVERHEAD;
            cipher.seal(segment, segments.is_last(segment), plain, &mut sealed[ready..end])?;
            if !edge.last && end + full <= room {
                ready = end;
                return Ok(());
            }
            let position = begin + segments.sealed_at(segment) - ready as u64;
            ready = 0;
            write_all_at(output, &sealed[..end], position).map_err(Error::Write)
        });
    });
    shift.finish()
}
