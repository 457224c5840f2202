//! The maps of files with holes. A map states at which offsets of the file the stored pieces of data belong.

use std::io::Read;

use super::form::{BLOCK, MOST_PIECES};
use super::number::{decimal, field};
use crate::error::Error;

/// The length of the longest map: two numbers of at most twenty digits for each piece, and for the end of the file.
const LONGEST: usize = 2 * 21 * (MOST_PIECES + 2);

/// The pieces read so far. Each piece begins at or after the end of the previous piece.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    /// For each piece with data: the offset where the piece ends in the stored data, and the offset where it begins in
    /// the file.
    list: Vec<(u64, u64)>,
    /// Number of bytes of data so far.
    data: u64,
    /// The offset in the file where the last piece ends.
    end: u64,
}

impl Pieces {
    pub(super) fn add(&mut self, offset: u64, length: u64) -> Result<(), Error> {
        let end = offset.checked_add(length).filter(|_| offset >= self.end).ok_or_else(damaged)?;
        (self.end, self.data) = (end, self.data + length);
        // A piece without data only marks the end of the file.
        if length > 0 {
            if self.list.len() == MOST_PIECES {
                return Err(Error::damaged(format!("a file with holes has more than {MOST_PIECES} pieces")));
            }
            self.list.push((self.data, offset));
        }
        Ok(())
    }

    /// Adds the pieces of an old GNU header, up to the first empty piece. Each piece takes 24 bytes: its offset and its
    /// length.
    pub(super) fn add_old(&mut self, bytes: &[u8]) -> Result<(), Error> {
        for line in bytes.chunks_exact(24) {
            if line[0] == 0 || line[12] == 0 {
                break;
            }
            let number = |bytes| field(bytes).and_then(|number| u64::try_from(number).ok()).ok_or_else(damaged);
            self.add(number(&line[..12])?, number(&line[12..])?)?;
        }
        Ok(())
    }

    /// Returns the map if its pieces agree with `stored` and `real_size`. Before the pieces, the content has `begin`
    /// bytes; the whole content has `stored` bytes.
    pub(super) fn map(self, begin: u64, stored: u64, real_size: u64) -> Result<Map, Error> {
        let agrees = begin.checked_add(self.data) == Some(stored) && self.end <= real_size;
        if agrees { Ok(Map { begin, list: self.list }) } else { Err(damaged()) }
    }
}

/// The offsets at which the pieces of a file with holes belong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Map {
    /// The length of the map itself, which is stored in the content before the first piece.
    begin: u64,
    list: Vec<(u64, u64)>,
}

impl Map {
    /// Returns all pieces in order: where each begins in the file, where it begins in the content, and its length.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let mut start = 0;
        self.list.iter().map(move |(until, offset)| {
            let piece = (*offset, self.begin + start, until - start);
            start = *until;
            piece
        })
    }

    /// For `length` bytes of the content, beginning at byte `stored`, returns the ranges of the file to which these
    /// bytes belong, as offsets and lengths. Bytes that belong to the map itself are skipped.
    pub(crate) fn pieces(&self, stored: u64, length: u64) -> impl Iterator<Item = (u64, u64)> {
        let mut from = stored.saturating_sub(self.begin);
        let end = (stored + length).saturating_sub(self.begin);
        let mut number = self.list.partition_point(|(until, _)| *until <= from);
        std::iter::from_fn(move || {
            let (until, offset) = *self.list.get(number).filter(|_| from < end)?;
            let start = number.checked_sub(1).map_or(0, |before| self.list[before].0);
            let piece = (offset + (from - start), until.min(end) - from);
            (from, number) = (until.min(end), number + 1);
            Some(piece)
        })
    }
}

/// Reads a map in GNU's format 1.0: decimal numbers on separate lines, in whole blocks before the data.
#[derive(Debug, Default)]
pub(super) struct Reading {
    digits: Vec<u8>,
    /// The number of pieces that follow. `None` until that number is read.
    left: Option<u64>,
    offset: Option<u64>,
    pieces: Pieces,
}

