//! Opening compressed data at positions. Each frame is expanded alone, and written to its place.

use super::{Items, Sealed, Shift};
use crate::api::engine::buffer::Buffer;
use crate::format::segment::{Payload, SegmentCipher, Segments};
use crate::primitive::threads::on_threads;
use crate::{Error, ReadAt, Work, WriteAt};
use deadpan_compress::{FRAME, FrameExpander, Index};
use deadpan_ct::Wiped;

/// The most memory that all workers need together. A worker needs at most 8.5 MiB.
const MEMORY: usize = 144 << 20;

/// The memory that a worker needs besides the frame and its data: a segment, its data, and Zstandard's tables.
const BESIDE: usize = 768 << 10;

/// The most bytes of a write. For longer writes, Linux looks for huge pages, and clearing them takes up to ten times as
/// long as the write in virtual machines that give free pages back.
const AT_ONCE: usize = 256 << 10;

/// Opens the segments that begin at `begin` in `input`, expands the frames that `index` finds in them, and returns the
/// length of the data.
pub(crate) fn expand(
    payload: &impl Payload,
    input: &impl ReadAt,
    begin: u64,
    segments: Segments,
    index: &Index,
    output: &impl WriteAt,
    work: &Work<'_>,
) -> Result<u64, Error> {
    let length = index.table().length();
    // An error is ignored, because expanding the frames detects a table that lies.
    let _ = output.reserve(length);
    let items = Items { count: index.table().frames(), full: FRAME as u64, data: length };
    let (shift, workers) = Shift::within(MEMORY, items, work, index.longest() + FRAME + BESIDE);
    on_threads(workers, &|| {
        let mut expander = FrameExpander::new();
        let mut stored = Stored::new(payload.cipher(), input, begin, segments);
        let mut frame = Wiped::new(vec![0; index.longest()]);
        let mut data = Buffer::new(index.length(0));
        shift.run(|number, _| {
            let Ok(expander) = &mut expander else {
                return Err(Error::System("there is not enough memory to expand the data"));
            };
            let range = index.stored(number).ok_or(Error::Truncated)?;
            let frame = &mut frame[..(range.end - range.start) as usize];
            stored.read(range.start, frame)?;
            let data = &mut data[..index.length(number)];
            expander.expand(number, frame, data)?;
            let begin = number * FRAME as u64;
            let mut pieces = data.chunks(AT_ONCE).zip((begin..).step_by(AT_ONCE));
            pieces.try_for_each(|(piece, position)| output.write_all_at(piece, position)).map_err(Error::Write)
        });
    });
    shift.finish().map(|()| length)
}

/// Reads stored bytes at any position on one thread. Keeps the last segment that was not read to its end, because the
/// next frame begins there.
struct Stored<'i, C, R> {
    cipher: C,
    place: Sealed<'i, R>,
    sealed: Buffer,
    /// The segment whose data are in `data`.
    here: Option<u64>,
    data: Wiped<Vec<u8>>,
}

impl<'i, C: SegmentCipher, R: ReadAt> Stored<'i, C, R> {
    fn new(cipher: C, input: &'i R, begin: u64, segments: Segments) -> Self {
        let (full, overhead) = (segments.data_in(0), cipher.shape().overhead);
        let (place, sealed) = (Sealed { input, begin, segments, overhead }, Buffer::new(full + overhead));
        Self { cipher, place, sealed, here: None, data: Wiped::new(vec![0; full]) }
    }

    fn read(&mut self, mut position: u64, mut bytes: &mut [u8]) -> Result<(), Error> {
        let full = self.cipher.shape().data() as u64;
        while !bytes.is_empty() {
            let (segment, from) = (position / full, (position % full) as usize);
            let all = self.place.segments.data_in(segment);
            let length = all.saturating_sub(from).min(bytes.len());
            let here = bytes.split_off_mut(..length).filter(|here| !here.is_empty()).ok_or(Error::Truncated)?;
            if self.here == Some(segment) {
                here.copy_from_slice(&self.data[from..from + length]);
            } else if length == all {
                let sealed = self.place.read(segment, &mut self.sealed)?;
                self.cipher.open(segment, self.place.segments.is_last(segment), sealed, here)?;
            } else {
                self.here = None;
                let data = &mut self.data[..all];
                let sealed = self.place.read(segment, &mut self.sealed)?;
                self.cipher.open(segment, self.place.segments.is_last(segment), sealed, data)?;
                self.here = Some(segment);
                here.copy_from_slice(&data[from..from + length]);
            }
            position += length as u64;
        }
        Ok(())
    }
}
