//! Tests that the result of a stream does not depend on how its input is cut into pieces.
#![cfg(feature = "std")]

use std::io::{self, Read, Write};

use proptest::prelude::*;

use deadpan_base64::stream::io::{DecodeReader, DecodeWriter, EncodeReader, EncodeWriter};
use deadpan_base64::stream::{BLOCK, BLOCK_BYTES};
use deadpan_base64::{Base64, Padding, STANDARD, URL_SAFE_NO_PAD};

/// A reader that returns its bytes in pieces of given sizes, with an interruption before each piece.
struct Cut<'a> {
    rest: &'a [u8],
    sizes: Box<dyn Iterator<Item = usize> + 'a>,
    interrupted: bool,
}

impl<'a> Cut<'a> {
    fn new(rest: &'a [u8], sizes: &'a [usize]) -> Self {
        Self { rest, sizes: Box::new(sizes.iter().copied().cycle()), interrupted: false }
    }
}

impl Read for Cut<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let size = self.sizes.next().unwrap_or(1).min(target.len()).min(self.rest.len());
        target[..size].copy_from_slice(&self.rest[..size]);
        self.rest = &self.rest[size..];
        Ok(size)
    }
}

fn write_cut(mut writer: impl Write, bytes: &[u8], sizes: &[usize]) -> io::Result<()> {
    let (mut rest, mut sizes) = (bytes, sizes.iter().copied().cycle());
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(sizes.next().unwrap_or(1).min(rest.len()));
        writer.write_all(piece)?;
        rest = behind;
    }
    Ok(())
}

/// Decodes the same pieces of one input with the two decoding adaptors. Returns the output of each adaptor, or `None`
/// if the adaptor fails.
fn decodings(codec: Base64, text: &[u8], sizes: &[usize]) -> [Option<Vec<u8>>; 2] {
    let mut read = Vec::new();
    let reading = DecodeReader::new(Cut::new(text, sizes), codec).read_to_end(&mut read).ok().map(|_| read);
    let mut writer = DecodeWriter::new(Vec::new(), codec);
    let writing = write_cut(&mut writer, text, sizes).and_then(|()| writer.finish()).ok();
    [reading, writing]
}

fn encodings(codec: Base64, bytes: &[u8], sizes: &[usize]) -> [Vec<u8>; 2] {
    let mut read = Vec::new();
    EncodeReader::new(Cut::new(bytes, sizes), codec).read_to_end(&mut read).unwrap();
    let mut writer = EncodeWriter::new(Vec::new(), codec);
    write_cut(&mut writer, bytes, sizes).unwrap();
    [read, writer.finish().unwrap()]
}

#[test]
fn around_every_block() {
    let codecs = [STANDARD, URL_SAFE_NO_PAD, STANDARD.with_padding(Padding::Optional).skipping_white_space()];
    let edges = [0, BLOCK_BYTES, 2 * BLOCK_BYTES].map(|edge| [edge, edge + 1, edge + 2, edge.saturating_sub(1)]);
    for (codec, length) in
        codecs.into_iter().flat_map(|codec| edges.into_iter().flatten().map(move |length| (codec, length)))
    {
        let bytes: Vec<u8> = (0..length).map(|place| (place * 31 % 251) as u8).collect();
        let text = codec.encode(&bytes);
        for sizes in
            [&[1][..], &[2], &[3], &[4], &[7], &[64], &[BLOCK - 1], &[BLOCK], &[BLOCK + 1], &[1, 5000], &[100_000]]
        {
            for encoded in encodings(codec, &bytes, sizes) {
                assert_eq!(encoded, text.as_bytes(), "{length} bytes in pieces of {sizes:?}");
            }
            for decoded in decodings(codec, text.as_bytes(), sizes) {
                assert_eq!(decoded.as_deref(), Some(&*bytes), "{length} bytes in pieces of {sizes:?}");
            }
        }
    }
}

