//! The contents of `OneAsymmetricKey` for keys that sign.
//!
//! ```text
//! Ed25519     OCTET STRING: the seed                                      RFC 8410
//! ML-DSA-65   [0] seed, or OCTET STRING expanded, or SEQUENCE of both      RFC 9881
//! composite   the seed of ML-DSA, then that of Ed25519, as they are        draft-ietf-lamps-pq-composite-sigs
//! ```
//!
//! May leak: the kind and the form of the key, and whether the key is valid. This module copies seeds without
//! inspecting their bytes.

use super::super::algorithm;
use super::super::der::{self, DerReader, Item, OCTET_STRING, SEQUENCE};
use super::super::error::Trouble;
use super::super::spki;
use crate::key::sign::{Scheme, SigningKey, SigningMaterial};
use crate::{Error, Secret};

/// Returns the private key as DER.
pub(in super::super) fn encode(key: &SigningKey) -> Secret {
    let contents = match (key.scheme(), key.material()) {
        (_, SigningMaterial::Expanded(bytes)) | (Scheme::Ed25519, SigningMaterial::Seed(bytes)) => {
            Item::Tagged(OCTET_STRING, &[Item::Raw(bytes)]).encode()
        }
        (Scheme::MlDsa65, SigningMaterial::Seed(seed)) => Item::Tagged(der::context(0), &[Item::Raw(seed)]).encode(),
        (_, SigningMaterial::Seed(seeds)) => Secret::copy_of(seeds),
    };
    // Every private key has an algorithm identifier. Only keys in hardware lack an algorithm identifier, and their
    // private keys never occur here.
    super::assemble(Item::Raw(algorithm::signing(key.scheme()).unwrap_or_default()), &contents)
}

/// Reads a signing key from the contents of the octet string. The public key in the structure, if any, must belong to
/// the private key.
pub(super) fn decode(scheme: Scheme, contents: &[u8], public: Option<&[u8]>) -> Result<SigningKey, Trouble> {
    let key = match scheme {
        Scheme::Ed25519 => {
            let mut reader = DerReader::new(contents);
            let seed = reader.take(OCTET_STRING)?;
            reader.end()?;
            from_seed(scheme, seed)?
        }
        Scheme::MlDsa65 => ml_dsa(contents)?,
        Scheme::MlDsa44Ed25519 | Scheme::SkEd25519 => from_seed(scheme, contents)?,
    };
    match public {
        Some(bytes) if spki::verifying_key(scheme, bytes)? != *key.public() => {
            Err(Trouble::Malformed("the public key beside it belongs to another private key"))
        }
        _ => Ok(key),
    }
}

/// Reads an ML-DSA key in one of the three forms of RFC 9881 section 6.
fn ml_dsa(contents: &[u8]) -> Result<SigningKey, Trouble> {
    let mut reader = DerReader::new(contents);
    let (tag, inside) = reader.any()?;
    reader.end()?;
    match tag {
        tag if tag == der::context(0) => from_seed(Scheme::MlDsa65, inside),
        OCTET_STRING => SigningKey::from_expanded(inside).map_err(invalid),
        SEQUENCE => {
            let mut both = DerReader::new(inside);
            let (seed, expanded) = (both.take(OCTET_STRING)?, both.take(OCTET_STRING)?);
            both.end()?;
            let key = from_seed(Scheme::MlDsa65, seed)?;
            // RFC 9881 section 8: the expanded key must equal the key that is expanded from the seed.
            let same = key.expanded().map_err(invalid)?.is_some_and(|own| own.same(expanded));
            if same { Ok(key) } else { Err(Trouble::Malformed("its seed and its expanded form are different keys")) }
        }
        _ => Err(Trouble::Malformed("the ML-DSA key inside is neither a seed nor expanded nor both")),
    }
}

fn from_seed(scheme: Scheme, seed: &[u8]) -> Result<SigningKey, Trouble> {
    if seed.len() != scheme.private_len() {
        return Err(Trouble::Malformed("the private key has a wrong length"));
    }
    SigningKey::from_seed(scheme, seed).map_err(invalid)
}

fn invalid(error: Error) -> Trouble {
    match error {
        Error::System(what) => Trouble::System(what),
        _ => Trouble::Malformed("the private key is not a valid one of its kind"),
    }
}
