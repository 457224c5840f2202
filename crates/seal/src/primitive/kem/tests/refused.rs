//! Tests keys and encapsulated secrets that must be refused.

use super::*;
use crate::primitive::imp::ml_kem;

/// The number of points on P-256.
pub(super) const ORDER: &str = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";

fn invalid<T>(result: Result<T, Error>) -> bool {
    matches!(result, Err(Error::InvalidKey(_)))
}

#[test]
fn wrong_lengths() {
    for kem in Kem::ALL {
        let private = PrivateKey::generate(kem).unwrap();
        let Material::Seed(seed) = private.material() else { panic!("a seed was given") };
        let (enc, _) = private.public().encapsulate().unwrap();
        for wrong in [0, 1, 31, 33] {
            assert!(invalid(PrivateKey::from_seed(kem, &vec![1; wrong])), "{kem:?} {wrong}");
        }
        let longer = |bytes: &[u8]| [bytes, &[0]].concat();
        let public = private.public().as_bytes();
        for (bytes, refused) in [
            (&seed[..], &(|bytes: &[u8]| invalid(PrivateKey::from_seed(kem, bytes))) as &dyn Fn(&[u8]) -> bool),
            (public, &|bytes| invalid(PublicKey::from_bytes(kem, bytes))),
            (&enc, &|bytes| private.decapsulate(bytes).unwrap().is_none()),
        ] {
            assert!(
                !refused(bytes) && refused(&[]) && refused(&bytes[..bytes.len() - 1]) && refused(&longer(bytes)),
                "{kem:?}"
            );
        }
    }
}

#[test]
fn p256_points_off_the_curve_or_in_other_forms() {
    for kem in [Kem::P256, Kem::MlKem768P256] {
        let private = PrivateKey::generate(kem).unwrap();
        let (enc, _) = private.public().encapsulate().unwrap();
        let changes: [fn(&mut [u8]); 6] = [
            |point| point[64] ^= 1,
            |point| point[1..].fill(0),
            |point| point.fill(0),
            // This change makes the "hybrid" encoding of a point: the first byte, 6 or 7, includes the parity of y.
            |point| point[0] = 6 | (point[64] & 1),
            |point| point[0] = 2 | (point[64] & 1),
            // This change makes the coordinate x greater than the prime of the field.
            |point| point[1..33].fill(0xff),
        ];
        for change in changes {
            let at = kem.public_len() - 65;
            let mut public = private.public().as_bytes().to_vec();
            change(&mut public[at..]);
            assert!(invalid(PublicKey::from_bytes(kem, &public)));
            let mut enc = enc.clone();
            let at = enc.len() - 65;
            change(&mut enc[at..]);
            assert!(private.decapsulate(&enc).unwrap().is_none());
        }
    }
}

#[test]
fn p256_scalars_out_of_range() {
    let order = hex(ORDER);
    assert!(invalid(PrivateKey::from_seed(Kem::P256, &[0; 32])));
    assert!(invalid(PrivateKey::from_seed(Kem::P256, &[0xff; 32])));
    assert!(invalid(PrivateKey::from_seed(Kem::P256, &order)));
    let mut last = order;
    last[31] -= 1;
    assert!(PrivateKey::from_seed(Kem::P256, &last).is_ok());
}

/// Replaces the X25519 point at the end of a key or of an encapsulated secret.
fn put(bytes: &[u8], point: &[u8]) -> Vec<u8> {
    [&bytes[..bytes.len() - 32], point].concat()
}

#[test]
fn x25519_points_of_small_order() {
    for point in [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ] {
        for kem in [Kem::X25519, Kem::XWing] {
            let private = PrivateKey::generate(kem).unwrap();
            let public = PublicKey::from_bytes(kem, &put(private.public().as_bytes(), &hex(point))).unwrap();
            assert!(invalid(public.encapsulate()), "{kem:?} {point}");
            let (enc, _) = private.public().encapsulate().unwrap();
            assert!(private.decapsulate(&put(&enc, &hex(point))).unwrap().is_none(), "{kem:?} {point}");
        }
    }
}

