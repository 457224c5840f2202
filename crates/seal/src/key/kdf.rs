//! Key derivation in PBES2: PBKDF2 (RFC 8018) and scrypt (RFC 7914), with limits for the cost that a file may request.

use std::num::NonZeroU32;

use aws_lc_rs::pbkdf2;

use super::algorithm;
use super::cipher::BlockCipher;
use super::der::{DerReader, INTEGER, Item, NULL, OCTET_STRING, OID, SEQUENCE};
use super::error::Trouble;
use crate::primitive::imp;
use crate::{Passphrase, Secret};

/// scrypt's parameters in new files: N, r and p. The table has 30 MiB, because OpenSSL reads no file that asks for more
/// than 32 MiB. The work takes a tenth of a second or more.
const NEW: (u64, u64, u64) = if cfg!(fuzzing) { (2, 1, 1) } else { (1 << 14, 15, 3) };
/// The length of the salt in new files.
const SALT: usize = 16;

/// The highest cost that a file may request: some seconds, and 1 GiB. Under a fuzzer the limits are low, because the
/// fuzzer has to try many files.
mod ceiling {
    pub(super) const SALT: usize = 1024;
    pub(super) const ITERATIONS: u64 = if cfg!(fuzzing) { 4 } else { 10_000_000 };
    /// The maximum length of scrypt's table, `128 · N · r`.
    pub(super) const TABLE: u64 = if cfg!(fuzzing) { 1 << 12 } else { 1 << 30 };
    /// scrypt's work, `N · r · p`.
    pub(super) const WORK: u64 = if cfg!(fuzzing) { 1 << 7 } else { 1 << 24 };
    /// The maximum length of the memory that scrypt needs in addition to the table, `128 · r · p`.
    pub(super) const LANES: u64 = 1 << 24;
}

/// id-PBKDF2, 1.2.840.113549.1.5.12.
const ID_PBKDF2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0c];
/// id-scrypt, 1.3.6.1.4.1.11591.4.11.
const ID_SCRYPT: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x04, 0x0b];

/// The pseudo-random functions of PBKDF2. Each function is HMAC with one of these hash functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prf {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Prf {
    const ALL: [Self; 4] = [Self::Sha1, Self::Sha256, Self::Sha384, Self::Sha512];

    /// hmacWithSHA1, -SHA256, -SHA384, -SHA512: 1.2.840.113549.2.7, .9, .10 and .11.
    const fn oid(self) -> &'static [u8] {
        match self {
            Self::Sha1 => &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, 0x07],
            Self::Sha256 => &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, 0x09],
            Self::Sha384 => &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, 0x0a],
            Self::Sha512 => &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, 0x0b],
        }
    }

    const fn algorithm(self) -> pbkdf2::Algorithm {
        match self {
            Self::Sha1 => pbkdf2::PBKDF2_HMAC_SHA1,
            Self::Sha256 => pbkdf2::PBKDF2_HMAC_SHA256,
            Self::Sha384 => pbkdf2::PBKDF2_HMAC_SHA384,
            Self::Sha512 => pbkdf2::PBKDF2_HMAC_SHA512,
        }
    }

    fn decode(mut identifier: DerReader<'_>) -> Result<Self, Trouble> {
        let oid = identifier.oid()?;
        let prf = Self::ALL.into_iter().find(|prf| prf.oid() == oid).ok_or_else(|| algorithm::old_encryption(oid))?;
        // RFC 8018 requires a NULL after the identifier of the hash function, but some writers omit the NULL.
        match identifier.maybe(NULL)? {
            Some([]) | None => identifier.end()?,
            Some(_) => return Err(Trouble::Malformed("a null value in it is not empty")),
        }
        Ok(prf)
    }
}

/// A key derivation with parameters within the limits of `ceiling`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kdf {
    Pbkdf2 { prf: Prf, salt: Vec<u8>, iterations: NonZeroU32 },
    Scrypt { salt: Vec<u8>, n: u64, r: u64, p: u64 },
}

impl Kdf {
    /// Returns the key derivation for new files, with a new salt.
    pub(super) fn fresh() -> Result<Self, crate::Error> {
        let mut salt = vec![0; SALT];
        crate::primitive::entropy::Entropy::System.fill("salt", 0, &mut salt)?;
        let (n, r, p) = NEW;
        Ok(Self::Scrypt { salt, n, r, p })
    }

    /// Reads an `AlgorithmIdentifier` of a function that derives a key for `cipher`.
    pub(super) fn decode(mut identifier: DerReader<'_>, cipher: BlockCipher) -> Result<Self, Trouble> {
        let oid = identifier.oid()?;
        if oid != ID_PBKDF2 && oid != ID_SCRYPT {
            return Err(algorithm::old_encryption(oid));
        }
        let mut parameters = identifier.sequence()?;
        identifier.end()?;
        let salt = parameters.take(OCTET_STRING)?;
        if salt.len() > ceiling::SALT {
            return Err(Trouble::Limit("a salt of more than 1024 bytes"));
        }
        let salt = salt.to_vec();
        if oid == ID_SCRYPT { scrypt(parameters, salt, cipher) } else { pbkdf2(parameters, salt, cipher) }
    }