impl Reading {
    /// Reads one byte of the map, and returns whether it was the last byte.
    pub(super) fn put(&mut self, byte: u8) -> Result<bool, Error> {
        if byte != b'\n' {
            // A 64-bit number has at most twenty digits.
            if self.digits.len() == 20 {
                return Err(damaged());
            }
            self.digits.push(byte);
            return Ok(false);
        }
        let number = decimal(&self.digits).ok_or_else(damaged)?;
        self.digits.clear();
        match (self.left, self.offset.take()) {
            (None, _) => self.left = Some(number),
            (Some(_), None) => self.offset = Some(number),
            (Some(left), Some(offset)) => {
                self.pieces.add(offset, number)?;
                self.left = Some(left - 1);
            }
        }
        Ok(self.left == Some(0) && self.offset.is_none())
    }

    /// Returns the map. `length` is the number of bytes of the map without its padding.
    pub(super) fn finish(self, length: u64, stored: u64, real_size: u64) -> Result<Map, Error> {
        self.pieces.map(length.next_multiple_of(BLOCK as u64), stored, real_size)
    }
}

/// Reads the map at the beginning of a content of `stored` bytes. Also returns the bytes of the map, with its padding.
pub(crate) fn read_map(input: &mut impl Read, stored: u64, real_size: u64) -> Result<(Vec<u8>, Map), Error> {
    let (mut bytes, mut reading) = (Vec::new(), Reading::default());
    while (bytes.len() as u64) < stored && bytes.len() < LONGEST {
        let (begin, mut block) = (bytes.len(), [0; BLOCK]);
        input.read_exact(&mut block).map_err(Error::Read)?;
        bytes.extend_from_slice(&block);
        for (place, byte) in block.into_iter().enumerate() {
            if reading.put(byte)? {
                return Ok((bytes, reading.finish((begin + place + 1) as u64, stored, real_size)?));
            }
        }
    }
    Err(damaged())
}

fn damaged() -> Error {
    Error::damaged("the map of a file with holes does not fit the file")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, stored: u64, real_size: u64) -> Result<Map, Error> {
        let mut reading = Reading::default();
        for (place, byte) in text.bytes().enumerate() {
            if reading.put(byte)? {
                return reading.finish(place as u64 + 1, stored, real_size);
            }
        }
        Err(Error::Truncated)
    }

    #[test]
    fn bytes_of_the_content_belong_to_places_of_the_file() {
        let map = read("3\n0\n10\n100\n20\n200\n0\n", 512 + 30, 200).unwrap();
        let pieces = |stored, length| map.pieces(stored, length).collect::<Vec<_>>();
        assert_eq!(pieces(0, 542), [(0, 10), (100, 20)]);
        assert_eq!(pieces(0, 512), []);
        assert_eq!(pieces(500, 13), [(0, 1)]);
        assert_eq!(pieces(517, 7), [(5, 5), (100, 2)]);
        assert_eq!(pieces(522, 20), [(100, 20)]);
        assert_eq!(pieces(541, 1), [(119, 1)]);
        assert_eq!(map.all().collect::<Vec<_>>(), [(0, 512, 10), (100, 522, 20)]);
    }

    #[test]
    fn maps_that_attack() {
        for (text, stored, real_size, why) in [
            ("2\n0\n10\n5\n10\n", 532, 100, "overlaps"),
            ("2\n50\n10\n0\n10\n", 532, 100, "goes back"),
            ("1\n95\n10\n", 522, 100, "is longer than the file"),
            ("1\n0\n10\n", 523, 100, "has less than is stored"),
            ("1\n0\n10\n", 521, 100, "has more than is stored"),
            ("1\n0\n10\n", 10, 100, "forgets itself"),
            ("1\n18446744073709551615\n1\n", 513, 100, "overflows"),
            ("1\n0\n18446744073709551615\n", 511, u64::MAX, "overflows with its own length"),
            ("1\n0\n-1\n", 512, 100, "is negative"),
            ("\n", 512, 100, "is empty"),
            ("000000000000000000001\n", 512, 100, "has long numbers"),
        ] {
            assert!(read(text, stored, real_size).is_err(), "{why}");
        }
        assert!(read("0\n", 512, 100).is_ok(), "a file that is one hole");
    }
}
