//! The box of a trailer. The box holds the hashes of the leaf pages, the statement, and the signatures of the
//! statement.

use super::part::EXTRA;
use super::statement::{LONGEST_STATEMENT, RestOfStatement};
use super::tree::{HASH, Hash};
use crate::Error;
use deadpan_ct::Wiped;

pub(crate) const MOST_SIGNATURES: usize = 16;
/// The maximum length of a signature, as an SSHSIG blob with its public key. ML-DSA-65 needs 5.5 KB.
const LONGEST_SIGNATURE: usize = 8192;
/// The length of a signature box is rounded up to a multiple of this number, so that boxes with signatures of different
/// lengths look alike.
const STEP: usize = 4096;

/// The contents of the box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TrailerContents {
    pub(crate) pages: Vec<Hash>,
    /// The bytes that are signed.
    pub(crate) statement: Vec<u8>,
    /// The signatures as SSHSIG blobs. There are from one to [`MOST_SIGNATURES`] signatures.
    pub(crate) signatures: Vec<Vec<u8>>,
}

/// Returns the maximum number of bytes in the sealed box of a file with this many pages.
pub(crate) const fn longest(pages: u64) -> u64 {
    let others = 4 + LONGEST_STATEMENT + 1 + MOST_SIGNATURES * (2 + LONGEST_SIGNATURE);
    (pages * HASH as u64 + others as u64).next_multiple_of(STEP as u64) + EXTRA as u64
}

/// Returns the number of bytes in the sealed box of a file with this many pages, and with a statement and signatures of
/// these lengths.
pub(crate) fn length(pages: u64, statement: usize, signatures: impl Iterator<Item = usize>) -> usize {
    plain_length(pages as usize, statement, signatures).next_multiple_of(STEP) + EXTRA
}

fn plain_length(pages: usize, statement: usize, signatures: impl Iterator<Item = usize>) -> usize {
    pages * HASH + (4 + statement + 1) + signatures.map(|length| 2 + length).sum::<usize>()
}

/// Returns whether the sealed box of a file with this many pages can have this length.
pub(crate) fn is_box_length(length: usize, pages: u64) -> bool {
    let plain = length.checked_sub(EXTRA).filter(|plain| *plain > 0 && plain.is_multiple_of(STEP));
    plain.is_some_and(|plain| plain as u64 > pages * HASH as u64) && length as u64 <= longest(pages)
}

impl TrailerContents {
    /// Returns the bytes of the box, with padding.
    ///
    /// # Errors
    /// If there is no signature, if there are too many signatures, or if a signature is too long.
    pub(crate) fn encode(&self) -> Result<Wiped<Vec<u8>>, Error> {
        let Self { pages, statement, signatures } = self;
        let length = plain_length(pages.len(), statement.len(), signatures.iter().map(Vec::len));
        let mut bytes = Wiped::new(Vec::with_capacity(length.next_multiple_of(STEP)));
        bytes.extend_from_slice(pages.as_flattened());
        bytes.extend_from_slice(&(statement.len() as u32).to_be_bytes());
        bytes.extend_from_slice(statement);
        if !(1..=MOST_SIGNATURES).contains(&signatures.len()) {
            return Err(Error::TooMany("a file can have from 1 to 16 signatures"));
        }
        bytes.push(signatures.len() as u8);
        for signature in signatures {
            if signature.len() > LONGEST_SIGNATURE {
                return Err(Error::Invalid("a signature is longer than 8192 bytes"));
            }
            bytes.extend_from_slice(&(signature.len() as u16).to_be_bytes());
            bytes.extend_from_slice(signature);
        }
        bytes.resize(length.next_multiple_of(STEP), 0);
        Ok(bytes)
    }

