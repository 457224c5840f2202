//! Reads the part of a carrier from the carrier's file.

use std::fs::File;
use std::io;

use parking_lot::Mutex;

use super::layout::{HEADER, Layout};
use super::png;
use crate::Format;
use crate::position::read_exact_at;

/// The number of bytes of the file that are read at once, before the format's own bytes are removed. This number of
/// bytes fits into the cache of a CPU core.
const STEP: usize = 256 << 10;

/// Buffers that are used again.
#[derive(Debug, Default)]
pub(crate) struct Buffers(Mutex<Vec<Vec<u8>>>);

impl Buffers {
    pub(crate) fn with<R>(&self, function: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        let lock = || self.0.lock();
        let reused = lock().pop();
        let mut buffer = reused.unwrap_or_default();
        buffer.clear();
        let result = function(&mut buffer);
        lock().push(buffer);
        result
    }
}

/// Fills `buffer` with the bytes of a part, beginning at byte `at`.
pub(crate) fn read_exact(
    file: &File,
    layout: &Layout,
    at: u64,
    buffer: &mut [u8],
    buffers: &Buffers,
) -> io::Result<()> {
    let mut at = HEADER as u64 + at;
    if layout.format() == Format::WebP {
        return read_exact_at(file, buffer, layout.start(at));
    }
    for bytes in buffer.chunks_mut(STEP) {
        let end = at + bytes.len() as u64;
        buffers.with(|framed| {
            framed.resize((layout.start(end - 1) + png::before(layout, end - 1) + 1 - layout.start(at)) as usize, 0);
            read_exact_at(file, framed, layout.start(at))?;
            png::unframe(layout, at, framed, bytes);
            io::Result::Ok(())
        })?;
        at = end;
    }
    Ok(())
}
