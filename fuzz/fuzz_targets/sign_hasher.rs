//! Digests of signed messages: for all sizes of the pieces, hashing gives the digest that AWS-LC computes for the whole
//! message.
//!
//! Input: pieces, each of which begins with its length.
#![no_main]

use aws_lc_rs::digest::{SHA256, SHA512, digest};
use libfuzzer_sys::fuzz_target;

use deadpan_fuzz::Input;
use deadpan_seal::sign::{Hash, Hasher};

fuzz_target!(|data: &[u8]| {
    for (hash, reference) in [(Hash::Sha512, &SHA512), (Hash::Sha256, &SHA256)] {
        let (mut input, mut whole, mut hasher) = (Input(data), Vec::new(), Hasher::new(hash));
        while !input.0.is_empty() {
            // If a piece is longer than the rest of the input, the rest of the input is repeated until the piece is
            // full.
            let length = input.place() % 1500;
            let piece: Vec<u8> = input.0.iter().copied().cycle().take(length).collect();
            input.0 = input.0.get(length..).unwrap_or_default();
            hasher.update(&piece);
            whole.extend(piece);
        }
        assert_eq!(hasher.finish(), digest(reference, &whole).as_ref(), "{} bytes", whole.len());
    }
});
