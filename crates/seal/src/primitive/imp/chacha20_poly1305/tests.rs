use std::array;

use super::*;
use deadpan_base64::hex;

fn back_ends(key: &[u8; KEY]) -> Vec<(&'static str, ChaCha)> {
    let chosen = ChaCha::new(key).expect("a key");
    if !is_wide(&chosen) {
        // The test harness hides what `eprintln!` prints, so this code writes directly to standard error.
        let _ = std::io::Write::write_all(&mut std::io::stderr(), b"skipped: AVX-512 with IFMA: not on this CPU\n");
    }
    vec![("AWS-LC", ChaCha::anywhere(key).expect("a key")), ("the chosen one", chosen)]
}

#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
fn is_wide(cipher: &ChaCha) -> bool {
    cipher.vectors.is_some()
}

#[cfg(not(all(target_arch = "x86_64", not(deadpan_portable))))]
fn is_wide(_: &ChaCha) -> bool {
    false
}

/// Returns bytes that look random (SplitMix64).
fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let word = |number: u64| {
        let mut z = (seed << 32 | number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31).to_le_bytes()
    };
    (0..).flat_map(word).take(length).collect()
}

/// Compares sealing and opening with all back ends against AWS-LC. Checks that no back end writes past the end of its
/// output.
fn compare(key: &[u8; KEY], nonce: &[u8; NONCE], data: &[u8]) {
    const GUARD: usize = 64;
    let length = data.len();
    let reference = ChaCha::anywhere(key).expect("a key");
    let (mut wanted, mut wanted_tag) = (vec![0; length], [0; TAG]);
    reference.seal(nonce, data, &mut wanted, &mut wanted_tag).expect("sealed");
    for (name, cipher) in back_ends(key) {
        let guarded = |output: &[u8]| output[..GUARD].iter().chain(&output[GUARD + length..]).all(|byte| *byte == 0xaa);
        let (mut output, mut tag) = (vec![0xaa; length + 2 * GUARD], [0; TAG]);
        cipher.seal(nonce, data, &mut output[GUARD..GUARD + length], &mut tag).expect("sealed");
        assert!(output[GUARD..GUARD + length] == wanted, "{name}: {length} bytes sealed");
        assert!(guarded(&output), "{name}: {length} bytes sealed");
        assert_eq!(tag, wanted_tag, "{name}: {length} bytes sealed");
        output.fill(0xaa);
        assert!(cipher.open(nonce, &wanted, &tag, &mut output[GUARD..GUARD + length]), "{name}: {length} bytes");
        assert!(&output[GUARD..GUARD + length] == data, "{name}: {length} bytes opened");
        assert!(guarded(&output), "{name}: {length} bytes opened");
    }
}

#[test]
fn every_length_is_as_the_reference() {
    let key = *bytes(1, KEY).as_array().expect("a key");
    let data = bytes(2, 80 << 10);
    let around = |length: usize| [length - 1, length, length + 1];
    let lengths = (0..80).flat_map(|kibibytes| around(kibibytes.max(1) << 10)).chain([0, 16, 128, 80 << 10]);
    for (number, length) in lengths.enumerate() {
        compare(&key, &array::from_fn(|place| (number * (place + 1)) as u8), &data[..length]);
    }
}

/// The carries of Poly1305 depend on the key and on the blocks. Some carries are rare.
#[test]
fn random_keys_and_extreme_blocks_are_as_the_reference() {
    for seed in 0..300 {
        let random = bytes(seed, KEY + NONCE);
        let (key, nonce) = random.split_at(KEY);
        let (key, nonce) = (key.as_array().expect("a key"), nonce.as_array().expect("a nonce"));
        let mut data = bytes(1000 + seed, 4 << 10);
        compare(key, nonce, &data);
        // All sealed blocks have one special value, such as zero bits only, one bits only, or the low 128 bits of the
        // modulus of Poly1305.
        let mut stream = vec![0; data.len()];
        ChaCha::anywhere(key).expect("a key").seal(nonce, &stream.clone(), &mut stream, &mut [0; TAG]).expect("sealed");
        for block in [0, u128::MAX, u128::MAX - 4, u128::MAX - 5, 1, 1 << 127, (1 << 44) - 1, !((1 << 88) - 1)] {
            for (data, stream) in data.as_chunks_mut().0.iter_mut().zip(stream.as_chunks().0) {
                *data = (u128::from_le_bytes(*stream) ^ block).to_le_bytes();
            }
            compare(key, nonce, &data);
        }
    }
}

#[test]
fn every_changed_bit_of_the_tag_and_every_changed_byte_is_found() {
    for (name, cipher) in back_ends(&[7; KEY]) {
        let (data, nonce) = (bytes(3, 2 << 10), [9; NONCE]);
        let (mut sealed, mut tag, mut opened) = (vec![0; data.len()], [0; TAG], vec![0; data.len()]);
        cipher.seal(&nonce, &data, &mut sealed, &mut tag).expect("sealed");
        for bit in 0..8 * TAG {
            tag[bit / 8] ^= 1 << (bit % 8);
            assert!(!cipher.open(&nonce, &sealed, &tag, &mut opened), "{name}: bit {bit} of the tag");
            tag[bit / 8] ^= 1 << (bit % 8);
        }
        for place in 0..sealed.len() {
            sealed[place] ^= 1 << (place % 8);
            assert!(!cipher.open(&nonce, &sealed, &tag, &mut opened), "{name}: byte {place}");
            sealed[place] ^= 1 << (place % 8);
        }
        for byte in 0..NONCE {
            let mut other = nonce;
            other[byte] ^= 1;
            assert!(!cipher.open(&other, &sealed, &tag, &mut opened), "{name}: byte {byte} of the nonce");
        }
        assert!(cipher.open(&nonce, &sealed, &tag, &mut opened) && opened == data, "{name}");
    }
}

/// Seals zeros to get the keystream, and compares it with section 2.4.2 of RFC 8439 (key 00 to 1f, counter 1).
#[test]
fn a_known_answer() {
    let key = array::from_fn(|place| place as u8);
    let nonce = *hex::decode(b"000000000000004a00000000").expect("hex").as_array().expect("a nonce");
    for (name, cipher) in back_ends(&key) {
        let (mut sealed, mut tag) = (vec![0; 1 << 10], [0; TAG]);
        cipher.seal(&nonce, &[0; 1 << 10], &mut sealed, &mut tag).expect("sealed");
        assert_eq!(
            hex::encode(&sealed[..64]),
            "224f51f3401bd9e12fde276fb8631ded8c131f823d2c06e27e4fcaec9ef3cf788a3b0aa372600a92b57974cded2b9334794cba40c63e34cdea212c4cf07d41b7",
            "{name}"
        );
    }
}
