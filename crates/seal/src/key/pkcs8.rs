//! Private keys: the structure `OneAsymmetricKey` of RFC 5958, and its contents for each kind of key.
//!
//! ```text
//! version 0 or 1 | algorithm | OCTET STRING: the key | [0] attributes | [1] public key, in version 1
//! ```
//!
//! May leak: the kind and the form of the key, and whether the key is valid. This module copies scalars and seeds
//! without inspecting their bytes.

pub(super) mod signing;

use super::algorithm::{self, AlgorithmKind};
use super::der::{self, DerReader, INTEGER, Item, OCTET_STRING, SEQUENCE};
use super::error::Trouble;
use super::spki;
use crate::key::sign::SigningKey;
use crate::primitive::kem::Material;
use crate::{Kem, PrivateKey, Secret};

/// The length of an ML-KEM seed: `d ‖ z` of FIPS 203.
const SEED: usize = 64;

/// Returns the private key as DER.
pub(super) fn encode(key: &PrivateKey) -> Secret {
    assemble(algorithm::inside(key.kem()), &contents(key))
}

/// Returns the PKCS#8 structure whose octet string has the given contents.
fn assemble(algorithm: Item<'_>, contents: &[u8]) -> Secret {
    let algorithm = Item::Tagged(SEQUENCE, &[algorithm]);
    Item::Tagged(
        SEQUENCE,
        &[Item::Tagged(INTEGER, &[Item::Raw(&[0])]), algorithm, Item::Tagged(OCTET_STRING, &[Item::Raw(contents)])],
    )
    .encode()
}

/// Returns the contents of a private key's octet string.
fn contents(key: &PrivateKey) -> Secret {
    match (key.kem(), key.material()) {
        (_, Material::Held) => panic!("a key that an agent holds cannot be written"),
        (_, Material::Expanded(expanded)) => Item::Tagged(OCTET_STRING, &[Item::Raw(expanded)]).encode(),
        (Kem::X25519, Material::Seed(scalar)) => Item::Tagged(OCTET_STRING, &[Item::Raw(scalar)]).encode(),
        (Kem::MlKem768 | Kem::MlKem1024, Material::Seed(seed)) => {
            Item::Tagged(der::context(0), &[Item::Raw(seed)]).encode()
        }
        (Kem::MlKem768P256 | Kem::XWing, Material::Seed(seed)) => Secret::copy_of(seed),
        // `ECPrivateKey` of RFC 5915. The curve is omitted, because the algorithm identifier already identifies the
        // curve. The public key is included, because some readers require the public key.
        (Kem::P256, Material::Seed(scalar)) => {
            let point = [Item::Raw(&[0]), Item::Raw(key.public().as_bytes())];
            let parts = [
                Item::Tagged(INTEGER, &[Item::Raw(&[1])]),
                Item::Tagged(OCTET_STRING, &[Item::Raw(scalar)]),
                Item::Tagged(der::context_of(1), &[Item::Tagged(der::BIT_STRING, &point)]),
            ];
            Item::Tagged(SEQUENCE, &parts).encode()
        }
    }
}

pub(super) enum Private {
    Sealing(PrivateKey),
    Signing(SigningKey),
}

/// Reads a private key in DER. If the structure also contains a public key, the public key must belong to the private
/// key.
///
/// The function checks the whole structure before it checks the algorithm, so that an error never describes damaged
/// data as a key of another kind.
pub(super) fn decode(der: &[u8]) -> Result<Private, Trouble> {
    let mut outside = DerReader::new(der);
    let mut inside = outside.sequence()?;
    outside.end()?;
    let version = inside.number()?;
    let identifier = inside.take(SEQUENCE)?;
    let contents = inside.take(OCTET_STRING)?;
    if let Some(attributes) = inside.maybe(der::context_of(0))? {
        skip_attributes(attributes)?;
    }
    let public = inside.maybe(der::context(1))?.map(der::whole_bytes).transpose()?;
    inside.end()?;
    // RFC 5958 section 2: "version … if publicKey is present, then version is set to v2 else version is set to v1".
    if version != u64::from(public.is_some()) {
        return Err(Trouble::Malformed("its version does not go with what it holds"));
    }
    match algorithm::kind_of(identifier)? {
        AlgorithmKind::Sealing(kem) => {
            let key = private_key(kem, contents)?;
            check_public(&key, public)?;
            Ok(Private::Sealing(key))
        }
        AlgorithmKind::Signing(scheme) => signing::decode(scheme, contents, public).map(Private::Signing),
    }
}

/// Skips attributes, and checks that they are well formed. Attributes contain no part of the key itself.
fn skip_attributes(attributes: &[u8]) -> Result<(), Trouble> {
    let mut attributes = DerReader::new(attributes);
    while attributes.next_tag().is_some() {
        let mut attribute = attributes.sequence()?;
        attribute.oid()?;
        attribute.take(0x31)?;
        attribute.end()?;
    }
    Ok(())
}

