//! Tests for keys and encapsulations.

mod known;
mod refused;
mod wycheproof;

use super::dh::{self, DhScalar};
use super::{Kem, KemParts, PrivateKey, PublicKey};
use crate::primitive::hpke::labeled::Suite;
use crate::primitive::imp::keccak;
use crate::{Error, Material, Secret};
pub(crate) use known::vectors;

pub(crate) fn hex(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2));
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Computes `DeriveKeyPair` of RFC 9180, section 7.1.3, and of draft-ietf-hpke-pq. Only tests with known answers need
/// this function.
pub(crate) fn derive_key_pair(kem: Kem, material: &[u8]) -> PrivateKey {
    PrivateKey::from_seed(kem, &derive_private(kem, material)).unwrap()
}

fn derive_private(kem: Kem, material: &[u8]) -> Vec<u8> {
    let mut out = vec![0; kem.private_len()];
    if matches!(kem.parts(), KemParts::Dh(_)) {
        let suite = Suite::kem(kem);
        let mut key = [0; 32];
        suite.extract(b"", b"dkp_prk", material, &mut key).unwrap();
        let (label, info): (&[u8], &[&[u8]]) = if kem == Kem::P256 { (b"candidate", &[&[0]]) } else { (b"sk", &[]) };
        suite.expand(&key, label, info, &mut out).unwrap();
        return out;
    }
    let length = u16::try_from(out.len()).unwrap().to_be_bytes();
    let label = b"\0\x0dDeriveKeyPair";
    let input = [material, b"HPKE-v1", b"KEM", &kem.id().to_be_bytes(), label, &length].concat();
    keccak::shake256(&input, &mut out).unwrap();
    out
}

/// Encapsulates to an X25519 key with a given ephemeral scalar.
pub(crate) fn encapsulate_x25519(key: &PublicKey, scalar: &[u8]) -> (Vec<u8>, Secret) {
    let scalar = DhScalar::from_bytes(dh::Curve::X25519, scalar).unwrap().unwrap();
    dh::encapsulate(Kem::X25519, dh::Curve::X25519, key.as_bytes(), &scalar).unwrap()
}

/// Encapsulates a secret to a key with the random bytes of a published vector. DHKEM's vectors need one more step to
/// derive the scalar.
pub(crate) fn encapsulate_with(key: &PublicKey, random: &[u8]) -> Result<(Vec<u8>, Secret), Error> {
    let KemParts::Dh(curve) = key.kem().parts() else {
        // The vectors contain only the necessary candidates for the scalar, so the code appends zeros for the missing
        // candidates.
        let mut random = random.to_vec();
        random.resize(key.kem().random_len(), 0);
        return key.encapsulate_from(&random);
    };
    let scalar = DhScalar::from_bytes(curve, &derive_private(key.kem(), random))?.unwrap();
    dh::encapsulate(key.kem(), curve, key.as_bytes(), &scalar)
}

/// The same random bytes give the same result, and changing a byte that is used changes the result.
#[test]
fn encapsulation_follows_from_its_random_bytes() {
    for kem in Kem::ALL {
        let (key, other) = (PrivateKey::generate(kem).unwrap(), PrivateKey::generate(kem).unwrap());
        let random = vec![0x17; kem.random_len()];
        let (enc, shared) = key.public().encapsulate_from(&random).unwrap();
        let (again, same) = key.public().encapsulate_from(&random).unwrap();
        assert!(enc == again && same.same(&shared) && key.decapsulate(&enc).unwrap().unwrap().same(&shared));
        assert!(!other.public().encapsulate_from(&random).unwrap().1.same(&shared), "{kem:?}");
        let halves = if matches!(kem.parts(), KemParts::Hybrid(..)) { vec![0, 32] } else { vec![0] };
        for place in halves {
            let mut changed = random.clone();
            changed[place + 1] ^= 0x10;
            let (unlike, different) = key.public().encapsulate_from(&changed).unwrap();
            assert!(unlike != enc && !different.same(&shared), "{kem:?}, byte {place}");
        }
        for length in [0, random.len() - 1, random.len() + 1] {
            assert!(matches!(key.public().encapsulate_from(&vec![0x17; length]), Err(Error::System(_))), "{kem:?}");
        }
    }
    // For P-256, sampling skips numbers that are not below the order.
    let key = PrivateKey::generate(Kem::P256).unwrap();
    let skipped = [[0xff; 32], [0x17; 32], [0; 32], [0; 32]].concat();
    let (enc, _) = key.public().encapsulate_from(&skipped).unwrap();
    assert_eq!(enc, key.public().encapsulate_from(&[0x17; 128]).unwrap().0);
    assert!(key.public().encapsulate_from(&[0xff; 128]).is_err(), "no candidate is a scalar");
}

