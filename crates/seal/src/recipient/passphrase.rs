//! The file key, sealed under a passphrase, with a commitment: no entry answers to two passphrases.

use super::PASSPHRASE;
use crate::entropy::Entropy;
use crate::file_key::{FileKey, KEY};
use crate::header::{Entry, PREAMBLE};
use crate::session::{SALT, Session};
use crate::{Cost, Error, Passphrase, Secret};
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

pub(super) const COST: usize = 12;
pub(super) const COMMITMENT: usize = 32;
pub(super) const TAG: usize = 16;
/// Bytes in the body: the cost, salt, commitment, the sealed file key.
pub(crate) const BODY: usize = COST + SALT + COMMITMENT + KEY + TAG;

/// The cost that an entry asks for, bounded.
pub(crate) fn cost(body: &[u8]) -> Result<Cost, Error> {
    let number = |at: usize| body.get(at..at + 4).map(|bytes| bytes.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte)));
    let bad = Error::Header("the length of a recipient");
    let (Some(memory), Some(passes), Some(lanes)) = (number(0), number(4), number(8)) else { return Err(bad) };
    let cost = Cost { memory, passes, lanes };
    cost.check()?;
    Ok(cost)
}

/// What hashes a passphrase: the passphrase itself, or a session that may have done it before.
pub(crate) trait Stretch {
    /// `length` bytes of Argon2id.
    fn stretched(&self, cost: Cost, salt: &[u8; SALT], length: usize) -> Result<Secret, Error>;
}

impl Stretch for Passphrase {
    fn stretched(&self, cost: Cost, salt: &[u8; SALT], length: usize) -> Result<Secret, Error> {
        let mut output = Secret::zeroed(length);
        self.stretch(cost, salt, &mut output)?;
        Ok(output)
    }
}

impl Stretch for Session {
    fn stretched(&self, cost: Cost, salt: &[u8; SALT], length: usize) -> Result<Secret, Error> {
        self.stretch(cost, salt, length)
    }
}

/// The wrapping key and the commitment.
fn derive(passphrase: &impl Stretch, cost: Cost, salt: &[u8; SALT]) -> Result<(LessSafeKey, Secret), Error> {
    split(&passphrase.stretched(cost, salt, KEY + COMMITMENT)?)
}

/// The wrapping key and the commitment, as they stand in what was derived.
pub(super) fn split(derived: &Secret) -> Result<(LessSafeKey, Secret), Error> {
    let (key, commitment) = derived.split_at(KEY);
    let key = UnboundKey::new(&AES_256_GCM, key).map_err(|_| Error::System("no cipher"))?;
    Ok((LessSafeKey::new(key), Secret::copy_of(commitment)))
}

/// Constant, because the salt (in a session, the item's number) is fresh each time: the key seals one thing once.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

pub(crate) fn wrap(passphrase: &Passphrase, cost: Cost, file: &FileKey, entropy: Entropy) -> Result<Entry, Error> {
    let mut salt = [0; SALT];
    entropy.fill("salt", 0, &mut salt)?;
    let (key, commitment) = derive(passphrase, cost, &salt)?;
    Ok(Entry { kind: PASSPHRASE, body: seal(&key, cost, &[&salt, &commitment], file)? })
}

/// A body: the cost, what stands open, and the file key under this wrapping key.
pub(super) fn seal(key: &LessSafeKey, cost: Cost, open: &[&[u8]], file: &FileKey) -> Result<Vec<u8>, Error> {
    let cost = [cost.memory, cost.passes, cost.lanes].map(u32::to_be_bytes).concat();
    let mut body = [&cost, &open.concat()[..], &[0; KEY + TAG]].concat();
    let begin = body.len() - KEY - TAG;
    let (output, tag) = body[begin..].split_at_mut(KEY);
    let done = key.seal_out_of_place_scatter(nonce(), Aad::from(PREAMBLE), file.bytes(), output, &[], tag);
    done.map_err(|_| Error::System("sealing failed"))?;
    Ok(body)
}

/// The file key, if the passphrase is right. May leak: whether it was.
pub(crate) fn unwrap(passphrase: &impl Stretch, entry: &Entry) -> Result<Option<FileKey>, Error> {
    let (head, rest) = entry.body.split_at(COST);
    let cost = cost(head)?;
    let (salt, rest) = rest.split_first_chunk().expect("the header was checked");
    let (promised, sealed) = rest.split_at(COMMITMENT);
    let (key, commitment) = derive(passphrase, cost, salt)?;
    open(&key, &commitment, promised, sealed)
}

/// The file key under this wrapping key, if the commitment is the promised one.
pub(super) fn open(key: &LessSafeKey, commitment: &Secret, promised: &[u8], sealed: &[u8]) -> Result<Option<FileKey>, Error> {
    if !commitment.same(promised) {
        return Ok(None);
    }
    let (input, tag) = sealed.split_at(KEY);
    let mut file = Secret::zeroed(KEY);
    let opened = key.open_separate_gather(nonce(), Aad::from(PREAMBLE), input, tag, &mut file);
    // The commitment fits and the key does not: not a wrong passphrase but a changed header.
    opened.map_err(|_| Error::HeaderForged)?;
    Ok(FileKey::from_secret(file))
}
