//! The footer: the last bytes of a signed file. The numbers in the footer determine where the parts of the trailer
//! begin.

use aws_lc_rs::hmac;

use super::part::EXTRA;
use super::tree::{HASH, LEAVES, pages};
use super::{contents, part};
use crate::format::deadpan::file_key::FileKey;
use crate::format::deadpan::floe::MOST_SEGMENTS;
use crate::{Error, Secret};

/// The number of bytes in a footer.
pub(crate) const FOOTER: usize = FIELDS + MAC;
/// The number of bytes in the sealed leaves of a full page.
pub(crate) const FULL_PAGE: u64 = LEAVES * HASH as u64 + EXTRA as u64;

const FIELDS: usize = 8 + 4;
const MAC: usize = 32;
const LABEL: &str = "deadpan v1 footer";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Footer {
    /// The number of segments. The number of segments determines the number and the lengths of the leaf pages.
    pub(crate) segments: u64,
    pub(crate) sealed_box: usize,
}

impl Footer {
    /// Reads a footer without checking its MAC.
    ///
    /// # Errors
    /// If the numbers in the footer are out of bounds.
    pub(crate) fn decode(bytes: &[u8; FOOTER]) -> Result<Self, Error> {
        let number = |range: std::ops::Range<usize>| {
            bytes[range].iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
        };
        let (segments, sealed_box) = (number(0..8), number(8..12) as usize);
        if segments == 0 || segments > MOST_SEGMENTS {
            return Err(Error::Trailer("the number of segments in it"));
        }
        if !contents::is_box_length(sealed_box, pages(segments)) {
            return Err(Error::Trailer("the length of the signatures in it"));
        }
        Ok(Self { segments, sealed_box })
    }

    /// Returns the bytes of the footer, with its MAC.
    pub(crate) fn encode(self, key: &FileKey) -> Result<[u8; FOOTER], Error> {
        let mut bytes = [0; FOOTER];
        bytes[..8].copy_from_slice(&self.segments.to_be_bytes());
        let sealed_box = u32::try_from(self.sealed_box).map_err(|_| Error::TooLong)?;
        bytes[8..FIELDS].copy_from_slice(&sealed_box.to_be_bytes());
        let mac = mac(key, &bytes)?;
        bytes[FIELDS..].copy_from_slice(mac.as_ref());
        Ok(bytes)
    }

    /// Reads a footer and checks its MAC. The comparison takes constant time.
    pub(crate) fn open(bytes: &[u8; FOOTER], key: &FileKey) -> Result<Self, Error> {
        let footer = Self::decode(bytes)?;
        let expected = Secret::copy_of(mac(key, bytes)?.as_ref());
        if expected.same(&bytes[FIELDS..]) { Ok(footer) } else { Err(Error::TrailerForged) }
    }

    /// Returns the number of bytes in all sealed leaf pages.
    pub(crate) fn leaf_pages(self) -> u64 {
        self.segments * HASH as u64 + pages(self.segments) * part::EXTRA as u64
    }

    /// Returns the number of bytes in the trailer.
    pub(crate) fn trailer(self) -> u64 {
        self.leaf_pages() + (self.sealed_box + FOOTER) as u64
    }
}

fn mac(key: &FileKey, bytes: &[u8; FOOTER]) -> Result<hmac::Tag, Error> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key.derive(LABEL)?);
    Ok(hmac::sign(&key, &bytes[..FIELDS]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::foreign::file_key;

    #[test]
    fn every_bit_counts_and_numbers_are_bounded() {
        let footer = Footer { segments: 8193, sealed_box: 4096 + EXTRA };
        let bytes = footer.encode(&file_key(0)).expect("a footer");
        assert_eq!(Footer::open(&bytes, &file_key(0)).expect("its own"), footer);
        assert!(matches!(Footer::open(&bytes, &file_key(1)), Err(Error::TrailerForged)));
        for bit in 0..FOOTER * 8 {
            let mut changed = bytes;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(Footer::open(&changed, &file_key(0)).is_err(), "bit {bit}");
        }
        let longest = contents::longest(1) as u32;
        for (segments, sealed_box, right) in [
            (1, 4124, true),
            (0, 4124, false),
            (MOST_SEGMENTS, 4124, false),
            (MOST_SEGMENTS + 1, 4124, false),
            (u64::MAX, 4124, false),
            (1, 4123, false),
            (1, 4096, false),
            (1, 28, false),
            (1, 0, false),
            (1, longest, true),
            (1, longest + 4096, false),
            (1, u32::MAX, false),
        ] {
            let mut bytes = [0; FOOTER];
            bytes[..8].copy_from_slice(&u64::to_be_bytes(segments));
            bytes[8..12].copy_from_slice(&u32::to_be_bytes(sealed_box));
            assert_eq!(Footer::decode(&bytes).is_ok(), right, "{segments} segments, a box of {sealed_box}");
        }
    }

    #[test]
    fn the_parts_add_up() {
        for (segments, leaf_pages) in [(1, 60), (8192, 8192 * 32 + 28), (8193, 8193 * 32 + 56)] {
            let footer = Footer { segments, sealed_box: 4124 };
            assert_eq!((footer.leaf_pages(), footer.trailer()), (leaf_pages, leaf_pages + 4124 + 44));
        }
        assert_eq!(FULL_PAGE, 262_172);
    }
}