#[test]
fn a_flaw_is_found_wherever_it_is_and_keeps_failing() {
    let text = STANDARD.encode(&[0x5a; 2 * BLOCK_BYTES + 1]);
    for place in [0, 1, BLOCK - 1, BLOCK, 2 * BLOCK - 1, 2 * BLOCK, text.len() - 3] {
        let mut text = text.clone().into_bytes();
        text[place] = b'=';
        for sizes in [&[1][..], &[1000], &[100_000]] {
            assert_eq!(decodings(STANDARD, &text, sizes), [None, None], "flaw at {place}");
        }
        let mut reader = DecodeReader::new(&*text, STANDARD);
        let mut released = Vec::new();
        assert_eq!(reader.read_to_end(&mut released).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(released.len(), place / BLOCK * BLOCK_BYTES, "nothing of a bad block comes out");
        assert_eq!(reader.read(&mut [0; 10]).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}

#[test]
fn a_reader_that_fails_is_passed_on() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
    assert_eq!(
        DecodeReader::new(Broken, STANDARD).read(&mut [0; 4]).unwrap_err().kind(),
        io::ErrorKind::ConnectionReset
    );
    assert_eq!(
        EncodeReader::new(Broken, STANDARD).read(&mut [0; 4]).unwrap_err().kind(),
        io::ErrorKind::ConnectionReset
    );
}

#[test]
fn a_writer_that_is_full_is_passed_on() {
    let mut room = [0; 100];
    let mut writer = EncodeWriter::new(&mut room[..], STANDARD);
    assert_eq!(writer.write_all(&[0; 100_000]).unwrap_err().kind(), io::ErrorKind::WriteZero);
    let mut room = [0; 100];
    let mut writer = DecodeWriter::new(&mut room[..], STANDARD);
    assert_eq!(writer.write_all(&[b'A'; 100_000]).unwrap_err().kind(), io::ErrorKind::WriteZero);
}

#[test]
fn a_write_that_failed_leaves_no_hole() {
    /// A writer that takes no bytes in its first call, and all bytes in later calls.
    struct Hesitant(bool, Vec<u8>);
    impl Write for Hesitant {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if !std::mem::replace(&mut self.0, true) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            self.1.write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut writer = EncodeWriter::new(Hesitant(false, Vec::new()), STANDARD);
    assert_eq!(writer.write_all(&[1; 2 * BLOCK_BYTES]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    assert!(writer.write_all(&[1; 2 * BLOCK_BYTES]).is_err());
    assert!(writer.finish().is_err());
    let mut writer = DecodeWriter::new(Hesitant(false, Vec::new()), STANDARD);
    assert_eq!(writer.write_all(&[b'A'; 2 * BLOCK]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    assert!(writer.write_all(&[b'A'; 2 * BLOCK]).is_err());
    assert!(writer.finish().is_err());
}

/// Lengths of data near the borders between blocks. At these lengths, a text that is cut short could look complete.
fn lengths() -> impl Iterator<Item = usize> {
    [0, 1, 2, 3, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 2 * BLOCK_BYTES, 3 * BLOCK_BYTES].into_iter()
}

/// Fails if any of the usual decoders, strict or lenient, accepts this text.
fn assert_cut_short(text: &[u8], case: &str) {
    use base64::Engine;
    use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
    for codec in [STANDARD, URL_SAFE_NO_PAD, STANDARD.with_padding(Padding::Optional)] {
        for codec in [codec, codec.skipping_white_space(), codec.ignoring_trailing_bits()] {
            assert!(codec.decode(text).is_err(), "{case}: {codec:?}");
        }
    }
    let config = GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true);
    let config = config.with_decode_padding_mode(DecodePaddingMode::Indifferent);
    assert!(GeneralPurpose::new(&base64::alphabet::STANDARD, config).decode(text).is_err(), "{case}");
}

#[test]
fn a_text_without_finish_is_valid_nowhere() {
    for codec in [STANDARD, STANDARD.with_padding(Padding::Forbidden), URL_SAFE_NO_PAD] {
        for length in lengths() {
            // If the data are zeros, no bits after the last byte are set. If the data are bytes 0x5a, such bits may be
            // set.
            for data in [vec![0; length], vec![0x5a; length]] {
                for sizes in [&[1][..], &[1000], &[100_000]] {
                    let mut dropped = Vec::new();
                    write_cut(EncodeWriter::new(&mut dropped, codec), &data, sizes).unwrap();
                    assert_cut_short(&dropped, &format!("{length} bytes, dropped"));
                    let text = codec.encode(&data);
                    let kept = dropped.len() - usize::from(length < BLOCK_BYTES);
                    assert!(text.as_bytes().starts_with(&dropped[..kept]), "{length} bytes: what is there is right");
                }
            }
        }
    }
}

#[test]
fn leaving_by_an_error_or_a_panic_cuts_the_text_short() {
    fn fail(writer: &mut impl Write, data: &[u8]) -> io::Result<()> {
        writer.write_all(data)?;
        Err(io::ErrorKind::ConnectionReset.into())
    }
    fn encode(text: &mut Vec<u8>, data: &[u8]) -> io::Result<()> {
        let mut writer = EncodeWriter::new(text, STANDARD);
        fail(&mut writer, data)?;
        writer.finish().map(drop)
    }
    for length in lengths() {
        let data = vec![7; length];
        let mut text = Vec::new();
        assert!(encode(&mut text, &data).is_err());
        assert_cut_short(&text, &format!("{length} bytes, left by `?`"));

        let mut text = Vec::new();
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut writer = EncodeWriter::new(&mut text, STANDARD);
            writer.write_all(&data).unwrap();
            std::panic::resume_unwind(Box::new("on the way"));
        }));
        assert!(caught.is_err());
        assert_cut_short(&text, &format!("{length} bytes, left by a panic"));
    }
}

#[test]
fn buffers_around_and_below_do_not_complete_a_text() {
    for length in lengths() {
        let data = vec![7; length];
        let mut text = Vec::new();
        // When a `BufWriter` is dropped, it writes its buffered bytes, but does not call `finish`.
        io::BufWriter::new(EncodeWriter::new(&mut text, STANDARD)).write_all(&data).unwrap();
        assert_cut_short(&text, &format!("{length} bytes, in a buffer"));
        let mut text = Vec::new();
        let mut writer = EncodeWriter::new(io::BufWriter::new(&mut text), STANDARD);
        writer.write_all(&data).unwrap();
        writer.flush().unwrap();
        drop(writer);
        assert_cut_short(&text, &format!("{length} bytes, over a buffer"));
        // The right way: first take the inner writer out of the outer buffer, and then call `finish`.
        let mut buffer = io::BufWriter::new(EncodeWriter::new(Vec::new(), STANDARD));
        buffer.write_all(&data).unwrap();
        assert_eq!(buffer.into_inner().unwrap().finish().unwrap(), STANDARD.encode(&data).as_bytes());
    }
}

#[test]
fn an_inner_writer_that_panics_is_not_called_again() {
    struct Panicking<'a>(&'a mut u32);
    impl Write for Panicking<'_> {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            *self.0 += 1;
            std::panic::resume_unwind(Box::new("no"));
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut calls = 0;
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        EncodeWriter::new(Panicking(&mut calls), STANDARD).write_all(&[7; BLOCK_BYTES]).unwrap();
    }));
    // A second panic while the first one unwinds would abort the process.
    assert!(caught.is_err());
    assert_eq!(calls, 1);
}

