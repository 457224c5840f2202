//! Tests of IVs. Two segments under the same key and the same IV would reveal the data of both segments.

use std::collections::HashSet;

use super::*;

#[test]
fn a_segment_sealed_twice_has_two_ivs() {
    let message = message();
    let mut cipher = message.cipher();
    let mut seal = |data: &[u8]| {
        let mut sealed = vec![0; 64];
        cipher.seal(5, false, data, &mut sealed).expect("sealed");
        sealed[4..16].to_vec()
    };
    assert_ne!(seal(&[0; 32]), seal(&[1; 32]));
}

#[test]
fn every_segment_has_an_iv_of_its_own() {
    const SEGMENTS: usize = 40;
    let data = [0; 32 * SEGMENTS];
    let mut at_once = Vec::new();
    message().seal_onto(&data, &mut at_once).expect("sealed");
    let mut writer = Writer::new(Arc::new(message()), Vec::new());
    writer.write_all(&data).expect("written");
    let mut seen = HashSet::new();
    for sealed in [at_once, writer.finish().expect("finished")] {
        assert_eq!(sealed.len(), 64 * SEGMENTS);
        seen.extend(sealed.chunks(64).map(|segment| segment[LENGTH..LENGTH + NONCE].to_vec()));
    }
    assert_eq!(seen.len(), 2 * SEGMENTS, "an IV stands there twice");
    // The test also compares the halves of IVs: if only a half of an IV were random, the IV would repeat sooner or
    // later.
    for part in [0..NONCE / 2, NONCE / 2..NONCE] {
        let parts: HashSet<&[u8]> = seen.iter().map(|iv| &iv[part.clone()]).collect();
        assert!(parts.len() == seen.len() && !parts.contains(&[0; NONCE / 2][..]), "a part of the IVs is not random");
    }
}
