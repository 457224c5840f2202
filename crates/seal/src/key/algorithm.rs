//! Algorithm identifiers of the kinds of keys that this crate reads and writes, and names for the kinds that the crate
//! refuses.

use std::borrow::Cow;

use super::Unsupported;
use super::der::{DerReader, Item, OID, SEQUENCE};
use super::error::Trouble;
use crate::Kem;
use crate::key::sign::Scheme;

const ID_EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];

/// Returns the contents of the `AlgorithmIdentifier` for a kind of key: an object identifier and, for P-256, the name
/// of the curve.
const fn contents(kem: Kem) -> &'static [u8] {
    match kem {
        // id-ecPublicKey 1.2.840.10045.2.1 with prime256v1 1.2.840.10045.3.1.7: RFC 5480.
        Kem::P256 => {
            &[6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]
        }
        // id-X25519 1.3.101.110: RFC 8410.
        Kem::X25519 => &[6, 3, 0x2b, 0x65, 0x6e],
        // id-alg-ml-kem-768 and -1024, 2.16.840.1.101.3.4.4.2 and .3: RFC 9935.
        Kem::MlKem768 => &[6, 9, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x04, 0x02],
        Kem::MlKem1024 => &[6, 9, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x04, 0x03],
        // 2.25.235334975590361764860720523004686002542, which is the UUID b10bde1d-fd73-42a4-b1f4-9f42253e696e: no
        // draft defines an object identifier for this KEM, and everybody may use the arc 2.25 (X.667). See
        // docs/format-keys.md.
        Kem::MlKem768P256 => &[
            6, 20, 0x69, 0x82, 0xe2, 0x8b, 0xef, 0x87, 0xbf, 0xd7, 0x9a, 0x8a, 0xc9, 0xb1, 0xfa, 0xa7, 0xe8, 0xa2,
            0xa9, 0xf9, 0xd2, 0x6e,
        ],
        // id-XWing 1.3.6.1.4.1.62253.25722: draft-connolly-cfrg-xwing-kem.
        Kem::XWing => &[6, 11, 0x2b, 0x06, 0x01, 0x04, 0x01, 0x83, 0xe6, 0x2d, 0x81, 0xc8, 0x7a],
    }
}

/// Returns the contents of the `AlgorithmIdentifier` for a signature algorithm, or `None` if the algorithm has no
/// identifier.
pub(super) const fn signing(scheme: Scheme) -> Option<&'static [u8]> {
    Some(match scheme {
        // id-Ed25519 1.3.101.112: RFC 8410.
        Scheme::Ed25519 => &[6, 3, 0x2b, 0x65, 0x70],
        // id-ml-dsa-65 2.16.840.1.101.3.4.3.18: RFC 9881.
        Scheme::MlDsa65 => &[6, 9, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x12],
        // id-MLDSA44-Ed25519-SHA512 1.3.6.1.5.5.7.6.39: draft-ietf-lamps-pq-composite-sigs-19.
        Scheme::MlDsa44Ed25519 => &[6, 8, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x06, 0x27],
        Scheme::SkEd25519 => return None,
    })
}

pub(super) fn inside(kem: Kem) -> Item<'static> {
    Item::Raw(contents(kem))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AlgorithmKind {
    Sealing(Kem),
    Signing(Scheme),
}

/// Finds the kind of key that belongs to these contents of an `AlgorithmIdentifier`.
pub(super) fn kind_of(identifier: &[u8]) -> Result<AlgorithmKind, Trouble> {
    let identifier = deadpan_ct::declassify_bytes(identifier);
    if let Some(kem) = Kem::ALL.into_iter().find(|kem| contents(*kem) == identifier) {
        return Ok(AlgorithmKind::Sealing(kem));
    }
    if let Some(scheme) = Scheme::ALL.into_iter().find(|scheme| signing(*scheme) == Some(identifier)) {
        return Ok(AlgorithmKind::Signing(scheme));
    }
    let mut reader = DerReader::new(identifier);
    let oid = reader.oid()?;
    if oid == ID_EC {
        return Err(other_curve(reader));
    }
    let sealing = Kem::ALL.into_iter().map(contents);
    let mut kinds = sealing.chain(Scheme::ALL.into_iter().filter_map(signing));
    if kinds.any(|contents| contents.get(2..) == Some(oid)) {
        return Err(Trouble::Malformed("parameters stand where its kind of key has none"));
    }
    Err(foreign(oid))
}

/// Returns the error for an elliptic-curve key whose parameters are not the object identifier of P-256.
fn other_curve(mut parameters: DerReader<'_>) -> Trouble {
    match parameters.next_tag() {
        Some(OID) => {
            parameters.oid().and_then(|oid| parameters.end().map(|()| oid)).map_or_else(|trouble| trouble, foreign)
        }
        Some(SEQUENCE) => Unsupported::WrittenOutCurve.into(),
        _ => Trouble::Malformed("the curve is not named"),
    }
}

/// Returns the error for an unsupported object identifier. The error message contains the name of the algorithm, or the
/// identifier if the algorithm is unknown.
fn foreign(oid: &[u8]) -> Trouble {
    for (start, lasts, what) in FOREIGN {
        if let Some(&[last]) = oid.strip_prefix(*start)
            && lasts.contains(&last)
        {
            return what.clone().into();
        }
    }
    Unsupported::Kind(format!("a key of the kind {}", dotted(oid)).into()).into()
}

