//! Recipients that use HPKE: the hybrid `age1pq1…`, and the tagged `age1tag1…` and `age1tagpq1…`. The keys of tagged
//! recipients are usually in hardware. The tag lets the hardware skip stanzas for other keys. Everybody who knows a key
//! can see from the tags which stanzas are for this key.

use aws_lc_rs::digest::{SHA256, digest};

use super::known::{self, HYBRID_TAG, P256_TAG, TAG, XWING};
use super::unwrap::Tried;
use super::{AgeFileKey, AgeStanza};
use crate::primitive::hpke;
use crate::primitive::imp::{hkdf, p256};
use crate::{Error, Kem, PrivateKey, PublicKey};

/// Returns the type of the stanzas for keys of this kind, or `None` if age has no such type.
pub(super) const fn tag_name(kem: Kem) -> Option<&'static str> {
    match kem {
        Kem::XWing => Some(XWING),
        Kem::P256 => Some(P256_TAG),
        Kem::MlKem768P256 => Some(HYBRID_TAG),
        Kem::X25519 | Kem::MlKem768 | Kem::MlKem1024 => None,
    }
}

fn label(name: &str) -> Vec<u8> {
    [b"age-encryption.org/", name.as_bytes()].concat()
}

pub(super) fn wrap(name: &str, key: &PublicKey, file: &AgeFileKey) -> Result<AgeStanza, Error> {
    let (enc, body) = hpke::seal_with(&hpke::CHACHA20_POLY1305, key, &label(name), b"", file.bytes())?;
    let tag = tag(name, key, &enc)?.map(|tag| known::encode(&tag));
    let args = tag.into_iter().chain([known::encode(&enc)]).collect();
    Ok(AgeStanza { tag: name.into(), args, body })
}

pub(super) fn unwrap(key: &PrivateKey, stanza: &AgeStanza) -> Result<Tried, Error> {
    let enc = known::argument(stanza, stanza.args.len().saturating_sub(1))?;
    let tag = tag(&stanza.tag, key.public(), &enc)?;
    if let Some(tag) = &tag
        && known::argument(stanza, 0)? != *tag
    {
        return Ok(Tried::OtherKey);
    }
    let file = match hpke::open_with(&hpke::CHACHA20_POLY1305, key, &enc, &label(&stanza.tag), b"", &stanza.body)? {
        hpke::Open::Message(secret) => AgeFileKey::from_secret(secret),
        hpke::Open::OtherKey => None,
        hpke::Open::Invalid => return Err(Error::Header("the share of a recipient")),
    };
    Ok(match file {
        Some(file) => Tried::Opened(file),
        None if tag.is_some() => Tried::Mistagged,
        None => Tried::OtherKey,
    })
}

/// Returns the tag of a stanza for this key: a hash over the encapsulated secret and the P-256 half of the key. The
/// P-256 half has the same form as in the recipient's text: a P-256 key that is not part of a hybrid key is compressed.
/// X-Wing has no tag.
fn tag(name: &str, key: &PublicKey, enc: &[u8]) -> Result<Option<[u8; TAG]>, Error> {
    let short = match (key.kem(), key.as_bytes()) {
        (Kem::P256, point) => digest(
            &SHA256,
            &p256::compress(point.first_chunk().ok_or(Error::System("a P-256 key has another length"))?),
        ),
        (Kem::MlKem768P256, both) => digest(&SHA256, &both[Kem::MlKem768.public_len()..]),
        _ => return Ok(None),
    };
    let mut extracted = [0; 32];
    hkdf::extract(&label(name), &[enc, &short.as_ref()[..TAG]].concat(), &mut extracted)?;
    Ok(extracted.first_chunk().copied())
}
