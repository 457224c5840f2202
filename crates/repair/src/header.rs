//! The header of a sidecar, which stands there three times.

use crate::Error;
use crate::grid::{Grid, LONGEST, SHORTEST};
use crate::positions::{ReadAt, read_full_at};
use crate::sidecar::lenient;

/// The first bytes of a header. The line ends show a transfer as text.
pub(crate) const SIGNATURE: [u8; 8] = *b"\x89DPR\r\n\x1a\n";
/// The length of a header, without the zeros that fill its block up.
pub(crate) const HEADER: usize = 96;
const VERSION: u8 = 1;

/// What a header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) grid: Grid,
    pub(crate) hash: [u8; 32],
}

impl Header {
    pub(crate) fn to_bytes(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let Grid { length, block, columns, rows, recovery } = self.grid;
        bytes[..8].copy_from_slice(&SIGNATURE);
        bytes[8] = VERSION;
        bytes[12..16].copy_from_slice(&block.to_be_bytes());
        bytes[16..24].copy_from_slice(&length.to_be_bytes());
        bytes[24..28].copy_from_slice(&columns.to_be_bytes());
        bytes[28..30].copy_from_slice(&rows.to_be_bytes());
        bytes[30..32].copy_from_slice(&recovery.to_be_bytes());
        bytes[32..64].copy_from_slice(&self.hash);
        let hash = blake3::hash(&bytes[..64]);
        bytes[64..].copy_from_slice(hash.as_bytes());
        bytes
    }

    /// Reads a header, if the bytes begin with a valid one.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; HEADER] = bytes.first_chunk()?;
        if bytes[..8] != SIGNATURE || bytes[8..12] != [VERSION, 0, 0, 0] || blake3::hash(&bytes[..64]) != bytes[64..] {
            return None;
        }
        let number = |from: usize, to: usize| bytes[from..to].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let grid = Grid {
            block: number(12, 16) as u32,
            length: number(16, 24),
            columns: number(24, 28) as u32,
            rows: number(28, 30) as u16,
            recovery: number(30, 32) as u16,
        };
        let mut hash = [0; 32];
        hash.copy_from_slice(&bytes[32..64]);
        grid.is_valid().then_some(Self { grid, hash })
    }

    /// Finds the first valid header: at the beginning, at the end, or anywhere else.
    pub(crate) fn find(sidecar: &(impl ReadAt + ?Sized), length: u64) -> Result<Self, Error> {
        let at = |position| {
            let mut bytes = [0; HEADER];
            let read = lenient(read_full_at(sidecar, &mut bytes, position))?;
            Ok(Self::parse(&bytes[..read]))
        };
        let sizes = std::iter::successors(Some(SHORTEST), |size| (*size < LONGEST).then_some(size * 2));
        let ends = sizes.filter_map(|size| length.checked_sub(size.into()));
        for position in std::iter::once(0).chain(ends) {
            if let Some(header) = at(position)? {
                return Ok(header);
            }
        }
        if let Some(header) = Self::search(sidecar, length)? {
            return Ok(header);
        }
        let mut start = [0; 9];
        let read = lenient(read_full_at(sidecar, &mut start, 0))?;
        let is_newer = read == start.len() && start[..8] == SIGNATURE && start[8] > VERSION;
        Err(if is_newer { Error::Newer(start[8]) } else { Error::NotSidecar })
    }

    /// Searches the whole sidecar.
    fn search(sidecar: &(impl ReadAt + ?Sized), length: u64) -> Result<Option<Self>, Error> {
        const PIECE: usize = 1 << 20;
        let mut buffer = vec![0; PIECE + HEADER];
        let mut position = 0;
        while position < length {
            let read = lenient(read_full_at(sidecar, &mut buffer, position))?;
            let bytes = &buffer[..read];
            let firsts = bytes.iter().enumerate().take(PIECE).filter(|(_, byte)| **byte == SIGNATURE[0]);
            if let Some(header) = firsts.filter_map(|(at, _)| Self::parse(&bytes[at..])).next() {
                return Ok(Some(header));
            }
            position += PIECE as u64;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Percent;

    #[test]
    fn headers_are_read_as_they_were_written_and_refused_after_any_change() {
        let header = Header { grid: Grid::choose(123_456, Percent::new(10).unwrap()).unwrap(), hash: [7; 32] };
        let bytes = header.to_bytes();
        assert_eq!(Header::parse(&bytes), Some(header));
        for at in 0..HEADER {
            let mut wrong = bytes;
            wrong[at] ^= 1 << (at % 8);
            assert_eq!(Header::parse(&wrong), None);
            assert_eq!(Header::parse(&bytes[..at]), None);
        }
    }
}
