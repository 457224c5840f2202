//! Encrypts one block with a secret key.

use std::process::ExitCode;

use deadpan_lab::Target;

fn main() -> ExitCode {
    known_leaks_judge::judge(
        Target::new("one block", 32, |input| {
            let (key, block) = input.split_at(16);
            encrypt(key.try_into().expect("16 bytes"), block.try_into().expect("16 bytes"))
        })
        .fixed("zeroes", &[0; 32])
        .class("random", |random, input| random.fill(input)),
    )
}

#[cfg(feature = "leaky")]
fn encrypt(key: &[u8; 16], block: &[u8; 16]) -> u8 {
    let mut cipher = libaes::Cipher::new_128(key);
    cipher.set_auto_padding(false);
    cipher.cbc_encrypt(&[0; 16], block)[0]
}

#[cfg(not(feature = "leaky"))]
fn encrypt(key: &[u8; 16], block: &[u8; 16]) -> u8 {
    use aes::cipher::{BlockEncrypt, KeyInit};
    let mut block = (*block).into();
    aes::Aes128::new(key.into()).encrypt_block(&mut block);
    block[0]
}