    /// Reads the bytes of the box of a file with this many pages.
    ///
    /// # Errors
    /// If [`TrailerContents::encode`] would not return exactly these bytes.
    pub(crate) fn decode(bytes: &[u8], pages: u64) -> Result<Self, Error> {
        let mut rest = RestOfStatement(bytes);
        let hashes = usize::try_from(pages * HASH as u64).map_err(|_| Error::Trailer("its pages"))?;
        let pages = rest.take(hashes)?.as_chunks().0.to_vec();
        let length = rest.number(4)? as usize;
        if length > LONGEST_STATEMENT {
            return Err(Error::Trailer("the length of the statement"));
        }
        let statement = rest.take(length)?.to_vec();
        let count = rest.number(1)? as usize;
        if !(1..=MOST_SIGNATURES).contains(&count) {
            return Err(Error::Trailer("the number of signatures"));
        }
        let mut signatures = Vec::with_capacity(count);
        for _ in 0..count {
            let length = rest.number(2)? as usize;
            if length > LONGEST_SIGNATURE {
                return Err(Error::Trailer("the length of a signature"));
            }
            signatures.push(rest.take(length)?.to_vec());
        }
        let used = bytes.len() - rest.0.len();
        if used.next_multiple_of(STEP) != bytes.len() || rest.0.iter().any(|byte| *byte != 0) {
            return Err(Error::Trailer("the padding of the signatures"));
        }
        Ok(Self { pages, statement, signatures })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(pages: usize, statement: usize, signatures: &[usize]) -> TrailerContents {
        TrailerContents {
            pages: (0..pages).map(|page| [page as u8 + 1; HASH]).collect(),
            statement: vec![5; statement],
            signatures: signatures.iter().map(|length| vec![6; *length]).collect(),
        }
    }

    #[test]
    fn what_goes_in_comes_out() {
        for pages in [1, 2, 128] {
            for signatures in [&[0][..], &[150], &[150, 5400, 8192], &[8192; MOST_SIGNATURES]] {
                for statement in [0, 200, 3900, LONGEST_STATEMENT] {
                    let contents = contents(pages, statement, signatures);
                    let bytes = contents.encode().expect("within the bounds");
                    assert_eq!(TrailerContents::decode(&bytes, pages as u64).expect("encoded"), contents);
                    assert!(is_box_length(bytes.len() + EXTRA, pages as u64));
                }
            }
        }
    }

    #[test]
    fn too_much_is_refused() {
        assert!(matches!(contents(1, 9, &[]).encode(), Err(Error::TooMany(_))));
        assert!(matches!(contents(1, 9, &[1; MOST_SIGNATURES + 1]).encode(), Err(Error::TooMany(_))));
        assert!(matches!(contents(1, 9, &[1; 1000]).encode(), Err(Error::TooMany(_))));
        assert!(matches!(contents(1, 9, &[LONGEST_SIGNATURE + 1]).encode(), Err(Error::Invalid(_))));
    }

    #[test]
    fn there_is_one_encoding() {
        let good = contents(2, 10, &[20, 30]).encode().expect("within the bounds");
        let with = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = good.to_vec();
            change(&mut bytes);
            TrailerContents::decode(&bytes, 2)
        };
        let (statement, count) = (64, 64 + 4 + 10);
        with(&|_| {}).expect("unchanged");
        for (name, result) in [
            ("a step more", with(&|bytes| bytes.resize(2 * STEP, 0))),
            ("a byte in the padding", with(&|bytes| bytes[STEP - 1] = 1)),
            ("no signature", with(&|bytes| bytes[count] = 0)),
            ("a signature more", with(&|bytes| bytes[count] = 17)),
            ("a thousand signatures", with(&|bytes| bytes[count] = 255)),
            ("a signature that is too long", with(&|bytes| bytes[count + 1] = 0x21)),
            ("a signature that goes past the end", with(&|bytes| bytes[count + 1] = 0x1f)),
            ("a huge statement", with(&|bytes| bytes[statement] = 0xff)),
            ("a statement that goes past the end", with(&|bytes| bytes[statement + 2] = 0x20)),
            ("nothing", with(&|bytes| bytes.clear())),
        ] {
            assert!(matches!(result, Err(Error::Trailer(_))), "{name}: {result:?}");
        }
        assert!(TrailerContents::decode(&good, 200).is_err(), "more pages than there are bytes");
    }
}
