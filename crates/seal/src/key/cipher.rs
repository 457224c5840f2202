//! The ciphers of PBES2 that this crate supports: AES in CBC mode (RFC 8018 appendix B.2.5).

use aws_lc_rs::cipher::{AES_128, AES_192, AES_256, Algorithm};

use super::algorithm;
use super::der::{DerReader, Item, OCTET_STRING, OID, SEQUENCE};
use super::error::Trouble;
use crate::Secret;

/// The length of an AES block and of an initialization vector.
pub(super) const BLOCK: usize = 16;

/// AES-CBC with keys of one of three lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockCipher {
    Aes128,
    Aes192,
    Aes256,
}

impl BlockCipher {
    const ALL: [Self; 3] = [Self::Aes128, Self::Aes192, Self::Aes256];

    /// aes128-CBC-PAD, aes192-CBC-PAD, aes256-CBC-PAD: 2.16.840.1.101.3.4.1.2, .22 and .42.
    const fn oid(self) -> &'static [u8] {
        match self {
            Self::Aes128 => &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x02],
            Self::Aes192 => &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x16],
            Self::Aes256 => &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2a],
        }
    }

    pub(super) const fn key_len(self) -> usize {
        match self {
            Self::Aes128 => 16,
            Self::Aes192 => 24,
            Self::Aes256 => 32,
        }
    }

    pub(super) const fn algorithm(self) -> &'static Algorithm {
        match self {
            Self::Aes128 => &AES_128,
            Self::Aes192 => &AES_192,
            Self::Aes256 => &AES_256,
        }
    }

    /// Reads the cipher and the initialization vector from an `AlgorithmIdentifier`.
    pub(super) fn decode(mut identifier: DerReader<'_>) -> Result<(Self, [u8; BLOCK]), Trouble> {
        let oid = identifier.oid()?;
        let cipher =
            Self::ALL.into_iter().find(|cipher| cipher.oid() == oid).ok_or_else(|| algorithm::old_encryption(oid))?;
        let iv = identifier.take(OCTET_STRING)?;
        identifier.end()?;
        let iv = iv.try_into().map_err(|_| Trouble::Malformed("the initialization vector does not have 16 bytes"))?;
        Ok((cipher, iv))
    }

    pub(super) fn encode(self, iv: &[u8; BLOCK]) -> Secret {
        Item::Tagged(
            SEQUENCE,
            &[Item::Tagged(OID, &[Item::Raw(self.oid())]), Item::Tagged(OCTET_STRING, &[Item::Raw(iv)])],
        )
        .encode()
    }
}
