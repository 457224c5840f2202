//! Guard pages: every one-shot function of the three crates runs with its buffers right next to inaccessible pages. An
//! access outside a buffer ends the test with a signal. A wrong result makes the test fail.
//!
//! The test runs at the instruction set level of this CPU. If the crates were built with `--cfg deadpan_test`, the
//! variable `DEADPAN_CPU` can choose a different level.

use std::io::Write;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

use deadpan_base64::hex::{self, Case};
use deadpan_base64::stream::{Decoder, Encoder};
use deadpan_base64::{Alphabet, Base64, Padding as Equals, pem};
use deadpan_ct::{Choice, CtAssign, CtEq, CtOrd, CtZero, Wipe, declassify, lookup};
use deadpan_pad::{Padding, Random, RandomError, Scheme};

#[path = "../src/taint/plain.rs"]
mod plain;
#[path = "../../crates/pad/tests/it/reference/mod.rs"]
mod reference;

/// This number is a multiple of every usual page size.
const GUARD: usize = 1 << 16;
const ROOM: usize = 1 << 16;

/// Memory between two guard pages.
struct Pages {
    mapping: *mut u8,
}

/// Which of the two guard pages is next to a buffer.
#[derive(Clone, Copy, Debug)]
enum Side {
    Start,
    End,
}

impl Pages {
    #[allow(unsafe_code)]
    fn new() -> Self {
        // SAFETY: this call makes a new mapping at an address that the system chooses.
        let mapping = unsafe {
            mmap_anonymous(core::ptr::null_mut(), GUARD + ROOM + GUARD, ProtFlags::empty(), MapFlags::PRIVATE)
        };
        let mapping = mapping.expect("no memory");
        // SAFETY: the pages after the first guard page belong to the mapping that was just made. There is no other
        // pointer to this mapping.
        unsafe { mprotect(mapping.byte_add(GUARD), ROOM, MprotectFlags::READ | MprotectFlags::WRITE) }
            .expect("no access");
        Self { mapping: mapping.cast() }
    }

    /// Returns a copy of `items` next to a guard page.
    #[allow(unsafe_code)]
    fn put<T: Copy>(&mut self, side: Side, items: &[T]) -> &mut [T] {
        let size = size_of_val(items);
        assert!(size <= ROOM, "no room");
        let offset = match side {
            Side::Start => GUARD,
            Side::End => GUARD + ROOM - size,
        };
        // SAFETY: the `size` bytes lie inside the accessible pages, and they begin or end at a page boundary, so they
        // are aligned. The code first writes valid values to these bytes. The borrow of `self` ensures that no other
        // slice uses the bytes.
        unsafe {
            let start = self.mapping.add(offset).cast::<T>();
            start.copy_from_nonoverlapping(items.as_ptr(), items.len());
            core::slice::from_raw_parts_mut(start, items.len())
        }
    }
}

impl Drop for Pages {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: the call unmaps the whole mapping, which belongs to this value. No slice of the mapping outlives the
        // borrow of `self`.
        let _ = unsafe { munmap(self.mapping.cast(), GUARD + ROOM + GUARD) };
    }
}

fn lengths() -> impl Iterator<Item = usize> {
    (0..=300).chain(1000..1100).chain(4095..=4097)
}

/// Calls `run` for each length, and for each choice of the guard pages next to the input and the output.
fn each(mut run: impl FnMut(usize, [Side; 2])) {
    // This line bypasses the test harness, because the harness shows output only for failures.
    let _ = writeln!(std::io::stderr(), "level {}", deadpan_ct::cpu::level().name());
    for length in lengths() {
        for sides in
            [[Side::Start, Side::Start], [Side::Start, Side::End], [Side::End, Side::Start], [Side::End, Side::End]]
        {
            run(length, sides);
        }
    }
}

fn bytes(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|place| ((place + seed).wrapping_mul(0x9e37_79b9) >> 11) as u8).collect()
}

