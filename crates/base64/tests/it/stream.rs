//! The result of a stream does not depend on how the stream is cut.
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

/// Runs both decoding adaptors over one input, cut in one way. Returns their outputs, or none where they fail.
fn decodings(codec: Base64, text: &[u8], sizes: &[usize]) -> [Option<Vec<u8>>; 2] {
    let mut read = Vec::new();
    let reading = DecodeReader::new(codec, Cut::new(text, sizes)).read_to_end(&mut read).ok().map(|_| read);
    let mut writer = DecodeWriter::new(codec, Vec::new());
    let writing = write_cut(&mut writer, text, sizes).and_then(|()| writer.finish()).ok();
    [reading, writing]
}

fn encodings(codec: Base64, bytes: &[u8], sizes: &[usize]) -> [Vec<u8>; 2] {
    let mut read = Vec::new();
    EncodeReader::new(codec, Cut::new(bytes, sizes)).read_to_end(&mut read).unwrap();
    let mut writer = EncodeWriter::new(codec, Vec::new());
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
        let mut reader = DecodeReader::new(STANDARD, &*text);
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
        DecodeReader::new(STANDARD, Broken).read(&mut [0; 4]).unwrap_err().kind(),
        io::ErrorKind::ConnectionReset
    );
    assert_eq!(
        EncodeReader::new(STANDARD, Broken).read(&mut [0; 4]).unwrap_err().kind(),
        io::ErrorKind::ConnectionReset
    );
}

#[test]
fn a_writer_that_is_full_is_passed_on() {
    let mut room = [0; 100];
    let mut writer = EncodeWriter::new(STANDARD, &mut room[..]);
    assert_eq!(writer.write_all(&[0; 100_000]).unwrap_err().kind(), io::ErrorKind::WriteZero);
    let mut room = [0; 100];
    let mut writer = DecodeWriter::new(STANDARD, &mut room[..]);
    assert_eq!(writer.write_all(&[b'A'; 100_000]).unwrap_err().kind(), io::ErrorKind::WriteZero);
}

#[test]
fn a_write_that_failed_leaves_no_hole() {
    /// A writer that takes nothing in its first call, and everything afterwards.
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
    let mut writer = EncodeWriter::new(STANDARD, Hesitant(false, Vec::new()));
    assert_eq!(writer.write_all(&[1; 2 * BLOCK_BYTES]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    assert!(writer.write_all(&[1; 2 * BLOCK_BYTES]).is_err());
    assert!(writer.finish().is_err());
    let mut writer = DecodeWriter::new(STANDARD, Hesitant(false, Vec::new()));
    assert_eq!(writer.write_all(&[b'A'; 2 * BLOCK]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    assert!(writer.write_all(&[b'A'; 2 * BLOCK]).is_err());
    assert!(writer.finish().is_err());
}

#[test]
fn debug_shows_nothing_that_passes_through() {
    let writer = DecodeWriter::new(STANDARD, b"secret".to_vec());
    assert_eq!(format!("{writer:?}"), "DecodeWriter { .. }");
    assert_eq!(format!("{:?}", EncodeReader::new(STANDARD, &b"secret"[..])), "EncodeReader { .. }");
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
