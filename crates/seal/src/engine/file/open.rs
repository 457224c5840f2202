//! Opening at positions.
//!
//! An opened segment is 32 bytes short of whole pages, and systems write whole pages much faster than parts of pages.
//! So the bytes after the last whole page are kept for the next write.

use std::io;
use std::sync::Mutex;

use super::{Shift, WRITTEN};
use crate::engine::buffer::{Buffer, PAGE};
use crate::engine::on_threads;
use crate::padding;
use crate::positions::read_full_at;
use crate::segment::{Payload, SegmentCipher, Segments, Shape};
use crate::{Error, ReadAt, Work, WriteAt};

/// Opens the segments that begin at `begin` in `input`, and returns the number of bytes of data. If the data are
/// padded, the output holds the padding too, and the returned length is the length without it.
pub(crate) fn open(
    payload: &impl Payload,
    input: &impl ReadAt,
    begin: u64,
    segments: Segments,
    padded: bool,
    output: &impl WriteAt,
    work: &Work<'_>,
) -> Result<u64, Error> {
    let Shape { overhead, .. } = payload.shape();
    let data = segments.data_in(0);
    let room = PAGE + segments.data().min(WRITTEN.next_multiple_of(payload.shape().data()) as u64) as usize;
    let (shift, workers) = Shift::new(segments, work, data + overhead + room);
    let end = Mutex::new(padding::End::default());
    on_threads(workers, || {
        let mut cipher = payload.cipher();
        let mut sealed = Buffer::new(data + overhead);
        let mut pages = Pages { buffer: Buffer::new(room), base: 0, from: 0, to: 0 };
        shift.run(|segment, edge| {
            let length = segments.data_in(segment);
            let sealed = &mut sealed[..length + overhead];
            if read_full_at(input, sealed, begin + segments.sealed_at(segment)).map_err(Error::Read)? < sealed.len() {
                return Err(Error::Truncated);
            }
            let position = segments.data_at(segment);
            if edge.first {
                pages.begin(position);
            }
            let plain = pages.room(length);
            cipher.open(segment, segments.is_last(segment), sealed, plain)?;
            if padded {
                end.lock().map_err(|_| Error::Stopped)?.see(position, plain);
            }
            // Another worker may have the next segment, so bytes are kept for the next write only within a batch.
            pages.put(output, data, edge.last).map_err(Error::Write)
        });
    });
    shift.finish()?;
    let end = end.into_inner().map_err(|_| Error::Stopped)?;
    if padded { end.length(segments.data()) } else { Ok(segments.data()) }
}

/// Opened data that wait until a write is large enough. Each byte has the same offset within its page in memory and in
/// the file.
struct Pages {
    buffer: Buffer,
    /// The position in the file where the buffer begins, which is the beginning of a page.
    base: u64,
    /// The range of the buffer that is filled and not yet written.
    from: usize,
    to: usize,
}

impl Pages {
    /// Moves to a position in the file.
    fn begin(&mut self, position: u64) {
        self.from = (position % PAGE as u64) as usize;
        self.to = self.from;
        self.base = position - self.from as u64;
    }

    /// Returns the room for the next `length` bytes.
    fn room(&mut self, length: usize) -> &mut [u8] {
        let begin = self.to;
        self.to += length;
        &mut self.buffer[begin..self.to]
    }

    /// Writes the buffer up to the last whole page, unless another `next` bytes fit into it. At the end of a batch,
    /// writes everything.
    fn put(&mut self, output: &impl WriteAt, next: usize, all: bool) -> io::Result<()> {
        if !all && self.to + next <= self.buffer.len() {
            return Ok(());
        }
        let end = if all { self.to } else { self.to / PAGE * PAGE };
        if end > self.from {
            output.write_all_at(&self.buffer[self.from..end], self.base + self.from as u64)?;
            self.buffer.copy_within(end..self.to, 0);
            self.base += end as u64;
            (self.from, self.to) = (0, self.to - end);
        }
        Ok(())
    }
}
