//! Opening at positions.

use std::sync::Mutex;

use super::pages::{Pages, room};
use super::{Sealed, Shift};
use crate::api::engine::buffer::Buffer;
use crate::format::deadpan::padding;
use crate::format::segment::{Payload, SegmentCipher, Segments, Shape};
use crate::primitive::threads::on_threads;
use crate::{Error, ReadAt, Work, WriteAt};

/// Opens the segments that begin at `begin` in `input`, and returns the number of bytes of data. If the data are
/// padded, this function writes the padding to the output, too. The returned length does not include the padding.
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
    let room = room(output, segments.data(), payload.shape().data());
    // If somebody appended bytes to the input, the data may seem to be longer than the free space on the disk. The code
    // ignores an error of `reserve`, because opening the segments then detects the change of the input.
    let _ = output.reserve(segments.data());
    let (shift, workers) = Shift::new(segments, work, data + overhead + room);
    let room = shift.used(room, data);
    let end = Mutex::new(padding::End::default());
    let place = Sealed { input, begin, segments, overhead };
    on_threads(workers, &|| {
        let mut cipher = payload.cipher();
        let mut sealed = Buffer::new(data + overhead);
        let mut pages = Pages::new(room);
        shift.run(|segment, edge| {
            let length = segments.data_in(segment);
            let sealed = place.read(segment, &mut sealed)?;
            let position = segments.data_at(segment);
            if edge.first {
                pages.begin(position);
            }
            let plain = pages.room(length);
            cipher.open(segment, segments.is_last(segment), sealed, plain)?;
            if padded {
                end.lock().map_err(|_| Error::Stopped)?.see(position, plain);
            }
            // At the end of a batch, the buffer must be written completely, because another worker may open the next
            // segment.
            pages.put(output, data, edge.last).map_err(Error::Write)
        });
    });
    shift.finish()?;
    let end = end.into_inner().map_err(|_| Error::Stopped)?;
    if padded { end.length(segments.data()) } else { Ok(segments.data()) }
}