#[test]
fn every_kind_agrees_with_itself() {
    for kem in Kem::ALL {
        let private = PrivateKey::generate(kem).unwrap();
        let public = PublicKey::from_bytes(kem, private.public().as_bytes()).unwrap();
        assert_eq!(&public, private.public());
        let (enc, shared) = public.encapsulate().unwrap();
        assert_eq!((enc.len(), shared.len()), (kem.enc_len(), 32));
        assert!(private.decapsulate(&enc).unwrap().unwrap().same(&shared));
        assert!(private.clone().decapsulate(&enc).unwrap().unwrap().same(&shared));

        let Material::Seed(seed) = private.material() else { panic!("a seed was given") };
        let again = PrivateKey::from_seed(kem, seed).unwrap();
        assert_eq!(again.public(), private.public());
        assert!(again.decapsulate(&enc).unwrap().unwrap().same(&shared));
        assert!(again.same(&private) && !again.same(&PrivateKey::generate(kem).unwrap()));

        let (other, unlike) = public.encapsulate().unwrap();
        assert!(other != enc && !unlike.same(&shared), "the same secret twice");
        assert!(
            !PrivateKey::generate(kem).unwrap().decapsulate(&enc).unwrap().is_some_and(|wrong| wrong.same(&shared))
        );
    }
}

#[test]
fn lengths_are_those_of_the_parts() {
    for kem in Kem::ALL {
        let (public, enc) = match kem.parts() {
            KemParts::Dh(curve) => (curve.point_len(), curve.point_len()),
            KemParts::Ml(set) => (set.public_len(), set.ciphertext_len()),
            KemParts::Hybrid(set, curve, _) => {
                (set.public_len() + curve.point_len(), set.ciphertext_len() + curve.point_len())
            }
        };
        assert_eq!((kem.public_len(), kem.enc_len()), (public, enc));
        assert_eq!(Kem::from_id(kem.id()), Some(kem));
    }
    assert_eq!(Kem::from_id(0x0040), None);
}

/// Tests that the `Debug` output of a key contains no part of the key.
#[test]
fn debug_shows_the_kind_only() {
    for kem in Kem::ALL {
        let key = PrivateKey::generate(kem).unwrap();
        assert_eq!(format!("{key:?} {:?}", key.public()), format!("PrivateKey({0}, ..) PublicKey({0})", kem.name()));
    }
}

#[test]
fn keys_go_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<PrivateKey>();
    let key = PrivateKey::generate(Kem::MlKem768P256).unwrap();
    let (enc, secret) = key.public().encapsulate().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    assert!(key.decapsulate(&enc).unwrap().unwrap().same(&secret));
                }
            });
        }
    });
}

/// Tests that sampling skips a candidate that is not a scalar, and uses the next candidate.
#[test]
fn p256_scalars_are_sampled() {
    let mut bytes = [0; 128];
    assert!(DhScalar::sample(dh::Curve::P256, &bytes).unwrap().is_none());
    bytes[..32].fill(0xff);
    bytes[32..64].copy_from_slice(&hex(refused::ORDER));
    bytes[95] = 1;
    let mut point = [0; 65];
    DhScalar::sample(dh::Curve::P256, &bytes).unwrap().unwrap().public(&mut point).unwrap();
    assert_eq!(point[1..33], hex("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"));
}
