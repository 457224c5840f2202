//! Tests Wycheproof's vectors for AES-CBC with PKCS#7 padding. Only the vectors with bad padding must be refused.

use aes::cipher::{BlockModeDecrypt, KeyIvInit, block_padding::NoPadding};
use wycheproof::TestResult;
use wycheproof::cipher::{TestName, TestSet};

use deadpan_pad::{Padding, Scheme};

fn decrypt(key: &[u8], iv: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    let mut text = text.to_vec();
    match key.len() {
        16 => {
            cbc::Decryptor::<aes::Aes128>::new_from_slices(key, iv).ok()?.decrypt_padded::<NoPadding>(&mut text).ok()?
        }
        24 => {
            cbc::Decryptor::<aes::Aes192>::new_from_slices(key, iv).ok()?.decrypt_padded::<NoPadding>(&mut text).ok()?
        }
        _ => {
            cbc::Decryptor::<aes::Aes256>::new_from_slices(key, iv).ok()?.decrypt_padded::<NoPadding>(&mut text).ok()?
        }
    };
    Some(text)
}

#[test]
fn aes_cbc_pkcs5() {
    let padding = Padding::new(Scheme::Pkcs7, 16).unwrap();
    let set = TestSet::load(TestName::AesCbcPkcs5).unwrap();
    let (mut good, mut bad) = (0, 0);
    for group in set.test_groups {
        for test in group.tests {
            let padded = decrypt(&test.key, &test.nonce, &test.ct);
            let found = padded.as_deref().and_then(|padded| padding.unpad(padded).ok());
            if test.result == TestResult::Invalid {
                assert_eq!(found, None, "{}: {}", test.tc_id, test.comment);
                bad += 1;
            } else {
                assert_eq!(found, Some(&test.pt[..]), "{}: {}", test.tc_id, test.comment);
                let mut again = vec![0; test.ct.len()];
                assert_eq!(padding.pad_into(&test.pt, &mut again).ok().as_deref(), padded.as_deref(), "{}", test.tc_id);
                good += 1;
            }
        }
    }
    assert!(good > 50 && bad > 50, "vectors are missing: {good} good, {bad} bad");
}
