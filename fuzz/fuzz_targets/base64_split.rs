//! Decoding and encoding any text in pieces: the streams return the same bytes and the same errors as the one-shot
//! functions.
//!
//! Input: the configuration, the sizes of the pieces, and then the text.
#![no_main]

use std::io::{self, ErrorKind, Read, Write};

use libfuzzer_sys::fuzz_target;

use deadpan_base64::Error;
use deadpan_base64::stream::io::{DecodeReader, DecodeWriter, EncodeReader, EncodeWriter};
use deadpan_base64::stream::{Decoder, Encoder};
use deadpan_fuzz::reference::base64;
use deadpan_fuzz::{Cuts, Input, Pieces, Rules};

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let rules = Rules::from_byte(input.byte());
    let cuts = Cuts::new(&mut input);
    let text = input.text(rules.alphabet);
    encode(rules, &cuts, &text);
    decode(rules, &cuts, &text);
});

fn encode(rules: Rules, cuts: &Cuts, bytes: &[u8]) {
    let codec = rules.codec();
    let expected = codec.encode(bytes);
    let mut encoder = Encoder::new(codec);
    // The loop encodes the bytes twice with one encoder, because `finish` resets the encoder.
    for round in ["first", "second"] {
        let mut found = String::new();
        for mut piece in cuts.pieces(bytes) {
            while !piece.is_empty() {
                let (taken, symbols) = encoder.push(piece);
                assert!(taken > 0, "an encoder takes nothing");
                found.push_str(symbols);
                piece = &piece[taken..];
            }
        }
        found.push_str(encoder.finish());
        assert_eq!(found, expected, "Encoder, {round} use");
    }

    let mut writer = EncodeWriter::new(Vec::new(), codec);
    for piece in cuts.pieces(bytes) {
        writer.write_all(piece).expect("EncodeWriter into a vector");
    }
    assert_eq!(writer.finish().expect("EncodeWriter into a vector"), expected.as_bytes(), "EncodeWriter");

    let reader = EncodeReader::new(Pieces::new(cuts, bytes), codec);
    let (found, verdict) = read(reader, cuts);
    assert_eq!((found, verdict), (expected.into_bytes(), Ok(())), "EncodeReader");
}

fn decode(rules: Rules, cuts: &Cuts, text: &[u8]) {
    let codec = rules.codec();
    let (expected, verdict) = match codec.decode(text) {
        Ok(bytes) => (bytes, Ok(())),
        Err(_) => (base64::decode_good_blocks(rules, text), Err(ErrorKind::InvalidData)),
    };
    let mut decoder = Decoder::new(codec);
    for round in ["first", "second"] {
        let mut found = Vec::new();
        let judged = decode_pieces(&mut decoder, cuts, text, &mut found).map_err(|error| io::Error::from(error).kind());
        if verdict.is_err() && round == "second" {
            assert_eq!((found, judged), (Vec::new(), verdict), "Decoder after an error");
        } else {
            assert_eq!((&found, judged), (&expected, verdict), "Decoder, {round} use");
        }
    }

    let mut found = Vec::new();
    let judged = write_pieces(DecodeWriter::new(&mut found, codec), cuts, text).map_err(|error| error.kind());
    assert_eq!((&found, judged), (&expected, verdict), "DecodeWriter");

    let mut reader = DecodeReader::new(Pieces::new(cuts, text), codec);
    let (found, judged) = read(&mut reader, cuts);
    assert_eq!((&found, judged), (&expected, verdict), "DecodeReader");
    assert_eq!(read(&mut reader, cuts), (Vec::new(), verdict), "DecodeReader after its end");
}

fn decode_pieces(decoder: &mut Decoder, cuts: &Cuts, text: &[u8], found: &mut Vec<u8>) -> Result<(), Error> {
    for mut piece in cuts.pieces(text) {
        while !piece.is_empty() {
            let (taken, bytes) = decoder.push(piece)?;
            assert!(taken > 0 || !bytes.is_empty(), "a decoder neither takes nor gives");
            found.extend_from_slice(bytes);
            piece = &piece[taken..];
        }
    }
    found.extend_from_slice(decoder.finish()?);
    Ok(())
}

fn write_pieces(mut writer: DecodeWriter<&mut Vec<u8>>, cuts: &Cuts, text: &[u8]) -> io::Result<()> {
    if let Err(error) = cuts.pieces(text).into_iter().try_for_each(|piece| writer.write_all(piece)) {
        assert!(writer.finish().is_err(), "DecodeWriter forgets an error");
        return Err(error);
    }
    writer.finish().map(drop)
}

/// Reads a reader in pieces. Returns the bytes, and whether reading ended with an error.
fn read(mut reader: impl Read, cuts: &Cuts) -> (Vec<u8>, Result<(), ErrorKind>) {
    let mut found = Vec::new();
    let mut piece = [0; 8200];
    for size in cuts.sizes() {
        match reader.read(&mut piece[..size]) {
            Ok(0) => return (found, Ok(())),
            Ok(count) => found.extend_from_slice(&piece[..count]),
            Err(error) => return (found, Err(error.kind())),
        }
    }
    unreachable!("the sizes go on for ever")
}
