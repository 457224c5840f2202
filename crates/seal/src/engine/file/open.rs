//! Opening at positions.
//!
//! Opened segments are 32 bytes short of whole pages, and systems write whole pages a good deal faster than parts of them: the bytes behind
//! the last whole page wait for the next write.

use super::place::read_at;
use super::{Shift, WRITTEN, write_all_at};
use crate::engine::buffer::{Buffer, PAGE};
use crate::engine::on_threads;
use crate::floe::{Message, OVERHEAD, Segments};
use crate::padding;
use crate::{Error, Work};
use std::fs::File;
use std::io;
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
    let data = segments.data_in(0);
    let room = PAGE + segments.data().min(WRITTEN.next_multiple_of(message.data_length()) as u64) as usize;
    let (shift, workers) = Shift::new(segments, work, data + OVERHEAD + room);
    let end = Mutex::new(padding::End::default());
    on_threads(workers, || {
        let mut cipher = message.cipher();
        let mut sealed = Buffer::new(data + OVERHEAD);
        let mut pages = Pages { buffer: Buffer::new(room), base: 0, from: 0, to: 0 };
        shift.run(|segment, edge| {
            let length = segments.data_in(segment);
            let sealed = &mut sealed[..length + OVERHEAD];
            if read_at(input, sealed, begin + segments.sealed_at(segment)).map_err(Error::Read)? < sealed.len() {
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
            // The next segment may belong to somebody else: only within a stretch is something kept back.
            pages.put(output, data, edge.last).map_err(Error::Write)
        });
    });
    shift.finish()?;
    let end = end.into_inner().map_err(|_| Error::Stopped)?;
    if padded { end.length(segments.data()) } else { Ok(segments.data()) }
}

/// Data on their way out, gathered until a write is worth it, each byte at the same place in a page of memory as in its page of the file.
struct Pages {
    buffer: Buffer,
    /// Where in the file the buffer begins: on a page.
    base: u64,
    /// What is in the buffer and not written yet.
    from: usize,
    to: usize,
}

impl Pages {
    /// Goes to a position of the file.
    fn begin(&mut self, position: u64) {
        self.from = (position % PAGE as u64) as usize;
        self.to = self.from;
        self.base = position - self.from as u64;
    }

    /// Where the next `length` bytes go.
    fn room(&mut self, length: usize) -> &mut [u8] {
        let begin = self.to;
        self.to += length;
        &mut self.buffer[begin..self.to]
    }

    /// Writes what is there up to the last whole page, unless another `next` bytes find room; or, at the end, all of it.
    fn put(&mut self, output: &File, next: usize, all: bool) -> io::Result<()> {
        if !all && self.to + next <= self.buffer.len() {
            return Ok(());
        }
        let end = if all { self.to } else { self.to / PAGE * PAGE };
        if end > self.from {
            write_all_at(output, &self.buffer[self.from..end], self.base + self.from as u64)?;
            self.buffer.copy_within(end..self.to, 0);
            self.base += end as u64;
            (self.from, self.to) = (0, self.to - end);
        }
        Ok(())
    }
}
