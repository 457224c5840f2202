//! X25519 recipients: `age1…`.

use super::file_key::derive;
use super::known::{self, X25519};
use super::{AgeFileKey, AgeStanza};
use crate::primitive::imp::x25519;
use crate::{Error, InvalidKey, PrivateKey, PublicKey, Secret};

const INFO: &[u8] = b"age-encryption.org/v1/X25519";
const LENGTH: Error = Error::System("a key has the wrong length");
const SMALL: Error = Error::Header("the share of a recipient");

pub(super) fn wrap(key: &PublicKey, file: &AgeFileKey) -> Result<AgeStanza, Error> {
    let recipient = key.as_bytes().as_array().ok_or(LENGTH)?;
    let (share, wrapping) = agree(recipient, None, INFO)?;
    Ok(AgeStanza { tag: X25519.into(), args: vec![known::encode(&share)], body: file.seal(&wrapping)? })
}

pub(super) fn unwrap(key: &PrivateKey, stanza: &AgeStanza) -> Result<Option<AgeFileKey>, Error> {
    let recipient: &[u8; 32] = key.public().as_bytes().as_array().ok_or(LENGTH)?;
    let share = known::argument(stanza, 0)?;
    let shared = key.multiply(share.as_array().ok_or(LENGTH)?)?.ok_or(SMALL)?;
    let wrapping = derive(&shared, &[&share[..], recipient].concat(), INFO)?;
    AgeFileKey::open(&wrapping, &stanza.body)
}

/// Makes an ephemeral key, and returns its public half (the share) and the wrapping key. A `tweak` multiplies the
/// shared secret. Only SSH keys have a tweak.
pub(super) fn agree(recipient: &[u8; 32], tweak: Option<&[u8; 32]>, info: &[u8]) -> Result<([u8; 32], Secret), Error> {
    let ephemeral = Secret::random(32)?;
    let ephemeral = ephemeral.as_array().ok_or(LENGTH)?;
    let mut share = [0; 32];
    x25519::public(ephemeral, &mut share);
    let shared = multiply(ephemeral, recipient, tweak)?.ok_or(Error::InvalidKey(InvalidKey::SmallOrder))?;
    Ok((share, derive(&shared, &[&share[..], recipient].concat(), info)?))
}

/// Returns the wrapping key for the owner of `recipient`, computed from the ephemeral public key `share`.
pub(super) fn agreed(
    scalar: &[u8; 32],
    recipient: &[u8; 32],
    share: &[u8; 32],
    tweak: Option<&[u8; 32]>,
    info: &[u8],
) -> Result<Secret, Error> {
    let shared = multiply(scalar, share, tweak)?.ok_or(SMALL)?;
    derive(&shared, &[&share[..], recipient].concat(), info)
}

/// Returns the product of scalar, tweak and point. Returns `None` if the point has small order.
fn multiply(scalar: &[u8; 32], point: &[u8; 32], tweak: Option<&[u8; 32]>) -> Result<Option<Secret>, Error> {
    let mut product = Secret::zeroed(32);
    if !x25519::multiply(scalar, point, product.as_mut_array().ok_or(LENGTH)?) {
        return Ok(None);
    }
    let Some(tweak) = tweak else { return Ok(Some(product)) };
    let mut tweaked = Secret::zeroed(32);
    let fits = x25519::multiply(tweak, product.as_array().ok_or(LENGTH)?, tweaked.as_mut_array().ok_or(LENGTH)?);
    Ok(fits.then_some(tweaked))
}
