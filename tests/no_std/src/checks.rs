//! The checks of the crates. A check returns `None` if a result is wrong.

use deadpan_base64::stream::Decoder;
use deadpan_base64::{Error, STANDARD, URL_SAFE_NO_PAD, hex};
use deadpan_ct::{Choice, CtAssign, CtEq, CtOrd, Wipe, Wiped, declassify, lookup};
use deadpan_pad::{Padding, Random, RandomError, Scheme, padme};

/// All checks. If a check fails, the exit status is the position of the check in this list, counted from one.
pub const ALL: &[fn() -> Option<()>] = &[
    compare_a_tag,
    choose_and_swap,
    wipe_a_key,
    base64_in_stack_buffers,
    base64_in_pieces,
    hex_in_stack_buffers,
    pad_and_unpad,
    pad_without_a_generator,
    padme_lengths,
    #[cfg(feature = "alloc")]
    strings_and_vectors,
    #[cfg(feature = "alloc")]
    pem_there_and_back,
];

const DATA: &[u8; 14] = b"attack at dawn";

fn compare_a_tag() -> Option<()> {
    let tag = [0x5a_u8; 32];
    let mut received = tag;
    holds(tag.ct_eq(&received))?;
    received[31] ^= 1;
    holds(tag.ct_ne(&received) & tag.ct_lt(&received))?;
    // The data are longer than the widest registers of the CPU.
    let mut long = [7_u8; 1000];
    let same = long;
    holds(long[..].ct_eq(&same[..]))?;
    long[999] = 8;
    holds(!long[..].ct_eq(&same[..]))
}

fn choose_and_swap() -> Option<()> {
    let mut left = [1_u32, 2, 3];
    let mut right = [4_u32, 5, 6];
    left.ct_swap(&mut right, 3_u64.ct_lt(&4));
    left.ct_assign(&[0; 3], Choice::FALSE);
    (left == [4, 5, 6] && right == [1, 2, 3]).then_some(())?;
    let found = lookup(&left, 1);
    (found.declassify() == Some(5)).then_some(())
}

fn wipe_a_key() -> Option<()> {
    let mut key = [0x5a_u8; 48];
    key.wipe();
    let mut kept = Wiped::new([0x5a_u8; 48]);
    kept[0] ^= 0x5a;
    (key == [0; 48] && kept[0] == 0 && kept[47] == 0x5a).then_some(())
}

fn base64_in_stack_buffers() -> Option<()> {
    let (mut text, mut bytes) = ([0; 20], [0; 14]);
    let text = STANDARD.encode_into(DATA, &mut text).ok()?;
    (text == "YXR0YWNrIGF0IGRhd24=").then_some(())?;
    (STANDARD.decode_into(text.as_bytes(), &mut bytes).ok()? == DATA).then_some(())?;
    (STANDARD.decode_into(b"YXR0-w==", &mut bytes) == Err(Error::Invalid) && bytes[..4] == [0; 4]).then_some(())?;
    let mut buffer = [0xff; 400];
    let length = URL_SAFE_NO_PAD.encode_in_place(&mut buffer, 300).ok()?.len();
    let decoded = URL_SAFE_NO_PAD.decode_in_place(&mut buffer[..length]).ok()?;
    (length == 400 && *decoded == [0xff; 300]).then_some(())
}

fn base64_in_pieces() -> Option<()> {
    let mut decoder = Decoder::new(STANDARD.skipping_white_space());
    for piece in [&b"YXR0YWNr IGF0"[..], b"\nIGRh", b"d24="] {
        (decoder.push(piece).ok()? == (piece.len(), &[][..])).then_some(())?;
    }
    (decoder.finish().ok()? == DATA).then_some(())
}

fn hex_in_stack_buffers() -> Option<()> {
    let (mut text, mut bytes) = ([0; 28], [0; 14]);
    let text = hex::encode_into(hex::Case::Lower, DATA, &mut text).ok()?;
    (text == "61747461636b206174206461776e").then_some(())?;
    (hex::decode_into(text.as_bytes(), &mut bytes).ok()? == DATA).then_some(())
}

/// A generator that counts up. The bytes of the generator are not random, so that a check can predict them.
struct Counter(u8);

impl Random for Counter {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), RandomError> {
        for byte in bytes {
            self.0 = self.0.wrapping_add(1);
            *byte = self.0;
        }
        Ok(())
    }
}

fn pad_and_unpad() -> Option<()> {
    for scheme in Scheme::ALL {
        for block in [1, 8, 14, 16, 255] {
            let padding = Padding::new(scheme, block).ok()?;
            let mut output = [0; 300];
            let padded = padding.pad_into_with(DATA, &mut output, &mut Counter(0)).ok()?;
            (padding.padded_len(DATA.len())? == padded.len() && padding.unpad(padded).ok()? == DATA).then_some(())?;
            let (length, good) = padding.unpad_ct(padded);
            (good.declassify() && declassify(length) == DATA.len()).then_some(())?;
        }
    }
    let padding = Padding::new(Scheme::Iso10126, 16).ok()?;
    let mut output = [0; 16];
    (padding.pad_into_with(DATA, &mut output, &mut Counter(0)).ok()?[15] == 2).then_some(())
}

/// Without std there is no default generator, and a scheme that needs a generator returns an error.
fn pad_without_a_generator() -> Option<()> {
    let mut output = [0; 16];
    let pad = |scheme| Padding::new(scheme, 16)?.pad_into(DATA, &mut output).map(|padded| padded[15]);
    let found = [Scheme::Pkcs7, Scheme::Iso10126].map(pad);
    (found == [Ok(2), Err(deadpan_pad::Error::NoGenerator)]).then_some(())
}

fn padme_lengths() -> Option<()> {
    (padme(9) == Some(10) && padme(u64::MAX).is_none()).then_some(())
}

#[cfg(feature = "alloc")]
fn strings_and_vectors() -> Option<()> {
    let text = STANDARD.encode(DATA);
    (STANDARD.decode(text.as_bytes()).ok()? == DATA).then_some(())?;
    let mut bytes = hex::decode(hex::encode(DATA).as_bytes()).ok()?;
    (bytes == DATA).then_some(())?;
    bytes.wipe();
    bytes.is_empty().then_some(())
}

#[cfg(feature = "alloc")]
fn pem_there_and_back() -> Option<()> {
    use deadpan_base64::pem;
    let text = pem::encode("PRIVATE KEY", &[7; 100]).ok()?;
    let document = pem::decode(text.as_bytes()).ok()?;
    (document.label == "PRIVATE KEY" && **document.contents == [7; 100]).then_some(())
}

/// Makes the secret answer public, and returns `None` if the answer is *no*.
fn holds(choice: Choice) -> Option<()> {
    choice.declassify().then_some(())
}
