//! Opening at positions.
//!
//! Opened segments are 32 bytes short of whole pages, and systems write whole pages a good deal faster than parts of them: the bytes behind
//! the last whole page wait for the next segment.

use super::place::read_at;
use super::{Shift, write_all_at};
use crate::engine::buffer::{Buffer, PAGE};
use crate::engine::on_threads;
use crate::floe::{Message, OVERHEAD, Segments};
use crate::padding;
use crate::{Error, Work};
use std::fs::File;
use std::sync::Mutex;

/// Opens the segments that begin at `begin` in `input`; how many bytes of data there were. Where they are padded, the output holds the
/// padding too, and the length is the one without it.
pub(crate) fn open(
    message: &Message,
    input: &File,
    begin: u64,
    segments: Segments,
    padded: bool,
    output: &File,
    work: &Work<'_>,
) -> Result<u64, Error> {
    let data = usize::try_from(segments.data()).map_or(message.data_length(), |data| data.min(message.data_length()));
    let (shift, workers) = Shift::new(segments, work, 2 * data + OVERHEAD + PAGE);
    let end = Mutex::new(padding::End::default());
    on_threads(workers, || {
        let mut cipher = message.cipher();
        let mut sealed = Buffer::new(data + OVERHEAD);
        let mut pages = Pages { buffer: Buffer::new(PAGE + data), waiting: 0 };
        shift.run(|segment, first| {
            let length = segments.data_in(segment);
            let sealed = &mut sealed[..length + OVERHEAD];
            if read_at(input, sealed, begin + segments.sealed_at(segment)).map_err(Error::Read)? < sealed.len() {
                return Err(Error::Truncated);
            }
            let position = segments.data_at(segment);
            let plain = pages.room(position, length, first);
            cipher.open(segment, segments.is_last(segment), sealed, plain)?;
            if padded {
                end.lock().map_err(|_| Error::Stopped)?.see(position, plain);
            }
            // The next segment may belong to somebody else: only within a stretch is something kept back.
            pages.put(output, position, length, segment + 1 == segments.count() || (segment + 1).is_multiple_of(shift.stretch))
        });
    });
    shift.finish()?;
    let end = end.into_inner().map_err(|_| Error::Stopped)?;
    if padded { end.length(segments.data()) } else { Ok(segments.data()) }
}

/// Data on their way out, at the same place in the buffer as in their page of the file.
struct Pages {
    buffer: Buffer,
    /// Bytes before the segment, of the page in which it begins, that are not written yet.
    waiting: usize,
}

impl Pages {
    /// Where the data of a segment go.
    fn room(&mut self, position: u64, length: usize, first: bool) -> &mut [u8] {
        if first {
            self.waiting = 0;
        }
        let begin = (position % PAGE as u64) as usize;
        &mut self.buffer[begin..begin + length]
    }

    /// Writes what is there up to the last whole page, or all of it.
    fn put(&mut self, output: &File, position: u64, length: usize, all: bool) -> Result<(), Error> {
        let inside = (position % PAGE as u64) as usize;
        let (begin, end) = (inside - self.waiting, inside + length);
        let whole = if all { end } else { end / PAGE * PAGE };
        if whole > begin {
            let position = position - self.waiting as u64;
            write_all_at(output, &self.buffer[begin..whole], position).map_err(Error::Write)?;
            self.buffer.copy_within(whole..end, 0);
            self.waiting = end - whole;
        } else {
            // Less than a page since it began: all of it waits.
            self.waiting += length;
        }
        Ok(())
    }
}
