//! Padding any data with any scheme, block and random bytes: three ways of padding give the same bytes as the
//! reference, and unpadding returns the data. The target also checks the Padmé length of a number.
//!
//! Input: a number, the scheme, the block, random bytes, and then the data.
#![no_main]

use libfuzzer_sys::fuzz_target;

use deadpan_ct::declassify;
use deadpan_fuzz::{Input, canaries, is_untouched, reference};
use deadpan_pad::{Error, Padding, Random, RandomError, Scheme, padme};

/// A random generator that repeats bytes of the fuzzer's input. The generator fails if the fuzzer's input contains no
/// bytes.
#[derive(Clone)]
struct Given<'a>(std::iter::Cycle<std::slice::Iter<'a, u8>>);

impl Random for Given<'_> {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), RandomError> {
        bytes.iter_mut().try_for_each(|byte| self.0.next().map(|random| *byte = *random)).ok_or(RandomError)
    }
}

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    check_padme(input.number());
    let scheme = Scheme::ALL[usize::from(input.byte() % 8)];
    let Ok(padding) = Padding::new(scheme, input.byte()) else { return };
    let count = usize::from(input.byte()) % 32;
    let rest = input.rest();
    let (random, data) = rest.split_at(count.min(rest.len()));
    round_trip(padding, &Given(random.iter().cycle()), data);
});

fn round_trip(padding: Padding, random: &Given<'_>, data: &[u8]) {
    let (scheme, block) = (padding.scheme(), usize::from(padding.block()));
    let whole = (data.len() / block + 1) * block;
    assert_eq!(padding.padded_len(data.len()), Some(whole), "padded_len, {padding:?}");
    let mut output = canaries(whole + 70);
    let mut last = canaries(block + 70);
    let mut place = [data, &canaries(block + 70)].concat();

    let padded = padding.pad_into_with(data, &mut output, &mut random.clone()).map(|padded| padded.to_vec());
    let behind = padding.pad_last_block_with(data, &mut last, &mut random.clone());
    let joined = behind.map(|(full, last)| [full, last].concat());
    let in_place = padding.pad_in_place_with(&mut place, data.len(), &mut random.clone()).map(|padded| padded.to_vec());
    assert_eq!(joined, padded, "pad_last_block, {padding:?}");
    assert_eq!(in_place, padded, "pad_in_place, {padding:?}");
    let behind = output[whole..].iter().chain(&last[block..]).chain(&place[whole..]);
    assert!(is_untouched(&behind.copied().collect::<Vec<_>>()), "wrote too far, {padding:?}");
    assert_eq!(place[..data.len()], *data, "pad_in_place changes the data, {padding:?}");

    match padded {
        Ok(padded) => check_padded(padding, data, padded),
        Err(error) => {
            let is_random = matches!(scheme, Scheme::Iso10126 | Scheme::ArbitraryTail);
            let ends_in_zero = scheme == Scheme::Zero && data.last() == Some(&0);
            assert!(
                if is_random { error == Error::Random } else { ends_in_zero && error == Error::ZeroTail },
                "{error:?}, {padding:?}"
            );
            assert!(is_untouched(&place[data.len()..]), "pad_in_place writes on error, {padding:?}");
        }
    }
    let mut small = canaries(whole - 1);
    let error = padding.pad_into_with(data, &mut small, &mut random.clone());
    assert_eq!(error, Err(Error::TooSmall { needed: whole }), "too little room, {padding:?}");
    assert!(is_untouched(&small), "written to without room, {padding:?}");
}

fn check_padded(padding: Padding, data: &[u8], mut padded: Vec<u8>) {
    assert!(
        reference::padding::is_padded(padding.scheme(), usize::from(padding.block()), data, &padded),
        "{padding:?}, {padded:02x?}"
    );
    assert_eq!(padding.unpad(&padded), Ok(data), "unpad, {padding:?}");
    let (length, valid) = padding.unpad_ct(&padded);
    assert_eq!((declassify(length), valid.declassify()), (data.len(), true), "unpad_ct, {padding:?}");
    assert_eq!(padding.unpad_mut(&mut padded).map(|data| &*data), Ok(data), "unpad_mut, {padding:?}");
}

fn check_padme(length: u64) {
    let padded = padme(length);
    assert_eq!(padded, reference::padme::padme(length), "padme({length})");
    let next = length.checked_add(1).and_then(padme);
    match padded {
        Some(padded) => {
            assert!(padded >= length, "padme({length}) is shorter");
            assert!(
                u128::from(padded - length) * 100 <= u128::from(length) * 12,
                "padme({length}) adds more than 12 %"
            );
            assert_eq!(padme(padded), Some(padded), "padme({length}) of itself");
            assert!(next.is_none_or(|next| next >= padded), "padme({length}) is more than that of the next length");
        }
        None => assert_eq!(next, None, "padme({length}) does not fit, and the next does"),
    }
}
