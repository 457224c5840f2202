//! Tests of the public interface: lengths, errors, generators, and round trips.

use proptest::prelude::*;

use crate::reference;
use deadpan_ct::declassify;
use deadpan_pad::{Error, Padding, Random, RandomError, Scheme};

/// A generator that repeats one byte.
struct Same(u8);

impl Random for Same {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), RandomError> {
        bytes.fill(self.0);
        Ok(())
    }
}

struct Broken;

impl Random for Broken {
    fn fill(&mut self, _: &mut [u8]) -> Result<(), RandomError> {
        Err(RandomError)
    }
}

fn padding(scheme: Scheme, block: u8) -> Padding {
    Padding::new(scheme, block).unwrap()
}

fn is_random(scheme: Scheme) -> bool {
    matches!(scheme, Scheme::Iso10126 | Scheme::ArbitraryTail)
}

/// Pads data by each of the three methods, compares the results, and removes the padding.
fn round_trip(padding: Padding, data: &[u8]) {
    let (scheme, block) = (padding.scheme(), usize::from(padding.block()));
    let whole = padding.padded_len(data.len()).unwrap();
    let full = whole - block;
    assert_eq!(whole, (data.len() / block + 1) * block);
    let mut output = vec![0x5c; whole + 9];
    let mut last = vec![0x5c; block + 9];
    let mut place = [data, &vec![0x5c; block + 9]].concat();
    if scheme == Scheme::Zero && data.last() == Some(&0) {
        assert_eq!(padding.pad_into_with(data, &mut output, &mut Same(7)), Err(Error::ZeroTail));
        assert_eq!(padding.pad_last_block_with(data, &mut last, &mut Same(7)), Err(Error::ZeroTail));
        assert_eq!(padding.pad_in_place_with(&mut place, data.len(), &mut Same(7)), Err(Error::ZeroTail));
        // It must not leak where the data end, so the padding methods copy the data before they detect the error, and
        // then wipe the copy.
        let ((output, behind), (last, behind_last)) = (output.split_at(whole), last.split_at(block));
        assert!(output.iter().chain(last).all(|&byte| byte == 0));
        assert!(behind.iter().chain(behind_last).chain(&place[data.len()..]).all(|&byte| byte == 0x5c));
        return;
    }
    let padded = padding.pad_into_with(data, &mut output, &mut Same(7)).unwrap().to_vec();
    assert!(reference::is_padded(scheme, block, data, &padded), "{padding:?} {data:02x?} {padded:02x?}");
    let (front, end) = padding.pad_last_block_with(data, &mut last, &mut Same(7)).unwrap();
    assert_eq!((front, &*end), padded.split_at(full));
    assert_eq!(padding.pad_in_place_with(&mut place, data.len(), &mut Same(7)).unwrap(), padded);
    assert!(
        output[whole..].iter().chain(&last[block..]).chain(&place[whole..]).all(|&byte| byte == 0x5c),
        "wrote too far"
    );
    let mut padded = padded;
    assert_eq!(padding.unpad(&padded).unwrap(), data);
    assert_eq!(padding.unpad_mut(&mut padded).unwrap(), data);
    let (length, valid) = padding.unpad_ct(&padded);
    assert!(valid.declassify());
    assert_eq!(declassify(length), data.len());
}

#[test]
fn lengths_around_every_block() {
    for scheme in Scheme::ALL {
        for block in 1..=255_u8 {
            let size = usize::from(block);
            let lengths =
                [0, 1, 2, size - 1, size, size + 1, 2 * size - 1, 2 * size, 2 * size + 1, 3 * size + size / 2];
            for length in lengths {
                round_trip(
                    padding(scheme, block),
                    &(0..length).map(|place| (place * 37 + 1) as u8).collect::<Vec<_>>(),
                );
            }
        }
    }
}

#[test]
fn known_blocks() {
    let known: [(Scheme, [u8; 8]); 8] = [
        (Scheme::Zero, *b"Hello\0\0\0"),
        (Scheme::Pkcs7, *b"Hello\x03\x03\x03"),
        (Scheme::AnsiX923, *b"Hello\0\0\x03"),
        (Scheme::Iso10126, *b"Hello\x07\x07\x03"),
        (Scheme::Rfc4303, *b"Hello\x01\x02\x03"),
        (Scheme::Iso7816, *b"Hello\x80\0\0"),
        // A random number whose bytes are all 07 is just below 7/255 of the range, so scaling it to 255 values gives 6.
        // The code adds one to this 6, and XORs the sum with the last data byte, "o".
        (Scheme::ArbitraryTail, [b'H', b'e', b'l', b'l', b'o', b'o' ^ 7, b'o' ^ 7, b'o' ^ 7]),
        (Scheme::NotLast, *b"Hello\x90\x90\x90"),
    ];
    for (scheme, expected) in known {
        let mut output = [0; 8];
        assert_eq!(
            padding(scheme, 8).pad_into_with(b"Hello", &mut output, &mut Same(7)).unwrap(),
            expected,
            "{scheme}"
        );
    }
    let mut output = [0; 4];
    assert_eq!(padding(Scheme::NotLast, 4).pad_into(b"", &mut output).unwrap(), [0xaa; 4]);
}

