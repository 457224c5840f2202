//! The file key, sealed under a passphrase. The entry has a commitment, so that no entry opens with two passphrases.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use super::PASSPHRASE;
use crate::format::deadpan::file_key::{FileKey, KEY};
use crate::format::deadpan::layout::{Entry, Preamble};
use crate::format::deadpan::session::{SALT, Session};
use crate::key::passphrase::form::Form;
use crate::primitive::entropy::Entropy;
use crate::{Cost, Error, Passphrase, Secret};

pub(super) const COST: usize = 12;
pub(super) const COMMITMENT: usize = 32;
pub(super) const TAG: usize = 16;
pub(crate) const BODY: usize = COST + SALT + COMMITMENT + KEY + TAG;

/// Reads the cost in the body of an entry, and checks it against the format's bounds.
pub(crate) fn cost(body: &[u8]) -> Result<Cost, Error> {
    let number = |at: usize| {
        body.get(at..at + 4).map(|bytes| bytes.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte)))
    };
    let bad = Error::Header("the length of a recipient");
    let (Some(memory), Some(passes), Some(lanes)) = (number(0), number(4), number(8)) else { return Err(bad) };
    let cost = Cost { memory, passes, lanes };
    cost.check()?;
    Ok(cost)
}

/// Hashes a passphrase to open a file. Implemented by a passphrase, and by a session that may already have hashed its
/// passphrase.
pub(crate) trait Stretch {
    /// Returns the Unicode forms of the passphrase to try with this salt, in order.
    fn forms(&self, salt: &[u8; SALT]) -> Vec<Form>;

    /// Hashes the passphrase in the given Unicode form with Argon2id, and returns `length` bytes. Returns
    /// [`Error::TooCostly`] if the cost is above the maximum that is allowed.
    fn stretched(&self, form: Form, cost: Cost, salt: &[u8; SALT], length: usize) -> Result<Secret, Error>;
}

impl Stretch for Passphrase {
    fn forms(&self, _: &[u8; SALT]) -> Vec<Form> {
        self.forms()
    }

    fn stretched(&self, form: Form, cost: Cost, salt: &[u8; SALT], length: usize) -> Result<Secret, Error> {
        self.max_cost().check(cost)?;
        let mut output = Secret::zeroed(length);
        self.in_form(form).stretch(cost, salt, &mut output)?;
        Ok(output)
    }
}

impl Stretch for Session {
    fn forms(&self, salt: &[u8; SALT]) -> Vec<Form> {
        self.forms(salt)
    }

    fn stretched(&self, form: Form, cost: Cost, salt: &[u8; SALT], length: usize) -> Result<Secret, Error> {
        self.stretch(form, cost, salt, length)
    }
}

/// Tries each Unicode form of a passphrase until a form opens the entry. The commitment shows whether a form is right.
pub(super) fn try_forms(
    passphrase: &impl Stretch,
    salt: &[u8; SALT],
    open: impl Fn(Form) -> Result<Option<FileKey>, Error>,
) -> Result<Option<FileKey>, Error> {
    for form in passphrase.forms(salt) {
        if let Some(file) = open(form)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// Splits derived bytes into the wrapping key and the commitment.
pub(super) fn split(derived: &Secret) -> Result<(LessSafeKey, Secret), Error> {
    let (key, commitment) = derived.split_at(KEY);
    let key = UnboundKey::new(&AES_256_GCM, key).map_err(|_| Error::System("no cipher"))?;
    Ok((LessSafeKey::new(key), Secret::copy_of(commitment)))
}

/// Returns the nonce. The nonce is constant: the salt (in a session, the item number) is new each time, so each
/// wrapping key seals only one message.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

/// Returns the entry. Writers use [`Form::Composed`]. The other forms are for tests.
pub(crate) fn wrap(
    passphrase: &Passphrase,
    form: Form,
    cost: Cost,
    file: &FileKey,
    entropy: Entropy,
) -> Result<Entry, Error> {
    let mut salt = [0; SALT];
    entropy.fill("salt", 0, &mut salt)?;
    let mut stretched = Secret::zeroed(KEY + COMMITMENT);
    passphrase.in_form(form).stretch(cost, &salt, &mut stretched)?;
    let (key, commitment) = split(&stretched)?;
    Ok(Entry { kind: PASSPHRASE, body: seal(&key, cost, &[&salt, &commitment], file)? })
}

/// Returns a body: the cost, the unencrypted fields `open`, and the file key sealed under the wrapping key.
pub(super) fn seal(key: &LessSafeKey, cost: Cost, open: &[&[u8]], file: &FileKey) -> Result<Vec<u8>, Error> {
    let cost = [cost.memory, cost.passes, cost.lanes].map(u32::to_be_bytes).concat();
    let mut body = [&cost, &open.concat()[..], &[0; KEY + TAG]].concat();
    let begin = body.len() - KEY - TAG;
    let (output, tag) = body[begin..].split_at_mut(KEY);
    let done =
        key.seal_out_of_place_scatter(nonce(), Aad::from(*file.preamble().bytes()), file.bytes(), output, &[], tag);
    done.map_err(|_| Error::System("sealing failed"))?;
    Ok(body)
}

/// Returns the file key if the passphrase is right. May leak: which Unicode form of the passphrase is right, if any
/// form is right.
pub(crate) fn unwrap(passphrase: &impl Stretch, preamble: Preamble, entry: &Entry) -> Result<Option<FileKey>, Error> {
    let (head, rest) = entry.body.split_at(COST);
    let cost = cost(head)?;
    let (salt, rest) = rest.split_first_chunk().expect("the header was checked");
    let (promised, sealed) = rest.split_at(COMMITMENT);
    try_forms(passphrase, salt, |form| {
        let (key, commitment) = split(&passphrase.stretched(form, cost, salt, KEY + COMMITMENT)?)?;
        open(&key, preamble, &commitment, promised, sealed)
    })
}

/// Returns `None` if `commitment` differs from the commitment in the entry (`promised`).
pub(super) fn open(
    key: &LessSafeKey,
    preamble: Preamble,
    commitment: &Secret,
    promised: &[u8],
    sealed: &[u8],
) -> Result<Option<FileKey>, Error> {
    if !commitment.same(promised) {
        return Ok(None);
    }
    let (input, tag) = sealed.split_at(KEY);
    let mut file = Secret::zeroed(KEY);
    let opened = key.open_separate_gather(nonce(), Aad::from(*preamble.bytes()), input, tag, &mut file);
    // If the commitment is right but the file key does not open, the passphrase is right and the header was changed.
    opened.map_err(|_| Error::HeaderForged)?;
    Ok(FileKey::from_secret(file, preamble))
}
