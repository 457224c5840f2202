//! Compares the results with the crate `block-padding` for the schemes in which both crates have the same rules.
//!
//! Unlike this crate, the crate `block-padding` pads only the last block, and its block sizes are types. Further, the
//! scheme `ZeroPadding` of `block-padding` adds nothing to whole blocks and cannot fail, and there is no scheme
//! `Iso10126`.

use block_padding::{AnsiX923, Iso7816, Padding as Theirs, Pkcs7};
use proptest::prelude::*;

use deadpan_pad::{Padding, Scheme};

type Size = block_padding::array::typenum::U16;

fn agree<P: Theirs>(scheme: Scheme, block: [u8; 16], kept: usize) {
    let ours = Padding::new(scheme, 16).unwrap();
    let mut padded = block;
    ours.pad_in_place(&mut padded, kept).unwrap();
    let mut theirs = block.into();
    P::pad::<Size>(&mut theirs, kept);
    assert_eq!(theirs.as_slice(), padded, "{scheme}");
    for text in [padded, block] {
        assert_eq!(ours.unpad(&text).ok(), P::unpad::<Size>(&text.into()).ok(), "{scheme}: {text:02x?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]
    #[test]
    fn agrees(mut block in any::<[u8; 16]>(), kept in 0..16_usize, filled in 0..=16_usize, filler in 0..=17_u8) {
        block[16 - filled..].fill(filler);
        agree::<Pkcs7>(Scheme::Pkcs7, block, kept);
        agree::<AnsiX923>(Scheme::AnsiX923, block, kept);
        agree::<Iso7816>(Scheme::Iso7816, block, kept);
    }
}
