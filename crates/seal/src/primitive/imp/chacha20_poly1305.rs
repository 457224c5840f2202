//! ChaCha20-Poly1305 (RFC 8439) without additional data, for the chunks of age files.
//!
//! AWS-LC uses registers of at most 32 bytes. On CPUs with AVX-512 and its instructions for multiplying 52-bit numbers,
//! the code in this module takes two thirds of AWS-LC's time. AWS-LC seals and opens on CPUs without these
//! instructions, and processes data that do not fill a whole piece of 1 KiB. AWS-LC is also the reference for the
//! tests.

#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
mod poly1305;
#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
mod vectors;

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::Error;
#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
use crate::Secret;

/// The number of bytes in a key, in a nonce and in a tag.
pub(crate) const KEY: usize = 32;
pub(crate) const NONCE: usize = NONCE_LEN;
pub(crate) const TAG: usize = 16;

/// Seals and opens messages under one key.
pub(crate) struct ChaCha {
    anywhere: LessSafeKey,
    #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
    vectors: Option<(vectors::Vectors, Secret)>,
}

impl ChaCha {
    /// Makes a cipher that uses the fastest back end for this CPU.
    pub(crate) fn new(key: &[u8; KEY]) -> Result<Self, Error> {
        Ok(Self {
            #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
            vectors: vectors::Vectors::new().map(|vectors| (vectors, Secret::copy_of(key))),
            ..Self::anywhere(key)?
        })
    }

    /// Makes a cipher that uses only AWS-LC and runs on every CPU.
    fn anywhere(key: &[u8; KEY]) -> Result<Self, Error> {
        let key = UnboundKey::new(&CHACHA20_POLY1305, key).map_err(|_| Error::System("no cipher"))?;
        Ok(Self {
            anywhere: LessSafeKey::new(key),
            #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
            vectors: None,
        })
    }

    /// Seals `data` into `output`; both slices have the same length. Never use a nonce for two messages. May leak: the
    /// length.
    pub(crate) fn seal(
        &self,
        nonce: &[u8; NONCE],
        data: &[u8],
        output: &mut [u8],
        tag: &mut [u8; TAG],
    ) -> Result<(), Error> {
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        if let Some((vectors, key)) = &self.vectors
            && let Some((data, output)) = vectors::pieces(data, output)
        {
            *tag = vectors.seal(key.as_array().expect("it was one"), nonce, data, output);
            return Ok(());
        }
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let done = self.anywhere.seal_out_of_place_scatter(nonce, Aad::empty(), data, output, &[], tag);
        done.map_err(|_| Error::System("sealing failed"))
    }

    /// Opens `sealed` into `data`; both slices have the same length. If the tag is wrong, the contents of `data` are
    /// undefined, and the caller must wipe `data`. May leak: the length, and whether the tag is right.
    #[must_use]
    pub(crate) fn open(&self, nonce: &[u8; NONCE], sealed: &[u8], tag: &[u8; TAG], data: &mut [u8]) -> bool {
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        if let Some((vectors, key)) = &self.vectors
            && let Some((sealed, data)) = vectors::pieces(sealed, data)
        {
            let expected = vectors.open(key.as_array().expect("it was one"), nonce, sealed, data);
            return deadpan_ct::CtEq::ct_eq(&expected, tag).declassify();
        }
        let nonce = Nonce::assume_unique_for_key(*nonce);
        self.anywhere.open_separate_gather(nonce, Aad::empty(), sealed, tag, data).is_ok()
    }
}

#[cfg(test)]
mod tests;
