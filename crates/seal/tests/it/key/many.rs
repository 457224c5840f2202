//! Tests the largest number of keys in a file.

use super::*;

#[test]
fn the_number_of_protected_keys_is_limited() {
    let key = PrivateKey::generate(Kem::X25519).expect("a key");
    let one = key::protected_pem(&key, &Passphrase::new(b"straight face")).expect("protected");
    assert_eq!(key::read(one.repeat(16).as_bytes()).expect("16 keys").len(), 16);
    assert!(matches!(key::read(one.repeat(17).as_bytes()), Err(KeyError::Limit { .. })));
}
