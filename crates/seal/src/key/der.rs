//! The part of strict DER (X.690) that keys need: each value has one encoding, and no bytes follow the last value.
//!
//! Tags and lengths are public, because they follow from the kind of the key. The reader returns or copies the contents
//! of strings only as a whole. This reader is written by hand, because the readers of other crates branch on the data
//! that they read, and leave copies of the data in memory.

use super::error::Trouble;
use crate::Secret;
use deadpan_ct::declassify_bytes;

pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const NULL: u8 = 0x05;
pub(super) const OID: u8 = 0x06;
pub(super) const SEQUENCE: u8 = 0x30;
/// Returns the tag `[n]` of an element whose contents are the bytes of a string.
pub(super) const fn context(number: u8) -> u8 {
    0x80 | number
}
/// Returns the tag `[n]` of an element whose contents are complete DER values.
pub(super) const fn context_of(number: u8) -> u8 {
    0xa0 | number
}

const NOT_DER: Trouble = Trouble::Malformed("it is not strict DER, or cut short");

/// Reads values one after the other. May leak: tags, lengths, and the contents of numbers and object identifiers.
#[derive(Clone)]
pub(super) struct DerReader<'a> {
    rest: &'a [u8],
}

impl<'a> DerReader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Returns the contents of the next value. The value must have the tag `tag`.
    pub(super) fn take(&mut self, tag: u8) -> Result<&'a [u8], Trouble> {
        self.maybe(tag)?.ok_or(NOT_DER)
    }

    /// Returns the contents of the next value if the value has the tag `tag`.
    pub(super) fn maybe(&mut self, tag: u8) -> Result<Option<&'a [u8]>, Trouble> {
        if self.next_tag() != Some(tag) {
            return Ok(None);
        }
        self.any().map(|(_, contents)| Some(contents))
    }

    /// Returns the tag of the next value.
    pub(super) fn next_tag(&self) -> Option<u8> {
        declassify_bytes(self.rest.get(..1)?).first().copied()
    }

    /// Returns the tag and the contents of the next value.
    pub(super) fn any(&mut self) -> Result<(u8, &'a [u8]), Trouble> {
        let &[tag, first] = declassify_bytes(self.bytes(2)?) else { return Err(NOT_DER) };
        // Tags of more than one byte encode numbers above 30, and no key contains such a tag.
        if tag & 0x1f == 0x1f {
            return Err(NOT_DER);
        }
        let length = match first {
            ..=0x7f => usize::from(first),
            // No key needs more than 64 KiB. A length in more than two bytes is refused. A length that fits in fewer
            // bytes is refused, too.
            0x81 => self.length(1).filter(|length| *length >= 0x80).ok_or(NOT_DER)?,
            0x82 => self.length(2).filter(|length| *length >= 0x100).ok_or(NOT_DER)?,
            _ => return Err(NOT_DER),
        };
        Ok((tag, self.bytes(length)?))
    }

    /// Returns a reader for the contents of the next value, which must be a sequence.
    pub(super) fn sequence(&mut self) -> Result<Self, Trouble> {
        self.take(SEQUENCE).map(Self::new)
    }

    /// The integer must not be negative and must have at most 64 bits.
    pub(super) fn number(&mut self) -> Result<u64, Trouble> {
        let bytes = declassify_bytes(self.take(INTEGER)?);
        let digits = match bytes {
            [0, high, ..] if *high < 0x80 => return Err(NOT_DER),
            [0, digits @ ..] if !digits.is_empty() => digits,
            [high, ..] if *high < 0x80 => bytes,
            _ => return Err(Trouble::Malformed("a number in it is negative or empty")),
        };
        if digits.len() > 8 {
            return Err(Trouble::Limit("a number with more than 64 bits"));
        }
        Ok(digits.iter().fold(0, |number, digit| number << 8 | u64::from(*digit)))
    }

    /// Returns the encoding of an object identifier.
    pub(super) fn oid(&mut self) -> Result<&'a [u8], Trouble> {
        self.take(OID).map(declassify_bytes)
    }

    /// Returns the bytes of a bit string. The bit string must consist of whole bytes.
    pub(super) fn bit_string(&mut self) -> Result<&'a [u8], Trouble> {
        whole_bytes(self.take(BIT_STRING)?)
    }

    /// Checks that no bytes are left.
    pub(super) fn end(&self) -> Result<(), Trouble> {
        if self.rest.is_empty() { Ok(()) } else { Err(Trouble::Malformed("something stands behind its end")) }
    }

    fn length(&mut self, count: usize) -> Option<usize> {
        let bytes = declassify_bytes(self.bytes(count).ok()?);
        Some(bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)))
    }

    fn bytes(&mut self, count: usize) -> Result<&'a [u8], Trouble> {
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or(NOT_DER)?;
        self.rest = rest;
        Ok(bytes)
    }
}

