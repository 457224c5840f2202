//! Unpadding any bytes with any scheme and block: three ways of unpadding give the same result as the reference.
//!
//! Input: the scheme, the length of a block, how to change the bytes, and then the bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;

use deadpan_ct::declassify;
use deadpan_fuzz::{Input, reference};
use deadpan_pad::{Error, Padding, Scheme};

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let scheme = Scheme::ALL[usize::from(input.byte() % 8)];
    let block = input.byte();
    let Ok(padding) = Padding::new(scheme, block) else {
        assert_eq!(Padding::new(scheme, block).err(), Some(Error::BlockSize));
        return;
    };
    let mut bytes = padded(&mut input, scheme, usize::from(block));
    let block = usize::from(block);
    let expected = match reference::padding::unpad(scheme, block, &bytes) {
        Some(length) => Ok(bytes[..length].to_vec()),
        None if bytes.is_empty() || !bytes.len().is_multiple_of(block) => Err(Error::NotBlocks),
        None => Err(Error::Padding),
    };
    assert_eq!(padding.unpad(&bytes).map(<[u8]>::to_vec), expected, "unpad, {padding:?}");
    let (length, valid) = padding.unpad_ct(&bytes);
    let length = declassify(length);
    assert_eq!(
        (length, valid.declassify()),
        (expected.as_ref().map_or(0, Vec::len), expected.is_ok()),
        "unpad_ct, {padding:?}"
    );
    let before = bytes.clone();
    assert_eq!(padding.unpad_mut(&mut bytes).map(|data| data.to_vec()), expected, "unpad_mut, {padding:?}");
    assert_eq!(bytes, before, "unpad_mut changes its input");
    if let (Ok(data), false) = (&expected, is_free(scheme)) {
        assert!(reference::padding::is_padded(scheme, block, data, &bytes), "accepted, {padding:?}");
    }
});

/// Returns the bytes unchanged, or extended to whole blocks, or with valid padding in which one byte is changed.
fn padded(input: &mut Input<'_>, scheme: Scheme, block: usize) -> Vec<u8> {
    let kind = input.byte() % 4;
    let (place, change) = if kind > 1 { (usize::from(input.byte()) % block, input.byte()) } else { (0, 0) };
    let mut bytes = input.rest().to_vec();
    let count = block - bytes.len() % block;
    match kind {
        0 => {}
        1 => bytes.resize(bytes.len() + count, bytes.last().copied().unwrap_or(0)),
        _ => {
            let last = bytes.len() % block;
            let tail: Vec<u8> = (1..=count as u8)
                .map(|place| good_byte(scheme, place, count as u8, &bytes[bytes.len() - last..]))
                .collect();
            bytes.extend(tail);
            let start = bytes.len() - block;
            bytes[start + place] ^= change;
        }
    }
    bytes
}

/// Returns the padding byte at a position. Positions count from one.
fn good_byte(scheme: Scheme, place: u8, count: u8, data: &[u8]) -> u8 {
    match scheme {
        Scheme::Zero => 0,
        Scheme::Pkcs7 => count,
        Scheme::AnsiX923 | Scheme::Iso10126 if place == count => count,
        Scheme::AnsiX923 => 0,
        Scheme::Iso10126 => place.wrapping_mul(93),
        Scheme::Rfc4303 => place,
        Scheme::Iso7816 => u8::from(place == 1) << 7,
        _ => data.last().map_or(0xaa, |last| !last),
    }
}

/// Returns whether the scheme accepts each padding that repeats one byte, although the scheme never makes some of these
/// paddings.
fn is_free(scheme: Scheme) -> bool {
    matches!(scheme, Scheme::ArbitraryTail | Scheme::NotLast)
}
