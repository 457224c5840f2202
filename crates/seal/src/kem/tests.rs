//! Tests for keys and encapsulations.

mod known;
mod refused;
mod wycheproof;

use super::dh::{self, Scalar};
use super::{Kem, Parts, PrivateKey, PublicKey, hybrid};
use crate::hpke::labeled::Suite;
use crate::imp::{keccak, ml_kem};
use crate::{Error, Material, Secret};
pub(crate) use known::vectors;

pub(crate) fn hex(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2));
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// `DeriveKeyPair` of RFC 9180, section 7.1.3, and of draft-ietf-hpke-pq: only known answers need it.
pub(crate) fn derive_key_pair(kem: Kem, material: &[u8]) -> PrivateKey {
    PrivateKey::from_seed(kem, &derive_private(kem, material)).unwrap()
}

fn derive_private(kem: Kem, material: &[u8]) -> Vec<u8> {
    let mut out = vec![0; kem.private_len()];
    if matches!(kem.parts(), Parts::Dh(_)) {
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
    let scalar = Scalar::from_bytes(dh::Curve::X25519, scalar).unwrap().unwrap();
    dh::encapsulate(Kem::X25519, dh::Curve::X25519, key.as_bytes(), &scalar).unwrap()
}

/// Encapsulates with given random bytes, as the published vectors do.
pub(crate) fn encapsulate_with(key: &PublicKey, random: &[u8]) -> Result<(Vec<u8>, Secret), Error> {
    let lattice = |set, public: &[u8], ciphertext: &mut [u8], shared: &mut [u8; 32]| {
        ml_kem::encapsulate(set, public, random.first_chunk().unwrap(), ciphertext, shared)
    };
    match key.kem().parts() {
        Parts::Dh(curve) => {
            let scalar = Scalar::from_bytes(curve, &derive_private(key.kem(), random))?.unwrap();
            dh::encapsulate(key.kem(), curve, key.as_bytes(), &scalar)
        }
        Parts::Ml(set) => {
            let mut enc = vec![0; set.ciphertext_len()];
            let mut shared = Secret::zeroed(32);
            lattice(set, key.as_bytes(), &mut enc, hybrid::whole(&mut shared)?)?;
            Ok((enc, shared))
        }
        Parts::Hybrid(set, curve, label) => {
            let (public, point) = key.as_bytes().split_at(set.public_len());
            let scalar = Scalar::sample(curve, &random[32..])?.unwrap();
            hybrid::encapsulate(label, curve, point, &scalar, set, |ciphertext, shared| {
                lattice(set, public, ciphertext, shared)
            })
        }
    }
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
            Parts::Dh(curve) => (curve.point_len(), curve.point_len()),
            Parts::Ml(set) => (set.public_len(), set.ciphertext_len()),
            Parts::Hybrid(set, curve, _) => {
                (set.public_len() + curve.point_len(), set.ciphertext_len() + curve.point_len())
            }
        };
        assert_eq!((kem.public_len(), kem.enc_len()), (public, enc));
        assert_eq!(Kem::from_id(kem.id()), Some(kem));
    }
    assert_eq!(Kem::from_id(0x0040), None);
}

/// A key's `Debug` output shows nothing of the key.
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

/// A candidate that is not a scalar is skipped, and the next one is used.
#[test]
fn p256_scalars_are_sampled() {
    let mut bytes = [0; 128];
    assert!(Scalar::sample(dh::Curve::P256, &bytes).unwrap().is_none());
    bytes[..32].fill(0xff);
    bytes[32..64].copy_from_slice(&hex(refused::ORDER));
    bytes[95] = 1;
    let mut point = [0; 65];
    Scalar::sample(dh::Curve::P256, &bytes).unwrap().unwrap().public(&mut point).unwrap();
    assert_eq!(point[1..33], hex("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"));
}