#[test]
fn data_without_finish_end_before_the_last_block() {
    for length in lengths() {
        let data = vec![7; length];
        let mut bytes = Vec::new();
        DecodeWriter::new(&mut bytes, STANDARD).write_all(STANDARD.encode(&data).as_bytes()).unwrap();
        assert_eq!(bytes.len(), length.saturating_sub(1) / BLOCK_BYTES * BLOCK_BYTES, "{length} bytes");
    }
}

#[test]
fn debug_shows_nothing_that_passes_through() {
    let writer = DecodeWriter::new(b"secret".to_vec(), STANDARD);
    assert_eq!(format!("{writer:?}"), "DecodeWriter { .. }");
    assert_eq!(format!("{:?}", EncodeReader::new(&b"secret"[..], STANDARD)), "EncodeReader { .. }");
}

proptest! {
    #[test]
    fn cutting_changes_nothing(
        text in "[A-Za-z0-9+/]{0,300}(={0,2})|[A-Za-z0-9+/ \n]{4000,9000}={0,2}",
        sizes in proptest::collection::vec(1_usize..5000, 1..5),
        skip in any::<bool>(),
    ) {
        let codec = if skip { STANDARD.skipping_white_space() } else { STANDARD };
        let whole = codec.decode(text.as_bytes()).ok();
        for cut in decodings(codec, text.as_bytes(), &sizes) {
            prop_assert_eq!(&cut, &whole);
        }
        for cut in encodings(codec, text.as_bytes(), &sizes) {
            prop_assert_eq!(cut, codec.encode(text.as_bytes()).into_bytes());
        }
    }
}
