//! PNG without compression: `IHDR`, one `IDAT` of stored blocks, `IEND`. Each block holds as many whole rows as fit.

use super::layout::{HEADER, Layout};
use crate::crc::{crc32, shift32};

/// The length of the signature, `IHDR`, length and type of `IDAT`, and the header of the zlib stream.
pub(super) const HEAD: u64 = 8 + 25 + 8 + 2;
/// The length of a block's header: length, complement of the length, and the bit that marks the last block.
const BLOCK: u64 = 5;
/// The maximum number of bytes in a stored block.
const MOST_BLOCK: u64 = 65_535;
const END: [u8; 12] = *b"\0\0\0\0IEND\xae\x42\x60\x82";

/// The header of a zlib stream with stored blocks.
pub(super) const ZLIB: [u8; 2] = [0x78, 0x01];

fn rows(layout: &Layout) -> u64 {
    MOST_BLOCK / (layout.row() + 1)
}

fn stream_length(layout: &Layout) -> u64 {
    let height = u64::from(layout.height());
    ZLIB.len() as u64 + BLOCK * height.div_ceil(rows(layout)) + height * (layout.row() + 1) + 4
}

pub(super) fn file_length(layout: &Layout) -> u64 {
    HEAD - ZLIB.len() as u64 + stream_length(layout) + 4 + END.len() as u64
}

pub(super) fn head(layout: &Layout) -> Vec<u8> {
    let mut head = b"\x89PNG\r\n\x1a\n\0\0\0\x0d".to_vec();
    let mut header = b"IHDR".to_vec();
    header.extend_from_slice(&layout.width().to_be_bytes());
    header.extend_from_slice(&layout.height().to_be_bytes());
    // The values mean: 8 bits in each sample; red, green and blue; deflate; the standard filters; not interlaced.
    header.extend_from_slice(&[8, 2, 0, 0, 0]);
    head.extend_from_slice(&header);
    head.extend_from_slice(&crc32(&header).to_be_bytes());
    head.extend_from_slice(&(stream_length(layout) as u32).to_be_bytes());
    head.extend_from_slice(b"IDAT");
    head.extend_from_slice(&ZLIB);
    head
}

/// Returns the bytes of the file after the bytes of the pixels.
pub(super) fn tail(adler: u32, crc: u32) -> Vec<u8> {
    [&adler.to_be_bytes()[..], &crc.to_be_bytes()[..], &END[..]].concat()
}

/// The offset of the first byte in a row is the offset of the filter byte before this byte. If a new block begins with
/// the row, the offset is the offset of the block's header.
pub(super) fn start(layout: &Layout, at: u64) -> u64 {
    let (row, column) = (at / layout.row(), at % layout.row());
    let blocks = match column {
        0 => row.div_ceil(rows(layout)),
        _ => row / rows(layout) + 1,
    };
    HEAD + BLOCK * blocks + row * (layout.row() + 1) + column + u64::from(column > 0)
}

/// Returns the number of the format's own bytes directly before byte `at`.
pub(super) fn before(layout: &Layout, at: u64) -> u64 {
    let (row, column) = (at / layout.row(), at % layout.row());
    match column {
        0 if row.is_multiple_of(rows(layout)) => BLOCK + 1,
        0 => 1,
        _ => 0,
    }
}

fn block(layout: &Layout, row: u64) -> [u8; 5] {
    let left = u64::from(layout.height()) - row;
    let length = (rows(layout).min(left) * (layout.row() + 1)) as u16;
    let [low, high] = length.to_le_bytes();
    [u8::from(left <= rows(layout)), low, high, !low, !high]
}

/// Appends the carrier's bytes that begin at byte `at` to `file`, with the format's own bytes before and between them.
/// Calls `between` for each range in `file` between two block headers.
pub(super) fn frame(layout: &Layout, at: u64, bytes: &[u8], file: &mut Vec<u8>, mut between: impl FnMut(&[u8])) {
    let (row_length, rows) = (layout.row(), rows(layout));
    let (mut row, mut column) = (at / row_length, at % row_length);
    let (mut rest, mut from) = (bytes, file.len());
    while !rest.is_empty() {
        if column == 0 {
            if row % rows == 0 {
                between(&file[from..]);
                file.extend_from_slice(&block(layout, row));
                from = file.len();
            }
            file.push(0);
        }
        let length = usize::try_from(row_length - column).map_or(rest.len(), |length| length.min(rest.len()));
        let (now, later) = rest.split_at(length);
        file.extend_from_slice(now);
        rest = later;
        (row, column) = (row + 1, 0);
    }
    between(&file[from..]);
}

/// Extracts the carrier's bytes that begin at byte `at` from `file`, which begins with the format's own bytes before
/// byte `at`.
pub(super) fn unframe(layout: &Layout, at: u64, mut file: &[u8], mut bytes: &mut [u8]) {
    let (row_length, rows) = (layout.row(), rows(layout));
    let (mut row, mut column) = (at / row_length, at % row_length);
    while !bytes.is_empty() {
        if column == 0 {
            let structure = if row % rows == 0 { BLOCK as usize + 1 } else { 1 };
            file = &file[structure..];
        }
        let length = usize::try_from(row_length - column).map_or(bytes.len(), |length| length.min(bytes.len()));
        let (now, later) = bytes.split_at_mut(length);
        now.copy_from_slice(&file[..length]);
        (file, bytes) = (&file[length..], later);
        (row, column) = (row + 1, 0);
    }
}

/// A block header that changes if the picture has fewer rows.
pub(super) struct Patch {
    pub(super) offset: u64,
    /// The header.
    pub(super) bytes: [u8; 5],
    /// The exclusive or of two checksums of `IDAT`: with the old header, and with this header.
    pub(super) crc: u32,
}

/// Compares the last block of a shortened picture with the same block of the picture with all rows. Returns `None` if
/// the header is the same, or if the header is stored before the part.
pub(super) fn patch(whole: &Layout, cut: &Layout) -> Option<Patch> {
    let row = (u64::from(cut.height()) - 1) / rows(cut) * rows(cut);
    let (old, bytes) = (block(whole, row), block(cut, row));
    if old == bytes || row * cut.row() < HEADER as u64 {
        return None;
    }
    let offset = start(cut, row * cut.row());
    let end = HEAD - ZLIB.len() as u64 + stream_length(cut);
    let change: [u8; 5] = std::array::from_fn(|at| old[at] ^ bytes[at]);
    // A CRC is affine: if some bytes change, the resulting change of the CRC does not depend on the other bytes.
    Some(Patch { offset, bytes, crc: shift32(crc32(&change) ^ crc32(&[0; 5]), end - offset - BLOCK) })
}