#[test]
fn slices() {
    let (mut left, mut right) = (Pages::new(), Pages::new());
    each(|length, sides| {
        let (a, b) = (bytes(length, 1), bytes(length, 2));
        compare_and_move(&mut left, &mut right, sides, &a, &b);
        let (x, y) = (left.put(sides[0], &a), right.put(sides[1], &b));
        assert_eq!(x.ct_lt(y).declassify(), a < b);
        assert_eq!(x.ct_le(&y[..length / 2]).declassify(), a[..] <= b[..length / 2]);
        assert_eq!(lookup(x, length / 2).declassify(), a.get(length / 2).copied());
        if let (Some(x), Some(y)) = (x.first_chunk_mut::<33>(), y.last_chunk_mut::<33>()) {
            assert_eq!(x.ct_eq(y).declassify(), x == y);
            x.ct_assign(y, Choice::TRUE);
            assert_eq!(x, y);
        }
        x.wipe();
        assert!(x.iter().all(|byte| *byte == 0));

        let words = |bytes: &[u8]| bytes.iter().map(|byte| u64::from(*byte) << 33).collect::<Vec<_>>();
        compare_and_move(&mut left, &mut right, sides, &words(&a), &words(&b));
        let shorts = |bytes: &[u8]| bytes.iter().map(|byte| u16::from(*byte) << 3).collect::<Vec<_>>();
        compare_and_move(&mut left, &mut right, sides, &shorts(&a), &shorts(&b));
    });
}

fn compare_and_move<T>(left: &mut Pages, right: &mut Pages, sides: [Side; 2], a: &[T], b: &[T])
where
    T: Copy + PartialEq + Default + core::fmt::Debug + CtEq + CtZero + CtAssign,
{
    let (x, y) = (left.put(sides[0], a), right.put(sides[1], b));
    assert_eq!(x.ct_eq(y).declassify(), a == b);
    assert_eq!(x.ct_is_zero().declassify(), a.iter().all(|item| *item == T::default()));
    x.ct_assign(y, Choice::FALSE);
    assert_eq!(x, a);
    x.ct_swap(y, Choice::TRUE);
    assert_eq!((&*x, &*y), (b, a));
    x.ct_assign(y, Choice::TRUE);
    assert_eq!(x, a);
    assert!(x.ct_eq(y).declassify());
}

#[test]
fn base64() {
    let (mut input, mut output) = (Pages::new(), Pages::new());
    each(|length, sides| {
        let plain = bytes(length, 3);
        for alphabet in [Alphabet::Standard, Alphabet::UrlSafe] {
            for padding in [Equals::Required, Equals::Forbidden, Equals::Optional] {
                let codec = Base64::new(alphabet, padding);
                let text = plain::base64(alphabet, padding != Equals::Forbidden, &plain);
                encoding(&mut input, &mut output, sides, codec, &plain, &text);
                decoding(&mut input, &mut output, sides, codec, &text, &plain);
                decoding(
                    &mut input,
                    &mut output,
                    sides,
                    codec.skipping_white_space(),
                    &plain::spaced(&text, 19),
                    &plain,
                );
            }
        }
    });
}

fn encoding(input: &mut Pages, output: &mut Pages, sides: [Side; 2], codec: Base64, plain: &[u8], text: &[u8]) {
    let source = input.put(sides[0], plain);
    assert_eq!(codec.encode(source).as_bytes(), text);
    let mut vector = Vec::new();
    codec.encode_onto(source, &mut vector);
    assert_eq!(vector, text);
    let target = output.put(sides[1], &vec![0; text.len()]);
    assert_eq!(codec.encode_into(source, target).expect("room").as_bytes(), text);
    let mut encoder = Encoder::new(codec);
    let mut streamed = Vec::new();
    let mut rest = &*source;
    while !rest.is_empty() {
        let (taken, symbols) = encoder.push(rest);
        streamed.extend_from_slice(symbols.as_bytes());
        rest = &rest[taken..];
    }
    streamed.extend_from_slice(encoder.finish().as_bytes());
    assert_eq!(streamed, text);
    let buffer = output.put(sides[1], &[plain, &vec![0; text.len() - plain.len()]].concat());
    assert_eq!(codec.encode_in_place(buffer, plain.len()).expect("room").as_bytes(), text);
}

fn decoding(input: &mut Pages, output: &mut Pages, sides: [Side; 2], codec: Base64, text: &[u8], plain: &[u8]) {
    let source = input.put(sides[0], text);
    assert_eq!(codec.decode(&*source).expect("valid"), plain);
    let target = output.put(sides[1], &vec![0; plain.len()]);
    assert_eq!(codec.decode_into(source, target).expect("valid"), plain);
    let mut decoder = Decoder::new(codec);
    let mut streamed = Vec::new();
    let mut rest = &*source;
    while !rest.is_empty() {
        let (taken, bytes) = decoder.push(rest).expect("valid");
        streamed.extend_from_slice(bytes);
        rest = &rest[taken..];
    }
    streamed.extend_from_slice(decoder.finish().expect("valid"));
    assert_eq!(streamed, plain);
    if let Some(byte) = source.last_mut() {
        *byte = b'!';
        assert!(codec.decode(&*source).is_err());
        assert!(codec.decode_into(source, target).is_err());
    }
    let buffer = output.put(sides[1], text);
    assert_eq!(codec.decode_in_place(buffer).expect("valid"), plain);
}

