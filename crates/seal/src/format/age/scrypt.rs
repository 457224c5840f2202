//! Passphrases of age files. age hashes passphrases with scrypt.
//!
//! scrypt with r = 8 takes N KiB of memory, so the memory of a [`Cost`] determines N. The default cost gives age's
//! usual N = 2^18. The passes and lanes of the cost are ignored.

use super::file_key::SEALED;
use super::known::{self, SCRYPT};
use super::{AgeFileKey, AgeStanza};
use crate::key::passphrase::form::Form;
use crate::primitive::entropy::Entropy;
use crate::primitive::imp;
use crate::{Cost, Error, Passphrase, Secret};

/// The beginning of the salt.
const LABEL: &[u8] = b"age-encryption.org/v1/scrypt";
const SALT: usize = 16;
const R: u64 = 8;
/// The greatest exponent of N that is accepted. It means 4 GiB of memory.
const MOST: u32 = 22;

const FORM: Error = Error::Header("the form of a recipient");

/// Checks the form of a stanza, and returns the cost of trying one passphrase.
pub(super) fn cost(stanza: &AgeStanza) -> Result<Cost, Error> {
    let [salt, exponent] = &stanza.args[..] else { return Err(FORM) };
    if known::decode(salt).is_none_or(|salt| salt.len() != SALT) || stanza.body.len() != SEALED {
        return Err(FORM);
    }
    // The exponent is a number without a sign and without leading zeros. The digits are checked first. The digits are
    // checked before parsing, so if parsing fails, the number is too large.
    if !exponent.bytes().all(|byte| byte.is_ascii_digit()) || exponent.starts_with('0') || exponent.is_empty() {
        return Err(FORM);
    }
    match exponent.parse() {
        Ok(exponent @ ..=MOST) => Ok(Cost { memory: 1 << exponent, passes: 1, lanes: 1 }),
        _ => Err(Error::Limit("memory or time for the passphrase")),
    }
}

fn exponent(cost: Cost) -> u32 {
    cost.memory.max(2).ilog2().min(MOST)
}

/// Returns the length of the stanza that [`wrap`] makes.
pub(super) fn length(cost: Cost) -> usize {
    let digits = if exponent(cost) < 10 { 1 } else { 2 };
    "-> ".len() + SCRYPT.len() + 1 + 22 + 1 + digits + 1 + 43 + 1
}

pub(super) fn wrap(
    passphrase: &Passphrase,
    cost: Cost,
    file: &AgeFileKey,
    entropy: Entropy,
) -> Result<AgeStanza, Error> {
    let (mut salt, exponent) = ([0; SALT], exponent(cost));
    entropy.fill("salt", 0, &mut salt)?;
    let wrapping = stretch(&passphrase.in_form(Form::Composed), &salt, exponent)?;
    let args = vec![known::encode(&salt), exponent.to_string()];
    Ok(AgeStanza { tag: SCRYPT.into(), args, body: file.seal(&wrapping)? })
}

/// Returns the file key if one of the Unicode forms of the passphrase is right. May leak: which Unicode form of the
/// passphrase is right, if any form is right.
pub(super) fn unwrap(passphrase: &Passphrase, stanza: &AgeStanza) -> Result<Option<AgeFileKey>, Error> {
    let cost = cost(stanza)?;
    passphrase.max_cost().check(cost)?;
    let salt = known::argument(stanza, 0)?;
    for form in passphrase.forms() {
        let wrapping = stretch(&passphrase.in_form(form), &salt, exponent(cost))?;
        if let Some(file) = AgeFileKey::open(&wrapping, &stanza.body)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// Returns the wrapping key. May leak: the length of the passphrase, and the information about the passphrase that
/// scrypt leaks.
fn stretch(passphrase: &Passphrase, salt: &[u8], exponent: u32) -> Result<Secret, Error> {
    let mut key = Secret::zeroed(32);
    let n = 1_u64 << exponent;
    // `memory` is enough for scrypt's table and a few more blocks.
    let memory = usize::try_from(128 * R * (n + 3)).unwrap_or(usize::MAX);
    let done = imp::scrypt::derive(passphrase.as_bytes(), &[LABEL, salt].concat(), n, R, 1, memory, &mut key);
    if done { Ok(key) } else { Err(Error::System("not enough memory")) }
}