    /// Returns the `AlgorithmIdentifier`.
    pub(super) fn encode(&self) -> Secret {
        let (id, salt, numbers, prf) = match self {
            Self::Pbkdf2 { prf, salt, iterations } => (ID_PBKDF2, salt, vec![iterations.get().into()], Some(*prf)),
            Self::Scrypt { salt, n, r, p } => (ID_SCRYPT, salt, vec![*n, *r, *p], None),
        };
        let numbers: Vec<_> = numbers.into_iter().map(u64::to_be_bytes).collect();
        let numbers: Vec<_> = numbers.iter().map(|bytes| integer(bytes)).collect();
        let oid = prf.map(|prf| [Item::Raw(prf.oid())]);
        let prf = oid.as_ref().map(|oid| [Item::Tagged(OID, oid), Item::Tagged(NULL, &[])]);
        let salt = [Item::Raw(salt)];
        let mut parameters = vec![Item::Tagged(OCTET_STRING, &salt)];
        parameters.extend(numbers.iter().map(|number| Item::Tagged(INTEGER, number)));
        parameters.extend(prf.as_ref().map(|prf| Item::Tagged(SEQUENCE, prf)));
        Item::Tagged(SEQUENCE, &[Item::Tagged(OID, &[Item::Raw(id)]), Item::Tagged(SEQUENCE, &parameters)]).encode()
    }

    /// Derives the key for `cipher`. May leak: the parameters and lengths. Scrypt's memory accesses depend on the
    /// passphrase. Scrypt may therefore leak information about the passphrase to programs that share the processor's
    /// caches.
    pub(super) fn derive(&self, passphrase: &Passphrase, cipher: BlockCipher) -> Result<Secret, Trouble> {
        let mut key = Secret::zeroed(cipher.key_len());
        match self {
            Self::Pbkdf2 { prf, salt, iterations } => {
                pbkdf2::derive(prf.algorithm(), *iterations, salt, passphrase.as_bytes(), &mut key)
            }
            Self::Scrypt { salt, n, r, p } => {
                // The sum of scrypt's table, the additional memory, and one block as working memory.
                let memory = usize::try_from(128 * r * (n + p + 1)).unwrap_or(usize::MAX);
                if !imp::scrypt::derive(passphrase.as_bytes(), salt, *n, *r, *p, memory, &mut key) {
                    return Err(Trouble::System("not enough memory"));
                }
            }
        }
        Ok(key)
    }
}

/// Returns the contents of an `INTEGER` for a number that is not zero. The encoding has no unnecessary zeros, and its
/// first bit is zero, because the first bit is the sign.
fn integer(bytes: &[u8]) -> [Item<'_>; 2] {
    let digits = &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..];
    let sign: &[u8] = if digits[0] < 0x80 { &[] } else { &[0] };
    [Item::Raw(sign), Item::Raw(digits)]
}

/// Reads the rest of `PBKDF2-params` after the salt.
fn pbkdf2(mut parameters: DerReader<'_>, salt: Vec<u8>, cipher: BlockCipher) -> Result<Kdf, Trouble> {
    let iterations = parameters.number()?;
    check_key_len(&mut parameters, cipher)?;
    let prf = match parameters.maybe(SEQUENCE)? {
        Some(identifier) => Prf::decode(DerReader::new(identifier))?,
        None => Prf::Sha1,
    };
    parameters.end()?;
    if iterations > ceiling::ITERATIONS {
        return Err(Trouble::Limit("more than 10 million iterations of PBKDF2"));
    }
    let iterations = u32::try_from(iterations)
        .ok()
        .and_then(NonZeroU32::new)
        .ok_or(Trouble::Malformed("it asks for no iterations"))?;
    Ok(Kdf::Pbkdf2 { prf, salt, iterations })
}

/// Reads the rest of `scrypt-params` after the salt.
fn scrypt(mut parameters: DerReader<'_>, salt: Vec<u8>, cipher: BlockCipher) -> Result<Kdf, Trouble> {
    let (n, r, p) = (parameters.number()?, parameters.number()?, parameters.number()?);
    check_key_len(&mut parameters, cipher)?;
    parameters.end()?;
    // RFC 7914 section 6: N is a power of two, greater than 1 and less than 2^(128 * r / 8).
    let small_enough = r >= 4 || n < 1 << (16 * r.min(3));
    if r == 0 || p == 0 || n < 2 || !n.is_power_of_two() || !small_enough {
        return Err(Trouble::Malformed("the parameters of scrypt are not valid"));
    }
    let table = n.checked_mul(r).and_then(|blocks| blocks.checked_mul(128));
    let work = n.checked_mul(r).and_then(|blocks| blocks.checked_mul(p));
    let lanes = r.checked_mul(p).and_then(|blocks| blocks.checked_mul(128));
    let within = |value: Option<u64>, ceiling| value.is_some_and(|value| value <= ceiling);
    if !within(table, ceiling::TABLE) || !within(lanes, ceiling::LANES) {
        return Err(Trouble::Limit("more than 1 GiB of memory for scrypt"));
    }
    if !within(work, ceiling::WORK) {
        return Err(Trouble::Limit("more work for scrypt than N * r * p = 2^24"));
    }
    Ok(Kdf::Scrypt { salt, n, r, p })
}

/// Checks the optional `keyLength`.
fn check_key_len(parameters: &mut DerReader<'_>, cipher: BlockCipher) -> Result<(), Trouble> {
    if parameters.next_tag() == Some(INTEGER) && parameters.number()? != cipher.key_len() as u64 {
        return Err(Trouble::Malformed("the length of its key does not go with its cipher"));
    }
    Ok(())
}