#[test]
fn hexadecimal() {
    let (mut input, mut output) = (Pages::new(), Pages::new());
    each(|length, sides| {
        let plain = bytes(length, 4);
        for (case, digits) in [(Case::Lower, b"0123456789abcdef"), (Case::Upper, b"0123456789ABCDEF")] {
            let text = plain::hex(digits, &plain);
            let source = input.put(sides[0], &plain);
            assert!(hex::encode(source).eq_ignore_ascii_case(core::str::from_utf8(&text).expect("digits")));
            let target = output.put(sides[1], &vec![0; text.len()]);
            assert_eq!(hex::encode_into(case, source, target).expect("room").as_bytes(), text);
            let source = input.put(sides[0], &text);
            assert_eq!(hex::decode(&*source).expect("valid"), plain);
            let target = output.put(sides[1], &vec![0; length]);
            assert_eq!(hex::decode_into(source, target).expect("valid"), plain);
        }
    });
}

#[test]
fn armor() {
    let mut input = Pages::new();
    each(|length, [side, _]| {
        let plain = bytes(length, 5);
        let text = pem::encode("SECRET", input.put(side, &plain)).expect("a label");
        for ends in ["\n", "\r\n"] {
            let text = text.replace('\n', ends);
            // The test decodes the text with and without its last line end.
            for text in [&text, text.trim_end()] {
                let source = input.put(side, text.as_bytes());
                assert_eq!(*pem::decode(source).expect("valid").contents, plain);
                assert_eq!(pem::documents(source).count(), 1);
            }
        }
    });
}

struct Count(u8);

impl Random for Count {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), RandomError> {
        for byte in bytes {
            self.0 = self.0.wrapping_mul(5).wrapping_add(1);
            *byte = self.0;
        }
        Ok(())
    }
}

#[test]
fn padding() {
    let (mut input, mut output) = (Pages::new(), Pages::new());
    each(|length, sides| {
        let mut data = bytes(length, 6);
        if let Some(last) = data.last_mut() {
            // The last byte must not be zero, because the zero padding scheme refuses data that end in zero.
            *last |= 1;
        }
        for scheme in Scheme::ALL {
            for block in [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 127, 128, 129, 255] {
                let padding = Padding::new(scheme, block).expect("a block has a byte");
                round_trip(&mut input, &mut output, sides, padding, &data);
            }
        }
    });
}

fn round_trip(input: &mut Pages, output: &mut Pages, sides: [Side; 2], padding: Padding, data: &[u8]) {
    let (length, block) = (data.len(), usize::from(padding.block()));
    let whole = padding.padded_len(length).expect("a length");
    let check = |padded: &[u8]| {
        assert!(reference::is_padded(padding.scheme(), block, data, padded), "{padding:?} {length} {sides:?}")
    };
    let source = input.put(sides[0], data);
    check(padding.pad_into(source, output.put(sides[1], &vec![0; whole])).expect("room"));
    check(padding.pad_into_with(source, output.put(sides[1], &vec![0; whole]), &mut Count(1)).expect("room"));
    let (full, last) = padding.pad_last_block(source, output.put(sides[1], &vec![0; block])).expect("room");
    check(&[full, last].concat());
    let (full, last) =
        padding.pad_last_block_with(source, output.put(sides[1], &vec![0; block]), &mut Count(2)).expect("room");
    check(&[full, last].concat());
    let unpadded = [data, &vec![0; whole - length]].concat();
    check(padding.pad_in_place(output.put(sides[1], &unpadded), length).expect("room"));
    let padded = padding.pad_in_place_with(output.put(sides[1], &unpadded), length, &mut Count(3)).expect("room");
    check(padded);

    let expected = reference::unpad(padding.scheme(), block, padded).expect("valid");
    let found = padding.unpad_ct(padded);
    assert_eq!((declassify(found.0), found.1.declassify()), (expected, true));
    assert_eq!(padding.unpad(padded).expect("valid"), &data[..expected]);
    assert_eq!(padding.unpad_mut(padded).expect("valid"), &data[..expected]);
}