#[test]
fn the_faults_of_the_caller() {
    for scheme in Scheme::ALL {
        assert_eq!(Padding::new(scheme, 0).err(), Some(Error::BlockSize));
        let padding = padding(scheme, 16);
        let mut small = [1; 31];
        assert_eq!(padding.pad_into(&[1; 16], &mut small), Err(Error::TooSmall { needed: 32 }));
        assert_eq!(padding.pad_last_block(&[1; 16], &mut small[..15]), Err(Error::TooSmall { needed: 16 }));
        assert_eq!(padding.pad_in_place(&mut small, 16), Err(Error::TooSmall { needed: 32 }));
        assert_eq!(padding.pad_in_place(&mut small, 31), Err(Error::TooSmall { needed: 32 }));
        assert_eq!(padding.pad_in_place(&mut small, 32), Err(Error::TooSmall { needed: 48 }));
        for length in [usize::MAX, usize::MAX / 2 + 1, usize::MAX / 2] {
            assert!(matches!(padding.pad_in_place(&mut small, length), Err(Error::TooSmall { .. })));
            assert_eq!(padding.padded_len(length), None);
        }
        assert_eq!(small, [1; 31], "written to on error");
    }
}

#[test]
fn the_faults_of_the_input() {
    for scheme in Scheme::ALL {
        for block in [1, 2, 3, 16, 255_u8] {
            let padding = padding(scheme, block);
            for length in [0, 1, 15, 17, 254, 256] {
                let input = vec![1; length];
                if length == 0 || length % usize::from(block) != 0 {
                    assert_eq!(padding.unpad(&input), Err(Error::NotBlocks), "{scheme} {block} {length}");
                    let (length, valid) = padding.unpad_ct(&input);
                    assert!(!valid.declassify() && declassify(length) == 0);
                }
            }
        }
    }
    for scheme in [Scheme::Pkcs7, Scheme::AnsiX923, Scheme::Iso10126, Scheme::Rfc4303, Scheme::Iso7816] {
        assert_eq!(padding(scheme, 16).unpad(&[0; 16]), Err(Error::Padding), "{scheme}");
    }
    let (length, valid) = padding(Scheme::Pkcs7, 16).unpad_ct(&[0; 32]);
    assert!(!valid.declassify() && declassify(length) == 0);
    assert_eq!(padding(Scheme::Zero, 16).unpad(&[1; 16]), Err(Error::Padding));
}

#[test]
fn a_broken_generator_is_an_error() {
    for scheme in Scheme::ALL {
        let padding = padding(scheme, 16);
        let mut place = [3; 32];
        let fails = is_random(scheme).then_some(Error::Random);
        assert_eq!(padding.pad_into_with(b"data", &mut [0; 16], &mut Broken).err(), fails);
        assert_eq!(padding.pad_last_block_with(b"data", &mut [0; 16], &mut Broken).err(), fails);
        assert_eq!(padding.pad_in_place_with(&mut place, 5, &mut Broken).err(), fails);
        assert!(fails.is_none() || place == [3; 32], "written to on error");
    }
}

#[cfg(feature = "std")]
#[test]
fn the_default_generator_differs_from_call_to_call() {
    let mut seen = std::collections::HashSet::new();
    let mut output = [0; 255];
    for block in [255, 16, 33] {
        for _ in 0..2000 {
            let padded = padding(Scheme::Iso10126, block).pad_into(b"", &mut output).unwrap();
            assert!(seen.insert(padded[..15].to_vec()), "noise repeats");
        }
    }
    let tails = (0..100_000).map(|_| padding(Scheme::ArbitraryTail, 2).pad_into(b"d", &mut output).unwrap()[1]);
    let mut counts = [0_u32; 256];
    tails.for_each(|tail| counts[usize::from(tail)] += 1);
    assert_eq!(counts[usize::from(b'd')], 0);
    // Each byte occurs 392 times on average, with a standard deviation of 20.
    assert!(counts.iter().enumerate().all(|(byte, &count)| byte == usize::from(b'd') || (230..560).contains(&count)));
}

#[cfg(not(feature = "std"))]
#[test]
fn without_a_generator() {
    for scheme in Scheme::ALL {
        let fails = is_random(scheme).then_some(Error::NoGenerator);
        assert_eq!(padding(scheme, 16).pad_into(b"data", &mut [0; 16]).err(), fails);
        assert_eq!(padding(scheme, 16).pad_last_block(b"data", &mut [0; 16]).err(), fails);
        assert_eq!(padding(scheme, 16).pad_in_place(&mut [1; 16], 3).err(), fails);
    }
}

proptest! {
    #[test]
    fn padding_and_unpadding(
        scheme in prop::sample::select(&Scheme::ALL[..]),
        block in 1..=255_u8,
        data in prop::collection::vec(any::<u8>(), 0..700),
    ) {
        round_trip(padding(scheme, block), &data);
    }

    #[test]
    fn any_bytes(
        scheme in prop::sample::select(&Scheme::ALL[..]),
        block in 1..=40_u8,
        bytes in prop::collection::vec(prop_oneof![Just(0), Just(1), Just(2), Just(0x80), any::<u8>()], 0..160),
    ) {
        let padding = padding(scheme, block);
        let expected = reference::unpad(scheme, usize::from(block), &bytes);
        prop_assert_eq!(padding.unpad(&bytes).ok().map(<[u8]>::len), expected);
        let (length, valid) = padding.unpad_ct(&bytes);
        prop_assert_eq!(valid.declassify(), expected.is_some());
        prop_assert_eq!(declassify(length), expected.unwrap_or(0));
    }
}
