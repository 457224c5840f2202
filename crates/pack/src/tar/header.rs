//! One header.

use super::form::BLOCK;
use super::number;
use crate::error::Error;

/// A header block, whose fields are not decoded yet. The meaning of some fields depends on the tar format.
pub(super) struct Header<'a>(&'a [u8; BLOCK]);

/// The format of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeaderFormat {
    /// POSIX: `ustar` and pax.
    Posix,
    /// GNU tar without pax. In this format, the bytes of the POSIX field `prefix` contain other fields.
    Gnu,
    /// Formats older than POSIX and GNU.
    Old,
}

impl<'a> Header<'a> {
    /// Checks the header's checksum.
    pub(super) fn new(block: &'a [u8; BLOCK], offset: u64) -> Result<Self, Error> {
        let header = Self(block);
        let damaged = || Error::damaged(format!("at byte {offset} there is no header of a tar archive"));
        let sum = number::field(&block[148..156]).ok_or_else(damaged)?;
        // The checksum is computed with a space in place of each byte of the checksum field. Some old programs added
        // the bytes as signed numbers, so the signed sum is accepted too.
        let (mut unsigned, mut signed) = (0_i64, 0_i64);
        for (place, byte) in block.iter().enumerate() {
            let byte = if (148..156).contains(&place) { b' ' } else { *byte };
            unsigned += i64::from(byte);
            signed += i64::from(byte.cast_signed());
        }
        if sum == unsigned || sum == signed { Ok(header) } else { Err(damaged()) }
    }

    pub(super) fn maker(&self) -> HeaderFormat {
        match &self.0[257..263] {
            b"ustar\0" => HeaderFormat::Posix,
            b"ustar " => HeaderFormat::Gnu,
            _ => HeaderFormat::Old,
        }
    }

    pub(super) fn kind(&self) -> u8 {
        self.0[156]
    }

    /// Returns the path. In a POSIX header, a long path is split into two fields.
    pub(super) fn path(&self) -> Vec<u8> {
        let (name, prefix) = (text(&self.0[..100]), text(&self.0[345..500]));
        if self.maker() == HeaderFormat::Posix && !prefix.is_empty() {
            [prefix, b"/", name].concat()
        } else {
            name.to_vec()
        }
    }

    pub(super) fn target(&self) -> Vec<u8> {
        text(&self.0[157..257]).to_vec()
    }

    pub(super) fn mode(&self) -> Option<i64> {
        number::field(&self.0[100..108])
    }

    pub(super) fn uid(&self) -> Option<i64> {
        number::field(&self.0[108..116])
    }

    pub(super) fn gid(&self) -> Option<i64> {
        number::field(&self.0[116..124])
    }

    pub(super) fn size(&self) -> Option<i64> {
        number::field(&self.0[124..136])
    }

    /// Whether a number fills its whole field, so that the zero byte at its end is the first byte of the next field.
    pub(super) fn overflows(&self) -> bool {
        [108..116, 116..124, 124..136, 136..148].into_iter().any(|field| number::overflown(&self.0[field]))
    }

    pub(super) fn modified(&self) -> Option<i64> {
        number::field(&self.0[136..148])
    }

    /// Returns the size of a file with holes, in the old GNU format.
    pub(super) fn real_size(&self) -> Option<i64> {
        number::field(&self.0[483..495])
    }

    /// Returns the part of an old GNU map that the header contains, and whether more blocks of the map follow.
    pub(super) fn map(&self) -> (&'a [u8], bool) {
        (&self.0[386..482], self.0[482] != 0)
    }
}

fn text(field: &[u8]) -> &[u8] {
    &field[..field.iter().position(|byte| *byte == 0).unwrap_or(field.len())]
}
