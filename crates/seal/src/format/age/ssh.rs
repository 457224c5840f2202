//! Recipients that are SSH keys: `ssh-ed25519` keys, which are used as X25519 keys, and `ssh-rsa` keys.
//!
//! The first argument of a stanza is a tag: the beginning of a hash of the public key. The owner, and anybody else who
//! knows the public key, recognizes the stanza by its tag.

use aws_lc_rs::digest::{SHA256, SHA512, digest};

use super::file_key::{KEY, derive};
use super::known::{self, TAG};
use super::unwrap::Tried;
use super::{AgeFileKey, AgeStanza, edwards, x25519};
use crate::key::openssh::{OpensshKey, SshKind, SshMaterial, SshPublic};
use crate::primitive::imp::rsa;
use crate::{Error, InvalidKey, Secret};
use deadpan_ct::Wiped;

const ED25519: &[u8] = b"age-encryption.org/v1/ssh-ed25519";
const RSA: &[u8] = b"age-encryption.org/v1/ssh-rsa";
/// The number of bytes in the shortest RSA modulus that files can be sealed to: 2048 bits.
const SHORTEST_MODULUS: usize = 256;

const INVALID: Error = Error::InvalidKey(InvalidKey::Public);

/// Checks that age files can be sealed to this key.
pub(super) fn check(key: &SshPublic) -> Result<(), Error> {
    match key.kind() {
        SshKind::Ed25519 => point(key).map(|_| ()),
        SshKind::Rsa if key.rsa().is_some_and(|(modulus, _)| modulus.len() >= SHORTEST_MODULUS) => Ok(()),
        SshKind::Rsa => Err(Error::Invalid("an RSA key of less than 2048 bits")),
        _ => Err(Error::Invalid("age seals only to SSH keys of the kinds ssh-ed25519 and ssh-rsa")),
    }
}

fn point(key: &SshPublic) -> Result<[u8; 32], Error> {
    key.raw().and_then(<[u8]>::as_array).and_then(edwards::to_x25519).ok_or(INVALID)
}

fn tag(key: &SshPublic) -> [u8; TAG] {
    digest(&SHA256, key.blob()).as_ref().first_chunk().copied().unwrap_or_default()
}

/// The tweak binds the shared secret to the SSH key.
fn tweak(key: &SshPublic) -> Result<Secret, Error> {
    derive(b"", key.blob(), ED25519)
}

pub(super) fn wrap(key: &SshPublic, file: &AgeFileKey) -> Result<AgeStanza, Error> {
    check(key)?;
    let (name, tag) = (key.kind().name().to_owned(), known::encode(&tag(key)));
    if let Some((modulus, exponent)) = key.rsa() {
        let key = rsa::RsaKey::public(modulus, exponent)?.ok_or(INVALID)?;
        return Ok(AgeStanza { tag: name, args: vec![tag], body: key.encrypt(RSA, file.bytes())? });
    }
    let tweak = tweak(key)?;
    let (share, wrapping) = x25519::agree(&point(key)?, tweak.as_array(), ED25519)?;
    Ok(AgeStanza { tag: name, args: vec![tag, known::encode(&share)], body: file.seal(&wrapping)? })
}

/// Returns the file key if the stanza was sealed to this key. May leak: whether the stanza was sealed to this key.
pub(super) fn unwrap(key: &OpensshKey, stanza: &AgeStanza) -> Result<Tried, Error> {
    let public = key.public();
    if public.kind().name() != stanza.tag || known::argument(stanza, 0)? != tag(public) {
        return Ok(Tried::OtherKey);
    }
    opened(key, stanza).map(Tried::tagged)
}

/// The stanza must have the key's tag.
fn opened(key: &OpensshKey, stanza: &AgeStanza) -> Result<Option<AgeFileKey>, Error> {
    let public = key.public();
    match (key.material(), public.rsa()) {
        (SshMaterial::Rsa(parts), Some((modulus, exponent))) => {
            let key = rsa::RsaKey::private(modulus, exponent, &parts.d)?;
            let key = key.ok_or(Error::InvalidKey(InvalidKey::Private))?;
            Ok(key.decrypt(RSA, &stanza.body)?.filter(|secret| secret.len() == KEY).and_then(AgeFileKey::from_secret))
        }
        (SshMaterial::Seed(seed), None) => {
            let mut scalar = Wiped::new([0; 32]);
            let mut hash = Wiped::new([0; 64]);
            hash.copy_from_slice(digest(&SHA512, seed).as_ref());
            scalar.copy_from_slice(&hash[..32]);
            let share = known::argument(stanza, 1)?;
            let share = share.as_array().ok_or(Error::Header("the share of a recipient"))?;
            let wrapping = x25519::agreed(&scalar, &point(public)?, share, tweak(public)?.as_array(), ED25519)?;
            AgeFileKey::open(&wrapping, &stanza.body)
        }
        _ => Ok(None),
    }
}