/// Each point has only one encoding as a number below the prime. If other forms were accepted, two different byte
/// strings could be the same key, and nobody might notice a change in a file.
#[test]
fn x25519_points_in_other_forms() {
    // The list contains all numbers from the prime to the greatest number of 255 bits. Modulo the prime, these numbers
    // equal 0 to 18.
    let others: Vec<_> = (0xed..=0xff).map(|last: u8| hex(&format!("{last:02x}{}7f", "ff".repeat(30)))).collect();
    assert_eq!(others.len(), 19);
    for kem in [Kem::X25519, Kem::XWing] {
        let private = PrivateKey::generate(kem).unwrap();
        let public = private.public().as_bytes();
        let (enc, _) = private.public().encapsulate().unwrap();
        for point in &others {
            assert!(invalid(PublicKey::from_bytes(kem, &put(public, point))), "{kem:?} {point:?}");
            assert!(private.decapsulate(&put(&enc, point)).unwrap().is_none(), "{kem:?} {point:?}");
        }
        // A valid point becomes invalid if the highest bit is set. RFC 7748 tells readers to ignore the highest bit.
        for (bytes, refused) in [
            (public, &(|bytes: &[u8]| invalid(PublicKey::from_bytes(kem, bytes))) as &dyn Fn(&[u8]) -> bool),
            (&enc, &|bytes| private.decapsulate(bytes).unwrap().is_none()),
        ] {
            let mut changed = bytes.to_vec();
            *changed.last_mut().unwrap() |= 0x80;
            assert!(!refused(bytes) && refused(&changed), "{kem:?}");
        }
    }
    // The greatest number below the prime is a point of small order. The second greatest number below the prime is an
    // ordinary point, and is accepted.
    let below = hex(&format!("eb{}7f", "ff".repeat(30)));
    assert!(PublicKey::from_bytes(Kem::X25519, &below).is_ok());
}

#[test]
fn ml_kem_coefficients_out_of_range() {
    for kem in [Kem::MlKem768, Kem::MlKem1024, Kem::MlKem768P256, Kem::XWing] {
        let mut public = PrivateKey::generate(kem).unwrap().public().as_bytes().to_vec();
        // The test writes the greatest valid coefficient, 3328 = 0xd00, and then the modulus, 3329, to the first
        // coefficient and to a coefficient of the last polynomial.
        for at in [0, 768] {
            let before = [public[at], public[at + 1]];
            public[at + 1] = (public[at + 1] & 0xf0) | 0x0d;
            public[at] = 0x00;
            assert!(PublicKey::from_bytes(kem, &public).is_ok(), "{kem:?}");
            public[at] = 0x01;
            assert!(invalid(PublicKey::from_bytes(kem, &public)), "{kem:?}");
            public[at..at + 2].copy_from_slice(&before);
        }
    }
}

/// After any change in an encapsulated secret, decapsulation fails or gives a different secret. For a changed
/// ciphertext, ML-KEM without a curve returns a wrong secret, which is always the same for this ciphertext.
#[test]
fn tampered_encapsulations() {
    for kem in Kem::ALL {
        let private = PrivateKey::generate(kem).unwrap();
        let (enc, shared) = private.public().encapsulate().unwrap();
        for at in [0, 1, enc.len() / 2, enc.len() - 66.min(enc.len()), enc.len() - 32, enc.len() - 1] {
            for bit in [0, 7] {
                let mut changed = enc.clone();
                changed[at] ^= 1 << bit;
                match private.decapsulate(&changed).unwrap() {
                    Some(other) => {
                        assert!(!other.same(&shared), "{kem:?} byte {at} bit {bit}");
                        assert!(private.decapsulate(&changed).unwrap().unwrap().same(&other));
                    }
                    None => assert!(!matches!(kem.parts(), KemParts::Ml(_))),
                }
            }
        }
    }
}

#[test]
fn expanded_keys() {
    for (kem, set) in [(Kem::MlKem768, ml_kem::MlKemSet::Ml768), (Kem::MlKem1024, ml_kem::MlKemSet::Ml1024)] {
        let good = wycheproof::expanded(kem);
        let key = PrivateKey::from_expanded(kem, &good).unwrap();
        let Material::Expanded(kept) = key.material() else { panic!("an expanded key was given") };
        assert!(kept.same(&good));
        let (enc, shared) = key.public().encapsulate().unwrap();
        assert!(key.decapsulate(&enc).unwrap().unwrap().same(&shared));

        assert!(invalid(PrivateKey::from_expanded(kem, &[])));
        assert!(invalid(PrivateKey::from_expanded(kem, &good[1..])));
        assert!(invalid(PrivateKey::from_expanded(kem, &[&good[..], &[0]].concat())));
        let (secret, rest) = (set.expanded_len() - 96 - set.public_len() + 32, set.expanded_len() - 64);
        for at in [0, secret - 1, secret, secret + 1, rest - 1, rest, rest + 31] {
            let mut changed = good.clone();
            changed[at] ^= 1;
            assert!(invalid(PrivateKey::from_expanded(kem, &changed)), "{kem:?} byte {at}");
        }
        // The last 32 bytes of the key are random, and the hash in the key does not cover these bytes.
        let mut other = good.clone();
        other[rest + 32] ^= 1;
        assert!(PrivateKey::from_expanded(kem, &other).unwrap().decapsulate(&enc).unwrap().unwrap().same(&shared));
    }
    for kem in [Kem::P256, Kem::X25519, Kem::MlKem768P256, Kem::XWing] {
        assert!(invalid(PrivateKey::from_expanded(kem, &[0; 2400])));
    }
}