fn private_key(kem: Kem, contents: &[u8]) -> Result<PrivateKey, Trouble> {
    match kem {
        Kem::X25519 => {
            let mut reader = DerReader::new(contents);
            let scalar = reader.take(OCTET_STRING)?;
            reader.end()?;
            from_seed(kem, scalar)
        }
        Kem::P256 => ec_private_key(contents),
        Kem::MlKem768 | Kem::MlKem1024 => ml_kem(kem, contents),
        Kem::MlKem768P256 | Kem::XWing => from_seed(kem, contents),
    }
}

/// Reads `ECPrivateKey`: RFC 5915 section 3.
fn ec_private_key(contents: &[u8]) -> Result<PrivateKey, Trouble> {
    let mut outside = DerReader::new(contents);
    let mut inside = outside.sequence()?;
    outside.end()?;
    if inside.number()? != 1 {
        return Err(Trouble::Malformed("the elliptic-curve key inside has a wrong version"));
    }
    let scalar = inside.take(OCTET_STRING)?;
    if let Some(curve) = inside.maybe(der::context_of(0))? {
        let mut curve = DerReader::new(curve);
        // The curve must be prime256v1, as in the algorithm identifier.
        if curve.oid()? != [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07] {
            return Err(Trouble::Malformed("it names two different curves"));
        }
        curve.end()?;
    }
    let public = match inside.maybe(der::context_of(1))? {
        Some(point) => {
            let mut point = DerReader::new(point);
            let bits = point.bit_string()?;
            point.end()?;
            Some(bits)
        }
        None => None,
    };
    inside.end()?;
    let key = from_seed(Kem::P256, scalar)?;
    check_public(&key, public)?;
    Ok(key)
}

/// Reads an ML-KEM key in one of the three forms of RFC 9935 section 6.
fn ml_kem(kem: Kem, contents: &[u8]) -> Result<PrivateKey, Trouble> {
    let mut reader = DerReader::new(contents);
    let (tag, inside) = reader.any()?;
    reader.end()?;
    match tag {
        tag if tag == der::context(0) => from_seed(kem, inside),
        OCTET_STRING => from_expanded(kem, inside),
        SEQUENCE => {
            let mut both = DerReader::new(inside);
            let (seed, expanded) = (both.take(OCTET_STRING)?, both.take(OCTET_STRING)?);
            both.end()?;
            let key = from_seed(kem, seed)?;
            check_expanded(&key, seed, &from_expanded(kem, expanded)?, expanded)?;
            Ok(key)
        }
        _ => Err(Trouble::Malformed("the ML-KEM key inside is neither a seed nor expanded nor both")),
    }
}

fn from_seed(kem: Kem, seed: &[u8]) -> Result<PrivateKey, Trouble> {
    if seed.len() != kem.private_len() {
        return Err(Trouble::Malformed("the private key has a wrong length"));
    }
    PrivateKey::from_seed(kem, seed).map_err(|_| Trouble::Malformed("the private key is not a valid one of its kind"))
}

/// Reads the decapsulation key of FIPS 203: `s ‖ ek ‖ H(ek) ‖ z`.
fn from_expanded(kem: Kem, expanded: &[u8]) -> Result<PrivateKey, Trouble> {
    let length = if kem == Kem::MlKem768 { 2400 } else { 3168 };
    if expanded.len() != length {
        return Err(Trouble::Malformed("the expanded private key has a wrong length"));
    }
    PrivateKey::from_expanded(kem, expanded)
        .map_err(|_| Trouble::Malformed("the expanded private key is not a valid one of its kind"))
}

/// Checks that a seed and an expanded key are the same key (RFC 9935 section 8). The seed and the expanded key must
/// have the same encapsulation key and the same `z`. The expanded key's `s` must decapsulate a secret that was
/// encapsulated to the seed's public key. A different `s` gives a different secret. May leak: whether the keys are the
/// same.
fn check_expanded(key: &PrivateKey, seed: &[u8], other: &PrivateKey, expanded: &[u8]) -> Result<(), Trouble> {
    const DIFFERENT: Trouble = Trouble::Malformed("its seed and its expanded form are different keys");
    let z = Secret::copy_of(&seed[SEED / 2..]);
    if key.public() != other.public() || !z.same(&expanded[expanded.len() - SEED / 2..]) {
        return Err(DIFFERENT);
    }
    let system = |_| Trouble::System("no random bytes");
    let (enc, secret) = key.public().encapsulate().map_err(system)?;
    let opened = other.decapsulate(&enc).map_err(|_| DIFFERENT)?;
    if opened.is_some_and(|opened| secret.same(&opened)) { Ok(()) } else { Err(DIFFERENT) }
}

fn check_public(key: &PrivateKey, public: Option<&[u8]>) -> Result<(), Trouble> {
    match public {
        // `public_key` refuses compressed points with an error that mentions compressed points.
        Some(bytes) if spki::public_key(key.kem(), bytes)? != *key.public() => {
            Err(Trouble::Malformed("the public key beside it belongs to another private key"))
        }
        _ => Ok(()),
    }
}
