//! Chunks of age files: sealing gives the same bytes as sealing with AWS-LC, and each sealed chunk opens again.
//!
//! Input: the key, the number of the chunk, the length of the data, and the first bytes of the data.
#![no_main]

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use libfuzzer_sys::fuzz_target;

use deadpan_fuzz::Input;
use deadpan_seal::age::ChunkCipher;

const DATA: usize = 64 << 10;
const TAG: usize = 16;

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let key = std::array::from_fn(|_| input.byte());
    let chunk = input.place() as u64;
    // The length is often a whole number of kibibytes, for which the library has special code.
    let how = input.place();
    let length = if how & 1 == 0 { (how >> 1) % 65 << 10 } else { (how >> 1) % (DATA + 1) };
    let chunk = if length == 0 { 0 } else { chunk };
    let data: Vec<u8> = input.rest().iter().copied().chain([0]).cycle().take(length).collect();
    let mut cipher = ChunkCipher::new(&key).expect("a key");
    let mut sealed = vec![0; length + TAG];
    cipher.seal(chunk, true, &data, &mut sealed).expect("sealed");

    let mut nonce = [0; 12];
    nonce[3..11].copy_from_slice(&chunk.to_be_bytes());
    nonce[11] = 1;
    let reference = LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &key).expect("a key"));
    let mut wanted = data.clone();
    reference.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut wanted).expect("sealed");
    assert!(sealed == wanted, "{length} bytes");

    let mut opened = vec![0; length];
    cipher.open(chunk, true, &sealed, &mut opened).expect("opened");
    assert!(opened == data, "{length} bytes");
    sealed[chunk as usize % (length + TAG)] ^= 1 + (how >> 8) as u8 % 255;
    assert!(cipher.open(chunk, true, &sealed, &mut opened).is_err(), "{length} bytes");
    assert!(opened.iter().all(|byte| *byte == 0), "{length} bytes");
});
