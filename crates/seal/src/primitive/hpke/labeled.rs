//! `LabeledExtract` and `LabeledExpand` (RFC 9180, section 4) over HKDF-SHA-256.

use crate::primitive::imp::hkdf::{self, HkdfHash};
use crate::{Error, Kem};
use deadpan_ct::Wiped;

/// The `suite_id` of RFC 9180. The `suite_id` makes the secrets of one algorithm different from the secrets of all
/// other algorithms.
#[derive(Clone, Copy)]
pub(crate) struct Suite {
    bytes: [u8; 10],
    length: usize,
}

impl Suite {
    /// Returns the suite of a KEM that is used without HPKE.
    pub(crate) fn kem(kem: Kem) -> Self {
        let [a, b] = kem.id().to_be_bytes();
        Self { bytes: [b'K', b'E', b'M', a, b, 0, 0, 0, 0, 0], length: 5 }
    }

    /// Returns the suite of HPKE with a KEM, HKDF-SHA-256 and the AEAD with the number `aead`.
    pub(crate) fn hpke(kem: Kem, aead: u16) -> Self {
        let ([a, b], [c, d]) = (kem.id().to_be_bytes(), aead.to_be_bytes());
        Self { bytes: [b'H', b'P', b'K', b'E', a, b, 0, 1, c, d], length: 10 }
    }

    fn id(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Computes `LabeledExtract`. May leak: the lengths.
    pub(crate) fn extract(&self, salt: &[u8], label: &[u8], secret: &[u8], key: &mut [u8; 32]) -> Result<(), Error> {
        hkdf::extract(salt, &join(&[b"HPKE-v1", self.id(), label, secret]), key)
    }

    /// Computes `LabeledExpand` with an info in several pieces. May leak: the lengths.
    pub(crate) fn expand(&self, key: &[u8; 32], label: &[u8], info: &[&[u8]], out: &mut [u8]) -> Result<(), Error> {
        let length = u16::try_from(out.len()).map_err(|_| Error::System("key derivation failed"))?.to_be_bytes();
        let mut parts = vec![&length[..], b"HPKE-v1", self.id(), label];
        parts.extend(info);
        hkdf::expand(HkdfHash::Sha256, key, &join(&parts), out)
    }
}

/// Joins the parts. Allocates all memory at once, because a vector that grows leaves copies behind.
fn join(parts: &[&[u8]]) -> Wiped<Vec<u8>> {
    let mut all = Wiped::new(Vec::with_capacity(parts.iter().map(|part| part.len()).sum()));
    for part in parts {
        all.extend_from_slice(part);
    }
    all
}