/// Returns the bytes in the contents of a bit string. The last byte must have no unused bits.
pub(super) fn whole_bytes(contents: &[u8]) -> Result<&[u8], Trouble> {
    match contents.split_at_checked(1) {
        Some((unused, bytes)) if declassify_bytes(unused) == [0] => Ok(bytes),
        _ => Err(Trouble::Malformed("a bit string in it does not hold whole bytes")),
    }
}

/// A value to write, as a tree whose leaves are borrowed bytes.
pub(super) enum Item<'a> {
    /// Bytes that are written unchanged.
    Raw(&'a [u8]),
    /// A tag around other items.
    Tagged(u8, &'a [Self]),
}

impl Item<'_> {
    /// Returns the encoding of the item. Allocates exactly as much memory as the encoding needs. May leak: the lengths
    /// of all parts.
    pub(super) fn encode(&self) -> Secret {
        let mut encoding = Secret::zeroed(self.len());
        let rest = self.write(&mut encoding);
        debug_assert!(rest.is_empty());
        encoding
    }

    fn len(&self) -> usize {
        match self {
            Self::Raw(bytes) => bytes.len(),
            Self::Tagged(_, items) => {
                let inside = Self::len_of(items);
                1 + length_bytes(inside) + inside
            }
        }
    }

    fn len_of(items: &[Self]) -> usize {
        items.iter().map(Self::len).sum()
    }

    /// Returns the rest of `output`.
    fn write<'o>(&self, output: &'o mut [u8]) -> &'o mut [u8] {
        match self {
            Self::Raw(bytes) => put(output, bytes),
            Self::Tagged(tag, items) => {
                let inside = Self::len_of(items);
                let output = put(output, &[*tag]);
                let digits = (inside as u64).to_be_bytes();
                let output = match length_bytes(inside) {
                    1 => put(output, &digits[7..]),
                    more => put(put(output, &[0x7f + more as u8]), &digits[9 - more..]),
                };
                items.iter().fold(output, |output, item| item.write(output))
            }
        }
    }
}

fn put<'o>(output: &'o mut [u8], bytes: &[u8]) -> &'o mut [u8] {
    let (place, rest) = output.split_at_mut(bytes.len());
    place.copy_from_slice(bytes);
    rest
}

fn length_bytes(length: usize) -> usize {
    match length {
        0..0x80 => 1,
        0x80..0x100 => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for length in [0, 1, 127, 128, 129, 255, 256, 257, 65_000] {
            let bytes = vec![7; length];
            let encoding = Item::Tagged(SEQUENCE, &[Item::Tagged(OCTET_STRING, &[Item::Raw(&bytes)])]).encode();
            let mut reader = DerReader::new(&encoding);
            let mut inside = reader.sequence().unwrap();
            assert_eq!(inside.take(OCTET_STRING).unwrap(), bytes);
            assert!(inside.end().is_ok() && reader.end().is_ok());
            for cut in [1, 2, 3, encoding.len()] {
                let mut cut_short = DerReader::new(&encoding[..encoding.len() - cut]);
                assert!(cut_short.any().is_err(), "{length} without {cut}");
            }
        }
    }

    #[test]
    fn one_encoding_only() {
        let long_forms: [&[u8]; 8] = [
            &[0x04, 0x81, 0x01, 0xaa],
            &[0x04, 0x82, 0x00, 0x01, 0xaa],
            &[0x04, 0x83, 0x00, 0x00, 0x01, 0xaa],
            &[0x04, 0x80, 0xaa, 0x00, 0x00],
            &[0x04, 0xff],
            &[0x1f, 0x01, 0xaa],
            &[0x04],
            &[],
        ];
        for bytes in long_forms {
            assert!(DerReader::new(bytes).any().is_err(), "{bytes:02x?}");
        }
    }

    #[test]
    fn numbers() {
        let good: [(&[u8], u64); 5] = [
            (&[2, 1, 0], 0),
            (&[2, 1, 0x7f], 127),
            (&[2, 2, 0, 0x80], 128),
            (&[2, 3, 0x09, 0x27, 0xc0], 600_000),
            (&[2, 9, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], u64::MAX),
        ];
        for (bytes, number) in good {
            assert_eq!(DerReader::new(bytes).number().unwrap(), number);
        }
        let bad: [&[u8]; 6] = [
            &[2, 0],
            &[2, 1, 0x80],
            &[2, 2, 0, 0x7f],
            &[2, 2, 0xff, 0xff],
            &[2, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0],
            &[2, 2, 0, 0],
        ];
        for bytes in bad {
            assert!(DerReader::new(bytes).number().is_err(), "{bytes:02x?}");
        }
    }

    #[test]
    fn bit_strings_have_whole_bytes() {
        assert_eq!(DerReader::new(&[3, 2, 0, 9]).bit_string().unwrap(), [9]);
        for bytes in [&[3, 0][..], &[3, 2, 1, 8], &[3, 1, 8]] {
            assert!(DerReader::new(bytes).bit_string().is_err(), "{bytes:02x?}");
        }
    }
}
