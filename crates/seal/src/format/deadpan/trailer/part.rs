//! The sealed parts of a trailer: leaf pages, and the box with the signatures.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use crate::Error;
use crate::format::deadpan::file_key::FileKey;
use crate::format::deadpan::layout::Preamble;
use deadpan_ct::Wiped;

/// The number of bytes by which a sealed part is longer than its plaintext.
pub(crate) const EXTRA: usize = NONCE + TAG;
pub(crate) const NONCE: usize = 12;
const TAG: usize = 16;

/// The label of the key for leaf pages.
pub(crate) const LEAVES: &str = "deadpan v1 leaves";
/// The label of the key for the box.
pub(crate) const BOX: &str = "deadpan v1 signatures";

/// Seals and opens the parts that have one label: the leaf pages, or the box.
pub(crate) struct PartCipher {
    key: LessSafeKey,
    preamble: Preamble,
}

impl PartCipher {
    pub(crate) fn new(key: &FileKey, label: &str) -> Result<Self, Error> {
        let preamble = key.preamble();
        let key = UnboundKey::new(&AES_256_GCM, &key.derive(label)?).map_err(|_| Error::System("no cipher"))?;
        Ok(Self { key: LessSafeKey::new(key), preamble })
    }

    /// Returns the additional data of a part: the file's preamble and the part's number.
    fn about(&self, number: u64) -> Aad<[u8; Preamble::LENGTH + 8]> {
        let mut about = [0; Preamble::LENGTH + 8];
        about[..Preamble::LENGTH].copy_from_slice(self.preamble.bytes());
        about[Preamble::LENGTH..].copy_from_slice(&number.to_be_bytes());
        Aad::from(about)
    }

    /// Seals a part. Returns the IV, the ciphertext and the tag. Each call needs a new random `nonce`.
    pub(crate) fn seal(&self, number: u64, nonce: [u8; NONCE], plain: &[u8]) -> Result<Vec<u8>, Error> {
        let mut sealed = vec![0; plain.len() + EXTRA];
        let (iv, rest) = sealed.split_at_mut(NONCE);
        let (output, tag) = rest.split_at_mut(plain.len());
        iv.copy_from_slice(&nonce);
        let nonce = Nonce::assume_unique_for_key(nonce);
        let done = self.key.seal_out_of_place_scatter(nonce, self.about(number), plain, output, &[], tag);
        done.map_err(|_| Error::System("sealing failed"))?;
        Ok(sealed)
    }

    pub(crate) fn open(&self, number: u64, sealed: &[u8]) -> Result<Wiped<Vec<u8>>, Error> {
        let (iv, rest) = sealed.split_at_checked(NONCE).ok_or(Error::Truncated)?;
        let (input, tag) = rest.split_at_checked(rest.len().wrapping_sub(TAG)).ok_or(Error::Truncated)?;
        let nonce = Nonce::try_assume_unique_for_key(iv).map_err(|_| Error::Truncated)?;
        let mut plain = Wiped::new(vec![0; input.len()]);
        let opened = self.key.open_separate_gather(nonce, self.about(number), input, tag, &mut plain);
        opened.map_err(|_| Error::TrailerForged)?;
        Ok(plain)
    }
}