/// A group of object identifiers: their common first bytes, the range of the last byte, and the name of the algorithms.
type Foreign = (&'static [u8], std::ops::RangeInclusive<u8>, Unsupported);

const fn kind(name: &'static str) -> Unsupported {
    Unsupported::Kind(Cow::Borrowed(name))
}

const FOREIGN: &[Foreign] = &[
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01], 1..=10, kind("an RSA key")),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x03], 1..=1, kind("a Diffie-Hellman key")),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3e, 0x02], 1..=1, kind("a Diffie-Hellman key")),
    (&[0x2a, 0x86, 0x48, 0xce, 0x38, 0x04], 1..=1, Unsupported::Signing("a DSA key")),
    (&[0x2b, 0x65], 0x6f..=0x6f, kind("an X448 key")),
    (&[0x2b, 0x65], 0x71..=0x71, Unsupported::Signing("an Ed448 key")),
    (&[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03], 0x11..=0x13, Unsupported::Signing("an ML-DSA key")),
    (&[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03], 0x20..=0x22, Unsupported::Signing("an ML-DSA key")),
    (&[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03], 0x14..=0x2e, Unsupported::Signing("an SLH-DSA key")),
    (&[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x04], 1..=1, Unsupported::MlKem512),
    (&[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x06], 37..=54, Unsupported::Signing("a composite ML-DSA key")),
    (&[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x06], 55..=66, Unsupported::CompositeMlKem),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01], 1..=6, kind("a curve other than P-256")),
    (&[0x2b, 0x81, 0x04, 0x00], 0x0a..=0x0a, kind("the curve secp256k1")),
    (&[0x2b, 0x81, 0x04, 0x00], 0x21..=0x21, kind("the curve P-224")),
    (&[0x2b, 0x81, 0x04, 0x00], 0x22..=0x22, kind("the curve P-384")),
    (&[0x2b, 0x81, 0x04, 0x00], 0x23..=0x23, kind("the curve P-521")),
    (&[0x2b, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01], 1..=14, kind("a Brainpool curve")),
];

/// Returns the error for an encrypted private key that does not use PBES2, or that uses an unsupported part of PBES2.
/// The encryptions of PKCS#12 and PKCS#5 v1 are weak, and other encryptions are rare.
pub(super) fn old_encryption(oid: &[u8]) -> Trouble {
    Unsupported::Encryption(dotted(oid)).into()
}

/// Returns an object identifier in dotted form. If the identifier is not valid or contains a number of more than 128
/// bits, returns the hexadecimal form.
pub(super) fn dotted(oid: &[u8]) -> String {
    let mut numbers = Vec::new();
    let mut number: u128 = 0;
    for byte in oid {
        if number >> 121 != 0 {
            return format!("{oid:02x?}");
        }
        number = number << 7 | u128::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            numbers.push(number);
            number = 0;
        }
    }
    let Some((first, rest)) = numbers.split_first() else { return format!("{oid:02x?}") };
    let root = (*first / 40).min(2);
    let rest: String = rest.iter().map(|number| format!(".{number}")).collect();
    format!("{root}.{}{rest}", first - root * 40)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_what_the_documents_say() {
        for (kem, name) in [
            (Kem::P256, "1.2.840.10045.2.1"),
            (Kem::X25519, "1.3.101.110"),
            (Kem::MlKem768, "2.16.840.1.101.3.4.4.2"),
            (Kem::MlKem1024, "2.16.840.1.101.3.4.4.3"),
            (Kem::MlKem768P256, "2.25.235334975590361764860720523004686002542"),
            (Kem::XWing, "1.3.6.1.4.1.62253.25722"),
        ] {
            let mut reader = DerReader::new(contents(kem));
            assert_eq!(dotted(reader.oid().unwrap()), name);
            assert!(matches!(kind_of(contents(kem)), Ok(known) if known == AlgorithmKind::Sealing(kem)));
        }
        for (scheme, name) in [
            (Scheme::Ed25519, "1.3.101.112"),
            (Scheme::MlDsa65, "2.16.840.1.101.3.4.3.18"),
            (Scheme::MlDsa44Ed25519, "1.3.6.1.5.5.7.6.39"),
        ] {
            let identifier = signing(scheme).unwrap();
            assert_eq!(dotted(DerReader::new(identifier).oid().unwrap()), name);
            assert!(matches!(kind_of(identifier), Ok(known) if known == AlgorithmKind::Signing(scheme)));
        }
        assert_eq!(
            u128::from_str_radix("b10bde1dfd7342a4b1f49f42253e696e", 16),
            Ok(235_334_975_590_361_764_860_720_523_004_686_002_542)
        );
    }

    #[test]
    fn null_parameters_are_refused() {
        for identifier in [contents(Kem::X25519), signing(Scheme::Ed25519).unwrap()] {
            let with_null = [identifier, &[5, 0]].concat();
            assert!(matches!(kind_of(&with_null), Err(Trouble::Malformed(_))));
        }
    }

    #[test]
    fn unknown_kinds_are_named_by_number() {
        let trouble = kind_of(&[6, 3, 0x2a, 0x03, 0x04]).unwrap_err();
        assert!(matches!(trouble, Trouble::Unsupported(what) if what.to_string() == "a key of the kind 1.2.3.4"));
        for oid in [&[][..], &[0x80], &[0xff; 40]] {
            let _ = dotted(oid);
        }
    }
}
