//! Functions of AWS-LC whose time is known not to depend on secrets. The lab uses these functions to count its false
//! alarms, because each call takes far longer than a comparison of bytes.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::agreement::{PrivateKey, UnparsedPublicKey, X25519, agree};

use deadpan_lab::{Random, Target};

pub(super) fn all() -> Vec<Target> {
    vec![aes_gcm(), x25519()]
}

fn aes_gcm() -> Target {
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &[7; 32]).expect("32 bytes are a key"));
    Target::in_place("AES-256-GCM of 64 bytes", 64, move |input| {
        key.seal_in_place_separate_tag(Nonce::assume_unique_for_key([1; 12]), Aad::empty(), input)
    })
    .fixed("zeros", &[0; 64])
    .class("random", Random::fill)
}

fn x25519() -> Target {
    let base = PrivateKey::from_private_key(&X25519, &[9; 32]).expect("any 32 bytes are a scalar");
    let point = base.compute_public_key().expect("a scalar has a point").as_ref().to_vec();
    Target::new("X25519", 32, move |input| {
        let key = PrivateKey::from_private_key(&X25519, input).expect("any 32 bytes are a scalar");
        agree(&key, UnparsedPublicKey::new(&X25519, &point), (), |secret| Ok(secret.first().copied()))
    })
    .fixed("zeros", &[0; 32])
    .class("random", Random::fill)
}
