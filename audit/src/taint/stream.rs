//! Tests the streams of `deadpan-base64` with pieces of any size, through `Read` and `Write` and through their own
//! methods.

use std::io::{self, ErrorKind, Read, Write};

use crate::base64::is_padded;
use crate::plain;
use crate::secret::{bytes, hide, show};
use crate::tally::Tally;
use deadpan_base64::stream::io::{DecodeReader, DecodeWriter, EncodeReader, EncodeWriter};
use deadpan_base64::stream::{Decoder, Encoder};
use deadpan_base64::{Base64, Error, Padding, STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

/// Lengths around one and two blocks.
const LENGTHS: [usize; 17] = [0, 1, 2, 3, 5, 47, 48, 100, 1000, 3070, 3071, 3072, 3073, 4096, 6143, 6144, 6145];

pub(crate) fn run(tally: &mut Tally) {
    let optional = STANDARD.with_padding(Padding::Optional);
    let codecs = [
        ("standard", STANDARD, true),
        ("url-safe", URL_SAFE, true),
        ("standard without =", STANDARD_NO_PAD, false),
        ("url-safe without =", URL_SAFE_NO_PAD, false),
        ("standard, = optional", optional, is_padded(Padding::Optional)),
    ];
    for (codec_name, codec, padded) in codecs {
        let alphabet = if codec_name.starts_with("url") {
            deadpan_base64::Alphabet::UrlSafe
        } else {
            deadpan_base64::Alphabet::Standard
        };
        for length in LENGTHS {
            let plain = bytes(length, 20);
            let text = plain::base64(alphabet, padded, &plain);
            let spaced = plain::spaced(&text, 61);
            for piece in [7, 1000, 5000] {
                let name = format!("{codec_name} {length} in pieces of {piece}");
                encoding(tally, &name, codec, piece, &plain, &text);
                decoding(tally, &name, codec, piece, &text, Ok(&plain));
                decoding(tally, &format!("{name}, spaced"), codec.skipping_white_space(), piece, &spaced, Ok(&plain));
                decoding(
                    tally,
                    &format!("{name}, refusing white space"),
                    codec,
                    piece,
                    &[&text[..], b" "].concat(),
                    Err(Error::Invalid),
                );
                for place in [0, text.len() / 2, text.len().wrapping_sub(1)] {
                    let mut flawed = text.clone();
                    if let Some(byte) = flawed.get_mut(place) {
                        *byte = 0x8a;
                        decoding(
                            tally,
                            &format!("{name}, flawed at {place}"),
                            codec,
                            piece,
                            &flawed,
                            Err(Error::Invalid),
                        );
                    }
                }
            }
        }
    }
    printing(tally);
}

fn encoding(tally: &mut Tally, name: &str, codec: Base64, piece: usize, plain: &[u8], text: &[u8]) {
    let secret = hide(plain);
    tally.case(format_args!("Encoder {name}"), || {
        let mut encoder = Encoder::new(codec);
        let mut output = Vec::new();
        for mut rest in secret.chunks(piece) {
            while !rest.is_empty() {
                let (taken, symbols) = encoder.push(rest);
                output.extend_from_slice(symbols.as_bytes());
                rest = &rest[taken..];
            }
        }
        output.extend_from_slice(encoder.finish().as_bytes());
        show(&output) == text
    });
    tally.case(format_args!("EncodeWriter {name}"), || {
        let written = write(EncodeWriter::new(Vec::new(), codec), &secret, piece).and_then(EncodeWriter::finish);
        written.is_ok_and(|output| show(&output) == text)
    });
    tally.case(format_args!("EncodeReader {name}"), || {
        read(EncodeReader::new(&secret[..], codec), piece).is_ok_and(|output| show(&output) == text)
    });
}

fn decoding(tally: &mut Tally, name: &str, codec: Base64, piece: usize, text: &[u8], plain: Result<&[u8], Error>) {
    let secret = hide(text);
    tally.case(format_args!("Decoder {name}"), || {
        decode(codec, &secret, piece).map(|output| show(&output)) == plain.map(<[u8]>::to_vec)
    });
    let same = |result: io::Result<Vec<u8>>| match result {
        Ok(output) => plain == Ok(&show(&output)),
        Err(error) => plain.is_err() && error.kind() == ErrorKind::InvalidData,
    };
    tally.case(format_args!("DecodeWriter {name}"), || {
        same(write(DecodeWriter::new(Vec::new(), codec), &secret, piece).and_then(DecodeWriter::finish))
    });
    tally.case(format_args!("DecodeReader {name}"), || same(read(DecodeReader::new(&secret[..], codec), piece)));
}

fn decode(codec: Base64, text: &[u8], piece: usize) -> Result<Vec<u8>, Error> {
    let mut decoder = Decoder::new(codec);
    let mut output = Vec::new();
    for mut rest in text.chunks(piece) {
        while !rest.is_empty() {
            let (taken, bytes) = decoder.push(rest)?;
            output.extend_from_slice(bytes);
            rest = &rest[taken..];
        }
    }
    output.extend_from_slice(decoder.finish()?);
    Ok(output)
}

fn write<W: Write>(mut writer: W, input: &[u8], piece: usize) -> io::Result<W> {
    input.chunks(piece).try_for_each(|part| writer.write_all(part))?;
    writer.flush()?;
    Ok(writer)
}

fn read(mut reader: impl Read, piece: usize) -> io::Result<Vec<u8>> {
    let mut output = Vec::new();
    let mut part = vec![0; piece];
    loop {
        let count = reader.read(&mut part)?;
        if count == 0 {
            return Ok(output);
        }
        output.extend_from_slice(&part[..count]);
    }
}

fn printing(tally: &mut Tally) {
    let secret = hide(&bytes(100, 21));
    tally.case(format_args!("streams, printed"), || {
        let mut encoder = Encoder::new(STANDARD);
        let taken = encoder.push(&secret).0;
        let mut decoder = Decoder::new(STANDARD);
        let pushed = decoder.push(&secret).is_ok();
        let reader = EncodeReader::new(io::empty(), STANDARD);
        taken == 100 && pushed && !format!("{encoder:?} {decoder:?} {reader:?}").is_empty()
    });
}
