//! Sealing at positions.

use super::Shift;
use super::pages::{Pages, room};
use crate::api::engine::buffer::Buffer;
use crate::format::positions::read_full_at;
use crate::format::segment::{Payload, SegmentCipher, Segments, Shape};
use crate::primitive::threads::on_threads;
use crate::{Error, ReadAt, Work, WriteAt};

/// The data to seal: the first `length` bytes of `input`, followed by padding if the length is hidden.
pub(crate) struct Plain<'a, R> {
    pub(crate) input: &'a R,
    pub(crate) length: u64,
    pub(crate) padded: bool,
}

impl<R: ReadAt> Plain<'_, R> {
    /// Returns `buffer.len()` bytes of the data, beginning at `position`. If the input is in memory, returns a
    /// reference into the input. If the bytes are not in memory, fills the buffer and returns it.
    fn take<'b>(&'b self, buffer: &'b mut [u8], position: u64) -> Result<&'b [u8], Error> {
        if position + buffer.len() as u64 <= self.length
            && let Some(there) = self.input.bytes_at(position, buffer.len())
        {
            return Ok(there);
        }
        self.read(buffer, position)?;
        Ok(buffer)
    }

    /// The padding is at the positions after the end of the data.
    fn read(&self, buffer: &mut [u8], position: u64) -> Result<(), Error> {
        let here =
            usize::try_from(self.length.saturating_sub(position)).map_or(buffer.len(), |left| left.min(buffer.len()));
        let (data, padding) = buffer.split_at_mut(here);
        if read_full_at(self.input, data, position).map_err(Error::Read)? < data.len() {
            return Err(Error::Shrank);
        }
        padding.fill(0);
        if self.padded && position + here as u64 == self.length {
            padding.iter_mut().take(1).for_each(|byte| *byte = 0x80);
        }
        Ok(())
    }
}

/// Seals `source` into the segments that begin at `begin` in `output`.
pub(crate) fn seal(
    payload: &impl Payload,
    source: &Plain<'_, impl ReadAt>,
    segments: Segments,
    output: &impl WriteAt,
    begin: u64,
    work: &Work<'_>,
) -> Result<(), Error> {
    let Shape { sealed: full, overhead } = payload.shape();
    let data = segments.data_in(0);
    let room = room(output, segments.sealed(), full);
    output.reserve(begin + segments.sealed()).map_err(Error::Write)?;
    let (shift, workers) = Shift::new(segments, work, data + room);
    let room = shift.used(room, full);
    on_threads(workers, &|| {
        let mut cipher = payload.cipher();
        let (mut plain, mut pages) = (Buffer::new(data), Pages::new(room));
        shift.run(|segment, edge| {
            let plain = &mut plain[..segments.data_in(segment)];
            let plain = source.take(plain, segments.data_at(segment))?;
            if edge.first {
                pages.begin(begin + segments.sealed_at(segment));
            }
            let sealed = pages.room(plain.len() + overhead);
            cipher.seal(segment, segments.is_last(segment), plain, sealed)?;
            pages.put(output, full, edge.last).map_err(Error::Write)
        });
    });
    shift.finish()
}
