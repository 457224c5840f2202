//! Decrypts random numbers with one private key. This decryption is the step of RSA before the padding is removed.

use std::process::ExitCode;

use rsa::RsaPrivateKey;
use rsa::pkcs8::DecodePrivateKey;

use deadpan_lab::Target;

fn main() -> ExitCode {
    let key = RsaPrivateKey::from_pkcs8_der(include_bytes!("test-key.der")).expect("a private key");
    known_leaks_judge::judge(Target::new("decryption", 128, move |ciphertext| decrypt(&key, ciphertext)).class(
        "random",
        |random, ciphertext| {
            random.fill(ciphertext);
            // The random number must be smaller than the modulus, and must have the same number of bytes.
            ciphertext[0] = 0x7f;
        },
    ))
}

#[cfg(feature = "leaky")]
fn decrypt(key: &RsaPrivateKey, ciphertext: &[u8]) -> bool {
    let number = rsa::BigUint::from_bytes_be(ciphertext);
    rsa::hazmat::rsa_decrypt(None::<&mut rsa::rand_core::OsRng>, key, &number).is_ok()
}

#[cfg(not(feature = "leaky"))]
fn decrypt(key: &RsaPrivateKey, ciphertext: &[u8]) -> bool {
    let number = rsa::BoxedUint::from_be_slice(ciphertext, 1024).expect("128 bytes");
    rsa::hazmat::rsa_decrypt(None::<&mut dyn rsa::rand_core::CryptoRng>, key, &number).is_ok()
}
