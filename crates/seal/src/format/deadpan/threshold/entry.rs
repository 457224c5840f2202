//! The entry of one member: the numbers of the share, the check values, and the share, which is sealed to the member's
//! key.

use super::{Numbers, group, shamir};
use crate::format::deadpan::file_key::{FileKey, KEY};
use crate::format::deadpan::layout::{Entry, Preamble};
use crate::primitive::entropy::Entropy;
use crate::primitive::hpke;
use crate::primitive::imp::hkdf::{self, HkdfHash};
use crate::{Error, Kem, PrivateKey, PublicKey, Secret};
use deadpan_ct::Wiped;

/// The type of members' entries.
pub(crate) const KIND: u16 = 0xff04;
/// The length of a check value.
pub(super) const CHECK: usize = 32;
/// The number of bytes in the body of an entry before the sealed share. These bytes contain the numbers, the KEM, the
/// check value of the file key and the check value of the share.
const HEAD: usize = 3 + 2 + CHECK + CHECK;

/// The label for sealing a share with HPKE.
const SEAL: &[u8] = b"deadpan v1 share";
/// The label of a share's check value.
const SHARE_CHECK: &[u8] = b"deadpan v1 share check";
const KEY_CHECK: &str = "deadpan v1 threshold check";

pub(crate) const fn body(kem: Kem) -> usize {
    HEAD + kem.enc_len() + KEY + hpke::TAG
}

/// The fields of a body.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) numbers: Numbers,
    pub(crate) kem: Kem,
    pub(super) key_check: &'a [u8; CHECK],
    pub(super) share_check: &'a [u8; CHECK],
    /// The encapsulated secret and the sealed share.
    sealed: &'a [u8],
}

impl<'a> Part<'a> {
    /// Reads a body. The length must be right for the kind of key, and the numbers must be within their bounds.
    pub(crate) fn read(body: &'a [u8]) -> Result<Self, Error> {
        let wrong = Error::Header("the length of a recipient");
        let Some((head, rest)) = body.split_first_chunk::<5>() else { return Err(wrong) };
        let [needed, of, index, kem @ ..] = *head;
        let kem = Kem::from_id(u16::from_be_bytes(kem)).ok_or(Error::Newer("a kind of key"))?;
        if body.len() != self::body(kem) {
            return Err(wrong);
        }
        let (key_check, rest) = rest.split_first_chunk().ok_or(Error::Header("the length of a recipient"))?;
        let (share_check, sealed) = rest.split_first_chunk().ok_or(Error::Header("the length of a recipient"))?;
        Ok(Self { numbers: Numbers::new(needed, of, index)?, kem, key_check, share_check, sealed })
    }

    /// Returns the share if it was sealed to this key, in the group with this digest. May leak: whether the share was
    /// sealed to this key.
    pub(crate) fn unwrap(
        &self,
        key: &PrivateKey,
        preamble: Preamble,
        group: &[u8; CHECK],
    ) -> Result<Option<Secret>, Error> {
        if key.kem() != self.kem {
            return Ok(None);
        }
        let (enc, sealed) = self.sealed.split_at(self.kem.enc_len());
        hpke::open(key, enc, &info(preamble, self.numbers.index, group), b"", sealed)
    }
}

/// The digest of the group covers K, N and all check values, so a share opens only at its own position in its own
/// group. The additional data are empty, as in entries for a single key.
fn info(preamble: Preamble, index: u8, group: &[u8; CHECK]) -> Vec<u8> {
    [SEAL, preamble.bytes(), &[index], group].concat()
}

/// Returns the check value of a share. The check value commits to the share. The check value reveals nothing about the
/// share, because the share is as hard to guess as a random number of 32 bytes.
pub(super) fn share_check(preamble: Preamble, numbers: Numbers, share: &[u8]) -> Result<Secret, Error> {
    let mut extracted = Wiped::new([0; KEY]);
    hkdf::extract(preamble.bytes(), share, &mut extracted)?;
    let mut check = Secret::zeroed(CHECK);
    hkdf::expand(HkdfHash::Sha256, &*extracted, &[SHARE_CHECK, &numbers.bytes()].concat(), &mut check)?;
    Ok(check)
}

pub(super) fn key_check(file: &FileKey) -> Result<Secret, Error> {
    file.derive(KEY_CHECK)
}

/// Returns the bytes of a check value. Everybody can see these bytes in the header.
fn public(check: &Secret) -> Result<[u8; CHECK], Error> {
    check.as_array().copied().ok_or(Error::System("key derivation failed"))
}

/// The shares of a file key and their check values, before they are sealed to the members.
pub(crate) struct Split {
    pub(crate) key_check: [u8; CHECK],
    /// The shares with their check values. The shares are in the order of their indices, which count from 1.
    pub(crate) shares: Vec<(Numbers, Secret, [u8; CHECK])>,
}

impl Split {
    /// Splits the file key with new random coefficients.
    pub(crate) fn new(file: &FileKey, needed: u8, of: u8, entropy: Entropy) -> Result<Self, Error> {
        let coefficient = |number: u8| {
            let mut coefficient = Secret::zeroed(KEY);
            entropy.fill("coefficient", number.into(), &mut coefficient).map(|()| coefficient)
        };
        let coefficients = (1..needed).map(coefficient).collect::<Result<Vec<_>, Error>>()?;
        let share = |index| {
            let numbers = Numbers { needed, of, index };
            let share = shamir::share(file.bytes(), &coefficients, index);
            let check = public(&share_check(file.preamble(), numbers, &share)?)?;
            Ok((numbers, share, check))
        };
        let key_check = public(&key_check(file)?)?;
        Ok(Self { key_check, shares: (1..=of).map(share).collect::<Result<_, Error>>()? })
    }

    /// Returns the digest of the group.
    pub(crate) fn digest(&self, preamble: Preamble) -> [u8; CHECK] {
        let [needed, of, _] = self.shares[0].0.bytes();
        group::digest(preamble, needed, of, &self.key_check, self.shares.iter().map(|(.., check)| check))
    }

    /// Returns the entry of a member.
    pub(crate) fn seal(
        &self,
        member: usize,
        key: &PublicKey,
        preamble: Preamble,
        group: &[u8; CHECK],
    ) -> Result<Entry, Error> {
        let (numbers, share, check) = &self.shares[member];
        let mut body = Vec::with_capacity(self::body(key.kem()));
        body.extend_from_slice(&numbers.bytes());
        body.extend_from_slice(&key.kem().id().to_be_bytes());
        body.extend_from_slice(&self.key_check);
        body.extend_from_slice(check);
        let (enc, sealed) = hpke::seal(key, &info(preamble, numbers.index, group), b"", share)?;
        body.extend_from_slice(&enc);
        body.extend_from_slice(&sealed);
        Ok(Entry { kind: KIND, body })
    }
}
