//! Writes armor at positions, so that several threads can write at the same time.

use std::collections::HashMap;
use std::fs::File;
use std::io;

use parking_lot::Mutex;

use super::{BEGIN, COLUMNS, END};
use deadpan_base64::STANDARD;
use deadpan_seal::{Error, WriteAt};

/// The number of bytes in a line of text.
const IN_LINE: usize = COLUMNS / 4 * 3;
/// The length of a line of text, with its line end.
const LINE: usize = COLUMNS + 1;
/// The number of lines that are written at once: 512 KiB of bytes.
const LINES: usize = (512 << 10) / IN_LINE;

/// Armor in a file. Positions are those of the bytes in the armor. The armor is complete only after
/// [`ArmorAt::finish`].
pub struct ArmorAt<'a> {
    file: &'a File,
    /// The position in the file where the first line of base64 begins.
    begin: u64,
    /// Lines whose bytes belong to two writes. Such a line is written when all of its bytes are known.
    seams: Mutex<HashMap<u64, Seam>>,
    /// Buffers that no thread uses at the moment.
    buffers: Mutex<Vec<Buffers>>,
}

/// The bytes of a line, and the number of bytes that are already known.
struct Seam([u8; IN_LINE], usize);

struct Buffers {
    symbols: Vec<u8>,
    text: Vec<u8>,
}

impl Default for Buffers {
    fn default() -> Self {
        Self { symbols: vec![0; LINES * COLUMNS], text: vec![b'\n'; LINES * LINE] }
    }
}

impl<'a> ArmorAt<'a> {
    /// Writes the text `front` to an empty file, and begins armor behind it.
    pub fn begin(file: &'a File, front: &[u8]) -> Result<Self, Error> {
        file.check()?;
        let front = [front, BEGIN, b"\n"].concat();
        file.write_all_at(&front, 0).map_err(Error::Write)?;
        Ok(Self { file, begin: front.len() as u64, seams: Mutex::default(), buffers: Mutex::default() })
    }

    /// Completes the armor of `length` bytes, and writes the text `rear` behind it.
    pub fn finish(self, length: u64, rear: &[u8]) -> io::Result<()> {
        let (line, rest) = (length / IN_LINE as u64, (length % IN_LINE as u64) as usize);
        let mut text = Vec::new();
        for (number, Seam(bytes, filled)) in self.seams.into_inner() {
            assert!((number, filled) == (line, rest), "each byte is written once");
            STANDARD.encode_onto(&bytes[..rest], &mut text);
            text.push(b'\n');
        }
        text.extend([END, b"\n", rear].concat());
        let end = self.begin + line * LINE as u64;
        self.file.write_all_at(&text, end)?;
        // If more space was reserved than the text needs, the rest is free again after this call.
        self.file.cut(end + text.len() as u64)
    }

    fn position(&self, line: u64) -> u64 {
        self.begin + line * LINE as u64
    }

    /// Stores bytes of a line, from the offset `offset` on. Writes the line if the bytes complete the line.
    fn put_part(&self, line: u64, offset: usize, bytes: &[u8]) -> io::Result<()> {
        let mut seams = self.seams.lock();
        let Seam(whole, filled) = seams.entry(line).or_insert(Seam([0; IN_LINE], 0));
        whole[offset..][..bytes.len()].copy_from_slice(bytes);
        *filled += bytes.len();
        if *filled < IN_LINE {
            return Ok(());
        }
        let mut text = STANDARD.encode(&*whole);
        seams.remove(&line);
        drop(seams);
        text.push('\n');
        self.file.write_all_at(text.as_bytes(), self.position(line))
    }

    /// Writes whole lines.
    fn put_lines(&self, line: u64, bytes: &[u8], buffers: &mut Buffers) -> io::Result<()> {
        for (piece, number) in bytes.chunks(LINES * IN_LINE).zip((line..).step_by(LINES)) {
            let symbols = STANDARD.encode_into(piece, &mut buffers.symbols).expect("there is room for all lines");
            let text = &mut buffers.text[..symbols.len() / COLUMNS * LINE];
            for (from, to) in symbols.as_bytes().chunks_exact(COLUMNS).zip(text.chunks_exact_mut(LINE)) {
                to[..COLUMNS].copy_from_slice(from);
            }
            self.file.write_all_at(text, self.position(number))?;
        }
        Ok(())
    }
}

impl WriteAt for ArmorAt<'_> {
    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        let (mut line, offset) = (position / IN_LINE as u64, (position % IN_LINE as u64) as usize);
        let mut rest = bytes;
        if offset > 0 {
            let (part, more) = rest.split_at(rest.len().min(IN_LINE - offset));
            self.put_part(line, offset, part)?;
            (line, rest) = (line + 1, more);
        }
        let (lines, part) = rest.split_at(rest.len() - rest.len() % IN_LINE);
        if !lines.is_empty() {
            let mut buffers = self.buffers.lock().pop().unwrap_or_default();
            self.put_lines(line, lines, &mut buffers)?;
            self.buffers.lock().push(buffers);
        }
        if part.is_empty() { Ok(()) } else { self.put_part(line + (lines.len() / IN_LINE) as u64, 0, part) }
    }

    fn reserve(&self, end: u64) -> io::Result<()> {
        self.file.reserve(self.position(end.div_ceil(IN_LINE as u64)))
    }
}
